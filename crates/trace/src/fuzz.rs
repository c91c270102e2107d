//! Targets for fuzzing (`fuzz/` at the root of the repository): each takes any bytes for memory
//! that a process shares with those who look at it. Not a part of the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::fs::File;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

use crate::area::{AREA, OFFSET};
use crate::read::View;

pub use crate::findings::fuzz as findings;

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("trace_area", area), ("trace_findings", findings)];

/// The area of a process: its threads and their calls, what they wait for, and where one is. In
/// front of each piece of it stands the page where it lies.
pub fn area(data: &[u8]) {
    // SAFETY: a string that ends; the descriptor is new.
    let file = unsafe { File::from_raw_fd(libc::memfd_create(c"node".as_ptr(), 0)) };
    file.set_len(OFFSET + AREA as u64).expect("room");
    for piece in data.chunks(4097) {
        let Some((&page, bytes)) = piece.split_first() else {
            continue;
        };
        let at = OFFSET + u64::from(page % 64) * 4096;
        file.write_all_at(bytes, at).expect("room");
    }
    let Ok(Some(view)) = View::open(&file, 0) else {
        return;
    };
    _ = (view.who(), view.phase(), view.helpers().count());
    for most in [0, usize::MAX] {
        for thread in view.threads(most).expect("it is there") {
            assert!(thread.entries.len() <= 128);
        }
    }
    for (_, notice) in view.notices().expect("it is there") {
        assert!(notice.is_none_or(|it| it.len() <= 4096));
    }
    _ = view.signal().expect("it is there");
    _ = view.answer(1).expect("it is there");
    assert!(
        view.counters(1)
            .expect("it is there")
            .is_none_or(|it| it.len() <= 3 * (32 << 10))
    );
}
