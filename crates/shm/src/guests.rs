//! Segments of other jobs, and rings between processes of different jobs.
//!
//! A ring lies in the segment in which its receiver is at home, so that one doorbell wakes a
//! process whoever writes to it. A process of the same job has a place for its ring in the
//! table of inboxes; a guest, a process of another job, puts itself at the head of a list
//! that each rank has. A rank reads a guest's ring once it has attached the guest's segment
//! itself, as it rings the guest's doorbell there.
//!
//! When a job is gone the rank takes its processes off the list, and keeps their entries and
//! rings, zeroed, for guests that come later: so a segment does not grow with all that ever
//! came. Only the rank takes entries off its list of guests, and puts them on that of vacant
//! ones; guests do the opposite.
//!
//! A process that lives and is removed, or removes this one, is another matter: see `remove`.
//!
//! What is in the list was written by others, and is checked like all they write.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use catena_fabric::{Deliver, Peer};

use crate::addr::{Guest, RingHead, VACANT_AT};
use crate::error::ShmError;
use crate::init::Shm;
use crate::other_segment::OtherSegment;
use crate::peer_state::{Home, PeerState};
use crate::segment::Segment;

/// Guests that a rank can have; a longer list is damaged.
const MOST: usize = 1 << 20;

impl Shm {
    /// Attaches the segment of another job: `peers` are its processes on this node in the
    /// order of their numbers there. `own_job` is what others call the job of this process.
    ///
    /// # Errors
    /// As [`Shm::attach`]; [`ShmError::Foreign`] if the other job has not laid it out.
    ///
    /// # Panics
    /// If a peer is reached here already, or comes before all of this process's own job.
    pub fn attach_other(
        &mut self,
        fd: OwnedFd,
        (own_job, job): (u64, u64),
        peers: &[Peer],
    ) -> Result<(), ShmError> {
        let segment = Segment::join(fd)?;
        if segment.layout.ranks as usize != peers.len() {
            return Err(ShmError::Foreign);
        }
        // Processes of that job that have parted from this one before have nothing to do with the
        // new ones.
        self.collect_guests();
        let free = self.others.iter().position(Option::is_none);
        let at = free.unwrap_or(self.others.len());
        let first = self.peer_states.len() as u32;
        for (peer, number) in peers.iter().zip(0..) {
            assert!(!self.reaches(*peer), "a peer has one way through memory");
            self.set_number(*peer, first + number);
            let home = Home {
                segment: at as u16 + 1,
                number,
            };
            let state = {
                let leads = (own_job, self.me) < (job, number);
                PeerState::unopened(*peer, home, segment.block(number), self.config, leads)
            };
            self.peer_states.push(state);
        }
        let other = Some(OtherSegment {
            segment,
            job,
            me: (own_job, self.me),
            numbers: first..first + peers.len() as u32,
            entries: vec![0; peers.len()],
            heard: vec![None; peers.len()],
        });
        match free {
            Some(free) => self.others[free] = other,
            None => self.others.push(other),
        }
        // Guests may be waiting: the next poll looks at them.
        self.seen = self.seen.wrapping_sub(1);
        Ok(())
    }

    /// Says where the segment of this process can be opened, in words that are the caller's to
    /// explain, the last of which is not 0: those that it calls from now on are told.
    pub fn show_segment(&mut self, place: [u64; 2]) {
        self.guests.place = place;
    }

