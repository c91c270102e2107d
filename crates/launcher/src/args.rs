//! The command line of `mpirun`.
//!
//! Long options may have one dash or two, as users of different MPI libraries
//! are used to, and their values may follow after a blank or `=`.

mod help;
mod values;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use catena_settings::nearest;

use crate::hosts::manager::Launcher;
use crate::place::{Show, Wish};
use crate::pset::ProcessSet;

pub use help::HELP;
pub(crate) use values::seconds;
use values::{checked, count, split_once, variable};

/// What to run and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Programs, in the order of their ranks.
    pub apps: Vec<App>,
    /// Variables for the ranks of all programs.
    pub env: Vec<(OsString, OsString)>,
    /// Settings by name, without prefix.
    pub settings: Vec<(String, String)>,
    /// Process sets beside those that every job has.
    pub psets: Vec<ProcessSet>,
    /// After which time everything is ended.
    pub timeout: Option<Duration>,
    /// Whether lines begin with the rank that wrote them.
    pub tag: bool,
    /// The rank that reads the launcher's standard input.
    pub stdin: Option<u32>,
    /// How ranks are placed and bound.
    pub wish: Wish,
    /// A file that says it for each rank.
    pub rankfile: Option<PathBuf>,
    /// The file of a machine to map to, instead of running anything.
    pub topology: Option<PathBuf>,
    /// Whether to say what is started where.
    pub verbose: bool,
    /// Lists of hosts, with the options that gave them.
    pub hosts: Vec<(String, String)>,
    /// Files of hosts, likewise.
    pub hostfiles: Vec<(String, PathBuf)>,
    /// Ranks on each host.
    pub ppn: Option<u32>,
    /// The command that starts something on another host.
    pub agent: Option<OsString>,
    /// How daemons are started, if that was said.
    pub launcher: Option<Launcher>,
    /// Whether there shall be a PMIx server, whatever the programs are.
    pub pmix: bool,
    /// Whether the job may grow and shrink.
    pub elastic: bool,
    /// Whether ranks end that free memory which a request uses.
    pub check: bool,
}

/// One program of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct App {
    /// Number of ranks, if given.
    pub count: Option<u32>,
    /// Program as the user wrote it.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables for its ranks.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory, if given.
    pub wdir: Option<PathBuf>,
}

/// What the user wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// To run programs.
    Run(Box<Request>),
    /// To read [`HELP`].
    Help,
    /// To know the version.
    Version,
}

/// The command line cannot be understood; the text says why and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opt {
    Count,
    Export,
    Env,
    Genv,
    Wdir,
    Set,
    Pset,
    InitialErrhandler,
    WithFt,
    MemoryAllocKinds,
    Tag,
    Stdin,
    BindTo,
    MapBy,
    RankBy,
    CpuSet,
    Rankfile,
    Display,
    ReportBindings,
    Topology,
    Timeout,
    Verbose,
    Host,
    Hostfile,
    Ppn,
    Agent,
    Launcher,
    Pmix,
    NoTakeover,
    Elastic,
    Check,
    Help,
    Version,
    /// Asks for what is the case anyway.
    Accepted,
    /// Known from elsewhere, but not here; says what to do instead.
    Elsewhere(&'static str),
}

const MCA: &str =
    "this is an option of Open MPI; settings of Catena are given by --set (see `catena info`)";

