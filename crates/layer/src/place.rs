//! Handles behind pointers and in arrays of the program.

use std::cell::Cell;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

use catena_abi::consts;

use crate::handle::{Handle, Native};
use crate::pending;

/// A handle that the call stores.
#[derive(Debug)]
pub struct Out<H: Handle> {
    to: *mut H,
    value: H::Native,
}

impl<H: Handle> Out<H> {
    /// For the handle at `to`, which may be null.
    #[inline]
    pub fn new(to: *mut H) -> Self {
        Out {
            to,
            value: H::Native::UNWRITTEN,
        }
    }

    /// Where the call is to store it.
    #[inline]
    pub fn place(&mut self) -> *mut H::Native {
        if self.to.is_null() {
            return ptr::null_mut();
        }
        &raw mut self.value
    }

    /// What the call has stored, if anything.
    pub fn stored(&self) -> Option<H::Native> {
        (self.value != H::Native::UNWRITTEN).then_some(self.value)
    }

    /// Stores what the call has stored.
    ///
    /// # Safety
    /// What `new` was given is null or writable.
    #[inline]
    pub unsafe fn finish(&mut self) {
        if self.value != H::Native::UNWRITTEN {
            // SAFETY: the call was given a place, so it is not null; the caller's promise.
            unsafe { self.to.write(H::foreign(self.value)) };
        }
    }
}

/// A handle that the call reads and may change.
#[derive(Debug)]
pub struct InOut<H: Handle> {
    at: *mut H,
    before: H::Native,
    value: H::Native,
}

impl<H: Handle> InOut<H> {
    /// The handle at `at`, which may be null.
    ///
    /// # Safety
    /// It is null or readable.
    #[inline]
    pub unsafe fn new(at: *mut H) -> Self {
        let value = if at.is_null() {
            H::Native::UNWRITTEN
        } else {
            // SAFETY: the caller's promise.
            unsafe { at.read() }.native()
        };
        InOut {
            at,
            before: value,
            value,
        }
    }

    /// Where the call finds it.
    #[inline]
    pub fn place(&mut self) -> *mut H::Native {
        if self.at.is_null() {
            return ptr::null_mut();
        }
        &raw mut self.value
    }

    /// Stores it again if it has changed.
    ///
    /// # Safety
    /// What `new` was given is null or writable.
    #[inline]
    pub unsafe fn finish(&mut self) {
        if self.value != self.before {
            let null = self.value == H::Native::NULL;
            let now = if null {
                H::null()
            } else {
                H::foreign(self.value)
            };
            // SAFETY: the call was given a place, so it is not null; the caller's promise.
            unsafe { self.at.write(now) };
        }
        pending::deliver();
    }
}

/// Entries of an array for which there is room on the stack.
const SHORT: usize = 64;

thread_local! {
    /// Room for longer arrays, kept from one call to the next.
    static SPARE: Cell<Vec<usize>> = const { Cell::new(Vec::new()) };
}

/// Room for an array of handles.
#[derive(Debug)]
pub struct HandleArray {
    short: [MaybeUninit<usize>; SHORT],
    long: Vec<usize>,
}

impl Default for HandleArray {
    fn default() -> Self {
        HandleArray::new()
    }
}

