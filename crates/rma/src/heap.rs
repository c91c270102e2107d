//! Memory of this process that its neighbours can map: that of windows, and of `MPI_Alloc_mem`.
//!
//! It lies in **chunks**, anonymous files (memfd) that are mapped as a whole. Small pieces share a
//! chunk of [`POOL`] bytes, of which only what was ever in use has pages; a long piece has one of
//! its own. A neighbour opens a chunk under `/proc` by what a [`Card`] says, and keeps it mapped as
//! long as it uses it ([`Mapping`]). Each chunk begins with a stamp, which is compared with the
//! card: so a process id that means another process there is noticed.
//!
//! Where neighbours cannot open each other's descriptors, as in containers that are started per rank, chunks lie in the
//! segment of the job instead ([`share_segment`]), which has room for a GiB and some MiB for each rank; they are shorter then.
//!
//! The chunks of long pieces that were given back last are kept with their pages, up to [`SPARE`] bytes, until the
//! library is left: programs make and free windows of one size again and again, and to provide, clear and take
//! back its pages takes the kernel longer than all else. What a spare chunk holds is what the last piece left there. For the
//! same reason pages of short pieces go back once there are a few MiB of them ([`SPARE`]): those of all room that is free
//! then, and chunks of which nothing is in use go, but for one.
//!
//! Nothing here has a name that could be left behind. Pages are provided when a piece is taken, by
//! its owner, so a lack of memory is an error and no signal, and they lie near its processor.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use catena_base::clock;
use catena_core::Process;
use catena_core::hooks::Hook;
use catena_shm::{Arena, Mapped, check_file_limit, map_pages};
use rustix::fs::{self, FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::retry_on_intr;

use crate::pool::Pool;

/// Bytes of a chunk that pieces share.
const POOL: usize = 64 << 20;
/// Longest piece of such a chunk.
const SHARES: usize = 8 << 20;
/// The same where chunks lie in the segment of the job, whose room is for all.
const POOL_OF_SEGMENT: usize = 1 << 20;
const SHARES_OF_SEGMENT: usize = 128 << 10;
/// In front of the pieces: the stamp.
const FRONT: usize = 4096;
/// Smallest unit of memory that the kernel hands out.
const PAGE: usize = 4096;
/// What a piece is aligned to at least: two processors write no line of each other.
const LINE: usize = 64;
/// Least bytes of free room with pages before these go back.
const WORTH_RETURNING: usize = 1 << 20;

/// Most bytes of chunks that are kept without a piece. Of short pieces that were given back as much as a fourth of it may
/// have pages.
const SPARE: usize = 64 << 20;
/// They have at most one such part of the memory that the machine can give when the first window is made.
const SPARE_PART: u64 = 64;

/// How a neighbour finds a piece. Plain words, to be sent to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The process that owns the chunk; 0 for a piece that is in none.
    pub pid: u64,
    /// Its descriptor there, or [`Card::IN_SEGMENT`].
    pub fd: u64,
    /// What the chunk begins with; no other one does. In the segment of the job it is where the chunk lies.
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
    const NOWHERE: u64 = u64::MAX - 1;
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
enum Store {
    /// A file without a name.
    File(File),
    /// The segment of the job, from this offset on.
    Segment(Arc<Arena>, u64),
    /// Memory of this process that no neighbour finds: the limit on file sizes leaves nothing else.
    Own,
}

impl Store {
    /// Has the kernel provide the pages of a range.
    fn commit(&self, at: usize, len: usize) -> io::Result<()> {
        match self {
            Store::File(file) => commit(file, at, len),
            Store::Segment(arena, from) => arena
                .provide(from + at as u64, len)
                .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error)),
            Store::Own => Ok(()),
        }
    }

    /// Gives the whole pages of a range back to the kernel. A wish only.
    fn release(&self, at: usize, len: usize) {
        match self {
            Store::File(file) => release(file, at, len),
            Store::Segment(arena, from) => arena.discard(from + at as u64, len),
            Store::Own => {}
        }
    }
}

/// A chunk of this process.
#[derive(Debug)]
struct Chunk {
    store: Store,
    base: usize,
    len: usize,
    stamp: u64,
    /// `None` if it is one piece.
    pool: Option<Pool>,
    /// Where its pages end that the owner has had provided, from its beginning. 0 if whoever uses them provides
    /// them, or if the piece begins further on.
    provided: usize,
}

