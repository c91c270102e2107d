use super::*;
use crate::rank::Thread;
use crate::waits_for::{Envelope, WaitsFor};

const JOB: u64 = 1;
const SECOND: u64 = 1_000_000_000;

fn of(rank: u32) -> Member {
    Member { job: JOB, rank }
}

fn need(what: What, of_ranks: &[u32]) -> Need {
    let mut need = Need::new(what);
    of_ranks.iter().for_each(|&rank| need.add(of(rank)));
    need.about = "MPI_COMM_WORLD".into();
    need
}

fn rank(number: u32, state: State, call: &str, waits: Option<WaitsFor>) -> Rank {
    Rank {
        member: of(number),
        host: "h".into(),
        pid: 100 + number,
        state,
        at: 40 * SECOND,
        others: false,
        threads: vec![Thread {
            thread: 100 + number,
            calls: 5,
            call: call.into(),
            waits,
            ..Thread::default()
        }],
    }
}

fn waiting(number: u32, call: &str, need: Need) -> Rank {
    let waits = WaitsFor {
        since: SECOND,
        told: 40 * SECOND,
        needs: vec![need],
        ..WaitsFor::default()
    };
    rank(number, State::Running, call, Some(waits))
}

fn receiving(number: u32, from: u32, tag: i32) -> Rank {
    let mut it = need(What::Message, &[from]);
    it.tag = Some(tag);
    waiting(number, "MPI_Recv", it)
}

fn in_barrier(number: u32, missing: &[u32]) -> Rank {
    let mut it = need(What::Collective, missing);
    it.call = Some(("MPI_Barrier".into(), 3));
    waiting(number, "MPI_Barrier", it)
}

/// Of a job of that many, of which each may revoke what others wait for.
fn of_tolerant(ranks: u32, mut rank: Rank) -> Rank {
    for waits in rank.threads.iter_mut().filter_map(|it| it.waits.as_mut()) {
        waits.by_others = ranks;
    }
    rank
}

fn running(number: u32) -> Rank {
    rank(number, State::Running, "MPI_Send", None)
}

fn found(ranks: &[Rank]) -> Option<Finding> {
    find(&Names::of_job(JOB), ranks, ranks, Duration::from_secs(30))
}

fn definite(ranks: &[Rank]) -> Finding {
    let finding = found(ranks).expect("something is wrong");
    assert!(finding.definite, "{finding:?}");
    finding
}

#[test]
fn who_has_left_is_the_culprit() {
    let ranks = [
        receiving(0, 1, 7),
        receiving(1, 2, 7),
        rank(2, State::Ended, "MPI_Finalize", None),
    ];
    let finding = definite(&ranks);
    assert_eq!(finding.culprits, [of(2)]);
    assert_eq!(
        finding.cause,
        "rank 2 has ended, and rank 1 waits for it: rank 1 waits in MPI_Recv for a message from \
         rank 2 with tag 7 on MPI_COMM_WORLD"
    );
    assert!(finding.remedy.starts_with("rank 2 must send that message"));
}

#[test]
fn the_one_that_is_not_in_the_collective_is_the_culprit() {
    let mut ranks: Vec<_> = (0..8).map(|it| in_barrier(it, &[5])).collect();
    ranks[5] = receiving(5, 0, 1);
    let finding = definite(&ranks);
    assert_eq!(finding.culprits, [of(5)]);
    assert!(
        finding
            .cause
            .starts_with("rank 5 waits in MPI_Recv for a message from rank 0 with tag 1"),
        "{}",
        finding.cause
    );
    assert!(
        finding
            .cause
            .contains(", and ranks 0 to 4, 6 and 7 wait in MPI_Barrier for rank 5"),
        "{}",
        finding.cause
    );
    assert_eq!(finding.groups[0].who, "rank 5");
    assert_eq!(finding.groups[1].who, "ranks 0 to 4, 6 and 7");
}

