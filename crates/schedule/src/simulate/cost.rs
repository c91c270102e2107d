//! Tells how long the schedules of all ranks would take on a modelled machine.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::{Failure, Link, Machine, RankPlace, Shared};
use crate::schedule::NONE;
use crate::{Schedule, Step};

/// Time until the last rank is done, in seconds, if all start together.
///
/// With fewer schedules than places the machine is taken to repeat itself: rank r
/// stands for all that are a multiple of `schedules.len()` above it, which do the
/// same with peers as far above theirs.
///
/// Cost: O(log s) for each of the s steps of `schedules`.
///
/// # Errors
/// [`Failure::Stuck`] for schedules that deadlock on this machine.
///
/// # Panics
/// If a node has some ranks in a period and some in the next, or periods
/// differ.
pub fn cost(
    schedules: &[&Schedule],
    machine: &Machine,
    places: &[RankPlace],
) -> Result<f64, Failure> {
    assert_periodic(schedules.len(), places);
    let here = &places[..schedules.len()];
    let count = |of: fn(&RankPlace) -> u32| 1 + here.iter().map(of).max().unwrap_or(0) as usize;
    let mut sim = Sim {
        schedules,
        machine,
        places,
        ranks: schedules.iter().map(|p| Rank::new(p)).collect(),
        memory: vec![0.0; count(|p| p.domain)],
        cards: vec![[0.0; 2]; count(|p| p.node)],
        lanes: HashMap::default(),
        messages: Vec::new(),
        events: BinaryHeap::new(),
        number: 0,
        end: 0.0,
    };
    for (rank, schedule) in schedules.iter().enumerate() {
        for step in schedule.roots() {
            sim.ready(0.0, rank as u32, step);
        }
    }
    while let Some(event) = sim.events.pop() {
        sim.happen(event.time, event.what);
    }
    sim.outcome()
}

/// Whether `b` does what `a` does, with peers that are `above` ranks above
/// those of `a`, round the ring of all `ranks`.
pub fn repeats(a: &Schedule, b: &Schedule, above: u32, ranks: u32) -> bool {
    let up = |peer: u32| ((u64::from(peer) + u64::from(above)) % u64::from(ranks)) as u32;
    let alike = |a: &Step, b: &Step| match (*a, *b) {
        (Step::Send { peer: p, from: a }, Step::Send { peer: q, from: b })
        | (Step::Recv { peer: p, into: a }, Step::Recv { peer: q, into: b }) => {
            up(p) == q && a.len == b.len
        }
        (Step::Reduce { into: a, .. }, Step::Reduce { into: b, .. })
        | (Step::Copy { into: a, .. }, Step::Copy { into: b, .. }) => a.len == b.len,
        _ => false,
    };
    (&a.needs, &a.first, &a.after, &a.next_posted) == (&b.needs, &b.first, &b.after, &b.next_posted)
        && a.steps.iter().zip(&b.steps).all(|(a, b)| alike(a, b))
}

fn assert_periodic(period: usize, places: &[RankPlace]) {
    if period == places.len() {
        return;
    }
    assert!(
        period > 0 && places.len().is_multiple_of(period),
        "{} places are no multiple of {period}",
        places.len()
    );
    let (first, second) = (places[0], places[period]);
    let (nodes, domains) = (second.node - first.node, second.domain - first.domain);
    let above =
        |a: &RankPlace, b: &RankPlace| b.node == a.node + nodes && b.domain == a.domain + domains;
    assert!(
        nodes > 0
            && places
                .iter()
                .zip(&places[period..])
                .all(|(a, b)| above(a, b)),
        "the machine does not repeat itself after {period} ranks"
    );
}

struct Rank {
    needs: Vec<u32>,
    /// Not complete.
    open: Vec<bool>,
    left: usize,
    /// Steps that wait for the processor, the first of the schedule first; and
    /// whether it is busy.
    queue: BinaryHeap<Reverse<u32>>,
    busy: bool,
    /// When the ports are free: within the node, and to the network.
    port_in: [f64; 2],
    port_out: [f64; 2],
}

