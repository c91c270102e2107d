//! The performance variables of what lies in `core` and below: their names, and where their values
//! are read. Crates above `core` list their own.

use std::sync::atomic::Ordering::Relaxed;

use catena_coll::Collective;
use catena_core::beside::ACTS;
use catena_core::comm::Comm;
use catena_core::process::{is_running, was_running};
use catena_core::variables::{Area, Audience, Class, Pvar, Source};
use catena_core::{Process, coll, listing};
use catena_link::{Protocol, Tally, Traffic};
use catena_shm::{Counters, Memory};

/// The names of the states, in order.
pub(crate) const STATES: [&str; 3] = ["before init", "running", "finalized"];

pub(crate) fn state() -> i32 {
    match (is_running(), was_running()) {
        (true, _) => 1,
        (_, true) => 2,
        _ => 0,
    }
}

/// Variables of messages, in an area.
trait Messages {
    /// A number of messages and one of bytes.
    fn tally(
        &mut self,
        name: &str,
        what: &str,
        read: impl Fn(&Process) -> Tally + Copy + Send + Sync + 'static,
    );

    /// A tally of the messages of a communicator, with `comm_` before the
    /// name.
    fn traffic(
        &mut self,
        name: &str,
        what: &str,
        read: impl Fn(&Traffic) -> Tally + Copy + Send + Sync + 'static,
    );
}

