//! Making and freeing windows (MPI-5, chapter 12.2). Collective: over the communicator that it is
//! made with the members tell each other rows of words, three times: what each has, what the lowest
//! has made for all, and whether it could be mapped. One who cannot take part says so instead, and
//! the call fails everywhere. If one finds that neighbours cannot open each other's descriptors,
//! all begin anew, with memory in the segment of the job.
//!
//! The memory of `MPI_Win_allocate` on a node with some members is one [region], which each of them
//! opens once.

use catena_hang::{WaitsFor, What};
use std::cell::RefCell;
use std::ffi::c_int;
use std::io::ErrorKind;
use std::sync::Arc;

use catena_abi::{self as abi, Aint, consts};
use catena_core::comm::Comm;
use catena_core::memory_at::may_be_on_devices;
use catena_core::{Process, kind_of_death};
use catena_fabric::{self as fabric, Peer};
use catena_net::Route;
use catena_objects::attr::Attributes;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::error_place::Target as ErrorTarget;
use catena_objects::fail;
use catena_shm::Bell;

use crate::access::Epochs;
use crate::control::Control;
use crate::exposed::{self, Area, Exposed, NetworkPath, is_here};
use crate::heap::{self, Card, Mapping};
use crate::letters::Reader;
use crate::mailbox;
use crate::message::carry;
use crate::message::exchange;
use crate::message::state::{ELSEWHERE, Meetings};
use crate::notices::Notices;
use crate::plan::Plan;
use crate::region::{self, Region};
use crate::registry::{self, Reserved};
use crate::rows::{
    BOX, KEYS, KIND, LEADER, NUMBER, OWN_CARD, PART, PROBE, ROW, Row, card_at, is_blind,
};
use crate::settings::RMA_REMOTE;
use crate::sparse::Sparse;
use crate::tell::tell_all;
use crate::window::{Facts, Flavor, Node, Reach, Target, Window};

/// What the lowest member of a node has made for all of them, and in the last word whether all
/// begin anew.
const SHARED: usize = 2 + 2 * Card::WORDS;
const ANEW: usize = SHARED - 1;
/// Why: a member cannot open a descriptor; there can be no region.
const BLIND: u64 = 1;
const NO_REGION: u64 = 2;

/// Tells all members a row of words; theirs, by rank.
fn tell<const N: usize>(
    process: &Process,
    comm: &Arc<Comm>,
    row: [u64; N],
) -> Result<Vec<[u64; N]>> {
    tell_all(process, comm, vec![row])
}

/// The error of a member, or that another one has one: the first word of its row is not 0.
fn agree<const N: usize>(own: Option<Error>, rows: &[[u64; N]]) -> Result<()> {
    if let Some(error) = own {
        return Err(error);
    }
    let failed = |row: &[u64; N]| row[0] != WELL;
    let Some(rank) = rows.iter().position(failed) else {
        return Ok(());
    };
    let kind = match rows.iter().any(|row| row[0] == DEATH) {
        true => kind_of_death(),
        false => Kind::Other,
    };
    let text = format!("the call failed at rank {rank} of the window, which says why");
    Err(Error::new(kind, text))
}

/// What the first word of a row says: all is well at its member, or it has failed, perhaps for a
/// death.
const WELL: u64 = 0;
const FAILED: u64 = 1;
const DEATH: u64 = 2;

/// The number of the kind that memory of the host is.
const HOST: u64 = fabric::Kind::Host.number() as u64;

/// A result as the first word of a row, and its error.
fn split<T>(result: Result<T>) -> (u64, Option<T>, Option<Error>) {
    match result {
        Ok(it) => (WELL, Some(it), None),
        Err(error) if error.kind() == kind_of_death() => (DEATH, None, Some(error)),
        Err(error) => (FAILED, None, Some(error)),
    }
}

fn no_memory(bytes: u64, error: &std::io::Error) -> Error {
    let text = format!("no memory for a window of {bytes} bytes: {error}");
    Error::new(Kind::NoMem, text)
}

/// What this process brings: its memory.
struct Own {
    base: *mut u8,
    piece: Option<*mut u8>,
    card: Card,
    exposed: Exposed,
}

