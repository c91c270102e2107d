//! What the nodes of a job tell each other of ranks that wait long, where no launcher asks them.
//!
//! The first rank of each node that waits long looks at its node ([`own_watch`](crate::own_watch)).
//! Of these the one of the first node judges what all see; the others send it what they see:
//!
//! ```text
//! a node's looker                         a rank of an earlier node
//!    Report: the ranks that wait  ----->     keeps it, if it judges itself
//!                                 <-----  Answer: who judges or looks, itself or another one
//! ```
//!
//! A looker asks those that it waits for, and those of earlier nodes in turn. One that does not
//! answer computes, or has ended. In programs with sessions alone some may have left, so a rank
//! calls those with whom it has talked: one that is called and waits looks as well, and judges.
//! Where nobody of the earlier nodes answers that it looks, this looker is the one that judges.
//! Nothing of this happens before ranks have waited for a second, and each node sends at most a
//! report each second.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use catena_boot::Job;
use catena_hang::{Need, Rank};

/// How long from one report of a node to the next, and more for each node there is.
const EVERY: Duration = Duration::from_secs(1);
const FOR_EACH: Duration = Duration::from_millis(10);

/// How long a rank may take to answer before another one is asked.
const ANSWERS: Duration = Duration::from_millis(2500);

/// Most bytes of a report: of a node with more, nothing is said.
const LONGEST: usize = 1 << 20;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// The ranks of a node that wait.
    Report = 1,
    /// Which rank is to have the reports; [`NOBODY`] if none of the node looks.
    Answer = 2,
}

impl What {
    /// What a number says, if anything.
    pub fn of(number: u8) -> Option<What> {
        [What::Report, What::Answer]
            .into_iter()
            .find(|it| *it as u8 == number)
    }
}

/// No rank.
const NOBODY: u32 = u32::MAX;

/// A message to a rank of this job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// Whom it is for.
    pub to: u32,
    /// What it says.
    pub what: What,
    /// The rest.
    pub bytes: Vec<u8>,
}

/// What a rank knows of other nodes.
#[derive(Debug, Default)]
pub(crate) struct Abroad {
    /// The ranks of earlier nodes, the first ones of all of them before the second ones.
    earlier: Option<Vec<u32>>,
    /// Which of them is asked, and since when without an answer; and how many were asked.
    asked: Option<u32>,
    since: Option<Instant>,
    turn: usize,
    /// When this wait was first looked at, and when last; when the last report was sent.
    begun: Option<Instant>,
    looked: Option<Instant>,
    sent: Option<Instant>,
    /// When the one that is asked has said last that it judges.
    answered: Option<Instant>,
    /// When this one has judged last.
    judged: Option<Instant>,
    /// What is to be sent.
    outbox: Vec<Parcel>,
    /// What has come since the last look, by node, and when.
    reports: BTreeMap<u32, (Instant, Vec<Rank>)>,
}

static ABROAD: Mutex<Option<Abroad>> = Mutex::new(None);

/// What this rank knows of other nodes; nothing where its job has one, or somebody else looks.
fn known() -> MutexGuard<'static, Option<Abroad>> {
    ABROAD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with what is known, if nodes tell each other anything.
pub(crate) fn with<R>(run: impl FnOnce(&mut Abroad) -> R) -> Option<R> {
    known().as_mut().map(run)
}

/// This rank tells other nodes of its own from now on, if there are others, and is told.
pub(crate) fn begin(job: &Job) {
    let mut nodes = job.node_of.iter();
    let first = nodes.next();
    *known() = nodes.any(|it| Some(it) != first).then(Abroad::default);
}

/// Whether nodes tell each other of ranks that wait.
pub fn is_told() -> bool {
    known().is_some()
}

/// Whether there is something to be sent.
pub fn has_outgoing() -> bool {
    known().as_ref().is_some_and(|it| !it.outbox.is_empty())
}

/// What is to be sent: whoever takes it sends it.
pub fn take_outgoing() -> Vec<Parcel> {
    with(|it| std::mem::take(&mut it.outbox)).unwrap_or_default()
}

/// How long from one report of a node to the next.
fn every(job: &Job) -> Duration {
    EVERY + FOR_EACH * u32::try_from(job.hosts.len()).unwrap_or(u32::MAX >> 8)
}

/// How long from one judgement to the next: each node has reported in between.
fn judges_every(job: &Job) -> Duration {
    every(job) * 5 / 2
}

