//! How a process sends and receives control messages.

use catena_link::{Cid, Mode, Plane, ReqId, Selector, Sent};

use super::control::{Address, CONTROL, Coming, Key, open, to_bytes};
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
        let mut filed = self.control.filed.borrow_mut();
        if filed.is_empty() {
            return None;
        }
        let at = Address {
            cid,
            from,
            key: key.clone(),
        };
        let waiting = filed.get_mut(&at)?;
        let next = waiting.pop_front();
        if waiting.is_empty() {
            filed.remove(&at);
        }
        next
    }

    /// Changes with each control message that comes; `None` while one of those that have come is not all there.
    pub(crate) fn control_news(&self) -> Option<u64> {
        let is_whole = self.control.coming.borrow().is_empty();
        is_whole.then(|| self.link(|link| link.control_arrivals()))
    }

    fn collect_control(&self, cid: Cid, from: u32) {
        let mut coming = self.control.coming.borrow_mut();
        let selector = Selector {
            source: from as i32,
            tag: CONTROL,
        };
        self.link(|link| {
            while let Some((id, envelope)) = link.mprobe(cid, Plane::Control, selector) {
                let mut bytes = vec![0; envelope.len as usize].into_boxed_slice();
                let room = RecvBuf::Bytes(bytes.as_mut_ptr(), envelope.len);
                let id = link.mrecv(id, room);
                coming.push_back(Coming {
                    cid: Some(cid),
                    from,
                    bytes,
                    id,
                });
            }
            while let Some(first) = coming.front()
                && link.is_done(first.id)
            {
                link.take(first.id);
                coming.pop_front().into_iter().for_each(|it| self.file(&it));
            }
        });
    }

    fn file(&self, message: &Coming) {
        let (Some(cid), Some((key, words))) = (message.cid, open(&message.bytes)) else {
            return;
        };
        self.file_control(cid, message.from, key, words);
    }

    /// Puts a control message where it is read.
    pub(super) fn file_control(&self, cid: Cid, from: u32, key: Key, words: Vec<u32>) {
        let at = Address { cid, from, key };
        let mut filed = self.control.filed.borrow_mut();
        filed.entry(at).or_default().push_back(words);
    }

    /// Throws away what nobody will read: the context is closed.
    pub(crate) fn drop_control(&self, cid: Cid) {
        let mut filed = self.control.filed.borrow_mut();
        filed.retain(|at, _| at.cid != cid);
        for message in &mut *self.control.coming.borrow_mut() {
            message.cid = message.cid.filter(|&of| of != cid);
        }
    }
}
