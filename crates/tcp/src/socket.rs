//! What is asked of the kernel: sockets that never block, and the descriptor
//! that can be read when one of them can be used.

use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Connections that wait to be accepted, at most.
const BACKLOG: i32 = 4096;
/// Ports that are tried, where one is free at some addresses only, at most.
const PORTS: usize = 100;
/// Bytes of a connection that the kernel keeps because the other end has no
/// room for them, about.
const UNSENT: i32 = 256 << 10;

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn count(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn set(fd: RawFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    let len = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the value is read during the call.
    check(unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), len) }).map(drop)
}

/// Sockets that take connections at these addresses and nowhere else, all at one
/// port that the kernel chooses. An address that cannot be used is left out while
/// there are others.
pub(crate) fn listen(at: &[IpAddr]) -> io::Result<Vec<TcpListener>> {
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for _ in 0..PORTS {
        let mut all: Vec<TcpListener> = Vec::new();
        let mut taken = false;
        for &address in at {
            let port = match all.first() {
                Some(first) => first.local_addr()?.port(),
                None => 0,
            };
            match listen_at(SocketAddr::from((address, port))) {
                Ok(listener) => all.push(listener),
                Err(error) => {
                    taken |= error.kind() == io::ErrorKind::AddrInUse;
                    failed = error;
                }
            }
        }
        if !taken && !all.is_empty() {
            return Ok(all);
        }
    }
    Err(failed)
}

fn listen_at(at: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(at)?;
    listener.set_nonblocking(true)?;
    // SAFETY: a socket that listens; only its backlog changes.
    check(unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) })?;
    Ok(listener)
}

/// A port that the kernel chooses and at which nobody listens: it refuses who calls,
/// as long as the descriptor is open.
pub(crate) fn reserve() -> io::Result<(OwnedFd, u16)> {
    // All zero but for the family: any address, and any port.
    let of = |family: i32| {
        // SAFETY: no memory; the descriptor is ours; all zero is an address, in room
        // for any of them.
        unsafe {
            let fd = check(libc::socket(
                family,
                libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
                0,
            ))?;
            let fd = OwnedFd::from_raw_fd(fd);
            let mut name: libc::sockaddr_storage = zeroed();
            name.ss_family = family as libc::sa_family_t;
            let (at, mut len) = (
                (&raw mut name).cast(),
                size_of_val(&name) as libc::socklen_t,
            );
            check(libc::bind(fd.as_raw_fd(), at, len))?;
            check(libc::getsockname(fd.as_raw_fd(), at, &mut len))?;
            // The port has the same place in all of them.
            let port = (*at.cast::<libc::sockaddr_in>()).sin_port;
            Ok((fd, u16::from_be(port)))
        }
    };
    of(libc::AF_INET6).or_else(|_: io::Error| of(libc::AF_INET))
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    /// Where the other end is.
    pub there: IpAddr,
}

impl Socket {
    /// Begins to connect; what comes of it is told by [`Socket::error`] when
    /// the socket can be written.
    pub fn connect(to: SocketAddr, options: Options) -> io::Result<Socket> {
        let family = if to.is_ipv4() {
            libc::AF_INET
        } else {
            libc::AF_INET6
        };
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no memory; the descriptor is ours.
        let socket = unsafe {
            let fd = check(libc::socket(family, kind, 0))?;
            Socket {
                stream: TcpStream::from(OwnedFd::from_raw_fd(fd)),
                there: to.ip(),
            }
        };
        options.apply(socket.fd())?;
        // SAFETY: all zero is an address.
        let mut name: libc::sockaddr_storage = unsafe { zeroed() };
        let at = &raw mut name;
        let len = match to.ip() {
            IpAddr::V4(ip) => {
                let name = libc::sockaddr_in {
                    sin_family: family as libc::sa_family_t,
                    sin_port: to.port().to_be(),
                    sin_addr: libc::in_addr {
                        s_addr: ip.to_bits().to_be(),
                    },
                    sin_zero: [0; 8],
                };
                // SAFETY: there is room for any address.
                unsafe { at.cast::<libc::sockaddr_in>().write(name) };
                size_of::<libc::sockaddr_in>()
            }
            IpAddr::V6(ip) => {
                let name = libc::sockaddr_in6 {
                    sin6_family: family as libc::sa_family_t,
                    sin6_port: to.port().to_be(),
                    sin6_flowinfo: 0,
                    sin6_addr: libc::in6_addr {
                        s6_addr: ip.octets(),
                    },
                    sin6_scope_id: 0,
                };
                // SAFETY: there is room for any address.
                unsafe { at.cast::<libc::sockaddr_in6>().write(name) };
                size_of::<libc::sockaddr_in6>()
            }
        };
        // SAFETY: a whole address, read during the call.
        match check(unsafe { libc::connect(socket.fd(), at.cast(), len as libc::socklen_t) }) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(socket),
        }
    }

    /// Takes a connection, of which nothing is known yet.
    pub fn accept(listener: &TcpListener) -> io::Result<Socket> {
        let (stream, from) = listener.accept()?;
        Ok(Socket {
            stream,
            there: from.ip().to_canonical(),
        })
    }

    /// Prepares it for packets.
    pub fn apply(&self, options: Options) -> io::Result<()> {
        options.apply(self.fd())
    }

    pub fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Where this end is.
    pub fn here(&self) -> Option<IpAddr> {
        let address = self.stream.local_addr().ok()?;
        Some(address.ip().to_canonical())
    }

    /// What has gone wrong, if anything has.
    pub fn error(&self) -> io::Result<()> {
        self.stream.take_error()?.map_or(Ok(()), Err)
    }

    /// Says that nothing more is sent.
    pub fn shut(&self) {
        // A connection that has failed needs it no more.
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Hands bytes to the kernel, as many as it takes.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the bytes are read during the call.
        count(unsafe { libc::send(self.fd(), bytes.as_ptr().cast(), bytes.len(), flags) })
    }

    /// Hands two runs of bytes to the kernel, as far as it takes them.
    ///
    /// # Safety
    /// `len` bytes at `second` must be readable.
    pub unsafe fn send_both(
        &self,
        first: &[u8],
        second: *const u8,
        len: usize,
    ) -> io::Result<usize> {
        let mut parts = [
            libc::iovec {
                iov_base: first.as_ptr().cast_mut().cast(),
                iov_len: first.len(),
            },
            libc::iovec {
                iov_base: second.cast_mut().cast(),
                iov_len: len,
            },
        ];
        // SAFETY: all zero is a message without address.
        let mut message: libc::msghdr = unsafe { zeroed() };
        (message.msg_iov, message.msg_iovlen) = (parts.as_mut_ptr(), 2);
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: both runs are read during the call.
        count(unsafe { libc::sendmsg(self.fd(), &message, flags) })
    }

    /// Takes what has arrived; 0 bytes if nothing will any more.
    #[inline]
    pub fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let (at, len) = (room.as_mut_ptr().cast(), room.len());
        // SAFETY: the room is written during the call.
        count(unsafe { libc::recv(self.fd(), at, len, libc::MSG_DONTWAIT) })
    }

    /// Whether the kernel keeps what is short while something short is under way
    /// (Nagle), or sends all at once, what it has kept, too.
    pub fn gather(&self, keep: bool) {
        // A connection that has failed is noticed elsewhere.
        let _ = self.stream.set_nodelay(!keep);
    }
}

