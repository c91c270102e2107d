//! How a process sends and receives control messages.

use catena_link::{Cid, Mode, Plane, ReqId, Selector, Sent};

use super::control::{CONTROL, Coming, Key, open, to_bytes};
use crate::buffer::{RecvBuf, SendBuf};
use crate::process::Process;

impl Process {
    /// Writes to rank `to` of a context.
    pub fn send_control(&self, cid: Cid, to: u32, key: &Key, words: &[u32]) {
        if let Some(id) = self.start_control(cid, to, key, words) {
            self.link(|link| link.detach(id));
        }
    }

    /// Writes to rank `to` of a context; gives the request if the message has not left yet.
    pub(super) fn start_control(
        &self,
        cid: Cid,
        to: u32,
        key: &Key,
        words: &[u32],
    ) -> Option<ReqId> {
        let message = SendBuf::Owned(to_bytes(key, words).into());
        let sent =
            self.link(|link| link.send(cid, Plane::Control, to, CONTROL, Mode::Standard, message));
        match sent {
            Sent::Done => None,
            Sent::Pending(id) => Some(id),
        }
    }

    /// Reads the next control message with that key from rank `from` of a context, if it
    /// has come. Does not progress.
    pub fn receive_control(&self, cid: Cid, from: u32, key: &Key) -> Option<Vec<u32>> {
        if self.control.is_empty() {
            // Most come when they are waited for, and nothing has to be filed.
            let first = self.next_control(cid, from)?;
            let is_there = self.link(|link| link.is_done(first.id));
            if is_there && let Some((its, words)) = open(&first.bytes) {
                self.link(|link| link.take(first.id));
                if its == *key {
                    return Some(words);
                }
                self.control.file((cid, from), its, words);
            } else {
                self.collect_control(cid, from, vec![first]);
            }
        }
        self.collect_control(cid, from, Vec::new());
        self.control.next((cid, from), key)
    }

    /// The next control message from a rank that nobody has looked at.
    fn next_control(&self, cid: Cid, from: u32) -> Option<Coming> {
        let selector = Selector {
            source: from as i32,
            tag: CONTROL,
        };
        self.link(|link| {
            let (id, envelope) = link.mprobe(cid, Plane::Control, selector)?;
            let mut bytes = vec![0; envelope.len as usize].into_boxed_slice();
            let room = RecvBuf::Bytes(bytes.as_mut_ptr(), envelope.len);
            let id = link.mrecv(id, room);
            Some(Coming { bytes, id })
        })
    }

    /// Changes with each control message that comes; `None` while one of those that have come is not all there.
    pub(crate) fn control_news(&self) -> Option<u64> {
        let put = self.control.put()?;
        let arrivals = self.link(|link| link.control_arrivals());
        Some(put.wrapping_add(arrivals))
    }

    /// Files what has come from a rank, behind `new`, which has come before.
    fn collect_control(&self, cid: Cid, from: u32, mut new: Vec<Coming>) {
        new.extend(std::iter::from_fn(|| self.next_control(cid, from)));
        self.control.collect((cid, from), new, |id| {
            self.link(|link| {
                let is_there = link.is_done(id);
                if is_there {
                    link.take(id);
                }
                is_there
            })
        });
    }

    /// Puts a control message where it is read.
    pub(super) fn file_control(&self, cid: Cid, from: u32, key: Key, words: Vec<u32>) {
        self.control.file((cid, from), key, words);
    }

    /// Throws away what nobody will read: the context is closed.
    pub(crate) fn drop_control(&self, cid: Cid) {
        self.control.forget(cid);
        self.leaders.forget(cid);
    }
}
