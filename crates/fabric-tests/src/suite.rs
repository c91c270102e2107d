//! The tests.

use std::time::{Duration, Instant};

use catena_base::{End as Side, Parts};
use catena_fabric::{Header, Load, NodeLocal, Posted, Rendezvous, Transport};

use crate::help::{PATIENCE, Scattered, header, pattern, receive, send, sizes};
use crate::{Claims, Inbox, Offer, Pair};

/// The numbers of packets, which their tags are.
fn numbers(inbox: &Inbox) -> Vec<i32> {
    let tags = inbox.packets.iter().map(|(_, header, _)| header.tag);
    tags.collect()
}

/// Every field but the stamp, and every byte, for sizes around every limit.
pub fn headers_and_payloads_arrive_unchanged<T: Transport>(pair: Pair<T>) {
    let (mut a, mut b) = pair.ends();
    let sizes = sizes(a.at.caps(b.is).max_packet);
    for (n, &len) in (1..).zip(&sizes) {
        b.inbox.packets.clear();
        send(&mut a, &mut b, n, len);
        receive(&mut b, &mut a, 1);
        let sent = [(a.is, header(n), pattern(n, len))];
        assert_eq!(b.inbox.packets, sent, "{len} bytes");
    }
}

/// Many packets with no regard to the receiver: none is lost or repeated.
pub fn packets_arrive_once_and_in_order_if_claimed<T: Transport>(pair: Pair<T>) {
    let (mut a, mut b) = pair.ends();
    let caps = a.at.caps(b.is);
    let sizes = sizes(caps.max_packet.min(300));
    let count = 2000;
    for n in 0..count {
        let len = sizes[n as usize * 7 % sizes.len()];
        send(&mut a, &mut b, n, len);
    }
    receive(&mut b, &mut a, count as usize);
    for _ in 0..100 {
        b.poll();
    }
    let mut numbers = numbers(&b.inbox);
    if !caps.ordered {
        numbers.sort_unstable();
    }
    assert!(
        numbers.iter().copied().eq(0..count as i32),
        "each number once, in order"
    );
    for (from, got, bytes) in &b.inbox.packets {
        let n = got.tag as u32;
        let len = sizes[n as usize * 7 % sizes.len()];
        assert_eq!((*from, *got, bytes), (a.is, header(n), &pattern(n, len)));
    }
}

/// Back-pressure: a receiver that does not poll fills the route in the end,
/// what was refused never arrives, and polling makes room again.
pub fn a_full_route_takes_nothing_and_recovers<T: Transport>(pair: Pair<T>) {
    let (mut a, mut b) = pair.ends();
    let mut taken = Vec::new();
    let mut refused = 0;
    for n in 0..PATIENCE as u32 {
        match a.try_send(b.is, n, pattern(n, 8).as_slice()) {
            Posted::Done => taken.push(n as i32),
            Posted::Full => refused += 1,
        }
        if refused >= 50 {
            break;
        }
    }
    assert!(refused > 0, "a route without end");
    assert!(!taken.is_empty(), "a route that takes nothing");
    receive(&mut b, &mut a, taken.len());
    send(&mut a, &mut b, u32::MAX, 8);
    taken.push(-1);
    receive(&mut b, &mut a, taken.len());
    let mut numbers = numbers(&b.inbox);
    taken.sort_unstable();
    numbers.sort_unstable();
    assert_eq!(numbers, taken);
}

/// A full route does not hold up the way back.
pub fn both_directions_are_independent<T: Transport>(pair: Pair<T>) {
    let (mut a, mut b) = pair.ends();
    let mut posted = 0;
    let mut refused = 0;
    while refused < 20 && posted < PATIENCE {
        match a.try_send(b.is, 0, [].as_slice()) {
            Posted::Done => posted += 1,
            Posted::Full => refused += 1,
        }
    }
    for n in 0..100 {
        send(&mut b, &mut a, n, 5);
    }
    receive(&mut a, &mut b, 100);
    assert!(a.inbox.packets.iter().all(|(from, ..)| *from == b.is));
    receive(&mut b, &mut a, posted);
    assert_eq!(b.inbox.packets.len(), posted);
}

