//! Short operations on memory of this node that only the kernel reaches. Its copy takes a microsecond however few bytes
//! it moves; a target that waits in MPI anyway does the same in a fraction of that. So each process with such memory has
//! a **mailbox**, one line of its heap that its neighbours map: an origin puts a letter in, and the target carries it out
//! when it makes progress, under the rules of records (decision 21). An origin waits for that, but not long: it takes a
//! letter back that nobody has begun to read, and has the kernel copy. After that it leaves the target alone for some
//! operations, twice as many each time.
//!
//! | state     | who changes it      | to                                             |
//! |-----------|---------------------|------------------------------------------------|
//! | `FREE`    | any origin          | `TAKEN`: the letter is its to write            |
//! | `TAKEN`   | that origin         | `FULL`                                         |
//! | `FULL`    | the target          | `READING`                                      |
//! | `FULL`    | that origin         | `FREE`: it has waited long enough              |
//! | `READING` | the target          | `DONE` or `REFUSED`; the former bytes are there |
//! | `DONE`, `REFUSED` | that origin | `FREE`                                         |
//!
//! What is refused goes the way of the kernel, which says why. Nothing in a letter is trusted: which bytes it may touch
//! the window says. If an origin dies with a letter, the mailbox is of no use from then on, and nobody waits for it.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use crate::heap::{self, Card};
use crate::message::record::Head;

/// Most bytes of an operation.
pub(crate) const MOST: usize = 32;
/// How long an origin waits for a target that does not read: about as long as the kernel would take.
const PATIENCE: Duration = Duration::from_micros(2);
/// A target is left alone for 2 to the power of this many operations at most.
const MOST_MISSES: u32 = 8;

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const FULL: u32 = 2;
const READING: u32 = 3;
const DONE: u32 = 4;
const REFUSED: u32 = 5;

/// A mailbox.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Mailbox {
    state: AtomicU32,
    /// For how many operations the target is left alone, and, from bit 16 on, how often that was so in a row.
    pause: AtomicU32,
    /// What, operation, kind of elements, bytes; the number of the window.
    head: AtomicU64,
    addr: AtomicU64,
    bytes: [AtomicU64; MOST / 8],
}

const _: () = assert!(size_of::<Mailbox>() == 64);

/// Bytes of a letter.
pub(crate) type Bytes = [u8; MOST];

/// An operation on some bytes of a target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter {
    /// What to do, with its length; see `record`.
    pub head: Head,
    /// The address there.
    pub addr: u64,
    /// What goes there.
    pub bytes: Bytes,
}

impl Mailbox {
    fn write_bytes(&self, bytes: &Bytes) {
        for (to, word) in self.bytes.iter().zip(bytes.as_chunks().0) {
            to.store(u64::from_ne_bytes(*word), Relaxed);
        }
    }

    fn read_bytes(&self) -> Bytes {
        let mut bytes = [0; MOST];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(&self.bytes) {
            *to = word.load(Relaxed).to_ne_bytes();
        }
        bytes
    }

    fn write(&self, letter: &Letter) {
        let Head { what, a, b, .. } = letter.head;
        let [w0, w1, w2, w3] = letter.head.window.to_ne_bytes();
        let head = [what, a, b, letter.head.len as u8, w0, w1, w2, w3];
        self.head.store(u64::from_ne_bytes(head), Relaxed);
        self.addr.store(letter.addr, Relaxed);
        self.write_bytes(&letter.bytes);
    }

    fn read(&self) -> Letter {
        let [what, a, b, len, w0, w1, w2, w3] = self.head.load(Relaxed).to_ne_bytes();
        let head = Head {
            what,
            a,
            b,
            window: u32::from_ne_bytes([w0, w1, w2, w3]),
            len: len.into(),
            ..Head::default()
        };
        Letter {
            head,
            addr: self.addr.load(Relaxed),
            bytes: self.read_bytes(),
        }
    }

