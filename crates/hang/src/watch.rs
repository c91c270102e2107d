//! Looks at a job again and again, and tells each thing once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::cause::{Case, Finding, enough, lasting, since};
use crate::graph::Graph;
use crate::rank::{Rank, State};
use crate::waits_for::Member;
use crate::words::Names;

/// How long a rank must have ended that has done so without a word: its launcher says more after a
/// while, and who waits for it may get an error.
const ENDED: Duration = Duration::from_secs(5);

/// After that number of looks in a row at which a waiting thread has told nothing, the thread is
/// taken to be in a handler of a signal, where it may do anything: a thread that is starved has a
/// turn now and then, and where all are stopped nobody looks.
const SILENT: u32 = 20;

/// A wait that was told: whether it is for ever, whose it is, and since when.
type Told = (bool, Member, u64);

/// What is known from earlier looks.
///
/// # Examples
/// Two ranks wait for each other, which is told once:
/// ```
/// use catena_hang::{Member, Names, Need, Rank, State, Thread, WaitsFor, Watch, What};
/// use std::time::Duration;
///
/// let rank = |rank: u32, other: u32| {
///     let mut need = Need::new(What::Message);
///     need.add(Member { job: 1, rank: other });
///     let waits = WaitsFor { needs: vec![need], ..WaitsFor::default() };
///     let thread = Thread { waits: Some(waits), ..Thread::default() };
///     let (host, state, threads) = ("h".to_string(), State::Running, vec![thread]);
///     let (at, others) = (0, false);
///     Rank { member: Member { job: 1, rank }, host, pid: 0, state, at, others, threads }
/// };
/// let (names, patience) = (Names::of_job(1), Duration::from_secs(30));
/// let mut watch = Watch::new(patience);
/// let mut look = || {
///     let ranks = vec![rank(0, 1), rank(1, 0)];
///     let found = watch.judge(&names, &ranks);
///     watch.see(ranks);
///     found.inspect(|found| watch.tell(found)).is_some()
/// };
/// assert_eq!([look(), look(), look()], [false, true, false]);
/// ```
#[derive(Debug)]
pub struct Watch {
    patience: Duration,
    /// Whether the job is on several hosts, of which not all may have told anything.
    are_several: bool,
    /// The last look.
    before: Vec<Rank>,
    /// What threads that wait have told last, and at how many looks in a row before the last one.
    silent: BTreeMap<(Member, u32), (u64, u32)>,
    /// How many calls threads that wait for nothing have made, and when that was seen first.
    quiet: BTreeMap<(Member, u32), (u64, u64)>,
    /// When it was first seen that processes have ended.
    ended: BTreeMap<Member, Instant>,
    told: BTreeSet<Told>,
}

impl Watch {
    /// Nothing was seen yet. A rank that has waited for less than `patience` is not said to wait
    /// long; each time that one is, the next one must have waited twice as long.
    pub const fn new(patience: Duration) -> Watch {
        Watch {
            patience,
            are_several: false,
            before: Vec::new(),
            silent: BTreeMap::new(),
            quiet: BTreeMap::new(),
            ended: BTreeMap::new(),
            told: BTreeSet::new(),
        }
    }

    /// Of a job whose ranks are on several hosts, also if a look shows those of one.
    pub const fn of_several_hosts(mut self) -> Watch {
        self.are_several = true;
        self
    }

