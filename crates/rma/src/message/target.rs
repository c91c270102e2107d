//! Records of origins carried out here. What is accumulated is combined under the lock of this
//! target's elements, as by origins that reach its memory themselves (decision 21).
//!
//! Nothing in a record is trusted: which bytes it may touch the window says.

use catena_base::element_lock::Held;
use catena_core::Process;
use catena_core::memory_at::{load_runs, store_runs};
use catena_datatype::{Datatype, OpKind};
use catena_fabric::{Kind, Peer};

use super::codes::OPERATIONS;
use super::exchange::Exchange;
use super::record::{self, Head, Trouble, What};
use super::runs::Runs;
use crate::accumulate::Combine;
use crate::registry;
use crate::transfer::copy_bytes;
use crate::window::{Flavor, Window};

/// The shortest answer whose bytes are left where they lie until it leaves.
const LEFT: u64 = 4 << 10;

/// Where some bytes lie.
pub(super) struct Spot<'a> {
    addr: u64,
    runs: Runs<'a>,
}

/// Bytes of this process's window.
pub(super) struct Memory<'a> {
    base: *mut u8,
    runs: Runs<'a>,
    /// One run in host memory is all.
    is_one: bool,
    kind: Kind,
}

/// Takes a place off the front of a record's body.
fn spot<'a>(head: Head, body: &mut &'a [u8], len: Option<u64>) -> Option<Spot<'a>> {
    let addr = record::number(body)?;
    if head.c == 0 {
        let runs = Runs::one(len.unwrap_or(body.len() as u64));
        return Some(Spot { addr, runs });
    }
    let (len, rest) = body.split_first_chunk()?;
    let len = u32::from_ne_bytes(*len) as usize;
    let (runs, rest) = rest.split_at_checked(len)?;
    *body = rest;
    let runs = Runs::read(runs);
    Some(Spot { addr, runs })
}

impl Memory<'_> {
    /// Calls `each` for every run with its address and its place among the packed bytes.
    fn each(&self, mut each: impl FnMut(*mut u8, usize, usize)) {
        let mut done = 0;
        for (at, len) in self.runs.clone().flatten() {
            each(self.base.wrapping_offset(at as isize), done, len as usize);
            done += len as usize;
        }
    }

    /// Every run, with its address.
    fn places(&self) -> impl Iterator<Item = (*mut u8, usize)> {
        let place = move |(at, len)| (self.base.wrapping_offset(at as isize), len as usize);
        self.runs.clone().flatten().map(place)
    }

    /// Packs them.
    fn load(&self, into: &mut [u8]) {
        if !self.kind.is_host() {
            // SAFETY: as below.
            return unsafe { load_runs(self.kind, self.places(), into.as_mut_ptr()) };
        }
        // SAFETY: the runs were checked: they are the window's, and as long as `into`.
        self.each(|at, from, len| unsafe { copy_bytes(into[from..].as_mut_ptr(), at, len) });
    }

    /// Appends all `len` of them, packed.
    fn append(&self, len: usize, into: &mut Vec<u8>) {
        into.reserve(len);
        let end = into.len();
        // SAFETY: room for as many bytes as the runs have, which were checked, and all of them are
        // written.
        unsafe {
            let room = into.as_mut_ptr().add(end);
            match self.kind.is_host() {
                true => self.each(|at, from, len| copy_bytes(room.add(from), at, len)),
                false => load_runs(self.kind, self.places(), room),
            }
            into.set_len(end + len);
        }
    }

    /// Stores packed bytes.
    fn store(&self, bytes: &[u8]) {
        if !self.kind.is_host() {
            // SAFETY: as below.
            return unsafe { store_runs(self.kind, self.places(), bytes.as_ptr()) };
        }
        // SAFETY: as above.
        self.each(|at, from, len| unsafe { copy_bytes(at, bytes[from..].as_ptr(), len) });
    }
}

/// Whose memory records work on.
pub(super) trait Owner {
    /// What holds the lock of its elements.
    type Held<'a>
    where
        Self: 'a;

    /// The address here of `[addr, addr + len)`, if all of it is the owner's, and the kind of
    /// memory that it is.
    fn bytes(&self, addr: u64, len: u64) -> Option<(*mut u8, Kind)>;

    /// Takes the lock of its elements.
    fn hold(&self) -> Result<Self::Held<'_>, Trouble>;

    /// Checks that a place has `len` bytes, all of them the owner's.
    fn own<'a>(&self, spot: Spot<'a>, len: usize) -> Result<Memory<'a>, Trouble> {
        let (mut sum, mut low, mut high, mut count) = (0u64, i64::MAX, i64::MIN, 0);
        for run in spot.runs.clone() {
            let (at, n) = run.ok_or(Trouble::Sense)?;
            sum = sum.saturating_add(n);
            if sum > len as u64 {
                return Err(Trouble::Sense);
            }
            (low, high) = (low.min(at), high.max(at + n as i64));
            count += 1;
        }
        if sum != len as u64 || count == 0 {
            return Err(Trouble::Sense);
        }
        let from = spot.addr.checked_add_signed(low).ok_or(Trouble::Range)?;
        let first = self.bytes(from, high.abs_diff(low));
        let (first, kind) = first.ok_or(Trouble::Range)?;
        Ok(Memory {
            base: first.wrapping_offset((low as isize).wrapping_neg()),
            runs: spot.runs,
            is_one: count == 1 && low == 0 && kind.is_host(),
            kind,
        })
    }
}