impl Own {
    /// Without memory if that is to be a part of a region.
    fn new(process: &Process, comm: &Comm, plan: &Plan, in_region: bool) -> Result<Own> {
        check_reach(process, comm, plan.flavor)?;
        if in_region {
            return Ok(Own {
                base: std::ptr::null_mut(),
                piece: None,
                card: Card::NONE,
                exposed: Exposed::default(),
            });
        }
        let size = usize::try_from(plan.size).unwrap_or(usize::MAX);
        let is_alone = plan.flavor == Flavor::Shared && plan.hints.noncontiguous;
        if plan.flavor == Flavor::Allocate || is_alone {
            let take = match plan.flavor {
                Flavor::Allocate => heap::take_if_alone,
                _ => heap::take,
            };
            let base = take(size, plan.align).map_err(|e| no_memory(plan.size, &e))?;
            return Ok(Own {
                base,
                piece: Some(base),
                card: heap::card(base, size).unwrap_or(Card::NONE),
                exposed: Exposed::in_window(process, comm, (base, plan.size)),
            });
        }
        if !plan.kind.is_host() {
            return Ok(Own {
                base: plan.base,
                piece: None,
                card: Card::NONE,
                exposed: Exposed::default(),
            });
        }
        let card = heap::card(plan.base, size);
        Ok(Own {
            base: plan.base,
            piece: None,
            card: card.filter(|_| size != 0).unwrap_or(Card::NONE),
            exposed: Exposed::in_window(process, comm, (plan.base, plan.size)),
        })
    }

    /// Where others put letters for memory that they do not map.
    fn mailbox(&self, plan: &Plan) -> Card {
        let is_unmapped = match plan.flavor {
            Flavor::Dynamic => true,
            Flavor::Create => self.card == Card::NONE && plan.kind.is_host(),
            Flavor::Allocate | Flavor::Shared => false,
        };
        if is_unmapped {
            mailbox::card()
        } else {
            Card::NONE
        }
    }

    /// The window is not made after all.
    fn give_back(&mut self, process: &Process) {
        self.exposed.withdraw(process);
        self.piece.take().map(heap::give);
    }
}

/// Whether a process maps memory of this one, and this one that process's: where descriptors cannot
/// be opened, the segment of the job is all that there is.
fn is_neighbour(process: &Process, peer: Peer) -> bool {
    let shares = || process.link(|link| link.net().shares_segment(peer));
    is_here(process, peer) && (!heap::is_in_segment() || peer == process.me || shares())
}

/// Memory is shared on one node alone; all other windows reach wherever messages do.
fn check_reach(process: &Process, comm: &Comm, flavor: Flavor) -> Result<()> {
    let route = |peer| process.link(|link| link.net().route(peer));
    let find = |wrong: fn(Route) -> bool| comm.group.members().position(|peer| wrong(route(peer)));
    if let Some(rank) = find(|route| route == Route::None) {
        fail!(
            Unsupported,
            "no way leads from rank {} to rank {rank} of the communicator",
            comm.rank
        );
    }
    let far = find(|route| !matches!(route, Route::Shm | Route::Loopback));
    match far.filter(|_| flavor == Flavor::Shared) {
        None => Ok(()),
        Some(rank) => fail!(
            RmaShared,
            "ranks {} and {rank} share no memory: split the communicator by \
            MPI_Comm_split_type with MPI_COMM_TYPE_SHARED first",
            comm.rank
        ),
    }
}

/// The contiguous memory of a shared window, or a region, if the lowest member makes it.
struct Whole {
    at: *mut u8,
    card: Card,
}

/// Makes a window; its memory for the program as well.
///
/// # Errors
/// That of the plan; `Comm` for an intercommunicator; `NoMem`; `Other` if the call failed at
/// another member.
pub fn create(
    process: &Process,
    comm: &Arc<Comm>,
    plan: Result<Plan>,
) -> Result<(abi::Win, *mut u8)> {
    if comm.is_inter() {
        fail!(Comm, "a window needs an intracommunicator");
    }
    register(process);
    let window = make(process, comm, plan, true)?;
    Ok((window.handle, window.base))
}

