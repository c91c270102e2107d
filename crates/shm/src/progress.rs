//! Sleeping, and waking others.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

use catena_base::{Barrier, Doorbell, Presence, Waker};
use catena_fabric::Peer;

use crate::addr::Block;
use crate::init::Shm;

/// Whether what is published now is a step of something that was started, so that whoever rings
/// calls the process, too: its program may be elsewhere. Written inside the library.
pub static STARTED: AtomicBool = AtomicBool::new(false);

/// A rank's doorbell, for whoever publishes something elsewhere in the segment
/// or sleeps without holding the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bell {
    block: *const Block,
    barrier: Barrier,
}

impl Bell {
    fn block(&self) -> &Block {
        // SAFETY: `Shm::bell` made its caller promise that the mapping lasts.
        unsafe { &*self.block }
    }

    fn doorbell(&self) -> &Doorbell {
        &self.block().bell
    }

    /// Wakes the rank if it sleeps; see [`Doorbell::ring`]. Calls it, too, where the step is one of
    /// something that was [`STARTED`].
    #[inline(always)]
    pub fn ring(&self) {
        self.doorbell().ring();
        if STARTED.load(Relaxed) {
            self.block().presence.call_softly();
        }
    }

    /// Sleeps; see [`Doorbell::sleep`]. Only on one's own bell.
    pub fn sleep(&self, limit: Duration, ready: impl FnOnce() -> bool) -> bool {
        self.doorbell().sleep(self.barrier, limit, ready)
    }

    /// Sleeps with `wait`; see [`Doorbell::sleep_on`]. Only on one's own bell.
    pub fn sleep_on(
        &self,
        waker: Waker,
        limit: Duration,
        ready: impl FnOnce() -> bool,
        wait: impl FnOnce(Duration),
    ) -> bool {
        let (bell, barrier) = (self.doorbell(), self.barrier);
        bell.sleep_on(waker, barrier, limit, ready, wait)
    }
}

impl Shm {
    /// Whether a poll would find nothing to do.
    #[inline(always)]
    pub fn is_silent(&self) -> bool {
        !self.has_arrivals() && self.cold.is_empty()
    }

    #[inline(always)]
    fn has_arrivals(&self) -> bool {
        self.own().epoch.load(Acquire) != self.seen
            || self.inlets.iter().any(|inlet| inlet.is_ready())
    }

    /// Whether nothing of a peer is there that was not taken. Cost: O(rings into this process).
    pub fn has_taken_all_of(&self, peer: Peer) -> bool {
        let number = self.number(peer);
        let mut inlets = self.inlets.iter();
        self.own().epoch.load(Acquire) == self.seen
            && !inlets.any(|it| it.number as usize == number && it.is_ready())
    }

    /// Whether something was sent to a peer, or has come from it.
    pub fn has_met(&self, peer: Peer) -> bool {
        let state = self
            .reaches(peer)
            .then(|| &self.peer_states[self.number(peer)]);
        state.is_some_and(|it| it.is_open() || it.heard)
    }

    /// Whether polling, or sending again what found no room, would get
    /// something done.
    pub fn is_ready(&self) -> bool {
        self.has_arrivals()
            || self.devices.are_copying()
            || self
                .peer_states
                .iter()
                .any(|peer_state| peer_state.is_unblocked())
    }

    /// Sleeps until rung: a packet, a new ring, or room in a full one.
    pub(crate) fn doze(&mut self, limit: Duration) {
        let rung = self
            .own()
            .bell
            .sleep(self.barrier, limit, || self.is_ready());
        self.counters.sleeps += 1;
        self.counters.wakes += u64::from(rung);
    }

    /// The doorbell of a rank on this node.
    ///
    /// # Safety
    /// The doorbell is not used once the transport is dropped.
    pub unsafe fn bell(&self, peer: Peer) -> Bell {
        Bell {
            block: self.peer_states[self.number(peer)].block(),
            barrier: self.barrier,
        }
    }

    /// The doorbell of this rank.
    ///
    /// # Safety
    /// As for [`Shm::bell`].
    pub unsafe fn own_bell(&self) -> Bell {
        Bell {
            block: self.own,
            barrier: self.barrier,
        }
    }

    /// Where this rank says that its program is.
    ///
    /// # Safety
    /// It is not used once the transport is dropped.
    pub unsafe fn presence(&self) -> &'static Presence {
        // SAFETY: in the mapping, as the caller promises; atomics only.
        unsafe { &(*self.own).presence }
    }

    /// Calls a rank, for which something was published that has to be acted on; see
    /// [`Presence::call`] and, for `softly`, [`Presence::call_softly`].
    pub fn call(&self, peer: Peer, softly: bool) {
        let block = self.peer_states[self.number(peer)].block();
        match softly {
            true => block.presence.call_softly(),
            false => block.presence.call(),
        }
    }

    /// Whether the program of a rank is not in the library, though it has something under way.
    pub fn is_away(&self, peer: Peer) -> bool {
        self.peer_states[self.number(peer)]
            .block()
            .presence
            .is_away()
    }
}
