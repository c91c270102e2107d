//! Completions, failures, sleeping.

use catena_fabric::row::Framed;
use catena_fabric::{Deliver, Peer, PeerLost, RmaError, Sleeper};
use catena_ofi_sys::{CqEntry, CqErrEntry, calls, consts};

use crate::init::Ofi;

/// Completions taken at once.
const BATCH: usize = 16;
/// Batches of one poll, at most.
const BATCHES: usize = 4;

/// What an operation was.
enum Kind {
    Send(usize),
    Receive(usize),
    Operation(usize),
}

/// Whether an operation has failed because there is no way to its peer any more, and not because it
/// was refused. No operation is cancelled here: a provider does so when it closes a connection.
fn is_about_connection(error: i32) -> bool {
    matches!(
        error,
        libc::ECONNRESET
            | libc::ECONNABORTED
            | libc::ECONNREFUSED
            | libc::ENOTCONN
            | libc::EPIPE
            | libc::ESHUTDOWN
            | libc::ETIMEDOUT
            | libc::EHOSTUNREACH
            | libc::EHOSTDOWN
            | libc::ENETUNREACH
            | libc::ECANCELED
            | libc::EIO
    )
}

impl Ofi {
    fn kind(&self, context: *mut std::ffi::c_void) -> Option<Kind> {
        let operation = self.contexts.operation(context)?;
        let receives = self.sends.count();
        Some(if operation < receives {
            Kind::Send(operation)
        } else if operation < self.first_operation {
            Kind::Receive(operation - receives)
        } else {
            Kind::Operation(operation - self.first_operation)
        })
    }

    /// Takes completions; how many packets were delivered.
    pub(crate) fn drain<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        self.end_rows();
        let mut count = 0;
        let none = CqEntry {
            op_context: std::ptr::null_mut(),
            flags: 0,
            len: 0,
            buf: std::ptr::null_mut(),
            data: 0,
        };
        let mut entries = [none; BATCH];
        for _ in 0..BATCHES {
            // SAFETY: the queue is open.
            match unsafe { calls::cq_read(self.objects.cq, &mut entries) } {
                Ok(n) => {
                    for entry in &entries[..n] {
                        count += self.completed(entry, deliver);
                    }
                    if n < BATCH {
                        break;
                    }
                }
                Err(consts::EAGAIN) => break,
                Err(consts::EAVAIL) => self.failed(),
                Err(error) => {
                    self.lose_all(error);
                    break;
                }
            }
        }
        if !self.receives.waiting.is_empty() {
            self.repost();
        }
        if self.has_to_do {
            self.do_chores();
        }
        self.operations.deliver(deliver);
        self.endpoint.losses.deliver(deliver);
        count
    }

    /// One operation is done; how many packets that delivered.
    fn completed<D: Deliver>(&mut self, entry: &CqEntry, deliver: &mut D) -> usize {
        match self.kind(entry.op_context) {
            Some(Kind::Receive(number)) => return self.received(number, entry, deliver),
            Some(Kind::Send(operation)) => {
                self.sent(operation);
            }
            Some(Kind::Operation(slot)) => {
                let value = self.fetched(slot);
                self.operations.end(slot, Ok(value));
            }
            None => self.word_arrived(entry.op_context),
        }
        0
    }

    /// One operation has failed: its peer is gone.
    #[cold]
    #[inline(never)]
    fn failed(&mut self) {
        // SAFETY: the queue is open.
        let Some(entry) = (unsafe { calls::cq_readerr(self.objects.cq) }) else {
            return;
        };
        match self.kind(entry.op_context) {
            Some(Kind::Send(operation)) => {
                let peer = self.sent(operation);
                self.lose(
                    peer,
                    format!("sending to it failed: {}", self.words(&entry)),
                );
            }
            Some(Kind::Operation(slot)) => {
                let words = self.words(&entry);
                let peer = self.operations.peer(slot);
                if let Some(peer) = peer.filter(|_| is_about_connection(entry.err)) {
                    self.lose(peer, format!("an operation on its memory failed: {words}"));
                }
                self.operations.end(slot, Err(RmaError::Refused(words)));
            }
            // A message that was too long is no frame of ours.
            Some(Kind::Receive(number)) => {
                self.not_received(number, entry.flags & consts::MULTI_RECV != 0);
            }
            None => {
                if let Some(word) = self.word_ended(entry.op_context) {
                    let words = self.words(&entry);
                    self.word_failed(word, entry.err, words);
                }
            }
        }
    }

    /// libfabric's words for a failed operation, and its provider's.
    fn words(&self, entry: &CqErrEntry) -> String {
        let words = self.objects.offer.library.strerror(entry.err);
        // SAFETY: the queue is open, and nothing was read from it since.
        let more = unsafe { calls::cq_strerror(self.objects.cq, entry) };
        if more.is_empty() || more == words {
            words
        } else {
            format!("{words} ({more})")
        }
    }

    /// The peer is gone; the first cause stays. The next poll tells it.
    #[cold]
    pub(crate) fn lose(&mut self, peer: Peer, cause: String) -> PeerLost {
        match self.endpoint.lose(peer, cause) {
            Ok(lost) => {
                self.give_up(&lost);
                lost
            }
            Err(known) => known,
        }
    }

    /// A peer is gone: what is under way to it ends.
    pub(crate) fn give_up(&mut self, lost: &PeerLost) {
        self.operations.lose(lost);
        self.connections.lose(lost.peer);
        self.sends.lost += self.targets[lost.peer.0 as usize].lost_buffers();
        self.added
            .iter_mut()
            .for_each(|it| it.introductions.lose(lost.peer));
        self.has_to_do = true;
    }

    /// The network as a whole has failed.
    #[cold]
    pub(crate) fn lose_all(&mut self, error: isize) {
        let words = self.objects.offer.library.strerror(error as i32);
        let cause = format!("the network cannot be used any more: {words}");
        for rank in 0..self.targets.len() as u32 {
            let is_there = match &self.added {
                Some(added) => added.knows(Peer(rank)),
                None => rank != self.endpoint.me,
            };
            if is_there {
                self.lose(Peer(rank), cause.clone());
            }
        }
    }

    /// What to sleep on, or `None` if there may be something to do.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        self.end_rows();
        let has_words = self.added.as_ref().is_some_and(|it| it.has_words());
        if !self.endpoint.rows.is_empty() || self.operations.has_news() || has_words {
            return None;
        }
        let fd = self.objects.wait;
        // SAFETY: both are open.
        let may = fd.is_none() || unsafe { calls::trywait(self.objects.fabric, self.objects.cq) };
        self.endpoint.counters.sleeps += u64::from(may);
        may.then_some(Sleeper::new(fd).with_timers())
    }
}
