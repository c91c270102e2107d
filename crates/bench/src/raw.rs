//! The file that keeps everything: JSON lines, each written through as it comes.
//!
//! The first line is the [`Header`]; then, for each launch, a `begin`, its records, and `done` or
//! `failed`. A launch that has neither was interrupted; it counts for nothing.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::place::RunPlace;
use crate::record::{Record, bench_of};

/// The version of the file.
pub const FORMAT: u32 = 1;

/// What is said of other files.
const NO_FILE: &str = "this is no file of raw data of catena bench";

/// What is measured, how, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// See [`FORMAT`].
    pub format: u32,
    /// Version of this command.
    pub catena: String,
    /// When it began, UTC.
    pub time: String,
    /// The command line.
    pub command: Vec<String>,
    /// Where it was started.
    pub machine: Machine,
    /// What is asked for.
    pub plan: Plan,
}

/// What the figures are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// To know them.
    Figures,
    /// To judge the first variant next to the others.
    Compare,
    /// To judge collectives next to their mock-ups.
    Guidelines,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// See there.
    pub purpose: Purpose,
    /// What tells this session from others in one table; may be empty.
    #[serde(default)]
    pub label: String,
    /// Names of the benchmarks.
    pub names: Vec<String>,
    /// The names among them that are a whole launch, from its beginning to its end.
    #[serde(default)]
    pub timed: Vec<String>,
    /// Benchmarks that have threads: a launch of their own, for threads cost all others, too.
    #[serde(default)]
    pub threaded: Vec<String>,
    /// Numbers of ranks.
    pub ranks: Vec<u32>,
    /// What is measured side by side; the first is compared with each of the others.
    pub variants: Vec<Variant>,
    /// Options of the measuring program.
    pub options: Vec<String>,
    /// Fewest launches of each variant, and most.
    pub launches: (u32, u32),
    /// Half-width of the interval, as a share of the median, from which on a benchmark is done.
    pub precision: f64,
    /// Of intervals and tests.
    pub confidence: f64,
    /// Differences below this share do not matter.
    pub margin: f64,
    /// Seconds of silence after which a launch is ended.
    pub limit: f64,
    /// Seconds for all launches together.
    pub at_most: Option<f64>,
    /// Of the order of launches.
    pub seed: u64,
}

impl Plan {
    /// Whether a benchmark, with sizes or without, is a whole launch.
    pub fn is_timed(&self, name: &str) -> bool {
        self.timed.iter().any(|n| n == bench_of(name))
    }

    /// Whether it has threads.
    pub fn is_threaded(&self, name: &str) -> bool {
        self.threaded.iter().any(|n| n == bench_of(name))
    }
}

/// One of the things that are compared: a library, started in one way, with its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// What it is called in tables.
    pub name: String,
    /// Where the library is installed.
    pub prefix: PathBuf,
    /// The command that starts programs, before the number of ranks.
    pub launcher: Vec<String>,
    /// Its options behind the number of ranks.
    pub behind: Vec<String>,
    /// The measuring program.
    pub program: PathBuf,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// Which build it is: see [`crate::builds`]; empty where the file does not tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The first.
    Header(Box<Header>),
    /// A launch begins.
    Begin(Begin),
    /// The launch says something.
    Record(Said),
    /// The launch ended well.
    Done(Done),
    /// The launch ended badly.
    Failed(Failed),
}

/// The beginning of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// Number of the launch, from 0.
    pub launch: u32,
    /// Of the round.
    pub round: u32,
    /// Index of the variant.
    pub variant: usize,
    /// Where.
    #[serde(flatten)]
    pub place: RunPlace,
    /// What is to be measured.
    pub names: Vec<String>,
    /// Which build it is of (see [`crate::builds`]) where it is not the one that the first line
    /// names.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// A record of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Which launch.
    pub launch: u32,
    /// What it said.
    #[serde(flatten)]
    pub record: Record,
}

/// The end of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Which launch.
    pub launch: u32,
    /// How long it took.
    pub seconds: f64,
}

/// The bad end of a launch; what it measured before counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Which launch, and how long it took.
    #[serde(flatten)]
    pub end: Done,
    /// What happened, in words.
    pub why: String,
    /// Whether it was ended since it said nothing any more.
    #[serde(default)]
    pub hung: bool,
}

/// A launch as the file has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// Number of the session, from 0, where several are shown together.
    pub session: usize,
    /// How it began.
    pub begin: Begin,
    /// What it said.
    pub records: Vec<Record>,
    /// How long it took.
    pub seconds: f64,
    /// Why it failed, if it did.
    pub failed: Option<String>,
    /// Whether it did so by hanging.
    pub hung: bool,
}

/// A whole file, or several together.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The first line of each file.
    pub sessions: Vec<Header>,
    /// What was asked for, in any of them.
    pub plan: Plan,
    /// Launches that ended, well or not, in order.
    pub launches: Vec<Launch>,
}