    /// Whether a letter is there.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.state.load(Relaxed) == FULL
    }

    /// Carries out the letter that is there, unless it is taken back: `carry_out` gives the bytes that go back, or
    /// refuses. True if there was one.
    pub(crate) fn serve(&self, carry_out: impl FnOnce(&Letter) -> Option<Bytes>) -> bool {
        let taken = self.state.compare_exchange(FULL, READING, Acquire, Relaxed);
        if taken.is_err() {
            return false;
        }
        let done = carry_out(&self.read());
        if let Some(bytes) = &done {
            self.write_bytes(bytes);
        }
        let state = if done.is_some() { DONE } else { REFUSED };
        self.state.store(state, Release);
        true
    }

    /// Whether the target is to be tried now.
    fn is_worth_it(&self) -> bool {
        let pause = self.pause.load(Relaxed);
        if pause & 0xffff == 0 {
            return true;
        }
        self.pause.store(pause - 1, Relaxed);
        false
    }

    /// The target has not read a letter.
    fn missed(&self) {
        let misses = (self.pause.load(Relaxed) >> 16) + 1;
        let misses = misses.min(MOST_MISSES);
        self.pause.store(misses << 16 | 1 << misses, Relaxed);
    }

    /// Has the target carry a letter out; the bytes that it gives back. `None` if it does not, and nothing has happened.
    /// `meanwhile` is called while it is waited for; it says whether the target is gone.
    pub(crate) fn post(
        &self,
        letter: &Letter,
        mut meanwhile: impl FnMut() -> bool,
    ) -> Option<Bytes> {
        if !self.is_worth_it() {
            return None;
        }
        let taken = self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed);
        taken.ok()?;
        self.write(letter);
        self.state.store(FULL, Release);
        let begin = Instant::now();
        let mut looks = 0u32;
        loop {
            match self.state.load(Acquire) {
                DONE => {
                    let bytes = self.read_bytes();
                    self.pause.store(0, Relaxed);
                    self.state.store(FREE, Release);
                    return Some(bytes);
                }
                REFUSED => {
                    self.state.store(FREE, Release);
                    return None;
                }
                _ => {}
            }
            looks += 1;
            if looks.is_multiple_of(16) {
                let is_gone = meanwhile();
                if begin.elapsed() > PATIENCE {
                    let taken_back = self.state.compare_exchange(FULL, FREE, AcqRel, Relaxed);
                    if taken_back.is_ok() {
                        self.missed();
                        return None;
                    }
                    if is_gone {
                        return None;
                    }
                    std::thread::yield_now();
                }
            }
            std::hint::spin_loop();
        }
    }
}

/// The mailbox of this process; null before it has one.
static OWN: AtomicPtr<Mailbox> = AtomicPtr::new(ptr::null_mut());

/// How neighbours find it, which is made if there is none yet.
pub(crate) fn card() -> Card {
    let mut own = OWN.load(Acquire);
    if own.is_null() {
        let Ok(at) = heap::take(size_of::<Mailbox>(), align_of::<Mailbox>()) else {
            return Card::NONE;
        };
        own = at.cast();
        // SAFETY: ours, of this length.
        unsafe { own.write(Mailbox::default()) };
        OWN.store(own, Release);
    }
    heap::card(own.cast(), size_of::<Mailbox>()).unwrap_or(Card::NONE)
}

/// The mailbox of this process, if it has one.
#[inline]
pub(crate) fn own<'a>() -> Option<&'a Mailbox> {
    // SAFETY: the mailbox stays for ever; it consists of atomics.
    unsafe { OWN.load(Relaxed).as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::record::What;

    fn letter(fill: u8) -> Letter {
        let head = Head {
            a: 3,
            b: 4,
            len: 8,
            ..Head::new(What::Fetch, 0x0102_0304)
        };
        Letter {
            head,
            addr: 0x1122_3344_5566_7788,
            bytes: [fill; MOST],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mailbox = Mailbox::default();
        mailbox.write(&letter(7));
        let read = mailbox.read();
        assert_eq!((read.head, read.addr), (letter(7).head, letter(7).addr));
        assert_eq!(read.bytes, [7; MOST]);
    }

    #[test]
    fn a_letter_that_nobody_reads_is_taken_back_and_the_target_left_alone() {
        let mailbox = Mailbox::default();
        for misses in 1..12u32 {
            assert_eq!(mailbox.post(&letter(1), || false), None);
            assert_eq!(mailbox.state.load(Relaxed), FREE);
            for _ in 0..1 << misses.min(MOST_MISSES) {
                assert_eq!(
                    mailbox.post(&letter(1), || panic!("it is left alone")),
                    None
                );
            }
        }
        let mut asked = false;
        let answer = mailbox.post(&letter(1), || {
            let is_first = !std::mem::replace(&mut asked, true);
            if is_first {
                assert!(mailbox.is_full());
                assert!(mailbox.serve(|it| {
                    assert_eq!(it.bytes, [1; MOST]);
                    Some([9; MOST])
                }));
                assert!(!mailbox.serve(|_| panic!("there is none")));
            }
            false
        });
        assert_eq!(answer, Some([9; MOST]));
        assert_eq!(mailbox.pause.load(Relaxed), 0);
    }

    #[test]
    fn a_target_that_dies_or_refuses_is_not_waited_for() {
        let mailbox = Mailbox::default();
        let refuse = || {
            mailbox.serve(|_| None);
            false
        };
        assert_eq!(mailbox.post(&letter(1), refuse), None);
        assert_eq!(mailbox.state.load(Relaxed), FREE);
        let die = || {
            mailbox.state.store(READING, Release);
            true
        };
        assert_eq!(mailbox.post(&letter(1), die), None);
        assert_eq!(mailbox.post(&letter(1), || false), None, "it is not free");
    }
}
