//! Row 2: wire-up. How the processes of a job learn of each other before they
//! can talk: who they are, where they run, and a key-value exchange.
//!
//! [`open`] chooses the backend:
//!
//! | environment                              | backend                       |
//! |------------------------------------------|-------------------------------|
//! | `CATENA_SINGLETON=1`                     | singleton                     |
//! | `CATENA_BOOT` is set                     | built-in, see [`server`]      |
//! | a process manager is offered             | `direct`                      |
//! | only traces of another launcher          | none: an error that names it  |
//! | nothing of these                         | singleton                     |
//!
//! Processes exchange what they must know of each other in a fence, in which all take part, or on
//! demand: one [publishes](Boot::publish) a value, which stays on its node, and another
//! [asks](Boot::ask) for it without waiting, and the node of that one keeps the answer.
//!
//! `unsafe` is confined to `sys`.

#![deny(unsafe_code)]

pub mod alias;
mod client;
mod direct;
mod equal;
mod error;
mod foreign;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod job;
mod jobs;
mod lineage;
mod open;
pub mod own_server;
mod remote;
pub mod server;
mod singleton;
#[allow(unsafe_code)]
mod sys;

pub mod wire;
pub mod within;

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use catena_settings::{Setting, Text, choice, setting};

pub use direct::pmix_library;
pub use equal::{tell_settings, told_settings};
pub use error::BootError;
pub use foreign::Foreign;
pub use job::{Job, OtherJob, pair_key};
pub use jobs::{
    Death, ELASTIC_SET, ElasticSet, Ended, Outcome, Side, SpawnAnswer, SpawnProgram, SpawnRequest,
    Visit,
};
pub use open::open;
pub use remote::{JobCard, Word};
pub use sys::{Interest, Poller, peer};

choice! {
    /// What becomes of ranks that use another MPI's library.
    #[derive(Default)]
    pub enum OtherMpi {
        /// The job ends with a failure.
        #[default]
        Stop = "stop",
        /// They run, and mpirun mentions it.
        Warn = "warn",
        /// They run.
        Allow = "allow",
    }
}

choice! {
    /// Whose end mpirun's status tells of where a job goes on after deaths.
    pub enum FaultStatus {
        /// That of the first rank that has died.
        First = "first",
        /// That of the ranks that are left: 0 if they have ended well.
        Survivors = "survivors",
    }
}

choice! {
    /// What mpirun does about a program in which checked mode finds errors.
    pub enum OnCheck {
        /// They are told, and the status is that of the program.
        Report = "report",
        /// They are told, the program goes on, and the status is 122 if it would be 0 otherwise.
        Fail = "fail",
        /// The job ends with status 122 as soon as there is one, within a second.
        End = "end",
    }
}

choice! {
    /// What mpirun does about a job that hangs.
    pub enum OnHang {
        /// It says so, with the culprit and the cause, and the job goes on.
        Report = "report",
        /// It says so, and ends the job, with status 123, if it is certain that some ranks wait for
        /// ever.
        End = "end",
        /// Nothing.
        Nothing = "nothing",
    }
}