impl Run {
    /// A single session.
    pub fn of(header: Header, launches: Vec<Launch>) -> Run {
        let plan = header.plan.clone();
        Run {
            sessions: vec![header],
            plan,
            launches,
        }
    }
}

/// A file that is being written.
pub struct Writer {
    file: File,
    path: PathBuf,
}

impl Writer {
    /// A new file, which must not exist yet, with its first line.
    ///
    /// # Errors
    /// In words.
    pub fn create(path: &Path, header: &Header) -> Result<Writer, String> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => format!(
                "{} is there already; go on with it by --resume, or choose another --output",
                path.display()
            ),
            _ => format!(
                "{} cannot be made: {e}; choose another --output",
                path.display()
            ),
        })?;
        let mut writer = Writer {
            file,
            path: path.to_path_buf(),
        };
        writer.write(&Line::Header(Box::new(header.clone())))?;
        Ok(writer)
    }

    /// Keeps nothing.
    ///
    /// # Errors
    /// In words.
    pub fn nowhere() -> Result<Writer, String> {
        let path = PathBuf::from("/dev/null");
        let file = OpenOptions::new().write(true).open(&path);
        let file = file.map_err(|e| format!("{} cannot be opened: {e}", path.display()))?;
        Ok(Writer { file, path })
    }

    /// Goes on behind what the file has; a last line that was cut short is taken away.
    ///
    /// # Errors
    /// In words.
    pub fn resume(path: &Path) -> Result<Writer, String> {
        let cannot = |e: io::Error| format!("{} cannot be gone on with: {e}", path.display());
        let text = fs::read(path).map_err(cannot)?;
        let whole = text
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        let file = OpenOptions::new().append(true).open(path).map_err(cannot)?;
        file.set_len(whole as u64).map_err(cannot)?;
        Ok(Writer {
            file,
            path: path.to_path_buf(),
        })
    }

    /// Writes a line, at once.
    ///
    /// # Errors
    /// In words; a full disk, say.
    pub fn write(&mut self, line: &Line) -> Result<(), String> {
        let mut text = serde_json::to_vec(line).map_err(|e| e.to_string())?;
        text.push(b'\n');
        let written = self.file.write_all(&text);
        written.map_err(|e| format!("{} cannot be written: {e}", self.path.display()))
    }
}

/// Reads a file.
///
/// # Errors
/// In words, with the number of the line.
pub fn read(path: &Path) -> Result<Run, String> {
    let text =
        fs::read_to_string(path).map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    parse(&text).map_err(|why| format!("{}: {why}", path.display()))
}

