//! Aims: what the first variant's ratio to the best of the others should be.
//!
//! A file of them has lines of three words; the first line that fits a figure counts:
//!
//! ```text
//! # benchmarks[:size]  ranks  ratio
//! latency:8            2      0.85
//! gather,scatter       2-4    0.9
//! gather,scatter       5-     0.6
//! ```

use std::fs;
use std::path::Path;

use catena_settings::{Bytes, Value, nearest};

use crate::compare::Comparison;
use crate::figures::{Figure, Figures};
use crate::raw::Plan;
use crate::record::Better;
use crate::show;
use crate::stats::Interval;

/// A line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim {
    /// Its number in the file, from 1.
    line: usize,
    /// Benchmarks.
    names: Vec<String>,
    /// Bytes; `None` of any.
    size: Option<u64>,
    /// Fewest ranks, and most.
    ranks: (u32, u32),
    /// The factor: at most this many times the time of the best other, or at least this many times
    /// its rate.
    ratio: f64,
}

/// What became of an aim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The ratio is on the right side.
    Reached,
    /// The ratio is on the wrong side, and so is any that is possible.
    Missed,
    /// The ratio is on the wrong side, but more launches may show another.
    Unknown,
}

/// A figure for which there is an aim.
#[derive(Clone, Debug, PartialEq)]
pub struct Aimed {
    /// Index of the figure.
    pub figure: usize,
    /// Index of the best other variant.
    pub other: usize,
    /// The first one's value as a share of the other's.
    pub ratio: f64,
    /// Where the true ratio is.
    pub interval: Option<Interval>,
    /// What it should be.
    pub aim: f64,
    /// Number of the line that says so.
    pub line: usize,
    /// What became of it.
    pub outcome: Outcome,
}

/// Reads a file.
///
/// # Errors
/// In words, with the number of the line.
pub fn read(path: &Path) -> Result<Vec<Aim>, String> {
    let cannot = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|e| cannot(format!("cannot be read: {e}")))?;
    parse(&text).map_err(cannot)
}

fn parse(text: &str) -> Result<Vec<Aim>, String> {
    let mut aims = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let aim = aim(&words, number + 1).ok_or_else(|| {
            format!(
                "line {}: write benchmarks, ranks and the ratio, such as `latency:8  2-4  0.9`",
                number + 1
            )
        })?;
        aims.push(aim);
    }
    Ok(aims)
}

fn aim(words: &[&str], line: usize) -> Option<Aim> {
    let [names, ranks, ratio] = words else {
        return None;
    };
    let (names, size) = match names.split_once(':') {
        Some((names, size)) => (names, Some(Bytes::parse(size).ok()?.get())),
        None => (*names, None),
    };
    let ranks = match ranks.split_once('-') {
        Some((fewest, "")) => (fewest.parse().ok()?, u32::MAX),
        Some((fewest, most)) => (fewest.parse().ok()?, most.parse().ok()?),
        None => (ranks.parse().ok()?, ranks.parse().ok()?),
    };
    Some(Aim {
        line,
        names: names.split(',').map(String::from).collect(),
        size,
        ranks,
        ratio: ratio.parse().ok().filter(|r| *r > 0.0)?,
    })
}

impl Aim {
    fn fits(&self, figure: &Figure) -> bool {
        let (fewest, most) = self.ranks;
        self.names.contains(&figure.key.bench)
            && self.size.is_none_or(|size| size == figure.key.size)
            && (fewest..=most).contains(&figure.key.place.ranks)
            && !figure.in_points()
    }
}

/// What became of the aims, wherever there are figures of the first variant and of another.
pub fn check(all: &Figures, found: &[Comparison], aims: &[Aim]) -> Vec<Aimed> {
    let judged = all
        .figures
        .iter()
        .enumerate()
        .filter_map(|(index, figure)| {
            let Aim {
                ratio: aim, line, ..
            } = *aims.iter().find(|aim| aim.fits(figure))?;
            let others = found.iter().filter(|c| c.figure == index);
            // As a time: more is worse.
            let cost = |ratio: f64| match figure.better {
                Better::Less => ratio,
                Better::More => 1.0 / ratio,
            };
            let best = others.max_by(|a, b| cost(a.ratio).total_cmp(&cost(b.ratio)))?;
            let least = best.interval.map(|i| cost(i.low).min(cost(i.high)));
            let outcome = match cost(best.ratio) <= cost(aim) {
                true => Outcome::Reached,
                false if least.is_some_and(|least| least > cost(aim)) => Outcome::Missed,
                false => Outcome::Unknown,
            };
            Some(Aimed {
                figure: index,
                other: best.other,
                ratio: best.ratio,
                interval: best.interval,
                aim,
                line,
                outcome,
            })
        });
    judged.collect()
}

/// Refuses names that are no benchmark's.
///
/// # Errors
/// In words, with the number of the line.
pub fn known(aims: &[Aim], benches: &[&str]) -> Result<(), String> {
    for aim in aims {
        if let Some(name) = aim
            .names
            .iter()
            .find(|name| !benches.contains(&name.as_str()))
        {
            let hint = match nearest(name, benches.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => "`catena bench list` shows them".to_string(),
            };
            return Err(format!(
                "line {}: there is no benchmark {name}; {hint}",
                aim.line
            ));
        }
    }
    Ok(())
}

