//! From results to lines and words at places. Lengths are in points of 1/72 inch, y goes down.

use super::data::{Measured, Results};
use crate::show;

/// A chart: how values depend on the size, a series for each variant.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The benchmark, and where it was measured.
    pub title: String,
    /// Of the values.
    pub unit: String,
    /// Names of the variants, with their values.
    pub series: Vec<Series>,
}

/// The values of one variant.
#[derive(Clone, Debug)]
pub struct Series {
    /// The variant.
    pub name: String,
    /// Sizes in bytes, with median and interval.
    pub values: Vec<(u64, f64, f64, f64)>,
}

/// Something drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line {
        points: Vec<(f64, f64)>,
        colour: Colour,
        width: f64,
    },
    /// A dot.
    Dot { at: (f64, f64), colour: Colour },
    /// Words, which begin at, end at, or have their middle at a place.
    Words {
        at: (f64, f64),
        anchor: Anchor,
        text: String,
        colour: Colour,
    },
}

/// Where words stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Red, green and blue.
pub type Colour = [u8; 3];

/// Of a chart.
pub const WIDTH: f64 = 420.0;
/// Height of a chart, in the units of its width.
pub const HEIGHT: f64 = 260.0;
/// Height of letters.
pub const LETTERS: f64 = 9.0;

const BLACK: Colour = [30, 30, 30];
const GREY: Colour = [210, 210, 210];
/// Told apart by most people, also without red or green (Okabe & Ito 2008).
const COLOURS: [Colour; 7] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [0, 0, 0],
];

/// A chart for each benchmark and place; those without sizes have a single value on it.
pub fn charts(results: &Results) -> Vec<Chart> {
    let mut charts: Vec<(&Measured, Chart)> = Vec::new();
    for figure in &results.figures {
        let same = |(first, _): &&mut (&Measured, Chart)| {
            (&first.place, &first.bench) == (&figure.place, &figure.bench)
        };
        if charts.iter_mut().find(same).is_none() {
            let series = results.names().into_iter().map(|name| Series {
                name: name.to_string(),
                values: Vec::new(),
            });
            let chart = Chart {
                title: format!("{}, {}", figure.bench, figure.place),
                unit: figure.unit.clone(),
                series: series.collect(),
            };
            charts.push((figure, chart));
        }
        let Some((_, chart)) = charts.iter_mut().find(same) else {
            continue;
        };
        for (series, reached) in chart.series.iter_mut().zip(&figure.variants) {
            if let Some(r) = reached {
                let (low, high) = r.interval.map_or((r.median, r.median), |i| (i.low, i.high));
                series.values.push((figure.size, r.median, low, high));
            }
        }
    }
    charts.into_iter().map(|(_, chart)| chart).collect()
}

/// Values from `low` to `high`, told in equal steps of their logarithms, or in equal steps where
/// some are not above 0.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// One that has room for all values.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        match (low, high) {
            (low, high) if low > high => Axis {
                low: 0.0,
                high: 1.0,
                logarithmic: false,
            },
            (low, high) if low > 0.0 => Axis {
                low: low * 0.9,
                high: high * 1.1,
                logarithmic: true,
            },
            (low, high) => Axis {
                low,
                high: high.max(low + 1.0),
                logarithmic: false,
            },
        }
    }

    /// Where a value is, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        match self.logarithmic {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    /// Round values along it, about `count`.
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        let span = if self.logarithmic {
            (self.high / self.low).log10()
        } else {
            0.0
        };
        let mut ticks = Vec::new();
        if self.logarithmic && span >= 1.0 {
            let steps: &[f64] = if span > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let skip = (span / count as f64).ceil().max(1.0) as i32;
            let first = self.low.log10().floor() as i32;
            for power in (first..=self.high.log10() as i32 + 1).step_by(skip as usize) {
                ticks.extend(steps.iter().map(|s| s * 10f64.powi(power)));
            }
        } else {
            let rough = (self.high - self.low) / count as f64;
            let power = 10f64.powf(rough.log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power);
            let step = step.into_iter().find(|s| *s >= rough).unwrap_or(rough);
            let first = (self.low / step).ceil() as i64;
            ticks.extend((first..=(self.high / step) as i64).map(|i| i as f64 * step));
        }
        ticks.retain(|t| (self.low..=self.high).contains(t));
        ticks
    }
}

impl Chart {
    /// All values along y.
    pub fn axis(&self) -> Axis {
        let values = self.series.iter().flat_map(|s| &s.values);
        Axis::of(values.flat_map(|(_, median, low, high)| [*median, *low, *high]))
    }

