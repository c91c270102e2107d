//! All algorithms, and the choice among them.

use std::fmt;

use catena_plan::{Builder, Plan};

use crate::Terms;
use crate::{Args, Model, Need, Shape};

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

    /// The plan of one rank.
    ///
    /// # Panics
    /// If a table in `args` has fewer entries than there are ranks.
    pub fn plan(&self, args: &Args) -> Plan {
        let mut builder = Builder::new();
        (self.build)(args, &mut builder);
        builder.finish()
    }
}

/// The algorithms of a collective. The first serves every call.
pub fn algorithms(collective: Collective) -> &'static [Algorithm] {
    match collective {
        Collective::Barrier => crate::barrier::ALGORITHMS,
        Collective::Bcast => crate::bcast::ALGORITHMS,
        Collective::Gather => crate::gather::EVEN,
        Collective::Gatherv => crate::gather::TABLE,
        Collective::Scatter => crate::scatter::EVEN,
        Collective::Scatterv => crate::scatter::TABLE,
        Collective::Allgather => crate::allgather::EVEN,
        Collective::Allgatherv => crate::allgather::TABLE,
        Collective::Alltoall => crate::alltoall::EVEN,
        Collective::Alltoallv => crate::alltoall::TABLE,
        Collective::Reduce => crate::reduce::ALGORITHMS,
        Collective::Allreduce => crate::allreduce::ALGORITHMS,
        Collective::ReduceScatter => crate::reduce_scatter::ALGORITHMS,
        Collective::Scan => crate::scan::ALGORITHMS,
        Collective::Exscan => crate::exscan::ALGORITHMS,
    }
}

/// Chooses the algorithm for a call: the forced one if it can serve the call,
/// else the cheapest by the model. All ranks choose alike if `shape`, `model`
/// and `forced` are alike.
///
/// Cost: a few floating-point operations for each algorithm, or a few for each rank of a
/// node and each round of those that send round the ring of ranks. The core chooses once
/// for each plan that it makes, not for each call.
pub fn select(
    collective: Collective,
    shape: &Shape,
    model: &Model,
    forced: Option<&str>,
) -> &'static Algorithm {
    if let Some(name) = forced
        && let Some(found) = algorithms(collective).iter().find(|a| a.name == name)
        && found.serves(shape)
    {
        return found;
    }
    cheapest(collective, &Terms::new(shape, model)).0
}

/// The cheapest algorithm that can serve a call, and what it costs. The first
/// one where costs are no numbers.
pub(crate) fn cheapest(collective: Collective, terms: &Terms) -> (&'static Algorithm, f64) {
    let all = algorithms(collective);
    let mut best = (&all[0], (all[0].cost)(terms));
    for algorithm in &all[1..] {
        if algorithm.serves(&terms.shape) {
            let cost = (algorithm.cost)(terms);
            if cost < best.1 {
                best = (algorithm, cost);
            }
        }
    }
    best
}

/// Why an algorithm was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A setting names it.
    Forced,
    /// It is the cheapest.
    Cheapest,
    /// It is the cheapest; the one that a setting names cannot serve the call.
    ForcedCannot(String),
    /// It is the cheapest; the name in a setting is unknown.
    ForcedUnknown(String),
}

/// One of the algorithms that could have been chosen.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The row.
    pub algorithm: &'static Algorithm,
    /// Estimated seconds, or what the call lacks for it.
    pub cost: Result<f64, Vec<&'static str>>,
}

/// A choice with its reasons; prints as a small table.
#[derive(Clone, Debug)]
pub struct Selection {
    /// What [`select`] returns.
    pub chosen: &'static Algorithm,
    /// Why.
    pub why: Why,
    /// All algorithms of the collective.
    pub candidates: Vec<Candidate>,
}

/// [`select`], with the reasons.
pub fn explain(
    collective: Collective,
    shape: &Shape,
    model: &Model,
    forced: Option<&str>,
) -> Selection {
    let all = algorithms(collective);
    let chosen = select(collective, shape, model, forced);
    let why = match forced {
        None => Why::Cheapest,
        Some(name) if name == chosen.name => Why::Forced,
        Some(name) if all.iter().any(|a| a.name == name) => Why::ForcedCannot(name.into()),
        Some(name) => Why::ForcedUnknown(name.into()),
    };
    let terms = Terms::new(shape, model);
    let candidate = |algorithm: &'static Algorithm| Candidate {
        algorithm,
        cost: match algorithm.lacks(shape).collect::<Vec<_>>() {
            lacks if lacks.is_empty() => Ok((algorithm.cost)(&terms)),
            lacks => Err(lacks),
        },
    };
    let candidates = all.iter().map(candidate).collect();
    Selection {
        chosen,
        why,
        candidates,
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.chosen.collective.name();
        match &self.why {
            Why::Forced => writeln!(f, "{name}: {}, as set", self.chosen.name)?,
            Why::Cheapest => writeln!(f, "{name}: {}, the cheapest", self.chosen.name)?,
            Why::ForcedCannot(other) => {
                writeln!(
                    f,
                    "{name}: {}, as {other} cannot serve this call",
                    self.chosen.name
                )?;
            }
            Why::ForcedUnknown(other) => {
                writeln!(f, "{name}: {}, as there is no {other}", self.chosen.name)?;
            }
        }
        for c in &self.candidates {
            let name = c.algorithm.name;
            match &c.cost {
                Ok(cost) => writeln!(f, "  {name:20} {:12.3} us", cost * 1e6)?,
                Err(lacks) => writeln!(f, "  {name:20} needs {}", lacks.join("; "))?,
            }
        }
        Ok(())
    }
}
