//! What went wrong, as text.

use std::collections::{BTreeMap, BTreeSet};

use crate::launch::LAST_WORDS_FOLLOW;
use crate::raw::Run;
use crate::record::Record;
use crate::show;

/// What was seen of one cause.
#[derive(Default)]
struct Seen {
    /// In which benchmarks.
    of: BTreeSet<String>,
    times: u32,
}

/// What failed or was left out: a line for each variant, place and cause.
pub fn troubles(run: &Run) -> Vec<String> {
    let mut seen: BTreeMap<(String, String), Seen> = BTreeMap::new();
    for launch in &run.launches {
        let who = &run.plan.variants[launch.begin.variant].name;
        let mut note = |of: &str, what: String| {
            let who = format!("{who}, {}", launch.begin.place);
            let seen = seen.entry((who, what)).or_default();
            seen.times += 1;
            seen.of.extend((!of.is_empty()).then(|| of.to_string()));
        };
        for record in &launch.records {
            match record {
                Record::Samples(s) => {
                    if let Some(why) = &s.wrong {
                        let size = if s.is_sized() {
                            show::size(s.size)
                        } else {
                            String::new()
                        };
                        let of = format!("{} {size}", s.bench);
                        note(of.trim_end(), format!("wrong data: {why}"));
                    }
                }
                Record::Skipped(s) => {
                    let size = s.size.map(|size| format!(" {}", show::size(size)));
                    let of = format!("{}{}", s.bench, size.unwrap_or_default());
                    note(&of, format!("skipped: {}", s.why));
                }
                _ => {}
            }
        }
        let late = |record: &Record| matches!(record, Record::Unreached(_));
        if launch.records.iter().any(late) {
            let what = "a launch had no time for all in its share of it (--at-most)";
            note("", what.into());
        }
        if let Some(why) = &launch.failed {
            let first = why.lines().next().unwrap_or_default();
            let first = first.trim_end_matches(LAST_WORDS_FOLLOW);
            match &launch.begin.names[..] {
                [name] => note(name, first.into()),
                names => note(
                    "",
                    format!("a launch of {} benchmarks {first}", names.len()),
                ),
            }
        }
    }
    let line = |((who, what), seen): ((String, String), Seen)| {
        let mut line = format!("{who}: ");
        let of: Vec<String> = seen.of.into_iter().collect();
        if !of.is_empty() {
            line += &format!("{} ", of.join(", "));
        }
        line += &what;
        if seen.times > 1 {
            line += &format!(" ({} times)", seen.times);
        }
        line
    };
    seen.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::launch;
    use crate::raw::tests::header;
    use crate::record::{MARK, read};

    #[test]
    fn causes_are_told_once() {
        let said = |json: &str| read(&format!("{MARK}{json}")).unwrap().unwrap();
        let skipped = |bench: &str, size: u32| {
            said(&format!(
                r#"{{"kind":"skipped","bench":"{bench}","size":{size},"why":"no windows"}}"#
            ))
        };
        let all = || vec![skipped("put", 8), skipped("put", 64), skipped("get", 8)];
        let mut launches = vec![launch(0, 0, all()), launch(1, 0, all())];
        for bench in ["scan", "exscan"] {
            let late = said(&format!(r#"{{"kind":"unreached","bench":"{bench}"}}"#));
            launches[1].records.push(late);
        }
        let told = troubles(&Run::of(header(&["a"]), launches));
        let late = "a, 2 ranks: a launch had no time for all in its share of it (--at-most)";
        let expected = [
            late,
            "a, 2 ranks: get 8 B, put 64 B, put 8 B skipped: no windows (6 times)",
        ];
        assert_eq!(told, expected);
    }
}