const OPTIONS: &[(&str, Opt)] = &[
    ("n", Opt::Count),
    ("np", Opt::Count),
    ("c", Opt::Count),
    ("x", Opt::Export),
    ("env", Opt::Env),
    ("genv", Opt::Genv),
    ("wdir", Opt::Wdir),
    ("wd", Opt::Wdir),
    ("set", Opt::Set),
    ("pset", Opt::Pset),
    ("initial-errhandler", Opt::InitialErrhandler),
    ("with-ft", Opt::WithFt),
    ("memory-alloc-kinds", Opt::MemoryAllocKinds),
    ("l", Opt::Tag),
    ("tag-output", Opt::Tag),
    ("prepend-rank", Opt::Tag),
    ("stdin", Opt::Stdin),
    ("bind-to", Opt::BindTo),
    ("map-by", Opt::MapBy),
    ("rank-by", Opt::RankBy),
    ("cpu-set", Opt::CpuSet),
    ("cpu-list", Opt::CpuSet),
    ("rankfile", Opt::Rankfile),
    ("display", Opt::Display),
    ("report-bindings", Opt::ReportBindings),
    ("topology", Opt::Topology),
    ("timeout", Opt::Timeout),
    ("v", Opt::Verbose),
    ("verbose", Opt::Verbose),
    ("h", Opt::Help),
    ("help", Opt::Help),
    ("version", Opt::Version),
    ("V", Opt::Version),
    ("allow-run-as-root", Opt::Accepted),
    ("oversubscribe", Opt::Accepted),
    ("envall", Opt::Accepted),
    ("genvall", Opt::Accepted),
    ("H", Opt::Host),
    ("host", Opt::Host),
    ("hosts", Opt::Host),
    ("f", Opt::Hostfile),
    ("hostfile", Opt::Hostfile),
    ("machinefile", Opt::Hostfile),
    ("ppn", Opt::Ppn),
    ("launcher", Opt::Launcher),
    ("launcher-agent", Opt::Agent),
    ("pmix", Opt::Pmix),
    ("no-takeover", Opt::NoTakeover),
    ("elastic", Opt::Elastic),
    ("check", Opt::Check),
    ("mca", Opt::Elsewhere(MCA)),
];

/// Understands the arguments after the name of the command.
///
/// # Errors
/// [`UsageError`] in words for the user.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, UsageError> {
    let mut parser = Parser {
        args: args.into_iter().collect::<Vec<_>>().into_iter(),
        request: Request {
            apps: Vec::new(),
            env: Vec::new(),
            settings: Vec::new(),
            psets: Vec::new(),
            timeout: None,
            tag: false,
            stdin: Some(0),
            wish: Wish::default(),
            rankfile: None,
            topology: None,
            verbose: false,
            hosts: Vec::new(),
            hostfiles: Vec::new(),
            ppn: None,
            agent: None,
            launcher: None,
            pmix: false,
            elastic: false,
            check: false,
        },
        answer: None,
    };
    loop {
        let more = parser.app()?;
        if let Some(answer) = parser.answer {
            return Ok(answer);
        }
        if !more {
            return Ok(Parsed::Run(Box::new(parser.request)));
        }
    }
}

struct Parser {
    args: std::vec::IntoIter<OsString>,
    request: Request,
    /// An answer that makes everything else pointless.
    answer: Option<Parsed>,
}

