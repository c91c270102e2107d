//! Why a process cannot be wired up.

use std::fmt;
use std::io;

use crate::foreign::Foreign;
use crate::wire::Malformed;

/// Wire-up failed; the text names the cause and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum BootError {
    /// `CATENA_BOOT` is not what the launcher writes.
    BadVariable(String),
    /// The launcher's socket cannot be reached.
    Unreachable(io::Error),
    /// This process has as many descriptors as it may have.
    Descriptors,
    /// Somebody else listens where the launcher should.
    Stranger {
        /// Whose process that is.
        user: u32,
    },
    /// The memory that came with the launcher's answer is not fit to be shared:
    /// cause.
    Unsound(String),
    /// The launcher does not take this process; its words.
    Refused(String),
    /// Ranks have settings that differ and must not: which, in words.
    Settings(String),
    /// The launcher has ended.
    LauncherGone,
    /// The launcher sent what cannot be understood.
    Malformed(Malformed),
    /// Reading or writing failed.
    Io(io::Error),
    /// Started by a launcher that Catena cannot talk to.
    Foreign(Foreign),
    /// The process manager of the launcher is not what it should be: cause.
    Manager(String),
    /// The launcher's PMIx server does not take this process.
    NoFit {
        /// The libpmix that this process has asked it through, with its version.
        library: String,
        /// The version of the server, as the launcher tells; empty if it does not.
        server: String,
        /// What the library says.
        cause: String,
    },
    /// The launcher has a PMIx server, but no libpmix can be opened: causes.
    NoPmix(String),
    /// The node's shared memory, made by another rank, cannot be opened: cause.
    Segment(String),
    /// Key or value exceed the limits of [`Boot::put`](crate::Boot::put).
    TooLong {
        /// Length of the key in bytes.
        key: usize,
        /// Length of the value in bytes.
        value: usize,
    },
    /// A rank outside the job.
    NoSuchRank {
        /// The one that was asked for.
        rank: u32,
        /// Number of ranks.
        size: u32,
    },
    /// A job that the launcher does not have, or has no more.
    NoSuchJob(u64),
    /// A process that nobody has started can have no launcher of its own: cause.
    NoServer(String),
    /// A fence was begun twice or ended without having begun.
    Fence,
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BootError::BadVariable(value) => write!(
                f,
                "CATENA_BOOT={value} was not written by Catena's mpirun of this version; \
                 unset it, or start the program with the mpirun that belongs to this library"
            ),
            BootError::Unreachable(error) => write!(
                f,
                "the launcher that CATENA_BOOT names cannot be reached ({error}): it has ended, \
                 or this process is in another network namespace; start the program with mpirun, \
                 or set CATENA_SINGLETON=1 to run it alone"
            ),
            BootError::Descriptors => f.write_str(
                "this process has no room for one more open file, and needs one to share memory \
                 with others: raise the limit (ulimit -n)",
            ),
            BootError::Stranger { user } => write!(
                f,
                "a process of user {user} listens where the launcher that CATENA_BOOT names \
                 should: that one has ended, or runs as another user; start the program with \
                 mpirun, as the user who runs it"
            ),
            BootError::Unsound(cause) => write!(
                f,
                "the launcher gave memory that cannot be shared safely ({cause}); start the \
                 program with the mpirun that belongs to this library, as the user who runs it"
            ),
            BootError::Refused(words) | BootError::Settings(words) => f.write_str(words),
            BootError::LauncherGone => {
                f.write_str("the launcher (mpirun) has ended; this process cannot go on alone")
            }
            BootError::Malformed(error) => write!(
                f,
                "the launcher sent what this library cannot read ({error}); start the program \
                 with the mpirun that belongs to this library"
            ),
            BootError::Io(error) => write!(f, "talking to the launcher failed: {error}"),
            BootError::Foreign(foreign) => foreign.fmt(f),
            BootError::Manager(cause) => write!(
                f,
                "the process manager of the launcher that started this program is no help: \
                 {cause}; start the program with Catena's own mpirun, or, if it shall run alone, \
                 set CATENA_SINGLETON=1"
            ),
            BootError::NoFit {
                library,
                server,
                cause,
            } => {
                let version = match server.as_str() {
                    "" => String::new(),
                    version => format!(", of version {version},"),
                };
                write!(
                    f,
                    "the PMIx server of the launcher that started this program{version} does not \
                     take it, which asked through {library} ({cause}): the server has ended, or the \
                     two versions do not fit; name the launcher's own libpmix with \
                     CATENA_PMIX=PATH, or start the program with Catena's own mpirun, or, if it \
                     shall run alone, set CATENA_SINGLETON=1"
                )
            }
            BootError::NoPmix(causes) => write!(
                f,
                "the launcher speaks PMIx, but no libpmix can be opened ({causes}): install it \
                 (Debian: libpmix2), or say where it is with CATENA_PMIX=PATH, or start the \
                 program with Catena's own mpirun"
            ),
            BootError::Segment(cause) => write!(
                f,
                "the memory that the ranks of this node share cannot be opened ({cause}): they \
                 run as different users or cannot see each other's /proc; start the program with \
                 Catena's own mpirun, or set CATENA_LINK=ofi for all ranks, so that they use a \
                 network"
            ),
            BootError::TooLong { key, value } => write!(
                f,
                "a key of {key} or a value of {value} bytes is too long for the key-value \
                 exchange (limits: 64 KiB and 16 MiB)"
            ),
            BootError::NoSuchRank { rank, size } => {
                write!(f, "rank {rank} is not in this job of {size} ranks")
            }
            BootError::NoSuchJob(job) => write!(
                f,
                "there is no job {job:016x} here: it has ended, or another launcher has started it"
            ),
            BootError::NoServer(cause) => write!(
                f,
                "this process was not started by Catena's mpirun, and to spawn or connect needs a \
                 launcher of its own, which cannot be started: {cause}; start the program with \
                 Catena's mpirun"
            ),
            BootError::Fence => {
                f.write_str("a fence was begun while one is under way, or ended without one")
            }
        }
    }
}

impl std::error::Error for BootError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BootError::Unreachable(error) | BootError::Io(error) => Some(error),
            BootError::Malformed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Malformed> for BootError {
    fn from(error: Malformed) -> Self {
        BootError::Malformed(error)
    }
}

impl From<io::Error> for BootError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::UnexpectedEof => BootError::LauncherGone,
            _ => BootError::Io(error),
        }
    }
}
