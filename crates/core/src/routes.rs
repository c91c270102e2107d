//! All routes of this process as one [`Net`]: to itself, through shared memory
//! and, one day, networks. A transport is added here with one line in each
//! method, and in [`Routes::new`].

use std::collections::VecDeque;
use std::time::Duration;

use catena_base::{End, PeerBytes, Room};
use catena_fabric::{
    Caps, Deliver, Got, Header, Load, Payload, Peer, PeerLost, Posted, Remote, Rendezvous,
    Transport,
};
use catena_link::{Net, Tally};
use catena_shm::Shm;

use crate::buffer::{RecvBuf, SendBuf};

/// How a peer is reached; fixed at wire-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It is this process.
    Loopback,
    /// It lives on this node and its segment is attached.
    Shm,
    /// There is no way to it.
    None,
}

/// The routes to every process of the job.
#[derive(Debug)]
pub struct Routes {
    table: Box<[Route]>,
    loopback: Loopback,
    shm: Option<Shm>,
}

impl Routes {
    /// Routes of process `me`: `local` are reached through `shm`.
    pub fn new(me: Peer, processes: usize, local: &[Peer], shm: Option<Shm>) -> Self {
        let mut table = vec![Route::None; processes];
        if shm.is_some() {
            for peer in local {
                table[peer.0 as usize] = Route::Shm;
            }
        }
        table[me.0 as usize] = Route::Loopback;
        Routes {
            table: table.into(),
            loopback: Loopback {
                me,
                queue: VecDeque::new(),
                sent: Tally::default(),
            },
            shm,
        }
    }

    /// How `peer` is reached.
    #[inline]
    pub fn route(&self, peer: Peer) -> Route {
        self.table
            .get(peer.0 as usize)
            .copied()
            .unwrap_or(Route::None)
    }

    /// The shared-memory transport, if the node has other ranks.
    pub fn shm(&self) -> Option<&Shm> {
        self.shm.as_ref()
    }

    /// The same, to change it.
    pub fn shm_mut(&mut self) -> Option<&mut Shm> {
        self.shm.as_mut()
    }

    /// Messages that this process sent to itself.
    pub fn to_itself(&self) -> Tally {
        self.loopback.sent
    }

    #[cold]
    fn unreachable(peer: Peer) -> PeerLost {
        PeerLost {
            peer,
            cause: "no route leads there: it is on another node, and this build \
            links no network"
                .into(),
        }
    }
}

/// Calls a method on the transport that leads to a peer.
macro_rules! by_route {
    ($self:ident, $peer:expr, $t:ident => $call:expr, else $none:expr) => {
        match $self.route($peer) {
            Route::Shm => match &mut $self.shm {
                Some($t) => $call,
                None => $none,
            },
            Route::Loopback => {
                let $t = &mut $self.loopback;
                $call
            }
            Route::None => $none,
        }
    };
}

impl Net for Routes {
    type Source = SendBuf;
    type Sink = RecvBuf;

    #[inline]
    fn caps(&self, peer: Peer) -> Caps {
        match (self.route(peer), &self.shm) {
            (Route::Shm, Some(shm)) => shm.caps(peer),
            _ => self.loopback.caps(peer),
        }
    }

