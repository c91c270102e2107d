//! Why a job failed, in words.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catena_job::{Exit, NOT_FOUND, NOT_STARTED, Stage};

/// The first thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Status that the launcher ends with.
    pub status: i32,
    /// The one message, without what became of the others; none if the user
    /// knows already.
    pub text: Option<String>,
    /// The rank that failed, if it was one.
    pub rank: Option<u32>,
    /// Whether somebody only told of it, and its cause may yet show.
    pub hearsay: bool,
}

impl Failure {
    /// One to be told.
    pub fn new(status: i32, text: String) -> Failure {
        Failure {
            status,
            text: Some(text),
            rank: None,
            hearsay: false,
        }
    }

    /// One that the user knows of.
    pub fn silent(status: i32) -> Failure {
        Failure {
            status,
            text: None,
            rank: None,
            hearsay: false,
        }
    }

    /// The fault of this rank.
    #[must_use]
    pub fn of(self, rank: u32) -> Failure {
        Failure {
            rank: Some(rank),
            ..self
        }
    }

    /// What somebody only told of.
    #[must_use]
    pub fn hearsay(self) -> Failure {
        Failure {
            hearsay: true,
            ..self
        }
    }
}

/// Name and meaning of a signal.
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => "hangup",
        libc::SIGINT => "interrupt",
        libc::SIGQUIT => "quit",
        libc::SIGILL => "illegal instruction",
        libc::SIGTRAP => "trap",
        libc::SIGABRT => "abort",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "arithmetic exception",
        libc::SIGKILL => "killed; perhaps the machine ran out of memory",
        libc::SIGUSR1 => "user signal 1",
        libc::SIGSEGV => "segmentation fault",
        libc::SIGUSR2 => "user signal 2",
        libc::SIGPIPE => "broken pipe",
        libc::SIGALRM => "alarm",
        libc::SIGTERM => "terminated",
        libc::SIGXCPU => "limit of processor time",
        libc::SIGXFSZ => "limit of file size",
        libc::SIGSYS => "bad system call",
        _ => "unknown signal",
    }
}

/// A rank that ended in a way that fails the job.
pub fn ended(who: &str, exit: Exit) -> Failure {
    let (status, text) = match exit {
        // How a shell tells that what it ran was killed.
        Exit::Code(code @ 129..=159) => {
            let name = signal_name(code - 128);
            (
                code,
                format!(
                    "{who} exited with code {code} (128 + signal {}: {name})",
                    code - 128
                ),
            )
        }
        Exit::Code(code) => (code, format!("{who} exited with code {code}")),
        Exit::Signal(signal) => {
            let name = signal_name(signal);
            (
                128 + signal,
                format!("{who} was killed by signal {signal} ({name})"),
            )
        }
    };
    Failure::new(status, text)
}

/// A rank that asked for the end of the job.
pub fn aborted(who: &str, code: i32, message: &str) -> Failure {
    // A job that was aborted has failed, whatever the code is.
    let status = if code & 0xff == 0 { 1 } else { code & 0xff };
    let reason = if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    };
    Failure::new(
        status,
        format!("{who} ended the job with code {code}{reason}"),
    )
}

/// A rank whose program could not be executed.
pub fn not_started(program: &str, wdir: Option<&str>, stage: Stage, error: &io::Error) -> Failure {
    let text = match stage {
        Stage::Prepare => format!("a process for {program} could not be prepared: {error}"),
        Stage::Directory => format!(
            "the working directory {} of {program} cannot be entered: {error}",
            wdir.unwrap_or_default()
        ),
        Stage::Execute if error.kind() == io::ErrorKind::NotFound => format!(
            "{program} cannot be executed: the interpreter or loader that it names does not exist"
        ),
        Stage::Execute => format!("{program} cannot be executed: {error}"),
    };
    let status = match error.kind() {
        io::ErrorKind::NotFound => NOT_FOUND,
        _ => NOT_STARTED,
    };
    Failure::new(status, text)
}

