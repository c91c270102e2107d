//! Records that one thread writes and another process takes: a ring in the memory of a node.
//!
//! | field     | writer     | reader     | rule                                                |
//! |-----------|------------|------------|-----------------------------------------------------|
//! | `written` | the thread | the taker  | Release at W1, Acquire in `take`                    |
//! | `lost`    | the thread | the taker  | a number for users, Relaxed                         |
//! | `taken`   | the taker  | the thread | Release at T1, Acquire in `push`                    |
//! | records   | owner      | owner      | the thread's unless published, the taker's if it is |
//!
//! A thread never waits: records that have no room are counted and forgotten. What the other side
//! has written is not believed: numbers that cannot be are taken for an empty ring. Memory of the
//! file is provided before it is touched, and its size is sealed, so no touch is a signal.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::area::{PROFILES_END, STREAMS_END};

/// What is written at once, or several of it.
pub type Record = [u64; 4];

/// Records that a ring has room for.
pub const RECORDS: usize = 1 << 15;

/// How many rings a node has.
pub const STREAMS: u64 = (STREAMS_END - PROFILES_END) / SIZE as u64;

/// Bytes before the records.
const HEAD: usize = 4 << 10;

/// Bytes of a ring.
const SIZE: usize = HEAD + RECORDS * size_of::<Record>();

/// What a ring begins with; the words of both sides lie in lines of their own.
#[repr(C)]
struct Head {
    writer: WriterWords,
    taken: TakerWord,
}

#[repr(C, align(128))]
struct WriterWords {
    written: AtomicU64,
    lost: AtomicU64,
}

#[repr(C, align(128))]
struct TakerWord(AtomicU64);

const _: () = assert!(size_of::<Head>() <= HEAD && SIZE.is_multiple_of(4096));

/// The mapping of a ring.
#[derive(Debug)]
struct Ring(*mut u8);

// SAFETY: the mapping is this one's alone, stays where it is, and consists of atomics.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring of that number.
    fn map(file: BorrowedFd<'_>, number: u64) -> io::Result<Ring> {
        let at = at(number)?;
        // SAFETY: a new mapping, nowhere in particular.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), SIZE, access, flags, file.as_raw_fd(), at)
        };
        match memory == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Ring(memory.cast())),
        }
    }

    #[inline]
    fn head(&self) -> &Head {
        // SAFETY: the beginning of the mapping; it consists of atomics.
        unsafe { &*self.0.cast() }
    }

    /// The record of a number that counts all of them.
    #[inline]
    fn record(&self, number: u64) -> &[AtomicU64; 4] {
        let at = HEAD + number as usize % RECORDS * size_of::<Record>();
        // SAFETY: within the mapping; it consists of atomics.
        unsafe { &*self.0.add(at).cast() }
    }
}

/// Where the ring of a number begins in the file.
fn at(number: u64) -> io::Result<libc::off_t> {
    match number < STREAMS {
        true => Ok((PROFILES_END + number * SIZE as u64) as libc::off_t),
        false => Err(io::ErrorKind::QuotaExceeded.into()),
    }
}

/// The side of the thread that writes.
#[derive(Debug)]
pub struct StreamWriter {
    ring: Ring,
    written: u64,
    /// Up to which number there was room when that was last looked at.
    limit: u64,
    lost: u64,
}

impl StreamWriter {
    /// The ring of that number of a node's file, empty at first. It stays mapped.
    ///
    /// # Errors
    /// If there is no such ring, or memory is short.
    pub fn map(file: BorrowedFd<'_>, number: u64) -> io::Result<StreamWriter> {
        let at = at(number)?;
        // SAFETY: plain numbers; the file does not grow by it.
        let kept = unsafe {
            let flags = libc::FALLOC_FL_KEEP_SIZE;
            libc::fallocate(file.as_raw_fd(), flags, at, SIZE as libc::off_t)
        };
        if kept != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(StreamWriter {
            ring: Ring::map(file, number)?,
            written: 0,
            limit: RECORDS as u64,
            lost: 0,
        })
    }

    /// Writes records, all of them or, if there is no room, none; whether it did. Records that had
    /// no room are one loss. Cost: some nanoseconds.
    #[inline]
    pub fn push(&mut self, records: &[Record]) -> bool {
        let end = self.written + records.len() as u64;
        if end > self.limit && !self.has_room(end) {
            return false;
        }
        for (number, record) in (self.written..).zip(records) {
            for (to, word) in self.ring.record(number).iter().zip(record) {
                to.store(*word, Relaxed);
            }
        }
        self.written = end;
        // W1: publishes the records; pairs with the Acquire load in `take`.
        self.ring.head().writer.written.store(end, Release);
        true
    }

