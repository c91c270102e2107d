//! `catena explain --try`: settings that would change how a program's messages go, measured on the
//! program itself: whole runs with each and without, in turn, and what is sure of the differences.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use catena_base::tell;
use catena_bench::stats::{adjusted, median, rank_sum};
use catena_settings::profile::{self, Change, Place};
use catena_settings::{Origin, Registry, Tuned};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;

/// Runs of each, unless the user says otherwise, and the least with which anything can be sure.
const ROUNDS: usize = 6;
const FEWEST: usize = 5;

/// A run may take this many times as long as the first one, and some time more; whoever is ended
/// has some time to end its ranks.
const TIMES: f64 = 10.0;
const MORE: Duration = Duration::from_secs(20);
const GRACE: Duration = Duration::from_secs(10);

/// How sure a difference is.
const CONFIDENCE: f64 = 0.95;

/// What differs less is no difference that matters.
const MATTERS: f64 = 0.01;

/// A setting that is tried.
#[derive(Clone, Debug, PartialEq)]
struct Trial {
    setting: String,
    why: String,
    /// What is expected of it, and who says so.
    expected: Option<String>,
    /// The value that it has without this, and who has given it that, if it is not its default.
    given: Option<(String, String)>,
}

/// What is asked.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    rounds: usize,
    /// Settings that the user names.
    with: Vec<String>,
    /// Whether what is faster is kept in the profile.
    keep: bool,
    /// What `mpirun` is called with.
    words: Vec<OsString>,
}

/// `catena explain --try [--rounds N] [--with NAME=VALUE]... [--keep] ARGUMENTS OF MPIRUN`; its
/// status.
pub fn attempt(args: impl Iterator<Item = OsString>, registry: &Registry) -> i32 {
    match asked(args).and_then(|asked| tried(&asked, registry)) {
        Ok(text) => crate::look::show("explain --try", &text),
        Err(text) => {
            tell!("catena explain --try: {text}");
            1
        }
    }
}

fn asked(args: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let mut args = args.peekable();
    let mut asked = Asked {
        rounds: ROUNDS,
        ..Asked::default()
    };
    while let Some(option @ ("--rounds" | "--with" | "--keep")) =
        args.peek().and_then(|it| it.to_str())
    {
        let (is_rounds, is_keep) = (option == "--rounds", option == "--keep");
        args.next();
        if is_keep {
            asked.keep = true;
            continue;
        }
        let value = args.next().and_then(|it| it.into_string().ok());
        match (is_rounds, value) {
            (true, value) => {
                let count = value.and_then(|it| it.parse().ok());
                let count = count.filter(|count| *count >= FEWEST);
                asked.rounds = count.ok_or(format!(
                    "--rounds takes a number of runs of each setting, {FEWEST} or more: fewer can show nothing"
                ))?;
            }
            (false, Some(value)) if value.contains('=') => asked.with.push(value),
            (false, _) => return Err("--with takes a setting, as SHM_EAGER_MAX=1MiB".into()),
        }
    }
    asked.words = args.collect();
    match asked.words.is_empty() {
        true => {
            Err("name a program as for `mpirun`, with the options that it is to be run with".into())
        }
        false => Ok(asked),
    }
}

