//! Packets in a row: those to one peer that follow each other closely leave together if the program
//! polls soon after such rows; one alone leaves at once. A row leaves with the next poll: in one
//! write to a connection of `tcp`, in one frame over libfabric and UCX.

use std::mem;
use std::time::Duration;

use catena_base::clock;

use crate::frame::{Batch, SEVERAL_PACKETS, of_one};
use crate::{Header, Payload, Peer, PeerLost, Posted};

/// Rows that a poll follows soon to one that it does not, at least, if the program
/// is trusted to poll.
const TIMELY: u32 = 64;
/// Rows for which it is remembered.
const MEMORY: u32 = 4 * TIMELY;
/// Rows after which a program is trusted that has polled soon after all of them.
const FIRST: u32 = 8;

/// Longest payload that waits for others, bytes.
const SHORT: usize = 512;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Packets of a row that leave at once.
    pub at_once: u32,
    /// Packets further apart are in no row.
    pub apart: Duration,
    /// How soon the program polls after a row, usually, if the end of a row is to
    /// wait for that.
    pub soon: Duration,
}

impl Pace {
    /// All packets between two polls are in a row, but the first two, for tests.
    pub const ALWAYS: Pace = Pace {
        at_once: 2,
        apart: Duration::MAX,
        soon: Duration::MAX,
    };

    /// The usual one.
    pub fn new(at_once: u32) -> Pace {
        Pace {
            at_once,
            apart: Duration::from_micros(20),
            soon: Duration::from_micros(50),
        }
    }
}

/// The packets to one peer since the last poll.
#[derive(Clone, Debug)]
pub struct Row {
    /// Packets since the poll with number `turn`; the last at the tick `last`.
    packets: u32,
    turn: u64,
    last: u64,
    /// Rows that a poll has followed soon, less [`TIMELY`] for each other one.
    timely: u32,
}

impl Default for Row {
    fn default() -> Row {
        Row {
            packets: 0,
            turn: 0,
            last: 0,
            timely: TIMELY - FIRST,
        }
    }
}

impl Row {
    /// Whether a packet at the tick `now` is far from the last one.
    #[inline]
    pub fn is_apart(&self, now: u64, pace: &Pace) -> bool {
        now.wrapping_sub(self.last) > clock::ticks_in(pace.apart)
    }

    /// A packet follows at the tick `now`.
    #[inline]
    pub fn follow(&mut self, now: u64) {
        self.last = now;
    }

    /// Counts that packet, after the poll with number `turn`; whether it comes
    /// after those that leave at once.
    #[inline]
    pub fn add(&mut self, turn: u64, apart: bool, pace: &Pace) -> bool {
        if self.turn != turn || apart {
            (self.turn, self.packets) = (turn, 0);
        }
        self.packets += 1;
        self.packets > pace.at_once
    }

    /// Whether the program polls soon after a row of packets, so that its end may
    /// wait for that.
    #[inline]
    pub fn is_trusted(&self) -> bool {
        self.timely >= TIMELY
    }

