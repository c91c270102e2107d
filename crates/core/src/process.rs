//! The state of an initialised process, and the way into it.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock};

use catena_abi as abi;
use catena_fabric::Peer;
use catena_link::Awaited;
use catena_memory as memory;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::error_place::Target;
use catena_objects::table::ObjectKind;
use catena_process::{
    self as waiting, Hook, Hooked, LOCKED, Life, LinkOf, Owner, ProgressEngine, SHARED,
};
use catena_process::{Threads, Waits};

use crate::attached::Slot;
use crate::buffer::{RecvBuf, SendBuf};
use crate::coll::Counts;
use crate::comm::{Comm, Communicators, OtherJobs};
use crate::environment::info_env;
use crate::object::{self, AnyTime};
use crate::phase::{self, WorldModel};
use crate::request::State;

/// The matching engine over all routes.
pub type Link = LinkOf<SendBuf, RecvBuf>;

/// All tables of handles.
pub type Objects = object::Objects<Process>;

static LIFE: Life<Process> = Life::new();
static OBJECTS: LazyLock<Shared<Objects>> = LazyLock::new(|| Shared(objects()));

/// Makes the tables a static. They are reached under the lock only, or from
/// the one thread that calls MPI.
#[derive(Debug)]
struct Shared<T>(T);
// SAFETY: `enter` and `enter_any` serialise all access, as the struct says.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

/// The tables, with the places of errors that are found by them.
fn objects() -> Objects {
    let objects = Objects::new(info_env);
    let errhandlers = &objects.errhandlers;
    errhandlers.register(Target::Comm, |h| Ok(enter()?.comm(abi::Comm(h))?));
    errhandlers.register(Target::Session, |h| Ok(look().session(abi::Session(h))?));
    objects
}

/// The state of a process in its job, from the first `MPI_Init` or
/// `MPI_Session_init` on.
pub struct Process {
    /// All handles.
    pub objects: &'static Objects,
    /// Bytes of an element of each predefined type that is one run of bytes,
    /// else 0, by the low byte of its handle. All are 0 where buffers may lie in
    /// memory that is not the host's, or messages may be compressed.
    pub units: [Cell<u8>; 256],
    /// [`Process::units`] of a process whose buffers may lie in memory that is not the host's: for
    /// those that surely do not. All are 0 in other processes, and where messages may be compressed
    /// or are compared with what is expected.
    pub units_on_host: [Cell<u8>; 256],
    /// This process.
    pub me: Peer,
    /// Its communicators.
    pub comms: Communicators,
    /// Whose the library is without the lock. Changes under the lock.
    pub(crate) owner: Cell<Owner>,
    /// Its threads that wait, and whether there may be several at once.
    pub(crate) threads: Threads<Process>,
    /// What waiting took so far.
    pub waits: Waits,
    /// Collectives that ran so far.
    pub colls: Counts,
    /// Buffer of `MPI_Buffer_attach`.
    pub buffer: Slot,
    /// What moves it on: transfers, hooks, the launcher.
    pub engine: ProgressEngine<Process, SendBuf, RecvBuf>,
    /// What becomes of other jobs.
    pub other_jobs: OtherJobs,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("me", &self.me)
            .field("comms", &self.comms)
            .finish_non_exhaustive()
    }
}

/// Proof that the caller may use the library's state; lets go when dropped.
#[derive(Debug)]
pub struct Entered<T: 'static> {
    state: &'static T,
    /// What [`Life::acquire`] did.
    how: u8,
}

impl<T> Deref for Entered<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.state
    }
}

impl<T> Drop for Entered<T> {
    #[inline]
    fn drop(&mut self) {
        if !LIFE.is_left_so(self.how) {
            leave(self.how);
        }
    }
}

/// Leaves the library where that is not nothing: as a rule a thread acts beside the program, and
/// looks for that by itself.
#[inline(never)]
fn leave(how: u8) {
    // A process that has said nothing may look at nothing.
    if how == SHARED
        && !HAS_NEWS.load(Relaxed)
        && let Some(process) = LIFE.running()
        && !process.link(|link| link.has_work())
        && LIFE.leaves_quietly(how)
    {
        return;
    }
    leave_slow(how);
}

/// Lets go of the lock. What the thread did in the library may be what others wait for, and the
/// thread beside the program may have to act on what is under way.
#[cold]
#[inline(never)]
fn leave_slow(how: u8) {
    let locked = how == LOCKED;
    if locked && waiting::is_watcher_asleep() && !LIFE.lock().is_nested() {
        watch_once();
    }
    if LIFE.leaves(how)
        && let (Some(left), Some(process)) = (LEFT.get(), LIFE.running())
    {
        HAS_NEWS.store(false, Relaxed);
        left(process);
    }
    if locked {
        LIFE.lock().release();
    }
}

/// What is to be done when the library is left while something is under way that may have to be
/// acted on beside the program.
static LEFT: OnceLock<fn(&Process)> = OnceLock::new();

/// Whether that is to be done when the library is left next, though the thread beside the program
/// will look by itself.
static HAS_NEWS: AtomicBool = AtomicBool::new(false);

