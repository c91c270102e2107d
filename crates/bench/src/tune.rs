//! `catena tune`: which settings have better values than their defaults on this machine.
//!
//! Two sessions of launches in turn. The first compares the default with every candidate; of each
//! setting the best one that is better somewhere and worse nowhere goes on to the second, whose
//! figures alone count: those of the first are those of the luckiest, too.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};

use catena_settings::profile::{self, Jobs, Measured, PROFILE};
use catena_settings::{Origin, PREFIX, Registry, Tuned};

use crate::compare::{Comparison, Verdict, compare};
use crate::figures::{Figure, Figures};
use crate::library::{self, Home};
use crate::machine::Machine;
use crate::raw::{FORMAT, Header, Plan, Purpose, Run, Variant};
use crate::record::Better;
use crate::session::{Finish, Session};
use crate::stats::{Interval, median};
use crate::{FAILED, INTERRUPTED, USAGE, guard, show, stop};

const HELP: &str = include_str!("tune.txt");

/// Seconds for all, and for a quick look.
const LONG: f64 = 570.0;
const SHORT: f64 = 110.0;

/// The part of the time that the first session has.
const FIRST: f64 = 0.6;

/// Launches of each, in either session: with fewer, nothing is sure of so many comparisons.
const LAUNCHES: (u32, u32) = (7, 14);

/// A difference below this share is none.
const MARGIN: f64 = 0.03;

/// Where half of the figures of one setting are known no better than this, the machine is not
/// quiet.
const SPREAD: f64 = 0.05;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
struct Asked {
    is_quick: bool,
    at_most: f64,
    hosts: Option<String>,
    agent: Option<String>,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    name: String,
    value: String,
}

/// What a candidate comes to.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    /// In how many figures it is better, and worse.
    better: usize,
    worse: usize,
    figures: usize,
    /// The geometric mean of what it takes, as a share of what the default takes.
    mean: f64,
    /// The figure in which it is the best, in words.
    best: String,
}

impl Outcome {
    fn holds(&self) -> bool {
        self.better > 0 && self.worse == 0
    }

    fn words(&self) -> String {
        format!(
            "{}; better in {} of {} figures, worse in none",
            self.best, self.better, self.figures
        )
    }
}

/// Does what `args`, the words after `catena tune`, ask for; gives the exit status.
pub fn tune(args: impl Iterator<Item = OsString>, registry: &Registry) -> i32 {
    let done = match asked(args) {
        Err(why) => Err((why, USAGE)),
        Ok(None) => {
            show::say(HELP);
            Ok(0)
        }
        Ok(Some(asked)) => tuned(&asked, registry).map_err(|why| (why, FAILED)),
    };
    done.unwrap_or_else(|(why, status)| {
        eprintln!("catena tune: {why}");
        status
    })
}

fn asked(args: impl Iterator<Item = OsString>) -> Result<Option<Asked>, String> {
    let mut asked = Asked {
        at_most: LONG,
        ..Asked::default()
    };
    let mut words = args.map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        let mut value = |what: &str| words.next().ok_or(format!("{word} needs {what}"));
        match word.as_str() {
            "-h" | "--help" => return Ok(None),
            "--quick" => (asked.is_quick, asked.at_most) = (true, SHORT.min(asked.at_most)),
            "--at-most" => {
                let seconds = value("a number of seconds")?.parse();
                let seconds = seconds.ok().filter(|it: &f64| *it > 0.0 && it.is_finite());
                asked.at_most = seconds.ok_or("--at-most takes a number of seconds")?;
            }
            "--host" => asked.hosts = Some(value("hosts, as a:1,b:1")?),
            "--launcher-agent" => asked.agent = Some(value("a command")?),
            _ => return Err(format!("it takes no {word}; see catena tune --help")),
        }
    }
    if asked.agent.is_some() && asked.hosts.is_none() {
        return Err("--launcher-agent is of use with --host alone".into());
    }
    Ok(Some(asked))
}