impl Parser {
    /// Reads one program with its options; gives whether another one follows.
    fn app(&mut self) -> Result<bool, UsageError> {
        let mut app = App::default();
        loop {
            let Some(arg) = self.args.next() else {
                if self.request.topology.is_some() {
                    self.request.apps.push(app);
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
                match self.args.next() {
                    Some(program) => app.program = program,
                    None => return usage("there is no program to run after --"),
                }
                break;
            }
            if arg == ":" {
                return usage("there is no program before :");
            }
            if !arg.as_bytes().starts_with(b"-") || arg == "-" {
                app.program = arg;
                break;
            }
            self.option(&arg, &mut app)?;
            if self.answer.is_some() {
                return Ok(false);
            }
        }
        if app.program.is_empty() {
            return usage("the name of the program is empty");
        }
        let mut more = false;
        for arg in self.args.by_ref() {
            if arg == ":" {
                more = true;
                break;
            }
            app.args.push(arg);
        }
        self.request.apps.push(app);
        Ok(more)
    }

    fn option(&mut self, arg: &OsStr, app: &mut App) -> Result<(), UsageError> {
        let (shown, inline) = match split_once(arg, b'=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.to_os_string(), None),
        };
        let shown = shown.to_string_lossy().into_owned();
        let name = shown.trim_start_matches('-');
        let dashes = shown.len() - name.len();
        let known = OPTIONS.iter().find(|(n, _)| *n == name && dashes <= 2);
        let Some((_, opt)) = known else {
            let long = OPTIONS.iter().map(|(n, _)| *n).filter(|n| n.len() > 1);
            let hint = match nearest(name, long) {
                Some(near) => format!("did you mean --{near}?"),
                None => "see mpirun --help".to_string(),
            };
            return usage(format!("there is no option {shown}; {hint}"));
        };
        let mut inline = inline;
        let mut value = |what: &str| match inline.take().or_else(|| self.args.next()) {
            Some(value) => Ok(value),
            None => usage(format!("{shown} needs {what}")),
        };
        let request = &mut self.request;
        match *opt {
            Opt::Count => app.count = Some(count(&shown, &value("a number of ranks")?)?),
            Opt::Export => {
                let given = value("NAME or NAME=VALUE")?;
                app.env.extend(variable(&shown, given)?);
            }
            opt @ (Opt::Env | Opt::Genv) => {
                let name = value("NAME and VALUE")?;
                let pair = match split_once(&name, b'=') {
                    Some(pair) => pair,
                    None => (name, value("NAME and VALUE")?),
                };
                let list = if opt == Opt::Env {
                    &mut app.env
                } else {
                    &mut request.env
                };
                list.push(checked(&shown, pair)?);
            }
            Opt::Wdir => app.wdir = Some(value("a directory")?.into()),
            Opt::Set => {
                let text = value("NAME=VALUE")?.to_string_lossy().into_owned();
                let Some((name, value)) = text.split_once('=') else {
                    return usage(format!("{shown} {text}: write NAME=VALUE"));
                };
                request
                    .settings
                    .push((name.trim().to_string(), value.trim().to_string()));
            }
            Opt::Pset => {
                let text = value("NAME=RANKS")?.to_string_lossy().into_owned();
                let set = ProcessSet::parse(&shown, &text)?;
                if request.psets.iter().any(|other| other.name == set.name) {
                    return usage(format!(
                        "{shown} {text}: there is a set {} already",
                        set.name
                    ));
                }
                request.psets.push(set);
            }
            Opt::WithFt => {
                let text = value("ulfm or none")?.to_string_lossy().into_owned();
                let on = match text.to_ascii_lowercase().as_str() {
                    // Open MPI has more than one name for each.
                    "ulfm" | "mpi" | "mpift" | "yes" | "true" | "1" => "true",
                    "none" | "no" | "false" | "0" => "false",
                    _ => return usage(format!("{shown} {text}: it must be ulfm or none")),
                };
                let setting = ("FAULT_TOLERANCE".to_string(), on.to_string());
                request.settings.push(setting);
                if on == "true" {
                    // As Open MPI's mpirun ends then; what the user says about it comes after it and wins.
                    let status = ("FAULT_STATUS".to_string(), "survivors".to_string());
                    request.settings.insert(0, status);
                }
            }
            opt @ (Opt::InitialErrhandler | Opt::MemoryAllocKinds) => {
                let (name, what) = if opt == Opt::InitialErrhandler {
                    ("INITIAL_ERRHANDLER", "the name of an error handler")
                } else {
                    ("MEMORY_ALLOC_KINDS", "a list of kinds of memory")
                };
                let text = value(what)?.to_string_lossy().into_owned();
                request.settings.push((name.to_string(), text));
            }
            Opt::Tag => request.tag = true,
            Opt::Stdin => {
                let text = value("a rank or none")?.to_string_lossy().into_owned();
                request.stdin = match text.as_str() {
                    "none" => None,
                    rank => match rank.parse() {
                        Ok(rank) => Some(rank),
                        Err(_) => {
                            return usage(format!("{shown} {text}: it must be a rank or none"));
                        }
                    },
                };
            }
            Opt::BindTo | Opt::MapBy | Opt::RankBy | Opt::CpuSet => {
                let text = value("what ranks are to be placed by")?;
                let wish = &mut request.wish;
                let field = match opt {
                    Opt::BindTo => &mut wish.bind_to,
                    Opt::MapBy => &mut wish.map_by,
                    Opt::RankBy => &mut wish.rank_by,
                    _ => &mut wish.cpu_set,
                };
                *field = text.to_string_lossy().into_owned();
                let sound = request.wish.policy();
                sound.map_err(UsageError)?;
            }
            Opt::Rankfile => request.rankfile = Some(value("a file")?.into()),
            Opt::Topology => request.topology = Some(value("a file")?.into()),
            Opt::Display => {
                let text = value("map or bindings")?.to_string_lossy().into_owned();
                for word in text.split(',') {
                    let show = match word {
                        "map" | "allocation" => Show::Map,
                        "bindings" | "bind" => Show::Bindings,
                        _ => {
                            return usage(format!("{shown} {text}: it must be map or bindings"));
                        }
                    };
                    request.wish.show = request.wish.show.max(show);
                }
            }
            Opt::ReportBindings => request.wish.show = Show::Bindings,
            Opt::Timeout => request.timeout = Some(seconds(&shown, &value("seconds")?)?),
            Opt::Verbose => request.verbose = true,
            Opt::Host => {
                let list = value("names of hosts")?.to_string_lossy().into_owned();
                request.hosts.push((shown.clone(), list));
            }
            Opt::Hostfile => {
                let path = value("the name of a file")?;
                request.hostfiles.push((shown.clone(), path.into()));
            }
            Opt::Ppn => request.ppn = Some(count(&shown, &value("a number of ranks")?)?),
            Opt::Launcher => {
                let name = value("ssh, slurm or pals")?;
                let launcher = Launcher::parse(&shown, &name.to_string_lossy())?;
                request.launcher = Some(launcher);
            }
            Opt::Agent => request.agent = Some(value("a command")?),
            Opt::Elastic => request.elastic = true,
            Opt::Check => request.check = true,
            Opt::Pmix => request.pmix = true,
            Opt::NoTakeover => {
                let (name, value) = ("LAUNCH_TAKEOVER", "false");
                request.settings.push((name.to_string(), value.to_string()));
            }
            Opt::Help => self.answer = Some(Parsed::Help),
            Opt::Version => self.answer = Some(Parsed::Version),
            Opt::Accepted => {}
            Opt::Elsewhere(remedy) => return usage(format!("{shown}: {remedy}")),
        }
        match inline {
            Some(_) => usage(format!("{shown} takes no value")),
            None => Ok(()),
        }
    }
}

fn usage<T>(text: impl Into<String>) -> Result<T, UsageError> {
    Err(UsageError(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Request {
        match parse(line.split_whitespace().map(OsString::from)) {
            Ok(Parsed::Run(request)) => *request,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn fails(line: &str) -> String {
        match parse(line.split_whitespace().map(OsString::from)) {
            Err(UsageError(text)) => text,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn all_spellings_of_the_number_of_ranks() {
        for line in [
            "-n 3 a", "-np 3 a", "--np 3 a", "--np=3 a", "-c 3 a", "--n 3 a", "-np=3 a",
        ] {
            let request = run(line);
            assert_eq!(request.apps.len(), 1);
            assert_eq!(
                (request.apps[0].count, &request.apps[0].program),
                (Some(3), &"a".into())
            );
        }
        assert_eq!(run("a").apps[0].count, None);
    }

    #[test]
    fn several_programs_have_their_own_options() {
        let request =
            run("-genv G 1 -n 2 -x A=1 -wdir /x a -n 9 b : --env B 2 -l --stdin 3 c : d=e");
        let [a, c, d] = &request.apps[..] else {
            panic!("{request:?}")
        };
        assert_eq!(
            (a.count, &a.args[..]),
            (Some(2), &["-n", "9", "b"].map(OsString::from)[..])
        );
        assert_eq!(a.env, [("A".into(), "1".into())]);
        assert_eq!(a.wdir, Some("/x".into()));
        assert_eq!(
            (c.count, &c.env[..]),
            (None, &[("B".into(), "2".into())][..])
        );
        assert_eq!(d.program, "d=e");
        assert_eq!(request.env, [("G".into(), "1".into())]);
        assert!(request.tag);
        assert_eq!(request.stdin, Some(3));
    }

    #[test]
    fn everything_after_the_program_belongs_to_it() {
        let request =
            run("--timeout 1.5 --bind-to core -v --set A=b=c --stdin none -- -odd --help");
        assert_eq!(request.apps[0].program, "-odd");
        assert_eq!(request.apps[0].args, ["--help"]);
        assert_eq!(request.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(request.settings, [("A".to_string(), "b=c".to_string())]);
        assert_eq!(request.wish.bind_to, "core");
        assert!(request.verbose && request.stdin.is_none());
        let handler = run("-initial-errhandler mpi_errors_return a").settings;
        let expected = ("INITIAL_ERRHANDLER", "mpi_errors_return");
        assert_eq!(handler, [expected].map(|(n, v)| (n.into(), v.into())));
        for (text, on) in [
            ("ulfm", "true"),
            ("mpi", "true"),
            ("Yes", "true"),
            ("none", "false"),
            ("no", "false"),
            ("0", "false"),
        ] {
            let settings = run(&format!("--with-ft {text} a")).settings;
            let status = ("FAULT_STATUS".into(), "survivors".into());
            let tolerance = ("FAULT_TOLERANCE".into(), on.into());
            match on {
                "true" => assert_eq!(settings, [status, tolerance]),
                _ => assert_eq!(settings, [tolerance]),
            }
        }
        let takeover = run("--no-takeover a").settings;
        let expected = ("LAUNCH_TAKEOVER", "false");
        assert_eq!(takeover, [expected].map(|(n, v)| (n.into(), v.into())));
        let kinds = run("-memory-alloc-kinds mpi,system a").settings;
        let expected = ("MEMORY_ALLOC_KINDS", "mpi,system");
        assert_eq!(kinds, [expected].map(|(n, v)| (n.into(), v.into())));
        let wish = run("--map-by ppr:1:numa --display map,bindings --cpu-set=0-3 a").wish;
        assert_eq!(
            (wish.map_by.as_str(), wish.cpu_set.as_str()),
            ("ppr:1:numa", "0-3")
        );
        assert_eq!(wish.show, Show::Bindings);
        assert!(run("-n 3 --topology m.xml").topology.is_some());
    }

    #[test]
    fn help_and_version_need_no_program() {
        assert_eq!(parse(["--help".into()]), Ok(Parsed::Help));
        assert_eq!(
            parse(["-n".into(), "2".into(), "-h".into()]),
            Ok(Parsed::Help)
        );
        assert_eq!(parse(["-V".into()]), Ok(Parsed::Version));
    }

    #[test]
    fn mistakes_are_told_with_a_remedy() {
        for (line, words) in [
            ("", "no program to run"),
            ("-n 2", "no program to run"),
            ("a :", "no program after :"),
            (": a", "no program before :"),
            ("-np 0 a", "at least one rank"),
            ("-np -3 a", "whole number, 1 or more"),
            ("-np two a", "whole number, 1 or more"),
            ("-np 99999999 a", "at most"),
            ("-np", "-np needs a number of ranks"),
            ("--tag-outptu a", "did you mean --tag-output?"),
            ("--tiemout 3 a", "did you mean --timeout?"),
            ("---np 3 a", "no option ---np"),
            ("--xyzzy a", "see mpirun --help"),
            ("--timeout 0 a", "seconds above 0"),
            ("--timeout soon a", "seconds above 0"),
            ("--timeout nan a", "seconds above 0"),
            ("--stdin all a", "a rank or none"),
            ("--bind-to sockets a", "--bind-to sockets: it must be none"),
            ("--map-by ppr:1 a", "--map-by ppr:1: write ppr:N:OBJECT"),
            ("--rank-by core a", "slot, node, fill or span"),
            ("--display all a", "map or bindings"),
            ("-x CATENA_NO_SUCH_VARIABLE a", "no variable of this name"),
            ("-x =1 a", "name of the variable is empty"),
            ("--tag-output=yes a", "takes no value"),
            ("--set A a", "write NAME=VALUE"),
            ("--pset w a", "write NAME=RANKS"),
            ("--pset w=0 -n 2 --pset=w=1 a", "a set w already"),
            ("--host", "--host needs names of hosts"),
            ("-ppn 0 a", "at least one rank"),
            ("--launcher rsh a", "ssh, slurm or pals"),
            ("--mca btl self a", "Open MPI"),
            ("-env A", "needs NAME and VALUE"),
        ] {
            let text = fails(line);
            assert!(text.contains(words), "{line}: {text}");
        }
    }

    #[test]
    fn every_option_is_in_the_help() {
        for (name, opt) in OPTIONS {
            let hidden =
                matches!(opt, Opt::Elsewhere(_)) || name.ends_with("envall") || *name == "V";
            assert!(hidden || HELP.contains(&format!("-{name}")), "{name}");
        }
    }
}
