//! Medians and quantiles, and what order alone says about the true median.

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

/// Where the true median is, whatever the distribution: between two of the values in order, chosen
/// by the binomial distribution, and a way from those to the next ones, as two values hold it
/// either too surely or not surely enough (Hettmansperger & Sheather, Statistics & Probability
/// Letters 4, 1986). Five values hold it in 93.75 % of all cases between the least and the greatest
/// of them: that is near enough to 95 %. `None` if there are too few for that confidence.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    const NEAR_ENOUGH: f64 = 0.0126;
    let values = sorted(values);
    let n = values.len();
    // How surely the median is between the values that have `out` others beyond them on each side.
    let (mut exactly, mut at_most) = (n as f64 * 0.5f64.ln(), 0.0);
    let mut holds = Vec::new();
    for out in 0..n.div_ceil(2) {
        at_most += exactly.exp();
        holds.push(1.0 - 2.0 * at_most);
        exactly += ((n - out) as f64 / (out + 1) as f64).ln();
    }
    if *holds.first()? < confidence - NEAR_ENOUGH {
        return None;
    }
    let sure = holds.iter().take_while(|&&h| h >= confidence).count();
    if sure == 0 || sure == holds.len() {
        return Some(Interval {
            low: values[sure.saturating_sub(1)],
            high: values[n - sure.max(1)],
        });
    }
    let out = sure - 1;
    let too_sure = (holds[out] - confidence) / (holds[out] - holds[out + 1]);
    let (outer, inner) = ((out + 1) as f64, (n - out - 1) as f64);
    let way = inner * too_sure / (outer + (inner - outer) * too_sure);
    let between = |outer: f64, inner: f64| outer + way * (inner - outer);
    Some(Interval {
        low: between(values[out], values[out + 1]),
        high: between(values[n - 1 - out], values[n - 2 - out]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

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
    /// Computer and Communication Systems (2010): the interval is between those and the next ones.
    #[test]
    fn the_median_lies_between_the_ranks_of_the_tables() {
        for (n, low, high) in [(6, 1, 6), (8, 1, 8), (10, 2, 9), (20, 6, 15), (70, 27, 44)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let found = median_interval(&values, 0.95).unwrap();
            let (below, above) = (found.low - f64::from(low), f64::from(high) - found.high);
            assert!(
                (0.0..1.0).contains(&below) && (below - above).abs() < 1e-9,
                "{n}: {found:?}"
            );
        }
        let five = [3.0, 1.0, 2.0, 5.0, 4.0];
        let all = Interval {
            low: 1.0,
            high: 5.0,
        };
        assert_eq!(median_interval(&five, 0.95), Some(all));
        assert_eq!(median_interval(&five, 0.99), None);
        assert_eq!(median_interval(&five[1..], 0.95), None);
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(
            median_interval(&[2.5; 7], 0.95),
            Some(Interval {
                low: 2.5,
                high: 2.5
            })
        );
    }

    /// Of many samples the interval holds the true median in as many as it says, whatever they are
    /// drawn from.
    #[test]
    fn the_interval_holds_the_median_as_often_as_it_says() {
        const SAMPLES: u32 = 4000;
        let normal = Normal::standard();
        type Law<'a> = (&'a str, f64, &'a dyn Fn(f64) -> f64);
        let laws: [Law; 4] = [
            ("normal", 0.0, &|u| normal.inverse_cdf(u)),
            ("lognormal", 1.0, &|u| normal.inverse_cdf(u).exp()),
            // One launch in five is hit by something, and takes up to a hundred times as long.
            ("heavy tail", 1.0, &|u| {
                if u < 0.5 {
                    0.5 + u
                } else {
                    (2.0 * (1.0 - u)).powf(-1.2)
                }
            }),
            ("two states, unlike", 0.5 / 0.7, &|u| {
                if u < 0.7 { u / 0.7 } else { 3.0 + u }
            }),
        ];
        let mut rng = fastrand::Rng::with_seed(39);
        for n in [5, 6, 7, 8, 10, 12, 15, 20, 30] {
            for (name, truth, law) in laws {
                let held = (0..SAMPLES).filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| law(rng.f64().max(1e-12))).collect();
                    median_interval(&values, 0.95)
                        .is_some_and(|i| i.low <= truth && truth <= i.high)
                });
                let share = held.count() as f64 / f64::from(SAMPLES);
                assert!((0.93..0.975).contains(&share), "{name}, {n}: {share}");
            }
        }
    }
}
