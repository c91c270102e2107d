//! Several files as one run: sessions with different labels stand side by side, those with the same
//! one are taken together.

use crate::builds;
use crate::raw::{Header, Plan, Run, Variant};

/// One run of all; `rebuilt`: also where a library is not the same build in all of them.
///
/// # Errors
/// In words, if they do not belong together.
pub fn merge(runs: Vec<Run>, rebuilt: bool) -> Result<Run, String> {
    let mut runs = runs.into_iter();
    let mut all = runs.next().ok_or("there is no file")?;
    for mut run in runs {
        fits(&all, &run)?;
        if !rebuilt {
            builds::together(&builds::of(&all), &builds::of(&run))?;
        }
        let plan = &mut all.plan;
        let places: Vec<usize> = run
            .plan
            .variants
            .iter()
            .map(|variant| place_of(&mut plan.variants, variant))
            .collect();
        add(&mut plan.names, run.plan.names);
        add(&mut plan.timed, run.plan.timed);
        add(&mut plan.threaded, run.plan.threaded);
        add(&mut plan.ranks, run.plan.ranks);
        for launch in &mut run.launches {
            launch.session = all.sessions.len();
            launch.begin.variant = places[launch.begin.variant];
        }
        all.launches.append(&mut run.launches);
        all.sessions.append(&mut run.sessions);
    }
    Ok(all)
}

/// Whether what both say can be judged together.
fn fits(all: &Run, run: &Run) -> Result<(), String> {
    let first = |plan: &Plan| plan.variants.first().map(|v| v.name.clone());
    let is_same = |a: &Header, b: &Header| {
        (&a.time, &a.command, a.plan.seed) == (&b.time, &b.command, b.plan.seed)
    };
    let twice = |s: &&Header| all.sessions.iter().any(|known| is_same(known, s));
    if let Some(twice) = run.sessions.iter().find(twice) {
        return Err(format!(
            "two files are of the same session, which began at {} (seed {}): its launches would \
             count twice; name each session once",
            twice.time, twice.plan.seed
        ));
    }
    if all.plan.purpose != run.plan.purpose {
        return Err("some files are of `compare` or `guidelines` and others are not".into());
    }
    if first(&all.plan) != first(&run.plan) {
        return Err(format!(
            "the files compare different variants with the others: {} and {}",
            first(&all.plan).unwrap_or_default(),
            first(&run.plan).unwrap_or_default()
        ));
    }
    let differs = |s: &&Header| {
        let alike = s.plan.ranks.iter().any(|n| run.plan.ranks.contains(n));
        alike && s.plan.label == run.plan.label && s.plan.options != run.plan.options
    };
    match all.sessions.iter().find(differs) {
        None => Ok(()),
        Some(other) => Err(format!(
            "two sessions were measured in different ways ({} and {}); measure the same way, or \
             give them a --label each",
            other.plan.options.join(" "),
            run.plan.options.join(" ")
        )),
    }
}

/// Index of the variant with that name, which is added if it is new.
fn place_of(variants: &mut Vec<Variant>, variant: &Variant) -> usize {
    let known = variants.iter().position(|v| v.name == variant.name);
    known.unwrap_or_else(|| {
        variants.push(variant.clone());
        variants.len() - 1
    })
}

fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::compare::{Verdict, compare};
    use crate::figures::Figures;
    use crate::figures::tests::{launch, sample};
    use crate::raw::tests::header;

    /// Each variant's launches take its factor, in a session that makes all slower by another one.
    fn run(label: &str, variants: &[(&str, f64)], slower: f64) -> Run {
        let names: Vec<&str> = variants.iter().map(|(name, _)| *name).collect();
        let mut header = header(&names);
        header.plan.label = label.into();
        // Each is a session of its own.
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        header.plan.seed = SESSIONS.fetch_add(1, Ordering::Relaxed);
        let launches = (0..5 * variants.len()).map(|i| {
            let variant = i % variants.len();
            let value = slower * variants[variant].1 * (1.0 + i as f64 / 1000.0);
            let mut launch = launch(i as u32, variant, vec![sample("latency", 8, &[value], 0.0)]);
            launch.begin.place.label = label.into();
            launch
        });
        let launches = launches.collect();
        Run::of(header, launches)
    }

    #[test]
    fn labels_stand_side_by_side() {
        let near = run("near", &[("a", 1.0), ("b", 2.0)], 1.0);
        let far = run("far", &[("a", 1.0), ("c", 0.5), ("b", 2.0)], 10.0);
        let all = merge(vec![near, far], false).unwrap();
        let names: Vec<&str> = all.plan.variants.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let figures = Figures::of(&all.plan, &all.launches);
        let found = compare(&all.plan, &figures);
        let told: Vec<_> = found
            .iter()
            .map(|c| {
                (
                    figures.figures[c.figure].key.place.to_string(),
                    c.other,
                    c.verdict,
                )
            })
            .collect();
        use Verdict::{Better, Worse};
        assert_eq!(
            told,
            [
                ("2 ranks, far".to_string(), 1, Better),
                ("2 ranks, far".to_string(), 2, Worse),
                ("2 ranks, near".to_string(), 1, Better),
            ]
        );
    }

    /// Launches of one session are compared with those of the same session only.
    #[test]
    fn sessions_with_one_label_are_taken_together() {
        let pair = [("a", 1.0), ("b", 1.02)];
        let all = merge(vec![run("", &pair, 1.0), run("", &pair, 10.0)], false).unwrap();
        let figures = Figures::of(&all.plan, &all.launches);
        assert_eq!(figures.figures.len(), 1);
        assert_eq!(figures.figures[0].strata(0, 1).len(), 2);
        let found = compare(&all.plan, &figures);
        assert_eq!(found[0].verdict, Verdict::Better);
        assert!((found[0].ratio - 1.0 / 1.02).abs() < 0.003, "{found:?}");
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let one = || run("", &[("a", 1.0), ("b", 2.0)], 1.0);
        let mut other = one();
        other.plan.options = vec!["-c".into()];
        assert!(
            merge(vec![one(), other], false)
                .unwrap_err()
                .contains("--label")
        );
        let other = run("x", &[("b", 1.0), ("a", 2.0)], 1.0);
        assert!(
            merge(vec![one(), other], false)
                .unwrap_err()
                .contains("a and b")
        );
        let mut other = one();
        other.plan.purpose = crate::raw::Purpose::Guidelines;
        assert!(
            merge(vec![one(), other], false)
                .unwrap_err()
                .contains("guidelines")
        );
        let twice = one();
        let why = merge(vec![one(), twice.clone(), twice], true).unwrap_err();
        assert!(why.contains("same session"), "{why}");
    }

    /// A session with a digest of variant `b`.
    fn built(label: &str, digest: &str) -> Run {
        let mut run = run(label, &[("a", 1.0), ("b", 2.0)], 1.0);
        run.plan.variants[1].digest = digest.into();
        run.sessions[0].plan = run.plan.clone();
        run
    }

    #[test]
    fn builds_of_one_label_are_not_mixed() {
        let merged = |runs: &[(&str, &str)], rebuilt| {
            let runs = runs.iter().map(|(label, digest)| built(label, digest));
            merge(runs.collect(), rebuilt)
        };
        let why = merged(&[("", "1"), ("", "2")], false).unwrap_err();
        assert!(
            why.contains("b is not the build") && why.contains("--rebuilt"),
            "{why}"
        );
        assert!(merged(&[("", "1"), ("", "2")], true).is_ok());
        assert!(merged(&[("", "1"), ("", "1")], false).is_ok());
        assert!(merged(&[("", "1"), ("", "")], false).is_ok());
        // Each with all that are known, not with the first alone.
        let why = merged(&[("", ""), ("", "1"), ("", "2")], false).unwrap_err();
        assert!(why.contains("digest 1 then, 2 now"), "{why}");
        // Labels stand side by side.
        assert!(merged(&[("near", "1"), ("far", "2")], false).is_ok());
        assert!(merged(&[("near", "1"), ("far", "2"), ("near", "2")], false).is_err());
        let all = merged(&[("", "1"), ("", "2")], true).unwrap();
        let digests = &builds::of(&all)[&(String::new(), "b".to_string())];
        assert_eq!(digests.iter().collect::<Vec<_>>(), ["1", "2"]);
        // A file that was gone on with --rebuilt.
        let mut mixed = built("", "1");
        mixed.launches[1].begin.digest = "2".into();
        assert!(merge(vec![mixed.clone()], false).is_ok());
        assert!(merge(vec![built("", "2"), mixed], false).is_err());
    }
}