impl Rank {
    fn new(schedule: &Schedule) -> Self {
        Rank {
            needs: schedule.needs.clone(),
            open: vec![true; schedule.steps.len()],
            left: schedule.steps.len(),
            queue: BinaryHeap::new(),
            busy: false,
            port_in: [0.0; 2],
            port_out: [0.0; 2],
        }
    }
}

#[derive(Clone, Copy)]
enum What {
    /// The processor of a rank has done its part of a step.
    Worked(u32, u32),
    /// A message may enter the outgoing port.
    Departs(u32),
    /// The message enters that port.
    Leaves(u32),
    /// The head of the message reaches the receiver; all of it could be there so much later.
    Arrives(u32, f64),
    /// All of it has arrived.
    Here(u32),
    /// A step is complete.
    Complete(u32, u32),
}

struct Event {
    time: f64,
    number: u64,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    /// The earliest event is the greatest, as `BinaryHeap` wants it.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .time
            .total_cmp(&self.time)
            .then(other.number.cmp(&self.number))
    }
}

/// A message; its ends are ranks of the period.
struct Message {
    from: u32,
    to: u32,
    route: Route,
    /// The steps of both sides; [`NONE`] for a receive not met yet.
    send: u32,
    receive: u32,
    /// When it was announced.
    announced: f64,
    len: usize,
    here: bool,
}

/// How far a message goes.
#[derive(Clone, Copy, PartialEq)]
enum Route {
    Domain,
    Node,
    Network,
}

impl Route {
    fn port(self) -> usize {
        usize::from(self == Route::Network)
    }
}

/// Messages sent (by number), and receives posted, of one pair.
#[derive(Default)]
struct Lane {
    sent: VecDeque<u32>,
    posted: VecDeque<u32>,
}

/// Hashes two small numbers.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u32(b.into()));
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(n)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

struct Sim<'a> {
    schedules: &'a [&'a Schedule],
    machine: &'a Machine,
    /// Of all ranks, also those that others stand for.
    places: &'a [RankPlace],
    ranks: Vec<Rank>,
    /// When the memory of each domain is free.
    memory: Vec<f64>,
    /// When each card is free, outgoing and incoming.
    cards: Vec<[f64; 2]>,
    /// By sender, and how far above it the receiver is.
    lanes: HashMap<(u32, u32), Lane, BuildHasherDefault<Mix>>,
    messages: Vec<Message>,
    events: BinaryHeap<Event>,
    number: u64,
    end: f64,
}

/// Takes a turn of `busy` at what is free from `free` on; gives its start.
fn turn(free: &mut f64, now: f64, busy: f64) -> f64 {
    let start = now.max(*free);
    *free = start + busy;
    start
}

impl Shared {
    fn busy(&self, len: usize) -> f64 {
        self.per_message + self.per_byte * len as f64
    }
}

