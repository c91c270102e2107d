//! What launches have shown of the variants: what they cannot do, and what they had no time for.

use std::collections::{BTreeMap, BTreeSet};

use crate::raw::{Begin, Launch, Plan};
use crate::record::{Record, bench_of};

/// A benchmark that fails as often in launches of its own is left out; one that hangs, at once, for
/// each time costs the whole limit.
pub const STRIKES: u32 = 2;

/// A variant with a number of ranks.
pub type Turn = (usize, u32);

/// See the module.
#[derive(Default)]
pub struct Known {
    /// Failures of benchmarks in launches of their own; of an empty name those in a row at the
    /// start.
    strikes: BTreeMap<(Turn, String), u32>,
    /// What a launch may have failed in.
    suspects: BTreeSet<(Turn, String)>,
    /// When a benchmark was measured last, in numbers that grow.
    last: BTreeMap<(Turn, String), u32>,
    now: u32,
}

impl Known {
    /// The benchmarks among `names` that the variant can do, as far as it has shown: first what was
    /// measured longest ago.
    pub fn due(&self, turn: Turn, names: &[String]) -> Vec<String> {
        let struck = |name: &str| {
            let strikes = self.strikes.get(&(turn, name.to_string()));
            strikes.is_some_and(|s| *s >= STRIKES)
        };
        if struck("") {
            return Vec::new();
        }
        let sound = names.iter().filter(|n| !struck(bench_of(n))).cloned();
        let mut due: Vec<String> = sound.collect();
        due.sort_by_key(|n| self.last.get(&(turn, bench_of(n).to_string())));
        due
    }