    /// What is wrong, next to the last look, if anything is that was not told yet.
    pub fn judge(&self, names: &Names, now: &[Rank]) -> Option<Finding> {
        let mut ranks = lasting(&self.before, now);
        for rank in &mut ranks {
            for thread in &mut rank.threads {
                let last = self.silent.get(&(rank.member, thread.thread));
                let told = last.filter(|last| last.1 >= SILENT).map(|last| last.0);
                thread.waits.take_if(|it| Some(it.told) == told);
                let quiet = self.quiet.get(&(rank.member, thread.thread));
                let is_same =
                    quiet.is_some_and(|it| it.0 == thread.calls && thread.waits.is_none());
                thread.quiet_since = quiet.filter(|_| is_same).map(|it| it.1);
            }
        }
        let graph = Graph::new(&ranks);
        let held = graph.held();
        let case = Case {
            graph: &graph,
            names,
        };
        let mut likely = None;
        if !held.is_empty() {
            let is_new = |root: &BTreeSet<Member>| {
                let mut waits = case.waiting(root, &held).into_iter();
                waits.any(|it| !self.told.contains(&(true, it.member, since(it))))
            };
            let mut roots = graph.roots(&held);
            roots.retain(is_new);
            let waited = |root: &BTreeSet<Member>| case.waited_by(root, &held);
            let is_certain = |root: &&BTreeSet<Member>| self.is_certain(root, waited(root), &ranks);
            if let Some(root) = roots.iter().find(is_certain) {
                return Some(case.deadlock(root, &held));
            }
            // What others wait for was told.
            let root = roots.first()?;
            likely = (waited(root) >= self.patience).then(|| case.deadlock(root, &held));
        }
        let is_known = |member, since| self.told.contains(&(false, member, since));
        let slow = case.slow(self.patience, is_known)?;
        // The next look tells whether waits last of which that is not known yet.
        let may_be_over = |it: &&Rank| it.is_waiting() && !it.is_stuck();
        let doubtful: BTreeSet<_> = ranks
            .iter()
            .filter(may_be_over)
            .map(|it| it.member)
            .collect();
        let is_doubtful = |it: &Member| doubtful.contains(it);
        let mut waits = slow.waits.iter().map(|(member, _)| member);
        if slow.culprits.iter().all(is_doubtful) || waits.any(is_doubtful) {
            return None;
        }
        Some(match likely {
            // Something may still be under way. If it is not, they are the ones to look at.
            Some(likely) => likely.instead_of(slow),
            None => slow,
        })
    }

    /// Those are the ranks now: the next look is next to this one.
    pub fn see(&mut self, ranks: Vec<Rank>) {
        let has_ended = |rank: &&Rank| rank.state == State::Ended;
        for rank in ranks.iter().filter(has_ended) {
            self.ended.entry(rank.member).or_insert_with(Instant::now);
        }
        let mut silent = BTreeMap::new();
        for rank in &ranks {
            for (thread, waits) in rank.waits() {
                let whose = (rank.member, thread.thread);
                let last = self.silent.get(&whose).filter(|it| it.0 == waits.told);
                silent.insert(whose, (waits.told, last.map_or(0, |it| it.1 + 1)));
            }
        }
        let mut quiet = BTreeMap::new();
        for rank in &ranks {
            for thread in rank.threads.iter().filter(|it| it.waits.is_none()) {
                let whose = (rank.member, thread.thread);
                let known = self.quiet.get(&whose);
                let known = known.filter(|it| it.0 == thread.calls);
                quiet.insert(whose, *known.unwrap_or(&(thread.calls, rank.at)));
            }
        }
        (self.before, self.silent, self.quiet) = (ranks, silent, quiet);
    }

    /// The user was told that, and of all who waited at the last look.
    pub fn tell(&mut self, found: &Finding) {
        let waits = found.waits.iter();
        let waits = waits.map(|&(member, since)| (found.definite, member, since));
        self.told.extend(waits);
        if !found.definite {
            self.patience = self.patience.saturating_mul(2);
        }
        for rank in &self.before {
            let waits = rank.waits().map(|(_, it)| (false, rank.member, it.since));
            self.told.extend(waits);
        }
    }

