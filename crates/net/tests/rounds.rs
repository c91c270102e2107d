//! Processes that come and go at random: three that add, remove and send to each other in an order
//! that a seed chooses, over each kind of route.

mod common;

use std::collections::BTreeMap;
use std::time::Instant;

use catena_fabric::Peer;
use catena_fabric_tests::PATIENCE;
use catena_link::{Endpoint, Mode, ReqId, Sent, TagKey, TagSelector};
use catena_net::{Chain, Routes};
use catena_proof::Secret;
use catena_sim::{Rng, Seed};
use catena_testing::skip;

use common::{Buffer, Message, Ways, room};

type Link = Endpoint<Ways, TagKey>;

const LENS: [usize; 5] = [0, 8, 3000, 70_000, 300_000];

/// What a process knows of another one.
#[derive(Default)]
struct Known {
    peer: Option<Peer>,
    /// How often it has added it.
    times: u64,
    /// Sends that are not complete, and the receive of whatever comes.
    sends: Vec<ReqId>,
    awaited: Option<(ReqId, Buffer)>,
    /// Which time of the other one's it hears.
    hears: Option<u64>,
    heard_before: u64,
    sent: u64,
    /// The number of the message that is to come next, and whether one of those before may be lost.
    next: u64,
    is_over: bool,
}

/// The bytes of a message, which tell it from all others.
fn data(tag: u64, len: usize) -> Message {
    let salt = tag.wrapping_mul(13).wrapping_add((tag >> 32) * 31);
    let bytes = (0..len as u64).map(|at| (at * 7 + (at >> 9)).wrapping_add(salt) as u8);
    Message(bytes.collect())
}

struct Process {
    link: Link,
    address: Vec<u8>,
    others: BTreeMap<usize, Known>,
}

/// Tags: who sends, which time it has added the receiver, and the number of the message.
fn tag(from: usize, times: u64, number: u64) -> u64 {
    (from as u64) << 56 | times << 32 | number
}

impl Process {
    fn add(&mut self, other: usize, address: &[u8]) {
        let known = self.others.get_mut(&other).expect("all are there");
        let peer = self.link.net().add_peer(address).expect("a way to it");
        self.link.add_peer(peer);
        *known = Known {
            peer: Some(peer),
            times: known.times + 1,
            heard_before: known.heard_before,
            ..Known::default()
        };
    }

    fn remove(&mut self, other: usize) {
        let known = self.others.get_mut(&other).expect("all are there");
        let peer = known.peer.take().expect("it is there");
        self.link.remove_peer(peer);
        self.link.net().remove_peer(peer).expect("it was added");
        known.heard_before = known.hears.take().unwrap_or(known.heard_before);
    }

    fn send(&mut self, me: usize, other: usize, len: usize) {
        let known = self.others.get_mut(&other).expect("all are there");
        let Some(peer) = known.peer else { return };
        let tag = tag(me, known.times, known.sent);
        known.sent += 1;
        if let Sent::Pending(it) = self
            .link
            .send_tagged(peer, tag, Mode::Standard, data(tag, len))
        {
            known.sends.push(it);
        }
    }

    /// Polls, and takes what has come.
    fn work(&mut self) {
        self.link.progress();
        for lost in self.link.net().ended_neighbours() {
            self.link.peer_ended(lost);
        }
        let Process { link, others, .. } = self;
        for (other, known) in others {
            let mut sends = std::mem::take(&mut known.sends);
            sends.retain(|it| {
                !link.is_done(*it) || {
                    _ = link.take(*it);
                    false
                }
            });
            known.sends = sends;
            if let Some((request, buffer)) = known.awaited.take_if(|it| link.is_done(it.0)) {
                let came = link.take(request);
                if came.error.is_some() {
                    // Of what the other one had not sent yet when it removed this one, all or some
                    // is lost.
                    known.is_over = true;
                    continue;
                }
                if known.peer.is_none() {
                    // It had come before.
                    continue;
                }
                let (from, times) = (came.tag >> 56, came.tag >> 32 & 0xff_ffff);
                let number = came.tag & 0xffff_ffff;
                assert_eq!(from, *other as u64);
                assert_eq!(
                    *known.hears.get_or_insert(times),
                    times,
                    "two times are mixed"
                );
                assert!(times > known.heard_before, "of a time that is over");
                assert!(number >= known.next, "it comes twice, or late");
                assert!(number == known.next || known.is_over, "one is missing");
                known.next = number + 1;
                let len = came.len as usize;
                assert!(buffer.0.borrow()[..len] == data(came.tag, len).0[..]);
            }
            if let (Some(peer), None) = (known.peer, &known.awaited) {
                let selector = TagSelector {
                    source: Some(peer),
                    tag: 0,
                    ignore: u64::MAX,
                };
                let buffer = room(LENS[4]);
                known.awaited = Some((link.recv_tagged(selector, buffer.clone()), buffer));
            }
        }
    }
}