/// Measures, and says what comes of that.
fn tried(asked: &Asked, registry: &Registry) -> Result<String, String> {
    // Before anything is measured in vain.
    let place = match asked.keep {
        true => Some(Place::find()?),
        false => None,
    };
    if let Some(warning) = place.as_ref().and_then(Place::warning) {
        tell!("catena explain --try: {warning}");
    }
    tell!("catena explain --try: the program is run again and again, with no input on stdin");
    let report = match asked.with.is_empty() || asked.keep {
        true => Some(explained(&asked.words)?),
        false => None,
    };
    let trials: Vec<Trial> = match (asked.with.is_empty(), &report) {
        (true, Some(report)) => chosen(report),
        _ => asked
            .with
            .iter()
            .map(|it| named(it, &asked.words, registry))
            .collect(),
    };
    if trials.is_empty() {
        return Ok(
            "the program sends no messages on which a setting would tell: nothing was tried; name \
                   settings by --with NAME=VALUE\n"
                .into(),
        );
    }
    for trial in &trials {
        let now = trial.given.as_ref();
        let now = now.map_or(String::new(), |(value, origin)| {
            format!(" (now {value}: {origin})")
        });
        tell!(
            "catena explain --try: {}{now}, {}",
            trial.setting,
            trial.why
        );
        if let Some(expected) = &trial.expected {
            tell!("    expected: {expected}");
        }
    }
    let mut times = vec![Vec::new(); trials.len() + 1];
    let mut limit = None;
    for round in 0..asked.rounds {
        // Each is once the first one, as the machine may change meanwhile.
        for turn in 0..times.len() {
            let which = (round + turn) % times.len();
            let setting = which.checked_sub(1).map(|at| trials[at].setting.as_str());
            let took = run(&asked.words, setting, limit)?;
            limit = limit.or_else(|| limit_after(took));
            times[which].push(took);
        }
    }
    let (mut text, best) = in_words(&trials, &times);
    if let (Some(place), Some(report)) = (place, report) {
        text += &match best {
            Some(best) => kept(&best, &report, &place, registry)?,
            None => "kept in the profile: nothing\n".into(),
        };
    }
    Ok(text)
}

/// Keeps what was found for this program in the profile; what to tell of that.
fn kept(
    best: &Best<'_>,
    report: &Value,
    place: &Place,
    registry: &Registry,
) -> Result<String, String> {
    let (name, value) = best.trial.setting.split_once('=').unwrap_or_default();
    let not = |why: &str| Ok(format!("kept in the profile: nothing, as {why}\n"));
    let setting = registry.find(name);
    if setting.is_none_or(|it| it.tuned() == Tuned::Never) {
        return not(&format!(
            "results may depend on {name}, or it is no matter of speed alone"
        ));
    }
    let origin = best.trial.given.as_ref().map_or("", |(_, origin)| origin);
    if !origin.is_empty() && !origin.starts_with("tuned") {
        return not(&format!("what is given otherwise ({origin}) counts more"));
    }
    let Some(program) = report["program"].as_str() else {
        return not("it is not one program with a name that a profile can have");
    };
    let hosts = report["hosts"].as_array().map_or(1, Vec::len);
    let jobs = profile::Jobs {
        are_on_several: hosts > 1,
        program: Some(program.to_string()),
    };
    let measured = profile::Measured {
        name: name.to_string(),
        value: value.to_string(),
        gain: format!("{} of the time, whole runs of {program}", best.words),
    };
    let change = place.keep(&jobs, &[measured])?;
    let on = match hosts {
        1 => "one host",
        _ => "several hosts",
    };
    let old = match change {
        Change::Replaced(old) => format!(
            "; the profile of another machine or version is {} now",
            old.display()
        ),
        Change::None | Change::Written => String::new(),
    };
    Ok(format!(
        "kept in the profile {} for {program} on {on}{old}\n",
        place.path().display()
    ))
}

/// A setting that the user names, with what it is without that: as this command has it, or as the
/// words for `mpirun` say.
fn named(setting: &str, words: &[OsString], registry: &Registry) -> Trial {
    let (name, _) = setting.split_once('=').unwrap_or((setting, ""));
    let of_words = set_by(name, words).map(|value| (value, Origin::CommandLine));
    let given = of_words.or_else(|| {
        let known = registry.find(name)?;
        Some((known.value_text(), known.origin()))
    });
    let given = given.filter(|(_, origin)| *origin != Origin::Default);
    Trial {
        setting: setting.into(),
        why: "as you say".into(),
        expected: None,
        given: given.map(|(value, origin)| (value, origin.to_string())),
    }
}

/// The value that words for `mpirun` give to a setting.
fn set_by(name: &str, words: &[OsString]) -> Option<String> {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let mut pairs = words.iter().enumerate().filter_map(|(at, word)| {
        let pair = match word.strip_prefix("--set") {
            Some("") => words.get(at + 1)?,
            Some(rest) => rest.strip_prefix('=')?,
            None => return None,
        };
        let (known, value) = pair.split_once('=')?;
        (known.eq_ignore_ascii_case(name)).then(|| value.to_string())
    });
    pairs.next_back()
}

