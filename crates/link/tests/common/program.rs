//! Random programs: who sends what to whom and receives it how, so that every
//! message has its receive whatever the order of events.

use std::collections::VecDeque;

use catena_link::{ANY_SOURCE, ANY_TAG, Cid, Failure, Mode, Plane, ReqId, Selector, Sent};
use catena_sim::{Reads, Rng, Seed, Sim};

use super::{Into, Rank, members, pattern, ranks, world};

/// First id of the communicator that is opened late.
const LATE: u32 = 40;

/// Kinds of messages. Within one kind, all receives of a rank are alike, so
/// that those from one source complete in the order in which it sent them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Received from any source.
    AnySource,
    /// Received by source and tag.
    Specific,
    /// Received by source with any tag, on the other plane.
    AnyTag,
    /// Received by source and tag, in a communicator that is opened late.
    Late,
}

const CLASSES: [Class; 4] = [
    Class::AnySource,
    Class::Specific,
    Class::AnyTag,
    Class::Late,
];

impl Class {
    fn place(self, rank: usize) -> (Cid, Plane) {
        match self {
            Class::AnySource | Class::Specific => (world(rank), Plane::User),
            Class::AnyTag => (world(rank), Plane::Collective),
            Class::Late => (Cid(LATE + rank as u32), Plane::User),
        }
    }

    fn tag(self) -> i32 {
        self as i32
    }

    fn selector(self, source: usize) -> Selector {
        match self {
            Class::AnySource => Selector {
                source: ANY_SOURCE,
                tag: self.tag(),
            },
            Class::AnyTag => Selector {
                source: source as i32,
                tag: ANY_TAG,
            },
            Class::Specific | Class::Late => Selector {
                source: source as i32,
                tag: self.tag(),
            },
        }
    }
}

#[derive(Clone, Debug)]
pub struct Message {
    pub from: usize,
    pub to: usize,
    pub class: Class,
    pub len: usize,
    mode: Mode,
    seed: u64,
}

#[derive(Clone, Debug)]
enum Step {
    Send(Message),
    Recv {
        class: Class,
        source: usize,
        room: usize,
        probed: bool,
    },
    OpenLate,
}

/// A receive of a rank.
#[derive(Debug)]
pub struct Received {
    pub class: Class,
    pub id: ReqId,
    into: Into,
    room: usize,
}

#[derive(Debug)]
pub struct Program<const BITS: u32 = 16> {
    pub ranks: Vec<Rank<BITS>>,
    steps: Vec<VecDeque<Step>>,
    /// In the order in which each rank sends them.
    pub messages: Vec<Message>,
    /// By rank, in order of posting.
    pub received: Vec<Vec<Received>>,
    pub sends: Vec<Vec<ReqId>>,
    pub rng: Rng,
    pub duplicates: bool,
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len())]
}

/// A network with faults that follow from the seed, and its limits. Packets come twice only if
/// that may be: a number that wraps does not tell one from the other.
fn network(rng: &mut Rng, may_repeat: bool) -> (Sim, usize, u64, bool) {
    let max_packet = pick(rng, &[16, 17, 24, 100, 1024]);
    let eager_max = pick(rng, &[0, 10, 16, 24, 64, 300, 4096]);
    let duplicates = rng.one_in(4) && may_repeat;
    let mut sim = Sim::new(Seed(rng.any()))
        .ring_slots(pick(rng, &[1, 2, 5, 64]))
        .max_packet(max_packet)
        .eager_max(eager_max)
        .full_one_in(pick(rng, &[0, 0, 2, 5]))
        .reads(pick(rng, &[Reads::Never, Reads::Whole, Reads::Flaky]))
        .shared_in_parts(pick(rng, &[0, 1, 100, 1000]))
        .streams_one_in(pick(rng, &[0, 1, 3]))
        .lends_one_in(pick(rng, &[0, 1, 2, 5]))
        .duplicate_one_in(if duplicates { 4 } else { 0 });
    if rng.one_in(2) {
        sim = sim.unordered();
    }
    (sim, max_packet, eager_max, duplicates)
}

impl<const BITS: u32> Program<BITS> {
    /// The program of a seed; `change` may add faults to its network.
    pub fn new(seed: u64, change: impl FnOnce(Sim) -> Sim) -> Self {
        Program::of(seed, 65, change)
    }

    /// One with at most so many messages.
    pub fn of(seed: u64, most: usize, change: impl FnOnce(Sim) -> Sim) -> Self {
        let mut rng = Rng::new(Seed(seed));
        let n = 2 + rng.below(3);
        let (sim, max_packet, eager_max, duplicates) = network(&mut rng, BITS == 16);
        let edges = [0, 1, max_packet, 2 * max_packet, eager_max as usize, 3000];
        let mut steps: Vec<Vec<Step>> = vec![Vec::new(); n];
        let mut messages = Vec::new();
        for _ in 0..5 + rng.below(most - 5) {
            let len = (pick(&mut rng, &edges) + rng.below(3)).saturating_sub(1);
            let (from, to) = (rng.below(n), rng.below(n));
            let class = pick(&mut rng, &CLASSES);
            let mode = if rng.one_in(4) {
                Mode::Synchronous
            } else {
                Mode::Standard
            };
            let message = Message {
                from,
                to,
                class,
                len,
                mode,
                seed: rng.any(),
            };
            messages.push(message.clone());
            steps[from].push(Step::Send(message));
            // Room does not depend on the message: it may get another one.
            let room = if rng.one_in(3) {
                pick(&mut rng, &edges)
            } else {
                4200
            };
            let probed = class != Class::AnySource && rng.one_in(4);
            steps[to].push(Step::Recv {
                class,
                source: from,
                room,
                probed,
            });
        }
        let steps = steps.into_iter().map(|mut steps| {
            // Sends keep their order, and so do receives; how they interleave
            // is left to chance.
            let late = |step: &Step| {
                matches!(
                    step,
                    Step::Recv {
                        class: Class::Late,
                        ..
                    } | Step::Send(Message {
                        class: Class::Late,
                        ..
                    })
                )
            };
            let first = steps.iter().position(late).unwrap_or(steps.len());
            steps.insert(rng.below(first + 1), Step::OpenLate);
            steps.into()
        });
        let steps = steps.collect();
        let mut ranks = ranks(change(sim), n);
        for (at, rank) in ranks.iter_mut().enumerate() {
            rank.expect(Cid(LATE + at as u32));
        }
        Program {
            ranks,
            steps,
            messages,
            received: (0..n).map(|_| Vec::new()).collect(),
            sends: vec![Vec::new(); n],
            rng,
            duplicates,
        }
    }