#[test]
fn a_message_that_is_not_the_one_is_told() {
    let mut first = receiving(0, 1, 5);
    let waits = first.threads[0].waits.as_mut().unwrap();
    waits.needs[0].unexpected.push(Envelope {
        source: 1,
        tag: 6,
        bytes: 80,
    });
    let finding = definite(&[first, in_barrier(1, &[0])]);
    assert_eq!(finding.culprits, [of(0)]);
    assert!(
        finding
            .cause
            .ends_with("what has come from there is one of 80 bytes with tag 6"),
        "{}",
        finding.cause
    );
}

#[test]
fn of_a_chain_of_receives_the_last_one_is_the_culprit() {
    let mut last = receiving(2, 3, 5);
    let barriers = || [in_barrier(3, &[0, 1, 2]), in_barrier(4, &[0, 1, 2])];
    let chain = |last: &Rank| {
        let first = [receiving(0, 1, 0), receiving(1, 2, 0), last.clone()];
        first.into_iter().chain(barriers()).collect::<Vec<_>>()
    };
    let finding = definite(&chain(&last));
    assert_eq!(finding.culprits, [of(2)], "{}", finding.cause);
    let begins = "rank 2 waits in MPI_Recv for a message from rank 3";
    assert!(finding.cause.starts_with(begins), "{}", finding.cause);

    let waits = last.threads[0].waits.as_mut().expect("it waits");
    waits.needs[0].unexpected = vec![Envelope {
        source: 3,
        tag: 6,
        bytes: 4,
    }];
    let finding = definite(&chain(&last));
    assert_eq!(finding.culprits, [of(2)], "{}", finding.cause);
    let came = "what has come from there is one of 4 bytes with tag 6";
    assert!(finding.cause.contains(came), "{}", finding.cause);
}

#[test]
fn two_that_send_to_each_other_are_both_culprits() {
    let sending = |number, to| waiting(number, "MPI_Send", need(What::Receive, &[to]));
    let finding = definite(&[sending(0, 1), sending(1, 0)]);
    assert_eq!(finding.culprits, [of(0), of(1)]);
    assert!(finding.remedy.contains("MPI_Sendrecv"));
}

#[test]
fn a_receive_from_anybody_ends_as_long_as_one_runs() {
    let mut any = need(What::Message, &[0, 1, 2]);
    any.any = true;
    let ranks = |last| {
        [
            waiting(0, "MPI_Recv", any.clone()),
            receiving(1, 0, 3),
            last,
        ]
    };
    assert_eq!(found(&ranks(running(2))).map(|it| it.definite), Some(false));
    let left = rank(2, State::Ended, "MPI_Finalize", None);
    assert_eq!(definite(&ranks(left)).culprits, [of(2)]);
    // A circle alone proves nothing: rank 2 will be released by rank 3.
    let mut four = Vec::from(ranks(receiving(2, 3, 1)));
    four.push(running(3));
    assert_eq!(found(&four).map(|it| it.definite), Some(false));
}

#[test]
fn any_of_several_requests_is_enough() {
    let mut both = receiving(0, 1, 7);
    let waits = both.threads[0].waits.as_mut().unwrap();
    waits.needs.push(need(What::Message, &[2]));
    let ranks = [both.clone(), receiving(1, 0, 7), running(2)];
    assert!(definite(&ranks).cause.starts_with("rank 0"));
    both.threads[0].waits.as_mut().unwrap().any = true;
    let ranks = [both, receiving(1, 0, 7), running(2)];
    assert_eq!(found(&ranks).map(|it| it.definite), Some(false));
}

#[test]
fn who_waits_for_itself_is_told_so() {
    let finding = definite(&[receiving(0, 0, 7), running(1)]);
    assert_eq!(finding.culprits, [of(0)]);
    assert!(finding.remedy.contains("waits for itself"));
}

