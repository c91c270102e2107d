//! What checked mode has found in the processes of a node: a log in the memory that they share with
//! their launcher, which reads it when the job is over, and which outlives them.
//!
//! It lies behind the areas of the processes, before the last page of the file:
//!
//! | from | bytes | what                                                        |
//! |------|-------|-------------------------------------------------------------|
//! | 0    | 8     | bytes of the log that are taken, its head among them        |
//! | 8    | 8     | findings for which there was no room                        |
//! | 64   |       | findings, each with 4 bytes of its length, 4 that say that it is complete, and its bytes, up to a multiple of 8 |
//!
//! Whoever writes takes room first, so none waits for another one. A process that is killed before
//! it has noted the length hides what comes after it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release};

use crate::area::{Area, NODE_AREAS, OFFSET};

/// Bytes of a log.
const LOG: usize = 1 << 20;

/// Bytes behind it, which somebody else uses.
const BEHIND: u64 = 4 << 10;

/// Where it lies in the file of a node.
const AT: u64 = OFFSET + NODE_AREAS - BEHIND - LOG as u64;

const HEAD: usize = 64;

/// The head of a log.
#[repr(C)]
struct Front {
    taken: AtomicU64,
    missed: AtomicU64,
}

/// The head of a finding.
#[repr(C)]
struct Head {
    len: AtomicU32,
    is_complete: AtomicU32,
}

/// The log of a node, to be written.
#[derive(Debug)]
pub struct Findings(*mut u8);

// SAFETY: it stays, and is used as `add` does: what is shared are atomics.
unsafe impl Send for Findings {}
// SAFETY: as above.
unsafe impl Sync for Findings {}

impl Findings {
    /// That in the file of a node, which has room for areas.
    ///
    /// # Errors
    /// If the file ends before, or memory is short.
    pub fn map(file: BorrowedFd<'_>) -> io::Result<Findings> {
        let fd = file.as_raw_fd();
        // SAFETY: plain numbers. It fails where the file ends before, as that is not to grow.
        let kept = unsafe {
            let flags = libc::FALLOC_FL_KEEP_SIZE;
            libc::fallocate(fd, flags, AT as libc::off_t, HEAD as libc::off_t)
        };
        if kept != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new mapping, nowhere in particular.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), LOG, access, flags, fd, AT as libc::off_t)
        };
        match memory == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Findings(memory.cast())),
        }
    }

    /// Notes one. Any thread of any process of the node may, at any time.
    pub fn add(&self, bytes: &[u8]) {
        // SAFETY: the memory is as long, aligned to pages, and consists of atomics here.
        let front = unsafe { &*self.0.cast::<Front>() };
        let room = size_of::<Head>() + bytes.len().next_multiple_of(8);
        let mut taken = front.taken.load(Relaxed);
        let at = loop {
            let at = (taken as usize).max(HEAD);
            if at.checked_add(room).is_none_or(|end| end > LOG) {
                front.missed.fetch_add(1, Relaxed);
                return;
            }
            let end = (at + room) as u64;
            match front
                .taken
                .compare_exchange_weak(taken, end, Relaxed, Relaxed)
            {
                Ok(_) => break at,
                Err(now) => taken = now,
            }
        };
        // SAFETY: within the memory, and taken by this thread alone. Others look at the atomics
        // only.
        unsafe {
            let head = self.0.add(at).cast::<Head>();
            let whole = ptr::slice_from_raw_parts(head.cast::<u8>(), room);
            if !Area::provide_bytes(whole) {
                front.missed.fetch_add(1, Relaxed);
                return;
            }
            (*head).len.store(bytes.len() as u32, Relaxed);
            ptr::copy_nonoverlapping(bytes.as_ptr(), head.add(1).cast(), bytes.len());
            // Whoever reads does so by a system call, and sees the bytes before the mark.
            (*head).is_complete.store(1, Release);
        }
    }
}

