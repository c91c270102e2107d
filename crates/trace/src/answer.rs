//! Where a thread is that does not wait: what it answers when somebody asks it with a signal.
//!
//! The handler copies the registers and a part of the stack into the area of the process, and the
//! line of a Python program; who has asked finds the frames in that ([`crate::Sample`]). The
//! handler takes no lock, allocates nothing, and follows no pointer of the thread that it has
//! interrupted: what it copies it lets the kernel copy, which says so where there is no memory.
//! Unwinding here could wait for a lock of the loader that the interrupted thread has.
//!
//! # What a program can see of it
//!
//! - `SIGURG`, if the program had not given it a handler when it called `MPI_Init`. The system
//!   ignores it by default, and who handles it must be prepared for one that means nothing: it
//!   tells that some socket may have urgent data. So it harms nobody, unlike a real-time signal,
//!   whose handlers believe the value that comes with it. Nobody is asked who has blocked it, or
//!   has given it back to the system.
//! - A program that gives it a handler of its own after `MPI_Init` gets it when somebody asks, and
//!   nobody learns where it is. One that wants none of it installs its handler before.
//! - The handler is restarting (`SA_RESTART`) and runs on the thread's alternate stack, if it has
//!   one (`SA_ONSTACK`). Calls that never restart end early with `EINTR`, as with any signal:
//!   `sleep`, `nanosleep`, `poll`, `select`, `epoll_wait`, `semtimedop`. So a thread that sleeps in
//!   the kernel is not asked, where the kernel tells otherwise where it is: see
//!   [`View::ask`](crate::View::ask).
//! - Copies by `fork` answer nobody, and after `exec` the new program is not asked: it has no
//!   handler.
//! - A stack of a user-level thread, or an alternate one, needs room for the frame of a signal (3
//!   KiB with AVX-512, up to 11 KiB with AMX) and 3 KiB.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::area::Area;
use crate::python;
use crate::reply::{MARK, REGISTERS, Reply, STACK, STACK_POINTER, Stack};
use crate::thread::{area, thread_now};

/// Answers from now on who asks where a thread of this process is: installs the handler of
/// `SIGURG`. For a process that has an area, once. If the program has given that one, nobody is
/// answered.
pub fn listen() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let is_known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    let Some(area) = area() else {
        return;
    };
    if !is_known || DONE.swap(true, Relaxed) || !Area::provide(&area.reply().signal) {
        return;
    }
    python::find_python();
    if install() {
        area.reply()
            .is_python
            .store(u32::from(python::is_there()), Relaxed);
        area.reply().signal.store(libc::SIGURG as u32, Release);
    }
}

/// Installs the handler of the signal if it has none: whether it had none.
fn install() -> bool {
    // SAFETY: all-zero is a valid one.
    let mut known: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a place for what is told.
    let told = unsafe { libc::sigaction(libc::SIGURG, ptr::null(), &raw mut known) };
    if told != 0 || known.sa_sigaction != libc::SIG_DFL {
        return false;
    }
    // SAFETY: all-zero is a valid one, with no signal in its mask.
    let mut own: libc::sigaction = unsafe { std::mem::zeroed() };
    own.sa_sigaction = handle as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
    own.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: a handler that is safe whenever it runs, of a library that is never unloaded.
    unsafe { libc::sigaction(libc::SIGURG, &raw const own, ptr::null_mut()) == 0 }
}

