//! What numbers mean. Nothing here reads, prints or knows MPI.
//!
//! The unit of evidence is the **launch**: repetitions within one share its memory, its cores and
//! its luck, so a launch gives one number, the median of its repetitions, and intervals and tests
//! are about those (Hunold & Carpen-Amarie, IEEE TPDS 2016).
//!
//! | module  | what it answers                                                     |
//! |---------|---------------------------------------------------------------------|
//! | `order` | medians, quantiles, and where the true median is                    |
//! | `rank`  | whether two groups differ, by how much, and how surely              |
//! | `many`  | the same for many questions at once                                 |
//! | `modes` | whether values have two states, and where the gap is                |

mod interval;
mod many;
mod modes;
mod order;
mod rank;

pub use interval::Interval;
pub use many::{adjusted, reach};
pub use modes::{Modes, far_out, modes};
pub use order::{median, median_interval, quantile, sorted};
pub use rank::{RankSum, Stratum, least_p, rank_sum};

/// Whether the median of the launches is known to `precision` (0.02: two per cent to either side).
pub fn precise(launches: &[f64], confidence: f64, precision: f64) -> bool {
    median_interval(launches, confidence)
        .is_some_and(|i| i.relative_half_width(median(launches)) <= precision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precise_enough_is_about_half_the_width() {
        let quiet = [10.0, 10.1, 9.9, 10.05, 9.95];
        assert!(precise(&quiet, 0.95, 0.02));
        assert!(!precise(&quiet, 0.95, 0.002));
        assert!(!precise(&[10.0, 15.0, 9.0, 30.0, 10.0], 0.95, 0.02));
        assert!(
            !precise(&[3.0; 4], 0.95, 0.02),
            "four launches have no interval"
        );
        assert!(precise(&[3.0; 5], 0.95, 0.0));
    }
}
