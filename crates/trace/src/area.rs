//! Where things lie in the memory of one process. All of it is zero at first, and pages that nobody
//! touches take no memory.
//!
//! | from     | bytes   | what                                         |
//! |----------|---------|----------------------------------------------|
//! | 0        | 4 KiB   | who the process is, [`Front`]                |
//! | 4 KiB    | 60 KiB  | [`NOTICES`](crate::NOTICES) notices of waits |
//! | 64 KiB   | 34 KiB  | [`RINGS`] rings                              |
//! | 128 KiB  | 32 KiB  | what the library has counted                 |
//! | 196 KiB  | 60 KiB  | where a thread is that was asked             |
//!
//! Where memory is short, the first touch of a page of a file ends a process: so whoever is to
//! write there asks for it before ([`Area::provide`]).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release};

use crate::counted::{ANSWERED, COUNTERS_AT, Counters};
use crate::counts::CountsMemory;
use crate::reply::{REPLY_AT, Reply};
use crate::slot::{NOTICE, NOTICES, Slot};

/// Bytes for one process.
pub const AREA: usize = 256 << 10;

/// Where the areas of a node's processes begin in the file that they share, in the order of their
/// ranks.
pub const OFFSET: u64 = 64 << 30;

/// Bytes for all areas of a node, and for what tools keep behind them: see [`PROFILES_AT`]. More
/// processes than have room before that have no area.
pub const NODE_AREAS: u64 = 16 << 30;

/// Where the memory begins in which a profiler counts calls.
pub const PROFILES_AT: u64 = OFFSET + NODE_AREAS - (8 << 30);

/// Where that ends, and the memory begins to which a profiler writes calls one by one.
pub const PROFILES_END: u64 = OFFSET + NODE_AREAS - (4 << 30);

/// Where that ends: what is behind it, checked mode has.
pub const STREAMS_END: u64 = OFFSET + NODE_AREAS - (4 << 20);

/// Threads of a process that have a ring each. Further ones share one that nobody reads.
pub(crate) const RINGS: usize = 16;

/// Threads of libraries that are noted: with more of them it is not known that all wait.
pub(crate) const HELPERS: usize = 8;

/// Entries of a ring.
pub(crate) const ENTRIES: usize = 128;

const PAGE: usize = 4 << 10;
pub(crate) const NOTICES_AT: usize = PAGE;
pub(crate) const RINGS_AT: usize = 64 << 10;

const _: () = assert!(NOTICES_AT + NOTICES * NOTICE <= RINGS_AT);
const _: () = assert!(RINGS_AT + RINGS * size_of::<Ring>() <= 98 << 10);
const _: () = assert!(98 << 10 <= COUNTERS_AT && COUNTERS_AT + size_of::<Counters>() <= REPLY_AT);
const _: () = assert!(REPLY_AT + size_of::<Reply>() <= AREA);
const _: () = assert!(size_of::<Front>() <= NOTICES_AT);

/// What an area begins with once it is in use: a mark, and the version of all that is described
/// here.
pub(crate) const MARK: u64 = 0x4341_5445_4e41_0005;

/// How far a process has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// It has not begun to use MPI.
    Before = 0,
    /// It uses MPI.
    Running = 1,
    /// Its last user of MPI has left; another one may come.
    Left = 2,
}

impl Phase {
    pub(crate) fn read(number: u32) -> Phase {
        match number {
            0 => Phase::Before,
            1 => Phase::Running,
            _ => Phase::Left,
        }
    }
}

/// Who a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// The number of its job.
    pub job: u64,
    /// Its rank there.
    pub rank: u32,
    /// How many ranks that has.
    pub ranks: u32,
    /// The process, as it is counted in its namespace of processes.
    pub pid: u32,
    /// That namespace: see [`space_of`](crate::space_of).
    pub space: u64,
}

/// Who the process is. A reader believes none of it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Front {
    pub mark: AtomicU64,
    pub job: AtomicU64,
    pub rank: AtomicU32,
    pub ranks: AtomicU32,
    pub pid: AtomicU32,
    pub phase: AtomicU32,
    /// Whether several threads may be in the library at once.
    pub threaded: AtomicU32,
    /// How many functions of the program its threads are in that the library has called.
    pub in_program: AtomicU32,
    /// How many notices say something.
    pub told: AtomicU32,
    /// Which rings are taken, a bit each.
    pub taken: AtomicU64,
    /// Thread of each ring, as the kernel counts them.
    pub threads: [AtomicU32; RINGS],
    /// The namespace in which the process has that number.
    pub space: AtomicU64,
    /// Threads of libraries that MPI stands upon; 0 where there are no more.
    pub helpers: [AtomicU32; HELPERS],
    /// The question for what the library has counted that was asked last; 0 if none was. Who asks
    /// writes it.
    pub asked: AtomicU32,
    /// What it has counted.
    pub counts: CountsMemory,
}

/// An entry: see `record`.
pub(crate) type Words = [AtomicU64; 2];

/// The last calls of one thread, which alone writes it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Ring {
    /// How many entries were ever written.
    pub written: AtomicU64,
    pub entries: Lines,
}

/// The entries, from a cache line's beginning on.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Lines(pub [Words; ENTRIES]);

/// The memory of one process.
#[derive(Clone, Copy, Debug)]
pub struct Area(*mut u8);

// SAFETY: it stays, and consists of atomics.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

impl Area {
    /// The area in [`AREA`] bytes of memory, zeroed or used as an area before.
    ///
    /// # Safety
    /// The memory is aligned to 64, can be written if anything is, and stays as long as anybody has
    /// the area. It is used as areas only.
    pub const unsafe fn new(memory: *mut u8) -> Area {
        Area(memory)
    }