/// How long a run may take where the first one took that many seconds.
fn limit_after(first: f64) -> Option<Duration> {
    let most = Duration::try_from_secs_f64(TIMES * first).ok()?;
    most.checked_add(MORE)
}

/// This command as `mpirun`, which ends with the one that calls it, however that ends.
fn mpirun() -> Result<Command, String> {
    let own = std::env::current_exe();
    let own = own.map_err(|error| format!("this command does not know where it is: {error}"))?;
    let guard = catena_bench::guard::words();
    let words = guard.into_iter().map(OsString::from);
    let mut words = words.chain([own.into_os_string()]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command
        .args(words)
        .args(["--called", "mpirun"])
        .stdin(Stdio::null());
    Ok(command)
}

/// Runs the program once, shows what it writes, and gives what `mpirun --explain` says of it.
fn explained(words: &[OsString]) -> Result<Value, String> {
    // Without a name in a folder, so that nothing is left of it whoever is killed.
    let report = memfd_create("catena-explain", MemfdFlags::CLOEXEC);
    let report = report.map_err(|error| format!("there is no memory for a report: {error}"))?;
    let mut report = File::from(report);
    let path = format!("/proc/{}/fd/{}", std::process::id(), report.as_raw_fd());
    let mut command = mpirun()?;
    command.args(["--explain-report", &path]).args(words);
    let output = command
        .stderr(Stdio::piped())
        .stdout(Stdio::inherit())
        .output();
    let output = output.map_err(|error| format!("mpirun cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    // Nobody else can read the report.
    let said = said.lines().filter(|line| !line.contains(&path));
    said.for_each(|line| tell!("{line}"));
    match output.status.success() {
        true => read(&mut report),
        false => Err(format!(
            "the program has failed without any setting: {}",
            output.status
        )),
    }
}

fn read(report: &mut File) -> Result<Value, String> {
    let mut text = String::new();
    let read = report
        .rewind()
        .and_then(|()| report.read_to_string(&mut text));
    read.map_err(|error| format!("what mpirun has written cannot be read: {error}"))?;
    if text.is_empty() {
        return Err(
            "mpirun has run no program of which to tell: name one, and what it takes".into(),
        );
    }
    serde_json::from_str(&text)
        .map_err(|error| format!("what mpirun has written is no JSON: {error}"))
}

/// How long a run takes, with a setting or without, seconds; it is ended when `limit` is over.
fn run(words: &[OsString], setting: Option<&str>, limit: Option<Duration>) -> Result<f64, String> {
    let mut command = mpirun()?;
    if let Some(setting) = setting {
        command.args(["--set", setting]);
    }
    command
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let begin = Instant::now();
    let child = command.spawn();
    let child = child.map_err(|error| format!("mpirun cannot be started: {error}"))?;
    let with = setting.unwrap_or("no setting");
    let Some(output) = ended(child, limit)? else {
        return Err(format!(
            "the program with {with} has not ended within {:.0} s, {TIMES} times what its first \
             run took and {:.0} s: it was ended",
            limit.unwrap_or_default().as_secs_f64(),
            MORE.as_secs_f64()
        ));
    };
    let took = begin.elapsed().as_secs_f64();
    match output.status.success() {
        true => Ok(took),
        false => Err(format!(
            "the program has failed with {with}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        )),
    }
}

/// What a process has come to; `None` if that had to be ended when `limit` was over.
fn ended(child: Child, limit: Option<Duration>) -> Result<Option<Output>, String> {
    let failed = |error: std::io::Error| format!("mpirun cannot be waited for: {error}");
    let Some(limit) = limit else {
        return child.wait_with_output().map(Some).map_err(failed);
    };
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or("mpirun has no process number")?;
    let process = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let (is_over, over) = channel::<()>();
    thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let mut was_ended = false;
            for (after, signal) in [(limit, Signal::TERM), (GRACE, Signal::KILL)] {
                if over.recv_timeout(after) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                // One that is gone meanwhile has come to its end by itself.
                was_ended |= pidfd_send_signal(&process, signal).is_ok();
            }
            was_ended
        });
        let output = child.wait_with_output();
        drop(is_over);
        let was_ended = watch.join().unwrap_or_default();
        match output {
            Ok(output) if output.status.success() => Ok(Some(output)),
            Ok(_) if was_ended => Ok(None),
            output => output.map(Some).map_err(failed),
        }
    })
}

/// The settings that would change most, as `mpirun --explain` tells.
fn chosen(report: &Value) -> Vec<Trial> {
    let text = |it: &Value, name: &str| it[name].as_str().map(str::to_string);
    let all = report["settings"].as_array().into_iter().flatten();
    let trials = all.filter_map(|it| {
        let given = &it["given"];
        Some(Trial {
            setting: text(it, "setting")?,
            why: text(it, "why")?,
            expected: text(it, "expected"),
            given: text(given, "value").zip(text(given, "origin")),
        })
    });
    trials.collect()
}

/// The setting with which a program is the fastest.
struct Best<'t> {
    trial: &'t Trial,
    /// What it takes, as `0.800 (0.790 to 0.810)`.
    words: String,
    ratio: f64,
}

