//! Process topologies (MPI-5, chapter 8): which processes of a communicator are
//! neighbours, and which of them gets which rank (`reorder`).

mod create;
mod dims;
mod graph;
mod grid;
mod reorder;

use catena_coll::neighbor::Edge;

pub use dims::dims_create;
pub use graph::{Adjacent, Graph, Spread};
pub use grid::Grid;

/// The topology of a communicator.
#[derive(Debug)]
pub enum Topology {
    /// A grid.
    Cart(Grid),
    /// A graph that every process knows.
    Graph(Graph),
    /// A graph of which a process knows its own edges.
    DistGraph(Adjacent),
}

/// What a neighbourhood collective does at one rank.
#[derive(Clone, Debug, Default)]
pub struct Neighborhood {
    /// Blocks that it receives, those of missing neighbours too.
    pub indegree: usize,
    /// Blocks that it sends.
    pub outdegree: usize,
    /// Messages to receive. Here and below the messages between the same two
    /// ranks are in the order in which they meet.
    pub sources: Vec<Edge>,
    /// Messages to send.
    pub destinations: Vec<Edge>,
}

impl Neighborhood {
    /// This neighbourhood, where one block goes to all.
    #[must_use]
    pub fn gathering(mut self) -> Self {
        self.destinations.iter_mut().for_each(|edge| edge.block = 0);
        self
    }
}

fn edges(ranks: &[i32]) -> Vec<Edge> {
    ranks
        .iter()
        .zip(0..)
        .map(|(&rank, block)| Edge {
            peer: rank as u32,
            block,
        })
        .collect()
}

impl Topology {
    /// The neighbours of a rank, in the order of chapter 8.6.
    pub fn neighborhood(&self, rank: u32) -> Neighborhood {
        match self {
            Topology::Cart(grid) => grid_neighborhood(grid, rank),
            Topology::Graph(graph) => {
                let neighbors = graph.neighbors(rank);
                Neighborhood {
                    indegree: neighbors.len(),
                    outdegree: neighbors.len(),
                    sources: edges(neighbors),
                    destinations: edges(neighbors),
                }
            }
            Topology::DistGraph(own) => Neighborhood {
                indegree: own.sources.len(),
                outdegree: own.destinations.len(),
                sources: edges(&own.sources),
                destinations: edges(&own.destinations),
            },
        }
    }
}

/// In each dimension the neighbour below comes first, then the one above. What
/// goes down arrives from above, also where both are the same process.
fn grid_neighborhood(grid: &Grid, rank: u32) -> Neighborhood {
    let degree = 2 * grid.dims.len();
    let mut neighborhood = Neighborhood {
        indegree: degree,
        outdegree: degree,
        ..Neighborhood::default()
    };
    let edge = |d: usize, by: i32| {
        let block = 2 * d as u32 + u32::from(by > 0);
        let peer = grid.ahead(rank, d, by.into())?;
        Some(Edge { peer, block })
    };
    for d in 0..grid.dims.len() {
        neighborhood
            .destinations
            .extend([edge(d, -1), edge(d, 1)].into_iter().flatten());
        neighborhood
            .sources
            .extend([edge(d, 1), edge(d, -1)].into_iter().flatten());
    }
    neighborhood
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_down_arrives_from_above() {
        for size in 1..=3 {
            let topology = Topology::Cart(Grid::new(&[size], &[1], 3).unwrap());
            let below = |rank: u32| (rank + size as u32 - 1) % size as u32;
            for rank in 0..size as u32 {
                let (mine, theirs) = (
                    topology.neighborhood(rank),
                    topology.neighborhood(below(rank)),
                );
                // The first message to `below` carries block 0, and the first
                // that it takes from here fills its block 1, from above.
                let sent = mine.destinations.iter().find(|e| e.peer == below(rank));
                let got = theirs.sources.iter().find(|e| e.peer == rank);
                assert_eq!((sent.unwrap().block, got.unwrap().block), (0, 1));
            }
        }
    }

    #[test]
    fn there_is_nobody_beyond_an_edge() {
        let grid = Grid::new(&[2, 2], &[0, 0], 4).unwrap();
        let neighborhood = Topology::Cart(grid).neighborhood(0);
        assert_eq!((neighborhood.indegree, neighborhood.outdegree), (4, 4));
        let ends: Vec<_> = neighborhood
            .destinations
            .iter()
            .map(|e| (e.peer, e.block))
            .collect();
        assert_eq!(ends, [(2, 1), (1, 3)]);
    }
}
