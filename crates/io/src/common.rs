//! What the members of a file share besides its bytes: the shared file pointer, and who uses which
//! bytes in atomic mode. It binds the handles of one `MPI_File_open`, and leaves nothing beside the
//! file.
//!
//! | field     | who writes it       | rule                                                            |
//! |-----------|---------------------|-----------------------------------------------------------------|
//! | `pointer` | all                 | fetch and add; see [`crate::shared`] for which of the two       |
//! | `mutex`   | all                 | 0 free, or who holds it and whether somebody waits; guards what |
//! |           |                     | is below                                                        |
//! | `changes` | holder of the mutex | counted when a claim goes; those who wait sleep on it           |
//! | `next`    | holder of the mutex | the number of the next claim                                    |
//! | `claims`  | holder of the mutex | a claim that has a number waits for those with a lower one that |
//! |           |                     | it overlaps, unless both only read                              |
//!
//! Members on one node map it. It holds atomics alone, and what is read is checked where it
//! matters: a member that breaks it harms its own job.
//!
//! A member may be killed while it has a claim or the mutex. Claims and the mutex tell the process,
//! and those who wait for long look whether it is still there: what a dead one has is free.

use std::ptr;
use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::time::Duration;

use catena_base::futex::{self, Reach};

/// Claims that can be there at once; more wait for one of these to go.
const CLAIMS: usize = 128;
/// Of the mutex: somebody waits for it.
const AWAITED: u32 = 1 << 31;
/// How long somebody sleeps before it looks whether those that it waits for are alive.
const PATIENCE: Duration = Duration::from_millis(100);

/// This process, as others see it.
fn this_process() -> u32 {
    std::process::id()
}

/// Whether a process has ended; the launcher may not have taken notice of it yet.
fn is_dead(process: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{process}/stat")) {
        // The state follows the name, which stands in parentheses and may have some in it.
        Ok(stat) => stat
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Bytes that somebody uses or waits for.
#[derive(Debug, Default)]
#[repr(C)]
struct Claim {
    /// Its number, from 1 on; 0 for none.
    number: AtomicU64,
    begin: AtomicU64,
    end: AtomicU64,
    /// Whether it writes.
    writes: AtomicU32,
    /// The process that has it.
    process: AtomicU32,
}

/// What the members share.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Common {
    /// Places in the stream.
    pub pointer: [AtomicU64; 2],
    mutex: AtomicU32,
    changes: AtomicU32,
    next: AtomicU64,
    claims: [Claim; CLAIMS],
}

/// A claim that was entered.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    slot: usize,
    number: u64,
}

/// Bytes that are wanted, from `begin` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub begin: u64,
    /// The first behind them.
    pub end: u64,
    /// Whether they are written.
    pub writes: bool,
}

impl Span {
    pub(crate) fn conflicts(&self, other: &Span) -> bool {
        (self.writes || other.writes) && self.begin < other.end && other.begin < self.end
    }
}

impl Common {
    /// Bytes of it.
    pub const BYTES: usize = size_of::<Common>();

    /// Makes it in memory of that many bytes.
    ///
    /// # Safety
    /// The memory is aligned, and nobody else uses it yet.
    pub unsafe fn init(at: *mut u8) {
        // SAFETY: all zeros are a valid value: no claim, pointers at the beginning.
        unsafe { ptr::write_bytes(at, 0, Common::BYTES) };
    }

    fn lock(&self) {
        let me = this_process();
        if self.mutex.compare_exchange(0, me, Acquire, Relaxed).is_ok() {
            return;
        }
        let turn = |from, to| {
            self.mutex
                .compare_exchange(from, to, Acquire, Relaxed)
                .is_ok()
        };
        loop {
            let held = self.mutex.load(Relaxed);
            if held == 0 {
                // Others may wait behind this one.
                if turn(0, me | AWAITED) {
                    return;
                }
            } else if held & AWAITED == 0 {
                turn(held, held | AWAITED);
            } else {
                futex::wait(&self.mutex, held, Some(PATIENCE), Reach::Node);
                let is_stuck = self.mutex.load(Relaxed) == held && is_dead(held & !AWAITED);
                if is_stuck && turn(held, me | AWAITED) {
                    return;
                }
            }
        }
    }

    fn unlock(&self) {
        if self.mutex.swap(0, Release) & AWAITED != 0 {
            futex::wake(&self.mutex, 1, Reach::Node);
        }
    }

    fn span(claim: &Claim) -> Span {
        Span {
            begin: claim.begin.load(Relaxed),
            end: claim.end.load(Relaxed),
            writes: claim.writes.load(Relaxed) != 0,
        }
    }

    /// Enters a claim, unless all places are taken.
    pub fn try_claim(&self, span: Span) -> Option<Ticket> {
        self.lock();
        let slot = self
            .claims
            .iter()
            .position(|claim| claim.number.load(Relaxed) == 0);
        let ticket = slot.map(|slot| {
            let number = self.next.load(Relaxed) + 1;
            self.next.store(number, Relaxed);
            let claim = &self.claims[slot];
            claim.begin.store(span.begin, Relaxed);
            claim.end.store(span.end, Relaxed);
            claim.writes.store(span.writes.into(), Relaxed);
            claim.process.store(this_process(), Relaxed);
            claim.number.store(number, Relaxed);
            Ticket { slot, number }
        });
        self.unlock();
        ticket
    }

