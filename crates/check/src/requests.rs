//! Requests of the program, and the memory that their operations use.
//!
//! A request is known from the call that made it on. Its memory is in use until a call says that it
//! is complete; that of a persistent request from each start on. Requests are told apart by their
//! handles, wherever these are copied to; those that would have the same one get handles of their
//! own ([`alike`]). Of requests that have the same all the same, nothing is said that is not
//! certain.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use catena_abi::Request as Handle;
use catena_abi::consts::{DATATYPE_NULL, REQUEST_NULL};

use crate::buffers::{Access, Piece, Use};
use crate::call::{Args, number};
use crate::shadow::Shadow;
use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::{alike, maps, stack, sums};

/// A request.
#[derive(Debug)]
struct Request {
    handle: usize,
    /// Where the program keeps the handle.
    place: usize,
    site: Site,
    is_persistent: bool,
    /// Of a partitioned one; zero for others.
    partitions: i64,
    /// Whether its operation is under way.
    is_active: bool,
    is_cancelled: bool,
    /// Whether it may be complete, as one with the same handle is.
    is_doubtful: bool,
    uses: Vec<Use>,
    /// Of what it reads, the sums when the operation began.
    sums: Vec<Option<u64>>,
    /// Of the partitions that are ready, the sums when they became that.
    ready: BTreeMap<i64, u64>,
    /// The partitions that have arrived, as the program was told.
    arrived: BTreeSet<i64>,
    /// What has made another request whose handle went to the same place.
    lost: Option<Site>,
    /// Of an operation on a window, which window and which target.
    owner: Option<Owner>,
    /// What MPI writes instead of the memory of the only use.
    shadow: Option<Shadow>,
}

/// A window and a target of an operation on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    pub window: usize,
    pub target: i32,
}

type Pending = BTreeMap<(usize, u64, u32, u32), Piece>;

#[derive(Default)]
struct Requests {
    /// By their numbers, in the order of the calls that made them.
    all: BTreeMap<u64, Request>,
    by_handle: HashMap<usize, Vec<u64>>,
    /// The newest whose handle a place was given.
    by_place: HashMap<usize, u64>,
    /// Memory in use that MPI reads, and such that it writes: the first byte, the request's number,
    /// and which of its uses and pieces. Apart, as many may read the same.
    read: Pending,
    written: Pending,
    /// The longest piece that was ever in use.
    longest: usize,
    last: u64,
}

static REQUESTS: Mutex<Option<Requests>> = Mutex::new(None);

/// Where memory in use may be; what lies outside is let through without the lock.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);
/// Of memory in use that lies in the stack of a thread, the lowest address.
static LOWEST_IN_STACK: AtomicUsize = AtomicUsize::new(usize::MAX);

fn with<T>(f: impl FnOnce(&mut Requests) -> T) -> T {
    let mut requests = REQUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    f(requests.get_or_insert_default())
}

/// A use of memory by a pending operation that another use meets.
#[derive(Debug)]
pub struct Met {
    pub arg: &'static str,
    pub access: Access,
    pub piece: Piece,
    pub site: Site,
}

impl Met {
    fn new(request: &Request, used: &Use, piece: &Piece) -> Met {
        Met {
            arg: used.arg,
            access: used.access,
            piece: piece.clone(),
            site: request.site.clone(),
        }
    }
}

impl Requests {
    fn begin(&mut self, id: u64) {
        let Some(request) = self.all.get_mut(&id) else {
            return;
        };
        request.is_active = true;
        request.is_cancelled = false;
        request.ready.clear();
        request.arrived.clear();
        let own = stack::own();
        request.sums = match request.partitions > 0 {
            // They may be written until they are said to be ready.
            true => Vec::new(),
            false => request.uses.iter().map(sum).collect(),
        };
        for (i, used) in request.uses.iter().enumerate() {
            for (j, piece) in used.pieces.iter().enumerate() {
                let key = (piece.first, id, i as u32, j as u32);
                let pending = match used.access {
                    Access::Read => &mut self.read,
                    Access::Write => &mut self.written,
                };
                pending.insert(key, piece.clone());
                self.longest = self.longest.max(piece.len());
                LOWEST.fetch_min(piece.first, Relaxed);
                HIGHEST.fetch_max(piece.end, Relaxed);
                if own.contains(&piece.first) {
                    LOWEST_IN_STACK.fetch_min(piece.first, Relaxed);
                }
            }
        }
    }

