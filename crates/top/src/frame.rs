//! What two looks at a job tell: how each rank stands, rates, and who waits for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use catena_hang::{Glance, Member, Need, State, What, find};
use catena_launcher::Exit;
use catena_trace::{Counts, Moved};

use crate::seen::{Job, Process, Standing, calls};

/// How long a rank has made no call that is said to do something else: one that only waits in MPI
/// has told so by then.
const QUIET: Duration = Duration::from_millis(1150);

/// What part of a processor a rank has that computes.
const COMPUTES: f64 = 0.2;

/// How long a wait has lasted of which the culprit is told.
const LONG: Duration = Duration::from_secs(1);

/// How old what a rank has told may be, of which rates are made although it goes on calling MPI.
const OLD: u64 = 3_000_000_000;

/// How a rank stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stand {
    /// A signal has stopped it.
    Stopped,
    /// It has waited in a call for a second or longer.
    Waits,
    /// It has a processor, and has made no call for a second or longer.
    Computes,
    /// It has made no call for as long, and has no processor: it reads a file, or sleeps.
    Sleeps,
    /// It calls MPI.
    Runs,
    /// It has not called MPI_Init.
    Starts,
    /// It has finalized MPI.
    Finalized,
    /// It has ended.
    Ended,
    /// It has failed: a signal has killed it, or its status is not 0, or its host is gone.
    Failed,
}

impl Stand {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Stand::Stopped => "stopped",
            Stand::Waits => "waits",
            Stand::Computes => "computes",
            Stand::Sleeps => "sleeps",
            Stand::Runs => "runs",
            Stand::Starts => "starts",
            Stand::Finalized => "finalized",
            Stand::Ended => "ended",
            Stand::Failed => "failed",
        }
    }
}

/// Messages and bytes in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Messages.
    pub messages: f64,
    /// Bytes.
    pub bytes: f64,
}

impl Rate {
    fn of(now: Moved, before: Moved, seconds: f64) -> Rate {
        Rate {
            messages: now.messages.saturating_sub(before.messages) as f64 / seconds,
            bytes: now.bytes.saturating_sub(before.bytes) as f64 / seconds,
        }
    }

    fn add(&mut self, other: Rate) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// What a rank, or all of them, move in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Sent through shared memory.
    pub shm: Rate,
    /// Sent over networks.
    pub network: Rate,
    /// Sent by ranks to themselves.
    pub itself: Rate,
    /// Received, by all ways.
    pub received: Rate,
}

impl Rates {
    /// Sent by all ways.
    pub fn sent(&self) -> Rate {
        let mut sum = self.shm;
        sum.add(self.network);
        sum.add(self.itself);
        sum
    }
}

/// A rank in a frame.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its rank; behind it that of a spawned job has a colon and the number of the job.
    pub rank: String,
    /// Its host.
    pub host: String,
    /// Its number there; 0 if that is not known.
    pub pid: u32,
    /// How it stands.
    pub stand: Stand,
    /// The call that it waits in, or has made last; or how it has ended.
    pub does: String,
    /// Whom it waits for, in words; empty if it does not.
    pub whom: String,
    /// How long it has waited, or made no call.
    pub since: Option<Duration>,
    /// What part of a processor it had.
    pub processor: Option<f64>,
    /// What part of the time it slept in MPI.
    pub asleep: Option<f64>,
    /// Calls in a second.
    pub calls: Option<f64>,
    /// What it moves in a second.
    pub rates: Option<Rates>,
    /// Bytes of memory that it has, and those of them that it shares.
    pub memory: Option<(u64, u64)>,
    /// Messages that wait for a receive.
    pub unexpected: u64,
}

/// Ranks that wait for the same.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Who does.
    pub who: Vec<Member>,
    /// In words.
    pub who_in_words: String,
    /// For whom: of a collective call those that have not come.
    pub whom: Vec<Member>,
    /// In words.
    pub whom_in_words: String,
    /// In which call.
    pub call: String,
    /// On which communicator, window or file; empty if that is not known.
    pub about: String,
    /// How many take part, if it is a collective call.
    pub parties: Option<u64>,
    /// How long the first of them has waited.
    pub since: Duration,
}

