//! Sending. Short packets in a row leave together, in one frame.
//!
//! Short frames are injected: the provider copies them, and no completion
//! follows. So that a peer that does not receive, or is gone, is noticed, one
//! of [`WINDOW`] short frames to a peer is sent like a long one: from a buffer
//! of ours, with a completion; and while that one is under way no more than
//! another window follows. Words of the networks themselves are sent so, too: their sender
//! may end once they have left.

use std::mem::MaybeUninit;

use catena_fabric::endpoint::{Endpoint, FrameSender};
use catena_fabric::frame::{FRAME, Front};
use catena_fabric::{Header, Payload, Peer, PeerLost, Posted, WORDS};
use catena_ofi_sys::{calls, consts};

use crate::init::Ofi;
use crate::state::{INJECT_MAX, Slot, WINDOW};

/// Whether an error says only that a call is to be made again later: what this process lacks says
/// nothing of a peer.
pub(crate) fn is_lack(error: isize) -> bool {
    let lacking = [libc::ENOMEM, libc::ENOBUFS, libc::EMFILE, libc::ENFILE];
    error == consts::EAGAIN || lacking.contains(&(error as i32))
}

impl FrameSender for Ofi {
    #[inline]
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    #[inline]
    fn endpoint_mut(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    fn put_frame<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let len = FRAME + payload.len();
        let target = &mut self.targets[peer.0 as usize];
        let short = len <= self.inject_max;
        let is_word = header.kind >= WORDS;
        if !short || target.injected == WINDOW || is_word {
            return self.post_counted(peer, header, payload, short && !is_word);
        }
        let sign = target.sign;
        let front = Front { sign, header };
        let mut bytes = [MaybeUninit::<u8>::uninit(); INJECT_MAX];
        let at: *mut u8 = bytes.as_mut_ptr().cast();
        // SAFETY: room for the longest; the endpoint is enabled.
        let sent = unsafe {
            front.write(at, &payload);
            calls::inject(self.objects.ep, at, len, target.address)
        };
        match sent {
            Ok(()) => {
                target.injected += 1;
                self.endpoint.counters.injected += 1;
                Ok(Posted::Done)
            }
            Err(error) => self.refused(peer, error),
        }
    }
}

impl Ofi {
    /// Sends a frame from a buffer, with a completion.
    fn post_counted<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
        short: bool,
    ) -> Result<Posted, PeerLost> {
        let desc = self.desc();
        let target = &mut self.targets[peer.0 as usize];
        // No peer gets more than half of what there is.
        let most = (self.sends.count() / 2) as u32;
        if short && target.counted || target.buffers >= most {
            return Ok(Posted::Full);
        }
        let Some(slot) = self.sends.free.pop() else {
            return Ok(Posted::Full);
        };
        let operation = slot as usize;
        let sign = target.sign;
        let front = Front { sign, header };
        let at = self.memory.at(operation * self.sends.stride);
        // SAFETY: a buffer that no operation uses, of at least that length; it
        // and the context stay until the completion.
        let sent = unsafe {
            let len = front.write(at, &payload);
            let context = self.contexts.of(operation);
            calls::send(self.objects.ep, at, len, desc, target.address, context)
        };
        if let Err(error) = sent {
            self.sends.free.push(slot);
            return self.refused(peer, error);
        }
        let counted = short;
        if counted {
            (target.counted, target.injected) = (true, 0);
        }
        target.buffers += 1;
        self.sends.slots[operation] = Slot {
            to: peer.0,
            counted,
        };
        self.endpoint.counters.buffered += 1;
        Ok(Posted::Done)
    }

    /// Whether the provider has handed on all that it tells of: words, what is long, and some of
    /// what it injects.
    pub fn is_quiet(&self) -> bool {
        let sends = &self.sends;
        let has_said = self.added.as_ref().is_none_or(|it| it.has_said_goodbye());
        self.endpoint.rows.is_empty() && sends.free.len() + sends.lost == sends.count() && has_said
    }

    /// What a send that the provider did not take means.
    #[cold]
    fn refused(&mut self, peer: Peer, error: isize) -> Result<Posted, PeerLost> {
        if is_lack(error) {
            return Ok(Posted::Full);
        }
        let words = self.objects.offer.library.strerror(error as i32);
        Err(self.lose(peer, format!("nothing can be sent to it: {words}")))
    }

    /// A frame has left its buffer; to whom.
    pub(crate) fn sent(&mut self, operation: usize) -> Peer {
        let slot = self.sends.slots[operation];
        let target = &mut self.targets[slot.to as usize];
        target.buffers -= 1;
        if slot.counted {
            target.counted = false;
        }
        self.sends.free.push(operation as u32);
        let peer = Peer(slot.to);
        self.sends.lost -= usize::from(self.endpoint.losses.get(peer).is_some());
        peer
    }
}