/// What the times of runs without any setting and with each of them say.
fn in_words<'t>(trials: &'t [Trial], times: &[Vec<f64>]) -> (String, Option<Best<'t>>) {
    let logs = |of: &[f64]| of.iter().map(|it| it.ln()).collect::<Vec<_>>();
    let (without, with) = times.split_first().expect("there are runs without");
    let tests = with
        .iter()
        .map(|it| rank_sum(&[(logs(it), logs(without))], CONFIDENCE));
    let tests: Vec<_> = tests.collect();
    let alone: Vec<f64> = tests.iter().map(|it| it.map_or(1.0, |it| it.p)).collect();
    let mut text = format!(
        "{} whole runs of each, in turn; without any of these settings {:.3} s (median)\n",
        without.len(),
        median(without)
    );
    let mut best: Option<Best<'_>> = None;
    for ((trial, test), p) in trials.iter().zip(&tests).zip(adjusted(&alone)) {
        let Some(test) = test else {
            continue;
        };
        let ratio = test.shift.exp();
        let is_sure = p <= 1.0 - CONFIDENCE;
        let verdict = match (is_sure, (ratio - 1.0).abs() < MATTERS, ratio < 1.0) {
            (false, ..) => "no difference is sure",
            (true, true, _) => "no difference that matters",
            (true, false, true) => "faster",
            (true, false, false) => "slower",
        };
        let within = test.interval.map_or(String::new(), |it| {
            format!(" ({:.3} to {:.3})", it.low.exp(), it.high.exp())
        });
        text += &format!(
            "  {}: {ratio:.3} of the time{within}: {verdict}\n",
            trial.setting
        );
        if verdict == "faster" && best.as_ref().is_none_or(|it| ratio < it.ratio) {
            best = Some(Best {
                trial,
                words: format!("{ratio:.3}{within}"),
                ratio,
            });
        }
    }
    text += &match &best {
        Some(best) => advice(best.trial),
        None => "for catena.conf: nothing, as the program is as fast as it is without\n".into(),
    };
    (text, best)
}

