//! Threads of one process that wait at once (MPI-5, chapter 11.6).
//!
//! One of them watches: it makes progress, and asks for all the others whether
//! what they wait for has come. They sleep, each on a word of its own, until it
//! has, or until the watcher leaves and calls one of them to watch. The watcher
//! sleeps, too, when nothing happens, on the doorbell that other processes
//! ring; while it does, threads that leave the library do instead of it what it would.
//!
//! With more threads than cores all of them watch for a while before they sleep:
//! which of them has the core the kernel decides, and not by who has something to do.
//!
//! So what a thread waits for may be asked, and its collective be carried on, by
//! any thread that holds the lock.
//!
//! All of this is touched under the lock only, but for the words.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::time::Duration;

use catena_base::futex::{self, Reach};
use catena_base::wait::{Idle, Waiter, yield_core};

use crate::process::{LOCK, Process, enter};

/// Whether the last one to watch sleeps.
static DOZING: AtomicBool = AtomicBool::new(false);

/// Who waits.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Who sleeps and does not watch, in the order of coming.
    sleepers: RefCell<Vec<NonNull<Sleeper>>>,
    /// How many watch.
    watchers: Cell<u32>,
    /// How many wait, those who watch among them.
    all: Cell<u32>,
    /// A sleeper was called to watch, and did not come yet.
    called: Cell<bool>,
    /// Somebody is asking for the sleepers.
    asking: Cell<bool>,
    /// The last one to watch, while it sleeps.
    dozer: Cell<Option<NonNull<Sleeper>>>,
}

/// What a thread waits for.
pub(crate) type Wanted<'a> = dyn FnMut(&Process) -> bool + 'a;

/// A thread that sleeps.
#[derive(Debug)]
struct Sleeper {
    /// What it waits for.
    wanted: NonNull<Wanted<'static>>,
    /// Why it shall wake.
    why: AtomicU32,
}

/// It shall not, and looks at the word.
const LOOKING: u32 = 0;
/// It shall not, and sleeps.
const ASLEEP: u32 = 1;
/// What it waits for has come.
const DONE: u32 = 2;
/// It is to watch.
const CALLED: u32 = 3;

impl Sleeper {
    fn new(wanted: &mut Wanted<'_>) -> Self {
        let wanted: NonNull<Wanted<'_>> = NonNull::from(wanted);
        Sleeper {
            // SAFETY: only the lifetime changes. `ask` is called while the
            // thread that waits sleeps, and so is within what it borrowed.
            wanted: unsafe {
                std::mem::transmute::<NonNull<Wanted<'_>>, NonNull<Wanted<'static>>>(wanted)
            },
            why: AtomicU32::new(LOOKING),
        }
    }

    /// Whether what it waits for has come.
    ///
    /// # Safety
    /// Its thread sleeps, the caller holds the lock, and nobody is asking.
    unsafe fn ask(&self, process: &Process) -> bool {
        let mut wanted = self.wanted;
        // SAFETY: nobody else uses it, as the caller promises.
        unsafe { wanted.as_mut()(process) }
    }

    /// Wakes it; it goes on when it gets the lock.
    fn wake(&self, why: u32) {
        if self.why.swap(why, Release) == ASLEEP {
            futex::wake(&self.why, 1, Reach::Process);
        }
    }

    /// Waits until woken; `tired` if it has waited for long.
    fn sleep(&self, tired: bool) {
        let mut waiter = Waiter::new(false);
        while self.why.load(Acquire) <= ASLEEP {
            match tired {
                true => self.doze(None),
                false => waiter.idle().act(|_| self.doze(None)),
            }
        }
    }

    /// Sleeps once, if it was not woken yet.
    fn doze(&self, limit: Option<Duration>) {
        let tired = self.why.compare_exchange(LOOKING, ASLEEP, Relaxed, Relaxed);
        if matches!(tired, Ok(LOOKING) | Err(ASLEEP)) {
            futex::wait(&self.why, ASLEEP, limit, Reach::Process);
        }
    }
}

/// Before a thread leaves the library: what it did may be what others wait for.
#[inline(never)]
pub(crate) fn leave() {
    if DOZING.load(Relaxed) && !LOCK.is_nested() {
        watch_once();
    }
    LOCK.release();
}

#[cold]
fn watch_once() {
    if let Ok(process) = enter() {
        process.progress();
        process.wake_done();
        process.wake_watcher();
    }
}

impl Process {
    /// As [`Process::block`], for one of several threads.
    #[cold]
    #[inline(never)]
    pub(crate) fn block_beside_others(&self, wanted: &mut Wanted<'_>) {
        // A call from a callback cannot leave it to others: they may be waiting
        // for the callback.
        if LOCK.is_nested() {
            self.keep_watch(wanted);
            return;
        }
        let waiting = &self.waiting;
        waiting.all.set(waiting.all.get() + 1);
        let mut done = false;
        while !done {
            let watchers = waiting.watchers.get();
            done = if watchers == 0 || self.is_oversubscribed() {
                waiting.watchers.set(watchers + 1);
                let done = self.keep_watch(wanted);
                waiting.watchers.set(waiting.watchers.get() - 1);
                done || self.sleep_until_woken(wanted, true)
            } else {
                self.progress();
                wanted(self) || self.sleep_until_woken(wanted, false)
            };
        }
        waiting.all.set(waiting.all.get() - 1);
        self.call_next();
    }

