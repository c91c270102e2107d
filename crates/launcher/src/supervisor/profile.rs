//! Where the time of the program goes: told when the job is over, and written to files if the user
//! has named some.
//!
//! Ranks count their calls in memory that the launcher has as well. All nodes are asked for it when
//! the job is over, in whichever way.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catena_job::Question;
use catena_profile::{Explanation, Moment, Plan, Profile};

use super::nodes::Nodes;
use super::output::Show;
use crate::explain::Settings;
use crate::result_file;

/// How long other hosts are waited for: they look for the lines of all places that have called.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What ranks have counted.
pub struct Profiling {
    is_profiled: bool,
    /// Whether it is told at the end how messages and collectives went.
    is_explained: bool,
    /// Where that is written as JSON.
    explain_report: Option<PathBuf>,
    /// Whether the calls of the program are counted, be it for this or for a trace.
    is_counted: bool,
    /// What is known before.
    settings: Option<Settings>,
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
    /// For a job that the user wants to see so, before its output takes that over.
    pub fn new(show: &mut Show) -> Profiling {
        Profiling {
            is_profiled: show.is_profiled,
            is_explained: show.is_explained,
            explain_report: show.explain_report.clone(),
            is_counted: show.is_profiled || show.is_explained || show.trace.is_some(),
            settings: show.settings.take(),
            name: show.profile_report.clone(),
            asked: None,
            answer: None,
        }
    }

    /// Asks all nodes, if the job is profiled.
    pub fn ask(&mut self, nodes: &mut Nodes) {
        if self.is_profiled || self.is_explained {
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

    /// How messages and collectives went, as lines; `None` if that is not told.
    pub fn explain(&self) -> Option<String> {
        if !self.is_explained {
            return None;
        }
        Some(match &self.answer {
            Some(answer) => Explanation::read(answer).text(self.plan(), Moment::End),
            None => "the hosts have not told in time what was counted\n".into(),
        })
    }

    /// Writes that as JSON, if the user has named a file: what to tell of it.
    pub fn report_explanation(&self) -> Option<String> {
        let (path, answer) = (self.explain_report.as_ref()?, self.answer.as_ref()?);
        let text = Explanation::read(answer).json(self.plan(), Moment::End) + "\n";
        let shown = path.display();
        Some(match fs::write(path, text) {
            Ok(()) => format!("what is explained is in {shown}"),
            Err(error) => format!("what is explained cannot be written to {shown}: {error}"),
        })
    }

    /// How they have gone so far, as lines or as JSON, of what all nodes have answered.
    pub fn explain_now(&self, answer: &[u8], as_json: bool) -> String {
        let explanation = Explanation::read(answer);
        let moment = Moment::Now {
            is_counted: self.is_counted,
        };
        match as_json {
            true => explanation.json(self.plan(), moment),
            false => explanation.text(self.plan(), moment),
        }
    }

    /// What settings and the model say, as far as they are known.
    fn plan(&self) -> &dyn Plan {
        self.settings.as_ref().map_or(&(), |it| it as &dyn Plan)
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

/// The kinds of files that are written.
const KINDS: [&str; 2] = ["json", "html"];

/// Finds out whether the files of that name can be written.
///
/// # Errors
/// If one cannot: the cause and what to do.
pub fn check_files(name: &Path) -> Result<(), String> {
    let path = |kind| result_file::of_kind(name, kind, &KINDS);
    let check = |kind| result_file::check("--profile-report", &path(kind));
    KINDS.into_iter().try_for_each(check)
}

/// Writes a file of that name and kind: what to tell of that.
fn written(name: &Path, kind: &str, text: &str) -> String {
    let path = result_file::of_kind(name, kind, &KINDS);
    let shown = path.display();
    match fs::write(&path, text) {
        Ok(()) => format!("the profile is in {shown}"),
        Err(error) => format!("the profile cannot be written to {shown}: {error}"),
    }
}
