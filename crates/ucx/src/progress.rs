//! Completions, failures, sleeping.

use catena_fabric::row::Framed;
use catena_fabric::{Deliver, Peer, PeerLost, Sleeper};
use catena_ucx_sys::{Status, consts};

use crate::added::KEPT;
use crate::inbox::{Inbox, Taker};
use crate::init::Ucx;

impl Ucx {
    /// Has UCX work once, and looks at what came of it; how many packets were
    /// delivered.
    pub(crate) fn drain<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        self.end_rows();
        let inbox: *mut Inbox = self.inbox.at();
        // SAFETY: between our accesses UCX's callbacks have the inbox alone;
        // `deliver` is lent to them until they return.
        let (count, news) = unsafe {
            let before = (*inbox).received;
            (*inbox).taker = Some(Taker::new(deliver));
            self.objects.library.progress(self.objects.worker);
            (*inbox).taker = None;
            let quiet =
                (*inbox).done.is_empty() && (*inbox).failed.is_empty() && (*inbox).words.is_empty();
            ((*inbox).received - before, !quiet)
        };
        if news {
            self.settle();
        }
        if self.has_to_do {
            self.do_chores(deliver);
        }
        self.rma.deliver(deliver);
        self.endpoint.losses.deliver(deliver);
        count as usize
    }

    /// Draws the consequences of what callbacks left behind.
    fn settle(&mut self) {
        let inbox: *mut Inbox = self.inbox.at();
        // SAFETY: no call of UCX's is under way while we look into it.
        let (failed, words) = unsafe {
            let failed = std::mem::take(&mut (*inbox).failed);
            (failed, std::mem::take(&mut (*inbox).words))
        };
        for word in words {
            self.learn(word);
        }
        for (peer, status) in failed {
            if peer >= KEPT {
                self.end_kept(peer);
                continue;
            }
            self.end_departing(peer);
            let words = self.objects.library.words(status);
            self.lose(peer, format!("the connection to it failed: {words}"));
        }
        // SAFETY: as above; taken one by one, so that the room stays.
        while let Some((operation, status)) = unsafe { (*inbox).done.pop() } {
            self.completed(operation, status);
        }
    }

    /// One operation is done.
    fn completed(&mut self, operation: usize, status: Status) {
        if operation >= self.first_rma {
            self.ended(operation - self.first_rma, status);
            return;
        }
        let peer = self.sent(operation);
        if status != consts::OK {
            let words = self.objects.library.words(status);
            self.lose(peer, format!("sending to it failed: {words}"));
        }
    }

    /// The peer is gone; the first cause stays. The next poll tells it.
    #[cold]
    pub(crate) fn lose(&mut self, peer: Peer, cause: String) -> PeerLost {
        let lost = match self.endpoint.lose(peer, cause) {
            Ok(lost) => lost,
            Err(known) => return known,
        };
        self.close_way(peer);
        lost
    }

    /// What to sleep on, or `None` if there may be something to do.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        self.end_rows();
        let has_words = self.has_questions() || self.has_words();
        if !self.endpoint.rows.is_empty() || has_words || self.rma.has_news() {
            return None;
        }
        let fd = self.objects.wait;
        // SAFETY: the worker is open.
        let may = fd.is_none() || unsafe { self.objects.library.arm(self.objects.worker) };
        self.endpoint.counters.sleeps += u64::from(may);
        may.then(|| Sleeper::new(fd).with_timers())
    }
}
