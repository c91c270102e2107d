//! Starting the ranks of a node.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use catena_boot::alias::{ALIASES, Number};
use catena_boot::server::Server;
use catena_boot::within::{self, WITHIN_VAR};
use catena_boot::{BOOT_VAR, Interest, Job as World, LAUNCH_ALIASES, LAUNCH_TAKEOVER, OtherMpi};
use catena_job::{NOT_STARTED, NodeEvent, Plan, ProgramError, USAGE, Vars, setting};
use catena_settings::COMMAND_LINE;
use catena_topo::Cpus;

use super::{Local, Node, token};
use crate::base::Base;
use crate::foreign::{self, Watch};
use crate::library;
use crate::place::{self, Binding};
use crate::pmix::{self, Pmix};
use crate::program::{self, Program};
use crate::stdin::{Feed, Taken};
use crate::sys::{self, Start, Strings};
use crate::takeover::{Candidate, Choice, Home, Wanted};

/// Variables that only the rank itself is given.
const OWN: [&str; 6] = [
    BOOT_VAR,
    "CATENA_RANK",
    "CATENA_SIZE",
    "CATENA_LOCAL_RANK",
    "CATENA_LOCAL_SIZE",
    WITHIN_VAR,
];

/// Where programs are looked for if `PATH` does not say.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Descriptors that the launcher needs besides three per rank.
pub const SPARE_FILES: u64 = 40;

/// What the rank that reads standard input gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The rank has the standard input of this process.
    Inherited,
    /// What commands bring.
    Passed,
}

/// Starts ranks of a job one after the other.
pub(super) struct Starter<'a> {
    pub base: &'a Base,
    pub plan: &'a Plan,
    pub null: File,
    pub input: Input,
    /// What each rank is bound to.
    pub cpus: Vec<Option<Cpus>>,
    /// The number of the job's rank 0 in the launcher.
    pub first: u32,
    /// Whether the job was spawned, and takes places that others had.
    pub spawned: bool,
    /// Whether the ranks are given the variables of other launchers.
    pub aliases: bool,
}

/// A program of which ranks run here.
pub(crate) struct Found {
    /// Its number among the programs of the job.
    pub app: usize,
    /// Its ranks, here and elsewhere.
    pub ranks: Range<u32>,
    pub program: Program,
}

/// One that is ready to be executed.
pub(super) struct Ready {
    pub ranks: Range<u32>,
    program: Program,
    env: Strings,
    args: Strings,
    shell_args: Strings,
}

impl Found {
    /// With these variables, of which `own` differ between ranks.
    pub(super) fn ready(self, vars: &Vars, own: usize) -> Result<Ready, ProgramError> {
        let program = self.program;
        Ok(Ready {
            ranks: self.ranks,
            env: environment(vars, &program.name, own)?,
            args: Strings::new(program.args.clone()),
            shell_args: Strings::new(shell_args(&program)),
            program,
        })
    }
}