    #[cold]
    fn has_room(&mut self, end: u64) -> bool {
        // Pairs with T1: what was taken may be written over.
        let taken = self.ring.head().taken.0.load(Acquire).min(self.written);
        self.limit = taken + RECORDS as u64;
        let has_room = end <= self.limit;
        if !has_room {
            self.lost += 1;
            self.ring.head().writer.lost.store(self.lost, Relaxed);
        }
        has_room
    }
}

/// The side of who takes what was written: one for each ring.
#[derive(Debug)]
pub struct StreamReader {
    ring: Ring,
    taken: u64,
}

impl StreamReader {
    /// The ring of that number of a node's file, whose writer has provided its memory.
    ///
    /// # Errors
    /// If there is no such ring, or it cannot be mapped.
    pub fn map(file: &File, number: u64) -> io::Result<StreamReader> {
        let ring = Ring::map(file.as_fd(), number)?;
        let taken = ring.head().taken.0.load(Relaxed);
        Ok(StreamReader { ring, taken })
    }

    /// How many times records had no room.
    pub fn lost(&self) -> u64 {
        self.ring.head().writer.lost.load(Relaxed)
    }

    /// Adds all records that were written since the last time to `to`; gives how many. Cost:
    /// a copy.
    pub fn take(&mut self, to: &mut Vec<Record>) -> usize {
        // Pairs with W1: these records are there.
        let written = self.ring.head().writer.written.load(Acquire);
        let count = written.wrapping_sub(self.taken);
        if count > RECORDS as u64 {
            // The process has written nonsense there.
            self.taken = written;
            self.ring.head().taken.0.store(written, Release);
            return 0;
        }
        to.reserve(count as usize);
        for number in self.taken..written {
            let record = self.ring.record(number);
            to.push(std::array::from_fn(|i| record[i].load(Relaxed)));
        }
        self.taken = written;
        // T1: gives the room back; pairs with the Acquire load in `has_room`.
        self.ring.head().taken.0.store(written, Release);
        count as usize
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        // SAFETY: the mapping that `map` has made, which nobody uses any more.
        unsafe { libc::munmap(self.ring.0.cast(), SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{FromRawFd, OwnedFd};

    fn file() -> File {
        // SAFETY: a string that ends; the descriptor is new.
        let file = unsafe {
            let fd = libc::memfd_create(c"node".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0);
            File::from(OwnedFd::from_raw_fd(fd))
        };
        file.set_len(STREAMS_END).unwrap();
        file
    }

    fn pair() -> (StreamWriter, StreamReader) {
        let file = file();
        let writer = StreamWriter::map(file.as_fd(), 3).unwrap();
        (writer, StreamReader::map(&file, 3).unwrap())
    }

    #[test]
    fn records_come_in_their_order_while_they_are_written() {
        const ALL: u64 = 10 * RECORDS as u64;
        let (mut writer, mut reader) = pair();
        let thread = std::thread::spawn(move || {
            let mut number = 0;
            while number < ALL {
                match writer.push(&[[number, 1, 2, 3], [number + 1, 1, 2, 3]]) {
                    true => number += 2,
                    false => std::thread::yield_now(),
                }
            }
        });
        let mut all = Vec::new();
        while (all.len() as u64) < ALL {
            if reader.take(&mut all) == 0 {
                std::thread::yield_now();
            }
        }
        thread.join().unwrap();
        assert!((0..).zip(&all).all(|(i, it)| *it == [i, 1, 2, 3]));
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let (mut writer, mut reader) = pair();
        let records = vec![[7; 4]; RECORDS - 1];
        assert!(writer.push(&records));
        assert!(!writer.push(&[[8; 4]; 2]));
        assert!(writer.push(&[[9; 4]]), "one has room");
        assert!(!writer.push(&[[8; 4]]));
        assert_eq!(reader.lost(), 2);
        let mut all = Vec::new();
        assert_eq!(reader.take(&mut all), RECORDS);
        assert_eq!(all[RECORDS - 1], [9; 4]);
        assert!(writer.push(&[[8; 4]]));
        assert_eq!((reader.take(&mut all), reader.lost()), (1, 2));
    }

    #[test]
    fn numbers_that_cannot_be_are_an_empty_ring() {
        let (mut writer, mut reader) = pair();
        let mut all = Vec::new();
        reader.ring.head().writer.written.store(u64::MAX, Relaxed);
        assert_eq!(reader.take(&mut all), 0);
        // The taker's word may be wrong as well.
        reader.ring.head().taken.0.store(u64::MAX, Relaxed);
        assert!(writer.push(&vec![[1; 4]; RECORDS]));
        assert!(writer.push(&[[2; 4]]));
        assert!(StreamWriter::map(file().as_fd(), STREAMS).is_err());
    }
}
