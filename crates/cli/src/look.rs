//! `catena ps`, `catena hang` and `catena trace`: what the jobs of this host do.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use catena_hang::{HostJob, Names, Rank, State, find, jobs, trace_lines};
use catena_launcher::Places;

/// How long from one look at a job to the next.
const BETWEEN: Duration = Duration::from_millis(1100);

/// Calls of each thread that are shown.
const CALLS: usize = 10;

/// Says why a command comes to nothing; its status.
fn fail(verb: &str, text: &str) -> i32 {
    eprintln!("catena {verb}: {text}");
    1
}

/// `catena ps`.
pub fn ps(mut args: impl Iterator<Item = OsString>) -> i32 {
    if let Some(arg) = args.next() {
        return fail("ps", &format!("it takes no argument, and {arg:?} is one"));
    }
    let all = match jobs() {
        Ok(all) => all,
        Err(error) => return fail("ps", &format!("/proc cannot be read: {error}")),
    };
    let mut all: Vec<_> = all.into_iter().filter(|job| !is_over(job)).collect();
    all.sort_by_key(|job| job.here.first().map(|(_, who)| who.pid));
    if all.is_empty() {
        println!("no job of yours runs on this host");
        return 0;
    }
    println!(
        "{:<18} {:>9}  {:>8}  {:<24} ranks that wait",
        "job", "ranks", "pid of 1", "program"
    );
    for job in &all {
        let seen = job.look("");
        let waiting = seen.iter().filter(|rank| rank.is_stuck()).count();
        let first = job.here.first().map_or(0, |(_, who)| who.pid);
        println!(
            "{:<18} {:>9}  {:>8}  {:<24} {}",
            format!("{:x}", job.job),
            format!("{}/{}", job.here.len(), job.ranks),
            first,
            program(first),
            match waiting {
                0 => "none for more than 1 s".to_string(),
                count => format!("{count} for more than 1 s"),
            }
        );
    }
    0
}

/// Whether all of its processes have ended: its launcher may still have its memory.
fn is_over(job: &HostJob) -> bool {
    let seen = job.look("");
    seen.iter().all(|rank| rank.state == State::Ended)
}

