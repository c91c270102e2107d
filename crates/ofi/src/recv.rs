//! Receiving: a few large buffers, each of which takes many messages. One that
//! the provider gives back is posted again.

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Peer};
use catena_ofi_sys::{CqEntry, calls, consts};

use crate::frame::Front;
use crate::init::Ofi;

/// The buffers that messages arrive in.
#[derive(Debug)]
pub(crate) struct Receives {
    /// Where the first begins in the memory.
    pub base: usize,
    /// Length of each, bytes.
    pub len: usize,
    pub count: usize,
    /// Those that the provider did not take yet.
    pub waiting: Vec<usize>,
}

impl Ofi {
    /// Posts the buffers that wait for it, as far as the provider takes them.
    ///
    /// # Errors
    /// libfabric's number, positive.
    pub(crate) fn post_receives(&mut self) -> Result<(), isize> {
        while let Some(&number) = self.receives.waiting.last() {
            let at = self
                .memory
                .at(self.receives.base + number * self.receives.len);
            let context = self.contexts.of(self.sends.count() + number);
            // SAFETY: a buffer that no operation uses; it and the context stay
            // until the endpoint is closed.
            let posted = unsafe {
                let ep = self.objects.ep;
                calls::recv_many(ep, at, self.receives.len, self.desc(), context)
            };
            match posted {
                Ok(()) => self.receives.waiting.pop(),
                Err(error) if error == consts::EAGAIN => return Ok(()),
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    /// Posts them again; if that cannot be done the network is of no use.
    pub(crate) fn repost(&mut self) {
        if let Err(error) = self.post_receives() {
            self.lose_all(error);
        }
    }

    /// Something happened to buffer `number`; whether a packet was delivered.
    pub(crate) fn received<D: Deliver>(
        &mut self,
        number: usize,
        entry: &CqEntry,
        deliver: &mut D,
    ) -> bool {
        // With no other flag it only says that the buffer is free again.
        let delivered = entry.flags & !consts::MULTI_RECV != 0 && self.take(number, entry, deliver);
        if entry.flags & consts::MULTI_RECV != 0 {
            self.receives.waiting.push(number);
            // At once: some providers keep little of what finds no buffer.
            self.repost();
        }
        delivered
    }

    /// Delivers the frame that has arrived in buffer `number`.
    fn take<D: Deliver>(&mut self, number: usize, entry: &CqEntry, deliver: &mut D) -> bool {
        let begin = self
            .memory
            .at(self.receives.base + number * self.receives.len);
        let offset = (entry.buf as usize).wrapping_sub(begin as usize);
        let within = offset
            .checked_add(entry.len)
            .is_some_and(|end| end <= self.receives.len);
        let frame = if within {
            // SAFETY: within a buffer of ours, which is written again only
            // after it was posted again.
            unsafe { PeerBytes::new(begin.wrapping_add(offset), entry.len) }
        } else {
            PeerBytes::EMPTY
        };
        let Some((front, payload)) = Front::read(frame, self.job, self.targets.len() as u32) else {
            self.counters.strays += 1;
            return false;
        };
        deliver.deliver(Peer(front.from), front.header, payload);
        self.counters.received += 1;
        true
    }
}
