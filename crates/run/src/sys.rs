//! The system calls that the standard library lacks, made safe.

use std::ffi::{CStr, CString};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::mem::{MaybeUninit, size_of, zeroed};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use catena_topo::Cpus;
use libc::{c_char, c_int, sigset_t};

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Writes some of `bytes`.
pub fn write(fd: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: `bytes` is readable for its length.
    let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Reads some bytes past the buffers of the standard library; 0 at the end.
pub fn read(fd: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: `bytes` is writable for its length.
    let n = unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Whether a write would not block, or would fail at once.
pub fn has_room(fd: BorrowedFd<'_>) -> bool {
    let mut poll = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `poll` is one element.
    unsafe { libc::poll(&mut poll, 1, 0) > 0 }
}

/// Makes reads and writes fail rather than wait.
pub fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: plain calls on an open descriptor.
    let flags = check(unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
    Ok(())
}

/// Takes this process's stdin and stdout from it, which then are empty.
pub fn take_streams() -> io::Result<[OwnedFd; 2]> {
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    let taken = [
        io::stdin().as_fd().try_clone_to_owned()?,
        io::stdout().as_fd().try_clone_to_owned()?,
    ];
    for fd in 0..2 {
        // SAFETY: a plain call; both descriptors stay open for good.
        check(unsafe { libc::dup2(null.as_raw_fd(), fd) })?;
    }
    Ok(taken)
}

/// The addresses of this host's networks that are up, without loopback.
pub fn addresses() -> Vec<IpAddr> {
    let mut first = ptr::null_mut();
    let mut found = Vec::new();
    // SAFETY: `first` is writable; the list that it then leads to is valid until
    // it is freed, and an address is of the kind that its family says.
    unsafe {
        if libc::getifaddrs(&mut first) != 0 {
            return found;
        }
        let mut next = first;
        while let Some(entry) = next.as_ref() {
            next = entry.ifa_next;
            let up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
            let loopback = entry.ifa_flags & libc::IFF_LOOPBACK as u32 != 0;
            if entry.ifa_addr.is_null() || !up || loopback {
                continue;
            }
            match i32::from((*entry.ifa_addr).sa_family) {
                libc::AF_INET => {
                    let address = *entry.ifa_addr.cast::<libc::sockaddr_in>();
                    let bits = u32::from_be(address.sin_addr.s_addr);
                    found.push(IpAddr::V4(bits.into()));
                }
                libc::AF_INET6 => {
                    let address = *entry.ifa_addr.cast::<libc::sockaddr_in6>();
                    let address = std::net::Ipv6Addr::from(address.sin6_addr.s6_addr);
                    // Those of a link need its name, which differs between hosts.
                    if !address.is_unicast_link_local() {
                        found.push(IpAddr::V6(address));
                    }
                }
                _ => {}
            }
        }
        libc::freeifaddrs(first);
    }
    found
}

/// Begins to connect; writable once that has succeeded or failed.
pub fn begin_connect(to: &SocketAddr) -> io::Result<TcpStream> {
    // SAFETY: all-zero is valid for both.
    let (mut v4, mut v6): (libc::sockaddr_in, libc::sockaddr_in6) = unsafe { (zeroed(), zeroed()) };
    let (family, address, len): (_, *const libc::sockaddr, _) = match to {
        SocketAddr::V4(to) => {
            v4.sin_family = libc::AF_INET as libc::sa_family_t;
            v4.sin_port = to.port().to_be();
            v4.sin_addr.s_addr = u32::from(*to.ip()).to_be();
            (libc::AF_INET, ptr::from_ref(&v4).cast(), size_of_val(&v4))
        }
        SocketAddr::V6(to) => {
            v6.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            v6.sin6_port = to.port().to_be();
            v6.sin6_addr.s6_addr = to.ip().octets();
            (libc::AF_INET6, ptr::from_ref(&v6).cast(), size_of_val(&v6))
        }
    };
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: plain calls; the new descriptor is nobody else's, and the address
    // is readable for its length.
    unsafe {
        let fd = OwnedFd::from_raw_fd(check(libc::socket(family, kind, 0))?);
        match check(libc::connect(
            fd.as_raw_fd(),
            address,
            len as libc::socklen_t,
        )) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(fd.into()),
        }
    }
}

/// Has a command start with the signals and limits that this process began
/// with.
pub fn restore_in(command: &mut Command, signals: &Signals, files: FileLimit) {
    let before = signals.before;
    let restore = move || {
        // SAFETY: plain calls on values that the closure owns.
        unsafe {
            libc::setrlimit(libc::RLIMIT_NOFILE, &files.0);
            libc::sigprocmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: the closure makes only system calls.
    unsafe { command.pre_exec(restore) };
}

/// Whether this process may read from the terminal `fd`.
pub fn in_foreground(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: plain calls.
    unsafe { libc::tcgetpgrp(fd.as_raw_fd()) == libc::getpgrp() }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
}

/// How a child has ended, if it has. It stays a zombie, so that its number,
/// which is also that of its group, is not used again.
pub fn peek_exit(pid: i32) -> Option<Exit> {
    // SAFETY: all-zero is a valid siginfo.
    let mut info: libc::siginfo_t = unsafe { zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is writable; its status is valid as a child was reported.
    unsafe {
        if libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, flags) != 0
            || info.si_pid() != pid
        {
            return None;
        }
        Some(match info.si_code {
            libc::CLD_EXITED => Exit::Code(info.si_status()),
            _ => Exit::Signal(info.si_status()),
        })
    }
}

/// How a child ends; waits for that. It stays a zombie.
pub fn await_exit(pid: i32) -> Exit {
    // SAFETY: a null result is allowed.
    while unsafe {
        libc::waitid(
            libc::P_PID,
            pid as libc::id_t,
            ptr::null_mut(),
            libc::WEXITED | libc::WNOWAIT,
        )
    } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
    peek_exit(pid).unwrap_or(Exit::Code(0))
}

/// The user that this process is.
pub fn user() -> u32 {
    // SAFETY: a plain call.
    unsafe { libc::getuid() }
}

/// Sets a variable of this process, which must have one thread.
pub fn set_variable(name: &str, value: &str) {
    // SAFETY: no other thread can read the environment meanwhile.
    unsafe { std::env::set_var(name, value) };
}

/// Ends this process without the farewells of its libraries.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: a plain call.
    unsafe { libc::_exit(status) }
}

/// Waits for a child and forgets it.
pub fn reap(pid: i32) {
    // SAFETY: a null status is allowed.
    while unsafe { libc::waitpid(pid, ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Sends a signal to a process. One that is gone is no error.
pub fn kill(pid: i32, signal: i32) {
    // SAFETY: a plain call.
    unsafe { libc::kill(pid, signal) };
}

/// Sends a signal to all processes of a group. One that is gone is no error.
pub fn kill_group(group: i32, signal: i32) {
    // SAFETY: a plain call.
    unsafe { libc::killpg(group, signal) };
}

/// Lets this process end without a word when nobody reads what it writes any more. For commands that
/// do nothing but write: Rust ignores the signal, and a panic would follow.
pub fn end_with_reader() {
    // SAFETY: the default action has no code of this process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Stops this process until somebody sends SIGCONT.
pub fn stop_self() {
    // SAFETY: a plain call.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// The limits on open descriptors, before the launcher raised its own.
#[derive(Clone, Copy)]
pub struct FileLimit(libc::rlimit);

impl FileLimit {
    /// Raises the limit of this process as far as it may be.
    pub fn raise() -> io::Result<FileLimit> {
        // SAFETY: all-zero is a valid rlimit.
        let mut limit: libc::rlimit = unsafe { zeroed() };
        // SAFETY: `limit` is writable.
        check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
        let most = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        // SAFETY: `most` is readable.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &most) })?;
        Ok(FileLimit(limit))
    }

    /// How many descriptors this process may have now.
    pub fn most(&self) -> u64 {
        self.0.rlim_max
    }
}

/// Signals as readable events; they have no other effect on this process.
pub struct Signals {
    fd: OwnedFd,
    /// What was blocked before; children start with it.
    before: sigset_t,
}

/// Signals that the launcher handles.
const HANDLED: [c_int; 9] = [
    libc::SIGCHLD,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

impl Signals {
    /// Blocks the signals and makes them readable.
    pub fn open() -> io::Result<Signals> {
        // SAFETY: the sets are initialised by sigemptyset and sigprocmask.
        unsafe {
            let mut set: sigset_t = zeroed();
            let mut before: sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            for signal in HANDLED {
                libc::sigaddset(&mut set, signal);
            }
            check(libc::sigprocmask(libc::SIG_BLOCK, &set, &mut before))?;
            let fd = check(libc::signalfd(
                -1,
                &set,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            ))?;
            Ok(Signals {
                fd: OwnedFd::from_raw_fd(fd),
                before,
            })
        }
    }

    /// The next signal that has arrived.
    pub fn next(&self) -> Option<i32> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: a read of this size fills `info` or fails.
        unsafe {
            let n = libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size);
            (n == size as isize).then(|| info.assume_init().ssi_signo as i32)
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Strings for `execve`: pointers that end with a null, into strings that it
/// keeps alive.
pub struct Strings {
    strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    /// From these.
    pub fn new(strings: Vec<CString>) -> Strings {
        let pointers = strings
            .iter()
            .map(|s| s.as_ptr())
            .chain([ptr::null()])
            .collect();
        Strings { strings, pointers }
    }

    /// The same with others at the end in place of the last `extra.len()`.
    pub fn replace_last(
        &mut self,
        extra: impl IntoIterator<Item = CString, IntoIter: ExactSizeIterator>,
    ) {
        let extra = extra.into_iter();
        let start = self.strings.len().saturating_sub(extra.len());
        for (index, string) in (start..).zip(extra) {
            self.pointers[index] = string.as_ptr();
            self.strings[index] = string;
        }
    }
}

/// A process to be started.
pub struct Start<'a> {
    /// Identifies it in the report of a failure.
    pub rank: u32,
    /// Program.
    pub path: &'a CStr,
    /// Arguments.
    pub args: &'a Strings,
    /// The same for `/bin/sh`, for scripts that do not name their interpreter.
    pub shell_args: &'a Strings,
    /// Environment.
    pub env: &'a Strings,
    /// Working directory, if another one.
    pub wdir: Option<&'a CStr>,
    /// Its standard streams.
    pub stdio: [BorrowedFd<'a>; 3],
    /// Where a failure is reported: see [`read_failure`].
    pub failures: BorrowedFd<'a>,
    /// CPUs to be bound to.
    pub cpus: Option<&'a Cpus>,
    /// Signals that the launcher handles.
    pub signals: &'a Signals,
    /// Limits to restore.
    pub files: FileLimit,
}

/// What the child of [`start`] was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    /// Preparing its streams and limits.
    Prepare = 0,
    /// Entering its working directory.
    Directory = 1,
    /// Executing the program.
    Execute = 2,
}

impl Stage {
    /// From its number.
    pub fn from_number(number: u32) -> Stage {
        match number {
            0 => Stage::Prepare,
            1 => Stage::Directory,
            _ => Stage::Execute,
        }
    }
}

/// Starts a process in a group of its own, which is killed when this process
/// ends for whatever reason. Returns before the program is executed; if that
/// fails, the process ends with status 127 and reports why.
pub fn start(what: &Start<'_>) -> io::Result<i32> {
    // SAFETY: this process has one thread, and the child only makes system
    // calls until it executes the program or exits.
    unsafe {
        let launcher = libc::getpid();
        let pid = check(libc::fork())?;
        if pid == 0 {
            let stage = run_child(what, launcher);
            let errno = *libc::__errno_location();
            let report = [what.rank, stage as u32, errno as u32];
            libc::write(
                what.failures.as_raw_fd(),
                report.as_ptr().cast(),
                size_of_val(&report),
            );
            libc::_exit(127);
        }
        // In both processes, so that it has happened whoever is first.
        libc::setpgid(pid, pid);
        Ok(pid)
    }
}

/// The part of [`start`] in the child. Returns only if something failed.
///
/// # Safety
/// To be called right after a fork, in the child.
unsafe fn run_child(what: &Start<'_>, launcher: i32) -> Stage {
    // SAFETY: only system calls with pointers into memory that the fork
    // copied; the strings end with zeros and their lists with nulls.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != launcher {
            libc::_exit(127);
        }
        for (to, from) in (0..).zip(what.stdio) {
            if libc::dup2(from.as_raw_fd(), to) < 0 {
                return Stage::Prepare;
            }
        }
        if let Some(cpus) = what.cpus {
            let mut set: libc::cpu_set_t = zeroed();
            // Linux allows no others here.
            for cpu in cpus.iter().filter(|&cpu| cpu < libc::CPU_SETSIZE as u32) {
                libc::CPU_SET(cpu as usize, &mut set);
            }
            if libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) != 0 {
                return Stage::Prepare;
            }
        }
        libc::setrlimit(libc::RLIMIT_NOFILE, &what.files.0);
        if let Some(wdir) = what.wdir
            && libc::chdir(wdir.as_ptr()) != 0
        {
            return Stage::Directory;
        }
        // Rust programs ignore it, which `execve` would pass on.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &what.signals.before, ptr::null_mut());
        let env = what.env.pointers.as_ptr();
        libc::execve(what.path.as_ptr(), what.args.pointers.as_ptr(), env);
        if *libc::__errno_location() == libc::ENOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), what.shell_args.pointers.as_ptr(), env);
        }
        Stage::Execute
    }
}

/// Reads why a process could not be started: its rank, what it was doing, and
/// the error.
pub fn read_failure(mut pipe: &PipeReader) -> Option<(u32, Stage, io::Error)> {
    let mut report = [0; 12];
    // Reports are shorter than what a pipe writes at once.
    pipe.read_exact(&mut report).ok()?;
    let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| report[at + i]));
    let stage = Stage::from_number(word(4));
    Some((word(0), stage, io::Error::from_raw_os_error(word(8) as i32)))
}

