//! What one node sends to an aggregator on another for a window: which bytes of it, and these
//! bytes.
//!
//! | words                 | what                                                          |
//! |-----------------------|---------------------------------------------------------------|
//! | 1 of 8 bytes          | the number of runs, or [`MASK`]                               |
//! | one of 8 for each run | its first byte and its length, 4 bytes each                   |
//! | or the mask           | a bit for each byte of the window                             |
//! | the rest              | the bytes of all runs, in their order                         |
//!
//! Whichever of runs and mask is shorter is sent. Nothing that comes from another process is
//! believed: runs rise, and lie in the window.

use catena_objects::error::{Error, Kind, Result};

use crate::collective::buffers::{mark, next_run};

/// The number of runs that says that a mask follows.
const MASK: u64 = u64::MAX;

/// A window, with the mask of what is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Its bytes.
    pub at: *mut u8,
    /// A bit for each of them.
    pub mask: *mut u64,
    /// Its length, a multiple of 64.
    pub len: usize,
}

/// A run of a window: where it begins, and where it ends.
type Span = (usize, usize);

impl Window {
    /// The runs of its mask.
    fn runs(&self) -> Vec<Span> {
        let (mut runs, mut at) = (Vec::new(), 0);
        // SAFETY: the mask has these words, and nobody writes them meanwhile, as the callers
        // promise.
        while let Some((begin, end)) = unsafe { next_run(self.mask, self.len / 64, at) } {
            runs.push((begin, end));
            at = end;
        }
        runs
    }

    /// Which bytes there are, to be sent.
    ///
    /// # Safety
    /// Nobody writes the mask.
    pub unsafe fn list(&self) -> Vec<u8> {
        self.packed(&self.runs(), false)
    }

    /// Which bytes there are, and the bytes, to be sent.
    ///
    /// # Safety
    /// Nobody writes the window or its mask.
    pub unsafe fn parcel(&self) -> Vec<u8> {
        self.packed(&self.runs(), true)
    }

    fn packed(&self, runs: &[Span], with_bytes: bool) -> Vec<u8> {
        let mut out = Vec::new();
        if runs.len() * 8 <= self.len / 8 {
            out.extend((runs.len() as u64).to_le_bytes());
            for (begin, end) in runs {
                out.extend((*begin as u32).to_le_bytes());
                out.extend(((end - begin) as u32).to_le_bytes());
            }
        } else {
            out.extend(MASK.to_le_bytes());
            for word in 0..self.len / 64 {
                // SAFETY: the mask has these words.
                out.extend(unsafe { *self.mask.add(word) }.to_le_bytes());
            }
        }
        if with_bytes {
            self.append(runs, &mut out);
        }
        out
    }

    fn append(&self, runs: &[Span], out: &mut Vec<u8>) {
        out.reserve(runs.iter().map(|(begin, end)| end - begin).sum());
        for &(begin, end) in runs {
            // SAFETY: the run lies in the window, which nobody writes.
            let bytes = unsafe { std::slice::from_raw_parts(self.at.add(begin), end - begin) };
            out.extend_from_slice(bytes);
        }
    }

    /// Takes in what another node has put into the window.
    ///
    /// # Errors
    /// `Intern` for a parcel that is none.
    ///
    /// # Safety
    /// Nobody else uses the window or its mask.
    pub unsafe fn take_in(&self, parcel: &[u8]) -> Result<()> {
        let (runs, bytes) = self.read(parcel)?;
        self.store(&runs, bytes)?;
        for (begin, end) in runs {
            // SAFETY: `read` has checked the runs.
            unsafe { mark(self.mask, begin, end - begin) };
        }
        Ok(())
    }

    /// The bytes that another node's list asks for.
    ///
    /// # Errors
    /// As [`Window::take_in`].
    ///
    /// # Safety
    /// Nobody writes the window.
    pub unsafe fn answer(&self, list: &[u8]) -> Result<Vec<u8>> {
        let (runs, _) = self.read(list)?;
        let mut out = Vec::new();
        self.append(&runs, &mut out);
        Ok(out)
    }

