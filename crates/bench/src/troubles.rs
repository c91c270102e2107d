//! What went wrong, as text.

use std::collections::BTreeMap;

use crate::launch::LAST_WORDS_FOLLOW;
use crate::raw::Run;
use crate::record::Record;
use crate::show;

/// What failed or was left out: a line for each variant, number of ranks and cause.
pub fn troubles(run: &Run) -> Vec<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for launch in &run.launches {
        let who = &run.plan.variants[launch.begin.variant].name;
        let mut note = |what: String| {
            let line = format!("{who}, {}: {what}", launch.begin.place);
            *seen.entry(line).or_default() += 1;
        };
        for record in &launch.records {
            match record {
                Record::Invalid(i) => {
                    note(format!(
                        "{} {}: wrong: {}",
                        i.bench,
                        show::size(i.size),
                        i.error
                    ));
                }
                Record::Skipped(s) => {
                    let size = s
                        .size
                        .map_or_else(String::new, |s| format!(" {}", show::size(s)));
                    note(format!("{}{size} skipped: {}", s.bench, s.why));
                }
                _ => {}
            }
        }
        if launch.cut {
            note("a launch was ended when its share of the time was over (--at-most)".into());
        }
        if let Some(why) = &launch.failed {
            let first = why.lines().next().unwrap_or_default();
            let first = first.trim_end_matches(LAST_WORDS_FOLLOW);
            note(match &launch.begin.names[..] {
                [name] => format!("{name} {first}"),
                names => format!("a launch of {} benchmarks {first}", names.len()),
            });
        }
    }
    let line = |(line, times)| match times {
        1 => line,
        _ => format!("{line} ({times} times)"),
    };
    seen.into_iter().map(line).collect()
}
