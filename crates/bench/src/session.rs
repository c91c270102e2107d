//! Launch after launch, until what is asked for is known well enough.
//!
//! In every **round** each variant runs once with each number of ranks, in an order that is drawn
//! anew: what drifts with time meets all of them alike. Who fails is told, and the rest goes on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Map;

use crate::figures::Figures;
use crate::launch::{End, Job, LAST_WORDS_FOLLOW};
use crate::progress::Progress;
use crate::raw::{self, Begin, Done, Failed, Header, Launch, Line, Run, Said, Writer};
use crate::record::{Better, Record, Samples, bench_of};
use crate::show;
use crate::stats::precise;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// All is known, or the most launches or the time are reached.
    Whole,
    /// The user stopped it.
    Interrupted,
}

/// A benchmark that fails as often in launches of its own is left out.
const STRIKES: u32 = 2;

/// A session.
pub struct Session {
    header: Header,
    launches: Vec<Launch>,
    writer: Writer,
    stop: Arc<AtomicBool>,
    progress: Progress,
    begin: Instant,
    /// Number of the next launch.
    next: u32,
    /// Failures of benchmarks in launches of their own, by variant, ranks and name; an empty name
    /// stands for all.
    strikes: BTreeMap<(usize, u32, String), u32>,
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

    /// One that was interrupted.
    ///
    /// # Errors
    /// In words, if the file is none of ours or cannot be written.
    pub fn resume(path: &Path, stop: Arc<AtomicBool>) -> Result<Session, String> {
        let Run { header, launches } = raw::read(path)?;
        let writer = Writer::resume(path)?;
        let mut session = Session::with(header, writer, stop);
        for launch in launches {
            session.next = session.next.max(launch.begin.launch + 1);
            session.judge(&launch, false);
            session.progress.ended(&launch);
            session.launches.push(launch);
        }
        Ok(session)
    }

    fn with(header: Header, writer: Writer, stop: Arc<AtomicBool>) -> Session {
        Session {
            progress: Progress::new(&header.plan),
            header,
            launches: Vec::new(),
            writer,
            stop,
            begin: Instant::now(),
            next: 0,
            strikes: BTreeMap::new(),
        }
    }

    /// Measures.
    ///
    /// # Errors
    /// In words, if the raw data cannot be written.
    pub fn measure(&mut self) -> Result<Finish, String> {
        let plan = self.header.plan.clone();
        for round in 0..plan.launches.1 {
            let spent = self.begin.elapsed().as_secs_f64();
            let out_of_time = plan.at_most.is_some_and(|most| spent >= most);
            if round > 0 && out_of_time {
                break;
            }
            let wanted = self.wanted(round);
            if wanted.values().all(Vec::is_empty) {
                break;
            }
            for (variant, ranks) in order(&self.header, round) {
                let begun = self.launches.iter().map(|l| &l.begin);
                let mut same =
                    begun.filter(|b| (b.round, b.variant, b.ranks) == (round, variant, ranks));
                if same.next().is_some() {
                    continue;
                }
                let names = self.sound(variant, ranks, &wanted[&ranks]);
                if names.is_empty() {
                    continue;
                }
                self.progress.about(&plan, round, variant, ranks);
                if self.launch(round, variant, ranks, names)? == Finish::Interrupted {
                    self.progress.clear();
                    return Ok(Finish::Interrupted);
                }
            }
        }
        self.progress.clear();
        Ok(Finish::Whole)
    }

    /// All that was measured.
    pub fn into_run(self) -> Run {
        Run {
            header: self.header,
            launches: self.launches,
        }
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
            .map(|figure| (figure.key.ranks, figure.key.bench.as_str()))
            .collect();
        let mut wanted: BTreeMap<u32, Vec<String>> = all();
        for (ranks, names) in &mut wanted {
            names.retain(|name| vague.contains(&(*ranks, bench_of(name))));
        }
        wanted
    }

    /// Those of `names` that this variant can do, as far as it has shown.
    fn sound(&self, variant: usize, ranks: u32, names: &[String]) -> Vec<String> {
        let struck = |name: &str| {
            let key = (variant, ranks, bench_of(name).to_string());
            let strikes = self.strikes.get(&key);
            strikes.is_some_and(|s| *s >= STRIKES)
        };
        if struck("") {
            return Vec::new();
        }
        names.iter().filter(|n| !struck(n)).cloned().collect()
    }

