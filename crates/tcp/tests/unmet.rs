//! Processes of no job: each calls, and is called by, those that it has added, and whoever has
//! added it waits.

mod common;

use catena_fabric::{Peer, ProcessName, Transport};
use catena_fabric_tests::{Inbox, until};
use catena_tcp::{Config, Tcp};

use common::{JOB, end, try_send};

/// A process that is alone in a job with this number.
fn alone(job: u64) -> Tcp {
    end(0, 1, job, Config::from_settings())
}

fn name(job: u64) -> ProcessName {
    ProcessName { job, rank: 0 }
}

/// `a` adds the process whose end `b` is.
fn add(a: &mut Tcp, peer: u32, (b, job): (&Tcp, u64)) {
    a.add_peer(Peer(peer), name(job)).expect("it is new");
    let address = b.address().expect("a port");
    a.connect(Peer(peer), &address).expect("an address");
}

/// Polls all until they have been called, and nobody is at the door.
fn settle(all: &mut [&mut Tcp]) {
    let mut calm = 0;
    until(|| {
        all.iter_mut()
            .for_each(|it| _ = it.poll(&mut Inbox::default()));
        let quiet = all.iter().all(|it| it.guests() == 0);
        calm = if quiet { calm + 1 } else { 0 };
        calm > 5000
    });
}

#[test]
fn whoever_calls_before_it_was_added_is_let_in_when_it_is() {
    // The lower name calls the higher one, and the other way round.
    for (one, two) in [(3, 9), (9, 3)] {
        let (mut a, mut b) = (alone(one), alone(two));
        add(&mut a, 4, (&b, two));
        assert!(!try_send(&mut a, 4, b"early"), "it calls first");
        settle(&mut [&mut a, &mut b]);
        assert_eq!((a.connections(), b.connections()), (0, 0));
        assert_eq!(b.counters().strays, 0);
        add(&mut b, 1, (&a, one));
        assert_eq!(b.connections(), 1, "it had called");
        let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
        until(|| {
            a.poll(&mut at_a);
            b.poll(&mut at_b);
            try_send(&mut a, 4, b"there") && try_send(&mut b, 1, b"back")
        });
        until(|| {
            a.poll(&mut at_a);
            b.poll(&mut at_b);
            !at_a.packets.is_empty() && !at_b.packets.is_empty()
        });
        assert_eq!((at_a.packets[0].0, at_b.packets[0].0), (Peer(4), Peer(1)));
        assert!(at_a.lost.is_empty() && at_b.lost.is_empty());
    }
}

#[test]
fn a_caller_that_ends_before_it_was_added_leaves_nothing() {
    let mut b = alone(9);
    for job in [3, 3, 4] {
        let mut a = alone(job);
        add(&mut a, 1, (&b, 9));
        assert!(!try_send(&mut a, 1, b"early"));
        settle(&mut [&mut a, &mut b]);
        drop(a);
    }
    settle(&mut [&mut b]);
    // Another process of the same name comes, is added, and is heard.
    let mut a = alone(3);
    add(&mut a, 1, (&b, 9));
    add(&mut b, 1, (&a, 3));
    let mut inbox = Inbox::default();
    let mut sent = false;
    until(|| {
        a.poll(&mut Inbox::default());
        b.poll(&mut inbox);
        sent = sent || try_send(&mut a, 1, b"late");
        !inbox.packets.is_empty()
    });
    assert_eq!(inbox.packets[0].2, b"late");
    assert_eq!(b.connections(), 1);
}

#[test]
fn a_process_of_a_job_lets_nobody_else_wait() {
    let mut rank = end(0, 2, JOB, Config::from_settings());
    let mut other = alone(9);
    other
        .add_peer(Peer(1), ProcessName { job: JOB, rank: 0 })
        .expect("it is new");
    let address = rank.address().expect("a port");
    other.connect(Peer(1), &address).expect("an address");
    let mut told = Inbox::default();
    until(|| {
        rank.poll(&mut Inbox::default());
        other.poll(&mut told);
        let _ = other.try_send(Peer(1), Default::default(), &b"x"[..]);
        !told.lost.is_empty()
    });
    assert!(rank.counters().strays > 0);
    assert_eq!(rank.connections(), 0);
}

#[test]
fn names_and_numbers_are_given_once() {
    let mut a = alone(3);
    a.add_peer(Peer(2), name(9)).expect("it is new");
    assert!(a.add_peer(Peer(1), name(9)).is_err(), "it is 2");
    assert!(a.add_peer(Peer(2), name(8)).is_err(), "9 is 2");
    assert!(a.add_peer(Peer(1), name(3)).is_err(), "that is this one");
    a.add_peer(Peer(1), name(8)).expect("both are new");
}