/// Measures, and writes what comes of it.
fn tuned(asked: &Asked, registry: &Registry) -> Result<i32, String> {
    // What would be measured in vain.
    let (path, _) = profile::open()?;
    let machine = Machine::before_measuring();
    for warning in machine.warnings() {
        eprintln!("catena tune: {warning}");
    }
    let (candidates, given) = candidates(asked, registry);
    for (name, origin) in given {
        eprintln!(
            "catena tune: {name} is not measured, as it is given ({origin}), which counts more"
        );
    }
    if candidates.is_empty() {
        return Err("there is nothing to measure: all settings are given already".into());
    }
    show::say(format_args!(
        "measuring {} values of {} settings, {:.0} minutes at most\n",
        candidates.len(),
        names(&candidates).len(),
        (asked.at_most / 60.0).ceil()
    ));
    let Some(first) = session(
        asked,
        &machine,
        &candidates,
        FIRST * asked.at_most,
        asked.is_quick,
    )?
    else {
        return Ok(INTERRUPTED);
    };
    let figures = Figures::of(&first.plan, &first.launches);
    if figures.figures.is_empty() {
        let failed = first.launches.iter().find_map(|it| it.failed.clone());
        return Err(format!(
            "nothing could be measured: {}",
            failed.unwrap_or_else(|| "there was no time for it".into())
        ));
    }
    let spread = spread(&first.plan, &figures);
    if let Some(spread) = spread.filter(|it| *it > SPREAD) {
        show::say(format_args!(
            "note: this machine is not quiet: half of the figures of one and the same setting are \
             known to {:.0} % only; smaller gains cannot be seen\n",
            100.0 * spread
        ));
    }
    let outcomes = outcomes(&first.plan, &figures);
    let chosen = chosen(&candidates, &outcomes);
    let kept = match chosen.is_empty() {
        true => Vec::new(),
        false => {
            let left = (1.0 - FIRST) * asked.at_most;
            let Some(second) = session(asked, &machine, &chosen, left, asked.is_quick)? else {
                return Ok(INTERRUPTED);
            };
            let figures = Figures::of(&second.plan, &second.launches);
            confirmed(&chosen, &self::outcomes(&second.plan, &figures))
        }
    };
    tell(&candidates, &outcomes, &chosen, &kept);
    write(asked, &path, kept)
}

fn names(candidates: &[Candidate]) -> Vec<&str> {
    let mut names: Vec<&str> = candidates.iter().map(|it| &*it.name).collect();
    names.dedup();
    names
}

/// What is measured, and the settings that are not, with who has given them.
fn candidates(asked: &Asked, registry: &Registry) -> (Vec<Candidate>, Vec<(String, Origin)>) {
    let link = registry
        .find("LINK")
        .map_or(String::new(), |it| it.value_text());
    let network = match () {
        () if link.contains("ofi") => "OFI_EAGER_MAX",
        () if link.contains("ucx") => "UCX_EAGER_MAX",
        () => "TCP_EAGER_MAX",
    };
    const LENGTHS: &[&str] = &["16KiB", "256KiB", "1MiB"];
    let mut all: Vec<(&str, Vec<&str>)> = match asked.hosts {
        None => vec![
            ("SHM_EAGER_MAX", LENGTHS.to_vec()),
            ("SHM_SINGLE_COPY", vec!["always", "never"]),
        ],
        Some(_) => vec![(network, LENGTHS.to_vec())],
    };
    if asked.hosts.is_some() && !asked.is_quick {
        for name in ["COLL_BCAST", "COLL_ALLGATHER", "COLL_ALLTOALL"] {
            let setting = registry.find(name);
            let choices = setting.map_or(&[][..], |it| it.choices());
            let choices = choices.iter().copied().filter(|it| *it != "auto");
            all.push((name, choices.collect()));
        }
    }
    let (mut found, mut given) = (Vec::new(), Vec::new());
    for (name, values) in all {
        let Some(setting) = registry.find(name).filter(|it| it.tuned() != Tuned::Never) else {
            continue;
        };
        match setting.origin() {
            Origin::Default | Origin::Tuned => {
                let values = values
                    .into_iter()
                    .filter(|it| *it != setting.default_text());
                found.extend(values.map(|value| Candidate {
                    name: name.into(),
                    value: value.into(),
                }));
            }
            origin => given.push((name.to_string(), origin)),
        }
    }
    (found, given)
}

/// The benchmarks that tell.
fn benchmarks(asked: &Asked, candidates: &[Candidate]) -> Vec<String> {
    let sizes = match asked.is_quick {
        true => "32K,128K,512K",
        false => "8K,32K,128K,512K",
    };
    let mut all = vec![format!("latency:{sizes}"), format!("bandwidth:{sizes}")];
    if !asked.is_quick {
        all.push("bibandwidth:128K,512K".into());
    }
    for it in names(candidates) {
        let found = ["bcast", "allgather", "alltoall"]
            .into_iter()
            .find(|name| it.strip_prefix("COLL_") == Some(&name.to_uppercase()));
        all.extend(found.map(|name| format!("{name}:8,4K,64K")));
    }
    all
}