    /// Whether the bytes of a claim are its own now: no earlier claim needs them.
    pub fn is_granted(&self, ticket: Ticket) -> bool {
        self.lock();
        let own = Self::span(&self.claims[ticket.slot]);
        let granted = !self.claims.iter().any(|claim| {
            let number = claim.number.load(Relaxed);
            number != 0 && number < ticket.number && Self::span(claim).conflicts(&own)
        });
        self.unlock();
        granted
    }

    /// Takes a claim back.
    pub fn release(&self, ticket: Ticket) {
        self.lock();
        self.claims[ticket.slot].number.store(0, Relaxed);
        self.changes.fetch_add(1, AcqRel);
        self.unlock();
        futex::wake(&self.changes, i32::MAX, Reach::Node);
    }

    /// Frees what processes have claimed that have ended.
    fn release_of_dead(&self) {
        self.lock();
        for claim in &self.claims {
            if claim.number.load(Relaxed) != 0 && is_dead(claim.process.load(Relaxed)) {
                claim.number.store(0, Relaxed);
                self.changes.fetch_add(1, AcqRel);
            }
        }
        self.unlock();
        futex::wake(&self.changes, i32::MAX, Reach::Node);
    }

    /// Enters a claim and waits until the bytes are its own. Those who have them now do not wait
    /// for this process, so the thread sleeps.
    pub fn claim(&self, span: Span) -> Ticket {
        let mut ticket = None;
        loop {
            let changes = self.changes.load(Acquire);
            if ticket.is_none() {
                ticket = self.try_claim(span);
            }
            if let Some(ticket) = ticket
                && self.is_granted(ticket)
            {
                return ticket;
            }
            futex::wait(&self.changes, changes, Some(PATIENCE), Reach::Node);
            if self.changes.load(Acquire) == changes {
                self.release_of_dead();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn fresh() -> Box<Common> {
        let mut common = Box::<Common>::new_uninit();
        // SAFETY: nobody else has it, and `init` fills it.
        unsafe {
            Common::init(common.as_mut_ptr().cast());
            common.assume_init()
        }
    }

    fn span(begin: u64, end: u64, writes: bool) -> Span {
        Span { begin, end, writes }
    }

    #[test]
    fn claims_that_overlap_are_served_in_turn() {
        let common = fresh();
        let first = common.try_claim(span(0, 10, true)).unwrap();
        let second = common.try_claim(span(5, 15, false)).unwrap();
        let third = common.try_claim(span(12, 20, false)).unwrap();
        let fourth = common.try_claim(span(10, 13, true)).unwrap();
        let granted = |tickets: [Ticket; 4]| tickets.map(|it| common.is_granted(it));
        let all = [first, second, third, fourth];
        assert_eq!(granted(all), [true, false, true, false]);
        common.release(first);
        assert_eq!(granted(all)[1..], [true, true, false]);
        common.release(second);
        assert!(!common.is_granted(fourth), "the third still reads");
        common.release(third);
        assert!(common.is_granted(fourth));
    }

    #[test]
    fn full_claims_wait_for_a_place() {
        let common = fresh();
        let tickets: Vec<_> = (0..CLAIMS as u64)
            .map(|i| common.try_claim(span(i, i + 1, true)).unwrap())
            .collect();
        assert!(common.try_claim(span(900, 901, true)).is_none());
        common.release(tickets[3]);
        assert!(common.try_claim(span(900, 901, true)).is_some());
    }

    #[test]
    fn what_the_dead_have_is_free() {
        let common = fresh();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let ticket = common.try_claim(span(0, 10, true)).unwrap();
        common.claims[ticket.slot].process.store(dead, Relaxed);
        let alive = common.try_claim(span(20, 30, true)).unwrap();
        common.mutex.store(dead, Relaxed);
        let own = common.claim(span(5, 6, true));
        assert!(common.is_granted(own) && common.is_granted(alive));
        let late = common.try_claim(span(25, 26, false)).unwrap();
        common.release_of_dead();
        assert!(!common.is_granted(late), "the living keep theirs");
    }

    #[test]
    fn threads_exclude_each_other() {
        let common: Arc<Common> = fresh().into();
        let counter = Arc::new(AtomicU64::new(0));
        let work = || {
            let (common, counter) = (common.clone(), counter.clone());
            std::thread::spawn(move || {
                for i in 0..500 {
                    let ticket = common.claim(span(i % 3, 4, true));
                    let seen = counter.load(Relaxed);
                    std::hint::spin_loop();
                    counter.store(seen + 1, Relaxed);
                    common.release(ticket);
                }
            })
        };
        let threads: Vec<_> = (0..4).map(|_| work()).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(counter.load(Relaxed), 2000);
    }
}
