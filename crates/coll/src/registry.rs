//! All algorithms, and the choice among them.

use std::fmt;

use crate::{Algorithm, Collective, Model, Nodes, Shape, Site, Terms};

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
/// for each schedule that it makes, not for each call.
///
/// # Examples
/// ```
/// use catena_coll::{Args, Collective, Layout, Placement, Shape, TYPICAL, select};
///
/// let call = Shape {
///     size: 8,
///     bytes: 1 << 20,
///     elem: 8,
///     commutative: true,
///     placement: Placement::one_node(8),
/// };
/// let algorithm = select(Collective::Allreduce, &call, &TYPICAL, None);
/// let of_rank_3 = algorithm.schedule(&Args {
///     elem: 8,
///     send: Layout::Even(1 << 20),
///     recv: Layout::Even(1 << 20),
///     ..Args::new(8, 3)
/// });
/// assert!(!of_rank_3.is_empty());
/// // What a setting names is taken where it can serve the call.
/// let ring = select(Collective::Allreduce, &call, &TYPICAL, Some("ring"));
/// assert_eq!(ring.name, "ring");
/// ```
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

impl<'a> Terms<'a> {
    /// The terms of a call.
    pub fn new(shape: &Shape, model: &'a Model) -> Self {
        Terms::choosing(shape, model, cheapest)
    }
}

impl<'a> Site<'a> {
    /// Where the ranks are, and what messages cost, which chooses the algorithms of parts.
    pub fn new(nodes: &'a Nodes, model: &'a Model) -> Self {
        Site {
            nodes,
            model,
            choose: cheapest,
        }
    }
}

/// Why an algorithm was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A setting names it.
    Forced,
    /// The algorithm is the cheapest.
    Cheapest,
    /// The algorithm is the cheapest; the one that a setting names cannot serve the call.
    ForcedCannot(String),
    /// The algorithm is the cheapest; the name in a setting is unknown.
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