/// A job in a frame.
#[derive(Clone, Debug)]
pub struct JobFrame {
    /// Its number, as other commands take it; empty if it is not known.
    pub job: String,
    /// The process of its launcher if that tells of it; zero if it is out of sight.
    pub launcher: Option<u32>,
    /// The user that it is of.
    pub user: u32,
    /// What it runs.
    pub program: String,
    /// Whether it has ended: what is shown was seen last.
    pub has_ended: bool,
    /// Why nothing new is known of it; empty if something is.
    pub untold: String,
    /// Its hosts.
    pub hosts: Vec<String>,
    /// How many ranks it has that are not seen here.
    pub elsewhere: u32,
    /// Its ranks.
    pub ranks: Vec<Row>,
    /// What they move together in a second, as far as they tell; `None` if none of them has told
    /// anything yet.
    pub rates: Option<Rates>,
    /// The networks in words; empty if there are none.
    pub networks: String,
    /// How many ranks have told nothing of which rates could be made.
    pub uncounted: usize,
    /// The waits of ranks for each other; the longest one comes first.
    pub waits: Vec<Wait>,
    /// What `catena hang` says of it in a sentence, if there is anything, and whether that is for
    /// certain.
    pub verdict: Option<(String, bool)>,
}

impl JobFrame {
    /// What was seen of a job, in a frame.
    pub fn of(job: &Job) -> JobFrame {
        let waits = waits(job);
        let mut frame = JobFrame {
            job: match job.id {
                0 => String::new(),
                id => format!("{id:x}"),
            },
            launcher: job.launcher,
            user: job.user,
            program: job.program.clone(),
            has_ended: job.standing == Standing::Ended,
            untold: match &job.standing {
                Standing::Untold(why) => why.clone(),
                _ => String::new(),
            },
            hosts: Vec::new(),
            elsewhere: job.elsewhere,
            ranks: job.ranks.iter().map(|it| row(it, &waits)).collect(),
            rates: None,
            networks: String::new(),
            uncounted: 0,
            waits,
            verdict: verdict(job),
        };
        let hosts = job.ranks.iter().map(|it| it.host.clone());
        frame.hosts = hosts.collect::<BTreeSet<_>>().into_iter().collect();
        let mut sum = Rates::default();
        let mut are_told = false;
        for row in &frame.ranks {
            match &row.rates {
                Some(rates) => {
                    are_told = true;
                    sum.shm.add(rates.shm);
                    sum.network.add(rates.network);
                    sum.itself.add(rates.itself);
                    sum.received.add(rates.received);
                }
                None if row.stand <= Stand::Runs => frame.uncounted += 1,
                None => {}
            }
        }
        frame.rates = (are_told || frame.uncounted == 0).then_some(sum);
        let counts = job.ranks.iter().filter_map(|it| counts(it.now.as_ref()?));
        let networks = counts.map(|it| &it.networks).find(|it| !it.is_empty());
        frame.networks = networks.cloned().unwrap_or_default();
        frame
    }

    /// How many ranks stand how.
    pub fn stands(&self) -> BTreeMap<Stand, usize> {
        let mut stands = BTreeMap::new();
        for row in &self.ranks {
            *stands.entry(row.stand).or_insert(0) += 1;
        }
        stands
    }

    /// The sum of what is known of each rank; `None` if of none anything is.
    pub fn sum(&self, of: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
        let known: Vec<f64> = self.ranks.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }
}

fn counts(glance: &Glance) -> Option<&Counts> {
    glance.counts.as_ref()
}

/// What `catena hang` says, of a job whose two looks are known.
fn verdict(job: &Job) -> Option<(String, bool)> {
    let is_seen = job.standing == Standing::Runs && job.elsewhere == 0 && !job.before.is_empty();
    if !is_seen {
        return None;
    }
    let found = find(&job.names, &job.before, &job.looks(), LONG)?;
    let how = match found.definite {
        true => "the job hangs",
        false => "no progress",
    };
    Some((format!("{how}: {}", found.cause), found.definite))
}

/// The seconds between two moments in nanoseconds; `None` if there are none.
fn seconds(now: u64, before: u64) -> Option<f64> {
    let passed = now.checked_sub(before).filter(|&it| it > 0)?;
    Some(passed as f64 / 1e9)
}

/// What a rank moves in a second.
fn rates(process: &Process) -> Option<Rates> {
    let glance = process.now.as_ref()?;
    match glance.rank.state {
        State::Running => {}
        State::Stopped => return Some(Rates::default()),
        _ => return None,
    }
    // Without a call nothing new is moved, whenever it has told last.
    if process.quiet_since.is_some() && process.counted_before.is_none() {
        return Some(Rates::default());
    }
    let (now, before) = (counts(glance)?, process.counted_before.as_ref()?);
    let is_old = glance.rank.at.saturating_sub(now.at) > OLD;
    if is_old {
        return process.quiet_since.map(|_| Rates::default());
    }
    let passed = seconds(now.at, before.at)?;
    Some(Rates {
        shm: Rate::of(now.shm, before.shm, passed),
        network: Rate::of(now.network, before.network, passed),
        itself: Rate::of(now.itself, before.itself, passed),
        received: Rate::of(now.received, before.received, passed),
    })
}

