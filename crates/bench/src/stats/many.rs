//! Many questions at once.

/// Adjusts the p-values of many tests so that, of those at most α, no more than the share α are
/// false alarms (Benjamini & Hochberg 1995); where nothing differs, the chance of any alarm is α.
///
/// Not Holm's correction, which keeps the chance of even one false alarm at α also where much
/// differs: in a table of a thousand rows it asks for ten launches of everything before it says a
/// word. It holds for tests that are independent or tend to err alike, as those of one launch do.
pub fn adjusted(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 1.0;
    for (above, &i) in order.iter().enumerate() {
        let rank = p.len() - above;
        least = least.min(p[i] * p.len() as f64 / rank as f64);
        adjusted[i] = least;
    }
    adjusted
}

/// The greatest p-value that would be significant at `alpha` beside all of `p`.
pub fn reach(p: &[f64], alpha: f64) -> f64 {
    let found = adjusted(p).iter().filter(|p| **p <= alpha).count();
    let next = (found + 1).min(p.len().max(1));
    alpha * next as f64 / p.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `p.adjust(p, "BH")` of R.
    #[test]
    fn adjusted_as_r_does() {
        let close = |p: &[f64], expected: &[f64]| {
            let found = adjusted(p);
            let near = found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(near && found.len() == expected.len(), "{found:?}");
        };
        close(&[0.01, 0.02, 0.03, 0.04, 0.05], &[0.05; 5]);
        close(&[0.04, 0.001, 0.2, 0.01], &[0.16 / 3.0, 0.004, 0.2, 0.02]);
        close(&[0.6, 0.7], &[0.7, 0.7]);
        close(&[], &[]);
    }

    #[test]
    fn what_is_found_makes_more_of_the_same_significant() {
        assert_eq!(reach(&[0.5, 0.6, 0.7, 0.8], 0.04), 0.01);
        assert_eq!(reach(&[0.001, 0.002, 0.7, 0.8], 0.04), 0.03);
        assert_eq!(reach(&[], 0.04), 0.04);
    }
}
