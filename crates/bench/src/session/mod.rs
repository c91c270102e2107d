//! Launch after launch, until what is asked for is known well enough.
//!
//! In every **round** each variant has a turn with each number of ranks, in an order that is drawn
//! anew: what drifts with time meets all of them alike. Who fails is told, and the rest goes on.
//!
//! Where there is an end to the time, each turn has its share of what is left for the fewest
//! launches, and begins nothing more after it; the next one of that variant begins with what was
//! measured longest ago. So a slow variant has fewer launches of everything, and takes nothing from
//! the others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Map;

use crate::figures::Figures;
use crate::launch::{End, Job};
use crate::place::RunPlace;
use crate::progress::Progress;
use crate::raw::{self, Begin, Done, Failed, Header, Launch, Line, Plan, Run, Said, Writer};
use crate::record::{Better, Record, Samples, bench_of};
use crate::stats::precise;

use known::{Known, Turn};

mod known;
#[cfg(test)]
mod tests;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// All is known, or the most launches or the time are reached.
    Whole,
    /// The user stopped it.
    Interrupted,
}

/// A session.
pub struct Session {
    header: Header,
    launches: Vec<Launch>,
    writer: Writer,
    stop: Arc<AtomicBool>,
    /// Words before each launcher's: see [`Job::before`].
    before: Vec<String>,
    /// The build of each variant where it is another one than the file's first line names, and else
    /// nothing.
    rebuilt: Vec<String>,
    progress: Progress,
    begin: Instant,
    /// Seconds that launches took before `begin`.
    earlier: f64,
    /// Number of the next launch.
    next: u32,
    known: Known,
}

impl Session {
    /// A new one, whose raw data go into the file `path`.
    ///
    /// # Errors
    /// In words, if the file cannot be made.
    pub fn new(path: &Path, header: Header, stop: Arc<AtomicBool>) -> Result<Session, String> {
        let writer = Writer::create(path, &header)?;
        Ok(Session::with(header, writer, stop))
    }

    /// A new one, whose raw data nobody keeps.
    ///
    /// # Errors
    /// In words.
    pub fn unkept(header: Header, stop: Arc<AtomicBool>) -> Result<Session, String> {
        Ok(Session::with(header, Writer::nowhere()?, stop))
    }

    /// One that was interrupted.
    ///
    /// # Errors
    /// In words, if the file is none of ours or cannot be written.
    pub fn resume(path: &Path, stop: Arc<AtomicBool>) -> Result<Session, String> {
        let Run {
            sessions, launches, ..
        } = raw::read(path)?;
        let [header] = &sessions[..] else {
            unreachable!("a file is one session")
        };
        let header = header.clone();
        let writer = Writer::resume(path)?;
        let mut session = Session::with(header, writer, stop);
        for launch in launches {
            session.next = session.next.max(launch.begin.launch + 1);
            session.earlier += launch.seconds;
            session.known.learn(&session.header.plan, &launch);
            session.progress.ended(&launch);
            session.launches.push(launch);
        }
        Ok(session)
    }

    fn with(header: Header, writer: Writer, stop: Arc<AtomicBool>) -> Session {
        Session {
            rebuilt: vec![String::new(); header.plan.variants.len()],
            progress: Progress::new(&header.plan),
            header,
            launches: Vec::new(),
            writer,
            stop,
            before: Vec::new(),
            begin: Instant::now(),
            earlier: 0.0,
            next: 0,
            known: Known::default(),
        }
    }

    /// What is asked for.
    pub fn plan(&self) -> &Plan {
        &self.header.plan
    }

    /// Starts launchers by these words.
    pub fn start_by(mut self, before: Vec<String>) -> Session {
        self.before = before;
        self
    }

    /// Goes on with these builds of the variants, which each further launch tells where the file's
    /// first line names others.
    pub fn of_builds(mut self, now: Vec<String>) -> Session {
        let named = self.header.plan.variants.iter().map(|v| &v.digest);
        let others = now.into_iter().zip(named);
        let others = others.map(|(now, named)| if now == *named { String::new() } else { now });
        self.rebuilt = others.collect();
        self
    }