    /// A launch; if it fails, one of its own for each benchmark that it may have failed in.
    fn launch(
        &mut self,
        round: u32,
        variant: usize,
        ranks: u32,
        names: Vec<String>,
    ) -> Result<Finish, String> {
        let timed = &self.header.plan.timed;
        let (alone, together): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|n| timed.contains(n));
        let mut next: VecDeque<Vec<String>> = alone.into_iter().map(|name| vec![name]).collect();
        if !together.is_empty() {
            next.push_front(together);
        }
        while let Some(names) = next.pop_front() {
            let Some(launch) = self.one(round, variant, ranks, names)? else {
                return Ok(Finish::Interrupted);
            };
            self.judge(&launch, true);
            next.extend(suspects(&launch).into_iter().map(|name| vec![name]));
            self.launches.push(launch);
        }
        Ok(Finish::Whole)
    }

    /// Runs and writes one launch; `None` if it was interrupted.
    fn one(
        &mut self,
        round: u32,
        variant: usize,
        ranks: u32,
        names: Vec<String>,
    ) -> Result<Option<Launch>, String> {
        let launch = self.next;
        self.next += 1;
        let begin = Begin {
            launch,
            round,
            variant,
            ranks,
            names,
        };
        self.writer.write(&Line::Begin(begin.clone()))?;
        let plan = &self.header.plan;
        let job = Job {
            variant: &plan.variants[variant],
            ranks,
            names: &begin.names,
            options: &plan.options,
            limit: Duration::from_secs_f64(plan.limit),
            mute: begin.names.iter().all(|name| plan.timed.contains(name)),
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
        let failed = match end {
            End::Interrupted => return Ok(None),
            End::Done => None,
            End::Failed(why) | End::Silent(why) => Some(why),
        };
        if let (None, [name]) = (&failed, &begin.names[..])
            && plan.timed.contains(name)
        {
            let record = whole(name, ranks, seconds);
            self.writer.write(&Line::Record(Said {
                launch,
                record: record.clone(),
            }))?;
            records.push(record);
        }
        self.writer.write(&match &failed {
            None => Line::Done(Done { launch, seconds }),
            Some(why) => Line::Failed(Failed {
                launch,
                seconds,
                why: why.clone(),
            }),
        })?;
        let launch = Launch {
            begin,
            records,
            seconds,
            failed,
        };
        self.progress.ended(&launch);
        Ok(Some(launch))
    }

    /// Learns from how a launch ended, and tells the user (`aloud`) if it was bad.
    fn judge(&mut self, launch: &Launch, aloud: bool) {
        let Begin {
            variant,
            ranks,
            ref names,
            ..
        } = launch.begin;
        let out = |name: &str| (variant, ranks, bench_of(name).to_string());
        for record in &launch.records {
            // What it cannot do at all need not be asked again.
            if let Record::Skipped(s) = record
                && s.size.is_none()
                && !self.header.plan.timed.contains(&s.bench)
            {
                self.strikes.insert(out(&s.bench), STRIKES);
            }
        }
        let Some(why) = &launch.failed else { return };
        let alone = match &names[..] {
            _ if launch.records.is_empty() => Some(String::new()),
            [name] => Some(name.clone()),
            _ => None,
        };
        let strikes = alone.map(|name| {
            let strikes = self.strikes.entry(out(&name)).or_default();
            *strikes += 1;
            *strikes
        });
        if aloud {
            let who = &self.header.plan.variants[variant].name;
            let what = match (&names[..], launch.records.is_empty()) {
                ([name], _) => name.clone(),
                (_, true) => "the start".to_string(),
                _ => format!("a launch of {} benchmarks", names.len()),
            };
            let next = match strikes {
                None => "each of the rest is tried by itself",
                Some(strikes) if strikes < STRIKES => "it will be tried once more",
                Some(_) => "the rest goes on without it",
            };
            self.progress
                .tell(&format!("{who}, {ranks} ranks: {what} {why}\n    ({next})"));
        }
    }
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
        more: Map::new(),
    })
}