    pub fn n(&self) -> usize {
        self.ranks.len()
    }

    /// Takes one step of one rank, if it can.
    fn step(&mut self, at: usize) {
        let Some(step) = self.steps[at].pop_front() else {
            return;
        };
        let rank = &mut self.ranks[at];
        match step {
            Step::OpenLate => {
                rank.open(
                    Cid(LATE + at as u32),
                    at as u32,
                    members(self.steps.len(), LATE),
                );
            }
            Step::Send(message) => {
                let (cid, plane) = message.class.place(at);
                let data = pattern(message.seed, message.len);
                let tag = message.class.tag();
                let sent = rank.send(cid, plane, message.to as u32, tag, message.mode, data);
                if let Sent::Pending(id) = sent {
                    self.sends[at].push(id);
                }
            }
            Step::Recv {
                class,
                source,
                room,
                probed,
            } => {
                let (cid, plane) = class.place(at);
                let (selector, into) = (class.selector(source), Into::room(room));
                let id = if probed {
                    let seen = rank.probe(cid, plane, selector);
                    let Some((message, envelope)) = rank.mprobe(cid, plane, selector) else {
                        assert_eq!(seen, None);
                        self.steps[at].push_front(Step::Recv {
                            class,
                            source,
                            room,
                            probed,
                        });
                        // A probe waits for its sender, which may wait for
                        // somebody's later step: pass it by.
                        self.defer_probe(at);
                        return;
                    };
                    assert_eq!(seen, Some(envelope));
                    rank.mrecv(message, into.clone())
                } else {
                    rank.recv(cid, plane, selector, into.clone())
                };
                self.received[at].push(Received {
                    class,
                    id,
                    into,
                    room,
                });
            }
        }
    }

    /// Sends that stand behind a blocked probe are moved in front of it.
    fn defer_probe(&mut self, at: usize) {
        let steps = &mut self.steps[at];
        let next = steps
            .iter()
            .position(|step| !matches!(step, Step::Recv { .. }));
        if let Some(step) = next.and_then(|next| steps.remove(next)) {
            steps.push_front(step);
        }
    }

    /// One event: a step or some progress of one rank.
    pub fn event(&mut self) {
        let at = self.rng.below(self.n());
        if self.rng.one_in(2) {
            self.step(at);
        } else {
            self.ranks[at].progress();
        }
    }

    pub fn all_stepped(&self) -> bool {
        self.steps.iter().all(VecDeque::is_empty)
    }

    pub fn all_done(&self) -> bool {
        let sent =
            |(at, ids): (usize, &Vec<ReqId>)| ids.iter().all(|&id| self.ranks[at].is_done(id));
        let received =
            |(at, it): (usize, &Vec<Received>)| it.iter().all(|it| self.ranks[at].is_done(it.id));
        self.all_stepped()
            && self.sends.iter().enumerate().all(sent)
            && self.received.iter().enumerate().all(received)
    }

    /// Checks that every message arrived once, whole as far as there was room,
    /// and in order.
    pub fn check(&mut self) {
        for at in 0..self.n() {
            for id in std::mem::take(&mut self.sends[at]) {
                let sent = self.ranks[at].take(id);
                assert!(sent.error.is_none() && !sent.cancelled, "{sent:?}");
            }
            for it in std::mem::take(&mut self.received[at]) {
                let completion = self.ranks[at].take(it.id);
                let source = completion.source as usize;
                let next = |message: &Message| {
                    (message.from, message.to, message.class) == (source, at, it.class)
                };
                let next = self
                    .messages
                    .iter()
                    .position(next)
                    .expect("somebody sent it");
                let message = self.messages.remove(next);
                let whole = pattern(message.seed, message.len);
                let placed = message.len.min(it.room);
                assert_eq!(completion.tag, message.class.tag());
                assert_eq!(completion.len, placed as u64);
                let into = it.into.bytes();
                assert_eq!(into[..placed], whole.0[..placed]);
                assert!(into[placed..].iter().all(|&byte| byte == 0xee));
                let truncated = (message.len > it.room).then(|| {
                    Box::new(Failure::Truncated {
                        source: source as u32,
                        tag: message.class.tag(),
                        sent: message.len as u64,
                        capacity: it.room as u64,
                    })
                });
                assert_eq!(completion.error, truncated);
            }
        }
        assert!(self.messages.is_empty());
    }
}