impl Node {
    /// Starts the ranks of node `number`, whose environment begins with
    /// `inherited`. Their names, and what goes wrong with one of them, are events.
    ///
    /// # Errors
    /// If the programs cannot be found here, or the system is short of
    /// something, before any rank was started.
    pub fn start(
        plan: &Plan,
        number: u32,
        inherited: Vars,
        input: Input,
        base: &Base,
        events: &mut Vec<NodeEvent>,
    ) -> Result<Node, ProgramError> {
        let paths: Vec<_> = plan.apps.iter().map(|app| app.path.clone()).collect();
        let programs = find(plan, number, &inherited, &paths)?;
        let spare = spare_files(plan.ranks_on(number).count(), "ranks", base)?;
        let cpus = bind(plan, number, &programs, &inherited, base, events)?;
        let vars: Vars = inherited.iter().chain(&plan.env).cloned().collect();
        let aliases = setting(&LAUNCH_ALIASES, &vars);
        let home = Home::find();
        let choices = programs.iter().map(|it| {
            let vars = variables(plan, it.app, &inherited, &own_names(None, aliases));
            choose(plan, &it.program, &vars, home.as_ref())
        });
        let choices: Vec<Choice> = choices.collect();
        for note in choices.iter().flat_map(|choice| &choice.notes) {
            let (text, matters) = (note.text.clone(), note.matters);
            events.push(NodeEvent::Note { text, matters });
        }
        let taken = choices.iter().map(|choice| choice.open_mpi);
        let wanting = programs.iter().map(|it| &it.program).zip(taken);
        let pmix = Pmix::start(plan, number, wanting, &vars, &cpus, base);
        let pmix = pmix.map_err(|text| ProgramError { status: 1, text })?;
        let names = own_names(pmix.as_ref(), aliases);
        let programs = programs.into_iter().zip(choices);
        let (mut ready, foreign) = ready(
            plan,
            programs,
            &inherited,
            &names,
            home.as_ref(),
            pmix.is_some(),
        )?;
        let starter = Starter {
            base,
            plan,
            null: File::open("/dev/null").map_err(ProgramError::system)?,
            input,
            cpus,
            first: 0,
            spawned: false,
            aliases,
        };
        let mut node = Node::empty(plan, number, base).map_err(ProgramError::system)?;
        node.pmix = pmix;
        if let Some((rank, library)) = foreign {
            let served = false;
            events.push(NodeEvent::Foreign {
                rank,
                library,
                served,
            });
            if plan.foreign == OtherMpi::Stop {
                let missing = plan.ranks_on(number);
                events.extend(missing.map(|rank| NodeEvent::Missing { rank }));
                return Ok(node);
            }
        } else if plan.foreign != OtherMpi::Allow {
            // Others may need the rest.
            node.watch = Some(Watch::new(Instant::now(), spare / 4));
        }
        let mut started = 0;
        if let Err((rank, error)) = starter.start_all(&mut node, &mut ready, events, &mut started) {
            let text = format!(
                "rank {rank} of {} could not be started: {error}",
                plan.node_of.len()
            );
            let status = NOT_STARTED;
            events.push(NodeEvent::Failed { status, text });
            let missing = plan.ranks_on(number).skip(started);
            events.extend(missing.map(|rank| NodeEvent::Missing { rank }));
        }
        Ok(node)
    }

    /// A node whose ranks run already: the process that has started this launcher and, where it is
    /// of a job of several, the others.
    ///
    /// # Errors
    /// If the system is short of something; `AddrInUse` if another process of the job has started a
    /// launcher.
    pub fn for_guests(plan: &Plan, base: &Base) -> io::Result<Node> {
        let size = plan.node_of.len();
        let open = match size {
            1 => Server::open,
            _ => Server::open_for_guests,
        };
        let mut node = Node::with_server(plan, 0, base, open)?;
        node.guests = vec![None; size];
        Ok(node)
    }

    /// A node on which none of the first job's ranks is to run: that of mpirun, whose server keeps
    /// what all nodes have in common and which has a number that no other node has, or one that
    /// comes while the job runs.
    ///
    /// # Errors
    /// If the system is short of something.
    pub fn without_ranks(plan: &Plan, number: u32, base: &Base) -> io::Result<Node> {
        Node::empty(plan, number, base)
    }

    /// Leaves what all nodes have in common to the server of mpirun's node.
    pub fn set_branch(&mut self) {
        self.server.set_branch();
    }

    /// What a process is to find in its environment to be taken in as that number.
    pub fn place(&self, number: u32) -> String {
        self.server.place(number)
    }

    /// One without ranks.
    fn empty(plan: &Plan, number: u32, base: &Base) -> io::Result<Node> {
        Node::with_server(plan, number, base, Server::open)
    }

    fn with_server(
        plan: &Plan,
        number: u32,
        base: &Base,
        open: fn(World, u32, Vec<u32>) -> io::Result<Server>,
    ) -> io::Result<Node> {
        let cpus = catena_boot::available_cpus();
        let size = plan.node_of.len() as u32;
        let world = World {
            size,
            universe_size: plan.universe_size(0),
            job_id: plan.job_id,
            secret: plan.secret.clone(),
            node_of: plan.node_of.clone().into(),
            hosts: plan.hosts.clone().into(),
            psets: plan.psets.clone(),
            ..World::singleton(String::new(), cpus)
        };
        let server = open(world, number, plan.appnums())?;
        let failures = io::pipe()?;
        sys::set_nonblocking(&failures.0)?;
        base.poller.add(&server, token::SERVER, Interest::Read)?;
        base.poller
            .add(&failures.0, token::FAILURES, Interest::Read)?;
        Ok(Node {
            number,
            server,
            pmix: None,
            processes: Vec::new(),
            guests: Vec::new(),
            watch: None,
            next_look: None,
            orphans: super::Orphans::default(),
            users: super::Users::default(),
            guard: base.watchdog.guard()?,
            failures,
            feeds: Vec::new(),
            fed: Taken::default(),
            untaken: [0; 2],
            paused: [false; 2],
            finishing: false,
            done: false,
            notifiers: Vec::new(),
            traces: Vec::new(),
            found: Vec::new(),
            counted: Vec::new(),
            counts_asked: 0,
            recorder: None,
            forgetting: Vec::new(),
        })
    }
}

