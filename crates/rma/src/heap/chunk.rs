//! Chunks, and where their bytes lie.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::{Arc, OnceLock};

use catena_fabric::Kind;
use catena_shm::Arena;
use rustix::fs::{self, FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::retry_on_intr;

use crate::pool::Pool;

/// In front of the pieces: the stamp.
pub(super) const FRONT: usize = 4096;
/// Smallest unit of memory that the kernel hands out.
pub(super) const PAGE: usize = 4096;
/// What a piece is aligned to at least: two processors write no line of each other.
pub(super) const LINE: usize = 64;
/// The segment of the job, once somebody has asked for chunks that are kept; `None` if there is
/// none.
pub(super) static ARENA: OnceLock<Option<Arc<Arena>>> = OnceLock::new();

/// The segment of the job, if there is one and it is known.
pub(super) fn arena() -> Option<Arc<Arena>> {
    ARENA.get().cloned().flatten()
}

/// How a neighbour finds a piece. Plain words, to be sent to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The process that owns the chunk, or the number of the segment that it lies in; 0 for a piece
    /// that is in none.
    pub pid: u64,
    /// Its descriptor there, or [`Card::IN_SEGMENT`].
    pub fd: u64,
    /// What the chunk begins with; no other one does. In the segment of the job it is where the
    /// chunk lies.
    pub stamp: u64,
    /// Bytes of the chunk.
    pub len: u64,
    /// Where in it the piece lies.
    pub at: u64,
}

impl Card {
    /// In place of a descriptor: the chunk lies in the segment of the job.
    pub const IN_SEGMENT: u64 = u64::MAX;
    /// In place of a descriptor: no neighbour finds it.
    pub(super) const NOWHERE: u64 = u64::MAX - 1;
    /// Words of a card.
    pub const WORDS: usize = 5;
    /// That of a piece that nobody can map.
    pub const NONE: Card = Card {
        pid: 0,
        fd: 0,
        stamp: 0,
        len: 0,
        at: 0,
    };

    /// In place of a descriptor: the piece is on a device; `at` is the number of its kind of
    /// memory.
    const ON_DEVICE: u64 = u64::MAX - 2;

    /// That of memory on a device, which nobody can map.
    pub fn on_device(kind: Kind) -> Card {
        Card {
            fd: Card::ON_DEVICE,
            at: kind.number().into(),
            ..Card::NONE
        }
    }

    /// The kind of memory that it is of.
    pub fn kind(self) -> Kind {
        match (self.pid, self.fd, u8::try_from(self.at)) {
            (0, Card::ON_DEVICE, Ok(kind)) => Kind::from_number(kind).unwrap_or(Kind::Host),
            _ => Kind::Host,
        }
    }

    /// Whether a neighbour finds it by a descriptor.
    pub fn is_file(self) -> bool {
        self.pid != 0 && self.fd < Card::NOWHERE
    }

    /// As words.
    pub fn words(self) -> [u64; Card::WORDS] {
        [self.pid, self.fd, self.stamp, self.len, self.at]
    }

    /// From words.
    pub fn from_words(w: [u64; Card::WORDS]) -> Card {
        let [pid, fd, stamp, len, at] = w;
        Card {
            pid,
            fd,
            stamp,
            len,
            at,
        }
    }
}

/// What keeps the bytes of a chunk.
#[derive(Debug)]
pub(super) enum Store {
    /// A file without a name.
    File(File),
    /// The segment of the job, from this offset on.
    Segment(Arc<Arena>, u64),
    /// Memory of this process that no neighbour finds: the limit on file sizes leaves nothing else.
    Own,
}

impl Store {
    /// Has the kernel provide the pages of a range.
    pub fn commit(&self, at: usize, len: usize) -> io::Result<()> {
        match self {
            Store::File(file) => commit(file, at, len),
            Store::Segment(arena, from) => arena
                .provide(from + at as u64, len)
                .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error)),
            Store::Own => Ok(()),
        }
    }

    /// Gives the whole pages of a range back to the kernel. A wish only.
    pub fn release(&self, at: usize, len: usize) {
        match self {
            Store::File(file) => release(file, at, len),
            Store::Segment(arena, from) => arena.discard(from + at as u64, len),
            Store::Own => {}
        }
    }
}