fn open(chain: &str) -> Option<Process> {
    let parsed = Chain::parse(chain).expect("a chain");
    match Routes::alone(&parsed, Some(&Secret::from_bytes([3; 32]))) {
        Ok(routes) => {
            let mut link = Endpoint::tagged(routes);
            let address = link.net().address().expect("it is alone");
            let others = BTreeMap::new();
            Some(Process {
                link,
                address,
                others,
            })
        }
        Err(error) if chain.contains(':') => {
            skip(chain, &error);
            None
        }
        Err(error) => panic!("{chain}: {error}"),
    }
}

/// Lets all work until what each knows of the others is so.
fn until(what: &str, all: &mut [Process], is_so: impl Fn(&Known) -> bool) {
    let begin = Instant::now();
    while !all.iter().all(|it| it.others.values().all(&is_so)) {
        all.iter_mut().for_each(Process::work);
        if begin.elapsed() > PATIENCE {
            for (me, process) in all.iter().enumerate() {
                for (other, it) in process.others.iter().filter(|it| !is_so(it.1)) {
                    eprintln!(
                        "{me} of {other}: {:?}, added {} times, {} of {} sends, next {}, {:?}",
                        it.peer,
                        it.times,
                        it.sends.len(),
                        it.sent,
                        it.next,
                        it.awaited.as_ref().map(|it| it.0)
                    );
                }
            }
            panic!("{what}: it never happens");
        }
    }
}

fn play(chain: &str, seed: u64, (players, steps): (usize, usize)) -> Option<()> {
    let mut all: Vec<Process> = (0..players).map(|_| open(chain)).collect::<Option<_>>()?;
    let addresses: Vec<Vec<u8>> = all.iter().map(|it| it.address.clone()).collect();
    for (me, process) in all.iter_mut().enumerate() {
        let others = (0..players).filter(|it| *it != me);
        process.others = others.map(|it| (it, Known::default())).collect();
    }
    let mut rng = Rng::new(Seed(seed));
    for _ in 0..steps {
        let me = rng.below(players);
        let other = (me + 1 + rng.below(players - 1)) % players;
        let is_there = all[me].others[&other].peer.is_some();
        match rng.below(16) {
            0..3 if !is_there => all[me].add(other, &addresses[other]),
            3 if is_there => all[me].remove(other),
            4..8 if is_there => all[me].send(me, other, LENS[rng.below(LENS.len())]),
            _ => (0..rng.below(20)).for_each(|_| all[me].work()),
        }
    }
    // All part, and meet once more.
    for process in &mut all {
        for other in 0..players {
            if process
                .others
                .get(&other)
                .is_some_and(|it| it.peer.is_some())
            {
                process.remove(other);
            }
        }
    }
    until("all ends", &mut all, |it| {
        it.sends.is_empty() && it.awaited.is_none()
    });
    for (me, process) in all.iter_mut().enumerate() {
        for other in (0..players).filter(|it| *it != me) {
            process.add(other, &addresses[other]);
            LENS.iter().for_each(|len| process.send(me, other, *len));
        }
    }
    until("all arrives", &mut all, |it| {
        it.sends.is_empty() && it.next == LENS.len() as u64
    });
    Some(())
}

/// A number from the environment: more games, or more players, than every test run has.
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |it| it.parse().expect("a number"))
}

fn games(chain: &str, usual: u64, steps: usize) {
    let players = number("CATENA_TEST_PLAYERS", 3) as usize;
    let first = number("CATENA_TEST_SEED", 0);
    for seed in first..first + number("CATENA_TEST_GAMES", usual) {
        println!("{chain}: seed {seed}");
        play(chain, seed, (players, steps));
    }
}

#[test]
fn through_shared_memory() {
    games("shm", 4, 300);
}

#[test]
fn over_tcp() {
    games("tcp", 4, 300);
}

#[test]
fn over_libfabric() {
    games("ofi:tcp", 2, 300);
}

/// Among them are those in which former ways were taken for present ones, and memory was read that
/// was somebody else's already.
#[test]
fn over_ucx() {
    games("ucx:tcp", 5, 300);
}
