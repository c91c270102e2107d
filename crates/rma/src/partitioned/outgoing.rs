//! The partitions of a sender, as its threads see them: what `MPI_Pready` touches. No lock is taken
//! here.
//!
//! | field                  | written by                                  | read by            |
//! |------------------------|---------------------------------------------|--------------------|
//! | `lane`                 | under the library's lock, once              | anybody            |
//! | `round`, `is_active`   | under the lock: by `MPI_Start`, completion  | anybody, between these |
//! | `partitions`           | anybody                                     | anybody            |
//! | `open_until`, `left`, `logged` | anybody                             | anybody            |
//!
//! The thread that says a partition ready copies it, if the receiver has room for the round; else
//! progress does as soon as it has.

use std::sync::atomic::{
    AtomicBool, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release, Ordering::SeqCst, fence,
};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use catena_base::partitions::{Callers, Partitions};
use catena_base::{PayloadRoom, copy};
use catena_core::buffer::{SendBuf, is_run};
use catena_datatype::TypeRef;
use catena_fabric::Payload;
use catena_link::Source;
use catena_objects::error::{Error, Kind, Result};
use catena_shm::{Bell, Neighbour, Run};

use super::channel::{Channel, DataPath, Shape};
use crate::heap::Mapping;

/// Where the bytes of a message go.
#[derive(Debug)]
pub enum To {
    /// Into the channel's room.
    Channel,
    /// Into the receiver's buffer, which is mapped here.
    Mapped { at: *mut u8, _keep: Arc<Mapping> },
    /// Into the receiver's buffer, by the kernel.
    Kernel { of: Neighbour, at: u64 },
}

/// The way through shared memory.
#[derive(Debug)]
pub struct Lane {
    /// What the ends share.
    pub channel: Channel,
    /// Where the bytes go.
    pub to: To,
    /// The doorbell of the receiver.
    pub bell: Bell,
    /// That of this process, whose threads may wait for the message.
    pub own_bell: Bell,
}

impl Lane {
    fn way(&self) -> DataPath {
        match self.to {
            To::Channel => DataPath::Staged,
            To::Mapped { .. } | To::Kernel { .. } => DataPath::Straight,
        }
    }
}

/// The partitions of a sender.
#[derive(Debug)]
pub struct Outgoing {
    buf: *const u8,
    /// Elements of a partition.
    count: u64,
    ty: TypeRef,
    /// Whether the elements are one run of bytes in host memory.
    is_run: bool,
    shape: Shape,
    partitions: Partitions,
    lane: OnceLock<Lane>,
    is_active: AtomicBool,
    round: AtomicU32,
    open_until: AtomicU32,
    /// Partitions that have left.
    left: AtomicU32,
    /// Entries of the round's log.
    logged: AtomicU32,
    has_failed: AtomicBool,
    failed: Mutex<Option<Error>>,
}

// SAFETY: the buffer is only read, by who has taken a partition of it, and the rest is shared by
// atomics and locks. What `lane` points to lasts as long as the process's transport, or is kept by
// it.
unsafe impl Send for Outgoing {}
// SAFETY: as above.
unsafe impl Sync for Outgoing {}

/// The error of a partition that is ready twice.
#[cold]
pub fn ready_already(partition: u32) -> Error {
    Error::new(Kind::Arg, format!("partition {partition} is ready already"))
}

impl Outgoing {
    /// The partitions at `buf`, each of `count` elements.
    pub fn new(buf: *const u8, count: u64, ty: &TypeRef, shape: Shape) -> Outgoing {
        let all = count * u64::from(shape.partitions);
        Outgoing {
            buf,
            count,
            ty: ty.clone(),
            is_run: is_run(buf, all, ty),
            shape,
            partitions: Partitions::new(shape.partitions),
            lane: OnceLock::new(),
            is_active: AtomicBool::new(false),
            round: AtomicU32::new(0),
            open_until: AtomicU32::new(0),
            left: AtomicU32::new(0),
            logged: AtomicU32::new(0),
            has_failed: AtomicBool::new(false),
            failed: Mutex::new(None),
        }
    }

