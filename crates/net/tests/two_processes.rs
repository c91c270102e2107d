//! Two processes, played by one, over every kind of route that needs no library:
//! without MPI and without a launcher. Their address records lie in a table that
//! both hold.

mod common;

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use catena_fabric::Peer;
use catena_fabric_tests::until;
use catena_link::{Cid, Endpoint, Failure, Mode, Plane, ReqId, Selector, Sent};
use catena_net::Route;

use common::{BOTH, Message, Room, Table, Ways, over_network, through_shared_memory};

type Link = Endpoint<Ways>;

/// A matching engine over the routes of a process, with one communicator of both.
fn link(me: Peer, routes: Ways) -> Link {
    let mut link = Endpoint::new(routes);
    link.open(Cid(0), me.0, BOTH.map(|peer| (peer, Cid(0))).to_vec());
    link
}

fn links([one, two]: [Ways; 2]) -> [Link; 2] {
    [link(BOTH[0], one), link(BOTH[1], two)]
}

/// Two processes on a host each, over TCP.
fn over_tcp(table: &Rc<RefCell<Table>>) -> [Link; 2] {
    links(over_network("shm+tcp", table).expect("a port"))
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

/// The only process of its host has no doorbell in shared memory that the launcher could ring.
#[test]
fn who_has_no_doorbell_sleeps_on_what_the_launcher_says() {
    let table = Rc::<RefCell<Table>>::default();
    let (reader, mut launcher) = std::io::pipe().expect("a pipe");
    table.borrow_mut().launcher = Some(reader);
    let [mut link, _] = over_tcp(&table);
    let mut sleeper = None;
    until(|| {
        link.progress();
        sleeper = link.net().sleeper();
        sleeper.is_some()
    });
    launcher.write_all(b"x").expect("room for a byte");
    let is_woken = |it: catena_fabric::Sleeper| it.sleep(Duration::from_secs(9));
    assert!(sleeper.is_some_and(is_woken));
}

#[test]
fn messages_arrive_through_shared_memory() {
    let mut links = links(through_shared_memory());
    assert_eq!(links[0].net().route(Peer(1)), Route::Shm);
    messages_arrive(links);
}

#[test]
fn networks_close_when_both_need_them_no_more() {
    let mut links = over_tcp(&Rc::default());
    let mut part = |number: usize| {
        let networks = links[number].net().networks_mut().next().expect("opened");
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