/// What part of the time a rank slept in MPI.
fn asleep(process: &Process) -> Option<f64> {
    let glance = process.now.as_ref()?;
    // It was in no call, or was about to leave it.
    let is_outside = process.quiet_since.is_some() && glance.rank.waits().next().is_none();
    let (now, before) = match (counts(glance), &process.counted_before) {
        (Some(now), Some(before)) => (now, before),
        _ => return is_outside.then_some(0.0),
    };
    if glance.rank.at.saturating_sub(now.at) > OLD {
        return is_outside.then_some(0.0);
    }
    let slept = now.asleep.saturating_sub(before.asleep) as f64 / 1e9;
    Some((slept / seconds(now.at, before.at)?).min(1.0))
}

/// A rank, of whose job these are the waits.
fn row(process: &Process, waits: &[Wait]) -> Row {
    let mut row = Row {
        rank: match process.job {
            0 => process.rank.to_string(),
            job => format!("{}:{job}", process.rank),
        },
        host: process.host.clone(),
        pid: process.pid,
        stand: Stand::Starts,
        does: String::new(),
        whom: String::new(),
        since: None,
        processor: None,
        asleep: None,
        calls: None,
        rates: None,
        memory: None,
        unexpected: 0,
    };
    if !process.running {
        (row.stand, row.does) = match process.exit {
            Some(Exit::Code(0)) => (Stand::Ended, String::new()),
            Some(Exit::Code(code)) => (Stand::Failed, format!("exited with code {code}")),
            Some(Exit::Signal(signal)) => (Stand::Failed, format!("killed by signal {signal}")),
            // How a process ends is told to its parent alone.
            None if process.now.is_some() => (Stand::Ended, String::new()),
            None => (Stand::Failed, "its host is gone".into()),
        };
        return row;
    }
    let Some(glance) = &process.now else {
        return row;
    };
    row.memory = glance.usage.map(|it| (it.resident, it.shared));
    row.unexpected = counts(glance).map_or(0, |it| it.unexpected);
    row.rates = rates(process);
    row.asleep = asleep(process);
    let thread = glance.rank.threads.iter().max_by_key(|it| it.calls);
    row.does = thread.map_or(String::new(), |it| it.call.clone());
    if let Some(before) = &process.before {
        let passed = seconds(glance.rank.at, before.rank.at);
        let made = calls(glance).wrapping_sub(calls(before));
        // A thread that has ended takes its calls with it.
        let made = (made < 1 << 63).then_some(made as f64);
        row.calls = made.zip(passed).map(|(made, passed)| made / passed);
        let used = glance.usage.zip(before.usage);
        let used = used.map(|(now, then)| now.processor.saturating_sub(then.processor));
        row.processor = used
            .zip(passed)
            .map(|(used, passed)| used as f64 / 1e3 / passed);
    }
    let quiet = process.quiet_since.map(|since| {
        let passed = glance.rank.at.saturating_sub(since);
        Duration::from_nanos(passed)
    });
    let waiting = glance.rank.waits().next();
    row.stand = match glance.rank.state {
        State::Before => Stand::Starts,
        State::Stopped => Stand::Stopped,
        State::Left => Stand::Finalized,
        State::Ended => Stand::Ended,
        State::Running if waiting.is_some() => Stand::Waits,
        State::Running if quiet.is_some_and(|it| it >= QUIET) => {
            row.since = quiet;
            match row.processor.is_some_and(|it| it < COMPUTES) {
                true => Stand::Sleeps,
                false => Stand::Computes,
            }
        }
        State::Running => Stand::Runs,
    };
    if let (Stand::Waits, Some((thread, its))) = (row.stand, waiting) {
        row.does.clone_from(&thread.call);
        let waited = glance.rank.at.saturating_sub(its.since);
        row.since = Some(Duration::from_nanos(waited));
        let member = glance.rank.member;
        let mut own = waits
            .iter()
            .filter(|it| it.who.binary_search(&member).is_ok());
        row.whom = own
            .next()
            .map_or(String::new(), |it| it.whom_in_words.clone());
    }
    row
}