    /// Settles that the partitions go through shared memory.
    pub fn settle(&self, lane: Lane) {
        lane.channel.choose(lane.way());
        lane.bell.ring();
        // Under the library's lock: nobody else settles it.
        let _ = self.lane.set(lane);
    }

    /// The way through shared memory, once it is settled that there is one.
    #[inline]
    pub fn lane(&self) -> Option<&Lane> {
        self.lane.get()
    }

    /// Whether it is started.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.is_active.load(Acquire)
    }

    /// Starts a round, unless one is active; false then.
    pub fn start(&self) -> bool {
        if self.is_active.load(Relaxed) {
            return false;
        }
        self.partitions.reset();
        self.left.store(0, Relaxed);
        self.logged.store(0, Relaxed);
        self.round
            .store(self.round.load(Relaxed).wrapping_add(1), Relaxed);
        self.is_active.store(true, Release);
        true
    }

    /// Ends a round; its error.
    pub fn finish(&self) -> Option<Error> {
        self.is_active.store(false, Relaxed);
        if !self.has_failed.swap(false, Acquire) {
            return None;
        }
        self.error().take()
    }

    fn error(&self) -> std::sync::MutexGuard<'_, Option<Error>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The round has failed; the first error counts.
    #[cold]
    pub fn fail(&self, error: Error) {
        self.error().get_or_insert(error);
        self.has_failed.store(true, Release);
    }

    /// Whether it has.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Acquire)
    }

    /// Whether a partition is ready in this round.
    pub fn is_ready(&self, partition: usize) -> bool {
        self.partitions.is_ready(partition)
    }

    /// Notes that a partition is ready, which is one; it stays here.
    ///
    /// # Errors
    /// `Arg` if it was.
    pub fn note_ready(&self, partition: u32, callers: Callers) -> Result<()> {
        let noted = self.partitions.set_ready(partition as usize, callers);
        noted.map_err(|_| ready_already(partition))
    }

    /// `MPI_Pready` where the lane is settled and the partition is one; `None` leaves it to those
    /// who hold the lock.
    #[inline]
    pub fn ready(&self, partition: i32, callers: Callers) -> Option<Result<()>> {
        let lane = self.lane.get()?;
        if partition as u32 >= self.shape.partitions || !self.is_active() {
            return None;
        }
        let noted = self.note_ready(partition as u32, callers);
        if noted.is_ok() && (self.is_open(lane) || self.is_open_now(lane)) {
            self.leave(lane, partition as usize, callers);
        }
        // Else progress has it leave, as soon as the receiver has room.
        Some(noted)
    }

    /// Whether the receiver has room for this round, as somebody asks who has just said a partition
    /// ready: either it has, or [`Outgoing::leave_ready`] will find the partition.
    #[cold]
    fn is_open_now(&self, lane: &Lane) -> bool {
        // Pairs with the fence in `leave_ready`.
        fence(SeqCst);
        self.is_open(lane)
    }

    /// Whether the receiver has room for this round.
    #[inline]
    pub fn is_open(&self, lane: &Lane) -> bool {
        let round = self.round.load(Relaxed);
        let is_in = |until: u32| until.wrapping_sub(round) as i32 >= 0;
        // Pairs with the store below: what the receiver did before it said so is seen here.
        if is_in(self.open_until.load(Acquire)) {
            return true;
        }
        let until = lane.channel.open_until(lane.way());
        self.open_until.store(until, Release);
        is_in(until)
    }

    /// Has all partitions leave that are ready, if the receiver has room; whether it has. From then
    /// on each one leaves when it is said to be ready. Cost: all partitions, once in a round.
    pub fn leave_ready(&self, lane: &Lane, callers: Callers) -> bool {
        if !self.is_open(lane) {
            return false;
        }
        // Pairs with the fence in `is_open_now`.
        fence(SeqCst);
        for partition in 0..self.partitions.len() {
            self.leave(lane, partition, callers);
        }
        true
    }

    /// Whether all partitions have left, or the round has failed.
    #[inline]
    pub fn has_left(&self) -> bool {
        self.left.load(Acquire) as usize == self.partitions.len() || self.has_failed()
    }

    /// Takes a partition that leaves as a message; false if it is not ready, has left in this
    /// round, or no round is active. Under the library's lock.
    pub fn take_message(&self, partition: usize, callers: Callers) -> bool {
        let takes = self.is_active() && self.partitions.take(partition, callers);
        if takes {
            self.left.fetch_add(1, AcqRel);
        }
        takes
    }

    /// Has a partition leave if it is ready and nobody else does.
    #[inline]
    fn leave(&self, lane: &Lane, partition: usize, callers: Callers) {
        if !self.partitions.take(partition, callers) {
            return;
        }
        let round = self.round.load(Relaxed);
        if let Err(error) = self.copy(lane, partition, round, callers) {
            lane.channel.fail(round);
            lane.bell.ring();
            self.fail(error);
        }
        let left = match callers {
            Callers::One => {
                let left = self.left.load(Relaxed) + 1;
                self.left.store(left, Relaxed);
                left
            }
            Callers::Many => self.left.fetch_add(1, AcqRel) + 1,
        };
        let is_last = left as usize == self.partitions.len();
        if is_last {
            lane.channel.claim_next(round);
        }
        if callers == Callers::Many && (is_last || self.has_failed()) {
            lane.own_bell.ring();
        }
    }

    /// Copies a partition to where it goes, chunk by chunk, and tells the receiver of each.
    #[inline]
    fn copy(&self, lane: &Lane, partition: usize, round: u32, callers: Callers) -> Result<()> {
        let mut from = self.shape.start(partition);
        let mut chunk = self.shape.first_chunk(partition);
        let end = from + self.shape.bytes;
        let to = match &lane.to {
            To::Channel => lane.channel.room(round),
            To::Mapped { at, .. } => *at,
            To::Kernel { of, at } => {
                self.copy_by_kernel(*of, at + from, partition)?;
                from = end;
                std::ptr::null_mut()
            }
        };
        let elements = (!self.is_run).then(|| self.elements(partition));
        let first = from;
        loop {
            let now = (end - from).min(self.shape.chunk) as usize;
            // SAFETY: the program lends the partitions since they are ready; the room is this
            // round's until the receiver is told.
            unsafe {
                let to = to.wrapping_add(from as usize);
                let bytes = self.buf.wrapping_add(from as usize);
                match &elements {
                    Some(it) => it.part(from - first, now).write(PayloadRoom::new(to, now)),
                    None if now <= 32 => copy::small(to, bytes, now),
                    None if copy::suits_string(now) => copy::string(to, bytes, now),
                    None => copy::claiming(to, bytes, now),
                }
            }
            from += now as u64;
            lane.channel.announce(round, chunk);
            if self.shape.has_log() {
                let at = match callers {
                    Callers::One => {
                        let at = self.logged.load(Relaxed);
                        self.logged.store(at + 1, Relaxed);
                        at
                    }
                    Callers::Many => self.logged.fetch_add(1, Relaxed),
                };
                lane.channel.log(round, at as usize, chunk);
            }
            lane.bell.ring();
            if from >= end {
                return Ok(());
            }
            chunk += 1;
        }
    }

    /// The elements of a partition.
    #[cold]
    fn elements(&self, partition: usize) -> SendBuf {
        let before = self.ty.extent() * (self.count * partition as u64) as i64;
        let buf = self.buf.wrapping_offset(before as isize);
        SendBuf::new(buf, self.count, &self.ty)
    }

    #[cold]
    fn copy_by_kernel(&self, of: Neighbour, addr: u64, partition: usize) -> Result<()> {
        let len = self.shape.bytes as usize;
        let run = [Run { addr, len }];
        let packed;
        let elements = self.elements(partition);
        let from = match elements.contiguous() {
            Some(from) => from,
            None => {
                packed = elements.to_owned_bytes()?;
                packed.as_ptr()
            }
        };
        // SAFETY: the program lends the partitions, and the receiver its buffer since it has
        // started the round.
        unsafe { of.write_runs(&run, from) }.map_err(|error| {
            let text =
                format!("the kernel does not copy {len} bytes into the receiver's buffer: {error}");
            Error::new(Kind::Other, text)
        })
    }
}
