//! The mapping, and memory from the arena.
//!
//! Memory is mapped by the C library, where the caches of network libraries watch
//! for it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{self, FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::retry_on_intr;
use rustix::process::{self, Resource};

use crate::addr::{Block, Front, Layout, PAGE};
use crate::error::ShmError;

/// Makes an empty anonymous segment, which the processes of one node and job
/// then attach to. It needs no size and no content.
///
/// # Errors
/// What the kernel says, usually that there are too many open files.
pub fn create_segment() -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(fs::memfd_create("catena", flags)?)
}

/// Key of memory that only its owner has mapped.
pub(crate) const PRIVATE: u64 = 0;
/// Key of memory of the segment.
pub(crate) const SEGMENT: u64 = 1;

/// Low bits of keys of memory on a device.
pub(crate) const DEVICE: u64 = 2;

/// A mapped segment.
#[derive(Debug)]
pub(crate) struct Segment {
    base: *mut u8,
    pub layout: Layout,
    file: File,
    number: u64,
}

// SAFETY: it owns its mapping, which is the same for all threads.
unsafe impl Send for Segment {}
// SAFETY: as above; it hands out addresses, and references to atomics.
unsafe impl Sync for Segment {}

impl Segment {
    /// Sizes, maps and checks the segment.
    pub fn open(fd: OwnedFd, layout: Layout) -> Result<Segment, ShmError> {
        let file = File::from(fd);
        let size = layout.size;
        if file.metadata().map_err(ShmError::Segment)?.len() < size as u64 {
            check_file_limit(size).map_err(ShmError::Segment)?;
            file.set_len(size as u64).map_err(ShmError::Segment)?;
        }
        forbid_shrinking(&file).map_err(ShmError::Segment)?;
        let segment = Segment::map(file, layout)?;
        segment.commit("the ranks' table", 0, layout.arena_at)?;
        for (fact, value) in segment.front().facts.iter().zip(layout.facts()) {
            fact.store(value, Ordering::Relaxed);
        }
        let ours = layout.stamp();
        match segment
            .front()
            .layout
            .compare_exchange(0, ours, Ordering::AcqRel, Ordering::Acquire)
        {
            Err(theirs) if theirs != ours => Err(ShmError::Layout { ours, theirs }),
            _ => Ok(segment),
        }
    }

    /// Maps the segment of another job, which its processes have laid out.
    ///
    /// # Errors
    /// `Foreign` if none of them has, or not as this version would.
    pub fn join(fd: OwnedFd) -> Result<Segment, ShmError> {
        let file = File::from(fd);
        forbid_shrinking(&file).map_err(ShmError::Segment)?;
        let whole = file.metadata().map_err(ShmError::Segment)?.len();
        let mut front = [0; size_of::<Front>()];
        file.read_exact_at(&mut front, 0)
            .map_err(ShmError::Segment)?;
        let (words, _) = front.as_chunks::<8>();
        let word = |at: usize| u64::from_ne_bytes(words[at]);
        let layout = Layout::from_facts([2, 3, 4, 5].map(word));
        let sound = |it: &Layout| it.stamp() == word(0) && it.size as u64 <= whole;
        let layout = layout.filter(sound).ok_or(ShmError::Foreign)?;
        let segment = Segment::map(file, layout)?;
        segment.commit("another job's table", 0, layout.arena_at)?;
        Ok(segment)
    }

