//! Operations on the memory of a peer, over every kind of route, and on one's own.

mod common;

use catena_fabric::{
    Access, Atomic, AtomicOp, AtomicType, Buf, OpId, Peer, RmaCaps, RmaError, Started,
};
use catena_fabric_tests::{Inbox, pattern, until};
use catena_link::{Net, RemoteKeys};
use catena_net::{Reach, RegionKeys, Route};

use common::{Ways, over_network, through_shared_memory};

/// Puts and gets.
const PLAIN: fn() -> Access = || Access::READ | Access::WRITE;

/// Process 0, which starts operations on memory of process `of`, and process 1.
struct Bed {
    ways: [Ways; 2],
    inboxes: [Inbox; 2],
    of: Peer,
}

impl Bed {
    fn new(ways: [Ways; 2], of: u32) -> Bed {
        Bed {
            ways,
            inboxes: Default::default(),
            of: Peer(of),
        }
    }

    fn owner(&mut self) -> &mut Ways {
        &mut self.ways[self.of.0 as usize]
    }

    fn poll(&mut self) {
        for (ways, inbox) in self.ways.iter_mut().zip(&mut self.inboxes) {
            ways.poll(inbox);
        }
    }

    fn reach(&mut self) -> Reach {
        let mut reach = None;
        until(|| {
            self.poll();
            reach = self.ways[0].reach(self.of);
            reach.is_some()
        });
        reach.expect("it is known now")
    }

    /// Carries out an operation from its start to its end.
    fn run(
        &mut self,
        mut start: impl FnMut(&mut Ways, OpId, Peer) -> Result<Started, RmaError>,
    ) -> Result<u64, RmaError> {
        let op = OpId::new(3, OpId::LAST);
        let mut ended = None;
        until(|| {
            match start(&mut self.ways[0], op, self.of) {
                Ok(Started::Full) => self.poll(),
                other => ended = Some(other),
            }
            ended.is_some()
        });
        match ended.expect("it was started")? {
            Started::Complete(value) => return Ok(value),
            Started::UnderWay | Started::Full => {}
        }
        until(|| {
            self.poll();
            !self.inboxes[0].completed.is_empty()
        });
        let (id, result) = self.inboxes[0].completed.remove(0);
        assert_eq!(id, op);
        result
    }

    fn put(&mut self, bytes: &[u8], target: RemoteKeys) -> Result<u64, RmaError> {
        let memory = Buf::from(bytes);
        // SAFETY: the bytes are lent until the operation has ended.
        self.run(|ways, op, peer| unsafe { ways.put(op, peer, memory, target) })
    }

    fn get(&mut self, into: &mut [u8], target: RemoteKeys) -> Result<u64, RmaError> {
        let memory = Buf::from(into);
        // SAFETY: the room is lent until the operation has ended.
        self.run(|ways, op, peer| unsafe { ways.get(op, peer, memory, target) })
    }

    /// The keys of a region as they come to another process.
    fn told(keys: &RegionKeys) -> RegionKeys {
        RegionKeys::decode(&keys.encode()).expect("what was written")
    }
}

/// Moves memory there and back, as a whole and from its middle, and finds nothing that was
/// withdrawn.
fn bytes_move(mut bed: Bed, finds_what_ended: bool) {
    let reach = bed.reach();
    assert!(reach.operations.put && reach.operations.get);
    assert_eq!(reach.operations.max_len, usize::MAX);
    for len in [1, 4000, 3_000_001] {
        let mut memory = pattern(1, len);
        let at = memory.as_mut_ptr();
        let region = bed.owner().expose(Buf::host(at, len), PLAIN());
        let of_networks = region.keys().of_networks();
        let keys = match reach.route {
            Route::Network => of_networks.expect("a network reaches it"),
            _ => region.keys().clone(),
        };
        let target = bed.ways[0].target(bed.of, &Bed::told(&keys));
        let target = target.expect("a way there");
        assert_eq!(target.access, PLAIN());
        let bytes = pattern(2, len);
        assert_eq!(bed.put(&bytes, target.keys), Ok(0));
        assert_eq!(bed.run(|ways, op, peer| ways.flush(op, peer)), Ok(0));
        // SAFETY: the memory, which nobody writes now.
        let now = |at: *mut u8| unsafe { std::slice::from_raw_parts(at, len) }.to_vec();
        assert!(now(at) == bytes, "{len} bytes are put");
        let (middle, mut into) = (len / 2, vec![0; len - len / 2]);
        assert_eq!(bed.get(&mut into, target.keys.at(middle as u64)), Ok(0));
        assert!(into == bytes[middle..], "{len} bytes are got");
        bed.owner().withdraw(region);
        // A network may close the connection on which this fails.
        if !finds_what_ended && len > 4000 {
            assert!(bed.get(&mut [0], target.keys).is_err());
        }
        drop(memory);
    }
}

