//! Guidelines: an operation must not take longer than others that do its work.
//!
//! After Träff, Gropp and Thakur, Self-Consistent MPI Performance Guidelines (IEEE TPDS 2010), and
//! PGMPITuneLib of Hunold and Carpen-Amarie. What a mock-up takes is the sum of its parts as they
//! were measured by themselves in the same launch, so a guideline that is broken says where to
//! look. Of a rate what counts is the time that a byte takes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::figures::{Figure, Figures, Point};
use crate::place::RunPlace;
use crate::raw::Plan;
use crate::record::Better;
use crate::show;
use crate::stats::{Stratum, adjusted, rank_sum};

use Scale::{Each, Half, Same, Share, Smallest};

/// The size of a part, where that of the collective is `n` and there are `p` ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// n
    Same,
    /// p n: what all blocks have together.
    Each,
    /// n / p: one of the blocks.
    Share,
    /// n / 2
    Half,
    /// The smallest that was measured.
    Smallest,
}

/// The operation, and the parts of a mock-up of it.
type Guideline = (&'static str, &'static [(&'static str, Scale)]);

/// All of them. Sizes are of blocks where there is one for each rank, but of the vector where a
/// reduction is dealt out.
const GUIDELINES: &[Guideline] = &[
    ("barrier", &[("allreduce", Smallest)]),
    ("bcast", &[("scatter", Share), ("allgather", Share)]),
    ("gather", &[("allgather", Same)]),
    ("gather", &[("gatherv", Same)]),
    ("gather", &[("reduce", Each)]),
    ("gatherv", &[("allgatherv", Same)]),
    ("scatter", &[("bcast", Each)]),
    ("scatter", &[("scatterv", Same)]),
    ("scatterv", &[("bcast", Each)]),
    ("allgather", &[("gather", Same), ("bcast", Each)]),
    ("allgather", &[("allgatherv", Same)]),
    ("allgather", &[("alltoall", Same)]),
    ("allgather", &[("allreduce", Each)]),
    ("allgatherv", &[("gatherv", Same), ("bcast", Each)]),
    ("alltoall", &[("alltoallv", Same)]),
    ("alltoallv", &[("alltoallw", Same)]),
    ("reduce", &[("allreduce", Same)]),
    (
        "reduce",
        &[("reduce_scatter_block", Same), ("gather", Share)],
    ),
    ("allreduce", &[("reduce", Same), ("bcast", Same)]),
    (
        "allreduce",
        &[("reduce_scatter_block", Same), ("allgather", Share)],
    ),
    (
        "reduce_scatter_block",
        &[("reduce", Same), ("scatter", Share)],
    ),
    ("reduce_scatter_block", &[("allreduce", Same)]),
    ("reduce_scatter_block", &[("reduce_scatter", Same)]),
    ("reduce_scatter", &[("reduce", Same), ("scatterv", Share)]),
    ("reduce_scatter", &[("allreduce", Same)]),
    ("scan", &[("exscan", Same), ("reduce_local", Same)]),
    ("spawn_latency", &[("latency", Same)]),
    ("spawn_bandwidth", &[("bandwidth", Same)]),
];

/// Sizes for which collectives are measured unless others are asked for.
const SIZES: [u64; 6] = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10];

/// A guideline at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// Index of the variant.
    pub variant: usize,
    /// Where.
    #[serde(flatten)]
    pub place: RunPlace,
    /// The operation with its size.
    pub collective: String,
    /// The mock-up.
    pub mock: String,
    /// How many times as long as the mock-up it takes.
    pub ratio: f64,
    /// Chance of a false alarm, corrected for the number of guidelines.
    pub p: f64,
    /// Whether it is broken.
    pub broken: bool,
}

/// The benchmarks that the guidelines are about.
pub fn names() -> Vec<String> {
    let parts = GUIDELINES
        .iter()
        .flat_map(|(_, parts)| parts.iter().map(|(part, _)| *part));
    let all: BTreeSet<&str> = GUIDELINES
        .iter()
        .map(|(name, _)| *name)
        .chain(parts)
        .collect();
    all.into_iter().map(String::from).collect()
}

/// The option that has sizes measured with which mock-ups for a number of ranks can be put
/// together.
pub fn sizes(ranks: &[u32]) -> [String; 2] {
    let all = ranks.iter().flat_map(|&p| SIZES.map(|n| n * u64::from(p)));
    let all: BTreeSet<u64> = all.chain(SIZES).collect();
    let all: Vec<String> = all.into_iter().map(|n| n.to_string()).collect();
    ["--sizes".to_string(), all.join(",")]
}

/// Checks all guidelines wherever their parts were measured, and that nothing of which a time is
/// known takes longer than twice its half, nor than with the next size.
pub fn check(plan: &Plan, all: &Figures) -> Vec<Checked> {
    let figures: BTreeMap<(&RunPlace, &str, u64), &Figure> = all
        .figures
        .iter()
        .filter(|f| f.unit != "%" && f.key.datatype.is_none())
        .map(|f| ((&f.key.place, f.key.bench.as_str(), f.key.size), f))
        .collect();
    let mut found = Vec::new();
    for (&(place, bench, size), figure) in &figures {
        let of_bench = figures
            .keys()
            .filter(|(p, b, _)| (*p, *b) == (place, bench));
        let next = of_bench.map(|(.., n)| *n).filter(|n| *n > size).min();
        let mut mocks: Vec<Vec<&Figure>> = GUIDELINES
            .iter()
            .filter(|(name, _)| *name == bench)
            .filter_map(|(_, parts)| {
                let parts = parts.iter();
                parts
                    .map(|&(part, scale)| part_of(&figures, (place, part), size, scale))
                    .collect()
            })
            .collect();
        if figure.better == Better::Less {
            mocks.extend(next.map(|next| vec![figures[&(place, bench, next)]]));
            let half = part_of(&figures, (place, bench), size, Half);
            mocks.extend(half.map(|half| vec![half, half]));
        }
        for mock in &mocks {
            for variant in 0..plan.variants.len() {
                let strata = strata(figure, mock, variant);
                let Some(test) = rank_sum(&strata, plan.confidence) else {
                    continue;
                };
                found.push(Checked {
                    variant,
                    place: place.clone(),
                    collective: named(figure),
                    mock: mock
                        .iter()
                        .map(|f| named(f))
                        .collect::<Vec<_>>()
                        .join(" + "),
                    ratio: test.shift.exp(),
                    p: test.p,
                    broken: false,
                });
            }
        }
    }
    let adjusted = adjusted(&found.iter().map(|c| c.p).collect::<Vec<_>>());
    for (checked, p) in found.iter_mut().zip(adjusted) {
        checked.p = p;
        checked.broken = p <= 1.0 - plan.confidence && checked.ratio > 1.0 + plan.margin;
    }
    found.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    found
}

/// What was found, the worst first.
pub fn text(plan: &Plan, found: &[Checked]) -> String {
    let broken: Vec<&Checked> = found.iter().filter(|c| c.broken).collect();
    let rows: Vec<Vec<String>> = broken
        .iter()
        .map(|c| {
            vec![
                plan.variants[c.variant].name.clone(),
                c.place.to_string(),
                show::digits(c.ratio),
                show::chance(c.p),
                format!("{} > {}", c.collective, c.mock),
            ]
        })
        .collect();
    let head = ["variant", "where", "times", "p", "guideline that is broken"];
    let table = match rows.is_empty() {
        true => String::new(),
        false => show::columns(&head, &rows),
    };
    let count = broken.len();
    format!("{table}{count} of {} guidelines are broken\n", found.len())
}

fn part_of<'a>(
    figures: &BTreeMap<(&RunPlace, &str, u64), &'a Figure<'a>>,
    (place, part): (&RunPlace, &str),
    size: u64,
    scale: Scale,
) -> Option<&'a Figure<'a>> {
    let p = u64::from(place.ranks);
    let whole = |by: u64| (size > 0 && size.is_multiple_of(by)).then_some(size / by);
    let size = match scale {
        Same => size,
        Each => size * p,
        Share => whole(p)?,
        Half => whole(2)?,
        Smallest => {
            let of_part = figures
                .keys()
                .filter(|(at, b, _)| (*at, *b) == (place, part));
            of_part.map(|(.., n)| *n).min()?
        }
    };
    figures.get(&(place, part, size)).copied()
}

