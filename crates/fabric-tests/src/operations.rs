//! The tests of operations on registered memory, for each that a route's [`RmaCaps`] name. Where a
//! route has none, they test that it says so.

use std::collections::HashMap;

use catena_fabric::{
    Access, Atomic, AtomicOp, AtomicType, Buf, Kind, OpId, Peer, RemoteKey, Rma, RmaCaps, RmaError,
    Started,
};

use crate::help::{End, PATIENCE, pattern};
use crate::{Offer, Pair};

/// How an operation ended.
type Outcome = Result<u64, RmaError>;

/// Two ends, of which `a` is the origin of operations and `b` their target.
struct Bed<T> {
    a: End<T>,
    b: End<T>,
    caps: RmaCaps,
    window: fn(&mut T, usize) -> Option<*mut u8>,
    keys_are_checked: bool,
    has_atomics: bool,
}

/// Memory of the target, registered for the origin.
struct Window {
    at: *mut u8,
    key: RemoteKey,
    len: usize,
    /// The memory, unless the route has its own.
    _own: Vec<u64>,
}

impl Window {
    /// The key of its byte `offset`.
    fn key(&self, offset: usize) -> RemoteKey {
        RemoteKey {
            addr: self.key.addr + offset as u64,
            ..self.key
        }
    }

    /// Its bytes as they are now.
    fn bytes(&self) -> Vec<u8> {
        // SAFETY: as many bytes, which only calls of this thread write.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }.to_vec()
    }
}

impl<T: Rma> Bed<T> {
    fn new(pair: Pair<T>) -> Bed<T> {
        let (window, keys_are_checked) = (pair.window, pair.claims.keys_are_checked);
        let has_atomics = pair.claims.atomics;
        let (a, b) = pair.ends();
        let caps = a.at.rma_caps(b.is);
        Bed {
            a,
            b,
            caps,
            window,
            keys_are_checked,
            has_atomics,
        }
    }

    /// Whether the route has operations.
    fn has_any(&self) -> bool {
        self.caps != RmaCaps::NONE
    }

    /// All accesses that the route has.
    fn access(&self) -> Access {
        let kinds = [
            (self.caps.put, Access::WRITE),
            (self.caps.get, Access::READ),
            (!self.caps.atomics.is_empty(), Access::ATOMIC),
        ];
        let had = kinds.into_iter().filter(|(has, _)| *has);
        had.fold(Access::default(), |sum, (_, access)| sum | access)
    }

    /// Memory of the target that holds `bytes`.
    fn window(&mut self, bytes: &[u8], access: Access) -> Window {
        let mut own = vec![0u64; bytes.len().div_ceil(8)];
        let at = match (self.window)(&mut self.b.at, bytes.len()) {
            Some(at) if access.allows(Access::ATOMIC) => at,
            _ => own.as_mut_ptr().cast(),
        };
        // SAFETY: as many bytes are there, and nobody else uses them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        let len = bytes.len();
        let key = self.b.at.register(None, Buf::host(at, len), access);
        Window {
            at,
            key: key.expect("the route has these accesses"),
            len,
            _own: own,
        }
    }

    /// Registers memory of the target for the origin alone.
    fn register(&mut self, at: *mut u8, len: usize, access: Access) -> Option<RemoteKey> {
        let peer = Some(self.a.is);
        self.b.at.register(peer, Buf::host(at, len), access)
    }

    fn end(&mut self, window: &Window) {
        self.b.at.deregister(window.key);
    }

    fn poll(&mut self) {
        self.a.poll();
        self.b.poll();
    }

    /// Starts an operation, polling both ends while there is no room.
    fn start(
        &mut self,
        mut start: impl FnMut(&mut T, Peer) -> Result<Started, RmaError>,
    ) -> Result<Started, RmaError> {
        for _ in 0..PATIENCE {
            match start(&mut self.a.at, self.b.is) {
                Ok(Started::Full) => self.poll(),
                other => return other,
            }
        }
        panic!("there is never room for an operation");
    }

    /// Polls until operation `op` is told to have ended.
    fn wait(&mut self, op: OpId) -> Outcome {
        for _ in 0..PATIENCE {
            let told = &mut self.a.inbox.completed;
            if let Some(at) = told.iter().position(|(it, _)| *it == op) {
                return told.remove(at).1;
            }
            self.poll();
        }
        panic!("{op:?} is never complete");
    }

