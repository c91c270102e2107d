//! Requests that have one handle, and memory that many read.

use super::*;

const HANDLE: usize = 0x7000;

/// A request with that handle, which three threads have got at once.
fn add(requests: &mut Requests) -> u64 {
    requests.last += 1;
    let request = Request {
        handle: HANDLE,
        place: 0,
        site: Site::in_full("MPI_Isend"),
        is_persistent: false,
        partitions: 0,
        is_active: false,
        is_cancelled: false,
        is_doubtful: false,
        uses: Vec::new(),
        sums: Vec::new(),
        ready: BTreeMap::new(),
        arrived: BTreeSet::new(),
        lost: None,
        owner: None,
        shadow: None,
    };
    let id = requests.last;
    requests.all.insert(id, request);
    requests.by_handle.entry(HANDLE).or_default().push(id);
    requests.begin(id);
    id
}

/// Many operations may read the same, and none of them is looked at for one more.
#[test]
fn readers_do_not_meet_readers() {
    let mut requests = Requests::default();
    let memory = [0_u8; 64];
    let first = memory.as_ptr().addr();
    for _ in 0..100 {
        let id = add(&mut requests);
        requests.end(id);
        let pieces = vec![Piece::of_bytes(first, 64).expect("memory")];
        let used = Use {
            arg: "buf",
            access: Access::Read,
            pieces,
            from: None,
        };
        requests.all.get_mut(&id).expect("it was added").uses = vec![used];
        requests.begin(id);
    }
    let met = |access| requests.met(first, first + 1, access).count();
    assert_eq!((met(Access::Read), met(Access::Write)), (0, 100));
    assert_eq!(
        requests.met(first + 64, first + 65, Access::Write).count(),
        0
    );
}

/// A call that began when `before` was the newest request completes one with that handle.
fn complete(requests: &mut Requests, before: u64) {
    match requests.find(Given { handle: HANDLE }, before) {
        Some(id) => drop(requests.remove(id)),
        None => requests.doubt(HANDLE),
    }
}

#[test]
fn of_requests_with_one_handle_as_many_are_forgotten_as_are_complete() {
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut requests = Requests::default();
        let made = [(); 3].map(|()| add(&mut requests));
        for which in order {
            complete(&mut requests, made[which]);
        }
        assert!(requests.all.is_empty(), "{order:?}: {:?}", requests.all);
    }
}

#[test]
fn a_request_whose_handle_another_one_had_before_stays() {
    let mut requests = Requests::default();
    let before = requests.last;
    let new = add(&mut requests);
    complete(&mut requests, before);
    assert!(requests.all[&new].is_active);
}

#[test]
fn partitions_that_have_arrived_may_be_read() {
    let mut requests = Requests::default();
    let id = add(&mut requests);
    let request = requests.all.get_mut(&id).expect("it was added");
    request.partitions = 4;
    request.uses = vec![Use {
        arg: "buf",
        access: Access::Write,
        pieces: vec![Piece::of_bytes(1000, 400).expect("memory")],
        from: None,
    }];
    assert!(!request.has_arrived(1000, 1001));
    request.arrived.extend([1, 2]);
    assert!(request.has_arrived(1100, 1300) && request.has_arrived(1250, 1251));
    assert!(!request.has_arrived(1099, 1101) && !request.has_arrived(1200, 1301));
    requests.begin(id);
    assert!(
        !requests.all[&id].has_arrived(1100, 1300),
        "it was started again"
    );
}
