//! Short operations on memory of this node that only the kernel reaches. Its copy takes a
//! microsecond however few bytes it moves; a target that waits in MPI anyway does the same in a
//! fraction of that. So each process with such memory has a **mailbox**, one line of its heap that
//! its neighbours map: an origin puts a letter in, and the target carries it out when it makes
//! progress, under the rules of records (decision 21). An origin waits for that, but not long: it
//! takes a letter back that nobody has begun to read, and has the kernel copy. After that it leaves
//! the target alone for some operations, twice as many each time (`base/mailbox.rs`).
//!
//! What is refused goes the way of the kernel, which says why. Nothing in a letter is trusted:
//! which bytes it may touch the window says. If an origin dies with a letter, the mailbox is of no
//! use from then on, and nobody waits for it.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

use catena_base::mailbox::{ANSWER, Mailbox, Outcome, WORDS};

use crate::heap::{self, Card, Mapping};
use crate::message::record::Head;

/// Most bytes of an operation.
pub(crate) const MOST: usize = 8 * ANSWER;
/// How long an origin waits for a target that does not read: about as long as the kernel would
/// take.
const PATIENCE: Duration = Duration::from_micros(2);

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

/// Bytes as words.
fn words(bytes: &Bytes) -> [u64; ANSWER] {
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|i| u64::from_ne_bytes(words[i]))
}

/// Words as bytes.
fn bytes(words: [u64; ANSWER]) -> Bytes {
    let mut bytes = [0; MOST];
    for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *to = word.to_ne_bytes();
    }
    bytes
}

impl Letter {
    /// What, operation, kind of elements, bytes, and the number of the window; the address; what
    /// goes there.
    fn words(&self) -> [u64; WORDS] {
        let Head { what, a, b, .. } = self.head;
        let [w0, w1, w2, w3] = self.head.window.to_ne_bytes();
        let head = [what, a, b, self.head.len as u8, w0, w1, w2, w3];
        let [b0, b1, b2, b3] = words(&self.bytes);
        [u64::from_ne_bytes(head), self.addr, b0, b1, b2, b3]
    }

    fn read([head, addr, words @ ..]: &[u64; WORDS]) -> Letter {
        let [what, a, b, len, w0, w1, w2, w3] = head.to_ne_bytes();
        let head = Head {
            what,
            a,
            b,
            window: u32::from_ne_bytes([w0, w1, w2, w3]),
            len: len.into(),
            ..Head::default()
        };
        let (addr, bytes) = (*addr, bytes(*words));
        Letter { head, addr, bytes }
    }
}

/// Carries out the letter that is in the mailbox of this process, unless it is taken back:
/// `carry_out` gives the bytes that go back, or refuses. True if there was one.
pub(crate) fn serve(own: &Mailbox, carry_out: impl FnOnce(&Letter) -> Option<Bytes>) -> bool {
    own.serve(|letter| carry_out(&Letter::read(letter)).map(|bytes| words(&bytes)))
}

/// Has the owner of a mailbox carry a letter out; the bytes that it gives back. `None` if it does
/// not, and nothing has happened. `meanwhile` is called while it is waited for; it says whether the
/// owner is gone.
pub(crate) fn post(
    mailbox: &Mailbox,
    letter: &Letter,
    mut meanwhile: impl FnMut() -> bool,
) -> Option<Bytes> {
    if !mailbox.is_worth_it() || !mailbox.put(&letter.words()) {
        return None;
    }
    let begin = Instant::now();
    let mut looks = 0u32;
    loop {
        match mailbox.look() {
            Outcome::Done(words) => {
                mailbox.hit();
                return Some(bytes(words));
            }
            Outcome::Refused => return None,
            Outcome::Open => {}
        }
        looks += 1;
        if looks.is_multiple_of(16) {
            let is_gone = meanwhile();
            if begin.elapsed() > PATIENCE {
                if mailbox.take_back() {
                    mailbox.missed();
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

/// The mailbox of another member; null if there is none.
pub(crate) fn at(card: Card, mapped: &mut Vec<Arc<Mapping>>) -> *const Mailbox {
    let mut find = || {
        let mapping = heap::map_peer(card).ok().filter(|_| card.pid != 0)?;
        let at = mapping.at(card, size_of::<Mailbox>()).ok()?;
        let is_aligned = at.addr().is_multiple_of(align_of::<Mailbox>());
        is_aligned.then(|| {
            mapped.push(mapping);
            at.cast_const().cast()
        })
    };
    find().unwrap_or(std::ptr::null())
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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
        let read = Letter::read(&letter(7).words());
        assert_eq!((read.head, read.addr), (letter(7).head, letter(7).addr));
        assert_eq!(read.bytes, [7; MOST]);
    }

    #[test]
    fn a_letter_that_nobody_reads_is_taken_back_and_the_target_left_alone() {
        let mailbox = Mailbox::default();
        assert_eq!(post(&mailbox, &letter(1), || false), None);
        assert!(!mailbox.is_full());
        for _ in 0..2 {
            let answer = post(&mailbox, &letter(1), || panic!("it is left alone"));
            assert_eq!(answer, None);
        }
        let mut asked = false;
        let answer = post(&mailbox, &letter(1), || {
            let is_first = !std::mem::replace(&mut asked, true);
            if is_first {
                assert!(mailbox.is_full());
                assert!(serve(&mailbox, |it| {
                    assert_eq!(it.bytes, [1; MOST]);
                    Some([9; MOST])
                }));
            }
            false
        });
        assert_eq!(answer, Some([9; MOST]));
        assert!(mailbox.is_worth_it());
    }

    #[test]
    fn a_target_that_dies_or_refuses_is_not_waited_for() {
        let mailbox = Mailbox::default();
        let refuse = || {
            serve(&mailbox, |_| None);
            false
        };
        assert_eq!(post(&mailbox, &letter(1), refuse), None);
        assert!(!mailbox.is_full());
        let die = || {
            // It begins with the letter, and never ends.
            let end = || serve(&mailbox, |_| resume_unwind(Box::new(())));
            let _ = catch_unwind(AssertUnwindSafe(end));
            true
        };
        assert_eq!(post(&mailbox, &letter(1), die), None);
        assert_eq!(post(&mailbox, &letter(1), || false), None, "it is not free");
    }
}
