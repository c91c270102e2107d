//! `MPI_Finalize` at the end of a Python program.
//!
//! mpi4py calls it while the interpreter ends, also if that ends by an exception that nobody has
//! caught. Then others may wait for messages of this process, which never come, while it waits for
//! them to finalize, too. So what is called that late is put off until the process exits, for then
//! it is known with which status. With 0 the process finalizes. With another one it finalizes if
//! the others come within [`PATIENCE`], as they do where all of them end with that status; else it
//! leaves MPI as a C program does that exits in the middle, and the launcher ends the job.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use catena_core::{init, life};

/// How long a process that has failed waits for others to finalize, too.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether MPI began in a Python program that was running.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Whether `MPI_Finalize` was put off.
static PUT_OFF: AtomicBool = AtomicBool::new(false);

/// What is called when the process exits.
static FINALIZE: OnceLock<fn() -> c_int> = OnceLock::new();

/// Whether the process has finalized at its exit.
static DONE: AtomicBool = AtomicBool::new(false);

type ExitHandler = extern "C" fn(c_int, *mut c_void);

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// What the loader knows by that name.
fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Whether there is an interpreter in this process, and whether it is running.
fn interpreter() -> Option<bool> {
    let found = symbol(c"Py_IsInitialized")?;
    // SAFETY: Python's function of that name is `int Py_IsInitialized(void)`, and may be called at
    // any time.
    let is_initialized = unsafe { transmute::<*mut c_void, extern "C" fn() -> c_int>(found) };
    Some(is_initialized() != 0)
}

/// Whether this process is a program of Python, and no other one with an interpreter in it, which
/// may go on after that has ended.
fn is_python() -> bool {
    let program = std::env::current_exe();
    let name = program.as_ref().ok().and_then(|path| path.file_name());
    name.is_some_and(|name| name.to_string_lossy().starts_with("python"))
}

/// MPI begins.
pub fn begin() {
    if interpreter() == Some(true) && is_python() {
        RUNNING.store(true, Ordering::Relaxed);
    }
}

/// Whether the interpreter that was running when MPI began has ended, and MPI has not.
pub fn has_ended() -> bool {
    RUNNING.load(Ordering::Relaxed) && interpreter() == Some(false) && !init::is_finalized()
}

/// Whether `MPI_Finalize`, called when the interpreter [`has_ended`], is put off until the process
/// exits, which calls `finalize` then.
pub fn puts_off(finalize: fn() -> c_int) -> bool {
    if PUT_OFF.swap(true, Ordering::Relaxed) {
        return true;
    }
    let _ = FINALIZE.set(finalize);
    // Not every C library has it.
    let added = symbol(c"on_exit").map(|found| {
        // SAFETY: where it exists, it is `int on_exit(void (*)(int, void *), void *)`.
        let on_exit = unsafe {
            transmute::<*mut c_void, extern "C" fn(ExitHandler, *mut c_void) -> c_int>(found)
        };
        on_exit(exits, std::ptr::null_mut())
    });
    let is_added = added == Some(0);
    PUT_OFF.store(is_added, Ordering::Relaxed);
    is_added
}

/// Whether the program believes that it has finalized.
pub fn has_put_off() -> bool {
    PUT_OFF.load(Ordering::Relaxed)
}

/// The process exits.
extern "C" fn exits(status: c_int, _: *mut c_void) {
    if life::is_copy() {
        return;
    }
    if status != 0 {
        init::note_failure();
        let give_up = move || {
            std::thread::sleep(PATIENCE);
            if DONE.load(Ordering::Acquire) {
                return;
            }
            // SAFETY: plain calls; what the program has written leaves before it ends. Another
            // stream may be one that a thread waits for.
            unsafe {
                libc::fflush(stdout);
                libc::fflush(stderr);
                libc::_exit(status)
            }
        };
        let waits = std::thread::Builder::new()
            .name("exit".into())
            .spawn(give_up);
        if waits.is_err() {
            return;
        }
    }
    if let Some(finalize) = FINALIZE.get() {
        finalize();
    }
    DONE.store(true, Ordering::Release);
}
