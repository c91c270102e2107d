use super::*;
use crate::raw::{Variant, tests::header};
use std::path::PathBuf;

/// In place of a launcher: tells a record for each benchmark, or fails as its name says.
const STAND_IN: &str = r#"
    shift 3
    [ $1 = hello ] && exit
    echo '@catena-bench {"kind":"env","protocol":2,"library":"stand-in","ranks":2}'
    for name; do
        case $name in
            crash) kill -11 $$ ;;
            hang) sleep 60 ;;
            nonsense) echo '@catena-bench {"kind":"samples"}'; continue ;;
            lonely) echo '@catena-bench {"kind":"skipped","bench":"lonely","why":"needs 9 ranks"}'; continue ;;
            spoilt) bad=1 more=',"wrong":"element 3"' ;;
            -* | [0-9]*) continue ;;
        esac
        echo '@catena-bench {"kind":"samples","bench":"'${name%:*}'","size":8,"ranks":2,"unit":"us","better":"less","values":[1,1.5,1]'$more'}'
        more=
    done
    echo '@catena-bench {"kind":"end"}'
    exit ${bad:-0}"#;

struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        let path = std::env::temp_dir();
        let path = path.join(format!("catena-bench-{name}-{}.jsonl", std::process::id()));
        let _ = std::fs::remove_file(&path);
        File(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn plan(names: &[&str], variants: &[&str]) -> Header {
    let mut header = header(variants);
    let plan = &mut header.plan;
    plan.names = names.iter().map(|n| n.to_string()).collect();
    plan.launches = (3, 3);
    plan.limit = 0.3;
    for variant in &mut plan.variants {
        *variant = Variant {
            name: variant.name.clone(),
            launcher: ["sh", "-c", STAND_IN, "launcher"]
                .map(String::from)
                .to_vec(),
            program: "program".into(),
            ..Variant::default()
        };
    }
    header
}

fn go() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

fn measured(run: &Run, bench: &str) -> usize {
    let records = run.launches.iter().flat_map(|l| &l.records);
    let of = |r: &&Record| matches!(r, Record::Samples(s) if s.bench == bench);
    records.filter(of).count()
}

#[test]
fn who_fails_is_left_out_and_the_rest_goes_on() {
    for (bad, why) in [
        ("crash", "was killed by signal 11"),
        ("hang", "said nothing for 0.3 s"),
        ("nonsense", "a record is broken"),
    ] {
        let place = File::new(bad);
        let header = plan(&["first:8", bad, "lonely", "last"], &["a"]);
        let mut session = Session::new(&place.0, header, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        let run = session.into_run();
        assert!(measured(&run, "first") >= 3, "{bad}");
        assert!(measured(&run, "last") >= 3, "{bad}");
        let told = crate::troubles::troubles(&run).join("\n");
        assert!(told.contains(&format!("a, 2 ranks: {bad} {why}")), "{told}");
        assert!(told.contains("lonely skipped: needs 9 ranks"), "{told}");
        let tries = run
            .launches
            .iter()
            .filter(|l| l.begin.names.contains(&bad.into()));
        assert!(tries.count() <= 2 * known::STRIKES as usize, "{bad}");
        assert_eq!(raw::read(&place.0).unwrap(), run);
    }
}

/// The program ends with status 1 where data were wrong; the launch has told all, and did not fail.
#[test]
fn wrong_data_are_no_failure_of_the_launch() {
    let place = File::new("spoilt");
    let header = plan(&["first:8", "spoilt", "last"], &["a"]);
    let mut session = Session::new(&place.0, header, go()).unwrap();
    assert_eq!(session.measure(), Ok(Finish::Whole));
    let run = session.into_run();
    assert_eq!(run.launches.len(), 3);
    assert!(run.launches.iter().all(|l| l.failed.is_none()), "{run:?}");
    let told = crate::troubles::troubles(&run).join("\n");
    assert_eq!(
        told,
        "a, 2 ranks: spoilt 8 B wrong data: element 3 (3 times)"
    );
}

#[test]
fn whole_launches_and_threads_are_measured_by_themselves() {
    let place = File::new("timed");
    let mut header = plan(&["first", "hello", "threads:8", "last"], &["a"]);
    header.plan.timed = vec!["hello".into()];
    header.plan.threaded = vec!["threads".into()];
    let mut session = Session::new(&place.0, header, go()).unwrap();
    assert_eq!(session.measure(), Ok(Finish::Whole));
    let run = session.into_run();
    let names = |l: &Launch| l.begin.names.join(" ");
    let first: Vec<String> = run.launches.iter().take(3).map(names).collect();
    assert_eq!(first, ["first last", "hello", "threads:8"]);
    let Some(Record::Samples(s)) = run.launches[1].records.last() else {
        panic!("{:?}", run.launches[1]);
    };
    assert!(s.values[0] > 100.0 && s.values[0] <= run.launches[1].seconds * 1e6);
    assert_eq!(raw::read(&place.0).unwrap(), run);
}

#[test]
fn what_cannot_start_is_tried_twice() {
    let place = File::new("missing");
    let mut header = plan(&["first"], &["a", "b"]);
    header.plan.variants[0].launcher = vec!["/nonexistent/mpirun".into()];
    let mut session = Session::new(&place.0, header, go()).unwrap();
    assert_eq!(session.measure(), Ok(Finish::Whole));
    let run = session.into_run();
    assert_eq!(measured(&run, "first"), 3);
    let failed = run.launches.iter().filter(|l| l.failed.is_some()).count();
    assert_eq!(failed, 2);
}

#[test]
fn an_interrupted_session_ends_as_if_it_had_not_been() {
    let place = File::new("resumed");
    let header = plan(&["first", "last"], &["a", "b"]);
    let mut session = Session::new(&place.0, header, go()).unwrap();
    session.measure().unwrap();
    let whole = session.into_run();
    let text = std::fs::read_to_string(&place.0).unwrap();
    let places: Vec<usize> = text
        .match_indices("{\"record\"")
        .map(|(at, _)| at)
        .collect();
    // In the middle of a line of the third launch.
    std::fs::write(&place.0, &text[..places[9] + 20]).unwrap();
    let mut session = Session::resume(&place.0, go()).unwrap();
    assert_eq!(session.measure(), Ok(Finish::Whole));
    let order = |run: &Run| -> Vec<_> {
        let begun = run.launches.iter().map(|l| &l.begin);
        begun
            .map(|b| (b.round, b.variant, b.names.clone()))
            .collect()
    };
    let run = session.into_run();
    assert_eq!(order(&run), order(&whole));
    assert_eq!(raw::read(&place.0).unwrap(), run);
}

#[test]
fn a_turn_of_several_launches_is_gone_on_with() {
    let place = File::new("resumed-turn");
    let mut header = plan(&["first", "hello", "last"], &["a", "b"]);
    header.plan.timed = vec!["hello".into()];
    let mut session = Session::new(&place.0, header, go()).unwrap();
    session.measure().unwrap();
    let whole = session.into_run().launches.len();
    let text = std::fs::read_to_string(&place.0).unwrap();
    let ends = text.match_indices("{\"done\"");
    // Behind the first launch of the second turn.
    let (at, _) = ends.clone().nth(2).unwrap();
    let end = at + text[at..].find('\n').unwrap() + 1;
    assert_eq!((whole, ends.count()), (12, 12));
    std::fs::write(&place.0, &text[..end]).unwrap();
    let mut session = Session::resume(&place.0, go()).unwrap();
    session.measure().unwrap();
    let run = session.into_run();
    assert_eq!((measured(&run, "last"), measured(&run, "hello")), (6, 6));
    assert_eq!(run.launches.len(), whole);
}

#[test]
fn more_launches_until_all_is_precise() {
    let place = File::new("precise");
    let mut header = plan(&["first", "last"], &["a"]);
    header.plan.launches = (2, 50);
    let mut session = Session::new(&place.0, header, go()).unwrap();
    assert_eq!(session.measure(), Ok(Finish::Whole));
    assert_eq!(
        session.into_run().launches.len(),
        5,
        "its values never vary, and five have an interval"
    );
}

#[test]
fn there_is_an_end_to_the_time() {
    let place = File::new("over");
    let mut header = plan(&["first"], &["a", "b"]);
    header.plan.at_most = Some(0.0);
    let mut session = Session::new(&place.0, header, go()).unwrap();
    assert_eq!(session.measure(), Ok(Finish::Whole));
    assert_eq!(session.into_run().launches, []);

    // What launches took before an interruption counts.
    let place = File::new("over-later");
    let mut header = plan(&["first"], &["a", "b"]);
    header.plan.at_most = Some(1000.0);
    let mut session = Session::new(&place.0, header, go()).unwrap();
    session.measure().unwrap();
    let all = session.into_run().launches.len();
    let text = std::fs::read_to_string(&place.0).unwrap();
    let (first, _) = text.match_indices("{\"begin\"").nth(1).unwrap();
    let text = text[..first].replace("\"seconds\":0", "\"seconds\":1000");
    std::fs::write(&place.0, text).unwrap();
    let mut session = Session::resume(&place.0, go()).unwrap();
    assert_eq!(session.measure(), Ok(Finish::Whole));
    assert_eq!((all, session.into_run().launches.len()), (6, 1));
}

#[test]
fn a_time_that_no_clock_has_is_no_end() {
    for seconds in [1e19, 1e30] {
        let mut header = plan(&["first"], &["a"]);
        (header.plan.at_most, header.plan.limit) = (Some(seconds), seconds);
        let mut session = Session::unkept(header, go()).unwrap();
        assert_eq!(session.measure(), Ok(Finish::Whole));
        assert_eq!(session.into_run().launches.len(), 3);
    }
}

#[test]
fn who_has_no_time_for_all_goes_on_where_it_was() {
    // Only the first name is measured.
    let lazy = STAND_IN
        .replacen("for name; do", "first=$1; for name; do", 1)
        .replacen(
            "case $name in",
            r#"case $name in
            [a-z]*) if [ $name != $first ]; then
                echo '@catena-bench {"kind":"unreached","bench":"'$name'"}'
                continue
            fi ;;
        esac
        case $name in"#,
            1,
        );
    let place = File::new("lazy");
    let mut header = plan(&["first", "second", "last"], &["a"]);
    header.plan.at_most = Some(1000.0);
    header.plan.variants[0].launcher[2] = lazy;
    let mut session = Session::new(&place.0, header, go()).unwrap();
    session.measure().unwrap();
    let run = session.into_run();
    let each = ["first", "second", "last"].map(|bench| measured(&run, bench));
    assert_eq!((each, run.launches.len()), ([1, 1, 1], 3));
}

#[test]
fn every_round_has_its_own_order() {
    let header = plan(&["first"], &["a", "b", "c", "d"]);
    let orders: BTreeSet<_> = (0..20).map(|round| order(&header, round)).collect();
    assert!(orders.len() > 10);
    assert_eq!(order(&header, 3), order(&header, 3));
}