/// A chunk of this process.
#[derive(Debug)]
pub(super) struct Chunk {
    pub store: Store,
    pub base: usize,
    pub len: usize,
    pub stamp: u64,
    /// `None` if it is one piece.
    pub pool: Option<Pool>,
    /// Where its pages end that the owner has had provided, from its beginning. 0 if whoever uses
    /// them provides them, or if the piece begins further on.
    pub provided: usize,
}

impl Chunk {
    pub fn new(len: usize, stamp: u64, shares: bool) -> io::Result<Chunk> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(fs::memfd_create("catena-window", flags)?);
        file.set_len(len as u64)?;
        // Nobody makes it shorter: touching what is gone would be a signal.
        fs::fcntl_add_seals(&file, SealFlags::SHRINK)?;
        commit(&file, 0, FRONT)?;
        let base = map(&file, len)?;
        // SAFETY: the first bytes of a new mapping.
        unsafe { base.cast::<u64>().write_volatile(stamp) };
        Ok(Chunk {
            store: Store::File(file),
            base: base.expose_provenance(),
            len,
            stamp,
            pool: shares.then(|| Pool::new(len - FRONT, LINE)),
            provided: 0,
        })
    }

    /// One that neighbours find in the segment of the job.
    pub fn in_segment(arena: Arc<Arena>, len: usize, shares: bool) -> io::Result<Chunk> {
        let no_room = || {
            let text = format!(
                "neighbours cannot open each other's descriptors (a container per rank, or a limit \
                 on file sizes), and the job's segment has no room for {len} more bytes"
            );
            io::Error::new(io::ErrorKind::OutOfMemory, text)
        };
        let most = (usize::MAX, usize::MAX);
        let from = arena.reserve(len, most).ok_or_else(no_room)?;
        let base = arena.at(from, len).ok_or_else(no_room)?;
        // It is the program's, and belongs in its core file, unlike the rest of the segment. A wish
        // only. SAFETY: part of a mapping, whose content stays.
        unsafe { libc::madvise(base.cast(), len, libc::MADV_DODUMP) };
        Ok(Chunk {
            store: Store::Segment(arena, from),
            base: base.expose_provenance(),
            len,
            stamp: from,
            pool: shares.then(|| Pool::new(len - FRONT, LINE)),
            provided: 0,
        })
    }
}

impl Chunk {
    /// One that no neighbour finds.
    pub fn own(len: usize, shares: bool) -> io::Result<Chunk> {
        // SAFETY: a new mapping, nowhere in particular.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Chunk {
            store: Store::Own,
            base: base.expose_provenance(),
            len,
            // Unlike that of any file.
            stamp: base.addr() as u64 | 1 << 63,
            pool: shares.then(|| Pool::new(len - FRONT, LINE)),
            provided: 0,
        })
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Store::File(file) = &self.store {
            // A neighbour may have kept the last region mapped.
            release(file, 0, self.len);
        }
        match &self.store {
            // SAFETY: our mapping, of which no piece is in use.
            Store::File(_) | Store::Own => unsafe {
                libc::munmap(ptr::with_exposed_provenance_mut(self.base), self.len);
            },
            Store::Segment(arena, from) => arena.free(*from, self.len),
        }
    }
}

/// Maps a file, readable and writable.
pub(super) fn map(file: &File, len: usize) -> io::Result<*mut u8> {
    // SAFETY: a new mapping, nowhere in particular.
    let base = unsafe {
        libc::mmap(
            ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_NORESERVE,
            file.as_raw_fd(),
            0,
        )
    };
    match base {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        base => Ok(base.cast()),
    }
}

/// Has the kernel provide the pages of a range.
pub(super) fn commit(file: &File, at: usize, len: usize) -> io::Result<()> {
    let (first, last) = (at / PAGE * PAGE, (at + len).next_multiple_of(PAGE));
    let (first, len) = (first as u64, (last - first) as u64);
    let provide = || fs::fallocate(file, FallocateFlags::KEEP_SIZE, first, len);
    Ok(retry_on_intr(provide)?)
}

/// Gives the whole pages of a range back to the kernel. A wish only.
pub(super) fn release(file: &File, at: usize, len: usize) {
    let (first, last) = (at.next_multiple_of(PAGE), (at + len) / PAGE * PAGE);
    if first < last {
        let how = FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE;
        let _ = fs::fallocate(file, how, first as u64, (last - first) as u64);
    }
}
