//! What the tests share.

use catena_base::{PayloadRoom, PeerBytes};
use catena_fabric::{Deliver, Header, OpId, Payload, Peer, PeerLost, Posted, RmaError, Transport};

use crate::pair::Pair;

/// Keeps everything that is delivered.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Packets in order of arrival; their stamps, which belong to the
    /// transport, are 0.
    pub packets: Vec<(Peer, Header, Vec<u8>)>,
    /// Losses in order of arrival.
    pub lost: Vec<PeerLost>,
    /// Peers that have removed this process, in order of arrival.
    pub left: Vec<PeerLost>,
    /// Operations that have ended, in order of arrival.
    pub completed: Vec<(OpId, Result<u64, RmaError>)>,
}

impl Deliver for Inbox {
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.packets
            .push((from, Header { stamp: 0, ..header }, payload.to_vec()));
    }

    fn lost(&mut self, lost: PeerLost) {
        self.lost.push(lost);
    }

    fn left(&mut self, end: PeerLost) {
        self.left.push(end);
    }

    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        self.completed.push((op, result));
    }
}

/// A header in which every bit depends on `n`; `tag` is `n` itself.
pub(crate) fn header(n: u32) -> Header {
    let x = u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5555_aaaa;
    Header {
        stamp: 0,
        kind: (x >> 8) as u8,
        seq: (x >> 16) as u16,
        context: (x >> 20) as u32,
        source: (x >> 32) as u32,
        tag: n as i32,
        len: !x,
    }
}

/// `len` bytes that depend on `n`.
pub fn pattern(n: u32, len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| {
            (i as u32)
                .wrapping_mul(0x9e37_79b1)
                .wrapping_add(n.wrapping_mul(31))
                .to_be_bytes()[1]
        })
        .collect()
}

/// Sizes around every limit that a transport may have.
pub(crate) fn sizes(max: usize) -> Vec<usize> {
    let edges = [
        0,
        1,
        7,
        8,
        9,
        16,
        24,
        32,
        39,
        40,
        41,
        48,
        56,
        64,
        128,
        192,
        256,
        1 << 10,
    ];
    let edges = edges.into_iter().chain([4 << 10, 8 << 10, 64 << 10, max]);
    let around = edges.flat_map(|at: usize| [at.saturating_sub(1), at, at + 1]);
    let mut sizes: Vec<usize> = around.filter(|&size| size <= max).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Bytes that are only there when they are written.
#[derive(Debug)]
pub(crate) struct Scattered(pub Vec<u8>);

impl Payload for Scattered {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn contiguous(&self) -> Option<*const u8> {
        None
    }

    fn write(&self, mut room: PayloadRoom<'_>) {
        assert_eq!(
            room.len(),
            self.0.len(),
            "the room is as long as the payload"
        );
        for (at, bytes) in self.0.chunks(3).enumerate() {
            room.write(at * 3, bytes);
        }
    }
}

/// How often something is tried before it counts as never.
pub(crate) const PATIENCE: usize = 100_000;

/// One end of a pair, and what it has received.
#[derive(Debug)]
pub(crate) struct End<T> {
    pub at: T,
    pub is: Peer,
    pub inbox: Inbox,
}

impl<T: Transport> Pair<T> {
    /// Both ends.
    pub(crate) fn ends(self) -> (End<T>, End<T>) {
        let end = |at, is| End {
            at,
            is,
            inbox: Inbox::default(),
        };
        (end(self.a, self.a_is), end(self.b, self.b_is))
    }
}

impl<T: Transport> End<T> {
    pub fn poll(&mut self) {
        self.at.poll(&mut self.inbox);
    }

    /// Posts `bytes` with header `n`.
    pub fn try_send<P: Payload>(&mut self, to: Peer, n: u32, bytes: P) -> Posted {
        let posted = self.at.try_send(to, header(n), bytes);
        posted.expect("the peer is alive")
    }
}

/// Posts packet `n`, polling both ends while the route is full.
pub(crate) fn send<T: Transport>(from: &mut End<T>, to: &mut End<T>, n: u32, len: usize) {
    let bytes = pattern(n, len);
    for _ in 0..PATIENCE {
        if from.try_send(to.is, n, bytes.as_slice()) == Posted::Done {
            return;
        }
        to.poll();
        from.poll();
    }
    panic!("the route stays full");
}

/// Polls until `count` packets are there. The sender is polled too: there are
/// networks that carry nothing while it does nothing.
pub(crate) fn receive<T: Transport>(at: &mut End<T>, from: &mut End<T>, count: usize) {
    for _ in 0..PATIENCE {
        if at.inbox.packets.len() >= count {
            return;
        }
        at.poll();
        from.poll();
    }
    panic!("{} of {count} packets arrive", at.inbox.packets.len());
}
