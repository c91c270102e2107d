//! Error codes and classes.

use std::ffi::c_int;

use catena_abi::consts;

use crate::abi::{Abi, Pair};

/// What a function returns for a code of the standard.
#[inline]
pub fn code<A: Abi>(rc: c_int) -> c_int {
    if rc == consts::SUCCESS {
        consts::SUCCESS
    } else {
        failed::<A>(rc)
    }
}

#[cold]
fn failed<A: Abi>(rc: c_int) -> c_int {
    match rc {
        ..NO_CODE_AT_ALL => NO_CODE.wrapping_sub(rc),
        consts::ERR_LASTCODE => A::ERR_LASTCODE,
        _ => A::code(rc),
    }
}

/// A number that is no code of the interface is none of the standard either, and comes back: this
/// less the number.
const NO_CODE: c_int = c_int::MIN / 2;
/// Such numbers are less than this.
const NO_CODE_AT_ALL: c_int = -(1 << 20);

/// The code of the interface.
#[inline]
pub fn foreign_code<A: Abi>(native: c_int) -> c_int {
    code::<A>(native)
}

/// The standard's code.
#[inline]
pub fn code_in<A: Abi>(code: c_int) -> c_int {
    match code {
        consts::SUCCESS => consts::SUCCESS,
        last if last == A::ERR_LASTCODE => consts::ERR_LASTCODE,
        _ => A::native_code(code).unwrap_or(NO_CODE.wrapping_sub(code)),
    }
}

/// Translates a code or class that a call has stored.
///
/// # Safety
/// `at` is null or has one.
pub unsafe fn code_out<A: Abi>(rc: c_int, at: *mut c_int) {
    if rc == consts::SUCCESS && !at.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *at = code::<A>(*at) };
    }
}

/// No call stores this as a code.
const UNWRITTEN: c_int = c_int::MIN;

/// An array of codes that a call stores at the root, which knows how many there are. Elsewhere all
/// that it stores are `MPI_SUCCESS`, which is the same in each interface.
#[derive(Debug)]
pub struct Codes {
    to: *mut c_int,
    values: Option<Vec<c_int>>,
}

impl Codes {
    /// For the `entries` codes at `to`, which is null if they are to be ignored; not at the root.
    pub fn new(to: *mut c_int, entries: Option<usize>) -> Self {
        let entries = entries.filter(|_| !to.is_null());
        let values = entries.map(|n| vec![UNWRITTEN; n]);
        Codes { to, values }
    }

    /// Where the call is to store them.
    pub fn place(&mut self) -> *mut c_int {
        match &mut self.values {
            Some(values) => values.as_mut_ptr(),
            None => self.to,
        }
    }

    /// Stores what the call has stored.
    ///
    /// # Safety
    /// What `new` was given is writable for as many.
    pub unsafe fn finish<A: Abi>(&self) {
        for (i, &native) in self.values.iter().flatten().enumerate() {
            if native != UNWRITTEN {
                // SAFETY: the caller's promise.
                unsafe { self.to.add(i).write(code::<A>(native)) };
            }
        }
    }
}

/// Codes of errors that tell more than their class are `64 * n + class`, as `errors.rs` of `capi`
/// makes them; classes and codes that programs add are larger than [`consts::ERR_LASTCODE`].
const CLASSES: c_int = 64;

/// A code of the standard: `n` and the class, or one of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parts {
    /// `n` and the class.
    Class(c_int, c_int),
    /// One of the program.
    Added(c_int),
}

/// Takes a code of the standard apart.
pub fn parts(native: c_int) -> Parts {
    // The numbers of the tool interface, which no code of an error is (`errors.rs` of `capi`).
    let tool = (consts::T_ERR_CANNOT_INIT..=consts::T_ERR_PVAR_NO_ATOMIC).contains(&native);
    // Those of failures are codes as they are (`errors.rs` of `capi`), beyond all that tell more.
    let tool = tool || (consts::ERR_PROC_FAILED..=consts::ERR_REVOKED).contains(&native);
    if native > consts::ERR_LASTCODE {
        Parts::Added(native)
    } else if tool || native < CLASSES {
        Parts::Class(0, native)
    } else {
        Parts::Class(native / CLASSES, native % CLASSES)
    }
}

/// Puts a code of the standard together.
pub fn whole(n: c_int, class: c_int) -> c_int {
    if n == 0 { class } else { CLASSES * n + class }
}

/// The class of the interface for one of the standard, or the nearest that it has.
pub fn foreign_class(classes: &[Pair], native: c_int) -> c_int {
    let of = |class| {
        classes
            .iter()
            .find(|pair| pair.1 == class)
            .map(|pair| pair.0)
    };
    let nearest = match native {
        consts::ERR_ERRHANDLER => consts::ERR_ARG,
        _ => consts::ERR_OTHER,
    };
    of(native).or_else(|| of(nearest)).unwrap_or(native)
}

/// The class of the standard for one of the interface; `None` if it is not one.
pub fn native_class(classes: &[Pair], class: c_int) -> Option<c_int> {
    classes
        .iter()
        .find(|pair| pair.0 == class)
        .map(|pair| pair.1)
}
