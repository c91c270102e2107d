//! Two processes that add each other by address, exchange messages, remove each other and begin
//! anew: over each kind of route, in both orders.

mod common;

use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use catena_fabric::Peer;
use catena_fabric_tests::until;
use catena_link::{Completion, Endpoint, Failure, Mode, ReqId, Sent, TagKey, TagSelector};
use catena_net::{Chain, Route, Routes};
use catena_proof::Secret;
use catena_testing::skip;

use common::{Ways, exactly, message, room};

type Link = Endpoint<Ways, TagKey>;

/// Where the other process finds the chain.
const CHAIN: &str = "CATENA_TEST_CHAIN";
const CHAINS: [&str; 4] = ["shm", "tcp", "ofi:tcp", "ucx:tcp"];
/// Lengths of the messages: the last ones are not sent without being asked for.
const LENS: [usize; 5] = [0, 8, 3000, 100_000, 1 << 20];

fn secret() -> Secret {
    Secret::from_bytes([3; 32])
}

/// `None`, with a word, where this machine lacks the library.
fn alone(chain: &str) -> Option<Link> {
    let parsed = Chain::parse(chain).expect("a chain");
    match Routes::alone(&parsed, Some(&secret())) {
        Ok(routes) => Some(Endpoint::tagged(routes)),
        Err(error) if chain.contains(':') => {
            skip(chain, &error);
            None
        }
        Err(error) => panic!("{chain}: {error}"),
    }
}

fn address(link: &mut Link) -> Vec<u8> {
    link.net().address().expect("it is alone")
}

fn add(link: &mut Link, other: &[u8]) -> Peer {
    let peer = link.net().add_peer(other).expect("a way to it");
    link.add_peer(peer);
    peer
}

fn remove(link: &mut Link, peer: Peer) {
    link.remove_peer(peer);
    link.net().remove_peer(peer).expect("it was added");
    assert_eq!(link.net().route(peer), Route::None);
}

fn send(link: &mut Link, to: Peer, tag: u64, len: usize) -> Option<ReqId> {
    match link.send_tagged(to, tag, Mode::Standard, message(len)) {
        Sent::Done => None,
        Sent::Pending(request) => Some(request),
    }
}

/// Moves messages, and looks after those that share memory.
fn work(link: &mut Link) {
    link.progress();
    for lost in link.net().ended_neighbours() {
        link.peer_ended(lost);
    }
}

fn complete(link: &mut Link, request: ReqId) -> Completion<u64> {
    until(|| {
        work(link);
        link.is_done(request)
    });
    link.take(request)
}

fn send_all(link: &mut Link, to: Peer, tag: u64) {
    for (number, len) in (0..).zip(LENS) {
        if let Some(sent) = send(link, to, tag + number, len) {
            assert_eq!(complete(link, sent).error, None, "{len} bytes");
        }
    }
}

fn receive_all(link: &mut Link, from: Peer, tag: u64) {
    for (number, len) in (0..).zip(LENS) {
        let room = room(len);
        let received = link.recv_tagged(exactly(from, tag + number), room.clone());
        assert_eq!(complete(link, received).error, None, "{len} bytes");
        assert!(**room.0.borrow() == *message(len).0, "{len} bytes");
    }
}