#[test]
fn the_last_calls_of_the_culprit_are_told() {
    let mut culprit = receiving(0, 0, 7);
    culprit.threads[0].last = vec!["MPI_Init()".into(), "MPI_Recv(source=0)".into()];
    let mut other = running(1);
    other.threads[0].last = vec!["MPI_Send(dest=0)".into()];
    let finding = definite(&[culprit, other]);
    let lines = finding.lines();
    let last = lines.last().map(String::as_str);
    let told = "  the last calls of rank 0: MPI_Init(), MPI_Recv(source=0)";
    assert_eq!(last, Some(told));
    let json = finding.json(&Names::of_job(JOB));
    let told = r#""calls":[{"rank":"rank 0","last":["MPI_Init()","MPI_Recv(source=0)"]}]}"#;
    assert!(json.ends_with(told), "{json}");
}

#[test]
fn threads_of_one_rank_release_each_other() {
    let mut two = receiving(0, 1, 7);
    two.threads.push(Thread {
        thread: 200,
        call: "MPI_Recv".into(),
        ..Thread::default()
    });
    assert_eq!(
        found(&[two.clone(), receiving(1, 0, 7)]).map(|it| it.definite),
        Some(false)
    );
    // The other one waits, too, but can be released.
    two.threads[1].waits = Some(WaitsFor {
        needs: vec![need(What::Message, &[2])],
        ..WaitsFor::default()
    });
    let ranks = [two, receiving(1, 0, 7), running(2)];
    assert_eq!(found(&ranks).map(|it| it.definite), Some(false));
}

#[test]
fn a_wait_that_has_not_lasted_counts_for_nothing() {
    let now = [receiving(0, 1, 7), receiving(1, 0, 7)];
    let mut before = now.clone();
    before[0].threads[0].waits.as_mut().unwrap().since = 0;
    assert_eq!(
        find(&Names::of_job(JOB), &before, &now, Duration::MAX),
        None
    );
    before[0] = now[0].clone();
    before[0].threads[0].calls = 4;
    assert_eq!(
        find(&Names::of_job(JOB), &before, &now, Duration::MAX),
        None
    );
    assert!(find(&Names::of_job(JOB), &now, &now, Duration::MAX).is_some());
}

/// A thread sends what another one of its rank waits for, and ends between two looks.
#[test]
fn who_had_another_thread_at_the_first_look_may_be_released() {
    let now = [receiving(0, 0, 7), rank(1, State::Left, "", None)];
    let mut before = now.clone();
    before[0].others = true;
    let find = |before| find(&Names::of_job(JOB), before, &now, Duration::MAX);
    assert_eq!(find(&before), None);
    assert!(find(&now).is_some_and(|it| it.definite));
}

#[test]
fn who_runs_while_others_wait_long_is_named() {
    let ranks = [in_barrier(0, &[2]), in_barrier(1, &[2]), running(2)];
    let finding = found(&ranks).expect("they wait long");
    assert!(!finding.definite);
    assert_eq!(finding.culprits, [of(2)]);
    assert!(
        finding
            .cause
            .starts_with("rank 2 does not wait in MPI: its last call was MPI_Send; for 39 s"),
        "{}",
        finding.cause
    );
    assert_eq!(
        find(&Names::of_job(JOB), &ranks, &ranks, Duration::from_secs(60)),
        None
    );
}

#[test]
fn who_is_stopped_may_go_on() {
    let ranks = [
        in_barrier(0, &[1]),
        rank(1, State::Stopped, "MPI_Send", None),
    ];
    let finding = found(&ranks).expect("it waits long");
    assert!(!finding.definite);
    assert!(finding.cause.contains("is stopped by a signal"));
}

#[test]
fn who_was_stopped_may_not_have_had_a_turn_since() {
    let now = [in_barrier(0, &[1]), in_barrier(1, &[0])];
    definite(&now);
    let mut before = now.clone();
    for rank in &mut before {
        rank.state = State::Stopped;
    }
    let names = Names::of_job(JOB);
    let finding = find(&names, &before, &now, Duration::from_secs(30));
    assert!(finding.is_none_or(|it| !it.definite));
}