/// What ranks wait for alike: the call, what, about what, which of these, and, if they do not come
/// together, of whom, and whether any one is enough.
type Alike<'a> = (
    &'a str,
    What,
    &'a str,
    u64,
    Option<(bool, &'a [(Member, u32)])>,
);

/// Ranks that wait for the same.
#[derive(Default)]
struct Group {
    who: BTreeSet<Member>,
    whom: BTreeSet<Member>,
    waited: u64,
    parties: Option<u64>,
}

/// The waits of ranks for each other; the longest one comes first.
fn waits(job: &Job) -> Vec<Wait> {
    let mut groups: BTreeMap<Alike<'_>, Group> = BTreeMap::new();
    let mut known: BTreeSet<(Alike<'_>, &[(Member, u32)])> = BTreeSet::new();
    let running = job.ranks.iter().filter(|it| it.running);
    let looks = running.filter_map(|it| Some(&it.now.as_ref()?.rank));
    for rank in looks.filter(|it| it.state == State::Running) {
        for (thread, waits) in rank.waits() {
            let waited = rank.at.saturating_sub(waits.since);
            for need in &waits.needs {
                let apart = (!is_common(need)).then_some((need.any, need.of.as_slice()));
                let alike: Alike<'_> = (&thread.call, need.what, &need.about, need.which, apart);
                let group = groups.entry(alike).or_default();
                group.who.insert(rank.member);
                group.waited = group.waited.max(waited);
                // Many name the same ones, which may be all.
                if known.insert((alike, &need.of)) {
                    group.whom.extend(need.members());
                }
                if need.together {
                    let parties = need.of.iter().map(|&(_, count)| u64::from(count)).sum();
                    group.parties = group.parties.max(Some(parties));
                }
            }
        }
    }
    let each = groups.into_iter().map(|(alike, group)| {
        let (call, what, about, _, apart) = alike;
        let whom: Vec<Member> = match apart {
            Some(_) => group.whom.into_iter().collect(),
            None => group.whom.difference(&group.who).copied().collect(),
        };
        let mut whom_in_words = job.names.all(whom.iter().copied());
        if apart.is_some_and(|(any, _)| any) && whom.len() > 1 {
            whom_in_words = format!("any of {whom_in_words}");
        }
        if whom.is_empty() {
            whom_in_words = of_nobody(what, apart.is_none()).into();
        }
        Wait {
            who_in_words: job.names.all(group.who.iter().copied()),
            who: group.who.into_iter().collect(),
            whom,
            whom_in_words,
            call: match call {
                "" => "MPI".to_string(),
                call => call.to_string(),
            },
            about: about.to_string(),
            parties: group.parties,
            since: Duration::from_nanos(group.waited),
        }
    });
    let mut all: Vec<Wait> = each.collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.since));
    all
}

/// Whether those who wait for that have done their part themselves, by messages or not, and are
/// waited for by nobody in it.
fn is_common(need: &Need) -> bool {
    need.together || matches!(need.what, What::Collective | What::Agreement | What::End)
}

