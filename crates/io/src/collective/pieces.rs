//! The pieces of one member: where its bytes lie in the file, in rising order, and in its memory.

use std::sync::Arc;

use crate::driver::Part;
use crate::transfer::{Memory, Transfer};
use crate::view::{Run, View};

/// Bytes of the stream whose runs are listed at once.
const LISTED: u64 = 64 << 10;
/// Bytes that are packed or unpacked at once where memory is in pieces, too.
const STAGE: u64 = 128 << 10;

/// The runs of a transfer, one after the other, cut where the caller wants them to end.
#[derive(Debug)]
pub(crate) struct Cursor {
    view: Arc<View>,
    /// The first place in the stream that is not listed, and where the transfer ends.
    listed: u64,
    end: u64,
    list: Vec<Run>,
    /// The next one of the list.
    next: usize,
    /// Bytes of the transfer that were taken.
    taken: u64,
}

impl Cursor {
    /// The runs of `len` bytes from a place in the stream of a view that is ordered.
    pub fn new(view: Arc<View>, from: u64, len: u64) -> Self {
        Cursor {
            view,
            listed: from,
            end: from + len,
            list: Vec::new(),
            next: 0,
            taken: 0,
        }
    }

    /// The runs of a transfer whose view is ordered.
    pub fn of(transfer: &Transfer) -> Self {
        Cursor::new(transfer.view.clone(), transfer.from, transfer.len())
    }

    /// Bytes of the transfer that were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    #[cold]
    fn refill(&mut self) {
        self.list.clear();
        self.next = 0;
        let rest = self.end - self.listed;
        let now = match self.view.is_contiguous() {
            true => rest,
            false => rest.min(LISTED),
        };
        let list = &mut self.list;
        self.view.windows(self.listed, now, |runs, _| {
            list.extend_from_slice(runs);
            true
        });
        self.listed += now;
    }

    /// Where the next run begins.
    pub fn offset(&mut self) -> Option<u64> {
        if self.next == self.list.len() {
            self.refill();
        }
        self.list.get(self.next).map(|run| run.at)
    }

    /// Takes the next run as far as it lies below `limit`; nothing if it does not begin there.
    #[inline]
    pub fn take(&mut self, limit: u64) -> Option<Run> {
        if self.next == self.list.len() {
            self.refill();
        }
        let run = self.list.get_mut(self.next)?;
        let room = limit.checked_sub(run.at).filter(|room| *room != 0)?;
        let len = run.len.min(room);
        let at = run.at;
        if len == run.len {
            self.next += 1;
        } else {
            run.at += len;
            run.len -= len;
        }
        self.taken += len;
        Some(Run { at, len })
    }
}

/// Copies `len` bytes. What is interleaved is short, and a call would take longer than its bytes.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`].
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match len {
            8 => to
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => to
                .cast::<u32>()
                .write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => from.copy_to_nonoverlapping(to, len),
        }
    }
}

/// The memory of what is written, from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Walk<'m> {
    memory: &'m Memory,
    /// Where all of it lies, if it is one run.
    base: Option<*mut u8>,
    /// Packed bytes from `staged` on.
    stage: Vec<u8>,
    staged: u64,
}

impl<'m> Walk<'m> {
    pub fn new(memory: &'m mut Memory) -> Self {
        let base = memory.contiguous();
        Walk {
            memory: &*memory,
            base,
            stage: Vec::new(),
            staged: 0,
        }
    }

    /// Copies the `len` bytes at `at` of what is written to `to`.
    ///
    /// # Safety
    /// There is room at `to`. Calls follow each other without gaps.
    #[inline]
    pub unsafe fn give(&mut self, mut at: u64, mut to: *mut u8, mut len: usize) {
        if let Some(base) = self.base {
            // SAFETY: the program lends its memory; the caller's promise.
            return unsafe { copy(base.wrapping_add(at as usize), to, len) };
        }
        while len != 0 {
            let mut ready = (self.staged + self.stage.len() as u64 - at) as usize;
            if ready == 0 {
                let now = (self.memory.len() - at).min(STAGE);
                self.stage.resize(now as usize, 0);
                self.memory.pack(at, &mut self.stage);
                self.staged = at;
                ready = self.stage.len();
            }
            let now = ready.min(len);
            let from = &self.stage[(at - self.staged) as usize..][..now];
            // SAFETY: the stage has them; the caller's promise.
            unsafe { copy(from.as_ptr(), to, now) };
            (at, to, len) = (at + now as u64, to.wrapping_add(now), len - now);
        }
    }
}