    /// Carries out an operation from its start to its end. One that the network refuses is started
    /// again if the network does that now and then.
    fn run(
        &mut self,
        mut start: impl FnMut(&mut T, Peer, OpId) -> Result<Started, RmaError>,
    ) -> Outcome {
        for n in 0..100 {
            let op = OpId(u64::MAX - n);
            let ended = match self.start(|at, peer| start(at, peer, op))? {
                Started::Complete(value) => Ok(value),
                _ => self.wait(op),
            };
            if !matches!(ended, Err(RmaError::Refused(_))) || n == 99 {
                return ended;
            }
        }
        unreachable!("the last outcome was returned")
    }

    fn put(&mut self, bytes: &[u8], target: RemoteKey) -> Outcome {
        // SAFETY: the bytes are lent until the operation has ended.
        self.run(|at, peer, op| unsafe { at.put(op, peer, Buf::from(&*bytes), target) })
    }

    fn get(&mut self, into: &mut [u8], target: RemoteKey) -> Outcome {
        let (at_it, len) = (into.as_mut_ptr(), into.len());
        // SAFETY: the room is lent until the operation has ended.
        self.run(|at, peer, op| unsafe { at.get(op, peer, Buf::host(at_it, len), target) })
    }

    fn atomic(&mut self, atomic: Atomic, target: RemoteKey) -> Outcome {
        self.run(|at, peer, op| at.atomic(op, peer, atomic, target))
    }

    fn flush(&mut self) {
        assert_eq!(self.run(|at, peer, op| at.flush(op, peer)), Ok(0));
    }
}

/// Whatever the capabilities do not name is refused as unsupported.
pub fn operations_that_are_not_offered_are_refused<T: Rma>(pair: Pair<T>) {
    let mut bed = Bed::new(pair);
    let caps = bed.caps;
    let mut bytes = [7u8; 8];
    let target = RemoteKey::default();
    let unsupported = Err(RmaError::Unsupported);
    if !caps.put {
        assert_eq!(bed.put(&bytes, target), unsupported);
    }
    if !caps.get {
        assert_eq!(bed.get(&mut bytes, target), unsupported);
    }
    for atomic in all_atomics() {
        if !caps.atomics.contains(&atomic) {
            assert_eq!(bed.atomic(atomic, target), unsupported);
        }
    }
    if !bed.has_any() {
        let flushed = bed.run(|at, peer, op| at.flush(op, peer));
        assert_eq!(flushed, unsupported);
    }
    assert_eq!(bytes, [7; 8]);
}

/// Memory of a kind that the route does not take is neither registered nor used: a processor must
/// not touch it.
pub fn memory_of_other_kinds_is_refused<T: Rma>(pair: Pair<T>) {
    let mut bed = Bed::new(pair);
    let caps = bed.caps;
    let kinds = [(caps.put, Access::WRITE), (caps.get, Access::READ)];
    let had = kinds.into_iter().filter(|(has, _)| *has);
    let access = had.fold(Access::default(), |sum, (_, access)| sum | access);
    let taken = bed.a.at.caps(bed.b.is).kinds;
    assert!(taken.has(Kind::Host));
    let window = (caps.put || caps.get).then(|| bed.window(&[7; 64], access));
    for kind in [Kind::Cuda, Kind::Rocm, Kind::LevelZero] {
        if taken.has(kind) {
            continue;
        }
        // No address at which anything is.
        let odd = Buf::of(kind, std::ptr::without_provenance(1 << 62), 64);
        for access in [Access::READ, Access::WRITE, access] {
            for peer in [None, Some(bed.a.is)] {
                assert_eq!(bed.b.at.register(peer, odd, access), None, "{kind}");
            }
        }
        assert_eq!(bed.a.at.register_local(odd), None, "{kind}");
        let Some(window) = &window else { continue };
        let refused = Err(RmaError::Memory(kind));
        if caps.put {
            // SAFETY: nothing may be read there.
            let put = bed.run(|at, peer, op| unsafe { at.put(op, peer, odd, window.key) });
            assert_eq!(put, refused);
        }
        if caps.get {
            // SAFETY: nothing may be written there.
            let got = bed.run(|at, peer, op| unsafe { at.get(op, peer, odd, window.key) });
            assert_eq!(got, refused);
        }
    }
    if let Some(window) = window {
        assert_eq!(window.bytes(), [7; 64]);
        bed.end(&window);
    }
}

