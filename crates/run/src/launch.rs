//! Starting the ranks of a job.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::AsFd;

use catena_boot::server::Server;
use catena_boot::{BOOT_VAR, Job as World, Poller};
use catena_settings::{COMMAND_LINE, PREFIX, Registry};

use crate::args::{self, App, Request};
use crate::job::{Job, Parts, Process, STDIN_TOKENS};
use crate::program::{self, Program, ProgramError};
use crate::stdin::Forward;
use crate::sys::{self, FileLimit, Signals, Start, Strings, Warden};
use crate::{MAX_RANKS, USAGE};

/// Variables that only the rank itself is given.
const OWN: [&str; 4] = [BOOT_VAR, "CATENA_RANK", "CATENA_SIZE", "CATENA_LOCAL_RANK"];

/// The variable for a time limit, the one that scripts for Hydra set.
const TIMEOUT: &str = "MPIEXEC_TIMEOUT";

/// Descriptors that the launcher needs besides three per rank.
const SPARE_FILES: u64 = 40;

/// Runs what was asked for; gives the status.
pub fn launch(command: &str, request: Request, registry: &Registry) -> Result<i32, ProgramError> {
    let settings = check_settings(&request.settings, registry)?;
    let sizes = sizes(&request.apps)?;
    let size: u32 = sizes.iter().sum();
    if let Some(rank) = request.stdin.filter(|rank| *rank >= size && *rank != 0) {
        return usage(format!("--stdin {rank}: there are only {size} ranks"));
    }
    let mut psets = app_sets(&sizes);
    for set in &request.psets {
        let ranks = set.ranks(size).or_else(|e| usage(e.0))?;
        psets.push((set.name.clone(), ranks));
    }
    let timeout = match (request.timeout, std::env::var_os(TIMEOUT)) {
        (None, Some(text)) => Some(args::seconds(TIMEOUT, &text).or_else(|e| usage(e.0))?),
        (given, _) => given,
    };
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let programs = request
        .apps
        .iter()
        .map(|app| program::find(app, &path))
        .collect::<Result<Vec<_>, _>>()?;

    let files = FileLimit::raise().map_err(system)?;
    if files.most() < u64::from(size) * 3 + SPARE_FILES {
        return Err(ProgramError {
            status: 1,
            text: format!(
                "{size} ranks need {} open files, but the limit is {}; raise it (ulimit -n) or \
                 start fewer",
                u64::from(size) * 3 + SPARE_FILES,
                files.most()
            ),
        });
    }
    let signals = Signals::open().map_err(system)?;
    let warden = Warden::start().map_err(system)?;
    let server = open_server(&sizes, psets).map_err(system)?;
    let failures = io::pipe().map_err(system)?;
    sys::set_nonblocking(&failures.0).map_err(system)?;

    let parts = Parts {
        command: command.to_string(),
        programs: programs.iter().map(|p| p.name.clone()).collect(),
        wdirs: request
            .apps
            .iter()
            .map(|app| app.wdir.as_ref().map(|d| d.display().to_string()))
            .collect(),
        server,
        signals,
        failures,
        warden,
        stdin_rank: request.stdin,
        timeout,
    };
    let poller = Poller::new().map_err(system)?;
    let job = Job::new(parts, poller).map_err(system)?;
    let mut starter = Starter {
        null: File::open("/dev/null").map_err(system)?,
        cpus: if request.bind {
            sys::allowed_cpus()
        } else {
            Vec::new()
        },
        files,
        tag: request.tag,
        verbose: request.verbose,
        stdin: request.stdin,
        size,
        job,
    };
    let mut common = request.env;
    common.extend(settings);
    let mut rank = 0;
    for (index, (app, program)) in request.apps.iter().zip(&programs).enumerate() {
        let vars = common.iter().chain(&app.env).cloned();
        let mut env = environment(vars, &program.name)?;
        let args = Strings::new(program.args.clone());
        let shell_args = Strings::new(shell_args(program));
        for _ in 0..sizes[index] {
            let how = How {
                rank,
                app: index,
                program,
                args: &args,
                shell_args: &shell_args,
            };
            if let Err(error) = starter.start(&how, &mut env) {
                let text = format!("rank {rank} of {size} could not be started: {error}");
                return Ok(starter.job.give_up(text));
            }
            rank += 1;
        }
    }
    Ok(starter.job.run())
}

/// Starts ranks one after the other.
struct Starter {
    null: File,
    /// To pin ranks to; none if they are free.
    cpus: Vec<usize>,
    files: FileLimit,
    tag: bool,
    verbose: bool,
    stdin: Option<u32>,
    size: u32,
    job: Job,
}

/// What to start as which rank.
struct How<'a> {
    rank: u32,
    app: usize,
    program: &'a Program,
    args: &'a Strings,
    shell_args: &'a Strings,
}