    /// All sizes, each once.
    pub fn sizes(&self) -> Vec<u64> {
        let values = self.series.iter().flat_map(|s| &s.values);
        let mut sizes: Vec<u64> = values.map(|(size, ..)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// What is drawn, within [`WIDTH`] and [`HEIGHT`].
    pub fn marks(&self) -> Vec<Mark> {
        const LEFT: f64 = 62.0;
        const RIGHT: f64 = 12.0;
        const TOP: f64 = 38.0;
        const BOTTOM: f64 = 26.0;
        let (sizes, axis) = (self.sizes(), self.axis());
        let y = |value: f64| HEIGHT - BOTTOM - axis.place(value) * (HEIGHT - TOP - BOTTOM);
        // Sizes are mostly powers of two: equal steps for each of them.
        let step = (WIDTH - LEFT - RIGHT) / sizes.len().max(1) as f64;
        let x = |size: u64| {
            let index = sizes.iter().position(|s| *s == size).unwrap_or_default();
            LEFT + step * (index as f64 + 0.5)
        };
        let words = |at, anchor, text: String, colour| Mark::Words {
            at,
            anchor,
            text,
            colour,
        };
        let mut marks = vec![words(
            (LEFT, 14.0),
            Anchor::Start,
            self.title.clone(),
            BLACK,
        )];
        for tick in axis.ticks(6) {
            let points = vec![(LEFT, y(tick)), (WIDTH - RIGHT, y(tick))];
            marks.push(Mark::Line {
                points,
                colour: GREY,
                width: 0.5,
            });
            let at = (LEFT - 4.0, y(tick) + LETTERS / 3.0);
            marks.push(words(at, Anchor::End, show::value(tick, &self.unit), BLACK));
        }
        let every = sizes.len().div_ceil(8).max(1);
        for size in sizes.iter().step_by(every).filter(|s| **s > 0) {
            let at = (x(*size), HEIGHT - BOTTOM + 14.0);
            marks.push(words(at, Anchor::Middle, show::size(*size), BLACK));
        }
        let corners = [
            (LEFT, TOP),
            (LEFT, HEIGHT - BOTTOM),
            (WIDTH - RIGHT, HEIGHT - BOTTOM),
        ];
        marks.push(Mark::Line {
            points: corners.to_vec(),
            colour: BLACK,
            width: 0.8,
        });
        let mut legend = LEFT;
        for (number, series) in self.series.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            // Side by side where they would lie on each other; far apart where there is nothing
            // else.
            let apart = match sizes.len() {
                1 => step / self.series.len() as f64,
                _ => 2.0,
            };
            let aside = (number as f64 - (self.series.len() as f64 - 1.0) / 2.0) * apart;
            let at = |size, value| (x(size) + aside, y(value));
            let points: Vec<_> = series
                .values
                .iter()
                .map(|(s, median, ..)| at(*s, *median))
                .collect();
            for (size, _, low, high) in &series.values {
                let points = vec![at(*size, *low), at(*size, *high)];
                marks.push(Mark::Line {
                    points,
                    colour,
                    width: 1.0,
                });
            }
            let dots = points.iter().map(|&at| Mark::Dot { at, colour });
            marks.extend(dots.collect::<Vec<_>>());
            marks.push(Mark::Line {
                points,
                colour,
                width: 1.2,
            });
            marks.push(Mark::Dot {
                at: (legend, 25.0),
                colour,
            });
            marks.push(words(
                (legend + 6.0, 28.0),
                Anchor::Start,
                series.name.clone(),
                colour,
            ));
            legend += 18.0 + 0.55 * LETTERS * series.name.chars().count() as f64;
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::data::tests::results;

    #[test]
    fn a_chart_for_each_benchmark() {
        let charts = charts(&results());
        let titles: Vec<&str> = charts.iter().map(|c| c.title.as_str()).collect();
        assert_eq!(titles, ["latency, 2 ranks", "barrier, 2 ranks"]);
        assert_eq!(charts[0].sizes(), [8, 64, 512, 65536]);
        assert_eq!(charts[0].series[1].values.len(), 4);
    }

    #[test]
    fn everything_is_drawn_within_the_frame() {
        for chart in charts(&results()) {
            let marks = chart.marks();
            for mark in &marks {
                let points = match mark {
                    Mark::Line { points, .. } => points.clone(),
                    Mark::Dot { at, .. } | Mark::Words { at, .. } => vec![*at],
                };
                let inside =
                    |(x, y): &(f64, f64)| (0.0..=WIDTH).contains(x) && (0.0..=HEIGHT).contains(y);
                assert!(points.iter().all(inside), "{mark:?}");
            }
            let dots = marks
                .iter()
                .filter(|m| matches!(m, Mark::Dot { .. }))
                .count();
            assert_eq!(dots, 2 * chart.sizes().len() + 2);
        }
    }

    #[test]
    fn ticks_are_round() {
        let axis = |values: &[f64]| Axis::of(values.iter().copied());
        let near = |found: Vec<f64>, expected: &[f64]| {
            let pairs = found.iter().zip(expected);
            found.len() == expected.len() && { pairs }.all(|(a, b)| (a - b).abs() < 1e-9 * b.abs())
        };
        let ticks = axis(&[0.2, 30.0]).ticks(6);
        assert!(
            near(ticks.clone(), &[0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]),
            "{ticks:?}"
        );
        let ticks = axis(&[0.1, 5e4]).ticks(6);
        assert!(
            near(ticks.clone(), &[0.1, 1.0, 10.0, 100.0, 1e3, 1e4]),
            "{ticks:?}"
        );
        let ticks = axis(&[2.0, 3.0]).ticks(4);
        assert!(near(ticks.clone(), &[2.0, 2.5, 3.0]), "{ticks:?}");
        assert!(axis(&[]).ticks(3).len() > 1);
        let flat = axis(&[5.0]);
        assert!((0.0..=1.0).contains(&flat.place(5.0)));
        assert!(axis(&[-3.0, 90.0]).place(-3.0).abs() < 1e-9);
    }
}
