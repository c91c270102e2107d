//! Long puts and gets, which are cut into pieces that all rails of a network move at the same time,
//! and flushes of several rails.
//!
//! A piece is an operation of a rail with an id of its own ([`OpId::PIECES`]) that says which
//! operation it belongs to, so its completion is found without a search. A few pieces are under way
//! on each rail at once; what does not fit waits in line and goes on after a poll.

use std::collections::VecDeque;

use catena_base::PeerBytes;
use catena_fabric::{Buf, Deliver, Header, LocalKey, OpId, Peer, PeerLost, Rma, RmaError, Started};
use catena_link::{RAILS, RemoteKeys};

/// Pieces under way at once on the only rail, and on each of several.
const AHEAD: [u32; 2] = [4, 2];

/// Which way the bytes go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RmaOp {
    Put,
    Get,
}

/// A long operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long {
    pub op: OpId,
    pub peer: Peer,
    pub way: RmaOp,
    pub buf: Buf,
    pub target: RemoteKeys,
    /// Bytes of a piece.
    pub piece: usize,
    /// Rails that lead to the peer: the first ones.
    pub rails: usize,
}

/// What an operation that has pieces does.
#[derive(Debug)]
enum Work {
    /// The bytes below `next` have a piece. Rails that need registered memory know the whole by
    /// their `local` keys.
    Move {
        long: Long,
        next: usize,
        local: [Option<LocalKey>; RAILS],
    },
    /// Operations before it are awaited; then each of these rails is flushed.
    Flush {
        before: usize,
        rails: VecDeque<usize>,
    },
}

/// An operation that has pieces.
#[derive(Debug)]
struct Operation {
    op: OpId,
    peer: Peer,
    /// Counts all of them in the order of their starts.
    number: u64,
    work: Work,
    /// Pieces under way, by rail.
    under_way: [u32; RAILS],
    error: Option<RmaError>,
    /// It is in line.
    waits: bool,
}

impl Operation {
    fn is_quiet(&self) -> bool {
        self.under_way.iter().all(|&n| n == 0)
    }

    /// Whether nothing of it is left to be started.
    fn is_started(&self) -> bool {
        self.error.is_some()
            || match &self.work {
                Work::Move { long, next, .. } => *next == long.buf.len,
                Work::Flush { before, rails } => *before == 0 && rails.is_empty(),
            }
    }

    /// Ends the registrations for its own pieces, of which none is under way.
    fn deregister_local<T: Rma>(&self, rails: &mut [T]) {
        if let Work::Move { local, .. } = &self.work {
            for (rail, key) in rails.iter_mut().zip(local) {
                key.map(|key| rail.deregister_local(key));
            }
        }
    }

    /// Starts what there is room for; whether a rail was full.
    ///
    /// # Safety
    /// The memory is lent as for [`Rma::put`] and [`Rma::get`].
    unsafe fn advance<T: Rma>(&mut self, slot: usize, rails: &mut [T]) -> bool {
        while self.error.is_none() {
            let (rail, started) = match &mut self.work {
                Work::Move { long, next, local } if *next < long.buf.len => {
                    let all = (0..long.rails).filter(|&it| long.target.on(it).is_some());
                    let most = AHEAD[usize::from(all.clone().count() > 1)];
                    let least = all.min_by_key(|&it| self.under_way[it]);
                    let free = least.filter(|&it| self.under_way[it] < most);
                    let Some((rail, target)) = free.and_then(|it| Some((it, long.target.on(it)?)))
                    else {
                        return false;
                    };
                    let len = long.piece.min(long.buf.len - *next);
                    let buf = long
                        .buf
                        .slice(*next, len)
                        .with(local[rail].unwrap_or_default());
                    let target = catena_fabric::RemoteKey {
                        addr: target.addr.wrapping_add(*next as u64),
                        ..target
                    };
                    let (id, to) = (piece_id(slot, rail), &mut rails[rail]);
                    // SAFETY: a part of what is lent.
                    let started = unsafe {
                        match long.way {
                            RmaOp::Put => to.put(id, long.peer, buf, target),
                            RmaOp::Get => to.get(id, long.peer, buf, target),
                        }
                    };
                    if matches!(started, Ok(Started::Complete(_) | Started::UnderWay)) {
                        *next += len;
                    }
                    (rail, started)
                }
                Work::Flush {
                    before: 0,
                    rails: left,
                } => {
                    let Some(&rail) = left.front() else {
                        return false;
                    };
                    let started = rails[rail].flush(piece_id(slot, rail), self.peer);
                    if started != Ok(Started::Full) {
                        left.pop_front();
                    }
                    (rail, started)
                }
                Work::Move { .. } | Work::Flush { .. } => return false,
            };
            match started {
                Ok(Started::Complete(_)) => {}
                Ok(Started::UnderWay) => self.under_way[rail] += 1,
                Ok(Started::Full) => return true,
                Err(error) => self.error = Some(error),
            }
        }
        false
    }
}

