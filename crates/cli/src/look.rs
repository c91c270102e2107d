//! `catena ps`, `catena hang`, `catena explain` and `catena trace`: what jobs do: on all hosts
//! those whose launcher answers here, others on this host.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
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
    catena_base::tell!("catena {verb}: {text}");
    1
}

/// Writes a text to standard output; the status.
pub fn show(verb: &str, text: &str) -> i32 {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Ok(()) => 0,
        Err(error) => fail(verb, &format!("what it says cannot be written: {error}")),
    }
}

/// Jobs that this user can look at.
struct Jobs {
    /// Those whose launcher answers, on all hosts.
    launched: Vec<Launched>,
    /// Others, as far as they are on this host.
    here: Vec<HostJob>,
    /// Launchers that do not answer.
    silent: Vec<Launched>,
}

impl Jobs {
    fn find(verb: &str) -> Result<Jobs, i32> {
        let (launched, silent) = launched();
        let here = jobs().map_err(|error| fail(verb, &format!("/proc cannot be read: {error}")))?;
        let is_told = |job: &HostJob| launched.iter().any(|it| it.summary.jobs.contains(&job.job));
        let mut here: Vec<_> = here
            .into_iter()
            .filter(|job| !is_told(job) && !is_over(job))
            .collect();
        here.sort_by_key(|job| job.here.first().map(|(_, who)| who.pid));
        Ok(Jobs {
            launched,
            here,
            silent,
        })
    }

    /// What to add where a job is not found that may be one of a launcher that does not answer.
    fn hint(&self) -> String {
        let all = self.silent.iter();
        all.map(|it| format!("; {}", it.silence())).collect()
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
        let text = format!("no job of yours runs on this host{}\n", all.hint());
        return show("ps", &text);
    }
    let mut text = String::new();
    let mut row =
        |job: &str, ranks: &str, hosts: &str, process: &str, program: &str, wait: &str| {
            text +=
                &format!("{job:<17} {ranks:>9} {hosts:>6}  {process:<16} {program:<24} {wait}\n");
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
    for launcher in &all.silent {
        text += &format!("{}\n", launcher.silence());
    }
    show("ps", &text)
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
    /// No launcher answers for it; if it has one that is silent, that.
    Here {
        job: HostJob,
        silent: Option<Launched>,
    },
}

/// The job that an argument names, by its number, that of its launcher or that of one of its
/// processes here; the only one if none is named.
fn chosen(verb: &str, name: Option<OsString>) -> Result<Chosen, i32> {
    let all = Jobs::find(verb)?;
    let hint = all.hint();
    let Jobs {
        mut launched,
        mut here,
        silent,
    } = all;
    let no_launcher = |job: HostJob| Chosen::Here {
        silent: silent.iter().find(|it| it.job == job.job).cloned(),
        job,
    };
    let Some(name) = name else {
        return match launched.len() + here.len() {
            0 => Err(fail(
                verb,
                &format!("no job of yours runs on this host{hint}"),
            )),
            1 if here.is_empty() => Ok(Chosen::Launched(launched.remove(0))),
            1 => Ok(no_launcher(here.remove(0))),
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
        Some(at) => Ok(no_launcher(here.remove(at))),
        None => Err(fail(
            verb,
            &format!(
                "no job of yours on this host is {name}, nor has it a process with that number: \
                 `catena ps` shows them{hint}"
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
        Ok(Chosen::Launched(job)) => answered("explain", job.ask(inquiry)),
        Ok(Chosen::Here {
            silent: Some(launcher),
            ..
        }) => fail("explain", &launcher.silence()),
        Ok(Chosen::Here { job, .. }) => fail(
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
        Ok(Chosen::Here { job, .. }) => job,
        Ok(Chosen::Launched(job)) => {
            let inquiry = match as_json {
                true => Inquiry::HangAsJson,
                false => Inquiry::Hang,
            };
            return answered("hang", job.ask(inquiry));
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
    let mut text = match find(&names, &before, &now, Duration::from_secs(1)) {
        Some(found) if as_json => found.json(&names),
        Some(found) => found.lines().join("\n"),
        None if as_json => "null".to_string(),
        None => "no rank has waited for more than 1 s".to_string(),
    };
    let elsewhere = job.ranks as usize - job.here.len().min(job.ranks as usize);
    if elsewhere > 0 && !as_json {
        text += &format!(
            "\n{elsewhere} of its ranks are on other hosts, or have not called MPI_Init, and are not \
             seen here; if Catena's mpirun has started it, `catena hang {:x}` sees all of them on \
             the host of that",
            job.job
        );
    }
    answered("hang", Ok(text))
}

/// Shows the lines that a launcher has answered, or why there are none; the status.
fn answered(verb: &str, answer: Result<String, String>) -> i32 {
    match answer {
        Ok(text) => show(verb, &(text + "\n")),
        Err(text) => fail(verb, &text),
    }
}

/// The last calls of each thread, of a text as `mpirun --trace-report` writes it.
fn last_calls(text: &str, most: usize) -> String {
    let is_call = |line: &str| line.starts_with("   ");
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = Vec::new();
    for part in lines.chunk_by(|a, b| is_call(a) == is_call(b)) {
        let skipped = match is_call(part[0]) {
            true => part.len().saturating_sub(most),
            false => 0,
        };
        shown.extend_from_slice(&part[skipped..]);
    }
    shown.join("\n")
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
        return answered("trace", text.map(|text| last_calls(&text, most)));
    }
    let job = match chosen("trace", name) {
        Ok(Chosen::Here { job, .. }) => job,
        Ok(Chosen::Launched(job)) => {
            let text = job.ask(Inquiry::Trace);
            return answered("trace", text.map(|text| last_calls(&text, most)));
        }
        Err(status) => return status,
    };
    let seen = job.look("");
    let mut text = String::new();
    for &(place, who) in &job.here {
        let rank = seen.iter().find(|it| it.member.rank == who.rank);
        text += &format!("rank {} (pid {}){}\n", who.rank, who.pid, state(rank));
        let lines = job.view(place).map(|view| trace_lines(&view, most));
        let lines = lines.and_then(Result::ok).unwrap_or_default();
        lines.iter().for_each(|line| text += &format!("{line}\n"));
    }
    show("trace", &text)
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