    /// The jobs of the guests that wait to be attached and [say](Shm::show_segment) where their
    /// segments are, and where: any process of the user may have written that. Cost: nothing if
    /// nobody waits.
    pub fn callers(&self) -> impl Iterator<Item = (u64, [u64; 2])> + '_ {
        let waiting = self.guests.waiting.iter().copied();
        waiting.filter_map(|at| {
            let one = guest(&self.segment, at)?;
            let job = one.job.load(Relaxed);
            let place = one.place.each_ref().map(|word| word.load(Relaxed));
            let mut attached = self.others.iter().flatten();
            let is_new = place[1] != 0 && attached.all(|it| it.job != job);
            is_new.then_some((job, place))
        })
    }

    /// Lets go of the segment of another job, if it is attached. Its processes are reached
    /// no more; what they had sent and was not polled is gone. They have ended, or will not
    /// come back before they have let go of this process's segment, too: the rings that they
    /// had made here are for others.
    pub fn detach_other(&mut self, job: u64) {
        let is_it = |other: &Option<OtherSegment>| other.as_ref().is_some_and(|it| it.job == job);
        if let Some(at) = self.others.iter().position(is_it) {
            self.detach(at, "its job has parted from this one");
            self.dismiss_guests(job);
        }
    }

    /// Lets go of the other segment with that number.
    pub(crate) fn detach(&mut self, at: usize, cause: &str) {
        let Some(other) = self.others[at].take() else {
            return;
        };
        self.inlets
            .retain(|inlet| !other.numbers.contains(&inlet.number));
        self.cold.retain(|number| !other.numbers.contains(number));
        self.devices.forget(&other.numbers);
        for number in other.numbers.clone() {
            let peer = self.peer_states[number as usize].peer;
            self.unset_number(peer);
            // Nothing may lead into the mapping, which goes.
            let home = Home {
                segment: 0,
                number: self.me,
            };
            let mut vacant = PeerState::unopened(peer, home, self.own, self.config, false);
            vacant.lose(cause.to_owned());
            self.peer_states[number as usize] = vacant;
        }
        while let Some(last) = self.peer_states.last()
            && !self.reaches(last.peer)
        {
            self.peer_states.pop();
        }
        while self.others.pop_if(|last| last.is_none()).is_some() {}
    }

    /// Whether a peer is at home in the segment in which this process is.
    pub fn shares_segment(&self, peer: Peer) -> bool {
        self.reaches(peer) && self.peer_states[self.number(peer)].home.segment == 0
    }

    /// Takes an entry that an earlier guest of a peer of another job has left: its offset, and
    /// those of the ring and of the data area, which is 0 if there is none.
    pub(crate) fn take_vacant(&self, number: usize) -> Option<(u64, u64, u64)> {
        let home = self.peer_states[number].home;
        let other = self.others[usize::from(home.segment.checked_sub(1)?)].as_ref()?;
        let vacant = &other.segment.block(home.number).who.vacant;
        let mut head = vacant.load(Acquire);
        loop {
            let at = head & VACANT_AT;
            let guest = guest(&other.segment, at)?;
            let count = (head & !VACANT_AT).wrapping_add(VACANT_AT + 1);
            let next = count | guest.next.load(Relaxed) & VACANT_AT;
            match vacant.compare_exchange_weak(head, next, Acquire, Acquire) {
                Ok(_) => {
                    let ring = guest.ring.load(Relaxed);
                    return Some((at, ring, guest.data.load(Relaxed)));
                }
                Err(now) => head = now,
            }
        }
    }

    /// Puts this process on the list of guests of a peer of another job, to which it has
    /// made the ring at `ring`: with an entry that another had, if it has taken one. The entry.
    pub(crate) fn announce_guest(
        &self,
        number: usize,
        ring: u64,
        entry: Option<u64>,
    ) -> Result<u64, ShmError> {
        let bytes = size_of::<Guest>();
        let home = self.peer_states[number].home;
        let other = self.others[usize::from(home.segment - 1)].as_ref();
        let other = other.ok_or(ShmError::Foreign)?;
        let at = match entry {
            Some(at) => at,
            None => other.segment.alloc("a guest of another rank", bytes)?,
        };
        let guest = guest(&other.segment, at).ok_or(ShmError::ArenaFull { bytes })?;
        let (job, me) = other.me;
        guest.ring.store(ring, Relaxed);
        guest.job.store(job, Relaxed);
        guest.number.store(me.into(), Relaxed);
        guest.closed.store(0, Relaxed);
        for (word, shown) in guest.place.iter().zip(self.guests.place) {
            word.store(shown, Relaxed);
        }
        let head = &other.segment.block(home.number).who.guests;
        let mut last = head.load(Relaxed);
        loop {
            guest.next.store(last, Relaxed);
            match head.compare_exchange_weak(last, at, Release, Relaxed) {
                Ok(_) => return Ok(at),
                Err(now) => last = now,
            }
        }
    }

    /// Takes the processes of a job that is gone off the list of guests; what they had is
    /// for others.
    fn dismiss_guests(&mut self, job: u64) {
        self.take_off(|shm, at| shm.job_of(at) == Some(job));
    }

    /// Takes entries off the list of guests; what they had is for others.
    pub(crate) fn take_off(&mut self, goes: impl Fn(&Shm, u64) -> bool) {
        let head = &self.segment.block(self.me).who.guests;
        let (mut before, mut at) = (None::<&Guest>, head.load(Acquire));
        for _ in 0..MOST {
            let Some(one) = guest(&self.segment, at) else {
                return;
            };
            let next = one.next.load(Relaxed);
            if !goes(self, at) {
                (before, at) = (Some(one), next);
                continue;
            }
            let taken_off = match before {
                Some(before) => {
                    before.next.store(next, Relaxed);
                    true
                }
                None => head.compare_exchange(at, next, AcqRel, Acquire).is_ok(),
            };
            if !taken_off {
                // Others came meanwhile: it is not the first one any more.
                at = head.load(Acquire);
                continue;
            }
            if self.guests.seen == at {
                self.guests.seen = next;
            }
            self.guests.waiting.retain(|&waiting| waiting != at);
            self.guests.orphans.remove(&at);
            self.vacate(one, at);
            at = next;
        }
    }

    /// Zeroes the ring of a guest that was taken off the list, and offers it to others.
    fn vacate(&self, one: &Guest, at: u64) {
        let bytes = self.segment.layout.geometry.ring_bytes();
        let ring = self.segment.range(one.ring.load(Relaxed), bytes, 256);
        // What makes no sense is left alone.
        let Some(ring) = ring else { return };
        // SAFETY: a ring's memory, in the arena and aligned; its head consists of atomics.
        let data = unsafe { &*ring.cast::<RingHead>() };
        let data = data.tail.data_at.load(Acquire);
        // SAFETY: as above. Its writer has ended and this process, its reader, has let go of
        // it; one that is mad spoils what others check.
        unsafe { ring.write_bytes(0, bytes) };
        // A guest that has sent nothing long has left what an earlier one had.
        if data != 0 {
            one.data.store(data, Relaxed);
        }
        let vacant = &self.segment.block(self.me).who.vacant;
        let mut head = vacant.load(Relaxed);
        loop {
            one.next.store(head & VACANT_AT, Relaxed);
            let count = (head & !VACANT_AT).wrapping_add(VACANT_AT + 1);
            match vacant.compare_exchange_weak(head, count | at, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Listens to guests that have come since the last look, and to those that waited for
    /// their segments to be attached. One that has come back waits until what it had before is
    /// gone.
    pub(crate) fn accept_guests<D: Deliver>(&mut self, deliver: &mut D) {
        self.collect_guests();
        for at in std::mem::take(&mut self.guests.waiting) {
            let Some((sender, ring)) = self.known_guest(at) else {
                self.guests.waiting.push(at);
                continue;
            };
            if self.peer_states[sender as usize].heard {
                self.guests.waiting.push(at);
                continue;
            }
            self.note_heard(sender, at);
            self.open_inlet(sender, ring, deliver);
        }
        if self.has_guests() || !self.guests.orphans.is_empty() {
            self.notice_goodbyes(deliver);
        }
    }

    /// The entry of a guest whose ring is read from now on.
    fn note_heard(&mut self, sender: u32, at: u64) {
        let others = self.others.iter_mut().flatten();
        for other in others.filter(|it| it.numbers.contains(&sender)) {
            other.heard[(sender - other.numbers.start) as usize] = Some(at);
        }
    }

    /// Takes notice of guests that have come since the last look, in their order; those that have
    /// gone again meanwhile are forgotten.
    pub(crate) fn collect_guests(&mut self) {
        let head = self.own().who.guests.load(Acquire);
        let before = self.guests.waiting.len();
        let mut at = head;
        for _ in 0..MOST {
            if at == self.guests.seen {
                break;
            }
            let Some(guest) = guest(&self.segment, at) else {
                break;
            };
            self.guests.waiting.push(at);
            at = guest.next.load(Relaxed);
        }
        self.guests.seen = head;
        self.guests.waiting[before..].reverse();
        let gone = |shm: &Shm, at: &u64| {
            let is_awaited = shm
                .known_guest(*at)
                .is_some_and(|(sender, _)| !shm.peer_states[sender as usize].heard);
            shm.is_closed(*at) && !is_awaited
        };
        let waiting = self.guests.waiting.iter().copied();
        let gone: Vec<u64> = waiting.filter(|at| gone(self, at)).collect();
        if !gone.is_empty() {
            self.take_off(|_, at| gone.contains(&at));
        }
    }

    /// The job of the guest at an offset.
    pub(crate) fn job_of(&self, at: u64) -> Option<u64> {
        Some(guest(&self.segment, at)?.job.load(Relaxed))
    }

    /// The number here of the guest at an offset and the offset of its ring, once its
    /// segment is attached.
    fn known_guest(&self, at: u64) -> Option<(u32, u64)> {
        let guest = guest(&self.segment, at)?;
        let job = guest.job.load(Relaxed);
        let other = self.others.iter().flatten().find(|it| it.job == job)?;
        let number = u32::try_from(guest.number.load(Relaxed)).ok()?;
        let number = other.numbers.start.checked_add(number)?;
        let known = other.numbers.contains(&number);
        known.then(|| (number, guest.ring.load(Relaxed)))
    }
}

/// The entry at an offset of a segment, if there can be one.
pub(crate) fn guest(segment: &Segment, at: u64) -> Option<&Guest> {
    let entry = segment.range(at, size_of::<Guest>(), align_of::<Guest>())?;
    // SAFETY: in the arena, aligned; it consists of atomics.
    Some(unsafe { &*entry.cast() })
}