/// Has errors that belong to windows find them.
fn register(process: &Process) {
    process
        .objects
        .errhandlers
        .register(ErrorTarget::Win, |handle| {
            Ok(registry::find(abi::Win(handle))?)
        });
}

/// Makes a window, whose memory may be a region.
fn make(
    process: &Process,
    comm: &Arc<Comm>,
    plan: Result<Plan>,
    may_share: bool,
) -> Result<Arc<Window>> {
    carry::listen(process);
    heap::keep(process);
    let wants_part = |plan: &Plan| {
        let is_here = |&peer: &Peer| is_neighbour(process, peer);
        let few = region::LEAST;
        let may = may_share && plan.flavor == Flavor::Allocate && plan.align <= region::PAGE;
        may && !heap::is_in_segment() && comm.group.members().filter(is_here).nth(few - 1).is_some()
    };
    // What each has.
    let reserve = |plan| {
        let reserved = Reserved::new()?;
        let wants = wants_part(&plan);
        Ok((Own::new(process, comm, &plan, wants)?, plan, reserved))
    };
    let mine = plan.and_then(reserve);
    let (failed, mine, error) = split(mine);
    let mut row = [0; ROW];
    row[0] = failed;
    if let Some((own, plan, reserved)) = &mine {
        row[1] = own.base.expose_provenance() as u64;
        row[2] = plan.size;
        row[3] = plan.unit as u64;
        row[NUMBER] = reserved.number().into();
        row[5] = plan.hints.noncontiguous.into();
        let mut members = comm.group.members();
        let lowest = members.position(|peer| is_neighbour(process, peer));
        row[LEADER] = lowest.unwrap_or(comm.rank as usize) as u64;
        row[OWN_CARD..BOX].copy_from_slice(&own.card.words());
        row[BOX..PROBE].copy_from_slice(&own.mailbox(plan).words());
        if !heap::is_in_segment() {
            row[PROBE..PART].copy_from_slice(&heap::probe().words());
        }
        if wants_part(plan) {
            row[PART] = plan.align as u64;
        }
        row[KEYS] = own.exposed.keys().len() as u64;
        row[KIND] = plan.kind.number().into();
    }
    let rows = tell(process, comm, row);
    let mut rows = match rows.and_then(|rows| agree(error, &rows).map(|()| rows)) {
        Ok(rows) => rows,
        Err(error) => {
            if let Some((mut own, ..)) = mine {
                own.give_back(process);
            }
            return Err(error);
        }
    };
    let (mut own, plan, reserved) = mine.expect("nobody failed");
    let is_split = rows.iter().any(|row| row[LEADER] != rows[0][LEADER]);
    if plan.flavor == Flavor::Shared && is_split {
        own.give_back(process);
        fail!(
            RmaShared,
            "processes of different jobs cannot open each other's descriptors (containers, or a \
             limit on file sizes), so they share no memory: make the window with MPI_Win_allocate"
        );
    }
    if !region::are_agreed(&rows) {
        own.give_back(process);
        return make(process, comm, Ok(plan), false);
    }
    // What the lowest has made for all: one piece, unless all would have their own.
    let is_whole = plan.flavor == Flavor::Shared && rows.iter().any(|row| row[5] == 0);
    if is_whole && own.piece.is_some() {
        own.give_back(process);
        own.base = plan.base;
    }
    let in_region = rows[comm.rank as usize][PART] != 0;
    let is_blind = is_blind(comm.rank, &rows, is_whole || in_region);
    let shared = share(comm.rank, &plan, &rows, is_whole);
    let (failed, shared, error) = split(shared);
    let (control, whole) = shared.unwrap_or_default();
    let mut row = [0; SHARED];
    row[0] = failed;
    row[ANEW] = if is_blind { BLIND } else { 0 };
    if in_region && control.is_some() && whole.is_none() {
        row[ANEW] |= NO_REGION;
    }
    if let Some((_, card)) = &control {
        row[1..=Card::WORDS].copy_from_slice(&card.words());
    }
    if let Some(whole) = &whole {
        row[1 + Card::WORDS..ANEW].copy_from_slice(&whole.card.words());
        own.piece = Some(whole.at);
    }
    let told = tell(process, comm, row).and_then(|told| agree(error, &told).map(|()| told));
    let told = match told {
        Ok(told) => told,
        Err(error) => {
            own.give_back(process);
            return Err(error);
        }
    };
    let anew = told.iter().fold(0, |anew, row| anew | row[ANEW]);
    if anew != 0 {
        own.give_back(process);
        drop(control);
        if anew & BLIND != 0 {
            heap::share_segment();
        }
        return make(process, comm, Ok(plan), anew & NO_REGION == 0 && may_share);
    }
    // Whether it could be mapped.
    let cards = told[rows[comm.rank as usize][LEADER] as usize];
    let shown = card_at(&cards[1..]);
    let whole = (is_whole || in_region).then(|| card_at(&cards[1 + Card::WORDS..]));
    let control = control.map(|(control, _)| control);
    let region = match whole.filter(|_| in_region) {
        Some(card) => enter_region(process, comm, &plan, &mut own, (&rows, card)).map(Some),
        None => Ok(None),
    };
    // Others have to know what this member had not when it told them what it has.
    let told = match is_split && rows.iter().any(|row| row[PART] != 0) {
        true => tell_late(process, comm, region.as_ref().err(), &own, &mut rows),
        false => Ok(()),
    };
    let longest = rows.iter().map(|row| row[KEYS]).max().unwrap_or(0) as usize;
    let keys = own.exposed.keys();
    let ways = told.and_then(|()| exposed::tell_keys(process, comm, &keys, longest));
    let ways = match ways {
        Ok(ways) => ways,
        Err(error) => {
            own.give_back(process);
            return Err(region.err().unwrap_or(error));
        }
    };
    let built = region.and_then(|region| {
        let parts = Parts {
            rows: &rows,
            control: shown,
            whole: whole.filter(|_| region.is_none()),
            region,
            reserved: &reserved,
        };
        build(process, comm, &plan, &mut own, control, &parts)
    });
    let (failed, window, error) = split(built.map(Arc::new));
    // Others may use it as soon as all have told.
    carry::add_window(process);
    let (mut some, mut near) = (false, false);
    if let Some(window) = &window {
        (some, near) = window.needs_messages();
        // What is on a device and will be attached neighbours do not reach by themselves.
        if plan.flavor == Flavor::Dynamic && may_be_on_devices() && window.node.ranks.len() > 1 {
            (some, near) = (true, true);
        }
        for (rank, (target, way)) in (0..).zip(window.targets.iter().zip(ways)) {
            if let (Reach::Message { addr }, false) =
                (&target.reach, matches!(way, NetworkPath::None))
            {
                let (addr, len) = (*addr, target.size);
                let area = Area { addr, len, way };
                window.far(rank).areas.borrow_mut().push(area);
                target.by_network.set(target.local == ELSEWHERE);
            }
        }
        reserved.commit(window.clone());
    } else {
        own.give_back(process);
    }
    let needs = u64::from(some) | u64::from(near) << 1;
    let told = tell(process, comm, [failed, needs]);
    let told = told.and_then(|told| agree(error, &told).map(|()| told));
    let all = told.as_ref().map_or(0, |told| {
        let needs = told.iter().map(|row| row[1]);
        needs.fold(0, |all, needs| all | needs)
    });
    if all == 0 {
        carry::remove_window(process, false);
    }
    match (told, window) {
        (Ok(_), Some(window)) => {
            window.has_messages.set(all != 0);
            if all & 2 != 0 {
                window.has_near_messages.set(true);
                carry::note_near(process);
            }
            if window.reads_mailbox {
                process.hook::<Reader>().add_work(1);
            }
            Ok(window)
        }
        (told, window) => {
            if let Some(window) = window {
                window.hide_all(process);
                registry::remove(&window);
            }
            Err(told
                .err()
                .unwrap_or_else(|| Error::new(Kind::Intern, "no window")))
        }
    }
}

