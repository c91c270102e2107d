//! Graphs (MPI-5, chapters 8.5.3 to 8.5.5).

use catena_topo::reorder::Pattern;

use catena_objects::error::Result;
use catena_objects::fail;

/// A graph of `MPI_Graph_create`.
#[derive(Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the neighbours of each node end in `edges`.
    pub index: Vec<i32>,
    /// Neighbours, node after node.
    pub edges: Vec<i32>,
}

impl Graph {
    /// The graph of at most `most` nodes of which node `i` has the neighbours
    /// `edges[index[i-1]..index[i]]`.
    ///
    /// # Errors
    /// `Arg` for more nodes, an index that decreases, and neighbours that are no
    /// nodes.
    pub fn new(index: &[i32], edges: &[i32], most: u32) -> Result<Self> {
        let nodes = index.len();
        if nodes > most as usize {
            fail!(
                Arg,
                "a graph of {nodes} nodes does not fit: the communicator has {most} processes"
            );
        }
        let mut last = 0;
        for (i, &end) in index.iter().enumerate() {
            if end < last {
                fail!(Arg, "index[{i}] is {end}: it must not be below {last}");
            }
            last = end;
        }
        check_ranks("edges", edges, nodes as u32)?;
        Ok(Graph {
            index: index.to_vec(),
            edges: edges.to_vec(),
        })
    }

    /// The neighbours of a node.
    pub fn neighbors(&self, node: u32) -> &[i32] {
        let node = node as usize;
        let first = if node == 0 { 0 } else { self.index[node - 1] };
        &self.edges[first as usize..self.index[node] as usize]
    }

    /// Who talks to whom.
    pub fn pattern(&self) -> Pattern {
        let nodes = 0..self.index.len() as u32;
        let edges = nodes.flat_map(|from| {
            let to = self.neighbors(from).iter();
            to.map(move |&to| (from, to as u32, 1))
        });
        Pattern::graph(self.index.len(), edges)
    }
}

/// A process's edges in a distributed graph.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Adjacent {
    /// Ranks that have an edge to this one.
    pub sources: Vec<i32>,
    /// Ranks to which this one has an edge.
    pub destinations: Vec<i32>,
    /// Weights of both, if the graph has any.
    pub weights: Option<(Vec<i32>, Vec<i32>)>,
}

impl Adjacent {
    /// Checks the edges against the number of processes.
    ///
    /// # Errors
    /// `Arg` for neighbours that are no ranks and for negative weights.
    pub fn check(self, size: u32) -> Result<Self> {
        check_ranks("sources", &self.sources, size)?;
        check_ranks("destinations", &self.destinations, size)?;
        if let Some((ins, outs)) = &self.weights {
            check_weights(ins)?;
            check_weights(outs)?;
        }
        Ok(self)
    }

    /// Begin, end and weight of the edges from this process, whose rank is `rank`.
    pub fn edges(&self, rank: u32) -> impl Iterator<Item = [i32; 3]> + '_ {
        let weights = self.weights.as_ref().map(|(_, outs)| outs);
        let ends = self.destinations.iter().enumerate();
        ends.map(move |(i, &to)| [rank as i32, to, weights.map_or(1, |w| w[i])])
    }

    /// As words, for another process.
    pub(super) fn to_words(&self) -> Vec<i32> {
        let mut words = vec![
            self.sources.len() as i32,
            self.destinations.len() as i32,
            self.weights.is_some().into(),
        ];
        words.extend(self.sources.iter().chain(&self.destinations));
        if let Some((ins, outs)) = &self.weights {
            words.extend(ins.iter().chain(outs));
        }
        words
    }

    /// What [`Adjacent::to_words`] has made; `None` if it has not.
    pub(super) fn from_words(words: &[i32]) -> Option<Adjacent> {
        let (&[ins, outs, weighted], mut rest) = words.split_first_chunk()?;
        let mut take = |n: i32| {
            let (list, left) = rest.split_at_checked(usize::try_from(n).ok()?)?;
            rest = left;
            Some(list.to_vec())
        };
        let (sources, destinations) = (take(ins)?, take(outs)?);
        let weights = match weighted {
            0 => None,
            _ => Some((take(ins)?, take(outs)?)),
        };
        Some(Adjacent {
            sources,
            destinations,
            weights,
        })
    }
}

