//! Server and clients in one process: the server on a thread of its own.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::thread::{self, JoinHandle};

use super::*;
use crate::client::Client as Rank;
use crate::{Boot, BootError, Death, Ended, Side, Visit};

mod nodes;
mod remote;
mod ties;

fn secret() -> catena_proof::Secret {
    catena_proof::Secret::from_bytes([5; 32])
}

fn server(size: u32) -> Server {
    let job = Job {
        size,
        secret: Some(secret()),
        universe_size: size,
        node_of: vec![0; size as usize].into(),
        psets: vec![("app://0".to_string(), (0..size).collect())],
        ..Job::singleton("host".to_string(), 2)
    };
    Server::open(job, 0, (0..size).map(|r| r % 2).collect()).unwrap()
}

/// Serves until `last` says that an event is the last one; gives all events.
fn serve(
    mut server: Server,
    last: impl Fn(&Event) -> bool + Send + 'static,
) -> JoinHandle<Vec<Event>> {
    thread::spawn(move || {
        let mut poller = Poller::new().unwrap();
        poller.add(server.as_fd(), 0, Interest::Read).unwrap();
        let mut all = Vec::new();
        loop {
            poller.wait(None).unwrap();
            let events = server.step();
            for event in &events {
                if let Event::Fenced { parts } = event {
                    server.end_fence(parts);
                }
            }
            let over = events.iter().any(&last);
            all.extend(events);
            if over {
                return all;
            }
        }
    })
}

fn places(server: &Server) -> Vec<String> {
    (0..server.jobs[0].job.size)
        .map(|rank| server.place(rank))
        .collect()
}

#[test]
fn ranks_learn_the_job_and_exchange_values() {
    const SIZE: u32 = 5;
    let server = server(SIZE);
    let places = places(&server);
    let ranks: Vec<_> = places
        .into_iter()
        .zip(0u32..)
        .map(|(place, me)| {
            thread::spawn(move || {
                let mut boot = Rank::connect(&place).unwrap();
                let job = boot.job().clone();
                assert_eq!((job.rank, job.size, job.appnum), (me, SIZE, me % 2));
                assert_eq!(*job.local, [0, 1, 2, 3, 4]);
                assert_eq!(job.psets[0].1.len(), SIZE as usize);
                for round in 0..20u32 {
                    boot.put("card", &[me, round].map(|n| n as u8)).unwrap();
                    // Long enough for neither side to fit into a socket.
                    boot.put("long", &vec![me as u8; 300_000]).unwrap();
                    if round % 2 == 0 {
                        boot.fence().unwrap();
                    } else {
                        boot.begin_fence().unwrap();
                        assert!(matches!(boot.begin_fence(), Err(BootError::Fence)));
                        while !boot.fence_done().unwrap() {
                            thread::yield_now();
                        }
                    }
                    for other in 0..SIZE {
                        let card = boot.get(other, "card").unwrap().unwrap();
                        assert_eq!(card, [other as u8, round as u8]);
                        let long = boot.get(other, "long").unwrap().unwrap();
                        assert_eq!(long, vec![other as u8; 300_000]);
                    }
                }
                assert_eq!(boot.get(0, "none").unwrap(), None);
                assert!(boot.get(SIZE, "card").is_err());
                boot.finalize().unwrap();
                boot.resume().unwrap();
                boot.finalize().unwrap();
                let segment = std::fs::File::from(boot.take_segment().unwrap().unwrap());
                assert!(boot.take_segment().unwrap().is_none());
                assert!(segment.metadata().unwrap().len() > 0);
                job.secret
            })
        })
        .collect();
    let left = std::sync::atomic::AtomicU32::new(0);
    let serving = serve(server, move |event| {
        matches!(event, Event::Left { .. })
            && left.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1 == SIZE
    });
    for rank in ranks {
        assert_eq!(
            rank.join().unwrap(),
            Some(secret()),
            "each learns the secret"
        );
    }
    let events = serving.join().unwrap();
    for rank in 0..SIZE {
        let of: Vec<_> = events
            .iter()
            .filter(|event| match event {
                Event::Joined { rank: r, .. }
                | Event::Left { rank: r, .. }
                | Event::Resumed { rank: r }
                | Event::Finalized { rank: r } => *r == rank,
                _ => false,
            })
            .collect();
        assert!(
            matches!(
                of[..],
                [
                    Event::Joined { .. },
                    Event::Finalized { .. },
                    Event::Resumed { .. },
                    Event::Finalized { .. },
                    Event::Left { .. }
                ]
            ),
            "{of:?}"
        );
    }
}

