//! The threads of a process that wait, as each of them sees the others.
//!
//! All of this is touched under the lock only, but for the words.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::Duration;

use catena_base::futex::{self, Reach};
use catena_base::wait::Waiter;

use crate::told::{ProcessSays, Wait, WaitReport};

/// The threads of a process that wait.
#[derive(Debug)]
pub struct Threads<P: 'static> {
    /// Who sleeps and does not watch, in the order of coming.
    pub(crate) sleepers: RefCell<Vec<NonNull<Sleeper<P>>>>,
    /// How many watch.
    pub(crate) watchers: Cell<u32>,
    /// How many wait, those who watch among them.
    pub(crate) all: Cell<u32>,
    /// A sleeper was called to watch, and did not come yet.
    pub(crate) called: Cell<bool>,
    /// Somebody is asking for the sleepers.
    pub(crate) asking: Cell<bool>,
    /// The last one to watch, while it sleeps.
    pub(crate) dozer: Cell<Option<NonNull<Sleeper<P>>>>,
    /// Whether there may be several at once.
    many: Cell<bool>,
    /// See [`Threads::are_programs`].
    programs: Cell<bool>,
    /// Cores of the machine for each of its processes like this one.
    cores: u32,
    /// Whether these are more than there are cores.
    oversubscribed: bool,
}

/// A wait of a thread.
pub(crate) type Wanted<'a, P> = dyn Wait<P> + 'a;

/// A thread that sleeps.
#[derive(Debug)]
pub(crate) struct Sleeper<P: 'static> {
    /// What it waits for.
    wanted: NonNull<Wanted<'static, P>>,
    /// Why it shall wake.
    pub(crate) why: AtomicU32,
    /// The thread, as the kernel counts.
    thread: u32,
    /// What others have told of its wait.
    told: RefCell<WaitReport>,
}

/// It shall not, and looks at the word.
const LOOKING: u32 = 0;
/// It shall not, and sleeps.
const ASLEEP: u32 = 1;
/// What it waits for has come.
pub(crate) const DONE: u32 = 2;
/// It is to watch.
pub(crate) const CALLED: u32 = 3;

impl<P> Sleeper<P> {
    pub(crate) fn new(wanted: &mut Wanted<'_, P>) -> Self {
        let wanted: NonNull<Wanted<'_, P>> = NonNull::from(wanted);
        Sleeper {
            // SAFETY: only the lifetime changes. `ask` is called while the
            // thread that waits sleeps, and so is within what it borrowed.
            wanted: unsafe {
                std::mem::transmute::<NonNull<Wanted<'_, P>>, NonNull<Wanted<'static, P>>>(wanted)
            },
            why: AtomicU32::new(LOOKING),
            thread: catena_trace::thread(),
            told: RefCell::default(),
        }
    }

    /// Whether what it waits for has come.
    ///
    /// # Safety
    /// Its thread sleeps, the caller holds the lock, and nobody is asking.
    pub(crate) unsafe fn ask(&self, process: &P) -> bool {
        let mut wanted = self.wanted;
        // SAFETY: nobody else uses it, as the caller promises.
        unsafe { wanted.as_mut().is_done(process) }
    }

    /// Tells what it waits for, if it has waited long.
    ///
    /// # Safety
    /// As for [`Sleeper::ask`].
    pub(crate) unsafe fn tell(&self, process: &P, says: ProcessSays<'_>) {
        // SAFETY: nobody else uses it, as the caller promises.
        let wanted = unsafe { self.wanted.as_ref() };
        let mut told = self.told.borrow_mut();
        if told.is_due() {
            told.tell(process, (self.thread, false), wanted, says);
        }
    }

    /// Wakes it; it goes on when it gets the lock.
    pub(crate) fn wake(&self, why: u32) {
        if self.why.swap(why, Release) == ASLEEP {
            futex::wake(&self.why, 1, Reach::Process);
        }
    }

    /// Waits until woken; `tired` if it has waited for long.
    pub(crate) fn sleep(&self, tired: bool) {
        let mut waiter = Waiter::new(false);
        while self.why.load(Acquire) <= ASLEEP {
            match tired {
                true => self.doze(None),
                false => waiter.idle().act(|_| self.doze(None)),
            }
        }
    }

    /// Sleeps once, if it was not woken yet.
    pub(crate) fn doze(&self, limit: Option<Duration>) {
        let tired = self.why.compare_exchange(LOOKING, ASLEEP, Relaxed, Relaxed);
        if matches!(tired, Ok(LOOKING) | Err(ASLEEP)) {
            futex::wait(&self.why, ASLEEP, limit, Reach::Process);
        }
    }
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
            programs: Cell::default(),
            cores,
            oversubscribed,
        }
    }

    /// Whether threads may be in the library at once, those of its own among them.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.many.get()
    }

    /// Whether any waits.
    pub fn are_waiting(&self) -> bool {
        self.all.get() != 0
    }

    /// Whether threads of the program may be in the library at once.
    pub fn are_programs(&self) -> bool {
        self.programs.get()
    }

    /// Says so; what looks from outside is told, too.
    pub fn set_programs(&self, programs: bool) {
        self.programs.set(programs);
        catena_trace::set_threaded(programs);
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
    pub(crate) fn is_oversubscribed(&self) -> bool {
        self.oversubscribed || self.all.get() > self.cores
    }
}
