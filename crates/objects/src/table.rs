//! Handles and the tables behind them.
//!
//! A handle that the library makes is a number, never an address, so that a
//! freed or made-up one is noticed instead of followed:
//!
//! | bits  | what                                                     |
//! |-------|----------------------------------------------------------|
//! | 0–26  | index into the table of its kind                         |
//! | 27–30 | kind, never 0, so it cannot be a predefined handle       |
//! | 32–63 | generation of the slot, bumped when the object is freed  |
//!
//! The low 31 bits are what `MPI_*_toint` gives; `MPI_*_fromint` looks the
//! current generation up again (MPI-5, chapter 20.3).

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_base::slab::{Key, Slab};

use crate::state::freed;

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ObjectKind {
    /// A communicator.
    Comm = 1,
    /// A group.
    Group,
    /// A datatype.
    Datatype,
    /// A reduction operation.
    Op,
    /// An error handler.
    Errhandler,
    /// An info object.
    Info,
    /// A point-to-point request: the slot belongs to `link`.
    Transfer,
    /// Any other request: persistent, collective, generalized.
    Request,
    /// A matched message.
    Message,
    /// A session.
    Session,
    /// A window.
    Win,
    /// A file.
    File,
}

const INDEX_BITS: u32 = 27;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// Makes the handle value for a slot.
#[inline]
pub const fn encode(kind: ObjectKind, key: Key) -> usize {
    ((key.generation as u64) << 32 | (kind as u64) << INDEX_BITS | key.index as u64) as usize
}

/// The slot behind a handle value, if it is one of this kind.
#[inline]
pub const fn decode(kind: ObjectKind, handle: usize) -> Option<Key> {
    let h = handle as u64;
    if (h >> INDEX_BITS) & 0x1f == kind as u64 {
        Some(Key {
            index: (h & INDEX_MASK) as u32,
            generation: (h >> 32) as u32,
        })
    } else {
        None
    }
}

/// Objects of one kind. Shared within the library under its one lock.
///
/// Values are handed out as clones (cheap ones: `Arc`), so an object that a
/// callback frees stays whole until its last user is done.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use catena_objects::table::{ObjectKind, Table};
///
/// let table = Table::new(ObjectKind::Info);
/// let handle = table.insert(Arc::new("a value"));
/// assert_eq!(*table.get(handle).unwrap(), "a value");
///
/// table.remove(handle);
/// let other = table.insert(Arc::new("another, in the same slot"));
/// assert_eq!(table.get(handle), None);
/// assert!(table.get(other).is_some());
/// ```
#[derive(Debug)]
pub struct Table<T> {
    kind: ObjectKind,
    slab: UnsafeCell<Slab<T>>,
    /// The live handle that was widened last, else 0: read without the lock.
    widened: AtomicUsize,
}

impl<T: Clone> Table<T> {
    /// An empty table.
    pub fn new(kind: ObjectKind) -> Self {
        Table {
            kind,
            slab: UnsafeCell::new(Slab::new()),
            widened: AtomicUsize::new(0),
        }
    }

    /// Stores `value`; returns its handle value.
    ///
    /// # Panics
    /// If there are more objects of this kind than handles can name, 2^27.
    pub fn insert(&self, value: T) -> usize {
        // SAFETY: calls are serialised by the library's lock, and no borrow of
        // the slab outlives a method of this type but that of `borrow`, whose
        // caller vouches for it.
        let key = unsafe { (*self.slab.get()).insert(value) };
        assert!(
            key.index <= INDEX_MASK as u32,
            "the program has more than {INDEX_MASK} {:?} objects: it does not free them",
            self.kind
        );
        encode(self.kind, key)
    }

    /// The object behind `handle`, unless it was freed or never was.
    #[inline]
    pub fn get(&self, handle: usize) -> Option<T> {
        let key = decode(self.kind, handle)?;
        // SAFETY: see `insert`.
        unsafe { (*self.slab.get()).get(key).cloned() }
    }

    /// The object itself, without a clone, for the hot path.
    ///
    /// # Safety
    /// Nothing may be inserted or removed, and no callback of the program be
    /// called, while the borrow lives.
    #[inline]
    pub unsafe fn borrow(&self, handle: usize) -> Option<&T> {
        let key = decode(self.kind, handle)?;
        // SAFETY: the caller promises what `insert` asks for.
        unsafe { (*self.slab.get()).get(key) }
    }

