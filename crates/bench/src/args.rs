//! The command line of `catena bench`.
//!
//! Long options have two dashes and letters one; a value follows after a blank or `=`. Options of
//! the measuring program are handed on to it as they are.

use std::ffi::OsString;
use std::path::PathBuf;

use catena_settings::nearest;

use crate::graph::Graph;
use crate::options::{OPTIONS, Opt};
use crate::raw::Purpose;

pub use crate::help::HELP;

/// What the user wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// To measure.
    Measure(Box<Request>),
    /// The session to go on with, and the seconds that all launches may take if the command names a
    /// new number.
    Resume(PathBuf, Output, Option<f64>),
    /// To see what was measured before.
    Report(Vec<PathBuf>, Output),
    /// To see what can be measured.
    List(Option<PathBuf>),
    /// To read [`HELP`].
    Help,
}

/// What to measure, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// See there.
    pub purpose: Purpose,
    /// Benchmarks and families, or all, each with its sizes.
    pub names: Vec<String>,
    /// What tells this session from others in one table.
    pub label: String,
    /// Numbers of ranks.
    pub ranks: Vec<u32>,
    /// Libraries: NAME or NAME=PREFIX.
    pub libs: Vec<String>,
    /// Values of Catena's setting `LINK`.
    pub links: Vec<String>,
    /// Settings of Catena with their values.
    pub settings: Vec<(String, Vec<String>)>,
    /// Environment variables with their values.
    pub env: Vec<(String, Vec<String>)>,
    /// Environment variables of one library: its name, the variable, the value.
    pub own_env: Vec<[String; 3]>,
    /// Versions of Catena.
    pub commits: Vec<String>,
    /// The command that starts programs, for all libraries.
    pub launcher: Vec<String>,
    /// Hosts with room for ranks, as launchers take them.
    pub hosts: Option<String>,
    /// What starts something on another host, called as ssh is.
    pub agent: Option<String>,
    /// Fewest launches, and most.
    pub launches: (u32, u32),
    /// Of intervals and tests.
    pub confidence: f64,
    /// Half-width of the interval that is enough, as a share.
    pub precision: f64,
    /// Differences below this share do not matter.
    pub margin: f64,
    /// Seconds of silence.
    pub limit: f64,
    /// Seconds for all.
    pub at_most: Option<f64>,
    /// Of the order of launches.
    pub seed: Option<u64>,
    /// Whether ranks are placed alike with all libraries.
    pub pin: bool,
    /// Whether it is checked what arrives.
    pub check: bool,
    /// A file of raw data, whose builds of libraries these have to be.
    pub builds_of: Option<PathBuf>,
    /// The measuring program.
    pub program: Option<PathBuf>,
    /// Its options.
    pub options: Vec<String>,
    /// What is shown and written.
    pub output: Output,
}

/// What is shown and written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The file of raw data.
    pub raw: Option<PathBuf>,
    /// Graphs and tables in files.
    pub graphs: Vec<Graph>,
    /// A file of what the first variant should reach: see [`crate::aims`].
    pub aims: Option<PathBuf>,
    /// Columns for the least and the most.
    pub full: bool,
    /// Columns for percentiles.
    pub percentiles: Vec<f64>,
    /// Whether figures of several builds of a library are taken together.
    pub rebuilt: bool,
}

/// The command line cannot be understood; the text says why and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub String);

const COMMANDS: [&str; 4] = ["compare", "guidelines", "report", "list"];

