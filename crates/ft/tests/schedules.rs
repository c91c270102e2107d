//! Agreements under random schedules: every message may be late, processes die in the middle of
//! what they do, and each survivor hears of it when it happens to. By seed; more of them with
//! `CATENA_SCHEDULES`, which says how many.

use std::collections::BTreeMap;

use catena_ft::agreement::{Contribution, Decision, Message};
use catena_ft::series::Series;

/// Schedules of an ordinary run.
const FEW: u64 = 10_000;

/// A small generator that any seed serves.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// What is to happen at a process.
#[derive(Debug)]
enum Event {
    /// It begins its next agreement.
    Begin,
    /// It hears that another one is dead.
    Death(u32),
    /// A message comes.
    Message(u32, u32, Message),
}

struct World {
    random: Random,
    processes: Vec<Option<Series>>,
    pending: Vec<(u32, Event)>,
    /// How many agreements each has begun, and how many there are.
    begun: Vec<u32>,
    rounds: u32,
    /// What each process has seen decided.
    decided: Vec<BTreeMap<u32, Decision>>,
    kills: usize,
}

fn flags_of(rank: u32, number: u32) -> u32 {
    !(1 << ((rank + number) % 32))
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let n = 1 + random.below(17);
        let kills = random.below(4).min(n - 1);
        let rounds = 1 + random.below(4) as u32;
        let begin = |rank| (rank, Event::Begin);
        World {
            random,
            processes: (0..n as u32)
                .map(|me| Some(Series::new(me, n as u32)))
                .collect(),
            pending: (0..n as u32).map(begin).collect(),
            begun: vec![0; n],
            rounds,
            decided: vec![BTreeMap::new(); n],
            kills,
        }
    }

    /// One event happens, or a death.
    fn step(&mut self) {
        let at = self.random.below(self.pending.len());
        let (rank, event) = self.pending.swap_remove(at);
        let Some(series) = &mut self.processes[rank as usize] else {
            return;
        };
        let dies = self.kills > 0 && self.random.below(24) == 0;
        let mut sent = Vec::new();
        match event {
            Event::Begin => {
                let number = self.begun[rank as usize];
                self.begun[rank as usize] += 1;
                let size = series.size();
                let mut own = Contribution::of(rank, size, flags_of(rank, number));
                own.rows.push((rank, [rank, number]));
                series.begin(own, &mut sent);
            }
            Event::Death(dead) => series.died(dead, &mut sent),
            Event::Message(from, number, message) => {
                series.deliver(from, number, message, &mut sent)
            }
        }
        if dies {
            let most = self.random.below(sent.len() + 1);
            sent.truncate(most);
        }
        let messages = sent
            .into_iter()
            .map(|(to, number, message)| (to, Event::Message(rank, number, message)));
        self.pending.extend(messages);
        if dies {
            self.kill(rank);
        } else {
            self.look(rank);
        }
    }

    /// What a process has decided it keeps, and begins what comes next: sometimes before it has
    /// decided.
    fn look(&mut self, rank: u32) {
        let at = rank as usize;
        let Some(series) = &self.processes[at] else {
            return;
        };
        for number in 0..self.begun[at] {
            if let Some(decision) = series.decision(number) {
                let known = self.decided[at]
                    .entry(number)
                    .or_insert_with(|| (**decision).clone());
                assert_eq!(known, &**decision, "a decision stands");
            }
        }
        let waits = self
            .pending
            .iter()
            .any(|it| matches!(it, (r, Event::Begin) if *r == rank));
        let all_decided = self.decided[at].len() as u32 == self.begun[at];
        if !waits && self.begun[at] < self.rounds && (all_decided || self.random.below(9) == 0) {
            self.pending.push((rank, Event::Begin));
        }
    }

    fn kill(&mut self, rank: u32) {
        self.kills -= 1;
        self.processes[rank as usize] = None;
        // What it had sent may be on the way still, or lost with it.
        let mut kept = Vec::new();
        for event in std::mem::take(&mut self.pending) {
            let of_dead = matches!(event.1, Event::Message(from, ..) if from == rank);
            if event.0 != rank && !(of_dead && self.random.below(2) == 0) {
                kept.push(event);
            }
        }
        self.pending = kept;
        for other in 0..self.processes.len() as u32 {
            self.pending.push((other, Event::Death(rank)));
        }
    }

    fn check(&self, seed: u64) {
        let alive: Vec<usize> = (0..self.processes.len())
            .filter(|&at| self.processes[at].is_some())
            .collect();
        let first = &self.decided[alive[0]];
        for &at in &alive {
            assert_eq!(
                self.begun[at], self.rounds,
                "seed {seed}: {at} has begun all"
            );
            assert_eq!(
                self.decided[at].len() as u32,
                self.rounds,
                "seed {seed}: {at} has decided all"
            );
            assert_eq!(
                &self.decided[at], first,
                "seed {seed}: {at} agrees with {}",
                alive[0]
            );
            let kept = self.processes[at].as_ref().map_or(0, Series::len);
            assert!(kept <= self.rounds as usize);
        }
        for (&number, decision) in first {
            let mut flags = u32::MAX;
            for rank in decision.covered.iter() {
                flags &= flags_of(rank, number);
            }
            assert_eq!(decision.flags, flags, "seed {seed}");
            for &at in &alive {
                assert!(
                    decision.covered.has(at as u32),
                    "seed {seed}: {at} is covered"
                );
                assert!(!decision.failed.has(at as u32), "seed {seed}: {at} lives");
            }
            let rows: Vec<u32> = decision.rows.iter().map(|it| it.0).collect();
            assert_eq!(rows.len(), decision.covered.iter().count(), "seed {seed}");
            assert!(
                decision
                    .rows
                    .iter()
                    .all(|&(rank, row)| row == [rank, number])
            );
        }
    }
}

#[test]
fn survivors_agree_whoever_dies_when() {
    let many = std::env::var("CATENA_SCHEDULES")
        .ok()
        .and_then(|it| it.parse().ok());
    let mut deaths = 0;
    for seed in 0..many.unwrap_or(FEW) {
        let mut world = World::new(seed);
        let planned = world.kills;
        let mut steps = 0;
        while !world.pending.is_empty() {
            world.step();
            steps += 1;
            assert!(steps < 1_000_000, "seed {seed}: no end");
        }
        deaths += planned - world.kills;
        world.check(seed);
    }
    assert!(deaths > 0, "somebody dies in some of them");
}

/// A group in which nobody is slow remembers two agreements at most.
#[test]
fn what_is_behind_all_is_forgotten() {
    let mut all: Vec<Series> = (0..5).map(|me| Series::new(me, 5)).collect();
    for round in 0..50 {
        let mut sent = Vec::new();
        for at in 0..5 {
            let mut out = Vec::new();
            let own = Contribution::of(at, 5, u32::MAX);
            assert_eq!(all[at as usize].begin(own, &mut out), round);
            sent.extend(out.into_iter().map(|it| (at, it)));
        }
        while let Some((from, (to, number, message))) = sent.pop() {
            let mut out = Vec::new();
            all[to as usize].deliver(from, number, message, &mut out);
            sent.extend(out.into_iter().map(|it| (to, it)));
        }
        for series in &all {
            assert!(series.decision(round).is_some());
            assert!(series.len() <= 2, "{}", series.len());
        }
    }
}