/// What stands in the log of a node's file, and how many findings have found no room there. Nothing
/// of it is believed: whatever stands there, it is read within bounds.
///
/// # Errors
/// If the file cannot be read.
pub fn read_findings(file: &File) -> io::Result<(Vec<Vec<u8>>, u64)> {
    let mut head = [0; 16];
    if file.read_at(&mut head, AT)? < head.len() {
        return Ok((Vec::new(), 0));
    }
    let (taken, missed) = taken(head);
    let mut bytes = vec![0; taken.saturating_sub(HEAD)];
    file.read_exact_at(&mut bytes, AT + HEAD as u64)?;
    Ok((findings(&bytes), missed))
}

/// How many bytes of a log are taken by its head, at most all, and how many findings have found no
/// room.
fn taken(head: [u8; 16]) -> (usize, u64) {
    let number = |at: usize| head[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
    (number(0).min(LOG as u64) as usize, number(8))
}

/// The findings that are complete, of what stands behind the head of a log.
fn findings(bytes: &[u8]) -> Vec<Vec<u8>> {
    let word = |at: usize| {
        let bytes = bytes.get(at..at + 4)?;
        bytes.try_into().ok().map(u32::from_ne_bytes)
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while let (Some(len @ 1..), Some(is_complete)) = (word(at), word(at + 4)) {
        let from = at + size_of::<Head>();
        let Some(one) = bytes.get(from..from + len as usize) else {
            break;
        };
        if is_complete == 1 {
            found.push(one.to_vec());
        }
        at = from + (len as usize).next_multiple_of(8);
    }
    found
}

/// Any bytes as a log with its head, for fuzzing: what is found lies within them, piece by piece.
#[cfg(any(test, fuzzing))]
pub fn fuzz(data: &[u8]) {
    let Some((head, bytes)) = data.split_first_chunk() else {
        return;
    };
    let (taken, _) = taken(*head);
    let bytes = &bytes[..bytes.len().min(taken.saturating_sub(HEAD))];
    let found = findings(bytes);
    assert!(found.iter().all(|it| !it.is_empty()));
    let room = |it: &Vec<u8>| size_of::<Head>() + it.len();
    assert!(found.iter().map(room).sum::<usize>() <= bytes.len());
}

/// A text as JSON has it, in its marks.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if (c as u32) < 0x20 => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, FromRawFd};

    use super::*;

    fn node() -> File {
        // SAFETY: a string that ends; the descriptor is new.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(c"node".as_ptr(), 0)) };
        file.set_len(OFFSET + NODE_AREAS).unwrap();
        file
    }

    #[test]
    fn what_several_note_is_read() {
        let file = node();
        assert_eq!(read_findings(&file).unwrap(), (Vec::new(), 0));
        std::thread::scope(|scope| {
            for who in 0..4_u8 {
                let log = Findings::map(file.as_fd()).unwrap();
                scope.spawn(move || (1..=50).for_each(|len| log.add(&vec![who; len])));
            }
        });
        let (found, missed) = read_findings(&file).unwrap();
        assert_eq!(missed, 0);
        for who in 0..4 {
            let of = found.iter().filter(|it| it[0] == who).map(Vec::len);
            assert_eq!(of.collect::<Vec<_>>(), (1..=50).collect::<Vec<_>>());
        }
        assert!(found.iter().all(|it| it.iter().all(|&byte| byte == it[0])));
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let file = node();
        let log = Findings::map(file.as_fd()).unwrap();
        log.add(&[7; 10]);
        log.add(&vec![8; LOG]);
        log.add(&vec![9; LOG - 300]);
        log.add(&[7; 300]);
        let (found, missed) = read_findings(&file).unwrap();
        assert_eq!((found.len(), missed), (2, 2));
    }

    #[test]
    fn whatever_stands_there_it_comes_to_an_end() {
        let file = node();
        file.write_all_at(&[0xff; 4096], AT).unwrap();
        let (found, _) = read_findings(&file).unwrap();
        assert!(found.is_empty());
        file.set_len(OFFSET).unwrap();
        assert_eq!(read_findings(&file).unwrap(), (Vec::new(), 0));
    }

    #[test]
    fn texts_of_json_have_no_bare_marks() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }
}