    /// Progresses until what is wanted has come, and wakes others; false if it has
    /// not for a while and there are others who watch.
    fn keep_watch(&self, wanted: &mut Wanted<'_>) -> bool {
        let mut waiter = Waiter::new(self.is_oversubscribed());
        let mut looks = 0;
        let done = loop {
            let moved = self.progress();
            let done = wanted(self);
            self.wake_done();
            self.wake_watcher();
            if done {
                break true;
            }
            if moved {
                // What comes for others keeps one watcher awake, not all.
                if self.waiting.watchers.get() == 1 {
                    waiter.reset();
                }
                LOCK.give_way();
                continue;
            }
            looks += 1;
            match waiter.idle() {
                Idle::Spin if !self.is_oversubscribed() => LOCK.give_way(),
                Idle::Spin | Idle::Yield => {
                    self.waits.yielded();
                    self.after_pause();
                    LOCK.released(yield_core);
                }
                Idle::Sleep(_) if self.waiting.watchers.get() > 1 && !LOCK.is_nested() => {
                    break false;
                }
                Idle::Sleep(limit) => {
                    if self.doze(limit, waiter.sleepy_since(), wanted) {
                        break true;
                    }
                }
            }
        };
        self.waits.looked(looks);
        done
    }

    /// Sleeps until rung or woken; true if what is wanted has come.
    fn doze(&self, limit: Duration, since: u64, wanted: &mut Wanted<'_>) -> bool {
        let dozer = Sleeper::new(wanted);
        // Nobody asks for a thread in a callback: it may be asking itself.
        let known = !LOCK.is_nested();
        let mut depth = None;
        let ready = || {
            // SAFETY: it is this thread, and nobody knows it yet.
            if unsafe { dozer.ask(self) } {
                dozer.why.store(DONE, Relaxed);
                return true;
            }
            // What others wait for may lie outside of the rings: on a board, say.
            let moved = self.hooks.has_work() && self.look_before_sleep();
            self.wake_done();
            if moved || self.is_shm_ready() {
                return true;
            }
            if known {
                self.waiting.dozer.set(Some(NonNull::from(&dozer)));
                DOZING.store(true, Relaxed);
            }
            depth = Some(LOCK.let_go());
            false
        };
        let slept = self.sleep(limit, since, ready, |limit| {
            dozer.doze(Some(limit));
            dozer.why.load(Relaxed) == DONE
        });
        if let Some(depth) = depth {
            LOCK.take_back(depth);
            if known {
                self.let_asking_end();
                self.waiting.dozer.set(None);
                DOZING.store(false, Relaxed);
            }
        }
        self.slept(slept);
        dozer.why.load(Relaxed) == DONE
    }

    /// Sleeps while another thread watches; true if what is wanted has come,
    /// false if this thread is to watch. `tired` if it has waited for long.
    fn sleep_until_woken(&self, wanted: &mut Wanted<'_>, tired: bool) -> bool {
        let me = Sleeper::new(wanted);
        let waiting = &self.waiting;
        waiting.sleepers.borrow_mut().push(NonNull::from(&me));
        let depth = LOCK.let_go();
        me.sleep(tired);
        LOCK.take_back(depth);
        self.let_asking_end();
        if me.why.load(Relaxed) == DONE {
            return true;
        }
        let myself = NonNull::from(&me);
        waiting.sleepers.borrow_mut().retain(|&it| it != myself);
        waiting.called.set(false);
        false
    }

    /// Whether those who wait are more than there are cores for them.
    fn is_oversubscribed(&self) -> bool {
        self.oversubscribed || self.waiting.all.get() > self.cores
    }

    /// Wakes those for whom it has come what they wait for.
    fn wake_done(&self) {
        let waiting = &self.waiting;
        if waiting.sleepers.borrow().is_empty() || waiting.asking.replace(true) {
            return;
        }
        let mut at = 0;
        loop {
            let Some(&sleeper) = waiting.sleepers.borrow().get(at) else {
                break;
            };
            // SAFETY: who is on the list sleeps, or waits for `asking` to end.
            let sleeper = unsafe { sleeper.as_ref() };
            // SAFETY: the same, and this is the only one who asks.
            if unsafe { sleeper.ask(self) } {
                waiting.sleepers.borrow_mut().remove(at);
                if sleeper.why.load(Relaxed) == CALLED {
                    waiting.called.set(false);
                }
                sleeper.wake(DONE);
            } else {
                at += 1;
            }
        }
        waiting.asking.set(false);
    }

    /// Wakes the watcher if it sleeps and it has come what it waits for.
    fn wake_watcher(&self) {
        let waiting = &self.waiting;
        let Some(dozer) = waiting.dozer.get() else {
            return;
        };
        if waiting.asking.replace(true) {
            return;
        }
        // SAFETY: it sleeps, or waits for `asking` to end.
        let dozer = unsafe { dozer.as_ref() };
        // SAFETY: the same, and this is the only one who asks.
        if unsafe { dozer.ask(self) } {
            waiting.dozer.set(None);
            DOZING.store(false, Relaxed);
            dozer.wake(DONE);
            match self.bell.get() {
                Some(bell) => bell.ring(),
                None => self.wake_from_descriptors(),
            }
        }
        waiting.asking.set(false);
    }

    /// Somebody may be asking for this thread, and have let go of the lock.
    fn let_asking_end(&self) {
        while self.waiting.asking.get() {
            LOCK.released(yield_core);
        }
    }

    /// Calls the next one to watch if nobody does.
    fn call_next(&self) {
        let waiting = &self.waiting;
        if waiting.watchers.get() == 0
            && let Some(next) = waiting.sleepers.borrow().first()
            && !waiting.called.replace(true)
        {
            // SAFETY: who is on the list sleeps.
            unsafe { next.as_ref() }.wake(CALLED);
        }
    }
}
