//! The side of who looks at an area, while its process goes on, hangs, or is no more. It is read as
//! a file is: what nobody has written takes no memory. Nothing there is believed: whatever stands
//! in it, a reader reads within bounds and comes to an end.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::area::{
    AREA, ENTRIES, Front, HELPERS, MARK, NOTICES_AT, Phase, RINGS, RINGS_AT, Ring, Who, at,
};
use crate::counts::{self, COUNTS, Counts};
use crate::record::ARGUMENTS;
use crate::slot::{self, NOTICE, NOTICES};

/// A call that a thread has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the function.
    pub function: u16,
    /// Those of its arguments that are kept, and words that mean nothing behind them.
    pub arguments: [u32; ARGUMENTS],
}

/// A thread, as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, as the kernel counts.
    pub thread: u32,
    /// How many calls it has made.
    pub calls: u64,
    /// The last of them, the oldest first.
    pub entries: Vec<Entry>,
}

/// A look at an area.
#[derive(Debug)]
pub struct View<'f> {
    file: &'f File,
    at: u64,
    front: [u8; size_of::<Front>()],
}

impl<'f> View<'f> {
    /// A look at the area at a place of a node's file; `None` if no process has begun to use it, or
    /// one of another version has.
    ///
    /// # Errors
    /// If the file ends before, or cannot be read.
    pub fn open(file: &'f File, place: u32) -> io::Result<Option<View<'f>>> {
        let at = at(place)?;
        let mut front = [0; size_of::<Front>()];
        file.read_exact_at(&mut front, at)?;
        let view = View { file, at, front };
        let mark = u64::from(view.word(0)) | u64::from(view.word(4)) << 32;
        Ok((mark == MARK).then_some(view))
    }

    /// Whether the first process of a node's file is of another version, whose area means something
    /// else than what is read here.
    ///
    /// # Errors
    /// If the file ends before, or cannot be read.
    pub fn is_of_another_version(file: &File) -> io::Result<bool> {
        let mut mark = [0; 8];
        file.read_exact_at(&mut mark, at(0)?)?;
        let mark = u64::from_ne_bytes(mark);
        Ok(mark != MARK && mark >> 16 == MARK >> 16)
    }

    /// What is at a place of the area now.
    pub(crate) fn read_at(&self, to: &mut [u8], at: usize) -> io::Result<()> {
        self.file.read_exact_at(to, self.at + at as u64)
    }

    /// Writes to a place of the area that is provided.
    pub(crate) fn write_at(&self, bytes: &[u8], at: usize) -> io::Result<()> {
        self.file.write_all_at(bytes, self.at + at as u64)
    }

    fn word(&self, at: usize) -> u32 {
        self.front[at..at + 4]
            .try_into()
            .map_or(0, u32::from_ne_bytes)
    }

    /// Who the process is, by its own word.
    pub fn who(&self) -> Who {
        use std::mem::offset_of;
        let long = |at: usize| u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32;
        Who {
            job: long(offset_of!(Front, job)),
            rank: self.word(offset_of!(Front, rank)),
            ranks: self.word(offset_of!(Front, ranks)),
            pid: self.word(offset_of!(Front, pid)),
            space: long(offset_of!(Front, space)),
        }
    }

    /// How far it has come, by its own word.
    pub fn phase(&self) -> Phase {
        Phase::read(self.word(std::mem::offset_of!(Front, phase)))
    }

    /// Whether several threads of it may be in the library at once, by its own word.
    pub fn is_threaded(&self) -> bool {
        self.word(std::mem::offset_of!(Front, threaded)) != 0
    }

    /// Threads of libraries that MPI stands upon, such as that of a PMIx library.
    pub fn helpers(&self) -> impl Iterator<Item = u32> {
        let at = std::mem::offset_of!(Front, helpers);
        let all = (0..HELPERS).map(move |number| self.word(at + 4 * number));
        all.filter(|&thread| thread != 0)
    }

    /// Whether one of its threads is in a function of the program that the library has called.
    pub fn is_in_program(&self) -> bool {
        self.word(std::mem::offset_of!(Front, in_program)) != 0
    }

    /// Whether a thread says what it waits for. Costs nothing.
    pub fn has_notices(&self) -> bool {
        self.word(std::mem::offset_of!(Front, told)) != 0
    }

    /// The threads that have called anything and have not ended, with their last `most` calls.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn threads(&self, most: usize) -> io::Result<Vec<Thread>> {
        let taken = self.word(std::mem::offset_of!(Front, taken));
        let threads = std::mem::offset_of!(Front, threads);
        let numbers = (0..RINGS).filter(|number| taken & 1 << number != 0);
        numbers
            .map(|number| self.thread(number, self.word(threads + 4 * number), most))
            .collect()
    }

