//! What the nodes of a job tell each other of ranks that wait long, where no launcher asks them.
//!
//! The first rank of each node that waits long looks at its node ([`own_watch`](crate::own_watch)).
//! Those of all nodes but the first one send what they see there, and that one's judges it:
//!
//! ```text
//! a node's looker                         a rank of the first node
//!    Report: the ranks that wait  ----->     keeps it, if it looks itself or nobody does
//!                                 <-----  Answer: who looks, itself or another one
//! ```
//!
//! A rank that does not answer computes, or has ended: the next one of the first node is asked. A
//! looker that is answered says nothing itself. Nothing of this happens before ranks have waited
//! for a second, and each node sends at most a report each second.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use catena_boot::Job;
use catena_hang::Rank;

use crate::own_watch;

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
    /// A node, and those of its ranks that wait.
    Report = 1,
    /// Which rank of the first node looks; [`NOBODY`] if none does.
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
#[derive(Debug)]
pub(crate) struct Abroad {
    /// This rank's node, and how many there are.
    node: u32,
    nodes: u32,
    /// The ranks of the first node, and whether this is one of them.
    first: Vec<u32>,
    is_first: bool,
    /// Which of these is asked, and since when without an answer.
    asked: usize,
    since: Option<Instant>,
    /// When the first report of this wait was sent, and when the last one.
    begun: Option<Instant>,
    sent: Option<Instant>,
    /// When the one that looks has said so last.
    answered: Option<Instant>,
    /// What is to be sent.
    outbox: Vec<Parcel>,
    /// What has come since the last look, by node.
    reports: BTreeMap<u32, Vec<Rank>>,
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
    *known() = Abroad::of(job);
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

/// A message has come from a rank of this job. What makes no sense is dropped.
pub fn deliver(from: u32, what: What, bytes: &[u8]) {
    let looks = own_watch::looks();
    with(|it| it.deliver(from, what, bytes, looks, Instant::now()));
}

impl Abroad {
    /// Of a rank of that job; `None` if there is one node.
    fn of(job: &Job) -> Option<Abroad> {
        let &first = job.node_of.first()?;
        let &node = job.node_of.get(job.rank as usize)?;
        if job.node_of.iter().all(|&it| it == first) {
            return None;
        }
        let all = (0..job.size).zip(&job.node_of);
        Some(Abroad {
            node,
            nodes: u32::try_from(job.hosts.len()).ok()?,
            first: all.filter(|it| *it.1 == first).map(|it| it.0).collect(),
            is_first: node == first,
            asked: 0,
            since: None,
            begun: None,
            sent: None,
            answered: None,
            outbox: Vec::new(),
            reports: BTreeMap::new(),
        })
    }

    /// How long from one report to the next.
    fn every(&self) -> Duration {
        EVERY + FOR_EACH * self.nodes
    }

    /// How long from one look of the first node to the next: each node has reported in between.
    pub fn looks_every(&self) -> Duration {
        self.every() * 5 / 2
    }

    /// Whether this rank is of the first node, whose looker judges.
    pub fn judges(&self) -> bool {
        self.is_first
    }

    /// What other nodes have reported since this was last called.
    pub fn take_reports(&mut self) -> Vec<Rank> {
        let reports = std::mem::take(&mut self.reports);
        reports.into_values().flatten().collect()
    }

    /// This rank looks at its node, which is not the first one, and sees that: reports it, if it is
    /// time to. Whether the user is to be told here, as nobody there does.
    pub fn report(&mut self, ranks: &[Rank], now: Instant) -> bool {
        let age = |since: Option<Instant>| since.map(|since| now.saturating_duration_since(since));
        let is_silent = |since| age(since).is_some_and(|it| it >= ANSWERS);
        if age(self.sent).is_none_or(|it| it >= 5 * self.every()) {
            (self.begun, self.since, self.answered) = (Some(now), None, None);
        }
        if age(self.sent).is_none_or(|it| it >= self.every()) {
            if is_silent(self.since) {
                self.asked = (self.asked + 1) % self.first.len();
                self.since = None;
            }
            self.since.get_or_insert(now);
            self.sent = Some(now);
            let bytes = written(self.node, ranks);
            // One that could not be sent yet is old.
            self.outbox.retain(|it| it.what != What::Report);
            if bytes.len() <= LONGEST {
                let (to, what) = (self.first[self.asked], What::Report);
                self.outbox.push(Parcel { to, what, bytes });
            }
        }
        match age(self.answered) {
            Some(answered) => answered >= self.every() + ANSWERS,
            None => is_silent(self.begun),
        }
    }

