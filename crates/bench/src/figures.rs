//! What was measured, sorted: for each benchmark, size and number of ranks one number per launch.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::place::RunPlace;
use crate::raw::{Launch, Plan};
use crate::record::{Better, Record, Samples, bench_of};
use crate::show;
use crate::stats::{Interval, Modes, Stratum, median, median_interval, modes};

/// Factor between the costs of a cache line from which on two of them are two states of the
/// machine.
const APART: f64 = 1.5;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Where.
    pub place: RunPlace,
    /// Which of the benchmarks asked for it is.
    number: usize,
    /// The benchmark.
    pub bench: String,
    /// The MPI datatype, where one was chosen, and the window, where it varies.
    pub datatype: Option<String>,
    /// Bytes.
    pub size: u64,
}

impl Key {
    /// The benchmark, with its datatype where several are measured.
    pub fn title(&self) -> String {
        match &self.datatype {
            Some(datatype) => format!("{} {datatype}", self.bench),
            None => self.bench.clone(),
        }
    }
}

/// What one launch says of a figure.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// Number of the session, and of the launch in it.
    pub launch: (usize, u32),
    /// The median of its repetitions.
    pub median: f64,
    /// All that was said.
    pub samples: &'a Samples,
    /// State of the machine: 0 the usual one or, of two, that in which a cache line takes less, 1
    /// the other; `None` if it changed meanwhile.
    pub state: Option<usize>,
}

/// All launches of a figure.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    /// What was measured.
    pub key: Key,
    /// Whether it has a size, be it 0.
    pub sized: bool,
    /// Unit of the values.
    pub unit: &'a str,
    /// Which values are better.
    pub better: Better,
    /// The launches of each variant; none of one whose data were wrong in any.
    pub points: Vec<Vec<Point<'a>>>,
    /// What was wrong with the data of each variant.
    pub wrong: Vec<Option<&'a str>>,
}

/// What a variant reaches: the median of its launches' medians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// Where the true median is; `None` of fewer than five launches.
    pub interval: Option<Interval>,
    /// Launches behind it.
    pub launches: usize,
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Figures<'a> {
    /// In the order asked for, smaller numbers of ranks and sizes first.
    pub figures: Vec<Figure<'a>>,
    /// States of the machine, where there are two.
    pub states: BTreeMap<RunPlace, Modes>,
    /// Points that are left out since the machine changed its state meanwhile.
    pub mixed: usize,
}

impl<'a> Figures<'a> {
    /// Sorts what the launches said.
    pub fn of(plan: &Plan, launches: &'a [Launch]) -> Figures<'a> {
        let states = states(launches);
        let mut figures: BTreeMap<Key, Figure> = BTreeMap::new();
        let mut mixed = 0;
        for (launch, samples) in samples(launches) {
            let number = plan.names.iter().position(|n| bench_of(n) == samples.bench);
            let place = &launch.begin.place;
            let key = Key {
                place: place.clone(),
                number: number.unwrap_or(usize::MAX),
                bench: samples.bench.clone(),
                datatype: kind(samples),
                size: samples.size,
            };
            let figure = figures.entry(key.clone()).or_insert_with(|| Figure {
                key,
                sized: samples.is_sized(),
                unit: &samples.unit,
                better: samples.better,
                points: vec![Vec::new(); plan.variants.len()],
                wrong: vec![None; plan.variants.len()],
            });
            if let Some(why) = &samples.wrong {
                figure.wrong[launch.begin.variant].get_or_insert(why);
            }
            let state = state(samples, states.get(place));
            mixed += usize::from(state.is_none());
            figure.points[launch.begin.variant].push(Point {
                launch: (launch.session, launch.begin.launch),
                median: median(&samples.values),
                samples,
                state,
            });
        }
        let mut figures: Vec<Figure> = figures.into_values().collect();
        for figure in &mut figures {
            let points = figure.points.iter_mut().zip(&figure.wrong);
            for (points, _) in points.filter(|(_, wrong)| wrong.is_some()) {
                points.clear();
            }
        }
        drop_lone_datatypes(&mut figures);
        Figures {
            figures,
            states,
            mixed,
        }
    }
}

impl Figures<'_> {
    /// Where figures were taken, in order.
    pub fn places(&self) -> Vec<&RunPlace> {
        let mut places: Vec<&RunPlace> = self.figures.iter().map(|f| &f.key.place).collect();
        places.dedup();
        places
    }
}

