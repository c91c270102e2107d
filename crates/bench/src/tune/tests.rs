use super::*;

fn words(text: &str) -> Result<Option<Asked>, String> {
    super::asked(text.split_whitespace().map(OsString::from))
}

fn of(better: usize, worse: usize, mean: f64) -> Option<Outcome> {
    Some(Outcome {
        better,
        worse,
        figures: 9,
        mean,
        best: "0.80 of the time, latency of 8 KiB".into(),
        has_launches: true,
    })
}

fn candidate(name: &str, value: &str) -> Candidate {
    Candidate {
        name: name.into(),
        value: value.into(),
    }
}

#[test]
fn a_quick_look_takes_two_minutes_at_most() {
    assert!(words("--quick").unwrap().unwrap().at_most < 120.0);
    assert!(words("").unwrap().unwrap().at_most < 600.0);
    let asked = words("--host a:1,b:1 --launcher-agent ./hosts")
        .unwrap()
        .unwrap();
    assert_eq!(asked.hosts.as_deref(), Some("a:1,b:1"));
    assert_eq!(words("-h"), Ok(None));
    assert!(super::asked(["--host", ""].map(OsString::from).into_iter()).is_err());
    for (hosts, count) in [("a:3,b", 4), ("[::1]:2,[::2]", 3), ("a", 2), ("::1,b:1", 2)] {
        let asked = words(&format!("--host {hosts}")).unwrap().unwrap();
        assert_eq!(asked.ranks, count, "{hosts}");
    }
    for quick in ["--quick --at-most 1e6", "--at-most 1e6 --quick"] {
        assert!(words(quick).unwrap().unwrap().at_most < 120.0, "{quick}");
    }
    for most in ["--at-most 20 --quick", "--at-most 20"] {
        assert_eq!(words(most).unwrap().unwrap().at_most, 20.0);
    }
    assert_eq!(words("--at-most 1e9").unwrap().unwrap().at_most, 1e9);
    for wrong in [
        "--at-most",
        "--at-most x",
        "--at-most -1",
        "--at-most 0",
        "--at-most 1e30",
        "--at-most 1e19",
        "--at-most inf",
        "--at-most NaN",
        "--host a:4294967295,b:2",
        "--host a:0,b:1",
        "--host a:x,b:1",
        "--host a,",
        "--host :2",
        "--launcher-agent x",
        "x",
    ] {
        assert!(words(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_worse_anywhere_is_not_chosen() {
    let all = [
        candidate("A", "1"),
        candidate("A", "2"),
        candidate("A", "3"),
        candidate("B", "1"),
        candidate("C", "1"),
    ];
    let outcomes = [
        of(2, 0, 0.9),
        of(1, 0, 0.8),
        of(5, 1, 0.5),
        of(0, 0, 0.9),
        None,
    ];
    assert_eq!(chosen(&all, &outcomes), [candidate("A", "2")]);
    let again = [of(0, 0, 0.7), of(1, 0, 0.9)];
    let found = Findings::of(&all[..2], &outcomes[..2], &all[..2], &again);
    assert_eq!(found.relapsed, [candidate("A", "1")]);
    assert_eq!(found.kept.len(), 1);
    assert_eq!(
        found.kept[0].gain,
        "0.80 of the time, latency of 8 KiB; better in 1 of 9 figures, worse in none"
    );
}

fn measured(name: &str, value: &str) -> Measured {
    Measured {
        name: name.into(),
        value: value.into(),
        gain: "0.70 of the time".into(),
    }
}

fn hasty(better: usize, worse: usize) -> Option<Outcome> {
    Some(Outcome {
        has_launches: false,
        ..of(better, worse, 0.9)?
    })
}

/// What a profile with these values has after that was found.
fn after(found: &Findings, known: &[Measured]) -> Vec<String> {
    let mut known = known.to_vec();
    found.put_into(&mut known);
    let words = known.into_iter();
    words
        .map(|it| format!("{}={}", it.name, it.value))
        .collect()
}

#[test]
fn what_was_not_measured_stays() {
    let all = ["1", "2"].map(|value| candidate("A", value));
    let known = [measured("A", "1"), measured("GIVEN", "7")];
    let of_two = |one, two| Findings::of(&all, &[one, two], &[], &[]);
    for (one, two) in [
        (None, None),
        (None, of(0, 0, 1.0)),
        (hasty(0, 0), of(0, 0, 1.0)),
    ] {
        let found = of_two(one, two);
        assert!(!found.open.is_empty());
        assert_eq!(after(&found, &known), ["A=1", "GIVEN=7"]);
    }
    // What is known to be no better goes, and nothing else.
    for (one, two) in [
        (of(0, 0, 1.0), None),
        (hasty(0, 1), None),
        (of(0, 0, 1.0), of(1, 1, 1.0)),
    ] {
        assert_eq!(after(&of_two(one, two), &known), ["GIVEN=7"]);
    }
    // A value that is no candidate goes where all of its setting are no better.
    let odd = [measured("A", "9"), measured("GIVEN", "7")];
    let found = of_two(of(0, 0, 1.0), None);
    assert_eq!(after(&found, &odd), ["A=9", "GIVEN=7"]);
    let found = of_two(of(0, 0, 1.0), of(0, 0, 1.0));
    assert_eq!(after(&found, &odd), ["GIVEN=7"]);
    // What could not be measured again is as it was.
    let first = [of(0, 0, 1.0), of(1, 0, 0.8)];
    let again = |outcome| Findings::of(&all, &first, &all[1..], &[outcome]);
    let two = [measured("A", "2"), measured("GIVEN", "7")];
    assert_eq!(after(&again(None), &two), ["A=2", "GIVEN=7"]);
    assert_eq!(after(&again(hasty(0, 0)), &two), ["A=2", "GIVEN=7"]);
    assert_eq!(after(&again(of(0, 0, 1.0)), &two), ["GIVEN=7"]);
    assert_eq!(after(&again(hasty(1, 0)), &known), ["GIVEN=7", "A=2"]);
}

#[test]
fn what_has_no_time_for_all_is_not_measured() {
    use crate::figures::tests::{launch, sample};
    let mut plan = crate::raw::tests::header(&["default", "A=1"]).plan;
    plan.launches = LAUNCHES;
    let told = |plan: &Plan, each: u32, bench: &str| {
        let launches: Vec<_> = (0..2 * each)
            .map(|number| {
                let value = 1.0 + 0.001 * f64::from(number);
                let records = vec![sample(bench, 8, &[value; 5], 0.0)];
                launch(number, number as usize % 2, records)
            })
            .collect();
        let figures = Figures::of(plan, &launches);
        outcomes(plan, &figures).remove(0)
    };
    plan.names = vec!["latency:8".into()];
    assert!(told(&plan, 7, "latency").unwrap().fails());
    assert!(!told(&plan, 6, "latency").unwrap().fails());
    for names in ["latency:8,64", "latency:8 bandwidth:8"] {
        plan.names = names.split(' ').map(String::from).collect();
        assert_eq!(told(&plan, 7, "latency"), None, "{names}");
    }
}

#[test]
fn settings_that_are_measured_change_no_result() {
    let asked = Asked {
        hosts: Some("a,b".into()),
        ..Asked::default()
    };
    // Of no registry there is nothing that a profile may name.
    assert_eq!(candidates(&asked, &Registry::default()), (vec![], vec![]));
    let names = [
        candidate("COLL_BCAST", "linear"),
        candidate("COLL_BCAST", "ring"),
    ];
    let benchmarks = benchmarks(&asked, &names);
    assert_eq!(
        benchmarks
            .iter()
            .filter(|it| it.starts_with("bcast"))
            .count(),
        1
    );
}