/// For what one waits that waits for no rank.
fn of_nobody(what: What, together: bool) -> &'static str {
    match what {
        What::Meeting => "another program",
        What::Launcher => "the launcher",
        What::Program => "the program itself",
        What::File => "a file",
        // All have come, and those who wait have yet to hear of it.
        _ if together => "nobody any more",
        _ => "somebody",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::tests::{glance, job, waits};

    /// Two looks at a job, a second apart.
    fn looked(before: Vec<Option<Glance>>, now: Vec<Option<Glance>>) -> JobFrame {
        let mut job_now = job(now);
        job_now.follow(&job(before));
        JobFrame::of(&job_now)
    }

    #[test]
    fn rates_are_of_the_time_between_what_a_rank_has_told() {
        let at = |second, calls| vec![Some(glance(0, second, calls, "MPI_Send"))];
        let frame = looked(at(10, 100), at(12, 300));
        let row = &frame.ranks[0];
        assert_eq!((row.stand, row.calls), (Stand::Runs, Some(100.0)));
        assert_eq!((row.processor, row.asleep), (Some(0.5), Some(0.25)));
        let rates = row.rates.expect("it has told twice");
        let (messages, bytes) = (10.0, f64::from(1 << 20));
        assert_eq!(rates.shm, Rate { messages, bytes });
        assert_eq!(rates.network.messages, 1.0);
        assert_eq!(rates.sent().messages, 11.0);
        assert_eq!(frame.networks, "tcp through eth0");
        assert_eq!(frame.uncounted, 0);
    }

    #[test]
    fn one_that_has_told_nothing_new_has_no_rate_but_if_it_makes_no_call() {
        let at = |second, calls, told| {
            let mut glance = glance(0, second, calls, "MPI_Send");
            glance.counts.as_mut().unwrap().at = told;
            vec![Some(glance)]
        };
        let frame = looked(at(10, 100, 5), at(11, 200, 5));
        assert_eq!((frame.ranks[0].rates, frame.uncounted), (None, 1));
        let frame = looked(at(10, 100, 5), at(12, 100, 5));
        assert_eq!(frame.ranks[0].rates, Some(Rates::default()));
        assert_eq!(frame.ranks[0].stand, Stand::Computes);
    }

    #[test]
    fn states_are_told_apart() {
        let mut states = vec![glance(0, 12, 5, "MPI_Send"); 6];
        states[1].rank.state = State::Stopped;
        states[2].rank.state = State::Left;
        states[3].rank.state = State::Ended;
        states[4] = glance(4, 12, 6, "MPI_Send");
        let mut before = vec![glance(0, 10, 5, "MPI_Send"); 6];
        before[4] = glance(4, 10, 5, "MPI_Send");
        // The last one has no processor.
        before[5].usage = states[5].usage;
        for (rank, (now, then)) in (0..).zip(states.iter_mut().zip(&mut before)) {
            (now.rank.member.rank, then.rank.member.rank) = (rank, rank);
        }
        let all = |seen: Vec<Glance>| seen.into_iter().map(Some).chain([None]).collect();
        let frame = looked(all(before), all(states));
        let stands: Vec<_> = frame.ranks.iter().map(|it| it.stand.word()).collect();
        let expected = [
            "computes",
            "stopped",
            "finalized",
            "ended",
            "runs",
            "sleeps",
            "starts",
        ];
        assert_eq!(stands, expected);
        assert_eq!(frame.stands().values().sum::<usize>(), 7);
    }

    #[test]
    fn how_a_process_has_ended_is_told() {
        let mut seen = job(vec![None; 4]);
        let ends = [
            Some(Exit::Signal(9)),
            Some(Exit::Code(3)),
            Some(Exit::Code(0)),
            None,
        ];
        for (process, exit) in seen.ranks.iter_mut().zip(ends) {
            (process.running, process.exit) = (false, exit);
        }
        let frame = JobFrame::of(&seen);
        let told: Vec<_> = frame
            .ranks
            .iter()
            .map(|it| (it.stand, it.does.as_str()))
            .collect();
        let expected = [
            (Stand::Failed, "killed by signal 9"),
            (Stand::Failed, "exited with code 3"),
            (Stand::Ended, ""),
            (Stand::Failed, "its host is gone"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn of_a_collective_call_those_are_named_who_have_not_come() {
        let at = |second: u64| -> Vec<Option<Glance>> {
            let each = (0..4).map(|rank| match rank {
                2 => glance(rank, second, 5, "MPI_Send"),
                _ => {
                    let glance = glance(rank, second, 9, "MPI_Barrier");
                    waits(glance, 5 + u64::from(rank), What::Collective, &[0, 1, 2, 3])
                }
            });
            each.map(Some).collect()
        };
        let frame = looked(at(10), at(12));
        let [wait] = &frame.waits[..] else {
            panic!("one wait: {:?}", frame.waits);
        };
        assert_eq!(wait.who_in_words, "ranks 0, 1 and 3");
        assert_eq!(
            (wait.whom_in_words.as_str(), wait.parties),
            ("rank 2", Some(4))
        );
        assert_eq!(wait.since, Duration::from_secs(7));
        let row = &frame.ranks[3];
        assert_eq!((row.stand, row.whom.as_str()), (Stand::Waits, "rank 2"));
        assert_eq!(row.since, Some(Duration::from_secs(4)));
        let (verdict, is_certain) = frame.verdict.expect("they have waited for long");
        assert!(verdict.starts_with("no progress: rank 2"), "{verdict}");
        assert!(!is_certain);
    }

    #[test]
    fn ranks_that_wait_for_each_other_are_a_hang() {
        let at = |second: u64| {
            let each = [(0, 1), (1, 0)].map(|(rank, other)| {
                let glance = glance(rank, second, 9, "MPI_Recv");
                Some(waits(glance, 5, What::Message, &[other]))
            });
            each.to_vec()
        };
        let frame = looked(at(20), at(21));
        assert_eq!(frame.waits.len(), 2);
        let (verdict, is_certain) = frame.verdict.expect("they wait for ever");
        assert!(
            is_certain && verdict.starts_with("the job hangs:"),
            "{verdict}"
        );
    }
}
