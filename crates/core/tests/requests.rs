//! Requests of every kind keep to what the trait says, and the calls that take them keep to a
//! naive model of the standard (MPI-5, chapters 3.7.3 and 3.9).

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use catena_abi::{self as abi, Status, consts};
use catena_core::bsend::Holder;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::coll::Caller;
use catena_core::process::Entered;
use catena_core::request::conformance::{Sample, check};
use catena_core::request::{self, Done, Generalized, Operation, RequestObject, SENT, State};
use catena_core::{Process, enter, init};
use catena_link::Mode;
use catena_objects::error_place::ErrorPlace;
use catena_objects::{Error, Kind, Result};
use proptest::prelude::*;

/// The library, for one test at a time.
struct Alone {
    process: Entered<Process>,
    _turn: MutexGuard<'static, ()>,
}

fn library() -> Alone {
    static ONCE: Once = Once::new();
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    ONCE.call_once(|| {
        init::init(consts::THREAD_MULTIPLE).expect("a process is a job of its own");
    });
    Alone {
        process: enter().expect("it was brought up"),
        _turn: turn,
    }
}

/// Complete after a number of rounds of progress.
#[derive(Debug)]
struct Scripted {
    me: Weak<Scripted>,
    rounds: u32,
    /// Rounds that are left, while it is active.
    left: Cell<Option<u32>>,
    persistent: bool,
    /// Fails with each completion.
    fails: bool,
    /// Progress has it.
    carried: Cell<bool>,
    cancelled: Cell<bool>,
    completions: Cell<u32>,
    recycled: Cell<bool>,
}

impl Scripted {
    fn new(process: &Process, rounds: u32, persistent: bool, fails: bool) -> Arc<Self> {
        let it = Arc::new_cyclic(|me| Scripted {
            me: me.clone(),
            rounds,
            left: Cell::new(None),
            persistent,
            fails,
            carried: Cell::new(false),
            cancelled: Cell::new(false),
            completions: Cell::new(0),
            recycled: Cell::new(false),
        });
        if !persistent {
            it.activate(process);
        }
        it
    }

    fn activate(&self, process: &Process) {
        self.left.set(Some(self.rounds));
        if !self.carried.replace(true) {
            request::carry_on(process, self.me.upgrade().expect("it is in use"));
        }
    }

    fn done(&self) -> Done {
        let mut status = Status::empty();
        status.set_cancelled(self.cancelled.get());
        Done {
            status,
            error: self.fails.then(|| Error::new(Kind::Other, "as asked for")),
        }
    }
}

impl RequestObject<Process> for Scripted {
    fn state(&self, _: &Process) -> Result<State> {
        Ok(match self.left.get() {
            None => State::Inactive,
            Some(0) => State::Complete,
            Some(_) => State::Pending,
        })
    }

    fn complete(&self, _: &Process) -> Done {
        if self.left.get().is_none() {
            return Done::EMPTY;
        }
        assert_eq!(self.left.take(), Some(0), "completed when it is complete");
        self.completions.set(self.completions.get() + 1);
        let done = self.done();
        self.cancelled.set(false);
        done
    }

    fn peek(&self, _: &Process) -> Result<Done> {
        Ok(match self.left.get() {
            Some(_) => self.done(),
            None => Done::EMPTY,
        })
    }

    fn recycle(self: Arc<Self>, _: &Process) {
        assert!(!self.persistent);
        assert!(!self.recycled.replace(true));
    }

    fn is_persistent(&self) -> bool {
        self.persistent
    }

    fn start(&self, process: &Process) -> Result<()> {
        if !self.persistent || self.left.get().is_some() {
            return Err(Error::new(Kind::Request, "not persistent, or active"));
        }
        self.activate(process);
        Ok(())
    }

    fn cancel(&self, _: &Process) -> Result<()> {
        if self.left.get().is_some_and(|left| left > 0) {
            self.cancelled.set(true);
            self.left.set(Some(0));
        }
        Ok(())
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(consts::COMM_SELF.into())
    }

    fn advance(&self, _: &Process) -> bool {
        let left = self.left.get().map(|left| left.saturating_sub(1));
        self.left.set(left);
        let is_over = left.is_none_or(|left| left == 0);
        self.carried.set(!is_over);
        is_over
    }
}

/// What a program does with a request.
#[derive(Clone, Copy, Debug)]
enum Call {
    Start,
    Progress,
    Test,
    Wait,
    GetStatus,
    Cancel,
    Free,
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => Just(Call::Start),
        3 => Just(Call::Progress),
        3 => Just(Call::Test),
        2 => Just(Call::Wait),
        2 => Just(Call::GetStatus),
        1 => Just(Call::Cancel),
        1 => Just(Call::Free),
    ]
}

/// The standard, naively: a request by what a program can see of it.
#[derive(Debug)]
struct Model {
    rounds: u32,
    persistent: bool,
    alive: bool,
    left: Option<u32>,
    cancelled: bool,
    completions: u32,
}