    #[inline]
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        by_route!(self, peer, t => t.try_send(peer, header, payload),
            else Err(Routes::unreachable(peer)))
    }

    #[inline(always)]
    fn is_silent(&self) -> bool {
        self.loopback.queue.is_empty() && self.shm.as_ref().is_none_or(Shm::is_silent)
    }

    #[inline]
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let mut moved = 0;
        if let Some(shm) = &mut self.shm {
            moved += shm.poll(deliver);
        }
        if !self.loopback.queue.is_empty() {
            moved += self.loopback.poll(deliver);
        }
        moved
    }

    #[inline]
    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        match (self.route(peer), &self.shm) {
            (Route::Shm, Some(shm)) => shm.rendezvous(peer, len, load),
            _ => self.loopback.rendezvous(peer, len, load),
        }
    }

    fn expose(&mut self, peer: Peer, source: &SendBuf) -> Option<Remote> {
        let (at, len) = (source.contiguous()?, catena_link::Source::len(source));
        by_route!(self, peer, t => t.expose(peer, at, len), else None)
    }

    fn release(&mut self, peer: Peer, remote: Remote) {
        by_route!(self, peer, t => t.release(peer, remote), else ());
    }

    fn try_get(
        &mut self,
        peer: Peer,
        remote: Remote,
        sink: &mut RecvBuf,
        at: u64,
        len: u64,
    ) -> Result<Got, PeerLost> {
        let room = catena_link::Sink::room(sink);
        let Some(base) = sink.contiguous() else {
            return Ok(Got::Unable);
        };
        if at >= room {
            return Ok(Got::Unable);
        }
        let len = usize::try_from(len.min(room - at)).unwrap_or(usize::MAX >> 1);
        let from = Remote {
            addr: remote.addr.wrapping_add(at),
            key: remote.key,
        };
        let into = base.wrapping_add(at as usize);
        // SAFETY: `[at, at + len)` is within the room that the program lends.
        by_route!(self, peer, t => unsafe { t.try_get(peer, from, into, len) },
            else Err(Routes::unreachable(peer)))
    }

    fn expose_room(&mut self, peer: Peer, sink: &mut RecvBuf) -> Option<Remote> {
        let (at, len) = (sink.contiguous()?, catena_link::Sink::room(sink));
        by_route!(self, peer, t => t.expose_room(peer, at, len), else None)
    }

    fn try_put(
        &mut self,
        peer: Peer,
        source: &SendBuf,
        remote: Remote,
        at: u64,
        len: u64,
    ) -> Result<Got, PeerLost> {
        let Some(base) = source.contiguous() else {
            return Ok(Got::Unable);
        };
        let rest = catena_link::Source::len(source).saturating_sub(at);
        let len = usize::try_from(len.min(rest)).unwrap_or(usize::MAX >> 1);
        let to = Remote {
            addr: remote.addr.wrapping_add(at),
            key: remote.key,
        };
        let from = base.wrapping_add(at as usize);
        // SAFETY: `[at, at + len)` is within the message that the program lends.
        by_route!(self, peer, t => unsafe { t.try_put(peer, from, to, len) },
            else Err(Routes::unreachable(peer)))
    }

    fn open_parts(&mut self, peer: Peer) -> u32 {
        by_route!(self, peer, t => t.open_parts(peer), else 0)
    }

    fn take_part(&mut self, peer: Peer, end: End, number: u32, parts: u32) -> Option<u32> {
        by_route!(self, peer, t => t.take_part(peer, end, number, parts), else None)
    }
}

/// The route to oneself: a queue of packets. Long messages are read in place.
#[derive(Debug)]
struct Loopback {
    me: Peer,
    queue: VecDeque<(Header, Box<[u8]>)>,
    sent: Tally,
}

impl Transport for Loopback {
    fn name(&self) -> &'static str {
        "self"
    }

    fn caps(&self, _: Peer) -> Caps {
        Caps {
            max_packet: 64 << 10,
            eager_max: 16 << 10,
            ordered: true,
        }
    }

    fn try_send<P: Payload>(
        &mut self,
        _: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        if let Some(len) = catena_link::begins(&header) {
            self.sent.add(len);
        }
        let mut copy = vec![0; payload.len()].into_boxed_slice();
        // SAFETY: a slice of exactly that length, ours alone.
        payload.write(unsafe { Room::new(copy.as_mut_ptr(), copy.len()) });
        self.queue.push_back((header, copy));
        Ok(Posted::Done)
    }

    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        // What the deliveries cause to be sent waits for the next call.
        let there = self.queue.len();
        for (header, payload) in self.queue.drain(..) {
            deliver.deliver(self.me, header, PeerBytes::from(&payload[..]));
        }
        there
    }

    fn rendezvous(&self, _: Peer, _: u64, _: Load) -> Rendezvous {
        Rendezvous::Get
    }

    fn expose(&mut self, _: Peer, addr: *const u8, _: u64) -> Option<Remote> {
        Some(Remote {
            addr: addr as u64,
            key: 0,
        })
    }

    fn release(&mut self, _: Peer, _: Remote) {}

    unsafe fn try_get(
        &mut self,
        _: Peer,
        remote: Remote,
        into: *mut u8,
        len: usize,
    ) -> Result<Got, PeerLost> {
        // SAFETY: our own message, exposed by `expose` and pinned by its
        // request. It may overlap `into` if the program sends from where it
        // receives, hence `copy`.
        unsafe { std::ptr::copy(remote.addr as *const u8, into, len) };
        Ok(Got::Bytes(len))
    }

    fn sleep(&mut self, limit: Duration) {
        // Nobody can wake us.
        std::thread::park_timeout(limit.min(Duration::from_millis(1)));
    }
}