    fn thread(&self, number: usize, thread: u32, most: usize) -> io::Result<Thread> {
        let at = self.at + (RINGS_AT + number * size_of::<Ring>()) as u64;
        let written = || -> io::Result<u64> {
            let mut bytes = [0; 8];
            self.file
                .read_exact_at(&mut bytes, at + std::mem::offset_of!(Ring, written) as u64)?;
            Ok(u64::from_ne_bytes(bytes))
        };
        let before = written()?;
        let mut bytes = vec![0; if most == 0 { 0 } else { 16 * ENTRIES }];
        let entries_at = at + std::mem::offset_of!(Ring, entries) as u64;
        self.file.read_exact_at(&mut bytes, entries_at)?;
        let after = written()?;
        // What may have been written over meanwhile, the one that is being written now among them,
        // does not count.
        let first = after.saturating_sub(ENTRIES as u64 - 1);
        let first = first.max(before.saturating_sub(most.min(ENTRIES) as u64));
        let entries = (first.min(before)..before).filter_map(|number| {
            let at = 16 * (number as usize % ENTRIES);
            entry(bytes.get(at..at + 16)?)
        });
        Ok(Thread {
            thread,
            calls: before,
            entries: entries.collect(),
        })
    }

    /// What it has counted, as it told last; `None` if it has not yet, or tells it just now.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn counts(&self) -> io::Result<Option<Counts>> {
        let (mut before, mut after) = ([0; COUNTS], [0; COUNTS]);
        for _ in 0..4 {
            let at = std::mem::offset_of!(Front, counts);
            self.read_at(&mut before, at)?;
            self.read_at(&mut after, at)?;
            if before == after {
                break;
            }
        }
        Ok(counts::read(&before, &after))
    }

    /// What threads wait for: the number of each, and its notice; `None` in place of one that is
    /// being written.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn notices(&self) -> io::Result<Vec<(u32, Option<Vec<u8>>)>> {
        let mut found = Vec::new();
        let (mut before, mut after) = ([0; NOTICE], [0; NOTICE]);
        for number in 0..NOTICES {
            let at = self.at + (NOTICES_AT + number * NOTICE) as u64;
            self.file.read_exact_at(&mut before[..16], at)?;
            // Nobody has it.
            if before[8..16].iter().all(|&byte| byte == 0) {
                continue;
            }
            for _ in 0..4 {
                self.file.read_exact_at(&mut before, at)?;
                self.file.read_exact_at(&mut after, at)?;
                if before == after {
                    break;
                }
            }
            found.extend(slot::read(&before, &after));
        }
        Ok(found)
    }
}

/// The meaning of the bytes of an entry; `None` if they have none.
fn entry(bytes: &[u8]) -> Option<Entry> {
    let word = |at: usize| bytes[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
    Some(Entry {
        function: (word(0) as u16).checked_sub(1)?,
        arguments: [word(4), word(8), word(12)],
    })
}

const _: () = assert!(RINGS <= 32 && AREA <= u32::MAX as usize);

#[cfg(test)]
mod tests;