/// Something is under way that may have to be acted on beside the program, which is inside: when it
/// leaves, that is `left`. Whether nothing was before.
pub(crate) fn expect(left: fn(&Process)) -> bool {
    LEFT.get_or_init(|| left);
    let is_new = LIFE.expect();
    if is_new {
        tell_as_it_leaves();
    }
    is_new
}

/// The thread beside the program is told when the program leaves next.
pub(crate) fn tell_as_it_leaves() {
    HAS_NEWS.store(true, Relaxed);
}

#[cold]
fn watch_once() {
    let Ok(process) = enter() else {
        return;
    };
    if process.collectives().are_foreign() {
        // A thread in a call that need not progress may hold what they wait for.
        process.engine.wake();
        return;
    }
    waiting::watch_once(&*process);
}

/// Enters the library for a call that needs it initialised, by `MPI_Init` or a
/// session.
///
/// # Errors
/// `Other` if nobody uses it.
#[inline]
pub fn enter() -> Result<Entered<Process>> {
    let how = LIFE.acquire();
    entered(how, LIFE.running()).ok_or_else(not_running)
}

/// The library has no users.
#[cold]
pub(crate) fn not_running() -> Error {
    if is_copy() {
        let rank = LIFE.kept().map_or(0, |process| process.me.0);
        let text = format!(
            "this process is a copy that fork has made of rank {rank}, and only the rank itself \
             can use MPI"
        );
        return Error::new(Kind::Other, text);
    }
    let text = if phase::is_finalized() {
        "MPI_Finalize was called already"
    } else {
        "MPI_Init, MPI_Init_thread or MPI_Session_init must be called first"
    };
    Error::new(Kind::Other, text)
}

/// What any thread may use at any time, beside whoever is in the library: takes nothing, and says
/// nothing.
#[inline]
pub fn any_time() -> &'static AnyTime {
    &OBJECTS.0
}

/// Enters the library for a call that any thread may make at any time, beside one that is inside,
/// and that only looks at tables without a lock of their own: it says nothing of where the program
/// is.
pub fn look() -> Entered<Objects> {
    let how = LIFE.acquire_any_time();
    Entered {
        state: &OBJECTS.0,
        how,
    }
}

/// As [`look`], for the state of the process; `None` if the library has no users.
pub fn look_at_process() -> Option<Entered<Process>> {
    let how = LIFE.acquire_any_time();
    entered(how, LIFE.running())
}

/// In the library, which was acquired in that way, if there is what the call needs.
#[inline(always)]
fn entered<T>(how: u8, state: Option<&'static T>) -> Option<Entered<T>> {
    if state.is_none() && how == LOCKED {
        LIFE.lock().release();
    }
    state.map(|state| Entered { state, how })
}

/// Enters the library for a call that works at any time.
#[inline]
pub fn enter_any() -> Entered<Objects> {
    let how = LIFE.acquire();
    Entered {
        state: &OBJECTS.0,
        how,
    }
}

/// The full handle for the low 31 bits that `MPI_*_toint` gave, if the same was asked for last;
/// takes no lock. `None` for kinds whose handles come and go, or whose table has its own lock.
#[inline]
pub fn widened(kind: ObjectKind, low: i32) -> Option<usize> {
    let objects = &OBJECTS.0;
    match kind {
        ObjectKind::Comm => objects.comms.widened(low),
        ObjectKind::Group => objects.groups.table.widened(low),
        ObjectKind::Datatype => objects.types.table.widened(low),
        ObjectKind::Op => objects.ops.table.widened(low),
        _ => None,
    }
}

/// Enters the library to look at the state of the process, which stays when
/// nobody uses it any more; `None` before it was first initialised.
pub fn observe() -> Option<Entered<Process>> {
    let how = LIFE.acquire();
    entered(how, LIFE.kept())
}

/// What `look` finds in the state of the process, from within the library: for what that itself
/// calls where it makes progress, and nothing of the state is lent. `None` if it has no users.
pub fn from_within<T>(look: impl FnOnce(&Process) -> T) -> Option<T> {
    LIFE.running().map(look)
}

/// The life of the library in this process.
#[inline]
pub(crate) fn life() -> &'static Life<Process> {
    &LIFE
}

/// Whether calls take the library's lock: several threads may be in the library at the same time.
#[inline]
pub fn is_locked() -> bool {
    LIFE.is_locked()
}

/// Whether the library has users.
pub fn is_running() -> bool {
    LIFE.running().is_some()
}

/// Whether it ever had.
pub fn was_running() -> bool {
    LIFE.kept().is_some()
}

/// Whether this process is a copy that `fork` has made of one that uses MPI: it has no part in the
/// job.
pub fn is_copy() -> bool {
    LIFE.is_severed()
}

/// In such a copy, before `fork` returns.
pub(crate) extern "C" fn sever() {
    LIFE.sever();
    if is_copy() {
        phase::sever();
    }
}

/// Whether the library is being brought up.
pub fn is_starting() -> bool {
    LIFE.is_starting()
}

