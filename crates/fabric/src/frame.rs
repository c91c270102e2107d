//! What a packet looks like as one message of a network.
//!
//! ```text
//! 0    job     tells jobs apart, so that strays are noticed
//! 4    from    the sender's rank in the world
//! 8    header  24 bytes; its stamp is the version of this layout
//! 32   payload
//! ```
//!
//! Numbers are little-endian. A frame may begin at any address.

use std::ptr;

use catena_base::{PeerBytes, Room};

use crate::{Header, Payload};

/// Bytes in front of the payload.
pub const FRAME: usize = size_of::<Front>();

/// Changes whenever the meaning of a byte changes.
const VERSION: u8 = 1;

/// What stands in front of the payload.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// Number of the job.
    pub job: u32,
    /// Rank of the sender in the world.
    pub from: u32,
    /// The packet's.
    pub header: Header,
}

const _: () = assert!(FRAME == 32);

impl Front {
    /// The first bytes of a frame from `from` to another process of `job`.
    pub fn new(job: u32, from: u32, header: Header) -> Front {
        let header = Header {
            stamp: VERSION,
            ..header
        };
        Front { job, from, header }
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
            payload.write(Room::new(to.add(FRAME), len));
        }
        FRAME + len
    }

    /// Reads the first bytes of a frame and checks that it belongs to `job`
    /// and comes from one of `processes`; the payload follows.
    #[inline]
    pub fn read(frame: PeerBytes<'_>, job: u32, processes: u32) -> Option<(Front, PeerBytes<'_>)> {
        if frame.len() < FRAME {
            return None;
        }
        // SAFETY: as many bytes are there, and every pattern is a front.
        let front = unsafe { ptr::read_unaligned(frame.as_ptr().cast::<Front>()) };
        let sound = front.header.stamp == VERSION && front.job == job && front.from < processes;
        sound.then(|| (front, frame.part(FRAME, frame.len() - FRAME)))
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
        let len = unsafe { Front::new(job, from, header).write(bytes.as_mut_ptr(), &payload) };
        assert_eq!(len, bytes.len());
        bytes
    }

    #[test]
    fn frames_are_read_from_any_address() {
        for shift in 0..9 {
            let mut bytes = vec![0; shift];
            bytes.extend(frame(5, 2, b"abc"));
            let view = PeerBytes::from(&bytes[shift..]);
            let (front, payload) = Front::read(view, 5, 3).expect("a good frame");
            assert_eq!((front.from, front.header.tag), (2, -1));
            assert_eq!(payload.to_vec(), b"abc");
        }
    }

    #[test]
    fn strays_are_refused() {
        let good = frame(5, 2, b"abc");
        let read = |bytes: &[u8], job, n| Front::read(PeerBytes::from(bytes), job, n).is_some();
        assert!(read(&good, 5, 3));
        assert!(!read(&good, 6, 3), "another job");
        assert!(!read(&good, 5, 2), "no such rank");
        assert!(!read(&good[..FRAME - 1], 5, 3), "cut short");
        let mut other = good.clone();
        other[8] = VERSION + 1;
        assert!(!read(&other, 5, 3), "another version");
    }
}