/// Measures the default and the candidates in turn; `None` if the user has stopped it.
fn session(
    asked: &Asked,
    machine: &Machine,
    candidates: &[Candidate],
    seconds: f64,
    is_quick: bool,
) -> Result<Option<Run>, String> {
    let home = Home::here(None);
    // By its place, so that it is this very one.
    let word = format!("catena={}", home.prefix.display());
    let mut plain = library::find(&word, &home)?;
    plain.env.insert(PROFILE.into(), "none".into());
    let mut ranks = 2;
    if let Some(hosts) = &asked.hosts {
        library::on_hosts(&mut plain, hosts, asked.agent.as_deref())?;
        let slots = hosts.split(',').map(|host| match host.split_once(':') {
            Some((_, slots)) => slots.parse().unwrap_or(1),
            None => 1u32,
        });
        ranks = slots.sum::<u32>().max(2);
    }
    let with = |it: &Candidate| {
        let mut variant = plain.clone();
        variant
            .env
            .insert(format!("{PREFIX}{}", it.name), it.value.clone());
        variant.name = format!("{}={}", it.name, it.value);
        variant
    };
    let mut variants: Vec<Variant> = vec![plain.clone()];
    variants.extend(candidates.iter().map(with));
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let header = Header {
        format: FORMAT,
        catena: env!("CARGO_PKG_VERSION").to_string(),
        command: vec!["catena".into(), "tune".into()],
        machine: machine.clone(),
        plan: Plan {
            purpose: Purpose::Compare,
            label: String::new(),
            timed: Vec::new(),
            threaded: Vec::new(),
            names: benchmarks(asked, candidates),
            ranks: vec![ranks],
            variants,
            options: ["--seconds", if is_quick { "0.02" } else { "0.04" }, "--pin"]
                .map(String::from)
                .to_vec(),
            launches: LAUNCHES,
            precision: 0.02,
            confidence: 0.95,
            margin: MARGIN,
            limit: 60.0,
            at_most: Some(seconds),
            seed: u64::from(now.subsec_nanos()),
        },
        time: show::utc(now.as_secs()),
    };
    let mut session = Session::unkept(header, stop()?)?.start_by(guard::words());
    Ok(match session.measure()? {
        Finish::Interrupted => None,
        Finish::Whole => Some(session.into_run()),
    })
}

/// How well the default is known: the median half-width of its intervals.
fn spread(plan: &Plan, figures: &Figures) -> Option<f64> {
    let all = figures.figures.iter().filter_map(|figure| {
        let found = figure.summary(0, plan.confidence)?;
        Some(found.interval?.relative_half_width(found.median))
    });
    let all: Vec<f64> = all.collect();
    (!all.is_empty()).then(|| median(&all))
}

/// What each variant but the first comes to; `None` of one that was not measured.
fn outcomes(plan: &Plan, figures: &Figures) -> Vec<Option<Outcome>> {
    let all = compare(plan, figures);
    let others = 1..plan.variants.len();
    others
        .map(|other| {
            let of: Vec<&Comparison> = all.iter().filter(|it| it.other == other).collect();
            // What cannot be measured with it is worse.
            (of.len() == figures.figures.len()).then(|| outcome(&of, &figures.figures))?
        })
        .collect()
}

fn outcome(of: &[&Comparison], figures: &[Figure]) -> Option<Outcome> {
    let share = |it: &Comparison| match figures[it.figure].better {
        Better::Less => 1.0 / it.ratio,
        Better::More => it.ratio,
    };
    let count = |verdict| of.iter().filter(|it| it.verdict == verdict).count();
    let logs = of.iter().map(|it| share(it).ln()).sum::<f64>();
    let mut won: Vec<&&Comparison> = of
        .iter()
        .filter(|it| it.verdict == Verdict::Worse)
        .collect();
    won.sort_by(|a, b| share(a).total_cmp(&share(b)));
    let best = won.first().map_or(String::new(), |it| {
        let figure = &figures[it.figure];
        let within = it.interval.map_or(String::new(), |i| {
            let i = match figure.better {
                Better::Less => Interval {
                    low: 1.0 / i.high,
                    high: 1.0 / i.low,
                },
                Better::More => i,
            };
            format!(" ({:.2} to {:.2})", i.low, i.high)
        });
        let size = match figure.size() {
            size if size.is_empty() => size,
            size => format!(" of {size}"),
        };
        format!(
            "{:.2} of the time{within}, {}{size}",
            share(it),
            figure.key.title()
        )
    });
    (!of.is_empty()).then(|| Outcome {
        better: won.len(),
        worse: count(Verdict::Better),
        figures: of.len(),
        mean: (logs / of.len() as f64).exp(),
        best,
    })
}

