//! Whether those whom a process waits for still live, and what it sleeps on meanwhile.

use catena_base::Waker;
use catena_fabric::{Peer, Sleeper};
use catena_link::Awaited;
use catena_shm::Shm;

use super::{Route, Routes};
use crate::networks::{Networks, Watched};

impl<S, R> Routes<S, R> {
    /// Whether it is time to look at whom this process waits for; asked after a poll.
    #[inline]
    pub fn may_ping(&mut self) -> bool {
        let far = self.has_networks() && self.networks_mut().any(Networks::may_ping);
        far || self.has_guests() && self.guest_looks.are_due_after_poll()
    }

    /// Whether this process shares memory with other jobs.
    #[inline]
    pub(super) fn has_guests(&self) -> bool {
        self.shm.as_ref().is_some_and(Shm::has_guests)
    }

    /// Whether it is time to look whether those whom this process waits for have ended, of other
    /// jobs that it shares memory with; asked before a sleep.
    pub fn may_look_at_guests(&self) -> bool {
        self.has_guests() && self.guest_looks.are_due()
    }

    /// Whether it is time, after a poll, to look at what no poll sees: now and then, after a sleep.
    pub fn is_time_to_look(&self) -> bool {
        self.networks().any(Networks::is_time_to_look)
    }

    /// As [`Networks::watch`], over all of them, and over shared memory to other jobs: what is told
    /// of the ends of this job's own processes is the launcher's.
    pub fn watch(&mut self, awaited: &Awaited) -> Watched {
        let is_own = |peer: &Peer| self.peers.is_own(*peer);
        let far = |peer: &Peer| self.route(*peer) == Route::Network;
        let select = |keep: &dyn Fn(&Peer) -> bool, number: &dyn Fn(Peer) -> Peer| {
            let of = |peer: &&Peer| far(peer) && keep(peer);
            Awaited {
                named: awaited
                    .named
                    .iter()
                    .filter(of)
                    .map(|it| number(*it))
                    .collect(),
                any: awaited
                    .any
                    .iter()
                    .filter(of)
                    .map(|it| number(*it))
                    .collect(),
            }
        };
        // Those that a process adds that is alone are reached over its own networks, too.
        let is_alone = self.alone.is_some();
        let own = select(&|peer| is_alone || is_own(peer), &|peer| peer);
        let others = self.bridges.iter().map(|bridge| {
            let of = |peer: &Peer| bridge.peers.contains(&peer.0);
            select(&of, &|peer| bridge.number(peer))
        });
        let others: Vec<Awaited> = others.collect();
        let own = self.networks.as_mut().map(|it| it.watch(own));
        let mut all = own.unwrap_or_default();
        for (bridge, awaited) in self.bridges.iter_mut().zip(others) {
            let of = bridge.networks.watch(awaited);
            all.lost
                .extend(of.lost.into_iter().map(|it| bridge.lost(it)));
            all.ended
                .extend(of.ended.into_iter().map(|it| bridge.lost(it)));
            let unwatched = of.unwatched.into_iter();
            all.unwatched
                .extend(unwatched.filter_map(|it| bridge.peer(it)));
        }
        let shm = self.shm.as_ref();
        all.ended
            .extend(self.guest_looks.look(shm, awaited, is_own));
        all
    }

    /// Declares a peer dead, because the launcher said so: whatever is under way to it ends, and
    /// later calls fail. What it sent before its death may still arrive.
    pub fn mark_lost(&mut self, peer: Peer, cause: &str) {
        if let Some(shm) = self.shm.as_mut().filter(|shm| shm.reaches(peer)) {
            shm.mark_lost(peer, cause.to_owned());
        }
        if self.route(peer) == Route::Network
            && let Some((networks, at)) = self.far_mut(peer)
        {
            networks.mark_lost(at, cause);
        }
    }

    /// The next poll looks at all networks.
    pub fn look_next(&mut self) {
        self.networks_mut().for_each(Networks::look_next);
    }

    /// What wakes this process while it sleeps on [`Routes::sleeper`]; none without networks.
    pub fn waker(&self) -> Option<Waker> {
        Some(self.networks().next()?.waker())
    }

    /// What a process with nothing to do may sleep on, or `None` if there may be something to do.
    /// The next poll looks at everything.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        let mut all = None;
        let is_rung = self.shm.is_some();
        for networks in self.networks_mut() {
            let one = networks.sleeper(is_rung)?;
            all = Some(match all {
                Some(all) => one.or(all),
                None => one,
            });
        }
        all
    }
}