/// A piece that is taken.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The stamp of its chunk.
    chunk: u64,
    at: usize,
    len: usize,
}

#[derive(Debug, Default)]
struct Heap {
    chunks: BTreeMap<u64, Chunk>,
    /// By address.
    pieces: BTreeMap<usize, Piece>,
    /// Chunks of one piece that was given back, the oldest first.
    spares: Vec<Chunk>,
    /// Most bytes of them; 0 if nobody would call [`Heap::end`].
    most_spare: usize,
    /// Bytes of free room in chunks of short pieces that may have pages.
    used: usize,
    made: u64,
    /// Whether new chunks lie in the segment of the job, or where nobody finds them if there is none.
    in_segment: bool,
}

static HEAP: Mutex<Option<Heap>> = Mutex::new(None);
/// The segment of the job, once somebody has asked for chunks that are kept; `None` if there is none.
static ARENA: OnceLock<Option<Arc<Arena>>> = OnceLock::new();
/// Probes of neighbours that were opened, by their stamps.
static REACHED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
/// Chunks of neighbours that are mapped, by stamp and process.
static MAPPED: Mutex<Option<MappedChunks>> = Mutex::new(None);

type MappedChunks = HashMap<(u64, u64), Weak<Mapping>>;

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has long pieces that are given back kept for the next ones until the process is left.
pub fn keep(process: &Process) {
    let mut heap = lock(&HEAP);
    let heap = heap.get_or_insert_default();
    if heap.most_spare == 0 {
        ARENA.get_or_init(|| process.link(|link| Some(link.net().shm()?.arena().clone())));
        process.hook::<Keeper>();
        let most = available().map_or(0, |most| most / SPARE_PART);
        heap.most_spare = usize::try_from(most).unwrap_or(SPARE).min(SPARE);
    }
}

/// Gives back what is kept when the last user of the library leaves.
#[derive(Debug, Default)]
struct Keeper;

impl Hook<Process> for Keeper {
    fn end(&self, _: &Process) {
        if let Some(heap) = lock(&HEAP).as_mut() {
            heap.end();
        }
    }
}

/// Whether new chunks lie where neighbours find them without opening a descriptor of this process, or cannot.
pub fn is_in_segment() -> bool {
    let is_there = ARENA.get().is_some_and(Option::is_some);
    !is_there || lock(&HEAP).as_ref().is_some_and(|heap| heap.in_segment)
}

/// From now on chunks lie in the segment of the job, if there is one: a neighbour cannot open this process's descriptors, or
/// this one those of a neighbour.
pub fn share_segment() {
    if ARENA.get().is_some_and(Option::is_some) {
        lock(&HEAP).get_or_insert_default().in_segment = true;
    }
}

/// How neighbours find out whether they can open this process's descriptors.
pub fn probe() -> Card {
    static PROBE: OnceLock<Option<usize>> = OnceLock::new();
    let at = PROBE.get_or_init(|| Some(take(LINE, LINE).ok()?.expose_provenance()));
    at.and_then(|at| card(ptr::with_exposed_provenance(at), LINE))
        .unwrap_or(Card::NONE)
}

/// Whether this process can open the descriptors of the one that has given that card. It is tried once for each.
pub fn reaches(probe: Card) -> bool {
    if probe.pid == 0 || probe.fd == Card::IN_SEGMENT || lock(&REACHED).contains(&probe.stamp) {
        return true;
    }
    let is_reached = map_peer(probe).is_ok();
    if is_reached {
        lock(&REACHED).insert(probe.stamp);
    }
    is_reached
}

/// Takes `len` bytes, zeroed only if they were never in use, aligned to `align`, a power of two.
///
/// # Errors
/// What the kernel says: usually that there is no memory.
pub fn take(len: usize, align: usize) -> io::Result<*mut u8> {
    let len = len.max(1).next_multiple_of(LINE);
    let align = align.max(if len >= PAGE { PAGE } else { LINE });
    lock(&HEAP).get_or_insert_default().take(len, align, true)
}

