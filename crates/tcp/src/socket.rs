//! What is asked of the kernel: sockets that never block, and the descriptor
//! that can be read when one of them can be used.

use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::slice;
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, sockopt,
};

/// The numbers from which on the listening sockets are watched.
pub(crate) const LISTENERS: u64 = 1 << 32;

/// Connections that wait to be accepted, at most.
const BACKLOG: i32 = 4096;
/// Ports that are tried, where one is free at some addresses only, at most.
const PORTS: usize = 100;
/// Bytes of a connection that the kernel keeps because the other end has no
/// room for them, about.
const UNSENT: i32 = 256 << 10;
/// How bytes are handed to the kernel: it neither waits nor signals that nobody reads.
const SEND: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

fn stream(family: AddressFamily, flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(rustix::net::socket_with(
        family,
        SocketType::STREAM,
        flags,
        None,
    )?)
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
    // It listens already; only its backlog changes.
    rustix::net::listen(&listener, BACKLOG)?;
    Ok(listener)
}

/// A port that the kernel chooses and at which nobody listens: it refuses who calls,
/// as long as the descriptor is open.
pub(crate) fn reserve() -> io::Result<(OwnedFd, u16)> {
    let at = |any: IpAddr| {
        let any = SocketAddr::new(any, 0);
        let socket = stream(family(any), SocketFlags::empty())?;
        rustix::net::bind(&socket, &any)?;
        let name = SocketAddr::try_from(rustix::net::getsockname(&socket)?)?;
        Ok((socket, name.port()))
    };
    at(Ipv6Addr::UNSPECIFIED.into()).or_else(|_: io::Error| at(Ipv4Addr::UNSPECIFIED.into()))
}

fn family(of: SocketAddr) -> AddressFamily {
    match of {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    }
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
        let socket = Socket {
            stream: TcpStream::from(stream(family(to), SocketFlags::NONBLOCK)?),
            there: to.ip(),
        };
        socket.apply(options)?;
        match rustix::net::connect(&socket.stream, &to) {
            Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket),
            Err(error) => Err(error.into()),
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
        options.apply(self.stream.as_fd())
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
        Ok(rustix::net::send(&self.stream, bytes, SEND)?)
    }

    /// Hands runs of bytes to the kernel, as far as it takes them.
    pub fn send_runs(&self, runs: &[io::IoSlice<'_>]) -> io::Result<usize> {
        let mut nothing = SendAncillaryBuffer::default();
        Ok(rustix::net::sendmsg(
            &self.stream,
            runs,
            &mut nothing,
            SEND,
        )?)
    }

    /// Hands two runs of bytes to the kernel, as far as it takes them.
    ///
    /// # Safety
    /// `len` bytes at `second` must be readable, and nobody may write them during the call.
    pub unsafe fn send_both(
        &self,
        first: &[u8],
        second: *const u8,
        len: usize,
    ) -> io::Result<usize> {
        // SAFETY: as promised.
        let second = unsafe { slice::from_raw_parts(second, len) };
        self.send_runs(&[io::IoSlice::new(first), io::IoSlice::new(second)])
    }

    /// Takes what has arrived; 0 bytes if nothing will any more.
    #[inline]
    pub fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(&self.stream, room, RecvFlags::DONTWAIT)?.0)
    }

    /// Whether the kernel keeps what is short while something short is under way
    /// (Nagle), or sends all at once, what it has kept, too.
    pub fn gather(&self, keep: bool) {
        // A connection that has failed is noticed elsewhere.
        let _ = self.stream.set_nodelay(!keep);
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// What may help a process that lacks what a connection needs.
pub(crate) fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => "close files, or raise 'ulimit -n'",
        Some(libc::ENFILE) => "the machine has no descriptors left (fs.file-max)",
        Some(libc::EADDRNOTAVAIL) => "this host has no ports left (net.ipv4.ip_local_port_range)",
        Some(libc::ENOSPC) => "its user watches too much (fs.epoll.max_user_watches)",
        _ => "the kernel has no memory for it",
    }
}

/// Whether it is this process, or its machine, that lacks what a call needs: descriptors, memory or
/// ports. That says nothing of the other end, and may be otherwise soon.
pub(crate) fn is_lack(error: &io::Error) -> bool {
    let lacks = [
        libc::EAGAIN,
        libc::EMFILE,
        libc::ENFILE,
        libc::ENOBUFS,
        libc::ENOMEM,
        libc::ENOSPC,
        libc::EADDRNOTAVAIL,
        libc::EINTR,
    ];
    error
        .raw_os_error()
        .is_some_and(|code| lacks.contains(&code))
}

