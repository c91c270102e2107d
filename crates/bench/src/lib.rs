//! Row 11: `catena bench`, benchmarks of any MPI library with sound statistics.
//!
//! | module       | what it does                                                               |
//! |--------------|----------------------------------------------------------------------------|
//! | `args`       | understands the command line; `options` are its words, `help` is its text  |
//! | `library`    | finds MPI libraries, and how each starts programs                          |
//! | `commits`    | builds versions of Catena                                                  |
//! | `builds`     | which build of a library figures are of                                    |
//! | `variants`   | what is measured side by side                                              |
//! | `session`    | launch after launch, until enough is known; `progress` is its line         |
//! | `launch`     | one launch of the measuring program, which is in C: `program`; `guard`      |
//! |              | ends it with this command; `remains`: what it leaves when it is ended      |
//! | `record`     | what the program says                                                      |
//! | `raw`        | the file that keeps everything; `merge` makes one of several               |
//! | `machine`    | where figures were taken                                                   |
//! | `place`      | where figures are taken                                                    |
//! | `figures`    | one number per launch, sorted                                              |
//! | `stats`      | medians, intervals, tests                                                  |
//! | `compare`    | verdicts; `aims`: what the ratios should be                                |
//! | `guidelines` | what loses to other calls that do its work                                |
//! | `table`      | results as text; `show` is numbers as text, `notes` what must be known to   |
//! |              | read them, `troubles` what failed                                          |
//! | `tune`       | `catena tune`: which settings have better values on this machine           |
//! | `graph`      | results in files                                                           |
//!
//! Data flow one way: records -> raw file -> figures -> verdicts -> tables and graphs. So whatever
//! can be shown after measuring can be shown again from the file.

#![forbid(unsafe_code)]

mod aims;
mod args;
mod builds;
mod commits;
mod compare;
mod figures;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod graph;
pub mod guard;
mod guidelines;
mod help;
mod launch;
mod library;
mod machine;
mod merge;
mod notes;
mod options;
mod place;
mod progress;
mod raw;
mod record;
mod remains;
mod session;
mod show;
pub mod stats;
mod table;
mod troubles;
mod tune;
mod variants;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use catena_settings::{Registry, nearest};

use aims::{Aim, Outcome};
use args::{Output, Parsed, Request};
use compare::Verdict;
use figures::Figures;
use graph::Results;
use library::Home;
use machine::Machine;
use raw::{FORMAT, Header, Plan, Purpose, Run};
use record::Row;
use session::{Finish, Session};

pub use tune::tune;

/// Status if the first variant is worse somewhere, delivers wrong data or misses an aim, or a
/// guideline is broken.
const WORSE: i32 = 1;
/// Status if the command line cannot be understood or followed.
const USAGE: i32 = 2;
/// Status if some launches failed, another variant delivers wrong data, or nothing could be
/// measured.
const FAILED: i32 = 3;
/// Status if the user interrupted it.
const INTERRUPTED: i32 = 130;

/// Does what `args`, the words after `catena bench`, ask for; gives the exit status. `--setting`
/// knows the settings of `registry`.
pub fn bench(args: impl Iterator<Item = OsString>, registry: &Registry) -> i32 {
    let words: Vec<OsString> = args.collect();
    if let [first, rest @ ..] = &words[..]
        && first == guard::WORD
    {
        return guard::start(rest).unwrap_or_else(|why| {
            show::tell(format_args!("catena bench: {why}\n"));
            USAGE
        });
    }
    let done = match args::parse(words.clone()) {
        Err(error) => Err(error.0),
        Ok(Parsed::Help) => {
            show::say(args::HELP);
            Ok(0)
        }
        Ok(Parsed::List(program)) => list(&Home::here(program)),
        Ok(Parsed::Measure(request)) => measure(&request, &words, registry),
        Ok(Parsed::Resume(path, output, at_most)) => resume(&path, &output, at_most),
        Ok(Parsed::Report(files, output)) => report(&files, &output),
    };
    done.unwrap_or_else(|why| {
        show::tell(format_args!("catena bench: {why}\n"));
        USAGE
    })
}