#[test]
fn what_is_published_is_known_at_once() {
    let server = server(3);
    let places = places(&server);
    let serving = serve(server, |event| matches!(event, Event::Abort { .. }));
    let [mut a, mut b, mut c] = [0, 1, 2].map(|rank: usize| Rank::connect(&places[rank]).unwrap());
    let wait = |asker: &mut Rank, rank| loop {
        if let Some(value) = asker.ask(0, rank, "k").unwrap() {
            return value;
        }
        thread::yield_now();
    };
    // Asked before and after; by itself, too; while another waits in a fence.
    b.begin_fence().unwrap();
    assert_eq!(b.ask(0, 0, "k").unwrap(), None);
    a.publish("k", b"one").unwrap();
    assert_eq!(wait(&mut b, 0), b"one");
    assert_eq!(wait(&mut a, 0), b"one");
    assert_eq!(wait(&mut c, 0), b"one");
    assert_eq!(c.ask(0, 2, "k").unwrap(), None);
    c.publish("k", &vec![7; 1 << 20]).unwrap();
    assert_eq!(wait(&mut c, 2), vec![7; 1 << 20]);
    assert_eq!(c.ask(0, 0, "other").unwrap(), None);
    assert!(c.ask(0, 3, "k").is_err());
    // A fence whose end came before an answer was read with it, and is told all the same, once.
    a.begin_fence().unwrap();
    c.begin_fence().unwrap();
    c.end_fence().unwrap();
    a.publish("later", b"one").unwrap();
    while b.ask(0, 0, "later").unwrap().is_none() {
        thread::yield_now();
    }
    assert!(matches!(b.begin_fence(), Err(BootError::Fence)));
    assert!(b.fence_done().unwrap());
    assert!(matches!(b.fence_done(), Err(BootError::Fence)));
    a.abort(1, "");
    serving.join().unwrap();
}

#[test]
fn nodes_ask_each_other_once() {
    let job = Job {
        size: 3,
        node_of: Box::new([0, 0, 1]),
        hosts: Box::new(["x".to_string(), "y".to_string()]),
        ..Job::singleton("x".to_string(), 1)
    };
    let mut asking = Server::open(job.clone(), 0, vec![0; 3]).unwrap();
    let mut asked = Server::open(job, 1, vec![0; 3]).unwrap();
    let ranks: Vec<_> = [asking.place(0), asking.place(1), asked.place(2)]
        .into_iter()
        .map(|place| {
            thread::spawn(move || {
                let mut boot = Rank::connect(&place).unwrap();
                if boot.job().rank == 2 {
                    boot.publish("k", b"value").unwrap();
                }
                while boot.ask(0, 2, "k").unwrap().as_deref() != Some(b"value") {
                    thread::yield_now();
                }
            })
        })
        .collect();
    let (mut questions, mut left) = (0, 0);
    while left < 3 {
        let events = [asking.step(), asked.step()].concat();
        for event in events {
            match event {
                Event::Ask { node, rank, key } => {
                    assert_eq!((node, rank, key.as_str()), (0, 2, "k"));
                    questions += 1;
                    if let Some(Event::Answer { value, .. }) = asked.ask(node, rank, &key) {
                        assert_eq!(asking.answer(rank, &key, &value), []);
                    }
                }
                Event::Answer {
                    node,
                    rank,
                    key,
                    value,
                } => {
                    assert_eq!(node, 0);
                    assert_eq!(asking.answer(rank, &key, &value), []);
                }
                Event::Left { .. } => left += 1,
                _ => {}
            }
        }
        thread::yield_now();
    }
    assert_eq!(questions, 1);
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
}

#[test]
fn a_rank_that_goes_without_a_word_has_left() {
    let server = server(1);
    let places = places(&server);
    let serving = serve(server, |event| matches!(event, Event::Left { .. }));
    drop(Rank::connect(&places[0]).unwrap());
    let pid = std::process::id();
    let events = serving.join().unwrap();
    assert_eq!(
        events,
        [Event::Joined { rank: 0, pid }, Event::Left { rank: 0, pid }]
    );
}

#[test]
fn strangers_and_second_processes_are_refused_with_words() {
    let server = server(2);
    let places = places(&server);
    let outside = server.place(2);
    let serving = serve(server, |event| matches!(event, Event::Abort { .. }));

    let mut first = Rank::connect(&places[1]).unwrap();
    let refused = |place: &str| match Rank::connect(place) {
        Err(BootError::Refused(words)) => words,
        other => panic!("{other:?}"),
    };
    assert!(refused(&places[1]).contains("already taken part in this job as rank 1"));
    assert!(refused(&outside).contains("rank 2 is not in this job"));
    let mut forged = LauncherAddress::parse(&places[0]).unwrap();
    forged.cookie[3] ^= 1;
    assert!(refused(&forged.to_text()).contains("cookie"));

    first.fault("lonely");
    first.abort(7, "enough");
    let events = serving.join().unwrap();
    let fault = Event::Fault {
        rank: 1,
        message: "lonely".to_string(),
    };
    assert!(events.contains(&fault), "{events:?}");
    let abort = Event::Abort {
        rank: 1,
        code: 7,
        message: "enough".to_string(),
    };
    assert_eq!(events.last(), Some(&abort));
}

