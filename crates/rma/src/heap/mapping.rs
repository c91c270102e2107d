//! Chunks of neighbours in this process.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use catena_shm::{Mapped, map_pages};
use rustix::fs::{self, SealFlags};

use super::chunk::{Card, FRONT, LINE, Store, arena, commit, map};
use super::pieces::{card, is_of_one_piece, own_chunk, take};

/// Probes of neighbours that were opened, by their stamps.
static REACHED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
/// Chunks of neighbours that are mapped, by stamp and process.
static MAPPED: Mutex<Option<MappedChunks>> = Mutex::new(None);

type MappedChunks = HashMap<(u64, u64), Weak<Mapping>>;

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How neighbours find out whether they can open this process's descriptors.
pub fn probe() -> Card {
    static PROBE: OnceLock<Option<usize>> = OnceLock::new();
    let at = PROBE.get_or_init(|| Some(take(LINE, LINE).ok()?.expose_provenance()));
    at.and_then(|at| card(ptr::with_exposed_provenance(at), LINE))
        .unwrap_or(Card::NONE)
}

/// Whether this process can open the descriptors of the one that has given that card. It is tried
/// once for each.
pub fn reaches(probe: Card) -> bool {
    if probe.pid == 0 || probe.fd == Card::IN_SEGMENT || lock(&REACHED).contains(&probe.stamp) {
        return true;
    }
    match map_peer(probe) {
        Ok(_) => {
            lock(&REACHED).insert(probe.stamp);
            true
        }
        // What this process lacks for a moment is another matter.
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound | io::ErrorKind::Other
        ),
    }
}

/// A neighbour's chunk in this process.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    len: usize,
    /// Whether it goes with this: what lies in the segment of the job stays mapped.
    is_own: bool,
    /// Where the pages begin and end that were provided last, in a chunk whose owner keeps its
    /// pages as long as it is there.
    provided: Mutex<(usize, usize)>,
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
        let part = (card.at as usize, card.at as usize + len);
        let mut provided = lock(&self.provided);
        if provided.0 <= part.0 && part.1 <= provided.1 {
            return Ok(());
        }
        match map_pages(at, len) {
            Mapped::Done if is_of_one_piece(card) => {
                *provided = part;
                Ok(())
            }
            Mapped::Done => Ok(()),
            Mapped::NoMemory => Err(io::ErrorKind::OutOfMemory.into()),
            Mapped::WhenTouched if card.fd == Card::IN_SEGMENT => {
                let arena = arena();
                let arena = arena.ok_or(io::ErrorKind::NotFound)?;
                Store::Segment(arena, card.stamp).commit(card.at as usize, len)
            }
            Mapped::WhenTouched => commit(&open_peer(card)?, card.at as usize, len),
        }
    }
}

/// Opens the file of a neighbour's chunk. No descriptor stays with what is mapped: a process may
/// have many windows with many members.
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
    let provided = Mutex::default();
    let mapping = Mapping {
        base,
        len,
        is_own,
        provided,
    };
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
    let (base, len) = own_chunk(card.stamp)?;
    let is_own = false;
    Some(Mapping {
        base,
        len,
        is_own,
        provided: Mutex::default(),
    })
}

/// The chunk of a neighbour in the segment of the job, which is mapped.
fn find_in_segment(card: Card) -> io::Result<Mapping> {
    // That of another job is not this one.
    let arena = arena().filter(|arena| arena.number() == card.pid);
    let len = usize::try_from(card.len).unwrap_or(usize::MAX);
    let found = arena.and_then(|arena| {
        let base = arena.at(card.stamp, len)?;
        let is_own = false;
        Some(Mapping {
            base,
            len,
            is_own,
            provided: Mutex::default(),
        })
    });
    found.ok_or_else(|| io::Error::other("it lies outside of this job's segment"))
}

/// The chunks of a neighbour that were mapped last. Whoever needs some of them for one operation
/// after the other keeps them here: to map one takes a thousand times as long as to find it mapped.
#[derive(Debug, Default)]
pub struct Recent(RefCell<[Option<RecentMapping>; 2]>);

/// The stamp of a chunk and its process, and where it is mapped.
type RecentMapping = ((u64, u64), Arc<Mapping>);

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
    use crate::heap::{card, give, take};

    const SHARES: usize = 8 << 20;

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
}
