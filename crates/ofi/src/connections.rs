//! Ending the connections to a peer that is lost, where the provider goes through the kernel's TCP.
//!
//! A provider has memory of the program's as long as an operation is under way, and buffers of ours. It gives them back
//! when it learns that the connection has ended. Where a process dies its kernel says so; where a host vanishes nobody does,
//! and data may still come when it is back. libfabric has no call that ends a connection of an endpoint: neither
//! `fi_cancel` nor `fi_av_remove` does (1.17 to 2.5). But the connections are sockets of this process: one is shut down,
//! as if the other end had done so, and the provider does the rest.
//!
//! A socket is one of those if it leads to where the peer's endpoint takes connections, or comes from the peer's host to where
//! our endpoint does. Who of several processes of that host has opened the latter cannot be told, so those are ended once all of
//! them are lost.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use catena_fabric::Peer;
use rustix::net::{Shutdown, getpeername, getsockname, shutdown};

/// How long a provider is left to notice by itself that a lost peer's connections have ended. What has
/// arrived is taken meanwhile.
const GRACE: Duration = Duration::from_millis(200);

/// Where peers take connections, and whose are to be ended.
#[derive(Debug)]
pub(crate) struct Connections {
    /// Where our endpoint takes connections; `None` if they are not the kernel's.
    pub own: Option<SocketAddr>,
    at: HashMap<Peer, SocketAddr>,
    /// Lost peers whose connections are not ended yet, and when that is to be done.
    ending: Vec<(Peer, Instant)>,
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
            self.ending.push((peer, Instant::now() + GRACE));
        }
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
        let due: Vec<Peer> = self
            .ending
            .extract_if(.., |it| it.1 <= now)
            .map(|it| it.0)
            .collect();
        let to: Vec<SocketAddr> = due
            .iter()
            .filter_map(|peer| self.at.get(peer).copied())
            .collect();
        if to.is_empty() {
            return;
        }
        let lives = |ip: IpAddr| {
            let mut there = self.at.iter().filter(|(_, at)| at.ip() == ip);
            there.any(|(peer, _)| !self.lost.contains(peer))
        };
        let from: Vec<IpAddr> = to
            .iter()
            .map(SocketAddr::ip)
            .filter(|ip| !lives(*ip))
            .collect();
        for fd in descriptors() {
            if self.own.is_some_and(|own| is_one(fd, own, &to, &from)) {
                // SAFETY: open, as it has a name: the provider's, which closes none while we are here.
                let socket = unsafe { BorrowedFd::borrow_raw(fd) };
                // One that has ended by itself needs no help.
                let _ = shutdown(socket, Shutdown::Both);
            }
        }
    }
}

/// Whether a descriptor is a connection of the endpoint that takes some at `own`, to one of these places or from one of these
/// hosts.
fn is_one(fd: RawFd, own: SocketAddr, to: &[SocketAddr], from: &[IpAddr]) -> bool {
    // SAFETY: asked for its names alone; one that was closed has none.
    let socket = unsafe { BorrowedFd::borrow_raw(fd) };
    let Some(far) = getpeername(socket).ok().flatten() else {
        return false;
    };
    let Ok(far) = SocketAddr::try_from(far) else {
        return false;
    };
    let comes_to_us = || {
        let near = getsockname(socket).ok().map(SocketAddr::try_from);
        matches!(near, Some(Ok(near)) if near.port() == own.port())
    };
    to.contains(&far) || from.contains(&far.ip()) && comes_to_us()
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
