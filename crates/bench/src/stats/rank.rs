//! Whether two groups of values differ: the rank-sum test of Wilcoxon, Mann and Whitney, with the
//! shift and the effect size that go with it.
//!
//! Values may fall into **strata**, such as the states of the machine they were taken in; only
//! values of one stratum are compared. U, the number of pairs in which the first group's value is
//! the greater one, and its distribution are then sums over the strata.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Interval, quantile, sorted};

/// What the test says of group `a` next to group `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// Chance, two-sided, of such a difference if there is none.
    pub p: f64,
    /// By how much `a` is greater: the median of all differences (Hodges & Lehmann 1963).
    pub shift: f64,
    /// Where the true shift is; `None` if there are too few values to tell.
    pub interval: Option<Interval>,
    /// Effect size: the share of pairs in which `a` is greater, less that in which it is smaller
    /// (Cliff 1993); from -1 to 1.
    pub delta: f64,
}

/// Most pairs of a stratum for which the distribution is counted out; above, it is near enough to
/// the normal one.
const EXACT_PAIRS: usize = 2500;

/// Values of one state: those of the first group, and of the second.
pub type Stratum = (Vec<f64>, Vec<f64>);

/// Compares two groups: for each stratum the values of `a` and of `b`. Strata that lack either
/// count for nothing; `None` if no other is left.
pub fn rank_sum(strata: &[Stratum], confidence: f64) -> Option<RankSum> {
    let strata: Vec<_> = strata
        .iter()
        .filter(|(a, b)| !a.is_empty() && !b.is_empty())
        .collect();
    let pairs = |(a, b): &Stratum| a.len() * b.len();
    let mut differences = Vec::with_capacity(strata.iter().map(|s| pairs(s)).sum());
    for (a, b) in &strata {
        differences.extend(a.iter().flat_map(|a| b.iter().map(move |b| a - b)));
    }
    if differences.is_empty() {
        return None;
    }
    let differences = sorted(&differences);
    let greater = differences.iter().filter(|d| **d > 0.0).count();
    let smaller = differences.iter().filter(|d| **d < 0.0).count();
    let exact = strata.iter().all(|s| pairs(s) <= EXACT_PAIRS);

    let tied: Vec<Null> = strata.iter().map(|(a, b)| Null::of(a, b)).collect();
    // Doubled, so that a tie, half of a pair, is a whole number.
    let u = 2 * greater + (differences.len() - greater - smaller);
    let p = if exact {
        let counted = tied.iter().map(Null::counted).reduce(convolve)?;
        let up_to: f64 = counted[..=u].iter().sum();
        let from: f64 = counted[u..].iter().sum();
        (2.0 * up_to.min(from)).min(1.0)
    } else {
        normal_p(u as f64 / 2.0, &tied)
    };
    Some(RankSum {
        p,
        shift: quantile(&differences, 0.5),
        interval: shift_interval(&differences, &tied, exact, confidence),
        delta: (greater as f64 - smaller as f64) / differences.len() as f64,
    })
}

/// The smallest p-value that groups of these sizes can give.
pub fn least_p(a: usize, b: usize) -> f64 {
    let ways: f64 = (1..=a).map(|k| (b + k) as f64 / k as f64).product();
    (2.0 / ways).min(1.0)
}

/// How the ranks of one stratum are dealt if its groups do not differ.
struct Null {
    /// Sizes of the groups.
    a: usize,
    b: usize,
    /// Twice the ranks of all values, equal ones sharing theirs; ascending.
    ranks: Vec<usize>,
}

impl Null {
    fn of(a: &[f64], b: &[f64]) -> Null {
        let all = sorted(&[a, b].concat());
        let mut ranks = Vec::with_capacity(all.len());
        for alike in all.chunk_by(|x, y| x == y) {
            let first = ranks.len() + 1;
            let last = ranks.len() + alike.len();
            ranks.resize(last, first + last);
        }
        Null {
            a: a.len(),
            b: b.len(),
            ranks,
        }
    }

    /// These groups as they were if no two values were equal.
    fn untied(&self) -> Null {
        Null {
            ranks: (1..=self.ranks.len()).map(|r| 2 * r).collect(),
            ..*self
        }
    }

