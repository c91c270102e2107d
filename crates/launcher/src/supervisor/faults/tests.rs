//! What is done about failures, without a node.

use std::rc::Rc;

use catena_job::App;

use super::*;

/// Jobs that are connected, by the numbers of their processes.
#[derive(Default)]
struct Known {
    ties: Vec<Vec<Range<u32>>>,
    guests: u32,
}

impl Ties for Known {
    fn connected_to(&mut self, number: u32) -> Vec<Range<u32>> {
        let has = |jobs: &&Vec<Range<u32>>| jobs.iter().any(|job| job.contains(&number));
        self.ties.iter().find(has).cloned().unwrap_or_default()
    }

    fn is_guest(&self, number: u32) -> bool {
        number < self.guests
    }

    fn has_guests(&self) -> bool {
        self.guests > 0
    }
}

/// Processes of jobs with these sizes, all of which use MPI.
fn processes(sizes: &[u32]) -> Processes {
    let app = Rc::new(App {
        program: "./a".into(),
        ..App::default()
    });
    let jobs = (0u32..).zip(sizes);
    let all = jobs.flat_map(|(job, &size)| (0..size).map(move |rank| (job, rank)));
    let process = |(job, rank): (u32, u32)| Process {
        pid: 100 * job + rank + 1,
        joined: Some(100 * job + rank + 1),
        in_mpi: Some(Instant::now()),
        ..Process::new(app.clone(), 0, "h".into(), job, rank)
    };
    all.map(process).collect()
}

fn faults(env: &[(&str, &str)]) -> Faults {
    let vars = env.iter();
    let plan = Plan {
        env: vars
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        hosts: vec!["h".to_string()],
        ..Plan::default()
    };
    Faults::new(&plan)
}

/// The commands among actions, and what is said.
fn told(actions: &[Action]) -> (Vec<&NodeCommand>, Vec<&str>) {
    let commands = actions.iter().filter_map(|action| match action {
        Action::Command(command) => Some(command),
        _ => None,
    });
    let said = actions.iter().filter_map(|action| match action {
        Action::Say(text) => Some(text.as_str()),
        _ => None,
    });
    (commands.collect(), said.collect())
}

#[test]
fn a_failure_ends_all_once() {
    let (mut faults, mut all) = (faults(&[]), processes(&[3]));
    let mut ties = Known::default();
    let failure = Failure::new(7, "broken".to_string()).of(1);
    let actions = faults.fail(failure, Duration::ZERO, &mut all, &mut ties);
    let signal = libc::SIGTERM;
    assert_eq!(told(&actions).0, [&NodeCommand::End { signal }]);
    assert!(matches!(actions[..], [.., Action::After(_, Task::Kill)]));
    // What follows from it is no failure of its own.
    let second = Failure::new(9, "later".to_string()).of(2);
    assert_eq!(faults.fail(second, Duration::ZERO, &mut all, &mut ties), []);
    let words = faults.cause_in_words(&all);
    assert_eq!(
        words.as_deref(),
        Some("broken; the other 2 ranks were ended")
    );
    assert_eq!(faults.status(false, None), 7);
}

#[test]
fn hearsay_gives_way_to_its_cause() {
    let (mut faults, mut all) = (faults(&[]), processes(&[3]));
    let mut ties = Known::default();
    let heard = Failure::new(1, "rank 2 is gone".to_string())
        .of(0)
        .hearsay();
    let actions = faults.fail(heard, HEARSAY, &mut all, &mut ties);
    assert_eq!(actions, [Action::After(HEARSAY, Task::End)]);
    // The cause comes in time.
    all[2].running = false;
    all[2].exit = Some(Exit::Signal(11));
    let actions = faults.ended(2, Exit::Signal(11), &all, false);
    let [Action::Died(2, _), Action::Fail(cause, _)] = &actions[..] else {
        panic!("{actions:?}");
    };
    let actions = faults.fail(cause.clone(), Duration::ZERO, &mut all, &mut ties);
    assert_eq!(told(&actions).0.len(), 1);
    assert_eq!(faults.status(false, None), 139);
}

#[test]
fn who_is_said_to_be_gone_may_have_left_silently() {
    let (mut faults, mut all) = (faults(&[]), processes(&[2]));
    all[1].running = false;
    all[1].exit = Some(Exit::Code(0));
    let heard = Failure::new(1, "gone".to_string()).of(0).hearsay();
    let actions = faults.fail(heard, HEARSAY, &mut all, &mut Known::default());
    // That is known already, and nobody is waited for.
    assert_eq!(told(&actions).0.len(), 1);
    let words = faults.cause_in_words(&all).unwrap();
    assert!(
        words.contains("rank 1 on host h") && words.contains(SILENTLY),
        "{words}"
    );
}

