//! Matching by tags of 64 bits: peers that come at any time, completions with a word, and queues of
//! any length.

mod common;

use catena_fabric::Peer;
use catena_link::{Completion, Endpoint, Failure, Mode, Sent, TagKey, TagSelector};
use catena_sim::{Reads, Seed, Sim};
use common::{Into, SimNet, pattern};

type Link = Endpoint<SimNet, TagKey>;

fn links(sim: Sim, n: u32) -> Vec<Link> {
    let ports = sim.ports(n).into_iter();
    ports
        .map(|port| Endpoint::tagged(SimNet::new(port)))
        .collect()
}

fn from_any(tag: u64, ignore: u64) -> TagSelector {
    TagSelector {
        source: None,
        tag,
        ignore,
    }
}

#[track_caller]
fn until(links: &mut [Link], mut done: impl FnMut(&mut [Link]) -> bool) {
    for _ in 0..200_000 {
        if done(links) {
            return;
        }
        links.iter_mut().for_each(|link| _ = link.progress());
    }
    panic!("it never happens");
}

/// Moves all completions into a queue.
fn drain(link: &mut Link, queue: &mut Vec<(u64, Completion<u64>)>) {
    link.completions(|done| {
        let word = done.word();
        queue.push((word, done.take().expect("nobody else takes it")));
    });
}

#[test]
fn all_sizes_arrive_and_complete_with_their_words() {
    for reads in [Reads::Never, Reads::Whole, Reads::Flaky] {
        for seed in 0..20 {
            let sim = Sim::new(Seed(seed)).max_packet(32).eager_max(64);
            let sim = sim.ring_slots(3).full_one_in(3).unordered().reads(reads);
            let mut links = links(sim.shared_in_parts(100), 2);
            links[0].add_peer(Peer(1));
            links[1].add_peer(Peer(0));
            links[1].add_peer(Peer(0));
            let lens = [0, 1, 32, 33, 64, 65, 500, 3000];
            let mut rooms = Vec::new();
            for (n, len) in (0..).zip(lens) {
                let into = Into::room(len);
                let selector = from_any(n << 40 | 0xab, 0xff);
                let id = links[1].recv_tagged(selector, into.clone());
                links[1].set_word(id, 100 + n);
                rooms.push(into);
            }
            let mut sent = 0;
            for (n, len) in (0u32..8).zip(lens).rev() {
                let n = u64::from(n);
                let (tag, data) = (n << 40 | 0xcd, pattern(n, len));
                if let Sent::Pending(id) = links[0].send_tagged(Peer(1), tag, Mode::Standard, data)
                {
                    links[0].set_word(id, n);
                    sent += 1;
                }
            }
            let (mut of_sender, mut of_receiver) = (Vec::new(), Vec::new());
            until(&mut links, |links| {
                drain(&mut links[0], &mut of_sender);
                drain(&mut links[1], &mut of_receiver);
                (of_sender.len(), of_receiver.len()) == (sent, lens.len())
            });
            assert!(links.iter().all(|link| !link.has_completions()));
            assert_eq!(
                links[0].requests() + links[1].requests(),
                0,
                "all are freed"
            );
            of_receiver.sort_by_key(|(word, _)| *word);
            for (n, (word, completion)) in (0..).zip(of_receiver) {
                assert_eq!((word, completion.error), (100 + n, None));
                assert_eq!((completion.source, completion.tag), (0, n << 40 | 0xcd));
                assert_eq!(completion.len, lens[n as usize] as u64);
                assert_eq!(
                    rooms[n as usize].bytes(),
                    pattern(n, lens[n as usize]).0[..]
                );
            }
        }
    }
}

