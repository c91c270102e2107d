//! `catena ps`, `catena hang`, `catena explain` and `catena trace`: what jobs do: on all hosts
//! those whose launcher answers here, others on this host.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use catena_hang::{HostJob, Names, Rank, State, find, jobs, trace_lines};
use catena_launcher::{Inquiry, Launched, Places, Summary, launched};

/// How long from one look at a job to the next.
const BETWEEN: Duration = Duration::from_millis(1100);

/// Calls of each thread that are shown.
const CALLS: usize = 10;

/// Says why a command comes to nothing; its status.
fn fail(verb: &str, text: &str) -> i32 {
    eprintln!("catena {verb}: {text}");
    1
}

/// Jobs that this user can look at.
struct Jobs {
    /// Those whose launcher answers, on all hosts.
    launched: Vec<Launched>,
    /// Others, as far as they are on this host.
    here: Vec<HostJob>,
}

impl Jobs {
    fn find(verb: &str) -> Result<Jobs, i32> {
        let launched = launched();
        let here = jobs().map_err(|error| fail(verb, &format!("/proc cannot be read: {error}")))?;
        let is_told = |job: &HostJob| launched.iter().any(|it| it.summary.jobs.contains(&job.job));
        let mut here: Vec<_> = here
            .into_iter()
            .filter(|job| !is_told(job) && !is_over(job))
            .collect();
        here.sort_by_key(|job| job.here.first().map(|(_, who)| who.pid));
        Ok(Jobs { launched, here })
    }
}