impl Starter {
    fn start(&mut self, how: &How<'_>, env: &mut Strings) -> io::Result<()> {
        let rank = how.rank;
        let numbers = [
            self.job.server.place(rank),
            rank.to_string(),
            self.size.to_string(),
            rank.to_string(),
        ];
        let own = OWN
            .iter()
            .zip(&numbers)
            .map(|(name, value)| format!("{name}={value}"));
        env.replace_last(
            own.map(|var| CString::new(var).unwrap_or_default())
                .collect::<Vec<_>>(),
        );

        let (out, rank_out) = io::pipe()?;
        let (err, rank_err) = io::pipe()?;
        let typed = self.input(rank)?;
        let own_stdin = io::stdin();
        let stdin = match &typed {
            Some(pipe) => pipe.as_fd(),
            None if self.stdin == Some(rank) => own_stdin.as_fd(),
            None => self.null.as_fd(),
        };
        let cpu = match self.cpus.len() {
            0 => None,
            n => Some(self.cpus[rank as usize % n]),
        };
        let pid = sys::start(&Start {
            rank,
            path: &how.program.path,
            args: how.args,
            shell_args: how.shell_args,
            env,
            wdir: how.program.wdir.as_deref(),
            stdio: [stdin, rank_out.as_fd(), rank_err.as_fd()],
            failures: self.job.failures.1.as_fd(),
            cpu,
            signals: &self.job.signals,
            files: self.files,
        })?;
        if self.verbose {
            let place = cpu.map_or("not bound".to_string(), |cpu| {
                format!("bound to core {cpu}")
            });
            eprintln!(
                "{}: rank {rank} is {} on host {}, pid {pid}, {place}",
                self.job.command, how.program.name, self.job.host
            );
        }
        let tag = if self.tag {
            format!("[{rank}] ").into_bytes()
        } else {
            Vec::new()
        };
        self.job
            .add(Process::new(pid, how.app, rank, [out, err], &tag))
    }

    /// The rank's end of what is typed, if this rank reads it.
    fn input(&mut self, rank: u32) -> io::Result<Option<PipeReader>> {
        if self.stdin != Some(rank) {
            return Ok(None);
        }
        Ok(
            Forward::open(STDIN_TOKENS, &self.job.poller)?.map(|(forward, pipe)| {
                self.job.forward = Some(forward);
                pipe
            }),
        )
    }
}

fn usage<T>(text: String) -> Result<T, ProgramError> {
    Err(ProgramError {
        status: USAGE,
        text,
    })
}

fn system(error: io::Error) -> ProgramError {
    ProgramError {
        status: 1,
        text: format!("the job cannot be set up: {error}"),
    }
}

/// Number of ranks of each program.
fn sizes(apps: &[App]) -> Result<Vec<u32>, ProgramError> {
    let default = if apps.len() == 1 {
        catena_boot::available_cpus()
    } else {
        1
    };
    let sizes: Vec<u32> = apps
        .iter()
        .map(|app| app.count.unwrap_or(default))
        .collect();
    let total: u64 = sizes.iter().map(|&n| u64::from(n)).sum();
    if total > u64::from(MAX_RANKS) {
        return usage(format!(
            "{total} ranks are too many; there can be at most {MAX_RANKS}"
        ));
    }
    Ok(sizes)
}

/// The variables that `--set` stands for.
fn check_settings(
    given: &[(String, String)],
    registry: &Registry,
) -> Result<Vec<(OsString, OsString)>, ProgramError> {
    let mut vars: Vec<(OsString, OsString)> = Vec::new();
    let mut names = Vec::new();
    for (name, value) in given {
        let Some(setting) = registry.find(name) else {
            let hint = match registry.nearest(name) {
                Some(near) => format!("did you mean {near}?"),
                None => "`catena info` lists them".to_string(),
            };
            return usage(format!("--set {name}: there is no such setting; {hint}"));
        };
        if let Err(cause) = setting.check_text(value) {
            return usage(format!("--set {name}={value}: {cause}"));
        }
        names.push(setting.name());
        vars.push((format!("{PREFIX}{}", setting.name()).into(), value.into()));
    }
    if !names.is_empty() {
        vars.push((COMMAND_LINE.into(), names.join(",").into()));
    }
    Ok(vars)
}

/// The ranks of each program as a process set.
fn app_sets(sizes: &[u32]) -> Vec<(String, Vec<u32>)> {
    let mut first = 0;
    let set = |(app, &count): (usize, &u32)| {
        let ranks = (first..first + count).collect();
        first += count;
        (format!("app://{app}"), ranks)
    };
    sizes.iter().enumerate().map(set).collect()
}

/// Tells the ranks who they are.
fn open_server(sizes: &[u32], psets: Vec<(String, Vec<u32>)>) -> io::Result<Server> {
    let size: u32 = sizes.iter().sum();
    let ranks_of = |(app, &count)| std::iter::repeat_n(app as u32, count as usize);
    let appnums = sizes.iter().enumerate().flat_map(ranks_of).collect();
    let cpus = catena_boot::available_cpus();
    let world = World {
        size,
        universe_size: size.max(cpus),
        node_of: vec![0; size as usize].into(),
        psets,
        ..World::singleton(catena_boot::host_name(), cpus)
    };
    Server::open(world, appnums)
}

/// The environment of the ranks of a program: the launcher's, then `more`, then
/// room for what differs between ranks.
fn environment(
    more: impl Iterator<Item = (OsString, OsString)>,
    program: &str,
) -> Result<Strings, ProgramError> {
    let more: Vec<_> = more.collect();
    let inherited = std::env::vars_os().filter(|(name, _)| {
        let own = name
            .to_str()
            .is_some_and(|n| OWN.contains(&n) || n == COMMAND_LINE);
        !own && !more.iter().any(|(other, _)| other == name)
    });
    let mut strings = Vec::new();
    // Of several values for one name, the last one counts.
    let last = more
        .iter()
        .enumerate()
        .filter(|(i, (name, _))| !more[i + 1..].iter().any(|(later, _)| later == name));
    for (name, value) in inherited.chain(last.map(|(_, var)| var.clone())) {
        let mut var = name;
        var.push("=");
        var.push(value);
        strings.push(program::c_string(&var, program)?);
    }
    strings.extend(OWN.map(|_| CString::default()));
    Ok(Strings::new(strings))
}

/// How `/bin/sh` runs a script that does not name its interpreter.
fn shell_args(program: &Program) -> Vec<CString> {
    let mut args = vec![c"sh".to_owned(), program.path.clone()];
    args.extend_from_slice(program.args.get(1..).unwrap_or_default());
    args
}
