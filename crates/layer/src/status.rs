//! Statuses, single ones and in arrays.

use std::cell::Cell;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

use catena_abi::{Status, consts};

use crate::abi::Abi;
use crate::code::foreign_code;
use crate::layout::Foreign;
use crate::number::{foreign_rank, foreign_tag, rank, tag};
use crate::rarely;

/// No call stores this as a source, tag or error.
const UNWRITTEN: c_int = c_int::MIN;

/// One that nothing was stored in.
#[inline]
fn blank() -> Status {
    let mut status = Status::new(UNWRITTEN, 0, 0);
    status.error = UNWRITTEN;
    status
}

/// Makes a place for a status blank without a store in each of its words.
///
/// # Safety
/// `at` is writable.
#[inline]
unsafe fn clear(at: *mut Status) {
    // SAFETY: the caller's promise.
    unsafe {
        (&raw mut (*at).source).write(UNWRITTEN);
        (&raw mut (*at).error).write(UNWRITTEN);
    }
}

/// Stores what was stored in `from`. The error field is left as it is unless a call set it, which
/// those that complete one request do not.
///
/// # Safety
/// `to` is writable if anything was stored. `from` was cleared, and then the call has stored all of
/// a status, its error, or nothing.
#[inline]
unsafe fn give<A: Abi>(to: *mut A::Status, from: *const Status) {
    // SAFETY: the caller's promise.
    unsafe {
        let (source, error) = ((*from).source, (*from).error);
        if source != UNWRITTEN {
            let from = &*from;
            let (source, tag) = (foreign_rank::<A>(source), foreign_tag::<A>(from.tag));
            (*to).store(source, tag, from.bytes(), from.cancelled());
        }
        if error != UNWRITTEN {
            rarely();
            (*to).store_error(foreign_code::<A>(error));
        }
    }
}

/// The standard's status for one of the interface.
#[inline]
pub fn native<A: Abi>(from: &A::Status) -> Status {
    let fields = from.load();
    let (source, tag) = (rank::<A>(fields.source), tag::<A>(fields.tag));
    let mut status = Status::new(source, tag, fields.bytes);
    status.set_cancelled(fields.cancelled);
    status.error = crate::code::code_in::<A>(fields.error);
    status
}

/// Stores all of a status of the standard.
///
/// # Safety
/// `to` is writable.
pub unsafe fn store<A: Abi>(to: *mut A::Status, from: &Status) {
    // SAFETY: the caller's promise.
    unsafe { give::<A>(to, from) };
}

/// A status that the call stores.
#[derive(Debug)]
pub struct StatusOut<A: Abi> {
    to: *mut A::Status,
    value: MaybeUninit<Status>,
}

impl<A: Abi> StatusOut<A> {
    /// For the status at `to`, which may be `MPI_STATUS_IGNORE`.
    #[inline]
    pub fn new(to: *mut A::Status) -> Self {
        let mut value = MaybeUninit::uninit();
        // SAFETY: room for a status.
        unsafe { clear(value.as_mut_ptr()) };
        StatusOut { to, value }
    }

    /// Where the call is to store it.
    #[inline]
    pub fn place(&mut self) -> *mut Status {
        if self.to.addr() == A::STATUS_IGNORE {
            return ptr::null_mut();
        }
        self.value.as_mut_ptr()
    }

    /// Stores what the call has stored.
    ///
    /// # Safety
    /// What `new` was given is writable or `MPI_STATUS_IGNORE`.
    #[inline]
    pub unsafe fn finish(&mut self) {
        if self.to.addr() != A::STATUS_IGNORE {
            // SAFETY: the caller's promise.
            unsafe { give::<A>(self.to, self.value.as_ptr()) };
        }
    }
}

/// A status that the call reads and may change.
#[derive(Debug)]
pub struct StatusIn<A: Abi> {
    at: *mut A::Status,
    value: Status,
}

