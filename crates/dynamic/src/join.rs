//! `MPI_Comm_join` (MPI-5, chapter 11.10): two processes that share a socket, and nothing else
//! that MPI knows of, get a communicator.
//!
//! Each writes a greeting with a random number and reads the other's. The one with the larger
//! number opens a port, writes its name, and accepts there; the other one reads the name and
//! connects. Both leave the socket as they found it.
//!
//! | bytes | greeting                    |
//! |-------|-----------------------------|
//! | 8     | `catena` and the version, 1 |
//! | 16    | the random number           |
//!
//! The name of the port comes behind its length, 2 bytes with the most significant one first; 0
//! says that no port could be opened.

use catena_core::needs;
use catena_hang::{WaitsFor, What};
use std::os::fd::BorrowedFd;

use catena_abi as abi;
use catena_boot::Side;
use catena_core::Process;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_proof::Secret;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};

use crate::port;

const HELLO: [u8; 8] = *b"catena\0\x01";
const NUMBER: usize = 16;
/// Longest name of a port that is read, bytes.
const LONGEST: usize = 1024;

/// Joins the process at the other end of a socket that is connected, and that both use for
/// nothing else meanwhile. Waits for the other one; collective over the two.
///
/// # Errors
/// `Arg` if `fd` is no such socket; `Other` if the other end closes it or says something else;
/// `Unsupported` or `Port` if the two cannot meet, as the launcher of one does not know the
/// other's.
pub fn join(process: &Process, fd: BorrowedFd<'_>) -> Result<abi::Comm> {
    let secret = Secret::random().map_err(|e| Error::new(Kind::Other, e.to_string()))?;
    let mine = [&HELLO, &secret.bytes()[..NUMBER]].concat();
    send(process, fd, &mine)?;
    let mut theirs = [0; HELLO.len() + NUMBER];
    receive(process, fd, &mut theirs)?;
    if theirs[..HELLO.len()] != HELLO {
        fail!(
            Other,
            "the process at the other end of the socket is not in MPI_Comm_join of this version of \
             Catena, or the socket had bytes in it"
        );
    }
    match theirs[HELLO.len()..].cmp(&mine[HELLO.len()..]) {
        std::cmp::Ordering::Less => host(process, fd),
        std::cmp::Ordering::Greater => guest(process, fd),
        std::cmp::Ordering::Equal => fail!(Other, "the socket leads back to the same call"),
    }
}

/// Opens a port, tells the other end, and waits there.
fn host(process: &Process, fd: BorrowedFd<'_>) -> Result<abi::Comm> {
    let opened = port::open(process);
    let name = opened.as_deref().unwrap_or_default();
    let message = [&(name.len() as u16).to_be_bytes(), name.as_bytes()].concat();
    send(process, fd, &message)?;
    let name = opened?;
    let met = port::meet(process, &process.comms.own, 0, Side::Host, || {
        Ok((name.clone(), None))
    });
    port::close(process, &name)?;
    met
}

/// Hears of the other end's port, and goes there.
fn guest(process: &Process, fd: BorrowedFd<'_>) -> Result<abi::Comm> {
    let mut len = [0; 2];
    receive(process, fd, &mut len)?;
    let len = usize::from(u16::from_be_bytes(len));
    if len == 0 || len > LONGEST {
        fail!(
            Port,
            "the process at the other end of the socket could open no port"
        );
    }
    let mut name = vec![0; len];
    receive(process, fd, &mut name)?;
    let Ok(name) = String::from_utf8(name) else {
        fail!(Port, "the name of the other end's port is no text");
    };
    port::meet(process, &process.comms.own, 0, Side::Guest, || {
        Ok((name, None))
    })
}

/// Sends all of `bytes`; makes progress as long as the socket has no room.
fn send(process: &Process, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<()> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    move_all(process, bytes.len(), |at| {
        net::send(fd, &bytes[at..], flags)
    })
}

/// Receives as many bytes as `bytes` has, and no more; makes progress until they have come.
fn receive(process: &Process, fd: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<()> {
    move_all(process, bytes.len(), |at| {
        match net::recv(fd, &mut bytes[at..], RecvFlags::DONTWAIT)?.0 {
            0 => Err(Errno::PIPE),
            n => Ok(n),
        }
    })
}

/// Calls `part` with the number of bytes that were moved so far, until that is `len`.
fn move_all(
    process: &Process,
    len: usize,
    mut part: impl FnMut(usize) -> rustix::io::Result<usize>,
) -> Result<()> {
    let (mut moved, mut failed) = (0, None);
    let describe = |_: &Process, waits: &mut WaitsFor| {
        waits
            .needs
            .push(needs::open(What::Meeting, "the socket of MPI_Comm_join"));
    };
    process.block(describe, |_| {
        match part(moved) {
            Ok(n) => moved += n,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => failed = Some(errno),
        }
        moved == len || failed.is_some()
    });
    match failed {
        None => Ok(()),
        Some(Errno::PIPE | Errno::CONNRESET) => fail!(
            Other,
            "the other end of the socket was closed before the two processes had joined"
        ),
        Some(errno) => fail!(
            Arg,
            "fd is no connected stream socket: {}",
            std::io::Error::from(errno)
        ),
    }
}