impl HandleArray {
    /// Nothing in it.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        HandleArray {
            short: [const { MaybeUninit::uninit() }; SHORT],
            long: Vec::new(),
        }
    }

    /// Where `len` numbers have room.
    #[inline]
    fn base(&mut self, len: usize) -> *mut usize {
        if len <= SHORT {
            return self.short.as_mut_ptr().cast();
        }
        self.long_base(len)
    }

    #[cold]
    fn long_base(&mut self, len: usize) -> *mut usize {
        // A callback that comes here again finds nothing to spare, and makes its own.
        self.long = SPARE.try_with(Cell::take).unwrap_or_default();
        if self.long.len() < len {
            self.long.resize(len, 0);
        }
        self.long.as_mut_ptr()
    }

    /// The standard's handles for the `len` at `from`, which may be null.
    ///
    /// # Safety
    /// `from` is null or has `len` readable handles.
    #[inline]
    pub unsafe fn load<H: Handle>(&mut self, from: *mut H, len: usize) -> Array<'_, H> {
        let len = if from.is_null() { 0 } else { len };
        let base = self.base(len);
        for i in 0..len {
            // SAFETY: `base` has room for `len`; the caller's promise.
            unsafe { base.add(i).write(from.add(i).read().native().number()) };
        }
        Array {
            at: from,
            base,
            len,
            blank: false,
            room: std::marker::PhantomData,
        }
    }

    /// Room for `len` handles that the call stores.
    #[inline]
    pub fn blank<H: Handle>(&mut self, to: *mut H, len: usize) -> Array<'_, H> {
        let len = if to.is_null() { 0 } else { len };
        let base = self.base(len);
        for i in 0..len {
            // SAFETY: `base` has room for `len`.
            unsafe { base.add(i).write(usize::MAX) };
        }
        Array {
            at: to,
            base,
            len,
            blank: true,
            room: std::marker::PhantomData,
        }
    }
}

impl Drop for HandleArray {
    #[inline]
    fn drop(&mut self) {
        if !self.long.is_empty() {
            // In a handler of `atexit` there is none any more.
            let long = std::mem::take(&mut self.long);
            let _ = SPARE.try_with(|spare| spare.set(long));
        }
    }
}

/// An array of the program and its translation.
#[derive(Debug)]
pub struct Array<'a, H> {
    at: *mut H,
    base: *mut usize,
    len: usize,
    blank: bool,
    room: std::marker::PhantomData<&'a mut HandleArray>,
}

impl<H: Handle> Array<'_, H> {
    /// The translation; null if there is nothing in it.
    #[inline]
    pub fn place(&self) -> *mut H::Native {
        if self.len == 0 {
            return ptr::null_mut();
        }
        self.base.cast()
    }

    /// Stores what the call has stored; of handles that it was given, those that are null now,
    /// as it can change them in no other way.
    ///
    /// # Safety
    /// The array of the program is writable.
    #[inline]
    pub unsafe fn finish(&self) {
        for i in 0..self.len {
            // SAFETY: both have `len` entries; the caller's promise.
            unsafe {
                let now = H::Native::of(self.base.add(i).read());
                if now == H::Native::NULL {
                    self.at.add(i).write(H::null());
                } else if self.blank && now != H::Native::UNWRITTEN {
                    self.at.add(i).write(H::foreign(now));
                }
            }
        }
        pending::deliver();
    }

    /// As [`Array::finish`] after a call that returned `rc` and completes one entry at most: the
    /// one with the number at `index`.
    ///
    /// # Safety
    /// As [`Array::finish`]; `index` is null or readable.
    #[inline]
    pub unsafe fn finish_one(&self, rc: c_int, index: *const c_int) {
        if rc != consts::SUCCESS || index.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { self.finish() };
        }
        // SAFETY: the caller's promise.
        let i = unsafe { index.read() } as u32 as usize;
        // SAFETY: both have `len` entries; the caller's promise.
        unsafe {
            if i < self.len && H::Native::of(self.base.add(i).read()) == H::Native::NULL {
                self.at.add(i).write(H::null());
            }
        }
        pending::deliver();
    }

    /// As [`Array::finish`] after a call that returned `rc` and completes all entries or none, as
    /// it says at `all`.
    ///
    /// # Safety
    /// As [`Array::finish`]; `all` is null or readable.
    #[inline]
    pub unsafe fn finish_all(&self, rc: c_int, all: *const c_int) {
        // SAFETY: the caller's promise.
        unsafe {
            if rc != consts::SUCCESS || all.is_null() || all.read() != 0 {
                self.finish();
            }
        }
    }
}