    /// The session ends when all launches together have taken this many seconds, whatever the file
    /// says.
    pub fn at_most(mut self, seconds: Option<f64>) -> Session {
        let plan = &mut self.header.plan;
        plan.at_most = seconds.or(plan.at_most);
        self
    }

    /// Measures.
    ///
    /// # Errors
    /// In words, if the raw data cannot be written.
    pub fn measure(&mut self) -> Result<Finish, String> {
        let plan = self.header.plan.clone();
        for round in 0..plan.launches.1 {
            let turns = order(&self.header, round);
            if round >= plan.launches.0 && !self.has_time_for(turns.len()) {
                break;
            }
            let wanted = self.wanted(round);
            if wanted.values().all(Vec::is_empty) {
                break;
            }
            let later = plan.launches.0.saturating_sub(round + 1) as usize * turns.len();
            for (number, &turn) in turns.iter().enumerate() {
                let names = self.due(round, turn, &wanted[&turn.1]);
                if names.is_empty() {
                    continue;
                }
                let left = self.left();
                if left.is_some_and(|left| left <= 0.0) {
                    self.progress.clear();
                    return Ok(Finish::Whole);
                }
                let share = left.map(|left| left / (turns.len() - number + later) as f64);
                self.progress.about(&plan, round, turn, left);
                let until = share.and_then(after);
                if self.launch(round, turn, names, until)? == Finish::Interrupted {
                    self.progress.clear();
                    return Ok(Finish::Interrupted);
                }
            }
        }
        self.progress.clear();
        Ok(Finish::Whole)
    }

    /// What a turn measures of `names`: of one that was interrupted what it had not begun, and
    /// nothing of those before.
    fn due(&self, round: u32, turn: Turn, names: &[String]) -> Vec<String> {
        let of = |l: &Launch| (l.begin.round, (l.begin.variant, l.begin.place.ranks));
        let same = self.launches.iter().filter(|l| of(l) == (round, turn));
        let begun: BTreeSet<&String> = same.flat_map(|l| &l.begin.names).collect();
        if !begun.is_empty() && self.launches.last().map(of) != Some((round, turn)) {
            return Vec::new();
        }
        let mut due = self.known.due(turn, names);
        due.retain(|name| !begun.contains(name));
        due
    }

    /// Seconds left of those for all launches, if there is an end to them.
    fn left(&self) -> Option<f64> {
        let most = self.header.plan.at_most?;
        Some(most - self.earlier - self.begin.elapsed().as_secs_f64())
    }

    /// Whether this many turns are likely to be over in time.
    fn has_time_for(&self, turns: usize) -> bool {
        let took: f64 = self.launches.iter().map(|l| l.seconds).sum();
        let begun = self.launches.iter().map(|l| &l.begin);
        let done: BTreeSet<_> = begun.map(|b| (b.round, b.variant, b.place.ranks)).collect();
        let each = took / done.len().max(1) as f64;
        self.left().is_none_or(|left| left >= each * turns as f64)
    }

    /// All that was measured.
    pub fn into_run(self) -> Run {
        Run::of(self.header, self.launches)
    }

    /// The benchmarks that are not known well enough yet, by number of ranks.
    fn wanted(&self, round: u32) -> BTreeMap<u32, Vec<String>> {
        let plan = &self.header.plan;
        let all = || {
            plan.ranks
                .iter()
                .map(|&r| (r, plan.names.clone()))
                .collect()
        };
        if round < plan.launches.0 {
            return all();
        }
        let figures = Figures::of(plan, &self.launches).figures;
        let vague: BTreeSet<(u32, &str)> = figures
            .iter()
            .filter(|figure| {
                (0..plan.variants.len()).any(|variant| {
                    let medians = figure.main(variant);
                    !medians.is_empty() && !precise(&medians, plan.confidence, plan.precision)
                })
            })
            .map(|figure| (figure.key.place.ranks, figure.key.bench.as_str()))
            .collect();
        let mut wanted: BTreeMap<u32, Vec<String>> = all();
        for (ranks, names) in &mut wanted {
            names.retain(|name| vague.contains(&(*ranks, bench_of(name))));
        }
        wanted
    }