/// What to do with a setting that is better.
fn advice(trial: &Trial) -> String {
    let line = trial.setting.replacen('=', " = ", 1);
    let (name, _) = trial.setting.split_once('=').unwrap_or_default();
    match trial
        .given
        .as_ref()
        .map(|(value, origin)| (value, &**origin))
    {
        Some((value, origin @ ("environment" | "command line" | "program"))) => format!(
            "for catena.conf: nothing, as {name}={value} ({origin}) counts more; leave that out, or \
             say {} there\n",
            trial.setting
        ),
        _ => format!("for catena.conf: {}\n", line.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Asked, String> {
        asked(text.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_come_before_those_of_mpirun() {
        let asked = words("--rounds 7 --with A=1 --with B=2 -n 2 --with x").unwrap();
        assert_eq!(
            (asked.rounds, asked.with.len(), asked.words.len()),
            (7, 2, 4)
        );
        for wrong in [
            "--rounds 4 -n 2 x",
            "--rounds",
            "--with A -n 2 x",
            "",
            "--with A=1",
        ] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_a_named_setting_is_already_is_noticed() {
        let words = ["-n", "2", "--set", "A=1", "--set=a=2", "--set", "B=3", "x"];
        let words = words.map(OsString::from);
        let given = |setting| named(setting, &words, &Registry::default()).given;
        assert_eq!(given("A=9"), Some(("2".into(), "command line".into())));
        assert_eq!(given("B="), Some(("3".into(), "command line".into())));
        assert_eq!(given("C=1"), None);
        let known = crate::registry();
        let setting = known.find("SHM_EAGER_MAX").unwrap();
        let origin = setting.origin();
        let given = named("SHM_EAGER_MAX=1KiB", &[], &known).given;
        let here = (setting.value_text(), origin.to_string());
        assert_eq!(given, (origin != Origin::Default).then_some(here));
    }

    #[test]
    fn a_run_that_does_not_end_is_ended() {
        let start = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let short = Some(Duration::from_millis(1));
        assert_eq!(ended(start("exec sleep 1000"), short), Ok(None));
        for limit in [None, limit_after(60.0)] {
            let output = ended(start("echo why >&2; exit 3"), limit).unwrap();
            let output = output.unwrap();
            assert_eq!(output.status.code(), Some(3));
            assert_eq!(output.stderr, b"why\n");
        }
        assert_eq!(limit_after(2.0), Some(Duration::from_secs(40)));
        assert_eq!(limit_after(f64::MAX), None);
    }

    #[test]
    fn what_is_tried_is_what_is_explained() {
        let report = serde_json::json!({
            "settings": [
                {"setting": "LINK=", "why": "as 3 messages", "bytes": 9, "expected": "2 s less",
                 "given": {"value": "tcp", "origin": "environment"}},
                {"setting": "SHM_EAGER_MAX=1MiB", "why": "as 1 message", "bytes": 3,
                 "expected": null, "given": null},
            ],
        });
        let trials = chosen(&report);
        assert_eq!(trials.len(), 2);
        assert_eq!(trials[0].given, Some(("tcp".into(), "environment".into())));
        assert_eq!(trials[1].expected, None);
        let told = advice(&trials[0]);
        assert!(
            told.contains("as LINK=tcp (environment) counts more"),
            "{told}"
        );
        assert_eq!(
            advice(&trials[1]),
            "for catena.conf: SHM_EAGER_MAX = 1MiB\n"
        );
        assert!(chosen(&serde_json::json!({})).is_empty());
    }

    #[test]
    fn only_what_is_sure_is_recommended() {
        let named = |it| named(it, &[], &Registry::default());
        let trials = [named("FASTER=1"), named("SAME=1"), named("SLOWER=1")];
        let around = |middle: f64| (0..6).map(|i| middle + 0.001 * f64::from(i)).collect();
        let times = [around(1.0), around(0.8), around(1.0), around(1.2)];
        let (text, best) = in_words(&trials, &times);
        assert!(text.contains("FASTER=1: 0.800 of the time"), "{text}");
        assert!(
            text.contains("SAME=1: 1.000 of the time") && text.contains("no difference is sure")
        );
        assert!(text.contains("SLOWER=1: 1.20") && text.contains(": slower"));
        assert!(text.ends_with("for catena.conf: FASTER = 1\n"), "{text}");
        assert!(best.unwrap().words.starts_with("0.800 (0."));
        let (text, best) = in_words(&trials[1..2], &[around(1.0), around(1.0)]);
        assert!(
            text.ends_with(
                "for catena.conf: nothing, as the program is as fast as it is without\n"
            )
        );
        assert!(best.is_none());
    }
}
