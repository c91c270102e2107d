//! Results as text: tables and the grid.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::args::Output;
use crate::compare::{Comparison, Verdict};
use crate::figures::{Figure, Figures};
use crate::raw::Plan;
use crate::show;
use crate::stats::{Interval, quantile, sorted};

/// What stands for a value where the data that arrived were wrong.
const WRONG: &str = "wrong data";

/// What each variant reaches.
pub fn figures(plan: &Plan, all: &Figures, output: &Output) -> String {
    let several = plan.variants.len() > 1;
    let mut head = vec!["benchmark", "size", "where"];
    head.extend(several.then_some("variant"));
    head.extend(["median", "+-", "launches"]);
    if output.full {
        head.extend(["least", "most"]);
    }
    let percentiles: Vec<String> = output
        .percentiles
        .iter()
        .map(|p| format!("{p} %"))
        .collect();
    head.extend(percentiles.iter().map(String::as_str));
    let counted =
        (0..plan.variants.len()).flat_map(|v| all.figures.iter().map(move |f| f.counts(v)));
    let events: BTreeSet<&str> = counted.flat_map(BTreeMap::into_keys).collect();
    head.extend(&events);
    let mut rows = Vec::new();
    for figure in &all.figures {
        for (index, variant) in plan.variants.iter().enumerate() {
            let value = |v: f64| show::value(v, figure.unit);
            let mut row = of_figure(figure);
            row.extend(several.then(|| variant.name.clone()));
            let Some(summary) = figure.summary(index, plan.confidence) else {
                if figure.wrong[index].is_some() {
                    row.push(WRONG.to_string());
                    row.resize(head.len(), "-".to_string());
                    rows.push(row);
                }
                continue;
            };
            let width = summary
                .interval
                .map(|i| i.relative_half_width(summary.median));
            let width = width.map_or("-".to_string(), |w| format!("{:.1} %", 100.0 * w));
            row.extend([value(summary.median), width, summary.launches.to_string()]);
            let medians = sorted(&figure.main(index));
            if output.full {
                row.extend([
                    value(quantile(&medians, 0.0)),
                    value(quantile(&medians, 1.0)),
                ]);
            }
            let percentiles = output.percentiles.iter();
            row.extend(percentiles.map(|p| figure.tail(index, *p).map_or("-".into(), value)));
            let counts = figure.counts(index);
            let count = |event: &&str| counts.get(event).map_or("-".into(), |c| show::digits(*c));
            row.extend(events.iter().map(count));
            rows.push(row);
        }
    }
    show::columns(&head, &rows)
}

/// The first variant next to each of the others, and the grid.
///
/// `output` says of which percentiles of single operations there are columns, for both.
pub fn comparisons(
    plan: &Plan,
    all: &Figures,
    found: &[Comparison],
    (output, colour): (&Output, bool),
) -> String {
    let first = plan.variants[0].name.as_str();
    let is = format!("{first} is");
    let percents = &output.percentiles;
    let of_both = percents
        .iter()
        .flat_map(|p| [format!("{p} % {first}"), format!("{p} %")]);
    let of_both: Vec<String> = of_both.collect();
    let mut head = vec!["benchmark", "size", "where", first, "next to", ""];
    head.extend(of_both.iter().map(String::as_str));
    head.extend(["ratio", "from", "to", "p", &is]);
    let mut rows = Vec::new();
    for (index, figure) in all.figures.iter().enumerate() {
        for other in 1..plan.variants.len() {
            let judged = judged(found, index, other);
            if judged.is_none() && !figure.is_wrong_next_to(other) {
                continue;
            }
            let value = |variant: usize| match figure.wrong[variant] {
                Some(_) => WRONG.to_string(),
                None => {
                    let summary = figure.summary(variant, plan.confidence);
                    summary.map_or("-".into(), |s| show::value(s.median, figure.unit))
                }
            };
            let mut row = of_figure(figure);
            row.extend([value(0), plan.variants[other].name.clone(), value(other)]);
            let tail = |variant: usize, percent: f64| {
                let tail = figure.tail(variant, percent);
                tail.map_or("-".into(), |tail| show::value(tail, figure.unit))
            };
            row.extend(percents.iter().flat_map(|&p| [tail(0, p), tail(other, p)]));
            row.extend(judged.map_or(["-"; 5].map(String::from), |c| {
                of_verdict(figure, c, colour)
            }));
            rows.push(row);
        }
    }
    let mut text = show::columns(&head, &rows);
    for other in 1..plan.variants.len() {
        text += &grid(plan, all, found, other, colour);
    }
    if !rows.is_empty() {
        let marks = [
            Verdict::Better,
            Verdict::Worse,
            Verdict::Same,
            Verdict::Open,
        ]
        .map(|v| format!("{} {}", v.mark(), v.words()));
        let _ = writeln!(
            text,
            "\nratios: {first} to the other, so less is better in times, more in MB/s and 1/s; \
             {first} is {}",
            marks.join(", ")
        );
    }
    text
}

