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

use crate::host::Host;

/// Whether the last one to watch sleeps.
static DOZING: AtomicBool = AtomicBool::new(false);

/// The threads of a process that wait.
#[derive(Debug)]
pub struct Threads<P: 'static> {
    /// Who sleeps and does not watch, in the order of coming.
    sleepers: RefCell<Vec<NonNull<Sleeper<P>>>>,
    /// How many watch.
    watchers: Cell<u32>,
    /// How many wait, those who watch among them.
    all: Cell<u32>,
    /// A sleeper was called to watch, and did not come yet.
    called: Cell<bool>,
    /// Somebody is asking for the sleepers.
    asking: Cell<bool>,
    /// The last one to watch, while it sleeps.
    dozer: Cell<Option<NonNull<Sleeper<P>>>>,
    /// Whether there may be several at once.
    many: Cell<bool>,
    /// Cores of the machine for each of its processes like this one.
    cores: u32,
    /// Whether these are more than there are cores.
    oversubscribed: bool,
}

/// What a thread waits for.
pub type Wanted<'a, P> = dyn FnMut(&P) -> bool + 'a;

/// A thread that sleeps.
#[derive(Debug)]
struct Sleeper<P: 'static> {
    /// What it waits for.
    wanted: NonNull<Wanted<'static, P>>,
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

impl<P: Host> Sleeper<P> {
    fn new(wanted: &mut Wanted<'_, P>) -> Self {
        let wanted: NonNull<Wanted<'_, P>> = NonNull::from(wanted);
        Sleeper {
            // SAFETY: only the lifetime changes. `ask` is called while the
            // thread that waits sleeps, and so is within what it borrowed.
            wanted: unsafe {
                std::mem::transmute::<NonNull<Wanted<'_, P>>, NonNull<Wanted<'static, P>>>(wanted)
            },
            why: AtomicU32::new(LOOKING),
        }
    }

    /// Whether what it waits for has come.
    ///
    /// # Safety
    /// Its thread sleeps, the caller holds the lock, and nobody is asking.
    unsafe fn ask(&self, process: &P) -> bool {
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

/// Whether the last thread to watch sleeps: then one that leaves the library is to
/// [do what it would](watch_once), as what it did may be what others wait for.
#[inline]
pub fn is_watcher_asleep() -> bool {
    DOZING.load(Relaxed)
}

/// What the thread that watches would do.
#[cold]
pub fn watch_once<P: Host>(process: &P) {
    process.progress();
    Watch(process).wake_done();
    Watch(process).wake_watcher();
}

/// As [`block`](crate::block), for one of several threads.
#[cold]
#[inline(never)]
pub(crate) fn block_beside_others<P: Host>(process: &P, wanted: &mut Wanted<'_, P>) {
    let watch = Watch(process);
    // A call from a callback cannot leave it to others: they may be waiting
    // for the callback.
    if process.lock().is_nested() {
        watch.keep(wanted);
        return;
    }
    let waiting = process.threads();
    waiting.all.set(waiting.all.get() + 1);
    let mut done = false;
    while !done {
        let watchers = waiting.watchers.get();
        done = if watchers == 0 || waiting.is_oversubscribed() {
            waiting.watchers.set(watchers + 1);
            let done = watch.keep(wanted);
            waiting.watchers.set(waiting.watchers.get() - 1);
            done || watch.sleep_until_woken(wanted, true)
        } else {
            process.progress();
            wanted(process) || watch.sleep_until_woken(wanted, false)
        };
    }
    waiting.all.set(waiting.all.get() - 1);
    watch.call_next();
}

impl<P> Threads<P> {
    /// Nobody waits. The process has `cores` for itself; `oversubscribed` if it shares one.
    pub fn new(cores: u32, oversubscribed: bool) -> Self {
        Threads {
            sleepers: RefCell::default(),
            watchers: Cell::default(),
            all: Cell::default(),
            called: Cell::default(),
            asking: Cell::default(),
            dozer: Cell::default(),
            many: Cell::default(),
            cores,
            oversubscribed,
        }
    }

    /// Whether threads may be in the library at once.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.many.get()
    }

    /// Says so.
    pub fn set_many(&self, many: bool) {
        self.many.set(many);
    }

    /// Whether the process shares its core with others like it.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.oversubscribed
    }

    /// Whether those who wait are more than there are cores for them.
    fn is_oversubscribed(&self) -> bool {
        self.oversubscribed || self.all.get() > self.cores
    }
}

/// A process with those of its threads that wait.
#[derive(Debug)]
struct Watch<'p, P>(&'p P);

