//! Windows of the program: their memory, their epochs, and accesses that conflict.
//!
//! A process knows its own accesses. At the end of an epoch between
//! fences it is told how others have accessed its memory: each rank tells each target what it has
//! done there (`exchange`). So it is for the epochs of `MPI_Win_post`: each origin tells the target
//! once it has completed its own, and the target is told some time later (`letters`).
//!
//! Under locks a target knows nothing of epochs, and ranks may order their accesses by messages
//! that the tool does not follow. But two of which either had begun before the other one was
//! complete cannot have been ordered by anything: so each is noted with the time after its call and
//! the time before the call that completes it, and they are compared when the window is given back.
//! Locks that are exclusive order what they guard.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use catena_abi::{Comm, Datatype, Group, Win, consts};

use crate::access::{Access, Span};
use crate::buffers::Use;
use crate::call::{Args, Class, number};
use crate::letters::Letters;
use crate::requests::{self, Ended, Owner};
use crate::shadow::Shadow;
use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::{access, exchange, mpi, objects, stack};

/// A window.
struct Window {
    site: Site,
    /// Memory of the program that it shows to others: where each part begins, and its bytes.
    memory: BTreeMap<usize, usize>,
    /// A communicator of the tool's own, over which the accesses of an epoch are told.
    comm: Option<Comm>,
    /// Bytes of a displacement at each rank, and at this one.
    units: Vec<i64>,
    unit: i64,
    epoch: Epoch,
    /// What this rank has done since its last synchronization with a target.
    accesses: access::Own,
    /// What this rank has done since the last fence.
    since_fence: Vec<Access>,
    /// What it has done in the epoch that `MPI_Win_start` has begun.
    started: Vec<Access>,
    /// What it tells of that, and is told. It has a lock of its own, as MPI is called meanwhile,
    /// whose threads may ask for windows: to free memory, for one thing.
    letters: Arc<Mutex<Letters>>,
    /// What it has done under shared locks, the last of it.
    shared: VecDeque<Access>,
    /// How many of these may not be complete.
    open: usize,
    /// Whether a notification has come since the last fence: what this rank does then may be
    /// ordered behind what others have done.
    is_notified: bool,
}

/// Most accesses under shared locks that are kept of a window.
const SHARED: usize = 1024;

/// What a rank may do with a window.
#[derive(Default)]
struct Epoch {
    /// The last fence, unless it said that nothing follows.
    fence: Option<Site>,
    /// `MPI_Win_start`, and its targets.
    start: Option<Vec<i32>>,
    /// `MPI_Win_post`, and its origins.
    post: Option<Vec<i32>>,
    locks: BTreeMap<i32, Site>,
    /// The locks among them that are exclusive.
    exclusive: BTreeSet<i32>,
    lock_all: Option<Site>,
}

static WINDOWS: Mutex<BTreeMap<usize, Window>> = Mutex::new(BTreeMap::new());

/// Whether there is none that shows memory of the program.
static IDLE: AtomicBool = AtomicBool::new(true);

fn with<T>(f: impl FnOnce(&mut BTreeMap<usize, Window>) -> T) -> T {
    f(&mut WINDOWS.lock().unwrap_or_else(PoisonError::into_inner))
}

fn find<T>(window: usize, f: impl FnOnce(&mut Window) -> T) -> Option<T> {
    with(|all| all.get_mut(&window).map(f))
}

/// Whether no window shows memory of the program.
pub fn is_idle() -> bool {
    IDLE.load(Relaxed)
}

/// Of memory of windows that lies in the stack of a thread, the lowest address.
static LOWEST_IN_STACK: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Whether memory of a window may lie in a stack below that address.
pub fn may_use_below(top: usize) -> bool {
    LOWEST_IN_STACK.load(Relaxed) < top
}

/// Memory of a window that is given back.
pub fn given_back(what: &'static str, block: usize, len: usize) -> Option<Finding> {
    with(|all| {
        let end = block.saturating_add(len);
        all.values().find_map(|window| {
            let mut memory = window.memory.range(block..end);
            let (first, size) =
                memory.find(|(first, size)| *first + **size <= end && **size > 0)?;
            let text = format!(
                "{len} bytes at {block:#x} are given back, in which {size} bytes at {first:#x} lie \
                 that a window shows"
            );
            let finding = Finding::error(Kind::Freed, Site::in_full(what), text);
            let finding = finding.besides("the window was made by", &window.site);
            Some(finding.remedy("call MPI_Win_free first: others may use the memory until then"))
        })
    })
}

