//! Windows of the program: their memory, their epochs, and accesses that conflict.
//!
//! A process knows its own accesses. At the end of an epoch between
//! fences it is told how others have accessed its memory: each rank tells each target what it has
//! done there (`exchange`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use catena_abi::{Comm, Datatype, Group, Win, consts};

use crate::access::Access;
use crate::buffers::Use;
use crate::call::{Args, Class, number};
use crate::requests::{self, Owner, Shadow};
use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::{access, exchange, mpi, objects, stack};

/// A window.
struct Window {
    site: Site,
    /// Memory of the program that it shows to others.
    memory: Vec<(usize, usize)>,
    /// A communicator of the tool's own, over which the accesses of an epoch are told.
    comm: Option<Comm>,
    /// Bytes of a displacement at each rank, and at this one.
    units: Vec<i64>,
    unit: i64,
    epoch: Epoch,
    /// What this rank has done since its last synchronization with a target.
    accesses: Vec<Access>,
    /// What this rank has done since the last fence.
    since_fence: Vec<Access>,
    /// Whether a notification has come since the last fence: what this rank does then may be
    /// ordered behind what others have done.
    is_notified: bool,
}

/// What a rank may do with a window.
#[derive(Default)]
struct Epoch {
    /// The last fence, unless it said that nothing follows.
    fence: Option<Site>,
    /// `MPI_Win_start`, and its targets.
    start: Option<Vec<i32>>,
    locks: BTreeMap<i32, Site>,
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
            let mut memory = window.memory.iter();
            let &(first, size) = memory.find(|it| it.0 >= block && it.0 + it.1 <= end && it.1 > 0)?;
            let text = format!(
                "{len} bytes at {block:#x} are given back, in which {size} bytes at {first:#x} lie that a window shows"
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
            let mut memory = window.memory.iter();
            let &(first, _) = memory.find(|it| it.0 >= low && it.0 < high && it.1 > 0)?;
            Some((first, window.site.clone()))
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
    let is_known = find(window(args)?.0, |_| ());
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

/// What is wrong with a call on a window.
pub fn before(args: &Args, site: impl Fn() -> Site) -> Vec<Finding> {
    let Some(win) = window(args) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Some(access) = access(args, site()) {
        find(win.0, |window| {
            if !window.may_access(access.target) {
                found.push(no_epoch(&site, window));
            }
            let mut own = window.accesses.iter();
            if let Some(other) = own.find(|it| it.conflicts(&access, window.unit_at(access.target)))
            {
                found.push(access::conflict(&access, other, &site));
            }
        });
        return found;
    }
    find(win.0, |window| {
        found.extend(window.wrong(args, &site));
    });
    found
}

fn no_epoch(site: &impl Fn() -> Site, window: &Window) -> Finding {
    let text = "no epoch is open in which this rank may access the target";
    let finding = Finding::error(Kind::Epoch, site(), text.into());
    let finding = finding.besides("the window was made by", &window.site);
    finding.remedy(
        "open one first: by MPI_Win_fence on all ranks, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all",
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
                        "it says MPI_MODE_NOPRECEDE, but this rank has accessed the window since the last fence",
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
/// here.
pub fn after(
    args: &Args,
    uses: &[Use],
    shadow: Option<Shadow>,
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
    if let Some(access) = access(args, site()) {
        let target = access.target;
        // What has a request is complete when that is.
        let has_request = args.named("request").is_some();
        find(win.0, |window| {
            if window.is_fenced(target) && !window.is_notified {
                window.since_fence.push(access.clone());
            }
            if !has_request {
                window.accesses.push(access);
            }
        });
        if !has_request {
            let owner = Owner {
                window: win.0,
                target,
            };
            requests::begun(owner, uses.to_vec(), shadow, site());
        }
        return Vec::new();
    }
    synchronized(args, win, site)
}

/// Notes that a call has synchronized.
fn synchronized(args: &Args, win: Win, site: impl Fn() -> Site) -> Vec<Finding> {
    let target = args.named("rank").map(|it| it as i32);
    match args.number {
        number::Win_attach => {
            let memory = (args.word(1), args.word(2));
            find(win.0, |window| window.memory.push(memory));
            show(&[memory]);
        }
        number::Win_detach => {
            find(win.0, |window| {
                window.memory.retain(|it| it.0 != args.word(1))
            });
        }
        // Whoever has notified this rank may have seen what it has done before.
        number::MPIX_Win_wait_notify
        | number::MPIX_Win_test_notify
        | number::MPIX_Win_get_notify_value
        | number::MPIX_Win_reset_notify_value => {
            find(win.0, |window| {
                window.accesses.clear();
                window.is_notified = true;
            });
        }
        number::Win_fence => {
            let mut found = requests::ended(win.0, None, &site);
            found.extend(fence(args, win, &site));
            return found;
        }
        number::Win_start => {
            let targets = ranks(win, Group(args.word(0)));
            find(win.0, |window| window.epoch.start = Some(targets));
        }
        number::Win_complete => {
            find(win.0, |window| {
                window.epoch.start = None;
                window.accesses.clear();
            });
            return requests::ended(win.0, None, site);
        }
        number::Win_lock => {
            let site = site();
            find(win.0, |window| {
                window.epoch.locks.insert(target.unwrap_or(0), site)
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
                }
                if args.number != number::Win_flush_local {
                    window.accesses.retain(|it| Some(it.target) != target);
                }
            });
            return requests::ended(win.0, target, site);
        }
        number::Win_unlock_all | number::Win_flush_all | number::Win_flush_local_all => {
            find(win.0, |window| {
                if args.number == number::Win_unlock_all {
                    window.epoch.lock_all = None;
                }
                if args.number != number::Win_flush_local_all {
                    window.accesses.clear();
                }
            });
            return requests::ended(win.0, None, site);
        }
        _ => {}
    }
    Vec::new()
}

/// Notes a fence, and finds accesses of several ranks that conflict.
fn fence(args: &Args, win: Win, site: &impl Fn() -> Site) -> Vec<Finding> {
    let says = args.int(0) as i32;
    let told = find(win.0, |window| {
        window.accesses.clear();
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
        Err(_) => {
            find(win.0, |window| window.comm = None);
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

/// Notes memory that a window shows.
fn show(memory: &[(usize, usize)]) {
    let own = stack::own();
    for &(first, _) in memory {
        IDLE.store(false, Relaxed);
        if own.contains(&first) {
            LOWEST_IN_STACK.fetch_min(first, Relaxed);
        }
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
        (Some(base), Some(size)) if size > 0 => vec![(base, size)],
        _ => Vec::new(),
    };
    show(&memory);
    let comm = args.comm().and_then(exchange::comm);
    let unit = args.named("disp_unit").map_or(1, |it| it as i64);
    let window = Window {
        site,
        memory,
        comm,
        units: comm.map_or(Vec::new(), |comm| exchange::numbers(comm, unit)),
        unit,
        epoch: Epoch::default(),
        accesses: Vec::new(),
        since_fence: Vec::new(),
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
    if let Some(mut comm) = gone.and_then(|it| it.comm) {
        mpi::Comm_free(&mut comm);
    }
    requests::ended(handle, None, site)
}