    /// Stores the bytes that the window's own list has asked for.
    ///
    /// # Errors
    /// As [`Window::take_in`].
    ///
    /// # Safety
    /// Nobody else uses the window, and nobody has written the mask since it was sent.
    pub unsafe fn fill(&self, bytes: &[u8]) -> Result<()> {
        self.store(&self.runs(), bytes)
    }

    fn store(&self, runs: &[Span], bytes: &[u8]) -> Result<()> {
        let len: usize = runs.iter().map(|(begin, end)| end - begin).sum();
        if len != bytes.len() {
            return Err(garbled());
        }
        let mut from = bytes;
        for &(begin, end) in runs {
            let (now, rest) = from.split_at(end - begin);
            // SAFETY: runs lie in the window, which nobody else uses.
            unsafe {
                self.at
                    .add(begin)
                    .copy_from_nonoverlapping(now.as_ptr(), now.len());
            }
            from = rest;
        }
        Ok(())
    }

    /// The runs of a parcel, and what follows them.
    fn read<'p>(&self, parcel: &'p [u8]) -> Result<(Vec<Span>, &'p [u8])> {
        let (count, rest) = parcel.split_at_checked(8).ok_or_else(garbled)?;
        let count = u64::from_le_bytes(count.try_into().expect("8 bytes"));
        if count == MASK {
            let (words, rest) = rest.split_at_checked(self.len / 8).ok_or_else(garbled)?;
            let words = words.as_chunks::<8>().0;
            let mut words: Vec<u64> = words.iter().map(|it| u64::from_le_bytes(*it)).collect();
            let own = Window {
                mask: words.as_mut_ptr(),
                ..*self
            };
            return Ok((own.runs(), rest));
        }
        let bytes = usize::try_from(count).ok().and_then(|it| it.checked_mul(8));
        let split = bytes.and_then(|bytes| rest.split_at_checked(bytes));
        let (list, rest) = split.ok_or_else(garbled)?;
        let half = |run: &[u8], at: usize| {
            u32::from_le_bytes(std::array::from_fn(|i| run[at + i])) as usize
        };
        let mut last = 0;
        let mut runs = Vec::with_capacity(list.len() / 8);
        for run in list.chunks_exact(8) {
            let (begin, len) = (half(run, 0), half(run, 4));
            let end = begin + len;
            if begin < last || len == 0 || end > self.len {
                return Err(garbled());
            }
            runs.push((begin, end));
            last = end;
        }
        Ok((runs, rest))
    }
}

