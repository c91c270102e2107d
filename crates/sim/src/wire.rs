//! What lies between the ports.

use std::collections::{HashMap, HashSet, VecDeque};

use catena_base::Parts;
use catena_fabric::{Header, Peer, PeerLost};

use crate::faults::Faults;
use crate::operation::{Operation, Region};
use crate::rng::{Rng, Seed};

/// How many calls a route stays full once it is full without a reason.
const STORM: usize = 8;
/// Packets remembered for repeating them later.
const HISTORY: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub from: u32,
    pub header: Header,
    pub payload: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub faults: Faults,
    pub rng: Rng,
    n: u32,
    /// By (sender, receiver).
    queues: Vec<VecDeque<Packet>>,
    /// By (sender, receiver): calls that will still find it full.
    storms: Vec<usize>,
    pub dead: Vec<bool>,
    /// By (dead, survivor): whether the survivor was told.
    told: Vec<bool>,
    pub regions: HashMap<u64, Region>,
    pub operations: Vec<Operation>,
    /// Operations that were ever under way.
    pub started: u64,
    /// By (sender, receiver).
    pub parts: Vec<Parts>,
    /// Claims that nobody has taken: whose, and on which message.
    pub claims: HashSet<(u32, u64)>,
    pub next_key: u64,
    /// By receiver: what it got lately.
    history: Vec<VecDeque<Packet>>,
}

impl Wire {
    pub fn new(seed: Seed, faults: Faults, n: u32) -> Self {
        let pairs = (n * n) as usize;
        Wire {
            faults,
            rng: Rng::new(seed),
            n,
            queues: (0..pairs).map(|_| VecDeque::new()).collect(),
            storms: vec![0; pairs],
            dead: vec![false; n as usize],
            told: vec![false; pairs],
            regions: HashMap::new(),
            operations: Vec::new(),
            started: 0,
            parts: (0..pairs).map(|_| Parts::default()).collect(),
            claims: HashSet::new(),
            next_key: 1,
            history: (0..n).map(|_| VecDeque::new()).collect(),
        }
    }

    pub fn at(&self, from: u32, to: u32) -> usize {
        assert!(from < self.n && to < self.n, "there is no such process");
        (from * self.n + to) as usize
    }

    /// Whether a packet finds no room now.
    pub fn is_full(&mut self, from: u32, to: u32) -> bool {
        let at = self.at(from, to);
        if self.storms[at] > 0 {
            self.storms[at] -= 1;
            return true;
        }
        if self.rng.one_in(self.faults.full_one_in) {
            self.storms[at] = self.rng.below(STORM);
            return true;
        }
        self.queues[at].len() >= self.faults.slots
    }

    pub fn put(&mut self, to: u32, packet: Packet) {
        let at = self.at(packet.from, to);
        self.queues[at].push_back(packet);
    }

    /// The next packet for a process, if any: from any sender, and any of its
    /// packets if order does not hold.
    pub fn take(&mut self, to: u32) -> Option<Packet> {
        if self.rng.one_in(self.faults.garbage_one_in) {
            return Some(self.garbage(to));
        }
        let past = &self.history[to as usize];
        if !past.is_empty() && self.rng.one_in(self.faults.duplicate_one_in) {
            return Some(past[self.rng.below(past.len())].clone());
        }
        let first = self.rng.below(self.n as usize) as u32;
        let senders = (0..self.n).map(|i| (first + i) % self.n);
        let at = senders
            .map(|from| self.at(from, to))
            .find(|&at| !self.queues[at].is_empty())?;
        let queue = &mut self.queues[at];
        let place = if self.faults.ordered {
            0
        } else {
            self.rng.below(queue.len())
        };
        let packet = queue.remove(place)?;
        if self.faults.duplicate_one_in + self.faults.garbage_one_in > 0 {
            let past = &mut self.history[to as usize];
            past.truncate(HISTORY - 1);
            past.push_front(packet.clone());
        }
        Some(packet)
    }

    fn garbage(&mut self, to: u32) -> Packet {
        let past = &self.history[to as usize];
        let mut packet = if past.is_empty() || self.rng.one_in(3) {
            let from = self.rng.below(self.n as usize) as u32;
            Packet {
                from,
                header: Header::default(),
                payload: vec![0; self.rng.below(32)],
            }
        } else {
            past[self.rng.below(past.len())].clone()
        };
        let header = &mut packet.header;
        for _ in 0..1 + self.rng.below(3) {
            let any = self.rng.any();
            let small = any >> 60;
            match self.rng.below(9) {
                0 => header.kind = (any >> 59) as u8,
                1 => header.kind = any as u8,
                2 => header.seq = header.seq.wrapping_add(small as u16).wrapping_sub(7),
                3 => header.context = small as u32,
                4 => header.source = small as u32,
                5 => header.tag = small as i32,
                6 => header.len = small,
                7 => header.len = any,
                _ => packet.payload = any.to_le_bytes()[..(small as usize) / 2].to_vec(),
            }
        }
        packet
    }

    /// Ends a process. What it sent before may still arrive.
    pub fn kill(&mut self, who: u32) {
        self.dead[who as usize] = true;
        for from in 0..self.n {
            let at = self.at(from, who);
            self.queues[at].clear();
        }
        self.regions.retain(|_, region| region.owner != who);
        self.operations.retain(|it| it.origin != who);
    }

    /// Whether `survivor` was told that a process is dead.
    pub fn told_of(&self, who: u32, survivor: u32) -> bool {
        self.told[self.at(who, survivor)]
    }

    /// A dead process of which `survivor` was not told yet. Told late now and
    /// then, and always after the last packet that arrives.
    pub fn next_loss(&mut self, survivor: u32) -> Option<u32> {
        let ready = |wire: &Self, who: u32| {
            let at = wire.at(who, survivor);
            who != survivor
                && wire.dead[who as usize]
                && !wire.told[at]
                && wire.queues[at].is_empty()
        };
        let who = (0..self.n).find(|&who| ready(self, who))?;
        if self.faults.full_one_in != 0 && self.rng.one_in(2) {
            return None;
        }
        let at = self.at(who, survivor);
        self.told[at] = true;
        Some(who)
    }
}

pub(crate) fn lost(peer: Peer) -> PeerLost {
    PeerLost {
        peer,
        cause: "it died in the simulator".into(),
    }
}
