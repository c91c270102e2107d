//! Collectives between two groups (MPI-5, chapter 6.2.2).
//!
//! What one group contributes, the other receives. A plan names this group's
//! ranks 0 to `local` − 1 as they are, and those of the remote group behind
//! them. The parts that concern one group alone are the algorithms of the other
//! folders, built [`Builder::within`] the plan; see `near`.
//!
//! Both groups must choose the same algorithm, so a [`Shape`] here has as its
//! size the larger group of the two, or the one that has no root, and as its
//! bytes the longer block.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod gather;
mod near;
mod reduce;
mod reduce_scatter;
mod scatter;
mod spread;

use catena_plan::{Builder, Plan, Region};

use crate::Terms;
use crate::{Collective, Layout, Model, Shape};

/// Where the root of a rooted operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// It is this process (`MPI_ROOT`).
    Here,
    /// It is another process of this group (`MPI_PROC_NULL`).
    Near,
    /// It is this rank of the remote group.
    There(u32),
}

/// One call on one rank.
///
/// | collective | `send` | `recv` |
/// |---|---|---|
/// | barrier | – | – |
/// | bcast | – | `Even(n)`: the message, also at the root |
/// | gather(v) | `Even(n)`: this rank's block | blocks of the remote group (root) |
/// | scatter(v) | blocks of the remote group (root) | `Even(n)`: this rank's block |
/// | allgather(v) | `Even(n)`: this rank's block | blocks of the remote group |
/// | alltoall(v, w) | blocks to the remote group | blocks from the remote group |
/// | reduce, allreduce | `Even(n)`: the vector | `Even(n)` |
/// | reduce_scatter(_block) | blocks of the remote group's result that this group's ranks get, one behind the other | – |
///
/// The two vectors of reduce_scatter are equally long; where each group cuts
/// the result of the other is its own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Args<'a> {
    /// Ranks of this group.
    pub local: u32,
    /// This rank.
    pub rank: u32,
    /// Ranks of the remote group.
    pub remote: u32,
    /// The root; `Near` where there is none.
    pub root: Root,
    /// See [`crate::Args::elem`].
    pub elem: usize,
    /// See [`crate::Args::commutative`].
    pub commutative: bool,
    /// The send buffer.
    pub send: Layout<'a>,
    /// The receive buffer.
    pub recv: Layout<'a>,
}

impl Args<'_> {
    /// The name of a rank of the remote group.
    fn far(&self, rank: u32) -> u32 {
        self.local + rank
    }

    /// The ranks of the remote group, each process starting with another.
    fn far_ranks(&self) -> impl Iterator<Item = u32> {
        let (first, number) = (self.rank % self.remote, self.remote);
        (0..number).map(move |k| (first + k) % number)
    }

    /// This rank's vector, or block.
    fn mine(&self) -> Region {
        Region::input(0, self.send.len(0))
    }

    fn recv_block(&self, i: u32) -> Region {
        Region::output(self.recv.offset(i), self.recv.len(i))
    }

    fn send_block(&self, i: u32) -> Region {
        Region::input(self.send.offset(i), self.send.len(i))
    }
}

/// An algorithm.
#[derive(Debug)]
pub struct Algorithm {
    /// Name within the collective.
    pub name: &'static str,
    /// Estimated time of a call in seconds.
    pub cost: fn(&Terms) -> f64,
    /// Writes the steps of one rank.
    build: fn(&Args, &Model, &mut Builder),
}

impl Algorithm {
    /// The plan of one rank; `model` chooses what happens within a group.
    ///
    /// # Panics
    /// If a table in `args` has fewer entries than it has blocks.
    pub fn plan(&self, args: &Args, model: &Model) -> Plan {
        let mut builder = Builder::new();
        (self.build)(args, model, &mut builder);
        builder.finish()
    }
}

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
