//! What a packet looks like as one message of a network.
//!
//! ```text
//! 0    sign    the sender's, by which the receiver knows it: see [`Sign`]
//! 8    header  24 bytes; its stamp is the version of this layout
//! 32   payload
//! ```
//!
//! Several packets may share a frame: the stamp says so, the other fields of the header are 0, and
//! the payload is, for each of them,
//!
//! ```text
//! 0    length of its payload, 4 bytes
//! 4    its header
//! 28   its payload
//! ```
//!
//! Numbers are little-endian. A frame may begin at any address.

use std::ptr;

use catena_base::{PayloadRoom, PeerBytes};

use crate::{Header, Payload, Peer};

/// Bytes in front of the payload.
pub const FRAME: usize = size_of::<Front>();

/// Changes whenever the meaning of a byte changes.
const VERSION: u8 = 1;

/// The stamp of a frame of several packets.
const SEVERAL: u8 = VERSION | 1 << 7;

/// Bytes in front of the payload of one of several packets.
const LEAD: usize = size_of::<u32>() + size_of::<Header>();

/// By what the receiver of a frame knows its sender: its job's number and its rank in the world, or
/// a word that the receiver has given it ([`introduction`](crate::introduction)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Sign(u64);

impl Sign {
    /// That of a rank of a job with this [number](job_number).
    pub fn of_rank(job: u32, rank: u32) -> Sign {
        Sign(u64::from(rank) << 32 | u64::from(job))
    }

    /// One with these bits.
    pub const fn from_bits(bits: u64) -> Sign {
        Sign(bits)
    }

    /// Its bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The rank, if it is the sign of one of `processes` ranks of that job.
    #[inline]
    fn rank(self, job: u32, processes: u32) -> Option<Peer> {
        let rank = (self.0 >> 32) as u32;
        (self.0 as u32 == job && rank < processes).then_some(Peer(rank))
    }
}

/// What stands in front of the payload.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// The sender's.
    pub sign: Sign,
    /// The packet's, [of this version](of_one), or that of [several](SEVERAL_PACKETS).
    pub header: Header,
}

const _: () = assert!(FRAME == 32);

/// The header of a frame of one packet.
#[inline]
pub fn of_one(header: Header) -> Header {
    Header {
        stamp: VERSION,
        ..header
    }
}

/// The header of a frame of several packets, those of a [`Batch`].
pub const SEVERAL_PACKETS: Header = Header {
    stamp: SEVERAL,
    kind: 0,
    seq: 0,
    context: 0,
    source: 0,
    tag: 0,
    len: 0,
};

impl Front {
    /// The first bytes of a frame of one packet.
    pub fn new(sign: Sign, header: Header) -> Front {
        let header = of_one(header);
        Front { sign, header }
    }

    /// The first bytes of a frame of several packets, those of a [`Batch`].
    pub fn of_several(sign: Sign) -> Front {
        let header = SEVERAL_PACKETS;
        Front { sign, header }
    }

    /// Writes a frame; returns its length.
    ///
    /// # Safety
    /// `to` has room for [`FRAME`] bytes and the payload, exclusively ours.
    #[inline]
    pub unsafe fn write<P: Payload>(&self, to: *mut u8, payload: &P) -> usize {
        let len = payload.len();
        // SAFETY: as promised; alignment is not assumed.
        unsafe {
            to.cast::<Front>().write_unaligned(*self);
            payload.write(PayloadRoom::new(to.add(FRAME), len));
        }
        FRAME + len
    }

    /// Reads the first bytes of a frame of this version; the payload follows.
    #[inline(always)]
    fn read(frame: PeerBytes<'_>) -> Option<(Front, PeerBytes<'_>)> {
        if frame.len() < FRAME {
            return None;
        }
        // SAFETY: as many bytes are there, and every pattern is a front.
        let front = unsafe { ptr::read_unaligned(frame.as_ptr().cast::<Front>()) };
        let sound = front.header.stamp & !(SEVERAL ^ VERSION) == VERSION;
        sound.then(|| (front, frame.part(FRAME, frame.len() - FRAME)))
    }
}

/// Gives the packets of a frame to `take`, in their order, if it belongs to `job` and comes from
/// one of `processes`; whether all of it was sound.
#[inline]
pub fn open<'a>(
    frame: PeerBytes<'a>,
    job: u32,
    processes: u32,
    take: impl FnMut(Peer, Header, PeerBytes<'a>),
) -> bool {
    open_signed(frame, |sign| sign.rank(job, processes), take)
}

/// The sign that a frame of this version bears.
pub fn sign(frame: PeerBytes<'_>) -> Option<Sign> {
    Some(Front::read(frame)?.0.sign)
}

/// Gives the packets of a frame to `take`, in their order, if `sender` knows by its sign from whom
/// it comes; whether all of it was sound.
#[inline]
pub fn open_signed<'a>(
    frame: PeerBytes<'a>,
    sender: impl FnOnce(Sign) -> Option<Peer>,
    mut take: impl FnMut(Peer, Header, PeerBytes<'a>),
) -> bool {
    let Some((front, mut rest)) = Front::read(frame) else {
        return false;
    };
    let Some(from) = sender(front.sign) else {
        return false;
    };
    if front.header.stamp == VERSION {
        take(from, front.header, rest);
        return true;
    }
    while rest.len() >= LEAD {
        // SAFETY: as many bytes are there, and every pattern is a number and a header.
        let (len, header) = unsafe {
            let at = rest.as_ptr();
            let len = ptr::read_unaligned(at.cast::<u32>()) as usize;
            (len, ptr::read_unaligned(at.add(4).cast::<Header>()))
        };
        if len > rest.len() - LEAD {
            return false;
        }
        take(from, header, rest.part(LEAD, len));
        rest = rest.part(LEAD + len, rest.len() - LEAD - len);
    }
    rest.is_empty()
}