/// The node of a rank, if there is that.
fn node(job: &Job, rank: u32) -> Option<u32> {
    job.node_of.get(rank as usize).copied()
}

/// The ranks of the nodes before that of this one, the first ones of all of them before the second
/// ones.
fn of_earlier_nodes(job: &Job) -> Vec<u32> {
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    let all = (0..job.size).zip(&job.node_of);
    let earlier = all.filter(|(_, it)| Some(**it) < node(job, job.rank));
    let mut earlier: Vec<_> = earlier
        .map(|(rank, &node)| {
            let place = seen.entry(node).or_insert(0);
            *place += 1;
            (*place, node, rank)
        })
        .collect();
    earlier.sort_unstable();
    earlier.into_iter().map(|(.., rank)| rank).collect()
}

/// The ranks of earlier nodes that this one waits for, some of them.
fn awaited(job: &Job, ranks: &[Rank]) -> Vec<u32> {
    const MOST: usize = 64;
    let own = ranks.iter().find(|it| it.member.rank == job.rank);
    let needs = own.into_iter().flat_map(Rank::needs).filter(|it| !it.any);
    let members = needs.flat_map(Need::members).take(MOST);
    let is_earlier = |rank: &u32| node(job, *rank) < node(job, job.rank);
    let ranks = members.filter(|it| it.job == job.job_id).map(|it| it.rank);
    ranks
        .filter(|it| *it < job.size)
        .filter(is_earlier)
        .collect()
}

/// What was to be sent to that rank was not, as this one must not call it: another one is asked at
/// the next look.
pub fn is_out_of_reach(rank: u32) {
    with(|it| it.is_out_of_reach(rank));
}

impl Abroad {
    fn is_out_of_reach(&mut self, rank: u32) {
        if self.asked.take_if(|asked| *asked == rank).is_some() {
            (self.since, self.answered, self.sent) = (None, None, None);
        }
    }

    /// Whether other nodes have told of their ranks since this one has judged last.
    pub fn has_reports(&self) -> bool {
        !self.reports.is_empty()
    }

    /// This rank of a job looks at its node, and sees that. What other nodes have reported to it,
    /// if it is to judge now.
    pub fn look(&mut self, job: &Job, ranks: &[Rank], now: Instant) -> Option<Vec<Rank>> {
        let age = |since: Option<Instant>| since.map(|since| now.saturating_duration_since(since));
        let is_old = |since, limit| age(since).is_none_or(|it| it >= limit);
        if is_old(self.looked, 5 * every(job)) {
            // It is another wait.
            (self.asked, self.since, self.answered) = (None, None, None);
            (self.begun, self.turn) = (Some(now), 0);
        }
        self.looked = Some(now);
        if is_old(self.sent, every(job)) {
            self.report(job, ranks, now);
        }
        let has_earlier = self.earlier.as_ref().is_some_and(|it| !it.is_empty());
        let is_judged_elsewhere = match self.answered {
            Some(_) => !is_old(self.answered, every(job) + ANSWERS),
            None => has_earlier && !is_old(self.begun, ANSWERS),
        };
        if is_judged_elsewhere || !is_old(self.judged, judges_every(job)) {
            return None;
        }
        self.judged = Some(now);
        let reports = std::mem::take(&mut self.reports).into_values();
        let fresh = reports.filter(|(came, _)| !is_old(Some(*came), judges_every(job)));
        Some(fresh.flat_map(|(_, ranks)| ranks).collect())
    }

    /// Reports that to a rank of an earlier node, if there is one.
    fn report(&mut self, job: &Job, ranks: &[Rank], now: Instant) {
        let earlier = self.earlier.get_or_insert_with(|| of_earlier_nodes(job));
        if earlier.is_empty() {
            return;
        }
        let silent = |since: Instant| now.saturating_duration_since(since) >= ANSWERS;
        if self.since.is_some_and(silent) {
            (self.asked, self.answered) = (None, None);
        }
        // In turn those that it waits for, and all.
        let awaited = awaited(job, ranks);
        let to = *self.asked.get_or_insert_with(|| {
            let all = match self.turn % 2 {
                0 if !awaited.is_empty() => &awaited,
                _ => &*earlier,
            };
            let turn = self.turn / 2;
            self.turn += if awaited.is_empty() { 2 } else { 1 };
            self.since = None;
            all[turn % all.len()]
        });
        self.since.get_or_insert(now);
        self.sent = Some(now);
        // One that could not be sent yet is old.
        self.outbox.retain(|it| it.what != What::Report);
        let bytes = written(ranks);
        if bytes.len() <= LONGEST {
            self.outbox.push(Parcel {
                to,
                what: What::Report,
                bytes,
            });
        }
    }

