//! What comes to a receiver through shared memory, as its threads see it: what `MPI_Parrived`
//! touches. No lock is taken here.
//!
//! | field                | written by                                 | read by                 |
//! |----------------------|--------------------------------------------|-------------------------|
//! | `lane`               | under the library's lock, once             | anybody                 |
//! | `round`, `is_active` | under the lock: by `MPI_Start`, completion | anybody, between these  |
//! | `places`, `placed`   | who has claimed a chunk: [`EMPTY`] to [`BUSY`] to [`PLACED`] | anybody |

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use catena_base::partitions::Callers;
use catena_base::{PeerBytes, copy};
use catena_core::buffer::{RecvBuf, is_run};
use catena_datatype::TypeRef;
use catena_link::Sink;
use catena_shm::Bell;

use super::channel::{Channel, DataPath};

/// A chunk has not been seen.
const EMPTY: u8 = 0;
/// A thread takes it.
const BUSY: u8 = 1;
/// Its bytes are where they belong.
const PLACED: u8 = 2;

/// The way through shared memory, unless the sender says that it sends messages.
#[derive(Debug)]
pub struct Lane {
    channel: Channel,
    /// The doorbell of the sender.
    bell: Bell,
    /// That of this process, one of whose threads may wait while another one places the last chunk.
    own_bell: Bell,
    places: Box<[AtomicU8]>,
}

/// What comes to a receiver.
#[derive(Debug)]
pub struct Incoming {
    buf: *mut u8,
    /// Elements of all partitions.
    count: u64,
    ty: TypeRef,
    /// Whether they are one run of bytes in host memory.
    is_run: bool,
    /// Bytes of a partition.
    bytes: u64,
    partitions: u32,
    lane: OnceLock<Lane>,
    is_active: AtomicBool,
    round: AtomicU32,
    placed: AtomicU32,
    /// Where in the log of the round the next look begins.
    next: AtomicU32,
}

// SAFETY: a part of the buffer is written by the thread that has claimed its chunk, and the rest is
// shared by atomics.
unsafe impl Send for Incoming {}
// SAFETY: as above.
unsafe impl Sync for Incoming {}

impl Incoming {
    /// Room at `buf` for `partitions` of `count` elements.
    pub fn new(buf: *mut u8, (partitions, count): (u32, u64), ty: &TypeRef) -> Incoming {
        let all = count * u64::from(partitions);
        Incoming {
            buf,
            count: all,
            ty: ty.clone(),
            is_run: is_run(buf, all, ty),
            bytes: count * ty.size(),
            partitions,
            lane: OnceLock::new(),
            is_active: AtomicBool::new(false),
            round: AtomicU32::new(0),
            placed: AtomicU32::new(0),
            next: AtomicU32::new(0),
        }
    }

    /// Bytes of all partitions.
    fn total(&self) -> u64 {
        self.bytes * u64::from(self.partitions)
    }

    /// The buffer, if it is one run of bytes with room for `total`.
    pub fn run(&self, total: u64) -> Option<*mut u8> {
        (self.is_run && total <= self.total()).then_some(self.buf)
    }

    /// The sender's channel is mapped: it may come through that.
    pub fn settle(&self, channel: Channel, (bell, own_bell): (Bell, Bell)) {
        let chunks = channel.shape().chunks();
        let places = (0..chunks).map(|_| AtomicU8::new(EMPTY)).collect();
        channel.start(self.round.load(Relaxed));
        // Under the library's lock: nobody else settles it.
        let _ = self.lane.set(Lane {
            channel,
            bell,
            own_bell,
            places,
        });
    }

    /// Which way it comes, once that is known; messages do not come here.
    #[inline]
    pub fn way(&self) -> Option<DataPath> {
        self.lane.get()?.channel.way()
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
        let round = self.round.load(Relaxed).wrapping_add(1);
        self.round.store(round, Relaxed);
        self.is_active.store(true, Release);
        if let Some(lane) = self.lane.get()
            && lane.channel.way() != Some(DataPath::Staged)
        {
            lane.channel.start(round);
            lane.bell.ring();
        }
        true
    }