#[test]
fn a_failure_ends_only_those_that_are_connected() {
    let (mut faults, mut all) = (faults(&[]), processes(&[2, 2, 1]));
    let mut ties = Known {
        ties: vec![vec![2..4, 4..5], vec![0..2]],
        ..Known::default()
    };
    let failure = Failure::new(5, "rank 0 fails".to_string()).of(2);
    assert!(faults.may_spare(&failure, &all));
    let actions = faults.fail(failure, Duration::ZERO, &mut all, &mut ties);
    let (commands, said) = told(&actions);
    let signal = libc::SIGTERM;
    let of = |numbers| NodeCommand::SignalJob { numbers, signal };
    assert_eq!(commands, [&of(2..4), &of(4..5)]);
    assert_eq!(said, ["rank 0 fails; the other 2 ranks were ended"]);
    let abandoned: Vec<bool> = all.iter().map(|it| it.abandoned).collect();
    assert_eq!(abandoned, [false, false, true, true, true]);
    // The status tells of it in the end; the first job has not failed.
    assert!(!faults.has_failed());
    assert_eq!(faults.status(false, faults.cause().map(|it| it.status)), 5);
    // Who is not ended in time is killed.
    let kill = Task::EndSome(1, libc::SIGKILL);
    assert!(
        actions
            .iter()
            .any(|it| matches!(it, Action::After(_, task) if *task == kill))
    );
    let actions = faults.end_some(1, libc::SIGKILL, &mut all);
    assert_eq!((told(&actions).0.len(), told(&actions).1.len()), (2, 0));
    // Nobody else is left: the next failure ends all.
    let last = Failure::new(6, "all".to_string()).of(0);
    let actions = faults.fail(last, Duration::ZERO, &mut all, &mut ties);
    assert_eq!(told(&actions).0, [&NodeCommand::End { signal }]);
}

#[test]
fn a_job_that_tolerates_deaths_goes_on() {
    let mut faults = faults(&[("CATENA_FAULT_TOLERANCE", "true")]);
    let mut all = processes(&[2]);
    all[1].running = false;
    all[1].exit = Some(Exit::Signal(9));
    let actions = faults.ended(1, Exit::Signal(9), &all, false);
    assert_eq!(actions, [Action::Died(1, Ended::Signal(9))]);
    let command = faults.died(1, Ended::Signal(9));
    assert!(matches!(
        command,
        NodeCommand::Died {
            rank: 1,
            epoch: 1,
            ..
        }
    ));
    assert_eq!(faults.cause().map(|it| it.status), Some(137));
}

#[test]
fn a_failure_after_finalize_waits_for_those_that_may_need_it() {
    let (mut faults, mut all) = (faults(&[]), processes(&[2]));
    all[1].running = false;
    all[1].finalized = true;
    all[1].exit = Some(Exit::Code(3));
    let actions = faults.ended(1, Exit::Code(3), &all, false);
    assert!(matches!(actions[..], [Action::Died(1, _)]));
    let mut ties = Known::default();
    let (judged, next) = faults.judge_late(&all, &mut ties).unwrap();
    assert!(judged.is_empty() && next.is_some());
    all[0].running = false;
    let (judged, next) = faults.judge_late(&all, &mut ties).unwrap();
    assert!(matches!(judged[..], [Judged::Survived(_)]) && next.is_none());
    assert!(faults.judge_late(&all, &mut ties).is_none());
}

#[test]
fn a_second_interrupt_kills() {
    let (mut faults, all) = (faults(&[]), processes(&[1]));
    let first = faults.interrupt(libc::SIGINT, false);
    assert!(matches!(first, Some(Action::Fail(..))));
    // Another signal at once is one that somebody else has sent.
    let kill = faults.interrupt(libc::SIGQUIT, false);
    let signal = libc::SIGKILL;
    let groups = true;
    assert_eq!(
        kill,
        Some(Action::Command(NodeCommand::Signal { signal, groups }))
    );
    assert!(
        matches!(faults.mention_wait(&all), Some(Action::Say(text)) if text.contains("1 rank has"))
    );
}

#[test]
fn guests_are_told_before_they_end() {
    let (mut faults, mut all) = (faults(&[]), processes(&[1, 1]));
    let mut ties = Known {
        guests: 1,
        ..Known::default()
    };
    let failure = Failure::new(1, "text".to_string());
    let actions = faults.fail(failure, Duration::ZERO, &mut all, &mut ties);
    let said = actions.iter().position(|it| matches!(it, Action::Say(_)));
    let end = actions
        .iter()
        .position(|it| matches!(it, Action::Command(_)));
    assert!(said < end && matches!(actions[said.unwrap() + 1], Action::Flush));
    // Once.
    assert_eq!(faults.cause_in_words(&all), None);
}
