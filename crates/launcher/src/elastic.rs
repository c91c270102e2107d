//! `catena grow` and `catena shrink`: a user has an elastic job become larger or smaller.
//!
//! The job's launcher listens at an abstract socket whose name has the user and the launcher's
//! process in it, so nothing is left behind when it ends. Either end asks the kernel who the other
//! one is: only the job's owner, or root, is heard and believed. A caller says one line, `grow 4`,
//! and gets one back, which begins with `+` if that was done and with `-` if it was not.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::linux::fs::MetadataExt as _;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

use catena_job::USAGE;

use crate::output::tell;
use crate::sys;

/// What the names of the sockets begin with; user and process follow.
const PREFIX: &str = "catena-elastic";

/// Longest line that a caller may say, bytes.
pub const LONGEST: usize = 64;

/// What a user wants of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// So many processes more.
    Grow(u32),
    /// So many fewer.
    Shrink(u32),
}

impl Change {
    /// Reads a line that a caller says, without its end.
    pub fn read(line: &str) -> Option<Change> {
        let (verb, count) = line.split_once(' ')?;
        let count = count.parse().ok().filter(|&count| count > 0)?;
        match verb {
            "grow" => Some(Change::Grow(count)),
            "shrink" => Some(Change::Shrink(count)),
            _ => None,
        }
    }
}

/// Where that user's launcher with that process number listens.
///
/// # Errors
/// Never in practice: the name is short.
pub fn address(user: u32, launcher: u32) -> io::Result<SocketAddr> {
    let name = format!("{PREFIX}-{user}-{launcher}");
    SocketAddr::from_abstract_name(name.as_bytes())
}

/// The user whose process that is, if there is one.
fn owner(process: u32) -> Option<u32> {
    let found = std::fs::metadata(format!("/proc/{process}"));
    found.ok().map(|it| it.st_uid())
}

/// Why nobody listens where that process would if it were an elastic job's launcher.
fn no_job(process: u32) -> String {
    let user = sys::user();
    match owner(process) {
        None => format!("there is no process {process} on this host; {}", choice()),
        Some(owner) if owner != user && user != 0 => format!(
            "process {process} is one of user {owner}, who alone, or root, can change its job; {}",
            choice()
        ),
        Some(_) => format!(
            "process {process} is no mpirun that was started with --elastic; {}",
            choice()
        ),
    }
}

/// Whether what the process at the other end says may be believed: it is this user's, or root's.
pub fn is_trusted(socket: &UnixStream) -> bool {
    is_of(socket, sys::user())
}

/// Whether the process at the other end is that user's, or root's.
pub fn is_of(socket: &UnixStream, user: u32) -> bool {
    catena_boot::peer(socket).is_ok_and(|(_, peer)| peer == 0 || peer == user)
}

/// The launchers of this user's elastic jobs, from a list as /proc/net/unix has it.
fn listed(sockets: &str, user: u32) -> Vec<u32> {
    let prefix = format!("@{PREFIX}-{user}-");
    let names = sockets
        .lines()
        .filter_map(|line| line.split(' ').next_back());
    let launchers = names.filter_map(|name| name.strip_prefix(&prefix)?.parse().ok());
    let mut launchers: Vec<u32> = launchers.collect();
    launchers.sort_unstable();
    launchers.dedup();
    launchers
}

/// Which jobs there are to choose from, in words.
fn choice() -> String {
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let launchers = listed(&sockets, sys::user());
    if launchers.is_empty() {
        return "you have no elastic job on this host: start one with mpirun --elastic, on the host \
                where you call this command"
            .to_string();
    }
    let shown = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        format!("\n  {pid}  {}", words.trim_end())
    };
    let jobs: Vec<String> = launchers.iter().map(shown).collect();
    format!("your elastic jobs on this host are:{}", jobs.concat())
}

/// What `catena grow --help` and `catena shrink --help` say, but for the jobs that there are.
#[must_use]
pub fn usage(verb: &str) -> String {
    format!(
        "usage: catena {verb} JOB N\n\nHas a job of mpirun --elastic {verb} by N processes. JOB is \
         the process number of its mpirun. Only a program\nthat uses MPI sessions alone, without \
         MPI_Init, can grow and shrink.\n"
    )
}

/// `catena grow JOB N` and `catena shrink JOB N`, where `verb` is the command and JOB the process
/// number of the job's mpirun; gives the exit status.
pub fn change(verb: &str, args: impl IntoIterator<Item = OsString>) -> i32 {
    let args: Vec<String> = args
        .into_iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let usage = usage(verb);
    if let [only] = &args[..]
        && ["--help", "-h", "-help"].contains(&only.as_str())
    {
        println!("{usage}{}", choice());
        return 0;
    }
    let numbers = match &args[..] {
        [job, count] => job.parse::<u32>().ok().zip(count.parse::<u32>().ok()),
        _ => None,
    };
    let Some((job, count)) = numbers.filter(|(_, count)| *count > 0) else {
        let given = match args.is_empty() {
            true => "JOB and N are missing".to_string(),
            false => format!(
                "'{}' is not JOB and N, two whole numbers from 1 to {}",
                args.join(" "),
                u32::MAX
            ),
        };
        tell!("catena {verb}: {given}\n{usage}{}", choice());
        return USAGE;
    };
    match ask(job, &format!("{verb} {count}\n")) {
        Ok(answer) => {
            let (sign, text) = answer.split_at_checked(1).unwrap_or_default();
            match sign {
                "+" => println!("{}", text.trim_end()),
                "-" => tell!("catena {verb}: {}", text.trim_end()),
                _ => tell!("catena {verb}: mpirun {job} has ended before it answered"),
            }
            i32::from(sign != "+")
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            tell!("catena {verb}: {}", no_job(job));
            1
        }
        Err(error) => {
            tell!("catena {verb}: job {job} cannot be asked: {error}");
            1
        }
    }
}

/// Says a line to a launcher, and waits for its answer.
fn ask(launcher: u32, line: &str) -> io::Result<String> {
    // Root may change the jobs of all.
    let owner = owner(launcher).filter(|_| sys::user() == 0);
    let owner = owner.unwrap_or_else(sys::user);
    let mut socket = UnixStream::connect_addr(&address(owner, launcher)?)?;
    if !is_of(&socket, owner) {
        let text = "another user's process listens where its mpirun would";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    socket.write_all(line.as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_say_how_many() {
        assert_eq!(Change::read("grow 4"), Some(Change::Grow(4)));
        assert_eq!(Change::read("shrink 1"), Some(Change::Shrink(1)));
        for odd in [
            "", "grow", "grow 0", "grow -1", "grow 4 5", "double 2", "grow x",
        ] {
            assert_eq!(Change::read(odd), None, "{odd}");
        }
    }

    #[test]
    fn own_jobs_are_found() {
        let sockets = "Num RefCount\n\
            ffff: 00000002 00000000 00010000 0001 01 123 @catena-elastic-7-99\n\
            ffff: 00000003 00000000 00000000 0001 03 124 @catena-elastic-7-99\n\
            ffff: 00000002 00000000 00010000 0001 01 125 @catena-elastic-77-98\n\
            ffff: 00000002 00000000 00010000 0001 01 126 @catena-elastic-7-x\n\
            ffff: 00000002 00000000 00010000 0001 01 127 /run/x\n";
        assert_eq!(listed(sockets, 7), [99]);
    }
}