/// The programs of which ranks run on a node. Each is looked for in the folders that `paths` has
/// for it, else in `PATH`.
pub(crate) fn find(
    plan: &Plan,
    number: u32,
    inherited: &Vars,
    paths: &[Option<OsString>],
) -> Result<Vec<Found>, ProgramError> {
    let own_path = inherited.iter().find(|(name, _)| name == "PATH");
    let own_path = own_path.map_or(OsStr::new(PATH), |(_, path)| path);
    let all = plan.apps.iter().zip(plan.ranks_of_apps()).enumerate();
    let is_here = |ranks: &Range<u32>| {
        let mut ranks = ranks.clone();
        ranks.any(|rank| plan.node_of[rank as usize] == number)
    };
    let here = all.filter(|(_, (_, ranks))| is_here(ranks));
    let found = here.map(|(app, (given, ranks))| {
        let path = paths[app].as_deref().unwrap_or(own_path);
        let program = program::find(given, path)?;
        Ok(Found {
            app,
            ranks,
            program,
        })
    });
    found.collect()
}

/// The first rank of a program that is going to be given the library of another MPI, and that
/// library.
type ForeignRank = (u32, String);

/// Makes programs ready, each with the libraries that were chosen for it; and the first rank that
/// is going to be given the library of another MPI all the same, with that.
fn ready(
    plan: &Plan,
    programs: impl Iterator<Item = (Found, Choice)>,
    inherited: &Vars,
    names: &[OsString],
    home: Option<&Home>,
    has_pmix: bool,
) -> Result<(Vec<Ready>, Option<ForeignRank>), ProgramError> {
    let own = home.map(|home| &*home.own);
    let (mut ready, mut foreign) = (Vec::new(), None);
    for (found, choice) in programs {
        let mut vars = variables(plan, found.app, inherited, names);
        if home.is_some() {
            library::set_search(&mut vars, choice.search);
        }
        if has_pmix || plan.foreign == OtherMpi::Stop {
            foreign::forbid_alone(&mut vars);
        } else {
            foreign::let_be_alone(&mut vars);
        }
        if plan.foreign != OtherMpi::Allow && foreign.is_none() {
            let library = found.program.foreign(&vars, own);
            let library = library.filter(|library| !has_pmix || !pmix::serves(library));
            foreign = library.map(|it| (found.ranks.start, it.display().to_string()));
        }
        ready.push(found.ready(&vars, names.len())?);
    }
    Ok((ready, foreign))
}

/// How many files may be open beside those that `count` ranks (or `what` they are) need.
pub(super) fn spare_files(count: usize, what: &str, base: &Base) -> Result<u64, ProgramError> {
    let (files, most) = (count as u64 * 3 + SPARE_FILES, base.files.most());
    most.checked_sub(files).ok_or_else(|| ProgramError {
        status: 1,
        text: format!(
            "{count} {what} need {files} open files, but the limit is {most}; raise it \
             (ulimit -n) or start fewer"
        ),
    })
}

