//! What launches have shown of the variants: what they cannot do, and what they had no time for.

use std::collections::BTreeMap;

use crate::raw::{Begin, Launch, Plan};
use crate::record::{Record, bench_of};

/// A benchmark that fails as often in launches of its own is left out.
pub const STRIKES: u32 = 2;

/// A variant with a number of ranks.
pub type Turn = (usize, u32);

/// See the module.
#[derive(Default)]
pub struct Known {
    /// Failures of benchmarks in launches of their own; an empty name stands for all.
    strikes: BTreeMap<(Turn, String), u32>,
    /// What launches that were cut did not get to.
    rest: BTreeMap<Turn, Vec<String>>,
}

impl Known {
    /// Those of `names` that the next launch measures: what the last one had no time for, else all
    /// that the variant can do, as far as it has shown.
    pub fn due(&self, turn: Turn, names: &[String]) -> Vec<String> {
        let struck = |name: &str| {
            let strikes = self.strikes.get(&(turn, bench_of(name).to_string()));
            strikes.is_some_and(|s| *s >= STRIKES)
        };
        if struck("") {
            return Vec::new();
        }
        let sound = names.iter().filter(|n| !struck(n)).cloned();
        let sound: Vec<String> = sound.collect();
        let left = |n: &&String| self.rest.get(&turn).is_some_and(|rest| rest.contains(n));
        let rest: Vec<String> = sound.iter().filter(left).cloned().collect();
        if rest.is_empty() { sound } else { rest }
    }

    /// These are left for the next launch.
    pub fn leave(&mut self, turn: Turn, names: impl IntoIterator<Item = String>) {
        self.rest.entry(turn).or_default().extend(names);
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
        self.rest
            .entry(turn)
            .or_default()
            .retain(|n| !names.contains(n));
        if launch.cut {
            self.leave(turn, cut_off(launch));
        }
        let why = launch.failed.as_ref()?;
        let alone = match &names[..] {
            _ if launch.records.is_empty() => Some(""),
            [name] => Some(bench_of(name)),
            _ => None,
        };
        let strikes = alone.map(|name| {
            let strikes = self.strikes.entry((turn, name.to_string())).or_default();
            *strikes += 1;
            *strikes
        });
        let what = match (&names[..], launch.records.is_empty()) {
            ([name], _) => name.clone(),
            (_, true) => "the start".to_string(),
            _ => format!("a launch of {} benchmarks", names.len()),
        };
        let next = match strikes {
            None => "each of the rest is tried by itself",
            Some(strikes) if strikes < STRIKES => "it will be tried once more",
            Some(_) => "the rest goes on without it",
        };
        let who = &plan.variants[variant].name;
        Some(format!("{who}, {place}: {what} {why}\n    ({next})"))
    }
}

/// The benchmarks of a failed launch that may have been the cause, or that it did not get to: not
/// those after which it told of another one.
pub fn suspects(launch: &Launch) -> Vec<String> {
    let names = &launch.begin.names;
    if launch.failed.is_none() || launch.records.is_empty() || names.len() < 2 {
        return Vec::new();
    }
    let told: Vec<&str> = launch.records.iter().filter_map(Record::bench).collect();
    let over = |name: &&String| {
        let name = bench_of(name);
        told.contains(&name) && told.last() != Some(&name)
    };
    names.iter().filter(|n| !over(n)).cloned().collect()
}

/// What a launch that was cut did not get to. The benchmark it told of last may have lacked sizes, so
/// it belongs to that, but not if it had all the time: then the next launch would be cut there, too.
fn cut_off(launch: &Launch) -> Vec<String> {
    let names = &launch.begin.names;
    let of = |record: &Record| {
        let bench = record.bench()?;
        names.iter().position(|n| bench_of(n) == bench)
    };
    let reached: Vec<usize> = launch.records.iter().filter_map(of).collect();
    let from = match (reached.first(), reached.last()) {
        (Some(first), Some(last)) if first < last => *last,
        (_, last) => last.map_or(1, |last| last + 1),
    };
    names.iter().skip(from).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::{launch, sample};
    use crate::raw::tests::header;

    const ALL: [&str; 4] = ["bcast:8", "latency", "reduce", "scan"];

    fn words(names: &[&str]) -> Vec<String> {
        names.iter().map(|n| n.to_string()).collect()
    }

    /// A launch that was cut after it told of `told`.
    fn cut(names: &[String], told: &[&str]) -> Launch {
        let records = told.iter().map(|name| sample(name, 8, &[1.0], 0.0));
        let mut launch = launch(0, 0, records.collect());
        launch.begin.names = names.to_vec();
        launch.cut = true;
        launch
    }

    #[test]
    fn what_is_cut_off_comes_next() {
        let plan = header(&["a"]).plan;
        let (all, turn) = (words(&ALL), (0, 2));
        let mut known = Known::default();
        let mut after = |names: &[String], told: &[&str]| {
            assert_eq!(known.learn(&plan, &cut(names, told)), None);
            known.due(turn, &all)
        };
        // The last one may lack sizes.
        let next = after(&all, &["bcast", "latency", "latency"]);
        assert_eq!(next, words(&ALL[1..]));
        // It had all the time, and is not tried at once again.
        let next = after(&next, &["latency"]);
        assert_eq!(next, words(&ALL[2..]));
        // Who says nothing of the first one goes on behind it.
        let next = after(&next, &[]);
        assert_eq!(next, words(&ALL[3..]));
        assert_eq!(after(&next, &["scan"]), all, "from the beginning");
        assert_eq!(known.due((0, 4), &all), all, "others are not concerned");
    }

    #[test]
    fn what_fails_by_itself_is_no_rest() {
        let plan = header(&["a"]).plan;
        let all = words(&ALL);
        let mut known = Known::default();
        known.leave((0, 2), words(&["scan", "reduce"]));
        assert_eq!(
            known.due((0, 2), &all),
            ["reduce", "scan"],
            "in their order"
        );
        let mut failed = cut(&words(&["reduce"]), &["reduce"]);
        (failed.cut, failed.failed) = (false, Some("crashed".into()));
        let told = known.learn(&plan, &failed).unwrap();
        assert!(
            told.contains("reduce crashed") && told.contains("once more"),
            "{told}"
        );
        assert_eq!(known.due((0, 2), &all), ["scan"]);
        known.learn(&plan, &failed).unwrap();
        known.learn(&plan, &cut(&words(&["scan"]), &[]));
        assert_eq!(
            known.due((0, 2), &all),
            words(&["bcast:8", "latency", "scan"])
        );
    }
}