    /// A message has come, while that rank of this node looks, if one does.
    fn deliver(
        &mut self,
        from: u32,
        what: What,
        bytes: &[u8],
        looks: Option<(u32, bool)>,
        now: Instant,
    ) {
        match what {
            What::Report if self.is_first => {
                let Some((node, ranks)) = read(bytes) else {
                    return;
                };
                if looks.is_some_and(|(_, is_me)| is_me) {
                    self.reports.insert(node, ranks);
                }
                let bytes = looks.map_or(NOBODY, |(rank, _)| rank).to_le_bytes();
                self.outbox.push(Parcel {
                    to: from,
                    what: What::Answer,
                    bytes: bytes.to_vec(),
                });
            }
            What::Report => {}
            What::Answer => {
                let Ok(bytes) = bytes.try_into() else {
                    return;
                };
                self.since = None;
                let looker = u32::from_le_bytes(bytes);
                if let Some(place) = self.first.iter().position(|&it| it == looker) {
                    self.asked = place;
                    if looker == from {
                        self.answered = Some(now);
                    }
                }
            }
        }
    }
}

/// A report in bytes.
fn written(node: u32, ranks: &[Rank]) -> Vec<u8> {
    let mut bytes = node.to_le_bytes().to_vec();
    for rank in ranks {
        let rank = rank.to_bytes();
        bytes.extend((rank.len() as u32).to_le_bytes());
        bytes.extend(rank);
    }
    bytes
}

/// What bytes report, if they are whole.
fn read(bytes: &[u8]) -> Option<(u32, Vec<Rank>)> {
    let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let (node, mut rest) = bytes.split_first_chunk()?;
    let mut ranks = Vec::new();
    while !rest.is_empty() {
        let (len, behind) = rest.split_first_chunk()?;
        let (rank, behind) = behind.split_at_checked(word(len) as usize)?;
        ranks.push(Rank::read(rank).ok()?);
        rest = behind;
    }
    Some((word(node), ranks))
}

#[cfg(test)]
mod tests {
    use catena_hang::{Member, State};

    use super::*;

    /// A rank of a job of five, of which the first two are on the first node.
    fn of(rank: u32) -> Abroad {
        let job = Job {
            rank,
            size: 5,
            node_of: Box::new([0, 0, 1, 1, 2]),
            hosts: ["a", "b", "c"].map(String::from).into(),
            ..Job::singleton(String::new(), 1)
        };
        Abroad::of(&job).expect("there are several nodes")
    }

    fn waiting(rank: u32) -> Rank {
        Rank {
            member: Member { job: 0, rank },
            host: "b".into(),
            pid: 7,
            state: State::Running,
            at: 5,
            others: false,
            threads: Vec::new(),
        }
    }

    fn only(parcels: &mut Vec<Parcel>) -> Parcel {
        let parcel = parcels.pop().expect("something is sent");
        assert!(parcels.is_empty());
        parcel
    }

    /// Rank 2 reports to rank 0, which hands its report on to rank 1: that one looks.
    #[test]
    fn the_one_that_looks_is_found_and_told() {
        let (mut zero, mut one, mut two) = (of(0), of(1), of(2));
        let begin = Instant::now();
        let seen = [waiting(2), waiting(3)];
        let mut hand_over = |two: &mut Abroad, to: &mut Abroad, looks, at| {
            let parcel = only(&mut two.outbox);
            to.deliver(2, parcel.what, &parcel.bytes, looks, at);
            let answer = only(&mut to.outbox);
            assert_eq!((answer.to, answer.what), (2, What::Answer));
            two.deliver(parcel.to, answer.what, &answer.bytes, None, at);
            parcel.to
        };
        assert!(!two.report(&seen, begin), "somebody else may tell");
        let asked = hand_over(&mut two, &mut zero, Some((1, false)), begin);
        assert_eq!((asked, zero.take_reports()), (0, Vec::new()));
        let later = begin + two.every();
        assert!(!two.report(&seen, later));
        let asked = hand_over(&mut two, &mut one, Some((1, true)), later);
        assert_eq!((asked, one.take_reports()), (1, seen.to_vec()));
        assert_eq!(one.take_reports(), [], "each report is of one look");
        let much_later = begin + 2 * ANSWERS;
        assert!(!two.report(&seen, later + two.every()), "rank 1 tells");
        assert!(two.report(&seen, much_later), "it has said nothing since");
    }

    #[test]
    fn one_that_says_nothing_is_not_asked_for_ever() {
        let mut four = of(4);
        let begin = Instant::now();
        let mut asked = |seconds: f64| {
            let tells = four.report(&[], begin + Duration::from_secs_f64(seconds));
            let to = std::mem::take(&mut four.outbox).first().map(|it| it.to);
            (to, tells)
        };
        assert_eq!(asked(0.0), (Some(0), false));
        assert_eq!(asked(0.5), (None, false), "not that often");
        assert_eq!(asked(1.5), (Some(0), false));
        assert_eq!(asked(3.0), (Some(1), true), "this one has to tell");
        assert_eq!(asked(4.5), (Some(1), true));
        assert_eq!(asked(6.0), (Some(0), true));
        assert_eq!(asked(16.0), (Some(0), false), "it is another wait");
    }

    #[test]
    fn where_nobody_looks_each_node_tells() {
        let (mut zero, mut two) = (of(0), of(2));
        let begin = Instant::now();
        two.report(&[], begin);
        let report = only(&mut two.outbox);
        zero.deliver(2, report.what, &report.bytes, None, begin);
        assert_eq!(zero.take_reports(), []);
        let answer = only(&mut zero.outbox);
        two.deliver(0, answer.what, &answer.bytes, None, begin);
        assert!(two.report(&[], begin + ANSWERS));
    }

    #[test]
    fn a_job_on_one_node_tells_nobody() {
        let job = Job {
            size: 2,
            node_of: Box::new([0, 0]),
            ..Job::singleton(String::new(), 1)
        };
        assert!(Abroad::of(&job).is_none());
    }

    #[test]
    fn what_is_cut_off_is_no_report() {
        let whole = written(3, &[waiting(2), waiting(3)]);
        assert_eq!(read(&whole).map(|it| (it.0, it.1.len())), Some((3, 2)));
        for length in 5..whole.len() {
            let is_first = length == 4 + (whole.len() - 4) / 2;
            assert_eq!(read(&whole[..length]).is_some(), is_first, "{length}");
        }
        assert_eq!(read(&[]), None);
    }
}