/// Takes `len` bytes whose pages are provided by [`provide`], by whoever uses them.
///
/// # Errors
/// As [`take`].
pub fn reserve(len: usize) -> io::Result<*mut u8> {
    let len = len.max(1).next_multiple_of(PAGE);
    lock(&HEAP).get_or_insert_default().take(len, PAGE, false)
}

/// As [`take`], where nobody else need find it if neighbours do not open each other's descriptors and the segment of the job
/// has no room.
///
/// # Errors
/// As [`take`].
pub fn take_if_alone(len: usize, align: usize) -> io::Result<*mut u8> {
    let taken = take(len, align);
    let mut heap = lock(&HEAP);
    match (taken, heap.as_mut()) {
        (Err(_), Some(heap)) if heap.in_segment => {
            heap.in_segment = false;
            let len = len.max(1).next_multiple_of(PAGE);
            let taken = heap.take(len, align.max(PAGE), true);
            heap.in_segment = true;
            taken
        }
        (taken, _) => taken,
    }
}

/// Gives back a piece; false if there is none at that address.
pub fn give(at: *mut u8) -> bool {
    lock(&HEAP)
        .as_mut()
        .is_some_and(|heap| heap.give(at.addr()))
}

/// How neighbours find `len` bytes at an address; `None` if they do not lie in one piece.
pub fn card(at: *const u8, len: usize) -> Option<Card> {
    lock(&HEAP).as_ref()?.card(at.addr(), len)
}

impl Heap {
    fn take(&mut self, len: usize, align: usize, provide: bool) -> io::Result<*mut u8> {
        let taken = self.try_take(len, align, provide);
        if taken.is_ok() || self.spares.is_empty() {
            return taken;
        }
        // Their memory may be what is lacking.
        self.spares.clear();
        self.try_take(len, align, provide)
    }

    fn try_take(&mut self, len: usize, align: usize, provide: bool) -> io::Result<*mut u8> {
        let (chunk, at) = match self.spare(len, align, provide) {
            Some(stamp) => (stamp, FRONT),
            None => self.room(len, align)?,
        };
        let found = self.chunks.get_mut(&chunk).expect("it has room");
        let base = found.base;
        if provide && at + len > found.provided {
            if let Err(error) = found.store.commit(at, len) {
                drop(self.give_room(Piece { chunk, at, len }));
                return Err(error);
            }
            if found.pool.is_none() && at == FRONT {
                found.provided = at + len;
            }
        }
        self.pieces.insert(base + at, Piece { chunk, at, len });
        Ok(ptr::with_exposed_provenance_mut(base + at))
    }

    /// The stamp of the shortest spare chunk that a long piece fits into, if it is not twice as long or longer. One
    /// whose pages are provided by others than the owner serves only such pieces again, as they lie near the others.
    fn spare(&mut self, len: usize, align: usize, provide: bool) -> Option<u64> {
        if len <= self.shares() || align > PAGE {
            return None;
        }
        let serves = |chunk: &Chunk| {
            let room = chunk.len - FRONT;
            let is_found = self.finds(chunk);
            is_found && (chunk.provided != 0) == provide && len <= room && room / 2 < len
        };
        let fitting = self.spares.iter().enumerate().filter(|it| serves(it.1));
        let (nearest, _) = fitting.min_by_key(|it| it.1.len)?;
        let chunk = self.spares.remove(nearest);
        let stamp = chunk.stamp;
        self.chunks.insert(stamp, chunk);
        Some(stamp)
    }

    /// Longest piece of a chunk that pieces share.
    fn shares(&self) -> usize {
        match self.in_segment {
            true => SHARES_OF_SEGMENT,
            false => SHARES,
        }
    }

    /// Whether a chunk lies where new ones do.
    fn finds(&self, chunk: &Chunk) -> bool {
        matches!(chunk.store, Store::File(_)) != self.in_segment
    }

    /// Keeps a chunk without a piece, and no more than there may be.
    fn keep(&mut self, chunk: Chunk) {
        if chunk.len > self.most_spare {
            return;
        }
        self.spares.push(chunk);
        let mut kept: usize = self.spares.iter().map(|chunk| chunk.len).sum();
        while kept > self.most_spare {
            kept -= self.spares.remove(0).len;
        }
    }

    /// Nobody uses the library any more.
    fn end(&mut self) {
        self.most_spare = 0;
        self.spares.clear();
        self.return_pages();
    }