/// Memory of a window between two addresses, and where the window was made.
pub fn between(low: usize, high: usize) -> Option<(usize, Site)> {
    with(|all| {
        all.values().find_map(|window| {
            let mut memory = window.memory.range(low..high);
            let (first, _) = memory.find(|(_, size)| **size > 0)?;
            Some((*first, window.site.clone()))
        })
    })
}

/// Longest memory that another one stands for.
const SHADOWED: usize = 1 << 20;

/// Has MPI write to memory of the tool's own instead of that of the program, so that changes by the
/// program are seen.
pub fn shadow(args: &mut Args, uses: &[Use]) -> Option<Shadow> {
    if !matches!(args.number, number::Get | number::Get_c) {
        return None;
    }
    let [used] = uses else {
        return None;
    };
    let [piece] = &used.pieces[..] else {
        return None;
    };
    let owner = owner(args)?;
    let is_known = find(owner.window, |_| ()).filter(|()| owner.target != consts::PROC_NULL);
    if !piece.is_solid || piece.len() > SHADOWED || is_known.is_none() {
        return None;
    }
    let mut shadow = Shadow::new(piece.clone())?;
    args.set(0, shadow.base());
    Some(shadow)
}

/// The window of a call.
fn window(args: &Args) -> Option<Win> {
    let at = args.call.args.iter().position(|it| it.name == "win")?;
    match args.call.args[at].is_pointer {
        // SAFETY: a place of a handle, or null.
        true => unsafe { args.at::<usize>(at) }.map(Win),
        false => Some(Win(args.word(at))),
    }
}

/// Of a call that accesses memory of a window, which window and which target.
pub fn owner(args: &Args) -> Option<Owner> {
    access::act(args.call.name)?;
    Some(Owner {
        window: window(args)?.0,
        target: args.named("target_rank")? as i32,
    })
}

/// The access of a call, if it is one.
fn access(args: &Args, site: Site) -> Option<Access> {
    let act = access::act(args.call.name)?;
    let named = |name| args.named(name);
    let count = named("target_count").map_or(1, |it| it as i64);
    let ty = named("target_datatype").or_else(|| named("datatype"))?;
    let target = named("target_rank")? as i32;
    if !objects::is_good(Class::Type, ty) || target == consts::PROC_NULL {
        return None;
    }
    Access::new(
        target,
        act,
        named("target_disp")? as i64,
        (Datatype(ty), count),
        site,
    )
}

/// Whether the target is notified of an access: then programs order theirs by that.
fn is_notified(args: &Args) -> bool {
    args.call.name.contains("_notify")
}

/// What is wrong with a call on a window.
pub fn before(args: &Args, site: impl Fn() -> Site) -> Vec<Finding> {
    let Some(win) = window(args) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Some(access) = access(args, Site::unknown(args.call.name)) {
        find(win.0, |window| {
            if !window.may_access(access.target) {
                found.push(no_epoch(&site, window));
            }
            let is_ordered = is_notified(args);
            let unit = window.unit_at(access.target);
            let other = window.accesses.conflict(&access, unit);
            if let Some(other) = other.filter(|_| !is_ordered) {
                found.push(access::conflict(&access, other, &site));
            }
        });
        return found;
    }
    find(win.0, |window| {
        window.close(args);
        found.extend(window.wrong(args, &site));
    });
    found
}

/// The clock of this host, which ranks on it have in common.
fn clock() -> u64 {
    static CLOCK: OnceLock<u64> = OnceLock::new();
    *CLOCK.get_or_init(|| {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let mut hasher = DefaultHasher::new();
        // Where it cannot be read there is nobody to compare with.
        boot.unwrap_or_else(|_| std::process::id().to_string())
            .hash(&mut hasher);
        hasher.finish().max(1)
    })
}

fn no_epoch(site: &impl Fn() -> Site, window: &Window) -> Finding {
    let text = "no epoch is open in which this rank may access the target";
    let finding = Finding::error(Kind::Epoch, site(), text.into());
    let finding = finding.besides("the window was made by", &window.site);
    finding.remedy(
        "open one first: by MPI_Win_fence on all ranks, MPI_Win_start, MPI_Win_lock or \
         MPI_Win_lock_all",
    )
}

