//! Streams of this process that are written without ever waiting for their readers.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use rustix::event::{self, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::net::{self, SendFlags};
use rustix::termios;

/// A stream of this process that is written without ever waiting for its reader.
///
/// Others have the stream open, too, and expect that their own writes wait, so it is not set to be
/// non-blocking: a pipe or a terminal is opened once more, for this process alone. Where that is
/// refused, as of a terminal that belongs to another user, a thread waits instead of this one.
#[derive(Debug)]
pub struct Writer {
    kind: WriterKind,
}

#[derive(Debug)]
enum WriterKind {
    /// Opened for this process alone.
    Own(OwnedFd),
    /// What can be told not to wait in each call.
    Socket(OwnedFd),
    /// A file or a device, which has no reader to wait for.
    Plain(OwnedFd),
    /// What could not be opened again.
    Relayed(Relay),
}

impl Writer {
    /// One that writes to what `fd` does.
    ///
    /// # Errors
    /// If `fd` is closed, or there is no further descriptor or thread.
    pub fn new(fd: BorrowedFd<'_>) -> io::Result<Writer> {
        let kind = rustix::fs::fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode))?;
        let is_terminal = kind == FileType::CharacterDevice && termios::isatty(fd);
        let kind = if kind == FileType::Fifo || is_terminal {
            let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
            let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            match rustix::fs::open(path, flags, Mode::empty()) {
                Ok(fd) => WriterKind::Own(fd),
                Err(_) => WriterKind::Relayed(Relay::new(fd.try_clone_to_owned()?)?),
            }
        } else {
            let fd = fd.try_clone_to_owned()?;
            match kind == FileType::Socket {
                true => WriterKind::Socket(fd),
                false => WriterKind::Plain(fd),
            }
        };
        Ok(Writer { kind })
    }

    /// Writes some of `bytes`; `WouldBlock` if there is no room for any.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.kind {
            WriterKind::Own(fd) | WriterKind::Plain(fd) => super::write(fd, bytes),
            WriterKind::Socket(fd) => Ok(net::send(fd, bytes, SendFlags::DONTWAIT)?),
            WriterKind::Relayed(relay) => relay.write(bytes),
        }
    }

    /// Whether what was written has arrived, or has failed; an error of a write that was under way.
    pub fn settle(&self) -> io::Result<bool> {
        match &self.kind {
            WriterKind::Relayed(relay) => relay.settle(),
            _ => Ok(true),
        }
    }
}

/// What tells by being writable that there is room.
impl AsFd for Writer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            WriterKind::Own(fd) | WriterKind::Socket(fd) | WriterKind::Plain(fd) => fd.as_fd(),
            WriterKind::Relayed(relay) => relay.shared.idle.as_fd(),
        }
    }
}

/// A thread that writes one piece after another, each of which may take for ever: it ends with the
/// process.
#[derive(Debug)]
struct Relay {
    pieces: mpsc::SyncSender<Vec<u8>>,
    shared: Arc<RelayState>,
}

/// What both threads see of a relay.
#[derive(Debug)]
struct RelayState {
    /// A counter that can be written to, as its poll tells, while no piece is under way: it is full
    /// while one is.
    idle: OwnedFd,
    /// The number of the error that a write has ended with; 0 for none.
    error: AtomicI32,
}

impl Relay {
    /// The longest piece, bytes.
    const PIECE: usize = 64 << 10;

    /// What fills the counter.
    const FULL: u64 = u64::MAX - 1;

    fn new(to: OwnedFd) -> io::Result<Relay> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let shared = Arc::new(RelayState {
            idle: event::eventfd(0, flags)?,
            error: AtomicI32::new(0),
        });
        let (pieces, told) = mpsc::sync_channel::<Vec<u8>>(1);
        let state = Arc::clone(&shared);
        let work = move || {
            while let Ok(piece) = told.recv() {
                if let Err(error) = write_all(&to, &piece) {
                    let number = error.raw_os_error().unwrap_or(libc::EIO);
                    state.error.store(number, Ordering::Relaxed);
                }
                // Nothing but a piece fills the counter, so it is full.
                let _ = super::read(&state.idle, &mut [0; 8]);
            }
        };
        thread::Builder::new().name("relay".into()).spawn(work)?;
        Ok(Relay { pieces, shared })
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if !self.settle()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let piece = &bytes[..bytes.len().min(Relay::PIECE)];
        super::write(&self.shared.idle, &Relay::FULL.to_ne_bytes())?;
        let sent = self.pieces.try_send(piece.to_vec());
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(piece.len())
    }

    fn settle(&self) -> io::Result<bool> {
        let is_idle = has_room(self.shared.idle.as_fd());
        match self.shared.error.load(Ordering::Relaxed) {
            0 => Ok(is_idle),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }
}

/// Writes all of `bytes`, and waits for the reader as long as that takes.
fn write_all(to: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match super::write(to, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                // Another process may have set it to be non-blocking.
                io::ErrorKind::WouldBlock => {
                    let mut fds = [PollFd::new(to, PollFlags::OUT)];
                    let _ = event::poll(&mut fds, None);
                }
                _ => return Err(error),
            },
        }
    }
    Ok(())
}

/// Whether a write would not block, or would fail at once.
fn has_room(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    event::poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Whether two descriptors are of one pipe, terminal, socket or file.
pub fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let place = |fd| rustix::fs::fstat(fd).map(|stat| (stat.st_dev, stat.st_ino, stat.st_rdev));
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_relay_takes_one_piece_after_another_and_tells_when_they_have_arrived() {
        let (mut read, write) = io::pipe().unwrap();
        let relay = Relay::new(write.into()).unwrap();
        let bytes = vec![7; 3 * Relay::PIECE];
        let mut sent = relay.write(&bytes).unwrap();
        assert_eq!(sent, Relay::PIECE);
        // More than a pipe holds: without a reader it is never there.
        loop {
            match relay.write(&bytes[..Relay::PIECE]) {
                Ok(n) => sent += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
            if sent > Relay::PIECE {
                break;
            }
        }
        assert!(!relay.settle().unwrap());
        let mut got = vec![0; sent];
        read.read_exact(&mut got).unwrap();
        assert!(got.iter().all(|&byte| byte == 7));
        while !relay.settle().unwrap() {
            thread::yield_now();
        }
        drop(read);
        relay.write(b"x").unwrap();
        let error = loop {
            match relay.settle() {
                Ok(_) => thread::yield_now(),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn what_two_descriptors_share_is_seen() {
        let (read, write) = io::pipe().unwrap();
        let again = write.try_clone().unwrap();
        assert!(is_same(write.as_fd(), again.as_fd()));
        let (_other, another) = io::pipe().unwrap();
        assert!(!is_same(write.as_fd(), another.as_fd()));
        drop(read);
    }
}