    /// A message has come to this rank of a job, while that rank of its node looks, if one does.
    pub fn deliver(
        &mut self,
        job: &Job,
        (from, what, bytes): (u32, What, &[u8]),
        looks: Option<(u32, bool)>,
        now: Instant,
    ) {
        let is_earlier = |rank: u32, than: u32| node(job, rank) < node(job, than);
        match what {
            What::Report if is_earlier(job.rank, from) => {
                let Some(mut ranks) = read(bytes) else {
                    return;
                };
                let judges = self.asked.filter(|_| {
                    let since = self.answered;
                    since.is_some_and(|it| now.saturating_duration_since(it) < ANSWERS)
                });
                let answer = match looks {
                    Some((me, true)) => judges.unwrap_or(me),
                    Some((other, false)) => other,
                    None => NOBODY,
                };
                if let Some(of) = node(job, from).filter(|_| answer == job.rank) {
                    // It tells of its own node.
                    ranks.retain(|it| {
                        it.member.job == job.job_id && node(job, it.member.rank) == Some(of)
                    });
                    self.reports.insert(of, (now, ranks));
                }
                self.outbox.push(Parcel {
                    to: from,
                    what: What::Answer,
                    bytes: answer.to_le_bytes().to_vec(),
                });
            }
            What::Answer => {
                let Ok(bytes) = bytes.try_into() else {
                    return;
                };
                let looker = u32::from_le_bytes(bytes);
                self.since = None;
                if looker == from {
                    (self.asked, self.answered) = (Some(from), Some(now));
                } else {
                    // Somebody else is asked at the next look.
                    self.sent = None;
                    let is_known = looker < job.size && is_earlier(looker, job.rank);
                    self.asked = Some(looker).filter(|_| is_known);
                }
            }
            What::Report => {}
        }
    }
}

/// A report in bytes.
fn written(ranks: &[Rank]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for rank in ranks {
        let rank = rank.to_bytes();
        bytes.extend((rank.len() as u32).to_le_bytes());
        bytes.extend(rank);
    }
    bytes
}

/// What bytes report, if they are whole.
fn read(mut rest: &[u8]) -> Option<Vec<Rank>> {
    let mut ranks = Vec::new();
    while !rest.is_empty() {
        let (len, behind) = rest.split_first_chunk()?;
        let (rank, behind) = behind.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        ranks.push(Rank::read(rank).ok()?);
        rest = behind;
    }
    Some(ranks)
}

/// A message of another node, for fuzzing: what it says, and that. What is kept of it is of that
/// node.
#[cfg(any(test, fuzzing))]
pub fn fuzz(data: &[u8]) {
    let Some((&what, bytes)) = data.split_first() else {
        return;
    };
    let Some(what) = What::of(what) else {
        return;
    };
    let job = |rank| Job {
        rank,
        size: 4,
        node_of: Box::new([0, 0, 1, 1]),
        hosts: ["a", "b"].map(String::from).into(),
        ..Job::singleton(String::new(), 1)
    };
    let now = Instant::now();
    for rank in [0, 2] {
        let (job, mut abroad) = (job(rank), Abroad::default());
        abroad.deliver(&job, (2 - rank, what, bytes), Some((rank, true)), now);
        let seen = abroad.look(&job, &[], now).unwrap_or_default();
        assert!(seen.iter().all(|it| node(&job, it.member.rank) == Some(1)));
    }
}

#[cfg(test)]
mod tests {
    use catena_hang::{Member, State, Thread, WaitsFor, What as For};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A rank of a job of five, of which the first two are on the first node.
    struct Of {
        job: Job,
        abroad: Abroad,
    }

    fn of(rank: u32) -> Of {
        let job = Job {
            rank,
            size: 5,
            node_of: Box::new([0, 0, 1, 1, 2]),
            hosts: ["a", "b", "c"].map(String::from).into(),
            ..Job::singleton(String::new(), 1)
        };
        let abroad = Abroad::default();
        Of { job, abroad }
    }

