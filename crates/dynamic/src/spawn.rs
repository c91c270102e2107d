//! Jobs that processes spawn (MPI-5, chapter 11.8).

use std::ffi::OsString;
use std::mem;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_boot::{Side, SpawnAnswer, SpawnProgram, SpawnRequest};
use catena_core::Process;
use catena_core::coll::{Caller, Data, Prepared};
use catena_core::comm::{Comm, PortEndpoint};
use catena_objects::errhandler::Initial;
use catena_objects::error::{Kind, Result};
use catena_objects::fail;
use catena_objects::info::Info;
use catena_settings::Value;

use crate::keys::{self, Hints, SPAWN};

/// One of the commands that a root names.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program: its name or path.
    pub program: Vec<u8>,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// How many processes run it.
    pub maxprocs: i32,
    /// Hints: see `Command::to_program`.
    pub info: Option<Arc<Info>>,
}

impl Command {
    /// What the launcher is told, by the command and these keys of its hints:
    ///
    /// | key                                          | what it says                        |
    /// |----------------------------------------------|-------------------------------------|
    /// | `wdir`, `path`                               | where it starts, and is looked for  |
    /// | `env`                                        | lines `NAME=value`                  |
    /// | `host`, `add-host`, `hostfile`, `add-hostfile` | where it runs, as `--host` has it |
    /// | `soft`                                       | how many processes will do: the most of these that there is room for |
    /// | `appnum`                                     | `MPI_APPNUM`                        |
    /// | `mpi_initial_errhandler`                     | the error handler at first          |
    /// | `file`                                       | a file of more keys                 |
    ///
    /// # Errors
    /// `Arg` for no program, `Count` for a number of processes below 1, `InfoValue` for a
    /// value that makes no sense.
    fn to_program(&self, hints: &Hints) -> Result<SpawnProgram> {
        if self.program.is_empty() {
            fail!(Arg, "the command is empty: name a program");
        }
        if self.maxprocs < 1 {
            fail!(
                Count,
                "maxprocs is {}: at least one process must be asked for",
                self.maxprocs
            );
        }
        let count = self.maxprocs as u32;
        let several = |keys: [&str; 2]| {
            let values = keys.into_iter().filter_map(|key| hints.get(key));
            values.map(OsString::from).collect()
        };
        let soft = hints.get("soft").map(|text| keys::soft(text, count));
        let soft = soft.transpose()?.unwrap_or_default();
        let mut env = hints.get("env").map_or(Ok(Vec::new()), variables)?;
        env.extend(
            hints
                .get("mpi_initial_errhandler")
                .map(first_handler)
                .transpose()?,
        );
        let appnum = match hints.get("appnum").map(|text| (text, text.parse::<u32>())) {
            None => None,
            Some((_, Ok(appnum))) if appnum <= i32::MAX as u32 => Some(appnum),
            Some((text, _)) => fail!(
                InfoValue,
                "the info key appnum is '{text}': give a number from 0 on"
            ),
        };
        // Without a word about it they start where the root is.
        let here = std::env::current_dir().ok().map(OsString::from);
        Ok(SpawnProgram {
            program: OsString::from_vec(self.program.clone()),
            args: self.args.iter().cloned().map(OsString::from_vec).collect(),
            // The largest number that will do may be less than maxprocs.
            count: soft.last().copied().unwrap_or(count),
            wdir: hints.get("wdir").map(OsString::from).or(here),
            path: hints.get("path").map(OsString::from),
            env,
            soft,
            appnum,
            hosts: several(["host", "add-host"]),
            hostfiles: several(["hostfile", "add-hostfile"]),
        })
    }
}

/// The variables of the info key `env`: a line for each, `NAME=value`.
///
/// # Errors
/// `InfoValue` for another line.
fn variables(text: &str) -> Result<Vec<(OsString, OsString)>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let pair = |line: &str| match line.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => fail!(
            InfoValue,
            "the info key env has the line '{line}': write NAME=value, a line for each variable"
        ),
    };
    lines.map(pair).collect()
}