impl<P: Host> Watch<'_, P> {
    /// Progresses until what is wanted has come, and wakes others; false if it has
    /// not for a while and there are others who watch.
    fn keep(&self, wanted: &mut Wanted<'_, P>) -> bool {
        let process = self.0;
        let mut waiter = Waiter::new(process.threads().is_oversubscribed());
        let mut looks = 0;
        let done = loop {
            let moved = process.progress();
            let done = wanted(process);
            self.wake_done();
            self.wake_watcher();
            if done {
                break true;
            }
            if moved {
                // What comes for others keeps one watcher awake, not all.
                if process.threads().watchers.get() == 1 {
                    waiter.reset();
                }
                process.lock().give_way();
                continue;
            }
            looks += 1;
            match waiter.idle() {
                Idle::Spin if !process.threads().is_oversubscribed() => process.lock().give_way(),
                Idle::Spin | Idle::Yield => {
                    process.waits().yielded();
                    process.after_pause();
                    process.lock().released(yield_core);
                }
                Idle::Sleep(_)
                    if process.threads().watchers.get() > 1 && !process.lock().is_nested() =>
                {
                    break false;
                }
                Idle::Sleep(limit) => {
                    if self.doze(limit, waiter.sleepy_since(), wanted) {
                        break true;
                    }
                }
            }
        };
        process.waits().looked(looks);
        done
    }

    /// Sleeps until rung or woken; true if what is wanted has come.
    fn doze(&self, limit: Duration, since: u64, wanted: &mut Wanted<'_, P>) -> bool {
        let process = self.0;
        let dozer = Sleeper::new(wanted);
        // Nobody asks for a thread in a callback: it may be asking itself.
        let known = !process.lock().is_nested();
        let mut depth = None;
        let mut ready = || {
            // SAFETY: it is this thread, and nobody knows it yet.
            if unsafe { dozer.ask(process) } {
                dozer.why.store(DONE, Relaxed);
                return true;
            }
            // What others wait for may lie outside of the rings: on a board, say.
            let moved = process.look_before_sleep();
            self.wake_done();
            if moved {
                return true;
            }
            if known {
                process.threads().dozer.set(Some(NonNull::from(&dozer)));
                DOZING.store(true, Relaxed);
            }
            depth = Some(process.lock().let_go());
            false
        };
        let slept = process.sleep(limit, since, &mut ready, &mut |limit| {
            dozer.doze(Some(limit));
            dozer.why.load(Relaxed) == DONE
        });
        if let Some(depth) = depth {
            process.lock().take_back(depth);
            if known {
                self.let_asking_end();
                process.threads().dozer.set(None);
                DOZING.store(false, Relaxed);
            }
        }
        process.slept(slept);
        dozer.why.load(Relaxed) == DONE
    }

    /// Sleeps while another thread watches; true if what is wanted has come,
    /// false if this thread is to watch. `tired` if it has waited for long.
    fn sleep_until_woken(&self, wanted: &mut Wanted<'_, P>, tired: bool) -> bool {
        let process = self.0;
        let me = Sleeper::new(wanted);
        let waiting = process.threads();
        waiting.sleepers.borrow_mut().push(NonNull::from(&me));
        let depth = process.lock().let_go();
        me.sleep(tired);
        process.lock().take_back(depth);
        self.let_asking_end();
        if me.why.load(Relaxed) == DONE {
            return true;
        }
        let myself = NonNull::from(&me);
        waiting.sleepers.borrow_mut().retain(|&it| it != myself);
        waiting.called.set(false);
        false
    }

    /// Wakes those for whom it has come what they wait for.
    fn wake_done(&self) {
        let process = self.0;
        let waiting = process.threads();
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
            if unsafe { sleeper.ask(process) } {
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
        let process = self.0;
        let waiting = process.threads();
        let Some(dozer) = waiting.dozer.get() else {
            return;
        };
        if waiting.asking.replace(true) {
            return;
        }
        // SAFETY: it sleeps, or waits for `asking` to end.
        let dozer = unsafe { dozer.as_ref() };
        // SAFETY: the same, and this is the only one who asks.
        if unsafe { dozer.ask(process) } {
            waiting.dozer.set(None);
            DOZING.store(false, Relaxed);
            dozer.wake(DONE);
            process.wake();
        }
        waiting.asking.set(false);
    }

    /// Somebody may be asking for this thread, and have let go of the lock.
    fn let_asking_end(&self) {
        let process = self.0;
        while process.threads().asking.get() {
            process.lock().released(yield_core);
        }
    }

    /// Calls the next one to watch if nobody does.
    fn call_next(&self) {
        let process = self.0;
        let waiting = process.threads();
        if waiting.watchers.get() == 0
            && let Some(next) = waiting.sleepers.borrow().first()
            && !waiting.called.replace(true)
        {
            // SAFETY: who is on the list sleeps.
            unsafe { next.as_ref() }.wake(CALLED);
        }
    }
}