/// Memory that is registered for one peer is read by it as declared: from any offset, and never
/// beyond what was asked for.
pub fn registered_memory_is_read_rightly<T: Rma>(pair: Pair<T>) {
    let claimed = pair.claims.reads;
    let mut bed = Bed::new(pair);
    assert_eq!(bed.caps.get, claimed != Offer::Never, "reads: {claimed:?}");
    for len in [1, 63, 4096, 100_000] {
        let bytes = pattern(9, len);
        let Some(key) = bed.register(bytes.as_ptr().cast_mut(), len, Access::READ) else {
            assert_eq!(claimed, Offer::Never, "it is not registered");
            return;
        };
        for from in [0, len / 3] {
            let mut into = vec![0xee; len + 1];
            let addr = key.addr + from as u64;
            let got = bed.get(&mut into[from..len], RemoteKey { addr, ..key });
            assert_eq!(got, Ok(0), "{len} bytes from {from}");
            assert_eq!(into[from..len], bytes[from..]);
            let mut rest = into[..from].iter().chain(&into[len..]);
            assert!(rest.all(|&byte| byte == 0xee));
        }
        bed.b.at.deregister(key);
    }
}

/// Memory that is registered for one peer is written by it as declared: to any offset, and never
/// beyond what was asked for.
pub fn registered_memory_is_written_rightly<T: Rma>(pair: Pair<T>) {
    let claimed = pair.claims.writes;
    let mut bed = Bed::new(pair);
    assert_eq!(bed.caps.put, claimed != Offer::Never, "writes: {claimed:?}");
    for len in [1, 63, 4096, 100_000] {
        let bytes = pattern(9, len);
        let mut into = vec![0xee; len + 1];
        let Some(key) = bed.register(into.as_mut_ptr(), len, Access::WRITE) else {
            assert_eq!(claimed, Offer::Never, "it is not registered");
            return;
        };
        let from = len / 3;
        let addr = key.addr + from as u64;
        assert_eq!(bed.put(&bytes[from..], RemoteKey { addr, ..key }), Ok(0));
        bed.flush();
        bed.b.at.deregister(key);
        assert_eq!(into[from..len], bytes[from..]);
        let mut rest = into[..from].iter().chain(&into[len..]);
        assert!(rest.all(|&byte| byte == 0xee));
    }
}

/// Puts and gets of lengths and at offsets that fit no word, and nothing beside them.
pub fn puts_and_gets_move_what_they_are_to<T: Rma>(pair: Pair<T>) {
    let mut bed = Bed::new(pair);
    let (puts, gets) = (bed.caps.put, bed.caps.get);
    for len in [0, 1, 7, 8, 63, 4096, 100_003] {
        for offset in [0, 1, 13] {
            let before = pattern(3, len + 16);
            if puts {
                let window = bed.window(&before, Access::WRITE);
                let bytes = pattern(9, len);
                assert_eq!(bed.put(&bytes, window.key(offset)), Ok(0));
                bed.flush();
                let mut after = before.clone();
                after[offset..offset + len].copy_from_slice(&bytes);
                assert!(window.bytes() == after, "{len} bytes put at {offset}");
                bed.end(&window);
            }
            if gets {
                let window = bed.window(&before, Access::READ);
                let mut into = vec![0xee; len + 2];
                let got = bed.get(&mut into[1..=len], window.key(offset));
                assert_eq!(got, Ok(0));
                assert!(
                    into[1..=len] == before[offset..offset + len],
                    "{len} bytes at {offset}"
                );
                assert_eq!((into[0], into[len + 1]), (0xee, 0xee));
                bed.end(&window);
            }
        }
    }
}