    /// Whether it is to be believed already that ranks wait for ever, at least so long already, all
    /// of them for these: nothing can be under way that would change it.
    fn is_certain(&self, root: &BTreeSet<Member>, waited: Duration, ranks: &[Rank]) -> bool {
        let Some(enough) = enough(ranks, self.are_several) else {
            return false;
        };
        let has_ended = |rank: &&Rank| rank.state == State::Ended && root.contains(&rank.member);
        let mut gone = ranks.iter().filter(has_ended);
        let is_over = |rank: &Rank| {
            let since = self.ended.get(&rank.member);
            since.is_some_and(|since| since.elapsed() >= ENDED)
        };
        waited >= enough && gone.all(is_over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Thread;
    use crate::waits_for::{Need, Sent, WaitsFor, What};

    const SECOND: u64 = 1_000_000_000;

    /// A rank that has waited since that second for a message from another one; `None` if it runs.
    fn rank(number: u32, host: &str, waits: Option<(u32, u64, Sent)>) -> Rank {
        let waits = waits.map(|(other, since, sent)| {
            let mut need = Need::new(What::Message);
            need.add(Member {
                job: 1,
                rank: other,
            });
            WaitsFor {
                since: since * SECOND,
                told: 100 * SECOND,
                sent,
                needs: vec![need],
                ..WaitsFor::default()
            }
        });
        let thread = Thread {
            thread: 100 + number,
            call: "MPI_Recv".into(),
            waits,
            ..Thread::default()
        };
        Rank {
            member: Member {
                job: 1,
                rank: number,
            },
            host: host.into(),
            pid: 100 + number,
            state: State::Running,
            at: 100 * SECOND,
            others: false,
            threads: vec![thread],
        }
    }

    /// What is found of ranks that were the same at the look before.
    fn look(watch: &mut Watch, ranks: &[Rank]) -> Option<Finding> {
        watch.see(ranks.to_vec());
        let found = watch.judge(&Names::of_job(1), ranks);
        found.inspect(|found| watch.tell(found))
    }

    fn definite(ranks: &[Rank]) -> bool {
        look(&mut Watch::new(Duration::MAX), ranks).is_some_and(|it| it.definite)
    }

    #[test]
    fn what_is_under_way_may_still_arrive() {
        let pair = |hosts: [&str; 2], since, sent| {
            definite(&[
                rank(0, hosts[0], Some((1, since, Sent::Arrived))),
                rank(1, hosts[1], Some((0, since, sent))),
            ])
        };
        let (one, two) = (["a", "a"], ["a", "b"]);
        assert!(pair(one, 98, Sent::Arrived) && !pair(one, 10, Sent::UnderWay));
        assert!(!pair(two, 98, Sent::Arrived) && pair(two, 94, Sent::Arrived));
        assert!(
            !pair(two, 10, Sent::UnderWay),
            "a network may pause for minutes"
        );
        assert!(!pair(two, 90, Sent::Unknown) && pair(two, 70, Sent::Unknown));
    }

    #[test]
    fn where_hosts_have_yet_to_tell_a_circle_on_one_is_not_judged_at_once() {
        let ranks = |since| {
            [(0, 1), (1, 0)].map(|(me, other)| rank(me, "a", Some((other, since, Sent::Arrived))))
        };
        let mut watch = Watch::new(Duration::MAX).of_several_hosts();
        assert_eq!(look(&mut watch, &ranks(98)), None);
        assert!(look(&mut watch, &ranks(94)).is_some_and(|it| it.definite));
    }

    /// Since when a rank that others wait for has made no call, as far as looks have shown.
    #[test]
    fn who_computes_is_told_with_the_time_since_its_last_call() {
        let at = |second: u64, calls| {
            let mut ranks = [
                rank(0, "a", Some((1, 60, Sent::Arrived))),
                rank(1, "a", None),
            ];
            for rank in &mut ranks {
                rank.at = second * SECOND;
            }
            ranks[1].threads[0].calls = calls;
            ranks.to_vec()
        };
        let quiet = |looks: &[(u64, u64)]| {
            let mut watch = Watch::new(Duration::from_secs(30));
            looks
                .iter()
                .for_each(|&(second, calls)| watch.see(at(second, calls)));
            let found = watch.judge(&Names::of_job(1), &at(100, 7));
            let found = found.expect("rank 0 has waited for 40 s");
            let group = found.groups.iter().find(|it| it.ranks[0].rank == 1);
            group.expect("it is shown").waited.as_secs()
        };
        assert_eq!(quiet(&[(70, 7), (80, 7), (99, 7)]), 30);
        assert_eq!(quiet(&[(70, 6), (80, 7), (99, 7)]), 20);
        assert_eq!(quiet(&[(70, 7), (99, 6)]), 0, "it has made one since");
    }

    #[test]
    fn where_something_may_be_under_way_the_likely_culprit_is_named() {
        let sent = Sent::UnderWay;
        let waits = |other| Some((other, 60, sent));
        let mut watch = Watch::new(Duration::from_secs(30));
        let ranks = [
            rank(0, "a", waits(1)),
            rank(1, "b", waits(2)),
            rank(2, "b", waits(1)),
        ];
        let found = look(&mut watch, &ranks).expect("they have waited long");
        assert!(!found.definite);
        let culprits: Vec<_> = found.culprits.iter().map(|it| it.rank).collect();
        assert_eq!(culprits, [1, 2]);
        assert_eq!(look(&mut watch, &ranks), None, "it was told");
    }

    #[test]
    fn one_that_has_just_ended_may_still_be_told_of() {
        let mut watch = Watch::new(Duration::MAX);
        let mut gone = rank(1, "a", None);
        gone.state = State::Ended;
        let ranks = [rank(0, "a", Some((1, 10, Sent::Arrived))), gone];
        assert_eq!(look(&mut watch, &ranks), None);
        let long_ago = Instant::now().checked_sub(ENDED).unwrap();
        watch.ended.values_mut().for_each(|it| *it = long_ago);
        assert!(look(&mut watch, &ranks).is_some_and(|it| it.definite));
    }

    #[test]
    fn long_waits_are_told_once_and_then_more_and_more_seldom() {
        let mut watch = Watch::new(Duration::from_secs(30));
        let wait = |since| Some((3, since, Sent::Arrived));
        let at = |first, second| {
            let ranks = [rank(0, "a", wait(first)), rank(1, "a", wait(second))];
            [&ranks[..], &[rank(3, "a", None)]].concat()
        };
        let mut told =
            |first, second| look(&mut watch, &at(first, second)).map(|it| it.waits[0].0.rank);
        assert_eq!(told(75, 75), None);
        assert_eq!(told(60, 75), Some(0));
        assert_eq!(told(60, 75), None, "it was told");
        assert_eq!(told(60, 50), None, "it has waited less than twice as long");
        assert_eq!(told(60, 30), Some(1));
        assert_eq!(
            told(60, 30),
            None,
            "one that was told of with another one is known"
        );
    }

    #[test]
    fn a_deadlock_that_comes_later_is_told_and_one_of_that_time_only_once() {
        let pair = |first: u32, since| {
            let wait = |other| Some((other, since, Sent::Arrived));
            [
                rank(first, "a", wait(first + 1)),
                rank(first + 1, "a", wait(first)),
            ]
        };
        let mut watch = Watch::new(Duration::MAX);
        let early = [pair(0, 10), pair(2, 20)].concat();
        let mut culprits = |ranks: &[Rank]| {
            let found = look(&mut watch, ranks)?;
            assert!(found.definite);
            Some(found.culprits[0].rank)
        };
        assert_eq!(culprits(&early), Some(0), "it names the others, too");
        assert_eq!(culprits(&early), None);
        let late = [&early[..], &pair(4, 90)].concat();
        assert_eq!(culprits(&late), Some(4));
        assert_eq!(culprits(&late), None);
    }

    /// All are stopped, and go on: one has finished before the other one had a turn.
    #[test]
    fn one_that_had_no_turn_since_all_were_stopped_is_not_said_to_wait_long() {
        let mut watch = Watch::new(Duration::from_secs(30));
        let mut ranks = [
            rank(0, "a", Some((1, 95, Sent::Arrived))),
            rank(1, "a", None),
        ];
        let waits = ranks[0].threads[0].waits.as_mut().expect("it waits");
        waits.told = 99 * SECOND;
        watch.see(ranks.to_vec());
        ranks.iter_mut().for_each(|it| it.at += 100 * SECOND);
        ranks[1].state = State::Left;
        assert_eq!(watch.judge(&Names::of_job(1), &ranks), None);
    }

    /// One waits in vain, in a handler of a signal for ever: others wait for it, and tell so.
    #[test]
    fn one_that_never_looks_again_is_said_to_run() {
        for silent in [0, 1] {
            let mut watch = Watch::new(Duration::from_secs(30));
            let wait = |other| Some((other, 10, Sent::Arrived));
            let mut ranks = [rank(0, "a", wait(1)), rank(1, "a", wait(0))];
            ranks.iter_mut().for_each(|it| it.at += SECOND);
            let mut found = None;
            for _ in 0..2 * SILENT {
                watch.see(ranks.to_vec());
                ranks.iter_mut().for_each(|it| it.at += SECOND / 2);
                let other = &mut ranks[1 - silent];
                let waits = other.threads[0].waits.as_mut().expect("it waits");
                waits.told = other.at;
                found = found.or(watch.judge(&Names::of_job(1), &ranks));
            }
            let found = found.expect("somebody has waited long");
            assert!(!found.definite && found.culprits[0].rank as usize == silent);
            assert!(
                found.cause.contains("does not wait in MPI"),
                "{}",
                found.cause
            );
        }
    }

    #[test]
    fn a_rank_whose_wait_is_new_is_not_said_to_run() {
        let mut watch = Watch::new(Duration::from_secs(30));
        let wait = |other, since| Some((other, since, Sent::Arrived));
        let first = rank(0, "a", wait(1, 10));
        let ranks = |second| [first.clone(), rank(1, "a", second)];
        watch.see(ranks(None).to_vec());
        let now = ranks(wait(0, 98));
        assert_eq!(watch.judge(&Names::of_job(1), &now), None);
        assert!(look(&mut watch, &now).is_some_and(|it| it.definite));
        let now = ranks(None);
        assert!(look(&mut Watch::new(Duration::from_secs(30)), &now).is_some());
    }
}