/// Packets that are to share a frame.
///
/// # Examples
/// Two packets become a frame, and packets again:
/// ```
/// use catena_base::PeerBytes;
/// use catena_fabric::frame::{Batch, FRAME, Front, Sign, open};
/// use catena_fabric::{Header, Peer};
///
/// let (job, from) = (5, 2);
/// let mut batch = Batch::default();
/// batch.add(Header::default(), &&b"hello"[..]);
/// batch.add(Header::default(), &&b"again"[..]);
/// let mut frame = vec![0; FRAME + batch.bytes().len()];
/// // SAFETY: exactly that long.
/// unsafe { Front::of_several(Sign::of_rank(job, from)).write(frame.as_mut_ptr(), &batch.bytes()) };
///
/// let mut packets = Vec::new();
/// let sound = open(PeerBytes::from(&*frame), job, 3, |from, _, payload| {
///     packets.push((from, payload.to_vec()));
/// });
/// assert!(sound);
/// assert_eq!(packets, [(Peer(2), b"hello".to_vec()), (Peer(2), b"again".to_vec())]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
}

impl Batch {
    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether one with a payload of `len` bytes can be added if a frame has room
    /// for `capacity` bytes besides its front.
    #[inline]
    pub fn has_room(&self, len: usize, capacity: usize) -> bool {
        self.bytes.len() + LEAD + len <= capacity
    }

    /// Adds one.
    #[inline]
    pub fn add<P: Payload>(&mut self, header: Header, payload: &P) {
        let (at, len) = (self.bytes.len(), payload.len());
        self.bytes.reserve(LEAD + len);
        // SAFETY: as much is reserved, and all of it is written.
        unsafe {
            let to = self.bytes.as_mut_ptr().add(at);
            to.cast::<u32>().write_unaligned(len as u32);
            to.add(4).cast::<Header>().write_unaligned(header);
            payload.write(PayloadRoom::new(to.add(LEAD), len));
            self.bytes.set_len(at + LEAD + len);
        }
    }

    /// All of them, the payload of a frame with [`Front::of_several`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// A job's number in its frames.
pub fn job_number(job: u64) -> u32 {
    (job ^ job >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(job: u32, from: u32, payload: &[u8]) -> Vec<u8> {
        let header = Header {
            kind: 3,
            tag: -1,
            len: 7,
            ..Header::default()
        };
        let mut bytes = vec![0; FRAME + payload.len()];
        // SAFETY: exactly that long.
        let len = unsafe {
            Front::new(Sign::of_rank(job, from), header).write(bytes.as_mut_ptr(), &payload)
        };
        assert_eq!(len, bytes.len());
        bytes
    }

    /// The packets of a frame, and whether it is sound.
    fn opened(bytes: &[u8], job: u32, processes: u32) -> (Vec<(u32, i32, Vec<u8>)>, bool) {
        let mut packets = Vec::new();
        let sound = open(
            PeerBytes::from(bytes),
            job,
            processes,
            |from, header, payload| packets.push((from.0, header.tag, payload.to_vec())),
        );
        (packets, sound)
    }

    #[test]
    fn frames_are_read_from_any_address() {
        for shift in 0..9 {
            let mut bytes = vec![0; shift];
            bytes.extend(frame(5, 2, b"abc"));
            let packets = vec![(2, -1, b"abc".to_vec())];
            assert_eq!(opened(&bytes[shift..], 5, 3), (packets, true));
        }
    }

    #[test]
    fn strays_are_refused() {
        let good = frame(5, 2, b"abc");
        let is_refused = |bytes: &[u8], job, n| opened(bytes, job, n) == (vec![], false);
        assert!(!is_refused(&good, 5, 3));
        assert!(is_refused(&good, 6, 3), "another job");
        assert!(is_refused(&good, 5, 2), "no such rank");
        assert!(is_refused(&good[..FRAME - 1], 5, 3), "cut short");
        let mut other = good.clone();
        other[8] = VERSION + 1;
        assert!(is_refused(&other, 5, 3), "another version");
    }

    #[test]
    fn several_packets_share_a_frame() {
        let mut batch = Batch::default();
        let payloads: [&[u8]; 4] = [b"abc", b"", b"0123456789", b"z"];
        for (tag, payload) in (0..).zip(payloads) {
            let header = Header {
                tag,
                ..Header::default()
            };
            batch.add(header, &payload);
        }
        let room = batch.bytes().len();
        assert!(batch.has_room(7, room + LEAD + 7) && !batch.has_room(8, room + LEAD + 7));
        let mut bytes = vec![0; FRAME + room];
        // SAFETY: exactly that long.
        unsafe { Front::of_several(Sign::of_rank(5, 2)).write(bytes.as_mut_ptr(), &batch.bytes()) };
        let packets: Vec<_> = (0..)
            .zip(payloads)
            .map(|(tag, payload)| (2, tag, payload.to_vec()))
            .collect();
        assert_eq!(opened(&bytes, 5, 3), (packets.clone(), true));
        // Cut anywhere, it has the packets that are whole, and is not sound unless it
        // ends with one.
        let mut ends = vec![FRAME];
        for payload in payloads {
            ends.push(ends[ends.len() - 1] + LEAD + payload.len());
        }
        for len in FRAME..bytes.len() {
            let whole = ends.iter().filter(|&&end| end <= len).count() - 1;
            let expected = (packets[..whole].to_vec(), ends.contains(&len));
            assert_eq!(opened(&bytes[..len], 5, 3), expected, "{len} bytes");
        }
    }
}