setting! {
    /// Run as a job of one process, whoever started the program.
    ///
    /// Without it, a program that was started by a launcher that offers Catena
    /// no connection refuses to run, as each process would believe to be alone.
    pub static SINGLETON: bool = false;
    scope: Local,
    level: User,

    /// Where Catena's command is on other hosts, if not in the same place.
    pub static LAUNCH_PATH: Text = Text("");
    scope: Local,
    level: User,

    /// How long a host may take to answer when mpirun starts its daemon there, and a process that
    /// was spawned to call `MPI_Init`; then `MPI_Comm_spawn` fails with an error of class
    /// `MPI_ERR_SPAWN`.
    pub static LAUNCH_TIMEOUT: Duration = Duration::from_secs(60);
    range: Duration::from_millis(1)..=Duration::from_secs(86400),
    scope: Local,
    level: User,

    /// How long ranks that mpirun has asked to end may take to save their work, before it kills
    /// them.
    ///
    /// When it is itself interrupted by SIGINT or SIGQUIT it asks them by the same signal; at
    /// SIGTERM and SIGHUP, when another rank has failed, and when the time is over, by SIGTERM. The
    /// same signal within a second counts once; a second one later, and a second Ctrl-C, kill the
    /// ranks at once.
    pub static LAUNCH_GRACE: Duration = Duration::from_secs(5);
    range: Duration::ZERO..=Duration::from_secs(86400),
    scope: Local,
    level: User,

    /// How long `MPI_Comm_connect` waits for somebody to accept, where the info key `timeout`
    /// does not say; then it fails with an error of class `MPI_ERR_PORT`.
    pub static CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
    range: Duration::from_millis(1)..=Duration::from_secs(86400),
    scope: Local,
    level: User,

    /// What mpirun does about a job in which ranks wait for each other for ever, or wait long.
    ///
    /// It tells who is to blame, what each rank does, and what to do about it: see docs/hangs.md.
    pub static ON_HANG: OnHang = OnHang::Report;
    scope: Local,
    level: User,

    /// What mpirun does about errors that checked mode (`--check`) finds. Warnings change nothing.
    pub static ON_CHECK: OnCheck = OnCheck::Report;
    scope: Local,
    level: User,

    /// How long ranks may wait before mpirun says that there is no progress, where it is not
    /// certain that they wait for ever (that it says after some two seconds).
    pub static HANG_AFTER: Duration = Duration::from_secs(30);
    range: Duration::from_secs(2)..=Duration::from_secs(86400),
    scope: Local,
    level: User,

    /// Where `MPI_Publish_name` publishes for jobs of other mpiruns.
    ///
    /// Empty: only jobs of the same mpirun find a name. `user`: all jobs of the user on this host
    /// for which that is set, too. A directory, which the user must own alone (mode 0700): the jobs
    /// that have it, also on other hosts.
    pub static NAMES: Text = Text("");
    scope: Local,
    level: User,

    /// How many processes `MPI_UNIVERSE_SIZE` tells programs of, which may spawn that many in
    /// all. 0: as many as the hosts have slots, or this one processors. Those that there are
    /// count in any case, and more can be spawned than it says.
    pub static LAUNCH_UNIVERSE: u32 = 0;
    range: 0..=1 << 20,
    scope: Local,
    level: User,

    /// Most daemons that one process of the launcher starts.
    ///
    /// On more hosts than that, daemons start others, and what the launcher
    /// tells them goes from one to the next.
    pub static LAUNCH_FANOUT: u32 = 16;
    range: 1..=4096,
    scope: Local,
    level: Tuner,

    /// What mpirun does with several ranks that use the library of another MPI.
    ///
    /// Each of them would run as a job of its own. With `stop` the job ends and
    /// says which library it is; with `warn` it says so and goes on; with `allow`
    /// it goes on.
    pub static LAUNCH_FOREIGN: OtherMpi = OtherMpi::Stop;
    scope: Local,
    level: User,

    /// Whether ranks find their numbers also in the variables of other launchers.
    ///
    /// These are, for ranks and sizes in the job and on the host, `OMPI_COMM_WORLD_RANK`, `_SIZE`,
    /// `_LOCAL_RANK`, `_LOCAL_SIZE` and `_NODE_RANK`; `PMI_RANK`, `PMI_SIZE`, `PMI_LOCAL_RANK` and
    /// `PMI_LOCAL_SIZE`; `MPI_LOCALRANKID` and `MPI_LOCALNRANKS`; `MV2_COMM_WORLD_RANK`, `_SIZE`,
    /// `_LOCAL_RANK` and `_LOCAL_SIZE`. Without it, what mpirun itself has of them is passed on,
    /// and nothing is set.
    pub static LAUNCH_ALIASES: bool = true;
    scope: Local,
    level: User,

    /// Whether programs of MPICH and of Open MPI run on Catena, also if their own
    /// library is found.
    ///
    /// It is about programs that are linked to `libmpi.so.12` or `libmpi.so.40`, or
    /// load them by these names. Without it, mpirun offers Catena's libraries only
    /// for those that are not found elsewhere. `mpirun --no-takeover` says the same.
    pub static LAUNCH_TAKEOVER: bool = true;
    scope: Local,
    level: User,

    /// The job goes on when a process dies.
    ///
    /// The others are told: what waits for the dead one ends with an error, and mpirun
    /// ends with the status of the first death once all have ended. Without it, the first
    /// death ends the job.
    pub static FAULT_TOLERANCE: bool = false;
    scope: AllEqual,
    level: User,

    /// The status that mpirun ends with where a job goes on after deaths.
    ///
    /// With `first` it is that of the first death, so that none is overlooked. With
    /// `survivors`, as of Open MPI's mpirun, it is 0 if those that are left end well.
    pub static FAULT_STATUS: FaultStatus = FaultStatus::First;
    scope: Local,
    level: User,

    /// How long a host may be silent before mpirun takes it for lost.
    ///
    /// With 0, only a connection that is closed tells that a host is lost.
    pub static HOST_TIMEOUT: Duration = Duration::from_secs(30);
    scope: Local,
    level: User,

    /// Where libpmix is: names or paths, separated by colons, tried in turn.
    ///
    /// Needed to start under prterun or `srun --mpi=pmix`. A name without a
    /// slash is looked for as the dynamic loader does. Empty: the library that
    /// the launcher itself uses, then libpmix.so.2.
    pub static PMIX: Text = Text("");
    scope: Local,
    level: User,

    /// The CPUs of the ranks of each host, one after the other.
    ///
    /// `0:1:4-5` binds the first rank of a host to CPU 0, the next to CPU 1, and
    /// the third to 4 and 5, whatever `--bind-to` says.
    pub static CPU_MAPPING: Text = Text("");
    scope: Local,
    level: User,
}

