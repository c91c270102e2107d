//! Results as text: tables, the grid, and what must be known to read them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use crate::args::Output;
use crate::compare::{ALIKE, Comparison, Verdict, launches_needed};
use crate::figures::{Figure, Figures};
use crate::place::Place;
use crate::raw::{Plan, Run};
use crate::record::{Record, Samples};
use crate::show;
use crate::stats::{far_out, modes, quantile, sorted};

/// Factor between the middles from which on the launches of a figure have two states.
const APART: f64 = 1.25;

/// Share of repetitions far out, or begun late, from which on it is told.
const FAR_OUT: f64 = 0.1;

/// What each variant reaches.
pub fn figures(plan: &Plan, all: &Figures, output: &Output) -> String {
    let several = plan.variants.len() > 1;
    let mut head = vec!["benchmark", "size", "where"];
    head.extend(several.then_some("variant"));
    head.extend(["mean", "+-", "launches"]);
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
            let Some(summary) = figure.summary(index, plan.confidence, plan.seed) else {
                continue;
            };
            let value = |v: f64| show::value(v, figure.unit);
            let mut row = of_figure(figure);
            row.extend(several.then(|| variant.name.clone()));
            let width = summary
                .interval
                .map(|i| i.relative_half_width(summary.mean));
            let width = width.map_or("-".to_string(), |w| format!("{:.1} %", 100.0 * w));
            row.extend([value(summary.mean), width, summary.launches.to_string()]);
            let medians = sorted(&figure.main(index));
            if output.full {
                row.extend([
                    value(quantile(&medians, 0.0)),
                    value(quantile(&medians, 1.0)),
                ]);
            }
            let repetitions = figure.points[index].iter().flat_map(|p| &p.samples.values);
            let repetitions = sorted(&repetitions.copied().collect::<Vec<_>>());
            let percentiles = output.percentiles.iter();
            row.extend(percentiles.map(|p| value(quantile(&repetitions, p / 100.0))));
            let counts = figure.counts(index);
            let count = |event: &&str| counts.get(event).map_or("-".into(), |c| show::digits(*c));
            row.extend(events.iter().map(count));
            rows.push(row);
        }
    }
    show::columns(&head, &rows)
}

/// The first variant next to each of the others, and the grid.
pub fn comparisons(plan: &Plan, all: &Figures, found: &[Comparison], colour: bool) -> String {
    let first = plan.variants[0].name.as_str();
    let is = format!("{first} is");
    let head = [
        "benchmark",
        "size",
        "where",
        first,
        "next to",
        "",
        "ratio",
        "from",
        "to",
        "p",
        &is,
    ];
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|c| {
            let figure = &all.figures[c.figure];
            let value = |variant| {
                let summary = figure.summary(variant, plan.confidence, plan.seed);
                summary.map_or("-".into(), |s| show::value(s.mean, figure.unit))
            };
            let ratio = |r: f64| match figure.in_points() {
                true => format!("{r:+.1}"),
                false => show::digits(r),
            };
            let end = |end: fn(&crate::stats::Interval) -> f64| {
                c.interval.as_ref().map_or("-".into(), |i| ratio(end(i)))
            };
            let mut row = of_figure(figure);
            row.extend([
                value(0),
                plan.variants[c.other].name.clone(),
                value(c.other),
                ratio(c.ratio),
                end(|i| i.low),
                end(|i| i.high),
                show::chance(c.p),
                paint(c.verdict, c.verdict.words(), colour),
            ]);
            row
        })
        .collect();
    let mut text = show::columns(&head, &rows);
    for other in 1..plan.variants.len() {
        text += &grid(plan, all, found, other, colour);
    }
    if !found.is_empty() {
        let marks = [
            Verdict::Better,
            Verdict::Worse,
            Verdict::Same,
            Verdict::Open,
        ]
        .map(|v| format!("{} {}", v.mark(), v.words()));
        let _ = writeln!(
            text,
            "\nratios: {first} to the other, so less is better in times, more in MB/s and 1/s; {first} is \
             {}",
            marks.join(", ")
        );
    }
    text
}

