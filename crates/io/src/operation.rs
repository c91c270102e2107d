//! Collective calls that were started and are under way (MPI-5, chapters 14.4.3 and 14.4.5).
//!
//! What the members of a file do together they do in the order of their calls: so the operations of
//! a file wait in a queue, of which progress carries on the first, and a call that blocks waits
//! until those before it are over.

use catena_core::needs;
use catena_hang::WaitsFor;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use catena_core::Process;
use catena_core::hooks::Hook;
use catena_core::request::{Done, RequestObject, State};
use catena_objects::error::Result;
use catena_objects::error_place::ErrorPlace;

use crate::call::steps;

type Work = Pin<Box<dyn Future<Output = Done>>>;

/// A collective call under way, and how it went.
pub(crate) struct Operation {
    work: RefCell<Option<Work>>,
    result: RefCell<Option<Done>>,
    is_done: Cell<bool>,
    place: ErrorPlace,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("is_done", &self.is_done)
            .finish_non_exhaustive()
    }
}

impl Operation {
    /// One whose errors belong to `place`.
    pub fn new(place: ErrorPlace, work: impl Future<Output = Done> + 'static) -> Arc<Self> {
        Arc::new(Operation {
            work: RefCell::new(Some(Box::pin(work))),
            result: RefCell::default(),
            is_done: Cell::new(false),
            place,
        })
    }

    /// Whether it is over.
    pub fn is_done(&self) -> bool {
        self.is_done.get()
    }

    /// How it went, once.
    pub fn take(&self) -> Done {
        self.result.take().unwrap_or(Done::EMPTY)
    }

    /// Does what can be done now; whether it is over.
    fn advance(&self) -> bool {
        // A function of the program that converts data may call MPI again.
        let Ok(mut work) = self.work.try_borrow_mut() else {
            return false;
        };
        if let Some(future) = &mut *work
            && let Poll::Ready(done) = future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
        {
            self.result.replace(Some(done));
            *work = None;
            self.is_done.set(true);
        }
        self.is_done()
    }
}

impl RequestObject<Process> for Operation {
    fn state(&self, _: &Process) -> Result<State> {
        Ok(match self.is_done() {
            true => State::Complete,
            false => State::Pending,
        })
    }

    fn complete(&self, _: &Process) -> Done {
        self.take()
    }

    fn peek(&self, _: &Process) -> Result<Done> {
        let result = self.result.borrow();
        Ok(result.as_ref().map_or(Done::EMPTY, |done| Done {
            status: done.status,
            error: done.error.clone(),
        }))
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.place)
    }

    fn describe(&self, _: &Process, waits: &mut WaitsFor) {
        waits.needs.push(needs::open(catena_hang::What::File, ""));
    }
}

/// The operations of one file, in the order of their calls.
#[derive(Debug, Default)]
pub(crate) struct Queue(RefCell<VecDeque<Arc<Operation>>>);

impl Queue {
    fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Starts an operation behind the others.
    pub fn start(self: &Arc<Self>, process: &Process, operation: Arc<Operation>) {
        let was_empty = self.is_empty();
        self.0.borrow_mut().push_back(operation);
        if was_empty && !self.advance() {
            let hook = process.hook::<Queues>();
            hook.0.borrow_mut().push(self.clone());
            hook.add_work(1);
        }
    }

    /// Waits until all that were started are over.
    pub fn settle(&self, process: &Process) {
        if !self.is_empty() {
            let describe = |process: &Process, waits: &mut WaitsFor| {
                if let Some(first) = self.0.borrow().front() {
                    first.describe(process, waits);
                }
            };
            process.block(describe, |_| self.is_empty());
        }
    }

    /// Carries on the first; whether all are over.
    fn advance(&self) -> bool {
        loop {
            let Some(first) = self.0.borrow().front().cloned() else {
                return true;
            };
            if !first.advance() {
                return false;
            }
            self.0.borrow_mut().pop_front();
        }
    }
}

/// The queues that are not empty.
#[derive(Debug, Default)]
struct Queues(RefCell<Vec<Arc<Queue>>>);

/// The work of an operation is in use by one thread at a time, which may be in a function of the
/// program that converts data, outside of the lock: others leave that operation alone.
impl Hook<Process> for Queues {
    fn is_shared(&self) -> bool {
        true
    }

    fn progress(&self, process: &Process) -> bool {
        let before = steps();
        let queues = self.0.borrow().clone();
        let over: Vec<_> = queues.iter().filter(|queue| queue.advance()).collect();
        let mut all = self.0.borrow_mut();
        let there = all.len();
        all.retain(|queue| !over.iter().any(|it| Arc::ptr_eq(it, queue)));
        // Another thread may have seen that, too.
        process.hook::<Queues>().remove_work(there - all.len());
        !over.is_empty() || steps() != before
    }

    /// What a thread or a neighbour has done since may not be told again.
    fn before_sleep(&self, process: &Process) -> bool {
        self.progress(process)
    }
}
