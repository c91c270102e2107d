//! Two processes, played by one, over every kind of route that needs no library:
//! without MPI and without a launcher. Their address records lie in a table that
//! both hold.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use catena_base::PeerBytes;
use catena_fabric::{Peer, Place};
use catena_fabric_tests::until;
use catena_link::{Cid, Endpoint, Failure, Mode, Plane, ReqId, Selector, Sent, Sink, Source};
use catena_net::{Chain, Exchange, Networks, Route, Routes};
use catena_proof::Secret;
use catena_shm::Shm;

const BOTH: [Peer; 2] = [Peer(0), Peer(1)];

/// A message that is sent from where it lies.
#[derive(Clone, Debug)]
struct Message(Rc<[u8]>);

impl Source for Message {
    type Part<'a> = &'a [u8];

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn part(&self, from: u64, len: usize) -> &[u8] {
        &self.0[from as usize..][..len]
    }

    fn contiguous(&self) -> Option<*const u8> {
        Some(self.0.as_ptr())
    }
}

/// Room for a message, shared with the test.
#[derive(Clone, Debug)]
struct Room(Rc<RefCell<Box<[u8]>>>);

impl Sink for Room {
    fn capacity(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        bytes.read(&mut self.0.borrow_mut()[at as usize..][..bytes.len()]);
    }

    fn contiguous(&mut self) -> Option<*mut u8> {
        Some(self.0.borrow_mut().as_mut_ptr())
    }
}

type Link = Endpoint<Routes<Message, Room>>;

/// The table of records, and who has begun the fence.
#[derive(Debug, Default)]
struct Table {
    records: HashMap<Peer, Vec<u8>>,
    leaving: Vec<Peer>,
}

/// One process's view of the table.
#[derive(Debug)]
struct InProcess {
    me: Peer,
    table: Rc<RefCell<Table>>,
}

impl Exchange for InProcess {
    fn host_of(&self, process: Peer) -> String {
        format!("host{}", process.0)
    }

    fn node_of(&self, process: Peer) -> u32 {
        process.0
    }

    fn publish(&mut self, record: &[u8]) -> Result<(), String> {
        let records = &mut self.table.borrow_mut().records;
        assert!(records.insert(self.me, record.to_vec()).is_none());
        Ok(())
    }

    fn ask(&mut self, process: Peer) -> Result<Option<Vec<u8>>, String> {
        Ok(self.table.borrow().records.get(&process).cloned())
    }

    fn begin_fence(&mut self) -> Result<(), String> {
        self.table.borrow_mut().leaving.push(self.me);
        Ok(())
    }

    fn fence_done(&mut self) -> Result<bool, String> {
        Ok(self.table.borrow().leaving.len() == 2)
    }
}

/// A matching engine over the routes of a process, with one communicator of both.
fn link(me: Peer, routes: Routes<Message, Room>) -> Link {
    let mut link = Endpoint::new(routes);
    link.open(Cid(0), me.0, BOTH.map(|peer| (peer, Cid(0))).to_vec());
    link
}

/// Two processes on a host each, over TCP.
fn over_tcp(table: &Rc<RefCell<Table>>) -> [Link; 2] {
    BOTH.map(|me| {
        let chain = Chain::parse("shm+tcp").expect("a chain");
        let place = Place {
            me,
            processes: 2,
            job: 7,
        };
        let secret = Secret::from_bytes([7; 32]);
        let exchange = Box::new(InProcess {
            me,
            table: Rc::clone(table),
        });
        let networks = Networks::open(&chain, place, &[me], Some(&secret), exchange);
        let networks = networks.expect("a port").expect("it is needed");
        link(me, Routes::new(me, 2, &[me], None, Some(networks)))
    })
}

/// Two processes on one host, through shared memory.
fn through_shared_memory() -> [Link; 2] {
    let all = Shm::group(&BOTH, catena_shm::Config::tiny()).expect("a small segment");
    let mut all = all.into_iter();
    BOTH.map(|me| {
        let shm = all.next().expect("one for each");
        link(me, Routes::new(me, 2, &BOTH, Some(shm), None))
    })
}

/// Begins to send `message` to rank `to`.
fn send(link: &mut Link, to: u32, message: &Message) -> Option<ReqId> {
    match link.send(Cid(0), Plane::User, to, 1, Mode::Standard, message.clone()) {
        Sent::Done => None,
        Sent::Pending(request) => Some(request),
    }
}

/// Sends messages of many lengths between two processes, and from each to itself.
fn messages_arrive(mut links: [Link; 2]) {
    for len in [0, 8, 3000, 1 << 20] {
        for (from, to) in [(0, 1), (1, 0), (1, 1)] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 + (at >> 9)) as u8).collect();
            let (message, room) = (
                Message(bytes.into()),
                Room(Rc::new(RefCell::new(vec![0; len].into()))),
            );
            let selector = Selector {
                source: from as i32,
                tag: 1,
            };
            let received = links[to].recv(Cid(0), Plane::User, selector, room.clone());
            let sent = send(&mut links[from], to as u32, &message);
            until(|| {
                links.iter_mut().for_each(|link| _ = link.progress());
                links[to].is_done(received) && sent.is_none_or(|it| links[from].is_done(it))
            });
            assert_eq!(links[to].take(received).error, None);
            assert!(sent.is_none_or(|it| links[from].take(it).error.is_none()));
            assert!(**room.0.borrow() == *message.0, "{len} bytes to {to}");
        }
    }
}

#[test]
fn messages_arrive_over_tcp() {
    let mut links = over_tcp(&Rc::default());
    assert_eq!(links[0].net().route(Peer(1)), Route::Network);
    messages_arrive(links);
}

#[test]
fn messages_arrive_through_shared_memory() {
    let mut links = through_shared_memory();
    assert_eq!(links[0].net().route(Peer(1)), Route::Shm);
    messages_arrive(links);
}

#[test]
fn networks_close_when_both_need_them_no_more() {
    let mut links = over_tcp(&Rc::default());
    let mut part = |number: usize| {
        let networks = links[number].net().networks_mut().expect("opened");
        networks.part().expect("the table is there")
    };
    assert!(!part(0), "the other one has not said so");
    assert!(part(1));
    assert!(part(0));
}

#[test]
fn a_process_whose_record_is_damaged_is_lost() {
    let table = Rc::<RefCell<Table>>::default();
    let [mut link, _] = over_tcp(&table);
    table.borrow_mut().records.insert(Peer(1), vec![0xff]);
    let sent = send(&mut link, 1, &Message([7; 8].into())).expect("nobody is reached yet");
    until(|| {
        link.progress();
        link.is_done(sent)
    });
    let error = link.take(sent).error.map(|it| *it);
    let cause = "it runs another version of Catena; it was on host host1";
    assert!(matches!(error, Some(Failure::Lost(lost)) if lost.cause == cause));
}