/// Opens the region of this node, and has this member's part of it.
fn enter_region(
    process: &Process,
    comm: &Comm,
    plan: &Plan,
    own: &mut Own,
    (rows, card): (&[Row], Card),
) -> Result<Region> {
    let leader = rows[comm.rank as usize][LEADER] as u32;
    let open = || {
        let region = Region::open(process, rows, comm.rank, card)?;
        Ok((region.at(comm.rank, plan.size)?, region))
    };
    let (base, region) = open().map_err(|error: std::io::Error| match error.kind() {
        ErrorKind::OutOfMemory => no_memory(plan.size, &error),
        _ => unmapped(leader, &error),
    })?;
    own.base = base;
    own.exposed = Exposed::in_window(process, comm, (base, plan.size));
    Ok(region)
}

/// Tells where the memory lies that the members had not when they began, and of how many bytes its
/// keys are: puts that into the rows.
fn tell_late(
    process: &Process,
    comm: &Arc<Comm>,
    error: Option<&Error>,
    own: &Own,
    rows: &mut [Row],
) -> Result<()> {
    let failed = if error.is_some() { FAILED } else { WELL };
    let base = own.base.expose_provenance() as u64;
    let keys = own.exposed.keys().len() as u64;
    let told = tell(process, comm, [failed, base, keys])?;
    agree(error.cloned(), &told)?;
    for (row, [_, base, keys]) in rows.iter_mut().zip(told) {
        (row[1], row[KEYS]) = (base, keys);
    }
    Ok(())
}

