//! Medians and quantiles, and what order alone says about the true median.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::Interval;

/// The values in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// The arithmetic mean; NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median; NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    quantile(&sorted(values), 0.5)
}

/// The `p`-quantile of values in ascending order, linear between two of them (type 7 of Hyndman &
/// Fan 1996, the default of R and NumPy); NaN of nothing.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// Where the true median is, whatever the distribution: between two of the values, chosen by the
/// binomial distribution. `None` if there are too few for that confidence (six for 95 %).
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let values = sorted(values);
    let n = values.len();
    let heads = Binomial::new(0.5, n as u64).ok()?;
    let outside = (1.0 - confidence) / 2.0;
    // The most values that can be left out on either side.
    let out = (0..n.div_ceil(2)).take_while(|&k| heads.cdf(k as u64) <= outside);
    let out = out.count().checked_sub(1)?;
    Some(Interval {
        low: values[out],
        high: values[n - 1 - out],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_as_r_and_numpy_give_them() {
        // numpy.quantile([1, 2, 4, 8, 16], [0, .1, .25, .5, .9, .99, 1])
        let values = sorted(&[16.0, 1.0, 8.0, 2.0, 4.0]);
        let expected = [
            (0.0, 1.0),
            (0.1, 1.4),
            (0.25, 2.0),
            (0.5, 4.0),
            (0.9, 12.8),
            (0.99, 15.68),
            (1.0, 16.0),
        ];
        for (p, q) in expected {
            assert!((quantile(&values, p) - q).abs() < 1e-12, "{p}");
        }
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    /// The ranks of the usual tables, such as table A.1 of Le Boudec, Performance Evaluation of
    /// Computer and Communication Systems (2010).
    #[test]
    fn the_median_lies_between_the_ranks_of_the_tables() {
        for (n, low, high) in [(6, 1, 6), (8, 1, 8), (10, 2, 9), (20, 6, 15), (70, 27, 44)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let expected = Interval {
                low: f64::from(low),
                high: f64::from(high),
            };
            assert_eq!(median_interval(&values, 0.95), Some(expected), "{n}");
        }
        assert_eq!(median_interval(&[1.0; 5], 0.95), None);
        assert_eq!(median_interval(&[], 0.95), None);
        assert!(median_interval(&[1.0; 5], 0.90).is_some());
    }
}
