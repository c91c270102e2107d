//! Counters of notifications, which the owner of memory looks at and origins count up: as many for
//! each member as it asked for. They lie in its heap, and members of its node map them.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::control::CounterCard;
use crate::heap::{self, Mapping};

/// The counters of a member, as they are seen here. Good until they are replaced.
#[derive(Debug)]
pub(crate) struct Counters {
    first: *const AtomicU64,
    count: u32,
    /// What keeps them mapped; nothing for this process's own.
    _keep: Option<Arc<Mapping>>,
}

impl Counters {
    /// One of them; `None` if there are not as many.
    pub fn get(&self, index: u32) -> Option<&AtomicU64> {
        // SAFETY: they are mapped, as many as that.
        (index < self.count).then(|| unsafe { &*self.first.add(index as usize) })
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Those that a member of this node has told of.
    ///
    /// # Errors
    /// If they cannot be mapped.
    pub fn open(card: &CounterCard) -> io::Result<Counters> {
        let (count, card) = card.read();
        if count == 0 {
            return Ok(Counters {
                first: std::ptr::null(),
                count,
                _keep: None,
            });
        }
        let mapping = heap::map_peer(card)?;
        let at = mapping.at(card, 8 * count as usize)?;
        if !at.addr().is_multiple_of(8) {
            return Err(io::Error::other("they are not aligned"));
        }
        Ok(Counters {
            first: at.cast_const().cast(),
            count,
            _keep: Some(mapping),
        })
    }
}

/// This process's own counters in its heap.
#[derive(Debug)]
pub(crate) struct Piece {
    at: *mut u8,
    count: u32,
}

impl Piece {
    /// As many counters, all of them 0.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn take(count: u32) -> io::Result<Piece> {
        let at = heap::take(8 * count as usize, 64)?;
        let piece = Piece { at, count };
        let counters = piece.counters();
        (0..count).for_each(|i| counters.get(i).expect("it is there").store(0, Relaxed));
        Ok(piece)
    }

    /// They as their owner sees them.
    pub fn counters(&self) -> Counters {
        Counters {
            first: self.at.cast_const().cast(),
            count: self.count,
            _keep: None,
        }
    }

    /// Tells others of them.
    pub fn tell(&self, card: &CounterCard) {
        let found = heap::card(self.at, 8 * self.count as usize);
        card.write(self.count, found.expect("a piece of the heap"));
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        heap::give(self.at);
    }
}

/// What a member keeps of the counters of a window.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Its own.
    pub own: RefCell<Option<Piece>>,
    /// The counters of the members of its node, by their numbers there.
    pub near: RefCell<Box<[Counters]>>,
    /// Whether some member has counters.
    pub are_there: Cell<bool>,
    /// Whether a notification follows the next operation.
    pub follow: Cell<bool>,
}
