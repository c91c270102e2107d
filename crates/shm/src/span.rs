//! How much of a ring's data area packets take turns in.
//!
//! What a packet is copied into was last read by another core. Where the lines are still in that
//! one's cache, each must be taken away from it first, which costs more than to fetch one from the
//! cache behind: between near cores, 64 KiB both ways at once pass at 58 GB/s through 256 KiB, at
//! 72 through 2 MiB (AMD EPYC, 1 MiB of cache each). Short packets gain nothing by that, and
//! neither do ranks that share cores: they keep to a part that stays in the nearest caches.
//!
//! As long as each packet is taken before the next one is sent, short ones keep to a part that is
//! still smaller: between the cores of an Intel Xeon, messages of 4 KiB that go to and fro in 64
//! KiB take 0.79 µs, and 0.90 in 256 KiB; of 8 KiB 1.24 and 1.55. Windows of them need the whole.

use crate::class::Class;

/// Bytes that short packets take turns in, one at a time.
const CLOSEST: usize = 64 << 10;

/// Which part of the data area the packets to one peer use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// That of packets in general, bytes.
    near: usize,
    /// That of long packets, once there were many.
    far: usize,
    /// Bytes of long packets that are to come before they are many.
    left: usize,
}

impl Span {
    /// Before the area is there. `keeps_near` for ranks that share cores.
    pub fn new(keeps_near: bool) -> Span {
        Span {
            near: 0,
            far: 0,
            left: if keeps_near { usize::MAX } else { 0 },
        }
    }

    /// The area is there.
    pub fn open(&mut self, near: usize, far: usize) {
        (self.near, self.far) = (near, far);
        // Each page that is touched for the first time costs as much as a short message: that is to
        // be worth it.
        self.left = self.left.max(far);
    }

    /// Where a packet of `len` bytes goes back to the beginning of the area, at the latest.
    #[inline(always)]
    pub fn of(&self, len: usize) -> usize {
        match Class::of(len) == Class::Long && self.left == 0 {
            true => self.far,
            false => self.near,
        }
    }

    /// Where a packet of `len` bytes goes back to the beginning of the area if all before it were
    /// taken: `None` for long ones.
    #[inline(always)]
    pub fn closest(len: usize) -> Option<usize> {
        (len <= CLOSEST / 4).then_some(CLOSEST)
    }

    /// A long packet has left.
    #[inline(always)]
    pub fn sent_long(&mut self, len: usize) {
        if self.left != usize::MAX {
            self.left = self.left.saturating_sub(len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Geometry;

    #[test]
    fn long_packets_spread_once_there_were_many() {
        let geometry = Geometry::for_ranks(2);
        let (short, long) = (64, geometry.packet);
        for keeps_near in [false, true] {
            let mut span = Span::new(keeps_near);
            span.open(geometry.near(), geometry.data);
            for _ in 0..geometry.data / long {
                assert_eq!(span.of(long), geometry.near());
                span.sent_long(long);
            }
            let many = if keeps_near {
                geometry.near()
            } else {
                geometry.data
            };
            assert_eq!((span.of(long), span.of(short)), (many, geometry.near()));
        }
        assert!(2 * geometry.packet <= geometry.near() && geometry.near() < geometry.data);
    }

    #[test]
    fn short_packets_that_are_taken_one_by_one_stay_close() {
        assert_eq!(Span::closest(64), Some(CLOSEST));
        assert_eq!(Span::closest(16 << 10), Some(CLOSEST));
        assert_eq!(Span::closest((16 << 10) + 1), None);
    }
}