/// A process that outlives the launcher by a moment, to kill the groups of all
/// ranks if the launcher is killed. (The signal that a rank gets when the
/// launcher dies does not reach the rank's own children.)
pub struct Warden {
    pid: i32,
    groups: PipeWriter,
}

impl Warden {
    /// Starts it. To be called before other descriptors are opened and while
    /// there is one thread.
    pub fn start() -> io::Result<Warden> {
        let (read, write) = io::pipe()?;
        // SAFETY: this process has one thread, so the child may do anything.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop(write);
            guard(read);
        }
        Ok(Warden { pid, groups: write })
    }

    /// Puts a group of processes under guard.
    pub fn watch(&self, group: i32) {
        // A pipe that takes no more is one that the warden no longer reads.
        let _ = write(&self.groups, &group.to_ne_bytes());
    }

    /// Ends it: nothing is to be guarded any more.
    pub fn stop(&self) {
        kill(self.pid, libc::SIGKILL);
        reap(self.pid);
    }
}

/// The life of the warden.
fn guard(mut groups: PipeReader) -> ! {
    const GROUPS: RawFd = 3;
    // SAFETY: plain calls; the descriptors that are closed belong to nobody in
    // this process, and `groups` is moved to one that stays open.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"catena-warden".as_ptr());
        let mut all: sigset_t = zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &all, ptr::null_mut());
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for fd in 0..3 {
            libc::dup2(null, fd);
        }
        if groups.as_raw_fd() != GROUPS {
            libc::dup2(groups.as_raw_fd(), GROUPS);
            std::mem::forget(std::mem::replace(
                &mut groups,
                PipeReader::from(OwnedFd::from_raw_fd(GROUPS)),
            ));
        }
        libc::close_range(GROUPS as u32 + 1, u32::MAX, 0);
        libc::chdir(c"/".as_ptr());
    }
    let mut watched = Vec::new();
    let mut group = [0; 4];
    while groups.read_exact(&mut group).is_ok() {
        watched.push(i32::from_ne_bytes(group));
    }
    for group in watched {
        kill_group(group, libc::SIGKILL);
    }
    // SAFETY: ends this process without running what the launcher registered.
    unsafe { libc::_exit(0) }
}
