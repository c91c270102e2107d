//! The system calls that the standard library lacks, made safe.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{ptr, slice};

use catena_base::fork;
use libc::c_int;
use rustix::cmsg_space;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{self, MemfdFlags, SealFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    self, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::process::{self, Resource};
use rustix::rand::{GetRandomFlags, getrandom};

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
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
        filled += retry_on_intr(|| getrandom(&mut *rest, GetRandomFlags::empty()))?;
    }
    Ok(())
}

/// Name of this machine.
pub fn host_name() -> String {
    let system = rustix::system::uname();
    match system.nodename().to_string_lossy() {
        name if name.is_empty() => "localhost".to_string(),
        name => name.into_owned(),
    }
}

/// What keeps the size of a memfd as it is, for ever.
const SIZE_SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// An anonymous file of `size` bytes, all holes, that can neither shrink nor
/// grow; of less if the limit on file sizes asks for that.
pub fn memfd(size: u64) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = fs::memfd_create("catena", flags)?;
    // Beyond RLIMIT_FSIZE, ftruncate would raise SIGXFSZ.
    let limit = process::getrlimit(Resource::Fsize).current;
    let size = size.min(limit.unwrap_or(u64::MAX)).min(i64::MAX as u64);
    fs::ftruncate(&fd, size)?;
    fs::fcntl_add_seals(&fd, SIZE_SEALS)?;
    Ok(fd)
}

/// Checks that a file may be mapped as memory shared with other processes: it
/// belongs to this user or to root, and nobody can change its size. In one that
/// shrinks, reading what is gone is a signal that ends this process.
///
/// # Errors
/// What is wrong with it.
pub fn check_shared(file: &File) -> io::Result<()> {
    let about = file.metadata()?;
    if !is_trusted(about.uid()) {
        let text = format!("it belongs to another user, {}", about.uid());
        return Err(io::Error::other(text));
    }
    match fs::fcntl_get_seals(file) {
        Ok(seals) if seals.contains(SIZE_SEALS) => Ok(()),
        _ => Err(io::Error::other("its size is not sealed")),
    }
}

/// Whether this process may believe what processes of that user say: it is its
/// own, or root.
pub fn is_trusted(other: u32) -> bool {
    other == user() || other == 0
}

/// Process and effective user on the other side of a socket, by the word of
/// the kernel: those that connected, or that began to listen. The process is 0 if
/// it cannot be named here, as it runs outside of this container: a number that
/// rustix does not know.
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

/// Waits until somebody has read what this process has said on stderr, where that is a pipe, but
/// not long: launchers drop what they have not read of a job that they end.
pub fn let_stderr_be_read() {
    const TURN: Duration = Duration::from_millis(1);
    let is_pipe = || {
        let stat = rustix::fs::fstat(rustix::stdio::stderr()).ok()?;
        Some(rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Fifo)
    };
    if is_pipe() != Some(true) {
        return;
    }
    for _ in 0..100 {
        match rustix::io::ioctl_fionread(rustix::stdio::stderr()) {
            Ok(0) | Err(_) => return,
            Ok(_) => std::thread::sleep(TURN),
        }
    }
}

/// What becomes readable once the process with that number has ended, be it a child or not.
pub fn watch_process(pid: u32) -> Option<OwnedFd> {
    let pid = process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    process::pidfd_open(pid, process::PidfdFlags::empty()).ok()
}

/// Waits until a process that [`watch_process`] watches has ended, but no longer than `limit`.
pub fn await_process(watched: &OwnedFd, limit: Option<Duration>) {
    let end = limit.map(|limit| Instant::now() + limit);
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut watched = [PollFd::new(watched, PollFlags::IN)];
        match rustix::event::poll(&mut watched, left.as_ref()) {
            Err(Errno::INTR) => {}
            _ => return,
        }
    }
}

/// Ends this process at once, whatever it would do at its end.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: a plain call that does not return.
    unsafe { libc::_exit(status) }
}

/// What is left to do at the end of a process.
pub trait AtExit {
    /// Does it.
    fn last();
}

/// Has `L::last` called when the process ends by `exit` or a return from `main`, and in no copy of
/// it that `fork` makes: that would do it in the name of this process, and wait where a thread of
/// this one held a lock.
pub fn at_exit<L: AtExit>() {
    extern "C" fn run<L: AtExit>() {
        if !fork::is_copy() {
            L::last();
        }
    }
    fork::watch();
    // SAFETY: a plain function without arguments; if there is no memory for it,
    // it is not called.
    unsafe { libc::atexit(run::<L>) };
}

/// Effective user of this process.
pub fn user() -> u32 {
    process::geteuid().as_raw()
}

/// Sends some of `bytes`, and with their first one a descriptor. Never waits.
pub fn send(socket: &UnixStream, bytes: &[u8], fd: Option<BorrowedFd<'_>>) -> io::Result<usize> {
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if let Some(fd) = &fd {
        let pushed = control.push(SendAncillaryMessage::ScmRights(slice::from_ref(fd)));
        debug_assert!(pushed, "there is room for one");
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(net::sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut control,
        flags,
    )?)
}

/// A descriptor that came with bytes; none if this process has no room for one more.
#[derive(Debug)]
pub struct Descriptor(pub Option<OwnedFd>);