    /// The area at a place of a file that the processes of a node share: the number of this process
    /// among them.
    ///
    /// # Errors
    /// If the file ends before, or memory is short.
    pub fn map(file: BorrowedFd<'_>, place: u32) -> io::Result<Area> {
        let at = at(place)? as libc::off_t;
        let fd = file.as_raw_fd();
        if size(fd)? < at + AREA as libc::off_t {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // What is written from the beginning: provided, or an error, and not a signal later.
        for (from, bytes) in [(0, 2 * PAGE), (RINGS_AT, size_of::<Ring>())] {
            // SAFETY: plain numbers. Within the size of the file, or else it fails where growing is
            // forbidden.
            let kept = unsafe {
                let flags = libc::FALLOC_FL_KEEP_SIZE;
                libc::fallocate(fd, flags, at + from as libc::off_t, bytes as libc::off_t)
            };
            if kept != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: a new mapping, nowhere in particular.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), AREA, access, flags, fd, at)
        };
        match memory == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            // SAFETY: of that size, aligned to pages, and never unmapped.
            false => Ok(unsafe { Area::new(memory.cast()) }),
        }
    }

    /// An area in a file of this process alone. As long as that is open, who looks finds it there,
    /// as if it were that of a node.
    ///
    /// # Errors
    /// If files or memory are short.
    pub fn alone() -> io::Result<(Area, File)> {
        // The function of that name came with glibc 2.27.
        let (call, flag) = (libc::SYS_memfd_create, libc::MFD_CLOEXEC);
        // SAFETY: a string that ends, and a flag.
        let fd = unsafe { libc::syscall(call, c"catena".as_ptr(), flag) } as libc::c_int;
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is open, and nobody else's.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let bytes = OFFSET + AREA as u64;
        // A file that grows beyond the limit ends the process.
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: a limit that there is, and a place for it.
        unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
        if limit.rlim_cur < bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        // SAFETY: a plain number.
        if unsafe { libc::ftruncate(fd, bytes as libc::off_t) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((Area::map(file.as_fd(), 0)?, File::from(file)))
    }

    /// Whether a part of it can be written: now its memory is there.
    pub(crate) fn provide<T>(part: &T) -> bool {
        let bytes = size_of::<T>();
        Area::provide_bytes(ptr::slice_from_raw_parts(ptr::from_ref(part).cast(), bytes))
    }

    /// Whether memory of a mapping of this library can be written: now it is there.
    pub(crate) fn provide_bytes(part: *const [u8]) -> bool {
        let begin = part.cast::<libc::c_void>();
        let from = begin.addr() / PAGE * PAGE;
        let end = (begin.addr() + part.len()).next_multiple_of(PAGE);
        let from = begin.with_addr(from);
        // SAFETY: pages of a mapping of this library.
        let done = unsafe {
            let bytes = end - from.addr();
            libc::madvise(from.cast_mut(), bytes, libc::MADV_POPULATE_WRITE)
        };
        // Kernels before 5.14 do not know how.
        done == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
    }

    pub(crate) fn front(&self) -> &Front {
        // SAFETY: as `new` demands; it consists of atomics.
        unsafe { &*self.0.cast() }
    }

    pub(crate) fn ring(&self, number: usize) -> &'static Ring {
        debug_assert!(number < RINGS);
        // SAFETY: as above, for an area stays.
        unsafe { &*self.0.add(RINGS_AT).cast::<Ring>().add(number) }
    }

    pub(crate) fn slot(&self, notice: usize) -> &'static Slot {
        debug_assert!(notice < NOTICES);
        // SAFETY: as above.
        unsafe { &*self.0.add(NOTICES_AT).cast::<Slot>().add(notice) }
    }

    pub(crate) fn reply(&self) -> &'static Reply {
        // SAFETY: as above; it consists of atomics.
        unsafe { &*self.0.add(REPLY_AT).cast::<Reply>() }
    }

    pub(crate) fn counters(&self) -> &'static Counters {
        // SAFETY: as above; it consists of atomics.
        unsafe { &*self.0.add(COUNTERS_AT).cast::<Counters>() }
    }

    pub(crate) fn begin(&self, who: Who) {
        let front = self.front();
        front.taken.store(0, Relaxed);
        front.told.store(0, Relaxed);
        front.in_program.store(0, Relaxed);
        front.job.store(who.job, Relaxed);
        front.rank.store(who.rank, Relaxed);
        front.ranks.store(who.ranks, Relaxed);
        front.pid.store(who.pid, Relaxed);
        front.space.store(who.space, Relaxed);
        front.helpers.iter().for_each(|it| it.store(0, Relaxed));
        // A process that begins has been asked nothing.
        front.asked.store(0, Relaxed);
        ANSWERED.store(0, Relaxed);
        front.counts.clear();
        front.phase.store(Phase::Running as u32, Relaxed);
        front.mark.store(MARK, Release);
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.front().phase.store(phase as u32, Relaxed);
    }
}

/// Where the area of a place begins in the file of a node.
pub(crate) fn at(place: u32) -> io::Result<u64> {
    let at = AREA as u64 * u64::from(place);
    match OFFSET + at + AREA as u64 <= PROFILES_AT {
        true => Ok(OFFSET + at),
        false => Err(io::ErrorKind::QuotaExceeded.into()),
    }
}

/// Bytes of a file.
fn size(fd: libc::c_int) -> io::Result<libc::off_t> {
    // SAFETY: all-zero is a valid one.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a place for what is told.
    match unsafe { libc::fstat(fd, &raw mut about) } {
        0 => Ok(about.st_size),
        _ => Err(io::Error::last_os_error()),
    }
}