#[test]
fn peers_come_at_any_time_and_by_any_number() {
    let mut links = links(Sim::new(Seed(1)), 5);
    links[0].add_peer(Peer(4));
    links[4].add_peer(Peer(0));
    let exchange = |links: &mut Vec<Link>, with: usize| {
        let into = Into::room(3);
        let selector = TagSelector {
            source: Some(Peer(with as u32)),
            ..from_any(7, 0)
        };
        let id = links[0].recv_tagged(selector, into.clone());
        let data = pattern(with as u64, 3);
        let sent = links[with].send_tagged(Peer(0), 7, Mode::Standard, data.clone());
        assert_eq!(sent, Sent::Done);
        until(links, |links| links[0].is_done(id));
        assert_eq!(links[0].take(id).source, with as i32);
        assert_eq!(into.bytes(), data.0[..]);
    };
    exchange(&mut links, 4);
    // Whoever waits for anybody waits for those that are known.
    let any = links[0].recv_tagged(from_any(99, 0), Into::room(1));
    assert!(links[0].awaited().any.into_iter().eq([Peer(4)]));
    links[0].add_peer(Peer(2));
    links[2].add_peer(Peer(0));
    exchange(&mut links, 2);
    exchange(&mut links, 4);
    assert!(links[0].awaited().any.into_iter().eq([Peer(2), Peer(4)]));
    links[2].net().0.die();
    until(&mut links, |links| links[0].is_lost(Peer(2)));
    let error = links[0].take(any).error;
    assert!(matches!(error.as_deref(), Some(Failure::Lost(lost)) if lost.peer == Peer(2)));
    exchange(&mut links, 4);
}

#[test]
fn a_cancelled_send_and_a_claimed_message_are_out_of_reach() {
    let mut links = links(Sim::new(Seed(2)).reads(Reads::Never), 2);
    links[0].add_peer(Peer(1));
    links[1].add_peer(Peer(0));
    let ids = [5, 6].map(|tag| {
        let sent = links[0].send_tagged(Peer(1), tag, Mode::Synchronous, pattern(tag, 9000));
        match sent {
            Sent::Pending(id) => id,
            Sent::Done => panic!("nobody has matched it"),
        }
    });
    let all = from_any(0, u64::MAX);
    until(&mut links, |links| links[1].unexpected(None) == 2);
    links[0].cancel(ids[0]);
    until(&mut links, |links| links[0].is_done(ids[0]));
    assert!(links[0].take(ids[0]).cancelled);
    let (message, envelope) = links[1].claim_tagged(all).expect("one is left");
    assert_eq!((envelope.source, envelope.tag, envelope.len), (0, 6, 9000));
    assert_eq!(links[1].probe_tagged(all), None);
    let into = Into::room(9000);
    let id = links[1].mrecv(message, into.clone());
    until(&mut links, |links| {
        links[1].is_done(id) && links[0].is_done(ids[1])
    });
    assert_eq!(into.bytes(), pattern(6, 9000).0[..]);
}

/// However many receives and messages wait, under several masks, each finds its own at once: a
/// search of all of them would take some 10^10 steps here.
#[test]
fn long_queues_are_no_slower() {
    const MANY: u64 = 100_000;
    let mut links = links(Sim::new(Seed(3)).ring_slots(1 << 20), 2);
    links[0].add_peer(Peer(1));
    links[1].add_peer(Peer(0));
    let mask = |n: u64| [0, 0xff, 0xf << 60, u64::MAX << 56][n as usize % 4];
    let tag = |n: u64| n << 8;
    let ids: Vec<_> = (0..MANY)
        .map(|n| links[1].recv_tagged(from_any(tag(n), mask(n)), Into::room(1)))
        .collect();
    for n in (0..MANY).rev() {
        let sent = links[0].send_tagged(Peer(1), tag(n), Mode::Standard, pattern(n, 1));
        assert_eq!(sent, Sent::Done);
        if n % 1000 == 0 {
            until(&mut links, |links| links[1].is_done(ids[n as usize]));
        }
    }
    let tags = ids.into_iter().map(|id| links[1].take(id).tag);
    assert!(tags.eq((0..MANY).map(tag)));
    for n in 0..MANY {
        let sent = links[0].send_tagged(Peer(1), tag(n), Mode::Standard, pattern(n, 1));
        assert_eq!(sent, Sent::Done);
    }
    until(&mut links, |links| links[1].unexpected(None) == MANY);
    for n in (0..MANY).rev() {
        let id = links[1].recv_tagged(from_any(tag(n) | 3, 0xff | mask(n)), Into::room(1));
        assert!(links[1].is_done(id));
        assert_eq!(links[1].take(id).tag, tag(n));
    }
}
