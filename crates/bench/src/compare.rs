//! Which variant is better, and how sure that is.

use serde::{Serialize, Serializer};

use crate::figures::{Figure, Figures};
use crate::raw::Plan;
use crate::record::Better;
use crate::stats::{Interval, RankSum, Stratum, adjusted, least_p, rank_sum, reach};

/// The first variant next to another one, in one figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Index of the figure.
    pub figure: usize,
    /// Index of the other variant.
    pub other: usize,
    /// The first one's value as a share of the other's; or, of percentages, their difference.
    pub ratio: f64,
    /// Where the true ratio is.
    pub interval: Option<Interval>,
    /// Chance of a false alarm, corrected for the number of comparisons.
    pub p: f64,
    /// Effect size: see [`RankSum::delta`].
    pub delta: f64,
    /// What it comes to.
    pub verdict: Verdict,
}

/// Two that differ by less than this share, as far as the interval tells, are no different.
pub const ALIKE: f64 = 0.05;

/// What a comparison comes to, for the first variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The variant is better.
    Better,
    /// The variant is worse.
    Worse,
    /// No difference, or none that matters: see [`ALIKE`].
    Same,
    /// More launches are needed to tell.
    Open,
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.words())
    }
}

impl Verdict {
    /// In words, after "the first one is".
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Same => "no different",
            Verdict::Open => "unknown",
        }
    }

    /// The mark of a cell of the grid.
    pub fn mark(self) -> char {
        match self {
            Verdict::Better => '+',
            Verdict::Worse => '!',
            Verdict::Same => '=',
            Verdict::Open => '?',
        }
    }
}

/// Compares the first variant with each of the others, wherever both were measured.
pub fn compare(plan: &Plan, figures: &Figures) -> Vec<Comparison> {
    let mut tests = Vec::new();
    for (index, figure) in figures.figures.iter().enumerate() {
        for other in 1..plan.variants.len() {
            let strata = figure.strata(0, other);
            if let Some(test) = rank_sum(&strata, plan.confidence) {
                // The ratio is that of the medians that are shown beside it, where there is one.
                let shown = rank_sum(&figure.main_strata(0, other), plan.confidence);
                let shown = shown.unwrap_or(test);
                tests.push((index, other, least(&strata), test, shown));
            }
        }
    }
    let alone: Vec<f64> = tests.iter().map(|(.., test, _)| test.p).collect();
    let alpha = 1.0 - plan.confidence;
    let reach = reach(&alone, alpha);
    tests
        .into_iter()
        .zip(adjusted(&alone))
        .map(|((index, other, least, test, shown), p)| {
            let figure = &figures.figures[index];
            let agree = test.shift * shown.shift >= 0.0;
            let verdict = match p <= alpha {
                // One is better in one state of the machine, and the other in the other.
                true if !agree => Verdict::Open,
                true => sure(figure, &test, plan.margin),
                false if least > reach || !alike(figure, &shown) => Verdict::Open,
                false => Verdict::Same,
            };
            let told = |v: f64| if figure.in_points() { v } else { v.exp() };
            Comparison {
                figure: index,
                other,
                ratio: told(shown.shift),
                interval: shown.interval.map(|i| Interval {
                    low: told(i.low),
                    high: told(i.high),
                }),
                p,
                delta: test.delta,
                verdict,
            }
        })
        .collect()
}

/// The verdict if there is a difference: which one, unless it is too small to matter.
fn sure(figure: &Figure, test: &RankSum, margin: f64) -> Verdict {
    let size = match figure.in_points() {
        true => test.shift.abs() / 100.0,
        false => test.shift.abs().exp() - 1.0,
    };
    if size < margin {
        return Verdict::Same;
    }
    match (figure.better, test.shift < 0.0) {
        (Better::Less, true) | (Better::More, false) => Verdict::Better,
        _ => Verdict::Worse,
    }
}

/// Whether a difference that may be there would be a small one.
fn alike(figure: &Figure, test: &RankSum) -> bool {
    let most = match figure.in_points() {
        true => 100.0 * ALIKE,
        false => ALIKE.ln_1p(),
    };
    let within = |i: Interval| -most <= i.low && i.high <= most;
    test.interval.is_some_and(within)
}

