//! What the conformance suite cannot know: how two ends come to one connection,
//! packets that leave together, and peers that die.

mod common;

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use catena_fabric::row::Pace;
use catena_fabric::{Header, LocalPeer, Peer, Transport};
use catena_fabric_tests::{Inbox, PATIENCE, until};
use catena_tcp::{Config, Tcp, TcpError};

use common::{JOB, connected, end, in_order, listens_at, pair, secret, try_send};

#[test]
fn two_that_call_at_once_end_with_one_connection() {
    let (mut a, mut b) = pair(Config::from_settings());
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    assert!(
        !try_send(&mut a, 1, b"a") && !try_send(&mut b, 0, b"b"),
        "both call"
    );
    let mut sent = [0, 0];
    until(|| {
        sent[0] += usize::from(sent[0] < 100 && try_send(&mut a, 1, b"a"));
        sent[1] += usize::from(sent[1] < 100 && try_send(&mut b, 0, b"b"));
        a.poll(&mut at_a);
        b.poll(&mut at_b);
        let one = a.connections() == 1 && b.connections() == 1;
        one && at_a.packets.len() == 100 && at_b.packets.len() == 100
    });
    assert!(at_a.lost.is_empty() && at_b.lost.is_empty());
}

/// What waits in the connection that is given up arrives, too: its other end
/// has closed one direction only.
#[test]
fn two_that_call_at_once_lose_nothing() {
    let config = Config {
        kernel: Some(1),
        ..Config::from_settings()
    };
    for slow in [1, 2, 7] {
        let (mut a, mut b) = pair(config);
        let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
        let long = vec![1; 60_000];
        let (mut sent, mut turn) = ([0, 0], 0);
        until(|| {
            turn += 1;
            while sent[0] < 40 && try_send(&mut a, 1, &long) {
                sent[0] += 1;
            }
            while sent[1] < 40 && try_send(&mut b, 0, &long) {
                sent[1] += 1;
            }
            a.poll(&mut at_a);
            if turn % slow == 0 {
                b.poll(&mut at_b);
            }
            at_a.packets.len() == 40 && at_b.packets.len() == 40
        });
    }
}

/// The first two packets of a row leave at once.
fn row(apart: Duration, soon: Duration) -> Pace {
    Pace {
        at_once: 2,
        apart,
        soon,
    }
}

#[test]
fn packets_in_a_row_leave_together_and_one_alone_at_once() {
    let (mut a, mut b) = connected(Config {
        pace: row(PATIENCE, Duration::ZERO),
        ..Config::from_settings()
    });
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    for n in 1..10 {
        a.poll(&mut at_a);
        assert!(try_send(&mut a, 1, b"alone"));
        until(|| b.poll(&mut at_b) == 1);
        assert_eq!((at_b.packets.len(), a.counters().held), (n, 0));
    }
    a.poll(&mut at_a);
    (0..50).for_each(|_| assert!(try_send(&mut a, 1, b"together")));
    assert_eq!(a.counters().held, 48);
    a.poll(&mut at_a);
    until(|| {
        b.poll(&mut at_b);
        at_b.packets.len() == 9 + 50
    });
}

/// The kernel would keep them until the other end has told of those before.
#[test]
fn packets_far_apart_are_alone() {
    let (mut a, mut b) = connected(Config {
        pace: row(Duration::ZERO, Duration::ZERO),
        ..Config::from_settings()
    });
    let mut inbox = Inbox::default();
    for n in 1..10 {
        assert!(try_send(&mut a, 1, b"alone"));
        until(|| b.poll(&mut inbox) == 1);
        assert_eq!((inbox.packets.len(), a.counters().held), (n, 0));
    }
}

/// Who computes does not poll: what the kernel keeps leaves without it.
#[test]
fn packets_in_a_row_leave_without_a_poll() {
    let (mut a, mut b) = connected(Config::from_settings());
    let mut inbox = Inbox::default();
    (0..50).for_each(|_| assert!(try_send(&mut a, 1, b"together")));
    until(|| {
        b.poll(&mut inbox);
        inbox.packets.len() == 50
    });
}

/// Sends `rows` rows of ten packets, each followed by a poll; then another one,
/// and how many of it arrive before the next poll.
fn arrive_before_a_poll(rows: usize, soon: Duration) -> usize {
    let (mut a, mut b) = connected(Config {
        pace: row(PATIENCE, soon),
        ..Config::from_settings()
    });
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    for row in 1..=rows {
        (0..10).for_each(|_| assert!(try_send(&mut a, 1, b"in a row")));
        a.poll(&mut at_a);
        until(|| {
            b.poll(&mut at_b);
            at_b.packets.len() == 10 * row
        });
    }
    (0..10).for_each(|_| assert!(try_send(&mut a, 1, b"in a row")));
    let begin = Instant::now();
    let all = 10 * (rows + 1);
    while at_b.packets.len() < all && begin.elapsed() < Duration::from_millis(500) {
        b.poll(&mut at_b);
    }
    let early = at_b.packets.len() - 10 * rows;
    a.poll(&mut at_a);
    until(|| {
        b.poll(&mut at_b);
        at_b.packets.len() == all
    });
    early
}

