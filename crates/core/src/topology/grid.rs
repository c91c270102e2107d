//! Cartesian grids (MPI-5, chapter 8.5). Ranks are in row-major order: the last
//! coordinate changes fastest.

use catena_topo::reorder::Pattern;

use catena_objects::error::Result;
use catena_objects::fail;

/// A grid of processes; with no dimension it is a single process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Processes along each dimension, at least 1.
    pub dims: Vec<i32>,
    /// Whether it closes to a ring.
    pub periods: Vec<bool>,
}

impl Grid {
    /// A grid of at most `most` processes.
    ///
    /// # Errors
    /// `Dims` for dimensions below 1, `Arg` if it needs more processes.
    pub fn new(dims: &[i32], periods: &[i32], most: u32) -> Result<Self> {
        if let Some(at) = dims.iter().position(|&d| d < 1) {
            fail!(Dims, "dims[{at}] is {}: it must be at least 1", dims[at]);
        }
        let size = dims
            .iter()
            .try_fold(1u32, |size, &d| size.checked_mul(d as u32));
        if size.is_none_or(|size| size > most) {
            fail!(
                Arg,
                "a grid of {dims:?} processes does not fit: the communicator has {most}"
            );
        }
        Ok(Grid {
            dims: dims.to_vec(),
            periods: periods.iter().map(|&p| p != 0).collect(),
        })
    }

    /// Number of processes.
    pub fn size(&self) -> u32 {
        self.dims.iter().product::<i32>() as u32
    }

    /// Coordinates of a rank.
    pub fn coords(&self, rank: u32) -> Vec<i32> {
        let mut rest = rank as i32;
        let mut coords = vec![0; self.dims.len()];
        for (at, &dim) in coords.iter_mut().zip(&self.dims).rev() {
            (*at, rest) = (rest % dim, rest / dim);
        }
        coords
    }

    /// The rank at coordinates, which may lie outside of a periodic dimension.
    ///
    /// # Errors
    /// `Arg` if they lie outside of another one.
    pub fn rank(&self, coords: &[i32]) -> Result<u32> {
        let mut rank = 0;
        for (d, &at) in coords.iter().enumerate() {
            let dim = self.dims[d];
            if !self.periods[d] && !(0..dim).contains(&at) {
                fail!(
                    Arg,
                    "coords[{d}] is {at}, but the grid goes from 0 to {} there and is not \
                     periodic",
                    dim - 1
                );
            }
            rank = rank * dim + at.rem_euclid(dim);
        }
        Ok(rank as u32)
    }

    /// The rank `by` places up dimension `d` from `rank`; `None` beyond the
    /// edge. `by` is at most 2^32 either way.
    pub fn ahead(&self, rank: u32, d: usize, by: i64) -> Option<u32> {
        let below: i32 = self.dims[d + 1..].iter().product();
        let dim = i64::from(self.dims[d]);
        let here = i64::from(rank as i32 / below) % dim;
        let there = here + by;
        if !self.periods[d] && !(0..dim).contains(&there) {
            return None;
        }
        let moved = there.rem_euclid(dim) - here;
        Some((i64::from(rank) + moved * i64::from(below)) as u32)
    }

    /// Who talks to whom.
    pub fn pattern(&self) -> Pattern {
        let dims: Vec<u32> = self.dims.iter().map(|&dim| dim as u32).collect();
        Pattern::grid(&dims, &self.periods)
    }

    /// The grid of the dimensions that `remain`.
    #[must_use]
    pub fn sub(&self, remain: &[bool]) -> Grid {
        let kept = || (0..self.dims.len()).filter(|&d| remain[d]);
        Grid {
            dims: kept().map(|d| self.dims[d]).collect(),
            periods: kept().map(|d| self.periods[d]).collect(),
        }
    }

    /// Which of the parts that [`Grid::sub`] leaves a rank is in, and its rank
    /// there.
    pub fn part(&self, rank: u32, remain: &[bool]) -> (i32, i32) {
        let (mut part, mut within) = (0, 0);
        for (d, at) in self.coords(rank).into_iter().enumerate() {
            let number = if remain[d] { &mut within } else { &mut part };
            *number = *number * self.dims[d] + at;
        }
        (part, within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dims: &[i32], periods: &[i32]) -> Grid {
        Grid::new(dims, periods, u32::MAX).unwrap()
    }

    #[test]
    fn rank_and_coords_are_inverse() {
        let g = grid(&[3, 4, 5], &[0, 1, 0]);
        for rank in 0..g.size() {
            assert_eq!(g.rank(&g.coords(rank)).unwrap(), rank);
        }
        assert_eq!(g.coords(59), [2, 3, 4]);
        assert_eq!(g.rank(&[0, -1, 0]).unwrap(), 15);
        assert!(g.rank(&[3, 0, 0]).is_err());
        assert_eq!(grid(&[], &[]).rank(&[]).unwrap(), 0);
    }

    #[test]
    fn ahead_is_what_coords_say() {
        let g = grid(&[3, 4, 5], &[0, 1, 0]);
        for rank in 0..g.size() {
            for d in 0..3 {
                let far = [i32::MAX, i32::MIN].map(i64::from);
                for by in [-9, -4, -1, 0, 1, 2, 7, far[0], far[1], -far[1]] {
                    let mut coords = g.coords(rank);
                    // A whole number of rings more or less is nothing on a ring.
                    let by_one_ring = by % i64::from(g.dims[d]);
                    coords[d] += if g.periods[d] {
                        by_one_ring
                    } else {
                        by.clamp(-9, 9)
                    } as i32;
                    let want = g.rank(&coords).ok();
                    assert_eq!(g.ahead(rank, d, by), want, "{rank} {d} {by}");
                }
            }
        }
    }

    #[test]
    fn parts_are_numbered_like_grids() {
        let g = grid(&[2, 3, 4], &[0, 0, 1]);
        let remain = [true, false, true];
        assert_eq!(g.sub(&remain), grid(&[2, 4], &[0, 1]));
        assert_eq!(g.part(g.rank(&[1, 2, 3]).unwrap(), &remain), (2, 7));
    }

    #[test]
    fn grids_too_large_are_refused() {
        assert!(Grid::new(&[2, 3], &[0, 0], 5).is_err());
        assert!(Grid::new(&[1 << 20, 1 << 20], &[0, 0], 5).is_err());
        assert!(Grid::new(&[2, 0], &[0, 0], 5).is_err());
    }
}
