//! The system calls that the standard library lacks, made safe.

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::mpsc;
use std::time::Duration;

use libc::{c_int, c_void};

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn check_len(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Takes over a descriptor that a system call has just returned.
fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: callers pass a descriptor that nobody else knows yet.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Fills `bytes` with random ones.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        // SAFETY: `rest` is writable for its length.
        let n = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        match check_len(n) {
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Name of this machine.
pub fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is writable for its length; the last byte stays 0.
    let result = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let len = name.iter().position(|&b| b == 0).unwrap_or(0);
    match result {
        0 if len > 0 => String::from_utf8_lossy(&name[..len]).into_owned(),
        _ => "localhost".to_string(),
    }
}

/// An anonymous file of `size` bytes, all holes, that can neither shrink nor
/// grow; of less if the limit on file sizes asks for that.
pub fn memfd(size: u64) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string.
    let fd = own(check(unsafe {
        libc::memfd_create(c"catena".as_ptr(), flags)
    })?);
    // Beyond RLIMIT_FSIZE, ftruncate would raise SIGXFSZ.
    // SAFETY: all-zero is a valid rlimit.
    let mut limit: libc::rlimit = unsafe { zeroed() };
    // SAFETY: `limit` is writable.
    check(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) })?;
    let size = size.min(limit.rlim_cur).min(i64::MAX as u64);
    // SAFETY: a plain call on a descriptor that is open.
    check(unsafe { libc::ftruncate(fd.as_raw_fd(), size as libc::off_t) })?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    Ok(fd)
}

/// Process and effective user on the other side of a socket, by the word of
/// the kernel.
pub fn peer(socket: &UnixStream) -> io::Result<(u32, u32)> {
    // SAFETY: all-zero is a valid ucred.
    let mut cred: libc::ucred = unsafe { zeroed() };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `cred` is writable for `len` bytes.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            ptr::from_mut(&mut cred).cast(),
            &mut len,
        )
    })?;
    Ok((cred.pid as u32, cred.uid))
}

/// Takes over the stream socket that the process was given as descriptor `fd`,
/// so that its children do not get it as well.
///
/// # Errors
/// If it is not open, or no stream socket.
pub fn adopt_socket(fd: RawFd) -> io::Result<UnixStream> {
    let mut kind: c_int = 0;
    let mut len = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: `kind` is writable for `len` bytes.
    check(unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_TYPE,
            ptr::from_mut(&mut kind).cast(),
            &mut len,
        )
    })?;
    if kind != libc::SOCK_STREAM {
        return Err(io::Error::other("it is no stream socket"));
    }
    // SAFETY: a plain call on a descriptor that is open.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    Ok(own(fd).into())
}

/// Has `last` called when the process ends by `exit` or a return from `main`.
pub fn at_exit(last: extern "C" fn()) {
    // SAFETY: a plain function without arguments; if there is no memory for it,
    // it is not called.
    unsafe { libc::atexit(last) };
}

/// Effective user of this process.
pub fn user() -> u32 {
    // SAFETY: always succeeds.
    unsafe { libc::geteuid() }
}

/// Room for the control message that carries one descriptor.
#[repr(align(8))]
struct Control([u8; 64]);

fn message(iov: &mut libc::iovec, control: Option<&mut Control>) -> libc::msghdr {
    // SAFETY: all-zero is a valid msghdr: no address, no buffers.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = iov;
    header.msg_iovlen = 1;
    if let Some(control) = control {
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
    }
    header
}

/// Sends some of `bytes`, and with their first one a descriptor. Never waits.
pub fn send(socket: &UnixStream, bytes: &[u8], fd: Option<BorrowedFd<'_>>) -> io::Result<usize> {
    let mut iov = libc::iovec {
        iov_base: bytes.as_ptr() as *mut c_void,
        iov_len: bytes.len(),
    };
    let mut control = Control([0; 64]);
    let mut header = message(&mut iov, fd.is_some().then_some(&mut control));
    if let Some(fd) = fd {
        let len = size_of::<RawFd>() as u32;
        // SAFETY: the control buffer of 64 aligned bytes has room for one
        // header and one descriptor, so CMSG_FIRSTHDR is not null and
        // CMSG_DATA lies inside.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(len) as _;
            let first = libc::CMSG_FIRSTHDR(&header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(len) as _;
            ptr::write_unaligned(libc::CMSG_DATA(first).cast::<RawFd>(), fd.as_raw_fd());
        }
    }
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the header points to buffers that outlive the call.
    check_len(unsafe { libc::sendmsg(socket.as_raw_fd(), &header, flags) })
}

/// Receives up to `bytes.len()` bytes, and the first descriptor that comes
/// with them; 0 bytes if the other side has closed. Waits only if `wait`.
pub fn receive(
    socket: &UnixStream,
    bytes: &mut [u8],
    wait: bool,
) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut iov = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut control = Control([0; 64]);
    let mut header = message(&mut iov, Some(&mut control));
    let flags = libc::MSG_CMSG_CLOEXEC | if wait { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: the header points to writable buffers that outlive the call.
    let n = check_len(unsafe { libc::recvmsg(socket.as_raw_fd(), &mut header, flags) })?;
    let mut received = None;
    // SAFETY: the kernel filled the control buffer and set its length; the
    // CMSG macros stay inside it. Every descriptor in it is new and ours.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(&header);
        while !at.is_null() {
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_RIGHTS {
                let len = ((*at).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                let fds = libc::CMSG_DATA(at).cast::<RawFd>();
                for i in 0..len / size_of::<RawFd>() {
                    let fd = own(ptr::read_unaligned(fds.add(i)));
                    received.get_or_insert(fd);
                }
            }
            at = libc::CMSG_NXTHDR(&header, at);
        }
    }
    Ok((n, received))
}

