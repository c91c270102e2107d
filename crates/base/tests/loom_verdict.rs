//! Model of agreements on a board of three members, one of which may die anywhere: all that come to
//! an outcome come to the same, and it has what each has brought.
#![cfg(loom)]

use catena_base::verdict::{Outcome, Verdicts, Votes};
use loom::sync::{Arc, Condvar, Mutex};

const MEMBERS: usize = 3;

/// What the members share, and what they are told.
#[derive(Default)]
struct Board {
    told: Mutex<Wakeups>,
    /// Something has changed in `told`.
    changed: Condvar,
    votes: [Votes; MEMBERS],
    verdicts: Verdicts,
}

/// What wakes the members; votes and verdicts race.
#[derive(Default)]
struct Wakeups {
    /// Whether a death is known.
    of_death: bool,
}

fn flags(member: usize, round: u32) -> u32 {
    !(1 << (member as u32 + 4 * round))
}

fn all_flags(round: u32) -> u32 {
    (0..MEMBERS).fold(!0, |all, member| all & flags(member, round))
}

/// Where member 0 dies.
#[derive(Clone, Copy, PartialEq)]
enum Death {
    Never,
    BeforePublishing(u32),
    BeforeDeciding(u32),
    AfterDeciding(u32),
}

/// One member's part in some rounds; what they come to, until one is abandoned.
fn act(board: &Board, me: usize, rounds: u32, death: Death) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let dies = |at: Death| {
        let now = me == 0 && at == death;
        if now {
            board.told.lock().unwrap().of_death = true;
            board.changed.notify_all();
        }
        now
    };
    for round in 1..=rounds {
        if dies(Death::BeforePublishing(round)) {
            break;
        }
        let told = board.told.lock().unwrap();
        if told.of_death {
            // It goes the other way at once, and publishes nothing.
            outcomes.push(Outcome::Abandoned);
            break;
        }
        drop(told);
        board.votes[me].cast(round, flags(me, round));
        drop(board.told.lock().unwrap());
        board.changed.notify_all();
        let all = || {
            let mut votes = board.votes.iter().map(|it| it.of(round));
            votes.try_fold(!0, |all, of| Some(all & of?))
        };
        let own = loop {
            if let Some(all) = all() {
                break Outcome::Agreed(all);
            }
            let told = board.told.lock().unwrap();
            // It may be complete by now, but a member does not look again.
            if told.of_death {
                break Outcome::Abandoned;
            }
            if all().is_none() {
                drop(board.changed.wait(told).unwrap());
            }
        };
        if dies(Death::BeforeDeciding(round)) {
            break;
        }
        let outcome = board.verdicts.decide(round, own);
        outcomes.push(outcome);
        if outcome == Outcome::Abandoned || dies(Death::AfterDeciding(round)) {
            break;
        }
    }
    outcomes
}

fn model(rounds: u32, death: Death) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let board = Arc::new(Board::default());
        let threads: Vec<_> = (1..MEMBERS)
            .map(|me| {
                let board = board.clone();
                loom::thread::spawn(move || act(&board, me, rounds, death))
            })
            .collect();
        let mut all = vec![act(&board, 0, rounds, death)];
        all.extend(threads.into_iter().map(|it| it.join().unwrap()));
        for round in 1..=rounds {
            let of_round = |it: &Vec<Outcome>| it.get(round as usize - 1).copied();
            let outcomes: Vec<Outcome> = all.iter().filter_map(of_round).collect();
            let same = outcomes.windows(2).all(|two| two[0] == two[1]);
            assert!(same, "round {round}: {all:?}");
            let agreed = Outcome::Agreed(all_flags(round));
            assert!(
                outcomes
                    .iter()
                    .all(|it| *it == agreed || *it == Outcome::Abandoned)
            );
            assert!(death != Death::Never || outcomes == [agreed; MEMBERS]);
        }
    });
}

#[test]
fn nobody_dies() {
    model(2, Death::Never);
}

#[test]
fn one_dies_before_it_publishes() {
    model(2, Death::BeforePublishing(1));
    model(2, Death::BeforePublishing(2));
}

#[test]
fn one_dies_before_it_decides() {
    model(2, Death::BeforeDeciding(1));
    model(2, Death::BeforeDeciding(2));
}

#[test]
fn one_dies_with_the_outcome() {
    model(2, Death::AfterDeciding(1));
}

#[test]
fn words_are_used_again() {
    model(3, Death::BeforeDeciding(3));
}