    /// Takes the object out; its handle is dead from now on.
    pub fn remove(&self, handle: usize) -> Option<T> {
        let key = decode(self.kind, handle)?;
        if self.widened.load(Relaxed) == handle {
            self.widened.store(0, Relaxed);
        }
        freed(handle);
        // SAFETY: see `insert`; the value is moved out, not dropped, here.
        unsafe { (*self.slab.get()).remove(key) }
    }

    /// The full handle for the low 31 bits that `MPI_*_toint` gave.
    pub fn widen(&self, low: i32) -> Option<usize> {
        let key = decode(self.kind, low as u32 as usize)?;
        // SAFETY: see `insert`.
        let live = unsafe { (*self.slab.get()).key_at(key.index) }?;
        let handle = encode(self.kind, live);
        self.widened.store(handle, Relaxed);
        Some(handle)
    }

    /// The answer of [`Table::widen`] if it was asked the same last and the object lives. May be
    /// called without the library's lock: whoever frees an object clears this first, and nobody
    /// may use a handle that another thread frees at the same time.
    #[inline]
    pub fn widened(&self, low: i32) -> Option<usize> {
        let last = self.widened.load(Relaxed);
        (last as u32 == low as u32 && last != 0).then_some(last)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        // SAFETY: see `insert`.
        unsafe { (*self.slab.get()).len() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Clones of all objects with their handles, for clean-up and reports.
    pub fn all(&self) -> Vec<(usize, T)> {
        // SAFETY: see `insert`.
        let slab = unsafe { &*self.slab.get() };
        slab.iter()
            .map(|(key, value)| (encode(self.kind, key), value.clone()))
            .collect()
    }
}

/// A table that has its own lock, for objects whose functions any thread may
/// call at any time (MPI-5, 11.4.1): also beside a thread that is in the library
/// without the library's lock.
#[derive(Debug)]
pub struct Guarded<T>(Mutex<Table<T>>);

impl<T: Clone> Guarded<T> {
    /// An empty table.
    pub fn new(kind: ObjectKind) -> Self {
        Guarded(Mutex::new(Table::new(kind)))
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores `value`; returns its handle value: see [`Table::insert`].
    pub fn insert(&self, value: T) -> usize {
        self.table().insert(value)
    }

    /// The object behind `handle`, unless it was freed or never was.
    pub fn get(&self, handle: usize) -> Option<T> {
        self.table().get(handle)
    }

    /// Takes the object out; its handle is dead from now on.
    pub fn remove(&self, handle: usize) -> Option<T> {
        self.table().remove(handle)
    }

    /// The full handle for the low 31 bits that `MPI_*_toint` gave.
    pub fn widen(&self, low: i32) -> Option<usize> {
        self.table().widen(low)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Clones of all objects with their handles, for clean-up and reports.
    pub fn all(&self) -> Vec<(usize, T)> {
        self.table().all()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_was_widened_is_known_until_it_is_freed() {
        let table = Table::new(ObjectKind::Group);
        let low = |handle: usize| handle as i32 & i32::MAX;
        let first = table.insert(Arc::new(1));
        let other = table.insert(Arc::new(2));
        assert_eq!(table.widened(low(first)), None, "nobody has asked yet");
        assert_eq!(table.widen(low(first)), Some(first));
        assert_eq!(table.widened(low(first)), Some(first));
        assert_eq!(table.widened(low(other)), None);
        assert_eq!(table.widened(0), None);

        table.remove(other);
        assert_eq!(table.widened(low(first)), Some(first));
        table.remove(first);
        assert_eq!(table.widened(low(first)), None);
        assert_eq!(table.widen(low(first)), None);

        let again = table.insert(Arc::new(3));
        let in_place = [first, other].iter().any(|&it| low(it) == low(again));
        assert!(in_place && again != first, "a slot serves again");
        assert_eq!(table.widened(low(again)), None);
        assert_eq!(table.widen(low(again)), Some(again));
        assert_eq!(table.widened(low(again)), Some(again));
    }
}