#[cold]
fn garbled() -> Error {
    let text = "another host sent collective data that are garbled: do all hosts run the same \
                version of Catena?";
    Error::new(Kind::Intern, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 1 << 10;

    struct Owned {
        bytes: Vec<u8>,
        mask: Vec<u64>,
    }

    impl Owned {
        fn new(runs: &[Span], seed: usize) -> Self {
            let mut it = Owned {
                bytes: vec![0; LEN],
                mask: vec![0; LEN / 64],
            };
            for &(begin, end) in runs {
                // SAFETY: the mask has these bits.
                unsafe { mark(it.mask.as_mut_ptr(), begin, end - begin) };
                for at in begin..end {
                    it.bytes[at] = (at * 7 + seed) as u8 | 1;
                }
            }
            it
        }

        fn window(&mut self) -> Window {
            Window {
                at: self.bytes.as_mut_ptr(),
                mask: self.mask.as_mut_ptr(),
                len: LEN,
            }
        }
    }

    fn patterns() -> Vec<Vec<Span>> {
        let every_other = (0..LEN / 2).map(|i| (2 * i, 2 * i + 1)).collect();
        vec![
            vec![],
            vec![(0, LEN)],
            vec![(3, 70), (128, 129), (1023, 1024)],
            every_other,
        ]
    }

    #[test]
    fn a_parcel_arrives_as_it_was_sent() {
        for runs in patterns() {
            let mut from = Owned::new(&runs, 3);
            let mut to = Owned::new(&[], 0);
            // SAFETY: nobody else uses either.
            unsafe {
                let parcel = from.window().parcel();
                to.window().take_in(&parcel).unwrap();
            }
            assert_eq!((&from.bytes, &from.mask), (&to.bytes, &to.mask));
        }
    }

    #[test]
    fn a_list_is_answered_with_its_bytes() {
        for runs in patterns() {
            let mut all = Owned::new(&[(0, LEN)], 5);
            let wanted = Owned::new(&runs, 5);
            let mut to = Owned {
                bytes: vec![0; LEN],
                mask: wanted.mask.clone(),
            };
            // SAFETY: nobody else uses either.
            unsafe {
                let answer = all.window().answer(&to.window().list()).unwrap();
                to.window().fill(&answer).unwrap();
            }
            assert_eq!(to.bytes, wanted.bytes);
        }
    }

    #[test]
    fn garbled_parcels_are_refused() {
        let mut one = Owned::new(&[(8, 16)], 0);
        // SAFETY: nobody else uses it.
        let good = unsafe { one.window().parcel() };
        let mut bad = vec![
            Vec::new(),
            good[..good.len() - 1].to_vec(),
            good[..12].to_vec(),
        ];
        for (at, byte) in [(0, 2), (7, 0x80), (9, 4), (12, 0)] {
            let mut copy = good.clone();
            copy[at] = byte;
            bad.push(copy);
        }
        bad.push([&MASK.to_le_bytes()[..], &[0; 9]].concat());
        for parcel in bad {
            let mut to = Owned::new(&[], 0);
            // SAFETY: as above.
            let taken = unsafe { to.window().take_in(&parcel) };
            assert!(taken.is_err(), "{parcel:?}");
        }
    }
}

/// Targets for fuzzing: see [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz {
    use super::Window;

    /// Bytes of the window.
    const LEN: usize = 512;
    /// Bytes and words around it that nobody may touch.
    const GUARD: usize = 64;

    /// A window with guards around it.
    struct GuardedBuffer {
        bytes: Vec<u8>,
        mask: Vec<u64>,
    }

    impl GuardedBuffer {
        fn new() -> Self {
            GuardedBuffer {
                bytes: vec![0xee; LEN + 2 * GUARD],
                mask: vec![0; LEN / 64 + 2 * GUARD],
            }
        }

        fn window(&mut self) -> Window {
            Window {
                at: self.bytes[GUARD..].as_mut_ptr(),
                mask: self.mask[GUARD..].as_mut_ptr(),
                len: LEN,
            }
        }

        fn marked(&self) -> usize {
            self.mask.iter().map(|it| it.count_ones() as usize).sum()
        }

        /// What is not marked was not touched.
        fn check(&self) {
            let (before, rest) = self.bytes.split_at(GUARD);
            let (bytes, after) = rest.split_at(LEN);
            assert!([before, after].concat().iter().all(|it| *it == 0xee));
            let mask = &self.mask[GUARD..][..LEN / 64];
            let inside: u32 = mask.iter().map(|it| it.count_ones()).sum();
            assert_eq!(inside as usize, self.marked());
            for (at, byte) in bytes.iter().enumerate() {
                assert!(mask[at / 64] >> (at % 64) & 1 != 0 || *byte == 0xee);
            }
        }
    }

    /// What one host sends another in a round of a collective call on a file, taken for each of the
    /// three things that it can be.
    pub fn parcel(data: &[u8]) {
        let mut one = GuardedBuffer::new();
        // SAFETY: nobody else uses it.
        let taken = unsafe { one.window().take_in(data) };
        one.check();
        if taken.is_ok() {
            // The same goes on, however it was put.
            let mut two = GuardedBuffer::new();
            // SAFETY: as above.
            unsafe {
                let again = one.window().parcel();
                two.window().take_in(&again).expect("its own parcel");
                let list = one.window().list();
                let answer = two.window().answer(&list).expect("its own list");
                assert_eq!(answer.len(), one.marked());
                one.window().fill(&answer).expect("an answer to it");
                assert_eq!(one.window().fill(data).is_ok(), data.len() == answer.len());
            }
            two.check();
            one.check();
        }
        let mut asked = GuardedBuffer::new();
        // SAFETY: as above.
        let answer = unsafe { asked.window().answer(data) };
        assert!(answer.is_ok_and(|it| it.len() <= LEN) || taken.is_err());
        asked.check();
    }
}