#[test]
fn bytes_move_to_and_from_oneself() {
    let bed = Bed::new(through_shared_memory(), 0);
    bytes_move(bed, false);
}

#[test]
fn bytes_move_through_shared_memory() {
    let mut ways = through_shared_memory();
    if ways[0].reach(Peer(1)).is_some_and(|it| !it.operations.get) {
        return catena_testing::skip("cross-memory attach", &"the kernel does not allow it");
    }
    // The kernel does not know what is registered.
    bytes_move(Bed::new(ways, 1), true);
}

/// The routes over a network; `None`, and the test is skipped, without its library.
fn network(chain: &str) -> Option<[Ways; 2]> {
    match over_network(chain, &Default::default()) {
        Ok(ways) => Some(ways),
        Err(why) => {
            catena_testing::skip(chain, &why);
            None
        }
    }
}

#[test]
fn bytes_move_over_libfabric() {
    if let Some(ways) = network("ofi:tcp") {
        bytes_move(Bed::new(ways, 1), false);
    }
}

#[test]
fn bytes_move_over_ucx() {
    if let Some(ways) = network("ucx:tcp") {
        // Its keys over TCP are those of the whole process.
        bytes_move(Bed::new(ways, 1), true);
    }
}

/// Changes a word by the atomics of a network.
fn words_are_changed(mut bed: Bed) {
    let reach = bed.reach();
    let mut memory = [3u64, 40];
    let access = PLAIN() | Access::ATOMIC;
    let region = bed
        .owner()
        .expose(Buf::host(memory.as_mut_ptr().cast(), 16), access);
    let keys = Bed::told(region.keys());
    let target = bed.ways[0].target(bed.of, &keys).expect("a way there");
    assert_eq!(target.access, access);
    let sum = Atomic {
        op: AtomicOp::Sum,
        ty: AtomicType::U64,
        operand: 2,
        compare: 0,
        fetches: true,
    };
    let swap = Atomic {
        op: AtomicOp::CompareSwap,
        ty: AtomicType::U32,
        operand: 7,
        compare: 42,
        fetches: true,
    };
    for (atomic, former) in [(sum, 40), (swap, 42), (swap, 7)] {
        assert!(reach.operations.atomics.contains(&atomic));
        let fetched = bed.run(|ways, op, peer| ways.atomic(op, peer, atomic, target.keys.at(8)));
        assert_eq!(fetched, Ok(former));
    }
    bed.owner().withdraw(region);
    assert_eq!(memory, [3, 7]);
}

#[test]
fn words_are_changed_over_libfabric() {
    if let Some(ways) = network("ofi:tcp;ofi_rxm") {
        words_are_changed(Bed::new(ways, 1));
    }
}

#[test]
fn words_are_changed_over_ucx() {
    if let Some(ways) = network("ucx:tcp") {
        words_are_changed(Bed::new(ways, 1));
    }
}

#[test]
fn a_way_without_operations_says_so() {
    let mut bed = Bed::new(network("tcp").expect("a port"), 1);
    let reach = bed.reach();
    assert_eq!(reach.route, Route::Network);
    assert_eq!(reach.operations, RmaCaps::NONE);
    let mut memory = [0u8; 8];
    let region = bed
        .owner()
        .expose(Buf::host(memory.as_mut_ptr(), 8), PLAIN());
    let keys = Bed::told(region.keys());
    assert_eq!(bed.ways[0].target(Peer(1), &keys), None);
    assert_eq!(bed.ways[0].map(Peer(1), &keys, 0, 8), None);
    let put = bed.put(&[7], RemoteKeys::default());
    assert_eq!(put, Err(RmaError::Unsupported));
    bed.owner().withdraw(region);
}