    /// A turn: a launch, or more where some benchmarks need one of their own or it fails.
    fn launch(
        &mut self,
        round: u32,
        turn: Turn,
        names: Vec<String>,
        until: Option<Instant>,
    ) -> Result<Finish, String> {
        let plan = self.header.plan.clone();
        let mut next = VecDeque::from(self.known.groups(&plan, turn, names));
        while let Some(names) = next.pop_front() {
            let within = until.map(|until| until.saturating_duration_since(Instant::now()));
            if within.is_some_and(|within| within.is_zero()) {
                break;
            }
            let Some(launch) = self.one(round, turn, names, within)? else {
                return Ok(Finish::Interrupted);
            };
            if let Some(trouble) = self.known.learn(&plan, &launch) {
                self.progress.tell(&trouble);
                let rest = known::unfinished(&launch);
                next.extend(self.known.groups(&plan, turn, rest));
            }
            self.launches.push(launch);
        }
        Ok(Finish::Whole)
    }

    /// Runs and writes one launch; `None` if it was interrupted.
    fn one(
        &mut self,
        round: u32,
        (variant, ranks): Turn,
        names: Vec<String>,
        within: Option<Duration>,
    ) -> Result<Option<Launch>, String> {
        let launch = self.next;
        self.next += 1;
        let plan = &self.header.plan;
        let label = plan.label.clone();
        let begin = Begin {
            launch,
            round,
            variant,
            place: RunPlace { ranks, label },
            names,
            digest: self.rebuilt[variant].clone(),
        };
        self.writer.write(&Line::Begin(begin.clone()))?;
        let job = Job {
            before: &self.before,
            variant: &plan.variants[variant],
            ranks,
            names: &begin.names,
            options: &plan.options,
            // A file can have any number.
            limit: Duration::try_from_secs_f64(plan.limit).unwrap_or(Duration::MAX),
            within,
            mute: begin.names.iter().all(|name| plan.is_timed(name)),
        };
        let since = Instant::now();
        let mut records = Vec::new();
        let mut written = Ok(());
        let (writer, progress, stop) = (&mut self.writer, &mut self.progress, &self.stop);
        let end = job.run(stop, |record| {
            progress.heard(&record);
            let record = Said { launch, record };
            if written.is_ok() {
                written = writer.write(&Line::Record(record.clone()));
            }
            if written.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            records.push(record.record);
        });
        written?;
        let seconds = since.elapsed().as_secs_f64();
        let hung = matches!(end, End::Silent(_));
        let failed = match end {
            End::Interrupted => return Ok(None),
            End::Done => None,
            End::Failed(why) | End::Silent(why) => Some(why),
        };
        if let (None, [name]) = (&failed, &begin.names[..])
            && plan.is_timed(name)
        {
            let record = whole(bench_of(name), ranks, seconds);
            self.writer.write(&Line::Record(Said {
                launch,
                record: record.clone(),
            }))?;
            records.push(record);
        }
        let done = Done { launch, seconds };
        self.writer.write(&match &failed {
            None => Line::Done(done),
            Some(why) => Line::Failed(Failed {
                end: done,
                why: why.clone(),
                hung,
            }),
        })?;
        let launch = Launch {
            begin,
            records,
            seconds,
            failed,
            hung,
            ..Launch::default()
        };
        self.progress.ended(&launch);
        Ok(Some(launch))
    }
}

/// When that many seconds from now are over; `None` if no clock has that time.
fn after(seconds: f64) -> Option<Instant> {
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    Instant::now().checked_add(time)
}

/// What a launch that is measured as a whole took.
fn whole(name: &str, ranks: u32, seconds: f64) -> Record {
    Record::Samples(Samples {
        bench: name.to_string(),
        size: 0,
        datatype: None,
        ranks,
        unit: "us".to_string(),
        better: Better::Less,
        values: vec![seconds * 1e6],
        line_ns: None,
        late: 0,
        wrong: None,
        more: Map::new(),
    })
}

/// The launches of a round, in the order that the seed gives.
fn order(header: &Header, round: u32) -> Vec<Turn> {
    let plan = &header.plan;
    let mut order: Vec<_> = (0..plan.variants.len())
        .flat_map(|variant| plan.ranks.iter().map(move |&ranks| (variant, ranks)))
        .collect();
    let seed = plan.seed.wrapping_add(u64::from(round) << 32);
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order
}
