//! A value that is lent to one closure at a time.
//!
//! | field    | who touches it                                              |
//! |----------|-------------------------------------------------------------|
//! | `value`  | the closure that it is lent to                              |
//! | `lent`   | [`Scoped::with`], in debug builds: true while a closure runs |

#[cfg(debug_assertions)]
use std::cell::Cell;
use std::cell::UnsafeCell;

/// A value that is changed through a shared reference, by one closure at a time.
///
/// It cannot be shared among threads by itself. A closure must not lend the value
/// again: debug builds panic where one does, release builds do not look.
///
/// # Examples
/// ```
/// use catena_process::Scoped;
///
/// // SAFETY: no closure here lends it again.
/// let engine = unsafe { Scoped::new(vec![1, 2]) };
/// engine.with(|engine| engine.push(3));
/// assert_eq!(engine.with(|engine| engine.len()), 3);
/// ```
#[derive(Debug)]
pub struct Scoped<T> {
    value: UnsafeCell<T>,
    #[cfg(debug_assertions)]
    lent: Cell<bool>,
}

/// Ends a loan when the closure returns or panics.
#[cfg(debug_assertions)]
struct Loan<'a>(&'a Cell<bool>);

#[cfg(debug_assertions)]
impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl<T> Scoped<T> {
    /// Takes charge of a value.
    ///
    /// # Safety
    /// No closure that is given to [`Scoped::with`] calls [`Scoped::with`] on the same
    /// value, in whatever it calls.
    pub const unsafe fn new(value: T) -> Self {
        Scoped {
            value: UnsafeCell::new(value),
            #[cfg(debug_assertions)]
            lent: Cell::new(false),
        }
    }

    /// Lends the value to `use_it` and returns what that returns.
    ///
    /// # Panics
    /// In debug builds, if the value is lent already.
    #[inline(always)]
    #[track_caller]
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        #[cfg(debug_assertions)]
        let _loan = self.lend();
        // SAFETY: the type is not `Sync`, so this is the only thread in here, and
        // no other closure has the value, as the caller of `new` promised.
        use_it(unsafe { &mut *self.value.get() })
    }

    #[cfg(debug_assertions)]
    #[track_caller]
    fn lend(&self) -> Loan<'_> {
        assert!(
            !self.lent.replace(true),
            "{} is lent already: a closure that has it must not progress, wait or call what \
             borrows it again",
            std::any::type_name::<T>()
        );
        Loan(&self.lent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter() -> Scoped<u32> {
        // SAFETY: the one test that lends it twice expects a panic, and is built with
        // the check only.
        unsafe { Scoped::new(0) }
    }

    #[test]
    fn each_closure_sees_what_those_before_it_did() {
        let counter = counter();
        counter.with(|n| *n += 1);
        counter.with(|n| *n += 1);
        assert_eq!(counter.with(|n| *n), 2);
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "u32 is lent already")]
    fn lending_twice_at_once_panics() {
        let counter = counter();
        counter.with(|_| counter.with(|n| *n += 1));
    }

    #[cfg(debug_assertions)]
    #[test]
    fn a_closure_that_panics_gives_the_value_back() {
        use std::panic::{AssertUnwindSafe, catch_unwind};

        let counter = counter();
        let ended = catch_unwind(AssertUnwindSafe(|| counter.with(|_| panic!("on purpose"))));
        assert!(ended.is_err());
        assert_eq!(counter.with(|n| *n), 0);
    }
}

/// Release builds keep nothing but the value.
#[cfg(not(debug_assertions))]
const _: () = assert!(size_of::<Scoped<u64>>() == size_of::<u64>());