/// The variable that says which error handler a process has at first.
///
/// # Errors
/// `InfoValue` if there is no such handler.
fn first_handler(name: &str) -> Result<(OsString, OsString)> {
    match Initial::parse(name) {
        Ok(_) => Ok(("CATENA_INITIAL_ERRHANDLER".into(), name.into())),
        Err(why) => fail!(
            InfoValue,
            "the info key mpi_initial_errhandler is '{name}': {why}"
        ),
    }
}

/// `MPI_Comm_spawn` and `MPI_Comm_spawn_multiple`: collective over `comm`; only rank
/// `root` looks at `commands`. Gives the intercommunicator with the new job once all its
/// processes have called `MPI_Init`; and, at the root, how many run each command, which is
/// less than asked for only where the key `soft` allows it. How they are placed and bound,
/// the keys `map_by` and `bind_to` say: those of the first command that has them.
///
/// # Errors
/// `Root` for a bad root, `Comm` for an intercommunicator; `Spawn` if a process cannot be
/// started, or ends before it has called `MPI_Init`; what is wrong with an argument.
pub fn spawn(
    process: &Process,
    comm: &Arc<Comm>,
    root: i32,
    commands: impl FnOnce() -> Result<Vec<Command>>,
) -> Result<(abi::Comm, Vec<u32>)> {
    let root = check_root(comm, root)?;
    comm.check_intra()?;
    let (mut counts, mut begun) = (Vec::new(), None);
    let meeting = match root == comm.rank {
        true => commands().and_then(|commands| {
            let (meeting, started) = start(process, &commands)?;
            counts = started;
            begun = Some(meeting.port.clone());
            Ok(Some(meeting))
        }),
        false => Ok(None),
    };
    let made = comm.connect(process, root, meeting, Kind::Spawn);
    if let (Err(_), Some(port)) = (&made, begun) {
        // The processes that were started wait in vain. If the launcher has gone, so have they.
        let _ = process.with_jobs(|jobs| jobs.close_port(&port));
    }
    Ok((made?, counts))
}

/// Tells all members of a communicator what the root knows of the processes that it has asked for:
/// words. At the root they come back; `None` if the members cannot be told, as some have died.
/// Collective, once [`spawn`] has come to its end.
pub fn tell_outcome(
    process: &Process,
    comm: &Arc<Comm>,
    root: i32,
    words: Vec<u32>,
) -> Option<Vec<u32>> {
    check_root(comm, root).ok()?;
    comm.check_intra().ok()?;
    let count = u32::try_from(words.len()).ok()?;
    let count = tell_row(process, comm, root, vec![count])?;
    let mut row = words;
    row.resize(*count.first()? as usize, 0);
    tell_row(process, comm, root, row)
}

/// Tells all members the root's row, which has as many words at each.
fn tell_row(process: &Process, comm: &Arc<Comm>, root: i32, mut row: Vec<u32>) -> Option<Vec<u32>> {
    let data = Data {
        buf: row.as_mut_ptr().cast(),
        count: size_of_val(&*row) as abi::Count,
        ty: consts::BYTE,
    };
    let call = Caller { process, now: true }.bcast(comm, data, root);
    match call.and_then(|left| Prepared::run_rest(process, left)) {
        Ok(()) => Some(row),
        Err(_) => {
            // What a failed operation left behind may still use it.
            mem::forget(row);
            None
        }
    }
}

