//! Calls that never return: an error handler has jumped out of them (`longjmp`), as libraries for
//! recovery do. A thread keeps what it has to do after each of its calls; the next call of the
//! thread finds those whose part of the stack is in use for something else.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;

use crate::call::Args;
use crate::collectives::Collective;
use crate::guard::Inside;
use crate::requests::Before;
use crate::stack;
use crate::threads::Calling;

/// A call that is under way.
#[derive(Debug)]
pub struct UnderWay {
    /// Where the caller's part of the stack begins, and the address that the call returns to.
    pub top: usize,
    pub caller: usize,
    pub args: Args,
    /// The code that its error handler was called with; 0 before that.
    pub code: c_int,
    /// The requests that it was given.
    pub waited: Before,
    pub _collective: Option<Collective>,
    /// Dropped last.
    pub _calling: Calling,
}

thread_local! {
    /// The calls that this thread is in: each is made by a function that the one before has called.
    /// A handler of `atexit` may call MPI when what has a destructor is gone from the thread, so
    /// this has none, and another one gives its memory back.
    static UNDER_WAY: ManuallyDrop<RefCell<Vec<UnderWay>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
    static END: End = const { End };
}

/// The end of a thread.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        let _inside = Inside::enter();
        with(|all| *all = Vec::new());
    }
}

fn with<R>(f: impl FnOnce(&mut Vec<UnderWay>) -> R) -> R {
    UNDER_WAY.with(|all| f(&mut all.borrow_mut()))
}

/// A call is about to go on in the library.
pub fn enter(call: UnderWay) {
    with(|all| all.push(call));
    _ = END.try_with(|_| ());
}

/// The error handler of the call that this thread has begun last is about to be called.
pub fn failed(code: c_int) {
    with(|all| {
        if let Some(last) = all.last_mut() {
            last.code = code;
        }
    });
}

/// The call with that part of the stack has returned.
pub fn leave(top: usize) -> Option<UnderWay> {
    with(|all| {
        let at = all.iter().rposition(|it| it.top == top)?;
        Some(all.remove(at))
    })
}

/// Whether this thread is in a call, now that one begins whose caller's part of the stack begins
/// there.
pub fn is_in_call(top: usize) -> bool {
    with(|all| {
        let own = stack::own();
        let is_over = |it: &UnderWay| stack::is_left(it.top, top, &own, || it.is_intact());
        all.iter().any(|it| !is_over(it))
    })
}

/// The calls of this thread that were left, now that one begins whose caller's part of the stack
/// begins there.
#[inline]
pub fn left(top: usize) -> Vec<UnderWay> {
    with(|all| match all.is_empty() {
        true => Vec::new(),
        false => {
            let own = stack::own();
            let is_left = |it: &mut UnderWay| stack::is_left(it.top, top, &own, || it.is_intact());
            all.extract_if(.., is_left).collect()
        }
    })
}

impl UnderWay {
    /// Whether the address that it returns to is still where the call has put it. The call has to
    /// be one on the stack of this thread.
    fn is_intact(&self) -> bool {
        // SAFETY: as is said above.
        unsafe { stack::is_intact(self.top, self.caller) }
    }
}
