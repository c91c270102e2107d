//! Threads that carry out what would keep the program waiting: reading and writing files.
//!
//! A few threads take work from one queue. When a piece of it is done, its thread writes to a
//! descriptor that ends the sleep of a process that waits; the thread that calls MPI then takes
//! what came of it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::fs::File as Descriptor;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use catena_core::Process;
use catena_core::hooks::Hook;

/// Threads at most.
const THREADS: usize = 4;

type Work = Box<dyn FnOnce() + Send>;

/// What the threads share.
struct Queue {
    state: Mutex<Waiting>,
    more: Condvar,
    /// Readable when something is done; nothing if the system has no descriptor for it.
    ended: Option<Descriptor>,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    threads: usize,
    idle: usize,
}

static QUEUE: LazyLock<Queue> = LazyLock::new(|| {
    // SAFETY: no memory is involved.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    // SAFETY: it has just been made, for nobody else.
    let owned = (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) });
    Queue {
        state: Mutex::default(),
        more: Condvar::new(),
        ended: owned.map(Descriptor::from),
    }
});

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands work to a thread; carries it out at once if there is none.
fn submit(work: Work) {
    let mut state = locked(&QUEUE.state);
    if state.idle <= state.work.len() && state.threads < THREADS {
        let builder = std::thread::Builder::new().name("catena-io".to_owned());
        if builder.spawn(serve).is_ok() {
            state.threads += 1;
        }
    }
    if state.threads == 0 {
        drop(state);
        return work();
    }
    state.work.push_back(work);
    drop(state);
    QUEUE.more.notify_one();
}

/// A thread: it lives as long as the process.
fn serve() {
    let mut state = locked(&QUEUE.state);
    loop {
        if let Some(work) = state.work.pop_front() {
            drop(state);
            work();
            if let Some(mut ended) = QUEUE.ended.as_ref() {
                // A full counter can be read as well.
                let _ = ended.write(&1u64.to_ne_bytes());
            }
            state = locked(&QUEUE.state);
        } else {
            state.idle += 1;
            state = QUEUE
                .more
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

/// Work that a thread has, and what comes of it.
pub(crate) struct Task<T> {
    result: Mutex<Option<T>>,
    is_done: AtomicBool,
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("is_done", &self.is_done)
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Task<T> {
    /// Work that is done already.
    pub(crate) fn done(result: T) -> Arc<Self> {
        Arc::new(Task {
            result: Mutex::new(Some(result)),
            is_done: AtomicBool::new(true),
        })
    }

    /// Hands work to a thread. Whoever waits for it has it [watched](watch), too.
    pub(crate) fn start(work: impl FnOnce() -> T + Send + 'static) -> Arc<Self> {
        let task = Arc::new(Task {
            result: Mutex::new(None),
            is_done: AtomicBool::new(false),
        });
        let own = task.clone();
        submit(Box::new(move || {
            *locked(&own.result) = Some(work());
            own.is_done.store(true, Release);
        }));
        task
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Acquire)
    }

    /// What came of it, once.
    pub(crate) fn take(&self) -> Option<T> {
        locked(&self.result).take()
    }
}

/// Something that a thread will have done, and progress then takes note of.
pub(crate) trait Awaited: fmt::Debug {
    /// Whether the thread is through.
    fn is_done(&self) -> bool;

    /// Takes note of it.
    fn settle(&self, process: &Process);
}

impl<T: Send + 'static> Awaited for Task<T> {
    fn is_done(&self) -> bool {
        Task::is_done(self)
    }

    fn settle(&self, _: &Process) {}
}

/// What threads work on.
#[derive(Debug, Default)]
struct UnderWay(RefCell<Vec<Arc<dyn Awaited>>>);

impl Hook<Process> for UnderWay {
    fn progress(&self, process: &Process) -> bool {
        if let Some(mut ended) = QUEUE.ended.as_ref() {
            // Nothing to read is no failure.
            let _ = ended.read(&mut [0; 8]);
        }
        let ended: Vec<_> = {
            let mut all = self.0.borrow_mut();
            all.extract_if(.., |it| it.is_done()).collect()
        };
        for it in &ended {
            it.settle(process);
        }
        process.hook::<UnderWay>().remove_work(ended.len());
        !ended.is_empty()
    }

    fn before_sleep(&self, _: &Process) -> bool {
        self.0.borrow().iter().any(|it| it.is_done())
    }

    fn descriptor(&self) -> Option<RawFd> {
        QUEUE.ended.as_ref().map(AsRawFd::as_raw_fd)
    }
}

/// Has the process wake, and take note, when a thread is through.
pub(crate) fn watch(process: &Process, it: Arc<dyn Awaited>) {
    let under_way = process.hook::<UnderWay>();
    under_way.0.borrow_mut().push(it);
    under_way.add_work(1);
}