    /// Whether another operation on a window that reads the same is under way: one is enough.
    fn has_begun(&self, owner: Owner, uses: &[Use], site: &Site) -> bool {
        let [used] = uses else {
            return false;
        };
        let (Access::Read, [piece]) = (used.access, &used.pieces[..]) else {
            return false;
        };
        let range = (piece.first, 0, 0, 0)..=(piece.first, u64::MAX, u32::MAX, u32::MAX);
        self.read.range(range).any(|(&(_, id, ..), other)| {
            let its = self.all.get(&id);
            let is_alike = |it: &Request| it.owner == Some(owner) && it.site.key() == site.key();
            (other.end, other.ty) == (piece.end, piece.ty) && its.is_some_and(is_alike)
        })
    }

    fn end(&mut self, id: u64) {
        let Some(request) = self.all.get_mut(&id) else {
            return;
        };
        request.is_active = false;
        for (i, used) in request.uses.iter().enumerate() {
            for (j, piece) in used.pieces.iter().enumerate() {
                let key = (piece.first, id, i as u32, j as u32);
                match used.access {
                    Access::Read => self.read.remove(&key),
                    Access::Write => self.written.remove(&key),
                };
            }
        }
        if self.read.is_empty() && self.written.is_empty() {
            self.longest = 0;
            LOWEST.store(usize::MAX, Relaxed);
            HIGHEST.store(0, Relaxed);
            LOWEST_IN_STACK.store(usize::MAX, Relaxed);
        }
    }

    fn remove(&mut self, id: u64) -> Option<Request> {
        self.end(id);
        let request = self.all.remove(&id)?;
        if self.by_place.get(&request.place) == Some(&id) {
            self.by_place.remove(&request.place);
        }
        if let Some(alike) = self.by_handle.get_mut(&request.handle) {
            alike.retain(|&it| it != id);
            if alike.is_empty() {
                self.by_handle.remove(&request.handle);
            }
        }
        Some(request)
    }

    /// Memory in use that lies between two addresses, or reaches into it: that which is written,
    /// and all of it for an `access` that writes.
    fn met(
        &self,
        first: usize,
        end: usize,
        access: Access,
    ) -> impl Iterator<Item = (&Request, &Use, &Piece)> {
        let from = first.saturating_sub(self.longest);
        let range = (from, 0, 0, 0)..(end, 0, 0, 0);
        let read = (access == Access::Write).then(|| self.read.range(range.clone()));
        let all = self.written.range(range).chain(read.into_iter().flatten());
        all.filter(move |(_, piece)| piece.end > first)
            .filter_map(|(&(_, id, used, _), piece)| {
                let request = self.all.get(&id)?;
                Some((request, &request.uses[used as usize], piece))
            })
    }

    /// The request that a handle means, of those that were there before a call; `None` if several
    /// have it.
    fn find(&self, given: Given, before: u64) -> Option<u64> {
        let alike = self.by_handle.get(&given.handle)?;
        let mut alike = alike.iter().copied().filter(|&id| id <= before);
        alike.next().filter(|_| alike.next().is_none())
    }

    /// One of several requests with that handle is complete, and nobody can tell which one: nothing
    /// is said of their memory any more. As many are forgotten as are complete: the last one, too,
    /// which may have been made after the call began that completes another one.
    fn doubt(&mut self, handle: usize) {
        let alike = self.by_handle.get(&handle).cloned().unwrap_or_default();
        let is_doubtful = |id: &u64| self.all.get(id).is_some_and(|it| it.is_doubtful);
        if alike.len() < 2 && !alike.iter().any(is_doubtful) {
            return;
        }
        for &id in &alike {
            self.end(id);
            if let Some(request) = self.all.get_mut(&id) {
                request.is_doubtful = true;
            }
        }
        self.remove(alike[0]);
    }
}

fn sum(used: &Use) -> Option<u64> {
    if used.access != Access::Read {
        return None;
    }
    let mut all: u64 = 0;
    for piece in &used.pieces {
        if !maps::is_readable(piece.first, piece.end) {
            return None;
        }
        // SAFETY: memory that can be read.
        all = all.rotate_left(9) ^ unsafe { sums::sum(piece) }?;
    }
    Some(all)
}

/// A handle that a call is given.
#[derive(Clone, Copy, Debug)]
struct Given {
    handle: usize,
}

fn resolve(uses: &mut [Use]) {
    let pieces = uses.iter_mut().flat_map(|it| &mut it.pieces);
    pieces.for_each(Piece::resolve);
}

