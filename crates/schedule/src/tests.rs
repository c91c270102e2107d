//! Dependencies against the definition, and what the simulator must notice.

use crate::simulate::{Failure, Sends, check};
use crate::{Buf, Builder, Exec, Order, Region, Run, Schedule, Step};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// (regions read, regions written)
fn touched(step: &Step) -> (Vec<Region>, Vec<Region>) {
    match *step {
        Step::Send { from, .. } => (vec![from], vec![]),
        Step::Recv { into, .. } => (vec![], vec![into]),
        Step::Reduce { from, into, .. } => (vec![from, into], vec![into]),
        Step::Copy { from, into } => (vec![from], vec![into]),
    }
}

fn conflict(a: &Step, b: &Step) -> bool {
    let ((a_reads, a_writes), (b_reads, b_writes)) = (touched(a), touched(b));
    let meet = |x: &[Region], y: &[Region]| x.iter().any(|r| y.iter().any(|s| r.overlaps(s)));
    meet(&a_writes, &b_reads) || meet(&a_reads, &b_writes) || meet(&a_writes, &b_writes)
}

fn random_schedule(random: &mut Random, steps: usize) -> Schedule {
    let mut b = Builder::new();
    b.scratch(48);
    while b.len() < steps {
        let len = random.below(9);
        let mut region = |writable: bool| {
            let buf =
                [Buf::Output, Buf::Scratch, Buf::Input][random.below(3 - usize::from(writable))];
            Region::new(buf, random.below(40), len)
        };
        let (from, into) = (region(false), region(true));
        match random.below(4) {
            0 => _ = b.send(random.below(20) as u32, from),
            1 => _ = b.recv(random.below(20) as u32, into),
            _ if from.overlaps(&into) => {}
            2 => b.reduce(from, into, Order::FromLeft),
            _ => b.copy(from, into),
        }
    }
    b.finish()
}

#[test]
fn a_step_waits_for_what_it_conflicts_with_and_for_nothing_else() {
    let mut random = Random(1);
    for _ in 0..200 {
        let schedule = random_schedule(&mut random, 60);
        let n = schedule.steps().len();
        // reach[i] holds all steps that come after step i for sure.
        let mut reach = vec![vec![false; n]; n];
        for i in (0..n).rev() {
            for &next in schedule.after(i as u32) {
                let next = next as usize;
                assert!(
                    conflict(&schedule.steps[i], &schedule.steps[next]),
                    "{i} {next}\n{schedule}"
                );
                let further = reach[next].clone();
                reach[i].iter_mut().zip(further).for_each(|(r, f)| *r |= f);
                reach[i][next] = true;
            }
        }
        for (i, later) in reach.iter().enumerate() {
            for (j, waits) in later.iter().enumerate().skip(i + 1) {
                let must = conflict(&schedule.steps[i], &schedule.steps[j]);
                assert!(!must || *waits, "{j} does not wait for {i}\n{schedule}");
            }
        }
    }
}

/// Completes messages only when told to, and notes the order of posting.
#[derive(Default)]
struct Slow {
    posted: Vec<(char, u32, usize)>,
    finished: Vec<bool>,
    asked: usize,
}

impl Slow {
    fn post(&mut self, kind: char, peer: u32, offset: usize) -> Result<Option<usize>, ()> {
        self.posted.push((kind, peer, offset));
        self.finished.push(false);
        Ok(Some(self.finished.len() - 1))
    }
}

impl Exec for Slow {
    type Handle = usize;
    type Error = ();

    fn send(&mut self, peer: u32, from: Region) -> Result<Option<usize>, ()> {
        self.post('s', peer, from.offset)
    }

    fn recv(&mut self, peer: u32, into: Region) -> Result<Option<usize>, ()> {
        self.post('r', peer, into.offset)
    }

    fn done(&mut self, handle: usize) -> Result<bool, ()> {
        self.asked += 1;
        Ok(self.finished[handle])
    }

    fn reduce(&mut self, _: Region, _: Region, _: Order) -> Result<(), ()> {
        Ok(())
    }

    fn copy(&mut self, _: Region, _: Region) {}
}

#[test]
fn messages_of_a_pair_are_posted_in_order() {
    let mut b = Builder::new();
    // The first message to rank 1 has to wait; the second could go at once.
    b.recv(0, Region::output(0, 8));
    b.send(1, Region::output(0, 8));
    b.send(1, Region::input(8, 8));
    b.send(2, Region::input(16, 8));
    let schedule = b.finish();
    let (mut run, mut exec) = (Run::new(), Slow::default());
    for _ in 0..2 {
        run.start(&schedule);
        exec.posted.clear();
        assert_eq!(run.advance(&schedule, &mut exec), Ok(false));
        assert_eq!(exec.posted, [('r', 0, 0), ('s', 2, 16)]);
        exec.finished.fill(true);
        assert_eq!(run.advance(&schedule, &mut exec), Ok(false));
        assert_eq!(exec.posted[2..], [('s', 1, 0), ('s', 1, 8)]);
        exec.finished.fill(true);
        assert_eq!(run.advance(&schedule, &mut exec), Ok(true));
    }
}

#[test]
fn thousands_under_way_are_not_all_asked_each_time() {
    let mut b = Builder::new();
    for peer in 0..5000 {
        b.recv(peer, Region::output(peer as usize, 1));
    }
    let schedule = b.finish();
    let (mut run, mut exec) = (Run::new(), Slow::default());
    run.start(&schedule);
    assert_eq!(run.advance(&schedule, &mut exec), Ok(false));
    exec.asked = 0;
    assert_eq!(run.advance(&schedule, &mut exec), Ok(false));
    assert!(exec.asked <= 64, "{}", exec.asked);
    exec.finished.fill(true);
    assert_eq!(run.advance(&schedule, &mut exec), Ok(true));
}

fn simulate(schedules: &[Schedule]) -> Result<crate::simulate::Traffic, Failure> {
    let schedules: Vec<&Schedule> = schedules.iter().collect();
    let input = vec![vec![0; 64]; schedules.len()];
    let mut output = input.clone();
    check(
        &schedules,
        &input,
        &mut output,
        &|_, _, _| {},
        Sends::Synchronous,
        1,
    )
}

fn schedule(f: impl FnOnce(&mut Builder)) -> Schedule {
    let mut b = Builder::new();
    f(&mut b);
    b.finish()
}

#[test]
fn the_simulator_finds_deadlocks_lengths_and_orphans() {
    // Both send what they have yet to receive.
    let waits = |peer| {
        schedule(|b| {
            b.recv(peer, Region::output(0, 8));
            b.send(peer, Region::output(0, 8));
        })
    };
    let stuck = simulate(&[waits(1), waits(0)]).expect_err("deadlock");
    assert!(
        matches!(&stuck, Failure::Stuck(who) if who.len() == 2),
        "{stuck}"
    );

    let send = schedule(|b| _ = b.send(1, Region::input(0, 8)));
    let recv = schedule(|b| _ = b.recv(0, Region::output(0, 9)));
    let length = simulate(&[send.clone(), recv]).expect_err("8 is not 9");
    assert_eq!(
        length,
        Failure::Length {
            from: 0,
            to: 1,
            sent: 8,
            expected: 9
        }
    );

    let nothing = Schedule::default();
    assert!(simulate(&[send, nothing]).is_err());
}