/// Understands the arguments after `catena bench`.
///
/// # Errors
/// [`UsageError`] in words for the user.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, UsageError> {
    let mut words = Vec::new();
    for arg in args {
        match arg.into_string() {
            Ok(word) => words.push(word),
            Err(arg) => return usage(format!("{} is no text", arg.display())),
        }
    }
    let mut words = words.into_iter().peekable();
    let command = words.next_if(|w| COMMANDS.contains(&w.as_str()));
    let mut request = Request {
        purpose: match command.as_deref() {
            Some("compare") => Purpose::Compare,
            Some("guidelines") => Purpose::Guidelines,
            _ => Purpose::Figures,
        },
        names: Vec::new(),
        label: String::new(),
        ranks: vec![2],
        libs: Vec::new(),
        links: Vec::new(),
        settings: Vec::new(),
        env: Vec::new(),
        own_env: Vec::new(),
        commits: Vec::new(),
        launcher: Vec::new(),
        hosts: None,
        agent: None,
        launches: (10, 30),
        confidence: 0.95,
        precision: 0.02,
        margin: 0.01,
        limit: 60.0,
        at_most: None,
        seed: None,
        pin: true,
        check: true,
        builds_of: None,
        program: None,
        options: Vec::new(),
        output: Output::default(),
    };
    let mut resume = None;
    // Words about what is measured and how, which a file that is gone on with says itself.
    let mut asked: Vec<String> = command.iter().cloned().collect();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            asked.push(word.clone());
            request.names.push(word);
            continue;
        }
        let (name, mut inline) = match word.split_once('=') {
            Some((name, value)) => (name.to_string(), Some(value.to_string())),
            None => (word.clone(), None),
        };
        let Some((_, opt)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            return unknown(&name);
        };
        if *opt == Opt::Help {
            return Ok(Parsed::Help);
        }
        if !opt.goes_with_resume() {
            asked.push(name.clone());
        }
        let mut value = |what: &str| match inline.take().or_else(|| words.next()) {
            Some(value) if !value.is_empty() => Ok(value),
            _ => usage(format!("{name} needs {what}")),
        };
        match opt {
            Opt::Resume => resume = Some(PathBuf::from(value("a file of raw data")?)),
            Opt::Flag => request.options.push(name.clone()),
            Opt::Given => {
                let given = value("a value")?;
                request.options.extend([name.clone(), given]);
            }
            opt => read(*opt, &name, &mut value, &mut request)?,
        }
        if inline.is_some() {
            return usage(format!("{name} takes no value"));
        }
    }
    if let (Some(file), [word, ..]) = (&resume, &asked[..]) {
        return usage(format!(
            "{word} does not go with --resume: what is measured, and how, is what {} says; leave \
             it out, or measure into another file",
            file.display()
        ));
    }
    finish(command.as_deref(), resume, request)
}

fn read(
    opt: Opt,
    name: &str,
    value: &mut impl FnMut(&str) -> Result<String, UsageError>,
    request: &mut Request,
) -> Result<(), UsageError> {
    match opt {
        Opt::Label => request.label = value("words")?,
        Opt::Ranks => {
            let text = value("numbers of ranks, such as 2 or 2,4,8")?;
            let ranks = text.split(',').map(|word| match word.parse() {
                Ok(n) if n > 0 => Ok(n),
                _ => usage(format!(
                    "{name} {text}: write numbers of ranks, such as 2,4,8"
                )),
            });
            request.ranks = ranks.collect::<Result<_, _>>()?;
        }
        Opt::Lib => add(&mut request.libs, value("libraries: NAME or NAME=PREFIX")?),
        Opt::Link => add(&mut request.links, value("values of CATENA_LINK")?),
        Opt::Commit => add(&mut request.commits, value("commits")?),
        Opt::Setting => axis(&mut request.settings, name, value("NAME=VALUE,...")?)?,
        Opt::Env => {
            let text = value("NAME=VALUE,... or LIB:NAME=VALUE")?;
            let named = text.split_once('=').and_then(|(name, value)| {
                let (lib, name) = name.split_once(':')?;
                Some([lib, name, value].map(String::from))
            });
            match named {
                Some(own) => request.own_env.push(own),
                None => axis(&mut request.env, name, text)?,
            }
        }
        Opt::Launcher => {
            let words = value("a command, such as \"srun --mpi=pmix\"")?;
            request.launcher = words.split_whitespace().map(String::from).collect();
        }
        Opt::Agent => request.agent = Some(value("a command")?),
        Opt::Hosts => request.hosts = Some(value("hosts, such as a:2,b:2")?),
        Opt::Launches => {
            let text = value("FEWEST:MOST, or both in one")?;
            let (fewest, most) = text.split_once(':').unwrap_or((&text, &text));
            request.launches = match (fewest.parse(), most.parse()) {
                (Ok(fewest), Ok(most)) if 0 < fewest && fewest <= most => (fewest, most),
                _ => return usage(format!("{name} {text}: write FEWEST:MOST, such as 10:30")),
            };
        }
        Opt::Confidence => {
            request.confidence = percent(name, &value("per cent, such as 95")?, 50.0, 99.99)?;
        }
        Opt::Precision => request.precision = percent(name, &value("per cent")?, 0.0, 100.0)?,
        Opt::Margin => request.margin = percent(name, &value("per cent")?, 0.0, 100.0)?,
        Opt::Limit => request.limit = number(name, &value("seconds")?, 0.1, 1e6)?,
        Opt::AtMost => request.at_most = Some(number(name, &value("seconds")?, 0.0, 1e9)?),
        Opt::Seed => {
            let text = value("a number")?;
            let seed = text.parse().map(Some);
            request.seed =
                seed.map_err(|_| UsageError(format!("{name} {text}: it must be a whole number")))?;
        }
        Opt::NoPin => request.pin = false,
        Opt::Check => request.check = true,
        Opt::NoCheck => request.check = false,
        Opt::Program => request.program = Some(value("a program")?.into()),
        Opt::Output => request.output.raw = Some(value("a file")?.into()),
        Opt::Graph => {
            let text = value("kinds of graphs")?;
            for word in text.split(',') {
                let graph = Graph::parse(word)
                    .map_err(|why| UsageError(format!("{name} {text}: {why}")))?;
                request.output.graphs.push(graph);
            }
        }
        Opt::Aims => request.output.aims = Some(value("a file of aims")?.into()),
        Opt::Full => request.output.full = true,
        Opt::Rebuilt => request.output.rebuilt = true,
        Opt::BuildsOf => request.builds_of = Some(value("a file of raw data")?.into()),
        Opt::Percentiles => {
            let text = value("percentiles, such as 50,90,99")?;
            let each = text.split(',').map(|word| number(name, word, 0.0, 100.0));
            request.output.percentiles = each.collect::<Result<_, _>>()?;
            request.options.push(format!("-z{text}"));
        }
        Opt::Resume | Opt::Help | Opt::Flag | Opt::Given => {}
    }
    Ok(())
}

