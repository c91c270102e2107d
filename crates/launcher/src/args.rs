//! The command line of `mpirun`.
//!
//! Long options may have one dash or two, as users of different MPI libraries
//! are used to, and their values may follow after a blank or `=`. What stands between colons
//! belongs to that program: the number of its ranks, its directory, variables and hosts. Other
//! options are about the whole job, and stand before the first program; behind a colon they are
//! refused, as they would not do what it looks like.
//!
//! | module   | what it has                                              |
//! |----------|----------------------------------------------------------|
//! | `opt`    | mpirun's own options                                     |
//! | `table`  | all options, also those of other MPI libraries           |
//! | `values` | what follows an option                                   |
//! | `output` | where what ranks write goes                              |
//! | `words`  | files of words                                           |
//! | `help`   | what is said about all of them                           |
//! | `topics` | what one may ask about, and what there is not            |

mod help;
mod opt;
mod output;
mod table;
#[cfg(test)]
mod tests;
mod topics;
mod values;
mod words;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use catena_job::{App, Inherit, PlacementRequest, Show, UsageError};

use crate::hosts::manager::Launcher;
use crate::pset::ProcessSet;

pub use help::{general, page};
use opt::Opt;
pub use output::Output;
use table::{Does, TABLE, Takes};
pub use topics::Topic;
pub use values::Readers;
pub(crate) use values::seconds;
use values::usage;
use values::{checked, count, names, numbers, split_once, variable};

/// What to run and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Programs, in the order of their ranks.
    pub apps: Vec<App>,
    /// The hosts that each program names. A program that names none runs on those of the first
    /// program.
    pub named: Vec<NamedHosts>,
    /// Variables for the ranks of all programs.
    pub env: Vec<(OsString, OsString)>,
    /// Settings by name, without prefix.
    pub settings: Vec<(String, String)>,
    /// Process sets beside those that every job has.
    pub psets: Vec<ProcessSet>,
    /// After which time everything is ended.
    pub timeout: Option<Duration>,
    /// Where it is written why the job hangs.
    pub hang_report: Option<PathBuf>,
    /// Where the last calls of ranks are written if the job fails.
    pub trace_report: Option<PathBuf>,
    /// Where what ranks write goes, and how.
    pub output: Output,
    /// The ranks that read the launcher's standard input.
    pub stdin: Readers,
    /// How ranks are placed and bound.
    pub placement: PlacementRequest,
    /// A file that says it for each rank.
    pub rankfile: Option<PathBuf>,
    /// The file of a machine to map to, instead of running anything.
    pub topology: Option<PathBuf>,
    /// Whether only to show the map.
    pub dry: bool,
    /// Whether to show the hosts and their slots.
    pub allocation: bool,
    /// Whether to say what is started where.
    pub verbose: bool,
    /// The command that starts something on another host.
    pub agent: Option<OsString>,
    /// How daemons are started, if that was said.
    pub launcher: Option<Launcher>,
    /// Whether there shall be a PMIx server, whatever the programs are.
    pub pmix: bool,
    /// Whether the job may grow and shrink.
    pub elastic: bool,
    /// Whether the program runs in checked mode.
    pub check: bool,
    /// Where what that finds is written.
    pub check_report: Option<PathBuf>,
    /// Whether it is counted where the time of the program goes.
    pub profile: bool,
    /// Where that is written.
    pub profile_report: Option<PathBuf>,
    /// Whether it is told how messages and collectives went.
    pub explain: bool,
    /// Where that is written.
    pub explain_report: Option<PathBuf>,
    /// Where the calls of the program are written one by one.
    pub trace: Option<PathBuf>,
    /// What the user is to be told before anything is started.
    pub warnings: Vec<String>,
}

impl Request {
    /// Has the program run in checked mode.
    fn check(&mut self) {
        if !self.check {
            self.settings.push(("CHECK".to_string(), "1".to_string()));
        }
        self.check = true;
    }
}

