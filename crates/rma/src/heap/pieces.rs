//! The pieces that this process has taken, and those that it keeps for the next ones.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_base::clock;
use catena_core::Process;
use catena_core::hooks::Hook;
use catena_shm::check_file_limit;

use super::chunk::{ARENA, Card, Chunk, FRONT, LINE, PAGE, Store, arena};

/// Bytes of a chunk that pieces share.
const POOL: usize = 64 << 20;
/// Longest piece of such a chunk.
const SHARES: usize = 8 << 20;
/// Bytes of a chunk that pieces share, in the segment of the job, whose room is for all.
const POOL_OF_SEGMENT: usize = 1 << 20;
const SHARES_OF_SEGMENT: usize = 128 << 10;
/// Least bytes of free room with pages before these go back.
const WORTH_RETURNING: usize = 1 << 20;

/// Most bytes of chunks that are kept without a piece. Of short pieces that were given back as much
/// as a fourth of it may have pages.
const SPARE: usize = 64 << 20;
/// They have at most one such part of the memory that the machine can give when the first window is
/// made.
const SPARE_PART: u64 = 64;

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
    /// Whether new chunks lie in the segment of the job, or where nobody finds them if there is
    /// none.
    in_segment: bool,
}

static HEAP: Mutex<Option<Heap>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Heap>> {
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has long pieces that are given back kept for the next ones until the process is left.
pub fn keep(process: &Process) {
    let mut heap = lock();
    let heap = heap.get_or_insert_default();
    if heap.most_spare == 0 {
        ARENA.get_or_init(|| process.link(|link| Some(link.net().shm()?.arena().clone())));
        process.hook::<HeapHook>();
        let most = available().map_or(0, |most| most / SPARE_PART);
        heap.most_spare = usize::try_from(most).unwrap_or(SPARE).min(SPARE);
    }
}

/// Gives back what is kept when the last user of the library leaves.
#[derive(Debug, Default)]
struct HeapHook;

impl Hook<Process> for HeapHook {
    fn end(&self, _: &Process) {
        if let Some(heap) = lock().as_mut() {
            heap.end();
        }
    }
}

/// Whether new chunks lie where neighbours find them without opening a descriptor of this process,
/// or cannot.
pub fn is_in_segment() -> bool {
    let is_there = arena().is_some();
    !is_there || lock().as_ref().is_some_and(|heap| heap.in_segment)
}

/// From now on chunks lie in the segment of the job, if there is one: a neighbour cannot open this
/// process's descriptors, or this one those of a neighbour.
pub fn share_segment() {
    if arena().is_some() {
        lock().get_or_insert_default().in_segment = true;
    }
}

/// Takes `len` bytes, zeroed only if they were never in use, aligned to `align`, a power of two.
///
/// # Errors
/// What the kernel says: usually that there is no memory.
pub fn take(len: usize, align: usize) -> io::Result<*mut u8> {
    let len = len.max(1).next_multiple_of(LINE);
    let align = align.max(if len >= PAGE { PAGE } else { LINE });
    lock().get_or_insert_default().take(len, align, true)
}

/// Takes `len` bytes whose pages are provided by `provide`, by whoever uses them.
///
/// # Errors
/// As [`take`].
pub fn reserve(len: usize) -> io::Result<*mut u8> {
    let len = len.max(1).next_multiple_of(PAGE);
    lock().get_or_insert_default().take(len, PAGE, false)
}

/// As [`reserve`], without whole pages if it is shorter than one.
///
/// # Errors
/// As [`take`].
pub fn reserve_lines(len: usize) -> io::Result<*mut u8> {
    if len >= PAGE {
        return reserve(len);
    }
    let len = len.max(1).next_multiple_of(LINE);
    lock().get_or_insert_default().take(len, LINE, false)
}

/// As [`take`], where nobody else need find it if neighbours do not open each other's descriptors
/// and the segment of the job has no room.
///
/// # Errors
/// As [`take`].
pub fn take_if_alone(len: usize, align: usize) -> io::Result<*mut u8> {
    let taken = take(len, align);
    let mut heap = lock();
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
    lock().as_mut().is_some_and(|heap| heap.give(at.addr()))
}

/// How neighbours find `len` bytes at an address; `None` if they do not lie in one piece.
pub fn card(at: *const u8, len: usize) -> Option<Card> {
    lock().as_ref()?.card(at.addr(), len)
}

/// Whether a chunk of files is of one long piece, whose pages stay as long as it is there: those of
/// one that pieces share come and go.
pub(super) fn is_of_one_piece(card: Card) -> bool {
    card.is_file() && card.len != POOL as u64
}

/// A chunk of this process, by its stamp: where it is mapped, and its length.
pub(super) fn own_chunk(stamp: u64) -> Option<(*mut u8, usize)> {
    let heap = lock();
    let chunk = heap.as_ref()?.chunks.get(&stamp)?;
    Some((ptr::with_exposed_provenance_mut(chunk.base), chunk.len))
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

    /// The stamp of the shortest spare chunk that a long piece fits into, if it is not twice as
    /// long or longer. One whose pages are provided by others than the owner serves only such
    /// pieces again, as they lie near the others.
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

    /// Pages of room that is free in chunks of short pieces go back to the kernel, and chunks of
    /// which nothing is in use, but for one. Cost: the free parts, and a call of the kernel for
    /// each that has a whole page.
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
            let arena = arena();
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
            pid: match &chunk.store {
                Store::Segment(arena, _) => arena.number(),
                Store::File(_) | Store::Own => u64::from(std::process::id()),
            },
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_large_alignment_has_a_chunk_of_its_own() {
        let at = take(100, 1 << 20).expect("memory");
        assert!(at.addr().is_multiple_of(1 << 20));
        assert!(card(at, 100).is_some() && give(at));
    }
}