/// A list, or, if the option is given again, one more value that may have commas.
fn add(list: &mut Vec<String>, text: String) {
    if list.is_empty() {
        list.extend(text.split(',').map(String::from));
    } else {
        list.push(text);
    }
}

fn axis(
    axes: &mut Vec<(String, Vec<String>)>,
    option: &str,
    text: String,
) -> Result<(), UsageError> {
    let Some((name, values)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return usage(format!(
            "{option} {text}: write NAME=VALUE or NAME=VALUE,VALUE"
        ));
    };
    let index = axes.iter().position(|(known, _)| known == name);
    let index = index.unwrap_or_else(|| {
        axes.push((name.to_string(), Vec::new()));
        axes.len() - 1
    });
    add(&mut axes[index].1, values.to_string());
    Ok(())
}

fn number(option: &str, text: &str, least: f64, most: f64) -> Result<f64, UsageError> {
    match text.parse() {
        Ok(n) if (least..=most).contains(&n) => Ok(n),
        _ => usage(format!(
            "{option} {text}: it must be a number from {least} to {most}"
        )),
    }
}

/// A number of per cent, as a share.
fn percent(option: &str, text: &str, least: f64, most: f64) -> Result<f64, UsageError> {
    Ok(number(option, text.trim_end_matches('%'), least, most)? / 100.0)
}

fn unknown<T>(name: &str) -> Result<T, UsageError> {
    let long = OPTIONS
        .iter()
        .map(|(known, _)| *known)
        .filter(|k| k.starts_with("--"));
    let hint = match nearest(name, long) {
        Some(near) => format!("did you mean {near}?"),
        None => "see catena bench --help".to_string(),
    };
    usage(format!("there is no option {name}; {hint}"))
}

fn finish(
    command: Option<&str>,
    resume: Option<PathBuf>,
    request: Request,
) -> Result<Parsed, UsageError> {
    let several = request.libs.len().max(1)
        * request.links.len().max(1)
        * request.commits.len().max(1)
        * request
            .settings
            .iter()
            .chain(&request.env)
            .map(|(_, v)| v.len())
            .product::<usize>();
    match (command, resume) {
        (Some("report"), _) if request.names.is_empty() => {
            usage("report needs a file of raw data, which `catena bench` leaves")
        }
        (Some("report"), _) => {
            let files = request.names.into_iter().map(PathBuf::from);
            Ok(Parsed::Report(files.collect(), request.output))
        }
        (Some("list"), _) => Ok(Parsed::List(request.program)),
        (_, Some(file)) => Ok(Parsed::Resume(file, request.output, request.at_most)),
        (Some("compare"), None) if several < 2 => usage(
            "there is nothing to compare with: give several values to --lib, --link, --setting, \
             --env or --commit",
        ),
        (_, None) => {
            if request.output.aims.is_some() && request.purpose != Purpose::Compare {
                return usage("--aims is about what `catena bench compare` finds");
            }
            if request.names.is_empty() && request.purpose != Purpose::Guidelines {
                return usage(
                    "name benchmarks or families (`catena bench list` shows them), or `all`",
                );
            }
            Ok(Parsed::Measure(Box::new(request)))
        }
    }
}