impl Window {
    fn unit_at(&self, target: i32) -> i64 {
        let unit = usize::try_from(target)
            .ok()
            .and_then(|it| self.units.get(it));
        unit.copied().unwrap_or(self.unit)
    }

    /// Whether accesses to a target belong to the epoch between two fences.
    fn is_fenced(&self, target: i32) -> bool {
        let epoch = &self.epoch;
        let is_started = epoch.start.as_ref().is_some_and(|it| it.contains(&target));
        let is_locked = epoch.lock_all.is_some() || epoch.locks.contains_key(&target);
        epoch.fence.is_some() && !is_started && !is_locked
    }

    /// Whether accesses to a target are under a lock that others may have, too.
    fn is_shared(&self, target: i32) -> bool {
        let epoch = &self.epoch;
        let is_locked = epoch.lock_all.is_some() || epoch.locks.contains_key(&target);
        is_locked && !epoch.exclusive.contains(&target)
    }

    /// Whether accesses to a target belong to an epoch that `MPI_Win_start` has begun.
    fn is_started(&self, target: i32) -> bool {
        let epoch = &self.epoch;
        let is_locked = epoch.lock_all.is_some() || epoch.locks.contains_key(&target);
        let is_started = epoch.start.as_ref().is_some_and(|it| it.contains(&target));
        is_started && !is_locked
    }

    /// Keeps an access under a shared lock, which has just begun.
    fn keep(&mut self, access: Access) {
        if self.shared.len() == SHARED
            && let Some(oldest) = self.shared.pop_front()
        {
            self.open -= usize::from(oldest.is_open());
        }
        self.open += 1;
        let span = Span {
            clock: clock(),
            from: catena_trace::monotonic_ns(),
            to: u64::MAX,
        };
        self.shared.push_back(Access { span, ..access });
    }

    /// A call that may complete accesses under locks is about to begin.
    fn close(&mut self, args: &Args) {
        let target = match args.number {
            number::Win_unlock | number::Win_flush | number::Win_flush_local => {
                args.named("rank").map(|it| it as i32)
            }
            number::Win_unlock_all | number::Win_flush_all | number::Win_flush_local_all => None,
            _ => return,
        };
        let now = catena_trace::monotonic_ns();
        let open = self.shared.iter_mut().rev().filter(|it| it.is_open());
        for access in open.take(self.open) {
            if target.is_none_or(|target| target == access.target) {
                access.span.to = now;
                self.open -= 1;
            }
        }
    }

    fn may_access(&self, target: i32) -> bool {
        let epoch = &self.epoch;
        let is_started = || epoch.start.as_ref().is_some_and(|it| it.contains(&target));
        target == consts::PROC_NULL
            || epoch.fence.is_some()
            || epoch.lock_all.is_some()
            || epoch.locks.contains_key(&target)
            || is_started()
    }

    /// What is wrong with a call that opens or closes an epoch.
    fn wrong(&self, args: &Args, site: &impl Fn() -> Site) -> Option<Finding> {
        let epoch = &self.epoch;
        let error = |text: &str, remedy, other: Option<&Site>| {
            let finding = Finding::error(Kind::Epoch, site(), text.into());
            let finding = finding.remedy(remedy);
            Some(match other {
                Some(other) => finding.besides("the other epoch began in", other),
                None => finding,
            })
        };
        let by_lock = || {
            epoch
                .lock_all
                .as_ref()
                .or_else(|| epoch.locks.values().next())
        };
        match args.number {
            number::Win_fence => {
                let says = args.int(0) as i32;
                if says & consts::MODE_NOPRECEDE != 0
                    && let Some(before) = self.since_fence.first()
                {
                    return error(
                        "it says MPI_MODE_NOPRECEDE, but this rank has accessed the window since \
                         the last fence",
                        "leave MPI_MODE_NOPRECEDE out where a fence completes accesses",
                        Some(&before.site),
                    );
                }
                error(
                    "a lock of this window is held",
                    "call MPI_Win_unlock before MPI_Win_fence",
                    Some(by_lock()?),
                )
            }
            number::Win_lock | number::Win_lock_all => {
                let before = self.since_fence.first()?;
                error(
                    "accesses since the last fence are not complete",
                    "close the epoch first, by MPI_Win_fence with MPI_MODE_NOSUCCEED",
                    Some(&before.site),
                )
            }
            number::Win_free => match by_lock() {
                Some(lock) => error(
                    "a lock of this window is held",
                    "call MPI_Win_unlock before MPI_Win_free",
                    Some(lock),
                ),
                None if epoch.start.is_some() => error(
                    "an epoch that MPI_Win_start has begun is open",
                    "call MPI_Win_complete before MPI_Win_free",
                    None,
                ),
                None => {
                    let before = self.since_fence.first()?;
                    error(
                        "accesses of this rank are not complete",
                        "call MPI_Win_fence on all ranks before MPI_Win_free",
                        Some(&before.site),
                    )
                }
            },
            _ => None,
        }
    }
}

