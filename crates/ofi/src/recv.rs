//! Receiving. A few large buffers take many messages each, packed one behind the other, and one
//! that is used up is posted again; or there are many small ones, each for one message.
//!
//! Providers say differently when a large one is used up. Some (rxm) say
//! it with the message that took the last room, though messages in front of it
//! may still be arriving from other peers: so a buffer is posted again when as
//! many bytes have arrived as there are up to the end of the last message.
//! A message that is cut short, as its sender dies, has no length that is told, so a large buffer
//! with one is never known to be over. That happens where messages arrive in parts, over the
//! kernel's network: there each has a small buffer to itself.

use catena_base::PeerBytes;
use catena_fabric::{Deliver, frame};
use catena_ofi_sys::{CqEntry, calls, consts};

use crate::init::Ofi;
use crate::state::Use;

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
                let flags = if self.receives.many {
                    consts::MULTI_RECV
                } else {
                    0
                };
                calls::recv(ep, at, self.receives.len, self.desc(), context, flags)
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

    /// Something happened to buffer `number`; how many packets were delivered.
    pub(crate) fn received<D: Deliver>(
        &mut self,
        number: usize,
        entry: &CqEntry,
        deliver: &mut D,
    ) -> usize {
        if !self.receives.many {
            let entry = self.alone(number, entry);
            let delivered = self.take(number, &entry, deliver);
            self.renew(number);
            return delivered;
        }
        let closed = entry.flags & consts::MULTI_RECV != 0;
        // With no other flag it only says that all messages have arrived.
        let message = entry.flags & !consts::MULTI_RECV != 0;
        let delivered = if message {
            self.take(number, entry, deliver)
        } else {
            0
        };
        let used = &mut self.receives.uses[number];
        used.closed |= closed;
        if closed && !message || used.is_over() {
            self.renew(number);
        }
        delivered
    }

    /// The completion of a buffer for one message: where its message lies is not told by all
    /// providers.
    fn alone(&self, number: usize, entry: &CqEntry) -> CqEntry {
        let at = self.receives.base + number * self.receives.len;
        CqEntry {
            buf: self.memory.at(at).cast(),
            ..*entry
        }
    }

    /// A message for buffer `number` failed: nobody knows how much of it is
    /// missing.
    #[cold]
    pub(crate) fn not_received(&mut self, number: usize, closed: bool) {
        self.endpoint.counters.strays += 1;
        if !self.receives.many {
            return self.renew(number);
        }
        let used = &mut self.receives.uses[number];
        used.closed |= closed;
        used.failed = true;
        if used.is_over() {
            self.renew(number);
        }
    }

    /// Posts a used buffer again: at once, as some providers keep little of
    /// what finds no buffer.
    fn renew(&mut self, number: usize) {
        self.receives.uses[number] = Use::default();
        self.receives.waiting.push(number);
        self.repost();
    }

    /// Delivers the frame that has arrived in buffer `number`; how many packets it
    /// had.
    fn take<D: Deliver>(&mut self, number: usize, entry: &CqEntry, deliver: &mut D) -> usize {
        let begin = self
            .memory
            .at(self.receives.base + number * self.receives.len);
        let offset = (entry.buf as usize).wrapping_sub(begin as usize);
        let within = offset
            .checked_add(entry.len)
            .is_some_and(|end| end <= self.receives.len);
        self.receives.uses[number].add(offset, entry.len);
        let frame = if within {
            // SAFETY: within a buffer of ours, which is written again only
            // after it was posted again.
            unsafe { PeerBytes::new(begin.wrapping_add(offset), entry.len) }
        } else {
            PeerBytes::EMPTY
        };
        let mut count = 0;
        let is_sound = frame::open(
            frame,
            self.endpoint.job,
            self.processes,
            |from, header, payload| {
                deliver.deliver(from, header, payload);
                count += 1;
            },
        );
        self.endpoint.counters.received += count as u64;
        match is_sound {
            true => count,
            false => count + self.take_of_added(frame, deliver),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays messages (offset, length, whether it closes) and tells after which
    /// the buffer is over.
    fn over_after(messages: &[(usize, usize, bool)]) -> Option<usize> {
        let mut used = Use::default();
        messages.iter().position(|&(at, len, closes)| {
            used.add(at, len);
            used.closed |= closes;
            used.is_over()
        })
    }

    #[test]
    fn a_buffer_is_over_when_every_message_has_arrived() {
        // In order; the flag with the last.
        assert_eq!(over_after(&[(0, 40, false), (40, 60, true)]), Some(1));
        // The flag overtakes two messages from other peers.
        let late = [
            (0, 40, false),
            (90, 32, true),
            (60, 30, false),
            (40, 20, false),
        ];
        assert_eq!(over_after(&late), Some(3));
        // The flag comes with the last to arrive, wherever it lies.
        assert_eq!(over_after(&[(40, 60, false), (0, 40, true)]), Some(1));
        // No flag.
        assert_eq!(over_after(&[(0, 40, false), (40, 60, false)]), None);
    }
}