    /// The chance of each value of 2U, of all choices of `a` ranks. Cost: values × a × their sum.
    fn counted(&self) -> Vec<f64> {
        let most: usize = self.ranks.iter().rev().take(self.a).sum();
        // ways[k][s]: share of the ways to choose k ranks that have the sum s.
        let mut ways = vec![vec![0.0; most + 1]; self.a + 1];
        ways[0][0] = 1.0;
        for (seen, &rank) in self.ranks.iter().enumerate() {
            for k in (1..=self.a.min(seen + 1)).rev() {
                // Of the choices among seen + 1 ranks, those with this rank.
                let with = k as f64 / (seen + 1) as f64;
                let (fewer, these) = ways.split_at_mut(k);
                let (fewer, these) = (&fewer[k - 1], &mut these[0]);
                // No choice among those seen has a greater sum.
                let reach: usize = self.ranks[seen + 1 - k..=seen].iter().sum();
                for s in (0..=reach).rev() {
                    let before = s.checked_sub(rank).map_or(0.0, |s| fewer[s]);
                    these[s] = with * before + (1.0 - with) * these[s];
                }
            }
        }
        let least = self.a * (self.a + 1);
        let mut counted = ways.pop().unwrap_or_default().split_off(least);
        counted.resize(2 * self.a * self.b + 1, 0.0);
        counted
    }

    fn mean(&self) -> f64 {
        (self.a * self.b) as f64 / 2.0
    }

    fn variance(&self) -> f64 {
        let n = self.ranks.len() as f64;
        let ties: f64 = self
            .ranks
            .chunk_by(|x, y| x == y)
            .map(|alike| alike.len() as f64)
            .map(|t| t * t * t - t)
            .sum();
        (self.a * self.b) as f64 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)))
    }
}

fn convolve(x: Vec<f64>, y: Vec<f64>) -> Vec<f64> {
    let mut sums = vec![0.0; x.len() + y.len() - 1];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            sums[i + j] += x * y;
        }
    }
    sums
}

/// The p-value of U by the normal distribution, with corrections for ties and for continuity.
fn normal_p(u: f64, strata: &[Null]) -> f64 {
    let off = u - strata.iter().map(Null::mean).sum::<f64>();
    let spread = strata.iter().map(Null::variance).sum::<f64>().sqrt();
    if spread == 0.0 {
        return 1.0;
    }
    let z = (off.abs() - 0.5).max(0.0) / spread;
    2.0 * Normal::standard().sf(z)
}