/// The id of a piece of the operation in a slot.
fn piece_id(slot: usize, rail: usize) -> OpId {
    OpId::new(OpId::PIECES, (slot as u64) << 8 | rail as u64)
}

/// The operations of a network that have pieces.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    slots: Vec<Option<Operation>>,
    free: Vec<usize>,
    started: u64,
    /// Slots of those that may go on.
    line: VecDeque<usize>,
    /// Slots of flushes that await others.
    flushes: Vec<usize>,
    /// How many there are.
    count: usize,
}

impl Pieces {
    /// Starts a long put or get.
    ///
    /// # Safety
    /// As for [`Rma::put`] and [`Rma::get`].
    ///
    /// # Errors
    /// That of the first piece.
    pub unsafe fn start<T: Rma>(
        &mut self,
        rails: &mut [T],
        long: Long,
    ) -> Result<Started, RmaError> {
        let used = |rail: &usize| *rail < long.rails && long.target.on(*rail).is_some();
        let local = std::array::from_fn(|rail| {
            let rail = Some(rail).filter(used)?;
            rails[rail].register_local(long.buf)
        });
        let work = Work::Move {
            long,
            next: 0,
            local,
        };
        // SAFETY: as the caller promised.
        unsafe { self.begin(rails, long.op, long.peer, work) }
    }

    /// Starts a flush of the first `shared` rails.
    ///
    /// # Errors
    /// That of the first rail.
    pub fn flush<T: Rma>(
        &mut self,
        rails: &mut [T],
        op: OpId,
        peer: Peer,
        shared: usize,
    ) -> Result<Started, RmaError> {
        let before = self.slots.iter().flatten().filter(|it| it.peer == peer);
        let before = before
            .filter(|it| matches!(it.work, Work::Move { .. }))
            .count();
        if before == 0 && shared == 1 {
            return rails[0].flush(op, peer);
        }
        let work = Work::Flush {
            before,
            rails: (0..shared).collect(),
        };
        // SAFETY: a flush needs no memory.
        unsafe { self.begin(rails, op, peer, work) }
    }