extern "C" fn handle(_: c_int, about: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: what the kernel gives a handler with `SA_SIGINFO`.
    let (about, context) = unsafe { (&*about, &*context.cast::<libc::ucontext_t>()) };
    // SAFETY: of this thread.
    let error = unsafe { *libc::__errno_location() };
    if about.si_code == libc::SI_QUEUE {
        // SAFETY: a signal of that kind has a value.
        let value = unsafe { about.si_value() }.sival_ptr.addr() as u64;
        let question = value as u32;
        // Somebody else's does nothing.
        if value >> 32 == u64::from(MARK) && question != 0 {
            answer(question, context);
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
}

/// Writes the answer, unless another thread is just writing one.
fn answer(question: u32, context: &libc::ucontext_t) {
    static BUSY: AtomicBool = AtomicBool::new(false);
    let Some(area) = area() else {
        return;
    };
    if !Area::provide(area.reply()) || BUSY.swap(true, Acquire) {
        return;
    }
    let to: &Reply = area.reply();
    to.changes.make(|| write(to, question, context));
    BUSY.store(false, Release);
}

fn write(to: &Reply, question: u32, context: &libc::ucontext_t) {
    to.thread.store(thread_now(), Relaxed);
    let registers = registers(context);
    for (to, from) in to.registers.iter().zip(registers) {
        to.store(from, Relaxed);
    }
    let copied = copy(stack_pointer(&registers), &to.stack);
    to.stack_len.store(copied as u32, Relaxed);
    let mut line = python::Text::default();
    python::write(&mut line);
    let bytes = line.bytes();
    for (to, from) in to.python.iter().zip(bytes.chunks(8)) {
        let mut word = [0; 8];
        word[..from.len()].copy_from_slice(from);
        to.store(u64::from_le_bytes(word), Relaxed);
    }
    to.python_len.store(bytes.len() as u32, Relaxed);
    to.question.store(question, Relaxed);
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> [u64; REGISTERS] {
    const ORDER: [c_int; REGISTERS] = [
        libc::REG_RAX,
        libc::REG_RDX,
        libc::REG_RCX,
        libc::REG_RBX,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_RBP,
        libc::REG_RSP,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
        libc::REG_RIP,
    ];
    ORDER.map(|at| context.uc_mcontext.gregs[at as usize] as u64)
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::ucontext_t) -> [u64; REGISTERS] {
    let all = &context.uc_mcontext;
    let mut registers = [0; REGISTERS];
    registers[..31].copy_from_slice(&all.regs);
    registers[31] = all.sp;
    registers[32] = all.pc;
    registers
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn registers(_: &libc::ucontext_t) -> [u64; REGISTERS] {
    [0; REGISTERS]
}

fn stack_pointer(registers: &[u64; REGISTERS]) -> u64 {
    registers.get(STACK_POINTER).copied().unwrap_or(0)
}

/// Copies the stack from there on, as far as there is memory: how many bytes.
fn copy(from: u64, to: &Stack) -> usize {
    const PAGE: usize = 4 << 10;
    const PIECES: usize = STACK / PAGE + 1;
    // The kernel copies a piece as a whole or not at all; only whole pages are there as a whole.
    let nothing = libc::iovec {
        iov_base: ptr::null_mut(),
        iov_len: 0,
    };
    let mut pieces = [nothing; PIECES];
    let mut at = from as usize;
    let mut left = STACK;
    for piece in &mut pieces {
        let len = (PAGE - at % PAGE).min(left);
        piece.iov_base = at as *mut c_void;
        piece.iov_len = len;
        at = at.wrapping_add(len);
        left -= len;
    }
    let own = libc::iovec {
        iov_base: to.0.as_ptr().cast_mut().cast(),
        iov_len: STACK,
    };
    // SAFETY: memory that others only read; the kernel looks whether the other is there.
    let copied = unsafe {
        let pid = libc::getpid();
        libc::process_vm_readv(pid, &raw const own, 1, pieces.as_ptr(), PIECES as u64, 0)
    };
    if copied >= 0 {
        return copied as usize;
    }
    // A filter forbids that. What the thread stands on is there, up to the end of its page.
    let len = (PAGE - from as usize % PAGE) / 8;
    let words = from as *const u64;
    for (number, to) in to.0.iter().take(len).enumerate() {
        // SAFETY: in the page of the stack pointer, which is aligned.
        to.store(unsafe { words.add(number).read_volatile() }, Relaxed);
    }
    8 * len
}