/// What a process runs.
fn program(pid: u32) -> String {
    let name = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = name
        .split(|&byte| byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    let mut shown = words.join(" ").trim().replace(char::is_control, "?");
    if shown.chars().count() > 24 {
        shown = shown.chars().take(23).chain(['…']).collect();
    }
    shown
}

/// The job that an argument names, by its number or that of one of its processes; the only one if
/// none is named.
fn chosen(verb: &str, name: Option<OsString>) -> Result<HostJob, i32> {
    let all = jobs().map_err(|error| fail(verb, &format!("/proc cannot be read: {error}")))?;
    let mut all: Vec<_> = all.into_iter().filter(|job| !is_over(job)).collect();
    let Some(name) = name else {
        return match all.len() {
            1 => Ok(all.remove(0)),
            0 => Err(fail(verb, "no job of yours runs on this host")),
            count => Err(fail(
                verb,
                &format!("{count} jobs run here: name one of those that `catena ps` shows"),
            )),
        };
    };
    let name = name.to_string_lossy().into_owned();
    let is_meant = |job: &HostJob| {
        let has = |pid: u32| job.here.iter().any(|(_, who)| who.pid == pid);
        format!("{:x}", job.job) == name || name.parse().is_ok_and(has)
    };
    let at = all.iter().position(is_meant);
    match at {
        Some(at) => Ok(all.remove(at)),
        None => Err(fail(
            verb,
            &format!(
                "no job of yours on this host is {name}, nor has it a process with that number: `catena ps` shows them"
            ),
        )),
    }
}

/// `catena hang [JOB|PID] [--json]`.
pub fn hang(args: impl Iterator<Item = OsString>) -> i32 {
    let (mut name, mut as_json) = (None, false);
    for arg in args {
        match arg.to_str() {
            Some("--json") => as_json = true,
            Some(option) if option.starts_with('-') => {
                return fail(
                    "hang",
                    &format!("{option} is no option of it: there is --json"),
                );
            }
            _ if name.is_some() => return fail("hang", "name one job"),
            _ => name = Some(arg),
        }
    }
    let job = match chosen("hang", name) {
        Ok(job) => job,
        Err(status) => return status,
    };
    let host = catena_boot::host_name();
    let before = job.look(&host);
    std::thread::sleep(BETWEEN);
    let mut now = job.look(&host);
    let mut places = Places::default();
    for (rank, (place, _)) in now.iter_mut().zip(&job.here) {
        if let Some(view) = job.view(*place) {
            places.name(rank, &view);
        }
    }
    let names = Names::of_job(job.job);
    match find(&names, &before, &now, Duration::from_secs(1)) {
        Some(found) if as_json => println!("{}", found.json(&names)),
        Some(found) => found.lines().iter().for_each(|line| println!("{line}")),
        None if as_json => println!("null"),
        None => println!("no rank has waited for more than 1 s"),
    }
    let elsewhere = job.ranks as usize - job.here.len().min(job.ranks as usize);
    if elsewhere > 0 && !as_json {
        println!(
            "{elsewhere} of its ranks are on other hosts, or have not called MPI_Init, and are not seen here"
        );
    }
    0
}

/// Shows the last calls of each thread in a file that `mpirun --trace-report` has written.
fn show_written(path: &Path, most: usize) -> i32 {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            return fail(
                "trace",
                &format!("{} cannot be read: {error}", path.display()),
            );
        }
    };
    let is_call = |line: &str| line.starts_with("   ");
    let lines: Vec<&str> = text.lines().collect();
    for part in lines.chunk_by(|a, b| is_call(a) == is_call(b)) {
        let skipped = match is_call(part[0]) {
            true => part.len().saturating_sub(most),
            false => 0,
        };
        part[skipped..].iter().for_each(|line| println!("{line}"));
    }
    0
}

/// `catena trace [JOB|PID|FILE] [-n CALLS]`.
pub fn trace(mut args: impl Iterator<Item = OsString>) -> i32 {
    let (mut name, mut most) = (None, CALLS);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("-n") => {
                let count = args.next().and_then(|it| it.to_str()?.parse().ok());
                match count {
                    Some(count) => most = count,
                    None => return fail("trace", "-n takes a number of calls"),
                }
            }
            Some(option) if option.starts_with('-') => {
                return fail(
                    "trace",
                    &format!("{option} is no option of it: there is -n CALLS"),
                );
            }
            _ if name.is_some() => return fail("trace", "name one job"),
            _ => name = Some(arg),
        }
    }
    if let Some(path) = name.as_ref().map(Path::new)
        && path.is_file()
    {
        return show_written(path, most);
    }
    let job = match chosen("trace", name) {
        Ok(job) => job,
        Err(status) => return status,
    };
    let seen = job.look("");
    for &(place, who) in &job.here {
        let rank = seen.iter().find(|it| it.member.rank == who.rank);
        println!("rank {} (pid {}){}", who.rank, who.pid, state(rank));
        let lines = job.view(place).map(|view| trace_lines(&view, most));
        let lines = lines.and_then(Result::ok).unwrap_or_default();
        lines.iter().for_each(|line| println!("{line}"));
    }
    0
}

/// How a rank stands, behind its name.
fn state(rank: Option<&Rank>) -> &'static str {
    match rank.map(|it| (it.state, it.is_stuck())) {
        Some((State::Ended, _)) => " has ended",
        Some((State::Left, _)) => " has finalized MPI",
        Some((State::Stopped, _)) => " is stopped by a signal",
        Some((_, true)) => " has waited for more than 1 s in its last call",
        _ => "",
    }
}
