//! Where values come from: the launcher's command line, the environment, the
//! configuration file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::file::{CONF, File};
use crate::profile::{self, Followed, Job, PROFILE, TUNED, Tuned};
use crate::warning::Warning;

/// What every variable of Catena in the environment begins with.
pub const PREFIX: &str = "CATENA_";

/// In the environment: names (without prefix, separated by commas) of the
/// settings that the launcher was given on its command line. Their values are
/// ordinary variables; this one only tells their origin.
pub const COMMAND_LINE: &str = "CATENA_COMMAND_LINE";

/// In the environment: the configuration file as the launcher has read it, for
/// all processes of its jobs. They read none of their own then, so what it says
/// is the same on all hosts and in all folders.
pub const FILE: &str = "CATENA_FILE";

/// Where the value of a setting came from, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The program set it while running.
    Program,
    /// `--set NAME=value` of the launcher.
    CommandLine,
    /// `CATENA_NAME=value`.
    Environment,
    /// The configuration file.
    File,
    /// The profile, as `catena tune` has measured it.
    Tuned,
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Program => "program",
            Origin::CommandLine => "command line",
            Origin::Environment => "environment",
            Origin::File => "file",
            Origin::Tuned => "tuned",
            Origin::Default => "default",
        })
    }
}

/// Everything that may give a setting a value, read once.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Names from the command line, without prefix.
    command_line: Vec<String>,
    /// `CATENA_*` of the environment, without prefix.
    environment: BTreeMap<String, String>,
    /// Entries of the file, without prefix.
    file: BTreeMap<String, String>,
    /// Name of the file, if there is one.
    path: Option<PathBuf>,
    /// Lines that could not be read.
    malformed: Vec<Warning>,
    /// What the file says, as it is handed on.
    handed: String,
    /// The profile, and what was made of it.
    profile: Followed,
}