/// The shifts that the test would not reject: between two of the differences.
fn shift_interval(
    differences: &[f64],
    strata: &[Null],
    exact: bool,
    confidence: f64,
) -> Option<Interval> {
    let outside = (1.0 - confidence) / 2.0;
    // The most differences that can be left out on either side.
    let out = if exact {
        let counted = strata.iter().map(|s| s.untied().counted());
        let counted = counted.reduce(convolve)?;
        let mut below = 0.0;
        // Without ties only every other value of 2U occurs.
        let likely = counted.iter().step_by(2).take_while(|p| {
            below += *p;
            below <= outside
        });
        likely.count().checked_sub(1)?
    } else {
        let mean: f64 = strata.iter().map(Null::mean).sum();
        let spread = strata.iter().map(Null::variance).sum::<f64>().sqrt();
        let z = Normal::standard().inverse_cdf(outside);
        (mean + z * spread - 0.5).floor().max(0.0) as usize
    };
    Some(Interval {
        low: differences[out],
        high: differences[differences.len() - 1 - out],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(a: &[f64], b: &[f64]) -> RankSum {
        rank_sum(&[(a.to_vec(), b.to_vec())], 0.95).unwrap()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 5e-5 * b.abs()
    }

    /// R's `?wilcox.test`: permeability constants (Hollander & Wolfe 1973, 69f): W = 35; greater:
    /// p = 0.1272. With `conf.int = TRUE`: 0.305, -0.15 to 0.76.
    #[test]
    fn permeability_as_in_r() {
        let at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let found = one(&at_term, &early);
        assert!((found.p - 2.0 * 0.1272).abs() < 1e-4, "{found:?}");
        assert!((found.shift - 0.305).abs() < 1e-9);
        let interval = found.interval.unwrap();
        assert!((interval.low + 0.15).abs() < 1e-9 && (interval.high - 0.76).abs() < 1e-9);
        assert!((found.delta - (2.0 * 35.0 / 50.0 - 1.0)).abs() < 1e-12);
    }

    /// R's `?wilcox.test`: `Ozone ~ Month` of `airquality`, May and August: W = 127.5, and with the
    /// normal distribution p = 0.0001208.
    #[test]
    fn ozone_as_in_r() {
        let may = [
            41.0, 36.0, 12.0, 18.0, 28.0, 23.0, 19.0, 8.0, 7.0, 16.0, 11.0, 14.0, 18.0, 14.0, 34.0,
            6.0, 30.0, 11.0, 1.0, 11.0, 4.0, 32.0, 23.0, 45.0, 115.0, 37.0,
        ];
        let august = [
            39.0, 9.0, 16.0, 78.0, 35.0, 66.0, 122.0, 89.0, 110.0, 44.0, 28.0, 65.0, 22.0, 59.0,
            23.0, 31.0, 44.0, 21.0, 9.0, 45.0, 168.0, 73.0, 76.0, 118.0, 84.0, 85.0,
        ];
        let p = normal_p(127.5, &[Null::of(&may, &august)]);
        assert!((p - 0.0001208).abs() < 5e-8, "{p}");
        let exact = one(&may, &august);
        assert!(exact.p < 2e-4 && exact.p > 5e-5, "{exact:?}");
        assert!((exact.delta - (2.0 * 127.5 / 676.0 - 1.0)).abs() < 1e-12);
    }

    /// Mann & Whitney's own numbers (1947), table I for n = 5, m = 4: P(U <= 2) = 0.032.
    #[test]
    fn counted_as_in_the_first_table() {
        let nine = Null::of(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0]);
        let chance: f64 = nine.counted()[..=4].iter().sum();
        assert!((chance - 4.0 / 126.0).abs() < 1e-12);
        assert!((nine.counted().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// Every choice of ranks, one by one, must give the same distribution, with ties and without.
    #[test]
    fn counted_as_one_by_one() {
        for (a, b) in [
            (vec![1.0, 2.0, 2.0], vec![2.0, 3.0, 3.0, 5.0]),
            (vec![1.0, 7.0, 3.0, 4.0], vec![2.0, 6.0]),
            (vec![4.0; 3], vec![4.0; 2]),
        ] {
            let null = Null::of(&a, &b);
            let n = null.ranks.len();
            let mut naive = vec![0.0; 2 * a.len() * b.len() + 1];
            let mut ways = 0.0;
            for chosen in (0u32..1 << n).filter(|c| c.count_ones() as usize == a.len()) {
                let ranks = (0..n).filter(|i| chosen >> i & 1 == 1);
                let sum: usize = ranks.map(|i| null.ranks[i]).sum();
                naive[sum - a.len() * (a.len() + 1)] += 1.0;
                ways += 1.0;
            }
            for (counted, naive) in null.counted().iter().zip(&naive) {
                assert!((counted - naive / ways).abs() < 1e-12, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn strata_are_compared_by_themselves() {
        // Far is three times as slow, but within each state the second group is.
        let near_state = (vec![1.0, 1.1], vec![1.6, 1.7, 1.8, 1.9]);
        let far_state = (vec![3.0, 3.1, 3.2, 3.3], vec![3.6, 3.7]);
        let found = rank_sum(&[near_state.clone(), far_state.clone()], 0.95).unwrap();
        assert_eq!(found.delta, -1.0);
        // 15 × 15 ways to deal them, of which one is this and one its mirror.
        assert!(near(found.p, 2.0 / 225.0), "{found:?}");
        let mixed = [near_state, far_state];
        let join = |pick: fn(&Stratum) -> &Vec<f64>| {
            mixed
                .iter()
                .flat_map(|s| pick(s).clone())
                .collect::<Vec<_>>()
        };
        assert!(one(&join(|s| &s.0), &join(|s| &s.1)).p > 0.05);
        // A state that only one group has been in says nothing.
        let alone = (vec![9.0; 5], vec![]);
        let more = rank_sum(&[mixed[0].clone(), mixed[1].clone(), alone.clone()], 0.95).unwrap();
        assert_eq!(more, found);
        assert_eq!(rank_sum(&[alone], 0.95), None);
    }

    #[test]
    fn too_few_values_have_no_interval() {
        let found = one(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert_eq!(found.interval, None);
        assert!(near(found.p, 0.1) && near(least_p(3, 3), 0.1));
        assert!(near(least_p(10, 10), 2.0 / 184_756.0));
        assert_eq!(least_p(1, 1), 1.0);
        let same = one(&[2.0; 8], &[2.0; 8]);
        assert_eq!((same.p, same.delta, same.shift), (1.0, 0.0, 0.0));
    }

    /// Both ways to the p-value and to the interval must meet where one takes over from the other.
    #[test]
    fn the_normal_distribution_takes_over_smoothly() {
        let mut rng = fastrand::Rng::with_seed(5);
        let a: Vec<f64> = (0..50).map(|_| rng.f64()).collect();
        let b: Vec<f64> = (0..50).map(|_| rng.f64() + 0.1).collect();
        let exact = one(&a, &b);
        let mut longer = b.clone();
        longer.push(0.6);
        let normal = one(&a, &longer);
        assert!(
            (exact.p - normal.p).abs() < 0.2 * exact.p,
            "{exact:?} {normal:?}"
        );
        let (x, y) = (exact.interval.unwrap(), normal.interval.unwrap());
        assert!((x.low - y.low).abs() < 0.02 && (x.high - y.high).abs() < 0.02);
    }
}