/// What connections are told at their beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// How long the other end may be silent.
    pub timeout: Duration,
    /// Bytes that the kernel keeps until they have arrived.
    pub kernel: Option<usize>,
}

impl Options {
    fn apply(self, fd: RawFd) -> io::Result<()> {
        let seconds = i32::try_from(self.timeout.as_secs())
            .unwrap_or(i32::MAX)
            .max(1);
        let tcp = |name, value| set(fd, libc::IPPROTO_TCP, name, value);
        tcp(libc::TCP_NODELAY, 1)?;
        tcp(libc::TCP_NOTSENT_LOWAT, UNSENT)?;
        tcp(libc::TCP_KEEPIDLE, (seconds / 2).max(1))?;
        tcp(libc::TCP_KEEPINTVL, (seconds / 8).max(1))?;
        tcp(libc::TCP_USER_TIMEOUT, seconds.saturating_mul(1000))?;
        set(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
        if let Some(bytes) = self.kernel {
            let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
            set(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes)?;
        }
        Ok(())
    }
}

/// The processor time that this thread has taken.
pub(crate) fn cpu_time() -> Duration {
    // SAFETY: all zero is a time, which is written during the call.
    let time = unsafe {
        let mut time: libc::timespec = zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What is of interest at a socket.
fn events(write: bool) -> i32 {
    libc::EPOLLIN | if write { libc::EPOLLOUT } else { 0 }
}

/// Watches sockets.
#[derive(Debug)]
pub(crate) struct Watch(OwnedFd);

impl Watch {
    pub fn new() -> io::Result<Watch> {
        // SAFETY: no memory; the descriptor is ours.
        unsafe {
            let fd = check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            Ok(Watch(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// A descriptor that can be read when a socket can be used.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    fn control(&self, what: i32, fd: RawFd, number: u64, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: number,
        };
        // SAFETY: the description is read during the call.
        check(unsafe { libc::epoll_ctl(self.fd(), what, fd, &mut event) }).map(drop)
    }

    /// Watches a socket until it is closed.
    pub fn add(&self, fd: RawFd, number: u64, write: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, number, events(write))
    }

    /// Whether it is of interest that a socket can be written.
    pub fn change(&self, fd: RawFd, number: u64, write: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, number, events(write))
    }

    /// Whether it is of no interest that a socket can be read.
    pub fn mute(&self, fd: RawFd, number: u64, mute: bool) -> io::Result<()> {
        let events = if mute { 0 } else { events(false) };
        self.control(libc::EPOLL_CTL_MOD, fd, number, events)
    }

    /// The numbers of sockets that can be used now, of some of them.
    pub fn ready(&self) -> impl Iterator<Item = u64> + use<> {
        const BATCH: usize = 32;
        let mut events = [const { MaybeUninit::<libc::epoll_event>::uninit() }; BATCH];
        let at = events.as_mut_ptr().cast();
        // SAFETY: room for as many as told.
        let n = unsafe { libc::epoll_wait(self.fd(), at, BATCH as i32, 0) };
        let events = events.into_iter().take(n.max(0) as usize);
        // SAFETY: the kernel has written the first `n`.
        events.map(|event| unsafe { event.assume_init() }.u64)
    }
}