#[test]
fn garbage_disconnects_its_sender_only() {
    let server = server(1);
    let place = places(&server).remove(0);
    let socket = LauncherAddress::parse(&place).unwrap().socket;
    let serving = serve(server, |event| matches!(event, Event::Broken { .. }));

    let address = SocketAddr::from_abstract_name(&socket).unwrap();
    for garbage in [
        &[0xff; 5][..],
        &[0; 40],
        &[0, 0, 2, 0, 1, 0, 0],
        &[0, 0, 0, 0, 2],
    ] {
        let mut stranger = UnixStream::connect_addr(&address).unwrap();
        stranger.write_all(garbage).unwrap();
        let mut answer = Vec::new();
        // Closed, whether or not all that was sent had been read.
        let _ = stranger.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }

    // One that is taken in may write no nonsense either.
    let hello = |w: &mut Writer| {
        w.u32(wire::VERSION);
        w.raw(&LauncherAddress::parse(&place).unwrap().cookie);
        w.u64(0);
        w.u32(0);
        w.bytes(b"");
    };
    let mut w = Writer::new(FrameKind::Hello);
    hello(&mut w);
    let mut rank = UnixStream::connect_addr(&address).unwrap();
    rank.write_all(&w.finish()).unwrap();
    let mut w = Writer::new(FrameKind::Fence);
    w.u32(1000);
    rank.write_all(&w.finish()).unwrap();
    let events = serving.join().unwrap();
    let [
        Event::Joined { .. },
        Event::Broken { .. },
        Event::Left { .. },
    ] = events[..]
    else {
        panic!("{events:?}");
    };
}

/// A second job of `size` ranks for a server.
fn second(server: &mut Server, size: u32) -> (u64, Vec<String>) {
    let job = Job {
        size,
        job_id: 99,
        node_of: vec![0; size as usize].into(),
        ..Job::singleton("host".to_string(), 2)
    };
    let first = server.reserve(size);
    server.add(first, job, vec![0; size as usize]).unwrap();
    let places = (first..first + size).map(|it| server.place(it)).collect();
    (99, places)
}

#[test]
fn guests_find_their_server_and_share_no_memory_with_other_jobs() {
    let mut random = [0; 8];
    sys::random(&mut random).unwrap();
    let job = Job {
        size: 2,
        job_id: u64::from_le_bytes(random),
        secret: Some(secret()),
        node_of: Box::new([0, 0]),
        ..Job::singleton("host".to_string(), 2)
    };
    let open = || Server::open_for_guests(job.clone(), 0, vec![0; 2]);
    let mut server = open().unwrap();
    assert_eq!(open().unwrap_err().kind(), io::ErrorKind::AddrInUse);
    let (other, places) = second(&mut server, 1);
    let serving = serve(server, |event| matches!(event, Event::Abort { .. }));
    let own = LauncherAddress::of_guests(job.job_id, 1, &secret());
    let stranger = LauncherAddress::of_guests(job.job_id, 0, &secret().derive("another"));
    let refused = Rank::connect(&stranger.to_text()).unwrap_err();
    assert!(matches!(refused, BootError::Refused(_)), "{refused}");
    let mut guest = Rank::connect(&own.to_text()).unwrap();
    let mut spawned = Rank::connect(&places[0]).unwrap();
    for (rank, job, size) in [(&mut guest, other, 1), (&mut spawned, job.job_id, 2)] {
        let told = loop {
            if let Some(told) = rank.jobs().unwrap().learn(job).unwrap() {
                break told;
            }
        };
        assert!(told.size == size && told.segment.is_none(), "{told:?}");
    }
    guest.abort(1, "over");
    serving.join().unwrap();
}