    /// Starts an operation.
    ///
    /// # Safety
    /// As for [`Rma::put`] and [`Rma::get`].
    unsafe fn begin<T: Rma>(
        &mut self,
        rails: &mut [T],
        op: OpId,
        peer: Peer,
        work: Work,
    ) -> Result<Started, RmaError> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.started += 1;
        let mut operation = Operation {
            op,
            peer,
            number: self.started,
            work,
            under_way: [0; RAILS],
            error: None,
            waits: false,
        };
        // SAFETY: as the caller promised.
        let is_full = unsafe { operation.advance(slot, rails) };
        if operation.is_quiet() && operation.is_started() {
            self.free.push(slot);
            operation.deregister_local(rails);
            return operation.error.map_or(Ok(Started::Complete(0)), Err);
        }
        let is_untouched = match &operation.work {
            Work::Move { next, .. } => *next == 0,
            Work::Flush { .. } => false,
        };
        if is_full && is_untouched {
            self.free.push(slot);
            operation.deregister_local(rails);
            return Ok(Started::Full);
        }
        operation.waits = is_full;
        self.line.extend(is_full.then_some(slot));
        if matches!(operation.work, Work::Flush { before, .. } if before > 0) {
            self.flushes.push(slot);
        }
        self.slots[slot] = Some(operation);
        self.count += 1;
        Ok(Started::UnderWay)
    }

    /// Whether nothing has pieces.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether nothing that has pieces goes to a peer.
    pub fn is_idle(&self, peer: Peer) -> bool {
        self.slots.iter().flatten().all(|it| it.peer != peer)
    }

    /// Whether something waits for room, so that a process must not sleep.
    pub fn waits(&self) -> bool {
        !self.line.is_empty()
    }

    /// A piece has ended.
    fn ended(&mut self, id: OpId, result: Result<u64, RmaError>) {
        let (slot, rail) = ((id.number() >> 8) as usize, (id.number() & 0xff) as usize);
        let Some(Some(operation)) = self.slots.get_mut(slot) else {
            return;
        };
        operation.under_way[rail] -= 1;
        if let Err(error) = result {
            operation.error.get_or_insert(error);
        }
        if !std::mem::replace(&mut operation.waits, true) {
            self.line.push_back(slot);
        }
    }

    /// Goes on with those that are in line, and tells of those that have ended.
    pub fn go_on<T: Rma, D: Deliver>(&mut self, rails: &mut [T], deliver: &mut D) {
        for _ in 0..self.line.len() {
            let Some(slot) = self.line.pop_front() else {
                return;
            };
            let Some(operation) = self.slots[slot].as_mut() else {
                continue;
            };
            // SAFETY: lent until its end is told, below.
            let is_full = unsafe { operation.advance(slot, rails) };
            operation.waits = is_full;
            if is_full {
                self.line.push_back(slot);
            } else if operation.is_quiet() && operation.is_started() {
                self.end(slot, rails, deliver);
            }
        }
    }

    /// Tells of an operation that has ended, and lets the flushes go on that awaited it.
    fn end<T: Rma, D: Deliver>(&mut self, slot: usize, rails: &mut [T], deliver: &mut D) {
        let Some(ended) = self.slots[slot].take() else {
            return;
        };
        ended.deregister_local(rails);
        self.free.push(slot);
        self.count -= 1;
        deliver.completed(ended.op, ended.error.map_or(Ok(0), Err));
        if !matches!(ended.work, Work::Move { .. }) {
            return;
        }
        let (slots, line) = (&mut self.slots, &mut self.line);
        self.flushes.retain(|&at| {
            let Some(flush) = &mut slots[at] else {
                return false;
            };
            let Work::Flush { before, .. } = &mut flush.work else {
                return false;
            };
            *before -= usize::from(flush.peer == ended.peer && ended.number < flush.number);
            if *before == 0 {
                flush.waits = true;
                line.push_back(at);
            }
            *before > 0
        });
    }

    /// Takes what a rail delivers: `deliver` is given all but pieces.
    pub fn taking<'a, D: Deliver>(&'a mut self, deliver: &'a mut D) -> Taking<'a, D> {
        Taking {
            pieces: self,
            deliver,
        }
    }
}

/// Keeps the ends of pieces from those who take what a rail delivers.
#[derive(Debug)]
pub(crate) struct Taking<'a, D> {
    pieces: &'a mut Pieces,
    deliver: &'a mut D,
}