/// What the ranks on a node are bound to. What the user is to know of that are events.
fn bind(
    plan: &Plan,
    number: u32,
    programs: &[Found],
    inherited: &Vars,
    base: &Base,
    events: &mut Vec<NodeEvent>,
) -> Result<Vec<Option<Cpus>>, ProgramError> {
    let apps = programs.iter().map(|it| &plan.apps[it.app]);
    let threads = place::most_threads(plan, inherited, apps);
    let binding = Binding::new(plan, number, base.machine.clone(), threads);
    let mut binding = binding.map_err(|text| ProgramError {
        status: USAGE,
        text,
    })?;
    if binding.cpus.iter().any(Option::is_some)
        && let Err(error) = sys::check_binding()
    {
        binding.cpus.iter_mut().for_each(|cpus| *cpus = None);
        let text =
            format!("ranks are not bound to CPUs, as the system does not let them be: {error}");
        let matters = true;
        events.push(NodeEvent::Note { text, matters });
    }
    if !binding.text.is_empty() {
        events.push(NodeEvent::Placed { text: binding.text });
    }
    Ok(binding.cpus)
}

impl Starter<'_> {
    /// Starts the ranks that are to run here, and counts them.
    ///
    /// # Errors
    /// The first rank that cannot be started, and why.
    pub fn start_all(
        &self,
        node: &mut Node,
        programs: &mut [Ready],
        events: &mut Vec<NodeEvent>,
        started: &mut usize,
    ) -> Result<(), (u32, io::Error)> {
        for program in programs {
            for rank in program.ranks.clone() {
                if self.plan.node_of[rank as usize] == node.number {
                    let begun = self.start(node, rank, program, events);
                    begun.map_err(|error| (rank, error))?;
                    *started += 1;
                }
            }
        }
        Ok(())
    }

    fn start(
        &self,
        node: &mut Node,
        rank: u32,
        what: &mut Ready,
        events: &mut Vec<NodeEvent>,
    ) -> io::Result<()> {
        let free = node.processes.iter().position(Option::is_none);
        let index = free.unwrap_or(node.processes.len());
        let number = self.first + rank;
        let local = node.server.local_number(number).unwrap_or_default() as usize;
        let own = self.own_variables(node, rank, index, &what.env);
        what.env.replace_last(own);

        let (out, rank_out) = io::pipe()?;
        let (err, rank_err) = io::pipe()?;
        let own_stdin = io::stdin();
        let reads = self.plan.stdin.binary_search(&rank).is_ok();
        let passed = match reads && self.input == Input::Passed {
            true => {
                let (feed, pipe) = Feed::open(token::FEED + node.feeds.len() as u64)?;
                node.feeds.push(feed);
                Some(pipe)
            }
            false => None,
        };
        let stdin = match &passed {
            Some(pipe) => pipe.as_fd(),
            None if reads => own_stdin.as_fd(),
            None => self.null.as_fd(),
        };
        let cpus = self.cpus.get(local).and_then(Option::as_ref);
        let pid = sys::start(&Start {
            rank: number,
            path: &what.program.path,
            args: &what.args,
            shell_args: &what.shell_args,
            env: &what.env,
            wdir: what.program.wdir.as_deref(),
            stdio: [stdin, rank_out.as_fd(), rank_err.as_fd()],
            failures: node.failures.1.as_fd(),
            cpus,
            signals: &self.base.signals,
            files: self.base.files,
        })?;
        self.base.watchdog.watch(pid);
        let pipes = [out, err];
        for (pipe, token) in pipes.iter().zip(index as u64 * 2..) {
            sys::set_nonblocking(pipe)?;
            self.base.poller.add(pipe, token, Interest::Read)?;
        }
        let process = Local {
            rank: number,
            pid,
            first_exit: None,
            joined: None,
            orphan_exit: None,
            is_known: false,
            running: true,
            aborted: false,
            pipes: pipes.map(Some),
        };
        match node.processes.get_mut(index) {
            Some(free) => *free = Some(process),
            None => node.processes.push(Some(process)),
        }
        events.push(NodeEvent::Started {
            rank: number,
            pid: pid as u32,
            cpus: cpus.map(Cpus::to_string).unwrap_or_default(),
        });
        Ok(())
    }

    /// The variables that differ between ranks, in the order of [`own_names`], for a rank that
    /// takes that place among the processes of the node; `env` is what all have.
    fn own_variables(&self, node: &Node, rank: u32, place: usize, env: &Strings) -> Vec<CString> {
        let number = self.first + rank;
        let local = node.server.local_number(number).unwrap_or_default();
        let here = self.plan.ranks_on(node.number).count();
        let pmix = node.pmix.as_ref().filter(|_| !self.spawned);
        let pmix = pmix.and_then(|pmix| pmix.env.get(place));
        let traces = within::traces(|name| {
            let own = pmix.into_iter().flatten();
            let all = own.chain(env.iter()).map(CString::as_c_str);
            let value = |var: &CStr| {
                let value = var.to_str().ok()?.strip_prefix(name)?;
                value.strip_prefix('=').map(str::to_string)
            };
            all.filter_map(value).next()
        });
        let numbers = [
            node.server.place(number),
            rank.to_string(),
            self.plan.node_of.len().to_string(),
            local.to_string(),
            here.to_string(),
            traces,
        ];
        let said = |number| match number {
            Number::Rank => &numbers[1],
            Number::Size => &numbers[2],
            Number::LocalRank => &numbers[3],
            Number::LocalSize => &numbers[4],
        };
        let aliases = ALIASES.iter().filter(|_| self.aliases);
        let aliases = aliases.map(|(name, of)| format!("{name}={}", said(*of)));
        let own = OWN.iter().zip(&numbers);
        let own = own.map(|(name, value)| format!("{name}={value}"));
        let own = own
            .chain(aliases)
            .map(|var| CString::new(var).unwrap_or_default());
        own.chain(pmix.into_iter().flatten().cloned()).collect()
    }
}