/// Makes calls take the lock for good, so that threads of tools can look at the
/// state beside a program that calls MPI from one thread. False if MPI runs
/// without the lock already.
pub fn keep_lock() -> bool {
    LIFE.keep_lock()
}

/// Says from now on in that memory where the program is: that of its node, where it has some.
pub(crate) fn show_presence(process: &Process) {
    // SAFETY: the transport lives in the process, which is never dropped.
    let there = process.link(|link| link.net().shm().map(|shm| unsafe { shm.presence() }));
    if let Some(there) = there {
        LIFE.show_presence(there);
    }
}

/// Makes calls take the lock from now on and for good. Nobody is inside, unless calls take it
/// already, or this call ends.
pub(crate) fn lock_for_good() {
    LIFE.lock_for_good();
}

impl Process {
    /// Lends the engine to `use_it` and returns what that returns. The closure must
    /// do nothing that may lend the engine again: progress, wait, or call back the
    /// program.
    ///
    /// # Panics
    /// In debug builds, if a closure has the engine already.
    #[inline(always)]
    #[track_caller]
    pub fn link<R>(&self, use_it: impl FnOnce(&mut Link) -> R) -> R {
        self.engine.link(use_it)
    }

    /// The hook of that type, which is registered if it was not yet. Cost: a look at those that
    /// were registered before.
    #[inline]
    pub fn hook<T: Hook<Process> + Default>(&self) -> Hooked<'_, Process, T> {
        self.engine.hooks.hook()
    }

    /// Bytes of an element of a predefined type whose elements are surely a run of
    /// bytes in host memory; 0 for every other handle, also bad ones.
    #[inline(always)]
    pub fn unit(&self, h: abi::Datatype) -> u64 {
        if h.0 >> 8 == 2 {
            self.units[h.0 & 0xff].get().into()
        } else {
            0
        }
    }

    /// Bytes of an element of a predefined type whose elements at `at` are surely a run of bytes in
    /// host memory; 0 for every other handle, also bad ones, and where that is not sure.
    #[inline(always)]
    pub fn unit_at(&self, h: abi::Datatype, at: *const u8) -> u64 {
        match self.unit(h) {
            0 => self.unit_beside_devices(h, at),
            unit => unit,
        }
    }

    /// What [`Process::unit_at`] says where there is other memory, too.
    #[inline(always)]
    fn unit_beside_devices(&self, h: abi::Datatype, at: *const u8) -> u64 {
        if h.0 >> 8 != 2 {
            return 0;
        }
        match self.units_on_host[h.0 & 0xff].get() {
            0 => 0,
            unit if memory::is_surely_host(at) => unit.into(),
            _ => 0,
        }
    }

    /// Has every message tell what it consists of: from now on none takes the short way of bytes
    /// that nobody asks about.
    pub(crate) fn look_at_types(&self) {
        let all = self.units.iter().chain(&self.units_on_host);
        all.for_each(|it| it.set(0));
    }

    /// The communicator behind a handle, for the hot path.
    ///
    /// # Errors
    /// `Comm` for `MPI_COMM_NULL`, freed and made-up handles.
    #[inline]
    pub fn comm_ref(&self, h: abi::Comm) -> Result<&Comm> {
        Ok(&**self.comms.find(h)?)
    }

    /// The communicator behind a handle, to keep.
    ///
    /// # Errors
    /// As [`Process::comm_ref`].
    #[inline]
    pub fn comm(&self, h: abi::Comm) -> Result<Arc<Comm>> {
        self.comms.find(h).cloned()
    }

    /// The world model.
    ///
    /// # Errors
    /// `Other` outside of it.
    pub fn world_model(&self) -> Result<WorldModel> {
        phase::world_model().ok_or_else(no_world_model)
    }

    /// The highest thread level that calls can rely on.
    pub fn thread_level(&self) -> i32 {
        LIFE.thread_level(self, phase::world_model().map(|model| model.level))
    }

    /// Moves everything that can move; true if anything did.
    #[inline]
    pub fn progress(&self) -> bool {
        self.engine
            .progress(self, |awaited| self.requests_await(awaited))
    }

    /// Moves transfers alone: no function of the program is called. See
    /// [`ProgressEngine::progress_transfers`](catena_process::ProgressEngine::progress_transfers).
    #[cold]
    pub fn progress_transfers(&self) -> bool {
        self.engine.progress_transfers()
    }

    /// Adds whom the pending requests wait for.
    #[cold]
    pub(crate) fn requests_await(&self, awaited: &mut Awaited) {
        for (_, request) in self.objects.requests.all() {
            if matches!(request.state(self), Ok(State::Pending)) {
                request.awaits(self, awaited);
            }
        }
    }
}

/// For calls of the world model only: there may be users of other kinds.
#[cold]
pub(crate) fn no_world_model() -> Error {
    if !is_running() {
        return not_running();
    }
    let text = if phase::is_finalized() {
        "MPI_Finalize was called already"
    } else {
        "MPI_Init or MPI_Init_thread must be called first; a session is not enough for this"
    };
    Error::new(Kind::Other, text)
}

/// The tables, for `init`, which is alone.
pub(crate) fn tables() -> &'static Objects {
    &OBJECTS.0
}