#[test]
fn who_does_not_tell_again_that_it_waits_may_do_something() {
    let looks = |told: [u64; 2]| {
        let [before, now] = [0, 1].map(|look| {
            let mut ranks = [in_barrier(0, &[1]), in_barrier(1, &[0])];
            for rank in &mut ranks {
                rank.at += look * SECOND;
                for waits in rank.threads.iter_mut().filter_map(|it| it.waits.as_mut()) {
                    waits.told = told[look as usize];
                }
            }
            ranks
        });
        let names = Names::of_job(JOB);
        let found = find(&names, &before, &now, Duration::from_secs(60));
        found.is_some_and(|it| it.definite)
    };
    assert!(looks([39 * SECOND, 40 * SECOND]));
    assert!(!looks([39 * SECOND, 39 * SECOND]));
}

/// One look at eight ranks takes three seconds on a busy host. Rank 0 has told of its wait after it
/// was seen, and before rank 7 has sent what it waits for; it had no turn since. Rank 7 waits for
/// the answer, and was seen last.
#[test]
fn what_has_come_to_a_rank_without_a_turn_is_no_deadlock() {
    let look = |begin: u64, told: u64| {
        let mut ranks: Vec<_> = (0..8).map(|it| in_barrier(it, &[7])).collect();
        ranks[0] = receiving(0, 7, 1);
        ranks[7] = receiving(7, 0, 2);
        for (at, rank) in ranks.iter_mut().enumerate() {
            rank.at = begin + 400_000_000 * at as u64;
            let waits = rank.threads[0].waits.as_mut().unwrap();
            waits.told = if at == 0 { told } else { rank.at };
        }
        ranks
    };
    let find = |told| {
        let (before, now) = (look(40 * SECOND, 40 * SECOND), look(44 * SECOND, told));
        let found = find(
            &Names::of_job(JOB),
            &before,
            &now,
            30 * Duration::from_secs(1),
        );
        found.expect("they wait long").definite
    };
    assert!(!find(40 * SECOND + SECOND / 2));
    assert!(find(43 * SECOND));
}

/// Of ranks on a busy host some have not told again, whichever these are: nobody else is said to be
/// the culprit, nor that one in the barrier does not wait, and nothing is certain.
#[test]
fn ranks_without_a_turn_do_not_change_who_is_named() {
    let mut before: Vec<_> = (0..9).map(|it| in_barrier(it, &[7])).collect();
    before[7] = receiving(7, 8, 1);
    before
        .iter_mut()
        .for_each(|it| it.threads[0].place = "a.c:3".into());
    for silent in 0..1 << before.len() {
        let mut now = before.clone();
        for (at, rank) in now.iter_mut().enumerate() {
            rank.at += SECOND;
            let waits = rank.threads[0].waits.as_mut().unwrap();
            waits.told = if silent >> at & 1 == 1 { 39 } else { 41 } * SECOND;
        }
        let found = find(&Names::of_job(JOB), &before, &now, Duration::from_secs(1));
        let found = found.expect("they wait");
        assert_eq!(found.culprits, [of(7)], "{silent:b}: {}", found.cause);
        assert!(!found.definite || silent >> 7 & 1 == 0, "{silent:b}");
        let all: Vec<_> = found.groups.iter().map(|it| it.who.as_str()).collect();
        assert_eq!(all, ["rank 7", "ranks 0 to 6 and 8"], "{silent:b}");
        assert!(!found.cause.contains("does not wait"), "{}", found.cause);
    }
}

#[test]
fn a_call_whose_place_is_not_known_is_not_another_one() {
    let mut ranks: Vec<_> = (0..6).map(|it| in_barrier(it, &[4])).collect();
    let mut other = need(What::Collective, &[1]);
    other.call = Some(("MPI_Bcast with root 0".into(), 3));
    ranks[4] = waiting(4, "MPI_Bcast", other);
    ranks
        .iter_mut()
        .for_each(|it| it.threads[0].place = "a.c:3".into());
    ranks[1].threads[0].place.clear();
    assert_eq!(definite(&ranks).culprits, [of(4)]);
}

