//! Whether a thread is in a function of the library that a tool has called for itself.
//!
//! What a tool asks may fail: a group may be of another session, a process may be gone. The program
//! has nothing to do with that, so no error handler of it may be called, the least of all the one
//! that ends the job. The library asks here before it calls one, and returns the error's class.

use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    static ASKING: Cell<u32> = const { Cell::new(0) };
}

/// Calls a function of the library for the tool itself.
pub(crate) fn ask<T>(function: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            ASKING.set(ASKING.get() - 1);
        }
    }
    ASKING.set(ASKING.get() + 1);
    let _leave = Leave;
    function()
}

/// Whether it is a tool that has called the library, and not the program.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_tool_asks() -> c_int {
    (ASKING.get() != 0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_asks_as_long_as_a_question_of_its_own_is_under_way() {
        assert_eq!(catena_tool_asks(), 0);
        let inner = ask(|| {
            ask(|| ());
            let other = std::thread::spawn(|| catena_tool_asks());
            (catena_tool_asks(), other.join().unwrap())
        });
        assert_eq!((inner, catena_tool_asks()), ((1, 0), 0));
    }
}