/// Writes out the buffers of C's streams, so that what a program printed
/// before it aborts is not lost. Gives up after a short while, as a stream may
/// be locked by a thread that waits for input.
pub fn flush_streams() {
    let (done, finished) = mpsc::channel();
    let thread = std::thread::Builder::new().spawn(move || {
        // SAFETY: a null stream means all that are open for writing.
        unsafe { libc::fflush(ptr::null_mut()) };
        let _ = done.send(());
    });
    if thread.is_ok() {
        let _ = finished.recv_timeout(Duration::from_millis(200));
    }
}

/// What to wait for on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Until it can be read, or its other end is closed.
    Read,
    /// The same, or until it can be written.
    ReadWrite,
    /// Until it can be written.
    Write,
}

impl Interest {
    fn events(self) -> u32 {
        (match self {
            Interest::Read => libc::EPOLLIN | libc::EPOLLRDHUP,
            Interest::ReadWrite => libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLOUT,
            Interest::Write => libc::EPOLLOUT,
        }) as u32
    }
}

/// Waits for many descriptors at once (epoll, level-triggered). Each has a
/// token of the caller's choice. Can itself be waited for by another one.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Poller {
    /// One that waits for nothing yet.
    ///
    /// # Errors
    /// If there are too many descriptors.
    pub fn new() -> io::Result<Poller> {
        // SAFETY: a plain call.
        let epoll = own(check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?);
        Ok(Poller {
            epoll,
            events: Vec::with_capacity(64),
        })
    }

    /// Adds a descriptor.
    ///
    /// # Errors
    /// `PermissionDenied` for plain files, which are always ready.
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd.as_fd(), token, interest)
    }

    /// Changes what to wait for.
    ///
    /// # Errors
    /// If it was not added.
    pub fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd.as_fd(), token, interest)
    }

    /// Removes a descriptor.
    ///
    /// # Errors
    /// If it was not added.
    pub fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd.as_fd(), 0, Interest::Read)
    }

    fn control(&self, op: c_int, fd: BorrowedFd<'_>, token: u64, i: Interest) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: i.events(),
            u64: token,
        };
        // SAFETY: `event` outlives the call.
        check(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), op, fd.as_raw_fd(), &mut event) })?;
        Ok(())
    }

    /// Waits until a descriptor is ready or `limit` has passed (`None`: for
    /// ever), and gives the tokens of up to 64 ready ones.
    ///
    /// # Errors
    /// None that a correct caller sees; an interrupted wait gives no tokens.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<Vec<u64>> {
        // Rounded up, so that a deadline has passed when the wait is over.
        let millis = limit.map_or(-1, |d| {
            i32::try_from(d.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
        });
        let room: &mut [MaybeUninit<libc::epoll_event>] = self.events.spare_capacity_mut();
        // SAFETY: the room is writable for its length.
        let n = unsafe {
            libc::epoll_wait(
                self.epoll.as_raw_fd(),
                room.as_mut_ptr().cast(),
                room.len() as c_int,
                millis,
            )
        };
        match check(n) {
            Ok(n) => {
                // SAFETY: the kernel has written the first `n`.
                unsafe { self.events.set_len(n as usize) };
                Ok(self.events.drain(..).map(|event| event.u64).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn descriptors_travel_with_the_first_byte() {
        let (a, b) = UnixStream::pair().unwrap();
        let fd = memfd(1 << 20).unwrap();
        assert_eq!(send(&a, b"xyz", Some(fd.as_fd())).unwrap(), 3);
        assert_eq!(send(&a, b"w", None).unwrap(), 1);
        let mut buffer = [0; 3];
        let (n, got) = receive(&b, &mut buffer, true).unwrap();
        assert_eq!((n, &buffer), (3, b"xyz"));
        let got = File::from(got.expect("a descriptor"));
        assert_eq!(got.metadata().unwrap().len(), 1 << 20);
        let (n, none) = receive(&b, &mut buffer, true).unwrap();
        assert_eq!((n, none.is_none()), (1, true));
        let empty = receive(&b, &mut buffer, false).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
        drop(a);
        assert_eq!(receive(&b, &mut buffer, true).unwrap().0, 0);
    }

    #[test]
    fn the_segment_is_all_holes_and_cannot_change_its_size() {
        use std::os::unix::fs::MetadataExt;
        let file = File::from(memfd(64 << 30).unwrap());
        let about = file.metadata().unwrap();
        assert_eq!((about.len(), about.blocks()), (64 << 30, 0));
        assert!(file.set_len(0).is_err());
        assert!(file.set_len(65 << 30).is_err());
    }

    #[test]
    fn the_kernel_vouches_for_the_peer() {
        let (a, _b) = UnixStream::pair().unwrap();
        assert_eq!(peer(&a).unwrap(), (std::process::id(), user()));
    }

    #[test]
    fn random_bytes_differ() {
        let (mut a, mut b) = ([0; 16], [0; 16]);
        random(&mut a).unwrap();
        random(&mut b).unwrap();
        assert_ne!(a, b);
    }
}
