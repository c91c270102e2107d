//! `catena tune`: which settings have better values than their defaults on this machine.
//!
//! Two sessions of launches in turn. The first compares the default with every candidate; of each
//! setting the best one that is better somewhere and worse nowhere goes on to the second, whose
//! figures alone count: those of the first are those of the luckiest, too.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::Ipv6Addr;
use std::time::{SystemTime, UNIX_EPOCH};

use catena_settings::profile::{Change, Jobs, Measured, PROFILE, Place, Profile};
use catena_settings::{Origin, PREFIX, Registry, Tuned};

use crate::compare::{Comparison, Verdict, compare};
use crate::figures::{Figure, Figures};
use crate::library::{self, Home};
use crate::machine::Machine;
use crate::raw::{FORMAT, Header, Plan, Purpose, Run, Variant};
use crate::record::{Better, bench_of};
use crate::session::{Finish, Session};
use crate::stats::{Interval, median};
use crate::{FAILED, INTERRUPTED, USAGE, guard, show, stop};

const HELP: &str = include_str!("tune.txt");

/// Seconds for all, and for a quick look.
const LONG: f64 = 570.0;
const SHORT: f64 = 110.0;

/// The most seconds that can be asked for, as of `catena bench`.
const MOST: f64 = 1e9;

/// The most ranks that `mpirun` starts.
const MOST_RANKS: u32 = 1 << 15;

/// The part of the time that the first session has.
const FIRST: f64 = 0.6;

/// Each variant has so many launches in either session, at least and at most: with fewer, none of
/// so many comparisons would be certain.
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
    /// How many ranks these hosts have room for, or two.
    ranks: u32,
    agent: Option<String>,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    name: String,
    value: String,
}

/// What a candidate comes to, of which all figures were measured.
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
    /// Whether each figure has the fewest launches with which anything is sure.
    has_launches: bool,
}

impl Outcome {
    fn holds(&self) -> bool {
        self.better > 0 && self.worse == 0
    }

    /// Whether it is known to be no better than the default.
    fn fails(&self) -> bool {
        self.worse > 0 || (self.better == 0 && self.has_launches)
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
        show::tell(format_args!("catena tune: {why}\n"));
        status
    })
}

fn asked(args: impl Iterator<Item = OsString>) -> Result<Option<Asked>, String> {
    let mut asked = Asked {
        ranks: 2,
        ..Asked::default()
    };
    let mut at_most = None;
    let mut words = args.map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        let mut value = |what: &str| words.next().ok_or(format!("{word} needs {what}"));
        match word.as_str() {
            "-h" | "--help" => return Ok(None),
            "--quick" => asked.is_quick = true,
            "--at-most" => {
                let text = value("a number of seconds")?;
                let seconds = text.parse().ok();
                let seconds = seconds.filter(|it: &f64| *it > 0.0 && *it <= MOST);
                at_most = Some(seconds.ok_or(format!(
                    "--at-most {text}: it must be a number of seconds, more than 0 and {MOST} at \
                     most"
                ))?);
            }
            "--host" => {
                let hosts = value("hosts, as a:1,b:1")?;
                asked.ranks = ranks(&hosts)?.max(2);
                asked.hosts = Some(hosts);
            }
            "--launcher-agent" => asked.agent = Some(value("a command")?),
            _ => return Err(format!("it takes no {word}; see catena tune --help")),
        }
    }
    let usual = if asked.is_quick { SHORT } else { LONG };
    asked.at_most = match at_most {
        // That it is quick holds whatever else is said.
        Some(seconds) if asked.is_quick => SHORT.min(seconds),
        seconds => seconds.unwrap_or(usual),
    };
    if asked.agent.is_some() && asked.hosts.is_none() {
        return Err("--launcher-agent is of use with --host alone".into());
    }
    Ok(Some(asked))
}

