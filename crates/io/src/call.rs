//! How the members of a file do something together, in one of two ways: a call that blocks does
//! each step to its end; one that was started leaves off wherever it would have to wait, and
//! progress takes it up again.
//!
//! The code is the same: an `async` function whose waits are those of a [`CollectiveCall`]. There
//! is no runtime and no waker: progress polls what is under way ([`crate::operation`]).

use catena_core::needs;
use catena_hang::WaitsFor;
use catena_hang::What;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use catena_abi::{self as abi, Count, consts};
use catena_core::Process;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::coll::{Caller, Data, Prepared};
use catena_core::comm::Comm;
use catena_core::request::{self, State};
use catena_link::Mode;
use catena_objects::callback::unlocked;
use catena_objects::error::{Error, Result};

use crate::threads::{Task, watch};

/// Steps that were waited for and have come, in all that was started: whether something has moved.
static STEPS: AtomicU64 = AtomicU64::new(0);

/// How often something that was started has moved on.
pub(crate) fn steps() -> u64 {
    STEPS.load(Relaxed)
}

/// The members, as one of them waits for the others.
#[derive(Clone, Debug)]
pub(crate) struct CollectiveCall {
    process: NonNull<Process>,
    /// The members.
    pub comm: Arc<Comm>,
    /// Whether the call blocks.
    now: bool,
}

impl CollectiveCall {
    /// For a call that blocks.
    pub fn blocking(process: &Process, comm: &Arc<Comm>) -> Self {
        CollectiveCall {
            process: process.into(),
            comm: comm.clone(),
            now: true,
        }
    }

    /// For one that was started.
    pub fn started(process: &Process, comm: &Arc<Comm>) -> Self {
        CollectiveCall {
            now: false,
            ..CollectiveCall::blocking(process, comm)
        }
    }

    /// The process.
    pub fn process(&self) -> &Process {
        // SAFETY: the one state of the process stays for good, also when nobody uses it any more,
        // and whoever polls has entered the library.
        unsafe { self.process.as_ref() }
    }

    /// Waits for something that comes with progress.
    pub async fn until(&self, done: impl FnMut(&Process) -> bool) {
        let describe = |_: &Process, waits: &mut WaitsFor| {
            waits.needs.push(needs::open(What::File, ""));
        };
        self.until_told(describe, done).await;
    }

    /// As [`CollectiveCall::until`]; if it lasts, `describe` says what for.
    async fn until_told(
        &self,
        describe: impl Fn(&Process, &mut WaitsFor),
        mut done: impl FnMut(&Process) -> bool,
    ) {
        if self.now {
            if !done(self.process()) {
                self.process().block(describe, done);
            }
            return;
        }
        poll_fn(|_| match done(self.process()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        STEPS.fetch_add(1, Relaxed);
    }

    /// Waits for a request; how many bytes came with it.
    async fn complete(&self, mut request: abi::Request) -> Result<u64> {
        let is_over =
            |process: &Process| !matches!(request::state(process, request), Ok(State::Pending));
        self.until(is_over).await;
        let done = request::complete(self.process(), &mut request);
        done.into_result().map(|status| status.bytes())
    }

    /// Carries out a collective operation that [`CollectiveCall::caller`] has prepared.
    pub async fn carry_out(&self, prepared: Option<Prepared>) -> Result<()> {
        let Some(prepared) = prepared else {
            return Ok(());
        };
        if self.now {
            return prepared.run(self.process());
        }
        let request = prepared.start(self.process())?;
        self.complete(request).await.map(drop)
    }

    /// What prepares collective operations.
    pub fn caller(&self) -> Caller<'_> {
        Caller {
            process: self.process(),
            now: self.now,
        }
    }

    /// Waits until all members have come here.
    pub async fn barrier(&self) -> Result<()> {
        let prepared = self.caller().barrier(&self.comm)?;
        self.carry_out(prepared).await
    }

    /// The lowest of what members have, word by word.
    pub async fn lowest<const N: usize>(&self, own: [u64; N]) -> Result<[u64; N]> {
        let mut all = Box::new([0; N]);
        let recv = Data {
            buf: all.as_mut_ptr().cast(),
            count: N as Count,
            ty: consts::UINT64_T,
        };
        let own = Box::new(own);
        let send = own.as_ptr().cast();
        let prepared = self
            .caller()
            .allreduce(&self.comm, send, recv, consts::MIN)?;
        self.carry_out(prepared).await?;
        Ok(*all)
    }

    /// Begins to send bytes to a member; the request, which has to be [ended](Crew::sent).
    pub fn send(&self, to: u32, tag: i32, bytes: Vec<u8>) -> abi::Request {
        let buffer = SendBuf::Owned(bytes.into());
        let (process, comm) = (self.process(), &self.comm);
        comm.isend(process, buffer, to, tag, Mode::Standard)
    }

    /// Waits for a message. Once a member has died the other end may have left the call, although
    /// it lives: why it is not waited for any longer.
    async fn await_message(&self, request: abi::Request) -> Option<Error> {
        let is_over =
            |process: &Process| !matches!(request::state(process, request), Ok(State::Pending));
        let comm = self.comm.clone();
        self.until(|process| is_over(process) || comm.trouble(process).is_some())
            .await;
        match is_over(self.process()) {
            true => None,
            false => self.comm.trouble(self.process()),
        }
    }

    /// Waits until a message has left.
    ///
    /// # Errors
    /// If a member has died.
    pub async fn sent(&self, mut request: abi::Request) -> Result<()> {
        if let Some(error) = self.await_message(request).await {
            // It has its own bytes.
            request::free(self.process(), &mut request)?;
            return Err(error);
        }
        self.complete(request).await.map(drop)
    }

    /// Receives what a member sends into `room`; how many bytes it was.
    ///
    /// # Errors
    /// If a member has died.
    pub async fn receive(&self, from: u32, tag: i32, room: &mut [u8]) -> Result<usize> {
        let buffer = RecvBuf::Bytes(room.as_mut_ptr(), room.len() as u64);
        let (process, comm) = (self.process(), &self.comm);
        let request = comm.irecv(process, buffer, from as i32, tag);
        let parted = self.await_message(request).await;
        if parted.is_some() {
            // What is in the middle of coming comes to its end.
            request::cancel(process, request)?;
        }
        let bytes = self.complete(request).await?;
        parted.map_or(Ok((bytes as usize).min(room.len())), Err)
    }

    /// Begins work that needs nothing of the library: on a thread, unless the call blocks and no
    /// core is `free`.
    pub fn begin<T: Send + 'static>(
        &self,
        is_free: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Arc<Task<T>> {
        if self.now && !is_free {
            return Task::done(unlocked(work));
        }
        let task = Task::start(work);
        watch(self.process(), task.clone());
        task
    }

    /// Waits for such work.
    pub async fn end<T: Send + 'static>(&self, task: Arc<Task<T>>) -> T {
        self.until(|_| task.is_done()).await;
        task.take().expect("work is waited for once")
    }
}

/// What a function comes to whose waits all block.
pub(crate) fn at_once<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => unreachable!("a call that blocks has waited"),
    }
}
