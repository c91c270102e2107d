//! `catena ps`, `hang`, `explain`, `trace` and `top`: a user wants to know what a job does, on all
//! of its hosts.
//!
//! The job's launcher listens at an abstract socket whose name has the user and the number of the
//! job in it, so nothing is left behind when it ends, and it is found from every namespace of
//! processes that shares its network. Either end asks the kernel who the other one is, as for
//! `catena grow`. A caller says one line, the word of an [`Inquiry`], and gets lines back, the
//! first of which begins with `+`, or with `-` if they only say why there is no answer.

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::thread;
use std::time::Duration;

use crate::glance::JobGlance;
use crate::summary::Summary;
use crate::{elastic, sys};

/// What the names of the sockets begin with; user and job follow.
const PREFIX: &str = "catena-job";

/// How long a launcher may take to answer: it may be stopped, or a host be out of reach.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a launcher may take to say in a few words what it has, for which it asks nobody.
const SHORT: Duration = Duration::from_millis(1500);

/// What a launcher says to a question that it does not know, as one of another version may be.
pub(crate) const UNKNOWN: &str = "it knows no such question";

/// What a user wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inquiry {
    /// In a few words what there is.
    Summary,
    /// What it waits for.
    Hang,
    /// As JSON.
    HangAsJson,
    /// The last calls of all ranks.
    Trace,
    /// How its messages and collectives have gone so far.
    Explain,
    /// As JSON.
    ExplainAsJson,
    /// What all ranks do, and what is counted of them: a [`JobGlance`].
    Glances,
}

impl Inquiry {
    const ALL: [(Inquiry, &str); 7] = [
        (Inquiry::Summary, "summary"),
        (Inquiry::Hang, "hang"),
        (Inquiry::HangAsJson, "hang json"),
        (Inquiry::Trace, "trace"),
        (Inquiry::Explain, "explain"),
        (Inquiry::ExplainAsJson, "explain json"),
        (Inquiry::Glances, "glances"),
    ];

    /// Reads a line that a caller says, without its end.
    pub(crate) fn read(line: &str) -> Option<Inquiry> {
        let found = Inquiry::ALL.iter().find(|(_, word)| *word == line);
        found.map(|(inquiry, _)| *inquiry)
    }

    fn word(self) -> &'static str {
        let found = Inquiry::ALL.iter().find(|(it, _)| *it == self);
        found.map_or("", |(_, word)| word)
    }
}

/// Why a launcher has told nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untold {
    /// It has ended, and the job with it.
    Ended,
    /// For that reason; it may tell something later.
    Because(String),
}

/// A launcher that can be asked.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The user that it is of.
    pub user: u32,
    /// The number of its first job.
    pub job: u64,
    /// Its process, as it is known here; zero if it is out of sight.
    pub pid: u32,
    /// What it has.
    pub summary: Summary,
}

impl Launched {
    /// That it does not answer, and what helps, in words.
    pub fn silence(&self) -> String {
        let job = self.job;
        match self.pid {
            0 => format!(
                "the mpirun of job {job:x}, which is out of sight here, does not answer: if a signal \
                 has stopped it, `kill -CONT` or `fg` has it go on"
            ),
            pid if is_stopped(pid) => format!(
                "mpirun {pid} of job {job:x} does not answer: a signal has stopped it; `kill -CONT \
                 {pid}` or `fg` has it go on"
            ),
            pid => format!(
                "mpirun {pid} of job {job:x} does not answer, although no signal has stopped it: \
                 `catena hang` with the pid of one of its ranks shows those of this host"
            ),
        }
    }

    /// What it answers.
    ///
    /// # Errors
    /// Why it does not, in words.
    pub fn ask(&self, inquiry: Inquiry) -> Result<String, String> {
        let answer = ask(self.user, self.job, inquiry, PATIENCE).map(|(_, answer)| answer);
        let answer = answer.map_err(|error| format!("its mpirun cannot be asked: {error}"))?;
        answer.map_err(|text| match text == UNKNOWN {
            true => {
                "its mpirun is of another version, and does not know the question: ask with the \
                     `catena` of that version"
                    .into()
            }
            false => text,
        })
    }

    /// A glance at its job, for which it is given no longer than `patience`.
    ///
    /// # Errors
    /// Why it tells nothing.
    pub fn glance(&self, patience: Duration) -> Result<JobGlance, Untold> {
        let (launcher, told) = match ask(self.user, self.job, Inquiry::Glances, patience) {
            Ok(answered) => answered,
            Err(error) => {
                return Err(match error.kind() {
                    io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::ConnectionReset
                    | io::ErrorKind::UnexpectedEof => Untold::Ended,
                    _ => Untold::Because(format!("its mpirun cannot be asked: {error}")),
                });
            }
        };
        told.ok()
            .and_then(|text| JobGlance::read(&text))
            .map(|told| JobGlance { launcher, ..told })
            .ok_or_else(|| {
                let text = "its mpirun is of another version, and says nothing that can be shown";
                Untold::Because(text.into())
            })
    }
}

/// Where that user's launcher of a job listens.
///
/// # Errors
/// Never in practice: the name is short.
pub(crate) fn address(user: u32, job: u64) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{PREFIX}-{user}-{job:x}").as_bytes())
}

