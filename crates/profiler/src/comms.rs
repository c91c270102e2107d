//! Communicators and windows as the whole process knows them, for the numbers of messages: which
//! one it is, so that all its members say the same, and which of its messages were sent and
//! received before. By their numbers both ends know a message to be the same.
//!
//! All threads of a process have these numbers in common: one may send what follows on what another
//! one has sent, and wait for what another one has begun to receive. Where it cannot be known which
//! of two calls was first, neither of their messages has a number, and those that come later have
//! theirs. Where it cannot be known whether there was a message at all, none has one any more.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use catena_abi::consts;
use catena_profile::record::{NO_RANK, arrow, key, mixed};

/// Most kinds of messages of a process: those of others have no numbers.
const MOST: usize = 1 << 16;

/// Most calls that are open at a time on a communicator, and most kinds of messages that were given
/// up: where there are more, none of its messages has a number any more.
const OPEN: usize = 1024;

/// How many kinds of messages have numbers.
static KINDS: AtomicUsize = AtomicUsize::new(0);

/// Keys are mixed already.
#[derive(Default)]
pub struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

type Map<T> = HashMap<u64, T, BuildHasherDefault<Mixed>>;

/// On which side of a message this rank is: it may be on both, and counts on both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Sends = 1,
    Receives = 2,
    /// It begins partitioned messages, whose order is that in which they are prepared.
    PartsSent = 3,
    PartsReceived = 4,
    Joins = 5,
}

/// What messages have in common: the other rank of the world, or [`NO_RANK`] for any; the tag, or
/// `ANY_TAG`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    pub side: Side,
    pub rank: u32,
    pub tag: i32,
}

impl Pattern {
    /// Whether it is of one rank and one tag.
    pub fn is_exact(&self) -> bool {
        self.rank != NO_RANK && (self.tag != consts::ANY_TAG || self.side == Side::Sends)
    }

    /// Whether a message may be of both.
    fn meets(&self, other: &Pattern) -> bool {
        self.side == other.side
            && (self.rank == other.rank || self.rank == NO_RANK || other.rank == NO_RANK)
            && (self.tag == other.tag
                || self.tag == consts::ANY_TAG
                || other.tag == consts::ANY_TAG)
    }
}

/// A call, or a request, of which it is not known yet which message it is of.
struct Open {
    /// Its place in the order in which they began.
    nth: u64,
    pattern: Pattern,
    /// The thread that is in the call; 0 once that has returned.
    thread: usize,
    /// Whether another thread was in such a call at the same time.
    is_doubtful: bool,
}

/// Messages of one kind.
#[derive(Default)]
struct Kind {
    number: u64,
    /// The last of the calls that have a number.
    last: u64,
}

#[derive(Default)]
struct State {
    kinds: Map<Kind>,
    open: Vec<Open>,
    begun: u64,
    given_up: Vec<Pattern>,
}

/// A communicator or window.
#[derive(Default)]
pub struct Comm {
    /// What all its members know it by; 0 if they may not know the same.
    identity: u64,
    /// The ranks of the world that a call on it reaches, -1 for those of other jobs.
    ranks: Box<[i32]>,
    is_given_up: AtomicBool,
    state: Mutex<State>,
}

