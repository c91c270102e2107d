//! The system calls that the standard library lacks, made safe.

mod signals;
mod start;
mod warden;

use std::io;
use std::mem::zeroed;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use libc::c_int;

pub use signals::{FileLimit, Signals, restore_in};
pub use start::{Stage, Start, Strings, read_failure, start};
pub use warden::Warden;

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
