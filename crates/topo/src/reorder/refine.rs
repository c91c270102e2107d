//! Improves a division by exchanging ranks.

use super::Pattern;

/// Most rounds; each but the last makes the division better.
const ROUNDS: usize = 8;
/// Patterns of more ranks are left as they are: a round may take the ranks of a group for each
/// rank.
const MOST: usize = 1 << 14;

/// Exchanges ranks of two groups as long as less crosses between the groups after it.
pub(super) fn refine(part: &Pattern, group_of: &mut [u32], groups: usize) {
    if part.size() > MOST {
        return;
    }
    let mut members = vec![Vec::new(); groups];
    for (rank, &group) in (0..).zip(group_of.iter()) {
        members[group as usize].push(rank);
    }
    for _ in 0..ROUNDS {
        let exchanged = (0..part.size() as u32).filter(|&rank| {
            let exchange = best_exchange(part, group_of, &members, rank);
            if let Some(other) = exchange {
                swap(group_of, &mut members, rank, other);
            }
            exchange.is_some()
        });
        if exchanged.count() == 0 {
            break;
        }
    }
}

/// The rank to exchange with that saves most.
fn best_exchange(part: &Pattern, group_of: &[u32], members: &[Vec<u32>], rank: u32) -> Option<u32> {
    let here = group_of[rank as usize];
    let mut groups: Vec<u32> = part
        .of(rank)
        .iter()
        .map(|&(r, _)| group_of[r as usize])
        .collect();
    groups.sort_unstable();
    groups.dedup();
    let mut best = (0, None);
    for there in groups.into_iter().filter(|&group| group != here) {
        let gain = gain(part, group_of, rank, there);
        if gain <= 0 {
            continue;
        }
        for &other in &members[there as usize] {
            let both = part.of(rank).iter().filter(|(end, _)| *end == other);
            let between: i64 = both.map(|(_, weight)| *weight as i64).sum();
            let saved = gain + self::gain(part, group_of, other, here) - 2 * between;
            if saved > best.0 {
                best = (saved, Some(other));
            }
        }
    }
    best.1
}

/// How much less crosses when `rank` goes over to group `to`.
fn gain(part: &Pattern, group_of: &[u32], rank: u32, to: u32) -> i64 {
    let from = group_of[rank as usize];
    let gain = |&(end, weight): &(u32, u64)| match group_of[end as usize] {
        group if group == to => weight as i64,
        group if group == from => -(weight as i64),
        _ => 0,
    };
    part.of(rank).iter().map(gain).sum()
}

fn swap(group_of: &mut [u32], members: &mut [Vec<u32>], a: u32, b: u32) {
    let (of_a, of_b) = (group_of[a as usize], group_of[b as usize]);
    group_of.swap(a as usize, b as usize);
    for (group, gone, new) in [(of_a, a, b), (of_b, b, a)] {
        let members = &mut members[group as usize];
        let at = members.iter().position(|&rank| rank == gone);
        members[at.expect("it is listed in its group")] = new;
    }
}

#[cfg(test)]
mod tests {
    use super::super::divide::cut;
    use super::*;

    #[test]
    fn exchanges_end_where_none_helps() {
        let line = Pattern::grid(&[8], &[false]);
        let mut group_of = [0, 0, 1, 0, 1, 0, 1, 1];
        refine(&line, &mut group_of, 2);
        assert_eq!(cut(&line, &group_of), 1);
        assert_eq!(group_of.iter().sum::<u32>(), 4);
    }

    #[test]
    fn an_edge_between_both_is_not_saved() {
        // Each would gain by going over alone, but they would only change places.
        let pair = Pattern::graph(2, [(0, 1, 5)].into_iter());
        let mut group_of = [0, 1];
        refine(&pair, &mut group_of, 2);
        assert_eq!(group_of, [0, 1]);
    }
}