    fn map(file: File, layout: Layout) -> Result<Segment, ShmError> {
        let size = layout.size;
        // SAFETY: a new mapping, nowhere in particular.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(ShmError::Map {
                bytes: size,
                source: io::Error::last_os_error(),
            });
        }
        // A core file tells nothing by rings of more than a GiB. A wish only.
        // SAFETY: the new mapping.
        unsafe { libc::madvise(base, size, libc::MADV_DONTDUMP) };
        let number = file.metadata().map_err(ShmError::Segment)?.ino().max(1);
        Ok(Segment {
            base: base.cast(),
            layout,
            file,
            number,
        })
    }

    /// The number of its file, which no other one on the node has meanwhile.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn front(&self) -> &Front {
        // SAFETY: the segment begins with it; it consists of atomics.
        unsafe { &*self.base.cast() }
    }

    /// What `rank` shows.
    pub fn block(&self, rank: u32) -> &Block {
        // SAFETY: inside the mapping, aligned; it consists of atomics.
        unsafe { &*self.base.add(self.layout.block_at(rank)).cast() }
    }

    /// Where the offset of the ring from `sender` to `receiver` stands.
    pub fn inbox(&self, receiver: u32, sender: u32) -> &AtomicU64 {
        // SAFETY: inside the mapping, aligned; an atomic.
        unsafe { &*self.base.add(self.layout.inbox_at(receiver, sender)).cast() }
    }

    /// Takes zeroed memory from the arena, aligned to 256; its offset.
    pub fn alloc(&self, what: &'static str, bytes: usize) -> Result<u64, ShmError> {
        let offset = self.reserve(bytes)?;
        self.commit(what, offset as usize, bytes)?;
        Ok(offset)
    }

    /// Takes room for a ring, aligned to 256, whose memory [`Segment::extend`] provides; its
    /// offset. There is some for all pairs of ranks; guests beyond that many take what regions
    /// leave.
    pub fn reserve(&self, bytes: usize) -> Result<u64, ShmError> {
        let (from, end) = (self.layout.arena_at, self.layout.regions_at);
        let own = take(&self.front().used, end - from, bytes).map(|at| from as u64 + at);
        own.or_else(|| self.reserve_region(bytes, usize::MAX))
            .ok_or(ShmError::ArenaFull { bytes })
    }

    /// Takes room for a region, aligned to a page, whose memory is to be provided, unless all
    /// regions would take more than `most` bytes then; its offset.
    pub fn reserve_region(&self, bytes: usize, most: usize) -> Option<u64> {
        let room = self.regions_room().min(most);
        let bytes = bytes.checked_next_multiple_of(PAGE)?;
        let at = take(&self.front().regions, room, bytes)?;
        Some(self.layout.regions_at as u64 + at)
    }

    /// Gives the room of a region back, if it was the last that anybody took; whether it was.
    pub fn return_region(&self, offset: u64, bytes: usize) -> bool {
        let from = offset - self.layout.regions_at as u64;
        let end = from + bytes.next_multiple_of(PAGE) as u64;
        let used = &self.front().regions;
        used.compare_exchange(end, from, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Room for all regions, bytes.
    pub fn regions_room(&self) -> usize {
        self.layout.size - self.layout.regions_at
    }

    /// Gives the memory of a part of the arena back to the system, as far as it is whole pages; it
    /// is all zeros afterwards.
    pub fn discard(&self, offset: u64, bytes: usize) {
        let from = (offset as usize).next_multiple_of(PAGE);
        let end = (offset as usize + bytes) / PAGE * PAGE;
        if let Some(at) = self.range(from as u64, end.saturating_sub(from), 1) {
            // SAFETY: nobody uses that part any more, as the caller says. What the kernel keeps is
            // only not given back.
            unsafe { libc::madvise(at.cast(), end.saturating_sub(from), libc::MADV_REMOVE) };
            self.front().discards.fetch_add(1, Ordering::Release);
        }
    }

    /// How often [`Segment::discard`] has given memory back, of whichever process.
    pub fn discards(&self) -> u64 {
        self.front().discards.load(Ordering::Acquire)
    }

    /// The address of `bytes` bytes at `offset`, if they lie in the arena and
    /// are aligned to `align`.
    pub fn range(&self, offset: u64, bytes: usize, align: usize) -> Option<*mut u8> {
        let from = usize::try_from(offset).ok()?;
        let end = from.checked_add(bytes)?;
        let inside = from >= self.layout.arena_at && end <= self.layout.size;
        // SAFETY: inside the mapping.
        (inside && from.is_multiple_of(align)).then(|| unsafe { self.base.add(from) })
    }

    /// The offset of `len` bytes at an address, if they lie in the arena.
    pub fn offset_of(&self, at: *const u8, len: usize) -> Option<u64> {
        let offset = at.addr().checked_sub(self.base.addr())? as u64;
        self.range(offset, len, 1).map(|_| offset)
    }

    /// Like `range`, and makes sure that the memory is there: touching a
    /// hole of the file that cannot be filled would be a SIGBUS.
    pub fn range_present(&self, offset: u64, bytes: usize, align: usize) -> Option<*mut u8> {
        let at = self.range(offset, bytes, align)?;
        self.provide("a peer's ring", at, bytes).ok()?;
        Some(at)
    }

    /// Provides and maps the memory of an area of `size` bytes at `at`, of which `present` bytes
    /// are there already, up to byte `end` at least; returns how many there are now. What is asked
    /// for doubles, so a ring's first message does not wait for the memory of all that follow.
    pub fn extend(
        &self,
        what: &'static str,
        (at, size): (*mut u8, usize),
        (present, end): (usize, usize),
    ) -> Result<usize, ShmError> {
        let extended = end.max(2 * present).next_multiple_of(EXTENT).min(size);
        let (from, bytes) = (at.wrapping_add(present), extended - present);
        self.provide(what, from, bytes)?;
        Ok(extended)
    }

    /// Provides and maps memory that is touched now.
    fn provide(&self, what: &'static str, at: *mut u8, bytes: usize) -> Result<(), ShmError> {
        if map_pages(at, bytes) == Mapped::Done {
            return Ok(());
        }
        self.commit(what, at.addr() - self.base.addr(), bytes)
    }

    /// Has the kernel provide the pages, so that a lack of memory is an error
    /// here and not a signal later.
    pub fn commit(&self, what: &'static str, from: usize, bytes: usize) -> Result<(), ShmError> {
        let (first, last) = (from / PAGE * PAGE, (from + bytes).next_multiple_of(PAGE));
        let (first, len) = (first as u64, (last - first) as u64);
        let provide = || fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, first, len);
        retry_on_intr(provide).map_err(|error| ShmError::Memory {
            what,
            bytes,
            source: error.into(),
        })
    }
}