#[test]
fn jobs_are_apart_and_know_of_each_other() {
    let mut server = server(2);
    let (own, (job, theirs)) = (places(&server), second(&mut server, 2));
    let serving = serve(server, |event| matches!(event, Event::Abort { .. }));
    let connect = |place: &String| {
        let place = place.clone();
        thread::spawn(move || Rank::connect(&place).unwrap())
    };
    let all: Vec<_> = own.iter().chain(&theirs).map(connect).collect();
    let mut all = all.into_iter().map(|rank| rank.join().unwrap());
    let (mut a, _b) = (all.next().unwrap(), all.next().unwrap());
    let (mut c, mut d) = (all.next().unwrap(), all.next().unwrap());
    assert_eq!((d.job().job_id, d.job().rank, d.job().size), (job, 1, 2));

    // Two of the second job meet, and none of the first is told.
    c.put("k", b"from c").unwrap();
    c.begin_fence().unwrap();
    d.fence().unwrap();
    c.end_fence().unwrap();
    assert_eq!(d.get(0, "k").unwrap().as_deref(), Some(&b"from c"[..]));
    assert_eq!(a.get(0, "k").unwrap(), None);

    // What one of the other job has published is asked for by its name there.
    d.publish("p", b"from d").unwrap();
    let value = loop {
        if let Some(value) = a.ask(job, 1, "p").unwrap() {
            break value;
        }
    };
    assert_eq!(value, b"from d");

    // The other job's memory is given, and is not one's own.
    let other = loop {
        if let Some(other) = a.jobs().unwrap().learn(job).unwrap() {
            break other;
        }
    };
    assert_eq!((other.size, &*other.node_of), (2, &[0, 0][..]));
    let inode = |fd: std::os::fd::OwnedFd| {
        use std::os::unix::fs::MetadataExt;
        std::fs::File::from(fd).metadata().unwrap().ino()
    };
    let theirs = inode(other.segment.unwrap());
    assert_eq!(theirs, inode(c.take_segment().unwrap().unwrap()));
    assert_ne!(theirs, inode(a.take_segment().unwrap().unwrap()));
    let none = loop {
        match a.jobs().unwrap().learn(5) {
            Ok(None) => {}
            Ok(Some(_)) => panic!("there is no such job"),
            Err(error) => break error,
        }
    };
    assert!(matches!(none, BootError::NoSuchJob(5)), "{none}");

    // Leaders of the two meet at a port that one has opened, and learn what the other has.
    let met = |rank: &mut Rank, ticket| {
        loop {
            if let Some(outcome) = rank.jobs().unwrap().outcome(ticket).unwrap() {
                break outcome;
            }
        }
    };
    let visit = |side, value, group| Visit {
        port: "port",
        side,
        value,
        group,
        timeout: None,
    };
    let early = visit(Side::Guest, b"early", &[]);
    let early = d.jobs().unwrap().meet(&early).unwrap();
    let error = met(&mut d, early).unwrap_err();
    assert!(error.contains("no port 'port'"), "{error}");
    a.jobs().unwrap().open_port("port").unwrap();
    let hosts: [&[u8]; 2] = [b"a1", b"a2"];
    let hosts = hosts.map(|it| {
        let visit = visit(Side::Host, it, &[(0, 0), (0, 1)]);
        a.jobs().unwrap().meet(&visit).unwrap()
    });
    // What a process has said is heard once it is answered.
    while a.jobs().unwrap().learn(job).unwrap().is_none() {}
    let group = [(job, 1)];
    let guest = visit(Side::Guest, b"d", &group);
    let guest = d.jobs().unwrap().meet(&guest).unwrap();
    assert_eq!(
        met(&mut d, guest),
        Ok(b"a1".to_vec()),
        "the first that waits"
    );
    assert_eq!(met(&mut a, hosts[0]), Ok(b"d".to_vec()));
    a.jobs().unwrap().close_port("port").unwrap();
    assert!(met(&mut a, hosts[1]).is_err(), "it waits in vain");

    d.abort(3, "enough");
    let events = serving.join().unwrap();
    let fence = |event: &Event| matches!(event, Event::Fencing | Event::Fenced { .. });
    assert!(!events.iter().any(fence), "{events:?}");
    let abort = |event: &Event| matches!(event, Event::Abort { rank: 3, .. });
    assert!(events.iter().any(abort), "{events:?}");
}

#[test]
fn deaths_are_told_to_all_but_the_dead() {
    let mut server = server(2);
    let (own, (job, theirs)) = (places(&server), second(&mut server, 1));
    let connect = |place: &String, server: &mut Server| {
        let place = place.clone();
        let rank = thread::spawn(move || Rank::connect(&place).unwrap());
        while !rank.is_finished() {
            server.step();
            thread::yield_now();
        }
        rank.join().unwrap()
    };
    let mut a = connect(&own[0], &mut server);
    let mut b = connect(&own[1], &mut server);
    let mut c = connect(&theirs[0], &mut server);
    server.died(2, 1, Ended::Signal(9));
    assert_eq!(server.take_told(), [0, 1]);
    server.died(1, 2, Ended::Code(3));
    let of = |rank: &mut Rank| rank.jobs().unwrap().deaths().unwrap();
    let death = |job, rank, epoch, how| Death {
        job,
        rank,
        epoch,
        how,
    };
    let first = death(job, 0, 1, Ended::Signal(9));
    let second = death(0, 1, 2, Ended::Code(3));
    assert_eq!(of(&mut a), [first, second]);
    assert_eq!(of(&mut b), [first]);
    assert_eq!(of(&mut c), [second]);
    assert_eq!(of(&mut a), [], "each once");
}

