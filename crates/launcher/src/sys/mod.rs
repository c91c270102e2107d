//! The system calls that the standard library lacks, made safe.

mod children;
mod signals;
mod start;
mod watchdog;
mod writer;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;

use libc::c_int;
use rustix::event::{self, PollFd, PollFlags, Timespec};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use rustix::process::{self, Signal};
use rustix::{stdio, termios};

pub use children::{
    Other, adopt, await_exit, claim, group, is_claimed, is_in_group, kill, kill_group, peek_exit,
    reap,
};
pub use signals::{FileLimit, Signals, restore_in, spawn_deaf};
pub use start::{Start, Strings, affinity, check_binding, read_failure, start};
pub use watchdog::{Guard, Watchdog};
pub use writer::{Writer, is_same};

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Writes some of `bytes`.
pub fn write(fd: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(fd, bytes)?)
}

/// Reads some bytes past the buffers of the standard library; 0 at the end.
pub fn read(fd: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(fd, bytes)?)
}

/// Makes reads and writes fail rather than wait.
pub fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(fd, true)?)
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
    stdio::dup2_stdin(&null)?;
    stdio::dup2_stdout(&null)?;
    Ok(taken)
}

/// Takes this process's stdin from it, which then is empty.
pub fn take_stdin() -> io::Result<OwnedFd> {
    let null = std::fs::File::open("/dev/null")?;
    let taken = io::stdin().as_fd().try_clone_to_owned()?;
    stdio::dup2_stdin(&null)?;
    Ok(taken)
}

/// Goes on as a process of a session of its own, whose parent has ended: true in the parent,
/// which is to end. To be called while there is one thread.
pub fn leave_parent() -> io::Result<bool> {
    // SAFETY: this process has one thread, so the child may do anything.
    if check(unsafe { libc::fork() })? > 0 {
        return Ok(true);
    }
    let _ = process::setsid();
    Ok(false)
}

/// The addresses of this host's networks that are up, without loopback, at which others can reach
/// it.
pub fn addresses() -> Vec<IpAddr> {
    let mut addresses = own_addresses();
    // Those of a link need its name, which differs between hosts.
    addresses.retain(|address| match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    });
    addresses
}

/// All addresses of this host's networks that are up, without loopback.
pub fn own_addresses() -> Vec<IpAddr> {
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
                    found.push(IpAddr::V6(address));
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
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    match net::connect(&socket, to) {
        Err(Errno::INPROGRESS) | Ok(()) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

/// Whether this process may read from the terminal `fd`.
pub fn in_foreground(fd: BorrowedFd<'_>) -> bool {
    termios::tcgetpgrp(fd) == Ok(process::getpgrp())
}

/// Whether somebody may still write to what `fd` reads: to a terminal, or to a
/// pipe or socket whose other end is open. What a file holds is there already,
/// and /dev/null holds nothing.
pub fn may_grow(fd: BorrowedFd<'_>) -> bool {
    let kind = rustix::fs::fstat(fd).map(|about| FileType::from_raw_mode(about.st_mode));
    if !matches!(kind, Ok(FileType::Fifo | FileType::Socket)) && !termios::isatty(fd) {
        return false;
    }
    let gone = PollFlags::HUP | PollFlags::RDHUP;
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::RDHUP)];
    // If poll fails, nothing is known against it.
    event::poll(&mut fds, Some(&Timespec::default())).is_err() || !fds[0].revents().intersects(gone)
}

/// The user that this process is.
pub fn user() -> u32 {
    process::getuid().as_raw()
}

/// Sets a variable of this process, which must have one thread.
pub fn set_variable(name: &str, value: &str) {
    // SAFETY: no other thread can read the environment meanwhile.
    unsafe { std::env::set_var(name, value) };
}

/// The time of day here, to a thousandth of a second.
pub fn local_time() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let seconds = now.as_secs() as libc::time_t;
    // SAFETY: all zeros are a valid time, which the call replaces.
    let time = unsafe {
        let mut time: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut time);
        time
    };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}",
        time.tm_year + 1900,
        time.tm_mon + 1,
        time.tm_mday,
        time.tm_hour,
        time.tm_min,
        time.tm_sec,
        now.subsec_millis()
    )
}

/// Ends this process without the farewells of its libraries.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: a plain call.
    unsafe { libc::_exit(status) }
}

/// Lets this process end without a word when nobody reads what it writes any more. For commands
/// that do nothing but write: Rust ignores the signal, and a panic would follow.
pub fn end_with_reader() {
    // SAFETY: the default action has no code of this process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Stops this process until somebody sends SIGCONT.
pub fn stop_self() {
    let _ = process::kill_process(process::getpid(), Signal::STOP);
}

/// Has a file in memory from which programs execute, for good, as the loader has a library.
#[cfg(test)]
pub fn load(path: &std::path::Path) {
    use std::os::fd::AsRawFd;

    let file = std::fs::File::open(path).expect("the file is there");
    let access = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: new memory, which nobody touches.
    let at = unsafe {
        let null = std::ptr::null_mut();
        libc::mmap(null, 4096, access, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    assert_ne!(at, libc::MAP_FAILED);
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn an_input_grows_while_somebody_may_write_to_it() {
        let (read, mut write) = io::pipe().unwrap();
        assert!(may_grow(read.as_fd()));
        io::Write::write_all(&mut write, b"the last").unwrap();
        assert!(may_grow(read.as_fd()));
        drop(write);
        assert!(!may_grow(read.as_fd()));

        let (here, there) = UnixStream::pair().unwrap();
        assert!(may_grow(here.as_fd()));
        there.shutdown(Shutdown::Write).unwrap();
        assert!(!may_grow(here.as_fd()));

        for path in ["/dev/null", "/proc/self/exe"] {
            assert!(!may_grow(File::open(path).unwrap().as_fd()), "{path}");
        }
        // A terminal that somebody holds the other end of.
        let ours = File::options()
            .read(true)
            .write(true)
            .open("/dev/ptmx")
            .unwrap();
        assert!(may_grow(ours.as_fd()));
    }
}
