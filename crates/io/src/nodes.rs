//! On which node each member of a file is, and who goes to the file for the others.

use std::iter;

/// The nodes of a file's members: a node is a set of members that share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nodes {
    /// The node of each rank.
    of: Vec<usize>,
    /// The ranks of each node, in rising order.
    members: Vec<Vec<u32>>,
}

impl Nodes {
    /// From the lowest rank that shares memory with each rank; `None` if these contradict each
    /// other.
    pub fn new(lowest: &[u32]) -> Option<Self> {
        let mut nodes = Nodes {
            of: Vec::with_capacity(lowest.len()),
            members: Vec::new(),
        };
        for (rank, &leader) in lowest.iter().enumerate() {
            let node = match leader as usize {
                leader if leader == rank => {
                    nodes.members.push(Vec::new());
                    nodes.members.len() - 1
                }
                leader if leader < rank && lowest[leader] as usize == leader => nodes.of[leader],
                _ => return None,
            };
            nodes.of.push(node);
            nodes.members[node].push(rank as u32);
        }
        Some(nodes)
    }

    /// Members of which no two share memory.
    pub fn apart(members: u32) -> Self {
        let all: Vec<u32> = (0..members).collect();
        Nodes::new(&all).expect("each is its own")
    }

    /// Members of one node.
    #[cfg(test)]
    pub fn together(members: u32) -> Self {
        Nodes::new(&vec![0; members as usize]).expect("all have the first")
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The node of a rank.
    pub fn of(&self, rank: u32) -> usize {
        self.of[rank as usize]
    }

    /// The ranks of a node.
    pub fn members(&self, node: usize) -> &[u32] {
        &self.members[node]
    }

    /// Members of the largest node.
    pub fn most(&self) -> usize {
        self.members.iter().map(Vec::len).max().unwrap_or(1)
    }

    /// How many members may go to the file if each node has at most so many of them.
    pub fn count(&self, for_each: usize) -> usize {
        self.members.iter().map(|it| it.len().min(for_each)).sum()
    }

    /// The ranks of `n` aggregators: nodes have theirs in turn.
    pub fn aggregators(&self, n: usize) -> Vec<u32> {
        let places = 0..self.most();
        let turn = |at: usize| {
            self.members
                .iter()
                .filter_map(move |it| it.get(at).copied())
        };
        places.flat_map(turn).take(n).collect()
    }

    /// The fewest of `n` aggregators that a node has which has some.
    pub fn share(&self, n: usize) -> usize {
        let mut counts = vec![0; self.len()];
        for rank in self.aggregators(n) {
            counts[self.of(rank)] += 1;
        }
        counts.into_iter().filter(|it| *it != 0).min().unwrap_or(1)
    }

    /// The rank of a node that gathers its members' bytes of a window for an aggregator of another
    /// node.
    pub fn agent(&self, node: usize, window: usize) -> u32 {
        let members = &self.members[node];
        // Every so many windows are of the same node: the members have them in turn.
        members[(window / self.len()) % members.len()]
    }

    /// The nodes but for one, each behind the one before, so that not all begin with the same.
    pub fn others(&self, node: usize) -> impl Iterator<Item = usize> {
        let n = self.len();
        iter::successors(Some((node + 1) % n), move |it| Some((it + 1) % n))
            .take_while(move |it| *it != node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_aggregators_in_turn() {
        let nodes = Nodes::new(&[0, 0, 2, 0, 2, 5]).unwrap();
        assert_eq!(nodes.len(), 3);
        assert_eq!(nodes.members(0), [0, 1, 3]);
        assert_eq!(nodes.aggregators(4), [0, 2, 5, 1]);
        assert_eq!(nodes.aggregators(9), [0, 2, 5, 1, 4, 3]);
        assert_eq!((nodes.share(4), nodes.share(6), nodes.share(1)), (1, 1, 1));
        assert_eq!((nodes.count(1), nodes.count(2), nodes.count(8)), (3, 5, 6));
        assert_eq!((nodes.agent(0, 4), nodes.agent(2, 4)), (1, 5));
        // The members of a node have the windows of another one in turn, wherever that is.
        let two = Nodes::new(&[0, 0, 2, 2]).unwrap();
        assert_eq!((two.agent(0, 1), two.agent(0, 3)), (0, 1));
        assert_eq!((two.agent(1, 0), two.agent(1, 2)), (2, 3));
        assert_eq!(nodes.others(1).collect::<Vec<_>>(), [2, 0]);
        let one = Nodes::new(&[0, 0]).unwrap();
        assert_eq!((one.share(2), one.others(0).count()), (2, 0));
    }

    #[test]
    fn members_that_contradict_each_other_have_no_nodes() {
        assert_eq!(Nodes::new(&[0, 2, 2]), None);
        assert_eq!(Nodes::new(&[0, 0, 1]), None);
    }
}