/// The address of `[addr, addr + len)`, if all of it is this process's in the window, and the kind
/// of memory that it is.
fn own_bytes(window: &Window, addr: u64, len: u64) -> Option<(*mut u8, Kind)> {
    let end = addr.checked_add(len)?;
    if window.flavor == Flavor::Dynamic {
        let region = window.attached.borrow().find(addr, end)?;
        let at = std::ptr::with_exposed_provenance_mut(addr as usize);
        return Some((at, region.card.kind()));
    }
    let base = window.base.addr() as u64;
    let from = addr.checked_sub(base)?;
    let is_inside = end - base <= window.facts.size as u64;
    is_inside.then(|| (window.base.wrapping_add(from as usize), window.kind))
}

/// What [`own_bytes`] finds in memory of the host.
pub(crate) fn own_host_bytes(window: &Window, addr: u64, len: u64) -> Option<*mut u8> {
    let found = own_bytes(window, addr, len);
    found.filter(|(_, kind)| kind.is_host()).map(|(at, _)| at)
}

/// A member's part of a window.
struct Member<'a> {
    process: &'a Process,
    window: &'a Window,
}

impl Owner for Member<'_> {
    type Held<'a>
        = Held<'a>
    where
        Self: 'a;

    fn bytes(&self, addr: u64, len: u64) -> Option<(*mut u8, Kind)> {
        own_bytes(self.window, addr, len)
    }

    fn hold(&self) -> Result<Held<'_>, Trouble> {
        let held = self.window.hold_elements(self.process, self.window.me);
        held.map_err(|_| Trouble::Lost)
    }
}

/// How a record combines elements.
pub(crate) fn combine(head: Head) -> Result<Combine, Trouble> {
    let kind = OPERATIONS.get(usize::from(head.a)).ok_or(Trouble::Sense)?;
    let ty = Datatype::predefined(0x200 | u16::from(head.b)).ok_or(Trouble::Sense)?;
    Combine::new(*kind, ty).map_err(|_| Trouble::Sense)
}

/// `MPI_Put`.
fn put(owner: &impl Owner, head: Head, mut body: &[u8]) -> Result<(), Trouble> {
    let spot = spot(head, &mut body, None).ok_or(Trouble::Sense)?;
    owner.own(spot, body.len())?.store(body);
    Ok(())
}

/// `MPI_Accumulate`.
fn accumulate(owner: &impl Owner, head: Head, mut body: &[u8]) -> Result<(), Trouble> {
    let spot = spot(head, &mut body, None).ok_or(Trouble::Sense)?;
    let memory = owner.own(spot, body.len())?;
    let combine = combine(head)?;
    combine.check(body.len()).ok_or(Trouble::Sense)?;
    if memory.is_one {
        let _held = owner.hold()?;
        // SAFETY: as many bytes as the window's, whole elements of them.
        unsafe { combine.apply(body.as_ptr(), memory.base, body.len()) };
        return Ok(());
    }
    let mut old = vec![0; body.len()];
    let _held = owner.hold()?;
    memory.load(&mut old);
    // SAFETY: as above.
    unsafe { combine.apply(body.as_ptr(), old.as_mut_ptr(), body.len()) };
    memory.store(&old);
    Ok(())
}

/// What `MPI_Get`, `MPI_Get_accumulate`, `MPI_Fetch_and_op` and `MPI_Compare_and_swap` bring: the
/// former bytes go to `old`.
fn fetch(
    owner: &impl Owner,
    head: Head,
    mut body: &[u8],
    len: usize,
    old: &mut Vec<u8>,
) -> Result<(), Trouble> {
    let spot = spot(head, &mut body, Some(len as u64)).ok_or(Trouble::Sense)?;
    let memory = owner.own(spot, len)?;
    if head.what() == Some(What::Get) {
        memory.append(len, old);
        return Ok(());
    }
    let at = old.len();
    old.resize(at + len, 0);
    let old = &mut old[at..];
    match head.what() {
        Some(What::Swap) => {
            let (compare, new) = body.split_at_checked(len).ok_or(Trouble::Sense)?;
            if new.len() != len {
                return Err(Trouble::Sense);
            }
            let _held = owner.hold()?;
            memory.load(old);
            if old == compare {
                memory.store(new);
            }
        }
        _ => {
            let combine = combine(head)?;
            if combine.kind == OpKind::NoOp {
                let _held = owner.hold()?;
                memory.load(old);
                return Ok(());
            }
            if body.len() != len {
                return Err(Trouble::Sense);
            }
            combine.check(len).ok_or(Trouble::Sense)?;
            let _held = owner.hold()?;
            memory.load(old);
            let mut new = old.to_vec();
            // SAFETY: both are as long as the body.
            unsafe { combine.apply(body.as_ptr(), new.as_mut_ptr(), len) };
            memory.store(&new);
        }
    }
    Ok(())
}

