//! What the trace is told of a call: which function, and its arguments that are numbers or handles.

use std::ffi::c_int;

use catena_abi::{
    Comm, Datatype, Errhandler, File, Group, Info, Message, Op, Request, Session, Win,
};

/// Number of each function, as the table counts them, those of the standard before the extensions;
/// which of its arguments are kept; and whether any thread may call it at any time.
#[allow(
    non_upper_case_globals,
    dead_code,
    reason = "the names of the functions, also of those that are written otherwise"
)]
pub(crate) mod number {
    include!(concat!(env!("OUT_DIR"), "/numbers.rs"));
}

/// Enters a function into the trace.
macro_rules! traced {
    ($name:ident $($arg:ident),* $(,)?) => {{
        const FUNCTION: (u16, [Option<usize>; 3], bool) = $crate::traced::number::$name;
        if const { $crate::traced::is_traced(FUNCTION.0) } {
            let words: &[u32] = &[$($crate::traced::Traced::word($arg)),*];
            // Which ones is known here, so nothing is looked for when the function is called.
            let kept = [
                if let Some(at) = const { FUNCTION.1[0] } { words[at] } else { 0 },
                if let Some(at) = const { FUNCTION.1[1] } { words[at] } else { 0 },
                if let Some(at) = const { FUNCTION.1[2] } { words[at] } else { 0 },
            ];
            match FUNCTION.2 {
                true => ::catena_trace::enter_beside(FUNCTION.0, kept),
                false => ::catena_trace::enter(FUNCTION.0, kept),
            }
        }
    }};
}

pub(crate) use traced;

/// Functions that any thread may call at any time, whatever the thread level is. They are not in
/// the trace: two threads may not write the same one.
const AT_ANY_TIME: [u16; 4] = [
    number::MPI_Initialized.0,
    number::MPI_Finalized.0,
    number::MPI_Get_version.0,
    number::MPI_Get_library_version.0,
];

pub(crate) const fn is_traced(number: u16) -> bool {
    let mut at = 0;
    while at < AT_ANY_TIME.len() {
        if AT_ANY_TIME[at] == number {
            return false;
        }
        at += 1;
    }
    true
}

/// An argument of a function.
pub(crate) trait Traced: Copy {
    /// What the trace keeps of it: the low 32 bits, which tell handles apart; a larger number is
    /// cut off there.
    fn word(self) -> u32;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Traced for $ty {
            #[inline(always)]
            fn word(self) -> u32 {
                self as u32
            }
        }
    )*};
}

numbers! { c_int i64 isize }

macro_rules! handles {
    ($($ty:ty)*) => {$(
        impl Traced for $ty {
            #[inline(always)]
            fn word(self) -> u32 {
                self.0 as u32
            }
        }
    )*};
}

handles! { Comm Datatype Errhandler File Group Info Message Op Request Session Win }

// The table keeps none of these.
macro_rules! others {
    ($([$($what:tt)*] $ty:ty),* $(,)?) => {$(
        impl<$($what)*> Traced for $ty {
            #[inline(always)]
            fn word(self) -> u32 {
                0
            }
        }
    )*};
}

others! { [T] *const T, [T] *mut T, [T: Copy] Option<T> }
