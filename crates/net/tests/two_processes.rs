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
use catena_link::Failure;
use catena_net::Route;

use common::{
    Link, Message, Table, exchange_messages, links, over_network, send, through_shared_memory,
};

/// Two processes on a host each, over TCP.
fn over_tcp(table: &Rc<RefCell<Table>>) -> [Link; 2] {
    links(over_network("shm+tcp", table).expect("a port"))
}

#[test]
fn messages_arrive_over_tcp() {
    let mut links = over_tcp(&Rc::default());
    assert_eq!(links[0].net().route(Peer(1)), Route::Network);
    exchange_messages(&mut links);
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
    exchange_messages(&mut links);
}

#[test]
fn networks_close_when_both_need_them_no_more() {
    let mut links = over_tcp(&Rc::default());
    let mut part = |number: usize| {
        let networks = links[number].net().networks_mut().next().expect("opened");
        networks.leave_together().expect("the table is there")
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
