//! Claims on messages that are lent: words in the blocks of those who have lent them, which the
//! first one takes who reads the message or sends it.

use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

use catena_base::clock;
use catena_fabric::{NEVER_LENT, Peer};

use crate::addr::CLAIMS;
use crate::init::Shm;
use crate::lend::APART;
use crate::settings::SingleCopy;
use crate::trials::By;

impl Shm {
    /// Implements `NodeLocal::lends`.
    pub(crate) fn prefers_lending(&mut self, peer: Peer, len: u64, under_way: usize) -> bool {
        if len <= NEVER_LENT || !self.may_read(peer) {
            return false;
        }
        match self.config.single_copy {
            SingleCopy::Always => return true,
            SingleCopy::Auto => {}
            SingleCopy::Never => return false,
        }
        if self.config.oversubscribed {
            return self.segment.front().shared_cores.next(len) == By::Kernel;
        }
        let number = self.number(peer);
        let most = clock::ticks_in(APART);
        self.peer_states[number]
            .lending
            .next(len, under_way, clock::ticks(), most)
    }

    /// Implements `NodeLocal::open_claim`.
    pub(crate) fn open_own_claim(&self, id: u64) -> bool {
        let claim = &self.own().claims[id as usize % CLAIMS];
        let is_free = claim.load(Relaxed) == 0;
        if is_free {
            claim.store(id.wrapping_add(1), Release);
        }
        is_free
    }

    /// Implements `NodeLocal::take_claim`.
    pub(crate) fn take_claim_of(&self, owner: Option<Peer>, id: u64) -> bool {
        let block = match owner {
            Some(peer) => self.peer_states[self.number(peer)].block(),
            None => self.own(),
        };
        let claim = &block.claims[id as usize % CLAIMS];
        claim
            .compare_exchange(id.wrapping_add(1), 0, AcqRel, Relaxed)
            .is_ok()
    }
}
