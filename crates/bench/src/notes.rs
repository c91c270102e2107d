//! What must be known to read the tables: causes of doubt, with a remedy each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use catena_settings::PREFIX;

use crate::builds;
use crate::compare::{ALIKE, Comparison, Verdict, launches_needed};
use crate::figures::Figures;
use crate::place::RunPlace;
use crate::raw::{Plan, Run};
use crate::record::{Record, Samples};
use crate::show;
use crate::stats::{far_out, modes};
use crate::table::of_figure;

/// Factor between the middles from which on the launches of a figure have two states.
const APART: f64 = 1.25;

/// Share of repetitions far out, or begun late, from which on it is told.
const FAR_OUT: f64 = 0.1;

/// All of them.
pub fn notes(run: &Run, all: &Figures, found: &[Comparison]) -> Vec<String> {
    let plan = &run.plan;
    let warnings = run.sessions.iter().flat_map(|s| s.machine.warnings());
    let mut notes: Vec<String> = warnings.collect();
    notes.dedup();
    for (place, modes) in &all.states {
        notes.push(format!(
            "{place}: a cache line between ranks 0 and 1 had two states, {:.0} ns and {:.0} ns \
             ({:.0} % of the time): cores moved, as virtual ones do; launches are compared within \
             one state, and medians and ratios are those of the more frequent one. Pin the virtual \
             machine's cores to get rid of it",
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
    notes.extend(exchanged(run));
    notes.extend(rebuilt(run));
    notes.extend(unheard(run));
    notes.extend(uncounted(run));
    notes.extend(unsteady(plan, all));
    let open = found.iter().filter(|c| c.verdict == Verdict::Open).count();
    if open > 0 {
        notes.push(format!(
            "{open} of {} comparisons are unknown: more than {:.0} % to either side is possible, \
             or there are too few launches for any verdict ({} of each variant could tell a single \
             difference). Four times as many (--launches) make intervals half as wide",
            found.len(),
            100.0 * ALIKE,
            launches_needed(found.len(), plan.confidence)
        ));
    }
    notes
}

/// Variants whose library was another one in some launches, as a session was gone on with later.
fn exchanged(run: &Run) -> Vec<String> {
    let mut libraries: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for launch in &run.launches {
        for record in &launch.records {
            if let Record::Env(env) = record {
                let of = libraries.entry(launch.begin.variant).or_default();
                of.insert(&env.library);
            }
        }
    }
    let note = |(variant, of): (usize, BTreeSet<&str>)| {
        let of: Vec<&str> = of.into_iter().collect();
        (of.len() > 1).then(|| {
            format!(
                "{} was not the same library in all launches, so its figures are of none: {}",
                run.plan.variants[variant].name,
                of.join("; ")
            )
        })
    };
    libraries.into_iter().filter_map(note).collect()
}

/// Variants with figures of several builds under one label, which --rebuilt has taken together.
fn rebuilt(run: &Run) -> Vec<String> {
    let mixed = builds::of(run).into_iter();
    let mixed = mixed.filter(|(_, digests)| digests.len() > 1);
    let note = |((label, name), digests): ((String, String), BTreeSet<String>)| {
        let place = if label.is_empty() {
            String::new()
        } else {
            format!(", {label}")
        };
        let digests: Vec<String> = digests.into_iter().collect();
        format!(
            "{name}{place}: figures of {} builds are taken together (--rebuilt; digests {}), so \
             they are of none of them. Measure anew to know one",
            digests.len(),
            digests.join(", ")
        )
    };
    mixed.map(note).collect()
}

/// Variants that have settings of Catena (--link, --setting) and are of another library.
fn unheard(run: &Run) -> Vec<String> {
    let mut told: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for launch in &run.launches {
        let variant = &run.plan.variants[launch.begin.variant];
        let is_other =
            |record: &Record| matches!(record, Record::Env(env) if !is_catena(&env.library));
        if launch.records.iter().any(is_other) {
            let settings = variant.env.keys().filter(|name| name.starts_with(PREFIX));
            let known = told.entry(&variant.name).or_default();
            known.extend(settings.map(String::as_str));
        }
    }
    let note = |(name, settings): (&str, BTreeSet<&str>)| {
        let settings: Vec<&str> = settings.into_iter().collect();
        (!settings.is_empty()).then(|| {
            format!(
                "{name} is not Catena, and {} (--link, --setting) changes nothing for it: its \
                 figures with other values are of the same thing",
                settings.join(", ")
            )
        })
    };
    told.into_iter().filter_map(note).collect()
}

/// Whether a library says so of itself.
fn is_catena(library: &str) -> bool {
    library.starts_with("Catena")
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
    let mut hosts: BTreeMap<&RunPlace, BTreeMap<usize, BTreeSet<&str>>> = BTreeMap::new();
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
    (!warning.contains("began late")).then_some(warning)
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
             launch may place memory or ranks differently. Bind ranks (--no-pin leaves them free), \
             or take more launches",
            listed(&split)
        ));
    }
    if !far.is_empty() {
        notes.push(format!(
            "more than {:.0} % of the repetitions of {} are far above the rest: something \
             interrupts the ranks. The medians stand; look at other programs, or leave the system \
             a core",
            100.0 * FAR_OUT,
            listed(&far)
        ));
    }
    if !doubted.is_empty() {
        notes.push(format!("in doubt are {}", listed(&doubted)));
    }
    if !late.is_empty() {
        notes.push(format!(
            "more than {:.0} % of the repetitions of {} began late and are left out: a rank had \
             not come to its start in time. With more ranks than cores take --start barrier; else \
             look at other programs",
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
    use crate::figures::tests::sample;
    use crate::graph::Results;
    use crate::table::tests::run;

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
            let library = if i == 0 { "old" } else { "new" };
            let env = format!(
                "{}{{\"kind\":\"env\",\"protocol\":2,\"library\":\"{library}\",\"ranks\":2,\"hosts\":{hosts}}}",
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
            "a was not the same library in all launches, so its figures are of none: new; old",
            "of a latency 8 B, b latency 8 B began late",
            "in doubt are a ibcast_overlap 8 B: too short, b ibcast_overlap 8 B: too short",
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
    }

    fn env(library: &str) -> Record {
        let line = format!(
            "{}{{\"kind\":\"env\",\"protocol\":2,\"library\":\"{library}\",\"ranks\":2}}",
            crate::record::MARK
        );
        crate::record::read(&line).unwrap().unwrap()
    }

    fn told(run: &Run) -> String {
        let all = Figures::of(&run.plan, &run.launches);
        notes(run, &all, &[]).join("\n")
    }

    #[test]
    fn mixed_builds_leave_a_trace() {
        let mut run = run();
        run.sessions[0].plan.variants[0].digest = "1".into();
        assert!(!told(&run).contains("builds"));
        run.launches[2].begin.digest = "2".into();
        let notes = told(&run);
        assert!(
            notes.contains("a: figures of 2 builds are taken together (--rebuilt; digests 1, 2)"),
            "{notes}"
        );
        let all = Figures::of(&run.plan, &run.launches);
        let results = Results::of(&run, &all, &[], Vec::new(), (Vec::new(), Vec::new()));
        let json = results.json().unwrap();
        assert!(json.contains(r#""builds":{"":["1","2"]}"#), "{json}");
        // In the file, too.
        let line = serde_json::to_string(&run.launches[2].begin).unwrap();
        assert!(line.contains(r#""digest":"2""#), "{line}");
    }

    #[test]
    fn settings_of_catena_are_for_catena() {
        let mut run = run();
        for variant in &mut run.plan.variants {
            variant.env.insert("CATENA_LINK".into(), "tcp".into());
        }
        for (i, library) in ["Catena 0.1.0", "MPICH Version: 4"].into_iter().enumerate() {
            run.launches[i].records.push(env(library));
        }
        let notes = told(&run);
        assert!(
            notes.contains("b is not Catena, and CATENA_LINK"),
            "{notes}"
        );
        assert!(!notes.contains("a is not Catena"), "{notes}");
    }
}