/// Notes the request that a call has made there, which uses that memory; of one on a window, of
/// which.
pub fn made(args: &Args, place: usize, mut uses: Vec<Use>, (owner, site): (Option<Owner>, Site)) {
    // SAFETY: the call has succeeded, so the handle is there.
    let mut handle = unsafe { *(place as *const usize) };
    if handle == REQUEST_NULL.0 {
        return;
    }
    let is_known = with(|requests| requests.by_handle.contains_key(&handle));
    if is_known && let Some(own) = alike::own(Handle(handle)) {
        handle = own.0;
        // SAFETY: as above; the call writes the handle, and has not returned.
        unsafe { *(place as *mut usize) = handle };
    }
    resolve(&mut uses);
    let name = args.call.name;
    let partitions = args.named("partitions").map_or(0, |it| it as i64);
    let is_persistent = name.contains("_init");
    with(|requests| {
        requests.last += 1;
        let id = requests.last;
        let before = requests.by_place.insert(place, id);
        if let Some(before) = before.and_then(|it| requests.all.get_mut(&it)) {
            before.lost = Some(site.clone());
        }
        requests.all.insert(
            id,
            Request {
                handle,
                place,
                site,
                is_persistent,
                partitions,
                is_active: false,
                is_cancelled: false,
                is_doubtful: false,
                uses,
                sums: Vec::new(),
                ready: BTreeMap::new(),
                arrived: BTreeSet::new(),
                lost: None,
                owner,
                shadow: None,
            },
        );
        requests.by_handle.entry(handle).or_default().push(id);
        match is_persistent {
            true => {}
            false => requests.begin(id),
        }
    });
}

/// Notes an operation on a window, which uses that memory until [`ended`]; MPI was given another
/// one if there is a shadow.
pub fn begun(owner: Owner, mut uses: Vec<Use>, shadow: Option<Shadow>, site: Site) {
    resolve(&mut uses);
    with(|requests| {
        if shadow.is_none() && requests.has_begun(owner, &uses, &site) {
            return;
        }
        requests.last += 1;
        let id = requests.last;
        let request = Request {
            handle: REQUEST_NULL.0,
            place: 0,
            site,
            is_persistent: false,
            partitions: 0,
            is_active: false,
            is_cancelled: false,
            is_doubtful: false,
            uses,
            sums: Vec::new(),
            ready: BTreeMap::new(),
            arrived: BTreeSet::new(),
            lost: None,
            owner: Some(owner),
            shadow,
        };
        requests.all.insert(id, request);
        requests.begin(id);
    });
}

/// Operations on a window that a call completes here: those to a target, or to all.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub window: usize,
    pub target: Option<i32>,
    /// The newest of them: those that other threads have begun since the call did are not meant.
    pub last: u64,
    /// Whether they are certainly complete, so that MPI writes nothing any more.
    pub is_certain: bool,
}

/// Notes that operations on a window are complete here. Finds memory that was changed meanwhile.
pub fn ended(which: Ended, site: impl Fn() -> Site) -> Vec<Finding> {
    with(|requests| {
        let is_meant = |owner: Owner| {
            owner.window == which.window && which.target.is_none_or(|it| it == owner.target)
        };
        let all = requests.all.range(..=which.last);
        let done = all.filter(|(_, it)| it.owner.is_some_and(is_meant));
        let done: Vec<_> = done.map(|(&id, _)| id).collect();
        let mut found = Vec::new();
        for id in done {
            found.extend(changed(&requests.all[&id], &site));
            if requests.all[&id].handle != REQUEST_NULL.0 {
                // It is still to be waited for, which ends at once.
                requests.end(id);
                continue;
            }
            match requests.remove(id).and_then(|it| it.shadow) {
                Some(shadow) if which.is_certain => shadow.finish(),
                Some(shadow) => shadow.give_up(),
                None => {}
            }
        }
        found
    })
}

/// What stands in the handles that a call is given, for [`after`].
#[derive(Debug, Default)]
pub struct Before {
    given: Vec<Given>,
    /// The number of the newest request, for calls that complete some; zero for others.
    pub last: u64,
}

