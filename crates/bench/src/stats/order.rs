//! Medians and quantiles, and what order alone says about the true median.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::Interval;

/// The values in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
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

/// By so much an interval may hold the true value less often than asked for, where there are too few values.
const LESS_SURE: f64 = 0.02;

/// Where the true median is, whatever the distribution: between the values that the binomial distribution gives, or, as
/// these are steps, a little within them (Hettmansperger & Sheather 1986). `None` if there are too few values: five are
/// enough for 95 %, of which the least and the greatest hold it in 93.75 % of all cases.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let values = sorted(values);
    let n = values.len();
    let heads = Binomial::new(0.5, n as u64).ok()?;
    // How often it is held if `out` values are left out on either side.
    let held = |out: usize| 1.0 - 2.0 * heads.cdf(out as u64);
    if n == 0 || held(0) < confidence - LESS_SURE {
        return None;
    }
    let outs = (0..n.div_ceil(2)).take_while(|&out| held(out) >= confidence);
    let Some(out) = outs.last() else {
        return Some(Interval {
            low: values[0],
            high: values[n - 1],
        });
    };
    // The share of the way to the next values that keeps the confidence.
    let (wide, narrow) = (held(out), held(out + 1).max(0.0));
    let spare = (wide - confidence) / (wide - narrow);
    let (last, all) = ((out + 1) as f64, n as f64);
    let way = match 2 * (out + 1) < n {
        true => (all - last) * spare / (last + (all - 2.0 * last) * spare),
        false => 0.0,
    };
    let within = |from: f64, to: f64| from + way * (to - from);
    let inner = (out + 1).min(n - 1);
    Some(Interval {
        low: within(values[out], values[inner]),
        high: within(values[n - 1 - out], values[n - 1 - inner]),
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
    /// Computer and Communication Systems (2010), are the widest that it can be; the next ones it is not as narrow as.
    #[test]
    fn the_median_lies_between_the_ranks_of_the_tables() {
        for (n, low, high) in [(6, 1, 6), (8, 1, 8), (10, 2, 9), (20, 6, 15), (70, 27, 44)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let found = median_interval(&values, 0.95).unwrap();
            let (low, high) = (f64::from(low), f64::from(high));
            assert!(low <= found.low && found.low < low + 1.0, "{n}: {found:?}");
            assert!(
                high >= found.high && found.high > high - 1.0,
                "{n}: {found:?}"
            );
        }
        assert_eq!(median_interval(&[1.0; 4], 0.95), None);
        assert_eq!(median_interval(&[], 0.95), None);
        let five = median_interval(&[5.0, 1.0, 3.0, 2.0, 4.0], 0.95).unwrap();
        assert_eq!((five.low, five.high), (1.0, 5.0));
        assert!(median_interval(&[1.0; 5], 0.90).is_some());
    }

    /// About normal: the sum of twelve uniform numbers.
    fn noise(rng: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    /// How often an interval of 95 % holds the truth of cases in which it is known: figures that are normal, skewed, or
    /// have a long tail, and steady ones of which a fifth is disturbed.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        type Draw = fn(&mut fastrand::Rng) -> f64;
        let shapes: [(&str, f64, Draw); 4] = [
            ("normal", 10.0, |rng| 10.0 + noise(rng)),
            ("lognormal", 1.0, |rng| noise(rng).exp()),
            ("long tail", 2.0, |rng| 1.0 / (1.0 - rng.f64())),
            ("disturbed", 1.0, |rng| {
                let spread = if rng.f64() < 0.2 { 1.0 } else { 0.01 };
                1.0 + spread * noise(rng)
            }),
        ];
        const CASES: u32 = 4000;
        let mut rng = fastrand::Rng::with_seed(39);
        for (name, truth, draw) in shapes {
            for n in [5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30] {
                let held = (0..CASES).filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
                    let found = median_interval(&values, 0.95).unwrap();
                    found.low <= truth && truth <= found.high
                });
                let share = held.count() as f64 / f64::from(CASES);
                assert!(
                    (0.93..=0.97).contains(&share),
                    "{name}, {n} launches: {share}"
                );
            }
        }
    }
}