/// What was found of a figure and another variant.
fn judged(found: &[Comparison], figure: usize, other: usize) -> Option<&Comparison> {
    let of = |c: &&Comparison| (c.figure, c.other) == (figure, other);
    found.iter().find(of)
}

/// The columns that say what a comparison comes to: ratio, its interval, p, verdict.
fn of_verdict(figure: &Figure, found: &Comparison, colour: bool) -> [String; 5] {
    let ratio = |r: f64| match figure.in_points() {
        true => format!("{r:+.1}"),
        false => show::digits(r),
    };
    let end = |end: fn(&Interval) -> f64| {
        let interval = found.interval.as_ref();
        interval.map_or("-".into(), |i| ratio(end(i)))
    };
    [
        ratio(found.ratio),
        end(|i| i.low),
        end(|i| i.high),
        show::chance(found.p),
        paint(colour_of(found.verdict), found.verdict.words(), colour),
    ]
}

/// Ratios by benchmark and size, marked by their verdict.
fn grid(plan: &Plan, all: &Figures, found: &[Comparison], other: usize, colour: bool) -> String {
    const CELL: usize = 8;
    let mut text = String::new();
    for place in all.places() {
        let figures = all.figures.iter().enumerate();
        let cells: Vec<(&Figure, String)> = figures
            .filter(|(_, figure)| figure.key.place == *place)
            .filter_map(|(index, figure)| {
                let (cell, code) = match judged(found, index, other) {
                    Some(c) => (
                        format!("{}{}", show::digits(c.ratio), c.verdict.mark()),
                        colour_of(c.verdict),
                    ),
                    None if figure.is_wrong_next_to(other) => ("wrong".into(), Some("95")),
                    None => return None,
                };
                Some((figure, paint(code, &format!("{cell:>CELL$}"), colour)))
            })
            .collect();
        let mut sizes: Vec<u64> = cells.iter().map(|(f, _)| f.key.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut titles: Vec<String> = cells.iter().map(|(f, _)| f.key.title()).collect();
        titles.dedup();
        let names = (&plan.variants[0].name, &plan.variants[other].name);
        let head = format!("{} next to {}, {place}", names.0, names.1);
        let width = titles
            .iter()
            .map(String::len)
            .chain([head.len()])
            .max()
            .unwrap_or(0);
        if cells.is_empty() {
            continue;
        }
        let _ = write!(text, "\n{head:width$}");
        for size in &sizes {
            let _ = write!(text, "{:>CELL$}", short(*size));
        }
        text += "\n";
        for title in &titles {
            let mut line = format!("{title:width$}");
            for size in &sizes {
                let cell = cells
                    .iter()
                    .find(|(f, _)| f.key.size == *size && f.key.title() == *title);
                line += cell.map_or(&" ".repeat(CELL), |(_, cell)| cell);
            }
            text += line.trim_end();
            text += "\n";
        }
    }
    text
}

/// A size in few letters: 8, 64K.
fn short(bytes: u64) -> String {
    match show::size(bytes).split_once(' ') {
        Some((number, "B")) => number.to_string(),
        Some((number, unit)) => format!("{number}{}", &unit[..1]),
        None => String::new(),
    }
}

/// Green is better, red is worse, yellow is not known.
fn colour_of(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Better => Some("30;42"),
        Verdict::Worse => Some("97;41"),
        Verdict::Open => Some("33"),
        Verdict::Same => None,
    }
}