    /// Ends a round.
    pub fn finish(&self) {
        self.is_active.store(false, Relaxed);
        if let Some(lane) = self.lane.get() {
            for place in &lane.places {
                place.store(EMPTY, Relaxed);
            }
            self.placed.store(0, Relaxed);
            self.next.store(0, Relaxed);
            lane.channel.take(self.round.load(Relaxed));
            lane.bell.ring();
        }
    }

    /// Whether something of the round does not come.
    pub fn has_failed(&self) -> bool {
        let round = self.round.load(Relaxed);
        let lane = self.lane.get();
        lane.is_some_and(|lane| lane.channel.has_failed(round))
    }

    /// Places what has come; whether that is everything. Under the library's lock. Cost: what has
    /// come, or a look at [`FEW`](super::channel::FEW) chunks.
    #[inline]
    pub fn take_all(&self, callers: Callers) -> bool {
        let Some(lane) = self.lane.get() else {
            return false;
        };
        let all = lane.places.len();
        if lane.channel.shape().has_log() {
            let round = self.round.load(Relaxed);
            let mut at = self.next.load(Relaxed) as usize;
            while at < all
                && let Some(chunk) = lane.channel.logged(round, at)
            {
                self.take(lane, chunk, callers);
                at += 1;
            }
            self.next.store(at as u32, Relaxed);
        } else {
            for chunk in 0..all {
                self.take(lane, chunk, callers);
            }
        }
        self.placed.load(Acquire) as usize == all
    }

    /// `MPI_Parrived` where it is settled which way the partitions come and the partition is one;
    /// `None` leaves it to those who hold the lock.
    #[inline]
    pub fn arrived(&self, partition: i32, callers: Callers) -> Option<bool> {
        if partition as u32 >= self.partitions || !self.is_active() {
            return None;
        }
        let lane = self.lane.get()?;
        if !matches!(
            lane.channel.way(),
            Some(DataPath::Staged | DataPath::Straight)
        ) {
            return None;
        }
        let from = partition as u64 * self.bytes;
        let mut chunks = lane.channel.shape().chunks_of(from, from + self.bytes);
        Some(chunks.all(|chunk| self.take(lane, chunk, callers)))
    }

    /// Whether a chunk is placed, which this thread does if it has come and nobody else does.
    #[inline]
    fn take(&self, lane: &Lane, chunk: usize, callers: Callers) -> bool {
        let place = &lane.places[chunk];
        match place.load(Acquire) {
            PLACED => return true,
            BUSY => return false,
            _ => {}
        }
        let round = self.round.load(Relaxed);
        if !lane.channel.is_there(round, chunk) {
            return false;
        }
        if callers == Callers::Many {
            let claimed = place.compare_exchange(EMPTY, BUSY, Acquire, Relaxed);
            if claimed.is_err() {
                return false;
            }
        }
        if lane.channel.way() == Some(DataPath::Staged) {
            self.place(lane, chunk, round);
        }
        place.store(PLACED, Release);
        match callers {
            Callers::One => self.placed.store(self.placed.load(Relaxed) + 1, Release),
            Callers::Many => {
                let placed = self.placed.fetch_add(1, Release) + 1;
                if placed as usize == lane.places.len() {
                    lane.own_bell.ring();
                }
            }
        }
        true
    }

    /// Copies a chunk to where it belongs.
    #[inline]
    fn place(&self, lane: &Lane, chunk: usize, round: u32) {
        let (from, len) = lane.channel.shape().chunk_range(chunk);
        let room = lane.channel.room(round).wrapping_add(from as usize);
        let fits = (len as u64).min(self.total().saturating_sub(from)) as usize;
        // SAFETY: the chunk is in the channel, and this thread's; the program lends the buffer.
        unsafe {
            if !self.is_run {
                let bytes = PeerBytes::new(room, fits);
                RecvBuf::new(self.buf, self.count, &self.ty).place(from, bytes);
            } else {
                let to = self.buf.wrapping_add(from as usize);
                match fits {
                    ..=32 => copy::small(to, room, fits),
                    _ if copy::suits_string(fits) => copy::string(to, room, fits),
                    _ => copy::taking(to, room, fits),
                }
            }
        }
    }
}
