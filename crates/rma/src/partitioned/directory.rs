//! Partitioned requests by their handles, for calls that take no lock: `MPI_Pready` and
//! `MPI_Parrived` of many threads at once.
//!
//! | field    | writer                              | reader                                      |
//! |----------|-------------------------------------|---------------------------------------------|
//! | `rows`   | under the library's lock, once      | anybody: Release/Acquire                    |
//! | `handle` | under the library's lock: Release   | anybody: Acquire                            |
//! | `object` | before `handle`, under the same lock | who has read the handle                    |
//!
//! A row stays for ever. An object stays until its request is freed, and no thread may use a
//! request that another one frees at the same time (MPI-5, chapter 3.7.3): a handle that was freed
//! before is not found.

use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use catena_abi as abi;
use catena_objects::table::{ObjectKind, decode};

/// Entries of a row.
const ROW: usize = 256;
/// Rows; requests beyond them are found under the lock.
const ROWS: usize = 4096;

#[derive(Debug)]
struct Entry<T> {
    handle: AtomicUsize,
    object: AtomicPtr<T>,
}

type Row<T> = [Entry<T>; ROW];

/// Requests of one kind.
#[derive(Debug)]
pub struct Directory<T> {
    rows: [AtomicPtr<Row<T>>; ROWS],
}

impl<T> Directory<T> {
    /// An empty one.
    pub const fn new() -> Self {
        Directory {
            rows: [const { AtomicPtr::new(ptr::null_mut()) }; ROWS],
        }
    }

    #[inline]
    fn entry(&self, request: abi::Request) -> Option<&Entry<T>> {
        let index = decode(ObjectKind::Request, request.0)?.index as usize;
        let row = self.rows.get(index / ROW)?.load(Acquire);
        // SAFETY: a row that was published, and stays.
        let row = unsafe { row.as_ref() }?;
        Some(&row[index % ROW])
    }

    /// Makes a request known. Under the library's lock.
    ///
    /// # Safety
    /// The object stays where it is until [`Directory::remove`].
    pub unsafe fn insert(&self, request: abi::Request, object: *const T) {
        let Some(key) = decode(ObjectKind::Request, request.0) else {
            return;
        };
        let Some(row) = self.rows.get(key.index as usize / ROW) else {
            return;
        };
        if row.load(Relaxed).is_null() {
            let empty = Box::new(
                [const {
                    Entry {
                        handle: AtomicUsize::new(0),
                        object: AtomicPtr::new(ptr::null_mut()),
                    }
                }; ROW],
            );
            row.store(Box::into_raw(empty), Release);
        }
        if let Some(entry) = self.entry(request) {
            entry.object.store(object.cast_mut(), Relaxed);
            entry.handle.store(request.0, Release);
        }
    }

    /// Forgets a request. Under the library's lock.
    pub fn remove(&self, request: abi::Request) {
        if let Some(entry) = self.entry(request)
            && entry.handle.load(Relaxed) == request.0
        {
            entry.handle.store(0, Release);
        }
    }

    /// The object of a request; `None` if it is of another kind, freed or made up.
    #[inline]
    pub fn find(&self, request: abi::Request) -> Option<&T> {
        let entry = self.entry(request)?;
        if entry.handle.load(Acquire) != request.0 {
            return None;
        }
        // SAFETY: it is there until it is removed, which nobody may do while another thread uses
        // it.
        unsafe { entry.object.load(Relaxed).as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_base::Key;
    use catena_objects::table::encode;

    #[test]
    fn what_was_removed_or_never_was_is_not_found() {
        let directory = Box::new(Directory::new());
        let handle = |index, generation| {
            abi::Request(encode(ObjectKind::Request, Key { index, generation }))
        };
        let (one, two) = (1, 2);
        // SAFETY: both stay until the end.
        unsafe {
            directory.insert(handle(3, 1), &one);
            directory.insert(handle(300, 9), &two);
            directory.insert(handle((ROW * ROWS) as u32, 1), &two);
        }
        assert_eq!(directory.find(handle(3, 1)), Some(&1));
        assert_eq!(directory.find(handle(300, 9)), Some(&2));
        for other in [(3, 2), (4, 1), (1000, 1), ((ROW * ROWS) as u32, 1)] {
            assert_eq!(directory.find(handle(other.0, other.1)), None, "{other:?}");
        }
        assert_eq!(directory.find(abi::Request(0)), None);
        // A handle that was freed removes nothing of the next one in its place.
        directory.remove(handle(3, 0));
        assert_eq!(directory.find(handle(3, 1)), Some(&1));
        directory.remove(handle(3, 1));
        assert_eq!(directory.find(handle(3, 1)), None);
    }
}