fn paint(code: Option<&str>, text: &str, colour: bool) -> String {
    match code.filter(|_| colour) {
        Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
        None => text.to_string(),
    }
}

/// The columns that say what a figure is: benchmark, size, place.
pub fn of_figure(figure: &Figure) -> Vec<String> {
    let key = &figure.key;
    vec![key.title(), figure.size(), key.place.to_string()]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::figures::tests::{launch, sample};
    use crate::notes::notes;
    use crate::raw::Run;
    use crate::raw::tests::header;
    use crate::record::{Record, read};

    pub(crate) fn run() -> Run {
        let mut header = header(&["a", "b"]);
        header.plan.names.push("barrier".into());
        let launches = (0..16).map(|i| {
            let (variant, noise) = (i as usize % 2, f64::from(i) / 1000.0);
            let value = if variant == 0 { 1.0 } else { 2.0 };
            let records = vec![
                sample("latency", 8, &[value + noise, value], 0.0),
                sample("latency", 65536, &[10.0 + noise], 0.0),
                sample("barrier", 0, &[0.3 / value + noise], 0.0),
            ];
            launch(i, variant, records)
        });
        let launches = launches.collect();
        Run::of(header, launches)
    }

    #[test]
    fn tables_say_what_was_found() {
        let run = run();
        let plan = &run.plan;
        let all = Figures::of(plan, &run.launches);
        let found = compare(plan, &all);
        let text = comparisons(plan, &all, &found, (&Output::default(), false));
        let line = |number: usize| text.lines().nth(number).unwrap_or_default();
        assert!(
            line(1).starts_with("latency") && line(1).ends_with("<.001  better"),
            "{text}"
        );
        assert!(
            line(2).contains("64 KiB") && line(2).ends_with("no different"),
            "{text}"
        );
        assert!(
            line(3).starts_with("barrier") && line(3).ends_with("worse"),
            "{text}"
        );
        assert!(
            text.contains("a next to b, 2 ranks       0       8     64K"),
            "{text}"
        );
        assert!(text.contains("0.50+   1.00="), "{text}");
        let colours = comparisons(plan, &all, &found, (&Output::default(), true));
        assert!(colours.contains("\x1b[30;42m") && colours.contains("\x1b[97;41m"));
        assert!(notes(&run, &all, &found).is_empty());
    }

    /// Wrong data are no figure and win nothing, whatever the others deliver.
    #[test]
    fn wrong_data_have_no_verdict() {
        let spoilt = |variant: usize| {
            let mut run = run();
            let launch = run.launches.iter_mut().rev();
            let last = launch.into_iter().find(|l| l.begin.variant == variant);
            if let Some(Record::Samples(s)) = last.unwrap().records.first_mut() {
                s.wrong = Some("element 3 of block 0 should be 7".into());
            }
            run
        };
        for (variant, of_a, of_b) in [(0, "wrong data", "2.00 us"), (1, "1.00 us", "wrong data")] {
            let run = spoilt(variant);
            let all = Figures::of(&run.plan, &run.launches);
            let found = compare(&run.plan, &all);
            assert!(found.iter().all(|c| c.figure != 0), "{found:?}");
            let text = comparisons(&run.plan, &all, &found, (&Output::default(), false));
            let words = |number: usize| {
                let line = text.lines().nth(number).unwrap();
                line.split_whitespace().collect::<Vec<_>>().join(" ")
            };
            let expected = format!("latency 8 B 2 ranks {of_a} b {of_b} - - - - -");
            assert_eq!(words(1), expected, "{text}");
            assert!(
                text.contains("latency                        wrong   1.00="),
                "{text}"
            );
            let text = figures(&run.plan, &all, &Output::default());
            let wrong: Vec<&str> = text.lines().filter(|l| l.contains(WRONG)).collect();
            assert_eq!(wrong.len(), 1, "{text}");
            let told = crate::troubles::troubles(&run).join("");
            assert!(told.contains("latency 8 B wrong data: element 3"), "{told}");
        }
    }

    #[test]
    fn counts_are_columns_and_what_lacks_is_told() {
        let mut run = run();
        for launch in &mut run.launches {
            let env = r#"@catena-bench {"kind":"env","protocol":2,"library":"x","ranks":2,"uncounted":{"cycles":"no such counter","branches":"no such counter"}}"#;
            launch.records.insert(0, read(env).unwrap().unwrap());
            if let Some(Record::Samples(s)) = launch.records.last_mut() {
                let counters = serde_json::json!({ "page-faults": 2 + launch.begin.launch % 3 });
                s.more.insert("counters".into(), counters);
            }
        }
        let all = Figures::of(&run.plan, &run.launches);
        let text = figures(&run.plan, &all, &Output::default());
        let (head, rest) = text.split_once('\n').unwrap();
        assert!(head.ends_with("page-faults"), "{text}");
        let counted = |line: &&str| line.starts_with("barrier") && line.ends_with("3.00");
        assert_eq!(rest.lines().filter(counted).count(), 2, "{text}");
        assert!(rest.lines().next().unwrap().ends_with(" -"), "{text}");
        assert_eq!(
            notes(&run, &all, &[]),
            ["not counted are branches, cycles: no such counter"]
        );
    }

    #[test]
    fn a_size_of_nothing_is_a_size() {
        let mut nothing = sample("latency", 0, &[1.0], 0.0);
        if let Record::Samples(s) = &mut nothing {
            s.more.insert("sized".into(), true.into());
        }
        let launches = [launch(
            0,
            0,
            vec![nothing, sample("barrier", 0, &[1.0], 0.0)],
        )];
        let all = Figures::of(&header(&["a"]).plan, &launches);
        let told: Vec<_> = all
            .figures
            .iter()
            .map(|f| of_figure(f)[..2].join(":"))
            .collect();
        assert_eq!(told, ["latency:0 B", "barrier:"]);
    }

    #[test]
    fn figures_have_the_columns_asked_for() {
        let mut run = run();
        for (i, launch) in run.launches.iter_mut().enumerate() {
            if let Some(Record::Samples(s)) = launch.records.first_mut() {
                let tails = serde_json::json!({ "50": 1, "99": 3.0 + i as f64 / 10.0 });
                s.more.insert("tail_us".into(), tails);
            }
        }
        let plan = &run.plan;
        let all = Figures::of(plan, &run.launches);
        let output = Output {
            full: true,
            percentiles: vec![99.0],
            ..Output::default()
        };
        let text = figures(plan, &all, &output);
        let head = text.lines().next().unwrap();
        for word in ["variant", "median", "least", "most", "99 %"] {
            assert!(head.contains(word), "{text}");
        }
        assert_eq!(text.lines().count(), 7);
        assert!(text.contains("10.0 us"), "{text}");
        let ends = |line: usize, with: &str| text.lines().nth(line).unwrap().ends_with(with);
        // The median of 3.0, 3.2 ... 4.4 in one variant, of 3.1 ... 4.5 in the other; nothing of
        // other figures.
        assert!(
            ends(1, "3.70 us") && ends(2, "3.80 us") && ends(3, " -"),
            "{text}"
        );
        let found = compare(plan, &all);
        let text = comparisons(plan, &all, &found, (&output, false));
        let words = |line: usize| {
            let line = text.lines().nth(line).unwrap();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert!(words(0).contains("next to 99 % a 99 % ratio"), "{text}");
        assert!(words(1).contains("us 3.70 us 3.80 us 0.50"), "{text}");
        assert!(words(2).contains("us - - 1.00"), "{text}");
    }
}
