//! The route to oneself.

use std::collections::VecDeque;
use std::time::Duration;

use catena_base::{PeerBytes, Room};
use catena_fabric::{
    Access, Caps, Deliver, Header, Load, Payload, Peer, PeerLost, Posted, RemoteKey, Rendezvous,
    RmaStatus, Transport,
};
use catena_link::Tally;

/// A queue of packets. Long messages are read in place.
#[derive(Debug)]
pub(super) struct Loopback {
    me: Peer,
    queue: VecDeque<(Header, Box<[u8]>)>,
    /// Messages that this process sent to itself.
    pub sent: Tally,
}

impl Loopback {
    pub fn new(me: Peer) -> Self {
        Loopback {
            me,
            queue: VecDeque::new(),
            sent: Tally::default(),
        }
    }

    /// Whether a poll would find nothing.
    #[inline(always)]
    pub fn is_silent(&self) -> bool {
        self.queue.is_empty()
    }
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

    fn register(&mut self, _: Peer, addr: *mut u8, _: u64, _: Access) -> Option<RemoteKey> {
        Some(RemoteKey {
            addr: addr as u64,
            key: 0,
        })
    }

    fn deregister(&mut self, _: Peer, _: RemoteKey) {}

    unsafe fn try_get(
        &mut self,
        _: Peer,
        remote: RemoteKey,
        into: *mut u8,
        len: usize,
    ) -> Result<RmaStatus, PeerLost> {
        // SAFETY: our own message, registered by `register` and pinned by its
        // request. It may overlap `into` if the program sends from where it
        // receives, hence `copy`.
        unsafe { std::ptr::copy(remote.addr as *const u8, into, len) };
        Ok(RmaStatus::Bytes(len))
    }

    fn sleep(&mut self, limit: Duration) {
        // Nobody can wake us.
        std::thread::park_timeout(limit.min(Duration::from_millis(1)));
    }
}
