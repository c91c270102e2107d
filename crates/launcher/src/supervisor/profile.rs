//! Where the time of the program goes: told when the job is over, and written to files if the user
//! has named some.
//!
//! Ranks count their calls in memory that the launcher has as well. All nodes are asked for it when
//! the job is over, in whichever way.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catena_job::Question;
use catena_profile::Profile;

use super::nodes::Nodes;

/// How long other hosts are waited for: they look for the lines of all places that have called.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What ranks have counted.
pub struct Profiling {
    is_profiled: bool,
    /// Where it is written, without the last part of the name.
    name: Option<PathBuf>,
    /// The number of the question to all nodes.
    asked: Option<u32>,
    /// What they have answered.
    answer: Option<Vec<u8>>,
}

/// What to tell of it.
pub struct Told {
    /// The most important in one sentence.
    pub first: String,
    /// All else: lines.
    pub more: String,
    /// What has become of files.
    pub files: Vec<String>,
}

impl Profiling {
    /// For a job that is profiled or not; `name` is that of its files.
    pub fn new(is_profiled: bool, name: Option<PathBuf>) -> Profiling {
        Profiling {
            is_profiled,
            name,
            asked: None,
            answer: None,
        }
    }

    /// Asks all nodes, if the job is profiled.
    pub fn ask(&mut self, nodes: &mut Nodes) {
        if self.is_profiled {
            self.asked = Some(nodes.ask(Question::Profile));
        }
    }

    /// Whether an answer is still to come.
    pub fn is_waiting(&self) -> bool {
        self.asked.is_some() && self.answer.is_none()
    }

    /// All nodes have answered the question with that number, which may be another one.
    pub fn answered(&mut self, number: u32, answer: &[u8]) {
        if self.asked == Some(number) {
            self.answer = Some(answer.to_vec());
        }
    }

    /// Writes the files, and gives what is to be told; `None` if the job is not profiled.
    pub fn tell(&self) -> Option<Told> {
        if !self.is_profiled {
            return None;
        }
        let Some(answer) = &self.answer else {
            return Some(Told {
                first: "the hosts have not told in time what was counted".to_string(),
                more: String::new(),
                files: Vec::new(),
            });
        };
        let profile = Profile::read(answer);
        let text = profile.text();
        let (first, more) = text.split_once('\n').unwrap_or((&text, ""));
        let files = self.name.iter().flat_map(|name| {
            [
                written(name, "json", &profile.json()),
                written(name, "html", &profile.page()),
            ]
        });
        Some(Told {
            first: first.to_string(),
            more: more.trim_end().to_string(),
            files: files.collect(),
        })
    }
}

/// Writes a file of that name and kind: what to tell of that.
fn written(name: &Path, kind: &str, text: &str) -> String {
    // A user may name either of the files.
    let is_named = name
        .extension()
        .is_some_and(|it| it == "json" || it == "html");
    let path = match is_named {
        true => name.with_extension(kind),
        false => {
            let mut path = name.as_os_str().to_os_string();
            path.push(".");
            path.push(kind);
            path.into()
        }
    };
    let shown = path.display();
    match fs::write(&path, text) {
        Ok(()) => format!("the profile is in {shown}"),
        Err(error) => format!("the profile cannot be written to {shown}: {error}"),
    }
}