/// Edges anywhere in a distributed graph, as `MPI_Dist_graph_create` takes them.
#[derive(Clone, Copy, Debug)]
pub struct Spread<'a> {
    /// Where the edges begin.
    pub sources: &'a [i32],
    /// How many begin at each of them.
    pub degrees: &'a [i32],
    /// Where they end.
    pub destinations: &'a [i32],
    /// Their weights, if the graph has any.
    pub weights: Option<&'a [i32]>,
}

impl Spread<'_> {
    /// Checks the edges against the number of processes.
    ///
    /// # Errors
    /// `Arg` for ends that are no ranks and for negative weights.
    pub fn check(self, size: u32) -> Result<Self> {
        check_ranks("sources", self.sources, size)?;
        check_ranks("destinations", self.destinations, size)?;
        check_weights(self.weights.unwrap_or_default())?;
        Ok(self)
    }

    /// Begin, end and weight of each edge.
    pub fn edges(&self) -> impl Iterator<Item = [i32; 3]> + '_ {
        let ends = self.sources.iter().zip(self.degrees);
        let begins = ends.flat_map(|(&s, &n)| std::iter::repeat_n(s, n as usize));
        let weight = |i| self.weights.map_or(1, |w| w[i]);
        begins
            .zip(self.destinations)
            .enumerate()
            .map(move |(i, (from, &to))| [from, to, weight(i)])
    }
}

fn check_ranks(name: &str, ranks: &[i32], size: u32) -> Result<()> {
    match ranks.iter().position(|&r| r as u32 >= size) {
        None => Ok(()),
        Some(at) => fail!(
            Arg,
            "{name}[{at}] is {}: it must be a rank below {size}",
            ranks[at]
        ),
    }
}

fn check_weights(weights: &[i32]) -> Result<()> {
    match weights.iter().position(|&process| process < 0) {
        None => Ok(()),
        Some(at) => fail!(
            Arg,
            "weight {at} is {}: it must not be negative",
            weights[at]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_cut_out_of_the_edges() {
        let graph = Graph::new(&[2, 2, 3], &[1, 2, 0], 3).unwrap();
        assert_eq!(graph.neighbors(0), [1, 2]);
        assert!(graph.neighbors(1).is_empty());
        assert_eq!(graph.neighbors(2), [0]);
        assert!(Graph::new(&[2, 1], &[0, 1], 3).is_err());
        assert!(Graph::new(&[1], &[1], 3).is_err());
        assert!(Graph::new(&[1], &[-1], 3).is_err());
        assert!(Graph::new(&[0, 0, 0, 0], &[], 3).is_err());
    }

    #[test]
    fn lists_travel_as_words() {
        let mut own = Adjacent {
            sources: vec![3],
            destinations: vec![1, 0],
            weights: None,
        };
        assert!(own.edges(7).eq([[7, 1, 1], [7, 0, 1]]));
        assert_eq!(Adjacent::from_words(&own.to_words()).as_ref(), Some(&own));
        own.weights = Some((vec![5], vec![6, 0]));
        assert!(own.edges(7).eq([[7, 1, 6], [7, 0, 0]]));
        let words = own.to_words();
        assert_eq!(Adjacent::from_words(&words).as_ref(), Some(&own));
        assert_eq!(Adjacent::from_words(&words[..words.len() - 1]), None);
        assert_eq!(Adjacent::from_words(&[-1, 0, 0]), None);
        assert_eq!(Adjacent::from_words(&[]), None);
    }

    #[test]
    fn edges_carry_their_weights() {
        let spread = Spread {
            sources: &[3, 1],
            degrees: &[2, 1],
            destinations: &[0, 3, 2],
            weights: Some(&[5, 6, 7]),
        };
        let edges: Vec<_> = spread.check(4).unwrap().edges().collect();
        assert_eq!(edges, [[3, 0, 5], [3, 3, 6], [1, 2, 7]]);
        assert!(spread.check(3).is_err());
    }
}