fn usage<T>(text: impl Into<String>) -> Result<T, UsageError> {
    Err(UsageError(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Parsed, UsageError> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn request(line: &str) -> Request {
        match parsed(line) {
            Ok(Parsed::Measure(request)) => *request,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_of_the_program_are_handed_on() {
        let request = request("latency -m 1:64K -c --window-size=32 allreduce -n 2,4 -z 50,99.9");
        assert_eq!(request.names, ["latency", "allreduce"]);
        assert_eq!(
            request.options,
            ["-m", "1:64K", "--window-size", "32", "-z50,99.9"]
        );
        assert!(request.check);
        assert_eq!(request.ranks, [2, 4]);
        assert_eq!(request.output.percentiles, [50.0, 99.9]);
        assert_eq!(request.purpose, Purpose::Figures);
    }

    #[test]
    fn lists_have_commas_or_the_option_again() {
        let request = request(
            "compare all --lib catena,mpich=/x --link ofi:a --link ofi:b,c \
             --setting EAGER=8k,16k --setting EAGER=1,2 --env X=1 --env mpich:Y=a,b --launches 5:9 \
             --precision 1%",
        );
        assert_eq!(request.names, ["all"]);
        assert_eq!(request.libs, ["catena", "mpich=/x"]);
        assert_eq!(request.links, ["ofi:a", "ofi:b,c"]);
        let eager = ["8k", "16k", "1,2"].map(String::from).to_vec();
        assert_eq!(request.settings, [("EAGER".to_string(), eager)]);
        assert_eq!(request.env, [("X".to_string(), vec!["1".to_string()])]);
        assert_eq!(request.own_env, [["mpich", "Y", "a,b"].map(String::from)]);
        assert_eq!((request.launches, request.precision), ((5, 9), 0.01));
    }

    #[test]
    fn other_commands_are_understood() {
        assert_eq!(parsed("list"), Ok(Parsed::List(None)));
        assert_eq!(parsed("latency -h"), Ok(Parsed::Help));
        let output = Output {
            graphs: vec![Graph::Html, Graph::Tty],
            ..Output::default()
        };
        assert_eq!(
            parsed("report a.jsonl -G html,tty"),
            Ok(Parsed::Report(vec!["a.jsonl".into()], output))
        );
        assert_eq!(
            parsed("--resume a.jsonl"),
            Ok(Parsed::Resume("a.jsonl".into(), Output::default(), None))
        );
        assert!(matches!(
            parsed("--resume a.jsonl --at-most 9 --rebuilt -G tty -f -o b --aims c -z 50"),
            Ok(Parsed::Resume(_, output, Some(9.0))) if output.rebuilt && output.full
        ));
    }

    #[test]
    fn mistakes_are_told_with_a_remedy() {
        for (line, why) in [
            ("", "catena bench list"),
            ("compare latency", "nothing to compare"),
            ("compare latency --lib catena", "nothing to compare"),
            ("latency --launchs 3", "did you mean --launches?"),
            ("latency -n 0", "-n 0"),
            ("latency -n", "-n needs"),
            ("latency -c=1", "takes no value"),
            ("latency --launches 9:5", "FEWEST:MOST"),
            ("latency --confidence 5", "from 50"),
            ("latency --seed x", "whole number"),
            ("latency -G gif", "gif"),
            ("latency --aims file", "compare"),
            ("latency --setting EAGER", "NAME=VALUE"),
            ("report", "needs a file"),
            ("latency --resume a", "latency does not go with --resume"),
            ("--resume a latency:8", "latency:8 does not go"),
            ("compare --resume a", "compare does not go"),
            ("report a --resume b", "report does not go"),
            ("--resume a --samples 5", "--samples does not go"),
            ("-l --resume a", "-l does not go"),
            ("--resume a --lib=b", "--lib does not go"),
            ("--launches 5 --resume a", "--launches does not go"),
            ("--resume a -c", "-c does not go"),
        ] {
            match parsed(line) {
                Err(UsageError(text)) => assert!(text.contains(why), "{line}: {text}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
