//! The end of an endpoint: what it has sent arrives, and its peers learn that nothing follows.

use std::time::{Duration, Instant};

use catena_fabric::Peer;
use catena_link::{Mode, Plane, Sent};
use catena_net::Route;
use catena_shm::Shm;

use super::{DATA, Known, REQUESTS, State};
use crate::op::{Kind, Message};
use crate::queue::EVERYWHERE;

impl State {
    /// Has what was sent arrive, before the endpoint closes; at most for a while.
    ///
    /// What was sent through shared memory lies at the peer, which reads it once it has opened this
    /// process's memory: that has to last until then. So a peer from which nothing has come yet is
    /// asked for a sign of life.
    pub fn drain(&mut self) {
        let end = Instant::now() + Duration::from_secs(5);
        self.progress();
        let silent = |it: &(usize, &Known)| it.1.is_sent_to && !it.1.is_heard;
        let silent = self.known.iter().enumerate().filter(silent);
        for at in silent.map(|it| it.0).collect::<Vec<_>>() {
            let peer = Peer(at as u32);
            if self.link.net().route(peer) == Route::Shm && !self.link.is_lost(peer) {
                self.knock(peer);
            }
        }
        while Instant::now() < end {
            let is_quiet = !self.link.has_under_way(|cid| cid != DATA) && self.link.is_idle();
            if is_quiet && self.link.net().is_delivered(false) {
                break;
            }
            // Whom it waits for may be of this process, whose threads are here.
            if !self.move_alone() && !EVERYWHERE.visit() {
                std::thread::yield_now();
            }
        }
        self.say_goodbye();
    }

    /// Tells those with which something was exchanged through shared memory that nothing follows:
    /// this process may go on when its endpoint is gone.
    fn say_goodbye(&mut self) {
        for peer in (0..self.known.len()).map(|at| Peer(at as u32)) {
            let is_met = |shm: &Shm| shm.has_met(peer);
            if self.link.net().shm().is_some_and(is_met) && !self.link.is_lost(peer) {
                self.remove_peer(peer);
            }
        }
    }

    /// Sends a request for nothing, which is complete when the peer has taken it.
    fn knock(&mut self, peer: Peer) {
        let mut op = self.pool.take();
        // SAFETY: just taken.
        unsafe { op.as_mut() }.kind = Kind::Sent;
        let (mode, message) = (Mode::Synchronous, Message::Op(op));
        let sent = self
            .link
            .send(REQUESTS, Plane::User, peer.0, 0, mode, message);
        match sent {
            Sent::Done => self.sent_quietly(op, None),
            Sent::Pending(request) => self.begin(op, request),
        }
    }
}
