//! The edges between ranks: between whom they lead, and how heavy they are.

/// In place of a number: the rank is not in the part.
pub(super) const NOBODY: u32 = u32::MAX;

/// A graph of ranks. An edge has no direction; its weight is what passes in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Where the edges of each rank begin in `ends`, and the end.
    first: Vec<usize>,
    /// The other end of each edge, and its weight. An edge stands at both of its ends.
    ends: Vec<(u32, u64)>,
    /// Coordinates of each rank, one after the other; none unless it is a grid.
    coords: Vec<u32>,
}

impl Pattern {
    /// A graph of `size` ranks. Edges from a rank to itself do not count.
    ///
    /// # Panics
    /// If an end of an edge is no rank.
    pub fn graph(size: usize, edges: impl Iterator<Item = (u32, u32, u64)> + Clone) -> Pattern {
        let edges = edges.filter(|(a, b, _)| a != b);
        let mut first = vec![0; size + 1];
        for (a, b, _) in edges.clone() {
            first[a as usize + 1] += 1;
            first[b as usize + 1] += 1;
        }
        for rank in 0..size {
            first[rank + 1] += first[rank];
        }
        let mut next = first.clone();
        let mut ends = vec![(0, 0); first[size]];
        for (a, b, weight) in edges {
            for (from, to) in [(a, b), (b, a)] {
                ends[next[from as usize]] = (to, weight);
                next[from as usize] += 1;
            }
        }
        Pattern {
            first,
            ends,
            coords: Vec::new(),
        }
    }

    /// A grid: ranks in row-major order, each with an edge to the next in every dimension; those of
    /// a periodic dimension close to a ring.
    pub fn grid(dims: &[u32], periods: &[bool]) -> Pattern {
        let size: u32 = dims.iter().product();
        let ahead = |rank: u32, d: usize| {
            let stride: u32 = dims[d + 1..].iter().product();
            let at = rank / stride % dims[d];
            match at + 1 < dims[d] {
                true => Some(rank + stride),
                false if periods[d] => Some(rank - at * stride),
                false => None,
            }
        };
        let edges = (0..size).flat_map(|rank| {
            let dims = 0..dims.len();
            dims.filter_map(move |d| Some((rank, ahead(rank, d)?, 1)))
        });
        let mut pattern = Pattern::graph(size as usize, edges);
        pattern.coords = (0..size)
            .flat_map(|rank| {
                let strides = dims.iter().rev().scan(1, |stride, &dim| {
                    *stride *= dim;
                    Some((*stride / dim, dim))
                });
                let mut at: Vec<u32> = strides.map(|(stride, dim)| rank / stride % dim).collect();
                at.reverse();
                at
            })
            .collect();
        pattern
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.first.len() - 1
    }

    /// The other ends of a rank's edges, and the weights.
    pub fn of(&self, rank: u32) -> &[(u32, u64)] {
        let rank = rank as usize;
        &self.ends[self.first[rank]..self.first[rank + 1]]
    }

    /// Each edge once.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, u64)> + Clone + '_ {
        (0..self.size() as u32).flat_map(|a| {
            let ends = self.of(a).iter();
            ends.filter(move |(b, _)| a < *b)
                .map(move |&(b, w)| (a, b, w))
        })
    }

    /// The coordinates of a rank; empty unless it is a grid.
    pub(super) fn coords(&self, rank: u32) -> &[u32] {
        let dims = self.coords.len() / self.size().max(1);
        &self.coords[rank as usize * dims..][..dims]
    }

    /// This pattern among these ranks only, which are numbered anew in this order. `numbers` has a
    /// [`NOBODY`] for each rank, and has it again afterwards.
    pub(super) fn part(&self, ranks: &[u32], numbers: &mut [u32]) -> Pattern {
        for (new, &rank) in (0..).zip(ranks) {
            numbers[rank as usize] = new;
        }
        let number = &*numbers;
        let edges = ranks.iter().flat_map(|&a| {
            let ends = self.of(a).iter().filter(move |(b, _)| a < *b);
            ends.map(move |&(b, w)| (number[a as usize], number[b as usize], w))
        });
        let inside = edges.filter(|(_, b, _)| *b != NOBODY);
        let mut part = Pattern::graph(ranks.len(), inside);
        part.coords = ranks
            .iter()
            .flat_map(|&r| self.coords(r))
            .copied()
            .collect();
        for &rank in ranks {
            numbers[rank as usize] = NOBODY;
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_the_edges_of_its_neighbours() {
        let grid = Pattern::grid(&[2, 3], &[false, true]);
        let edges: Vec<_> = grid.edges().map(|(a, b, _)| (a, b)).collect();
        assert_eq!(
            edges,
            [
                (0, 3),
                (0, 1),
                (0, 2),
                (1, 4),
                (1, 2),
                (2, 5),
                (3, 4),
                (3, 5),
                (4, 5)
            ]
        );
        assert_eq!(grid.coords(5), [1, 2]);
        // A ring of two has two edges, one of one none.
        assert_eq!(Pattern::grid(&[2], &[true]).edges().count(), 2);
        assert_eq!(Pattern::grid(&[1], &[true]).edges().count(), 0);
        assert_eq!(Pattern::grid(&[], &[]).size(), 1);
    }

    #[test]
    fn a_part_keeps_what_is_inside() {
        let mut numbers = [NOBODY; 6];
        let grid = Pattern::grid(&[2, 3], &[false, false]);
        let part = grid.part(&[1, 2, 4], &mut numbers);
        assert_eq!(numbers, [NOBODY; 6]);
        let edges: Vec<_> = part.edges().map(|(a, b, _)| (a, b)).collect();
        assert_eq!(edges, [(0, 2), (0, 1)]);
        assert_eq!(part.coords(2), [1, 1]);
    }
}
