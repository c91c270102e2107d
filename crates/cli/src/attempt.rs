//! `catena explain --try`: settings that would change how a program's messages go, measured on the
//! program itself: whole runs with each and without, in turn, and what is sure of the differences.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Instant;

use catena_bench::stats::{adjusted, median, rank_sum};
use rustix::fs::{MemfdFlags, memfd_create};
use serde_json::Value;

/// Runs of each, unless the user says otherwise, and the least with which anything can be sure.
const ROUNDS: usize = 6;
const FEWEST: usize = 5;

/// Settings that are tried.
const MOST: usize = 3;

/// How sure a difference is.
const CONFIDENCE: f64 = 0.95;

/// What differs less is no difference that matters.
const MATTERS: f64 = 0.01;

/// A setting that is tried.
#[derive(Clone, Debug, PartialEq)]
struct Trial {
    setting: String,
    why: String,
    /// How many bytes go otherwise by it.
    weight: u64,
}

/// What is asked.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    rounds: usize,
    /// Settings that the user names.
    with: Vec<String>,
    /// What `mpirun` is called with.
    words: Vec<OsString>,
}

/// `catena explain --try [--rounds N] [--with NAME=VALUE]... ARGUMENTS OF MPIRUN`; its status.
pub fn attempt(args: impl Iterator<Item = OsString>) -> i32 {
    match asked(args).and_then(|asked| tried(&asked)) {
        Ok(text) => crate::look::show("explain --try", &text),
        Err(text) => {
            eprintln!("catena explain --try: {text}");
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
    while let Some(option @ ("--rounds" | "--with")) = args.peek().and_then(|it| it.to_str()) {
        let is_rounds = option == "--rounds";
        args.next();
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
fn tried(asked: &Asked) -> Result<String, String> {
    let trials = match asked.with.is_empty() {
        true => chosen(&explained(&asked.words)?),
        false => asked.with.iter().map(|it| named(it)).collect(),
    };
    if trials.is_empty() {
        return Ok(
            "the program sends no messages on which a setting would tell: nothing was tried; name \
                   settings by --with NAME=VALUE\n"
                .into(),
        );
    }
    for trial in &trials {
        eprintln!("catena explain --try: {}, {}", trial.setting, trial.why);
    }
    let mut times = vec![Vec::new(); trials.len() + 1];
    for round in 0..asked.rounds {
        // Each is once the first one, as the machine may change meanwhile.
        for turn in 0..times.len() {
            let which = (round + turn) % times.len();
            let setting = which.checked_sub(1).map(|at| trials[at].setting.as_str());
            times[which].push(run(&asked.words, setting)?);
        }
    }
    Ok(in_words(&trials, &times))
}

fn named(setting: &str) -> Trial {
    Trial {
        setting: setting.into(),
        why: "as you say".into(),
        weight: 0,
    }
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
    said.for_each(|line| eprintln!("{line}"));
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

/// How long a run takes, with a setting or without, seconds.
fn run(words: &[OsString], setting: Option<&str>) -> Result<f64, String> {
    let mut command = mpirun()?;
    if let Some(setting) = setting {
        command.args(["--set", setting]);
    }
    command.args(words).stdout(Stdio::null());
    let begin = Instant::now();
    let output = command.stderr(Stdio::piped()).output();
    let took = begin.elapsed().as_secs_f64();
    let output = output.map_err(|error| format!("mpirun cannot be started: {error}"))?;
    match output.status.success() {
        true => Ok(took),
        false => Err(format!(
            "the program has failed with {}: {}\n{}",
            setting.unwrap_or("no setting"),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        )),
    }
}

/// The settings by which most bytes would go otherwise, of what the library has counted.
fn chosen(report: &Value) -> Vec<Trial> {
    let counted = |name: &str| report["counters"][name].as_u64().unwrap_or(0);
    let is_shared = counted("shm_bytes") > counted("network_bytes");
    let eager = match is_shared {
        true => "SHM_EAGER_MAX",
        false => "TCP_EAGER_MAX",
    };
    let mut trials = Vec::new();
    let mut add = |setting: String, what: &str, name: &str| {
        let weight = counted(&format!("{name}_bytes"));
        if weight > 0 {
            let messages = counted(&format!("{name}_messages"));
            let why = format!("as {messages} messages of {weight} bytes in all {what}");
            trials.push(Trial {
                setting,
                why,
                weight,
            });
        }
    };
    add(
        format!("{eager}=1MiB"),
        "are announced first",
        "sent_rendezvous",
    );
    add(
        format!("{eager}=4KiB"),
        "are sent without asking the receiver",
        "sent_eager",
    );
    add(
        "SHM_SINGLE_COPY=never".into(),
        "are copied by the receiver out of the sender's memory",
        "sent_fetched",
    );
    let boards = report["counters"].as_object().into_iter().flatten();
    let boards = boards.filter(|(name, _)| name.starts_with("coll_") && name.ends_with("_board"));
    let calls: u64 = boards.filter_map(|(_, count)| count.as_u64()).sum();
    let all = report["collectives"].as_array().into_iter().flatten();
    let bytes =
        all.filter_map(|it| Some(it["bytes_from"].as_u64()?.max(1) * it["calls"].as_u64()?));
    let weight = bytes.sum();
    if calls > 0 && weight > 0 {
        trials.push(Trial {
            setting: "COLL_NODE=false".into(),
            why: format!("as {calls} calls of collectives are in shared memory"),
            weight,
        });
    }
    trials.sort_by_key(|it| std::cmp::Reverse(it.weight));
    trials.truncate(MOST);
    trials
}

/// What the times of runs without any setting and with each of them say.
fn in_words(trials: &[Trial], times: &[Vec<f64>]) -> String {
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
    let mut lines = Vec::new();
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
        if verdict == "faster" {
            lines.push((ratio, trial.setting.replacen('=', " = ", 1)));
        }
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    text += &match lines.first() {
        Some((_, line)) => format!("for catena.conf: {line}\n"),
        None => "for catena.conf: nothing, as the program is as fast as it is without\n".into(),
    };
    text
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
    fn settings_are_tried_by_which_most_bytes_go_otherwise() {
        let report = serde_json::json!({
            "counters": {
                "shm_bytes": 1000, "sent_rendezvous_bytes": 900, "sent_rendezvous_messages": 3,
                "sent_eager_bytes": 100, "sent_eager_messages": 7, "sent_fetched_bytes": 50,
                "sent_fetched_messages": 1, "coll_bcast_board": 4,
            },
            "collectives": [{"bytes_from": 8, "calls": 40}],
        });
        let trials = chosen(&report);
        let settings: Vec<_> = trials.iter().map(|it| it.setting.as_str()).collect();
        assert_eq!(
            settings,
            [
                "SHM_EAGER_MAX=1MiB",
                "COLL_NODE=false",
                "SHM_EAGER_MAX=4KiB"
            ]
        );
        assert_eq!(
            trials[0].why,
            "as 3 messages of 900 bytes in all are announced first"
        );
        assert!(chosen(&serde_json::json!({"counters": {}, "collectives": null})).is_empty());
    }

    #[test]
    fn only_what_is_sure_is_recommended() {
        let trials = [named("FASTER=1"), named("SAME=1"), named("SLOWER=1")];
        let around = |middle: f64| (0..6).map(|i| middle + 0.001 * f64::from(i)).collect();
        let times = [around(1.0), around(0.8), around(1.0), around(1.2)];
        let text = in_words(&trials, &times);
        assert!(text.contains("FASTER=1: 0.800 of the time"), "{text}");
        assert!(
            text.contains("SAME=1: 1.000 of the time") && text.contains("no difference is sure")
        );
        assert!(text.contains("SLOWER=1: 1.20") && text.contains(": slower"));
        assert!(text.ends_with("for catena.conf: FASTER = 1\n"), "{text}");
        let text = in_words(&trials[1..2], &[around(1.0), around(1.0)]);
        assert!(
            text.ends_with(
                "for catena.conf: nothing, as the program is as fast as it is without\n"
            )
        );
    }
}
