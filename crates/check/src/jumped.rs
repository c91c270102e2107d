//! Calls that never return: an error handler has jumped out of them (`longjmp`), as libraries for
//! recovery do. A thread keeps what it has to do after each of its calls; the next call of the
//! thread finds those whose part of the stack is in use for something else.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ops::Range;

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
        let is_over = |it: &UnderWay| is_left(it.top, top, &own, || it.is_intact());
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
            let is_left = |it: &mut UnderWay| is_left(it.top, top, &own, || it.is_intact());
            all.extract_if(.., is_left).collect()
        }
    })
}

impl UnderWay {
    /// Whether the address that it returns to is still where the call has put it. The call has to
    /// be one on the stack of this thread.
    fn is_intact(&self) -> bool {
        // SAFETY: memory of the stack of this thread.
        unsafe { ((self.top - RETURN) as *const usize).read_volatile() == self.caller }
    }
}

/// How far below the caller's part of the stack a call keeps the address that it returns to.
#[cfg(target_arch = "x86_64")]
const RETURN: usize = 8;
#[cfg(target_arch = "aarch64")]
const RETURN: usize = 72;

/// The least that a call within another one begins below it: both have arguments there, and the
/// tool its own.
const LEAST: usize = 128;

/// Whether a call with one part of a stack was left where another one begins: a call that a
/// function makes which the first one has called lies below that, and leaves it intact. Of two
/// stacks nothing is known.
fn is_left(
    before: usize,
    now: usize,
    own: &Range<usize>,
    is_intact: impl FnOnce() -> bool,
) -> bool {
    let are_own = own.contains(&before) && own.contains(&now);
    before == now || are_own && (before < now + LEAST || !is_intact())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_a_call_is_over() {
        let own = 1000..2000;
        let is_left = |before, now| is_left(before, now, &own, || true);
        assert!(is_left(1500, 1500) && is_left(1400, 1500));
        assert!(is_left(1564, 1500), "the new one has more arguments");
        assert!(!is_left(1700, 1500), "the new one is in a function of it");
        assert!(!is_left(400, 1500) && !is_left(1500, 2500), "two stacks");
        assert!(is_left(400, 400));
        assert!(super::is_left(1700, 1500, &own, || false));
    }
}