/// A program that was given the library of another MPI; `own` is Catena's with the same name,
/// `takeover` whether the program was to get it, and `served` whether a PMIx server was there for
/// it.
pub fn foreign(
    program: &str,
    library: &str,
    own: Option<&Path>,
    takeover: bool,
    served: bool,
    ranks: usize,
) -> String {
    let outcome = match ranks {
        1 => "so its rank runs without mpirun".to_string(),
        _ => format!("so each of the {ranks} ranks would run alone"),
    };
    let name = library.rsplit('/').next().unwrap_or_default();
    let remedy = if name.starts_with("libmpi_abi.so") {
        let preload = own.map(|own| {
            format!(
                "; if the program names that folder itself (DT_RPATH), add -x LD_PRELOAD={}",
                own.display()
            )
        });
        format!(
            "take {} out of LD_LIBRARY_PATH{}",
            library.strip_suffix(name).unwrap_or_default(),
            preload.unwrap_or_default()
        )
    } else if let Some(own) = own {
        let pmix = match name.contains(".so.40") && !served {
            true => "add --pmix, with which mpirun serves programs of Open MPI; ",
            false => "",
        };
        let own = own.display();
        match takeover {
            true => format!(
                "{pmix}to run it on Catena, although it names that file or its folder itself, add \
                 -x LD_PRELOAD={own}"
            ),
            false => format!("{pmix}to run it on Catena, leave out --no-takeover"),
        }
    } else if name.contains(".so.40") && !served {
        "add --pmix, with which mpirun serves programs of Open MPI, or compile the program with \
         Catena's mpicc"
            .to_string()
    } else {
        "compile the program with Catena's mpicc, or start it with that library's own launcher"
            .to_string()
    };
    let allow = match ranks {
        1 => "",
        _ => "; --set LAUNCH_FOREIGN=allow lets it run so",
    };
    let unasked = match served {
        true => " and has not asked the PMIx server of mpirun for its place",
        false => "",
    };
    format!(
        "{program} uses the MPI library {library}, which is not Catena's{unasked}, {outcome}: \
         {remedy}{allow}"
    )
}

/// The user or somebody else wanted it.
pub fn interrupted(signal: i32) -> Failure {
    let text = format!("ended by signal {signal} ({})", signal_name(signal));
    Failure::new(128 + signal, text)
}

/// The failure of a job that took too long.
pub fn timed_out(limit: Duration) -> Failure {
    let text = format!("the time limit of {} s has passed", limit.as_secs_f64());
    Failure::new(124, text)
}

/// Files that do not take what was to be written to them.
pub fn not_taken(files: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let names = files.iter().map(|file| file.display().to_string());
    let mut names: Vec<String> = names.collect();
    if names.len() > SHOWN + 1 {
        let more = names.split_off(SHOWN).len();
        names.push(format!("{more} other files"));
    }
    match &names[..] {
        [one] => format!("{one} does not take it"),
        [some @ .., last] => format!("{} and {last} do not take it", some.join(", ")),
        [] => "nobody takes it".to_string(),
    }
}

/// What became of the ranks that were still running: `count` had to be ended.
/// `others` is how many there are besides the one that failed, if one did.
pub fn rest(count: usize, others: Option<usize>) -> String {
    let ranks = |n: usize| {
        if n == 1 {
            "1 rank was".to_string()
        } else {
            format!("{n} ranks were")
        }
    };
    match (count, others) {
        (0, _) => String::new(),
        (1, Some(1)) => "; the other rank was ended".to_string(),
        (n, Some(m)) if n == m => format!("; the other {n} ranks were ended"),
        (1, Some(_)) => "; 1 other rank was ended".to_string(),
        (n, Some(_)) => format!("; {n} other ranks were ended"),
        (n, None) => format!("; {} ended", ranks(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_but_for_too_many() {
        let of = |count| {
            let names = ["a", "b", "c", "d", "e", "f"].map(PathBuf::from);
            not_taken(&names[..count])
        };
        assert_eq!(of(1), "a does not take it");
        assert_eq!(of(2), "a and b do not take it");
        assert_eq!(of(4), "a, b, c and d do not take it");
        assert_eq!(of(6), "a, b, c and 3 other files do not take it");
    }

    #[test]
    fn statuses_follow_the_shell() {
        assert_eq!(ended("rank 0", Exit::Code(3)).status, 3);
        assert_eq!(ended("rank 0", Exit::Signal(11)).status, 139);
        assert_eq!(interrupted(2).status, 130);
        assert_eq!(timed_out(Duration::from_millis(1500)).status, 124);
        assert_eq!(aborted("rank 0", 256, "").status, 1);
        assert_eq!(aborted("rank 0", 300, "").status, 44);
        let shell = ended("rank 0", Exit::Code(139));
        assert_eq!(shell.status, 139);
        assert!(
            shell
                .text
                .unwrap()
                .contains("signal 11: segmentation fault")
        );
        assert_eq!(aborted("rank 0", -1, "").status, 255);
    }

    #[test]
    fn messages_say_who_and_why() {
        let text = ended("rank 2 on host h (pid 5, ./a)", Exit::Signal(11))
            .text
            .unwrap()
            + &rest(3, Some(3));
        assert_eq!(
            text,
            "rank 2 on host h (pid 5, ./a) was killed by signal 11 (segmentation fault); \
             the other 3 ranks were ended"
        );
        assert_eq!(rest(0, Some(3)), "");
        assert_eq!(rest(1, Some(3)), "; 1 other rank was ended");
        assert_eq!(rest(1, Some(1)), "; the other rank was ended");
        assert_eq!(rest(1, None), "; 1 rank was ended");
        assert_eq!(rest(4, None), "; 4 ranks were ended");
        assert_eq!(
            aborted("rank 1", 7, "no input").text.unwrap(),
            "rank 1 ended the job with code 7: no input"
        );
    }
}
