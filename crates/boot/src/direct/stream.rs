//! A connection to a process manager, as bytes.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::{BootError, Interest, Poller, sys};

/// Longest answer that makes sense, bytes.
const MAX_ANSWER: usize = 16 << 20;

/// A socket and what was read from it.
#[derive(Debug)]
pub(super) struct Stream {
    socket: UnixStream,
    bytes: Vec<u8>,
}

impl Stream {
    /// Takes over the socket that `PMI_FD` names.
    pub fn given(env: impl Fn(&str) -> Option<String>) -> Result<Stream, BootError> {
        let fd = env("PMI_FD").and_then(|text| text.trim().parse().ok());
        let fd = fd.ok_or_else(|| BootError::Manager("it gave no PMI_FD".to_string()))?;
        let socket = sys::adopt_socket(fd).map_err(|error| {
            BootError::Manager(format!(
                "its socket, descriptor {fd} by PMI_FD, cannot be used ({error}): another \
                 program stands between it and this one and has closed it, or this process was \
                 started by a rank"
            ))
        })?;
        Ok(Stream::new(socket))
    }

    /// Talks over `socket`, of whatever family.
    pub fn new(socket: UnixStream) -> Stream {
        Stream {
            socket,
            bytes: Vec::new(),
        }
    }

    /// Can be read when something has come.
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Sends all of `bytes`; what arrives meanwhile is kept.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), BootError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match sys::send(&self.socket, rest, None) {
                Ok(n) => rest = &rest[n..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut poller = Poller::new()?;
                    poller.add(&self.socket, 0, Interest::ReadWrite)?;
                    poller.wait(None)?;
                    self.fill(false)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes the next message, of which `cut` tells where the first of the
    /// bytes given end. `None` if it has not come yet, unless `wait`.
    pub fn next(
        &mut self,
        cut: impl Fn(&[u8]) -> Result<Option<usize>, BootError>,
        wait: bool,
    ) -> Result<Option<Vec<u8>>, BootError> {
        loop {
            if let Some(len) = cut(&self.bytes)? {
                let rest = self.bytes.split_off(len);
                return Ok(Some(std::mem::replace(&mut self.bytes, rest)));
            }
            if self.bytes.len() > MAX_ANSWER {
                return Err(BootError::Manager("an answer without an end".to_string()));
            }
            if !self.fill(wait)? {
                return Ok(None);
            }
        }
    }

    /// Reads what is there, or waits for the first bytes; whether any came.
    fn fill(&mut self, wait: bool) -> Result<bool, BootError> {
        let mut buffer = [0; 4 << 10];
        loop {
            match sys::receive(&self.socket, &mut buffer, wait) {
                Ok((0, _)) => return Err(BootError::LauncherGone),
                Ok((n, _)) => {
                    self.bytes.extend_from_slice(&buffer[..n]);
                    return Ok(true);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => return Ok(false),
                    _ => return Err(error.into()),
                },
            }
        }
    }
}
