//! Values that are not of one kind: two states, and values far out.

use super::{quantile, sorted};

/// Two states that values fall into, with a gap between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// The middle of the lower ones.
    pub low: f64,
    /// The middle of the higher ones.
    pub high: f64,
    /// What separates them.
    pub boundary: f64,
    /// Share of the values that are higher.
    pub share: f64,
}

/// Fewest values of which two states can be told.
const FEWEST: usize = 10;

/// The gap between the states, next to the distance of their middles; the halves of a normal
/// distribution have 0.2.
const GAP: f64 = 0.6;

/// Looks for two states whose middles differ at least by the factor `apart`, each with a twentieth
/// of the values, and four. Nine tenths of each lie on their side of a gap (in logarithms), so
/// single values in between or far out do not matter. Values that are not above 0 are ignored.
pub fn modes(values: &[f64], apart: f64) -> Option<Modes> {
    let positive: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
    let values = sorted(&positive);
    if values.len() < FEWEST {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let fewest = (logs.len() / 20).max(4);
    let gap_at = |cut: usize| {
        let (low, high) = logs.split_at(cut);
        let middles = quantile(high, 0.5) - quantile(low, 0.5);
        let gap = quantile(high, 0.1) - quantile(low, 0.9);
        (gap / middles, middles)
    };
    let told = (fewest..=logs.len() - fewest).filter(|&cut| {
        let (gap, middles) = gap_at(cut);
        middles >= apart.ln() && gap >= GAP
    });
    let step = |cut: usize| logs[cut] - logs[cut - 1];
    let cut = told.max_by(|&x, &y| step(x).total_cmp(&step(y)))?;
    let (low, high) = values.split_at(cut);
    Some(Modes {
        low: quantile(low, 0.5),
        high: quantile(high, 0.5),
        boundary: (low[low.len() - 1] * high[0]).sqrt(),
        share: high.len() as f64 / values.len() as f64,
    })
}

/// The share of the values that are far out: above the third quartile by more than three times the
/// distance of the quartiles (Tukey 1977).
pub fn far_out(values: &[f64]) -> f64 {
    let values = sorted(values);
    let (first, third) = (quantile(&values, 0.25), quantile(&values, 0.75));
    let fence = third + 3.0 * (third - first);
    values.iter().filter(|v| **v > fence).count() as f64 / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// About normal: the sum of twelve uniform numbers.
    fn noise(rng: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    #[test]
    fn two_distances_of_cores_are_told_apart() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut near: Vec<f64> = (0..60).map(|_| 40.0 + 2.0 * noise(&mut rng)).collect();
        let far = (0..30).map(|_| 155.0 + 9.0 * noise(&mut rng));
        near.extend(far);
        near.extend([900.0, 0.0, 88.0]);
        let found = modes(&near, 1.5).unwrap();
        assert!(
            (found.low - 40.0).abs() < 1.0 && (found.high - 155.0).abs() < 5.0,
            "{found:?}"
        );
        assert!(found.boundary > 50.0 && found.boundary < 140.0);
        assert!((found.share - 0.34).abs() < 0.02);
        assert_eq!(modes(&near, 6.0), None, "not so far apart");
        let alike = [[40.0; 5], [155.0; 5]].concat();
        assert_eq!(modes(&alike, 1.5).map(|m| m.share), Some(0.5));
        assert_eq!(modes(&[1.0, 2.0], 1.5), None);
    }

    #[test]
    fn one_state_is_seldom_taken_for_two() {
        let mut rng = fastrand::Rng::with_seed(2);
        for shape in 0..3 {
            let mut wrong = 0;
            for _ in 0..1000 {
                let draw = |_| match shape {
                    0 => (0.2 * noise(&mut rng)).exp(),
                    1 => 1.0 + rng.f64(),
                    _ => 1.0 - rng.f64().ln(),
                };
                let values: Vec<f64> = (0..40).map(draw).collect();
                wrong += usize::from(modes(&values, 1.25).is_some());
            }
            assert!(wrong < 20, "shape {shape}: {wrong} of 1000");
        }
    }

    #[test]
    fn values_far_out_are_counted() {
        let mut values: Vec<f64> = (0..99).map(|i| 10.0 + f64::from(i % 5)).collect();
        assert_eq!(far_out(&values), 0.0);
        values.push(80.0);
        assert_eq!(far_out(&values), 0.01);
        assert_eq!(far_out(&[]), 0.0);
    }
}