    impl Of {
        fn look(&mut self, ranks: &[Rank], now: Instant) -> Option<Vec<Rank>> {
            self.abroad.look(&self.job, ranks, now)
        }

        /// Whom it asks, if anybody.
        fn asks(&mut self) -> Option<u32> {
            let sent = std::mem::take(&mut self.abroad.outbox);
            assert!(sent.iter().all(|it| it.what == What::Report));
            sent.first().map(|it| it.to)
        }

        /// What it has to send goes to another one, and what that says comes back: whom it is from.
        fn asks_of(&mut self, to: &mut Of, looks: Option<(u32, bool)>, now: Instant) -> u32 {
            let report = only(&mut self.abroad.outbox);
            assert_eq!(report.to, to.job.rank);
            let message = (self.job.rank, report.what, &*report.bytes);
            to.abroad.deliver(&to.job, message, looks, now);
            let answer = only(&mut to.abroad.outbox);
            assert_eq!((answer.to, answer.what), (self.job.rank, What::Answer));
            let message = (report.to, answer.what, &*answer.bytes);
            self.abroad.deliver(&self.job, message, None, now);
            u32::from_le_bytes(answer.bytes.try_into().expect("a rank"))
        }
    }

    fn waiting(rank: u32, other: Option<u32>) -> Rank {
        let job = Job::singleton(String::new(), 1).job_id;
        let needs = other.map(|rank| {
            let mut need = Need::new(For::Message);
            need.add(Member { job, rank });
            need
        });
        let waits = WaitsFor {
            needs: needs.into_iter().collect(),
            ..WaitsFor::default()
        };
        Rank {
            member: Member { job, rank },
            host: "b".into(),
            pid: 7,
            state: State::Running,
            at: 5,
            others: false,
            threads: vec![Thread {
                waits: Some(waits),
                ..Thread::default()
            }],
        }
    }

    fn only(parcels: &mut Vec<Parcel>) -> Parcel {
        let parcel = parcels.pop().expect("something is sent");
        assert!(parcels.is_empty());
        parcel
    }

    /// Rank 2 reports to rank 0, which names rank 1: that one looks.
    #[test]
    fn the_one_that_looks_is_found_and_told() {
        let (mut zero, mut one, mut two) = (of(0), of(1), of(2));
        let begin = Instant::now();
        let seen = [waiting(2, None), waiting(3, None)];
        assert_eq!(two.look(&seen, begin), None, "somebody else may tell");
        assert_eq!(two.asks_of(&mut zero, Some((1, false)), begin), 1);
        assert_eq!(zero.look(&[], begin), Some(Vec::new()));
        let later = begin + SECOND / 2;
        assert_eq!(two.look(&seen, later), None);
        assert_eq!(two.asks_of(&mut one, Some((1, true)), later), 1);
        assert_eq!(one.look(&[], later), Some(seen.to_vec()));
        let last = later + judges_every(&one.job);
        let again = one.look(&[], last);
        assert_eq!(again, Some(Vec::new()), "each report is of one look");
        assert_eq!(two.look(&seen, later + 2 * SECOND), None, "rank 1 tells");
        let silent = later + 6 * SECOND;
        let own = two.look(&seen, silent);
        assert_eq!(own, Some(Vec::new()), "it has said nothing since");
    }

    #[test]
    fn a_report_is_of_the_node_of_its_sender_and_no_old_one() {
        let (mut zero, mut two) = (of(0), of(2));
        let begin = Instant::now();
        let seen = [waiting(2, None), waiting(0, None)];
        two.look(&seen, begin);
        two.asks_of(&mut zero, Some((0, true)), begin);
        assert_eq!(zero.look(&[], begin), Some(vec![seen[0].clone()]));
        two.look(&seen, begin + 2 * SECOND);
        two.asks_of(&mut zero, Some((0, true)), begin + 2 * SECOND);
        let much_later = begin + 60 * SECOND;
        assert_eq!(zero.look(&[], much_later), Some(Vec::new()));
    }

    #[test]
    fn one_that_says_nothing_is_not_asked_for_ever() {
        let mut four = of(4);
        let begin = Instant::now();
        let mut asked = |seconds: f64| {
            let judges = four.look(&[], begin + Duration::from_secs_f64(seconds));
            (four.asks(), judges.is_some())
        };
        assert_eq!(asked(0.0), (Some(0), false));
        assert_eq!(asked(0.5), (None, false), "not that often");
        assert_eq!(asked(1.5), (Some(0), false));
        assert_eq!(asked(3.0), (Some(2), true), "this one has to judge");
        assert_eq!(asked(4.5), (Some(2), false), "not that often");
        assert_eq!(asked(6.0), (Some(1), true));
        assert_eq!(asked(16.0), (Some(0), false), "it is another wait");
    }

