//! The tree along which processes agree, and how it mends itself.
//!
//! It is the binomial tree over all ranks, 0 at the root: the parent of a rank is the rank without
//! its lowest bit. Where a rank is dead its children are those of its nearest ancestor that is
//! alive; where there is none, of the lowest rank alive, which is the root then. What a process
//! takes for the tree depends on the deaths that it knows of; two that know different ones differ
//! only around these.

use crate::ranks::Ranks;

/// The tree over `size` ranks without those that are known to be dead.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// How many ranks there are, dead or alive.
    pub size: u32,
    /// Those that are known to be dead.
    pub dead: &'a Ranks,
}

/// Ranks below `rank` in the tree without deaths, itself among them: so many in a row.
fn breadth(rank: u32, size: u32) -> u32 {
    match rank {
        0 => size,
        _ => (1 << rank.trailing_zeros()).min(size - rank),
    }
}

impl Tree<'_> {
    /// The root: the lowest rank that is alive.
    pub fn root(self) -> Option<u32> {
        (0..self.size).find(|&rank| !self.dead.has(rank))
    }

    /// The parent of a rank that is alive; `None` for the root.
    pub fn parent(self, rank: u32) -> Option<u32> {
        let mut at = rank;
        while at != 0 {
            at &= at - 1;
            if !self.dead.has(at) {
                return Some(at);
            }
        }
        self.root().filter(|&root| root != rank)
    }

    /// The children of a rank that is alive.
    pub fn children(self, rank: u32) -> Vec<u32> {
        let mut children = Vec::new();
        self.heirs(rank, &mut children);
        if rank != 0 && self.root() == Some(rank) {
            // Those whose ancestors are all dead.
            let mut orphans = Vec::new();
            self.heirs(0, &mut orphans);
            children.extend(orphans.into_iter().filter(|&it| it != rank));
        }
        children
    }

    /// Adds the nearest ranks below one that are alive.
    fn heirs(self, rank: u32, heirs: &mut Vec<u32>) {
        let mut step = 1;
        while step < breadth(rank, u32::MAX >> 1) && step < self.size - rank {
            let child = rank + step;
            match self.dead.has(child) {
                true => self.heirs(child, heirs),
                false => heirs.push(child),
            }
            step *= 2;
        }
    }

    /// Whether all that are alive below a rank that is alive, itself among them, are in a set.
    pub fn covers(self, rank: u32, set: &Ranks) -> bool {
        let range = match self.root() == Some(rank) {
            true => 0..self.size,
            false => rank..rank + breadth(rank, self.size),
        };
        range.into_iter().all(|it| set.has(it) || self.dead.has(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead_of(size: u32, bits: u32) -> Ranks {
        Ranks::from_words(size, &[bits])
    }

    /// Whatever is dead, those alive are one tree, in which everybody is a child of its parent.
    #[test]
    fn the_living_are_one_tree() {
        for size in 1..=12 {
            for bits in 0..(1u32 << size) - 1 {
                let dead = dead_of(size, bits);
                let tree = Tree { size, dead: &dead };
                let root = tree.root().expect("one is alive");
                let mut seen = Ranks::new(size);
                let mut next = vec![root];
                while let Some(rank) = next.pop() {
                    assert!(!seen.has(rank), "{size} {bits:b}: {rank} twice");
                    seen.add(rank);
                    for child in tree.children(rank) {
                        assert_eq!(tree.parent(child), Some(rank), "{size} {bits:b}");
                        next.push(child);
                    }
                }
                seen.unite(&dead);
                assert_eq!(seen, Ranks::all(size), "{size} {bits:b}");
                assert_eq!(tree.parent(root), None);
            }
        }
    }

    #[test]
    fn a_rank_covers_what_is_below_it() {
        let dead = dead_of(8, 0b1);
        let tree = Tree {
            size: 8,
            dead: &dead,
        };
        assert_eq!(tree.children(1), [2, 4]);
        assert_eq!(tree.parent(6), Some(4));
        assert!(tree.covers(4, &dead_of(8, 0b1111_0000)));
        assert!(!tree.covers(4, &dead_of(8, 0b0111_0000)));
        assert!(tree.covers(1, &dead_of(8, 0b1111_1110)));
        assert!(
            !tree.covers(1, &dead_of(8, 0b1111_1010)),
            "the root covers all"
        );
    }
}
