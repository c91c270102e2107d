//! What progress does for the streams.

use catena_core::needs;
use catena_hang::{WaitsFor, What};
use std::cell::Cell;
use std::ops::Range;

use catena_base::PeerBytes;
use catena_core::Process;
use catena_core::beside::Demand;
use catena_core::hooks::Hook;
use catena_fabric::{Peer, PeerLost, RmaError};
use catena_link::{ActiveHeader, Awaited, Handler};

use super::at_once;
use super::exchange::{self, WINDOWS, ended};
use super::job::Packet;
use super::ready;
use super::target::carry_out;
use crate::registry;

/// What windows need the thread beside the program for.
static BESIDE: Demand = Demand::new();

/// Sends what is to leave, and looks for locks that origins elsewhere wait for.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Whether it is doing so.
    is_busy: Cell<bool>,
    /// How many operations wait for room in a network, which nobody tells.
    want_room: Cell<u32>,
    /// How many windows have members of this node that are reached by messages.
    near: Cell<u32>,
}

impl Hook<Process> for Streams {
    fn acts_beside(&self) -> bool {
        true
    }

    fn progress(&self, process: &Process) -> bool {
        carry_on(process)
    }

    fn before_sleep(&self, process: &Process) -> bool {
        // What has no room now leaves when there is some, which nobody tells.
        carry_on(process) || self.want_room.get() != 0 || !exchange::with(|it| it.is_quiet())
    }

    fn awaits(&self, _: &Process, awaited: &mut Awaited) {
        if !self.is_busy.get() {
            exchange::with(|exchange| awaited.named.extend(exchange.awaited()));
        }
    }

    fn leads_to(&self, _: &Process, peers: &Range<u32>) -> bool {
        registry::lead_to(peers)
    }
}

/// Takes what comes for windows.
#[derive(Debug)]
struct Receiver;

impl Handler for Receiver {
    fn deliver(&mut self, from: Peer, header: ActiveHeader, payload: PeerBytes<'_>) {
        if at_once::take(from, header.argument, payload) {
            return;
        }
        // They are carried out when the engine is not under way: that may wait for a lock. The peer
        // may write them while they are copied.
        exchange::note_packet((from, header.argument, payload.to_vec()));
    }

    fn lost(&mut self, lost: &PeerLost) {
        exchange::note_lost(lost);
    }

    fn forget(&mut self, peers: &Range<u32>) {
        exchange::forget(peers);
    }

    fn completed(&mut self, number: u64, result: Result<u64, RmaError>) {
        exchange::note_end((number as u32, result));
    }
}

/// Takes packets of windows from now on.
pub(crate) fn listen(process: &Process) {
    process.link(|link| {
        link.set_handler(WINDOWS, Some(Box::new(Receiver)));
    });
}

/// Has progress look at the streams as long as there are windows that need them.
pub(crate) fn add_window(process: &Process) {
    process.hook::<Streams>().add_work(1);
    BESIDE.raise();
}

/// A window that needs them has members of this node that do.
pub(crate) fn note_near(process: &Process) {
    let near = &process.hook::<Streams>().near;
    near.set(near.get() + 1);
}

/// One window less needs them, and whether it had such members. All that is to leave has left.
pub(crate) fn remove_window(process: &Process, was_near: bool) {
    let streams = process.hook::<Streams>();
    streams.near.set(streams.near.get() - u32::from(was_near));
    streams.remove_work(1);
    BESIDE.lower();
}

/// Waits until `start` has found room in a network.
pub(crate) fn wait_for_room(process: &Process, mut start: impl FnMut() -> bool) {
    let hook = process.hook::<Streams>();
    hook.want_room.set(hook.want_room.get() + 1);
    let describe = |_: &Process, waits: &mut WaitsFor| {
        waits
            .needs
            .push(needs::open(What::Remote, "room in the network"));
    };
    process.block(describe, |_| start());
    hook.want_room.set(hook.want_room.get() - 1);
}

/// Does what can be done now; true if anything moved.
pub(crate) fn carry_on(process: &Process) -> bool {
    let hook = process.hook::<Streams>();
    // What waits for a lock in here makes progress, which leaves this alone.
    if hook.is_busy.replace(true) {
        return false;
    }
    let moved = carry_all(process);
    hook.is_busy.set(false);
    moved
}

fn carry_all(process: &Process) -> bool {
    let serve = |exchange: &mut _, from, head, body: &[u8]| {
        carry_out(process, exchange, (from, head), body);
    };
    let mut moved = exchange::with(|exchange| {
        let mut moved = false;
        for end in exchange::take_ends() {
            exchange.end(end);
            moved = true;
        }
        for (from, at, bytes) in exchange::take_packets() {
            exchange.take(from, at, &bytes, &serve);
            moved = true;
        }
        // Behind what they had sent: they may have let go of a lock.
        for lost in exchange::take_lost() {
            exchange.lose(lost.peer, &lost.cause);
            registry::each(|window| window.lose_member(lost.peer));
            moved = true;
        }
        ready::each(|window| {
            moved |= window.advance_locks(exchange);
            moved |= window.advance_gate(exchange);
            moved |= window.give_up_waiting(process, exchange);
        });
        moved
    });
    // No network tells of what they wait for, nor of what comes from members of the node.
    let near = process.hook::<Streams>().near.get();
    BESIDE.look_often(near != 0 || ready::are_some());
    let listed = exchange::with(|exchange| exchange.listed.clone());
    for peer in listed {
        moved |= send(process, peer);
    }
    moved
}

/// Sends what there is for a peer, while there is room; true if anything left.
pub(crate) fn send(process: &Process, peer: Peer) -> bool {
    let outcome = process.link(|link| {
        let most = link.max_active(peer);
        exchange::with(|exchange| {
            let out = &mut exchange.lane(peer).out;
            let post = |at, packet: Packet<'_>| {
                let header = ActiveHeader {
                    class: WINDOWS,
                    context: 0,
                    what: 0,
                    argument: at,
                };
                link.try_post_active(peer, header, packet)
            };
            let mut over = Vec::new();
            let sent = out.pump(most, post, |operation| over.push(operation));
            let is_empty = out.is_empty();
            over.iter().for_each(ended);
            if is_empty {
                exchange.unlist(peer);
            }
            sent
        })
    });
    match outcome {
        Ok(moved) => moved,
        Err(lost) => {
            exchange::with(|exchange| exchange.lose(peer, &lost.cause));
            true
        }
    }
}
