//! Launch after launch, until what is asked for is known well enough.
//!
//! In every **round** each variant has a turn with each number of ranks, in an order that is drawn
//! anew: what drifts with time meets all of them alike. Who fails is told, and the rest goes on.
//!
//! Where there is an end to the time, each turn has its share of what is left for the fewest launches;
//! a launch that takes longer is ended, and the next one of that variant goes on there. So whoever is
//! slow has fewer launches of everything, and takes nothing from the others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Map;

use crate::figures::Figures;
use crate::launch::{End, Job};
use crate::place::Place;
use crate::progress::Progress;
use crate::raw::{self, Begin, Done, Failed, Header, Launch, Line, Run, Said, Writer};
use crate::record::{Better, Record, Samples, bench_of};
use crate::stats::precise;

use known::{Known, Turn};

mod known;

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

    /// Starts launchers by these words.
    pub fn start_by(mut self, before: Vec<String>) -> Session {
        self.before = before;
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
                let begun = self.launches.iter().map(|l| &l.begin);
                let mut same =
                    begun.filter(|b| (b.round, (b.variant, b.place.ranks)) == (round, turn));
                if same.next().is_some() {
                    continue;
                }
                let names = self.known.due(turn, &wanted[&turn.1]);
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
                let until = share.map(|s| Instant::now() + Duration::from_secs_f64(s));
                if self.launch(round, turn, names, until)? == Finish::Interrupted {
                    self.progress.clear();
                    return Ok(Finish::Interrupted);
                }
            }
        }
        self.progress.clear();
        Ok(Finish::Whole)
    }

    /// Seconds left of those for all launches, if there is an end to them.
    fn left(&self) -> Option<f64> {
        let most = self.header.plan.at_most?;
        Some(most - self.earlier - self.begin.elapsed().as_secs_f64())
    }

    /// Whether so many turns are likely to be over in time.
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

    /// A turn: a launch; if it fails, one of its own for each benchmark that it may have failed in.
    fn launch(
        &mut self,
        round: u32,
        turn: Turn,
        names: Vec<String>,
        until: Option<Instant>,
    ) -> Result<Finish, String> {
        let timed = &self.header.plan.timed;
        let (alone, together): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|n| timed.contains(n));
        let mut next: VecDeque<Vec<String>> = alone.into_iter().map(|name| vec![name]).collect();
        if !together.is_empty() {
            next.push_front(together);
        }
        while let Some(names) = next.pop_front() {
            if until.is_some_and(|until| Instant::now() >= until) {
                let left = next.drain(..).flatten();
                self.known.leave(turn, names.into_iter().chain(left));
                break;
            }
            let Some(launch) = self.one(round, turn, names, until)? else {
                return Ok(Finish::Interrupted);
            };
            if let Some(trouble) = self.known.learn(&self.header.plan, &launch) {
                self.progress.tell(&trouble);
            }
            let suspects = known::suspects(&launch);
            next.extend(suspects.into_iter().map(|name| vec![name]));
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
        until: Option<Instant>,
    ) -> Result<Option<Launch>, String> {
        let launch = self.next;
        self.next += 1;
        let plan = &self.header.plan;
        let label = plan.label.clone();
        let begin = Begin {
            launch,
            round,
            variant,
            place: Place { ranks, label },
            names,
        };
        self.writer.write(&Line::Begin(begin.clone()))?;
        let job = Job {
            before: &self.before,
            variant: &plan.variants[variant],
            ranks,
            names: &begin.names,
            options: &plan.options,
            limit: Duration::from_secs_f64(plan.limit),
            until,
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
        let (cut, failed) = match end {
            End::Interrupted => return Ok(None),
            End::Done => (false, None),
            End::Cut => (true, None),
            End::Failed(why) | End::Silent(why) => (false, Some(why)),
        };
        if let (false, None, [name]) = (cut, &failed, &begin.names[..])
            && plan.timed.contains(name)
        {
            let record = whole(name, ranks, seconds);
            self.writer.write(&Line::Record(Said {
                launch,
                record: record.clone(),
            }))?;
            records.push(record);
        }
        let done = Done {
            launch,
            seconds,
            cut,
        };
        self.writer.write(&match &failed {
            None => Line::Done(done),
            Some(why) => Line::Failed(Failed {
                end: done,
                why: why.clone(),
            }),
        })?;
        let launch = Launch {
            begin,
            records,
            seconds,
            cut,
            failed,
            ..Launch::default()
        };
        self.progress.ended(&launch);
        Ok(Some(launch))
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

    struct File(PathBuf);

    impl File {
        fn new(name: &str) -> File {
            let path = std::env::temp_dir();
            let path = path.join(format!("catena-bench-{name}-{}.jsonl", std::process::id()));
            let _ = std::fs::remove_file(&path);
            File(path)
        }
    }

    impl Drop for File {
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
            let place = File::new(bad);
            let header = plan(&["first:8", bad, "lonely", "last"], &["a"]);
            let mut session = Session::new(&place.0, header, go()).unwrap();
            assert_eq!(session.measure(), Ok(Finish::Whole));
            let run = session.into_run();
            assert!(measured(&run, "first") >= 3, "{bad}");
            assert!(measured(&run, "last") >= 3, "{bad}");
            let told = crate::troubles::troubles(&run).join("\n");
            assert!(told.contains(&format!("a, 2 ranks: {bad} {why}")), "{told}");
            assert!(told.contains("lonely skipped: needs 9 ranks"), "{told}");
            let tries = run
                .launches
                .iter()
                .filter(|l| l.begin.names.contains(&bad.into()));
            assert!(tries.count() <= 2 * known::STRIKES as usize, "{bad}");
            assert_eq!(raw::read(&place.0).unwrap(), run);
        }
    }

    #[test]
    fn a_whole_launch_is_timed_by_itself() {
        let place = File::new("timed");
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
        let place = File::new("missing");
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
        let place = File::new("resumed");
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
        let place = File::new("precise");
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
    fn there_is_an_end_to_the_time() {
        let place = File::new("over");
        let mut header = plan(&["first"], &["a", "b"]);
        header.plan.at_most = Some(0.0);
        let mut session = Session::new(&place.0, header, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        assert_eq!(session.into_run().launches, []);

        // What launches took before an interruption counts.
        let place = File::new("over-later");
        let mut header = plan(&["first"], &["a", "b"]);
        header.plan.at_most = Some(1000.0);
        let mut session = Session::new(&place.0, header, go()).unwrap();
        session.measure().unwrap();
        let all = session.into_run().launches.len();
        let text = std::fs::read_to_string(&place.0).unwrap();
        let (first, _) = text.match_indices("{\"begin\"").nth(1).unwrap();
        let text = text[..first].replace("\"seconds\":0", "\"seconds\":1000");
        std::fs::write(&place.0, text).unwrap();
        let mut session = Session::resume(&place.0, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        assert_eq!((all, session.into_run().launches.len()), (6, 1));
    }

    #[test]
    fn every_round_has_its_own_order() {
        let header = plan(&["first"], &["a", "b", "c", "d"]);
        let orders: BTreeSet<_> = (0..20).map(|round| order(&header, round)).collect();
        assert!(orders.len() > 10);
        assert_eq!(order(&header, 3), order(&header, 3));
    }
}