/// How many ranks hosts such as `a:1,b:1` have room for.
fn ranks(hosts: &str) -> Result<u32, String> {
    let wrong = |what: String| format!("--host {hosts}: {what}; name hosts as a:1,b:1");
    let mut sum = 0u32;
    for host in hosts.split(',') {
        // An address of IPv6 has colons of its own, or stands in brackets.
        let is_bare = host.ends_with(']') || host.parse::<Ipv6Addr>().is_ok();
        let (name, slots) = match host.rsplit_once(':') {
            Some((name, slots)) if !is_bare => (name, slots),
            _ => (host, "1"),
        };
        if name.is_empty() || name.starts_with('-') {
            return Err(wrong(format!("'{name}' is not the name of a host")));
        }
        let slots = slots.parse().ok().filter(|slots| *slots > 0);
        let slots: u32 = slots.ok_or(wrong(format!("{host} has no number of slots")))?;
        sum = sum.saturating_add(slots);
    }
    match sum {
        0..=MOST_RANKS => Ok(sum),
        _ => Err(wrong(format!("it takes {MOST_RANKS} slots in all at most"))),
    }
}

/// Measures, and writes what comes of it.
fn tuned(asked: &Asked, registry: &Registry) -> Result<i32, String> {
    // What would be measured in vain.
    let place = Place::find()?;
    let machine = Machine::before_measuring();
    for warning in machine.warnings().into_iter().chain(place.warning()) {
        show::tell(format_args!("catena tune: {warning}\n"));
    }
    let (candidates, given) = candidates(asked, registry);
    for (name, origin) in given {
        show::tell(format_args!(
            "catena tune: {name} is not measured, as it is given ({origin}), which counts more\n"
        ));
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
    let again = match chosen.is_empty() {
        true => Vec::new(),
        false => {
            let left = (1.0 - FIRST) * asked.at_most;
            let Some(second) = session(asked, &machine, &chosen, left, asked.is_quick)? else {
                return Ok(INTERRUPTED);
            };
            let figures = Figures::of(&second.plan, &second.launches);
            self::outcomes(&second.plan, &figures)
        }
    };
    let findings = Findings::of(&candidates, &outcomes, &chosen, &again);
    tell(&candidates, &outcomes, &findings);
    write(asked, &place, &findings)
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
    if let Some(hosts) = &asked.hosts {
        library::on_hosts(&mut plain, hosts, asked.agent.as_deref())?;
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
            ranks: vec![asked.ranks],
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

/// What each variant but the first comes to; `None` of one with which not all was measured.
fn outcomes(plan: &Plan, figures: &Figures) -> Vec<Option<Outcome>> {
    let all = compare(plan, figures);
    let figures = &figures.figures;
    // A benchmark for which there was no time has no figures, or not of all its sizes.
    let is_whole = plan.names.iter().all(|name| {
        let sizes = name.split_once(':').map_or("", |(_, sizes)| sizes);
        let of = figures.iter().filter(|it| it.key.bench == bench_of(name));
        of.count() >= sizes.split(',').count()
    });
    let launches = |variant: usize| figures.iter().map(move |it| it.points[variant].len());
    let enough = plan.launches.0 as usize;
    let others = 1..plan.variants.len();
    others
        .map(|other| {
            let of: Vec<&Comparison> = all.iter().filter(|it| it.other == other).collect();
            // What cannot be measured with it is worse.
            let outcome = (is_whole && of.len() == figures.len()).then(|| outcome(&of, figures))?;
            Some(Outcome {
                has_launches: launches(0).chain(launches(other)).all(|it| it >= enough),
                ..outcome?
            })
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
        has_launches: false,
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

/// What two sessions have found.
#[derive(Debug, Default, PartialEq)]
struct Findings {
    /// What holds once more, with what it gains.
    kept: Vec<Measured>,
    /// What is known to be no better than the default, and what was better at first only.
    refuted: Vec<Candidate>,
    relapsed: Vec<Candidate>,
    /// What was not measured as a whole, or not again, in the time.
    open: Vec<Candidate>,
}

impl Findings {
    /// Of all `candidates` with what they came to at first, and of those `chosen` what these came
    /// to `again`.
    fn of(
        candidates: &[Candidate],
        outcomes: &[Option<Outcome>],
        chosen: &[Candidate],
        again: &[Option<Outcome>],
    ) -> Findings {
        let mut found = Findings::default();
        for (it, first) in candidates.iter().zip(outcomes) {
            let second = chosen.iter().zip(again).find(|(known, _)| *known == it);
            match (first, second.map(|(_, outcome)| outcome)) {
                (_, Some(Some(second))) if second.holds() => found.kept.push(Measured {
                    name: it.name.clone(),
                    value: it.value.clone(),
                    gain: second.words(),
                }),
                (_, Some(Some(second))) if second.fails() => found.relapsed.push(it.clone()),
                (Some(first), None) if first.fails() => found.refuted.push(it.clone()),
                _ => found.open.push(it.clone()),
            }
        }
        // One that is kept settles the matter of its setting.
        let kept = &found.kept;
        found
            .open
            .retain(|it| kept.iter().all(|k| k.name != it.name));
        found
    }

    /// Puts what is kept into the values of a profile, and takes out what has been shown to be no
    /// better; what nobody has measured now stays.
    fn put_into(&self, known: &mut Vec<Measured>) {
        let failed = || self.refuted.iter().chain(&self.relapsed);
        known.retain(|old| {
            let of_setting = |name: &str| name == old.name;
            let is_replaced = self.kept.iter().any(|it| of_setting(&it.name));
            // With every value that is measured of it, the setting was no better.
            let is_settled = failed().any(|it| of_setting(&it.name))
                && self.open.iter().all(|it| !of_setting(&it.name));
            let fails = failed().any(|it| of_setting(&it.name) && it.value == old.value);
            !is_replaced && !is_settled && !fails
        });
        known.extend(self.kept.iter().cloned());
    }
}

/// Says what was found of each candidate.
fn tell(candidates: &[Candidate], outcomes: &[Option<Outcome>], found: &Findings) {
    for (it, outcome) in candidates.iter().zip(outcomes) {
        let kept = |k: &&Measured| k.name == it.name && k.value == it.value;
        let words = match (outcome, found.kept.iter().find(kept)) {
            (_, Some(held)) => format!("kept: {}", held.gain),
            (None, _) => "not all could be measured with it in this time".into(),
            (Some(_), _) if found.relapsed.contains(it) => {
                "better at first, but not when it was measured again".into()
            }
            (Some(of), _) if of.worse > 0 => {
                format!("better in {} figures and worse in {}", of.better, of.worse)
            }
            (Some(of), _) if of.holds() && found.kept.iter().any(|k| k.name == it.name) => {
                "better, but another value is still better".into()
            }
            (Some(of), _) if of.holds() => {
                "better at first, but it could not be measured again in this time".into()
            }
            (Some(of), _) if !of.has_launches => {
                "no difference is sure of what could be measured in this time".into()
            }
            (Some(_), _) => "no difference is sure".into(),
        };
        show::say(format_args!("  {}={}: {words}\n", it.name, it.value));
    }
}

/// Writes what was found into the profile.
fn write(asked: &Asked, place: &Place, found: &Findings) -> Result<i32, String> {
    let jobs = Jobs {
        are_on_several: asked.hosts.is_some(),
        program: None,
    };
    let change = place.change(|profile: &mut Profile| {
        found.put_into(profile.values.entry(jobs.clone()).or_default());
    })?;
    show::say(written(place, found, &change));
    Ok(0)
}

/// What has come of all, in words.
fn written(place: &Place, found: &Findings, change: &Change) -> String {
    let path = place.path().display();
    let what = match (found.kept.len(), found.open.is_empty()) {
        (0, true) => "no value is better than its default here".to_string(),
        (0, false) => format!(
            "no value is known to be better than its default here, as there was no time to measure \
             all of {}",
            names(&found.open).join(", ")
        ),
        (1, _) => "1 value is kept".to_string(),
        (count, _) => format!("{count} values are kept"),
    };
    match (change, found.kept.is_empty()) {
        (Change::None, true) if place.is_there() => format!("{what}: {path} is left as it is\n"),
        (Change::None, true) => format!("{what}: no profile is written\n"),
        (Change::Replaced(old), _) => format!(
            "{what} in {path}; the profile of another machine or version is {} now\n",
            old.display()
        ),
        (_, true) => format!("{what}, which is noted in {path}\n"),
        (_, false) => format!("{what} in {path}\n"),
    }
}

#[cfg(test)]
mod tests;