/// Of many operations at once each is told once, and that of a flush after those before it.
pub fn each_operation_completes_once<T: Rma>(pair: Pair<T>) {
    const COUNT: usize = 100;
    const LEN: usize = 48;
    let mut bed = Bed::new(pair);
    if !bed.caps.put {
        return;
    }
    let source: Vec<Vec<u8>> = (0..COUNT).map(|n| pattern(n as u32, LEN)).collect();
    let window = bed.window(&[0; COUNT * LEN], Access::WRITE);
    let mut outcomes: HashMap<OpId, Vec<Outcome>> = HashMap::new();
    let mut under_way = 0;
    for (n, bytes) in source.iter().enumerate() {
        let (op, target) = (OpId(1 << 40 | n as u64), window.key(n * LEN));
        // SAFETY: the bytes stay until the end of the test, which waits for all.
        let started = bed
            .start(|at, peer| unsafe { at.put(op, peer, Buf::host(bytes.as_ptr(), LEN), target) });
        match started.expect("a good target") {
            Started::Complete(value) => outcomes.entry(op).or_default().push(Ok(value)),
            _ => under_way += 1,
        }
    }
    let flush = OpId(7);
    let flushed = bed
        .start(|at, peer| at.flush(flush, peer))
        .expect("the peer is alive");
    if flushed == Started::UnderWay {
        for _ in 0..PATIENCE {
            if bed.a.inbox.completed.iter().any(|(op, _)| *op == flush) {
                break;
            }
            bed.poll();
        }
        let last = bed.a.inbox.completed.pop();
        assert_eq!(last, Some((flush, Ok(0))), "it is the last to be told");
    }
    assert_eq!(bed.a.inbox.completed.len(), under_way);
    for (op, outcome) in bed.a.inbox.completed.drain(..) {
        outcomes.entry(op).or_default().push(outcome);
    }
    assert_eq!(outcomes.len(), COUNT);
    let bytes = window.bytes();
    for (op, outcomes) in outcomes {
        assert_eq!(outcomes.len(), 1, "{op:?} is told once");
        let n = (op.0 & 0xffff) as usize;
        match &outcomes[0] {
            Ok(_) => assert!(bytes[n * LEN..][..LEN] == source[n], "{n}"),
            Err(error) => assert!(matches!(error, RmaError::Refused(_)), "{error}"),
        }
    }
    for _ in 0..1000 {
        bed.poll();
    }
    assert!(bed.a.inbox.completed.is_empty(), "something is told twice");
    bed.end(&window);
}

/// One atomic of each kind.
fn all_atomics() -> impl Iterator<Item = Atomic> {
    AtomicOp::ALL.into_iter().flat_map(|op| {
        AtomicType::ALL.into_iter().flat_map(move |ty| {
            [false, true].map(|fetches| Atomic {
                op,
                ty,
                operand: 0xffff_fff0_ffff_fff5,
                compare: 0x8000_0001_8000_0001,
                fetches,
            })
        })
    })
}

/// Every kind of atomic that is offered does to the word what it is to, and fetches what was there.
pub fn atomics_compute_and_fetch<T: Rma>(pair: Pair<T>) {
    let mut bed = Bed::new(pair);
    let access = bed.access();
    let offered = !bed.caps.atomics.is_empty();
    assert_eq!(offered, bed.has_atomics, "{:?}", bed.caps.atomics);
    for atomic in all_atomics() {
        if !bed.caps.atomics.contains(&atomic) {
            continue;
        }
        for old in [0, 5, atomic.compare, atomic.operand] {
            let before = [old.to_le_bytes(), [0xaa; 8]].concat();
            let window = bed.window(&before, access);
            let fetched = if atomic.fetches {
                atomic.ty.truncate(old)
            } else {
                0
            };
            assert_eq!(bed.atomic(atomic, window.key), Ok(fetched), "{atomic:?}");
            bed.flush();
            let size = atomic.ty.size();
            let mut after = before.clone();
            after[..size].copy_from_slice(&atomic.apply(old).to_le_bytes()[..size]);
            assert_eq!(window.bytes(), after, "{atomic:?} on {old:#x}");
            bed.end(&window);
        }
    }
}

/// Many atomics at once on one word lose nothing.
pub fn atomics_at_once_sum_up<T: Rma>(pair: Pair<T>) {
    let mut bed = Bed::new(pair);
    let sum = |operand, fetches| Atomic {
        op: AtomicOp::Sum,
        ty: AtomicType::I64,
        operand,
        compare: 0,
        fetches,
    };
    let fetches = bed.caps.atomics.contains(&sum(1, true));
    if !fetches {
        assert!(
            !bed.caps.atomics.contains(&sum(1, false)),
            "sums fetch if there are any"
        );
        return;
    }
    let access = bed.access();
    let window = bed.window(&[0; 8], access);
    let (mut sums, mut started) = (Vec::new(), 0);
    for n in 0..200 {
        let begun = bed.start(|at, peer| at.atomic(OpId(n), peer, sum(1, true), window.key));
        match begun.expect("a good target") {
            Started::Complete(value) => sums.push(value),
            _ => started += 1,
        }
    }
    bed.flush();
    assert_eq!(bed.a.inbox.completed.len(), started);
    let told = bed.a.inbox.completed.drain(..);
    sums.extend(told.filter_map(|(_, outcome)| outcome.ok()));
    sums.sort_unstable();
    assert!(
        sums.iter().copied().eq(0..sums.len() as u64),
        "each former value once"
    );
    assert_eq!(window.bytes(), (sums.len() as u64).to_le_bytes());
    bed.end(&window);
}