/// Ratios by benchmark and size, marked by their verdict.
fn grid(plan: &Plan, all: &Figures, found: &[Comparison], other: usize, colour: bool) -> String {
    const CELL: usize = 8;
    let mut text = String::new();
    let key = |c: &Comparison| &all.figures[c.figure].key;
    for place in all.places() {
        let cells = found
            .iter()
            .filter(|c| c.other == other && key(c).place == *place);
        let cells: Vec<&Comparison> = cells.collect();
        let mut sizes: Vec<u64> = cells.iter().map(|c| key(c).size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut titles: Vec<String> = cells.iter().map(|c| key(c).title()).collect();
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
                    .find(|c| key(c).size == *size && key(c).title() == *title);
                line += &match cell {
                    Some(c) => {
                        let cell = format!("{}{}", show::digits(c.ratio), c.verdict.mark());
                        paint(c.verdict, &format!("{cell:>CELL$}"), colour)
                    }
                    None => " ".repeat(CELL),
                };
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
fn paint(verdict: Verdict, text: &str, colour: bool) -> String {
    let code = match verdict {
        Verdict::Better => "30;42",
        Verdict::Worse => "97;41",
        Verdict::Open => "33",
        Verdict::Same => return text.to_string(),
    };
    match colour {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_string(),
    }
}

/// The columns that say what a figure is: benchmark, size, place.
pub fn of_figure(figure: &Figure) -> Vec<String> {
    let key = &figure.key;
    let size = if key.size == 0 {
        String::new()
    } else {
        show::size(key.size)
    };
    vec![key.title(), size, key.place.to_string()]
}

/// What must be known to read the tables: causes of doubt, with a remedy each.
pub fn notes(run: &Run, all: &Figures, found: &[Comparison]) -> Vec<String> {
    let plan = &run.plan;
    let warnings = run.sessions.iter().flat_map(|s| s.machine.warnings());
    let mut notes: Vec<String> = warnings.collect();
    notes.dedup();
    for (place, modes) in &all.states {
        notes.push(format!(
            "{place}: a cache line between ranks 0 and 1 had two states, {:.0} ns and {:.0} ns \
             ({:.0} % of the time): cores moved, as virtual ones do; launches are compared within one \
             state, and the means are those of the more frequent one. Pin the virtual machine's cores \
             to get rid of it",
            modes.low,
            modes.high,
            100.0 * modes.share
        ));
    }
    if all.mixed > 0 {
        notes.push(format!(
            "{} values are left out since the state changed while they were taken",
            all.mixed
        ));
    }
    notes.extend(elsewhere(run));
    notes.extend(uncounted(run));
    notes.extend(unsteady(plan, all));
    let open = found.iter().filter(|c| c.verdict == Verdict::Open).count();
    if open > 0 {
        notes.push(format!(
            "{open} of {} comparisons are unknown: more than {:.0} % to either side is possible, or there \
             are too few launches for any verdict ({} of each variant could tell a single difference). \
             Four times as many (--launches) make intervals half as wide",
            found.len(),
            100.0 * ALIKE,
            launches_needed(found.len(), plan.confidence)
        ));
    }
    notes
}

/// Events of `-P` that cannot be counted here, by cause.
fn uncounted(run: &Run) -> Vec<String> {
    let mut causes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for record in run.launches.iter().flat_map(|l| &l.records) {
        if let Record::Env(env) = record
            && let Some(lacking) = env.more.get("uncounted").and_then(Value::as_object)
        {
            for (event, why) in lacking {
                let events = causes.entry(why.as_str().unwrap_or_default());
                events.or_default().insert(event);
            }
        }
    }
    let note = |(why, events): (&str, BTreeSet<&str>)| {
        let events: Vec<&str> = events.into_iter().collect();
        format!("not counted are {}: {why}", events.join(", "))
    };
    causes.into_iter().map(note).collect()
}

/// Variants whose ranks were on fewer hosts than those of others.
fn elsewhere(run: &Run) -> Vec<String> {
    let mut hosts: BTreeMap<&Place, BTreeMap<usize, BTreeSet<&str>>> = BTreeMap::new();
    for launch in &run.launches {
        for record in &launch.records {
            if let Record::Env(env) = record
                && let Some(names) = env.more.get("hosts").and_then(Value::as_array)
            {
                let place = hosts.entry(&launch.begin.place).or_default();
                let variant = &run.plan.variants[launch.begin.variant].name;
                place.entry(names.len()).or_default().insert(variant);
            }
        }
    }
    let mut notes = Vec::new();
    for (place, hosts) in hosts {
        let most = hosts.keys().max().copied().unwrap_or_default();
        for (count, who) in hosts.into_iter().filter(|(count, _)| *count < most) {
            let who: Vec<&str> = who.into_iter().collect();
            notes.push(format!(
                "{place}: the ranks of {} were on {count} of {most} hosts: their figures are not \
                 comparable with the others. Place them by an option of the launcher (--launcher)",
                who.join(", ")
            ));
        }
    }
    notes
}

/// What the measuring program says against its own values; that some began late is told elsewhere.
fn warning(samples: &Samples) -> Option<&str> {
    let warning = samples.more.get("warning")?.as_str()?;
    (samples.late == 0).then_some(warning)
}

/// Figures whose launches or repetitions are not of one kind.
fn unsteady(plan: &Plan, all: &Figures) -> Vec<String> {
    let mut split = Vec::new();
    let mut far = Vec::new();
    let mut late = Vec::new();
    let mut doubted = Vec::new();
    for figure in &all.figures {
        for (index, variant) in plan.variants.iter().enumerate() {
            let who = format!("{} {}", variant.name, of_figure(figure)[..2].join(" "));
            let who = who.trim_end();
            if let Some(modes) = modes(&figure.main(index), APART) {
                let value = |v| show::value(v, figure.unit);
                split.push(format!(
                    "{who} ({} and {})",
                    value(modes.low),
                    value(modes.high)
                ));
            }
            let values = figure.points[index].iter().flat_map(|p| &p.samples.values);
            let values: Vec<f64> = values.copied().collect();
            if figure.unit == "us" && far_out(&values) > FAR_OUT {
                far.push(who.to_string());
            }
            let missed: u64 = figure.points[index].iter().map(|p| p.samples.late).sum();
            let missed = missed as f64;
            if missed > FAR_OUT * (missed + values.len() as f64) {
                late.push(who.to_string());
            }
            let warnings = figure.points[index]
                .iter()
                .filter_map(|p| warning(p.samples));
            let warnings: Vec<&str> = warnings.collect();
            if 2 * warnings.len() > figure.points[index].len() {
                doubted.push(format!("{who}: {}", warnings[0]));
            }
        }
    }
    let mut notes = Vec::new();
    if !split.is_empty() {
        notes.push(format!(
            "launches of {} have two states that the distance of the cores does not explain: each \
             launch may place memory or ranks differently. Bind ranks (--no-pin leaves them free), or \
             take more launches",
            listed(&split)
        ));
    }
    if !far.is_empty() {
        notes.push(format!(
            "more than {:.0} % of the repetitions of {} are far above the rest: something interrupts \
             the ranks. The medians stand; look at other programs, or leave the system a core",
            100.0 * FAR_OUT,
            listed(&far)
        ));
    }
    if !doubted.is_empty() {
        notes.push(format!("in doubt are {}", listed(&doubted)));
    }
    if !late.is_empty() {
        notes.push(format!(
            "more than {:.0} % of the repetitions of {} began late and are left out: a rank had not \
             come to its start in time. With more ranks than cores take --start barrier; else look at \
             other programs",
            100.0 * FAR_OUT,
            listed(&late)
        ));
    }
    notes
}

/// The first three, and how many more.
fn listed(all: &[String]) -> String {
    match all.len() {
        n @ 0..=3 => all[..n].join(", "),
        n => format!("{} and {} more", all[..3].join(", "), n - 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::figures::tests::{launch, sample};
    use crate::raw::tests::header;
    use crate::record::read;

    fn run() -> Run {
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
        let text = comparisons(plan, &all, &found, false);
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
        let colours = comparisons(plan, &all, &found, true);
        assert!(colours.contains("\x1b[30;42m") && colours.contains("\x1b[97;41m"));
        assert!(notes(&run, &all, &found).is_empty());
    }

    #[test]
    fn counts_are_columns_and_what_lacks_is_told() {
        let mut run = run();
        for launch in &mut run.launches {
            let env = r#"@catena-bench {"kind":"env","protocol":1,"library":"x","ranks":2,"uncounted":{"cycles":"no such counter","branches":"no such counter"}}"#;
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
    fn figures_have_the_columns_asked_for() {
        let run = run();
        let plan = &run.plan;
        let all = Figures::of(plan, &run.launches);
        let output = Output {
            full: true,
            percentiles: vec![99.0],
            ..Output::default()
        };
        let text = figures(plan, &all, &output);
        let head = text.lines().next().unwrap();
        for word in ["variant", "mean", "least", "most", "99 %"] {
            assert!(head.contains(word), "{text}");
        }
        assert_eq!(text.lines().count(), 7);
        assert!(text.contains("10.0 us"), "{text}");
    }

    #[test]
    fn doubts_come_with_a_remedy() {
        let mut run = run();
        run.sessions[0].machine.cpus = 2;
        run.sessions[0].machine.load = 2.0;
        run.launches.truncate(8);
        for (i, launch) in run.launches.iter_mut().enumerate() {
            let line = if i % 3 == 0 {
                155.0
            } else {
                40.0 + i as f64 / 10.0
            };
            launch.records = vec![sample("latency", 8, &[1.0], line)];
            if let Record::Samples(s) = &mut launch.records[0] {
                s.late = 1;
            }
            let mut doubted = sample("ibcast_overlap", 8, &[1.0], line);
            if let Record::Samples(s) = &mut doubted {
                s.more.insert("warning".into(), "too short".into());
            }
            launch.records.push(doubted);
            let hosts = if i % 2 == 0 {
                "[\"x\",\"y\"]"
            } else {
                "[\"x\"]"
            };
            let env = format!(
                "{}{{\"kind\":\"env\",\"protocol\":1,\"library\":\"\",\"ranks\":2,\"hosts\":{hosts}}}",
                crate::record::MARK
            );
            launch
                .records
                .push(crate::record::read(&env).unwrap().unwrap());
        }
        let plan = run.plan.clone();
        let all = Figures::of(&plan, &run.launches);
        let notes = notes(&run, &all, &compare(&plan, &all)).join("\n");
        for part in [
            "load 2.0",
            "40 ns and 155 ns",
            "Pin",
            "--launches",
            "the ranks of b were on 1 of 2 hosts",
            "of a latency 8 B, b latency 8 B began late",
            "in doubt are a ibcast_overlap 8 B: too short, b ibcast_overlap 8 B: too short",
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
    }
}
