//! The arguments of a call, where it has left them.

use std::ffi::c_int;

use catena_tool::REGISTERS;
use catena_tool::call::{CALLS, Call, MOST};

/// The arguments of a call that is under way.
#[derive(Clone, Copy)]
pub struct Words {
    pub call: &'static Call,
    registers: *const usize,
    stack: *const usize,
}

impl Words {
    /// # Safety
    /// `registers` and `stack` have the arguments of the function of that number, as long as this
    /// is used.
    #[inline]
    pub unsafe fn new(number: u16, registers: *const usize, stack: *const usize) -> Words {
        Words {
            call: &CALLS[usize::from(number)],
            registers,
            stack,
        }
    }

    /// The argument at a place.
    #[inline]
    pub fn word(&self, at: u8) -> usize {
        let at = usize::from(at);
        debug_assert!(at < self.call.args.len());
        // SAFETY: the promise of `new`.
        unsafe {
            match at < REGISTERS {
                true => *self.registers.add(at),
                false => *self.stack.add(at - REGISTERS),
            }
        }
    }

    /// A number, with its sign.
    #[inline]
    pub fn int(&self, at: u8) -> i64 {
        let word = self.word(at);
        match self.call.args[usize::from(at)].is_int {
            // What stands in the upper half means nothing.
            true => (word as c_int).into(),
            false => word as i64,
        }
    }

    /// What an argument points to; `None` for a null pointer.
    ///
    /// # Safety
    /// If the argument is not null, a `T` has to be there.
    #[inline]
    pub unsafe fn at<T: Copy>(&self, at: u8) -> Option<T> {
        // SAFETY: the caller's promise.
        unsafe { (self.word(at) as *const T).as_ref() }.copied()
    }

    /// An entry of an array of numbers; 0 where there is no array.
    ///
    /// # Safety
    /// The array has that entry.
    pub unsafe fn entry(&self, at: u8, entry: usize) -> i64 {
        let array = self.word(at);
        if array <= catena_abi::consts::BUFFER_AUTOMATIC {
            return 0;
        }
        // SAFETY: the caller's promise.
        unsafe {
            match self.call.args[usize::from(at)].is_wide {
                true => *(array as *const i64).add(entry),
                false => i64::from(*(array as *const c_int).add(entry)),
            }
        }
    }

    /// All of them, and zeros.
    pub fn all(&self) -> [usize; MOST] {
        let mut all = [0; MOST];
        for (at, word) in (0..).zip(&mut all).take(self.call.args.len()) {
            *word = self.word(at);
        }
        all
    }

    /// Those in the first registers.
    #[inline]
    pub fn few(&self) -> catena_tool::next::Few {
        // SAFETY: there are as many registers, whatever is in them.
        unsafe { *self.registers.cast() }
    }
}