#[test]
fn who_waits_for_the_launcher_or_a_stranger_can_be_released() {
    let mut accept = need(What::Meeting, &[]);
    accept.open = true;
    let finding = found(&[waiting(0, "MPI_Comm_accept", accept)]).expect("it waits long");
    assert!(!finding.definite);
    assert!(finding.cause.contains("for another program to connect"));
}

#[test]
fn of_other_jobs_the_job_is_named() {
    let mut from_parent = Need::new(What::Message);
    from_parent.add(Member { job: 9, rank: 0 });
    let mut child = waiting(0, "MPI_Recv", from_parent);
    child.member.job = 2;
    let mut parent = receiving(0, 0, 1);
    parent.member.job = 9;
    parent.threads[0].waits.as_mut().unwrap().needs[0].of = vec![(Member { job: 2, rank: 0 }, 1)];
    let ranks = [child, parent];
    let finding = find(&Names::of_job(9), &ranks, &ranks, Duration::MAX).expect("a deadlock");
    assert!(
        finding
            .cause
            .contains("rank 0 of job 2 waits in MPI_Recv for a message from rank 0"),
        "{}",
        finding.cause
    );
}

#[test]
fn ten_thousand_ranks_take_no_time() {
    let count = 10_000;
    let chain: Vec<_> = (0..count)
        .map(|it| receiving(it, (it + 1) % count, 0))
        .collect();
    assert_eq!(definite(&chain).culprits.len(), count as usize);
    let pairs: Vec<_> = (0..count).map(|it| receiving(it, it ^ 1, 0)).collect();
    let mut watch = crate::Watch::new(Duration::MAX);
    watch.see(pairs.clone());
    let found = watch.judge(&Names::of_job(JOB), &pairs);
    let found = found.expect("all wait for ever");
    assert_eq!(found.culprits, [of(0), of(1)]);
    watch.tell(&found);
    assert_eq!(watch.judge(&Names::of_job(JOB), &pairs), None);
}

#[test]
fn who_is_in_finalize_while_another_one_waits_for_it_is_the_culprit() {
    let together = |number: u32| {
        let mut it = need(What::Agreement, &[0, 1, 2]);
        it.together = true;
        waiting(number, "MPI_Finalize", it)
    };
    let ranks = [receiving(0, 2, 7), together(1), together(2)];
    let finding = definite(&ranks);
    assert_eq!(finding.culprits, [of(2)]);
    assert!(
        finding
            .cause
            .starts_with("rank 2 waits in MPI_Finalize for rank 0"),
        "{}",
        finding.cause
    );
}

#[test]
fn who_owes_its_part_and_is_in_a_collective_call_is_the_culprit() {
    for what in [What::Epoch, What::Part] {
        let waiter = || waiting(0, "MPI_Wait", need(what, &[1]));
        let finding = definite(&[waiter(), in_barrier(1, &[0]), in_barrier(2, &[0])]);
        assert_eq!(finding.culprits, [of(1)]);
        let named = finding.cause.starts_with("rank 1 waits in MPI_Barrier");
        assert!(named, "{}", finding.cause);
        // That one is not at fault if it waits for something of the waiter's in turn.
        let finding = definite(&[waiter(), receiving(1, 0, 3)]);
        assert_eq!(finding.culprits, [of(0)]);
    }
    let mut own = need(What::Part, &[0]);
    own.bytes = 3;
    let finding = definite(&[waiting(0, "MPI_Wait", own)]);
    let cause =
        "rank 0 waits in MPI_Wait until MPI_Pready is called for 3 more parts of its message";
    assert!(finding.cause.starts_with(cause), "{}", finding.cause);
    assert!(finding.remedy.starts_with("MPI_Pready"));
}

#[test]
fn ten_thousand_ranks_that_come_together_take_no_time() {
    let all: Vec<u32> = (0..10_000).collect();
    let mut it = need(What::Collective, &all);
    it.together = true;
    let mut ranks: Vec<_> = all
        .iter()
        .map(|&number| waiting(number, "MPI_Barrier", it.clone()))
        .collect();
    ranks[77] = receiving(77, 5, 1);
    assert_eq!(definite(&ranks).culprits, [of(77)]);
}

