//! How long an algorithm takes on a modelled machine, by simulation: what the
//! costs in the registry are measured against.

use catena_schedule::Schedule;
use catena_schedule::simulate::{Failure, RankPlace, cost, repeats};

use crate::{Algorithm, Args, Collective, Layout, Model, Nodes, Shape, Site};

/// Steps of all ranks together up to which all of them are simulated.
const ALL: usize = 1 << 18;

/// Ranks on a machine.
#[derive(Clone, Debug)]
pub struct Cluster<'a> {
    places: Vec<RankPlace>,
    nodes: Nodes,
    model: &'a Model,
}

impl<'a> Cluster<'a> {
    /// With the ranks at these places.
    pub fn new(places: Vec<RankPlace>, model: &'a Model) -> Self {
        let nodes = Nodes::new(&places);
        Cluster {
            places,
            nodes,
            model,
        }
    }

    /// `ranks` that fill one node after the other, and there one domain after
    /// the other; the last ones may stay less full.
    ///
    /// # Panics
    /// If `per_node` or `per_domain` is 0.
    pub fn regular(ranks: u32, per_node: u32, per_domain: u32, model: &'a Model) -> Self {
        let domains = per_node.div_ceil(per_domain);
        let place = |rank| {
            let (node, at) = (rank / per_node, rank % per_node);
            let domain = node * domains + at / per_domain;
            RankPlace { node, domain }
        };
        Cluster::new((0..ranks).map(place).collect(), model)
    }

    /// The machine.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// A call of `collective` with so many bytes (see [`Shape::bytes`]; a block
    /// also for those whose counts only some ranks know).
    pub fn shape(&self, bytes: usize, elem: usize, commutative: bool) -> Shape {
        Shape {
            size: self.places.len() as u32,
            bytes,
            elem,
            commutative,
            placement: self.nodes.placement(),
        }
    }

    /// Time until the last rank is done, in seconds, if all start together and
    /// the root is rank 0.
    ///
    /// Where that is much to simulate, and the ranks of every node do the same
    /// with peers as far away, only those of one node are.
    ///
    /// # Errors
    /// If the schedules do not fit together.
    pub fn time(&self, algorithm: &Algorithm, shape: &Shape) -> Result<f64, Failure> {
        let schedule = |rank| self.schedule(algorithm, shape, rank);
        match self.period(&schedule(0)) {
            Some(period) if self.is_periodic(period, &schedule) => self.time_of(period, &schedule),
            _ => self.time_of(shape.size, &schedule),
        }
    }

    /// As [`Cluster::time`], from the first `ranks` schedules.
    fn time_of(&self, ranks: u32, schedule: &dyn Fn(u32) -> Schedule) -> Result<f64, Failure> {
        let schedules: Vec<Schedule> = (0..ranks).map(schedule).collect();
        let schedules: Vec<&Schedule> = schedules.iter().collect();
        cost(&schedules, self.model, &self.places)
    }

    /// Ranks after which schedules like this one may repeat, if that is worth it.
    fn period(&self, first: &Schedule) -> Option<u32> {
        let p = self.nodes.placement();
        let even = p.nodes > 1 && p.fewest == p.per_node && p.consecutive;
        let much = first.steps().len() * self.places.len() > ALL;
        (even && much).then_some(p.per_node)
    }

    /// Whether the second, a middle and the last node do as the first.
    fn is_periodic(&self, period: u32, schedule: &dyn Fn(u32) -> Schedule) -> bool {
        let ranks = self.places.len() as u32;
        let nodes = self.nodes.placement().nodes;
        let as_first = |node: u32| {
            let above = node * period;
            (0..period).all(|r| repeats(&schedule(r), &schedule(r + above), above, ranks))
        };
        as_first(1) && as_first(nodes / 2) && as_first(nodes - 1)
    }

    fn schedule(&self, algorithm: &Algorithm, shape: &Shape, rank: u32) -> Schedule {
        use Collective::{Allgatherv, ReduceScatter};
        let block = match algorithm.collective {
            // Whole elements, of which a rank may have none.
            ReduceScatter | Allgatherv => {
                shape.bytes / shape.elem / shape.size as usize * shape.elem
            }
            _ => shape.bytes,
        };
        algorithm.schedule(&Args {
            size: shape.size,
            rank,
            root: 0,
            in_place: false,
            elem: shape.elem,
            commutative: shape.commutative,
            send: Layout::Even(block),
            recv: Layout::Even(block),
            site: Some(Site::new(&self.nodes, self.model)),
            turned: 0,
            near: None,
        })
    }
}
