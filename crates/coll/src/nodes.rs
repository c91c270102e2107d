//! Where the ranks of a communicator are.

use catena_schedule::simulate::RankPlace;

/// What the choice of an algorithm depends on: the nodes in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Number of nodes.
    pub nodes: u32,
    /// Ranks on the node that has most.
    pub per_node: u32,
    /// Ranks on the node that has fewest.
    pub fewest: u32,
    /// Ranks in the domain of memory that has most.
    pub per_domain: u32,
    /// Whether the ranks of each node, and of each domain, follow each other.
    pub consecutive: bool,
}

impl Placement {
    /// All of `size` ranks in one domain.
    pub const fn one_node(size: u32) -> Self {
        Placement {
            nodes: 1,
            per_node: size,
            fewest: size,
            per_domain: size,
            consecutive: true,
        }
    }

    /// Each of `size` ranks on a node of its own.
    pub const fn apart(size: u32) -> Self {
        Placement {
            nodes: size,
            per_node: 1,
            fewest: 1,
            per_domain: 1,
            consecutive: true,
        }
    }

    /// Whether some ranks share a node and others do not.
    pub const fn has_levels(&self) -> bool {
        self.nodes > 1 && self.per_node > 1
    }
}

/// The nodes of a communicator and their ranks. Nodes are numbered in the order
/// of their lowest ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// The ranks of the first node, then those of the second, and so on.
    ranks: Box<[u32]>,
    /// Where in `ranks` each node starts, and the end.
    first: Box<[u32]>,
    /// Node of each rank.
    of: Box<[u32]>,
    placement: Placement,
}

impl Nodes {
    /// Finds the nodes from the place of each rank.
    ///
    /// Cost: O(n log n) for n ranks.
    pub fn new(places: &[RankPlace]) -> Self {
        let (of, nodes) = number(places.iter().map(|p| p.node));
        let (domain_of, domains) = number(places.iter().map(|p| p.domain));
        let mut ranks: Box<[u32]> = (0..places.len() as u32).collect();
        ranks.sort_by_key(|&r| of[r as usize]);
        let sizes = sizes(&of, nodes);
        let mut first = vec![0; nodes as usize + 1];
        for (i, size) in sizes.iter().enumerate() {
            first[i + 1] = first[i] + size;
        }
        let placement = Placement {
            nodes,
            per_node: sizes.iter().copied().max().unwrap_or(0),
            fewest: sizes.iter().copied().min().unwrap_or(0),
            per_domain: self::sizes(&domain_of, domains)
                .into_iter()
                .max()
                .unwrap_or(0),
            consecutive: of.is_sorted() && domain_of.is_sorted(),
        };
        Nodes {
            ranks,
            first: first.into(),
            of: of.into(),
            placement,
        }
    }

    /// How the ranks are spread over nodes, in a few numbers.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The node of a rank.
    pub fn of(&self, rank: u32) -> u32 {
        self.of[rank as usize]
    }

    /// The ranks on a node, in rising order.
    pub fn on(&self, node: u32) -> &[u32] {
        let (from, to) = (self.first[node as usize], self.first[node as usize + 1]);
        &self.ranks[from as usize..to as usize]
    }

    /// The number of ranks on each node.
    pub fn sizes(&self) -> impl Iterator<Item = u32> + '_ {
        self.first.windows(2).map(|ends| ends[1] - ends[0])
    }
}

/// Numbers what comes from 0, in the order in which it comes first.
fn number(names: impl Iterator<Item = u32>) -> (Vec<u32>, u32) {
    let mut known = std::collections::HashMap::new();
    let numbers = names.map(|name| {
        let next = known.len() as u32;
        *known.entry(name).or_insert(next)
    });
    let numbers = numbers.collect();
    (numbers, known.len() as u32)
}

fn sizes(of: &[u32], number: u32) -> Vec<u32> {
    let mut sizes = vec![0; number as usize];
    of.iter().for_each(|&i| sizes[i as usize] += 1);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(of: &[u32]) -> Nodes {
        let places: Vec<RankPlace> = of
            .iter()
            .map(|&node| RankPlace { node, domain: node })
            .collect();
        Nodes::new(&places)
    }

    #[test]
    fn ranks_are_found_by_node() {
        let n = nodes(&[7, 3, 7, 3, 3, 9]);
        assert_eq!((n.of(1), n.of(2), n.of(5)), (1, 0, 2));
        assert_eq!(n.on(0), [0, 2]);
        assert_eq!(n.on(1), [1, 3, 4]);
        assert_eq!(n.on(2), [5]);
        assert!(n.sizes().eq([2, 3, 1]));
        let p = n.placement();
        assert_eq!((p.nodes, p.per_node, p.fewest), (3, 3, 1));
        assert!(!p.consecutive);
        assert!(nodes(&[5, 5, 1, 1, 1]).placement().consecutive);
    }
}