/// Notes the requests that a call is given: it may overwrite their handles.
pub fn before(args: &Args) -> Before {
    let at = |place: usize| {
        // SAFETY: a place of a handle, which is not null.
        let handle = unsafe { *(place as *const usize) };
        Given { handle }
    };
    let given = match args.number {
        number::Wait | number::Test | number::Request_free | number::Start | number::Cancel => {
            match args.word(0) {
                0 => Vec::new(),
                place => vec![at(place)],
            }
        }
        number::Pready => vec![Given {
            handle: args.word(1),
        }],
        number::Pready_range | number::Pready_list => vec![Given {
            handle: args.word(2),
        }],
        number::Request_get_status | number::Parrived => vec![Given {
            handle: args.word(0),
        }],
        number::Waitall
        | number::Waitany
        | number::Waitsome
        | number::Testall
        | number::Testany
        | number::Testsome
        | number::Startall
        | number::Request_get_status_all
        | number::Request_get_status_any
        | number::Request_get_status_some => {
            let count = usize::try_from(args.int(0)).unwrap_or(0);
            let first = args.word(1);
            let place = |i| first + i * size_of::<usize>();
            match first {
                0 => Vec::new(),
                _ => (0..count).map(|i| at(place(i))).collect(),
            }
        }
        number::Win_fence
        | number::Win_complete
        | number::Win_unlock
        | number::Win_unlock_all
        | number::Win_flush
        | number::Win_flush_all
        | number::Win_flush_local
        | number::Win_flush_local_all => Vec::new(),
        _ => return Before::default(),
    };
    Before {
        given,
        last: with(|requests| requests.last),
    }
}

/// What is wrong with the states of the requests that a call is given.
pub fn wrong(args: &Args, before: &Before, site: impl Fn() -> Site) -> Vec<Finding> {
    let is_start = matches!(args.number, number::Start | number::Startall);
    if !is_start && args.number != number::Request_free {
        return Vec::new();
    }
    with(|requests| {
        let known = |given: &Given| requests.find(*given, before.last);
        let known = before.given.iter().filter_map(known);
        known
            .filter_map(|id| {
                let request = &requests.all[&id];
                state(request, is_start, &site)
            })
            .collect()
    })
}

/// The memory of the requests that a call starts; that of those that are started already is in use
/// by themselves.
pub fn started(args: &Args) -> Vec<Use> {
    let given = before(args);
    with(|requests| {
        let known = given
            .given
            .iter()
            .filter_map(|it| requests.find(*it, given.last));
        let known = known.map(|id| &requests.all[&id]);
        let idle = known.filter(|it| !it.is_active);
        idle.flat_map(|it| it.uses.clone()).collect()
    })
}

fn state(request: &Request, is_start: bool, site: &impl Fn() -> Site) -> Option<Finding> {
    let made = &request.site;
    if is_start {
        let what = match (request.is_persistent, request.is_active) {
            (false, _) => "the request is not persistent, so it cannot be started",
            (true, true) => "the request is active: it was started and is not complete yet",
            _ => return None,
        };
        let finding = Finding::error(Kind::Request, site(), what.into());
        let finding = finding.besides("the request was made by", made);
        return Some(finding.remedy("complete it, as by MPI_Wait, before it is started again"));
    }
    let receives = made.call.contains("recv") || made.call.contains("Recv");
    let writes = request.uses.iter().any(|it| it.access == Access::Write);
    if !(request.is_active && receives && writes) || request.is_cancelled {
        return None;
    }
    let text = "the request is active, and nothing will tell when its buffer has been written";
    let finding = Finding::warning(Kind::Request, site(), text.into());
    let finding = finding.besides("the request was made by", made);
    Some(finding.remedy("complete it, as by MPI_Wait, instead of giving it up"))
}