/// Notes what a call that has succeeded has done with windows; `uses` is the memory that it uses
/// here, which `shadow` may stand for, and `last` the newest operation before it.
pub fn after(
    args: &Args,
    (uses, shadow): (&[Use], Option<Shadow>),
    last: u64,
    site: impl Fn() -> Site,
) -> Vec<Finding> {
    match args.number {
        number::Win_create
        | number::Win_create_c
        | number::Win_allocate
        | number::Win_allocate_c
        | number::Win_allocate_shared
        | number::Win_allocate_shared_c
        | number::Win_create_dynamic => {
            made(args, site());
            return Vec::new();
        }
        _ => {}
    }
    let Some(win) = window(args) else {
        return Vec::new();
    };
    if access::act(args.call.name).is_none() {
        let ended = Ended {
            window: win.0,
            target: target(args),
            last,
            is_certain: true,
        };
        return synchronized(args, win, ended, site);
    }
    let site = site();
    if let Some(access) = access(args, site.clone()) {
        let target = access.target;
        // What has a request is complete when that is.
        let has_request = args.named("request").is_some();
        find(win.0, |window| {
            if is_notified(args) {
                return;
            }
            // Of those that are the same one is enough.
            let unit = window.unit_at(target);
            let is_new = has_request || window.accesses.add(&access, unit);
            if is_new && window.is_fenced(target) && !window.is_notified {
                window.since_fence.push(access.clone());
            }
            if is_new && window.is_started(target) {
                window.started.push(access.clone());
            }
            // What comes back is there when its request is complete.
            let is_fetched = has_request && access.site.call.starts_with("MPI_Rget");
            if window.is_shared(target) && !is_fetched {
                window.keep(access);
            }
        });
        if let Some(owner) = owner(args).filter(|_| !has_request) {
            requests::begun(owner, uses.to_vec(), shadow, site);
        }
    }
    Vec::new()
}

/// The target of a call that synchronizes with one alone.
fn target(args: &Args) -> Option<i32> {
    args.named("rank").map(|it| it as i32)
}

/// Notes what a call on a window has done that has failed with this code: where an access was
/// wrong, or a process is gone, which only the end of its epoch tells, that has ended all the same.
pub fn failed(args: &Args, code: c_int, last: u64, site: impl Fn() -> Site) -> Vec<Finding> {
    let ends = matches!(
        args.number,
        number::Win_fence
            | number::Win_complete
            | number::Win_wait
            | number::Win_unlock
            | number::Win_unlock_all
            | number::Win_flush
            | number::Win_flush_all
            | number::Win_flush_local
            | number::Win_flush_local_all
    );
    let Some(win) = window(args).filter(|_| ends) else {
        return Vec::new();
    };
    if mpi::is_death(code) {
        // Nobody exchanges anything about it any more.
        find(win.0, |window| window.comm = None);
    } else if mpi::class(code) != consts::ERR_RMA_RANGE {
        return Vec::new();
    }
    let ended = Ended {
        window: win.0,
        target: target(args),
        last,
        is_certain: false,
    };
    synchronized(args, win, ended, site)
}

/// Notes that a call has synchronized, which completes these operations if it completes any, and
/// looks which letters have come.
fn synchronized(args: &Args, win: Win, ended: Ended, site: impl Fn() -> Site) -> Vec<Finding> {
    let mut found = note(args, win, ended, site);
    let may_follow_letters = matches!(
        args.number,
        number::Win_fence
            | number::Win_start
            | number::Win_complete
            | number::Win_post
            | number::Win_test
    );
    if may_follow_letters {
        found.extend(with_letters(win, Letters::take_in));
    }
    found
}