/// Of chains each rank is released by the next one; of ranks that come together, and of those that
/// receive from anybody, all are named by each.
#[test]
fn ten_thousand_ranks_that_others_release_take_no_time() {
    let count = 10_000;
    let slow = |ranks: &[Rank]| {
        let found = found(ranks).expect("some have waited long");
        assert!(!found.definite, "{}", found.cause);
    };
    let up = (0..count - 1).map(|it| receiving(it, it + 1, 0));
    slow(&up.chain([running(count - 1)]).collect::<Vec<_>>());
    let down = (1..count).map(|it| receiving(it, it - 1, 0));
    slow(&down.chain([running(0)]).collect::<Vec<_>>());
    let all: Vec<u32> = (0..count).collect();
    let mut any = need(What::Message, &all);
    any.any = true;
    let receive = |&number: &u32| waiting(number, "MPI_Recv", any.clone());
    let mut receiving: Vec<_> = all.iter().map(receive).collect();
    let names = Names::of_job(JOB);
    let watch = crate::Watch::new(Duration::MAX);
    assert_eq!(
        watch.judge(&names, &receiving),
        None,
        "it is the first look"
    );
    let graph = Graph::new(&receiving);
    assert_eq!(graph.roots(&graph.held())[0].len(), count as usize);
    receiving[77] = running(77);
    slow(&receiving);
    let mut together = need(What::Collective, &all);
    together.together = true;
    let half = all.iter().take(all.len() / 2);
    let half = half.map(|&number| waiting(number, "MPI_Barrier", together.clone()));
    slow(&half.collect::<Vec<_>>());
}

#[test]
fn a_message_that_nobody_receives_is_told_of_a_receive_from_anybody() {
    let mut any = need(What::Message, &[0, 1, 2]);
    any.any = true;
    any.tag = Some(5);
    any.unexpected = vec![Envelope {
        source: 1,
        tag: 6,
        bytes: 4,
    }];
    let first = waiting(0, "MPI_Recv", any);
    let finding = definite(&[first, in_barrier(1, &[0]), in_barrier(2, &[0])]);
    assert_eq!(finding.culprits, [of(0)]);
    let came = "what has come from there is one of 4 bytes with tag 6";
    assert!(finding.cause.ends_with(came), "{}", finding.cause);
}

#[test]
fn what_was_under_way_at_the_look_before_may_have_come_since_another_look() {
    let pair = |sent| {
        let mut ranks = [receiving(0, 1, 7), receiving(1, 0, 7)];
        ranks[0].threads[0].waits.as_mut().expect("it waits").sent = sent;
        ranks
    };
    let sent = |before, now| {
        let ranks = lasting(&pair(before), &pair(now));
        ranks[0].threads[0].waits.as_ref().expect("it lasts").sent
    };
    use crate::waits_for::Sent::{Arrived, UnderWay, Unknown};
    assert_eq!(sent(UnderWay, Arrived), UnderWay);
    assert_eq!(sent(Arrived, Unknown), Unknown);
    assert_eq!(sent(Arrived, Arrived), Arrived);
}

#[test]
fn who_has_finalized_may_begin_again() {
    let left = rank(1, State::Left, "MPI_Session_finalize", None);
    let finding = found(&[receiving(0, 1, 7), left]).expect("it waits long");
    assert!(!finding.definite);
}

#[test]
fn a_thread_of_which_nothing_is_known_may_do_anything() {
    let mut main = receiving(0, 1, 7);
    main.others = true;
    let finding = found(&[main, receiving(1, 0, 7)]).expect("they wait long");
    assert!(!finding.definite);
}