pub(crate) fn parse(text: &str) -> Result<Run, String> {
    let mut header = None;
    let mut open: BTreeMap<u32, Launch> = BTreeMap::new();
    let mut launches = Vec::new();
    let mut end = |open: &mut BTreeMap<u32, Launch>, done: Done, failed, hung| {
        if let Some(mut launch) = open.remove(&done.launch) {
            (launch.seconds, launch.failed, launch.hung) = (done.seconds, failed, hung);
            launches.push(launch);
        }
    };
    // What lacks the end of its line was being written when everything ended.
    let lines = text.split_inclusive('\n').filter(|l| l.ends_with('\n'));
    for (number, line) in lines.enumerate() {
        let wrong = |why: String| format!("line {}: {why}", number + 1);
        let line = serde_json::from_str(line).map_err(|e| match header {
            None => NO_FILE.to_string(),
            Some(_) => wrong(e.to_string()),
        });
        match line? {
            Line::Header(found) if found.format != FORMAT => {
                return Err(wrong(format!(
                    "the file has format {}; this version of catena reads {FORMAT}",
                    found.format
                )));
            }
            Line::Header(found) => header = Some(*found),
            Line::Begin(begin) => {
                let launch = Launch {
                    begin,
                    ..Launch::default()
                };
                open.insert(launch.begin.launch, launch);
            }
            Line::Record(said) => {
                if let Record::Samples(samples) = &said.record {
                    samples.judge().map_err(wrong)?;
                }
                if let Some(launch) = open.get_mut(&said.launch) {
                    launch.records.push(said.record);
                }
            }
            Line::Done(done) => end(&mut open, done, None, false),
            Line::Failed(f) => end(&mut open, f.end, Some(f.why), f.hung),
        }
    }
    let header = header.ok_or(NO_FILE)?;
    let known = header.plan.variants.len();
    if launches.iter().any(|l| l.begin.variant >= known) {
        return Err("a launch is of a variant that the first line does not name".into());
    }
    Ok(Run::of(header, launches))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record;

    pub(crate) fn header(variants: &[&str]) -> Header {
        let variant = |name: &&str| Variant {
            name: name.to_string(),
            ..Variant::default()
        };
        Header {
            format: FORMAT,
            catena: "0.1.0".into(),
            time: "2026-11-22T05:00:00Z".into(),
            command: vec!["catena".into(), "bench".into()],
            machine: Machine::default(),
            plan: Plan {
                purpose: Purpose::Compare,
                label: String::new(),
                names: vec!["latency".into()],
                timed: Vec::new(),
                threaded: Vec::new(),
                ranks: vec![2],
                variants: variants.iter().map(variant).collect(),
                options: Vec::new(),
                launches: (5, 10),
                precision: 0.02,
                confidence: 0.95,
                margin: 0.01,
                limit: 60.0,
                at_most: None,
                seed: 7,
            },
        }
    }

    fn begin(launch: u32) -> Line {
        Line::Begin(Begin {
            launch,
            round: 0,
            variant: 0,
            place: RunPlace {
                ranks: 2,
                label: "two hosts".into(),
            },
            names: vec!["latency".into()],
            digest: String::new(),
        })
    }

    fn said(launch: u32) -> Line {
        let line = r#"@catena-bench {"kind":"samples","bench":"latency","size":8,"ranks":2,"unit":"us","better":"less","values":[0.5],"line_ns":null,"late":0,"batch":9}"#;
        let record = record::read(line).unwrap().unwrap();
        Line::Record(Said { launch, record })
    }

    #[test]
    fn a_file_says_again_what_it_was_told() {
        let folder = std::env::temp_dir().join(format!("catena-bench-raw-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.jsonl");
        let header = header(&["a"]);
        let mut writer = Writer::create(&path, &header).unwrap();
        assert!(
            Writer::create(&path, &header)
                .err()
                .unwrap()
                .contains("--resume")
        );
        let end = |launch| Done {
            launch,
            seconds: 1.5,
        };
        let done = |launch| Line::Done(end(launch));
        let failed = Line::Failed(Failed {
            end: end(1),
            why: "signal 11".into(),
            hung: false,
        });
        for line in [
            begin(0),
            said(0),
            done(0),
            begin(1),
            said(1),
            failed,
            begin(2),
            said(2),
        ] {
            writer.write(&line).unwrap();
        }
        // Killed in the middle of a line.
        let mut torn = OpenOptions::new().append(true).open(&path).unwrap();
        torn.write_all(b"{\"done\":{\"lau").unwrap();
        let run = read(&path).unwrap();
        assert_eq!(run.sessions, [header]);
        let ends: Vec<_> = run.launches.iter().map(|l| l.failed.as_deref()).collect();
        assert_eq!(ends, [None, Some("signal 11")]);
        assert_eq!(
            run.launches[0].begin.place.to_string(),
            "2 ranks, two hosts"
        );
        let Record::Samples(samples) = &run.launches[0].records[0] else {
            panic!("{:?}", run.launches[0]);
        };
        assert_eq!(samples.more["batch"], 9);

        let mut writer = Writer::resume(&path).unwrap();
        writer.write(&begin(3)).unwrap();
        writer.write(&done(3)).unwrap();
        assert_eq!(read(&path).unwrap().launches.len(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn other_files_are_refused_with_the_line() {
        assert_eq!(parse("").unwrap_err(), NO_FILE);
        assert_eq!(parse("root:x:0:0\n").unwrap_err(), NO_FILE);
        let head = serde_json::to_string(&Line::Header(Box::new(header(&["a"])))).unwrap();
        let broken = parse(&format!("{head}\n{{}}\n")).unwrap_err();
        assert!(broken.starts_with("line 2"), "{broken}");
        for (values, why) in [
            ("", "no values"),
            ("-1,2", "below 0"),
            ("0,0", "no value but 0"),
        ] {
            let record = format!(
                r#"{{"record":{{"launch":0,"kind":"samples","bench":"b","ranks":2,"unit":"us","better":"less","values":[{values}]}}}}"#
            );
            let broken = parse(&format!("{head}\n{record}\n")).unwrap_err();
            assert!(
                broken.starts_with("line 2: ") && broken.contains(why),
                "{broken}"
            );
        }
        let mut new = header(&["a"]);
        new.format = 2;
        let text = serde_json::to_string(&Line::Header(Box::new(new))).unwrap() + "\n";
        assert!(parse(&text).unwrap_err().contains("format 2"));
        let head = serde_json::to_string(&Line::Header(Box::new(header(&[])))).unwrap();
        let launch = r#"{"begin":{"launch":0,"round":0,"variant":0,"ranks":2,"names":[]}}"#;
        let done = r#"{"done":{"launch":0,"seconds":1}}"#;
        let text = format!("{head}\n{launch}\n{done}\n");
        assert!(parse(&text).unwrap_err().contains("variant"));
    }
}