/// The bytes that an `MPI_Get` brings, if they are many, lie in one run, and may be read there
/// later.
fn long_run(
    owner: &impl Owner,
    head: Head,
    mut body: &[u8],
    len: u64,
) -> Option<(*const u8, usize)> {
    let is_long = head.what() == Some(What::Get) && (LEFT..=record::CHUNK as u64).contains(&len);
    let spot = spot(head, &mut body, Some(len)).filter(|_| is_long)?;
    let memory = owner.own(spot, len as usize).ok()?;
    memory
        .is_one
        .then_some((memory.base.cast_const(), len as usize))
}

/// An operation without an answer.
pub(super) fn change(
    exchange: &mut Exchange,
    owner: &impl Owner,
    (from, what, head): (Peer, What, Head),
    body: &[u8],
) -> Result<(), Trouble> {
    exchange.read_answers(from);
    match what {
        What::Put => put(owner, head, body),
        _ => accumulate(owner, head, body),
    }
}

/// Answers that all operations before are complete, and what went wrong in them.
pub(super) fn flush(exchange: &mut Exchange, from: Peer, head: Head) {
    let trouble = exchange.take_note(from, head.window);
    exchange.confirm(from, head, trouble);
}

/// Answers an operation with the former bytes.
pub(super) fn answer(
    exchange: &mut Exchange,
    (from, head): (Peer, Head),
    mut body: &[u8],
    owner: Option<&impl Owner>,
) {
    let (Some(at), Some(len)) = (record::number(&mut body), record::number(&mut body)) else {
        return exchange.note(from, head.window, Trouble::Sense);
    };
    let reply = Head {
        id: head.id,
        ..Head::new(What::Bytes, head.window)
    };
    let begin = |out: &mut Vec<u8>| {
        out.extend_from_slice(&at.to_ne_bytes());
        out.extend_from_slice(&len.to_ne_bytes());
    };
    if let Some(run) = owner.and_then(|owner| long_run(owner, head, body, len)) {
        // SAFETY: a window is there until all its operations are over, and this one is over when
        // the answer has come.
        return unsafe { exchange.reply_from(from, reply, begin, run) };
    }
    if head.what() != Some(What::Get) {
        exchange.read_answers(from);
    }
    exchange.reply(from, reply, |reply, out| {
        begin(out);
        let before = out.len();
        let fetched = match owner {
            Some(owner) if len <= record::LONGEST as u64 / 2 => {
                fetch(owner, head, body, len as usize, out)
            }
            _ => Err(Trouble::Sense),
        };
        if let Err(trouble) = fetched {
            reply.a = trouble as u8;
            out.truncate(before);
        }
    });
}

/// Carries out a record of an origin, or of a target that tells of its epochs.
pub(crate) fn carry_out(
    process: &Process,
    exchange: &mut Exchange,
    (from, head): (Peer, Head),
    body: &[u8],
) {
    let window = registry::numbered(head.window);
    let owner = window.map(|window| Member { process, window });
    let (what, owner) = match (head.what(), owner) {
        (Some(What::Get | What::Fetch | What::Swap), owner) => {
            return answer(exchange, (from, head), body, owner.as_ref());
        }
        (Some(what), Some(owner)) => (what, owner),
        (Some(What::Flush | What::Lock | What::Unlock | What::Enter | What::Forget), None) => {
            return exchange.confirm(from, head, Trouble::Sense);
        }
        _ => return exchange.note(from, head.window, Trouble::Sense),
    };
    let window = owner.window;
    let outcome = match what {
        What::Put | What::Combine => change(exchange, &owner, (from, what, head), body),
        What::Flush => {
            flush(exchange, from, head);
            Ok(())
        }
        What::Lock => window.lock_for(exchange, from, head),
        What::Unlock => window.unlock_for(exchange, from, head),
        What::Who => window.tell_holders(exchange, from, head.a),
        What::Holders => window.learn_holders(from, head.a, body),
        What::Enter => window.enter_gate_for(exchange, from, head),
        What::Leave => window.leave_gate_for(exchange, from, head),
        What::Post | What::Complete | What::Meet => window.hear(from, what, head),
        What::Notify => window.count_notice(head.id),
        What::Count => {
            window.tell_count(exchange, from, head);
            Ok(())
        }
        What::Where => window.tell_where(process, exchange, from, body),
        What::Here => window.learn_where(from, body),
        What::Forget => {
            exchange.read_answers(from);
            let forgotten = window.forget(from, body);
            exchange.confirm(from, head, Trouble::None);
            forgotten
        }
        _ => Err(Trouble::Sense),
    };
    if let Err(trouble) = outcome {
        exchange.note(from, head.window, trouble);
    }
}