fn list(home: &Home) -> Result<i32, String> {
    let rows: Vec<Vec<String>> = rows(home, &[])?
        .into_iter()
        .map(|row| {
            let ranks = row.min_ranks.to_string();
            vec![row.family, row.name, row.unit, ranks, row.needs.join(", ")]
        })
        .collect();
    let head = ["family", "benchmark", "unit", "ranks", "needs"];
    show::say(show::columns(&head, &rows));
    Ok(0)
}

/// The table of the measuring program, which must understand `options`.
fn rows(home: &Home, options: &[String]) -> Result<Vec<Row>, String> {
    let program = home.program()?;
    let done = Command::new(&program)
        .args(options)
        .arg("--list")
        .env(
            "LD_LIBRARY_PATH",
            library::joined(&home.prefix.join("lib"), "LD_LIBRARY_PATH"),
        )
        .output()
        .map_err(|e| format!("{} cannot be started: {e}", program.display()))?;
    if done.status.code() == Some(USAGE) {
        let said = String::from_utf8_lossy(&done.stderr);
        let first = said.lines().next().unwrap_or_default();
        // It names its own help.
        let why = first.split("; bench --").next().unwrap_or_default();
        let why = why.trim_start_matches("bench: ");
        return Err(format!("{why}; see catena bench --help"));
    }
    let text = String::from_utf8_lossy(&done.stdout);
    let rows: Result<Vec<Row>, _> = text.lines().map(serde_json::from_str).collect();
    match rows {
        Ok(rows) if done.status.success() && !rows.is_empty() => Ok(rows),
        _ => Err(format!(
            "{} --list does not tell what it can measure: {}",
            program.display(),
            String::from_utf8_lossy(&done.stderr).trim_end()
        )),
    }
}

/// The benchmarks that `wanted` names, by themselves, by their families or as all there are, with
/// the sizes that follow the first name which means them (`latency:8,64K`).
fn chosen(rows: &[Row], wanted: &[String]) -> Result<Vec<String>, String> {
    let named = |row: &Row, word: &str| row.name == word || row.family == word || word == "all";
    for word in wanted.iter().map(|word| record::bench_of(word)) {
        if !rows.iter().any(|row| named(row, word)) {
            let known = rows
                .iter()
                .flat_map(|row| [row.name.as_str(), row.family.as_str()])
                .chain(["all"]);
            let hint = match nearest(word, known) {
                Some(near) => format!("did you mean {near}?"),
                None => "`catena bench list` shows them".to_string(),
            };
            return Err(format!("there is no benchmark {word}; {hint}"));
        }
    }
    let with_sizes = |row: &Row| {
        let mut words = wanted
            .iter()
            .filter(|word| named(row, record::bench_of(word)));
        let word = words.next()?;
        Some(word.replacen(record::bench_of(word), &row.name, 1))
    };
    Ok(rows.iter().filter_map(with_sizes).collect())
}

