//! Functions of the program's, which can be called outside of the library's lock only.
//!
//! A callback may wait for a lock of the program's own (Python has one), whose holder waits for the
//! library's. So nobody has the library's while a callback runs, and other threads may be in the
//! library meanwhile. Whoever calls one must have left everything that other threads may touch in a
//! state in which they can go on, and keeps no borrow but of what belongs to its own call.
//!
//! The addresses of such functions lie in a [`Foreign`], which gives them out to nobody. `cargo
//! xtask tidy` refuses types of functions of C elsewhere in the crates that keep any. Functions
//! that end a [`State`](crate::state::State) are not among them: they may not call MPI, nor wait.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::OnceLock;

use catena_abi as abi;

/// `int copy(handle, keyval, extra_state, value_in, void *value_out, int *flag)`
pub type CopyFn =
    extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
/// `int delete(handle, keyval, value, extra_state)`
pub type DeleteFn = extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;
/// `void f(void *in, void *inout, int *len, MPI_Datatype *type)`
pub type OpFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut abi::Datatype);
/// `void f(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)`
pub type OpCountFn =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut abi::Count, *mut abi::Datatype);
/// `void f(void *in, void *inout, MPI_Count len, MPI_Datatype type, void *state)`
pub type LayerFn = extern "C" fn(*mut c_void, *mut c_void, abi::Count, abi::Datatype, *mut c_void);
/// `void f(handle *, int *error_code, ...)`
pub type HandlerFn = extern "C" fn(*mut usize, *mut c_int);
/// `int f(handle, int error_code, void *state)`: it returns the code that the call is to return.
pub type LayerHandler = extern "C" fn(usize, c_int, *mut c_void) -> c_int;

/// A callback of an event.
pub type EventFn = Foreign<abi::TEventCbFunction>;
/// A callback for events that were dropped.
pub type DroppedFn = Foreign<abi::TEventDroppedCbFunction>;
/// A callback for the end of a registration for events.
pub type FreedFn = Foreign<abi::TEventFreeCbFunction>;

pub use abi::{
    DatarepConversionFunction, DatarepConversionFunctionC, DatarepExtentFunction,
    GrequestCancelFunction, GrequestFreeFunction, GrequestQueryFunction,
};

/// How callbacks are called, once the library has a lock: it is let go of meanwhile, if this thread
/// has it.
pub static WITHOUT_LOCK: OnceLock<fn(&mut dyn FnMut())> = OnceLock::new();

thread_local! {
    /// How many functions of the program this thread is in, one in a call of the other.
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread is in a function of the program that the library has called.
#[inline]
pub fn is_inside() -> bool {
    INSIDE.get() != 0
}

/// Calls the program in the middle of a call of the library, outside of its lock.
pub fn outside<R>(call: impl FnOnce() -> R) -> R {
    unlocked(|| {
        INSIDE.set(INSIDE.get() + 1);
        let result = catena_trace::in_program(call);
        INSIDE.set(INSIDE.get() - 1);
        result
    })
}

/// What `call` says without the library's lock, if this thread has it: for what may take long and
/// needs nothing of the library, as calls of the system on files do.
pub fn unlocked<R>(call: impl FnOnce() -> R) -> R {
    let Some(without_lock) = WITHOUT_LOCK.get() else {
        return call();
    };
    let (mut call, mut result) = (Some(call), None);
    without_lock(&mut || result = call.take().map(|call| call()));
    match result {
        Some(result) => result,
        None => unreachable!("it was called once"),
    }
}

/// A function of the program's, with the type `F`.
///
/// # Examples
/// ```
/// use catena_objects::callback::Foreign;
///
/// extern "C" fn twice(n: i32) -> i32 {
///     2 * n
/// }
///
/// let function = Foreign::new(twice as extern "C" fn(i32) -> i32);
/// assert_eq!(function.call(|f| f(21)), 42);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Foreign<F>(F);

impl<F: Copy> Foreign<F> {
    /// A function that the program has given.
    pub const fn new(function: F) -> Self {
        Foreign(function)
    }

    /// What `call` makes of the function, outside of the library's lock.
    pub fn call<R>(&self, call: impl FnOnce(F) -> R) -> R {
        outside(|| call(self.0))
    }

    /// What `call` makes of the function where a call of the library ends with it: nothing is under
    /// way then, and the function may jump out of the call (`longjmp`), as error handlers do. What
    /// it jumps over is never dropped.
    pub fn call_at_end<R>(&self, call: impl FnOnce(F) -> R) -> R {
        unlocked(|| call(self.0))
    }
}

impl<F: Copy> Foreign<Option<F>> {
    /// Whether the program has given none.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// This function, if the program has given one.
    pub fn given(self) -> Option<Self> {
        self.0.map(|_| self)
    }
}

impl<F> From<F> for Foreign<F> {
    fn from(function: F) -> Self {
        Foreign(function)
    }
}

impl<F> fmt::Debug for Foreign<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Foreign")
    }
}