/// The launchers of this user's jobs on this host, of all users' for root: those that answer, and
/// those that do not, as they are stopped, say. They are asked side by side, and given a second and
/// a half.
pub fn launched() -> (Vec<Launched>, Vec<Launched>) {
    let one = |launcher: Launched| {
        let Launched { user, job, .. } = launcher;
        let (socket, pid) = connect(user, job).ok()?;
        let answer = match answer(socket, pid, Inquiry::Summary, SHORT) {
            Ok(answer) => answer,
            Err(error) => {
                let is_silent = error.kind() == io::ErrorKind::TimedOut;
                return is_silent.then_some(Err(Launched { pid, ..launcher }));
            }
        };
        let summary = Summary::read(&answer.ok()?)?;
        Some(Ok(Launched {
            pid,
            summary,
            ..launcher
        }))
    };
    let all: Vec<Result<Launched, Launched>> = thread::scope(|scope| {
        let asked = launchers().into_iter();
        let asked: Vec<_> = asked.map(|it| scope.spawn(move || one(it))).collect();
        let told = asked.into_iter().filter_map(|it| it.join().ok().flatten());
        told.collect()
    });
    let (mut answer, mut silent) = (Vec::new(), Vec::new());
    for launcher in all {
        match launcher {
            Ok(launcher) => answer.push(launcher),
            Err(launcher) => silent.push(launcher),
        }
    }
    (answer, silent)
}

/// The launchers of this user's jobs on this host; of all users' for root. None of them is asked,
/// so that process and summary of each are not known.
pub fn launchers() -> Vec<Launched> {
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let own = sys::user();
    let all = listed(&sockets)
        .into_iter()
        .filter(|(user, _)| own == 0 || *user == own);
    let all = all.map(|(user, job)| Launched {
        user,
        job,
        pid: 0,
        summary: Summary::default(),
    });
    all.collect()
}

/// Users and jobs, from a list as /proc/net/unix has it.
fn listed(sockets: &str) -> Vec<(u32, u64)> {
    let names = sockets
        .lines()
        .filter_map(|line| line.split(' ').next_back());
    let found = names.filter_map(|name| {
        let name = name.strip_prefix('@')?.strip_prefix(PREFIX)?;
        let (user, job) = name.strip_prefix('-')?.split_once('-')?;
        Some((user.parse().ok()?, u64::from_str_radix(job, 16).ok()?))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Asks a launcher: its process, and its answer.
fn ask(
    user: u32,
    job: u64,
    inquiry: Inquiry,
    patience: Duration,
) -> io::Result<(u32, Result<String, String>)> {
    let (socket, pid) = connect(user, job)?;
    Ok((pid, answer(socket, pid, inquiry, patience)?))
}

/// A way to the launcher of a job, and its process.
fn connect(user: u32, job: u64) -> io::Result<(UnixStream, u32)> {
    let socket = UnixStream::connect_addr(&address(user, job)?)?;
    if !elastic::is_of(&socket, user) {
        let text = "another user's process listens where it would";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    let (pid, _) = catena_boot::peer(&socket)?;
    Ok((socket, pid))
}

/// Whether a signal has stopped a process.
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before it may have any characters.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.trim_start().starts_with('T')
}

/// What a launcher answers.
///
/// # Errors
/// Why it does not: [`io::ErrorKind::TimedOut`] also of one that a signal has stopped, at once.
fn answer(
    mut socket: UnixStream,
    pid: u32,
    inquiry: Inquiry,
    patience: Duration,
) -> io::Result<Result<String, String>> {
    if is_stopped(pid) {
        let text = format!("a signal has stopped it; `kill -CONT {pid}` or `fg` has it go on");
        return Err(io::Error::new(io::ErrorKind::TimedOut, text));
    }
    socket.set_read_timeout(Some(patience))?;
    socket.write_all(format!("{}\n", inquiry.word()).as_bytes())?;
    let mut answer = String::new();
    socket
        .read_to_string(&mut answer)
        .map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(
                io::ErrorKind::TimedOut,
                format!("it has not answered for {} s", patience.as_secs_f64()),
            ),
            _ => error,
        })?;
    let (sign, text) = answer.split_at_checked(1).unwrap_or_default();
    let text = text.trim_end().to_string();
    match sign {
        "+" => Ok(Ok(text)),
        "-" => Ok(Err(text)),
        _ => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "it has ended before it answered",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_say_what_they_want() {
        for (inquiry, _) in Inquiry::ALL {
            assert_eq!(Inquiry::read(inquiry.word()), Some(inquiry));
            assert!(inquiry.word().len() < elastic::LONGEST);
        }
        assert_eq!(Inquiry::read("grow 4"), None);
    }

    #[test]
    fn jobs_are_found() {
        let sockets = "Num RefCount\n\
            ffff: 00000002 00000000 00010000 0001 01 123 @catena-job-7-9f\n\
            ffff: 00000003 00000000 00000000 0001 03 124 @catena-job-7-9f\n\
            ffff: 00000002 00000000 00010000 0001 01 125 @catena-job-77-1\n\
            ffff: 00000002 00000000 00010000 0001 01 126 @catena-elastic-7-9\n\
            ffff: 00000002 00000000 00010000 0001 01 127 /run/x\n";
        assert_eq!(listed(sockets), [(7, 0x9f), (77, 1)]);
    }
}