    /// The row has ended with a poll, or should have.
    pub fn end(&mut self, pace: &Pace) {
        let late = clock::ticks().wrapping_sub(self.last) > clock::ticks_in(pace.soon);
        self.timely = match late {
            true => self.timely.saturating_sub(TIMELY),
            false => (self.timely + 1).min(MEMORY),
        };
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disposition {
    /// It waits, with others.
    Yes,
    /// It leaves at once.
    No,
    /// It cannot leave before those that wait, and there is no room beside them.
    Full,
}

/// The rows to all peers, and the packets of each that wait to leave as one frame.
#[derive(Debug)]
pub struct Rows {
    pace: Pace,
    /// Bytes that a frame has room for, besides its front.
    capacity: usize,
    peers: Vec<Waiting>,
    /// Those whose row ends with the next poll, all that packets wait for among
    /// them.
    listed: Vec<Peer>,
    /// Number of the last poll.
    turn: u64,
    /// Packets that waited.
    held: u64,
}

/// The packets for one peer.
#[derive(Clone, Debug, Default)]
struct Waiting {
    row: Row,
    batch: Batch,
    listed: bool,
}

impl Rows {
    /// Of no peer.
    const NONE: Rows = Rows {
        pace: Pace::ALWAYS,
        capacity: 0,
        peers: Vec::new(),
        listed: Vec::new(),
        turn: 0,
        held: 0,
    };

    /// Of so many peers, over a network whose frames have room for `capacity` bytes
    /// besides their front.
    pub fn new(peers: usize, capacity: usize, pace: Pace) -> Rows {
        Rows {
            pace,
            capacity,
            peers: vec![Waiting::default(); peers],
            ..Rows::NONE
        }
    }

    /// Whether no packet waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Packets that waited to leave with others.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Makes room for the peers below number `peers`; those that are there stay.
    pub fn grow(&mut self, peers: usize) {
        if self.peers.len() < peers {
            self.peers.resize(peers, Waiting::default());
        }
    }

    /// What waits for a peer is never to leave.
    pub fn forget(&mut self, peer: Peer) {
        if let Some(waiting) = self.peers.get_mut(peer.0 as usize) {
            waiting.batch.clear();
        }
    }

    /// Whether what waits for a peer is to leave before a payload of `len` bytes
    /// is posted at the tick `now`.
    #[inline]
    fn is_due(&mut self, peer: Peer, len: usize, now: u64) -> bool {
        let Waiting { row, batch, .. } = &mut self.peers[peer.0 as usize];
        if batch.is_empty() {
            return false;
        }
        let apart = row.is_apart(now, &self.pace);
        if apart {
            row.end(&self.pace);
        }
        apart || len > SHORT || !batch.has_room(len, self.capacity)
    }

    /// Takes a packet that is posted at the tick `now` if it is to wait.
    #[inline]
    fn keep<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &P,
        now: u64,
    ) -> Disposition {
        let Waiting { row, batch, listed } = &mut self.peers[peer.0 as usize];
        let apart = row.is_apart(now, &self.pace);
        row.follow(now);
        let late = row.add(self.turn, apart, &self.pace);
        // The next poll tells whether the program can be trusted.
        if late && !mem::replace(listed, true) {
            self.listed.push(peer);
        }
        let behind = !batch.is_empty();
        let joins = behind || late && row.is_trusted();
        if !joins {
            return Disposition::No;
        }
        if payload.len() > SHORT || !batch.has_room(payload.len(), self.capacity) {
            return if behind {
                Disposition::Full
            } else {
                Disposition::No
            };
        }
        batch.add(header, payload);
        self.held += 1;
        Disposition::Yes
    }

    /// Hands what waits for a peer to `send`; if that fails it is gone, too.
    fn flush(
        &mut self,
        peer: Peer,
        send: impl FnOnce(&[u8]) -> Result<Posted, PeerLost>,
    ) -> Result<Posted, PeerLost> {
        let batch = &mut self.peers[peer.0 as usize].batch;
        if batch.is_empty() {
            return Ok(Posted::Done);
        }
        let sent = send(batch.bytes());
        if sent != Ok(Posted::Full) {
            batch.clear();
        }
        sent
    }

    /// [`Rows::flush`] for all peers, as far as there is room.
    fn push(&mut self, mut send: impl FnMut(Peer, &[u8]) -> Result<Posted, PeerLost>) {
        for n in (0..self.listed.len()).rev() {
            let peer = self.listed[n];
            self.peers[peer.0 as usize].row.end(&self.pace);
            if self.flush(peer, |bytes| send(peer, bytes)) != Ok(Posted::Full) {
                self.peers[peer.0 as usize].listed = false;
                self.listed.swap_remove(n);
            }
        }
    }
}

/// A network that sends frames, in which short packets of a row share one.
pub trait Framed: Sized {
    /// The packets that wait.
    fn rows(&mut self) -> &mut Rows;

    /// Sends a frame of one packet, whose header is [of this version](crate::frame::of_one), or of
    /// [several](crate::frame::SEVERAL_PACKETS).
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    fn send_frame<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost>;

    /// Sends a packet, at once or with the next poll at the latest.
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    #[inline]
    fn send_packet<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let now = clock::ticks();
        if self.rows().is_due(peer, payload.len(), now) {
            let send = |it: &mut Self, rows: &mut Rows| {
                rows.flush(peer, |bytes| it.send_frame(peer, SEVERAL_PACKETS, bytes))
            };
            // Where there is no room for it, there may be some behind it.
            let _ = lend(self, send)?;
        }
        match self.rows().keep(peer, header, &payload, now) {
            Disposition::Yes => Ok(Posted::Done),
            Disposition::No => self.send_frame(peer, of_one(header), payload),
            Disposition::Full => Ok(Posted::Full),
        }
    }

    /// A poll begins: what waits leaves, as far as there is room.
    #[inline]
    fn end_rows(&mut self) {
        self.rows().turn += 1;
        if !self.rows().is_empty() {
            lend(self, |it, rows| {
                rows.push(|peer, bytes| it.send_frame(peer, SEVERAL_PACKETS, bytes));
            });
        }
    }
}