/// The smallest p-value that a given number of launches can yield.
fn least(strata: &[Stratum]) -> f64 {
    let each = strata
        .iter()
        .filter(|(a, b)| !a.is_empty() && !b.is_empty());
    2.0 * each
        .map(|(a, b)| least_p(a.len(), b.len()) / 2.0)
        .product::<f64>()
}

/// How many launches of each variant could find the only difference among a given number of
/// comparisons.
pub fn launches_needed(comparisons: usize, confidence: f64) -> usize {
    let reach = (1.0 - confidence) / comparisons.max(1) as f64;
    (2..)
        .find(|&n| least_p(n, n) <= reach)
        .unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::{launch, sample};
    use crate::raw::tests::header;
    use crate::raw::{self, Launch, Run};
    use crate::record::Record;
    use std::path::Path;

    /// So many launches of each of two variants, whose figure `i` the second has `factor(i)` times.
    fn launches(rng: &mut fastrand::Rng, each: u32, factors: &[f64]) -> Vec<Launch> {
        let mut all = Vec::new();
        for number in 0..2 * each {
            let variant = number as usize % 2;
            // A launch has luck of its own, larger than the noise within.
            let luck = 1.0 + 0.02 * (rng.f64() - 0.5);
            let records = factors.iter().enumerate().map(|(i, factor)| {
                let factor = if variant == 1 { *factor } else { 1.0 };
                let values: Vec<f64> = (0..11)
                    .map(|_| factor * luck * (1.0 + 0.02 * rng.f64()))
                    .collect();
                sample("latency", 8 << i, &values, 0.0)
            });
            all.push(launch(number, variant, records.collect()));
        }
        all
    }

    #[test]
    fn what_is_five_per_cent_slower_is_found() {
        let plan = header(&["a", "b"]).plan;
        let mut rng = fastrand::Rng::with_seed(3);
        let launches = launches(&mut rng, 10, &[1.0, 1.05, 0.95, 1.001]);
        let figures = Figures::of(&plan, &launches);
        let verdicts: Vec<_> = compare(&plan, &figures).iter().map(|c| c.verdict).collect();
        use Verdict::{Better, Same, Worse};
        assert_eq!(verdicts, [Same, Better, Worse, Same]);
        let found = &compare(&plan, &figures)[1];
        let interval = found.interval.unwrap();
        assert!(
            interval.low < 1.0 / 1.05 && 1.0 / 1.05 < interval.high,
            "{found:?}"
        );
        assert!(found.delta < -0.9);
    }

    /// The whole chain, a thousand times with two variants that are the same: at most one table in
    /// twenty may have any verdict.
    #[test]
    fn tables_of_equals_raise_no_alarm() {
        let mut plan = header(&["a", "b"]).plan;
        plan.margin = 0.0;
        let mut rng = fastrand::Rng::with_seed(4);
        let alarms = (0..1000).filter(|_| {
            let launches = launches(&mut rng, 8, &[1.0; 12]);
            let figures = Figures::of(&plan, &launches);
            let all = compare(&plan, &figures);
            all.iter()
                .any(|c| matches!(c.verdict, Verdict::Better | Verdict::Worse))
        });
        let alarms = alarms.count();
        assert!(alarms <= 50, "{alarms} of 1000");
    }

    /// 120 launches of one library that was compared with itself, on a virtual machine with two
    /// cores: of each launch the median of four figures.
    fn real() -> Run {
        raw::read(Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/equals.jsonl"
        )))
        .unwrap()
    }

    /// So many launches of each variant, drawn from those of a run whichever variant they were.
    fn drawn(run: &Run, rng: &mut fastrand::Rng, each: usize) -> Vec<Launch> {
        let mut launches = run.launches.clone();
        rng.shuffle(&mut launches);
        launches.truncate(2 * each);
        for (i, launch) in launches.iter_mut().enumerate() {
            launch.begin.variant = i % 2;
        }
        launches
    }

    #[test]
    fn real_equals_raise_no_alarm() {
        let mut run = real();
        run.plan.margin = 0.0;
        let plan = &run.plan;
        assert_eq!(run.launches.len(), 120);
        let mut rng = fastrand::Rng::with_seed(6);
        let alarms = (0..1000).filter(|_| {
            let launches = drawn(&run, &mut rng, 10);
            let all = compare(plan, &Figures::of(plan, &launches));
            assert_eq!(all.len(), 4);
            let alarm = |c: &Comparison| matches!(c.verdict, Verdict::Better | Verdict::Worse);
            all.iter().any(alarm)
        });
        let alarms = alarms.count();
        assert!(alarms <= 50, "{alarms} of 1000");
    }

    /// In real values of a quiet figure, and in no other.
    #[test]
    fn five_per_cent_more_are_found_in_real_values() {
        let run = real();
        let plan = &run.plan;
        let mut rng = fastrand::Rng::with_seed(7);
        let found = (0..60).filter(|_| {
            let mut launches = drawn(&run, &mut rng, 25);
            let slower = launches.iter_mut().filter(|l| l.begin.variant == 0);
            for record in slower.flat_map(|l| &mut l.records) {
                match record {
                    Record::Samples(s) if s.bench == "latency" && s.size == 65536 => {
                        s.values[0] *= 1.05;
                    }
                    _ => {}
                }
            }
            let figures = Figures::of(plan, &launches);
            let worse = |c: &Comparison| c.verdict == Verdict::Worse;
            compare(plan, &figures)
                .iter()
                .filter(|c| worse(c))
                .any(|c| {
                    let key = &figures.figures[c.figure].key;
                    (key.bench.as_str(), key.size) == ("latency", 65536)
                })
        });
        let found = found.count();
        assert!(found >= 57, "{found} of 60");
    }

    /// Most launches were in one state of the machine; the ratio is that of their medians, which
    /// are shown, whatever it is in the other state.
    #[test]
    fn ratios_are_of_the_medians_beside_them() {
        let plan = header(&["a", "b"]).plan;
        let run = |far_ratio: f64| -> Vec<Launch> {
            let one = |i: u32| {
                let (far, variant) = (i % 8 >= 6, i as usize % 2);
                let (of_b, line) = if far { (3.0, 155.0) } else { (2.0, 40.0) };
                let ratio = if far { far_ratio } else { 0.5 };
                let value = if variant == 0 { ratio * of_b } else { of_b };
                let value = value * (1.0 + f64::from(i) / 1000.0);
                launch(i, variant, vec![sample("latency", 8, &[value], line)])
            };
            (0..64).map(one).collect()
        };
        let launches = run(0.9);
        let all = Figures::of(&plan, &launches);
        let found = &compare(&plan, &all)[0];
        let medians = [0, 1].map(|v| all.figures[0].summary(v, 0.95).unwrap().median);
        assert!(
            (found.ratio - medians[0] / medians[1]).abs() < 0.01,
            "{found:?}"
        );
        assert_eq!(found.verdict, Verdict::Better);
        let launches = run(9.0);
        let all = Figures::of(&plan, &launches);
        let found = &compare(&plan, &all)[0];
        assert!((found.ratio - 0.5).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn what_is_noisy_is_not_called_equal() {
        let plan = header(&["a", "b"]).plan;
        let launches: Vec<Launch> = (0..16)
            .map(|i| {
                let value = 1.0 + 0.1 * f64::from(i / 2);
                launch(i, i as usize % 2, vec![sample("latency", 8, &[value], 0.0)])
            })
            .collect();
        let found = compare(&plan, &Figures::of(&plan, &launches));
        assert_eq!(found[0].verdict, Verdict::Open, "{found:?}");
    }

    #[test]
    fn too_few_launches_say_so() {
        let plan = header(&["a", "b"]).plan;
        let mut rng = fastrand::Rng::with_seed(5);
        let launches = launches(&mut rng, 3, &[2.0]);
        let figures = Figures::of(&plan, &launches);
        assert_eq!(compare(&plan, &figures)[0].verdict, Verdict::Open);
        assert_eq!(launches_needed(1, 0.95), 4);
        assert_eq!(launches_needed(6, 0.95), 5);
        assert_eq!(launches_needed(3000, 0.95), 10);
    }
}
