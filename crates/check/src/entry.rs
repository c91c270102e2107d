//! The functions of MPI that programs and libraries call.

use std::ffi::c_int;

use crate::around::around;

catena_tool::stand_before_mpi!(called, all);

/// A function was called: its number and who has called it, the arguments in registers and on the
/// stack, and the address that it returns to.
///
/// # Safety
/// `registers` and `stack` have the arguments of the function.
unsafe extern "C" fn called(
    number: u32,
    registers: *const usize,
    stack: *const usize,
    caller: usize,
) -> c_int {
    let (number, from) = catena_tool::from(number);
    // SAFETY: the caller's promise.
    let args = unsafe { catena_tool::arguments(number, registers, stack) };
    around(args, from, caller, stack.addr())
}
