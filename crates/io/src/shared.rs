//! What the members of a file share, as one of them has it, and the shared file pointer in it.
//!
//! The pointer is a word of what the members share, plus a *bias* that each has for itself. An ordered call adds
//! to the bias what all members together read or write, which all of them know, so none has to write the word.
//! A view that is set turns to the other word, which has been zero since nobody used it any more.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use catena_core::Process;
use catena_core::comm::Comm;
use catena_objects::error::{Error, Kind, Result};

use crate::agree;
use crate::common::Common;

/// Where what the members share lies.
#[derive(Clone, Copy, Debug)]
enum Memory {
    /// In memory of this process alone.
    Own,
    /// In the segment of the node.
    Segment {
        /// Whether this process gives it back.
        is_own: bool,
    },
}

/// What the members of a file share, as one of them has it.
#[derive(Debug)]
pub(crate) struct Shared {
    at: *const Common,
    memory: Memory,
    /// Which of the two words is the pointer.
    word: Cell<usize>,
    bias: Cell<u64>,
}

// SAFETY: what is shared is reached by atomics alone; the cells are touched under the library's lock.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Makes it for the members of a new file. Collective.
    ///
    /// # Errors
    /// `Unsupported` if members share no memory, `NoMem`; at all members alike.
    pub(crate) fn open(process: &Process, comm: &Arc<Comm>) -> Result<Arc<Shared>> {
        if comm.size() == 1 {
            let common = Box::<Common>::new_uninit();
            let at = Box::into_raw(common).cast::<Common>();
            // SAFETY: it has just been made.
            unsafe { Common::init(at.cast()) };
            return Ok(Arc::new(Shared::new(at, Memory::Own)));
        }
        let own = check_reach(process, comm);
        let offset = own.and_then(|()| match comm.rank {
            0 => make(process),
            _ => Ok(0),
        });
        let word = *offset.as_ref().unwrap_or(&0);
        let (_, rows) = agree::agree(process, comm, offset, [word])?;
        let at = process.link(|link| {
            let shm = link.net().shm();
            shm.and_then(|shm| shm.region(rows[0][0], Common::BYTES))
        });
        let found = at.ok_or_else(no_memory);
        let at = agree::all_well(process, comm, found)?;
        let is_own = comm.rank == 0;
        Ok(Arc::new(Shared::new(at.cast(), Memory::Segment { is_own })))
    }

    fn new(at: *const Common, memory: Memory) -> Self {
        Shared {
            at,
            memory,
            word: Cell::new(0),
            bias: Cell::new(0),
        }
    }

    /// What the members share.
    pub(crate) fn common(&self) -> &Common {
        // SAFETY: it stays until `close`, and holds atomics alone.
        unsafe { &*self.at }
    }

    /// Gives back what this member provides. All members have called `MPI_File_close`.
    pub(crate) fn close(&self, process: &Process) {
        let at = self.at.cast_mut();
        match self.memory {
            // SAFETY: it was made by `open`, and the file is closed.
            Memory::Own => drop(unsafe { Box::from_raw(at) }),
            Memory::Segment { is_own: true } => {
                process.link(|link| link.net().free(at.cast(), Common::BYTES));
            }
            Memory::Segment { is_own: false } => {}
        }
    }

    /// The pointer of a new file is there, as all members say alike.
    pub(crate) fn begin_at(&self, place: u64) {
        self.bias.set(place);
    }

    /// The pointer, moved by `bytes`; where it was.
    pub(crate) fn take(&self, bytes: u64) -> u64 {
        let word = &self.common().pointer[self.word.get()];
        word.fetch_add(bytes, AcqRel).wrapping_add(self.bias.get())
    }

    /// Where the pointer is.
    pub(crate) fn place(&self) -> u64 {
        let word = &self.common().pointer[self.word.get()];
        word.load(Acquire).wrapping_add(self.bias.get())
    }

    /// Moves the pointer: by one member for all.
    pub(crate) fn set(&self, place: u64) {
        let word = &self.common().pointer[self.word.get()];
        word.store(place.wrapping_sub(self.bias.get()), Release);
    }

    /// All members move the pointer by as much, which they know alike.
    pub(crate) fn move_together(&self, bytes: u64) {
        self.bias.set(self.bias.get().wrapping_add(bytes));
    }

    /// The pointer goes to the beginning. All members have arrived, and all call it.
    pub(crate) fn reset(&self, is_lowest: bool) {
        self.bias.set(0);
        let old = self.word.replace(1 - self.word.get());
        if is_lowest {
            // Nobody looks at it again before the next view, to which this member comes, too.
            self.common().pointer[old].store(0, Release);
        }
    }
}

/// Whether all members reach memory of the lowest.
fn check_reach(process: &Process, comm: &Comm) -> Result<()> {
    let lowest = comm.group.members().next().expect("a member");
    let is_far = process.link(|link| !link.net().shares_segment(lowest));
    if is_far {
        let text = format!(
            "rank {} shares no memory with rank 0: Catena's files do not reach over networks yet",
            comm.rank
        );
        return Err(Error::new(Kind::Unsupported, text));
    }
    Ok(())
}

/// Takes memory of the segment; its offset.
fn make(process: &Process) -> Result<u64> {
    process.link(|link| {
        let shm = link.net().shm_mut().ok_or_else(no_memory)?;
        let offset = shm.region_alloc(Common::BYTES, usize::MAX);
        let offset = offset.ok_or_else(no_memory)?;
        let at = shm.region(offset, Common::BYTES).ok_or_else(no_memory)?;
        // SAFETY: a region is aligned to 256 bytes, and nobody else knows it yet.
        unsafe { Common::init(at) };
        Ok(offset)
    })
}

#[cold]
fn no_memory() -> Error {
    let text = "there is no shared memory for a file's shared pointer";
    Error::new(Kind::NoMem, text)
}
