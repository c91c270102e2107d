//! Which blocks of memory the program has from `malloc`.
//!
//! Where a block begins, one of two tables says so: for short blocks a byte for each 16 bytes of
//! memory, in pieces that are mapped when they are first needed; for long ones a list by address.
//! How long a block is, the C library says, to within some bytes.
//!
//! What was given back is remembered by its first byte: memory that is not there any more, and
//! pointers of the program that may still lead to it, though there is another block now.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Mutex, PoisonError};

use crate::{maps, threads};

/// Blocks of that many bytes and more are long.
const LONG: usize = 64 << 10;

/// Bytes of memory for which there is one byte in the table.
const GRAIN: usize = 16;

/// Bytes of memory that a piece of the table is about.
const PIECE: usize = 64 << 20;

/// Pieces of the table for all addresses of a process.
const PIECES: usize = 1 << (47 - PIECE.trailing_zeros());

const MARKS: usize = PIECE / GRAIN;

type Marks = [AtomicU8; MARKS];

static TABLE: [AtomicPtr<Marks>; PIECES] = [const { AtomicPtr::new(ptr::null_mut()) }; PIECES];

/// Marks: a block begins there, one did that was given back, and the program has done that.
const BEGINS: u8 = 1;
const FREED: u8 = 2;
const FREED_BY_PROGRAM: u8 = 4;

#[derive(Default)]
struct LongOnes {
    /// By their addresses, their lengths.
    there: BTreeMap<usize, usize>,
    /// Where the program has given blocks back.
    freed: BTreeSet<usize>,
}

/// Most addresses of long blocks that are remembered when they are given back.
const MOST_FREED: usize = 1 << 16;

static LONG_ONES: Mutex<LongOnes> = Mutex::new(LongOnes {
    there: BTreeMap::new(),
    freed: BTreeSet::new(),
});

fn long_ones() -> std::sync::MutexGuard<'static, LongOnes> {
    LONG_ONES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the heap of the process begins that only `malloc` uses; zero as long as that is not known.
static LOWEST: AtomicUsize = AtomicUsize::new(0);

/// Notes that a block begins there. Cost: some nanoseconds for a short one.
pub fn add(block: usize, len: usize) {
    if len >= LONG {
        long_ones().there.insert(block, len);
    } else if let Some(mark) = mark(block, true) {
        mark.fetch_or(BEGINS, Relaxed);
    }
}

/// Notes that no block begins there any more.
pub fn remove(block: usize, len: usize) {
    let is_of_program = !threads::is_calling();
    if len >= LONG {
        let mut all = long_ones();
        let was_there = all.there.remove(&block).is_some();
        if was_there && is_of_program && all.freed.len() < MOST_FREED {
            all.freed.insert(block);
        }
    } else if let Some(mark) = mark(block, false) {
        let by_program = match is_of_program {
            true => FREED_BY_PROGRAM,
            false => 0,
        };
        let was = mark.load(Relaxed);
        // What was never noted is the tool's own.
        if was & BEGINS != 0 {
            mark.store((was & !BEGINS) | FREED | by_program, Relaxed);
        }
    }
}

/// Whether a pointer to that address may have been one to a block that the program has given back,
/// so that it says nothing of what is there now.
pub fn may_be_stale(at: usize) -> bool {
    let is_short = at.is_multiple_of(GRAIN)
        && mark(at, false).is_some_and(|it| it.load(Relaxed) & FREED_BY_PROGRAM != 0);
    is_short || long_ones().freed.contains(&at)
}

/// Whether a block began at that address that was given back, and nothing else is there now. Other
/// memory than that of the process's own heap may serve others.
pub fn is_gone(at: usize) -> bool {
    let is_freed = at.is_multiple_of(GRAIN)
        && mark(at, false).is_some_and(|it| it.load(Relaxed) & (BEGINS | FREED) == FREED);
    is_freed && in_heap(at) && find(at).is_none()
}

/// Whether an address lies in the heap that grows and shrinks as a whole.
fn in_heap(at: usize) -> bool {
    // SAFETY: it only tells where the heap ends.
    let end = unsafe { libc::sbrk(0) }.addr();
    if at >= end {
        return false;
    }
    let lowest = match LOWEST.load(Relaxed) {
        0 => {
            let begin = maps::heap().unwrap_or(usize::MAX);
            LOWEST.store(begin, Relaxed);
            begin
        }
        known => known,
    };
    at >= lowest
}

/// The block that an address lies in: where it begins, and its length. Cost: some hundred
/// nanoseconds for what lies in no block.
pub fn find(at: usize) -> Option<(usize, usize)> {
    find_long(at).or_else(|| find_short(at))
}

fn find_long(at: usize) -> Option<(usize, usize)> {
    let all = long_ones();
    let (&begin, &len) = all.there.range(..=at).next_back()?;
    (at < begin + len).then_some((begin, len))
}

fn find_short(at: usize) -> Option<(usize, usize)> {
    let mut begin = at & !(GRAIN - 1);
    let lowest = begin.saturating_sub(LONG);
    while mark(begin, false)?.load(Relaxed) & BEGINS == 0 {
        begin = begin.checked_sub(GRAIN).filter(|&it| it >= lowest)?;
    }
    // SAFETY: a block begins there, unless another thread gives it back just now, which would be
    // the program's fault, as it is in use.
    let len = unsafe { libc::malloc_usable_size(begin as *mut _) };
    (at < begin + len).then_some((begin, len))
}

fn mark(block: usize, make: bool) -> Option<&'static AtomicU8> {
    let piece = TABLE.get(block / PIECE)?;
    let mut marks = piece.load(Acquire);
    if marks.is_null() {
        if !make {
            return None;
        }
        marks = map(piece)?;
    }
    // SAFETY: a piece stays mapped.
    let marks = unsafe { &*marks };
    Some(&marks[block % PIECE / GRAIN])
}

#[cold]
fn map(piece: &AtomicPtr<Marks>) -> Option<*mut Marks> {
    // SAFETY: new memory, all zeros.
    let new = unsafe {
        libc::mmap(
            ptr::null_mut(),
            size_of::<Marks>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if new == libc::MAP_FAILED {
        return None;
    }
    let new = new.cast::<Marks>();
    match piece.compare_exchange(ptr::null_mut(), new, Release, Acquire) {
        Ok(_) => Some(new),
        Err(other) => {
            // SAFETY: nobody else knows it.
            unsafe { libc::munmap(new.cast(), size_of::<Marks>()) };
            Some(other)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_addresses_in_them() {
        let block = Box::new([0_u8; 4096]);
        let at = block.as_ptr().addr();
        add(at, 100);
        let (begin, len) = find(at + 99).unwrap();
        assert!(begin == at && len >= 100);
        // Blocks that were given back may have begun at some of its addresses, but not at all.
        let inside = (GRAIN..4096).step_by(GRAIN).map(|offset| at + offset);
        let fresh: Vec<_> = inside.filter(|&at| !may_be_stale(at)).collect();
        remove(at, 100);
        assert_eq!(find(at + 50), None);
        assert!(may_be_stale(at) && !fresh.is_empty());
        assert!(fresh.iter().all(|&at| !may_be_stale(at)));
        assert!(is_gone(at) || !in_heap(at));
        add(at, 100);
        assert!(may_be_stale(at) && !is_gone(at));
        remove(at, 100);

        let long = 0x7000_0000_0000;
        add(long, LONG);
        assert_eq!(find(long + LONG - 1), Some((long, LONG)));
        assert_eq!(find(long + LONG), None);
        remove(long, LONG);
        assert_eq!(find(long), None);
    }
}
