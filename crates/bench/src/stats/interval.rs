//! Ranges that hold a true value.

use serde::{Deserialize, Serialize};

/// A range that holds the true value with the confidence asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Half its width as a share of `centre`.
    pub fn relative_half_width(self, centre: f64) -> f64 {
        (self.high - self.low) / 2.0 / centre.abs()
    }
}
