//! What checked mode has found: it is written to a file if the user has named one, and the job
//! fails by it if it is to.
//!
//! Ranks tell it themselves, on standard error, and note it in memory that the launcher has. All
//! nodes are asked when the job is over; while it runs as well, if it is to end at the first error.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use catena_boot::{ON_CHECK, OnCheck};
use catena_job::{Plan, Question, setting};

use super::nodes::Nodes;
use crate::node::MISSED;
use crate::report::Failure;

/// How long from one look to the next, if the job is to end.
pub const EVERY: Duration = Duration::from_millis(500);

/// How long other hosts are waited for at the end.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Status of a job that fails as errors were found.
pub const STATUS: i32 = 122;

/// What checked mode has found.
pub struct Findings {
    is_checked: bool,
    on_check: OnCheck,
    /// Where findings are written as JSON.
    file: Option<PathBuf>,
    /// The number of the question that is under way.
    asked: Option<u32>,
    /// What all nodes have answered last.
    known: Known,
}

#[derive(Default)]
struct Known {
    errors: usize,
    warnings: usize,
    missed: u64,
    lines: Vec<String>,
}

impl Findings {
    /// For a job of that plan.
    pub fn new(plan: &Plan, is_checked: bool, file: Option<PathBuf>) -> Findings {
        Findings {
            is_checked,
            on_check: setting(&ON_CHECK, &plan.env),
            file,
            asked: None,
            known: Known::default(),
        }
    }

    /// Whether anybody is to look while the job runs.
    pub fn is_watching(&self) -> bool {
        self.is_checked && self.on_check == OnCheck::End
    }

    /// Asks all nodes, unless an answer is still to come.
    pub fn look(&mut self, nodes: &mut Nodes) {
        if self.asked.is_none() {
            self.asked = Some(nodes.ask(Question::Findings));
        }
    }

    /// Asks all nodes a last time, if anything is to be done about what they answer.
    pub fn ask_at_end(&mut self, nodes: &mut Nodes) {
        if self.is_checked && (self.file.is_some() || self.on_check != OnCheck::Report) {
            self.asked = Some(nodes.ask(Question::Findings));
        }
    }

    /// Whether an answer is still to come.
    pub fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }

    /// All nodes have answered a question, which may be another one. Why the job is to end, if it
    /// is.
    pub fn answered(&mut self, number: u32, answer: &[u8]) -> Option<Failure> {
        self.asked.take_if(|asked| *asked == number)?;
        self.known = Known::read(answer);
        let is_over = self.is_watching() && self.known.errors > 0;
        is_over.then(|| {
            let text = "the job is ended, as checked mode has found an error (ON_CHECK)";
            Failure::new(STATUS, text.to_string())
        })
    }

    /// Writes the file, if there is to be one; what to tell of that.
    pub fn write(&self) -> Option<String> {
        let path = self.file.as_ref().filter(|_| self.is_checked)?;
        let text: String = self
            .known
            .lines
            .iter()
            .map(|it| it.clone() + "\n")
            .collect();
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        let path = path.display();
        Some(match written {
            Err(error) => {
                format!("what checked mode has found cannot be written to {path}: {error}")
            }
            Ok(()) => {
                let missed = match self.known.missed {
                    0 => String::new(),
                    missed => format!("; {missed} more had no room there"),
                };
                format!(
                    "checked mode has found {}: {path}{missed}",
                    self.known.in_words()
                )
            }
        })
    }

    /// What to tell of errors by which a job fails that has ended well otherwise, and its status.
    pub fn failure(&self) -> Option<(String, i32)> {
        let fails = self.is_checked && self.on_check != OnCheck::Report && self.known.errors > 0;
        fails.then(|| {
            let text = format!(
                "the job fails, as checked mode has found {} (ON_CHECK)",
                self.known.in_words()
            );
            (text, STATUS)
        })
    }
}

impl Known {
    fn read(answer: &[u8]) -> Known {
        let mut known = Known::default();
        let mut rest = answer;
        while let Some((len, behind)) = rest.split_first_chunk::<4>() {
            let len = u32::from_le_bytes(*len) as usize;
            let Some((one, behind)) = behind.split_at_checked(len) else {
                break;
            };
            rest = behind;
            let Some((&mark, text)) = one.split_first() else {
                continue;
            };
            let text = String::from_utf8_lossy(text).into_owned();
            match mark {
                0 => known.errors += 1,
                MISSED => known.missed += text.parse().unwrap_or(0),
                _ => known.warnings += 1,
            }
            if mark != MISSED {
                known.lines.push(text.replace('\n', " "));
            }
        }
        known
    }

    fn in_words(&self) -> String {
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        match (self.errors, self.warnings) {
            (0, 0) => "nothing".to_string(),
            (errors, 0) => count(errors, "error"),
            (0, warnings) => count(warnings, "warning"),
            (errors, warnings) => {
                format!(
                    "{} and {}",
                    count(errors, "error"),
                    count(warnings, "warning")
                )
            }
        }
    }
}

/// Any bytes as what nodes have answered, for fuzzing: no line of the file has several.
#[cfg(any(test, fuzzing))]
pub fn fuzz(data: &[u8]) {
    let known = Known::read(data);
    assert_eq!(known.errors + known.warnings, known.lines.len());
    assert!(known.lines.iter().all(|it| !it.contains('\n')));
    assert!(!known.in_words().is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_within_bounds() {
        let mut answer = Vec::new();
        for one in ["\0{}", "\u{1}{\n}", "\u{2}7", "\0{}"] {
            answer.extend((one.len() as u32).to_le_bytes());
            answer.extend(one.as_bytes());
        }
        let known = Known::read(&answer);
        assert_eq!(known.lines, ["{}", "{ }", "{}"]);
        assert_eq!(known.missed, 7);
        assert_eq!(known.in_words(), "2 errors and 1 warning");
        for end in 0..answer.len() {
            assert!(Known::read(&answer[..end]).lines.len() <= 3);
        }
        assert_eq!(Known::read(&[]).in_words(), "nothing");
    }
}