/// Notes what a call has done with the requests that it was given, and finds send buffers that were
/// changed meanwhile.
pub fn after(args: &Args, code: i32, before: &Before, site: impl Fn() -> Site) -> Vec<Finding> {
    if before.given.is_empty() {
        return Vec::new();
    }
    // SAFETY: the call has succeeded, so what it tells is there.
    let told = |at: usize| i64::from(unsafe { args.at::<i32>(at) }.unwrap_or(0));
    let one = |index: i64| usize::try_from(index).ok();
    let all = || (0..before.given.len()).collect::<Vec<_>>();
    let done: Vec<usize> = match args.number {
        number::Start | number::Startall => {
            if code == 0 {
                begin(before);
            }
            return Vec::new();
        }
        number::Cancel
        | number::Pready
        | number::Pready_range
        | number::Pready_list
        | number::Parrived => {
            if code == 0 {
                note(args, before);
            }
            return Vec::new();
        }
        _ if code != 0 => all(),
        number::Wait | number::Waitall | number::Request_free => all(),
        number::Test | number::Request_get_status => match told(1) {
            0 => Vec::new(),
            _ => all(),
        },
        number::Testall | number::Request_get_status_all => match told(2) {
            0 => Vec::new(),
            _ => all(),
        },
        number::Waitany => one(told(2)).into_iter().collect(),
        number::Testany | number::Request_get_status_any => match told(3) {
            0 => Vec::new(),
            _ => one(told(2)).into_iter().collect(),
        },
        _ => {
            let count = one(told(2)).unwrap_or(0);
            let indices = args.word(3) as *const i32;
            // SAFETY: the call has told that many.
            let index = |i| i64::from(unsafe { *indices.add(i) });
            (0..count).filter_map(|i| one(index(i))).collect()
        }
    };
    let is_freed = args.number == number::Request_free;
    let done = done.into_iter().filter_map(|i| before.given.get(i));
    let keeps = matches!(
        args.number,
        number::Request_get_status
            | number::Request_get_status_all
            | number::Request_get_status_any
            | number::Request_get_status_some
    );
    let mut found = Vec::new();
    with(|requests| {
        for &given in done {
            let Some(id) = requests.find(given, before.last) else {
                requests.doubt(given.handle);
                continue;
            };
            if code == 0 && !is_freed {
                found.extend(changed(&requests.all[&id], &site));
            }
            let stays = keeps || (requests.all[&id].is_persistent && !is_freed);
            match stays {
                true => requests.end(id),
                false => drop(requests.remove(id)),
            }
        }
    });
    found
}

/// Notes a cancelled request, or partitions that are ready or have arrived.
fn note(args: &Args, before: &Before) {
    with(|requests| {
        let given = before.given.first();
        let known = given.and_then(|&it| requests.find(it, before.last));
        let Some(request) = known.and_then(|id| requests.all.get_mut(&id)) else {
            return;
        };
        match args.number {
            number::Cancel => request.is_cancelled = true,
            number::Pready => request.ready(args.int(0)),
            number::Pready_range => (args.int(0)..=args.int(1)).for_each(|it| request.ready(it)),
            // SAFETY: the call has succeeded, so the flag is there.
            number::Parrived => match unsafe { args.at::<i32>(2) } {
                None | Some(0) => {}
                Some(_) => _ = request.arrived.insert(args.int(1)),
            },
            _ => {
                let list = args.word(1) as *const i32;
                for i in 0..usize::try_from(args.int(0)).unwrap_or(0) {
                    // SAFETY: the call has succeeded, so the list has that many.
                    request.ready(i64::from(unsafe { *list.add(i) }));
                }
            }
        }
    });
}

fn begin(before: &Before) {
    with(|requests| {
        for &given in &before.given {
            if let Some(id) = requests.find(given, before.last) {
                requests.begin(id);
            }
        }
    });
}

/// The send buffers that were changed since their operation began.
fn changed(request: &Request, site: &impl Fn() -> Site) -> Option<Finding> {
    if !request.is_active {
        return None;
    }
    if let Some(partition) = request.changed_partition() {
        let text = format!(
            "the partition {partition} of {} was changed after it was said to be ready",
            request.site.call
        );
        let finding = Finding::error(Kind::Written, site(), text);
        let finding = finding.besides("the request was made by", &request.site);
        return Some(finding.remedy(
            "call MPI_Pready when the partition has its values, and leave it alone until the \
             operation is complete",
        ));
    }
    let mut both = request.uses.iter().zip(&request.sums);
    let is_changed = |(used, before): &(&Use, &Option<u64>)| match &request.shadow {
        Some(shadow) => shadow.is_changed(),
        None => before.is_some() && sum(used) != **before,
    };
    let (used, _) = both.find(is_changed)?;
    let text = format!(
        "the buffer {} of {} was changed before this call has completed it",
        used.arg, request.site.call
    );
    let finding = Finding::error(Kind::Written, site(), text);
    let finding = finding.besides("the operation began in", &request.site);
    Some(finding.remedy(
        "leave the buffer alone until the operation is complete: what it holds until then is not \
         certain",
    ))
}

/// Memory in use by a pending operation that has bytes in common with a piece, of which one of both
/// is written, and how many.
pub fn meets(piece: &Piece, access: Access) -> Option<(Met, usize)> {
    if piece.first >= HIGHEST.load(Relaxed) || piece.end <= LOWEST.load(Relaxed) {
        return None;
    }
    with(|requests| {
        let mut met = requests.met(piece.first, piece.end, access);
        met.find_map(|(request, used, other)| {
            let bytes = piece.common(other).filter(|&it| it > 0)?;
            let (first, end) = (piece.first.max(other.first), piece.end.min(other.end));
            let may_be_read = access == Access::Read && request.has_arrived(first, end);
            (!may_be_read).then(|| (Met::new(request, used, other), bytes))
        })
    })
}

