//! Atomics on words of a peer's memory. All of them fetch, so one that has ended is complete at the
//! target, and a flush only waits for what is under way.

use catena_base::PeerBytes;
use catena_fabric::operations::Posting;
use catena_fabric::{Atomic, OpId, Peer, RemoteKey, RmaError, Started};
use catena_ofi_sys::calls::{self, WordAtomic};
use catena_ofi_sys::consts;

use crate::init::Ofi;
use crate::words::{OpResources, WORDS, op_of, type_of};

impl Ofi {
    /// Implements `Rma::atomic`.
    pub(crate) fn start_atomic(
        &mut self,
        id: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let state = &self.targets[peer.0 as usize];
        self.endpoint.losses.check(peer)?;
        if !self.atomics.contains(&atomic) {
            return Err(RmaError::Unsupported);
        }
        if !target.addr.is_multiple_of(atomic.ty.size() as u64) {
            return Err(RmaError::OutOfBounds);
        }
        if !state.is_known() {
            return Ok(Started::Full);
        }
        let (address, desc) = (state.address, self.desc());
        let (objects, contexts) = (&self.objects, &self.contexts);
        let (memory, words_at, first) = (&self.memory, self.words_at, self.first_operation);
        self.operations.start(Some(id), peer, |slot| {
            let words = memory.at(words_at + slot * WORDS);
            for (at, word) in [atomic.operand, atomic.compare].into_iter().enumerate() {
                let bytes = word.to_le_bytes();
                // SAFETY: the words of a slot that no operation uses.
                unsafe { PeerBytes::from(&bytes[..]).copy_to(words.add(8 * at)) };
            }
            let word = WordAtomic {
                op: op_of(atomic.op),
                datatype: type_of(atomic.ty),
                operand: words,
                compare: words.wrapping_add(8),
                result: words.wrapping_add(16),
                desc,
                peer: address,
                addr: target.addr,
                key: target.key,
            };
            // SAFETY: the words and the context stay until the operation has ended.
            match unsafe { calls::atomic(objects.ep, &word, contexts.of(first + slot)) } {
                Ok(()) => Ok(Posting::UnderWay(OpResources {
                    _region: None,
                    fetches: atomic.fetches.then_some(atomic.ty),
                })),
                Err(consts::EAGAIN) => Ok(Posting::Full),
                Err(error) => {
                    let words = objects.offer.library.strerror(error as i32);
                    Err(RmaError::Refused(words))
                }
            }
        })
    }

    /// What the operation in a slot has fetched; 0 if it fetches nothing.
    pub(crate) fn fetched(&self, slot: usize) -> u64 {
        let kept = self.operations.kept(slot);
        let Some(ty) = kept.and_then(|it| it.fetches) else {
            return 0;
        };
        let at = self.memory.at(self.words_at + slot * WORDS + 16);
        let mut word = [0; 8];
        // SAFETY: the provider has written as many bytes there, and no more.
        unsafe { PeerBytes::new(at, ty.size()) }.read(&mut word[..ty.size()]);
        u64::from_le_bytes(word)
    }
}