/// Payloads that are not contiguous.
pub fn parts_of_any_shape_are_written_whole<T: Transport>(pair: Pair<T>) {
    let (mut a, mut b) = pair.ends();
    for (n, &len) in (0..).zip(&sizes(a.at.caps(b.is).max_packet)) {
        b.inbox.packets.clear();
        let mut tries = 0;
        while a.try_send(b.is, n, Scattered(pattern(n, len))) == Posted::Full {
            b.poll();
            a.poll();
            tries += 1;
            assert!(tries < PATIENCE, "the route stays full");
        }
        receive(&mut b, &mut a, 1);
        let sent = [(a.is, header(n), pattern(n, len))];
        assert_eq!(b.inbox.packets, sent, "{len} bytes");
    }
}

/// The parts of a message that both ends copy.
pub fn parts_are_taken_once<T: NodeLocal>(pair: Pair<T>) {
    assert!(pair.claims.parts, "it has them");
    let (mut a, mut b) = pair.ends();
    // Such a message was announced.
    send(&mut a, &mut b, 1, 8);
    receive(&mut b, &mut a, 1);
    let mut numbers = Vec::new();
    for _ in 0..2 * Parts::AHEAD {
        let number = b.at.open_parts(a.is);
        let first = b.at.take_part(a.is, Side::Front, number, 3);
        let last = a.at.take_part(b.is, Side::Back, number, 3);
        let second = b.at.take_part(a.is, Side::Front, number, 3);
        assert_eq!((first, second, last), (Some(0), Some(1), Some(2)));
        assert_eq!(a.at.take_part(b.is, Side::Back, number, 3), None);
        numbers.push(number);
        for &old in &numbers {
            assert_eq!(a.at.take_part(b.is, Side::Back, old, 3), None);
        }
    }
}

/// How a message is moved needs only what the route does.
pub fn no_way_is_chosen_that_is_not_offered<T: Transport>(pair: Pair<T>) {
    let Claims {
        reads,
        writes,
        parts,
        ..
    } = pair.claims;
    for load in [Load::Light, Load::Heavy, Load::Exchange] {
        for len in (0..40).map(|bits| 1 << bits) {
            match pair.a.rendezvous(pair.b_is, len, load) {
                Rendezvous::Stream => {}
                Rendezvous::Get => assert_ne!(reads, Offer::Never, "{len}"),
                Rendezvous::Share { .. } => {
                    assert!(reads != Offer::Never && writes != Offer::Never && parts);
                }
            }
        }
    }
}

/// Sleeping with a packet at hand costs no time.
pub fn sleep_ends_when_a_packet_is_there<T: Transport>(pair: Pair<T>) {
    let (mut a, mut b) = pair.ends();
    let limit = Duration::from_secs(60);
    let start = Instant::now();
    send(&mut a, &mut b, 1, 8);
    while b.inbox.packets.is_empty() {
        b.at.sleep(limit);
        b.poll();
        a.poll();
    }
    assert!(start.elapsed() < limit, "it slept through");
}

/// Loss is told at most once by `poll` (a transport that was told by its owner
/// need not tell it back), and by every later call.
pub fn a_lost_peer_stays_lost<T: Transport>(mut pair: Pair<T>) {
    let mut inbox = Inbox::default();
    (pair.lose_b)(&mut pair.a, pair.b);
    for _ in 0..1000 {
        pair.a.poll(&mut inbox);
    }
    assert!(inbox.lost.len() <= 1, "lost {} times", inbox.lost.len());
    for lost in &inbox.lost {
        assert_eq!(lost.peer, pair.b_is);
        assert!(!lost.cause.is_empty(), "a cause for the user");
    }
    for _ in 0..3 {
        let sent = pair.a.try_send(pair.b_is, Header::default(), [].as_slice());
        assert_eq!(sent.map_err(|lost| lost.peer), Err(pair.b_is));
    }
}
