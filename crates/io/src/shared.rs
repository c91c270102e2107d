//! What the members of a file share, as one of them has it, and the shared file pointer in it.
//!
//! The pointer is a word of what the members share, plus a *bias* that each has for itself. An
//! ordered call adds to the bias what all members together read or write, which all of them know,
//! so none has to write the word. A view that is set turns to the other word, which has been zero
//! since nobody used it any more.

use std::cell::Cell;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

use catena_core::Process;
use catena_core::comm::Comm;
use catena_objects::error::{Error, Kind, Result};

use crate::agent::{self, Claimed, Remote};
use crate::agree;
use crate::call::CollectiveCall;
use crate::common::{Common, Span};
use crate::nodes::Nodes;

/// Where what the members share lies.
#[derive(Debug)]
enum Memory {
    /// In memory of this process alone.
    Own,
    /// In the segment of the node.
    Segment {
        /// Whether this process gives it back.
        is_own: bool,
    },
    /// With the lowest member, which the others ask: they do not all map it.
    Kept(Remote),
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

// SAFETY: what is shared is reached by atomics alone; the cells are touched under the library's
// lock.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Makes it for the members of a new file; also, on which nodes they are, unless they see that
    /// in different ways. Collective.
    ///
    /// # Errors
    /// `NoMem`, at all members alike.
    pub(crate) fn open(
        process: &Process,
        comm: &Arc<Comm>,
    ) -> Result<(Arc<Shared>, Option<Nodes>)> {
        if comm.size() == 1 {
            let common = Box::<Common>::new_uninit();
            let at = Box::into_raw(common).cast::<Common>();
            // SAFETY: it has just been made.
            unsafe { Common::init(at.cast()) };
            return Ok((Arc::new(Shared::new(at, Memory::Own)), Nodes::new(&[0])));
        }
        let mut members = comm.group.members();
        let lowest = members.position(|it| process.link(|link| link.net().shares_segment(it)));
        let lowest = lowest.unwrap_or(comm.rank as usize);
        let is_near = lowest == 0;
        let made = (comm.rank == 0).then(|| make(process)).flatten();
        let is_near = is_near && (comm.rank != 0 || made.is_some());
        let words = [
            u64::from(is_near),
            made.unwrap_or(0),
            lowest as u64,
            process_space(),
        ];
        let ((), rows) = agree::agree(process, comm, Ok(()), words)?;
        let lowest: Vec<u32> = rows.iter().map(|row| row[2] as u32).collect();
        let nodes = Nodes::new(&lowest);
        // In a container for each of them members cannot see who of them is alive, by which claims
        // of the dead are told.
        let is_apart = rows.iter().any(|row| row[3] != rows[0][3]);
        if is_apart || rows.iter().any(|row| row[0] == 0) {
            return Ok((Self::open_kept(process, comm, made)?, nodes));
        }
        let at = process.link(|link| {
            let shm = link.net().shm();
            shm.and_then(|shm| shm.region(rows[0][1], Common::BYTES))
        });
        // Members that map the segment map all of it: it is there for all of them, or for none.
        let at = at.ok_or_else(no_memory)?;
        let is_own = comm.rank == 0;
        let shared = Shared::new(at.cast(), Memory::Segment { is_own });
        Ok((Arc::new(shared), nodes))
    }

    /// Where members do not all map memory of the lowest, that one keeps it.
    fn open_kept(process: &Process, comm: &Arc<Comm>, unused: Option<u64>) -> Result<Arc<Shared>> {
        agent::listen(process);
        let mut file = 0;
        if comm.rank == 0 {
            file = agent::keep();
            process.link(|link| {
                let shm = link.net().shm().zip(unused);
                let at = shm.and_then(|(shm, offset)| shm.region(offset, Common::BYTES));
                if let Some(at) = at {
                    link.net().free(at, Common::BYTES);
                }
            });
        }
        let (_, rows) = agree::agree(process, comm, Ok(()), [u64::from(file)])?;
        let owner = comm.group.members().next().expect("a member");
        let remote = Remote::new(owner, rows[0][0] as u32);
        Ok(Arc::new(Shared::new(
            std::ptr::null(),
            Memory::Kept(remote),
        )))
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
        match &self.memory {
            // SAFETY: it was made by `open`, and the file is closed.
            Memory::Own => drop(unsafe { Box::from_raw(at) }),
            Memory::Segment { is_own: true } => {
                process.link(|link| link.net().free(at.cast(), Common::BYTES));
            }
            Memory::Segment { is_own: false } => {}
            Memory::Kept(remote) => remote.close(process),
        }
    }

    /// The pointer of a new file is there, as all members say alike.
    pub(crate) fn begin_at(&self, place: u64) {
        self.bias.set(place);
    }

