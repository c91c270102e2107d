//! Divides ranks among groups of processes so that little crosses between the groups.
//!
//! Candidates: the division that moves nobody; blocks of a grid, of every shape that fills a group;
//! and groups that grow along the heaviest edges, which do for any graph.

use std::collections::BTreeSet;

use super::Pattern;
use super::refine::refine;

/// Most work on the candidates of a grid, in ranks.
const WORK: usize = 1 << 22;
/// Most shapes of blocks to try, however few ranks there are.
const SHAPES: usize = 512;

/// The group of each rank of `part`, which is held by one of `processes`, ascending. Groups are
/// filled exactly.
pub(super) fn divide(part: &Pattern, processes: &[u32], groups: &[Vec<u32>]) -> Vec<u32> {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let mut best = staying(processes, groups);
    let mut least = cut(part, &best);
    let blocks = shapes(part, &sizes).into_iter();
    let blocks = blocks.map(|shape| fill(&in_blocks(part, &shape), &sizes));
    for division in blocks.chain([grown(part, &sizes)]) {
        let cut = cut(part, &division);
        if cut < least {
            (best, least) = (division, cut);
        }
    }
    refine(part, &mut best, groups.len());
    best
}

/// Weight of the edges between groups.
pub(super) fn cut(part: &Pattern, group_of: &[u32]) -> u64 {
    let group = |rank: u32| group_of[rank as usize];
    let edges = part.edges().filter(|&(a, b, _)| group(a) != group(b));
    edges.map(|(_, _, weight)| weight).sum()
}

/// The `i`-th rank stays with the `i`-th process. Where the ranks are those of the processes this
/// moves nobody.
fn staying(processes: &[u32], groups: &[Vec<u32>]) -> Vec<u32> {
    let mut group_of = vec![0; processes.len()];
    for (group, members) in (0..).zip(groups) {
        for process in members {
            let at = processes.binary_search(process).expect("of the processes");
            group_of[at] = group;
        }
    }
    group_of
}

/// The groups are filled one after the other, in this order of ranks.
fn fill(order: &[u32], sizes: &[usize]) -> Vec<u32> {
    let mut group_of = vec![0; order.len()];
    let groups = (0..).zip(sizes);
    let groups = groups.flat_map(|(group, &size)| std::iter::repeat_n(group, size));
    for (&rank, group) in order.iter().zip(groups) {
        group_of[rank as usize] = group;
    }
    group_of
}

/// Ranks of a grid block after block, each in row-major order, as are the blocks.
fn in_blocks(part: &Pattern, shape: &[u32]) -> Vec<u32> {
    let (low, extent) = bounds(part);
    let mut order: Vec<u32> = (0..part.size() as u32).collect();
    // There are no more blocks than ranks of the whole grid.
    let block = |&rank: &u32| {
        let sides = shape.iter().zip(&extent).zip(&low);
        let at = part.coords(rank).iter().zip(sides);
        at.fold(0, |block, (&at, ((&side, extent), &low))| {
            block * extent.div_ceil(side) + (at - low) / side
        })
    };
    order.sort_by_cached_key(block);
    order
}

/// Lowest coordinates, and extent in each dimension.
fn bounds(part: &Pattern) -> (Vec<u32>, Vec<u32>) {
    let mut low = part.coords(0).to_vec();
    let mut high = low.clone();
    for rank in 0..part.size() as u32 {
        for (d, &at) in part.coords(rank).iter().enumerate() {
            low[d] = low[d].min(at);
            high[d] = high[d].max(at);
        }
    }
    let extent = low.iter().zip(&high).map(|(low, high)| high - low + 1);
    let extent = extent.collect();
    (low, extent)
}

/// Shapes of blocks that hold as many ranks as a group, those with the smallest surface first.
fn shapes(part: &Pattern, sizes: &[usize]) -> Vec<Vec<u32>> {
    let (_, extent) = bounds(part);
    if extent.is_empty() {
        return Vec::new();
    }
    let mut volumes = sizes.to_vec();
    volumes.sort_unstable();
    volumes.dedup();
    let mut shapes = Vec::new();
    for volume in volumes {
        factors(volume as u32, &extent, &mut Vec::new(), &mut shapes);
    }
    let surface = |shape: &Vec<u32>| -> u64 {
        let volume: u64 = shape.iter().map(|&side| u64::from(side)).product();
        let sides = shape.iter().zip(&extent);
        let open = sides.filter(|(side, extent)| side < extent);
        open.map(|(&side, _)| volume / u64::from(side)).sum()
    };
    shapes.sort_by_cached_key(surface);
    shapes.truncate((WORK / part.size()).clamp(1, SHAPES));
    shapes
}

/// All ways to write `volume` as a product of sides that are no longer than `extent`.
fn factors(volume: u32, extent: &[u32], sides: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
    match extent.get(sides.len()) {
        None if volume == 1 => found.push(sides.clone()),
        None => {}
        Some(&most) => {
            for side in (1..=most.min(volume)).filter(|side| volume.is_multiple_of(*side)) {
                sides.push(side);
                factors(volume / side, extent, sides, found);
                sides.pop();
            }
        }
    }
}

/// Groups grow one after the other. Next comes the rank that adds least to what leaves the group,
/// the lowest of those; the ranks that other groups have do not count any more.
fn grown(part: &Pattern, sizes: &[usize]) -> Vec<u32> {
    const FREE: u32 = u32::MAX;
    let all = 0..part.size() as u32;
    let mut group_of = vec![FREE; part.size()];
    // Weight of each free rank's edges to other free ranks, and what it would add to the group.
    let total = |rank: u32| part.of(rank).iter().map(|(_, w)| *w as i64).sum::<i64>();
    let mut outside: Vec<i64> = all.clone().map(total).collect();
    let mut added = outside.clone();
    let mut queue: BTreeSet<(i64, u32)> = all.map(|rank| (added[rank as usize], rank)).collect();
    for (group, &size) in (0..).zip(sizes) {
        let mut touched = Vec::new();
        for _ in 0..size {
            let (_, rank) = queue.pop_first().expect("groups have as many as there are");
            group_of[rank as usize] = group;
            for &(other, weight) in part.of(rank) {
                let at = other as usize;
                if group_of[at] == FREE {
                    queue.remove(&(added[at], other));
                    added[at] -= 2 * weight as i64;
                    queue.insert((added[at], other));
                    outside[at] -= weight as i64;
                    touched.push(other);
                }
            }
        }
        for other in touched {
            let at = other as usize;
            if queue.remove(&(added[at], other)) {
                added[at] = outside[at];
                queue.insert((added[at], other));
            }
        }
    }
    group_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_fill_a_group() {
        let part = Pattern::grid(&[4, 4], &[false, false]);
        let mut found = shapes(&part, &[8, 8]);
        found.sort();
        assert_eq!(found, [[2, 4], [4, 2]]);
        assert_eq!(shapes(&part, &[8, 8])[0], [2, 4]);
        let order = in_blocks(&part, &[4, 2]);
        assert_eq!(order[..8], [0, 1, 4, 5, 8, 9, 12, 13]);
        assert_eq!(cut(&part, &fill(&order, &[8, 8])), 4);
    }

    #[test]
    fn groups_grow_along_the_edges() {
        // Two rings of four that one edge joins, mixed.
        let ring = |shift: u32| (0..4).map(move |i| (2 * i + shift, 2 * (i + 1) % 8 + shift, 3));
        let part = Pattern::graph(8, ring(0).chain(ring(1)).chain([(0, 1, 1)]));
        let division = grown(&part, &[4, 4]);
        assert_eq!(cut(&part, &division), 1);
    }
}