type Made = (Option<(Control, Card)>, Option<Whole>);

/// What the lowest member of a node makes for all there: the shared part, and the memory of a
/// shared window, or the region, if there can be one.
fn share(me: u32, plan: &Plan, rows: &[Row], is_whole: bool) -> Result<Made> {
    let leader = rows[me as usize][LEADER];
    if leader != u64::from(me) {
        return Ok((None, None));
    }
    let mine = |row: &&Row| row[LEADER] == leader;
    let members = rows.iter().filter(mine).count();
    let control = Control::make(members, plan.flavor == Flavor::Dynamic);
    let control = control.map_err(|e| no_memory(0, &e))?;
    let sizes = rows.iter().map(|row| row[2]);
    let total = sizes.fold(0u64, u64::saturating_add);
    let whole = match is_whole {
        false if rows[me as usize][PART] != 0 => {
            region::take(rows, me).map(|(at, card)| Whole { at, card })
        }
        false => None,
        true => {
            let bytes = usize::try_from(total).unwrap_or(usize::MAX);
            let at = heap::reserve(bytes).map_err(|e| no_memory(total, &e))?;
            let card = heap::card(at, bytes).unwrap_or(Card::NONE);
            Some(Whole { at, card })
        }
    };
    Ok((Some(control), whole))
}

/// What all have told.
struct Parts<'a> {
    rows: &'a [Row],
    control: Card,
    whole: Option<Card>,
    region: Option<Region>,
    reserved: &'a Reserved,
}

/// Who is where.
fn node(rows: &[Row], me: u32, bells: Box<[Option<Bell>]>) -> Node {
    let ranks = || (0..rows.len() as u32).zip(rows);
    let leader = rows[me as usize][LEADER];
    let here = ranks().filter(|(_, row)| row[LEADER] == leader);
    let here: Box<[u32]> = here.map(|(rank, _)| rank).collect();
    let leaders = ranks().filter(|(rank, row)| row[LEADER] == u64::from(*rank));
    let leaders: Box<[u32]> = leaders.map(|(rank, _)| rank).collect();
    let position = |ranks: &[u32], rank: u64| ranks.iter().position(|it| u64::from(*it) == rank);
    Node {
        me: position(&here, me.into()).unwrap_or(0) as u32,
        leader_number: position(&leaders, leader).unwrap_or(0),
        ranks: here,
        leaders,
        bells,
    }
}