/// Notes that a call has synchronized, which completes these operations if it completes any.
fn note(args: &Args, win: Win, ended: Ended, site: impl Fn() -> Site) -> Vec<Finding> {
    let target = ended.target;
    match args.number {
        number::Win_attach => {
            let (first, size) = (args.word(1), args.word(2));
            find(win.0, |window| window.memory.insert(first, size));
            show(first);
        }
        number::Win_detach => {
            find(win.0, |window| window.memory.remove(&args.word(1)));
        }
        // Whoever has notified this rank may have seen what it has done before.
        number::MPIX_Win_wait_notify
        | number::MPIX_Win_test_notify
        | number::MPIX_Win_get_notify_value
        | number::MPIX_Win_reset_notify_value => {
            find(win.0, |window| {
                window.accesses.forget(None);
                window.is_notified = true;
            });
        }
        number::Win_fence => {
            let mut found = requests::ended(ended, &site);
            found.extend(fence(args, win, &site));
            return found;
        }
        number::Win_start => {
            let targets = ranks(win, Group(args.word(0)));
            with_letters(win, |letters, _, _| letters.start(&targets));
            find(win.0, |window| window.epoch.start = Some(targets));
        }
        number::Win_complete => {
            complete(win);
            return requests::ended(ended, site);
        }
        number::Win_post => {
            let origins = ranks(win, Group(args.word(0)));
            with_letters(win, |letters, _, _| letters.post(&origins));
            find(win.0, |window| window.epoch.post = Some(origins));
        }
        number::Win_wait => return posted(win, &site),
        // SAFETY: the call has succeeded, so the flag is there.
        number::Win_test if unsafe { args.at::<c_int>(1) }.is_some_and(|it| it != 0) => {
            return posted(win, &site);
        }
        number::Win_lock => {
            let (site, target) = (site(), target.unwrap_or(0));
            find(win.0, |window| {
                window.epoch.locks.insert(target, site);
                if args.int(0) as i32 == consts::LOCK_EXCLUSIVE {
                    window.epoch.exclusive.insert(target);
                }
            });
        }
        number::Win_lock_all => {
            let site = site();
            find(win.0, |window| window.epoch.lock_all = Some(site));
        }
        number::Win_unlock | number::Win_flush | number::Win_flush_local => {
            find(win.0, |window| {
                if args.number == number::Win_unlock {
                    window.epoch.locks.remove(&target.unwrap_or(0));
                    window.epoch.exclusive.remove(&target.unwrap_or(0));
                }
                // What was read is there, and nothing that follows changes it.
                match args.number == number::Win_flush_local {
                    true => window.accesses.forget_reads(Some(target.unwrap_or(0))),
                    false => window.accesses.forget(Some(target.unwrap_or(0))),
                }
            });
            return requests::ended(ended, site);
        }
        number::Win_unlock_all | number::Win_flush_all | number::Win_flush_local_all => {
            find(win.0, |window| {
                if args.number == number::Win_unlock_all {
                    window.epoch.lock_all = None;
                }
                match args.number == number::Win_flush_local_all {
                    true => window.accesses.forget_reads(None),
                    false => window.accesses.forget(None),
                }
            });
            return requests::ended(ended, site);
        }
        _ => {}
    }
    Vec::new()
}

/// Does something with the letters of a window, and what they go over: its communicator, and the
/// bytes of a displacement. Nothing where ranks tell each other nothing.
fn with_letters<T: Default>(win: Win, f: impl FnOnce(&mut Letters, Comm, i64) -> T) -> T {
    let found = find(win.0, |window| {
        let letters = Arc::clone(&window.letters);
        Some((letters, window.comm?, window.unit))
    });
    let Some((letters, comm, unit)) = found.flatten() else {
        return T::default();
    };
    let mut letters = letters.lock().unwrap_or_else(PoisonError::into_inner);
    f(&mut letters, comm, unit)
}

/// This rank's epoch is complete: tells its targets what it has done there.
fn complete(win: Win) {
    let told = find(win.0, |window| {
        window.accesses.forget(None);
        let started = std::mem::take(&mut window.started);
        Some((window.epoch.start.take()?, started))
    });
    if let Some((targets, accesses)) = told.flatten() {
        with_letters(win, |letters, comm, _| {
            letters.write(comm, &targets, &accesses);
        });
    }
}

/// All origins have completed their epochs with this rank: finds accesses of several that conflict,
/// as far as they were told by now.
fn posted(win: Win, site: &impl Fn() -> Site) -> Vec<Finding> {
    let origins = find(win.0, |window| window.epoch.post.take()).flatten();
    match origins {
        Some(origins) => with_letters(win, |letters, comm, unit| {
            letters.wait(comm, unit, &origins, site())
        }),
        None => Vec::new(),
    }
}