impl Messages for Area<'_> {
    fn tally(
        &mut self,
        name: &str,
        what: &str,
        read: impl Fn(&Process) -> Tally + Copy + Send + Sync + 'static,
    ) {
        let (messages, bytes) = (format!("{name}_messages"), format!("{name}_bytes"));
        let doc = format!("Messages {what}.");
        self.of_process(Class::Counter, &messages, &doc, move |process| {
            read(process).messages
        });
        let doc = format!("Bytes of messages {what}.");
        self.of_process(Class::Aggregate, &bytes, &doc, move |process| {
            read(process).bytes
        });
    }

    fn traffic(
        &mut self,
        name: &str,
        what: &str,
        read: impl Fn(&Traffic) -> Tally + Copy + Send + Sync + 'static,
    ) {
        self.tally(name, what, move |process| {
            read(&process.link(|link| link.traffic(None)))
        });
        let of = move |process: &Process, c: &Comm| {
            read(&process.link(|link| link.traffic(Some(c.cid))))
        };
        let doc = format!("Messages of the communicator {what}.");
        let name = format!("comm_{name}");
        self.of_comm(
            Class::Counter,
            &format!("{name}_messages"),
            &doc,
            move |process, c| of(process, c).messages,
        );
        let doc = format!("Bytes of messages of the communicator {what}.");
        self.of_comm(
            Class::Aggregate,
            &format!("{name}_bytes"),
            &doc,
            move |process, c| of(process, c).bytes,
        );
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Pvar> {
    let mut all = Vec::new();
    let mut area = |name: &str, audience, list: fn(&mut Area<'_>)| {
        list(&mut Area::new(&mut all, name, audience));
    };
    area("process", Audience::User, |a| {
        let doc = "Whether MPI is running.";
        a.add(Class::State, "state", doc, Source::State);
    });
    area("messages", Audience::User, messages);
    area("protocols", Audience::Tuner, protocols);
    area("matching", Audience::User, matching);
    area("waiting", Audience::User, waiting);
    area("beside", Audience::User, beside);
    area("shm", Audience::Tuner, shm);
    area("network", Audience::Tuner, network);
    area("objects", Audience::UserDetail, objects);
    area("buffers", Audience::UserDetail, buffers);
    area("collectives", Audience::User, collectives);
    for what in Collective::ALL {
        let name = format!("coll_{}", what.name());
        let mut area = Area::new(&mut all, &*name, Audience::Tuner);
        for (way, word) in coll::ways(what).enumerate() {
            let doc = match way {
                0 => format!("Times that {} ran without messages.", what.name()),
                _ => format!("Times that {} ran as {word}.", what.name()),
            };
            let name = format!("{name}_{word}");
            area.of_process(Class::Counter, &name, &doc, move |process| {
                process.colls.of(what, way)
            });
        }
    }
    for listing in listing::all() {
        (listing.variables)(&mut all);
    }
    all
}

fn messages(a: &mut Area<'_>) {
    a.traffic("sent", "sent, of collectives too", |t| t.sent.all());
    a.traffic("received", "received, of collectives too", |t| {
        t.received.all()
    });
    a.tally("self", "that the process sent to itself", |process| {
        process.link(|link| link.net().to_itself())
    });
    a.tally("network", "sent over a network", |process| {
        process.link(|link| link.net().over_network())
    });
    a.tally("shm", "sent through shared memory", |process| {
        let (all, others) = process.link(|link| {
            let all = link.traffic(None).sent.all();
            (all, [link.net().to_itself(), link.net().over_network()])
        });
        others.iter().fold(all, |rest, other| Tally {
            messages: rest.messages.saturating_sub(other.messages),
            bytes: rest.bytes.saturating_sub(other.bytes),
        })
    });
}

fn protocols(a: &mut Area<'_>) {
    const ALL: [(Protocol, &str, &str); 3] = [
        (Protocol::Inline, "inline", "within their envelopes"),
        (Protocol::Eager, "eager", "without asking the receiver"),
        (Protocol::Rendezvous, "rendezvous", "after an announcement"),
    ];
    for (protocol, name, how) in ALL {
        a.traffic(&format!("sent_{name}"), &format!("sent {how}"), move |t| {
            t.sent.by(protocol)
        });
        a.traffic(
            &format!("received_{name}"),
            &format!("received {how}"),
            move |t| t.received.by(protocol),
        );
    }
    a.tally(
        "sent_streamed",
        "announced, and streamed since the receiver asked for it",
        |process| process.link(|link| link.counters().streamed),
    );
    a.tally(
        "sent_fetched",
        "announced, and copied by the receiver out of our memory",
        |process| process.link(|link| link.counters().fetched),
    );
    a.tally(
        "received_streamed",
        "announced, and streamed since we asked for it",
        |process| process.link(|link| link.counters().asked),
    );
    a.tally(
        "received_read",
        "announced, and copied out of the sender's memory at once",
        |process| process.link(|link| link.counters().copied()),
    );
    let doc = "Bytes of messages that left compressed.";
    a.of_process(Class::Counter, "sent_compressed_from", doc, |process| {
        process.link(|link| link.counters().compressed)
    });
    let doc = "Bytes that they became.";
    a.of_process(Class::Counter, "sent_compressed_to", doc, |process| {
        process.link(|link| link.counters().compressed_to)
    });
    a.audience = Audience::TunerDetail;
    let doc = "Messages that had to be streamed since one of the memories could not be accessed.";
    a.of_process(Class::Counter, "read_fallbacks", doc, |process| {
        process.link(|link| link.counters().fallbacks)
    });
    let doc = "Sends that waited since the way to the receiver was full.";
    a.of_process(Class::Counter, "sends_queued", doc, |process| {
        process.link(|link| link.counters().queued)
    });
    a.audience = Audience::Developer;
    let doc = "Packets kept until an earlier one, or their communicator, was there.";
    a.of_process(Class::Counter, "packets_parked", doc, |process| {
        process.link(|link| link.counters().parked)
    });
    let doc = "Packets and messages thrown away.";
    a.of_process(Class::Counter, "packets_dropped", doc, |process| {
        process.link(|link| link.counters().dropped)
    });
}

fn matching(a: &mut Area<'_>) {
    let doc = "Messages that arrived before their receive.";
    a.of_process(Class::Counter, "unexpected_messages", doc, |process| {
        process.link(|link| link.traffic(None).unexpected)
    });
    let doc = "Messages that arrived after their receive was posted.";
    a.of_process(Class::Counter, "expected_messages", doc, |process| {
        expected(&process.link(|link| link.traffic(None)))
    });
    let doc = "Messages that wait for a receive.";
    a.of_process(Class::Level, "unexpected_length", doc, |process| {
        process.link(|link| link.unexpected(None))
    });
    let doc = "The most messages that waited for a receive at once.";
    let source = Source::Peak {
        now: |process| process.link(|link| link.unexpected(None)),
        take: |process| process.link(|link| link.unexpected_peak()),
    };
    a.add(Class::HighWatermark, "unexpected_length", doc, source);
    let doc = "Receives that wait for a message.";
    a.of_process(Class::Level, "posted_length", doc, |process| {
        process.link(|link| link.posted(None))
    });
    a.audience = Audience::UserDetail;
    let doc = "Bytes kept of messages that wait for a receive.";
    a.of_process(Class::Level, "unexpected_bytes", doc, |process| {
        process.link(|link| link.unexpected_bytes())
    });
    let doc = "Messages of the communicator that arrived before their receive.";
    a.of_comm(
        Class::Counter,
        "comm_unexpected_messages",
        doc,
        |process, c| process.link(|link| link.traffic(Some(c.cid)).unexpected),
    );
    let doc = "Messages of the communicator that arrived after their receive was posted.";
    a.of_comm(
        Class::Counter,
        "comm_expected_messages",
        doc,
        |process, c| expected(&process.link(|link| link.traffic(Some(c.cid)))),
    );
    let doc = "Messages of the communicator that wait for a receive.";
    a.of_comm(Class::Level, "comm_unexpected_length", doc, |process, c| {
        process.link(|link| link.unexpected(Some(c.cid)))
    });
    let doc = "Receives on the communicator that wait for a message.";
    a.of_comm(Class::Level, "comm_posted_length", doc, |process, c| {
        process.link(|link| link.posted(Some(c.cid)))
    });
}

fn expected(traffic: &Traffic) -> u64 {
    traffic.received.all().messages - traffic.unexpected
}

fn waiting(a: &mut Area<'_>) {
    let doc = "Time that the process slept while it waited, in seconds.";
    a.of_process(Class::Timer, "wait_asleep", doc, |process| {
        process.waits.asleep.get()
    });
    let doc = "Times that the process went to sleep while it waited.";
    a.of_process(Class::Counter, "wait_sleeps", doc, |process| {
        process.waits.sleeps.get()
    });
    a.audience = Audience::UserDetail;
    let doc = "Sleeps that another process ended.";
    a.of_process(Class::Counter, "wait_woken", doc, |process| {
        process.waits.woken.get()
    });
    let doc = "Times that the process handed its core to another while it waited.";
    a.of_process(Class::Counter, "wait_yields", doc, |process| {
        process.waits.yields.get()
    });
    let doc = "Looks for something to do that found nothing.";
    a.of_process(Class::Counter, "wait_looks", doc, |process| {
        process.waits.looks.get()
    });
}

fn beside(a: &mut Area<'_>) {
    let doc = "Times that a thread of the library moved messages while the program computed.";
    a.of_process(Class::Counter, "beside_useful", doc, |_| {
        ACTS.useful.load(Relaxed)
    });
    let doc = "Time that this took, in seconds.";
    a.of_process(Class::Timer, "beside_time", doc, |_| {
        ACTS.time.load(Relaxed)
    });
    a.audience = Audience::UserDetail;
    let doc = "Times that this thread woke and had the library.";
    a.of_process(Class::Counter, "beside_wakes", doc, |_| {
        ACTS.wakes.load(Relaxed)
    });
}

fn shm(a: &mut Area<'_>) {
    let mut counter = |name, doc, read: fn(Counters) -> u64| {
        a.of_process(Class::Counter, name, doc, move |process| {
            process.link(|link| link.net().shm().map_or(0, |shm| read(shm.counters())))
        });
    };
    let doc = "Packets that found no room in the ring to their receiver.";
    counter("shm_full", doc, |c| c.full);
    let doc = "Packets of 2 KiB and more that were copied through the cache.";
    counter("shm_plain_packets", doc, |c| c.plain);
    let doc = "Packets of 2 KiB and more that were copied around the cache.";
    counter("shm_streamed_packets", doc, |c| c.streamed);
    let doc = "Reads of other processes' memory.";
    counter("shm_reads", doc, |c| c.reads);
    let doc = "Writes into other processes' memory.";
    counter("shm_writes", doc, |c| c.writes);
    let mut size = |name, doc, read: fn(Memory) -> usize| {
        a.of_process(Class::Size, name, doc, move |process| {
            process.link(|link| link.net().shm().map_or(0, |shm| read(shm.memory()))) as u64
        });
    };
    let doc = "Bytes of shared memory in the rings that this process sends through.";
    size("shm_ring_bytes", doc, |m| m.rings + m.data);
    let doc = "Bytes of shared memory for collectives that this process asked for.";
    size("shm_board_bytes", doc, |m| m.regions);
}

fn network(a: &mut Area<'_>) {
    let mut counter = |name, doc, read: fn(catena_net::Counters) -> u64| {
        a.of_process(Class::Counter, name, doc, move |process| {
            process.link(|link| link.net().networks().map(|it| read(it.counters())).sum())
        });
    };
    let doc = "Packets that left over a network.";
    counter("network_packets", doc, |c| c.packets);
    let doc = "Packets that left over a network together with others.";
    counter("network_together", doc, |c| c.together);
    let doc = "Packets that found no room on their way to a network.";
    counter("network_full", doc, |c| c.full);
    let doc = "Reads of other processes' memory over a network, in pieces.";
    counter("network_reads", doc, |c| c.reads);
    let doc = "What arrived over a network and is no packet of this job.";
    counter("network_strays", doc, |c| c.strays);
}

fn objects(a: &mut Area<'_>) {
    let mut level = |name, doc, read: fn(&Process) -> usize| {
        a.of_process(Class::Level, name, doc, move |process| read(process) as u64);
    };
    let doc = "Communicators, with the two predefined ones.";
    level("communicators", doc, |process| {
        process.objects.comms.len() + 2
    });
    level("groups", "Groups that were not freed.", |process| {
        process.objects.groups.table.len()
    });
    level(
        "datatypes",
        "Datatypes that were made and not freed.",
        |process| process.objects.types.table.len(),
    );
    level(
        "operations",
        "Operations that were made and not freed.",
        |process| process.objects.ops.table.len(),
    );
    let doc = "Error handlers that were made and not freed.";
    level("error_handlers", doc, |process| {
        process.objects.errhandlers.table.len()
    });
    level("infos", "Info objects that were not freed.", |process| {
        process.objects.infos.table.len()
    });
    let doc = "Requests that were neither completed nor freed, with those of the library itself.";
    level("requests", doc, |process| {
        process.objects.requests.len() + process.link(|link| link.requests()) as usize
    });
    let doc = "Matched messages that were not received.";
    level("matched_messages", doc, |process| {
        process.objects.messages.len()
    });
}

fn buffers(a: &mut Area<'_>) {
    let doc = "Bytes in use of the buffer that is attached to the process.";
    a.of_process(Class::Level, "bsend_used", doc, |process| {
        process.buffer.usage(process).0
    });
    let doc = "Bytes of the buffer that is attached to the process; 0 for an automatic one.";
    a.of_process(Class::Size, "bsend_size", doc, |process| {
        process.buffer.usage(process).1
    });
    let doc = "Bytes in use of the buffer that is attached to the communicator.";
    a.of_comm(Class::Level, "comm_bsend_used", doc, |process, c| {
        c.buffer.usage(process).0
    });
    let doc = "Bytes of the buffer that is attached to the communicator; 0 for an automatic one.";
    a.of_comm(Class::Size, "comm_bsend_size", doc, |process, c| {
        c.buffer.usage(process).1
    });
}

fn collectives(a: &mut Area<'_>) {
    let doc = "Collectives that ran on the communicator.";
    a.of_comm(Class::Counter, "comm_collectives", doc, |_, c| {
        c.coll.calls.get()
    });
    let doc = "Collectives that were started without waiting for them.";
    a.of_process(Class::Counter, "coll_started", doc, |process| {
        process.colls.started.get()
    });
    let doc = "Looks of progress at started collectives because a message of theirs was complete.";
    a.of_process(Class::Counter, "coll_looks", doc, |process| {
        process.colls.looks.get()
    });
    let doc = "Collectives among neighbours.";
    a.of_process(Class::Counter, "coll_neighbor", doc, |process| {
        process.colls.neighbors.get()
    });
}
