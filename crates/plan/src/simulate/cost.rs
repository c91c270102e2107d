//! Tells how long the plans of all ranks would take on a modelled machine.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};

use super::Failure;
use crate::plan::NONE;
use crate::{Plan, Step};

/// A connection between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Time from the end of the sender's work to the arrival, seconds.
    pub latency: f64,
    /// Time per byte, seconds; both ends are busy for it.
    pub per_byte: f64,
}

/// A model of the machine: latency, overhead, gap per byte as in LogGP
/// (Alexandrov et al., 1995), with a [`Wire`] for each pair of ranks.
pub struct Machine<'a> {
    /// What connects two ranks.
    pub wire: &'a dyn Fn(u32, u32) -> Wire,
    /// Processor time to post or complete a message, seconds.
    pub overhead: f64,
    /// Messages longer than this many bytes start when both sides are ready.
    pub eager: usize,
    /// Time for one copy or reduction besides its bytes, seconds.
    pub step: f64,
    /// Time to combine a byte, seconds.
    pub reduce: f64,
    /// Time to copy a byte, seconds.
    pub copy: f64,
}

/// Time until the last rank is done, in seconds, if all start together.
///
/// Each rank does one thing at a time; its incoming and its outgoing port each
/// move one message at a time.
///
/// # Errors
/// [`Failure::Stuck`] for plans that deadlock on this machine.
pub fn cost(plans: &[&Plan], machine: &Machine<'_>) -> Result<f64, Failure> {
    let mut sim = Sim {
        plans,
        machine,
        ranks: plans.iter().map(|p| Rank::new(p)).collect(),
        lanes: HashMap::new(),
        messages: Vec::new(),
        events: BinaryHeap::new(),
        number: 0,
        end: 0.0,
    };
    for (rank, plan) in plans.iter().enumerate() {
        for step in plan.roots() {
            sim.ready(0.0, rank as u32, step);
        }
    }
    while let Some(event) = sim.events.pop() {
        match event.what {
            What::Worked => sim.worked(event.time, event.rank, event.step),
            What::Arrives(message, moving) => {
                sim.arrives(event.time, event.rank, message, moving);
            }
            What::Here(message) => sim.here(event.time, message),
            What::Complete => sim.complete(event.time, event.rank, event.step),
        }
    }
    let stuck: Vec<_> = (0..plans.len())
        .filter(|&r| sim.ranks[r].left > 0)
        .collect();
    if stuck.is_empty() {
        return Ok(sim.end);
    }
    let first = |r: usize| {
        let open = sim.ranks[r].open.iter().position(|&o| o).unwrap_or(0);
        (r as u32, plans[r].steps[open])
    };
    Err(Failure::Stuck(stuck.into_iter().map(first).collect()))
}

struct Rank {
    needs: Vec<u32>,
    /// Posted or not yet posted, but not complete.
    open: Vec<bool>,
    left: usize,
    /// Steps that wait for the processor, the first of the plan first; and whether it is busy.
    queue: BinaryHeap<Reverse<u32>>,
    busy: bool,
    /// When the ports are free.
    port_in: f64,
    port_out: f64,
}

impl Rank {
    fn new(plan: &Plan) -> Self {
        Rank {
            needs: plan.needs.clone(),
            open: vec![true; plan.steps.len()],
            left: plan.steps.len(),
            queue: BinaryHeap::new(),
            busy: false,
            port_in: 0.0,
            port_out: 0.0,
        }
    }
}

enum What {
    /// The processor has done its part of a step.
    Worked,
    /// The head of a message arrives; receiving it takes so long.
    Arrives(usize, f64),
    /// All of a message has arrived.
    Here(usize),
    /// A step is complete.
    Complete,
}

struct Event {
    time: f64,
    number: u64,
    rank: u32,
    step: u32,
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

struct Message {
    from: u32,
    to: u32,
    /// The steps of both sides.
    send: u32,
    receive: Option<u32>,
    len: usize,
    here: bool,
}

/// Messages sent (by number), and receives posted, of one pair.
#[derive(Default)]
struct Lane {
    sent: VecDeque<usize>,
    posted: VecDeque<u32>,
}

struct Sim<'a> {
    plans: &'a [&'a Plan],
    machine: &'a Machine<'a>,
    ranks: Vec<Rank>,
    lanes: HashMap<(u32, u32), Lane>,
    messages: Vec<Message>,
    events: BinaryHeap<Event>,
    number: u64,
    end: f64,
}