/// Acts on the rows while frames of theirs are sent.
fn lend<N: Framed, R>(network: &mut N, act: impl FnOnce(&mut N, &mut Rows) -> R) -> R {
    let mut rows = mem::replace(network.rows(), Rows::NONE);
    let done = act(network, &mut rows);
    *network.rows() = rows;
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{self, Front, Sign};
    use catena_base::PeerBytes;

    const PEER: Peer = Peer(1);

    /// What was sent, a list of payloads for each frame.
    struct Network {
        rows: Rows,
        frames: Vec<Vec<Vec<u8>>>,
        is_full: bool,
    }

    impl Framed for Network {
        fn rows(&mut self) -> &mut Rows {
            &mut self.rows
        }

        fn send_frame<P: Payload>(
            &mut self,
            peer: Peer,
            header: Header,
            payload: P,
        ) -> Result<Posted, PeerLost> {
            assert_eq!(peer, PEER);
            let sign = Sign::of_rank(1, 0);
            let front = Front { sign, header };
            if self.is_full {
                return Ok(Posted::Full);
            }
            let mut bytes = vec![0; frame::FRAME + payload.len()];
            // SAFETY: exactly that long.
            unsafe { front.write(bytes.as_mut_ptr(), &payload) };
            let mut packets = Vec::new();
            let take = |_, _, payload: PeerBytes| packets.push(payload.to_vec());
            assert!(frame::open(PeerBytes::from(&bytes[..]), 1, 2, take));
            self.frames.push(packets);
            Ok(Posted::Done)
        }
    }

    impl Network {
        /// Posts a packet; whether it waits.
        fn post(&mut self, payload: &[u8]) -> Disposition {
            let held = self.rows.held();
            match self.send_packet(PEER, Header::default(), payload) {
                Ok(Posted::Done) if self.rows.held() > held => Disposition::Yes,
                Ok(Posted::Done) => Disposition::No,
                Ok(Posted::Full) => Disposition::Full,
                Err(lost) => panic!("{lost:?}"),
            }
        }
    }

    /// Rows of a program that was seen to poll.
    fn trusted(capacity: usize) -> Network {
        let mut network = Network {
            rows: Rows::new(2, capacity, Pace::ALWAYS),
            frames: Vec::new(),
            is_full: false,
        };
        for _ in 0..FIRST {
            for _ in 0..5 {
                assert_eq!(network.post(b"no trust yet"), Disposition::No);
            }
            network.end_rows();
        }
        network.frames.clear();
        network
    }

    #[test]
    fn the_end_of_a_row_leaves_with_the_poll() {
        let mut network = trusted(1000);
        let payloads: [&[u8]; 5] = [b"a", b"bb", b"", b"dddd", b"e"];
        let kept = payloads.map(|payload| network.post(payload));
        assert_eq!(kept[..2], [Disposition::No; 2], "they are the first");
        assert_eq!(kept[2..], [Disposition::Yes; 3]);
        assert_eq!(network.frames.len(), 2);
        network.end_rows();
        assert!(network.rows.is_empty());
        let sent: Vec<_> = network.frames.concat();
        assert_eq!(
            (network.frames.len(), sent),
            (3, payloads.map(<[u8]>::to_vec).to_vec())
        );
    }

    #[test]
    fn who_does_not_poll_soon_is_not_waited_for() {
        let mut network = trusted(1000);
        network.rows.pace.soon = Duration::ZERO;
        (0..5).for_each(|_| _ = network.post(b"late"));
        network.end_rows();
        (0..5).for_each(|_| assert_eq!(network.post(b"late"), Disposition::No));
    }

    #[test]
    fn what_is_long_or_far_apart_leaves_behind_what_waits() {
        let mut network = trusted(1000);
        (0..5).for_each(|_| _ = network.post(b"short"));
        assert_eq!(network.post(&[7; SHORT + 1]), Disposition::No);
        let packets: Vec<_> = network.frames.iter().map(Vec::len).collect();
        assert_eq!(packets, [1, 1, 3, 1]);
        assert_eq!(network.post(b"short"), Disposition::Yes);
        network.rows.pace.apart = Duration::ZERO;
        assert_eq!(network.post(b"apart"), Disposition::No);
        assert_eq!(network.frames.concat().last().unwrap(), b"apart");
    }

    #[test]
    fn a_full_network_is_full_when_no_more_packets_can_wait() {
        let mut network = trusted(100);
        let kept: Vec<_> = (0..5).map(|_| network.post(&[1; 20])).collect();
        let first_frame = [vec![Disposition::No; 2], vec![Disposition::Yes; 3]].concat();
        assert_eq!(kept, first_frame, "two of them fill a frame");
        assert_eq!(network.frames.len(), 3);
        network.is_full = true;
        assert_eq!(network.post(&[2; 20]), Disposition::Yes);
        assert_eq!(network.post(&[3; 20]), Disposition::Full);
        network.end_rows();
        assert!(!network.rows.is_empty());
        network.is_full = false;
        network.end_rows();
        assert!(network.rows.is_empty());
        assert_eq!(network.frames[3], [[1; 20], [2; 20]]);
    }

    #[test]
    fn what_waits_for_a_lost_peer_never_leaves() {
        let mut network = trusted(1000);
        (0..5).for_each(|_| _ = network.post(b"x"));
        network.rows.forget(PEER);
        network.end_rows();
        assert!(network.rows.is_empty());
        assert_eq!(network.frames.len(), 2);
    }
}
