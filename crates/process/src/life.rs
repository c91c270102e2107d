//! The life of a library in a process. The world model and every session are its *users*. The first
//! user brings it up; when the last one leaves, it rests: the launcher is told, but memory, rings
//! and what others may have sent already stay, and the next user goes on with them at once. A copy
//! of the process that `fork` makes finds no users ([`Life::sever`]).
//!
//! The library runs without its lock while nobody was granted
//! `MPI_THREAD_MULTIPLE`. Then it belongs to one thread, its *owner*, or, under
//! `MPI_THREAD_SERIALIZED`, to whoever calls it. Users come and go under the
//! lock in any case.
//!
//! While something is under way that may have to be acted on beside the program, a thread of the
//! library may have it in between ([`Presence`]): calls say when they come and go ([`SHARED`]), and
//! the thread, which takes the lock, leaves the library alone while the program is inside.
//!
//! | field          | rule                                                                |
//! |----------------|---------------------------------------------------------------------|
//! | `running`      | null, or what `keep` leaked; stored by Release, loaded by Acquire    |
//! | `kept`         | likewise, and never null again                                      |
//! | all others     | written under the lock, or by the one thread of a copy of the process |

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release,
};
use std::thread::{self, ThreadId};

use catena_abi::consts;
use catena_base::{Barrier, Left, Presence};
use catena_objects::callback::is_inside;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_trace::Phase;

use crate::host::Host;
use crate::lock::{Lock, here};

/// Who may call the library while it takes no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This thread only.
    Thread(ThreadId),
    /// Whoever does, one at a time: the program sees to it.
    InTurn,
}

impl Owner {
    fn new(level: i32) -> Self {
        if level == consts::THREAD_SERIALIZED {
            Owner::InTurn
        } else {
            Owner::Thread(thread::current().id())
        }
    }
}

/// Every level is supported; values in between count as the next lower one.
pub fn granted(required: i32) -> i32 {
    match required {
        consts::THREAD_MULTIPLE.. => consts::THREAD_MULTIPLE,
        consts::THREAD_SERIALIZED.. => consts::THREAD_SERIALIZED,
        consts::THREAD_FUNNELED.. => consts::THREAD_FUNNELED,
        _ => consts::THREAD_SINGLE,
    }
}

/// A process whose library comes to life and rests.
pub trait Living: Host {
    /// Makes the state, with the library's lock held.
    ///
    /// # Errors
    /// `Other` if the process cannot be wired up: the text says what failed and what to do.
    fn bring_up() -> Result<Box<Self>>;

    /// Whose the library is without the lock. Changes under the lock.
    fn owner(&self) -> &Cell<Owner>;

    /// A user comes after the last one had left.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    fn resume(&self) -> Result<()>;

    /// A user comes while there are others, of which the last one may be about to leave.
    fn stay(&self);

    /// Whether something that was sent would be lost if the process ended now.
    fn keeps(&self) -> bool;

    /// Waits until nothing is kept, and tells the program what it is to be told of. Lets go of the
    /// lock meanwhile: users may come and go.
    fn settle(&self, end: bool);

    /// The last user has left, `end` if no other one will come. Never lets go of the lock: whoever
    /// comes finds the library at rest.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    fn rest(&self, end: bool) -> Result<()>;
}

/// Calls take nothing: nobody else is there. As what a call did when it began: nothing.
pub const PLAIN: u8 = 0;
/// Calls take the lock.
pub const LOCKED: u8 = 1;
/// Calls say that they come and go.
pub const SHARED: u8 = 2;
/// A call within another one says nothing, nor one that any thread may make at any time.
const NESTED: u8 = 3;

/// Where the program of a process is that shares no memory with others.
static ALONE: Presence = Presence::new();

