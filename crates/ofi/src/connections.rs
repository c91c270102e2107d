//! Ending the connections to a peer that is lost, where the provider goes through the kernel's TCP.
//!
//! A provider has memory of the program's as long as an operation is under way, and buffers of
//! ours. It gives them back when it learns that the connection has ended. Where a process dies its
//! kernel says so; where a host vanishes nobody does, and data may still come when it is back.
//! libfabric has no call that ends a connection of an endpoint: neither `fi_cancel` nor
//! `fi_av_remove` does (1.17 to 2.5). But the connections are sockets of this process: one is shut
//! down, as if the other end had done so, and the provider does the rest.
//!
//! A socket is one of those if it leads to where the peer's endpoint takes connections, or comes
//! from the peer's host to where our endpoint does. Who of several processes of that host has
//! opened the latter cannot be told, so those are ended once all of them are lost, and if nothing
//! has come for a while: a process that nobody here knows yet has just begun to talk.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};
use std::{fs, io};

use catena_fabric::Peer;
use rustix::io::Errno;
use rustix::net::sockopt::socket_error;
use rustix::net::{
    AddressFamily, Shutdown, SocketFlags, SocketType, connect, getpeername, getsockname, shutdown,
    socket_with,
};

/// How long a provider is left to notice by itself that a lost peer's connections have ended. What
/// has arrived is taken meanwhile.
const GRACE: Duration = Duration::from_millis(200);

/// For how long nothing has come over a connection that is ended although it is not known whose it
/// is.
const SILENT: Duration = Duration::from_secs(1);

/// Where peers take connections, and whose are to be ended.
#[derive(Debug)]
pub(crate) struct Connections {
    /// Where our endpoint takes connections; `None` if they are not the kernel's.
    pub own: Option<SocketAddr>,
    at: HashMap<Peer, SocketAddr>,
    /// Lost peers whose connections are not ended yet, when that is to be done, and whether those
    /// that lead to them are among them.
    ending: Vec<(Peer, Instant, bool)>,
    /// Peers that were lost.
    lost: Vec<Peer>,
}

impl Connections {
    /// None yet, at an endpoint that takes connections there.
    pub fn new(own: Option<SocketAddr>) -> Connections {
        Connections {
            own,
            at: HashMap::new(),
            ending: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// A peer takes connections there.
    pub fn learn(&mut self, peer: Peer, at: SocketAddr) {
        self.at.insert(peer, at);
    }

    /// A peer is lost.
    pub fn lose(&mut self, peer: Peer) {
        if self.own.is_some() && self.at.contains_key(&peer) {
            self.lost.push(peer);
            self.ending.push((peer, Instant::now() + GRACE, true));
        }
    }

    /// Where a peer takes connections, if they are the kernel's.
    pub fn of(&self, peer: Peer) -> Option<SocketAddr> {
        self.own?;
        self.at.get(&peer).copied()
    }

    /// A peer was removed, and its number may be another one's.
    pub fn forget(&mut self, peer: Peer) {
        self.at.remove(&peer);
        self.ending.retain(|it| it.0 != peer);
        self.lost.retain(|it| *it != peer);
    }

    /// Whether there are connections to be ended, now or soon.
    #[inline]
    pub fn are_ending(&self) -> bool {
        !self.ending.is_empty()
    }

    /// Ends those whose time has come.
    #[cold]
    pub fn end_due(&mut self) {
        let now = Instant::now();
        let due = self.ending.extract_if(.., |it| it.1 <= now);
        let due: Vec<(Peer, bool)> = due.map(|it| (it.0, it.2)).collect();
        let at = |peer: &Peer| self.at.get(peer).copied();
        let all: Vec<SocketAddr> = due.iter().filter_map(|it| at(&it.0)).collect();
        // A later one leads to a peer that was removed, and is to be told so.
        let first = due.iter().filter(|it| it.1);
        let to: Vec<SocketAddr> = first.filter_map(|it| at(&it.0)).collect();
        if all.is_empty() {
            return;
        }
        let lives = |ip: IpAddr| {
            let mut there = self.at.iter().filter(|(_, at)| at.ip() == ip);
            there.any(|(peer, _)| !self.lost.contains(peer))
        };
        let from: Vec<IpAddr> = all
            .iter()
            .map(SocketAddr::ip)
            .filter(|ip| !lives(*ip))
            .collect();
        let mut again = false;
        for fd in descriptors() {
            // SAFETY: asked for its names at first; one that was closed has none. The provider's
            // stay open while we are here.
            let socket = unsafe { BorrowedFd::borrow_raw(fd) };
            let is_theirs = match self.own.and_then(|own| leads(socket, own)) {
                Some(Leads::To(at)) => to.contains(&at),
                Some(Leads::From(ip)) if from.contains(&ip) => {
                    let silent = silence(socket);
                    again |= silent < SILENT;
                    silent >= SILENT
                }
                _ => false,
            };
            if is_theirs {
                // One that has ended by itself needs no help.
                let _ = shutdown(socket, Shutdown::Both);
            }
        }
        if again {
            self.ending
                .extend(due.into_iter().map(|it| (it.0, now + SILENT, false)));
        }
    }
}

/// Begins to find out whether anybody takes connections there.
pub(crate) fn knock(at: SocketAddr) -> io::Result<OwnedFd> {
    let family = match at {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    match connect(&socket, &at) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Whether somebody does, as far as is known: an error if nobody does.
pub(crate) fn is_answered(knock: &OwnedFd) -> io::Result<bool> {
    socket_error(knock)??;
    Ok(getpeername(knock).is_ok())
}

/// What a connection of an endpoint is.
enum Leads {
    /// It leads to where somebody takes connections.
    To(SocketAddr),
    /// It came from that host.
    From(IpAddr),
}

/// Where a socket leads, if it is a connection and may be one of the endpoint that takes some at
/// `own`.
fn leads(socket: BorrowedFd<'_>, own: SocketAddr) -> Option<Leads> {
    let far = SocketAddr::try_from(getpeername(socket).ok()??).ok()?;
    let near = SocketAddr::try_from(getsockname(socket).ok()?).ok()?;
    Some(match near.port() == own.port() {
        true => Leads::From(far.ip()),
        false => Leads::To(far),
    })
}

/// How long nothing has come over a connection.
fn silence(socket: BorrowedFd<'_>) -> Duration {
    // SAFETY: numbers, all of which may be 0.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut len = size_of_val(&info) as libc::socklen_t;
    // SAFETY: a socket, and as much room as told.
    let told = unsafe {
        let fd = socket.as_raw_fd();
        let room = (&raw mut info).cast();
        libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, room, &mut len)
    };
    match told {
        0 => Duration::from_millis(info.tcpi_last_data_recv.into()),
        _ => Duration::ZERO,
    }
}

/// All open descriptors of this process.
fn descriptors() -> Vec<RawFd> {
    let number =
        |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    match fs::read_dir("/proc/self/fd") {
        Ok(all) => all.filter_map(number).collect(),
        // As many as are usual.
        Err(_) => (0..4096).collect(),
    }
}