fn measure(request: &Request, words: &[OsString], registry: &Registry) -> Result<i32, String> {
    let home = Home::here(request.program.clone());
    let names = match (request.purpose, &request.names[..]) {
        (Purpose::Guidelines, []) => guidelines::names(),
        (_, names) => names.to_vec(),
    };
    let rows = rows(&home, &request.options)?;
    let aims = wanted_aims(&request.output, &rows)?;
    let names = chosen(&rows, &names)?;
    for ranks in &request.ranks {
        // It reads the sizes of names, too, and knows what does not fit that number of ranks.
        let ranks = ["--ranks".to_string(), ranks.to_string()];
        self::rows(&home, &[&names[..], &request.options, &ranks].concat())?;
    }
    let that_need = |what: &str| -> Vec<String> {
        let needs = |row: &&Row| row.needs.iter().any(|need| need == what);
        rows.iter()
            .filter(needs)
            .map(|row| row.name.clone())
            .collect()
    };
    let (variants, missing) = variants::variants(request, &home, registry)?;
    for why in &missing {
        show::tell(format_args!(
            "catena bench: {why}\n    (the others go on without it)\n"
        ));
    }
    if let Some(path) = &request.builds_of {
        builds::among(&raw::read(path)?, &variants, request.output.rebuilt)
            .map_err(|why| format!("{}: {why}", path.display()))?;
    }
    if request.purpose == Purpose::Compare && variants.len() < 2 {
        return Err("only one variant is left: there is nothing to compare it with".into());
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let time = show::utc(now.as_secs());
    let mut options = request.options.clone();
    let sized = |o: &String| matches!(o.as_str(), "-m" | "--message-size" | "--sizes");
    if request.purpose == Purpose::Guidelines && !options.iter().any(sized) {
        options.extend(guidelines::sizes(&request.ranks));
    }
    options.extend(request.pin.then(|| "--pin".to_string()));
    options.extend(request.check.then(|| "-c".to_string()));
    let command = words.iter().map(|w| w.to_string_lossy().into_owned());
    let header = Header {
        format: FORMAT,
        catena: env!("CARGO_PKG_VERSION").to_string(),
        command: ["catena".to_string(), "bench".to_string()]
            .into_iter()
            .chain(command)
            .collect(),
        machine: Machine::before_measuring(),
        plan: Plan {
            purpose: request.purpose,
            label: request.label.clone(),
            timed: that_need("launcher"),
            threaded: that_need("threads"),
            names,
            ranks: request.ranks.clone(),
            variants,
            options,
            launches: request.launches,
            precision: request.precision,
            confidence: request.confidence,
            margin: request.margin,
            limit: request.limit,
            at_most: request.at_most,
            seed: request.seed.unwrap_or(u64::from(now.subsec_nanos())),
        },
        time,
    };
    let path = request.output.raw.clone().unwrap_or_else(|| {
        let date = header.time.chars().filter(char::is_ascii_alphanumeric);
        let stem = format!("catena-bench-{}", date.collect::<String>());
        let again = (2..).map(|n| format!("{stem}-{n}.jsonl"));
        let mut names = iter::once(format!("{stem}.jsonl")).chain(again);
        let free = names.find(|name| !Path::new(name).exists());
        PathBuf::from(free.unwrap_or_default())
    });
    for warning in header.machine.warnings() {
        show::tell(format_args!("catena bench: {warning}\n"));
    }
    let session = Session::new(&path, header, stop()?)?;
    let status = carry_on(session, &path, &request.output, &aims)?;
    Ok(if missing.is_empty() {
        status
    } else {
        status.max(FAILED)
    })
}

fn resume(path: &Path, output: &Output, at_most: Option<f64>) -> Result<i32, String> {
    let aims = wanted_aims_here(output)?;
    let session = Session::resume(path, stop()?)?;
    let now = builds::now(session.plan());
    if let Err(why) = builds::unchanged(session.plan(), &now) {
        let why = format!("{}: {why}", path.display());
        if !output.rebuilt {
            return Err(why);
        }
        show::tell(format_args!("catena bench: {why}\n"));
    }
    let session = session.of_builds(now).at_most(at_most);
    carry_on(session, path, output, &aims)
}

fn carry_on(session: Session, path: &Path, output: &Output, aims: &[Aim]) -> Result<i32, String> {
    let mut session = session.start_by(guard::words());
    if session.measure()? == Finish::Interrupted {
        show::tell(format_args!(
            "catena bench: interrupted; nothing is lost. Go on: catena bench --resume {0}\n\
             See what there is: catena bench report {0}\n",
            path.display()
        ));
        return Ok(INTERRUPTED);
    }
    let named = output.raw.as_deref().unwrap_or(path);
    let status = tell(&session.into_run(), named, output, aims)?;
    show::say(format_args!("raw data: {}\n", path.display()));
    Ok(status)
}

/// Becomes true when the user wants to stop.
fn stop() -> Result<Arc<AtomicBool>, String> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The second one ends this at once.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| format!("signals cannot be caught: {e}"))?;
    }
    Ok(stop)
}