    /// The pointer, moved by `bytes`; where it was.
    ///
    /// # Errors
    /// `ProcAborted` if the member that keeps it is gone.
    pub(crate) fn take(&self, process: &Process, bytes: u64) -> Result<u64> {
        let at = self.word.get();
        let old = match &self.memory {
            Memory::Kept(remote) => remote.take(process, at, bytes)?,
            _ => self.common().pointer[at].fetch_add(bytes, AcqRel),
        };
        Ok(old.wrapping_add(self.bias.get()))
    }

    /// Where the pointer is.
    ///
    /// # Errors
    /// As [`Shared::take`].
    pub(crate) fn place(&self, process: &Process) -> Result<u64> {
        self.take(process, 0)
    }

    /// Moves the pointer: by one member for all.
    ///
    /// # Errors
    /// As [`Shared::take`].
    pub(crate) fn set(&self, process: &Process, place: u64) -> Result<()> {
        let (at, value) = (self.word.get(), place.wrapping_sub(self.bias.get()));
        match &self.memory {
            Memory::Kept(remote) => remote.set(process, at, value).map(drop),
            _ => {
                self.common().pointer[at].store(value, Release);
                Ok(())
            }
        }
    }

    /// Moves the pointer back by `bytes` if it is at `end`, where a call has left it that has moved
    /// nothing.
    ///
    /// # Errors
    /// As [`Shared::take`].
    pub(crate) fn put_back(&self, process: &Process, end: u64, bytes: u64) -> Result<()> {
        let (at, end) = (self.word.get(), end.wrapping_sub(self.bias.get()));
        match &self.memory {
            Memory::Kept(remote) => remote.put_back(process, at, end, bytes).map(drop),
            _ => {
                let pointer = &self.common().pointer[at];
                // Somebody may have moved it.
                let _ = pointer.compare_exchange(end, end.wrapping_sub(bytes), AcqRel, Relaxed);
                Ok(())
            }
        }
    }

    /// All members move the pointer by as much, which they know alike.
    pub(crate) fn move_together(&self, bytes: u64) {
        self.bias.set(self.bias.get().wrapping_add(bytes));
    }

    /// The pointer goes to the beginning. All members have arrived, and all call it.
    ///
    /// # Errors
    /// As [`Shared::take`].
    pub(crate) fn reset(&self, process: &Process, is_lowest: bool) -> Result<()> {
        self.bias.set(0);
        if is_lowest {
            // Nobody looks at it again before the next view, to which this member comes, too.
            self.set(process, 0)?;
        }
        self.word.set(1 - self.word.get());
        Ok(())
    }

    /// From now on until the file is closed, members that wait for the right to bytes wait for no
    /// call of the program: this process answers, and gives back what it had, also while the
    /// program computes. For the file's members `comm`.
    pub(crate) fn serve_always(&self, process: &Process, comm: &Comm) {
        if let Memory::Kept(remote) = &self.memory {
            remote.serve_always(process, comm);
        }
    }

    /// The right to bytes, from the member that keeps what is shared; `None` if all members map it,
    /// and a thread may wait for it by itself.
    ///
    /// # Errors
    /// As [`Shared::take`].
    pub(crate) fn claim_kept(&self, process: &Process, span: Span) -> Result<Option<Claimed>> {
        match &self.memory {
            Memory::Kept(remote) => remote.claim(process, span).map(Some),
            _ => Ok(None),
        }
    }

    /// The right to bytes in a collective call, from the member that keeps what is shared; `None`
    /// if all members map it.
    ///
    /// # Errors
    /// As [`Shared::take`].
    pub(crate) async fn claim_in(
        &self,
        crew: &CollectiveCall,
        span: Span,
    ) -> Result<Option<Claimed>> {
        match &self.memory {
            Memory::Kept(remote) => remote.claim_in(crew, span).await.map(Some),
            _ => Ok(None),
        }
    }
}

/// Names the space of process ids that this process sees; 0 where that cannot be told.
fn process_space() -> u64 {
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |space| space.ino())
}

/// Takes memory of the segment, if there is some; its offset.
fn make(process: &Process) -> Option<u64> {
    process.link(|link| {
        let shm = link.net().shm_mut()?;
        let offset = shm.region_alloc(Common::BYTES, usize::MAX)?;
        let at = shm.region(offset, Common::BYTES)?;
        // SAFETY: a region is aligned to 256 bytes, and nobody else knows it yet.
        unsafe { Common::init(at) };
        Some(offset)
    })
}

#[cold]
fn no_memory() -> Error {
    let text = "there is no shared memory for a file's shared pointer";
    Error::new(Kind::NoMem, text)
}