    #[test]
    fn those_that_it_waits_for_are_asked_first() {
        let mut four = of(4);
        let begin = Instant::now();
        let asked = |four: &mut Of, other, seconds: u32| {
            four.look(&[waiting(4, Some(other))], begin + seconds * SECOND);
            let sent = std::mem::take(&mut four.abroad.outbox);
            sent.first().map(|it| it.to)
        };
        assert_eq!(asked(&mut four, 3, 0), Some(3));
        assert_eq!(asked(&mut four, 3, 4), Some(0), "that one computes");
        assert_eq!(asked(&mut four, 3, 8), Some(3));
    }

    #[test]
    fn one_that_must_not_be_called_is_passed_over_at_once() {
        let mut two = of(2);
        let begin = Instant::now();
        let seen = [waiting(2, None)];
        assert_eq!(two.look(&seen, begin), None);
        assert_eq!(two.asks(), Some(0));
        two.abroad.is_out_of_reach(0);
        let (mut one, soon) = (of(1), begin + SECOND / 2);
        assert_eq!(two.look(&seen, soon), None);
        // Rank 0 looks at the first node, but rank 1 does so as well.
        assert_eq!(two.asks_of(&mut one, Some((1, true)), soon), 1);
        assert!(one.abroad.has_reports());
        assert_eq!(one.look(&[], soon), Some(seen.to_vec()));
        assert!(!one.abroad.has_reports());
        two.abroad.is_out_of_reach(0);
        assert_eq!(two.abroad.asked, Some(1), "it was another one");
    }

    /// Nobody of the first node waits. Rank 4 asks rank 0, and then rank 2, which judges.
    #[test]
    fn the_first_of_the_nodes_that_wait_judges() {
        let (mut zero, mut two, mut four) = (of(0), of(2), of(4));
        let begin = Instant::now();
        let (second, third) = ([waiting(2, None)], [waiting(4, None)]);
        assert_eq!(two.look(&second, begin), None);
        assert_eq!(two.asks_of(&mut zero, None, begin), NOBODY);
        assert_eq!(four.look(&third, begin), None);
        assert_eq!(four.asks_of(&mut zero, None, begin), NOBODY);
        assert_eq!(four.look(&third, begin + SECOND / 2), None);
        let answer = four.asks_of(&mut two, Some((2, true)), begin + SECOND / 2);
        assert_eq!(answer, 2);
        let later = begin + ANSWERS;
        assert_eq!(two.look(&second, later), Some(third.to_vec()));
        // Rank 0 waits, too: it judges, and rank 4 reports there.
        let (first, later) = ([waiting(0, None)], later + SECOND / 2);
        two.abroad.outbox.clear();
        two.abroad.asked = Some(0);
        two.abroad.sent = None;
        assert_eq!(two.look(&second, later), None);
        assert_eq!(two.asks_of(&mut zero, Some((0, true)), later), 0);
        assert_eq!(four.look(&third, later), None);
        assert_eq!(four.asks_of(&mut two, Some((2, true)), later), 0);
        assert_eq!(four.look(&third, later + SECOND / 2), None);
        four.asks_of(&mut zero, Some((0, true)), later + SECOND / 2);
        let judged = zero.look(&first, later + SECOND / 2);
        assert_eq!(judged, Some([second, third].concat()));
    }

    #[test]
    fn a_job_on_one_node_tells_nobody() {
        let job = Job {
            size: 2,
            node_of: Box::new([0, 0]),
            ..Job::singleton(String::new(), 1)
        };
        begin(&job);
        assert!(!is_told());
    }

    #[test]
    fn what_is_cut_off_is_no_report() {
        let whole = written(&[waiting(2, None), waiting(3, None)]);
        assert_eq!(read(&whole).map(|it| it.len()), Some(2));
        for length in 1..whole.len() {
            let is_first = length == whole.len() / 2;
            assert_eq!(read(&whole[..length]).is_some(), is_first, "{length}");
        }
        assert_eq!(read(&[]), Some(Vec::new()));
    }
}