/// Of each setting the best value that is better somewhere and worse nowhere.
fn chosen(candidates: &[Candidate], outcomes: &[Option<Outcome>]) -> Vec<Candidate> {
    let mut best: BTreeMap<&str, (&Candidate, f64)> = BTreeMap::new();
    for (candidate, outcome) in candidates.iter().zip(outcomes) {
        let Some(outcome) = outcome.as_ref().filter(|it| it.holds()) else {
            continue;
        };
        let known = best
            .entry(&candidate.name)
            .or_insert((candidate, outcome.mean));
        if outcome.mean < known.1 {
            *known = (candidate, outcome.mean);
        }
    }
    best.into_values().map(|(it, _)| it.clone()).collect()
}

/// What holds once more, with what it gains.
fn confirmed(chosen: &[Candidate], outcomes: &[Option<Outcome>]) -> Vec<Measured> {
    let both = chosen.iter().zip(outcomes);
    let holds = both.filter_map(|(it, outcome)| Some((it, outcome.as_ref()?)));
    let holds = holds.filter(|(_, outcome)| outcome.holds());
    let measured = holds.map(|(it, outcome)| Measured {
        name: it.name.clone(),
        value: it.value.clone(),
        gain: outcome.words(),
    });
    measured.collect()
}

/// Says what was found of each candidate.
fn tell(
    candidates: &[Candidate],
    outcomes: &[Option<Outcome>],
    chosen: &[Candidate],
    kept: &[Measured],
) {
    for (it, outcome) in candidates.iter().zip(outcomes) {
        let held = kept
            .iter()
            .find(|k| k.name == it.name && k.value == it.value);
        let words = match (outcome, held) {
            (_, Some(held)) => format!("kept: {}", held.gain),
            (None, _) => "not all could be measured with it in this time".into(),
            (Some(_), _) if chosen.contains(it) => {
                "better at first, but not when it was measured again".into()
            }
            (Some(of), _) if of.holds() => "better, but another value is still better".into(),
            (Some(of), _) if of.worse > 0 => {
                format!("better in {} figures and worse in {}", of.better, of.worse)
            }
            (Some(_), _) => "no difference is sure".into(),
        };
        show::say(format_args!("  {}={}: {words}\n", it.name, it.value));
    }
}

/// Writes what is kept in the place of what was measured before for such jobs.
fn write(asked: &Asked, path: &std::path::Path, kept: Vec<Measured>) -> Result<i32, String> {
    let (_, mut all) = profile::open()?;
    let jobs = Jobs {
        are_on_several: asked.hosts.is_some(),
        program: None,
    };
    let was = all.values.remove(&jobs).is_some();
    let shown = path.display();
    if kept.is_empty() && !was && !path.exists() {
        show::say("no value is better than its default here: no profile is written\n");
        return Ok(0);
    }
    let count = kept.len();
    if count > 0 {
        all.keep(&jobs, kept);
    }
    profile::write(path, &all)?;
    let what = match count {
        0 => "no value is better than its default here, which is noted".to_string(),
        1 => "1 value is kept".to_string(),
        count => format!("{count} values are kept"),
    };
    show::say(format_args!("{what} in {shown}\n"));
    Ok(0)
}

#[cfg(test)]
mod tests {
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
        for wrong in [
            "--at-most",
            "--at-most x",
            "--at-most -1",
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
        let kept = confirmed(&all[..2], &[of(0, 0, 0.7), of(1, 0, 0.9)]);
        assert_eq!(kept.len(), 1);
        assert_eq!(
            kept[0].gain,
            "0.80 of the time, latency of 8 KiB; better in 1 of 9 figures, worse in none"
        );
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
}
