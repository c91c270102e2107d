//! How a process sends and receives control messages.

use catena_link::{Cid, Mode, Plane, ReqId, Selector, Sent};

use super::control::{CONTROL, Coming, Key, to_bytes};
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
        self.collect_control(cid, from);
        self.control.next((cid, from), key)
    }

    fn collect_control(&self, cid: Cid, from: u32) {
        let selector = Selector {
            source: from as i32,
            tag: CONTROL,
        };
        self.link(|link| {
            let mut new = Vec::new();
            while let Some((id, envelope)) = link.mprobe(cid, Plane::Control, selector) {
                let mut bytes = vec![0; envelope.len as usize].into_boxed_slice();
                let room = RecvBuf::Bytes(bytes.as_mut_ptr(), envelope.len);
                let id = link.mrecv(id, room);
                new.push(Coming { bytes, id });
            }
            self.control.collect((cid, from), new, |id| {
                let is_there = link.is_done(id);
                if is_there {
                    link.take(id);
                }
                is_there
            });
        });
    }

    /// Puts a control message where it is read.
    pub(super) fn file_control(&self, cid: Cid, from: u32, key: Key, words: Vec<u32>) {
        self.control.file((cid, from), key, words);
    }

    /// Throws away what nobody will read: the context is closed.
    pub(crate) fn drop_control(&self, cid: Cid) {
        self.control.forget(cid);
    }
}