/// Waits until a peer has removed this process; what it is told.
fn await_end(link: &mut Link, peer: Peer) -> String {
    let awaited = link.recv_tagged(exactly(peer, 0x300), room(8));
    match complete(link, awaited).error.map(|it| *it) {
        Some(Failure::Lost(lost)) => {
            // It has left in good order.
            assert_eq!(link.lost_peers().count(), 0, "{lost:?}");
            lost.cause
        }
        other => panic!("{other:?}"),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.trim().as_bytes().chunks(2);
    let byte = |two| u8::from_str_radix(std::str::from_utf8(two).expect("text"), 16);
    digits.map(|two| byte(two).expect("digits")).collect()
}

/// The other process, which does as it is told.
struct Other {
    child: Child,
    there: ChildStdin,
    back: Receiver<String>,
    address: Vec<u8>,
}

impl Drop for Other {
    fn drop(&mut self) {
        // Where a test has failed it waits for ever.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Other {
    fn start(chain: &str, of_first: &[u8]) -> Other {
        let mut child = Command::new(std::env::current_exe().expect("a path"));
        let child = child.args(["--exact", "the_other_process", "--nocapture"]);
        let child = child.env(CHAIN, chain).stdin(Stdio::piped());
        let mut child = child.stdout(Stdio::piped()).spawn().expect("it runs");
        let there = child.stdin.take().expect("a pipe");
        let back = lines(child.stdout.take().expect("a pipe"));
        let mut other = Other {
            child,
            there,
            back,
            address: Vec::new(),
        };
        other.tell(&to_hex(of_first));
        let mut said = None;
        until(|| {
            said = other.said();
            said.is_some()
        });
        other.address = from_hex(&said.expect("it was just found"));
        other
    }

    fn tell(&mut self, word: &str) {
        writeln!(self.there, "{word}").expect("it reads");
    }

    /// What it has answered, if it has.
    fn said(&self) -> Option<String> {
        // Others are of the harness.
        let mut lines = self.back.try_iter();
        lines.find_map(|line| Some(line.split_once('@')?.1.trim().to_string()))
    }

    /// Waits until it has answered, and goes on meanwhile: what libraries have taken may leave only
    /// while this process polls.
    fn waits(&mut self, link: &mut Link, word: &str) {
        let mut said = None;
        until(|| {
            work(link);
            said = self.said();
            said.is_some()
        });
        assert_eq!(said.as_deref(), Some(word));
    }

    /// Has it do something.
    fn does(&mut self, link: &mut Link, word: &str) {
        self.tell(word);
        self.waits(link, word);
    }
}

/// A process of its own, if the tests below have started it.
#[test]
fn the_other_process() {
    let Ok(chain) = std::env::var(CHAIN) else {
        return;
    };
    let mut link = alone(&chain).expect("the first one has it");
    let words = lines(stdin());
    let next = |link: &mut Link| {
        let mut word = None;
        while word.is_none() {
            work(link);
            word = match words.try_recv() {
                Err(TryRecvError::Disconnected) => panic!("the first process has ended"),
                word => word.ok(),
            };
        }
        word.expect("it was just found")
    };
    let first = from_hex(&next(&mut link));
    println!("@{}", to_hex(&address(&mut link)));
    let mut peer = Peer(0);
    loop {
        let word = next(&mut link);
        match word.as_str() {
            "add" => peer = add(&mut link, &first),
            "remove" => remove(&mut link, peer),
            "send" => send_all(&mut link, peer, 0x200),
            "receive" => receive_all(&mut link, peer, 0x100),
            "await the end" => assert!(await_end(&mut link, peer).contains("removed this process")),
            "leave" => until(|| {
                work(&mut link);
                link.net().is_delivered(false)
            }),
            _ => panic!("{word}"),
        }
        println!("@{word}");
        if word == "leave" {
            return;
        }
    }
}

/// The lines that come from there.
fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (there, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if there.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[test]
fn processes_add_and_remove_each_other() {
    for chain in CHAINS {
        let Some(mut link) = alone(chain) else {
            continue;
        };
        let of_first = address(&mut link);
        let mut other = Other::start(chain, &of_first);
        let mut numbers = Vec::new();
        // Who adds first, and who removes first.
        for (this_adds, this_removes) in
            [(true, true), (false, false), (true, false), (false, true)]
        {
            if !this_adds {
                other.does(&mut link, "add");
            }
            let of_other = other.address.clone();
            let peer = add(&mut link, &of_other);
            numbers.push(peer);
            // What is sent before the other one has added this one waits.
            let early = send(&mut link, peer, 0x100, LENS[0]);
            for _ in 0..2000 {
                work(&mut link);
            }
            if this_adds {
                other.does(&mut link, "add");
            }
            other.tell("receive");
            if let Some(early) = early {
                assert_eq!(complete(&mut link, early).error, None, "{chain}");
            }
            for (number, len) in (0..).zip(LENS).skip(1) {
                if let Some(sent) = send(&mut link, peer, 0x100 + number, len) {
                    assert_eq!(
                        complete(&mut link, sent).error,
                        None,
                        "{chain}: {len} bytes"
                    );
                }
            }
            other.waits(&mut link, "receive");
            other.tell("send");
            receive_all(&mut link, peer, 0x200);
            other.waits(&mut link, "send");
            // Nobody receives this.
            let in_vain = send(&mut link, peer, 0x400, 1 << 20).expect("it is asked for");
            let awaited = link.recv_tagged(exactly(peer, 0x500), room(8));
            if this_removes {
                other.tell("await the end");
                remove(&mut link, peer);
                // It is told while this process goes on.
                other.waits(&mut link, "await the end");
                other.does(&mut link, "remove");
            } else {
                other.tell("remove");
                let cause = await_end(&mut link, peer);
                assert!(cause.contains("removed this process"), "{chain}: {cause}");
                other.waits(&mut link, "remove");
                remove(&mut link, peer);
            }
            for request in [in_vain, awaited] {
                let failure = complete(&mut link, request).error.map(|it| *it);
                assert!(
                    matches!(failure, Some(Failure::Lost(_))),
                    "{chain}: {failure:?}"
                );
            }
        }
        // Numbers are given again: that of the one before may be in use when this one is added.
        assert!(numbers.iter().all(|it| it.0 <= 2), "{chain}: {numbers:?}");
        other.tell("leave");
        until(|| {
            work(&mut link);
            link.net().is_delivered(false);
            other.child.try_wait().expect("it is ours").is_some()
        });
        assert!(other.child.wait().is_ok_and(|it| it.success()), "{chain}");
    }
}

/// Two processes, played by one.
fn two(chain: &str) -> Option<[Link; 2]> {
    Some([alone(chain)?, alone(chain)?])
}

/// Adds each to the other.
fn join(links: &mut [Link; 2]) -> [Peer; 2] {
    let [of_one, of_two] = [0, 1].map(|it| address(&mut links[it]));
    [add(&mut links[0], &of_two), add(&mut links[1], &of_one)]
}

fn until_in_both(links: &mut [Link; 2], mut done: impl FnMut(&mut [Link; 2]) -> bool) {
    until(|| {
        links.iter_mut().for_each(work);
        done(links)
    });
}

/// Sends messages from one to the other.
fn exchange(links: &mut [Link; 2], from: usize, peers: [Peer; 2]) {
    for (tag, len) in (0x100..).zip(LENS) {
        let room = room(len);
        let received = links[1 - from].recv_tagged(exactly(peers[1 - from], tag), room.clone());
        let sent = send(&mut links[from], peers[from], tag, len);
        until_in_both(links, |links| {
            links[1 - from].is_done(received) && sent.is_none_or(|it| links[from].is_done(it))
        });
        assert_eq!(links[1 - from].take(received).error, None);
        assert!(sent.is_none_or(|it| links[from].take(it).error.is_none()));
        assert!(**room.0.borrow() == *message(len).0, "{len} bytes");
    }
}

/// Whether a request has failed as its peer is gone.
fn is_lost(link: &mut Link, request: ReqId) -> bool {
    let failure = link.take(request).error.map(|it| *it);
    matches!(failure, Some(Failure::Lost(_)))
}

#[test]
fn who_comes_back_at_once_waits_until_the_other_one_begins_anew() {
    for chain in CHAINS {
        let Some(mut links) = two(chain) else {
            continue;
        };
        let mut peers = join(&mut links);
        for round in 0..12 {
            let (goes, stays) = (round % 2, 1 - round % 2);
            exchange(&mut links, goes, peers);
            let end = links[stays].recv_tagged(exactly(peers[stays], 0x300), room(8));
            let from_any = TagSelector {
                source: None,
                ..exactly(Peer(0), 0x600)
            };
            let any = links[stays].recv_tagged(from_any, room(8));
            remove(&mut links[goes], peers[goes]);
            let of_other = address(&mut links[stays]);
            peers[goes] = add(&mut links[goes], &of_other);
            let anew = send(&mut links[goes], peers[goes], 0x600, 8);
            until_in_both(&mut links, |links| links[stays].is_done(end));
            assert!(is_lost(&mut links[stays], end), "{chain}");
            assert!(
                !links[stays].is_done(any),
                "{chain}: nothing of what comes after"
            );
            let in_vain = send(&mut links[stays], peers[stays], 0x700, 1 << 20);
            assert!(in_vain.is_some_and(|it| is_lost(&mut links[stays], it)));

            remove(&mut links[stays], peers[stays]);
            let of_other = address(&mut links[goes]);
            peers[stays] = add(&mut links[stays], &of_other);
            until_in_both(&mut links, |links| {
                links[stays].is_done(any) && anew.is_none_or(|it| links[goes].is_done(it))
            });
            let received = links[stays].take(any);
            assert_eq!(
                (received.error, received.source),
                (None, peers[stays].0 as i32),
                "{chain}"
            );
            assert!(anew.is_none_or(|it| links[goes].take(it).error.is_none()));
            assert!(peers.iter().all(|it| it.0 <= 4), "{chain}: {peers:?}");
        }
    }
}

#[test]
fn both_may_remove_each_other_at_once() {
    for chain in CHAINS {
        let Some(mut links) = two(chain) else {
            continue;
        };
        for round in 0..6 {
            let peers = join(&mut links);
            exchange(&mut links, round % 2, peers);
            let begun = [0, 1].map(|it| {
                let sent = send(&mut links[it], peers[it], 0x400, 1 << 20);
                sent.expect("it is asked for")
            });
            // The requests for these are on their way, or have arrived.
            for _ in 0..round * 100 {
                links.iter_mut().for_each(work);
            }
            for it in [0, 1] {
                remove(&mut links[it], peers[it]);
            }
            let over = [0, 1].map(|it| is_lost(&mut links[it], begun[it]));
            assert_eq!(over, [true; 2], "{chain}");
        }
    }
}

#[test]
fn who_goes_before_the_other_one_has_added_it_was_never_there() {
    for chain in CHAINS {
        let Some(mut links) = two(chain) else {
            continue;
        };
        for _ in 0..3 {
            let of_two = address(&mut links[1]);
            let there = add(&mut links[0], &of_two);
            let early = send(&mut links[0], there, 0x100, 8);
            for _ in 0..2000 {
                links.iter_mut().for_each(work);
            }
            remove(&mut links[0], there);
            assert!(early.is_none_or(|it| is_lost(&mut links[0], it)), "{chain}");
        }
        let of_one = address(&mut links[0]);
        let back = add(&mut links[1], &of_one);
        let of_two = address(&mut links[1]);
        let there = add(&mut links[0], &of_two);
        exchange(&mut links, 0, [there, back]);
        exchange(&mut links, 1, [there, back]);
    }
}

#[test]
fn only_who_was_added_is_removed() {
    let Some(mut links) = two("shm+tcp") else {
        return;
    };
    let peers = join(&mut links);
    remove(&mut links[0], peers[0]);
    for peer in [Peer(0), peers[0], Peer(7)] {
        let refused = links[0].net().remove_peer(peer);
        assert!(
            refused.is_err_and(|why| why.contains("was added")),
            "{peer:?}"
        );
    }
    links[0].remove_peer(peers[0]);
}

/// What was received before its sender was removed is thrown away, but for what a probe took.
#[test]
fn messages_of_one_that_was_removed_are_received_no_more() {
    for chain in CHAINS {
        let Some(mut links) = two(chain) else {
            continue;
        };
        let peers = join(&mut links);
        let lens = [8, 8, 3000, 1 << 20];
        let sent = [0, 1, 2, 3].map(|at: usize| {
            let tag = 0x100 + at as u64;
            send(&mut links[0], peers[0], tag, lens[at])
        });
        let last = exactly(peers[1], 0x103);
        until_in_both(&mut links, |links| links[1].probe_tagged(last).is_some());
        let [short, long, asked] = [0x100, 0x102, 0x103].map(|tag| {
            let claimed = links[1].claim_tagged(exactly(peers[1], tag));
            claimed.expect("it is here").0
        });
        assert_eq!(links[1].unexpected(None), 1);
        remove(&mut links[1], peers[1]);
        assert_eq!(links[1].unexpected(None), 0, "{chain}");
        for (message, len) in [(short, 8), (long, 3000)] {
            let received = links[1].mrecv(message, room(len));
            assert_eq!(complete(&mut links[1], received).error, None, "{chain}");
        }
        let received = links[1].mrecv(asked, room(1 << 20));
        assert!(links[1].is_done(received) && is_lost(&mut links[1], received));
        let sent: Vec<ReqId> = sent.into_iter().flatten().collect();
        until_in_both(&mut links, |links| {
            sent.iter().all(|it| links[0].is_done(*it))
        });
    }
}
