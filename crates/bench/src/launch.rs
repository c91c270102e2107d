//! One launch of the measuring program: started, listened to, and ended if it falls silent.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::library::joined;
use crate::raw::Variant;
use crate::record::{self, Record};
use crate::remains::Before;

/// What to start.
pub struct Job<'a> {
    /// Words before the command: a program that starts it.
    pub before: &'a [String],
    /// The library, and how it starts programs.
    pub variant: &'a Variant,
    /// Number of ranks.
    pub ranks: u32,
    /// Benchmarks.
    pub names: &'a [String],
    /// Other options of the program.
    pub options: &'a [String],
    /// How long it may say nothing.
    pub limit: Duration,
    /// After this time it begins nothing more.
    pub within: Option<Duration>,
    /// Whether it says nothing at all and only ends.
    pub mute: bool,
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Well.
    Done,
    /// Badly, in words.
    Failed(String),
    /// The launch was ended since it said nothing for so long, in words.
    Silent(String),
    /// The launch was ended since the user wants to stop.
    Interrupted,
}

/// How long ranks have to end by themselves.
const GRACE: Duration = Duration::from_secs(3);

/// How often the user's wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// What stands at the end of the first line where they follow.
pub const LAST_WORDS_FOLLOW: &str = "; its last words:";

/// Lines of the launch's error output that are kept.
const LAST_WORDS: usize = 6;

impl Job<'_> {
    /// The words of the command.
    pub fn command(&self) -> Vec<String> {
        let variant = self.variant;
        let mut words = [self.before, &variant.launcher].concat();
        words.extend(["-n".to_string(), self.ranks.to_string()]);
        words.extend(variant.behind.iter().cloned());
        words.push(variant.program.display().to_string());
        words.extend(self.names.iter().cloned());
        words.extend(self.options.iter().cloned());
        if let Some(within) = self.within {
            words.extend([
                "--within".to_string(),
                format!("{:.3}", within.as_secs_f64()),
            ]);
        }
        words.push("--records".to_string());
        words
    }

    /// Runs it; `hear` is told each record at once. Ends early if `stop` becomes true.
    pub fn run(&self, stop: &AtomicBool, mut hear: impl FnMut(Record)) -> End {
        let words = self.command();
        let prefix = &self.variant.prefix;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .env("PATH", joined(&prefix.join("bin"), "PATH"))
            .env(
                "LD_LIBRARY_PATH",
                joined(&prefix.join("lib"), "LD_LIBRARY_PATH"),
            )
            .envs(&self.variant.env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that all of it can be ended.
            .process_group(0);
        let before = Before::now();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(e) => return End::Failed(format!("{} cannot be started: {e}", words[0])),
        };
        let lines = lines_of(child.stdout.take());
        let errors = lines_of(child.stderr.take());
        let heard = self.listen(&lines, stop, &mut hear);
        if heard.cut.is_some() {
            end(&mut child);
        }
        let status = child.wait();
        let last_words = last_words(&errors);
        let told = |text: String| match last_words.is_empty() {
            true => text,
            false => format!("{text}{LAST_WORDS_FOLLOW}\n{last_words}"),
        };
        let end = match (heard.cut, status) {
            (Some(Cut::Stop), _) => End::Interrupted,
            (Some(Cut::Silence), _) => End::Silent(told(format!(
                "said nothing for {} s and was ended (--limit)",
                self.limit.as_secs_f64()
            ))),
            (None, Err(e)) => End::Failed(format!("cannot be waited for: {e}")),
            (None, Ok(status)) if !status.success() && !heard.told_wrong(status) => {
                End::Failed(told(in_words(status)))
            }
            (None, Ok(_)) => match (heard.nonsense, heard.ended) {
                (Some(why), _) => End::Failed(why),
                (None, false) if !self.mute => {
                    End::Failed(told("ended without its last record".into()))
                }
                (None, _) => End::Done,
            },
        };
        if end != End::Done {
            before.remove_new();
        }
        end
    }

    fn listen(
        &self,
        lines: &Receiver<String>,
        stop: &AtomicBool,
        hear: &mut impl FnMut(Record),
    ) -> Heard {
        let mut heard = Heard::default();
        let mut last = Instant::now();
        loop {
            if stop.load(Ordering::Relaxed) {
                heard.cut = Some(Cut::Stop);
                return heard;
            }
            match lines.recv_timeout(LOOK) {
                Ok(line) => match record::read(&line) {
                    Some(Ok(record)) => {
                        last = Instant::now();
                        heard.ended |= record == Record::End;
                        heard.wrong |= matches!(&record, Record::Samples(s) if s.wrong.is_some());
                        hear(record);
                    }
                    Some(Err(why)) => heard.nonsense = heard.nonsense.or(Some(why)),
                    None => {}
                },
                Err(RecvTimeoutError::Timeout) if last.elapsed() > self.limit => {
                    heard.cut = Some(Cut::Silence);
                    return heard;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return heard,
            }
        }
    }
}

