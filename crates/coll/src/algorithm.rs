//! What an algorithm is: which collective it computes, what it needs, what it
//! costs and how its schedule is written.

use catena_schedule::{Builder, Schedule};

use crate::{Args, Need, Shape, Terms};

/// Chooses the algorithm for a part of a call, and says what it costs. An argument of algorithms
/// that have parts: so none of them names the list in which it stands.
pub type Choose = fn(Collective, &Terms) -> (&'static Algorithm, f64);

/// The collective operations that have algorithms of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // named as in the standard
pub enum Collective {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    /// Also alltoallw: displacements are bytes of packed data.
    Alltoallv,
    Reduce,
    Allreduce,
    /// Also reduce_scatter_block.
    ReduceScatter,
    Scan,
    Exscan,
}

impl Collective {
    /// Every collective.
    pub const ALL: [Collective; 15] = [
        Collective::Barrier,
        Collective::Bcast,
        Collective::Gather,
        Collective::Gatherv,
        Collective::Scatter,
        Collective::Scatterv,
        Collective::Allgather,
        Collective::Allgatherv,
        Collective::Alltoall,
        Collective::Alltoallv,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::ReduceScatter,
        Collective::Scan,
        Collective::Exscan,
    ];

    /// Whether one rank is special.
    pub const fn is_rooted(self) -> bool {
        use Collective::{Bcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
        matches!(self, Bcast | Gather | Gatherv | Scatter | Scatterv | Reduce)
    }

    /// Whether it combines what the ranks have: the result may depend on the order then.
    pub const fn combines(self) -> bool {
        use Collective::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
        matches!(self, Reduce | Allreduce | ReduceScatter | Scan | Exscan)
    }

    /// Whether operands are combined.
    pub const fn reduces(self) -> bool {
        use Collective::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
        matches!(self, Reduce | Allreduce | ReduceScatter | Scan | Exscan)
    }

    /// Name as in settings and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Collective::Barrier => "barrier",
            Collective::Bcast => "bcast",
            Collective::Gather => "gather",
            Collective::Gatherv => "gatherv",
            Collective::Scatter => "scatter",
            Collective::Scatterv => "scatterv",
            Collective::Allgather => "allgather",
            Collective::Allgatherv => "allgatherv",
            Collective::Alltoall => "alltoall",
            Collective::Alltoallv => "alltoallv",
            Collective::Reduce => "reduce",
            Collective::Allreduce => "allreduce",
            Collective::ReduceScatter => "reduce_scatter",
            Collective::Scan => "scan",
            Collective::Exscan => "exscan",
        }
    }
}

/// A row of the registry.
#[derive(Debug)]
pub struct Algorithm {
    /// Name within the collective, as in settings and reports.
    pub name: &'static str,
    /// What it computes.
    pub collective: Collective,
    /// What it needs of a call to serve it.
    pub needs: &'static [Need],
    /// Estimated time of a call in seconds.
    pub cost: fn(&Terms) -> f64,
    /// Writes the steps of one rank.
    pub build: fn(&Args, &mut Builder),
}

impl Algorithm {
    /// Whether it can serve a call.
    pub fn serves(&self, shape: &Shape) -> bool {
        self.lacks(shape).next().is_none()
    }

    /// What a call has not that it needs.
    pub fn lacks(&self, shape: &Shape) -> impl Iterator<Item = &'static str> {
        let unmet = |need: &&Need| !(need.met)(shape);
        self.needs.iter().filter(unmet).map(|need| need.text)
    }

    /// The schedule of one rank.
    ///
    /// # Panics
    /// If a table in `args` has fewer entries than there are ranks.
    pub fn schedule(&self, args: &Args) -> Schedule {
        let mut builder = Builder::new();
        (self.build)(args, &mut builder);
        builder.finish()
    }
}