/// Has the launcher start a job; where it will be met, and how many run each command.
fn start(process: &Process, commands: &[Command]) -> Result<(PortEndpoint, Vec<u32>)> {
    let hints = |it: &Command| Hints::new(it.info.as_ref(), "MPI_Comm_spawn", SPAWN);
    let hints: Vec<Hints> = commands.iter().map(hints).collect::<Result<_>>()?;
    let first = |key| hints.iter().find_map(|it| it.get(key)).unwrap_or_default();
    let programs = commands.iter().zip(&hints);
    let programs = programs.map(|(command, hints)| command.to_program(hints));
    let request = SpawnRequest {
        programs: programs.collect::<Result<_>>()?,
        map_by: first("map_by").to_lowercase(),
        bind_to: first("bind_to").to_lowercase(),
    };
    let asked = process.with_jobs(|jobs| jobs.spawn(&request));
    let ticket = asked.map_err(|e| e.where_unsupported(Kind::Spawn))?;
    let outcome = process.outcome(ticket, Kind::Spawn)?;
    let Some(SpawnAnswer { job, counts }) = SpawnAnswer::read(&outcome) else {
        fail!(Intern, "the launcher answered with {} bytes", outcome.len());
    };
    let meeting = PortEndpoint {
        port: format!("spawn:{job:016x}"),
        side: Side::Host,
        timeout: None,
    };
    Ok((meeting, counts))
}

/// A root as a rank.
///
/// # Errors
/// `Root` if there is no such rank.
pub(crate) fn check_root(comm: &Comm, root: i32) -> Result<u32> {
    match u32::try_from(root).ok().filter(|&root| root < comm.size()) {
        Some(root) => Ok(root),
        None => fail!(
            Root,
            "the root is rank {root}, but the communicator has ranks 0 to {}",
            comm.size() - 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command {
            program: b"worker".to_vec(),
            args: vec![b"-x".to_vec()],
            maxprocs: 2,
            info: None,
        }
    }

    fn program(pairs: &[(&str, &str)]) -> Result<SpawnProgram> {
        let pairs = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string()));
        let info = Info::from_pairs(pairs);
        command().to_program(&Hints::new(Some(&info), "MPI_Comm_spawn", SPAWN)?)
    }

    #[test]
    fn hints_are_followed() {
        let with = program(&[
            ("wdir", "/tmp"),
            ("path", "/a:/b"),
            ("env", "A=1\n\nB=x=y\n"),
            ("mpi_initial_errhandler", "mpi_errors_return"),
            ("soft", "0:4"),
            ("appnum", "7"),
            ("host", "a:2"),
            ("add-hostfile", "f"),
        ]);
        let with = with.unwrap();
        assert_eq!(with.wdir, Some("/tmp".into()));
        assert_eq!(with.path, Some("/a:/b".into()));
        let env = [
            ("A", "1"),
            ("B", "x=y"),
            ("CATENA_INITIAL_ERRHANDLER", "mpi_errors_return"),
        ];
        let env: Vec<(OsString, OsString)> = env.map(|(k, v)| (k.into(), v.into())).into();
        assert_eq!(with.env, env);
        assert_eq!((with.soft, with.appnum), (vec![1, 2], Some(7)));
        assert_eq!(
            (with.hosts, with.hostfiles),
            (vec!["a:2".into()], vec!["f".into()])
        );
        let without = program(&[]).unwrap();
        assert_eq!(without.wdir.map(Into::into), std::env::current_dir().ok());
        assert_eq!(
            (without.path, without.count, without.appnum),
            (None, 2, None)
        );
        let fewer = program(&[("soft", "1")]).unwrap();
        assert_eq!((fewer.count, fewer.soft), (1, vec![1]));
        for wrong in [
            ("appnum", "-1"),
            ("appnum", "x"),
            ("soft", "x"),
            ("env", "A=1\nB"),
            ("env", "=1"),
            ("mpi_initial_errhandler", "return"),
        ] {
            let error = program(&[wrong]).unwrap_err();
            assert_eq!(error.kind(), Kind::InfoValue, "{wrong:?}");
        }
        for none in ["0", "3", "-1"] {
            let error = program(&[("soft", none)]).unwrap_err();
            assert_eq!(error.kind(), Kind::Spawn, "{none}");
        }
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let refused = |change: fn(&mut Command)| {
            let mut command = command();
            change(&mut command);
            command.to_program(&Hints::default()).unwrap_err().kind()
        };
        assert_eq!(refused(|it| it.program.clear()), Kind::Arg);
        assert_eq!(refused(|it| it.maxprocs = 0), Kind::Count);
    }
}
