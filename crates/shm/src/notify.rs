//! The launcher's way to wake processes that it has told something.
//!
//! A process that waits watches its doorbell and its rings, not its socket to the launcher.
//! So the launcher counts what it tells a process in the process's block, and rings: the
//! loops that look for new rings look at that count too, and at nothing else.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::fence;

use crate::addr::{Block, Front, PAGE};

/// The blocks of the processes of a job on this node, for who is none of them.
#[derive(Debug)]
pub struct Notifier {
    base: *mut u8,
    size: usize,
    ranks: u32,
}

// SAFETY: the pointer leads into the mapping, which belongs to this value and is the same
// for all threads.
unsafe impl Send for Notifier {}

impl Notifier {
    /// Maps the blocks of a segment that `ranks` processes share, attached or not. It has
    /// its full size already.
    ///
    /// # Errors
    /// If the segment is too short, or cannot be mapped.
    pub fn open(fd: OwnedFd, ranks: u32) -> io::Result<Notifier> {
        let file = File::from(fd);
        let size = (PAGE + ranks as usize * size_of::<Block>()).next_multiple_of(PAGE);
        if file.metadata()?.len() < size as u64 {
            return Err(io::Error::other("the segment is too short"));
        }
        // SAFETY: a new mapping, nowhere in particular.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Notifier {
            base: base.cast(),
            size,
            ranks,
        })
    }

    /// Has the process with that number look at what the launcher has told it; nothing
    /// happens if there is none. To be called once it is told.
    pub fn notify(&self, number: u32) {
        let Some(block) = self.block(number) else {
            return;
        };
        block.who.notices.fetch_add(1, Relaxed);
        block.epoch.fetch_add(1, Release);
        // This process has not registered for the sleeper's barrier.
        fence(SeqCst);
        block.bell.ring();
    }

    /// Says to the processes that the launcher asks for [`Notifier::parted`] whenever it matters.
    pub fn heed_parting(&self) {
        // SAFETY: the segment begins with it; it consists of atomics.
        let front = unsafe { &*self.base.cast::<Front>() };
        front.heeds_parting.store(1, Release);
    }

    /// The jobs that the process with that number has parted from without a message; it may be
    /// dead.
    pub fn parted(&self, number: u32) -> impl Iterator<Item = u64> + '_ {
        let words = self.block(number).into_iter();
        let words = words.flat_map(|block| &block.who.parted);
        words.map(|word| word.load(Acquire)).filter(|job| *job != 0)
    }

    fn block(&self, number: u32) -> Option<&Block> {
        let at = PAGE + number as usize * size_of::<Block>();
        // SAFETY: inside the mapping, aligned; it consists of atomics.
        (number < self.ranks).then(|| unsafe { &*self.base.add(at).cast::<Block>() })
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        // SAFETY: our mapping; nobody uses it any more.
        unsafe { libc::munmap(self.base.cast(), self.size) };
    }
}