/// The life of a library, whose state is a `P`: a static of whoever has one.
#[derive(Debug)]
pub struct Life<P: 'static> {
    /// The state, while the library has users.
    running: AtomicPtr<P>,
    /// The state, from the first user on.
    kept: AtomicPtr<P>,
    /// What calls do: they take the lock unless the library runs for users who say that they need
    /// not.
    mode: AtomicU8,
    /// Where the program is.
    presence: AtomicPtr<Presence>,
    /// The only thread that calls while the library takes no lock, but for calls that any thread
    /// may make at any time; 0 if several do, in turn.
    only: AtomicUsize,
    /// Whether it stays true, because tools asked for it.
    keep_locked: AtomicBool,
    /// Whether it is being brought up.
    starting: AtomicBool,
    /// Whether this process is a copy of the one whose library it is: see [`Life::sever`].
    severed: AtomicBool,
    /// How many users there are.
    users: AtomicU32,
    lock: Lock,
}

/// The lock of a library, held whether calls take it or not.
#[derive(Debug)]
struct Held<'a>(&'a Lock);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl<P> Default for Life<P> {
    fn default() -> Self {
        Life::new()
    }
}

impl<P> Life<P> {
    /// Nobody has used the library yet.
    pub const fn new() -> Self {
        Life {
            running: AtomicPtr::new(ptr::null_mut()),
            kept: AtomicPtr::new(ptr::null_mut()),
            mode: AtomicU8::new(LOCKED),
            presence: AtomicPtr::new((&raw const ALONE).cast_mut()),
            only: AtomicUsize::new(0),
            keep_locked: AtomicBool::new(false),
            starting: AtomicBool::new(false),
            severed: AtomicBool::new(false),
            users: AtomicU32::new(0),
            lock: Lock::new(),
        }
    }

    /// The lock that calls take.
    #[inline]
    pub fn lock(&'static self) -> &'static Lock {
        &self.lock
    }

    /// A call begins: takes the lock if calls take it, or says that it is there. Returns what it
    /// did, for [`Life::is_left_so`].
    #[inline]
    pub fn acquire(&self) -> u8 {
        match self.mode.load(Relaxed) {
            PLAIN => PLAIN,
            LOCKED => {
                self.lock.acquire();
                let presence = self.presence();
                if presence.is_away() {
                    presence.enter();
                }
                LOCKED
            }
            _ if self.presence().enter() => {
                if self.lock.is_taken() {
                    self.await_thread();
                }
                SHARED
            }
            _ => NESTED,
        }
    }

    /// As [`Life::acquire`], of a call that any thread may make at any time, beside one that is
    /// inside: unless this thread is the only one that calls, it says nothing of where the program
    /// is, and may look at nothing that a thread of the library changes.
    pub fn acquire_any_time(&self) -> u8 {
        match self.mode.load(Relaxed) {
            LOCKED => {
                self.lock.acquire();
                LOCKED
            }
            SHARED if self.only.load(Relaxed) == here() => self.acquire(),
            _ => NESTED,
        }
    }

    /// The thread has the library, and lets go of it as it sees that the program is there.
    #[cold]
    #[inline(never)]
    fn await_thread(&self) {
        self.lock.acquire();
        self.lock.release();
    }

    /// Whether nothing is to be done at the end of a call that did `how` when it began.
    #[inline(always)]
    pub fn is_left_so(&self, how: u8) -> bool {
        how | self.mode.load(Relaxed) == PLAIN
    }

    /// Whether a call that did `how` when it began leaves the library here, without a word to
    /// anybody: it said that it came, and the thread will look by itself. If not, it is inside.
    #[inline(always)]
    pub fn leaves_quietly(&self, how: u8) -> bool {
        if how != SHARED || self.mode.load(Relaxed) != SHARED {
            return false;
        }
        let is_left = self.presence().leave_quietly();
        if !is_left && self.lock.is_taken() {
            self.await_thread();
        }
        is_left
    }

    /// Whether this thread is surely the one that is inside and has said so.
    pub fn is_own_call(&self) -> bool {
        self.mode.load(Relaxed) == SHARED
            && self.only.load(Relaxed) == here()
            && self.presence().is_inside()
    }

    /// In the middle of a [call of this thread](Life::is_own_call), something begins that is
    /// outside of the library and may last, as a function of the program does: the program is away
    /// meanwhile.
    pub fn step_out(&self) {
        let presence = self.presence();
        if !presence.leave_quietly() && presence.leave() != Left::Quietly {
            presence.wake();
        }
    }

    /// It is over: the program is inside again, unless nothing is expected any more.
    pub fn come_back(&self) {
        if self.mode.load(Relaxed) == SHARED && self.presence().enter() && self.lock.is_taken() {
            self.await_thread();
        }
    }

    /// Whether the library is left as a call ends that did `how` when it began, and whoever acts
    /// beside the program is to be told; if the call took the lock, it still holds it.
    pub fn leaves(&self, how: u8) -> bool {
        match (how, self.mode.load(Relaxed)) {
            (SHARED, SHARED) => true,
            // What is to be acted on was begun in this call.
            (PLAIN, SHARED) => !is_inside(),
            (LOCKED, LOCKED) => self.presence().expects() && !self.lock.is_nested(),
            _ => false,
        }
    }

    /// Where the program is.
    #[inline(always)]
    pub fn presence(&self) -> &'static Presence {
        // SAFETY: a static, or what `show_presence` was given for good.
        unsafe { &*self.presence.load(Acquire) }
    }