impl Comm {
    pub fn new(identity: u64, ranks: Box<[i32]>) -> Comm {
        Comm {
            identity,
            ranks,
            is_given_up: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    pub fn identity(&self) -> u64 {
        self.identity
    }

    pub fn ranks(&self) -> &[i32] {
        &self.ranks
    }

    /// The rank of the world that a rank of it is.
    #[inline]
    pub fn world(&self, rank: i64) -> Option<u32> {
        let rank = self.ranks.get(usize::try_from(rank).ok()?)?;
        u32::try_from(*rank).ok()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A fork may leave it locked, and then nothing is written any more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_known(&self) -> bool {
        self.identity != 0 && !self.is_given_up.load(Relaxed)
    }

    /// Has none of its messages have a number any more.
    pub fn give_up(&self) {
        self.is_given_up.store(true, Relaxed);
    }

    /// A thread begins a call for a message: its place in the order of calls, 0 if nobody has to
    /// know that.
    pub fn begin(&self, pattern: Pattern, thread: usize) -> u64 {
        if !self.is_known() {
            return 0;
        }
        let mut state = self.lock();
        if state.open.len() >= OPEN {
            self.give_up();
            state.open.clear();
            return 0;
        }
        let (mut is_doubtful, mut is_left) = (false, false);
        for open in &mut state.open {
            // A call that was left without a return: who knows what it did.
            let is_own = open.thread == thread;
            if open.thread != 0 && is_own && open.pattern.side == pattern.side {
                is_left = true;
            } else if open.thread != 0 && !is_own && open.pattern.meets(&pattern) {
                open.is_doubtful = true;
                is_doubtful = true;
            }
        }
        if is_left {
            let state = &mut *state;
            let left = |it: &Open| it.thread == thread && it.pattern.side == pattern.side;
            let all = state.open.iter().filter(|it| left(it));
            state.given_up.extend(all.map(|it| it.pattern));
            state.open.retain(|it| !left(it));
        }
        state.begun += 1;
        let nth = state.begun;
        state.open.push(Open {
            nth,
            pattern,
            thread,
            is_doubtful,
        });
        nth
    }

    /// The call has returned, and has left a request: the arrow of its message, if that is known
    /// already; the request is of no interest then.
    pub fn posted(&self, nth: u64) -> Option<u64> {
        let mut state = self.lock();
        let open = state.open.iter_mut().find(|it| it.nth == nth)?;
        open.thread = 0;
        let (pattern, is_doubtful) = (open.pattern, open.is_doubtful);
        let is_first = !state
            .open
            .iter()
            .any(|it| it.nth < nth && it.pattern.meets(&pattern));
        (pattern.is_exact() && is_first && !is_doubtful)
            .then(|| self.finish_in(&mut state, nth, pattern))
    }

    /// What has begun as that is of a message of this pattern: the arrow of that, or 0.
    pub fn finish(&self, nth: u64, pattern: Pattern) -> u64 {
        match nth {
            0 => 0,
            nth => self.finish_in(&mut self.lock(), nth, pattern),
        }
    }

    fn finish_in(&self, state: &mut State, nth: u64, pattern: Pattern) -> u64 {
        let Some(at) = state.open.iter().position(|it| it.nth == nth) else {
            return 0;
        };
        let open = state.open.swap_remove(at);
        let is_late = |it: &Open| it.nth < nth && it.pattern.meets(&pattern);
        let mut is_sure = !open.is_doubtful && !state.open.iter().any(is_late);
        let key = self.key(pattern);
        let Some(kind) = state.kind(mixed(&[key, pattern.side as u64])) else {
            return 0;
        };
        kind.number += 1;
        is_sure &= kind.last < nth;
        kind.last = kind.last.max(nth);
        let number = kind.number;
        let is_given_up = state.given_up.iter().any(|it| it.meets(&pattern));
        match is_sure && !is_given_up && self.is_known() {
            true => arrow(key, number),
            false => 0,
        }
    }

    /// What has begun as that is of no message.
    pub fn cancel(&self, nth: u64) {
        if nth != 0 {
            self.lock().open.retain(|it| it.nth != nth);
        }
    }

    /// Nobody knows whether what has begun as that is of a message.
    pub fn fail(&self, nth: u64) {
        if nth == 0 {
            return;
        }
        let mut state = self.lock();
        if let Some(at) = state.open.iter().position(|it| it.nth == nth) {
            let open = state.open.swap_remove(at);
            self.give_up_in(&mut state, open.pattern);
        }
    }

    /// Has messages of this pattern have no numbers any more.
    pub fn give_up_of(&self, pattern: Pattern) {
        self.give_up_in(&mut self.lock(), pattern);
    }

    fn give_up_in(&self, state: &mut State, pattern: Pattern) {
        if !state.given_up.contains(&pattern) {
            state.given_up.push(pattern);
        }
        if state.given_up.len() > OPEN {
            self.give_up();
        }
    }

    /// What the next one of its kind is known by at both sides, whose order is that of calls of one
    /// thread; 0 if it is not known.
    pub fn next(&self, pattern: Pattern) -> u64 {
        if !self.is_known() {
            return 0;
        }
        let key = mixed(&[self.key(pattern), u64::from(pattern.side as u8 >= 3)]);
        let mut state = self.lock();
        if state.given_up.iter().any(|it| it.meets(&pattern)) {
            return 0;
        }
        let of_side = mixed(&[key, pattern.side as u64]);
        state.kind(of_side).map_or(0, |kind| {
            kind.number += 1;
            arrow(key, kind.number)
        })
    }

    fn key(&self, pattern: Pattern) -> u64 {
        let me = crate::phase::rank().0.unwrap_or(NO_RANK);
        let (from, to) = match pattern.side {
            Side::Sends | Side::PartsSent => (me, pattern.rank),
            Side::Receives | Side::PartsReceived => (pattern.rank, me),
            Side::Joins => (NO_RANK, NO_RANK),
        };
        key(self.identity, from, to, pattern.tag)
    }
}

impl State {
    fn kind(&mut self, key: u64) -> Option<&mut Kind> {
        if !self.kinds.contains_key(&key) {
            if KINDS.load(Relaxed) >= MOST {
                return None;
            }
            KINDS.fetch_add(1, Relaxed);
        }
        Some(self.kinds.entry(key).or_default())
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        KINDS.fetch_sub(state.kinds.len(), Relaxed);
    }
}

/// All that are there, by their handles, and how many were made of each kind.
#[derive(Default)]
struct Comms {
    all: HashMap<usize, Arc<Comm>>,
    made: Map<u64>,
}

static COMMS: Mutex<Option<Comms>> = Mutex::new(None);

fn comms<T>(what: impl FnOnce(&mut Comms) -> T) -> T {
    let mut comms = COMMS.lock().unwrap_or_else(PoisonError::into_inner);
    what(comms.get_or_insert_default())
}

/// The one of that handle, if it is known.
pub fn get(handle: usize) -> Option<Arc<Comm>> {
    comms(|it| it.all.get(&handle).cloned())
}

/// The one of that handle, which is noted if it was not known. Its members may not agree on which
/// one it is, but of those that are always there.
pub fn get_or_note(handle: usize, ranks: &[i32], is_predefined: bool) -> Arc<Comm> {
    comms(|it| {
        let comm = it.all.entry(handle).or_insert_with(|| {
            let identity = match is_predefined {
                true => mixed(&[handle as u64]).max(1),
                false => 0,
            };
            Arc::new(Comm::new(identity, ranks.into()))
        });
        comm.clone()
    })
}

/// What the next one is known by that calls make in which all its members take part, in one order,
/// as far as `by` tells such calls apart. 0: it is not known.
pub fn next_identity(by: u64) -> u64 {
    if by == 0 {
        return 0;
    }
    comms(|it| {
        let nth = it.made.entry(by).or_default();
        *nth += 1;
        mixed(&[by, *nth]).max(1)
    })
}

/// One was made that is known by that.
pub fn made(handle: usize, identity: impl FnOnce() -> u64, ranks: &[i32]) {
    // What calls within find is what was known before.
    if get(handle).is_none() {
        let comm = Arc::new(Comm::new(identity(), ranks.into()));
        comms(|it| it.all.entry(handle).or_insert(comm).identity());
    }
}

/// One was given back.
pub fn forget(handle: usize) {
    let gone = comms(|it| it.all.remove(&handle));
    drop(gone);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(rank: u32, tag: i32) -> Pattern {
        Pattern {
            side: Side::Receives,
            rank,
            tag,
        }
    }

    /// What the `nth` message of rank 3 with tag 5 is known by.
    fn known(comm: &Comm, nth: u64) -> u64 {
        arrow(comm.key(receive(3, 5)), nth)
    }

    #[test]
    fn receives_have_the_numbers_of_their_messages() {
        let comm = Comm::new(7, Box::from([0, 1, 2, 3]));
        let exact = receive(3, 5);
        let any = receive(NO_RANK, consts::ANY_TAG);
        let first = comm.begin(exact, 1);
        assert_eq!(comm.posted(first), Some(known(&comm, 1)));
        // What comes behind one that may take the same message waits for that.
        let post = |pattern| {
            let nth = comm.begin(pattern, 1);
            assert_eq!(comm.posted(nth), None);
            nth
        };
        let (wild, second) = (post(any), post(exact));
        assert_eq!(comm.finish(wild, exact), known(&comm, 2));
        assert_eq!(comm.finish(second, exact), known(&comm, 3));
        // Done in another order, neither has one; the next one has its own.
        let (wild, second) = (post(any), post(exact));
        assert_eq!(comm.finish(second, exact), 0);
        assert_eq!(comm.finish(wild, exact), 0);
        let next = comm.begin(exact, 1);
        assert_eq!(comm.finish(next, exact), known(&comm, 6));
        // What has looked for a message and found none counts for nothing.
        comm.cancel(comm.begin(any, 1));
        let next = comm.begin(exact, 1);
        assert_eq!(comm.finish(next, exact), known(&comm, 7));
    }

    #[test]
    fn two_threads_at_once_have_no_numbers() {
        let comm = Comm::new(7, Box::from([0, 1, 2, 3]));
        let exact = receive(3, 5);
        let (one, other) = (comm.begin(exact, 1), comm.begin(exact, 2));
        let elsewhere = comm.begin(receive(3, 6), 3);
        assert_eq!((comm.finish(one, exact), comm.finish(other, exact)), (0, 0));
        assert_ne!(comm.finish(elsewhere, receive(3, 6)), 0);
        let next = comm.begin(exact, 2);
        assert_eq!(comm.finish(next, exact), known(&comm, 3));
    }

    #[test]
    fn what_is_not_known_ends_the_numbers_of_its_kind() {
        let comm = Comm::new(7, Box::from([0, 1, 2, 3]));
        comm.fail(comm.begin(receive(3, 5), 1));
        let next = comm.begin(receive(3, 5), 1);
        assert_eq!(comm.finish(next, receive(3, 5)), 0);
        let other = comm.begin(receive(3, 6), 1);
        assert_ne!(comm.finish(other, receive(3, 6)), 0);
        // A call that was left without a return.
        comm.begin(receive(2, 1), 1);
        let next = comm.begin(receive(2, 1), 1);
        assert_eq!(comm.finish(next, receive(2, 1)), 0);
        comm.give_up();
        assert_eq!(comm.begin(receive(1, 1), 1), 0);
    }

    #[test]
    fn many_that_are_open_take_no_time() {
        let comm = Comm::new(7, Box::from([0, 1, 2, 3]));
        let all: Vec<u64> = (0..100_000)
            .map(|_| comm.begin(receive(NO_RANK, 5), 1))
            .inspect(|nth| assert!(comm.posted(*nth).is_none()))
            .collect();
        assert!(all.iter().all(|nth| comm.finish(*nth, receive(3, 5)) == 0));
        let unknown = Comm::new(0, Box::from([0]));
        assert_eq!(unknown.begin(receive(0, 5), 1), 0);
    }
}
