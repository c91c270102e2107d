//! How a process sends and receives control messages.

use catena_link::{Cid, Mode, Plane, ReqId, Selector, Sent};

use super::control::{CONTROL, Coming, ControlMessages, Key, open, to_bytes};
use crate::buffer::{RecvBuf, SendBuf};
use crate::process::Process;

impl ControlMessages {
    /// Writes to rank `to` of a context.
    pub fn send(&self, process: &Process, cid: Cid, to: u32, key: &Key, words: &[u32]) {
        if let Some(id) = process.comms.control.start(process, cid, to, key, words) {
            process.link(|link| link.detach(id));
        }
    }

    /// Writes to rank `to` of a context; gives the request if the message has not left yet.
    pub(super) fn start(
        &self,
        process: &Process,
        cid: Cid,
        to: u32,
        key: &Key,
        words: &[u32],
    ) -> Option<ReqId> {
        let message = SendBuf::Owned(to_bytes(key, words).into());
        let sent = process
            .link(|link| link.send(cid, Plane::Control, to, CONTROL, Mode::Standard, message));
        match sent {
            Sent::Done => None,
            Sent::Pending(id) => Some(id),
        }
    }

    /// Reads the next control message with that key from rank `from` of a context, if it
    /// has come. Does not progress.
    pub fn receive(&self, process: &Process, cid: Cid, from: u32, key: &Key) -> Option<Vec<u32>> {
        if self.is_empty() {
            // Most come when they are waited for, and nothing has to be filed.
            let first = Coming::next(process, cid, from)?;
            let is_there = process.link(|link| link.is_done(first.id));
            if is_there && let Some((its, words)) = open(&first.bytes) {
                process.link(|link| link.take(first.id));
                if its == *key {
                    return Some(words);
                }
                self.file((cid, from), its, words);
            } else {
                process
                    .comms
                    .control
                    .collect_from(process, cid, from, vec![first]);
            }
        }
        process
            .comms
            .control
            .collect_from(process, cid, from, Vec::new());
        self.next((cid, from), key)
    }
}

impl Coming {
    /// The next control message from a rank that nobody has looked at.
    fn next(process: &Process, cid: Cid, from: u32) -> Option<Coming> {
        let selector = Selector {
            source: from as i32,
            tag: CONTROL,
        };
        process.link(|link| {
            let (id, envelope) = link.mprobe(cid, Plane::Control, selector)?;
            let mut bytes = vec![0; envelope.len as usize].into_boxed_slice();
            let room = RecvBuf::Bytes(bytes.as_mut_ptr(), envelope.len);
            let id = link.mrecv(id, room);
            Some(Coming { bytes, id })
        })
    }
}

impl ControlMessages {
    /// Changes with each control message that comes; `None` while one of those that have come is
    /// not all there.
    pub(crate) fn news(&self, process: &Process) -> Option<u64> {
        let put = self.put()?;
        let arrivals = process.link(|link| link.control_arrivals());
        Some(put.wrapping_add(arrivals))
    }

    /// Files what has come from a rank, behind `new`, which has come before.
    fn collect_from(&self, process: &Process, cid: Cid, from: u32, mut new: Vec<Coming>) {
        new.extend(std::iter::from_fn(|| Coming::next(process, cid, from)));
        self.collect((cid, from), new, |id| {
            process.link(|link| {
                let is_there = link.is_done(id);
                if is_there {
                    link.take(id);
                }
                is_there
            })
        });
    }
}
