//! Collectives between two groups (MPI-5, chapter 6.2.2).
//!
//! What one group contributes, the other receives. A schedule names this group's
//! ranks 0 to `local` − 1 as they are, and those of the remote group behind
//! them. The parts that concern one group alone are the algorithms of the other
//! folders, built [`Builder::within`] the schedule; see `local_group`.
//!
//! Both groups must choose the same algorithm, so a [`Shape`] here has as its
//! size the larger group of the two, or the one that has no root, and as its
//! bytes the longer block.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod call;
mod gather;
mod local_group;
mod reduce;
mod reduce_scatter;
mod scatter;
mod spread;

pub use call::{Algorithm, Args, Root};

use crate::{Collective, Model, Shape, Terms};

/// The algorithms of a collective; none for scan and exscan, which make no
/// sense between groups.
pub fn algorithms(what: Collective) -> &'static [Algorithm] {
    match what {
        Collective::Barrier => barrier::ALGORITHMS,
        Collective::Bcast => bcast::ALGORITHMS,
        Collective::Gather => gather::EVEN,
        Collective::Gatherv => gather::TABLE,
        Collective::Scatter => scatter::EVEN,
        Collective::Scatterv => scatter::TABLE,
        Collective::Allgather => allgather::EVEN,
        Collective::Allgatherv => allgather::TABLE,
        Collective::Alltoall | Collective::Alltoallv => alltoall::ALGORITHMS,
        Collective::Reduce => reduce::ALGORITHMS,
        Collective::Allreduce => allreduce::ALGORITHMS,
        Collective::ReduceScatter => reduce_scatter::ALGORITHMS,
        Collective::Scan | Collective::Exscan => &[],
    }
}

/// The cheapest algorithm for a call; `None` for scan and exscan. All ranks of
/// both groups choose alike if `shape` and `model` are alike.
pub fn select(what: Collective, shape: &Shape, model: &Model) -> Option<&'static Algorithm> {
    let terms = Terms::new(shape, model);
    let cost = |a: &&Algorithm| (a.cost)(&terms);
    algorithms(what)
        .iter()
        .min_by(|a, b| cost(a).total_cmp(&cost(b)))
}
