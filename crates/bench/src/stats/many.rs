//! Many questions at once.

/// Adjusts the p-values of many tests so that the chance of even one false alarm among all of them
/// stays what it is for one (Holm 1979).
///
/// Holm's and not Benjamini and Hochberg's correction, because a table of which no row may be a
/// false alarm is what a regression test needs, also when other rows truly differ. It assumes
/// nothing about how the tests depend on each other.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut most: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        most = most.max(p[i] * (p.len() - rank) as f64).min(1.0);
        adjusted[i] = most;
    }
    adjusted
}

/// In how many tests at once a p-value as small as `least` can still be significant at `alpha`.
pub fn holm_reach(least: f64, alpha: f64) -> usize {
    (alpha / least) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `p.adjust(p, "holm")` of R.
    #[test]
    fn adjusted_as_r_does() {
        let close = |p: &[f64], expected: &[f64]| {
            let found = holm(p);
            let near = found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(near && found.len() == expected.len(), "{found:?}");
        };
        close(
            &[0.01, 0.02, 0.03, 0.04, 0.05],
            &[0.05, 0.08, 0.09, 0.09, 0.09],
        );
        close(&[0.04, 0.001, 0.2, 0.01], &[0.08, 0.004, 0.2, 0.03]);
        close(&[0.6, 0.7], &[1.0, 1.0]);
        close(&[], &[]);
    }

    #[test]
    fn few_launches_reach_few_rows() {
        assert_eq!(holm_reach(2.0 / 252.0, 0.05), 6);
        assert_eq!(holm_reach(2.0 / 20.0, 0.05), 0);
    }
}