#[test]
fn rows_wait_for_a_poll_where_one_always_came_soon() {
    assert_eq!(arrive_before_a_poll(0, PATIENCE), 10);
    assert_eq!(arrive_before_a_poll(20, PATIENCE), 2);
    assert_eq!(arrive_before_a_poll(20, Duration::ZERO), 10);
}

#[test]
fn a_peer_that_dies_is_named_though_nothing_is_sent() {
    let (mut a, b) = connected(Config::from_settings());
    let mut inbox = Inbox::default();
    drop(b);
    until(|| {
        a.sleep(std::time::Duration::from_secs(1));
        a.poll(&mut inbox);
        !inbox.lost.is_empty()
    });
    let again = a.try_send(Peer(1), Header::default(), [].as_slice());
    assert_eq!(again.as_ref().err(), inbox.lost.first(), "the same cause");
    assert_eq!(inbox.lost.len(), 1, "told once");
    let lost = &inbox.lost[0];
    assert_eq!(lost.peer, Peer(1));
    let cause = lost.cause.strip_prefix("it closed the connection (to ");
    assert!(cause.is_some(), "{}", lost.cause);
}

#[test]
fn what_a_peer_has_sent_arrives_though_nothing_more_reaches_it() {
    let (mut a, mut b) = connected(Config::from_settings());
    let mut inbox = Inbox::default();
    (0..3).for_each(|_| assert!(try_send(&mut b, 0, b"the last words")));
    until(|| {
        b.poll(&mut inbox);
        !b.keeps()
    });
    // Its kernel refuses what comes once it has ended with something unread.
    assert!(try_send(&mut a, 1, b"unread"));
    until(|| !a.keeps());
    drop(b);
    (0..10).for_each(|_| assert!(try_send(&mut a, 1, b"in vain")));
    until(|| {
        a.poll(&mut inbox);
        !inbox.lost.is_empty()
    });
    let words: Vec<_> = inbox.packets.iter().map(|packet| &packet.2[..]).collect();
    assert_eq!(words, [b"the last words"; 3]);
    let cause = inbox.lost[0].cause.strip_prefix("the connection failed: ");
    assert!(cause.is_some(), "{}", inbox.lost[0].cause);
}

#[test]
fn what_was_sent_over_one_of_two_connections_arrives_though_the_other_one_fails() {
    for slow in 1..9 {
        let (mut a, mut b) = pair(Config::from_settings());
        let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
        let long = vec![1; 60_000];
        let (mut sent, mut called, mut turn) = (0, false, 0);
        until(|| {
            turn += 1;
            called = called || try_send(&mut a, 1, b"hello");
            while sent < 4 && try_send(&mut b, 0, &long) {
                sent += 1;
            }
            b.poll(&mut at_b);
            if turn % slow == 0 {
                a.poll(&mut at_a);
            }
            sent == 4 && !b.keeps()
        });
        drop(b);
        until(|| {
            a.poll(&mut at_a);
            at_a.packets.len() == 4 || !at_a.lost.is_empty()
        });
        assert_eq!(at_a.packets.len(), 4, "{:?}", at_a.lost);
    }
}

#[test]
fn a_peer_that_is_not_there_is_named() {
    let mut a = end(0, 2, JOB, Config::from_settings());
    let b = end(1, 2, JOB, Config::from_settings());
    let address = b.address().expect("an address");
    drop(b);
    a.connect(Peer(1), &address).expect("a good address");
    let mut inbox = Inbox::default();
    until(|| {
        let _ = a.try_send(Peer(1), Header::default(), [].as_slice());
        a.poll(&mut inbox);
        !inbox.lost.is_empty()
    });
    let cause = &inbox.lost[0].cause;
    assert!(
        cause.contains("cannot be reached") && cause.contains("refused"),
        "{cause}"
    );
    assert!(a.connect(Peer(1), &[1]).is_err());
}

#[test]
fn an_interface_that_is_missing_is_said() {
    let place = LocalPeer {
        me: Peer(0),
        processes: 1,
        job: 0,
    };
    let config = Config::tiny();
    let opened = Tcp::open(place, Some(secret()), Some("eth77"), in_order, config);
    let error = opened.expect_err("there is none");
    assert!(matches!(error, TcpError::Interface { .. }));
    assert!(error.to_string().contains("eth77"), "{error}");
}

/// Its kernel answers that there is no room, as long as that takes.
#[test]
fn a_peer_that_is_too_busy_to_read_is_not_lost() {
    let timeout = Duration::from_secs(1);
    let (mut a, mut b) = connected(Config {
        timeout,
        ..Config::from_settings()
    });
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    let (long, mut sent) = (vec![1; 60_000], 0);
    let begin = Instant::now();
    while begin.elapsed() < 3 * timeout {
        sent += usize::from(try_send(&mut a, 1, &long));
        a.poll(&mut at_a);
        assert!(at_a.lost.is_empty(), "{:?}", at_a.lost);
    }
    until(|| {
        a.poll(&mut at_a);
        b.poll(&mut at_b);
        at_b.packets.len() == sent
    });
    assert!(at_a.lost.is_empty() && at_b.lost.is_empty());
}

