//! The functions of MPI, as programs and libraries with other ABIs call them.
//!
//! Each is two instructions that go to one place with the function's number. There the arguments
//! are put into memory as they were passed, and the address that the call returns to is taken.

use crate::call::{Args, CALLS, MOST};
use crate::next::From;

/// Arguments that are passed in registers; the others are on the stack.
#[cfg(target_arch = "x86_64")]
pub const REGISTERS: usize = 6;
/// Arguments that are passed in registers; the others are on the stack.
#[cfg(target_arch = "aarch64")]
pub const REGISTERS: usize = 8;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("tools know how x86_64 and aarch64 pass arguments");

/// Marks the number of a function that a library with another ABI has called.
pub const LAYER: u32 = 1 << 15;
/// Marks the number of a function that was called by the name of the profiling interface.
pub const PROFILED: u32 = 1 << 14;

/// The function of a number as it was passed, and who has called it.
#[inline]
pub fn from(number: u32) -> (u16, From) {
    let from = match number & (LAYER | PROFILED) {
        0 => From::Program,
        PROFILED => From::Profiled,
        _ => From::Layer,
    };
    ((number & !(LAYER | PROFILED)) as u16, from)
}

/// The arguments of a call: those in registers and those on the stack.
///
/// # Safety
/// `registers` and `stack` have the arguments of the function of that number.
pub unsafe fn arguments(number: u16, registers: *const usize, stack: *const usize) -> Args {
    let count = CALLS[usize::from(number)].args.len();
    let mut words = [0; MOST];
    for (i, word) in words.iter_mut().enumerate().take(count) {
        // SAFETY: the caller's promise.
        *word = unsafe {
            match i < REGISTERS {
                true => *registers.add(i),
                false => *stack.add(i - REGISTERS),
            }
        };
    }
    Args::new(number, words)
}

/// Defines the functions of MPI under their names: `first` are those of programs and of libraries
/// with other ABIs (`MPI_Send`, `catena_MPI_Send`), `all` those of the profiling interface as well
/// (`PMPI_Send`). All call the given function:
///
/// ```text
/// unsafe extern "C" fn called(
///     number: u32,
///     registers: *const usize,
///     stack: *const usize,
///     caller: usize,
/// ) -> c_int
/// ```
///
/// with the number of the function in [`CALLS`](crate::call::CALLS) and who has called it
/// ([`from`]), the arguments in registers and on the stack ([`arguments`]), and the
/// address that the call returns to. It is for a shared library, in one place.
#[macro_export]
macro_rules! stand_before_mpi {
    ($called:path, $names:ident) => {
        /// Where all functions go.
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        unsafe extern "C" fn any() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "sub rsp, 48",
                "mov [rsp], rdi",
                "mov [rsp + 8], rsi",
                "mov [rsp + 16], rdx",
                "mov [rsp + 24], rcx",
                "mov [rsp + 32], r8",
                "mov [rsp + 40], r9",
                "mov edi, eax",
                "mov rsi, rsp",
                "lea rdx, [rbp + 16]",
                "mov rcx, [rbp + 8]",
                "call {called}",
                "leave",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                called = sym $called,
            )
        }

        /// Where all functions go.
        #[cfg(target_arch = "aarch64")]
        #[unsafe(naked)]
        unsafe extern "C" fn any() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "stp x29, x30, [sp, #-80]!",
                ".cfi_def_cfa_offset 80",
                ".cfi_offset x29, -80",
                ".cfi_offset x30, -72",
                "mov x29, sp",
                "stp x0, x1, [sp, #16]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "mov w0, w9",
                "add x1, sp, #16",
                "add x2, sp, #80",
                "mov x3, x30",
                "bl {called}",
                "ldp x29, x30, [sp], #80",
                ".cfi_def_cfa_offset 0",
                "ret",
                ".cfi_endproc",
                called = sym $called,
            )
        }

        $crate::entries!($names);
    };
}

/// Defines one function under its names: see [`stand_before_mpi`].
#[doc(hidden)]
#[macro_export]
macro_rules! entry {
    (all, $number:literal, $program:literal, $profiled:literal, $layer:literal) => {
        $crate::entry!(@name $profiled, $number | $crate::PROFILED);
        $crate::entry!(first, $number, $program, $profiled, $layer);
    };
    (first, $number:literal, $program:literal, $profiled:literal, $layer:literal) => {
        $crate::entry!(@name $program, $number);
        $crate::entry!(@name $layer, $number | $crate::LAYER);
    };
    (@name $name:literal, $number:expr) => {
        const _: () = {
            // SAFETY: the table has each function once, and the tool comes before all others that
            // have names of MPI.
            #[cfg_attr(not(test), unsafe(export_name = $name))]
            #[unsafe(naked)]
            unsafe extern "C" fn function() {
                $crate::jump!($number)
            }
            // What is not exported, as in tests, is used all the same.
            _ = function as unsafe extern "C" fn();
        };
    };
}

/// Goes on with a number.
#[doc(hidden)]
#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! jump {
    ($number:expr) => {
        std::arch::naked_asm!("mov eax, {number}", "jmp {any}", number = const $number,
            any = sym any)
    };
}

/// Goes on with a number.
#[doc(hidden)]
#[cfg(target_arch = "aarch64")]
#[macro_export]
macro_rules! jump {
    ($number:expr) => {
        std::arch::naked_asm!("mov w9, {number}", "b {any}", number = const $number, any = sym any)
    };
}

include!(concat!(env!("OUT_DIR"), "/entries.rs"));
