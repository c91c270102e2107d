//! Memory that is named by its address alone, such as that of a window: its kind, and copies of its
//! runs where it is not the host's.

use catena_memory::{self as memory, Copy, Direction, Kind, Rows};

use crate::buffer::Batch;

/// Whether there may be memory that is not the host's.
pub fn may_be_on_devices() -> bool {
    memory::may_have_devices()
}

/// The kind of memory in which `len` bytes lie now, by the first one: that of a window, say, which
/// stays what it is.
pub fn kind_at(at: *const u8, len: u64) -> Kind {
    match len {
        0 => Kind::Host,
        _ => memory::kind_now(at),
    }
}

/// Packs runs of bytes, each given by its address and length, from memory of `kind` that is not
/// the host's.
///
/// # Safety
/// All of them are valid, and `out` for as many bytes.
pub unsafe fn load_runs(kind: Kind, runs: impl Iterator<Item = (*mut u8, usize)>, out: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { copy_runs(kind, runs, (out, Direction::ToHost)) }
}

/// Unpacks bytes to such runs.
///
/// # Safety
/// As [`load_runs`].
pub unsafe fn store_runs(
    kind: Kind,
    runs: impl Iterator<Item = (*mut u8, usize)>,
    bytes: *const u8,
) {
    // SAFETY: the caller's promise. Nothing is written to the bytes.
    unsafe { copy_runs(kind, runs, (bytes.cast_mut(), Direction::ToDevice)) }
}

/// Copies between runs and packed bytes, by as few copies as their rows allow.
///
/// # Safety
/// As [`load_runs`].
#[cold]
unsafe fn copy_runs(
    kind: Kind,
    runs: impl Iterator<Item = (*mut u8, usize)>,
    (mut packed, direction): (*mut u8, Direction),
) {
    let mut copies = Batch::of(kind);
    let mut copy = |(first, rows): (*mut u8, Rows)| {
        let (to, from) = match direction {
            Direction::ToHost => (packed, first),
            Direction::ToDevice | Direction::Within => (first, packed),
        };
        let copy = Copy {
            to,
            from,
            rows,
            direction,
        };
        // SAFETY: the caller's promise.
        unsafe { copies.begin(copy) };
        packed = packed.wrapping_add(rows.bytes());
    };
    let mut open: Option<(*mut u8, Rows)> = None;
    for (at, len) in runs {
        let joins = |(first, rows): &mut (*mut u8, Rows)| {
            rows.join(at.addr().wrapping_sub(first.addr()) as isize, len)
        };
        if !open.as_mut().is_some_and(joins)
            && let Some(rows) = open.replace((at, Rows::one(len)))
        {
            copy(rows);
        }
    }
    if let Some(rows) = open {
        copy(rows);
    }
    copies.wait();
}
