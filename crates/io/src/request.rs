//! Non-blocking access (MPI-5, chapter 14.4.1): threads carry transfers out while the program computes.
//!
//! A few threads take transfers from one queue. What they have done they put beside the request, and write
//! to a descriptor that ends the sleep of a process that waits; the thread that calls MPI then finishes them,
//! as conversion may call functions of the program.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File as Descriptor;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use catena_abi as abi;
use catena_core::Process;
use catena_core::hooks::Hook;
use catena_core::request::{Done, RequestObject, State};
use catena_objects::error::Result;
use catena_objects::error_place::ErrorPlace;

use crate::transfer::Transfer;

/// Threads at most.
const THREADS: usize = 4;

/// A transfer on its way.
#[derive(Debug)]
struct Job {
    transfer: Mutex<Option<Transfer>>,
    is_done: AtomicBool,
}

/// What the threads share.
#[derive(Debug)]
struct Queue {
    state: Mutex<Waiting>,
    more: Condvar,
    /// Readable when something is done; nothing if the system has no descriptor for it.
    ended: Option<Descriptor>,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Arc<Job>>,
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

impl Job {
    fn run(&self) {
        let mut transfer = locked(&self.transfer);
        if let Some(transfer) = &mut *transfer {
            transfer.run();
        }
        drop(transfer);
        self.is_done.store(true, Release);
        if let Some(mut ended) = QUEUE.ended.as_ref() {
            // A full counter can be read as well.
            let _ = ended.write(&1u64.to_ne_bytes());
        }
    }
}

/// Hands a job to a thread; carries it out at once if there is none.
fn submit(job: Arc<Job>) {
    let mut state = locked(&QUEUE.state);
    if state.idle <= state.jobs.len() && state.threads < THREADS {
        let builder = std::thread::Builder::new().name("catena-io".to_owned());
        if builder.spawn(serve).is_ok() {
            state.threads += 1;
        }
    }
    if state.threads == 0 {
        drop(state);
        return job.run();
    }
    state.jobs.push_back(job);
    drop(state);
    QUEUE.more.notify_one();
}

/// A thread: it lives as long as the process.
fn serve() {
    let mut state = locked(&QUEUE.state);
    loop {
        if let Some(job) = state.jobs.pop_front() {
            drop(state);
            job.run();
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

/// The request of a transfer.
#[derive(Debug)]
struct FileRequest {
    job: Arc<Job>,
    place: ErrorPlace,
    result: RefCell<Option<Done>>,
}

impl FileRequest {
    /// Finishes a transfer that has been carried out; whether it is finished.
    fn settle(&self, process: &Process) -> bool {
        if !self.job.is_done.load(Acquire) {
            return false;
        }
        let transfer = locked(&self.job.transfer).take();
        if let Some(transfer) = transfer {
            let done = transfer.finish(process);
            self.result.replace(Some(done));
        }
        true
    }
}

impl RequestObject for FileRequest {
    fn state(&self, _: &Process) -> Result<State> {
        Ok(match self.job.is_done.load(Acquire) {
            true => State::Complete,
            false => State::Pending,
        })
    }

    fn complete(&self, process: &Process) -> Done {
        self.settle(process);
        self.result.take().unwrap_or(Done::EMPTY)
    }

    fn peek(&self, process: &Process) -> Result<Done> {
        self.settle(process);
        let result = self.result.borrow();
        Ok(result.as_ref().map_or(Done::EMPTY, |done| Done {
            status: done.status,
            error: done.error.clone(),
        }))
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.place)
    }
}

/// The requests that threads work on.
#[derive(Debug, Default)]
struct UnderWay(RefCell<Vec<Arc<FileRequest>>>);

impl Hook<Process> for UnderWay {
    fn progress(&self, process: &Process) -> bool {
        if let Some(mut ended) = QUEUE.ended.as_ref() {
            // Nothing to read is no failure.
            let _ = ended.read(&mut [0; 8]);
        }
        let ended: Vec<_> = {
            let mut all = self.0.borrow_mut();
            all.extract_if(.., |it| it.job.is_done.load(Acquire))
                .collect()
        };
        for request in &ended {
            request.settle(process);
        }
        process.hook::<UnderWay>().remove_work(ended.len());
        !ended.is_empty()
    }

    fn before_sleep(&self, _: &Process) -> bool {
        let all = self.0.borrow();
        all.iter().any(|it| it.job.is_done.load(Acquire))
    }

    fn descriptor(&self) -> Option<RawFd> {
        QUEUE.ended.as_ref().map(AsRawFd::as_raw_fd)
    }
}

/// Starts a transfer; its request, whose errors belong to `file`.
pub(crate) fn start(process: &Process, transfer: Transfer, file: abi::File) -> abi::Request {
    let is_empty = transfer.is_empty();
    let job = Arc::new(Job {
        transfer: Mutex::new(Some(transfer)),
        is_done: AtomicBool::new(is_empty),
    });
    let request = Arc::new(FileRequest {
        job: job.clone(),
        place: file.into(),
        result: RefCell::default(),
    });
    if is_empty {
        request.settle(process);
    } else {
        let under_way = process.hook::<UnderWay>();
        under_way.0.borrow_mut().push(request.clone());
        under_way.add_work(1);
        submit(job);
    }
    process.add_request(request)
}
