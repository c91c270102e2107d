//! Jobs that processes spawn (MPI-5, chapter 11.8).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use catena_abi as abi;
use catena_boot::{Side, SpawnProgram, SpawnRequest};
use catena_core::Process;
use catena_core::comm::{Comm, Meeting};
use catena_objects::error::{Kind, Result};
use catena_objects::fail;
use catena_objects::info::Info;

/// One of the commands that a root names.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program: its name or path.
    pub program: Vec<u8>,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// How many processes run it.
    pub maxprocs: i32,
    /// Hints: `wdir`, `path` and `env`, and `host`, which can only be this one so far.
    /// Others are left unused, as the standard wants it.
    pub info: Option<Arc<Info>>,
}

impl Command {
    /// # Errors
    /// `Arg` for no program, `Count` for a number of processes below 1, `Spawn` for a host
    /// where nothing can be started.
    fn to_program(&self) -> Result<SpawnProgram> {
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
        let hint = |key: &str| self.info.as_ref().and_then(|info| info.hint(key));
        if let Some(host) = hint("host") {
            let here = catena_boot::host_name();
            if host != here && host != "localhost" {
                fail!(
                    Spawn,
                    "the info key host names {host}, but processes can be spawned only on the host \
                    of mpirun ({here}) so far"
                );
            }
        }
        // Without a word about it they start where the root is.
        let here = std::env::current_dir().ok().map(OsString::from);
        Ok(SpawnProgram {
            program: OsString::from_vec(self.program.clone()),
            args: self.args.iter().cloned().map(OsString::from_vec).collect(),
            count: self.maxprocs as u32,
            wdir: hint("wdir").map(OsString::from).or(here),
            path: hint("path").map(OsString::from),
            env: hint("env").map(|text| variables(&text)).unwrap_or_default(),
        })
    }
}

/// The variables of the info key `env`: a line for each, `NAME=value`.
fn variables(text: &str) -> Vec<(OsString, OsString)> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// `MPI_Comm_spawn` and `MPI_Comm_spawn_multiple`: collective over `comm`; only rank
/// `root` looks at `commands`. Gives the intercommunicator with the new job once all its
/// processes have called `MPI_Init`.
///
/// # Errors
/// `Root` for a bad root, `Comm` for an intercommunicator; `Spawn` if a process cannot be
/// started, or ends before it has called `MPI_Init`; what is wrong with an argument.
pub fn spawn(
    process: &Process,
    comm: &Arc<Comm>,
    root: i32,
    commands: impl FnOnce() -> Result<Vec<Command>>,
) -> Result<abi::Comm> {
    let root = check_root(comm, root)?;
    let meeting = match root == comm.rank {
        true => commands().and_then(|commands| start(process, &commands).map(Some)),
        false => Ok(None),
    };
    process.connect(comm, root, meeting, Kind::Spawn)
}

/// Has the launcher start a job; where it will be met.
fn start(process: &Process, commands: &[Command]) -> Result<Meeting> {
    let programs: Result<Vec<_>> = commands.iter().map(Command::to_program).collect();
    let request = SpawnRequest {
        programs: programs?,
    };
    let ticket = process.with_jobs(|jobs| jobs.spawn(&request))?;
    let outcome = process.outcome(ticket, Kind::Spawn)?;
    let Ok(job) = <[u8; 8]>::try_from(&outcome[..]) else {
        fail!(Intern, "the launcher answered with {} bytes", outcome.len());
    };
    Ok(Meeting {
        port: format!("spawn:{:016x}", u64::from_le_bytes(job)),
        side: Side::Host,
    })
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

    #[test]
    fn hints_are_followed() {
        let hints = [
            ("wdir", "/tmp"),
            ("path", "/a:/b"),
            ("env", "A=1\nB=x=y\nodd"),
        ];
        let hints = hints.map(|(key, value)| (key, value.to_owned()));
        let with = Command {
            info: Some(Info::from_pairs(hints)),
            ..command()
        };
        let program = with.to_program().unwrap();
        assert_eq!(program.wdir, Some("/tmp".into()));
        assert_eq!(program.path, Some("/a:/b".into()));
        let env: [(OsString, OsString); 2] = [("A".into(), "1".into()), ("B".into(), "x=y".into())];
        assert_eq!(program.env, env);
        let without = command().to_program().unwrap();
        assert_eq!(without.wdir.map(Into::into), std::env::current_dir().ok());
        assert_eq!((without.path, without.count), (None, 2));
    }

    #[test]
    fn bad_commands_are_refused() {
        let kind = |command: Command| command.to_program().unwrap_err().kind();
        let maxprocs = 0;
        assert_eq!(
            kind(Command {
                maxprocs,
                ..command()
            }),
            Kind::Count
        );
        let program = Vec::new();
        assert_eq!(
            kind(Command {
                program,
                ..command()
            }),
            Kind::Arg
        );
        let host = [("host", "no-such-host.invalid".to_owned())];
        let info = Some(Info::from_pairs(host));
        assert_eq!(kind(Command { info, ..command() }), Kind::Spawn);
    }
}