#[test]
fn memory_of_the_node_is_mapped_and_takes_atomics() {
    let mut bed = Bed::new(through_shared_memory(), 1);
    let at = bed.owner().allocate(4096).expect("a little memory");
    let access = PLAIN() | Access::ATOMIC;
    let region = bed.owner().expose(Buf::host(at, 4096), access);
    let keys = Bed::told(region.keys());
    let target = bed.ways[0].target(Peer(1), &keys).expect("a way there");
    assert_eq!(target.access, access);
    let mapped = bed.ways[0].map(Peer(1), &keys, 8, 8).expect("it is mapped");
    // SAFETY: both lead to the same eight bytes, which nobody else uses.
    unsafe { mapped.cast::<u64>().write(40) };
    let sum = Atomic {
        op: AtomicOp::Sum,
        ty: AtomicType::U64,
        operand: 2,
        compare: 0,
        fetches: true,
    };
    let fetched = bed.run(|ways, op, peer| ways.atomic(op, peer, sum, target.keys.at(8)));
    assert_eq!(fetched, Ok(40));
    // SAFETY: the owner's eight bytes.
    assert_eq!(unsafe { at.add(8).cast::<u64>().read() }, 42);
    assert_eq!(bed.ways[0].map(Peer(1), &keys, 1 << 60, 8), None);
    bed.owner().withdraw(region);
    bed.owner().free(at, 4096);
    assert_eq!(bed.owner().allocate(4096), Some(at), "it is used again");
}

#[test]
fn accesses_to_oneself_are_checked() {
    let mut bed = Bed::new(through_shared_memory(), 0);
    let mut memory = [5u64; 2];
    let at = memory.as_mut_ptr().cast();
    let region = bed
        .owner()
        .expose(Buf::host(at, 16), Access::READ | Access::ATOMIC);
    let keys = Bed::told(region.keys());
    let target = bed.ways[0].target(Peer(0), &keys).expect("oneself").keys;
    assert_eq!(
        bed.ways[0].map(Peer(0), &keys, 8, 8),
        Some(at.wrapping_add(8))
    );
    assert_eq!(bed.put(&[1], target), Err(RmaError::Forbidden));
    assert_eq!(
        bed.get(&mut [0; 9], target.at(8)),
        Err(RmaError::OutOfBounds)
    );
    let swap = Atomic {
        op: AtomicOp::Swap,
        ty: AtomicType::U64,
        operand: 9,
        compare: 0,
        fetches: true,
    };
    let atomic = |bed: &mut Bed, byte| {
        bed.run(|ways, op, peer| ways.atomic(op, peer, swap, target.at(byte)))
    };
    assert_eq!(
        atomic(&mut bed, 4),
        Err(RmaError::OutOfBounds),
        "not aligned"
    );
    assert_eq!(atomic(&mut bed, 8), Ok(5));
    bed.owner().withdraw(region);
    assert_eq!(bed.get(&mut [0], target), Err(RmaError::NoRegion));
    assert_eq!(memory, [5, 9]);
}

#[test]
fn keys_that_are_damaged_are_noticed() {
    let mut bed = Bed::new(through_shared_memory(), 0);
    let mut memory = [0u8; 64];
    let region = bed
        .owner()
        .expose(Buf::host(memory.as_mut_ptr(), 64), PLAIN());
    assert_eq!(region.keys().of_networks(), None);
    let bytes = region.keys().encode();
    for cut in 0..bytes.len() {
        let read = RegionKeys::decode(&bytes[..cut]);
        assert!(read.is_none_or(|it| it != *region.keys()), "{cut}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            let _ = RegionKeys::decode(&other);
        }
    }
    bed.owner().withdraw(region);
}
