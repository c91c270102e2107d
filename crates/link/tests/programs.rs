//! Random programs over a network that misbehaves.

mod common;
#[path = "common/program.rs"]
mod program;

use std::ops::AddAssign;

use catena_link::{Failure, Mode, Plane, Sent};
use common::*;
use program::Program;

/// What a program met with.
#[derive(Default)]
struct Met {
    /// Packets that were kept because others came before their turn.
    parked: u64,
    /// Messages that were lent and taken back.
    taken_back: u64,
    /// Bytes that left compressed.
    compressed: u64,
}

impl AddAssign for Met {
    fn add_assign(&mut self, other: Met) {
        self.parked += other.parked;
        self.taken_back += other.taken_back;
        self.compressed += other.compressed;
    }
}

/// Runs a program to its end.
fn run<const BITS: u32>(seed: u64, mut program: Program<BITS>) -> Met {
    let mut events = 0;
    while !program.all_done() {
        program.event();
        events += 1;
        assert!(events < 2_000_000, "seed {seed} hangs: {program:#?}");
    }
    quiesce(&mut program.ranks);
    program.check();
    let mut met = Met::default();
    for rank in &mut program.ranks {
        assert_eq!(
            rank.net().0.registrations(),
            0,
            "seed {seed}: registered for ever"
        );
        let counters = rank.counters();
        assert!(
            program.duplicates || counters.dropped == 0,
            "seed {seed} drops {}",
            counters.dropped
        );
        met += Met {
            parked: counters.parked,
            taken_back: counters.taken_back,
            compressed: counters.compressed,
        };
    }
    met
}

#[test]
fn every_message_arrives_once_and_in_order() {
    let mut met = Met::default();
    for seed in 0..1500 {
        met += run(seed, Program::<16>::new(seed, |sim| sim));
    }
    assert!(met.taken_back > 0, "nothing was lent");
}

#[test]
fn compressed_messages_arrive_as_others_do() {
    let mut met = Met::default();
    for seed in 0..600 {
        let mut program = Program::<16>::of(seed, 200, |sim| sim);
        program.ranks.iter_mut().for_each(Rank::compress_messages);
        met += run(seed, program);
    }
    assert!(met.compressed > 0, "nothing was compressed");
}

/// Each rank sends many times as many messages as there are numbers, some of which are announced
/// and stay unanswered while others come and go.
#[test]
fn sequence_numbers_may_wrap_at_any_time() {
    let mut met = Met::default();
    for seed in 0..600 {
        met += run(seed, Program::<4>::of(seed, 400, |sim| sim));
        met += run(seed, Program::<3>::of(seed, 100, |sim| sim));
    }
    assert!(met.parked > 0, "nothing came before its turn");
    assert!(met.taken_back > 0, "nothing was lent");
}

#[test]
fn garbage_is_survived() {
    for seed in 0..1000 {
        let mut program = Program::<16>::new(seed, |sim| sim.garbage_one_in(3).duplicate_one_in(5));
        for _ in 0..3000 {
            program.event();
        }
        let dropped: u64 = program
            .ranks
            .iter()
            .map(|rank| rank.counters().dropped)
            .sum();
        assert!(dropped > 0, "seed {seed}: no garbage came");
    }
}

#[test]
fn a_death_ends_what_the_dead_took_part_in() {
    for seed in 0..600 {
        let mut program = Program::<16>::new(seed, |sim| sim);
        let dead = program.n() - 1;
        for _ in 0..program.rng.below(600) {
            program.event();
        }
        program.ranks[dead].net().0.die();
        let mut ranks = std::mem::take(&mut program.ranks);
        ranks.pop();
        quiesce(&mut ranks);
        for (at, rank) in ranks.iter_mut().enumerate() {
            assert!(
                rank.lost_peers().eq([catena_fabric::Peer(dead as u32)]),
                "seed {seed}"
            );
            for &id in &program.sends[at] {
                let with_dead = rank.peek(id).is_some_and(|it| it.source as usize == dead);
                let failed = rank.peek(id).is_some_and(|it| it.error.is_some());
                assert!(with_dead || !failed, "seed {seed}: others are not affected");
            }
            for it in &program.received[at] {
                if let Some(Failure::Lost(lost)) =
                    rank.peek(it.id).and_then(|it| it.error).as_deref()
                {
                    assert_eq!(lost.peer.0 as usize, dead, "seed {seed}");
                }
            }
            let sent = rank.send(
                world(at),
                Plane::User,
                dead as u32,
                9,
                Mode::Standard,
                pattern(1, 3),
            );
            let Sent::Pending(id) = sent else {
                panic!("seed {seed}: sent to the dead")
            };
            assert!(matches!(
                rank.take(id).error.as_deref(),
                Some(Failure::Lost(_))
            ));
            let from_dead = selector(dead as i32, 9);
            let id = rank.recv(world(at), Plane::User, from_dead, Into::room(1));
            assert!(matches!(
                rank.take(id).error.as_deref(),
                Some(Failure::Lost(_))
            ));
        }
        // Nothing with the dead is left waiting.
        for (at, rank) in ranks.iter_mut().enumerate() {
            for id in program.sends[at].drain(..) {
                let done = rank.is_done(id);
                rank.cancel(id);
                assert!(done || rank.peek(id).is_none_or(|it| it.source as usize != dead));
            }
        }
    }
}
