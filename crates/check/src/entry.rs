//! The functions of MPI, as programs and libraries with other ABIs call them.
//!
//! Each is two instructions that go to one place with the function's number. There the arguments
//! are put into memory as they were passed, and the address that the call returns to is taken.

use std::ffi::c_int;

use crate::around::around;
use crate::call::{Args, MOST};
use crate::next::From;

/// Arguments that are passed in registers; the others are on the stack.
#[cfg(target_arch = "x86_64")]
const REGISTERS: usize = 6;
#[cfg(target_arch = "aarch64")]
const REGISTERS: usize = 8;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the tool knows how x86_64 and aarch64 pass arguments");

/// Marks a call of a library with another ABI.
const LAYER: u32 = 1 << 15;
/// Marks a call by the name of the profiling interface.
const PROFILED: u32 = 1 << 14;

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
        called = sym called,
    )
}

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
        called = sym called,
    )
}

/// Defines a function under all of its names.
macro_rules! entry {
    ($number:literal, $program:literal, $profiled:literal, $layer:literal) => {
        const _: () = {
            // SAFETY: the table has each function once, and the tool comes before all others that
            // have names of MPI.
            #[cfg_attr(not(test), unsafe(export_name = $program))]
            #[unsafe(naked)]
            unsafe extern "C" fn program() {
        entry!(@body $number)
            }
            // SAFETY: as above.
            #[cfg_attr(not(test), unsafe(export_name = $profiled))]
            #[unsafe(naked)]
            unsafe extern "C" fn profiled() {
        entry!(@body $number | PROFILED)
            }
            // SAFETY: as above.
            #[cfg_attr(not(test), unsafe(export_name = $layer))]
            #[unsafe(naked)]
            unsafe extern "C" fn layer() {
        entry!(@body $number | LAYER)
            }
            // What is not exported, as in tests, is used all the same.
            _ = (
                program as unsafe extern "C" fn(),
                profiled as unsafe extern "C" fn(),
                layer as unsafe extern "C" fn(),
            );
        };
    };
    (@body $number:expr) => {
        jump!($number)
    };
}

/// Goes on with a number.
#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($number:expr) => {
        std::arch::naked_asm!("mov eax, {number}", "jmp {any}", number = const $number,
            any = sym any)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($number:expr) => {
        std::arch::naked_asm!("mov w9, {number}", "b {any}", number = const $number, any = sym any)
    };
}

include!(concat!(env!("OUT_DIR"), "/entries.rs"));

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
    let from = match number & (LAYER | PROFILED) {
        0 => From::Program,
        PROFILED => From::Profiled,
        _ => From::Layer,
    };
    let number = (number & !(LAYER | PROFILED)) as u16;
    let count = crate::call::CALLS[usize::from(number)].args.len();
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
    around(Args::new(number, words), from, caller, stack.addr())
}