impl<D: Deliver> Deliver for Taking<'_, D> {
    #[inline]
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.deliver.deliver(from, header, payload);
    }

    fn lost(&mut self, lost: PeerLost) {
        self.deliver.lost(lost);
    }

    fn ended(&mut self, lost: PeerLost) {
        self.deliver.ended(lost);
    }

    fn left(&mut self, end: PeerLost) {
        self.deliver.left(end);
    }

    fn wanted(&mut self, by: Peer) {
        self.deliver.wanted(by);
    }

    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        match op.owner() {
            OpId::PIECES => self.pieces.ended(op, result),
            _ => self.deliver.completed(op, result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_fabric::{Access, RemoteKey, Transport};
    use catena_fabric_tests::{Inbox, pattern};
    use catena_sim::{Port, Reads, Seed, Sim};

    /// Networks that are as bad as any, each with an end of process 0 and of process 1.
    fn rails(seed: u64, count: usize) -> (Vec<Port>, Vec<Port>) {
        let each = (0..count as u64).map(|rail| {
            let sim = Sim::new(Seed(seed * 8 + rail)).reads(Reads::Flaky);
            let sim = sim.needs_local_keys();
            let mut ports = sim.ports(2).into_iter();
            (ports.next().expect("two"), ports.next().expect("two"))
        });
        each.unzip()
    }

    /// Polls process 0 until its operation `op` has ended.
    fn wait(
        pieces: &mut Pieces,
        rails: &mut [Port],
        inbox: &mut Inbox,
        op: OpId,
    ) -> Result<u64, RmaError> {
        for _ in 0..100_000 {
            if let Some(at) = inbox.completed.iter().position(|(it, _)| *it == op) {
                return inbox.completed.remove(at).1;
            }
            for rail in &mut *rails {
                rail.poll(&mut pieces.taking(inbox));
            }
            pieces.go_on(rails, inbox);
        }
        panic!("{op:?} never ends");
    }

    /// The target of a region that is registered with all rails.
    fn register(theirs: &mut [Port], at: *mut u8, len: usize) -> RemoteKeys {
        let access = Access::READ | Access::WRITE;
        let mut keys = theirs.iter_mut().map(|it| {
            let key = it.register(None, Buf::host(at, len), access);
            key.expect("the simulator registers all")
        });
        let mut all = RemoteKeys::from(keys.next().expect("a rail"));
        for (more, RemoteKey { key, .. }) in all.more.iter_mut().zip(keys) {
            *more = key;
        }
        all
    }

    #[test]
    fn long_operations_move_all_their_bytes_and_flushes_wait_for_them() {
        const LEN: usize = 20_011;
        let mut whole = 0;
        for seed in 0..60 {
            let count = 1 + seed as usize % RAILS;
            let (mut ours, mut theirs) = rails(seed, count);
            let mut pieces = Pieces::default();
            let mut inbox = Inbox::default();
            let mut memory = pattern(1, LEN);
            let target = register(&mut theirs, memory.as_mut_ptr(), LEN);
            let bytes = pattern(seed as u32, LEN);
            let long = |op, way, buf| Long {
                op: OpId(op),
                peer: Peer(1),
                way,
                buf,
                target,
                piece: 1000,
                rails: count,
            };
            let begin = |pieces: &mut Pieces, ours: &mut [Port], inbox: &mut Inbox, long: Long| {
                for _ in 0..1000 {
                    // SAFETY: the memory stays until the end of the test, which waits for all.
                    match unsafe { pieces.start(ours, long) } {
                        Ok(Started::Full) => ours.iter_mut().for_each(|it| _ = it.poll(inbox)),
                        other => return other,
                    }
                }
                panic!("there is never room");
            };
            let put = begin(
                &mut pieces,
                &mut ours,
                &mut inbox,
                long(1, RmaOp::Put, Buf::from(&*bytes)),
            );
            assert_eq!(put, Ok(Started::UnderWay));
            let flush = pieces.flush(&mut ours, OpId(2), Peer(1), count);
            assert_eq!(flush, Ok(Started::UnderWay));
            let flushed = wait(&mut pieces, &mut ours, &mut inbox, OpId(2));
            assert_eq!(flushed, Ok(0));
            let put = inbox.completed.pop().expect("told before its flush");
            assert_eq!(put.0, OpId(1));
            assert!(pieces.is_empty() && !pieces.waits() && inbox.completed.is_empty());
            // The simulator refuses an operation now and then.
            if put.1 == Ok(0) {
                // SAFETY: nothing is under way.
                let now = unsafe { std::slice::from_raw_parts(memory.as_ptr(), LEN) };
                assert!(now == bytes, "seed {seed}");
                whole += 1;
                let mut into = vec![0; LEN];
                let get = long(3, RmaOp::Get, Buf::from(&mut *into));
                let get = begin(&mut pieces, &mut ours, &mut inbox, get);
                assert_eq!(get, Ok(Started::UnderWay));
                if wait(&mut pieces, &mut ours, &mut inbox, OpId(3)) == Ok(0) {
                    assert!(into == bytes, "seed {seed}");
                }
            }
            for rail in &ours {
                assert_eq!(
                    (rail.without_local_key(), rail.local_registrations()),
                    (0, 0)
                );
            }
            drop(memory);
        }
        assert!(whole > 10, "{whole} of 60 puts were not refused");
    }

    #[test]
    fn operations_to_a_peer_that_dies_end_once() {
        for seed in 0..20 {
            let (mut ours, mut theirs) = rails(seed, 2);
            let mut pieces = Pieces::default();
            let mut inbox = Inbox::default();
            let mut memory = vec![0; 50_000];
            let target = register(&mut theirs, memory.as_mut_ptr(), memory.len());
            let bytes = pattern(3, 50_000);
            let long = Long {
                op: OpId(1),
                peer: Peer(1),
                way: RmaOp::Put,
                buf: Buf::from(&*bytes),
                target,
                piece: 1000,
                rails: 2,
            };
            // SAFETY: the memory stays until the end of the test.
            let started = unsafe { pieces.start(&mut ours, long) };
            theirs.iter_mut().for_each(Port::die);
            match started {
                Ok(Started::UnderWay) => {
                    let ended = wait(&mut pieces, &mut ours, &mut inbox, OpId(1));
                    assert!(ended.is_err(), "{ended:?}");
                }
                other => assert_eq!(other, Ok(Started::Full)),
            }
            assert!(pieces.is_empty() && inbox.completed.is_empty());
            let flush = pieces.flush(&mut ours, OpId(2), Peer(1), 2);
            assert!(matches!(flush, Err(RmaError::Lost(_))), "{flush:?}");
        }
    }
}