/// The datatype, with the window where it varies (`-V`).
fn kind(samples: &Samples) -> Option<String> {
    let window = samples.more.get("window").map(|w| format!("-W {w}"));
    match (&samples.datatype, window) {
        (Some(datatype), Some(window)) => Some(format!("{datatype} {window}")),
        (datatype, window) => window.or_else(|| datatype.clone()),
    }
}

/// A benchmark that was measured with one datatype only does not need its name.
fn drop_lone_datatypes(figures: &mut [Figure]) {
    let first: BTreeMap<String, Option<String>> = figures
        .iter()
        .map(|f| (f.key.bench.clone(), f.key.datatype.clone()))
        .collect();
    let several: Vec<String> = figures
        .iter()
        .filter(|f| first[&f.key.bench] != f.key.datatype)
        .map(|f| f.key.bench.clone())
        .collect();
    for figure in figures
        .iter_mut()
        .filter(|f| !several.contains(&f.key.bench))
    {
        figure.key.datatype = None;
    }
}

fn samples(launches: &[Launch]) -> impl Iterator<Item = (&Launch, &Samples)> {
    launches.iter().flat_map(|launch| {
        launch
            .records
            .iter()
            .filter_map(move |record| match record {
                Record::Samples(samples) => Some((launch, samples)),
                _ => None,
            })
    })
}

/// The two states of the machine, for each place that saw two.
fn states(launches: &[Launch]) -> BTreeMap<RunPlace, Modes> {
    let mut lines: BTreeMap<RunPlace, Vec<f64>> = BTreeMap::new();
    for (launch, samples) in samples(launches) {
        let line = samples.line_ns.into_iter().flatten();
        let lines = lines.entry(launch.begin.place.clone());
        lines.or_default().extend(line);
    }
    let modes = |(place, lines): (RunPlace, Vec<f64>)| Some((place, modes(&lines, APART)?));
    lines.into_iter().filter_map(modes).collect()
}

fn state(samples: &Samples, states: Option<&Modes>) -> Option<usize> {
    let (Some(modes), Some([before, after])) = (states, samples.line_ns) else {
        return Some(0);
    };
    let far = before > modes.boundary;
    (far == (after > modes.boundary)).then_some(usize::from(far))
}