impl Sim<'_> {
    fn at(&mut self, time: f64, what: What) {
        self.number += 1;
        let number = self.number;
        self.events.push(Event { time, number, what });
    }

    fn happen(&mut self, now: f64, what: What) {
        match what {
            What::Worked(rank, step) => self.worked(now, rank, step),
            What::Departs(message) => self.depart(now, message),
            What::Leaves(message) => self.leave(now, message),
            What::Arrives(message, rest) => self.arrive(now, message, rest),
            What::Here(message) => self.here(message, now),
            What::Complete(rank, step) => self.complete(now, rank, step),
        }
    }

    /// The place of a rank of the period, and of the peer so far above it.
    fn route(&self, rank: u32, above: u32) -> Route {
        let to = (rank as usize + above as usize) % self.places.len();
        let (a, b) = (self.places[rank as usize], self.places[to]);
        match (a.node == b.node, a.domain == b.domain) {
            (true, true) => Route::Domain,
            (true, false) => Route::Node,
            (false, _) => Route::Network,
        }
    }

    fn link(&self, route: Route) -> &Link {
        match route {
            Route::Domain => &self.machine.domain,
            Route::Node => &self.machine.node,
            Route::Network => &self.machine.network,
        }
    }

    /// How far `b` is above `a`, round the ring of all ranks.
    fn above(&self, a: u32, b: u32) -> u32 {
        let all = self.places.len() as u32;
        if b >= a { b - a } else { b + all - a }
    }

    /// The rank of the period that stands for `rank`.
    fn stand_in(&self, rank: u32) -> u32 {
        rank % self.schedules.len() as u32
    }

    /// A step waits for nothing but the processor, or its message.
    fn ready(&mut self, now: f64, rank: u32, step: u32) {
        if let Step::Recv { peer, .. } = self.schedules[rank as usize].steps[step as usize] {
            let lane = (self.stand_in(peer), self.above(peer, rank));
            self.lanes.entry(lane).or_default().posted.push_back(step);
            self.pair_up(now, lane);
            self.posted(now, rank, step);
        } else {
            self.queue(now, rank, step);
        }
    }

    fn queue(&mut self, now: f64, rank: u32, step: u32) {
        let r = &mut self.ranks[rank as usize];
        r.queue.push(Reverse(step));
        if !r.busy {
            self.work(now, rank);
        }
    }

    /// Gives the processor its next step.
    fn work(&mut self, now: f64, rank: u32) {
        let r = rank as usize;
        let Some(Reverse(step)) = self.ranks[r].queue.pop() else {
            self.ranks[r].busy = false;
            return;
        };
        self.ranks[r].busy = true;
        let m = self.machine;
        let work = match self.schedules[r].steps[step as usize] {
            Step::Send { peer, .. } => self.link(self.route(rank, self.above(rank, peer))).overhead,
            Step::Recv { peer, .. } => {
                let (from, above) = (self.stand_in(peer), self.above(peer, rank));
                self.link(self.route(from, above)).overhead
            }
            Step::Reduce { into, .. } => m.step + m.reduce * into.len as f64,
            Step::Copy { into, .. } => m.step + m.copy * into.len as f64,
        };
        self.at(now + work, What::Worked(rank, step));
    }

    fn worked(&mut self, now: f64, rank: u32, step: u32) {
        if let Step::Send { peer, from } = self.schedules[rank as usize].steps[step as usize] {
            self.send(now, rank, step, peer, from.len);
            self.posted(now, rank, step);
        } else {
            self.complete(now, rank, step);
        }
        self.work(now, rank);
    }

    fn send(&mut self, now: f64, rank: u32, step: u32, peer: u32, len: usize) {
        let message = self.messages.len() as u32;
        let lane = (rank, self.above(rank, peer));
        let route = self.route(lane.0, lane.1);
        self.messages.push(Message {
            from: rank,
            to: self.stand_in(peer),
            route,
            send: step,
            receive: NONE,
            announced: now,
            len,
            here: false,
        });
        if len <= self.link(route).eager {
            self.complete(now, rank, step);
            self.depart(now, message);
        }
        self.lanes.entry(lane).or_default().sent.push_back(message);
        self.pair_up(now, lane);
    }

    /// The next message of the pair may be posted.
    fn posted(&mut self, now: f64, rank: u32, step: u32) {
        let next = self.schedules[rank as usize].next_posted[step as usize];
        if next != NONE {
            self.release(now, rank, next);
        }
    }

    /// A send and a receive meet.
    fn pair_up(&mut self, now: f64, lane: (u32, u32)) {
        let lane = self.lanes.get_mut(&lane).expect("just posted on");
        if lane.sent.is_empty() || lane.posted.is_empty() {
            return;
        }
        let message = lane.sent.pop_front().expect("some");
        let m = &mut self.messages[message as usize];
        m.receive = lane.posted.pop_front().expect("some");
        let (len, announced, route, here) = (m.len, m.announced, m.route, m.here);
        let link = *self.link(route);
        if len > link.eager {
            let heard = now.max(announced + link.latency);
            self.at(heard + link.latency, What::Departs(message));
        } else if here {
            self.here(message, now);
        }
    }

    /// The sender's port takes a message.
    fn depart(&mut self, now: f64, message: u32) {
        let m = &self.messages[message as usize];
        let (from, len, route) = (m.from as usize, m.len, m.route);
        let link = *self.link(route);
        let busy = link.gap + link.per_byte * len as f64;
        let start = turn(&mut self.ranks[from].port_out[route.port()], now, busy);
        if start > now {
            self.at(start, What::Leaves(message));
        } else {
            self.leave(now, message);
        }
    }

    /// A message leaves through its port, and the memory or card at the sender.
    fn leave(&mut self, now: f64, message: u32) {
        let m = &self.messages[message as usize];
        let (from, send, len, route) = (m.from, m.send, m.len, m.route);
        let link = *self.link(route);
        let shared = self.share(now, self.places[from as usize], route, 0, len);
        let out = shared.max(now + link.per_byte * len as f64);
        if len > link.eager {
            self.at(out, What::Complete(from, send));
        }
        let head = now + link.latency;
        self.at(head, What::Arrives(message, out - now));
    }

    /// The memory or card at the receiver, and its port, take a message.
    fn arrive(&mut self, now: f64, message: u32, rest: f64) {
        let m = &self.messages[message as usize];
        let (to, len, route) = (m.to as usize, m.len, m.route);
        let shared = match route {
            // One memory, of which it has taken its turn.
            Route::Domain => now,
            _ => self.share(now, self.places[to], route, 1, len),
        };
        let link = *self.link(route);
        let bytes = link.per_byte * len as f64;
        let port = &mut self.ranks[to].port_in[route.port()];
        let entered = turn(port, now, link.gap + bytes);
        let here = (now + rest).max(shared).max(entered + bytes);
        self.at(here, What::Here(message));
    }

    /// When the memory, or this direction of the card, of a place has moved a
    /// message that reaches it now, besides those that reached it before.
    fn share(&mut self, now: f64, place: RankPlace, route: Route, way: usize, len: usize) -> f64 {
        let (free, shared) = match route {
            Route::Network => (
                &mut self.cards[place.node as usize][way],
                &self.machine.card,
            ),
            _ => (
                &mut self.memory[place.domain as usize],
                &self.machine.memory,
            ),
        };
        turn(free, now, shared.busy(len));
        *free
    }

    /// All of a message is there; the receive may not be posted yet.
    fn here(&mut self, message: u32, now: f64) {
        let m = &mut self.messages[message as usize];
        m.here = true;
        let (to, receive) = (m.to, m.receive);
        if receive != NONE {
            self.queue(now, to, receive);
        }
    }

    fn complete(&mut self, now: f64, rank: u32, step: u32) {
        self.end = self.end.max(now);
        let r = &mut self.ranks[rank as usize];
        r.open[step as usize] = false;
        r.left -= 1;
        let schedule = self.schedules[rank as usize];
        for &next in schedule.after(step) {
            self.release(now, rank, next);
        }
    }

    fn release(&mut self, now: f64, rank: u32, step: u32) {
        let needs = &mut self.ranks[rank as usize].needs[step as usize];
        *needs -= 1;
        if *needs == 0 {
            self.ready(now, rank, step);
        }
    }

    fn outcome(&self) -> Result<f64, Failure> {
        let stuck = |r: &usize| self.ranks[*r].left > 0;
        let first = |r: usize| {
            let open = self.ranks[r].open.iter().position(|&o| o).unwrap_or(0);
            (r as u32, self.schedules[r].steps[open])
        };
        let stuck: Vec<_> = (0..self.schedules.len()).filter(stuck).map(first).collect();
        if stuck.is_empty() {
            Ok(self.end)
        } else {
            Err(Failure::Stuck(stuck))
        }
    }
}