    /// What goes into one launch: each by itself that is a launch as a whole, or may be why one
    /// failed; what has threads; and all else.
    pub fn groups(&self, plan: &Plan, turn: Turn, names: Vec<String>) -> Vec<Vec<String>> {
        let mut groups: Vec<(_, Vec<String>)> = Vec::new();
        for name in names {
            let bench = bench_of(&name).to_string();
            let alone = plan.is_timed(&name) || self.suspects.contains(&(turn, bench.clone()));
            let kind = (alone.then_some(bench), plan.is_threaded(&name));
            match groups.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, group)) => group.push(name),
                None => groups.push((kind, vec![name])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// Learns from how a launch ended; of a failure gives what the user is told.
    pub fn learn(&mut self, plan: &Plan, launch: &Launch) -> Option<String> {
        let Begin {
            variant,
            ref place,
            ref names,
            ..
        } = launch.begin;
        let turn = (variant, place.ranks);
        for record in &launch.records {
            // What it cannot do at all need not be asked again.
            if let Record::Skipped(s) = record
                && s.size.is_none()
                && !plan.is_timed(&s.bench)
            {
                self.strikes.insert((turn, s.bench.clone()), STRIKES);
            }
        }
        let rest = unfinished(launch);
        for name in names.iter().filter(|n| !rest.contains(n)) {
            let bench = (turn, bench_of(name).to_string());
            self.now += 1;
            if launch.failed.is_none() {
                self.suspects.remove(&bench);
            }
            self.last.insert(bench, self.now);
        }
        let silent = launch.records.is_empty();
        if !silent {
            self.strikes.remove(&(turn, String::new()));
        }
        let why = launch.failed.as_ref()?;
        let special = |n: &String| plan.is_timed(n) || plan.is_threaded(n);
        let guilty: Vec<&str> = match &names[..] {
            [name] if !silent => vec![bench_of(name)],
            names if silent && names.iter().all(special) => {
                names.iter().map(|n| bench_of(n)).collect()
            }
            _ if silent => vec![""],
            _ => Vec::new(),
        };
        let mut strikes = None;
        for name in guilty {
            let count = self.strikes.entry((turn, name.to_string())).or_default();
            *count += if launch.hung && !silent { STRIKES } else { 1 };
            strikes = Some(*count);
        }
        if strikes.is_none() {
            // The one that it told of last, and the next one: nobody knows how far it was.
            let suspects = rest.iter().take(2).map(|n| (turn, bench_of(n).to_string()));
            self.suspects.extend(suspects);
        }
        let what = match (&names[..], silent) {
            ([name], _) => name.clone(),
            (_, true) => "the start".to_string(),
            _ => format!("a launch of {} benchmarks", names.len()),
        };
        let next = match strikes {
            None => "what it was at is tried by itself, then the rest",
            Some(strikes) if strikes < STRIKES => "it will be tried once more",
            Some(_) => "the rest goes on without it",
        };
        let who = &plan.variants[variant].name;
        Some(format!("{who}, {place}: {what} {why}\n    ({next})"))
    }
}

/// What a launch had no time for, or did not get to before it failed, in its order; the benchmark
/// that it told of last is among it, for it may lack sizes. The first one is not where it was only
/// slow: else it would be the first one for ever.
pub fn unfinished(launch: &Launch) -> Vec<String> {
    let names = &launch.begin.names;
    let is_late = |record: &&Record| matches!(record, Record::Unreached(_));
    let (late, told): (Vec<&Record>, Vec<_>) = launch.records.iter().partition(is_late);
    let told: Vec<&str> = told.into_iter().filter_map(Record::bench).collect();
    let late: Vec<&str> = late.into_iter().filter_map(Record::bench).collect();
    let failed = launch.failed.is_some() && names.len() > 1;
    let open = |(i, name): &(usize, &String)| {
        let name = bench_of(name);
        match failed {
            true => !told.contains(&name) || told.last() == Some(&name),
            false => *i > 0 && late.contains(&name),
        }
    };
    let rest = names.iter().enumerate().filter(open);
    rest.map(|(_, name)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::{launch, sample};
    use crate::raw::tests::header;
    use crate::record::Unreached;

    const ALL: [&str; 4] = ["bcast:8", "latency", "reduce", "scan"];
    const TURN: Turn = (0, 2);

    fn words(names: &[&str]) -> Vec<String> {
        names.iter().map(|n| n.to_string()).collect()
    }

    /// A launch of `names` that told of some of them, and of others that it had no time for them.
    fn told(names: &[String], of: &[&str], late: &[&str]) -> Launch {
        let records = of.iter().map(|name| sample(name, 8, &[1.0], 0.0));
        let late = late.iter().map(|name| {
            Record::Unreached(Unreached {
                bench: name.to_string(),
            })
        });
        let mut launch = launch(0, 0, records.chain(late).collect());
        launch.begin.names = names.to_vec();
        launch
    }

    fn failed(names: &[String], of: &[&str]) -> Launch {
        let mut launch = told(names, of, &[]);
        launch.failed = Some("crashed".into());
        launch
    }

    #[test]
    fn what_had_no_time_comes_first() {
        let plan = header(&["a"]).plan;
        let all = words(&ALL);
        let mut known = Known::default();
        let mut after = |names: &[String], of: &[&str], late: &[&str]| {
            assert_eq!(known.learn(&plan, &told(names, of, late)), None);
            known.due(TURN, &all)
        };
        let next = after(&all, &["bcast", "latency"], &["latency", "reduce", "scan"]);
        assert_eq!(next, words(&["latency", "reduce", "scan", "bcast:8"]));
        // It had all the time, and is not the first one again.
        let next = after(&next, &["latency"], &["latency", "reduce", "scan", "bcast"]);
        assert_eq!(next, words(&["reduce", "scan", "bcast:8", "latency"]));
        let next = after(&next, &["reduce", "scan", "bcast", "latency"], &[]);
        assert_eq!(next, words(&["reduce", "scan", "bcast:8", "latency"]));
        assert_eq!(known.due((0, 4), &all), all, "others are not concerned");
    }

    #[test]
    fn what_may_have_failed_is_tried_by_itself() {
        let plan = header(&["a"]).plan;
        let all = words(&ALL);
        let mut known = Known::default();
        let crash = failed(&all, &["bcast", "latency"]);
        let why = known.learn(&plan, &crash).unwrap();
        assert!(why.contains("4 benchmarks crashed"), "{why}");
        let groups = known.groups(&plan, TURN, unfinished(&crash));
        assert_eq!(
            groups,
            [["latency"], ["reduce"], ["scan"]].map(|g| words(&g))
        );
        known.learn(&plan, &told(&groups[0], &["latency"], &[]));
        let why = known
            .learn(&plan, &failed(&groups[1], &["reduce"]))
            .unwrap();
        assert!(
            why.contains("reduce crashed") && why.contains("once more"),
            "{why}"
        );
        let groups = known.groups(&plan, TURN, known.due(TURN, &all));
        let rest = words(&["scan", "bcast:8", "latency"]);
        assert_eq!(groups, [rest.clone(), words(&["reduce"])]);
        known.learn(&plan, &failed(&groups[1], &["reduce"]));
        assert_eq!(known.due(TURN, &all), rest);
    }

    #[test]
    fn what_hangs_is_not_tried_again() {
        let plan = header(&["a"]).plan;
        let all = words(&ALL);
        let mut known = Known::default();
        let hung = |names: &[String], of: &[&str]| Launch {
            hung: true,
            ..failed(names, of)
        };
        known.learn(&plan, &hung(&all, &["bcast", "latency"]));
        let alone = words(&["reduce"]);
        let env = hung(&alone, &["env"]);
        let why = known.learn(&plan, &env).unwrap();
        assert!(why.contains("goes on without it"), "{why}");
        assert_eq!(
            known.due(TURN, &all),
            words(&["latency", "scan", "bcast:8"])
        );
        // What does not even start may do so the next time.
        known.learn(&plan, &hung(&all, &[]));
        assert_eq!(known.due(TURN, &all).len(), 3);
    }

    #[test]
    fn a_variant_whose_threads_cannot_start_goes_on() {
        let mut plan = header(&["a"]).plan;
        plan.threaded = words(&["scan", "reduce"]);
        let all = words(&ALL);
        let mut known = Known::default();
        let threads = words(&["reduce", "scan"]);
        let rest = words(&["bcast:8", "latency"]);
        for _ in 0..STRIKES {
            assert_eq!(known.due(TURN, &all).len(), 4);
            known.learn(&plan, &failed(&threads, &[]));
        }
        assert_eq!(known.due(TURN, &all), rest);
        // Only failures in a row at the start leave a variant out.
        for of in [&[][..], &["bcast"], &[]] {
            known.learn(&plan, &failed(&rest, of));
        }
        assert_eq!(known.due(TURN, &all), rest);
        known.learn(&plan, &failed(&rest, &[]));
        assert!(known.due(TURN, &all).is_empty());
    }
}
