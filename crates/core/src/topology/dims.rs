//! `MPI_Dims_create` (MPI-5, chapter 8.5.2): cutting processes into a grid.

use catena_objects::error::Result;
use catena_objects::fail;

/// Fills the zeros of `dims` so that the product is `nodes`. The numbers put in
/// do not increase, and the first and the last of them differ as little as can
/// be; among such choices the small ones are as large as can be.
///
/// # Errors
/// `Arg` for fewer than one process, `Dims` for a negative number and where
/// `nodes` is no multiple of what is given.
pub fn dims_create(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        fail!(Arg, "there are {nodes} processes: there must be at least 1");
    }
    if let Some(at) = dims.iter().position(|&d| d < 0) {
        fail!(Dims, "dims[{at}] is {}: it must not be negative", dims[at]);
    }
    let given = dims.iter().filter(|&&d| d != 0).map(|&d| i128::from(d));
    let given = given.fold(1i128, |a, d| a.saturating_mul(d));
    let free = dims.iter().filter(|&&d| d == 0).count();
    let nodes = i128::from(nodes);
    if nodes % given != 0 || (free == 0 && nodes != given && !dims.is_empty()) {
        fail!(
            Dims,
            "the dimensions given make {given}, into which {nodes} processes do not fit"
        );
    }
    if free == 0 {
        return Ok(());
    }
    let mut search = Search::new((nodes / given) as u32, free);
    search.go((nodes / given) as u32, 1);
    let best = search.best.iter().rev();
    for (dim, &found) in dims.iter_mut().filter(|d| **d == 0).zip(best) {
        *dim = found as i32;
    }
    Ok(())
}

/// Looks for the best factors, the smallest first.
struct Search {
    divisors: Vec<u32>,
    /// Factors chosen so far, which do not decrease.
    chosen: Vec<u32>,
    wanted: usize,
    best: Vec<u32>,
    /// Last minus first of `best`.
    spread: u32,
}

impl Search {
    fn new(n: u32, wanted: usize) -> Self {
        let low: Vec<u32> = (1..=n.isqrt()).filter(|d| n.is_multiple_of(*d)).collect();
        let high = low.iter().rev().map(|d| n / d);
        let high = high.filter(|&d| d > n.isqrt());
        Search {
            divisors: low.iter().copied().chain(high).collect(),
            chosen: Vec::new(),
            wanted,
            best: Vec::new(),
            spread: u32::MAX,
        }
    }

    /// Chooses the factors that are left, whose product is `rest`, none less
    /// than `least`.
    fn go(&mut self, rest: u32, least: u32) {
        let left = self.wanted - self.chosen.len();
        if left == 1 {
            let spread = rest - self.chosen.first().unwrap_or(&rest);
            if spread < self.spread {
                self.spread = spread;
                self.best.clone_from(&self.chosen);
                self.best.push(rest);
            }
            return;
        }
        // The least of them is no more than the root of what is left, and the last
        // no less.
        let most = root(rest, left as u32);
        for at in (0..self.divisors.partition_point(|&d| d <= most)).rev() {
            let d = self.divisors[at];
            if d < least {
                break;
            }
            let first = *self.chosen.first().unwrap_or(&d);
            if root(rest / d, left as u32 - 1) - first >= self.spread {
                // A smaller one leaves more for the others.
                break;
            }
            if rest.is_multiple_of(d) {
                self.chosen.push(d);
                self.go(rest / d, d);
                self.chosen.pop();
            }
        }
    }
}

/// The largest number whose `k`-th power is not above `n`.
fn root(n: u32, k: u32) -> u32 {
    let fits = |r: u32| u64::from(r).checked_pow(k).is_some_and(|p| p <= n.into());
    let mut r = f64::from(n).powf(1.0 / f64::from(k)) as u32;
    while !fits(r) {
        r -= 1;
    }
    while fits(r + 1) {
        r += 1;
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(nodes: i32, k: usize) -> Vec<i32> {
        let mut dims = vec![0; k];
        dims_create(nodes, &mut dims).unwrap();
        dims
    }

    /// All ways to write `n` as `k` factors that do not decrease.
    fn all(n: i32, k: usize, least: i32) -> Vec<Vec<i32>> {
        if k == 1 {
            return if n >= least { vec![vec![n]] } else { vec![] };
        }
        let mut found = Vec::new();
        for d in (least..=n).filter(|d| n % d == 0) {
            for mut rest in all(n / d, k - 1, d) {
                rest.insert(0, d);
                found.push(rest);
            }
        }
        found
    }

    #[test]
    fn the_search_finds_what_trying_all_finds() {
        for n in 1..=400 {
            for k in 1..=5 {
                let key = |f: &Vec<i32>| {
                    let small = f.iter().map(|d| -d).collect::<Vec<_>>();
                    (f[k - 1] - f[0], small)
                };
                let mut want = all(n, k, 1).into_iter().min_by_key(key).unwrap();
                want.reverse();
                assert_eq!(cut(n, k), want, "{n} in {k}");
            }
        }
    }

    #[test]
    fn large_numbers_are_cut_at_once() {
        assert_eq!(cut(1_000_000_000, 3), [1000; 3]);
        assert_eq!(cut(i32::MAX, 3), [i32::MAX, 1, 1]);
        for k in 1..=31 {
            for n in [2_095_133_040, 1 << 30, 1_396_755_360] {
                assert_eq!(cut(n, k).iter().product::<i32>(), n);
            }
        }
    }

    #[test]
    fn given_numbers_stay() {
        let mut dims = [0, 3, 0];
        dims_create(12, &mut dims).unwrap();
        assert_eq!(dims, [2, 3, 2]);
        assert!(dims_create(7, &mut [0, 2]).is_err());
        assert!(dims_create(7, &mut [0, -7]).is_err());
        assert!(dims_create(8, &mut [2, 2]).is_err());
        assert!(dims_create(0, &mut [0]).is_err());
    }
}