/// The benchmarks of a failed launch that may have been the cause, or that it did not get to: not
/// those after which it told of another one.
fn suspects(launch: &Launch) -> Vec<String> {
    let names = &launch.begin.names;
    if launch.failed.is_none() || launch.records.is_empty() || names.len() < 2 {
        return Vec::new();
    }
    let told: Vec<&str> = launch.records.iter().filter_map(Record::bench).collect();
    let over = |name: &&String| {
        let name = bench_of(name);
        told.contains(&name) && told.last() != Some(&name)
    };
    names.iter().filter(|n| !over(n)).cloned().collect()
}

/// The launches of a round, in the order that the seed gives.
fn order(header: &Header, round: u32) -> Vec<(usize, u32)> {
    let plan = &header.plan;
    let mut order: Vec<_> = (0..plan.variants.len())
        .flat_map(|variant| plan.ranks.iter().map(move |&ranks| (variant, ranks)))
        .collect();
    let seed = plan.seed.wrapping_add(u64::from(round) << 32);
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order
}

/// What failed or was left out: a line for each variant, number of ranks and cause.
pub fn troubles(run: &Run) -> Vec<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for launch in &run.launches {
        let who = &run.header.plan.variants[launch.begin.variant].name;
        let mut note = |what: String| {
            let line = format!("{who}, {} ranks: {what}", launch.begin.ranks);
            *seen.entry(line).or_default() += 1;
        };
        for record in &launch.records {
            match record {
                Record::Invalid(i) => {
                    note(format!(
                        "{} {}: wrong: {}",
                        i.bench,
                        show::size(i.size),
                        i.error
                    ));
                }
                Record::Skipped(s) => {
                    let size = s
                        .size
                        .map_or_else(String::new, |s| format!(" {}", show::size(s)));
                    note(format!("{}{size} skipped: {}", s.bench, s.why));
                }
                _ => {}
            }
        }
        if let Some(why) = &launch.failed {
            let first = why.lines().next().unwrap_or_default();
            let first = first.trim_end_matches(LAST_WORDS_FOLLOW);
            note(match &launch.begin.names[..] {
                [name] => format!("{name} {first}"),
                names => format!("a launch of {} benchmarks {first}", names.len()),
            });
        }
    }
    let line = |(line, times)| match times {
        1 => line,
        _ => format!("{line} ({times} times)"),
    };
    seen.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{Variant, tests::header};
    use std::path::PathBuf;

    /// In place of a launcher: tells a record for each benchmark, or fails as its name says.
    const STAND_IN: &str = r#"
        shift 3
        [ $1 = hello ] && exit
        echo '@catena-bench {"kind":"env","protocol":1,"library":"stand-in","ranks":2}'
        for name; do
            case $name in
                crash) kill -11 $$ ;;
                hang) sleep 60 ;;
                nonsense) echo '@catena-bench {"kind":"samples"}'; continue ;;
                lonely) echo '@catena-bench {"kind":"skipped","bench":"lonely","why":"needs 9 ranks"}'; continue ;;
                -*) continue ;;
            esac
            echo '@catena-bench {"kind":"samples","bench":"'${name%:*}'","size":8,"ranks":2,"unit":"us","better":"less","values":[1,1.5,1]}'
        done
        echo '@catena-bench {"kind":"end"}'"#;

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let path = std::env::temp_dir();
            let path = path.join(format!("catena-bench-{name}-{}.jsonl", std::process::id()));
            let _ = std::fs::remove_file(&path);
            Place(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn plan(names: &[&str], variants: &[&str]) -> Header {
        let mut header = header(variants);
        let plan = &mut header.plan;
        plan.names = names.iter().map(|n| n.to_string()).collect();
        plan.launches = (3, 3);
        plan.limit = 0.3;
        for variant in &mut plan.variants {
            *variant = Variant {
                name: variant.name.clone(),
                launcher: ["sh", "-c", STAND_IN, "launcher"]
                    .map(String::from)
                    .to_vec(),
                program: "program".into(),
                ..Variant::default()
            };
        }
        header
    }

    fn go() -> Arc<AtomicBool> {
        Arc::new(AtomicBool::new(false))
    }

    fn measured(run: &Run, bench: &str) -> usize {
        let records = run.launches.iter().flat_map(|l| &l.records);
        let of = |r: &&Record| matches!(r, Record::Samples(s) if s.bench == bench);
        records.filter(of).count()
    }

    #[test]
    fn who_fails_is_left_out_and_the_rest_goes_on() {
        for (bad, why) in [
            ("crash", "was killed by signal 11"),
            ("hang", "said nothing for 0.3 s"),
            ("nonsense", "a record is broken"),
        ] {
            let place = Place::new(bad);
            let header = plan(&["first:8", bad, "lonely", "last"], &["a"]);
            let mut session = Session::new(&place.0, header, go()).unwrap();
            assert_eq!(session.measure(), Ok(Finish::Whole));
            let run = session.into_run();
            assert!(measured(&run, "first") >= 3, "{bad}");
            assert!(measured(&run, "last") >= 3, "{bad}");
            let told = troubles(&run).join("\n");
            assert!(told.contains(&format!("a, 2 ranks: {bad} {why}")), "{told}");
            assert!(told.contains("lonely skipped: needs 9 ranks"), "{told}");
            let tries = run
                .launches
                .iter()
                .filter(|l| l.begin.names.contains(&bad.into()));
            assert!(tries.count() <= 2 * STRIKES as usize, "{bad}");
            assert_eq!(raw::read(&place.0).unwrap(), run);
        }
    }

    #[test]
    fn a_whole_launch_is_timed_by_itself() {
        let place = Place::new("timed");
        let mut header = plan(&["first", "hello", "last"], &["a"]);
        header.plan.timed = vec!["hello".into()];
        let mut session = Session::new(&place.0, header, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        let run = session.into_run();
        let names = |l: &Launch| l.begin.names.join(" ");
        let first: Vec<String> = run.launches.iter().take(2).map(names).collect();
        assert_eq!(first, ["first last", "hello"]);
        let Some(Record::Samples(s)) = run.launches[1].records.last() else {
            panic!("{:?}", run.launches[1]);
        };
        assert!(s.values[0] > 100.0 && s.values[0] <= run.launches[1].seconds * 1e6);
        assert_eq!(raw::read(&place.0).unwrap(), run);
    }

    #[test]
    fn what_cannot_start_is_tried_twice() {
        let place = Place::new("missing");
        let mut header = plan(&["first"], &["a", "b"]);
        header.plan.variants[0].launcher = vec!["/nonexistent/mpirun".into()];
        let mut session = Session::new(&place.0, header, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        let run = session.into_run();
        assert_eq!(measured(&run, "first"), 3);
        let failed = run.launches.iter().filter(|l| l.failed.is_some()).count();
        assert_eq!(failed, 2);
    }

    #[test]
    fn an_interrupted_session_ends_as_if_it_had_not_been() {
        let place = Place::new("resumed");
        let header = plan(&["first", "last"], &["a", "b"]);
        let mut session = Session::new(&place.0, header, go()).unwrap();
        session.measure().unwrap();
        let whole = session.into_run();
        let text = std::fs::read_to_string(&place.0).unwrap();
        let places: Vec<usize> = text
            .match_indices("{\"record\"")
            .map(|(at, _)| at)
            .collect();
        // In the middle of a line of the third launch.
        std::fs::write(&place.0, &text[..places[9] + 20]).unwrap();
        let mut session = Session::resume(&place.0, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        let order = |run: &Run| -> Vec<_> {
            let begun = run.launches.iter().map(|l| &l.begin);
            begun
                .map(|b| (b.round, b.variant, b.names.clone()))
                .collect()
        };
        let run = session.into_run();
        assert_eq!(order(&run), order(&whole));
        assert_eq!(raw::read(&place.0).unwrap(), run);
    }

    #[test]
    fn more_launches_until_all_is_precise() {
        let place = Place::new("precise");
        let mut header = plan(&["first", "last"], &["a"]);
        header.plan.launches = (2, 50);
        let mut session = Session::new(&place.0, header, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        assert_eq!(
            session.into_run().launches.len(),
            2,
            "its values never vary"
        );
    }

    #[test]
    fn every_round_has_its_own_order() {
        let header = plan(&["first"], &["a", "b", "c", "d"]);
        let orders: BTreeSet<_> = (0..20).map(|round| order(&header, round)).collect();
        assert!(orders.len() > 10);
        assert_eq!(order(&header, 3), order(&header, 3));
    }
}