    /// Says from now on there where the program is. Called inside the library.
    pub fn show_presence(&self, there: &'static Presence) {
        let before = self.presence();
        if before.expects() {
            there.begin();
        }
        self.presence
            .store(ptr::from_ref(there).cast_mut(), Release);
        before.end();
        before.rouse();
    }

    /// Something is under way that may have to be acted on beside the program, which is inside.
    /// Whether nothing was before.
    pub fn expect(&self) -> bool {
        if self.presence().expects() {
            return false;
        }
        self.presence().begin();
        if self.mode.load(Relaxed) == PLAIN {
            self.mode.store(SHARED, Relaxed);
        }
        true
    }

    /// Nothing is any more.
    pub fn expect_nothing(&self) {
        if self.mode.load(Relaxed) == SHARED {
            self.mode.store(PLAIN, Relaxed);
        }
        self.presence().end();
    }

    /// Has `act` do what is to be done beside the program, for the thread that does; `None` if the
    /// program is inside, expects nothing, or has ended.
    pub fn beside<T>(&self, act: impl FnOnce(&'static P) -> T) -> Option<T> {
        let _held = self.hold();
        Barrier::heavy_for_own();
        let process = self.running()?;
        self.presence().is_away().then(|| act(process))
    }

    /// The state, while the library has users.
    #[inline]
    pub fn running(&self) -> Option<&'static P> {
        // SAFETY: null, or what `keep` leaked.
        unsafe { self.running.load(Acquire).as_ref() }
    }