impl<A: Abi> StatusIn<A> {
    /// The status at `at`, which may be null or `MPI_STATUS_IGNORE`, which calls refuse.
    ///
    /// # Safety
    /// Otherwise it is readable.
    #[inline]
    pub unsafe fn new(at: *mut A::Status) -> Self {
        let value = if at.is_null() || at.addr() == A::STATUS_IGNORE {
            blank()
        } else {
            // SAFETY: the caller's promise.
            native::<A>(unsafe { &*at })
        };
        StatusIn { at, value }
    }

    /// Where the call finds it.
    #[inline]
    pub fn place(&mut self) -> *mut Status {
        if self.at.is_null() || self.at.addr() == A::STATUS_IGNORE {
            return ptr::null_mut();
        }
        &raw mut self.value
    }

    /// Stores it again.
    ///
    /// # Safety
    /// What `new` was given is writable.
    #[inline]
    pub unsafe fn finish(&mut self) {
        if !self.place().is_null() {
            // SAFETY: the caller's promise.
            unsafe { give::<A>(self.at, &self.value) };
        }
    }
}

/// Entries of an array for which there is room on the stack.
const SHORT: usize = 64;

thread_local! {
    /// Room for longer arrays, kept from one call to the next.
    static SPARE: Cell<Vec<Status>> = const { Cell::new(Vec::new()) };
}

/// Room for an array of statuses.
#[derive(Debug)]
pub struct StatusRoom {
    short: [MaybeUninit<Status>; SHORT],
    long: Vec<Status>,
}

impl Default for StatusRoom {
    fn default() -> Self {
        StatusRoom::new()
    }
}

impl StatusRoom {
    /// Nothing in it.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        StatusRoom {
            short: [const { MaybeUninit::uninit() }; SHORT],
            long: Vec::new(),
        }
    }

    /// Room for `len` statuses that the call stores for those at `to`, which may be
    /// `MPI_STATUSES_IGNORE`.
    #[inline]
    pub fn blank<A: Abi>(&mut self, to: *mut A::Status, len: usize) -> Statuses<'_, A> {
        let len = if to.addr() == A::STATUS_IGNORE {
            0
        } else {
            len
        };
        let base = if len <= SHORT {
            self.short.as_mut_ptr().cast()
        } else {
            self.long_base(len)
        };
        for i in 0..len {
            // SAFETY: `base` has room for `len`.
            unsafe { clear(base.add(i)) };
        }
        Statuses {
            to,
            base,
            len,
            room: std::marker::PhantomData,
        }
    }

    #[cold]
    fn long_base(&mut self, len: usize) -> *mut Status {
        self.long = SPARE.try_with(Cell::take).unwrap_or_default();
        if self.long.len() < len {
            self.long.resize(len, Status::empty());
        }
        self.long.as_mut_ptr()
    }
}

impl Drop for StatusRoom {
    #[inline]
    fn drop(&mut self) {
        if !self.long.is_empty() {
            // In a handler of `atexit` there is none any more.
            let long = std::mem::take(&mut self.long);
            let _ = SPARE.try_with(|spare| spare.set(long));
        }
    }
}

/// An array of statuses of the program and what the call stores for it.
#[derive(Debug)]
pub struct Statuses<'a, A: Abi> {
    to: *mut A::Status,
    base: *mut Status,
    len: usize,
    room: std::marker::PhantomData<&'a mut StatusRoom>,
}

impl<A: Abi> Statuses<'_, A> {
    /// Where the call is to store them.
    #[inline]
    pub fn place(&self) -> *mut Status {
        if self.len == 0 {
            return consts::STATUSES_IGNORE as *mut Status;
        }
        self.base
    }

    /// Stores what the call has stored.
    ///
    /// # Safety
    /// What `blank` was given is writable for as many, or is ignored.
    #[inline]
    pub unsafe fn finish(&self) {
        for i in 0..self.len {
            // SAFETY: both have `len` entries; the caller's promise. The call has stored all of
            // a status or none of it, but for the two that were stored before.
            unsafe { give::<A>(self.to.add(i), self.base.add(i)) };
        }
    }
}