/// Where the pending operation began that writes to a buffer of that address.
pub fn of_buffer(base: usize) -> Option<Site> {
    with(|requests| {
        let active = requests.all.values().filter(|it| it.is_active);
        let mut active = active.filter(|it| {
            let mut written = it.uses.iter().filter(|it| it.access == Access::Write);
            written.any(|it| it.pieces.iter().any(|piece| piece.base == base))
        });
        active.next().map(|it| it.site.clone())
    })
}

/// Whether no operation is pending that uses memory.
pub fn is_idle() -> bool {
    HIGHEST.load(Relaxed) == 0
}

/// Whether memory in use may lie in a stack below that address.
pub fn may_use_below(top: usize) -> bool {
    LOWEST_IN_STACK.load(Relaxed) < top
}

/// A buffer of a pending operation that lies wholly in a block of memory.
pub fn within(block: usize, len: usize) -> Option<Met> {
    let end = block.saturating_add(len);
    if block >= HIGHEST.load(Relaxed) || end <= LOWEST.load(Relaxed) {
        return None;
    }
    with(|requests| {
        let mut met = requests.met(block, end, Access::Write);
        let (request, used, piece) =
            met.find(|(_, _, piece)| piece.first >= block && piece.end <= end)?;
        Some(Met::new(request, used, piece))
    })
}

/// The Fortran library has given its newest request a copy of a section: the section is in use
/// instead of the copy.
pub fn section(request: Handle, copy: usize, size: usize, section: usize, len: usize) {
    with(|requests| {
        let newest = requests.by_handle.get(&request.0);
        let Some(&id) = newest.and_then(|it| it.last()) else {
            return;
        };
        let was_active = requests.all[&id].is_active;
        requests.end(id);
        let Some(known) = requests.all.get_mut(&id) else {
            return;
        };
        let is_copy = |it: &Piece| it.first >= copy && it.end <= copy + size;
        // Parts of it may be others'.
        let whole = Piece::of_bytes(section, len).map(|whole| Piece {
            is_solid: false,
            ty: DATATYPE_NULL,
            ..whole
        });
        for used in &mut known.uses {
            for piece in used.pieces.iter_mut().filter(|it| is_copy(it)) {
                if let Some(whole) = &whole {
                    *piece = whole.clone();
                }
            }
            // Nothing has to stay.
            used.pieces.retain(|it| !is_copy(it));
        }
        if was_active {
            requests.begin(id);
            if let Some(known) = requests.all.get_mut(&id) {
                known.sums.clear();
            }
        }
    });
}

/// What is left at the end: a finding for each place of the program.
pub fn left() -> Vec<Finding> {
    with(|requests| {
        let Requests { all, .. } = std::mem::take(requests);
        let mut places: HashMap<_, (&Request, usize)> = HashMap::new();
        for request in all.values().filter(|it| it.handle != REQUEST_NULL.0) {
            let key = (request.site.key(), request.is_active);
            places.entry(key).or_insert((request, 0)).1 += 1;
        }
        let mut found: Vec<_> = places.into_values().collect();
        found.sort_by_key(|(request, _)| request.site.key());
        let found = found
            .into_iter()
            .map(|(request, count)| leak(request, count));
        found.collect()
    })
}

fn leak(request: &Request, count: usize) -> Finding {
    let (one, many) = match (request.is_persistent, request.is_active) {
        (true, false) => ("is never given back", "are never given back"),
        _ => ("is never completed", "are never completed"),
    };
    let text = match count {
        1 => format!("its request {one}"),
        n => format!("{n} of its requests {many}"),
    };
    let site = request.site.clone();
    let finding = match request.is_active || !request.is_persistent {
        true => Finding::error(Kind::Leak, site, text)
            .remedy("complete it, as by MPI_Wait, before MPI_Finalize"),
        false => Finding::warning(Kind::Leak, site, text)
            .remedy("call MPI_Request_free when it is not needed any more"),
    };
    match &request.lost {
        Some(lost) => finding.besides("its handle was overwritten by", lost),
        None => finding,
    }
}

mod partitions;
#[cfg(test)]
mod tests;
