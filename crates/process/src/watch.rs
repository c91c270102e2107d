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

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use catena_base::wait::{Idle, Waiter, yield_core};

use catena_hang::WaitsFor;
use catena_objects::callback::is_inside;

use crate::host::Host;
use crate::threads::{CALLED, DONE, Sleeper, Wanted};
use crate::told::{ProcessSays, WaitReport};

/// Whether the last one to watch sleeps.
static DOZING: AtomicBool = AtomicBool::new(false);

/// Whether the last thread to watch sleeps: then one that leaves the library is to
/// [do what it would](watch_once), as what it did may be what others wait for.
#[inline]
pub fn is_watcher_asleep() -> bool {
    DOZING.load(Relaxed)
}

thread_local! {
    /// Whether this thread watches.
    static WATCHES: Cell<bool> = const { Cell::new(false) };
}

/// Runs `call`, a function of the program, without the lock, if this thread holds it. A thread that
/// watches calls another one to do so meanwhile: the function may wait for one that sleeps.
pub fn outside<P: Host>(process: &P, call: &mut dyn FnMut()) {
    let watchers = &process.threads().watchers;
    let watches = WATCHES.replace(false);
    if watches {
        watchers.set(watchers.get() - 1);
        Watch(process).call_next();
    }
    process.lock().released_if_held(call);
    if watches {
        watchers.set(watchers.get() + 1);
        WATCHES.set(true);
    }
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
    if watch.is_nested() {
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
            WATCHES.set(true);
            let done = watch.keep(wanted);
            WATCHES.set(false);
            waiting.watchers.set(waiting.watchers.get() - 1);
            done || watch.sleep_until_woken(wanted, true)
        } else {
            process.progress();
            wanted.is_done(process) || watch.sleep_until_woken(wanted, false)
        };
    }
    waiting.all.set(waiting.all.get() - 1);
    watch.call_next();
}

/// A process with those of its threads that wait.
#[derive(Debug)]
struct Watch<'p, P>(&'p P);

impl<P: Host> Watch<'_, P> {
    /// Whether this thread is in a call from a callback.
    fn is_nested(&self) -> bool {
        is_inside() || self.0.lock().is_nested()
    }

    /// Progresses until what is wanted has come, and wakes others; false if it has
    /// not for a while and there are others who watch.
    fn keep(&self, wanted: &mut Wanted<'_, P>) -> bool {
        let process = self.0;
        let mut waiter = Waiter::new(process.threads().is_oversubscribed());
        let mut looks = 0;
        let mut told = WaitReport::default();
        let done = loop {
            let moved = process.progress();
            let done = wanted.is_done(process);
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
                    if told.is_due_in_pause() {
                        self.tell(&mut told, wanted);
                    }
                    if told.are_counts_due() {
                        process.tell_counts();
                    }
                    process.waits().yielded();
                    process.after_pause();
                    process.lock().released(yield_core);
                }
                Idle::Sleep(_) if process.threads().watchers.get() > 1 && !self.is_nested() => {
                    break false;
                }
                Idle::Sleep(limit) => {
                    if told.is_due() {
                        self.tell(&mut told, wanted);
                    }
                    if told.are_counts_due() {
                        process.tell_counts();
                    }
                    self.tell_of_sleepers();
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
        let known = !self.is_nested();
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

    /// Tells what this thread waits for.
    fn tell(&self, told: &mut WaitReport, wanted: &Wanted<'_, P>) {
        let me = (catena_trace::thread(), true);
        let has_waited = |waits: &WaitsFor| self.0.has_waited(waits);
        told.tell(self.0, me, wanted, self.says(&has_waited));
    }

    fn says<'f>(&self, has_waited: &'f dyn Fn(&WaitsFor)) -> ProcessSays<'f> {
        ProcessSays {
            sent: self.0.sent(),
            has_waited,
        }
    }

    /// Tells what those wait for that sleep while this one watches.
    fn tell_of_sleepers(&self) {
        let process = self.0;
        let waiting = process.threads();
        if waiting.asking.replace(true) {
            return;
        }
        let sleepers = waiting.sleepers.borrow().clone();
        let has_waited = |waits: &WaitsFor| process.has_waited(waits);
        let says = self.says(&has_waited);
        for sleeper in sleepers {
            // SAFETY: who is on the list sleeps, or waits for `asking` to end, and this is the only
            // one who asks.
            unsafe { sleeper.as_ref().tell(process, says) };
        }
        waiting.asking.set(false);
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