/// What a value takes of the user's time: that of an operation, or of a byte or message.
fn cost(figure: &Figure, value: f64) -> f64 {
    match figure.better {
        Better::Less => value,
        Better::More => 1.0 / value,
    }
}

/// Logarithms of what the operation and the mock-up took, by states of the machine; launches that
/// have measured all of it.
fn strata(figure: &Figure, mock: &[&Figure], variant: usize) -> Vec<Stratum> {
    let mut strata = vec![Stratum::default(), Stratum::default()];
    for point in &figure.points[variant] {
        let Some(state) = point.state else { continue };
        let in_launch = |part: &&Figure| {
            let same = |p: &&Point| (p.launch, p.state) == (point.launch, point.state);
            let found = part.points[variant].iter().find(same);
            found.map(|p| cost(part, p.median))
        };
        let parts: Option<f64> = mock.iter().map(in_launch).sum();
        if let Some(sum) = parts.filter(|sum| *sum > 0.0 && point.median > 0.0) {
            strata[state].0.push(cost(figure, point.median).ln());
            strata[state].1.push(sum.ln());
        }
    }
    strata
}

fn named(figure: &Figure) -> String {
    let named = format!("{} {}", figure.key.bench, figure.size());
    named.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::{launch, sample};
    use crate::raw::Launch;
    use crate::raw::tests::header;
    use crate::record::Record;

    fn launches(allreduce: f64) -> Vec<Launch> {
        let one = |i: u32| {
            let luck = 1.0 + f64::from(i * 7 % 12) / 1000.0;
            let took = [
                ("reduce", 64, 1.0),
                ("bcast", 64, 1.0),
                ("allreduce", 8, 0.9),
                ("allreduce", 64, allreduce),
                ("barrier", 0, 0.5),
            ];
            let records = took.map(|(name, size, t)| sample(name, size, &[t * luck], 0.0));
            launch(i, 0, records.to_vec())
        };
        (0..12).map(one).collect()
    }

    #[test]
    fn a_collective_that_loses_to_its_mock_up_is_listed() {
        let plan = header(&["a"]).plan;
        let launches = launches(2.2);
        let all = Figures::of(&plan, &launches);
        let found = check(&plan, &all);
        let broken: Vec<_> = found.iter().filter(|c| c.broken).collect();
        assert_eq!(broken.len(), 1, "{found:?}");
        assert_eq!(broken[0].collective, "allreduce 64 B");
        assert_eq!(broken[0].mock, "reduce 64 B + bcast 64 B");
        assert!((broken[0].ratio - 1.1).abs() < 0.01);
        let text = text(&plan, &found);
        assert!(
            text.contains("allreduce 64 B > reduce 64 B + bcast 64 B"),
            "{text}"
        );
        assert!(text.ends_with("1 of 4 guidelines are broken\n"), "{text}");
    }

    #[test]
    fn what_holds_is_not_listed() {
        let plan = header(&["a"]).plan;
        let launches = launches(1.9);
        let found = check(&plan, &Figures::of(&plan, &launches));
        assert!(found.iter().all(|c| !c.broken), "{found:?}");
        let of = |name: &str| {
            found
                .iter()
                .filter(|c| c.collective.starts_with(name))
                .count()
        };
        assert_eq!((of("barrier"), of("allreduce"), of("reduce")), (1, 2, 1));
    }

    #[test]
    fn larger_ones_take_longer() {
        let plan = header(&["a"]).plan;
        let launches = launches(0.6);
        let found = check(&plan, &Figures::of(&plan, &launches));
        let of_allreduce = |c: &&Checked| c.broken && c.collective.starts_with("allreduce");
        let broken = found.iter().find(of_allreduce).unwrap();
        assert_eq!(
            (broken.collective.as_str(), broken.mock.as_str()),
            ("allreduce 8 B", "allreduce 64 B")
        );
    }

    /// Messages of 64 KiB to a spawned process, in time and in bytes a second, next to those within
    /// the world.
    fn to_a_child(latency: f64, bandwidth: f64) -> Vec<Checked> {
        let rate = |name: &str, value: f64| match sample(name, 64 << 10, &[value], 0.0) {
            Record::Samples(mut samples) => {
                (samples.unit, samples.better) = ("MB/s".into(), Better::More);
                Record::Samples(samples)
            }
            other => other,
        };
        let one = |i: u32| {
            let luck = 1.0 + f64::from(i * 7 % 12) / 1000.0;
            let records = vec![
                sample("latency", 64 << 10, &[4.0 * luck], 0.0),
                sample("spawn_latency", 64 << 10, &[latency * luck], 0.0),
                rate("bandwidth", 9000.0 * luck),
                rate("spawn_bandwidth", bandwidth * luck),
            ];
            launch(i, 0, records)
        };
        let plan = header(&["a"]).plan;
        let launches: Vec<Launch> = (0..12).map(one).collect();
        check(&plan, &Figures::of(&plan, &launches))
    }

    #[test]
    fn messages_to_a_spawned_process_are_compared_with_those_of_the_world() {
        let found = to_a_child(4.4, 9000.0);
        assert_eq!(found.len(), 2, "{found:?}");
        let broken: Vec<_> = found.iter().filter(|c| c.broken).collect();
        assert_eq!(broken.len(), 1, "{found:?}");
        assert_eq!(broken[0].collective, "spawn_latency 64 KiB");
        assert_eq!(broken[0].mock, "latency 64 KiB");
        let found = to_a_child(3.6, 7500.0);
        let broken: Vec<_> = found.iter().filter(|c| c.broken).collect();
        assert_eq!(broken.len(), 1, "{found:?}");
        assert_eq!(broken[0].collective, "spawn_bandwidth 64 KiB");
        assert!((broken[0].ratio - 1.2).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn sizes_fit_together() {
        let [option, sizes] = sizes(&[2, 3]);
        assert_eq!(option, "--sizes");
        assert!(sizes.starts_with("8,16,24,64,128,192,"), "{sizes}");
        assert!(names().contains(&"reduce_local".to_string()));
    }
}