/// `catena ps`.
pub fn ps(mut args: impl Iterator<Item = OsString>) -> i32 {
    if let Some(arg) = args.next() {
        return fail("ps", &format!("it takes no argument, and {arg:?} is one"));
    }
    let all = match Jobs::find("ps") {
        Ok(all) => all,
        Err(status) => return status,
    };
    if all.launched.is_empty() && all.here.is_empty() {
        println!("no job of yours runs on this host");
        return 0;
    }
    let row = |job: &str, ranks: &str, hosts: &str, process: &str, program: &str, wait: &str| {
        println!("{job:<17} {ranks:>9} {hosts:>6}  {process:<16} {program:<24} {wait}");
    };
    row(
        "job",
        "ranks",
        "hosts",
        "process",
        "program",
        "ranks that wait",
    );
    let waits = |count: u32| match count {
        0 => "none for more than 1 s".to_string(),
        count => format!("{count} for more than 1 s"),
    };
    for job in &all.launched {
        let Summary {
            jobs,
            ranks: (running, ranks),
            hosts,
            waiting,
            program,
        } = &job.summary;
        let process = match job.pid {
            0 => "mpirun, unseen".to_string(),
            pid => format!("mpirun {pid}"),
        };
        row(
            &format!("{:x}", jobs.first().copied().unwrap_or_default()),
            &format!("{running}/{ranks}"),
            &hosts.to_string(),
            &process,
            &shortened(program),
            &waits(*waiting),
        );
    }
    for job in &all.here {
        let seen = job.look("");
        let waiting = seen.iter().filter(|rank| rank.is_stuck()).count();
        // The first one that is there: others may have ended, or be out of sight.
        let first = job.here.iter().find(|(_, who)| who.pid != 0);
        let process = first.map(|(_, who)| format!("rank {}: {}", who.rank, who.pid));
        row(
            &format!("{:x}", job.job),
            &format!("{}/{}", job.here.len(), job.ranks),
            "1",
            &process.unwrap_or_default(),
            &first.map_or(String::new(), |(_, who)| program(who.pid)),
            &waits(waiting as u32),
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
    shortened(&words.join(" "))
}

/// A text that fits its column.
fn shortened(text: &str) -> String {
    let mut shown = text.trim().replace(char::is_control, "?");
    if shown.chars().count() > 24 {
        shown = shown.chars().take(23).chain(['…']).collect();
    }
    shown
}

/// A job that somebody has named.
enum Chosen {
    Launched(Launched),
    Here(HostJob),
}

/// The job that an argument names, by its number, that of its launcher or that of one of its
/// processes here; the only one if none is named.
fn chosen(verb: &str, name: Option<OsString>) -> Result<Chosen, i32> {
    let Jobs {
        mut launched,
        mut here,
    } = Jobs::find(verb)?;
    let Some(name) = name else {
        return match launched.len() + here.len() {
            0 => Err(fail(verb, "no job of yours runs on this host")),
            1 if here.is_empty() => Ok(Chosen::Launched(launched.remove(0))),
            1 => Ok(Chosen::Here(here.remove(0))),
            count => Err(fail(
                verb,
                &format!("{count} jobs run here: name one of those that `catena ps` shows"),
            )),
        };
    };
    let name = name.to_string_lossy().into_owned();
    let pid = name.parse::<u32>().ok().filter(|&pid| pid != 0);
    let is_of = |job: u64| format!("{job:x}") == name;
    let has = |job: &HostJob| job.here.iter().any(|(_, who)| Some(who.pid) == pid);
    // Processes here of jobs whose launcher answers.
    let of_pid = match pid {
        Some(_) => jobs().unwrap_or_default().into_iter().find(has),
        None => None,
    };
    let of_pid = of_pid.map(|job| job.job);
    let is_meant = |job: &Launched| {
        let mut jobs = job.summary.jobs.iter();
        Some(job.pid) == pid || jobs.any(|&it| is_of(it) || Some(it) == of_pid)
    };
    if let Some(at) = launched.iter().position(is_meant) {
        return Ok(Chosen::Launched(launched.remove(at)));
    }
    let at = here.iter().position(|job| is_of(job.job) || has(job));
    match at {
        Some(at) => Ok(Chosen::Here(here.remove(at))),
        None => Err(fail(
            verb,
            &format!(
                "no job of yours on this host is {name}, nor has it a process with that number: \
                 `catena ps` shows them"
            ),
        )),
    }
}

/// The job that arguments name, if they name one, and whether to answer as JSON.
fn job_or_json(
    verb: &str,
    args: impl Iterator<Item = OsString>,
) -> Result<(Option<OsString>, bool), i32> {
    let (mut name, mut as_json) = (None, false);
    for arg in args {
        match arg.to_str() {
            Some("--json") => as_json = true,
            Some(option) if option.starts_with('-') => {
                let text = format!("{option} is no option of it: there is --json");
                return Err(fail(verb, &text));
            }
            _ if name.is_some() => return Err(fail(verb, "name one job")),
            _ => name = Some(arg),
        }
    }
    Ok((name, as_json))
}

/// `catena explain [JOB|PID] [--json]`.
pub fn explain(args: impl Iterator<Item = OsString>) -> i32 {
    let (name, as_json) = match job_or_json("explain", args) {
        Ok(asked) => asked,
        Err(status) => return status,
    };
    let inquiry = match as_json {
        true => Inquiry::ExplainAsJson,
        false => Inquiry::Explain,
    };
    match chosen("explain", name) {
        Ok(Chosen::Launched(job)) => answered("explain", job.ask(inquiry), |text| {
            println!("{text}");
        }),
        Ok(Chosen::Here(job)) => fail(
            "explain",
            &format!(
                "job {:x} has no mpirun of Catena on this host, which alone can ask its ranks: call it \
                 on the host of mpirun; a job of another launcher can be started by Catena's \
                 `mpirun --explain` instead",
                job.job
            ),
        ),
        Err(status) => status,
    }
}

/// `catena hang [JOB|PID] [--json]`.
pub fn hang(args: impl Iterator<Item = OsString>) -> i32 {
    let (name, as_json) = match job_or_json("hang", args) {
        Ok(asked) => asked,
        Err(status) => return status,
    };
    let job = match chosen("hang", name) {
        Ok(Chosen::Here(job)) => job,
        Ok(Chosen::Launched(job)) => {
            let inquiry = match as_json {
                true => Inquiry::HangAsJson,
                false => Inquiry::Hang,
            };
            return answered("hang", job.ask(inquiry), |text| println!("{text}"));
        }
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
            "{elsewhere} of its ranks are on other hosts, or have not called MPI_Init, and are not \
             seen here; if Catena's mpirun has started it, `catena hang {:x}` sees all of them on \
             the host of that",
            job.job
        );
    }
    0
}

/// What to do with what a launcher has answered; the status.
fn answered(verb: &str, answer: Result<String, String>, show: impl FnOnce(&str)) -> i32 {
    match answer {
        Ok(text) => {
            show(&text);
            0
        }
        Err(text) => fail(verb, &text),
    }
}

/// Shows the last calls of each thread, of a text as `mpirun --trace-report` writes it.
fn show_calls(text: &str, most: usize) {
    let is_call = |line: &str| line.starts_with("   ");
    let lines: Vec<&str> = text.lines().collect();
    for part in lines.chunk_by(|a, b| is_call(a) == is_call(b)) {
        let skipped = match is_call(part[0]) {
            true => part.len().saturating_sub(most),
            false => 0,
        };
        part[skipped..].iter().for_each(|line| println!("{line}"));
    }
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
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| format!("{} cannot be read: {error}", path.display()));
        return answered("trace", text, |text| show_calls(text, most));
    }
    let job = match chosen("trace", name) {
        Ok(Chosen::Here(job)) => job,
        Ok(Chosen::Launched(job)) => {
            return answered("trace", job.ask(Inquiry::Trace), |text| {
                show_calls(text, most);
            });
        }
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