impl Model {
    fn state(&self) -> Option<State> {
        self.alive.then_some(match self.left {
            None => State::Inactive,
            Some(0) => State::Complete,
            Some(_) => State::Pending,
        })
    }

    fn progress(&mut self) {
        self.left = self.left.map(|left| left.saturating_sub(1));
    }

    /// Completes it; whether it had been cancelled.
    fn complete(&mut self) -> bool {
        if self.left.take().is_none() {
            return false;
        }
        self.completions += 1;
        self.alive = self.persistent;
        std::mem::take(&mut self.cancelled)
    }
}

fn is_cancelled(done: &Done) -> bool {
    done.status.cancelled()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn calls_keep_to_the_standard(
        rounds in 0u32..4,
        persistent: bool,
        fails: bool,
        calls in prop::collection::vec(call(), 1..40),
    ) {
        let library = library();
        let process = &*library.process;
        let before = process.objects.requests.len();
        let object = Scripted::new(process, rounds, persistent, fails);
        let mut request = request::add(process, object.clone());
        let handle = request;
        let mut model = Model {
            rounds,
            persistent,
            alive: true,
            left: (!persistent).then_some(rounds),
            cancelled: false,
            completions: 0,
        };
        for call in calls {
            let state = model.state();
            match call {
                Call::Start => {
                    let may = state == Some(State::Inactive) && persistent;
                    let started = request::start(process, handle);
                    prop_assert_eq!(started.is_ok(), may);
                    if may {
                        model.left = Some(model.rounds);
                    }
                }
                Call::Progress => {
                    process.progress();
                    model.progress();
                }
                Call::Test => {
                    let polled = request::poll(process, handle);
                    if state == Some(State::Pending) {
                        model.progress();
                    }
                    prop_assert_eq!(polled.ok(), model.state());
                    if model.state() == Some(State::Complete) {
                        let done = request::complete(process, &mut request);
                        prop_assert_eq!(is_cancelled(&done), model.complete());
                        let place = done.error.as_ref().map(|e| e.place());
                        let wanted = fails.then(|| Some(consts::COMM_SELF.into()));
                        prop_assert_eq!(place, wanted);
                    }
                }
                Call::Wait => {
                    let mut named = handle;
                    match (request::wait(process, &mut named), state) {
                        (Err(error), None) => prop_assert_eq!(error.kind(), Kind::Request),
                        (Ok(done), Some(_)) => {
                            let was = state != Some(State::Inactive);
                            prop_assert_eq!(done.error.is_some(), fails && was);
                            prop_assert_eq!(is_cancelled(&done), model.complete());
                            request = named;
                        }
                        (other, _) => prop_assert!(false, "{:?} of {:?}", other, state),
                    }
                }
                Call::GetStatus => match (request::peek(process, handle), state) {
                    (Err(error), None) => prop_assert_eq!(error.kind(), Kind::Request),
                    (Ok(done), Some(_)) => prop_assert_eq!(is_cancelled(&done), model.cancelled),
                    (other, _) => prop_assert!(false, "{:?} of {:?}", other, state),
                },
                Call::Cancel => {
                    prop_assert_eq!(request::cancel(process, handle).is_ok(), model.alive);
                    if state == Some(State::Pending) {
                        (model.left, model.cancelled) = (Some(0), true);
                    }
                }
                Call::Free => {
                    let mut named = handle;
                    prop_assert_eq!(request::free(process, &mut named).is_ok(), model.alive);
                    if model.alive {
                        prop_assert_eq!(named, consts::REQUEST_NULL);
                        request = named;
                    }
                    model.alive = false;
                }
            }
            prop_assert_eq!(request::state(process, handle).ok(), model.state());
            prop_assert_eq!(request == consts::REQUEST_NULL, !model.alive);
            prop_assert_eq!(object.completions.get(), model.completions);
            prop_assert_eq!(object.recycled.get(), !persistent && model.completions > 0);
        }
        // Nothing stays.
        if model.alive {
            request::free(process, &mut request).expect("alive");
        }
        while object.carried.get() {
            process.progress();
        }
        prop_assert_eq!(process.objects.requests.len(), before);
        prop_assert_eq!(Arc::strong_count(&object), 1);
    }
}

/// Makes requests by a function, and feeds them by another.
struct By<M, F>(M, F);

impl<M, F> Sample for By<M, F>
where
    M: FnMut(&Process) -> abi::Request,
    F: FnMut(&Process, abi::Request),
{
    fn make(&mut self, process: &Process) -> abi::Request {
        self.0(process)
    }

    fn feed(&mut self, process: &Process, request: abi::Request) {
        self.1(process, request);
    }
}

fn nothing(_: &Process, _: abi::Request) {}

