//! What a process does beside moving packets: collectives, tools, windows, files, and whatever else
//! the crates above add, each as a [`Hook`] of its own. `core` has those of collectives, single
//! requests and the events of tools; `rma`, `io` and `ft` add theirs. A process has one value of
//! each type, which holds the state of what it is the hook of: `Process::hook` of `core` registers
//! it when it is first asked for, and finds it again.
//!
//! A hook is never called while it is in a call: what a callback of the program meets is left
//! alone. A hook that calls the program lets other threads in meanwhile ([`Hook::is_shared`]).
//!
//! A hook says how much work it has ([`Hooked::add_work`]). While all have none, progress costs
//! one look at one number, however many hooks there are.
//!
//! All of it is touched inside the library only: under its lock if it has one.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::fmt;
use std::iter;
use std::ops::{Deref, Range};
use std::os::fd::RawFd;

use catena_fabric::Sleeper;
use catena_link::Awaited;
use catena_objects::callback::is_inside;
use catena_objects::error::Result;

/// Something that the process, a `P`, carries on, wakes for and takes down. There is one of each
/// type in a process, made when [`Hooks::hook`] first asks for it; it holds the state of what it is
/// the hook of, and stays as long as the process.
///
/// No method of a hook is called while one that may change something (`progress`,
/// `before_sleep`, `finalize`, `end`) is under way in the same hook: a callback of the program may
/// call MPI again, and that leaves the hook alone. A hook that calls the program in the middle of
/// such a method is [shared](Hook::is_shared): the callback may wait for another thread, which
/// waits for something that this hook carries on.
///
/// # Examples
/// ```
/// use std::cell::Cell;
///
/// use catena_process::{Hook, Hooks};
///
/// #[derive(Debug, Default)]
/// struct Process {
///     hooks: Hooks<Process>,
/// }
///
/// /// Counts rounds of progress while somebody wants to know.
/// #[derive(Debug, Default)]
/// struct Rounds(Cell<u64>);
///
/// impl Hook<Process> for Rounds {
///     fn progress(&self, _: &Process) -> bool {
///         self.0.set(self.0.get() + 1);
///         false
///     }
/// }
///
/// let process = Process::default();
/// let rounds = process.hooks.hook::<Rounds>();
/// rounds.add_work(1);
/// process.hooks.progress(&process);
/// rounds.remove_work(1);
/// assert_eq!(rounds.0.get(), 1);
/// assert!(!process.hooks.have_work());
/// ```
pub trait Hook<P>: Any + fmt::Debug {
    /// Does what can be done now; true if that moved anything on. Called in each round of progress
    /// while the hook has work. It may use the engine and start transfers, but neither
    /// progress nor wait.
    fn progress(&self, _process: &P) -> bool {
        false
    }

    /// Whether it is carried on beside the program, too, by a thread of the library: neither
    /// [`progress`](Self::progress) nor [`before_sleep`](Self::before_sleep) calls a function of
    /// the program's then.
    fn acts_beside(&self) -> bool {
        false
    }

    /// Whether other threads may call it while one is in a callback of the program's that it has
    /// called, and so outside of the library's lock.
    fn is_shared(&self) -> bool {
        false
    }

    /// A last look before the process sleeps, while the hook has work; true if something has
    /// moved, or can be moved by [`progress`](Self::progress), so that there is no sleep. At this
    /// time the sleep is announced: whoever writes a word in shared memory afterwards and then
    /// rings this process's doorbell ends it. So a word that others write needs no more than this
    /// look and their ring.
    fn before_sleep(&self, _process: &P) -> bool {
        false
    }

    /// A descriptor that can be read when there is something to do; asked before each sleep
    /// while the hook has work. A sleep ends when it can be read, so
    /// [`progress`](Self::progress) has to empty it.
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    /// Adds the processes that it waits for, but for those that transfers of `link` wait for. Asked
    /// now and then while the hook has work.
    fn awaits(&self, _process: &P, _awaited: &mut Awaited) {}

    /// `MPI_Finalize` begins: the world model stands, every call works, and the other processes
    /// will do the same, so this may be collective over the world. What the program should have
    /// freed is freed here. May be called again if it or another one failed.
    ///
    /// # Errors
    /// What `MPI_Finalize` will return.
    fn finalize(&self, _process: &P) -> Result<()> {
        Ok(())
    }