/// The variables that differ between ranks.
pub(crate) fn own_names(pmix: Option<&Pmix>, aliases: bool) -> Vec<OsString> {
    let vars = pmix.and_then(|pmix| pmix.env.first()).into_iter().flatten();
    let name = |var: &CString| {
        let bytes = var.as_bytes();
        let end = bytes.iter().position(|&byte| byte == b'=');
        OsStr::from_bytes(&bytes[..end.unwrap_or(bytes.len())]).to_os_string()
    };
    let aliases = ALIASES.iter().filter(|_| aliases);
    OWN.iter()
        .chain(aliases.map(|(name, _)| name))
        .map(OsString::from)
        .chain(vars.map(name))
        .collect()
}

/// Which libraries the ranks of a program with variables `vars` get of those in `home`.
pub(crate) fn choose(plan: &Plan, program: &Program, vars: &Vars, home: Option<&Home>) -> Choice {
    let Some(home) = home else {
        return Choice::default();
    };
    let candidate = Candidate {
        name: &program.name,
        files: &program.files().collect::<Vec<_>>(),
        wdir: &Path::new(".").join(program.wdir()),
        vars,
    };
    let wanted = Wanted {
        takeover: setting(&LAUNCH_TAKEOVER, vars),
        pmix: plan.pmix,
    };
    candidate.choose(home, wanted)
}

/// The variables of the ranks of a program: what is inherited, then what was asked for. Without
/// those that differ between ranks, which are called `own`.
pub(crate) fn variables(plan: &Plan, app: usize, inherited: &Vars, own: &[OsString]) -> Vars {
    let more: Vec<_> = plan.env.iter().chain(&plan.apps[app].env).collect();
    let inherited = inherited.iter().filter(|(name, _)| {
        let differs = own.contains(name) || name == COMMAND_LINE;
        let is_kept = plan.apps[app].inherit.has(name);
        is_kept && !differs && !more.iter().any(|(other, _)| other == name)
    });
    // Of several values for one name, the last one counts.
    let last = more
        .iter()
        .enumerate()
        .filter(|(i, (name, _))| !more[i + 1..].iter().any(|(later, _)| later == name));
    let last = last.map(|(_, var)| *var);
    inherited.chain(last).cloned().collect()
}

/// The environment of ranks with `vars`, with room at its end for `own` variables
/// that differ between ranks.
fn environment(vars: &Vars, program: &str, own: usize) -> Result<Strings, ProgramError> {
    let mut strings = Vec::with_capacity(vars.len() + own);
    for (name, value) in vars {
        let mut var = name.clone();
        var.push("=");
        var.push(value);
        strings.push(program::c_string(&var, program)?);
    }
    strings.extend((0..own).map(|_| CString::default()));
    Ok(Strings::new(strings))
}

/// How `/bin/sh` runs a script that does not name its interpreter.
fn shell_args(program: &Program) -> Vec<CString> {
    let mut args = vec![c"sh".to_owned(), program.path.clone()];
    args.extend_from_slice(program.args.get(1..).unwrap_or_default());
    args
}