#[test]
fn scripted_requests_conform() {
    let library = library();
    for (persistent, fails) in [(false, false), (true, false), (false, true)] {
        let make =
            |process: &Process| request::add(process, Scripted::new(process, 2, persistent, fails));
        check(&library.process, &mut By(make, nothing));
    }
}

#[test]
fn persistent_transfers_conform() {
    let library = library();
    let own = library.process.comms.own.clone();
    let int = library
        .process
        .objects
        .types
        .layout(consts::INT)
        .expect("predefined");
    let from = [7i32; 2];
    let mut into = [0i32; 2];
    let mut send = |process: &Process| {
        (Operation::Send {
            comm: own.clone(),
            buf: from.as_ptr().cast(),
            count: 2,
            ty: int.clone(),
            dest: 0,
            tag: 3,
            mode: Mode::Synchronous,
        })
        .init(process)
    };
    let at = into.as_mut_ptr();
    let receive = |process: &Process, _: abi::Request| {
        let buf = RecvBuf::new(at.cast(), 2, int);
        assert!(own.recv(process, buf, 0, 3).error.is_none());
    };
    check(&library.process, &mut By(&mut send, receive));
    assert_eq!(into, from);

    into.fill(0);
    let at = into.as_mut_ptr();
    let receive = |process: &Process| {
        (Operation::Recv {
            comm: own.clone(),
            buf: at.cast(),
            count: 2,
            ty: int.clone(),
            source: 0,
            tag: 4,
        })
        .init(process)
    };
    let send = |process: &Process, _: abi::Request| {
        let buf = SendBuf::new(from.as_ptr().cast(), 2, int);
        own.send(process, buf, 0, 4, Mode::Standard).expect("sent");
    };
    check(&library.process, &mut By(receive, send));
    assert_eq!(into, from);

    let nowhere = |process: &Process| Operation::Nowhere.init(process);
    check(&library.process, &mut By(nowhere, nothing));
}

#[test]
fn pairs_flushes_and_duplications_conform() {
    let library = library();
    let own = library.process.comms.own.clone();
    let (from, mut into) = ([5u8; 4], [0u8; 4]);
    let at = into.as_mut_ptr();
    let pair = |process: &Process| {
        let recv = own.irecv(process, RecvBuf::Bytes(at, 4), 0, 9);
        request::pair(process, SENT, recv)
    };
    let feed = |process: &Process, _: abi::Request| {
        let buf = SendBuf::Bytes(from.as_ptr(), 4);
        own.send(process, buf, 0, 9, Mode::Standard).expect("sent");
    };
    check(&library.process, &mut By(pair, feed));
    assert_eq!(into, from);

    let flush = |process: &Process| Holder::Comm(own.clone()).iflush(process);
    check(&library.process, &mut By(flush, nothing));

    let mut new = consts::COMM_NULL;
    let at = &raw mut new;
    let duplicate = |process: &Process| {
        // SAFETY: it outlives the request.
        unsafe { own.idup(process, Ok(None), at) }.expect("a duplicate of MPI_COMM_SELF")
    };
    check(&library.process, &mut By(duplicate, nothing));
    assert_ne!(new, consts::COMM_NULL);
}

#[test]
fn collectives_conform() {
    let library = library();
    let world = library.process.comms.world.clone();
    let start = |process: &Process| {
        let caller = Caller {
            process,
            now: false,
        };
        let prepared = caller.barrier(&world).expect("a barrier of one");
        prepared
            .expect("it is not run at once")
            .start(process)
            .expect("started")
    };
    check(&library.process, &mut By(start, nothing));
    let persistent = |process: &Process| {
        let caller = Caller {
            process,
            now: false,
        };
        let prepared = caller.barrier(&world).expect("a barrier of one");
        prepared
            .expect("it is not run at once")
            .persist(process)
            .expect("made")
    };
    check(&library.process, &mut By(persistent, nothing));
}

#[test]
fn generalized_requests_conform() {
    static mut FREED: u32 = 0;
    extern "C" fn count(_: *mut std::ffi::c_void) -> c_int {
        // SAFETY: tests have the library one at a time.
        unsafe { FREED += 1 };
        consts::SUCCESS
    }
    let library = library();
    let make = |process: &Process| {
        (Generalized {
            query: None.into(),
            free: Some(count as _).into(),
            cancel: None.into(),
            extra_state: std::ptr::null_mut(),
            done: Cell::new(false),
            freed: Cell::new(false),
        })
        .begin(process)
    };
    let feed = |process: &Process, request: abi::Request| {
        Generalized::finish(process, request).expect("a generalized request");
    };
    check(&library.process, &mut By(make, feed));
    // SAFETY: as above.
    assert_eq!(unsafe { FREED }, 3, "each state was freed once");

    let other = Operation::Nowhere.init(&library.process);
    let error = Generalized::finish(&library.process, other).unwrap_err();
    assert_eq!(error.kind(), Kind::Request);
    assert!(error.text().contains("not a generalized one"), "{error}");
    request::free(&library.process, &mut { other }).expect("freed");
}
