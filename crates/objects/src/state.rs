//! What a function of the program is given with each call, besides its arguments.

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A value that the library keeps for a function and hands back to it, and what ends it.
///
/// Programs give plain addresses, which end with nothing. A layer of another binary
/// interface, or of another language, gives a function of its own in the place of the
/// program's, and here what that function needs to call the program's.
///
/// # Examples
/// ```
/// use catena_objects::state::State;
///
/// extern "C" fn free(number: *mut std::ffi::c_void) {
///     // SAFETY: it is what `into_raw` gave, and this is called once.
///     drop(unsafe { Box::from_raw(number.cast::<u32>()) });
/// }
///
/// let state = State::new(Box::into_raw(Box::new(7_u32)).cast(), Some(free));
/// assert!(!state.value().is_null());
/// drop(state); // calls `free`
/// ```
pub struct State {
    value: AtomicPtr<c_void>,
    end: Option<End>,
}

/// Ends a value that nobody will be given any more. It must not call MPI.
pub type End = extern "C" fn(*mut c_void);

impl State {
    /// `value`, which `end` is called for when this is dropped.
    pub fn new(value: *mut c_void, end: Option<End>) -> Self {
        let value = AtomicPtr::new(value);
        State { value, end }
    }

    /// What the function is given.
    pub fn value(&self) -> *mut c_void {
        self.value.load(Relaxed)
    }

    /// Gives the function `value` from now on, in the place of one that ends with nothing. The
    /// library's lock is held, and no call of the function is under way that may be given either.
    pub fn replace(&self, value: *mut c_void) {
        debug_assert!(self.end.is_none());
        self.value.store(value, Relaxed);
    }
}

impl From<*mut c_void> for State {
    fn from(value: *mut c_void) -> Self {
        State::new(value, None)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let Some(end) = self.end.take() else {
            return;
        };
        if PUTS_OFF.get() {
            ended_later().push(State::new(self.value(), Some(end)));
            ARE_PUT_OFF.store(true, Relaxed);
        } else {
            end(self.value());
        }
    }
}

thread_local! {
    static PUTS_OFF: Cell<bool> = const { Cell::new(false) };
}

/// What ends later, and whether there is any.
static ENDED_LATER: Mutex<Vec<State>> = Mutex::new(Vec::new());
static ARE_PUT_OFF: AtomicBool = AtomicBool::new(false);

fn ended_later() -> std::sync::MutexGuard<'static, Vec<State>> {
    ENDED_LATER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on this thread, one of the library's own, ends no value: a thread of the program's does
/// in [`end_those_put_off`].
pub fn put_off_ends() {
    PUTS_OFF.set(true);
}

/// Whether threads of the library have put off some.
pub fn are_put_off() -> bool {
    ARE_PUT_OFF.load(Relaxed)
}

/// Ends what threads of the library put off. Cost if there is nothing: one load.
#[inline]
pub fn end_those_put_off() {
    if ARE_PUT_OFF.load(Relaxed) && ARE_PUT_OFF.swap(false, Relaxed) {
        let all = std::mem::take(&mut *ended_later());
        drop(all);
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "State({:p})", self.value())
    }
}

/// A layer's function that is told the handle of an object.
pub type Freed = extern "C" fn(usize);

/// Who keeps what handles stand for in a table of its own, as a layer does whose handles are ints.
static FREED: OnceLock<Freed> = OnceLock::new();

/// Names the function that [`freed`] calls; the first that is named stays. It runs with the
/// library's lock held: it may call nothing here.
pub fn when_freed(function: Freed) {
    let _ = FREED.set(function);
}

/// Who keeps what integers of requests stand for.
static HANDED: OnceLock<Freed> = OnceLock::new();

/// Names the function that [`handed`] calls; the first that is named stays. It may call nothing
/// here.
pub fn when_handed(function: Freed) {
    let _ = HANDED.set(function);
}

/// Tells that a request is handed over as an integer, which from now on stands for it and for none
/// that had this integer before: the ends of transfers are not told.
#[inline]
pub fn handed(handle: usize) {
    if let Some(tell) = HANDED.get() {
        tell(handle);
    }
}

/// Tells that the handle of an object is dead, before its slot serves again. Transfers, which end
/// with each message, are not told: see [`handed`].
#[inline]
pub fn freed(handle: usize) {
    if let Some(tell) = FREED.get() {
        tell(handle);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::thread;

    use super::*;

    static ENDED: AtomicU32 = AtomicU32::new(0);

    extern "C" fn count(_: *mut c_void) {
        ENDED.fetch_add(1, Relaxed);
    }

    #[test]
    fn a_thread_of_the_library_ends_nothing() {
        let state = State::new(std::ptr::null_mut(), Some(count));
        let beside = move || {
            put_off_ends();
            drop(state);
        };
        thread::spawn(beside).join().unwrap();
        assert_eq!(ENDED.load(Relaxed), 0);
        for _ in 0..2 {
            end_those_put_off();
            assert_eq!(ENDED.load(Relaxed), 1);
        }
    }
}
