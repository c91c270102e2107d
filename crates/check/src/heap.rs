//! Which blocks of memory the program has from `malloc`.
//!
//! Where a block begins, one of two tables says so: for short blocks a byte for each 16 bytes of
//! memory, in pieces that are mapped when they are first needed; for long ones a list by address.
//! How long a block is, the C library says, to within some bytes.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicU8, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Mutex, PoisonError};

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

static LONG_ONES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Notes that a block begins there. Cost: some nanoseconds for a short one.
pub fn add(block: usize, len: usize) {
    if len >= LONG {
        let mut all = LONG_ONES.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(block, len);
    } else if let Some(mark) = mark(block, true) {
        mark.store(1, Relaxed);
    }
}

/// Notes that no block begins there any more.
pub fn remove(block: usize, len: usize) {
    if len >= LONG {
        let mut all = LONG_ONES.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&block);
    } else if let Some(mark) = mark(block, false) {
        mark.store(0, Relaxed);
    }
}

/// The block that an address lies in: where it begins, and its length. Cost: some hundred
/// nanoseconds for what lies in no block.
pub fn find(at: usize) -> Option<(usize, usize)> {
    find_long(at).or_else(|| find_short(at))
}

fn find_long(at: usize) -> Option<(usize, usize)> {
    let all = LONG_ONES.lock().unwrap_or_else(PoisonError::into_inner);
    let (&begin, &len) = all.range(..=at).next_back()?;
    (at < begin + len).then_some((begin, len))
}

fn find_short(at: usize) -> Option<(usize, usize)> {
    let mut begin = at & !(GRAIN - 1);
    let lowest = begin.saturating_sub(LONG);
    while mark(begin, false)?.load(Relaxed) == 0 {
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
        let block = Box::new([0_u8; 100]);
        let at = block.as_ptr().addr();
        add(at, 100);
        let (begin, len) = find(at + 99).unwrap();
        assert!(begin == at && len >= 100);
        remove(at, 100);
        assert_eq!(find(at + 50), None);

        let long = 0x7000_0000_0000;
        add(long, LONG);
        assert_eq!(find(long + LONG - 1), Some((long, LONG)));
        assert_eq!(find(long + LONG), None);
        remove(long, LONG);
        assert_eq!(find(long), None);
    }
}