/// Whether nobody has answered: neither the other end nor, for it, its host.
pub(crate) fn is_silence(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable, TimedOut};
    [TimedOut, HostUnreachable, NetworkUnreachable, NetworkDown].contains(&kind)
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
    fn apply(self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let least = Duration::from_secs(1);
        let timeout = self.timeout.max(least);
        let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        sockopt::set_tcp_nodelay(socket, true)?;
        limit_unsent(socket)?;
        let (idle, pause) = ((timeout / 2).max(least), (timeout / 8).max(least));
        let probes = timeout.saturating_sub(idle).as_secs() / pause.as_secs();
        sockopt::set_tcp_keepidle(socket, idle)?;
        sockopt::set_tcp_keepintvl(socket, pause)?;
        sockopt::set_tcp_keepcnt(socket, probes.clamp(1, 100) as u32)?;
        sockopt::set_tcp_user_timeout(socket, millis)?;
        sockopt::set_socket_keepalive(socket, true)?;
        if let Some(bytes) = self.kernel {
            sockopt::set_socket_send_buffer_size(socket, bytes)?;
        }
        Ok(())
    }
}

/// Sets how much of a connection the kernel keeps unsent, which rustix cannot.
fn limit_unsent(socket: BorrowedFd<'_>) -> io::Result<()> {
    let (fd, len) = (socket.as_raw_fd(), size_of_val(&UNSENT) as libc::socklen_t);
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT);
    // SAFETY: the value is read during the call.
    match unsafe { libc::setsockopt(fd, level, name, (&UNSENT as *const i32).cast(), len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Socket {
    /// Packets may follow. From now on the kernel gives the connection up only where its probes of
    /// an idle one are not answered: its time limit for what is under way holds, too, while the
    /// other end answers that it has no room.
    pub fn open(&self) -> io::Result<()> {
        Ok(sockopt::set_tcp_user_timeout(self, 0)?)
    }

    /// Whether the other end has taken the connection.
    pub fn is_connected(&self) -> bool {
        self.stream.peer_addr().is_ok()
    }

    /// Since when the other end's kernel has acknowledged nothing, and how often this one has asked
    /// since then. Nothing of it means anything where nothing waits to be acknowledged.
    pub fn silence(&self) -> Option<(Duration, u32)> {
        // SAFETY: all zero is one.
        let mut info: libc::tcp_info = unsafe { zeroed() };
        let mut len = size_of_val(&info) as libc::socklen_t;
        let (fd, at) = (self.stream.as_raw_fd(), (&raw mut info).cast());
        // SAFETY: as many bytes may be written during the call.
        let asked =
            unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, at, &mut len) };
        (asked == 0).then(|| {
            let asked = u32::from(info.tcpi_retransmits) + u32::from(info.tcpi_probes);
            (Duration::from_millis(info.tcpi_last_ack_recv.into()), asked)
        })
    }

    /// Whether the other end's kernel has not acknowledged all that was sent. If this process ended
    /// now and something had arrived that it has not read, its kernel would drop that.
    pub fn is_unacknowledged(&self) -> bool {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the number is written during the call.
        let asked = unsafe { libc::ioctl(self.stream.as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
        asked == 0 && bytes > 0
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
fn events(write: bool) -> epoll::EventFlags {
    let mut events = epoll::EventFlags::IN;
    events.set(epoll::EventFlags::OUT, write);
    events
}

/// Watches sockets.
#[derive(Debug)]
pub(crate) struct Watch(OwnedFd);

impl Watch {
    pub fn new() -> io::Result<Watch> {
        Ok(Watch(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// A descriptor that can be read when a socket can be used.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Watches a socket until it is closed.
    pub fn add(&self, socket: impl AsFd, number: u64, write: bool) -> io::Result<()> {
        let number = epoll::EventData::new_u64(number);
        Ok(epoll::add(&self.0, socket, number, events(write))?)
    }

    /// Whether it is of interest that a socket can be written.
    pub fn change(&self, socket: impl AsFd, number: u64, write: bool) -> io::Result<()> {
        self.modify(socket, number, events(write))
    }

    /// Whether it is of no interest that a socket can be read.
    pub fn mute(&self, socket: impl AsFd, number: u64, mute: bool) -> io::Result<()> {
        let events = match mute {
            true => epoll::EventFlags::empty(),
            false => events(false),
        };
        self.modify(socket, number, events)
    }

    fn modify(&self, socket: impl AsFd, number: u64, to: epoll::EventFlags) -> io::Result<()> {
        let number = epoll::EventData::new_u64(number);
        Ok(epoll::modify(&self.0, socket, number, to)?)
    }

    /// Watches a socket no more.
    pub fn remove(&self, socket: impl AsFd) {
        // It is closed soon in any case.
        let _ = epoll::delete(&self.0, socket);
    }

    /// The numbers of sockets that can be used now, of some of them.
    pub fn ready(&self) -> impl Iterator<Item = u64> + use<> {
        const BATCH: usize = 32;
        const NOW: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut events = [const { MaybeUninit::<epoll::Event>::uninit() }; BATCH];
        // A signal is no reason to look again at once.
        let n = epoll::wait(&self.0, &mut events, Some(&NOW)).map_or(0, |(ready, _)| ready.len());
        let events = events.into_iter().take(n);
        // SAFETY: the kernel has written the first `n`.
        events.map(|event| unsafe { event.assume_init() }.data.u64())
    }
}
