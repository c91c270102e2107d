//! Whether a thread is in the tool: what it allocates and frees then is the tool's own.

use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, the thread is in the tool.
#[derive(Debug)]
pub struct Inside(());

impl Inside {
    pub fn enter() -> Inside {
        INSIDE.set(INSIDE.get() + 1);
        Inside(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

/// Whether the library is called by the tool, and not by the program.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_check_asks() -> c_int {
    is_inside().into()
}

pub fn is_inside() -> bool {
    INSIDE.get() != 0
}