/// Maps what the others have and makes the window.
fn build(
    process: &Process,
    comm: &Comm,
    plan: &Plan,
    own: &mut Own,
    control: Option<Control>,
    parts: &Parts<'_>,
) -> Result<Window> {
    let (rows, me) = (parts.rows, comm.rank);
    let members: Vec<Peer> = comm.group.members().collect();
    let bell = |&peer: &Peer| -> Option<Bell> {
        if peer == process.me || !is_here(process, peer) {
            return None;
        }
        // SAFETY: the transport lives as long as the process.
        process.link(|link| link.net().shm().map(|shm| unsafe { shm.bell(peer) }))
    };
    let node = node(rows, me, members.iter().map(bell).collect());
    let node = registry::one_of(node);
    let control = match control {
        Some(control) => control,
        None => Control::open(
            parts.control,
            node.ranks.len(),
            plan.flavor == Flavor::Dynamic,
        )
        .map_err(|e| unmapped(node.ranks[0], &e))?,
    };
    let mut targets = Vec::with_capacity(rows.len());
    let mut mailboxes = Vec::new();
    let mut before = 0;
    for (rank, (row, &peer)) in (0..).zip(rows.iter().zip(&members)) {
        let is_here = row[LEADER] == rows[me as usize][LEADER];
        let region = parts.region.as_ref().filter(|_| is_here);
        let reach = match (parts.whole, region) {
            (Some(card), _) => reach_whole(card, (before, row[2]), rank == me, own)
                .map_err(|e| unmapped(rank, &e))?,
            (None, Some(region)) => region.reach(rank, row[2]).map_err(|e| unmapped(rank, &e))?,
            (None, None) if rank == me && !plan.kind.is_host() => Reach::Device { base: own.base },
            (None, None) if rank == me => Reach::Mapped {
                base: own.base,
                keep: None,
            },
            (None, None) if !is_here || row[KIND] != HOST => Reach::Message { addr: row[1] },
            (None, None) => reach_of(process, peer, plan.flavor, (row, &mut mailboxes))
                .map_err(|e| unmapped(rank, &e))?,
        };
        before += row[2];
        targets.push(Target {
            reach,
            size: row[2],
            unit: row[3] as i64,
            open: false.into(),
            locked: None.into(),
            // Which memory of a dynamic window, its target says when it is asked.
            by_network: (plan.flavor == Flavor::Dynamic && !is_here && RMA_REMOTE.get()).into(),
            local: node
                .ranks
                .binary_search(&rank)
                .map_or(ELSEWHERE, |at| at as u32),
        });
    }
    let number = parts.reserved.number();
    let numbers: Box<[u32]> = rows.iter().map(|row| row[NUMBER] as u32).collect();
    let errhandler = process.objects.errhandlers.find(consts::ERRORS_ARE_FATAL)?;
    Ok(Window {
        handle: parts.reserved.handle(),
        group: comm.group.clone(),
        me,
        flavor: plan.flavor,
        base: own.base,
        facts: Box::new(Facts {
            size: plan.size as Aint,
            disp_unit: c_int::try_from(plan.unit).unwrap_or(c_int::MAX),
            flavor: plan.flavor.value(),
            model: consts::WIN_UNIFIED,
        }),
        targets: targets.into(),
        control,
        errhandler: RefCell::new(errhandler),
        name: RefCell::default(),
        attrs: Attributes::default(),
        hints: RefCell::new(plan.hints.clone()),
        epochs: Epochs::default(),
        attached: RefCell::default(),
        number,
        // Mostly they are equal.
        numbers: numbers.iter().any(|it| *it != number).then_some(numbers),
        reads_mailbox: node.ranks.len() > 1 && rows[me as usize][BOX] != 0,
        node,
        fars: Sparse::default(),
        _mailboxes: mailboxes.into(),
        recents: Sparse::default(),
        kind: plan.kind,
        has_messages: true.into(),
        has_near_messages: false.into(),
        gate_proxies: RefCell::default(),
        troubles: RefCell::default(),
        proxies: RefCell::default(),
        meetings: Meetings::default(),
        exposed: std::mem::take(&mut own.exposed),
        shown: RefCell::default(),
        notices: Notices::default(),
        failure: RefCell::default(),
        piece: own.piece,
    })
}

#[cold]
fn unmapped(rank: u32, error: &std::io::Error) -> Error {
    let text = format!("memory of rank {rank} of the window cannot be mapped: {error}");
    // What is gone from there has died, if the job goes on after deaths.
    let is_gone = error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH);
    let kind = match kind_of_death() {
        Kind::ProcFailed if is_gone => Kind::ProcFailed,
        _ => Kind::RmaShared,
    };
    Error::new(kind, text)
}

