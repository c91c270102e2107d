//! Waking a process that sleeps on descriptors.
//!
//! A wake socket is a datagram socket whose name is a number that the kernel chooses,
//! so a process that reads the number in shared memory can wake its owner: nothing is passed
//! between processes, and nothing is left behind. A wake-up that nobody waits
//! for stays, and ends the next sleep early.
//!
//! Every user of the machine can see the name, and send to it. So a wake-up carries a
//! random key, which stands only in shared memory, and the kernel throws away
//! whatever else is sent, without waking anybody and without keeping it.
//!
//! Model: `tests/loom_bell.rs`, where the only wake socket is a flag.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixDatagram;

use rustix::net::SocketAddrUnix;
use rustix::rand::GetRandomFlags;

/// What wakes a process that sleeps on a wake socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waker {
    /// The name of its socket: less than 2^20.
    pub number: u32,
    /// What a wake-up carries.
    pub key: u64,
}

impl Waker {
    /// Wakes the process that sleeps on the socket. One that cannot be reached is as if
    /// nobody slept.
    #[cfg(not(loom))]
    pub fn wake(self) {
        send(self.number, &self.key.to_be_bytes());
    }

    /// Wakes the thread that sleeps on the socket of the model.
    #[cfg(loom)]
    pub fn wake(self) {
        model::WOKEN.swap(true, std::sync::atomic::Ordering::AcqRel);
    }
}

/// Sends `bytes` to the socket with that name.
#[cfg(not(loom))]
fn send(number: u32, bytes: &[u8]) {
    use std::os::unix::net::SocketAddr;
    use std::sync::LazyLock;

    static FROM: LazyLock<Option<UnixDatagram>> = LazyLock::new(|| {
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok().map(|()| socket)
    });
    let name = SocketAddr::from_abstract_name(format!("{number:05x}"));
    if let (Some(from), Ok(name)) = (&*FROM, name) {
        // A full socket wakes its owner, too.
        let _ = from.send_to_addr(bytes, &name);
    }
}

/// A wake socket, of the process that sleeps on it.
#[derive(Debug)]
pub struct WakeSocket {
    socket: UnixDatagram,
    waker: Waker,
}

impl WakeSocket {
    /// A new one.
    ///
    /// # Errors
    /// What the kernel says, usually that there are too many open files.
    pub fn new() -> io::Result<WakeSocket> {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        let mut key = [0; 8];
        // So few bytes come at once.
        rustix::rand::getrandom(&mut key, GetRandomFlags::empty())?;
        let key = u64::from_ne_bytes(key);
        // Before it has a name, so that nothing else ever gets in.
        accept_only(&socket, key)?;
        // The kernel finds a name.
        rustix::net::bind(&socket, &SocketAddrUnix::new_unnamed())?;
        let address = socket.local_addr()?;
        let name = address.as_abstract_name().map(str::from_utf8);
        let number = name.and_then(|name| u32::from_str_radix(name.ok()?, 16).ok());
        let number = number.filter(|number| number >> 20 == 0);
        let number = number.ok_or(io::ErrorKind::Unsupported)?;
        let waker = Waker { number, key };
        Ok(WakeSocket { socket, waker })
    }

    /// Can be read once the wake socket was woken.
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// What others wake it with.
    pub fn waker(&self) -> Waker {
        self.waker
    }

    /// Forgets that it was woken. To be followed by a look at all that may
    /// have come.
    pub fn silence(&self) {
        while self.socket.recv(&mut []).is_ok() {}
    }
}

/// Has the kernel throw away what arrives at a socket, but for datagrams that
/// are nothing but `key`, its highest byte first (a classic socket filter, see socket(7)).
///
/// # Errors
/// If the kernel has no such filters.
fn accept_only(socket: &UnixDatagram, key: u64) -> io::Result<()> {
    const LENGTH: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_LEN;
    const WORD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    let step = |code: u32, jf, k| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    };
    let mut steps = [
        step(LENGTH, 0, 0),
        step(IF_EQUAL, 5, 8),
        step(WORD, 0, 0),
        step(IF_EQUAL, 3, (key >> 32) as u32),
        step(WORD, 0, 4),
        step(IF_EQUAL, 1, key as u32),
        step(RETURN, 0, u32::MAX),
        step(RETURN, 0, 0),
    ];
    let filter = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the kernel copies the steps, which outlive the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const filter).cast(),
            size_of_val(&filter) as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A wake socket without a kernel, whose calls take turns as those of a socket do.
#[cfg(loom)]
pub mod model {
    use std::sync::atomic::Ordering::{AcqRel, Acquire};

    loom::lazy_static! {
        /// Whether it was woken.
        pub static ref WOKEN: loom::sync::atomic::AtomicBool = Default::default();
    }

    /// See [`WakeSocket::silence`](super::WakeSocket::silence).
    pub fn silence() {
        WOKEN.swap(false, AcqRel);
    }

    /// Sleeps until it is used.
    pub fn wait() {
        while !WOKEN.load(Acquire) {
            crate::sync::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn heard(wake_socket: &WakeSocket) -> bool {
        let mut ask = [PollFd::new(&wake_socket.socket, PollFlags::IN)];
        poll(&mut ask, Some(&Timespec::default())) == Ok(1)
    }

    #[test]
    fn a_press_is_heard_until_silenced() {
        let (one, other) = (WakeSocket::new().unwrap(), WakeSocket::new().unwrap());
        assert_ne!(one.waker(), other.waker());
        // More often than a socket has room for.
        for _ in 0..1000 {
            one.waker().wake();
        }
        assert!(heard(&one) && !heard(&other));
        one.silence();
        assert!(!heard(&one));
        let gone = other.waker();
        drop(other);
        gone.wake();
        assert!(!heard(&one));
    }

    #[test]
    fn strangers_wake_nobody_and_take_no_room() {
        let wake_socket = WakeSocket::new().unwrap();
        let Waker { number, key } = wake_socket.waker();
        let key = key.to_be_bytes();
        for at in 0..8 {
            let mut other = key;
            other[at] ^= 1;
            send(number, &other);
        }
        for _ in 0..1000 {
            send(number, &[]);
            send(number, &key[1..]);
            send(number, &[&key[..], &[0]].concat());
        }
        assert!(!heard(&wake_socket), "somebody without the key");
        wake_socket.waker().wake();
        assert!(heard(&wake_socket));
    }
}