    /// Pages of room that is free in chunks of short pieces go back to the kernel, and chunks of which nothing is in use, but
    /// for one. Cost: the free parts, and a call of the kernel for each that has a whole page.
    fn return_pages(&mut self) {
        self.used = 0;
        let mut is_first = true;
        self.chunks.retain(|_, chunk| {
            let (store, Some(pool)) = (&chunk.store, &mut chunk.pool) else {
                return true;
            };
            let stays = !pool.is_unused() || std::mem::take(&mut is_first);
            if stays {
                pool.clear(|used, part| {
                    // All pages that have some of it, as far as they are free.
                    let from = part.start.max(used.start / PAGE * PAGE);
                    let to = part.end.min(used.end.next_multiple_of(PAGE));
                    store.release(from + FRONT, to - from);
                });
            }
            stays
        });
    }

    /// Room for a piece: in a chunk that has some, or in a new one.
    fn room(&mut self, len: usize, align: usize) -> io::Result<(u64, usize)> {
        if !self.in_segment
            && check_file_limit(POOL.max(len.saturating_add(FRONT + align))).is_err()
        {
            // Growing one past the limit would be a signal.
            self.in_segment = true;
        }
        let shares = len <= self.shares() && align <= PAGE;
        if !shares && available().is_some_and(|most| len as u64 > most) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if shares {
            let in_segment = self.in_segment;
            let found = self.chunks.iter_mut().rev().find_map(|(&stamp, chunk)| {
                if matches!(chunk.store, Store::File(_)) == in_segment {
                    return None;
                }
                let pool = chunk.pool.as_mut()?;
                let before = pool.used();
                let at = pool.take(len, align)?;
                Some((stamp, at, before - pool.used()))
            });
            if let Some((stamp, at, again)) = found {
                self.used -= again;
                return Ok((stamp, at + FRONT));
            }
        }
        let bytes = match shares {
            true if self.in_segment => POOL_OF_SEGMENT,
            true => POOL,
            false => (FRONT + align)
                .checked_add(len.next_multiple_of(PAGE))
                .ok_or(io::ErrorKind::OutOfMemory)?,
        };
        if self.in_segment {
            let arena = ARENA.get().cloned().flatten();
            let chunk = match arena {
                Some(arena) => Chunk::in_segment(arena, bytes, shares)?,
                None => Chunk::own(bytes, shares)?,
            };
            return Ok(self.first_room(chunk, (len, align)));
        }
        self.made += 1;
        // Process ids come again, and so do numbers after an exec.
        let stamp = self.made << 48 ^ u64::from(std::process::id()) << 20 ^ clock::ticks() >> 4;
        let chunk = Chunk::new(bytes, stamp.max(1), shares)?;
        Ok(self.first_room(chunk, (len, align)))
    }

    /// Room for the first piece of a chunk.
    fn first_room(&mut self, mut chunk: Chunk, (len, align): (usize, usize)) -> (u64, usize) {
        let at = match &mut chunk.pool {
            Some(pool) => pool.take(len, align).expect("it is empty") + FRONT,
            None => (chunk.base + FRONT).next_multiple_of(align) - chunk.base,
        };
        let stamp = chunk.stamp;
        self.chunks.insert(stamp, chunk);
        (stamp, at)
    }

    fn give(&mut self, at: usize) -> bool {
        let Some(piece) = self.pieces.remove(&at) else {
            return false;
        };
        // Neighbours that still use it keep their mapping.
        if let Some(chunk) = self.give_room(piece) {
            self.keep(chunk);
        }
        true
    }

    /// The room of a piece is free again; its chunk if that was only for this one.
    fn give_room(&mut self, piece: Piece) -> Option<Chunk> {
        let chunk = self.chunks.get_mut(&piece.chunk)?;
        let Some(pool) = &mut chunk.pool else {
            return self.chunks.remove(&piece.chunk);
        };
        let before = pool.used();
        pool.give(piece.at - FRONT, piece.len);
        self.used += pool.used() - before;
        if self.used > WORTH_RETURNING.max(self.most_spare / 4) {
            self.return_pages();
        }
        None
    }

