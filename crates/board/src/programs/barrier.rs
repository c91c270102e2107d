//! Barriers.

use catena_coll::Args;

use crate::board::Board;
use crate::payload::Payload;
use crate::program::{Program, Turn, below};
use crate::trouble::Trouble;

/// The rank that leads where somebody has to.
pub(crate) const LEADER: u32 = 0;

/// The leader hears from all, everybody else from the leader.
#[inline]
pub(crate) fn through_leader(t: &Turn, i: u32) -> Option<u32> {
    if t.args.rank == LEADER {
        below(i, t.args.size)
    } else {
        (i == 0).then_some(LEADER)
    }
}

/// Everybody hears from everybody.
pub(crate) struct Barrier;

/// Everybody hears from a leader, who has heard from everybody.
pub(crate) struct BarrierLeader;

macro_rules! barrier {
    ($name:ident, $leads:literal, $first:expr, $last:expr, $source:expr) => {
        impl Program for $name {
            const ALL: bool = true;
            const LEADS: bool = $leads;

            #[inline]
            fn extent(_: &Args) -> usize {
                0
            }

            #[inline]
            fn publishes_first(t: &Turn) -> bool {
                $first(t)
            }

            #[inline]
            fn publishes_last(t: &Turn) -> bool {
                $last(t)
            }

            #[inline]
            fn put<B: Board>(_: &Turn, _: &mut B) {}

            fn shows<B: Board>(_: &Turn, _: &mut B) -> u64 {
                0
            }

            #[inline]
            fn source(t: &Turn, i: u32) -> Option<u32> {
                $source(t, i)
            }

            #[inline]
            fn wants(_: &Turn, _: u32, _: u32) -> bool {
                true
            }

            #[inline]
            fn take<B: Board>(_: &Turn, _: &Payload, _: u32, _: &mut B) -> Result<(), Trouble> {
                Ok(())
            }
        }
    };
}

barrier!(
    Barrier,
    false,
    |_: &Turn| true,
    |_: &Turn| false,
    |t: &Turn, i| { below(i, t.args.size) }
);
barrier!(
    BarrierLeader,
    true,
    |t: &Turn| t.args.rank != LEADER,
    |t: &Turn| t.args.rank == LEADER,
    through_leader
);