#[test]
fn who_may_be_released_by_any_that_runs_does_not_wait_for_ever() {
    let two = || [receiving(0, 1, 5), receiving(1, 0, 5)].map(|it| of_tolerant(3, it));
    let find = |third: Option<Rank>| {
        let ranks: Vec<_> = two().into_iter().chain(third).collect();
        super::find(&Names::of_job(JOB), &ranks, &ranks, Duration::MAX)
    };
    assert!(find(None).is_none(), "one that nobody has seen runs");
    assert!(find(Some(running(2))).is_none());
    assert!(find(Some(of_tolerant(3, receiving(2, 1, 5)))).is_some());
    assert!(find(Some(rank(2, State::Left, "MPI_Finalize", None))).is_some());
    assert!(find(Some(rank(2, State::Ended, "MPI_Recv", None))).is_some());
}

/// Ranks of a grid meet in their rows and columns, some here and some there.
#[test]
fn communicators_of_one_name_are_not_taken_for_one() {
    let joining = |number: u32, which: u64, members: &[u32]| {
        let mut it = need(What::Collective, members);
        it.together = true;
        it.about = "a communicator of 2 ranks".into();
        it.which = which;
        waiting(number, "MPI_Barrier", it)
    };
    let apart = [
        joining(0, 1, &[0, 1]),
        joining(1, 2, &[1, 3]),
        joining(2, 3, &[0, 2]),
        joining(3, 4, &[2, 3]),
    ];
    let finding = definite(&apart);
    assert_eq!(finding.culprits, [of(0), of(1), of(2), of(3)]);
    assert!(
        finding
            .cause
            .starts_with("rank 0 waits in MPI_Barrier for rank 1 on a communicator of 2 ranks"),
        "{}",
        finding.cause
    );
    let together = [joining(0, 1, &[0, 1]), joining(1, 1, &[0, 1])];
    assert!(
        !found(&together).is_some_and(|it| it.definite),
        "both have come"
    );
}

#[test]
fn what_a_user_asks_for_is_no_more_certain_than_what_is_told_by_itself() {
    let pair = |hosts: [&str; 2], waited: u64, sent| {
        let mut ranks = [receiving(0, 1, 7), receiving(1, 0, 7)];
        for (rank, host) in ranks.iter_mut().zip(hosts) {
            rank.host = host.into();
            let waits = rank.threads[0].waits.as_mut().expect("it waits");
            (waits.since, waits.sent) = (rank.at - waited * SECOND, sent);
        }
        let patience = Duration::from_secs(1);
        let found = find(&Names::of_job(JOB), &ranks, &ranks, patience);
        let found = found.expect("they have waited long");
        assert_eq!(found.culprits, [of(0), of(1)]);
        found.definite
    };
    let (one, two) = (["a", "a"], ["a", "b"]);
    assert!(pair(one, 2, Sent::Arrived) && !pair(one, 30, Sent::UnderWay));
    assert!(!pair(two, 2, Sent::Arrived) && pair(two, 6, Sent::Arrived));
    assert!(!pair(two, 6, Sent::Unknown) && pair(two, 30, Sent::Unknown));
}

#[test]
fn one_that_has_ended_between_the_looks_may_have_sent_something() {
    let ranks = |state| [receiving(0, 1, 7), rank(1, state, "MPI_Send", None)];
    let (before, now) = (ranks(State::Running), ranks(State::Ended));
    let find = |before: &[Rank]| find(&Names::of_job(JOB), before, &now, Duration::from_secs(1));
    let is_certain = |before: &[Rank]| find(before).expect("rank 0 has waited long").definite;
    assert!(!is_certain(&before) && is_certain(&now));
}

/// On a busy host most of them had no turn.
#[test]
fn those_whose_waits_may_be_over_count_among_those_that_do_the_same() {
    let needing = |number, call, from| waiting(number, call, need(What::Message, &[from]));
    let mut ranks: Vec<_> = (0..4).map(|it| needing(it, "MPI_Wait", 4)).collect();
    ranks.push(needing(4, "MPI_Recv", 0));
    for rank in &mut ranks[1..4] {
        let waits = rank.threads[0].waits.as_mut().expect("it waits");
        waits.told = 39 * SECOND;
    }
    let finding = definite(&ranks);
    assert_eq!(finding.culprits, [of(4)], "{}", finding.cause);
}