impl Sources {
    /// The sources of this process, read at the first call.
    pub fn of_process() -> &'static Sources {
        static SOURCES: OnceLock<Sources> = OnceLock::new();
        SOURCES.get_or_init(|| {
            let environment = std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .filter(|(name, _)| name.starts_with(PREFIX))
                .map(|(name, value)| (name, value.to_string_lossy().into_owned()));
            let mut sources = Sources::from_environment(environment);
            sources.read_file();
            sources.read_profile();
            sources
        })
    }

    /// From variables of an environment; others than `CATENA_*` are ignored.
    pub fn from_environment(vars: impl IntoIterator<Item = (String, String)>) -> Sources {
        let environment: BTreeMap<String, String> = vars
            .into_iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?.to_string(), value)))
            .collect();
        let command_line = match environment.get(bare(COMMAND_LINE)) {
            Some(names) => names.split(',').map(str::to_string).collect(),
            None => Vec::new(),
        };
        Sources {
            command_line,
            environment,
            ..Sources::default()
        }
    }

    /// Adds the text of a configuration file, called `path` in warnings. Names may
    /// be written in any case, with or without `CATENA_`.
    pub fn with_file(self, path: impl Into<PathBuf>, text: &str) -> Sources {
        self.with(&File::from_text(path.into(), text))
    }

    fn with(mut self, file: &File) -> Sources {
        self.malformed.extend_from_slice(&file.problems);
        for (index, line) in file.text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            match line.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() => {
                    let name = name.trim().to_ascii_uppercase();
                    let value = value.trim().to_string();
                    self.file.insert(bare(&name).to_string(), value);
                }
                _ => self.malformed.push(Warning {
                    subject: format!("{}:{}", file.path.display(), index + 1),
                    cause: format!("`{line}` is no setting"),
                    remedy: "write NAME = value, or # before a comment".to_string(),
                }),
            }
        }
        self.path = Some(file.path.clone());
        self
    }

    /// Takes the file that the launcher has read, unless the program was given another one since,
    /// or reads the one that the environment names, or the usual one.
    fn read_file(&mut self) {
        let named = self.environment.get(bare(CONF)).map(String::as_str);
        let handed = self.environment.get(bare(FILE));
        let handed = handed.and_then(|text| File::from_handed(text, named.unwrap_or_default()));
        let file = match handed {
            Some(file) => file,
            None => File::find(named),
        };
        let handed = File::to_handed(file.as_ref(), named.unwrap_or_default());
        if let Some(file) = file {
            *self = std::mem::take(self).with(&file);
        }
        self.handed = handed;
    }

    /// Takes what the launcher has made of the profile, whichever the program was given since, as
    /// all processes of a job must have the same; or reads it.
    fn read_profile(&mut self) {
        let named = self.environment.get(bare(PROFILE)).map(String::as_str);
        let handed = self.environment.get(bare(TUNED));
        let handed = handed.and_then(|it| Followed::from_handed(it));
        self.profile = handed.unwrap_or_else(|| {
            let words: Vec<_> = std::env::args_os().collect();
            let program = words.split_first();
            let program = program.and_then(|(name, args)| profile::program(name, args));
            let job = Job {
                hosts: None,
                program: program.as_deref(),
            };
            Followed::find(named, job)
        });
    }

    /// Has a profile, as if it had been found.
    #[must_use]
    pub fn with_profile(self, profile: Followed) -> Sources {
        Sources { profile, ..self }
    }

    /// The profile, and what was made of it.
    pub fn profile(&self) -> &Followed {
        &self.profile
    }

    /// What a profile has for a setting that nobody has given.
    pub(crate) fn tuned(&self, name: &str, tuned: Tuned) -> Option<&str> {
        self.profile.value(name, tuned)
    }

    /// The value of [`TUNED`] for processes that this one starts.
    pub fn tuned_on(&self) -> String {
        self.profile.to_handed()
    }

    /// The value of [`FILE`] for processes that this one starts, whatever has become of its working
    /// folder.
    pub fn handed(&self) -> &str {
        &self.handed
    }

    /// The value of [`FILE`] for processes in whose environment `conf` is the value of [`CONF`]:
    /// what the file says that they would read here.
    pub fn handed_on(conf: Option<&str>) -> String {
        let vars = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let mut own = Sources::from_environment(vars).environment;
        let named = conf.or(own.get(bare(CONF)).map(String::as_str));
        let named = named.map(str::to_string);
        let given = own.remove(bare(FILE));
        let known = given
            .filter(|text| File::from_handed(text, named.as_deref().unwrap_or_default()).is_some());
        known.unwrap_or_else(|| {
            let file = File::find(named.as_deref());
            File::to_handed(file.as_ref(), named.as_deref().unwrap_or_default())
        })
    }

    /// The text for a setting and where it came from.
    pub fn find(&self, name: &str) -> Option<(&str, Origin)> {
        if let Some(value) = self.environment.get(name) {
            let told = self.command_line.iter().any(|n| n == name);
            return Some((
                value,
                if told {
                    Origin::CommandLine
                } else {
                    Origin::Environment
                },
            ));
        }
        self.file
            .get(name)
            .map(|value| (value.as_str(), Origin::File))
    }

    /// Where a value with that origin is to be corrected.
    pub(crate) fn place(&self, name: &str, origin: Origin) -> String {
        match (origin, &self.path) {
            (Origin::File, Some(path)) => format!("{name} in {}", path.display()),
            (Origin::CommandLine, _) => format!("--set {name}"),
            (Origin::Tuned, _) => format!("{name} in {}", self.profile.path.display()),
            _ => format!("{PREFIX}{name}"),
        }
    }

    /// Names in the environment, with prefix.
    pub(crate) fn environment_names(&self) -> impl Iterator<Item = String> + '_ {
        self.environment
            .keys()
            .map(|name| format!("{PREFIX}{name}"))
    }

    /// Names in the file, without prefix.
    pub(crate) fn file_names(&self) -> impl Iterator<Item = &str> {
        self.file.keys().map(String::as_str)
    }

    /// Lines of the file that could not be read.
    pub(crate) fn malformed(&self) -> &[Warning] {
        &self.malformed
    }
}

/// A name without the prefix.
fn bare(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}