/// What was put before a flush is there after it.
pub fn a_flush_orders<T: Rma>(pair: Pair<T>) {
    let mut bed = Bed::new(pair);
    if !bed.caps.put {
        return;
    }
    let window = bed.window(&[0; 4096], Access::WRITE);
    for n in 0..50u32 {
        let bytes = pattern(n, 4096);
        assert_eq!(bed.put(&bytes, window.key), Ok(0));
        bed.flush();
        assert!(window.bytes() == bytes, "put {n} is there");
    }
    bed.end(&window);
}

/// Keys that were never given or are deregistered, places outside of the region and accesses that
/// it is not registered for: the operation does not succeed, and nothing is changed. A route that
/// does not check keys is only given one that nobody can have, of which it may tell nothing.
pub fn bad_keys_fail<T: Rma>(pair: Pair<T>) {
    let mut bed = Bed::new(pair);
    if !bed.caps.put {
        return;
    }
    let before = pattern(5, 64);
    let window = bed.window(&before, Access::WRITE);
    let unknown = RemoteKey {
        key: window.key.key ^ 0x5555,
        ..window.key
    };
    let mut targets = vec![unknown];
    if bed.keys_are_checked {
        targets.extend([window.key(60), window.key(usize::MAX >> 1)]);
    }
    for target in targets {
        assert!(!succeeds(&mut bed, target, true), "{target:?}");
        assert_eq!(window.bytes(), before);
    }
    if bed.keys_are_checked && bed.caps.get {
        assert!(
            !succeeds(&mut bed, window.key, false),
            "it is registered for puts"
        );
    }
    bed.end(&window);
    if bed.keys_are_checked {
        assert!(!succeeds(&mut bed, window.key, true), "it is deregistered");
        assert_eq!(window.bytes(), before);
    }
}

/// Whether a put, or a get, of eight bytes succeeds within a while; one that never finds out what
/// the key stands for does not.
fn succeeds<T: Rma>(bed: &mut Bed<T>, target: RemoteKey, puts: bool) -> bool {
    let mut bytes = [0xee; 8];
    let (op, peer) = (OpId(99), bed.b.is);
    let mut under_way = false;
    for _ in 0..5000 {
        if !under_way {
            // SAFETY: nothing is under way when this function returns but what failed.
            let started = unsafe {
                match puts {
                    true => bed.a.at.put(op, peer, Buf::host(bytes.as_ptr(), 8), target),
                    false => bed
                        .a
                        .at
                        .get(op, peer, Buf::host(bytes.as_mut_ptr(), 8), target),
                }
            };
            match started {
                Ok(Started::Complete(_)) => return true,
                Ok(Started::UnderWay) => under_way = true,
                Ok(Started::Full) => {}
                Err(_) => return false,
            }
        }
        bed.poll();
        // A put may be complete here long before it fails there.
        if let Some((_, outcome)) = bed.a.inbox.completed.pop() {
            return outcome.is_ok() && !puts;
        }
    }
    let is_told = !under_way || !bed.keys_are_checked;
    assert!(is_told, "it is never told how the operation ended");
    false
}

/// What is under way to a peer that dies ends, and nothing is started afterwards.
pub fn operations_to_a_lost_peer_end<T: Rma>(pair: Pair<T>) {
    let lose_b = pair.lose_b;
    let mut bed = Bed::new(pair);
    if !bed.caps.put {
        return;
    }
    let window = bed.window(&[0; 4096], Access::WRITE);
    let bytes = pattern(1, 4096);
    let mut under_way = Vec::new();
    for n in 0..20 {
        let (op, peer) = (OpId(n), bed.b.is);
        // SAFETY: the bytes stay until the end of the test, which waits for all.
        let put = unsafe { bed.a.at.put(op, peer, Buf::from(&*bytes), window.key) };
        match put.expect("the peer is alive") {
            Started::UnderWay => under_way.push(op),
            Started::Complete(_) => {}
            Started::Full => bed.a.poll(),
        }
    }
    let Bed { mut a, b, .. } = bed;
    lose_b(&mut a.at, b.at);
    for _ in 0..PATIENCE {
        if a.inbox.completed.len() >= under_way.len() {
            break;
        }
        a.poll();
    }
    let mut told: Vec<OpId> = a.inbox.completed.drain(..).map(|(op, _)| op).collect();
    told.sort_unstable();
    assert_eq!(told, under_way);
    for _ in 0..3 {
        // SAFETY: the bytes stay, and nothing is started.
        let put = unsafe {
            a.at.put(OpId(99), b.is, Buf::host(bytes.as_ptr(), 8), window.key)
        };
        assert!(matches!(put, Err(RmaError::Lost(_))), "{put:?}");
    }
}