#[test]
fn who_comes_after_a_death_is_told_of_it_before_anything_else() {
    let mut server = server(3);
    let (own, (job, theirs)) = (places(&server), second(&mut server, 2));
    server.died(1, 1, Ended::Signal(9));
    server.died(3, 2, Ended::Code(3));
    let late = |server: &mut Server, place: &str| {
        let place = place.to_string();
        let rank = thread::spawn(move || {
            // Nothing is read from the socket any more: it is known with the welcome.
            std::mem::take(&mut Rank::connect(&place).unwrap().deaths)
        });
        while !rank.is_finished() {
            server.step();
            thread::yield_now();
        }
        rank.join().unwrap()
    };
    let death = |job, rank, epoch, how| Death {
        job,
        rank,
        epoch,
        how,
    };
    let first = death(0, 1, 1, Ended::Signal(9));
    let second = death(job, 0, 2, Ended::Code(3));
    assert_eq!(late(&mut server, &own[0]), [first, second]);
    assert_eq!(late(&mut server, &theirs[1]), [first, second]);
    // Its number may soon be that of another process.
    server.forget(3);
    assert_eq!(late(&mut server, &own[2]), [first]);
}

#[test]
fn no_fence_waits_for_the_dead() {
    let mut server = server(3);
    let connect = |place: String| thread::spawn(move || Rank::connect(&place).unwrap());
    let ranks: Vec<_> = places(&server).into_iter().map(connect).collect();
    let step_until = |server: &mut Server, ready: &dyn Fn(&Event) -> bool, count: usize| {
        let mut seen = 0;
        while seen < count {
            seen += server.step().iter().filter(|event| ready(event)).count();
        }
    };
    let joined = |event: &Event| matches!(event, Event::Joined { .. });
    step_until(&mut server, &joined, 3);
    let mut ranks: Vec<_> = ranks.into_iter().map(|it| it.join().unwrap()).collect();
    // Rank 1 comes and dies, and rank 2 dies without having come.
    let fencing = |event: &Event| matches!(event, Event::Fencing);
    ranks[1].begin_fence().unwrap();
    step_until(&mut server, &fencing, 1);
    assert_eq!(server.died(1, 1, Ended::Code(1)), None);
    ranks[0].begin_fence().unwrap();
    assert_eq!(server.step(), []);
    let over = server.died(2, 2, Ended::Code(1));
    assert!(matches!(over, Some(Event::Fenced { .. })), "{over:?}");
    server.end_fence(&[]);
    ranks[0].end_fence().unwrap();
    // The next one is of rank 0 alone.
    ranks[0].begin_fence().unwrap();
    let fenced = |event: &Event| matches!(event, Event::Fenced { .. });
    step_until(&mut server, &fenced, 1);
    server.end_fence(&[]);
    ranks[0].end_fence().unwrap();
}

#[test]
fn other_users_are_not_listened_to() {
    let mut server = server(1);
    let name = SocketAddr::from_abstract_name(server.socket.as_bytes()).unwrap();
    let cookie = server.cookie;
    let hello = |mut socket: UnixStream| {
        let mut frame = Writer::new(FrameKind::Hello);
        frame.u32(wire::VERSION);
        frame.raw(&cookie);
        frame.u64(0);
        frame.u32(0);
        frame.bytes(b"");
        socket.write_all(&frame.finish()).unwrap();
        socket
    };
    let Some(stranger) = sys::as_stranger(|| hello(UnixStream::connect_addr(&name).unwrap()))
    else {
        return;
    };
    assert_eq!(server.step(), []);
    // It was cut off, although it knows the cookie.
    let gone = (&stranger).read(&mut [0; 64]);
    assert!(matches!(&gone, Ok(0)) || gone.is_err(), "{gone:?}");
    let own = hello(UnixStream::connect_addr(&name).unwrap());
    let joined = server.step();
    assert!(
        matches!(joined[..], [Event::Joined { rank: 0, .. }]),
        "{joined:?}"
    );
    drop(own);
}