/// Why a launch is ended from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Stop,
    Silence,
}

/// What came of listening.
#[derive(Default)]
struct Heard {
    cut: Option<Cut>,
    /// Whether the last record came.
    ended: bool,
    /// Whether a record said that data were wrong.
    wrong: bool,
    /// The first record that could not be understood.
    nonsense: Option<String>,
}

impl Heard {
    /// Whether the program ended as it does after it has told all, wrong data among it.
    fn told_wrong(&self, status: ExitStatus) -> bool {
        self.ended && self.wrong && status.code() == Some(1)
    }
}

/// The lines of a stream, as they come. Whatever they are made of, they are text here.
fn lines_of(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, lines) = channel();
    if let Some(stream) = stream {
        thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_string();
                if sender.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        });
    }
    lines
}

/// Ends the launch: first so that it can end its ranks, then at once.
fn end(child: &mut Child) {
    let group = Pid::from_child(child);
    for signal in [Signal::TERM, Signal::KILL] {
        let _ = kill_process_group(group, signal);
        let begin = Instant::now();
        while begin.elapsed() < GRACE {
            if matches!(child.try_wait(), Ok(Some(_))) {
                // What it has left behind.
                let _ = kill_process_group(group, Signal::KILL);
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What a launch that ended wrote to its error output at last. Something that outlives it may keep
/// the stream open: what has not come soon is not waited for.
fn last_words(errors: &Receiver<String>) -> String {
    let mut kept = VecDeque::new();
    while let Ok(line) = errors.recv_timeout(LOOK) {
        if kept.len() == LAST_WORDS {
            kept.pop_front();
        }
        if !line.is_empty() {
            kept.push_back(format!("    {line}"));
        }
    }
    Vec::from(kept).join("\n")
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, signal) => format!("was killed by signal {}", signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launcher that is a line of shell: it sees what would be started as its arguments.
    fn run(script: &str, limit: f64) -> (End, Vec<Record>) {
        let words = ["sh", "-c", script, "launcher"];
        let variant = Variant {
            launcher: words.map(String::from).to_vec(),
            program: "program".into(),
            ..Variant::default()
        };
        let job = Job {
            before: &[],
            variant: &variant,
            ranks: 2,
            names: &["latency".to_string()],
            options: &["--sizes".to_string(), "8".to_string()],
            limit: Duration::from_secs_f64(limit),
            within: Some(Duration::from_millis(1500)),
            mute: false,
        };
        let mut records = Vec::new();
        let end = job.run(&AtomicBool::new(false), |record| records.push(record));
        (end, records)
    }

    #[test]
    fn records_are_heard_and_the_end_is_told() {
        let good = r#"[ "$*" = "-n 2 program latency --sizes 8 --within 1.500 --records" ] || exit 9
            echo noise; echo '@catena-bench {"kind":"end"}'"#;
        assert_eq!(run(good, 9.0), (End::Done, vec![Record::End]));
        let (end, _) = run("echo why >&2; exit 3", 9.0);
        assert_eq!(
            end,
            End::Failed("ended with status 3; its last words:\n    why".into())
        );
        let (end, _) = run("kill -11 $$", 9.0);
        assert_eq!(end, End::Failed("was killed by signal 11".into()));
        assert!(matches!(run("true", 9.0).0, End::Failed(why) if why.contains("last record")));
    }

    #[test]
    fn nonsense_is_a_failure_but_the_rest_is_heard() {
        let script = r#"echo '@catena-bench {"kind":'; printf '\377\376\n'; echo '@catena-bench {"kind":"end"}'"#;
        let (end, records) = run(script, 9.0);
        assert!(matches!(end, End::Failed(why) if why.contains("broken")));
        assert_eq!(records, [Record::End]);
    }

    #[test]
    fn who_says_nothing_is_ended_with_all_that_it_started() {
        let begin = Instant::now();
        let (end, _) = run("sleep 60 & echo stuck >&2; wait", 0.2);
        assert!(matches!(end, End::Silent(why) if why.contains("0.2 s") && why.contains("stuck")));
        assert!(begin.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_wish_to_stop_is_followed() {
        let variant = Variant {
            launcher: vec!["sleep".into(), "60".into(), "#".into()],
            ..Variant::default()
        };
        let job = Job {
            before: &[],
            variant: &variant,
            ranks: 1,
            names: &[],
            options: &[],
            limit: Duration::from_secs(60),
            within: None,
            mute: false,
        };
        assert_eq!(job.run(&AtomicBool::new(true), |_| ()), End::Interrupted);
        let missing = Variant {
            launcher: vec!["/nonexistent/mpirun".into()],
            ..Variant::default()
        };
        let job = Job {
            variant: &missing,
            ..job
        };
        let end = job.run(&AtomicBool::new(false), |_| ());
        assert!(matches!(end, End::Failed(why) if why.contains("/nonexistent/mpirun cannot")));
    }
}
