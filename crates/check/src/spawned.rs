//! Threads that the program has made, and that are still there.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use catena_tool::object;

use crate::behind;

/// How many there are.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// Whether there are any.
pub fn is_alive() -> bool {
    ALIVE.load(Relaxed) > 0
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// What a thread is to do.
struct Task {
    start: Start,
    state: *mut c_void,
}

/// Counts the thread as long as it does that.
extern "C" fn run(task: *mut c_void) -> *mut c_void {
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Relaxed);
        }
    }
    // SAFETY: what `spawn` has made for this thread.
    let task = unsafe { Box::from_raw(task.cast::<Task>()) };
    let (start, state) = (task.start, task.state);
    drop(task);
    let _counted = Counted;
    start(state)
}

/// Files whose threads are not the program's: of MPI, and of what it stands upon.
const OTHERS: [&str; 11] = [
    "libmpi",
    "libcatena",
    "libuc",
    "libfabric",
    "libpmix",
    "libevent",
    "libibverbs",
    "librdmacm",
    "libpsm",
    "libcuda",
    "libnccl",
];

/// Whether code at an address belongs to the program, or to a library that it uses besides MPI.
fn is_programs(caller: usize) -> bool {
    let name = object::object(caller);
    let file = name.rsplit('/').next().unwrap_or_default();
    !OTHERS.iter().any(|it| file.starts_with(it))
}

/// Makes a thread; `caller` is the address that the call returns to.
fn spawn(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    state: *mut c_void,
    caller: usize,
) -> c_int {
    let next = behind::next!(
        c"pthread_create",
        fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> c_int
    );
    let Some(next) = next else {
        return libc::EAGAIN;
    };
    if !is_programs(caller) {
        // SAFETY: as the library has called it.
        return unsafe { next(thread, attributes, start, state) };
    }
    let task = Box::into_raw(Box::new(Task { start, state }));
    ALIVE.fetch_add(1, Relaxed);
    // SAFETY: as the program has called it; the task is the thread's.
    let code = unsafe { next(thread, attributes, run, task.cast()) };
    if code != 0 {
        ALIVE.fetch_sub(1, Relaxed);
        // SAFETY: no thread has it.
        drop(unsafe { Box::from_raw(task) });
    }
    code
}

// SAFETY: the C library's function, which programs may replace.
#[unsafe(no_mangle)]
extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    state: *mut c_void,
) -> c_int {
    let frames = catena_trace::frames(16);
    // The first ones may be this library's: how many, the compiler decides.
    let own = object::own();
    let caller = frames.iter().find(|it| !own.contains(&(**it as usize)));
    spawn(
        thread,
        attributes,
        start,
        state,
        caller.map_or(0, |&it| it as usize),
    )
}