/// Notes a fence, and finds accesses of several ranks that conflict.
fn fence(args: &Args, win: Win, site: &impl Fn() -> Site) -> Vec<Finding> {
    let says = args.int(0) as i32;
    let told = find(win.0, |window| {
        window.accesses.forget(None);
        window.is_notified = false;
        let is_last = says & consts::MODE_NOSUCCEED != 0;
        window.epoch.fence = (!is_last).then(site);
        let accesses = std::mem::take(&mut window.since_fence);
        (window.comm, window.unit, accesses)
    });
    let Some((Some(comm), unit, accesses)) = told else {
        return Vec::new();
    };
    match exchange::accesses(comm, &accesses) {
        Ok(here) => access::conflicts(&here, unit, site),
        Err(code) => {
            find(win.0, |window| window.comm = None);
            if mpi::is_death(code) {
                return Vec::new();
            }
            let text = "not all ranks of the window call MPI_Win_fence now";
            let finding = Finding::error(Kind::Epoch, site(), text.into());
            vec![finding.remedy("call MPI_Win_fence equally often on all ranks of a window")]
        }
    }
}

/// The ranks in a window of the members of a group.
fn ranks(win: Win, group: Group) -> Vec<i32> {
    let mut all = consts::GROUP_NULL;
    if mpi::Win_get_group(win, &mut all) != 0 {
        return Vec::new();
    }
    let found = mpi::translated(group, all);
    mpi::Group_free(&mut all);
    found.unwrap_or_default()
}

/// Notes that a window shows memory which begins there.
fn show(first: usize) {
    IDLE.store(false, Relaxed);
    if stack::own().contains(&first) {
        LOWEST_IN_STACK.fetch_min(first, Relaxed);
    }
}

/// Notes a window that was made.
fn made(args: &Args, site: Site) {
    let place = args.named("win").unwrap_or(0);
    // SAFETY: the call has succeeded, so the handle is there.
    let Some(&handle) = (unsafe { (place as *const usize).as_ref() }) else {
        return;
    };
    let memory = match (args.named("base"), args.named("size")) {
        (Some(base), Some(size)) if size > 0 => BTreeMap::from([(base, size)]),
        _ => BTreeMap::new(),
    };
    memory.keys().for_each(|&first| show(first));
    let comm = args.comm().and_then(exchange::comm);
    let unit = args.named("disp_unit").map_or(1, |it| it as i64);
    let window = Window {
        site,
        memory,
        comm,
        units: comm.map_or(Vec::new(), |comm| exchange::numbers(comm, unit)),
        unit,
        epoch: Epoch::default(),
        accesses: access::Own::default(),
        since_fence: Vec::new(),
        started: Vec::new(),
        letters: Arc::default(),
        shared: VecDeque::new(),
        open: 0,
        is_notified: false,
    };
    with(|all| all.insert(handle, window));
}

/// Before a window is given back: forgets it.
pub fn free(args: &Args, site: impl Fn() -> Site) -> Vec<Finding> {
    if args.number != number::Win_free {
        return Vec::new();
    }
    // SAFETY: a place of a handle, or null.
    let Some(handle) = (unsafe { args.at::<usize>(0) }) else {
        return Vec::new();
    };
    let gone = with(|all| {
        let gone = all.remove(&handle);
        let is_idle = all.values().all(|it| it.memory.is_empty());
        IDLE.store(is_idle, Relaxed);
        if is_idle {
            LOWEST_IN_STACK.store(usize::MAX, Relaxed);
        }
        gone
    });
    let mut found = Vec::new();
    if let Some(window) = gone
        && let Some(comm) = window.comm
    {
        let accesses = Vec::from(window.shared);
        if let Ok(here) = exchange::accesses(comm, &accesses) {
            found = access::conflicts(&here, window.unit, &site);
            let mut letters = window
                .letters
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            found.extend(std::mem::take(&mut *letters).settle(comm, window.unit));
        }
        exchange::leave(comm);
    }
    // Of a program that is right none is left.
    let ended = Ended {
        window: handle,
        target: None,
        last: u64::MAX,
        is_certain: false,
    };
    found.extend(requests::ended(ended, site));
    found
}