    /// The state, if there ever was a user.
    pub fn kept(&self) -> Option<&'static P> {
        // SAFETY: null, or what `keep` leaked.
        unsafe { self.kept.load(Acquire).as_ref() }
    }

    /// Whether calls take the lock.
    pub fn is_locked(&self) -> bool {
        self.mode.load(Relaxed) == LOCKED
    }

    /// Whether the library is being brought up.
    pub fn is_starting(&self) -> bool {
        self.starting.load(Relaxed)
    }

    /// In a copy of the process that `fork` has made: the copy has no part in the job, and from now
    /// on finds nobody who uses the library. It has one thread, which needs no lock; another one
    /// may have held it, and would never let go of it. Waits for nothing.
    pub fn sever(&self) {
        if self.kept().is_some() || self.is_starting() {
            self.severed.store(true, Relaxed);
            self.running.store(ptr::null_mut(), Release);
            self.mode.store(PLAIN, Relaxed);
        }
    }

    /// Whether that was done.
    pub fn is_severed(&self) -> bool {
        self.severed.load(Relaxed)
    }

    /// Makes calls take the lock for good, so that threads of tools can look at the
    /// state beside a program that calls MPI from one thread. False if the library runs
    /// without the lock already.
    pub fn keep_lock(&self) -> bool {
        let _held = self.hold();
        let in_time = self.is_locked();
        if in_time {
            self.keep_locked.store(true, Relaxed);
        }
        in_time
    }

    /// Makes calls take the lock from now on and for good. Nobody is inside, unless calls take it
    /// already.
    pub fn lock_for_good(&self)
    where
        P: Host,
    {
        let _held = self.hold();
        self.keep_locked.store(true, Relaxed);
        self.set_locked(true);
        if let Some(process) = self.kept() {
            process.threads().set_many(true);
        }
    }

    fn set_locked(&self, locked: bool) {
        let mode = if locked { LOCKED } else { PLAIN };
        self.mode.store(mode, Relaxed);
    }

    fn hold(&self) -> Held<'_> {
        self.lock.acquire();
        Held(&self.lock)
    }

    /// Makes `process` the state, for good.
    fn keep(&self, process: Box<P>) -> &'static P {
        let process = Box::leak(process);
        self.kept.store(process, Release);
        process
    }
}

impl<P: Living> Life<P> {
    /// Counts a user in that needs this thread level, or any; returns what it is
    /// granted, at least that.
    ///
    /// # Errors
    /// `Other` if the process cannot be wired up, or another thread uses the
    /// library without the lock: the text says what to do.
    pub fn join(&self, level: Option<i32>) -> Result<i32> {
        if self.is_severed() {
            fail!(
                Other,
                "this process is a copy that fork has made of one that uses MPI, and cannot use \
                 MPI itself: execute another program in it (exec, posix_spawn), or spawn processes \
                 by MPI_Comm_spawn"
            );
        }
        let _held = self.hold();
        let users = self.users.load(Relaxed);
        let asked = level.unwrap_or(consts::THREAD_SINGLE);
        match self.kept() {
            Some(process) if users > 0 => {
                self.admit(process, asked)?;
                process.stay();
            }
            Some(process) => {
                process.resume()?;
                self.begin(process, asked);
            }
            None => {
                self.starting.store(true, Relaxed);
                let made = P::bring_up();
                self.starting.store(false, Relaxed);
                self.begin(self.keep(made?), asked);
            }
        }
        self.users.store(users + 1, Relaxed);
        Ok(if self.is_locked() {
            consts::THREAD_MULTIPLE
        } else {
            asked
        })
    }

