//! The memory of an answer to who asks a thread where it is.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::changes::Changes;
use crate::python::PYTHON_LINE;

/// Where it begins in an area.
pub(crate) const REPLY_AT: usize = 196 << 10;

/// Registers by their numbers in DWARF; the last one is the program counter.
#[cfg(target_arch = "x86_64")]
pub(crate) const REGISTERS: usize = 17;
/// Registers by their numbers in DWARF: the general ones, the stack pointer; the last one is the
/// program counter.
#[cfg(target_arch = "aarch64")]
pub(crate) const REGISTERS: usize = 33;
/// On other machines nobody listens.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const REGISTERS: usize = 1;

/// Bytes of the stack, from its pointer on.
pub(crate) const STACK: usize = 56 << 10;

/// What tells a question from a signal of somebody else.
pub(crate) const MARK: u32 = 0x6174_6143;

/// The memory of an answer. `changes` tells whether what is behind it is whole.
#[derive(Debug)]
#[repr(C, align(4096))]
pub(crate) struct Reply {
    /// The signal that asks; 0 where nobody listens.
    pub signal: AtomicU32,
    /// Whether there is a Python program.
    pub is_python: AtomicU32,
    pub changes: Changes,
    /// The question that this is the answer to.
    pub question: AtomicU32,
    pub thread: AtomicU32,
    pub stack_len: AtomicU32,
    pub python_len: AtomicU32,
    pub registers: [AtomicU64; REGISTERS],
    pub python: [AtomicU64; PYTHON_LINE / 8],
    pub stack: Stack,
}

/// Bytes that the kernel writes.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Stack(pub [AtomicU64; STACK / 8]);

const _: () = assert!(offset_of!(Reply, stack) + STACK <= size_of::<Reply>());

/// Which of the registers points to the stack.
pub(crate) const STACK_POINTER: usize = if cfg!(target_arch = "x86_64") { 7 } else { 31 };