impl Figure<'_> {
    /// Its size as people read it: 0 B, 64 KiB; nothing where there are none.
    pub fn size(&self) -> String {
        match self.sized {
            true => show::size(self.key.size),
            false => String::new(),
        }
    }

    /// Whether differences are told in points and not as ratios.
    pub fn in_points(&self) -> bool {
        self.unit == "%"
    }

    /// Whether the first variant and another cannot be compared since the data of either are wrong.
    pub fn is_wrong_next_to(&self, other: usize) -> bool {
        self.wrong[0].is_some() || self.wrong[other].is_some()
    }

    /// The medians of a variant's launches in one state.
    fn medians(&self, variant: usize, state: usize) -> Vec<f64> {
        let points = self.points[variant].iter();
        let points = points.filter(|p| p.state == Some(state));
        points.map(|p| p.median).collect()
    }

    /// The state that most launches were in.
    pub fn main_state(&self) -> usize {
        let count = |state| {
            self.points
                .iter()
                .flatten()
                .filter(|p| p.state == Some(state))
                .count()
        };
        usize::from(count(1) > count(0))
    }

    /// The medians of a variant's launches, in the state that most launches were in.
    pub fn main(&self, variant: usize) -> Vec<f64> {
        self.medians(variant, self.main_state())
    }

    /// What a variant reaches in the state that most launches were in.
    pub fn summary(&self, variant: usize, confidence: f64) -> Option<Summary> {
        let medians = self.main(variant);
        (!medians.is_empty()).then(|| Summary {
            median: median(&medians),
            interval: median_interval(&medians, confidence),
            launches: medians.len(),
        })
    }

    /// The percentiles of single operations (`-z`) that launches of any variant tell, in order.
    pub fn tails(&self) -> Vec<f64> {
        let told = self
            .points
            .iter()
            .flatten()
            .filter_map(|point| point.samples.more.get("tail_us")?.as_object());
        let words = told.flat_map(|tails| tails.keys());
        let mut percents: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        percents
    }

    /// A percentile of single operations (`-z`): of what the launches found the median.
    pub fn tail(&self, variant: usize, percent: f64) -> Option<f64> {
        let found = self.points[variant].iter().filter_map(|point| {
            let tails = point.samples.more.get("tail_us")?.as_object()?;
            let same = |word: &str| word.parse().is_ok_and(|p: f64| p == percent);
            tails.iter().find(|(word, _)| same(word))?.1.as_f64()
        });
        let found: Vec<f64> = found.collect();
        (!found.is_empty()).then(|| median(&found))
    }

    /// What a variant's launches counted for each operation (`-P`): of every event the median.
    pub fn counts(&self, variant: usize) -> BTreeMap<&str, f64> {
        let mut counts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for point in &self.points[variant] {
            let counted = point
                .samples
                .more
                .get("counters")
                .and_then(Value::as_object);
            for (event, count) in counted.into_iter().flatten() {
                counts.entry(event).or_default().extend(count.as_f64());
            }
        }
        let medians = counts.into_iter().filter(|(_, of)| !of.is_empty());
        medians.map(|(event, of)| (event, median(&of))).collect()
    }

    /// What two variants reach, by sessions and states; logarithms, so that differences are ratios,
    /// unless they are told in points.
    pub fn strata(&self, a: usize, b: usize) -> Vec<Stratum> {
        self.strata_in(a, b, |_| true)
    }

    /// As [`Figure::strata`], of the state alone that most launches were in: what the medians that
    /// are shown come from.
    pub fn main_strata(&self, a: usize, b: usize) -> Vec<Stratum> {
        let main = self.main_state();
        self.strata_in(a, b, |state| state == main)
    }

    fn strata_in(&self, a: usize, b: usize, wanted: impl Fn(usize) -> bool) -> Vec<Stratum> {
        let mut strata: BTreeMap<(usize, usize), Stratum> = BTreeMap::new();
        // A rate or a time of 0 has no ratio: too short for the clock.
        let scale = |m: f64| match self.in_points() {
            true => Some(m),
            false => (m > 0.0).then(|| m.ln()),
        };
        for (first, variant) in [(true, a), (false, b)] {
            for point in &self.points[variant] {
                if let (Some(state), Some(value)) = (point.state, scale(point.median))
                    && wanted(state)
                {
                    let (of_a, of_b) = strata.entry((point.launch.0, state)).or_default();
                    if first { of_a } else { of_b }.push(value);
                }
            }
        }
        strata.into_values().collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::raw::Begin;
    use crate::raw::tests::header;
    use serde_json::Map;

    pub(crate) fn sample(bench: &str, size: u64, values: &[f64], line: f64) -> Record {
        Record::Samples(Samples {
            bench: bench.into(),
            size,
            datatype: None,
            ranks: 2,
            unit: "us".into(),
            better: Better::Less,
            values: values.to_vec(),
            line_ns: (line > 0.0).then_some([line; 2]),
            late: 0,
            wrong: None,
            more: Map::new(),
        })
    }

    pub(crate) fn launch(number: u32, variant: usize, records: Vec<Record>) -> Launch {
        Launch {
            begin: Begin {
                launch: number,
                round: number,
                variant,
                place: RunPlace {
                    ranks: 2,
                    ..RunPlace::default()
                },
                names: vec!["latency".into(), "barrier".into()],
                digest: String::new(),
            },
            records,
            seconds: 1.0,
            ..Launch::default()
        }
    }

    #[test]
    fn launches_are_sorted_into_figures() {
        let mut plan = header(&["a", "b"]).plan;
        plan.names = vec!["latency".into(), "barrier".into()];
        let said = || {
            vec![
                sample("barrier", 0, &[1.0, 3.0, 2.0], 0.0),
                sample("latency", 64, &[0.5], 0.0),
                sample("latency", 8, &[0.25], 0.0),
            ]
        };
        let launches = [
            launch(0, 1, said()),
            launch(1, 0, said()),
            launch(2, 1, said()),
        ];
        let all = Figures::of(&plan, &launches);
        let keys: Vec<_> = all
            .figures
            .iter()
            .map(|f| (f.key.title(), f.key.size))
            .collect();
        let expected = [("latency", 8), ("latency", 64), ("barrier", 0)];
        assert_eq!(keys, expected.map(|(n, s)| (n.to_string(), s)));
        let barrier = &all.figures[2];
        assert_eq!(barrier.main(0), [2.0]);
        assert_eq!(barrier.main(1), [2.0, 2.0]);
        let summary = barrier.summary(1, 0.95).unwrap();
        assert_eq!((summary.median, summary.launches), (2.0, 2));
        assert_eq!(barrier.strata(0, 1)[0].1, [2f64.ln(); 2]);
        assert_eq!(barrier.strata(0, 1).len(), 1);
    }

    #[test]
    fn states_of_the_machine_are_kept_apart() {
        let plan = header(&["a", "b"]).plan;
        let launches: Vec<Launch> = (0..20)
            .map(|i| {
                let far = i % 3 == 0;
                let (value, line) = if far { (3.0, 155.0) } else { (1.0, 40.0) };
                let line = line + f64::from(i) / 10.0;
                let mut record = sample("latency", 8, &[value], line);
                if let (5, Record::Samples(s)) = (i, &mut record) {
                    s.line_ns = Some([40.0, 155.0]);
                }
                launch(i, i as usize % 2, vec![record])
            })
            .collect();
        let all = Figures::of(&plan, &launches);
        let states = &all.states[&launches[0].begin.place];
        assert!((states.low - 41.0).abs() < 1.0, "{states:?}");
        assert_eq!(all.mixed, 1);
        let figure = &all.figures[0];
        assert_eq!(figure.main_state(), 0);
        assert!(figure.main(0).iter().all(|v| *v == 1.0));
        let strata = figure.strata(0, 1);
        assert!(strata[1].0.iter().all(|v| *v == 3f64.ln()) && strata[1].0.len() == 4);
        assert_eq!(strata[0].1.len(), 6, "one changed meanwhile");
    }

    #[test]
    fn datatypes_are_named_where_there_are_several() {
        let plan = header(&["a"]).plan;
        let typed = |bench: &str, datatype: &str| {
            let mut record = sample(bench, 8, &[1.0], 0.0);
            if let Record::Samples(s) = &mut record {
                s.datatype = Some(datatype.into());
            }
            record
        };
        let records = vec![
            typed("latency", "mpi_char"),
            typed("reduce", "mpi_int"),
            typed("reduce", "mpi_float"),
        ];
        let launches = [launch(0, 0, records)];
        let titles: Vec<_> = Figures::of(&plan, &launches)
            .figures
            .iter()
            .map(|f| f.key.title())
            .collect();
        assert_eq!(titles, ["latency", "reduce mpi_float", "reduce mpi_int"]);
    }

    #[test]
    fn windows_that_vary_are_told_apart() {
        let plan = header(&["a"]).plan;
        let with = |window: u32| {
            let mut record = sample("message_rate", 8, &[1.0], 0.0);
            if let Record::Samples(s) = &mut record {
                s.more.insert("window".into(), window.into());
            }
            record
        };
        let launches = [launch(0, 0, vec![with(1), with(64)])];
        let all = Figures::of(&plan, &launches);
        let titles: Vec<_> = all.figures.iter().map(|f| f.key.title()).collect();
        assert_eq!(titles, ["message_rate -W 1", "message_rate -W 64"]);
    }
}