fn report(files: &[PathBuf], output: &Output) -> Result<i32, String> {
    let runs: Result<Vec<Run>, String> = files.iter().map(|path| raw::read(path)).collect();
    let run = merge::merge(runs?, output.rebuilt)?;
    let path = output.raw.as_ref().or(files.first());
    let aims = wanted_aims_here(output)?;
    tell(&run, path.ok_or("there is no file")?, output, &aims)
}

/// What the first variant should reach, in names of `rows`; of none nothing is known.
fn wanted_aims(output: &Output, rows: &[Row]) -> Result<Vec<Aim>, String> {
    let Some(path) = &output.aims else {
        return Ok(Vec::new());
    };
    let aims = aims::read(path)?;
    let benches: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    if !benches.is_empty() {
        aims::known(&aims, &benches).map_err(|why| format!("{}: {why}", path.display()))?;
    }
    Ok(aims)
}

/// The aims that were asked for, where nothing is measured: without the measuring program names are
/// taken as they are.
fn wanted_aims_here(output: &Output) -> Result<Vec<Aim>, String> {
    let rows = match output.aims {
        Some(_) => rows(&Home::here(None), &[]).unwrap_or_default(),
        None => Vec::new(),
    };
    wanted_aims(output, &rows)
}

/// Shows and writes what a run has found; gives the exit status.
fn tell(run: &Run, path: &Path, output: &Output, aims: &[Aim]) -> Result<i32, String> {
    let plan = &run.plan;
    let all = Figures::of(plan, &run.launches);
    let found = match plan.purpose {
        Purpose::Compare => compare::compare(plan, &all),
        Purpose::Figures | Purpose::Guidelines => Vec::new(),
    };
    let checked = match plan.purpose {
        Purpose::Guidelines => guidelines::check(plan, &all),
        Purpose::Figures | Purpose::Compare => Vec::new(),
    };
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let nothing = all.figures.is_empty();
    show::say(match plan.purpose {
        _ if nothing => "nothing could be measured\n".to_string(),
        Purpose::Compare => table::comparisons(plan, &all, &found, (output, colour)),
        Purpose::Figures => table::figures(plan, &all, output),
        Purpose::Guidelines => guidelines::text(plan, &checked),
    });
    let notes = notes::notes(run, &all, &found);
    for note in &notes {
        show::say(format_args!("note: {note}\n"));
    }
    let troubles = troubles::troubles(run);
    for trouble in &troubles {
        show::say(format_args!("{trouble}\n"));
    }
    let aimed = aims::check(&all, &found, aims);
    if output.aims.is_some() {
        show::say(aims::text(plan, &all, aims, &aimed));
    }
    let worse = match output.aims {
        Some(_) => aimed.iter().any(|a| a.outcome == Outcome::Missed),
        None => found.iter().any(|c| c.verdict == Verdict::Worse),
    };
    let broken = checked.iter().any(|c| c.broken);
    let is_wrong = |variant: usize| all.figures.iter().any(|f| f.wrong[variant].is_some());
    let wrong: Vec<bool> = (0..plan.variants.len()).map(is_wrong).collect();
    let results = Results::of(run, &all, &found, checked, (notes, troubles));
    // What one kind of file lacks does not keep the others from being written.
    let made = output.graphs.iter().map(|graph| graph.make(&results, path));
    let unmade: Vec<String> = made.filter_map(Result::err).collect();
    if !unmade.is_empty() {
        return Err(unmade.join("; "));
    }
    if let (Some(file), true, false) = (&output.aims, aimed.is_empty(), nothing) {
        let file = file.display();
        return Err(format!("{file}: no line fits anything that was compared"));
    }
    let failed = run.launches.iter().any(|l| l.failed.is_some());
    Ok(if worse || broken || wrong[0] {
        WORSE
    } else if failed || nothing || wrong.contains(&true) {
        FAILED
    } else {
        0
    })
}
