//! Removing a process of another job that lives, and being removed by one.
//!
//! Who removes the other one marks its entry in that one's list of guests: nothing follows in its
//! ring. It lets go of the segment at once, as nothing in it is in use between two calls. The ring
//! from the other one lies in its own segment, and stays until that one has marked its entry, too:
//! until then it may write there. Nobody reads such an **orphan**.
//!
//! The other one learns of it when it has read all of the ring. A guest that comes back has another
//! entry, which waits until the former one is gone: so both ends begin anew, or neither does.

use std::sync::atomic::Ordering::{Acquire, Release};

use catena_fabric::Deliver;

use crate::guests::guest;
use crate::init::Shm;
use crate::other_segment::OtherSegment;

impl Shm {
    /// Lets go of the segment of another job whose processes may live: they are told so, once they
    /// have taken what was sent to them. They are reached no more; what they had sent and was not
    /// polled is gone.
    pub fn remove_other(&mut self, job: u64) {
        let is_it = |it: &Option<OtherSegment>| it.as_ref().is_some_and(|it| it.job == job);
        let Some(at) = self.others.iter().position(is_it) else {
            return;
        };
        let numbers = self.others[at].as_ref().map(|it| it.numbers.clone());
        for number in numbers.unwrap_or_default() {
            self.say_goodbye(number as usize);
        }
        self.collect_guests();
        let heard = self.others[at].as_ref().map(|it| it.heard.clone());
        let heard = heard.unwrap_or_default();
        let waiting = std::mem::take(&mut self.guests.waiting);
        let is_of_it = |at: &u64| self.job_of(*at) == Some(job);
        // Without one that has said goodbye, what there is of the job belongs to what ends now;
        // else the one that has not is of what comes then.
        let both = heard.iter().flatten().chain(&waiting);
        let begins_anew = both.filter(|at| is_of_it(at)).any(|at| self.is_closed(*at));
        let ends = |at: &u64| is_of_it(at) && (!begins_anew || self.is_closed(*at));
        let (of_it, others): (Vec<u64>, Vec<u64>) = waiting.into_iter().partition(ends);
        self.guests.waiting = others;
        self.guests.orphans.extend(heard.into_iter().flatten());
        self.guests.orphans.extend(of_it);
        self.detach(at, "it was removed");
        self.bury_orphans();
    }

    /// Tells a peer of another job that nothing follows. It knows this process by the ring to it.
    fn say_goodbye(&mut self, number: usize) {
        if self.peer_states[number].lost().is_none() && !self.peer_states[number].is_open() {
            // Where its segment has no room it is not told.
            let _ = self.open_ring(number);
        }
        let home = self.peer_states[number].home;
        let other = self.others[usize::from(home.segment - 1)].as_ref();
        let Some(other) = other else { return };
        let entry = other.entries[home.number as usize];
        if let Some(entry) = guest(&other.segment, entry) {
            // Behind all that was sent.
            entry.closed.store(1, Release);
            let block = self.peer_states[number].block();
            block.epoch.fetch_add(1, Release);
            block.bell.ring();
        }
    }

    /// Whether the guest at an offset has removed this process.
    pub(crate) fn is_closed(&self, at: u64) -> bool {
        let entry = guest(&self.segment, at);
        entry.is_some_and(|it| it.closed.load(Acquire) != 0)
    }

    /// Tells of the guests that have removed this process, once all is taken that they had sent.
    pub(crate) fn notice_goodbyes<D: Deliver>(&mut self, deliver: &mut D) {
        let mut is_over = true;
        for at in 0..self.others.len() {
            let Some(other) = &self.others[at] else {
                continue;
            };
            let heard = other.numbers.clone().zip(other.heard.clone());
            for (number, entry) in heard {
                let state = &self.peer_states[number as usize];
                if state.lost().is_some() || !entry.is_some_and(|it| self.is_closed(it)) {
                    continue;
                }
                let mut inlets = self.inlets.iter().filter(|it| it.number == number);
                if inlets.any(|it| it.is_ready()) {
                    is_over = false;
                    continue;
                }
                let cause = "it has removed this process".to_string();
                deliver.left(self.peer_states[number as usize].lose(cause));
            }
        }
        if !is_over {
            // The next poll looks again, when it has taken some more.
            self.seen = self.seen.wrapping_sub(1);
        }
        self.bury_orphans();
    }

    /// What orphans had is for others, where they have let go of it.
    fn bury_orphans(&mut self) {
        if self.guests.orphans.iter().any(|it| self.is_closed(*it)) {
            let orphans = std::mem::take(&mut self.guests.orphans);
            let left = orphans.iter().copied().filter(|it| !self.is_closed(*it));
            let left = left.collect();
            self.take_off(|shm, at| orphans.contains(&at) && shm.is_closed(at));
            self.guests.orphans = left;
        }
    }

    /// Whether a process that was removed may still write to what it has here.
    pub fn has_parting(&self, job: u64) -> bool {
        let mut parting = self.guests.orphans.iter();
        parting.any(|it| self.job_of(*it) == Some(job))
    }

    /// A process that was removed has ended: what it had here is for others.
    pub fn forget_removed(&mut self, job: u64) {
        let orphans = std::mem::take(&mut self.guests.orphans);
        let (gone, left) = orphans
            .into_iter()
            .partition::<Vec<_>, _>(|it| self.job_of(*it) == Some(job));
        self.guests.orphans = left.into_iter().collect();
        self.take_off(|_, at| gone.contains(&at));
    }
}