    /// Some peers are other processes from now on, which this one knows nothing of yet. What is
    /// kept by peer, or names peers, is to be forgotten, but for objects that the hook [leads
    /// to](Self::leads_to), which have none of them. What came in active messages their handler
    /// forgets.
    fn forget(&self, _process: &P, _peers: &Range<u32>) {}

    /// Whether an object of the hook's, a window say, has one of these peers as a member, so that
    /// this process is connected to it. Communicators and groups are known without.
    fn leads_to(&self, _process: &P, _peers: &Range<u32>) -> bool {
        false
    }

    /// The last user of the library leaves; another one may come. Local: other processes may
    /// have ended.
    fn end(&self, _process: &P) {}
}

/// The hooks of a process.
#[derive(Debug)]
pub struct Hooks<P: 'static> {
    /// The one that was registered first; each knows the next.
    first: Cell<Option<&'static Entry<P>>>,
    /// What all of them have to do.
    work: Cell<usize>,
}

#[derive(Debug)]
struct Entry<P: 'static> {
    /// The type of the hook.
    id: TypeId,
    hook: &'static dyn Hook<P>,
    next: Cell<Option<&'static Entry<P>>>,
    work: Cell<usize>,
    /// How many of its methods are under way: more than one where a thread is in a callback.
    busy: Cell<u32>,
}

impl<P> Entry<P> {
    /// What `call` says; `None` if the hook is in a call already.
    fn call<T>(&self, call: impl FnOnce(&dyn Hook<P>) -> T) -> Option<T> {
        let busy = self.busy.get();
        if busy != 0 && (is_inside() || !self.hook.is_shared()) {
            return None;
        }
        self.busy.set(busy + 1);
        let said = call(self.hook);
        self.busy.set(self.busy.get() - 1);
        Some(said)
    }
}

impl<P> Default for Hooks<P> {
    fn default() -> Self {
        Hooks {
            first: Cell::default(),
            work: Cell::default(),
        }
    }
}

impl<P> Hooks<P> {
    /// The hook of that type, which is registered if it was not yet. Cost: a look at those that
    /// were registered before.
    #[inline]
    pub fn hook<T: Hook<P> + Default>(&self) -> Hooked<'_, P, T> {
        let entry = self.find::<T>().unwrap_or_else(|| self.add::<T>());
        // SAFETY: the entry has been made for a hook of this type, as its `id` says.
        let hook = unsafe { &*std::ptr::from_ref(entry.hook).cast::<T>() };
        Hooked {
            hooks: self,
            entry,
            hook,
        }
    }

    /// Whether any has work.
    #[inline(always)]
    pub fn have_work(&self) -> bool {
        self.work.get() != 0
    }

    /// Has those that have work do what they can; true if anything moved.
    #[cold]
    #[inline(never)]
    pub fn progress(&self, process: &P) -> bool {
        let mut moved = false;
        for entry in self.busy_ones() {
            moved |= entry.call(|hook| hook.progress(process)).unwrap_or(false);
        }
        moved
    }

    /// Has those do what they can that act beside the program, with a last look before a sleep if
    /// `looks`; true if anything moved.
    pub(crate) fn progress_beside(&self, process: &P, looks: bool) -> bool {
        let mut moved = false;
        for entry in self.busy_ones().filter(|entry| entry.hook.acts_beside()) {
            let act =
                |hook: &dyn Hook<P>| hook.progress(process) || looks && hook.before_sleep(process);
            moved |= entry.call(act).unwrap_or(false);
        }
        moved
    }

    /// Their last look before a sleep; true if there is to be none.
    #[cold]
    pub fn before_sleep(&self, process: &P) -> bool {
        let mut moved = false;
        for entry in self.busy_ones() {
            moved |= entry
                .call(|hook| hook.before_sleep(process))
                .unwrap_or(false);
        }
        moved
    }

    /// What those that have work can be woken by.
    #[cold]
    pub(crate) fn sleeper(&self) -> Option<Sleeper> {
        let descriptors = self.busy_ones().filter_map(|it| it.hook.descriptor());
        let sleepers = descriptors.map(|descriptor| Sleeper::new(Some(descriptor)));
        sleepers.reduce(Sleeper::or)
    }

    /// Adds whom they wait for.
    pub fn awaits(&self, process: &P, awaited: &mut Awaited) {
        let free = |entry: &&Entry<P>| entry.busy.get() == 0;
        for entry in self.busy_ones().filter(free) {
            entry.hook.awaits(process, awaited);
        }
    }

    /// `MPI_Finalize` begins.
    ///
    /// # Errors
    /// The first one of a hook; those behind it are not called.
    pub fn finalize(&self, process: &P) -> Result<()> {
        for entry in self.each() {
            entry
                .call(|hook| hook.finalize(process))
                .unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    /// Has all of them forget some peers.
    pub fn forget(&self, process: &P, peers: &Range<u32>) {
        self.each()
            .for_each(|entry| entry.hook.forget(process, peers));
    }

    /// Whether an object of one of them has one of these peers as a member.
    pub fn lead_to(&self, process: &P, peers: &Range<u32>) -> bool {
        self.each().any(|entry| entry.hook.leads_to(process, peers))
    }

    /// The last user of the library leaves. What was registered last goes first.
    pub fn end(&self, process: &P) {
        let all: Vec<_> = self.each().collect();
        for entry in all.into_iter().rev() {
            entry.call(|hook| hook.end(process));
        }
    }

    /// All, in the order in which they were registered. A hook may register another one while
    /// it is called.
    #[inline]
    fn each(&self) -> impl Iterator<Item = &'static Entry<P>> + use<P> {
        iter::successors(self.first.get(), |entry| entry.next.get())
    }

    /// Those that have work.
    fn busy_ones(&self) -> impl Iterator<Item = &'static Entry<P>> + use<P> {
        self.each().filter(|entry| entry.work.get() != 0)
    }

    #[inline]
    fn find<T: Hook<P>>(&self) -> Option<&'static Entry<P>> {
        self.each().find(|entry| entry.id == TypeId::of::<T>())
    }

    #[cold]
    #[inline(never)]
    fn add<T: Hook<P> + Default>(&self) -> &'static Entry<P> {
        // It stays as long as the process, which never ends.
        let entry: &_ = Box::leak(Box::new(Entry {
            id: TypeId::of::<T>(),
            hook: Box::leak(Box::<T>::default()),
            next: Cell::new(None),
            work: Cell::new(0),
            busy: Cell::new(0),
        }));
        match self.each().last() {
            Some(last) => last.next.set(Some(entry)),
            None => self.first.set(Some(entry)),
        }
        entry
    }
}

