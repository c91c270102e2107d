//! How operations run on a board.

use catena_coll::Collective;

/// An operation as it runs on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OpKind {
    /// Everybody hears from everybody.
    Barrier = 1,
    /// Through a leader: two hops, but only 2p lines are read instead of p².
    BarrierLeader,
    /// The root publishes.
    Bcast,
    /// All publish, the root combines.
    Reduce,
    /// All publish, all combine, in the order of ranks.
    Allreduce,
    /// A leader combines, in the order of ranks, and publishes the result.
    AllreduceLeader,
    /// Each member combines a piece and publishes it: two hops, for longer
    /// vectors.
    AllreduceSplit,
    /// All publish, all copy. Also allgatherv.
    Allgather,
    /// All publish, the root copies.
    Gather,
    /// All publish blocks whose lengths differ, the root copies.
    Gatherv,
    /// The root publishes all blocks.
    Scatter,
    /// The root publishes all blocks, whose lengths differ.
    Scatterv,
    /// All publish all blocks.
    Alltoall,
    /// All publish all blocks, whose lengths differ. Also alltoallw.
    Alltoallv,
    /// All publish their vectors, each combines its block.
    ReduceScatter,
    /// A chain: each combines what the one below has published with its own,
    /// and publishes that.
    Scan,
    /// A chain as for a scan; each gets what the one below has published.
    Exscan,
    /// A reduce of which each member combines a piece, and writes it into the
    /// root's buffer.
    ReducePieces,
    /// An allreduce of which each member combines a piece, and writes it into everybody's buffer.
    AllreducePieces,
    /// Members that have neighbours publish, and these copy: each block goes along an edge.
    Neighbors,
}

impl OpKind {
    /// The kind that stands for all ways to run the same collective.
    pub(crate) fn family(self) -> OpKind {
        match self {
            OpKind::ReducePieces => OpKind::Reduce,
            OpKind::AllreduceLeader | OpKind::AllreduceSplit | OpKind::AllreducePieces => {
                OpKind::Allreduce
            }
            other => other,
        }
    }

    /// The collective that the kind with a number runs; `None` for one among neighbours.
    pub(crate) fn collective_of(number: u8) -> Option<Collective> {
        use Collective::*;
        const OF: [Collective; 19] = [
            Barrier,
            Barrier,
            Bcast,
            Reduce,
            Allreduce,
            Allreduce,
            Allreduce,
            Allgather,
            Gather,
            Gatherv,
            Scatter,
            Scatterv,
            Alltoall,
            Alltoallv,
            ReduceScatter,
            Scan,
            Exscan,
            Reduce,
            Allreduce,
        ];
        OF.get(usize::from(number).checked_sub(1)?).copied()
    }
}