/// Takes `bytes` bytes, rounded up to 256, of `room` bytes of which `used` are taken; where they
/// begin.
fn take(used: &AtomicU64, room: usize, bytes: usize) -> Option<u64> {
    let need = bytes.checked_next_multiple_of(256)? as u64;
    let end = |now: u64| now.checked_add(need).filter(|end| *end <= room as u64);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end)
        .ok()
}

/// What became of pages that were to be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// They are there.
    Done,
    /// Linux before 5.14 maps each when it is touched first.
    WhenTouched,
    /// There is no memory for them: to touch them is a signal.
    NoMemory,
}

/// Provides and maps the pages of `bytes` bytes of a segment that is attached: otherwise each
/// of them costs a fault at its first use, which takes as long as a message
/// through it.
pub fn map_pages(at: *mut u8, bytes: usize) -> Mapped {
    let from = at.map_addr(|addr| addr / PAGE * PAGE);
    let bytes = bytes + (at.addr() - from.addr());
    // SAFETY: no page's content changes; where none can be, the kernel says so.
    let done = unsafe { libc::madvise(from.cast(), bytes, libc::MADV_POPULATE_WRITE) };
    match done {
        0 => Mapped::Done,
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) => Mapped::WhenTouched,
        _ => Mapped::NoMemory,
    }
}

/// Least memory that is provided at a time, bytes.
const EXTENT: usize = 16 << 10;

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: our mapping; nobody uses it any more.
        unsafe { libc::munmap(self.base.cast(), self.layout.size) };
    }
}

/// Makes sure that nobody makes a file shorter: what is mapped would be gone,
/// and touching it a signal.
fn forbid_shrinking(file: &File) -> io::Result<()> {
    let seals = fs::fcntl_get_seals(file);
    let is_sealed = seals.is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
    if is_sealed || fs::fcntl_add_seals(file, SealFlags::SHRINK).is_ok() {
        return Ok(());
    }
    Err(io::Error::other(
        "others could make it shorter while it is in use",
    ))
}

/// Growing a file past the process's limit is a signal, not an error: look first.
///
/// # Errors
/// What the limit is, and what to do about it.
pub fn check_file_limit(size: usize) -> io::Result<()> {
    let limit = process::getrlimit(Resource::Fsize).current;
    if let Some(limit) = limit.filter(|&limit| limit < size as u64) {
        return Err(io::Error::other(format!(
            "the limit on file sizes is {limit} bytes and {size} are needed (ulimit -f unlimited)"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Geometry;

    #[test]
    fn nobody_can_shrink_what_is_mapped() {
        let layout = || Layout::new(2, Geometry::new(2, 128, 32));
        let fd = create_segment().expect("a file");
        let other = File::from(fd.try_clone().expect("a descriptor"));
        let _mapped = Segment::open(fd, layout()).expect("a segment");
        let refused = other.set_len(0).expect_err("sealed");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        // One that cannot be sealed is not mapped.
        let open = fs::memfd_create("open", MemfdFlags::empty()).expect("a file");
        let error = Segment::open(open, layout()).expect_err("not sealed");
        assert!(error.to_string().contains("shorter"), "{error}");
    }
}
