//! Memory of a device that one end reads of the other one. Alone in its process, as devices are
//! known to all of it.

mod common;

use catena_base::PeerBytes;
use catena_fabric::{
    Access, Buf, Deliver, Header, Kind, OpId, Peer, PeerLost, RemoteKey, Rma, RmaError, Started,
    Transport,
};
use catena_memory::stand_in;
use catena_shm::{Config, Shm};

use common::pattern;

/// How operations have ended.
#[derive(Default)]
struct Ends(Vec<(OpId, Result<u64, RmaError>)>);

impl Deliver for Ends {
    fn deliver(&mut self, _: Peer, _: Header, _: PeerBytes<'_>) {}
    fn lost(&mut self, lost: PeerLost) {
        panic!("{lost:?}");
    }
    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        self.0.push((op, result));
    }
}

/// Begins to read what process 0 has registered.
fn begin(at: &mut Shm, op: u64, into: Buf, from: RemoteKey) {
    // SAFETY: the room is lent until the test ends.
    let started = unsafe { at.get(OpId(op), Peer(0), into, from) };
    assert_eq!(started, Ok(Started::UnderWay));
}

#[test]
fn what_is_read_of_a_device_is_closed_in_the_end() {
    let mut sent: Vec<Vec<u8>> = (0..40).map(|n| pattern(n, 3000)).collect();
    let lent: Vec<*mut u8> = sent
        .iter_mut()
        .map(|it| stand_in::lend(Kind::Cuda, it))
        .collect();
    let mut far = vec![0; 3000];
    let far_at = stand_in::lend(Kind::Cuda, &mut far);
    let group = Shm::group(&[Peer(0), Peer(1)], Config::tiny()).expect("a segment");
    let [mut owner, mut reader] = group.try_into().expect("two");
    assert!(reader.caps(Peer(0)).kinds.has(Kind::Cuda));
    let mut ends = Ends::default();
    for (n, at) in lent.iter().enumerate() {
        let buf = Buf::of(Kind::Cuda, *at, 3000).slice(7, 2000);
        let key = owner.register(Some(Peer(1)), buf, Access::READ);
        let key = key.expect("a device that exports");
        assert!(Shm::is_elsewhere(key));
        let mut near = vec![0; 2000];
        begin(&mut reader, 1, Buf::from(&mut near[..]), key);
        begin(&mut reader, 2, Buf::of(Kind::Cuda, far_at, 2000), key);
        while ends.0.len() < 2 {
            reader.poll(&mut ends);
        }
        assert!(ends.0.drain(..).all(|(_, result)| result == Ok(0)));
        assert!(near == sent[n][7..2007] && far[..2000] == sent[n][7..2007]);
        // Beyond the allocation, and memory of another kind.
        let beyond = RemoteKey {
            addr: key.addr + 2000,
            ..key
        };
        let rocm = Buf::of(Kind::Rocm, far_at, 8);
        let all = Buf::from(&mut near[..]);
        // SAFETY: nothing is read.
        let refused = unsafe {
            [
                reader.get(OpId(3), Peer(0), all, beyond),
                reader.get(OpId(3), Peer(0), rocm, key),
            ]
        };
        let odd = RmaError::Memory(Kind::Rocm);
        assert_eq!(refused, [Err(RmaError::OutOfBounds), Err(odd)]);
        owner.deregister(key);
        let open = stand_in::open(Kind::Cuda);
        assert!((1..=17).contains(&open), "{open}");
    }
    reader.close_devices();
    assert_eq!(stand_in::open(Kind::Cuda), 0, "nothing is in use");
    // What its owner has freed is closed as soon as something else is opened.
    for (n, expected) in [(0, 1), (1, 2), (2, 2)] {
        let buf = Buf::of(Kind::Cuda, lent[n], 3000);
        let key = owner.register(Some(Peer(1)), buf, Access::READ);
        let key = key.expect("a device that exports");
        let mut near = vec![0; 3000];
        begin(&mut reader, 5, Buf::from(&mut near[..]), key);
        while ends.0.is_empty() {
            reader.poll(&mut ends);
        }
        ends.0.clear();
        assert!(near == sent[n]);
        owner.deregister(key);
        assert_eq!(stand_in::open(Kind::Cuda), expected);
        if n == 1 {
            stand_in::take_back(Kind::Cuda, lent[0]);
        }
    }
    reader.close_devices();
    // A copy that nobody has waited for.
    let buf = Buf::of(Kind::Cuda, lent[3], 3000);
    let key = owner.register(Some(Peer(1)), buf, Access::READ);
    let mut near = vec![0; 3000];
    begin(
        &mut reader,
        4,
        Buf::from(&mut near[..]),
        key.expect("a key"),
    );
    reader.close_devices();
    assert_eq!(stand_in::open(Kind::Cuda), 1, "it is in use");
    drop(reader);
    assert!(near == sent[3]);
    assert_eq!(stand_in::open(Kind::Cuda), 0);
}