/// The bytes that a member reads, taken out of windows from the first to the last.
#[derive(Debug)]
pub(crate) struct Taker<'m> {
    view: Arc<View>,
    memory: &'m mut Memory,
    /// Where all of the memory lies, if it is one run.
    base: Option<*mut u8>,
    /// Where in the stream the transfer begins.
    from: u64,
    taken: u64,
    stage: Vec<u8>,
}

impl<'m> Taker<'m> {
    /// For a transfer whose view is ordered.
    pub fn new(transfer: &'m mut Transfer) -> Self {
        let memory = &mut transfer.memory;
        Taker {
            view: transfer.view.clone(),
            base: memory.contiguous(),
            memory,
            from: transfer.from,
            taken: 0,
            stage: Vec::new(),
        }
    }

    /// Bytes of the transfer that were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Where in the file the next byte lies.
    pub fn offset(&self) -> Option<u64> {
        let is_over = self.taken == self.memory.len();
        (!is_over).then(|| self.view.offset(self.from + self.taken))
    }

    /// Takes the bytes in front of `limit` out of an image of the file whose first byte is the one
    /// at an offset; how many.
    ///
    /// # Safety
    /// The image has the bytes from the next one of the transfer up to the limit.
    pub unsafe fn take(&mut self, image: (*const u8, u64), limit: u64) -> u64 {
        let (next, left) = (self.from + self.taken, self.memory.len() - self.taken);
        let all = self.view.before(next, left, limit);
        let mut done = 0;
        while done < all {
            let len = match self.base {
                Some(_) => all,
                None => (all - done).min(STAGE),
            };
            let base = match self.base {
                Some(base) => base.wrapping_add(self.taken as usize),
                None => {
                    self.stage.resize(len as usize, 0);
                    self.stage.as_mut_ptr()
                }
            };
            let room = Part {
                base,
                len: len as usize,
            };
            // SAFETY: the caller's promise; the memory and the stage have as much room.
            unsafe { self.view.gather(next + done, image, room) };
            if self.base.is_none() {
                self.memory.unpack(self.taken, &self.stage);
            }
            self.taken += len;
            done += len;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datarep::Datarep;
    use catena_datatype::Datatype;

    /// Two of five bytes, from the third on.
    fn view() -> Arc<View> {
        let byte = View::of_bytes().etype;
        let pair = Datatype::indexed(&[2], &[1], &byte).unwrap();
        let ty = Datatype::resized(0, 5, &pair).unwrap();
        Arc::new(View::new(2, &byte, &ty, Datarep::native(), true).unwrap())
    }

    #[test]
    fn runs_end_at_the_limit_and_go_on_behind_it() {
        let mut cursor = Cursor::new(view(), 1, 5);
        let run = |at, len| Some(Run { at, len });
        assert_eq!(cursor.offset(), Some(4));
        assert_eq!(cursor.take(4), None);
        assert_eq!(cursor.take(9), run(4, 1));
        assert_eq!(cursor.take(9), run(8, 1));
        assert_eq!(cursor.take(9), None);
        assert_eq!(cursor.offset(), Some(9));
        assert_eq!(cursor.take(99), run(9, 1));
        assert_eq!((cursor.take(99), cursor.taken()), (run(13, 2), 5));
        assert_eq!((cursor.take(99), cursor.offset()), (None, None));
    }

    #[test]
    fn many_runs_are_listed_in_turns() {
        let len = 2 * LISTED + 2;
        let mut cursor = Cursor::new(view(), 0, len);
        let mut at = 3;
        while let Some(run) = cursor.take(u64::MAX) {
            assert_eq!(run, Run { at, len: 2 });
            at += 5;
        }
        assert_eq!(cursor.taken(), len);
    }
}