impl Sim<'_> {
    fn at(&mut self, time: f64, rank: u32, step: u32, what: What) {
        self.number += 1;
        self.events.push(Event {
            time,
            number: self.number,
            rank,
            step,
            what,
        });
    }

    /// A step waits for nothing but the processor.
    fn ready(&mut self, now: f64, rank: u32, step: u32) {
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
        let work = match self.plans[r].steps[step as usize] {
            Step::Send { .. } | Step::Recv { .. } => self.machine.overhead,
            Step::Reduce { into, .. } => self.machine.step + self.machine.reduce * into.len as f64,
            Step::Copy { into, .. } => self.machine.step + self.machine.copy * into.len as f64,
        };
        self.at(now + work, rank, step, What::Worked);
    }

    fn worked(&mut self, now: f64, rank: u32, step: u32) {
        let r = rank as usize;
        match self.plans[r].steps[step as usize] {
            Step::Send { peer, from } => {
                let message = self.messages.len();
                self.messages.push(Message {
                    from: rank,
                    to: peer,
                    send: step,
                    len: from.len,
                    receive: None,
                    here: false,
                });
                self.lanes
                    .entry((rank, peer))
                    .or_default()
                    .sent
                    .push_back(message);
                if from.len <= self.machine.eager {
                    self.at(now, rank, step, What::Complete);
                    self.depart(now, message);
                }
                self.pair_up(now, rank, peer);
            }
            Step::Recv { peer, .. } => {
                self.lanes
                    .entry((peer, rank))
                    .or_default()
                    .posted
                    .push_back(step);
                self.pair_up(now, peer, rank);
            }
            Step::Reduce { .. } | Step::Copy { .. } => self.at(now, rank, step, What::Complete),
        }
        let next = self.plans[r].next_posted[step as usize];
        if next != NONE {
            self.release(now, rank, next);
        }
        self.work(now, rank);
    }

    /// A send and a receive meet.
    fn pair_up(&mut self, now: f64, from: u32, to: u32) {
        let lane = self.lanes.get_mut(&(from, to)).expect("just posted on");
        if lane.sent.is_empty() || lane.posted.is_empty() {
            return;
        }
        let message = lane.sent.pop_front().expect("some");
        self.messages[message].receive = lane.posted.pop_front();
        if self.messages[message].len > self.machine.eager {
            self.depart(now, message);
        } else if self.messages[message].here {
            self.received(now, message);
        }
    }

    /// The sender's port takes a message.
    fn depart(&mut self, now: f64, message: usize) {
        let m = &self.messages[message];
        let (from, to, send) = (m.from, m.to, m.send);
        let wire = (self.machine.wire)(from, to);
        let port = &mut self.ranks[from as usize].port_out;
        let out = now.max(*port);
        let moving = wire.per_byte * m.len as f64;
        *port = out + moving;
        if m.len > self.machine.eager {
            self.at(out + moving, from, send, What::Complete);
        }
        self.at(out + wire.latency, to, NONE, What::Arrives(message, moving));
    }

    /// The receiver's port takes a message.
    fn arrives(&mut self, now: f64, rank: u32, message: usize, moving: f64) {
        let port = &mut self.ranks[rank as usize].port_in;
        *port = now.max(*port) + moving;
        let here = *port;
        self.at(here, rank, NONE, What::Here(message));
    }

    fn here(&mut self, now: f64, message: usize) {
        self.messages[message].here = true;
        if self.messages[message].receive.is_some() {
            self.received(now, message);
        }
    }

    fn received(&mut self, now: f64, message: usize) {
        let m = &self.messages[message];
        let (to, step) = (m.to, m.receive.expect("matched"));
        self.at(now + self.machine.overhead, to, step, What::Complete);
    }

    fn complete(&mut self, now: f64, rank: u32, step: u32) {
        self.end = self.end.max(now);
        let r = rank as usize;
        self.ranks[r].open[step as usize] = false;
        self.ranks[r].left -= 1;
        let plan = self.plans[r];
        for &next in plan.after(step) {
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
}