/// The hosts that were named for one program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedHosts {
    /// Lists of hosts, with the options that gave them.
    pub lists: Vec<(String, String)>,
    /// Files of hosts, likewise.
    pub files: Vec<(String, PathBuf)>,
    /// Ranks on each host.
    pub ppn: Option<u32>,
}

impl NamedHosts {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        *self == NamedHosts::default()
    }
}

/// What the user wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// To run programs.
    Run(Box<Request>),
    /// To read about it.
    Help(Topic),
    /// To know the version.
    Version,
}

/// Most words that files may add to a command line, as one may name itself.
const MOST_WORDS: usize = 1 << 20;

/// Understands the arguments after the name of the command.
///
/// # Errors
/// [`UsageError`] in words for the user.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, UsageError> {
    understand(args, false)
}

/// As [`parse`], where nothing is going to be run: there need not be a program.
///
/// # Errors
/// [`UsageError`] in words for the user.
pub fn parse_options(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, UsageError> {
    understand(args, true)
}

fn understand(
    args: impl IntoIterator<Item = OsString>,
    runs_nothing: bool,
) -> Result<Parsed, UsageError> {
    let mut parser = Parser {
        args: args.into_iter().collect(),
        request: Request::default(),
        inherit: Inherit::All,
        inherits: Vec::new(),
        answer: None,
        runs_nothing,
        from_files: 0,
    };
    loop {
        let more = parser.app()?;
        if let Some(answer) = parser.answer {
            return Ok(answer);
        }
        if !more {
            return Ok(Parsed::Run(Box::new(parser.finish())));
        }
    }
}

struct Parser {
    args: VecDeque<OsString>,
    request: Request,
    /// Which variables programs have for which nothing else was said.
    inherit: Inherit,
    /// What was said for each.
    inherits: Vec<Option<Inherit>>,
    /// An answer that makes everything else pointless.
    answer: Option<Parsed>,
    /// Whether there may be no program.
    runs_nothing: bool,
    /// How many words files have added.
    from_files: usize,
}

/// A program whose options are being read.
#[derive(Default)]
struct Section {
    app: App,
    named: NamedHosts,
    inherit: Option<Inherit>,
    /// Numbers of ranks that will do.
    soft: Vec<u32>,
}

/// An option as it was written, and its value.
struct Given {
    shown: String,
    value: OsString,
    /// The second value of one that has two.
    second: OsString,
}

impl Given {
    fn text(&self) -> String {
        self.value.to_string_lossy().into_owned()
    }

    /// A variable and its value.
    fn pair(&self) -> Result<(OsString, OsString), UsageError> {
        checked(&self.shown, (self.value.clone(), self.second.clone()))
    }
}

impl Parser {
    /// Reads one program with its options; gives whether another one follows.
    fn app(&mut self) -> Result<bool, UsageError> {
        let mut section = Section::default();
        loop {
            let Some(arg) = self.args.pop_front() else {
                if self.runs_nothing || self.request.topology.is_some() {
                    self.take(section);
                    return Ok(false);
                }
                let what = if self.request.apps.is_empty() {
                    "program"
                } else {
                    "program after :"
                };
                return usage(format!("there is no {what} to run; see mpirun --help"));
            };
            if arg == "--" {
                match self.args.pop_front() {
                    Some(program) => section.app.program = program,
                    None => return usage("there is no program to run after --"),
                }
                break;
            }
            if arg == ":" {
                return usage("there is no program before :");
            }
            if !arg.as_bytes().starts_with(b"-") || arg == "-" {
                section.app.program = arg;
                break;
            }
            self.option(&arg, &mut section)?;
            if self.answer.is_some() {
                return Ok(false);
            }
        }
        if section.app.program.is_empty() {
            return usage("the name of the program is empty");
        }
        let mut more = false;
        while let Some(arg) = self.args.pop_front() {
            if arg == ":" {
                more = true;
                break;
            }
            section.app.args.push(arg);
        }
        self.take(section);
        Ok(more)
    }

    /// What was read, when all of it was.
    fn finish(mut self) -> Request {
        for (app, inherit) in self.request.apps.iter_mut().zip(self.inherits) {
            app.inherit = inherit.unwrap_or_else(|| self.inherit.clone());
        }
        self.request
    }

    /// Takes in a program that was read.
    fn take(&mut self, mut section: Section) {
        self.inherits.push(section.inherit);
        section.app.count = section.app.count.or(section.soft.into_iter().max());
        self.request.apps.push(section.app);
        self.request.named.push(section.named);
    }

    /// Puts words in front of those that are left.
    fn insert(&mut self, words: Vec<OsString>) -> Result<(), UsageError> {
        self.from_files += words.len();
        if self.from_files > MOST_WORDS {
            return usage("files add too many words to the command line; does one name itself?");
        }
        words
            .into_iter()
            .rev()
            .for_each(|word| self.args.push_front(word));
        Ok(())
    }

    fn option(&mut self, arg: &OsStr, section: &mut Section) -> Result<(), UsageError> {
        let (shown, inline) = match split_once(arg, b'=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.to_os_string(), None),
        };
        let shown = shown.to_string_lossy().into_owned();
        let name = shown.trim_start_matches('-');
        let dashes = shown.len() - name.len();
        let known = TABLE
            .iter()
            .find(|row| row.names.contains(&name) && dashes <= 2);
        let Some(row) = known else {
            return Err(topics::unknown(&shown));
        };
        if row.does == Does::Own(Opt::Help) {
            // Its value may be left out.
            let word = inline.or_else(|| self.args.pop_front());
            let topic = word.map(|word| Topic::find(&word.to_string_lossy()));
            self.answer = Some(Parsed::Help(topic.transpose()?.unwrap_or(Topic::General)));
            return Ok(());
        }
        let mut given = Given {
            shown: shown.clone(),
            value: OsString::new(),
            second: OsString::new(),
        };
        match (row.takes, inline) {
            (Takes::Nothing, Some(_)) => return usage(format!("{shown} takes no value")),
            (Takes::Nothing | Takes::Maybe(_), None) => {}
            (Takes::Word(_) | Takes::Maybe(_), Some(value)) => given.value = value,
            (Takes::Word(what), None) => given.value = self.value(&shown, what)?,
            (Takes::Pair(what), inline) => {
                let first = match inline {
                    Some(value) => value,
                    None => self.value(&shown, what)?,
                };
                (given.value, given.second) = match split_once(&first, b'=') {
                    Some(pair) => pair,
                    None => (first, self.value(&shown, what)?),
                };
            }
        }
        let is_no = match row.takes {
            Takes::Maybe(values) => values::says_no(&shown, &given.text(), values)?,
            _ => false,
        };
        match row.does {
            Does::Moot if is_no => {
                let text = given.text();
                self.warn(format!("{shown}={text} is passed over: {}", row.text));
                Ok(())
            }
            _ if is_no => Ok(()),
            Does::Own(opt) => self.own(opt, &given, section),
            Does::Means(words) => {
                let words = words.replace("{}", &given.text());
                self.insert(words.split(' ').map(OsString::from).collect())
            }
            Does::Ignored => {
                self.warn(format!("{shown} is passed over: {}", row.text));
                Ok(())
            }
            Does::Moot => Ok(()),
        }
    }

    /// Does what Open MPI's runtime options say.
    fn runtime_options(&mut self, shown: &str, text: &str) -> Result<(), UsageError> {
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let name = name.to_ascii_lowercase();
            let (is_no, is_error) = (values::is_no(value), name == "error-nonzero-status");
            let words = match name.as_str() {
                "recoverable" | "continuous" | "error-nonzero-status" if is_no == is_error => {
                    "--with-ft ulfm".to_string()
                }
                "recoverable" | "continuous" | "error-nonzero-status" => continue,
                "donotlaunch" => "--do-not-launch".to_string(),
                "timeout" if !value.is_empty() => format!("--timeout {value}"),
                _ => {
                    self.warn(format!(
                        "{shown} {word} is passed over: mpirun --help runtime-options says which \
                         words mean something here"
                    ));
                    continue;
                }
            };
            self.insert(words.split(' ').map(OsString::from).collect())?;
        }
        Ok(())
    }

    /// The word that follows an option.
    fn value(&mut self, shown: &str, what: &str) -> Result<OsString, UsageError> {
        match self.args.pop_front() {
            Some(value) => Ok(value),
            None => usage(format!("{shown} needs {what} behind it")),
        }
    }

    /// Tells the user something, once.
    fn warn(&mut self, text: String) {
        if !self.request.warnings.contains(&text) {
            self.request.warnings.push(text);
        }
    }

    /// Does what one of mpirun's own options says.
    fn own(&mut self, opt: Opt, given: &Given, section: &mut Section) -> Result<(), UsageError> {
        let shown = given.shown.as_str();
        let text = given.text();
        if !self.request.apps.is_empty() && !opt.is_of_program() {
            return usage(format!(
                "{shown} is about all programs of the job: write it before the first one"
            ));
        }
        let app = &mut section.app;
        let request = &mut self.request;
        match opt {
            Opt::Count => set_count(app, shown, &given.value)?,
            Opt::Soft => section.soft = numbers(shown, &text)?,
            Opt::Export => self.export(app, given)?,
            Opt::Env => app.env.push(given.pair()?),
            Opt::Genv => request.env.push(given.pair()?),
            Opt::Envlist => section.inherit = Some(Inherit::Only(names(&text))),
            Opt::Envnone => section.inherit = Some(Inherit::Only(Vec::new())),
            Opt::Envall => section.inherit = Some(Inherit::All),
            Opt::Genvlist => self.inherit = Inherit::Only(names(&text)),
            Opt::Genvnone => self.inherit = Inherit::Only(Vec::new()),
            Opt::SlurmExport => {
                let (inherit, vars) = values::export(shown, &text)?;
                section.inherit = Some(inherit);
                app.env.extend(vars);
            }
            Opt::Wdir => app.wdir = Some(given.value.clone().into()),
            Opt::Path => app.path = Some(given.value.clone()),
            Opt::File => {
                let words = read_words(shown, given)?.concat();
                self.insert(words)?;
            }
            Opt::Configfile if self.args.is_empty() => {
                let lines = read_words(shown, given)?;
                self.insert(lines.join(&OsString::from(":")))?;
            }
            Opt::Configfile => {
                return usage(format!(
                    "{shown} {text}: nothing can follow it, as the file names the programs"
                ));
            }
            Opt::Set => {
                let Some((name, value)) = text.split_once('=') else {
                    return usage(format!("{shown} {text}: write NAME=VALUE"));
                };
                setting(request, name.trim(), value.trim().to_string());
            }
            Opt::Pset => add_pset(request, shown, &text)?,
            Opt::WithFt => set_fault_tolerance(request, shown, &text)?,
            Opt::InitialErrhandler => setting(request, "INITIAL_ERRHANDLER", text),
            Opt::MemoryAllocKinds => setting(request, "MEMORY_ALLOC_KINDS", text),
            Opt::Usize => setting(request, "LAUNCH_UNIVERSE", universe(text)),
            Opt::NoTakeover => setting(request, "LAUNCH_TAKEOVER", "false".to_string()),
            Opt::Prefix => self.set_prefix(shown, &given.value),
            Opt::Tag => request.output.tag = true,
            Opt::Stamp => request.output.stamp = true,
            Opt::Merge => request.output.merge = true,
            Opt::OutputFilename => request.output.set_folder(shown, &text)?,
            Opt::Outfile => request.output.set_file(shown, 0, &text)?,
            Opt::Errfile => request.output.set_file(shown, 1, &text)?,
            Opt::OutputWords => request.output.set_words(shown, &text)?,
            Opt::Stdin => request.stdin = Readers::parse(shown, &text)?,
            Opt::BindTo | Opt::MapBy | Opt::RankBy | Opt::CpuSet => place(request, opt, text)?,
            Opt::HardwareThreads => request.placement.add_map_by(":hwtcpus"),
            Opt::NoLocal => request.placement.add_map_by(":nolocal"),
            Opt::NoOversubscribe => request.placement.add_map_by(":nooversubscribe"),
            Opt::Rankfile => request.rankfile = Some(given.value.clone().into()),
            Opt::Topology => request.topology = Some(given.value.clone().into()),
            Opt::DryRun => request.dry = true,
            Opt::Display => display(request, shown, &text)?,
            Opt::ReportBindings => request.placement.show = Show::Bindings,
            Opt::OnHang => request.settings.push(("ON_HANG".to_string(), text)),
            Opt::Deterministic => {
                let setting = ("COLL_DETERMINISTIC".to_string(), "true".to_string());
                request.settings.push(setting);
            }
            Opt::HangReport => request.hang_report = Some(given.value.clone().into()),
            Opt::TraceReport => request.trace_report = Some(given.value.clone().into()),
            Opt::Timeout => request.timeout = Some(seconds(shown, &given.value)?),
            Opt::Verbose => request.verbose = true,
            Opt::Host => section.named.lists.push((shown.to_string(), text)),
            Opt::Hostfile => {
                let path = given.value.clone().into();
                section.named.files.push((shown.to_string(), path));
            }
            Opt::Ppn => section.named.ppn = Some(count(shown, &given.value)?),
            Opt::Launcher | Opt::Bootstrap => self.set_launcher(shown, &text)?,
            Opt::RuntimeOptions => self.runtime_options(shown, &text)?,
            Opt::Agent => request.agent = Some(given.value.clone()),
            Opt::Elastic => request.elastic = true,
            Opt::Check => request.check(),
            Opt::OnCheck => {
                request.check();
                request.settings.push(("ON_CHECK".to_string(), text));
            }
            Opt::CheckReport => {
                request.check();
                request.check_report = Some(given.value.clone().into());
            }
            Opt::Profile => request.profile = true,
            Opt::ProfileReport => {
                request.profile = true;
                request.profile_report = Some(given.value.clone().into());
            }
            Opt::Explain => request.explain = true,
            Opt::ExplainReport => {
                request.explain = true;
                request.explain_report = Some(given.value.clone().into());
            }
            Opt::Trace => request.trace = Some(values::trace_file(shown, &given.value)?),
            Opt::Pmix => request.pmix = true,
            Opt::Version => self.answer = Some(Parsed::Version),
            // It was answered.
            Opt::Help => {}
        }
        Ok(())
    }

    /// A variable for the ranks of one program. One that the launcher does not have is passed over.
    fn export(&mut self, app: &mut App, given: &Given) -> Result<(), UsageError> {
        match variable(&given.shown, given.value.clone()) {
            Ok(pair) => app.env.extend(pair),
            Err(UsageError(text)) if given.value.as_bytes().contains(&b'=') => return usage(text),
            Err(UsageError(text)) => self.warn(text),
        }
        Ok(())
    }

    /// Where Catena is on other hosts.
    fn set_prefix(&mut self, shown: &str, folder: &OsStr) {
        let command = PathBuf::from(folder).join("bin/catena");
        let text = command.to_string_lossy().into_owned();
        match command.exists() {
            true => setting(&mut self.request, "LAUNCH_PATH", text),
            false => self.warn(format!(
                "{shown} is passed over: there is no {text}; it is to name the folder that Catena \
                 is in on other hosts"
            )),
        }
    }

    /// How daemons are started.
    fn set_launcher(&mut self, shown: &str, text: &str) -> Result<(), UsageError> {
        match Launcher::parse(shown, text) {
            Ok(launcher) => self.request.launcher = Some(launcher),
            Err(UsageError(why)) if values::OF_HYDRA.contains(&text) => self.warn(format!(
                "{shown} {text} is passed over, as ranks on this host need none: {why}"
            )),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn set_count(app: &mut App, shown: &str, value: &OsStr) -> Result<(), UsageError> {
    let new = count(shown, value)?;
    match app.count.replace(new).filter(|old| *old != new) {
        None => Ok(()),
        Some(old) => {
            let instead = topics::instead(shown).map_or(String::new(), |it| format!("; {it}"));
            usage(format!(
                "{shown} {new}: the number of ranks of this program was given before, as \
                 {old}{instead}"
            ))
        }
    }
}

fn add_pset(request: &mut Request, shown: &str, text: &str) -> Result<(), UsageError> {
    let set = ProcessSet::parse(shown, text)?;
    if request.psets.iter().any(|other| other.name == set.name) {
        let name = set.name;
        return usage(format!("{shown} {text}: there is a set {name} already"));
    }
    request.psets.push(set);
    Ok(())
}

fn set_fault_tolerance(request: &mut Request, shown: &str, text: &str) -> Result<(), UsageError> {
    let on = match text.to_ascii_lowercase().as_str() {
        // Open MPI has more than one name for each.
        "ulfm" | "mpi" | "mpift" | "yes" | "true" | "1" => "true",
        "none" | "no" | "false" | "0" => "false",
        _ => {
            return usage(format!(
                "{shown} {text}: it must be ulfm (or mpi, mpift, yes, true, 1) or none (or no, \
                 false, 0)"
            ));
        }
    };
    setting(request, "FAULT_TOLERANCE", on.to_string());
    if on == "true" {
        // As Open MPI's mpirun ends then; what the user says about it comes after it and wins.
        let status = ("FAULT_STATUS".to_string(), "survivors".to_string());
        request.settings.insert(0, status);
    }
    Ok(())
}

/// What LAUNCH_UNIVERSE is by a word of MPICH's.
fn universe(text: String) -> String {
    match text.to_ascii_uppercase().as_str() {
        "SYSTEM" => "0".to_string(),
        "INFINITE" => (1 << 20).to_string(),
        _ => text,
    }
}

/// Takes in how ranks are placed and bound.
fn place(request: &mut Request, opt: Opt, text: String) -> Result<(), UsageError> {
    let placement = &mut request.placement;
    match opt {
        Opt::BindTo => placement.bind_to = text,
        Opt::MapBy => match values::listed_cpus(&text) {
            // As Open MPI's --cpu-set is.
            Some(cpus) => placement.cpu_set = cpus,
            None => placement.add_map_by(&text),
        },
        Opt::RankBy => placement.rank_by = text,
        _ => placement.cpu_set = text,
    }
    placement.policy().map(drop).map_err(UsageError)
}

/// Takes in what is to be shown.
fn display(request: &mut Request, shown: &str, text: &str) -> Result<(), UsageError> {
    for word in text.split(',') {
        let show = match word {
            "map" => Show::Map,
            "bindings" | "bind" | "map-devel" | "topo" => Show::Bindings,
            "allocation" | "alloc" => {
                request.allocation = true;
                continue;
            }
            _ => {
                return usage(format!(
                    "{shown} {text}: it must be map, bindings or allocation"
                ));
            }
        };
        request.placement.show = request.placement.show.max(show);
    }
    Ok(())
}

fn setting(request: &mut Request, name: &str, value: String) {
    request.settings.push((name.to_string(), value));
}

/// The words of the lines of a file that an option names.
fn read_words(shown: &str, given: &Given) -> Result<Vec<Vec<OsString>>, UsageError> {
    let path = PathBuf::from(&given.value);
    let wrong = |why: String| UsageError(format!("{shown} {}: {why}", path.display()));
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let lines = words::lines(&text).map_err(wrong)?;
    if lines.is_empty() {
        return Err(wrong("there is nothing in it".to_string()));
    }
    let words = |line: Vec<String>| line.into_iter().map(OsString::from).collect();
    Ok(lines.into_iter().map(words).collect())
}