    /// Counts a user out, `end` if it is the world model; with the last one the
    /// library rests.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    pub fn leave(&self, process: &P, end: bool) -> Result<()> {
        let _held = self.hold();
        // This user counts until nothing is to be waited for any more; one that has come meanwhile
        // does so in its turn.
        let is_last = || self.users.load(Relaxed) == 1;
        if is_last() {
            process.settle(end);
        }
        while !end && is_last() && process.keeps() {
            process.settle(end);
        }
        let users = self.users.load(Relaxed) - 1;
        self.users.store(users, Relaxed);
        if users > 0 {
            return Ok(());
        }
        catena_trace::set_phase(Phase::Left);
        let result = process.rest(end);
        // The state stays, for those who look at it, for the next user and for threads that use
        // it against the rules.
        self.running.store(ptr::null_mut(), Release);
        self.presence().end();
        self.set_locked(true);
        catena_trace::set_threaded(true);
        result
    }

    /// The first user of now.
    fn begin(&self, process: &'static P, level: i32) {
        let owner = Owner::new(level);
        process.owner().set(owner);
        let only = if owner == Owner::InTurn { 0 } else { here() };
        self.only.store(only, Relaxed);
        self.run(process, level == consts::THREAD_MULTIPLE);
    }

    /// Gives out the state, with the lock if threads of the program may be inside at once, and else
    /// without, unless a thread of the library has need of it. Nobody else is inside.
    fn run(&self, process: &'static P, programs: bool) {
        let locked = programs || self.keep_locked.load(Relaxed);
        process.threads().set_programs(programs);
        process.threads().set_many(locked);
        self.set_locked(locked);
        catena_trace::set_phase(Phase::Running);
        self.running
            .store(ptr::from_ref(process).cast_mut(), Release);
    }

    /// One more user.
    fn admit(&self, process: &'static P, level: i32) -> Result<()> {
        if self.is_locked() {
            if level == consts::THREAD_MULTIPLE {
                process.threads().set_programs(true);
            }
            return Ok(());
        }
        let me = thread::current().id();
        if matches!(process.owner().get(), Owner::Thread(owner) if owner != me) {
            fail!(
                Other,
                "another thread of this process uses MPI and was not granted MPI_THREAD_MULTIPLE, \
                 so this one cannot: ask for that level where MPI is first initialised \
                 (MPI_Init_thread, or the info key thread_level of MPI_Session_init)"
            );
        }
        match level {
            // Nobody else is inside.
            consts::THREAD_MULTIPLE => self.run(process, true),
            consts::THREAD_SERIALIZED => {
                process.owner().set(Owner::InTurn);
                self.only.store(0, Relaxed);
            }
            _ => {}
        }
        Ok(())
    }

    /// The highest thread level that calls can rely on, of which the world model has `granted`.
    pub fn thread_level(&self, process: &P, granted: Option<i32>) -> i32 {
        match (self.is_locked(), process.owner().get()) {
            (true, _) => consts::THREAD_MULTIPLE,
            (false, Owner::InTurn) => consts::THREAD_SERIALIZED,
            (false, Owner::Thread(_)) => granted.unwrap_or(consts::THREAD_SINGLE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_any_thread_may_call_at_any_time_says_nothing_of_the_program() {
        static LIFE: Life<()> = Life::new();
        LIFE.set_locked(false);
        let plain = LIFE.acquire();
        let early = LIFE.acquire_any_time();
        LIFE.expect();
        // What begins before something is expected, and ends behind it, claims nothing either.
        assert!(!LIFE.leaves(early) && LIFE.leaves(plain));
        let _ = LIFE.presence().leave();
        let beside = LIFE.acquire_any_time();
        assert!(LIFE.presence().is_away());
        let inside = LIFE.acquire();
        assert!(!LIFE.leaves(beside) && !LIFE.presence().is_away());
        assert!(LIFE.leaves(inside));
        LIFE.expect_nothing();
    }

    #[test]
    fn the_one_thread_that_calls_leaves_and_steps_out_without_a_word() {
        static LIFE: Life<()> = Life::new();
        static HERE: Presence = Presence::new();
        let place = (&raw const HERE).cast_mut();
        LIFE.presence.store(place, Relaxed);
        LIFE.set_locked(false);
        let plain = LIFE.acquire();
        assert!(LIFE.expect() && !LIFE.expect());
        assert!(!LIFE.leaves_quietly(plain) && LIFE.leaves(plain));
        let _ = HERE.leave();
        let inside = LIFE.acquire();
        assert!(LIFE.leaves_quietly(inside) && HERE.is_away());
        LIFE.acquire();
        assert!(!LIFE.is_own_call(), "any thread may be inside");
        LIFE.only.store(here(), Relaxed);
        assert!(LIFE.is_own_call());
        LIFE.step_out();
        assert!(HERE.is_away());
        LIFE.come_back();
        assert!(LIFE.is_own_call());
        LIFE.step_out();
        LIFE.expect_nothing();
        LIFE.come_back();
        assert!(!HERE.expects(), "it has ended in a function of the program");
    }
}