    fn card(&self, at: usize, len: usize) -> Option<Card> {
        let (&start, piece) = self.pieces.range(..=at).next_back()?;
        let from = at - start;
        if from.checked_add(len)? > piece.len {
            return None;
        }
        let chunk = self.chunks.get(&piece.chunk)?;
        Some(Card {
            pid: u64::from(std::process::id()),
            fd: match &chunk.store {
                Store::File(file) => file.as_raw_fd() as u64,
                Store::Segment(..) => Card::IN_SEGMENT,
                Store::Own => Card::NOWHERE,
            },
            stamp: chunk.stamp,
            len: chunk.len as u64,
            at: (piece.at + from) as u64,
        })
    }
}

impl Chunk {
    fn new(len: usize, stamp: u64, shares: bool) -> io::Result<Chunk> {
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
    fn in_segment(arena: Arc<Arena>, len: usize, shares: bool) -> io::Result<Chunk> {
        let no_room = || {
            let text = format!(
                "neighbours cannot open each other's descriptors (a container per rank, or a limit on file sizes), and the \
                 job's segment has no room for {len} more bytes"
            );
            io::Error::new(io::ErrorKind::OutOfMemory, text)
        };
        let most = (usize::MAX, usize::MAX);
        let from = arena.reserve(len, most).ok_or_else(no_room)?;
        let base = arena.at(from, len).ok_or_else(no_room)?;
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
    fn own(len: usize, shares: bool) -> io::Result<Chunk> {
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
        match &self.store {
            // SAFETY: our mapping, of which no piece is in use.
            Store::File(_) | Store::Own => unsafe {
                libc::munmap(ptr::with_exposed_provenance_mut(self.base), self.len);
            },
            Store::Segment(arena, from) => arena.free(*from, self.len),
        }
    }
}

/// Bytes that the machine could still give. To ask the kernel for more pages than that ends
/// processes instead of the call.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Maps a file, readable and writable.
fn map(file: &File, len: usize) -> io::Result<*mut u8> {
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
fn commit(file: &File, at: usize, len: usize) -> io::Result<()> {
    let (first, last) = (at / PAGE * PAGE, (at + len).next_multiple_of(PAGE));
    let (first, len) = (first as u64, (last - first) as u64);
    let provide = || fs::fallocate(file, FallocateFlags::KEEP_SIZE, first, len);
    Ok(retry_on_intr(provide)?)
}

/// Gives the whole pages of a range back to the kernel. A wish only.
fn release(file: &File, at: usize, len: usize) {
    let (first, last) = (at.next_multiple_of(PAGE), (at + len) / PAGE * PAGE);
    if first < last {
        let how = FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE;
        let _ = fs::fallocate(file, how, first as u64, (last - first) as u64);
    }
}

/// A neighbour's chunk in this process.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    len: usize,
    /// Whether it goes with this: what lies in the segment of the job stays mapped.
    is_own: bool,
}

// SAFETY: it owns its mapping, which is the same for all threads.
unsafe impl Send for Mapping {}
// SAFETY: as above; it hands out addresses only.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.is_own {
            // SAFETY: our mapping, which nobody uses any more.
            unsafe { libc::munmap(self.base.cast(), self.len) };
        }
    }
}

impl Mapping {
    /// The address of `len` bytes of a piece.
    ///
    /// # Errors
    /// If the card says that they lie outside of the chunk.
    pub fn at(&self, card: Card, len: usize) -> io::Result<*mut u8> {
        let from = usize::try_from(card.at).ok();
        let end = from.and_then(|from| from.checked_add(len));
        match (from, end) {
            // SAFETY: inside the mapping.
            (Some(from), Some(end)) if end <= self.len => Ok(unsafe { self.base.add(from) }),
            _ => Err(io::Error::other("it lies outside of its memory")),
        }
    }

    /// Has the kernel provide pages of the piece, near this processor.
    ///
    /// # Errors
    /// What the kernel says: usually that there is no memory.
    pub fn provide(&self, card: Card, len: usize) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        let at = self.at(card, len)?;
        match map_pages(at, len) {
            Mapped::Done => Ok(()),
            Mapped::NoMemory => Err(io::ErrorKind::OutOfMemory.into()),
            Mapped::WhenTouched if card.fd == Card::IN_SEGMENT => {
                let arena = ARENA.get().cloned().flatten();
                let arena = arena.ok_or(io::ErrorKind::NotFound)?;
                Store::Segment(arena, card.stamp).commit(card.at as usize, len)
            }
            Mapped::WhenTouched => commit(&open_peer(card)?, card.at as usize, len),
        }
    }
}