/// What is said of the lines that no figure was judged by; nothing if there are none.
fn unfitted(aims: &[Aim], aimed: &[Aimed]) -> String {
    let idle = |aim: &&Aim| aimed.iter().all(|a| a.line != aim.line);
    let lines: Vec<String> = aims
        .iter()
        .filter(idle)
        .map(|aim| aim.line.to_string())
        .collect();
    match &lines[..] {
        [] => String::new(),
        [line] => format!("line {line} of the aims fits nothing that was compared\n"),
        lines => format!(
            "lines {} of the aims fit nothing that was compared\n",
            lines.join(", ")
        ),
    }
}

/// As a table, with the lines of `aims` that fitted nothing.
pub fn text(plan: &Plan, all: &Figures, aims: &[Aim], aimed: &[Aimed]) -> String {
    let head = [
        "benchmark",
        "size",
        "where",
        "best other",
        "ratio",
        "from",
        "to",
        "aim",
        "",
    ];
    let rows: Vec<Vec<String>> = aimed
        .iter()
        .map(|a| {
            let figure = &all.figures[a.figure];
            let sign = match figure.better {
                Better::Less => "<=",
                Better::More => ">=",
            };
            let (low, high) = a.interval.map_or(("-".into(), "-".into()), |i| {
                (show::digits(i.low), show::digits(i.high))
            });
            let outcome = match a.outcome {
                Outcome::Reached => "reached",
                Outcome::Missed => "missed",
                Outcome::Unknown => "unknown",
            };
            let mut row = crate::table::of_figure(figure);
            row.extend([
                plan.variants[a.other].name.clone(),
                show::digits(a.ratio),
                low,
                high,
                format!("{sign} {}", show::digits(a.aim)),
                outcome.to_string(),
            ]);
            row
        })
        .collect();
    let of = |outcome| aimed.iter().filter(|a| a.outcome == outcome).count();
    format!(
        "\n{}{} aims reached, {} missed, {} unknown\n{}",
        show::columns(&head, &rows),
        of(Outcome::Reached),
        of(Outcome::Missed),
        of(Outcome::Unknown),
        unfitted(aims, aimed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::figures::tests::{launch, sample};
    use crate::raw::tests::header;

    #[test]
    fn lines_are_understood_or_told() {
        let aims = parse("# all\n\nlatency:8K 2 0.85 # or less\ngather,scatter 5- .6\n").unwrap();
        let [latency, many] = &aims[..] else {
            panic!("{aims:?}")
        };
        assert_eq!((latency.size, latency.ranks), (Some(8 << 10), (2, 2)));
        assert_eq!(many.names, ["gather", "scatter"]);
        assert_eq!((many.ranks, many.ratio), ((5, u32::MAX), 0.6));
        for wrong in ["latency 2", "latency:x 2 1", "latency two 1", "latency 2 0"] {
            let why = parse(&format!("\n{wrong}")).unwrap_err();
            assert!(why.starts_with("line 2: write benchmarks"), "{why}");
        }
    }

    #[test]
    fn names_are_those_of_benchmarks() {
        let aims = parse("latency,scan 2 1\nlatncy:8 2 1").unwrap();
        let why = known(&aims, &["latency", "scan"]).unwrap_err();
        assert_eq!(
            why,
            "line 2: there is no benchmark latncy; did you mean latency?"
        );
        assert_eq!(known(&aims[..1], &["latency", "scan"]), Ok(()));
    }

    #[test]
    fn aims_are_about_the_best_of_the_others() {
        let plan = header(&["a", "b", "c"]).plan;
        let noise = |i: u32| 1.0 + 0.01 * f64::from(i / 3 % 4);
        let launches: Vec<_> = (0..30)
            .map(|i| {
                let factor = [1.0, 2.0, 1.25][i as usize % 3] * noise(i);
                let records = [8, 64].map(|size| sample("latency", size, &[factor], 0.0));
                launch(i, i as usize % 3, records.to_vec())
            })
            .collect();
        let all = Figures::of(&plan, &launches);
        let found = compare(&plan, &all);
        let aimed = |lines: &str| check(&all, &found, &parse(lines).unwrap());
        let lines = "latency:8 2 0.9\nlatency 2- 0.7\n\nlatency 3- 0.1";
        let both = aimed(lines);
        let told: Vec<_> = both.iter().map(|a| (a.other, a.outcome)).collect();
        assert_eq!(told, [(2, Outcome::Reached), (2, Outcome::Missed)]);
        assert!((both[0].ratio - 0.8).abs() < 0.02, "{both:?}");
        assert_eq!(aimed("latency:8 2 0.799")[0].outcome, Outcome::Unknown);
        let aims = parse(lines).unwrap();
        let text = text(&plan, &all, &aims, &both);
        assert!(
            text.contains("1 aims reached, 1 missed, 0 unknown\nline 4 of the aims fits nothing"),
            "{text}"
        );
        // A line behind one that fits the same is told, too.
        let shadowed = parse("latency 2 0.9\nlatency:8 2 0.8\nscan 2 0.9").unwrap();
        let both = check(&all, &found, &shadowed);
        assert!(unfitted(&shadowed, &both).starts_with("lines 2, 3 of the aims fit nothing"));
        assert_eq!(unfitted(&shadowed[..1], &both), "");
        assert!(aimed("scan 2 0.9").is_empty());
    }
}
