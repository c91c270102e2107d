//! Which way long payloads go, as the members have agreed: through rings, with two plain copies, or
//! from buffer to buffer, with one that the kernel makes.
//!
//! All of this is alike on all members, as it follows from the operations and from what all of them
//! have heard. Who decides, and by what, tells `choices`.

use crate::kind::OpKind;

/// Operations of whose decider nobody hears, until one goes the other way to hear of it.
const UNHEARD: u32 = 96;

/// What members have agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ways {
    known: Vec<Way>,
    /// Which one the operation that runs takes, if that has long payloads.
    now: Option<usize>,
    /// Whether operations of which nothing is known yet begin with the ring: as was agreed last.
    pub first: bool,
    /// The operation for which this member was asked last what it prefers, and what it said.
    pub asked: u64,
    pub said: bool,
    /// What all have heard in the operation that runs.
    pub heard: Option<bool>,
}

/// The way of operations of one kind and of about one length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Way {
    of: (OpKind, u32),
    ring: bool,
    /// Operations since all heard of the decider.
    unheard: u32,
}

impl Ways {
    /// Nothing is known of any operation; whether to begin with the ring.
    pub fn begin_with(&mut self, ring: bool) {
        *self = Ways {
            first: ring,
            ..Ways::default()
        };
    }

    /// An operation of this kind begins, whose longest payload has this many bytes.
    pub fn enter(&mut self, kind: OpKind, bytes: usize) {
        let of = (kind.family(), bytes.ilog2());
        let at = self.known.iter().position(|way| way.of == of);
        self.now = Some(at.unwrap_or_else(|| {
            self.known.push(Way {
                of,
                ring: self.first,
                unheard: 0,
            });
            self.known.len() - 1
        }));
    }

    fn way(&self) -> Option<&Way> {
        self.known.get(self.now?)
    }

    /// Whether the operation that runs has long payloads.
    #[inline(always)]
    pub fn is_long(&self) -> bool {
        self.now.is_some()
    }

    /// Whether its payloads, or others, go through the ring.
    #[inline]
    pub fn through_ring(&self) -> bool {
        self.way()
            .map_or(self.first, |way| way.ring && way.unheard < UNHEARD)
    }

    /// Operations of its kind since all heard of who decides.
    pub fn unheard(&self) -> u32 {
        self.way().map_or(0, |way| way.unheard)
    }

    /// This member chooses the way of its own payload.
    pub fn choose(&mut self, ring: bool) {
        if let Some(way) = self.now.and_then(|at| self.known.get_mut(at)) {
            (way.ring, way.unheard) = (ring, 0);
        }
    }

    /// The operation is complete.
    #[inline(always)]
    pub fn leave(&mut self) {
        if self.now.is_some() {
            self.agree();
        }
    }

    #[inline(never)]
    fn agree(&mut self) {
        let (heard, now) = (self.heard.take(), self.now.take());
        let Some(way) = now.and_then(|at| self.known.get_mut(at)) else {
            return;
        };
        match heard {
            Some(ring) => {
                (way.ring, way.unheard) = (ring, 0);
                self.first = ring;
            }
            None => way.unheard = way.unheard.saturating_add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 1 << 16;

    /// An operation of which all hear that, or nothing; whether it went through the ring.
    fn pass(ways: &mut Ways, kind: OpKind, heard: Option<bool>) -> bool {
        ways.enter(kind, LEN);
        let ring = ways.through_ring();
        ways.heard = heard;
        ways.leave();
        ring
    }

    #[test]
    fn what_is_heard_counts_from_the_next_operation_on() {
        let mut ways = Ways::default();
        ways.begin_with(true);
        assert!(pass(&mut ways, OpKind::Alltoall, Some(false)));
        assert!(!pass(&mut ways, OpKind::Alltoall, Some(true)));
        for _ in 0..1000 {
            assert!(pass(&mut ways, OpKind::Alltoall, Some(true)));
        }
    }

    #[test]
    fn kinds_and_lengths_are_apart_and_begin_as_was_agreed_last() {
        let mut ways = Ways::default();
        ways.begin_with(true);
        assert!(pass(&mut ways, OpKind::Bcast, Some(true)));
        assert!(pass(&mut ways, OpKind::Alltoall, Some(false)));
        assert!(!pass(&mut ways, OpKind::Scatter, None), "as the last one");
        assert!(pass(&mut ways, OpKind::Bcast, Some(true)), "as it was");
        ways.enter(OpKind::AllreducePieces, LEN);
        let pieces = ways.now;
        ways.leave();
        ways.enter(OpKind::AllreduceSplit, LEN + 1);
        assert_eq!(ways.now, pieces, "one collective");
        ways.enter(OpKind::AllreduceSplit, 2 * LEN);
        assert_ne!(ways.now, pieces);
    }

    #[test]
    fn where_nobody_hears_one_goes_the_other_way_now_and_then() {
        let mut ways = Ways::default();
        ways.begin_with(true);
        for heard in [true, true, false] {
            for passed in 0..UNHEARD {
                assert!(pass(&mut ways, OpKind::Gather, None), "{passed}");
            }
            assert!(!pass(&mut ways, OpKind::Gather, Some(heard)));
        }
        for _ in 0..10 * UNHEARD {
            assert!(!pass(&mut ways, OpKind::Gather, Some(false)));
        }
    }
}