/// A hook of a process, and how much work it has.
#[derive(Debug)]
pub struct Hooked<'p, P: 'static, T: 'static> {
    hooks: &'p Hooks<P>,
    entry: &'static Entry<P>,
    hook: &'static T,
}

impl<P, T> Deref for Hooked<'_, P, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.hook
    }
}

/// Gives a hook something to do from where there is no process at hand: a handler of active
/// messages, say.
#[derive(Debug)]
pub struct Alarm<P: 'static> {
    hooks: *const Hooks<P>,
    entry: &'static Entry<P>,
}

// SAFETY: it is only used inside the library, under its lock if it has one: handlers are called
// from within a poll.
unsafe impl<P> Send for Alarm<P> {}

impl<P> Alarm<P> {
    /// The hook has something to do, if it had nothing. To be called inside the library.
    pub fn raise(&self) {
        if self.entry.work.get() == 0 {
            // SAFETY: the hooks are those of the process, which stays.
            let hooks = unsafe { &*self.hooks };
            self.entry.work.set(1);
            hooks.work.set(hooks.work.get() + 1);
        }
    }
}

impl<P, T> Hooked<'_, P, T> {
    /// What gives it something to do from a handler of active messages. The process stays.
    pub fn alarm(&self) -> Alarm<P> {
        Alarm {
            hooks: self.hooks,
            entry: self.entry,
        }
    }

    /// There is more to do: progress calls the hook from now on.
    pub fn add_work(&self, more: usize) {
        self.set_work(self.entry.work.get() + more);
    }

    /// That has been done. With nothing left to do the hook is not called.
    ///
    /// # Panics
    /// If it is more than there was, in debug builds.
    pub fn remove_work(&self, done: usize) {
        self.set_work(self.entry.work.get() - done);
    }

    /// How much there is to do.
    pub fn work(&self) -> usize {
        self.entry.work.get()
    }

    /// Says how much there is to do.
    pub fn set_work(&self, work: usize) {
        let before = self.entry.work.replace(work);
        self.hooks.work.set(self.hooks.work.get() - before + work);
    }

    /// What `call` says of the hook, during which nothing else calls it; `None` if it is in a call
    /// already.
    pub fn alone<R>(&self, call: impl FnOnce(&T) -> R) -> Option<R> {
        self.entry.call(|_| call(self.hook))
    }
}