/// Receives up to `bytes.len()` bytes, and the first descriptor that comes
/// with them; 0 bytes if the other side has closed. Waits only if `wait`.
///
/// What came with a descriptor ends what is received at once, so there is never more than one. The
/// kernel says that there was one even where it could give none.
pub fn receive(
    socket: &UnixStream,
    bytes: &mut [u8],
    wait: bool,
) -> io::Result<(usize, Option<Descriptor>)> {
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(8))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let flags = match wait {
        true => RecvFlags::CMSG_CLOEXEC,
        false => RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
    };
    let bytes = &mut [IoSliceMut::new(bytes)];
    let message = net::recvmsg(socket, bytes, &mut control, flags)?;
    let mut received = None;
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = part {
            // All of them are taken, so that none stays open.
            for fd in fds {
                received.get_or_insert(fd);
            }
        }
    }
    let is_lost = received.is_none() && message.flags.contains(ReturnFlags::CTRUNC);
    let came = received.is_some() || is_lost;
    Ok((message.bytes, came.then_some(Descriptor(received))))
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
    /// Until it can be read or written, or its other end is closed.
    ReadWrite,
    /// Until it can be written.
    Write,
}

impl Interest {
    fn events(self) -> EventFlags {
        let read = EventFlags::IN | EventFlags::RDHUP;
        match self {
            Interest::Read => read,
            Interest::ReadWrite => read | EventFlags::OUT,
            Interest::Write => EventFlags::OUT,
        }
    }
}

/// Waits for many descriptors at once (epoll, level-triggered). Each has a
/// token of the caller's choice. Can itself be waited for by another one.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    /// One that waits for nothing yet.
    ///
    /// # Errors
    /// If there are too many descriptors.
    pub fn new() -> io::Result<Poller> {
        Ok(Poller {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
        })
    }

    /// Adds a descriptor.
    ///
    /// # Errors
    /// `PermissionDenied` for plain files, which are always ready.
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let token = EventData::new_u64(token);
        Ok(epoll::add(&self.epoll, fd, token, interest.events())?)
    }

    /// Changes what to wait for.
    ///
    /// # Errors
    /// If it was not added.
    pub fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let token = EventData::new_u64(token);
        Ok(epoll::modify(&self.epoll, fd, token, interest.events())?)
    }

    /// Removes a descriptor.
    ///
    /// # Errors
    /// If it was not added.
    pub fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Waits until a descriptor is ready or `limit` has passed (`None`: for
    /// ever), and gives the tokens of up to 64 ready ones.
    ///
    /// # Errors
    /// None that a correct caller sees; an interrupted wait gives no tokens.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<Vec<u64>> {
        // Rounded up, so that a deadline has passed when the wait is over.
        let limit = limit.map(|limit| {
            let millis = limit.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i64;
            Timespec {
                tv_sec: millis / 1000,
                tv_nsec: millis % 1000 * 1_000_000,
            }
        });
        let mut room = [const { MaybeUninit::<Event>::uninit() }; 64];
        match epoll::wait(&self.epoll, &mut room[..], limit.as_ref()) {
            Ok((ready, _)) => Ok(ready.iter().map(|event| event.data.u64()).collect()),
            Err(Errno::INTR) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// The file that this library is in, as the dynamic loader knows it.
pub fn own_file() -> Option<PathBuf> {
    // SAFETY: plain data, of which all zero is a value.
    let mut info: libc::Dl_info = unsafe { zeroed() };
    let address = own_file as fn() -> Option<PathBuf> as *const libc::c_void;
    // SAFETY: any address may be asked for; `info` is writable.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's string, which stays as long as this library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// What another user does, for tests: `None`, and says so, if this one may not
/// take its place.
#[cfg(test)]
pub fn as_stranger<T: Send>(act: impl FnOnce() -> T + Send) -> Option<T> {
    const NOBODY: libc::c_long = 65_534;
    let stranger = || {
        // SAFETY: plain numbers. Behind the C library's back, the kernel changes
        // the user of this thread alone, which ends soon.
        let done = unsafe { libc::syscall(libc::SYS_setresuid, -1, NOBODY, -1) } == 0;
        done.then(act)
    };
    let done = std::thread::scope(|scope| scope.spawn(stranger).join().expect("no panic"));
    if done.is_none() {
        catena_testing::skip("another user", &"only root can act as one");
    }
    done
}

#[cfg(test)]
mod tests {
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
        let got = File::from(got.and_then(|it| it.0).expect("a descriptor"));
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
        let file = File::from(memfd(64 << 30).unwrap());
        let about = file.metadata().unwrap();
        assert_eq!((about.len(), about.blocks()), (64 << 30, 0));
        assert!(file.set_len(0).is_err());
        assert!(file.set_len(65 << 30).is_err());
    }

    #[test]
    fn only_sealed_memory_of_ones_own_is_shared() {
        let wrong = |file: File| check_shared(&file).expect_err("refused").to_string();
        check_shared(&File::from(memfd(1 << 20).unwrap())).unwrap();
        // SAFETY: the name is a C string, and nobody else knows the descriptor.
        let open = own(unsafe { libc::memfd_create(c"open".as_ptr(), libc::MFD_ALLOW_SEALING) });
        assert!(wrong(open.into()).contains("not sealed"));
        assert!(wrong(File::open("/proc/self/status").unwrap()).contains("not sealed"));
        if let Some(theirs) = as_stranger(|| memfd(1 << 20)) {
            let cause = wrong(theirs.unwrap().into());
            assert!(cause.contains("another user, 65534"), "{cause}");
        }
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