/// The settings of this crate.
pub static SETTINGS: &[&dyn Setting] = &[
    &SINGLETON,
    &LAUNCH_PATH,
    &LAUNCH_TIMEOUT,
    &LAUNCH_GRACE,
    &CONNECT_TIMEOUT,
    &ON_HANG,
    &ON_CHECK,
    &HANG_AFTER,
    &NAMES,
    &LAUNCH_UNIVERSE,
    &LAUNCH_FANOUT,
    &LAUNCH_FOREIGN,
    &LAUNCH_ALIASES,
    &FAULT_TOLERANCE,
    &FAULT_STATUS,
    &LAUNCH_TAKEOVER,
    &HOST_TIMEOUT,
    &PMIX,
    &CPU_MAPPING,
];

/// Tells a rank how to reach the launcher: `5:<socket>:<job>:<rank>:<cookie>`.
pub const BOOT_VAR: &str = "CATENA_BOOT";

/// The connection of a process to whoever started the job.
pub trait Boot: Send {
    /// Who I am and who else there is.
    fn job(&self) -> &Job;

    /// Whether the launcher looks whether the job hangs.
    fn is_watched(&self) -> bool {
        false
    }

    /// How this process was wired up: names and values to show, the versions
    /// among them.
    fn describe(&self) -> Vec<(&'static str, String)>;

    /// The memory that the ranks of this node share: an anonymous file of a
    /// generous size, all holes, whose layout is up to the taker. `None` if no
    /// other rank is on this node, and perhaps at every call but the first.
    ///
    /// # Errors
    /// [`BootError::Segment`] if it belongs to another rank and cannot be
    /// opened.
    fn take_segment(&mut self) -> Result<Option<OwnedFd>, BootError>;

    /// A look at that memory, which stays with the launcher: behind what the taker lays out, each
    /// process of the node has a place to tell what it does (`catena_trace`). `None` once it was
    /// taken, or if there is none.
    fn segment(&self) -> Option<BorrowedFd<'_>>;

    /// A process of which all ranks of this node are descendants, if one is known.
    fn ancestor(&self) -> Option<u32> {
        None
    }

    /// Offers a value to all ranks; it is sent by the next fence. A later
    /// value for the same key replaces an earlier one.
    ///
    /// # Errors
    /// [`BootError::TooLong`] if key or value exceed 64 KiB or 16 MiB.
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError>;

    /// Publishes what I put and waits until every rank has done so. Collective
    /// over the job.
    ///
    /// # Errors
    /// If the launcher is gone or talks nonsense.
    fn fence(&mut self) -> Result<(), BootError> {
        self.begin_fence()?;
        self.end_fence()
    }

    /// Starts a fence; [`Boot::fence_done`] or [`Boot::end_fence`] ends it.
    ///
    /// # Errors
    /// As [`Boot::fence`]; also if one is under way.
    fn begin_fence(&mut self) -> Result<(), BootError>;

    /// Whether the fence that was begun has ended; never blocks.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn fence_done(&mut self) -> Result<bool, BootError>;

    /// Waits until the fence that was begun has ended.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn end_fence(&mut self) -> Result<(), BootError>;

    /// What `rank` had put under `key` before the last fence.
    ///
    /// # Errors
    /// [`BootError::NoSuchRank`]; backends that ask a server, as
    /// [`Boot::fence`].
    fn get(&mut self, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError>;

    /// Offers a value at once, without a fence: whoever [asks](Boot::ask) for it
    /// gets it, now or later. A key is published once.
    ///
    /// Launchers other than Catena's have no such exchange: there it is a fence,
    /// so it lasts until all ranks have published, and only one key can be under
    /// way.
    ///
    /// # Errors
    /// As [`Boot::put`] and [`Boot::begin_fence`].
    fn publish(&mut self, key: &str, value: &[u8]) -> Result<(), BootError>;

    /// What `rank` of a job, by its random number, has published under `key`, or `None`
    /// while that is not known here. Never blocks: the first call asks, later ones look whether the
    /// answer has come.
    ///
    /// # Errors
    /// As [`Boot::get`]; [`BootError::NoSuchJob`] for other jobs where no launcher of
    /// Catena's knows them.
    fn ask(&mut self, job: u64, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError>;

    /// What only Catena's own launcher does for a process: it knows other jobs. `None`
    /// where another one has started this process, or none.
    fn jobs(&mut self) -> Option<&mut dyn Jobs> {
        None
    }

    /// Has [`Boot::jobs`] give something, where that takes a launcher that is not there yet.
    ///
    /// # Errors
    /// [`BootError::NoServer`].
    fn begin_jobs(&mut self) -> Result<(), BootError> {
        Ok(())
    }

    /// A descriptor that can be read when what was asked for may have come, if
    /// there is one; also when nothing was asked for.
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    /// Ends the job: has every other rank ended and `message` shown once. The
    /// caller then ends its own process with status `code`.
    fn abort(&mut self, code: i32, message: &str);

    /// Says why the job has failed although its processes may go on: in the end its
    /// status tells so. Launchers other than Catena's do not hear of it.
    fn fault(&mut self, _message: &str) {}

    /// Says that this process needs the others no more and may end at will.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn finalize(&mut self) -> Result<(), BootError>;

    /// Takes back [`Boot::finalize`]: this process needs the others again.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn resume(&mut self) -> Result<(), BootError>;

    /// [`Boot::finalize`] at the end of the world model, after which a process
    /// seldom resumes. One that does can reach no rank that it had not reached.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn end(&mut self) -> Result<(), BootError> {
        self.finalize()
    }
}

/// The jobs of a launcher, as a process sees them that is in one of them.
pub trait Jobs {
    /// What there is to know of another job, by its random number, or `None` while it is
    /// not known here. Never blocks: the first call asks, later ones look whether the
    /// answer has come. One that has come is given once.
    ///
    /// # Errors
    /// [`BootError::NoSuchJob`]; as [`Boot::fence`].
    fn learn(&mut self, job: u64) -> Result<Option<OtherJob>, BootError>;

    /// Tells that this process is connected again to a job that it has learnt of and parted
    /// from. Learning of a job connects to it.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn join(&mut self, job: u64) -> Result<(), BootError>;

    /// Tells that this process is connected to a job no more: neither's end touches the other.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn leave_job(&mut self, job: u64) -> Result<(), BootError>;

    /// Jobs that this process has learnt of and that have ended since the last call. Never
    /// blocks.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn gone(&mut self) -> Result<Vec<u64>, BootError>;

    /// The processes that have died since the last call, as far as it is known here. Never
    /// blocks.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn deaths(&mut self) -> Result<Vec<Death>, BootError>;

    /// The versions of the process set of an elastic job that this process was told of since
    /// the last call, ascending. Never blocks.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn sets(&mut self) -> Result<Vec<ElasticSet>, BootError>;

    /// Tells that this process does not reach another one any more, of whose death it was not told.
    /// Where the job goes on without the dead, the launcher says who of the two is.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn unreachable(&mut self, job: u64, rank: u32) -> Result<(), BootError>;

    /// Tells that this process has called MPI_Init, whose world never changes: an elastic job with
    /// such a process stays as it is. To be called before [`Jobs::ready`].
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn tell_world(&mut self) -> Result<(), BootError>;

    /// Tells that processes of other jobs can meet this one from now on without having met it at a
    /// port: what an elastic job waits for before it has a new state.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn ready(&mut self) -> Result<(), BootError>;

    /// Asks for a new job. Its processes wait at the port that [`Job::parent`] names there,
    /// and that is `spawn:` with its number in 16 hexadecimal digits; those who have
    /// spawned it meet them there as [`Side::Host`].
    ///
    /// The ticket that is given is for [`Jobs::outcome`], which a
    /// [`SpawnAnswer`] is read from, once all its processes have connected to the launcher.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn spawn(&mut self, request: &SpawnRequest) -> Result<u32, BootError>;

    /// Opens a port, whose name begins so and is at most 200 bytes long. It closes with this
    /// process. The outcome of the ticket that is given is the whole name, by which other launchers
    /// find the way.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn open_port(&mut self, port: &str) -> Result<u32, BootError>;

    /// Closes a port that this process has opened: who waits there waits in vain.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn close_port(&mut self, port: &str) -> Result<(), BootError>;

    /// Comes to a port with a value, on behalf of a group of processes. The
    /// ticket that is given is for [`Jobs::outcome`], which has the value of the first that
    /// comes from the other side. Every member then learns of the jobs of the other group
    /// ([`Jobs::learn`]), or says that it is connected to them again ([`Jobs::join`]).
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn meet(&mut self, visit: &Visit<'_>) -> Result<u32, BootError>;

    /// Says that a group which has met another one, by the ticket of [`Jobs::meet`], can go on with
    /// it, or why it cannot. The ticket has one more [`Jobs::outcome`] then: whether both can. They
    /// are connected once they are told so.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn confirm(&mut self, ticket: u32, outcome: Result<(), &str>) -> Result<(), BootError>;

    /// Publishes a service with its port for the jobs of this user. The outcome of the
    /// ticket that is given is empty, or why that cannot be.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn publish_service(&mut self, service: &str, port: &str) -> Result<u32, BootError>;

    /// Looks a service up. The outcome of the ticket that is given is its port.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn look_up_service(&mut self, service: &str) -> Result<u32, BootError>;

    /// Withdraws a service that was published with that port, as
    /// [`Jobs::publish_service`].
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn withdraw_service(&mut self, service: &str, port: &str) -> Result<u32, BootError>;

    /// What has become of a ticket, once; `None` while that is not known here. Never blocks.
    ///
    /// # Errors
    /// As [`Boot::fence`].
    fn outcome(&mut self, ticket: u32) -> Result<Option<Outcome>, BootError>;
}

/// Name of this machine.
pub fn host_name() -> String {
    sys::host_name()
}

/// Number of processors that this process and its children may use.
pub fn available_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}