/// A member's part of memory that is one piece; this process provides its own pages.
fn reach_whole(
    card: Card,
    (before, size): (u64, u64),
    is_own: bool,
    own: &mut Own,
) -> std::io::Result<Reach> {
    let part = Card {
        at: card.at + before,
        ..card
    };
    if card == Card::NONE {
        let keep = None;
        return Ok(Reach::Mapped {
            base: own.base,
            keep,
        });
    }
    let mapping = heap::map_peer(card)?;
    let base = mapping.at(part, size as usize)?;
    if is_own {
        mapping.provide(part, size as usize)?;
        own.base = base;
    }
    Ok(Reach::Mapped {
        base,
        keep: Some(mapping),
    })
}

/// How the memory of another member is reached.
fn reach_of(
    process: &Process,
    peer: Peer,
    flavor: Flavor,
    (row, mailboxes): (&Row, &mut Vec<Arc<Mapping>>),
) -> std::io::Result<Reach> {
    let card = card_at(&row[OWN_CARD..BOX]);
    if card.pid != 0 {
        let mapped = heap::map_peer(card).and_then(|mapping| {
            Ok(Reach::Mapped {
                base: mapping.at(card, row[2] as usize)?,
                keep: Some(mapping),
            })
        });
        match mapped {
            Err(error) if flavor == Flavor::Shared => return Err(error),
            Err(_) => {}
            mapped => return mapped,
        }
    }
    let neighbour = process.link(|link| link.net().shm_mut()?.neighbour(peer));
    let addr = row[1];
    Ok(match neighbour {
        None => Reach::Message { addr },
        Some(of) => Reach::Kernel {
            of,
            addr,
            mailbox: mailbox::at(card_at(&row[BOX..]), mailboxes),
        },
    })
}

/// `MPI_Win_free`: collective; all operations of others on its memory are over when it returns. If
/// a member has died (and the job goes on), there is nobody to agree with: the window is gone for
/// this program, but its memory stays, and its locks, as other members may still use them.
///
/// # Errors
/// `RmaSync` if an epoch is open, here or elsewhere: the window stays then, with its attributes.
/// `Other` if a delete callback fails, here or elsewhere: the window stays, too, without those
/// attributes whose callbacks did not fail.
pub fn free(process: &Process, window: &Arc<Window>) -> Result<()> {
    let busy = window.why_busy();
    if busy.is_none() && window.has_messages.get() {
        // Operations of a last fence may still be under way. A target that is gone does not keep
        // the window.
        let _ = window.complete_remote(process, None);
    }
    let met = window.meet(process, busy.is_some());
    let refused = window.refused_by(process, &met, busy.is_some());
    busy.map_or(Ok(()), Err)?;
    if let Some(who) = refused {
        fail!(
            RmaSync,
            "{who} of the window has an epoch of it open; so the window stays"
        );
    }
    let deleted = window.attrs.delete_all(window.handle.0);
    let met = met.and_then(|_| window.meet(process, deleted.is_err()));
    deleted?;
    if let Ok(failures @ 1..) = met {
        fail!(
            Other,
            "callbacks of {failures} other members of the window refuse that it is freed; so the \
             window stays"
        );
    }
    if window.has_messages.get() {
        // What tells the others leaves first.
        let is_member = |peer| window.group.rank_of(peer).is_some();
        let describe = |process: &Process, waits: &mut WaitsFor| {
            waits
                .needs
                .push(window.need(process, What::Remote, |_| true));
        };
        process.block(describe, |_| exchange::with(|it| it.is_quiet_to(is_member)));
    }
    if met.is_err() {
        // Others may not know of the death yet, and need none of the dead: this member goes on
        // serving them.
        registry::retire(window);
        return Ok(());
    }
    if window.has_messages.get() {
        carry::remove_window(process, window.has_near_messages.get());
    }
    if window.reads_mailbox {
        process.hook::<Reader>().remove_work(1);
    }
    registry::remove(window);
    if window.leave(process).is_err() {
        // Other members may write into its memory for ever.
        std::mem::forget(window.clone());
    } else {
        window.hide_all(process);
    }
    Ok(())
}