/// Something between two ends that hands on what they say, as long as it likes.
struct Between {
    listener: TcpListener,
    to: SocketAddr,
    both: Vec<[TcpStream; 2]>,
}

impl Between {
    /// Between those that call and `to`; gives the address that they are to be told, too.
    fn new(to: &Tcp) -> (Between, Vec<u8>) {
        let there = listens_at(to)[0];
        let listener = TcpListener::bind((there.ip(), 0)).expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        let here = listener.local_addr().expect("its address");
        let mut address = here.port().to_le_bytes().to_vec();
        match here.ip() {
            IpAddr::V4(it) => {
                address.push(4);
                address.extend(it.octets());
            }
            IpAddr::V6(it) => {
                address.push(6);
                address.extend(it.octets());
            }
        }
        let between = Between {
            listener,
            to: there,
            both: Vec::new(),
        };
        (between, address)
    }

    /// Hands on what there is.
    fn pump(&mut self) {
        if let Ok((one, _)) = self.listener.accept() {
            let other = TcpStream::connect(self.to).expect("it listens");
            for stream in [&one, &other] {
                stream.set_nonblocking(true).expect("a socket");
            }
            self.both.push([one, other]);
        }
        for [one, other] in &self.both {
            for (mut from, mut to) in [(one, other), (other, one)] {
                let mut bytes = [0; 1000];
                if let Ok(n) = from.read(&mut bytes) {
                    to.write_all(&bytes[..n]).expect("there is room");
                }
            }
        }
    }

    /// Resets all connections.
    fn reset(&mut self) {
        for stream in self.both.drain(..).flatten() {
            let linger = libc::linger {
                l_onoff: 1,
                l_linger: 0,
            };
            let len = size_of_val(&linger) as libc::socklen_t;
            let at = (&raw const linger).cast();
            // SAFETY: the value is read during the call.
            let set = unsafe {
                libc::setsockopt(
                    stream.as_raw_fd(),
                    libc::SOL_SOCKET,
                    libc::SO_LINGER,
                    at,
                    len,
                )
            };
            assert_eq!(set, 0);
        }
    }
}

#[test]
fn a_connection_that_breaks_with_something_in_it_is_told_although_there_is_another_one() {
    let config = Config::from_settings();
    let (mut a, mut b) = (end(1, 2, JOB, config), end(0, 2, JOB, config));
    let ((mut x, of_b), (mut y, of_a)) = (Between::new(&b), Between::new(&a));
    a.connect(Peer(0), &of_b).expect("a good address");
    b.connect(Peer(1), &of_a).expect("a good address");
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    assert!(
        !try_send(&mut a, 0, b"a") && !try_send(&mut b, 1, b"b"),
        "both call"
    );
    until(|| {
        x.pump();
        a.poll(&mut at_a);
        b.poll(&mut at_b);
        a.connections() == 1
    });
    // What is sent over the first one gets no further than to the one between.
    let (long, begin) = (vec![1; 60_000], Instant::now());
    while begin.elapsed() < Duration::from_millis(500) {
        let _ = try_send(&mut a, 0, &long);
        a.poll(&mut at_a);
    }
    until(|| {
        y.pump();
        a.poll(&mut at_a);
        b.poll(&mut at_b);
        let both = a.connections() == 2 && b.connections() == 2;
        both && try_send(&mut b, 1, b"over the second one")
    });
    assert!(a.keeps());
    x.reset();
    until(|| {
        y.pump();
        a.poll(&mut at_a);
        b.poll(&mut at_b);
        !at_a.lost.is_empty()
    });
    let cause = at_a.lost[0].cause.strip_prefix("the connection failed: ");
    assert!(cause.is_some(), "{}", at_a.lost[0].cause);
    let words: Vec<_> = at_a.packets.iter().map(|packet| &packet.2[..]).collect();
    assert_eq!(words, [b"over the second one"], "what b sent arrives");
}

/// As doors do that forget connections in which nothing has moved for long.
#[test]
fn a_connection_that_breaks_with_nothing_in_it_is_made_again() {
    let config = Config::from_settings();
    let (mut a, mut b) = (end(0, 2, JOB, config), end(1, 2, JOB, config));
    let (mut x, of_b) = Between::new(&b);
    a.connect(Peer(1), &of_b).expect("a good address");
    b.connect(Peer(0), &a.address().expect("an address"))
        .expect("a good address");
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    for n in 1..4 {
        let mut sent = false;
        until(|| {
            x.pump();
            sent = sent || try_send(&mut a, 1, b"hello");
            a.poll(&mut at_a);
            b.poll(&mut at_b);
            at_b.packets.len() == n && !a.keeps()
        });
        x.reset();
        // What is sent before that is known is lost, and told so.
        // (The kernel may be busy, and a connection that is made again at once looks like the old
        // one.)
        for _ in 0..20_000 {
            a.poll(&mut at_a);
            b.poll(&mut at_b);
            std::thread::yield_now();
        }
    }
    assert!(at_a.lost.is_empty() && at_b.lost.is_empty());
}
