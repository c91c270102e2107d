//! An endpoint as several have it: its object, the queues that it is bound to, and its thread.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use catena_base::{Barrier, Biased};
use catena_shm::Shm;

use super::State;
use crate::mover::{Moved, Mover, Rest, Step};
use crate::queue::{Entry, Fault, Progress, Queue, Reader, Waiting, lock};

/// An endpoint, shared between its object and the queues that it is bound to.
pub struct Core {
    /// None once it is closed, though queues may know it still. Under one of the two locks.
    state: UnsafeCell<Option<NonNull<State>>>,
    /// What all threads take.
    lock: Mutex<()>,
    /// What is taken instead where the program keeps its calls apart, and whether it is.
    apart: Biased,
    is_apart: AtomicBool,
    /// The thread that makes progress where the program makes no calls, if there is one.
    pub mover: Mutex<Option<Mover>>,
}

// SAFETY: the state is used under its lock.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

/// How an endpoint is locked.
enum By<'a> {
    /// As all threads do.
    Lock { _guard: MutexGuard<'a, ()> },
    /// By the program, which keeps its calls apart.
    Program(&'a Biased),
    /// By another thread meanwhile.
    Visitor(&'a Biased),
}

impl Drop for By<'_> {
    #[inline]
    fn drop(&mut self) {
        match self {
            By::Lock { .. } => {}
            By::Program(apart) => apart.leave(),
            By::Visitor(apart) => apart.end_visit(),
        }
    }
}

/// The state of an endpoint, locked.
pub struct Held<'a> {
    state: &'a mut State,
    core: &'a Core,
    _by: By<'a>,
}

impl Deref for Held<'_> {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        self.state
    }
}

impl DerefMut for Held<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        self.state
    }
}

impl Held<'_> {
    /// The endpoint is closed: what nobody has taken of its completions waits in their queues.
    pub fn close(self) {
        for told in std::mem::take(&mut self.state.told) {
            told.leave();
        }
        // SAFETY: it is locked.
        if let Some(state) = unsafe { &mut *self.core.state.get() }.take() {
            // SAFETY: leaked by `Core::new`, and nobody finds it any more.
            drop(unsafe { Box::from_raw(state.as_ptr()) });
        }
    }
}

impl Core {
    /// An endpoint that is open.
    pub fn new(state: State) -> Core {
        Core {
            state: UnsafeCell::new(Some(NonNull::from(Box::leak(Box::new(state))))),
            lock: Mutex::new(()),
            apart: Biased::default(),
            is_apart: AtomicBool::new(false),
            mover: Mutex::new(None),
        }
    }

    /// From now on calls are kept apart by the program (`FI_THREAD_DOMAIN`), and no thread of its
    /// own makes progress. To be called before other threads know the endpoint.
    pub fn keep_apart(&self) {
        // Without it a visitor and the program might not see each other.
        let can = Barrier::register() == Barrier::Membarrier;
        self.is_apart.store(can, Relaxed);
    }

    /// Its state, for a call on an object of its domain; none if it is closed.
    #[inline(always)]
    pub fn held(&self) -> Option<Held<'_>> {
        let by = if self.is_apart.load(Relaxed) {
            self.apart.enter();
            By::Program(&self.apart)
        } else {
            By::Lock {
                _guard: lock(&self.lock),
            }
        };
        self.locked(by)
    }

    /// Its state, for a call on an object of any domain.
    fn visited(&self) -> Option<Held<'_>> {
        if !self.is_apart.load(Relaxed) {
            return self.held();
        }
        self.apart.visit(Barrier::Membarrier);
        self.locked(By::Visitor(&self.apart))
    }

    #[inline(always)]
    fn locked<'a>(&'a self, by: By<'a>) -> Option<Held<'a>> {
        // SAFETY: it is locked; the state is there until it is taken out under this lock.
        let state = unsafe { (*self.state.get())?.as_mut() };
        Some(Held {
            state,
            core: self,
            _by: by,
        })
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if let Some(held) = self.held() {
            held.close();
        }
    }
}

impl Progress for Core {
    fn progress(&self) -> bool {
        self.held().is_some_and(|mut it| it.called())
    }

    fn visit(&self) -> bool {
        self.visited().is_some_and(|mut it| it.called())
    }

    fn stand_in(&self) {
        if let Some(mover) = &*lock(&self.mover) {
            mover.ask();
        }
    }

    #[inline]
    fn tell(&self, queue: &Queue, reader: &mut Reader) {
        let Some(mut state) = self.held() else {
            return;
        };
        let Some(at) = state.told.iter().position(|it| it.is_for(queue)) else {
            return;
        };
        if reader.moves || state.told[at].is_empty() {
            state.called();
        }
        reader.read(&mut state.told[at]);
    }

    fn take_fault(&self, queue: &Queue) -> Option<(Entry, Fault)> {
        let mut state = self.held()?;
        let mut told = state.told.iter_mut();
        told.find(|it| it.is_for(queue))?.take_fault()
    }

    fn has_told(&self, queue: &Queue) -> bool {
        let is_told = |it: &Waiting| it.is_for(queue) && !it.is_empty();
        self.held().is_some_and(|it| it.told.iter().any(is_told))
    }
}

impl Moved for Core {
    fn step(&self, seen: &mut u32, is_asked: bool) -> Step {
        let Some(mut state) = self.held() else {
            return Step::Left;
        };
        let before = std::mem::replace(seen, state.calls_of_program);
        if before != *seen && !is_asked {
            return Step::Left;
        }
        if state.move_alone() {
            return Step::Moved;
        }
        let net = state.link.net();
        // SAFETY: the thread ends before the endpoint's shared memory goes.
        let bell = net.shm().map(|shm| unsafe { shm.own_bell() });
        match (net.waker(), net.sleeper()) {
            (Some(waker), Some(sleeper)) => {
                let on = Some((waker, sleeper));
                Step::Nothing(Rest { bell, on })
            }
            (Some(_), None) => Step::Moved,
            (None, _) => Step::Nothing(Rest { bell, on: None }),
        }
    }

    fn is_ready(&self) -> bool {
        let is_ready = |mut it: Held<'_>| it.link.net().shm().is_some_and(Shm::is_ready);
        self.held().is_some_and(is_ready)
    }
}