/// Opens the file of a neighbour's chunk. No descriptor stays with what is mapped: a process may have many windows with
/// many members.
fn open_peer(card: Card) -> io::Result<File> {
    if card.fd == Card::NOWHERE {
        return Err(io::Error::other(
            "its limit on file sizes lets it share none (ulimit -f unlimited)",
        ));
    }
    let path = format!("/proc/{}/fd/{}", card.pid, card.fd);
    File::options().read(true).write(true).open(path)
}

/// Maps the chunk of a neighbour in which a piece lies, unless it is mapped.
///
/// # Errors
/// If the neighbour's descriptor cannot be opened, or is not what the card says.
pub fn map_peer(card: Card) -> io::Result<Arc<Mapping>> {
    if card.fd == Card::IN_SEGMENT {
        return find_in_segment(card).map(Arc::new);
    }
    if let Some(own) = find_own(card) {
        return Ok(Arc::new(own));
    }
    let mut mapped = lock(&MAPPED);
    let mapped = mapped.get_or_insert_default();
    let key = (card.stamp, card.pid);
    if let Some(known) = mapped.get(&key).and_then(Weak::upgrade) {
        return Ok(known);
    }
    let file = open_peer(card)?;
    let len = usize::try_from(card.len).map_err(io::Error::other)?;
    if file.metadata()?.len() < card.len || len < FRONT {
        return Err(io::Error::other("the file is another one"));
    }
    if !fs::fcntl_get_seals(&file)?.contains(SealFlags::SHRINK) {
        return Err(io::Error::other("others could make it shorter"));
    }
    let base = map(&file, len)?;
    let is_own = true;
    let mapping = Mapping { base, len, is_own };
    // SAFETY: the first bytes of the mapping.
    if unsafe { base.cast::<u64>().read_volatile() } != card.stamp {
        return Err(io::Error::other("the file is another one"));
    }
    mapped.retain(|_, known| known.strong_count() != 0);
    let mapping = Arc::new(mapping);
    mapped.insert(key, Arc::downgrade(&mapping));
    Ok(mapping)
}

/// The chunk of this process that nobody else finds.
fn find_own(card: Card) -> Option<Mapping> {
    if card.fd != Card::NOWHERE || card.pid != u64::from(std::process::id()) {
        return None;
    }
    let heap = lock(&HEAP);
    let chunk = heap.as_ref()?.chunks.get(&card.stamp)?;
    Some(Mapping {
        base: ptr::with_exposed_provenance_mut(chunk.base),
        len: chunk.len,
        is_own: false,
    })
}

/// The chunk of a neighbour in the segment of the job, which is mapped.
fn find_in_segment(card: Card) -> io::Result<Mapping> {
    let arena = ARENA.get().cloned().flatten();
    let len = usize::try_from(card.len).unwrap_or(usize::MAX);
    let found = arena.and_then(|arena| {
        let base = arena.at(card.stamp, len)?;
        let is_own = false;
        Some(Mapping { base, len, is_own })
    });
    found.ok_or_else(|| io::Error::other("it lies outside of the job's segment"))
}

/// The chunks of a neighbour that were mapped last. Whoever needs some of them for one operation after the
/// other keeps them here: to map one takes a thousand times as long as to find it mapped.
#[derive(Debug, Default)]
pub struct Recent(RefCell<[Option<Kept>; 2]>);

/// The stamp of a chunk and its process, and where it is mapped.
type Kept = ((u64, u64), Arc<Mapping>);

