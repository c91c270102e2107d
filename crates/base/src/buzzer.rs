//! Waking a process that sleeps on descriptors.
//!
//! A buzzer is a datagram socket whose name is a number that the kernel chooses,
//! so whoever reads the number in shared memory can press it: nothing is passed
//! between processes, and nothing is left behind. A press that nobody waits
//! for stays, and ends the next sleep early.
//!
//! Model: `tests/loom_bell.rs`, where the only buzzer is a flag.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixDatagram;

/// A buzzer's name: less than 2^20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Button(pub u32);

impl Button {
    /// Wakes whoever sleeps on the buzzer. One that cannot be reached is as if
    /// nobody slept.
    #[cfg(not(loom))]
    pub fn press(self) {
        use std::os::unix::net::SocketAddr;
        use std::sync::LazyLock;

        static FROM: LazyLock<Option<UnixDatagram>> = LazyLock::new(|| {
            let socket = UnixDatagram::unbound().ok()?;
            socket.set_nonblocking(true).ok().map(|()| socket)
        });
        let name = SocketAddr::from_abstract_name(format!("{:05x}", self.0));
        if let (Some(from), Ok(name)) = (&*FROM, name) {
            // A full socket wakes its owner, too.
            let _ = from.send_to_addr(&[], &name);
        }
    }

    /// The same, of the model.
    #[cfg(loom)]
    pub fn press(self) {
        model::PRESSED.swap(true, std::sync::atomic::Ordering::AcqRel);
    }
}

/// A buzzer, of the process that sleeps on it.
#[derive(Debug)]
pub struct Buzzer {
    socket: UnixDatagram,
    button: Button,
}

impl Buzzer {
    /// A new one.
    ///
    /// # Errors
    /// What the kernel says, usually that there are too many open files.
    pub fn new() -> io::Result<Buzzer> {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        let family = libc::AF_UNIX as libc::sa_family_t;
        let len = size_of_val(&family) as libc::socklen_t;
        // SAFETY: an address of nothing but a family: the kernel finds a name.
        if unsafe { libc::bind(socket.as_raw_fd(), (&raw const family).cast(), len) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let address = socket.local_addr()?;
        let name = address.as_abstract_name().map(str::from_utf8);
        let number = name.and_then(|name| u32::from_str_radix(name.ok()?, 16).ok());
        let number = number.filter(|number| number >> 20 == 0);
        let button = Button(number.ok_or(io::ErrorKind::Unsupported)?);
        Ok(Buzzer { socket, button })
    }

    /// Can be read once the buzzer was pressed.
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// What others press.
    pub fn button(&self) -> Button {
        self.button
    }

    /// Forgets that it was pressed. To be followed by a look at all that may
    /// have come.
    pub fn silence(&self) {
        while self.socket.recv(&mut []).is_ok() {}
    }
}

/// A buzzer without a kernel, whose calls take turns as those of a socket do.
#[cfg(loom)]
pub mod model {
    use std::sync::atomic::Ordering::{AcqRel, Acquire};

    loom::lazy_static! {
        /// Whether it was pressed.
        pub static ref PRESSED: loom::sync::atomic::AtomicBool = Default::default();
    }

    /// See [`Buzzer::silence`](super::Buzzer::silence).
    pub fn silence() {
        PRESSED.swap(false, AcqRel);
    }

    /// Sleeps until it is pressed.
    pub fn wait() {
        while !PRESSED.load(Acquire) {
            crate::sync::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_presses_is_heard_until_silenced() {
        let (one, other) = (Buzzer::new().unwrap(), Buzzer::new().unwrap());
        assert_ne!(one.button(), other.button());
        let heard = |buzzer: &Buzzer| {
            let mut ask = libc::pollfd {
                fd: buzzer.fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one entry, valid for the call.
            unsafe { libc::poll(&mut ask, 1, 0) == 1 }
        };
        // More often than a socket has room for.
        for _ in 0..1000 {
            one.button().press();
        }
        assert!(heard(&one) && !heard(&other));
        one.silence();
        assert!(!heard(&one));
        let gone = other.button();
        drop(other);
        gone.press();
        assert!(!heard(&one));
    }
}