impl Recent {
    /// As [`map_peer`].
    ///
    /// # Errors
    /// As [`map_peer`].
    pub fn map(&self, card: Card) -> io::Result<Arc<Mapping>> {
        let key = (card.stamp, card.pid);
        let mut all = self.0.borrow_mut();
        let known = all.iter().flatten().find(|(known, _)| *known == key);
        if let Some((_, mapping)) = known {
            return Ok(mapping.clone());
        }
        let mapping = map_peer(card)?;
        all.rotate_right(1);
        all[0] = Some((key, mapping.clone()));
        Ok(mapping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_by_their_cards() {
        for len in [1, 100, 5000, SHARES, SHARES + 1] {
            let at = take(len, 1).expect("memory");
            let card = card(at, len).expect("a piece");
            // SAFETY: ours, of this length.
            unsafe { at.write_bytes(0x5a, len) };
            let mapping = map_peer(card).expect("a mapping");
            let there = mapping.at(card, len).expect("inside");
            assert_ne!(there, at, "mapped twice");
            // SAFETY: the same bytes, elsewhere.
            unsafe {
                assert_eq!(*there.add(len - 1), 0x5a);
                there.write(7);
                assert_eq!(at.read_volatile(), 7);
            }
            assert!(mapping.at(card, card.len as usize).is_err());
            assert!(Arc::ptr_eq(&mapping, &map_peer(card).expect("again")));
            assert!(give(at) && !give(at));
            assert_eq!(super::card(at, 1), None);
        }
    }

    /// A heap that keeps what is given back.
    fn keeping() -> Heap {
        Heap {
            most_spare: SPARE,
            ..Heap::default()
        }
    }

    /// Pages of a chunk that the kernel has provided.
    fn pages(chunk: &Chunk) -> u64 {
        use std::os::unix::fs::MetadataExt;
        let Store::File(file) = &chunk.store else {
            panic!("it is in the segment");
        };
        file.metadata().expect("its state").blocks() * 512 / PAGE as u64
    }

    #[test]
    fn a_long_piece_that_comes_again_gets_the_chunk_of_the_one_before() {
        let mut heap = keeping();
        let take = |heap: &mut Heap, len| heap.take(len, PAGE, true).expect("memory").addr();
        let (first, second) = (
            take(&mut heap, SHARES + PAGE),
            take(&mut heap, 2 * SHARES + PAGE),
        );
        let cards = [first, second].map(|at| heap.card(at, 1).expect("a piece"));
        assert!(heap.give(first) && heap.give(second));
        assert_eq!(heap.card(first, 1), None, "it is nobody's");
        assert_eq!(take(&mut heap, SHARES + 64), first, "the shortest one");
        assert_eq!(heap.card(first, 1), Some(cards[0]), "known by its old card");
        let other = take(&mut heap, SHARES + 64);
        assert!(
            other != first && other != second,
            "that one is twice as long"
        );
        assert_eq!(take(&mut heap, 2 * SHARES), second);
        assert!(heap.spares.is_empty());
        assert!([first, second, other].iter().all(|&at| heap.give(at)));
        assert_eq!(heap.spares.len(), 3);
        heap.end();
        assert!(heap.spares.is_empty() && heap.chunks.is_empty());
    }

    #[test]
    fn the_pages_of_a_spare_chunk_are_there_and_more_are_provided() {
        let mut heap = keeping();
        let at = heap.take(2 * SHARES, PAGE, true).expect("memory").addr();
        assert!(heap.give(at));
        assert_eq!(pages(&heap.spares[0]), ((2 * SHARES + FRONT) / PAGE) as u64);
        // A chunk that was longer than its piece.
        heap.spares[0].provided = FRONT + SHARES;
        heap.spares[0].store.release(FRONT + SHARES, SHARES);
        let again = heap.take(2 * SHARES, PAGE, true).expect("memory").addr();
        assert_eq!(again, at);
        assert!(heap.give(at));
        assert_eq!(pages(&heap.spares[0]), ((2 * SHARES + FRONT) / PAGE) as u64);
    }

    #[test]
    fn what_others_provide_the_pages_of_serves_only_that() {
        let mut heap = keeping();
        let take = |heap: &mut Heap, provide| {
            let at = heap.take(2 * SHARES, PAGE, provide).expect("memory");
            at.addr()
        };
        let (own, whole) = (take(&mut heap, true), take(&mut heap, false));
        assert!(heap.give(whole) && heap.give(own));
        assert_eq!(take(&mut heap, false), whole);
        assert_eq!(take(&mut heap, true), own);
    }

    #[test]
    fn spare_chunks_are_bounded_and_the_oldest_goes_first() {
        let mut heap = keeping();
        let lens = [2 * SHARES, SPARE / 2, 3 * SHARES, SPARE];
        let at = lens.map(|len| heap.take(len, PAGE, false).expect("memory").addr());
        let kept = |heap: &Heap| {
            heap.spares
                .iter()
                .map(|c| c.base + FRONT)
                .collect::<Vec<_>>()
        };
        assert!(heap.give(at[0]) && heap.give(at[1]));
        assert_eq!(kept(&heap), [at[0], at[1]]);
        assert!(heap.give(at[2]));
        assert_eq!(kept(&heap), [at[1], at[2]]);
        assert!(heap.give(at[3]), "with its stamp it is too long");
        assert_eq!(kept(&heap), [at[1], at[2]]);
        // What cannot be had with them is tried without them.
        assert!(heap.take(usize::MAX / 2, PAGE, true).is_err() && heap.spares.is_empty());
    }

    #[test]
    fn the_pages_of_short_pieces_go_back_in_time() {
        let mut heap = keeping();
        let len = 900_000;
        let all: Vec<usize> = (0..300)
            .map(|_| heap.take(len, PAGE, true).expect("memory").addr())
            .collect();
        let pages_of = |heap: &Heap| heap.chunks.values().map(pages).sum::<u64>() as usize * PAGE;
        assert!(pages_of(&heap) >= 300 * len && heap.chunks.len() > 3);
        // Every second one: none of the chunks is unused.
        let (kept, gone): (Vec<_>, Vec<_>) =
            all.into_iter().enumerate().partition(|it| it.0 % 2 == 0);
        assert!(gone.into_iter().all(|(_, at)| heap.give(at)));
        let some = pages_of(&heap);
        assert!(
            some < 150 * (len + 2 * PAGE) + SPARE / 4 + len,
            "{some} bytes"
        );
        // What is in use has its pages.
        assert!(some > 150 * len);
        assert!(kept.into_iter().all(|(_, at)| heap.give(at)));
        assert!(pages_of(&heap) < SPARE / 4 + len && heap.chunks.len() <= 3);
        heap.end();
        assert_eq!((pages_of(&heap), heap.chunks.len()), (PAGE, 1));
    }

    #[test]
    fn nothing_is_kept_that_nobody_would_give_back() {
        let mut heap = Heap::default();
        let at = heap.take(2 * SHARES, PAGE, true).expect("memory").addr();
        assert!(heap.give(at) && heap.spares.is_empty());
    }

    #[test]
    fn what_was_mapped_last_stays_mapped() {
        let pieces = [(); 3].map(|()| take(SHARES + 1, 1).expect("memory"));
        let cards = pieces.map(|at| card(at, 1).expect("a piece"));
        let recent = Recent::default();
        let first = Arc::downgrade(&recent.map(cards[0]).expect("mapped"));
        for other in [1, 0, 1] {
            recent.map(cards[other]).expect("mapped");
        }
        assert!(Arc::ptr_eq(
            &first.upgrade().expect("kept"),
            &recent.map(cards[0]).expect("known")
        ));
        recent.map(cards[2]).expect("mapped");
        assert!(first.upgrade().is_none(), "two are kept");
        assert!(pieces.into_iter().all(give));
    }

    #[test]
    fn part_of_a_piece_has_a_card_and_more_than_it_has_none() {
        let at = take(8192, PAGE).expect("memory");
        let whole = card(at, 8192).expect("a piece");
        let part = card(at.wrapping_add(100), 8092).expect("a part");
        assert_eq!(part.at, whole.at + 100);
        assert_eq!(card(at.wrapping_add(100), 8093), None);
        assert_eq!(card((&raw const whole).cast(), 1), None);
        assert!(at.addr().is_multiple_of(PAGE) && give(at));
    }

    #[test]
    fn a_file_that_is_not_what_the_card_says_is_refused() {
        let at = take(64, 1).expect("memory");
        let card = card(at, 64).expect("a piece");
        let other = Card {
            stamp: card.stamp ^ 1,
            ..card
        };
        assert!(map_peer(other).is_err());
        let gone = Card { fd: 9999, ..card };
        assert!(map_peer(Card { stamp: 3, ..gone }).is_err());
        assert_eq!(Card::from_words(card.words()), card);
        assert!(give(at));
    }

    #[test]
    fn a_large_alignment_has_a_chunk_of_its_own() {
        let at = take(100, 1 << 20).expect("memory");
        assert!(at.addr().is_multiple_of(1 << 20));
        assert!(card(at, 100).is_some() && give(at));
    }
}
