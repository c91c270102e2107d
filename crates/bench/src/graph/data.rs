//! Results as data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::builds;
use crate::compare::Comparison;
use crate::figures::{Figure, Figures};
use crate::guidelines::Checked;
use crate::machine::Machine;
use crate::place::RunPlace;
use crate::raw::{Header, Plan, Run, Variant};
use crate::record::{Better, Record};
use crate::stats::{Interval, quantile, sorted};

/// All results of a run, without the repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// When, where and how.
    pub sessions: Vec<Session>,
    /// What was measured side by side.
    pub variants: Vec<Started>,
    /// What each variant said of itself in each place: library, hosts, placement.
    pub libraries: Vec<Library>,
    /// What was measured.
    pub figures: Vec<Measured>,
    /// The first variant next to the others.
    pub comparisons: Vec<Comparison>,
    /// Collectives next to their mock-ups.
    pub guidelines: Vec<Checked>,
    /// What must be known to read the results.
    pub notes: Vec<String>,
    /// What failed or was left out.
    pub troubles: Vec<String>,
}

/// A session.
#[derive(Clone, Debug, Serialize)]
pub struct Session {
    /// What tells it from others; may be empty.
    pub label: String,
    /// When it began, UTC.
    pub time: String,
    /// Version of this command.
    pub catena: String,
    /// The command line.
    pub command: Vec<String>,
    /// Where it was started.
    pub machine: Machine,
    /// Fewest launches of each variant, and most.
    pub launches: (u32, u32),
    /// See [`Plan::precision`].
    pub precision: f64,
    /// See [`Plan::confidence`].
    pub confidence: f64,
    /// See [`Plan::seed`].
    pub seed: u64,
}

/// A variant, without the folders of this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Started {
    /// What it is called.
    pub name: String,
    /// The command that starts programs.
    pub launcher: String,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// Digests of the builds that its figures are of, by the label of the session: several were
    /// taken together (`--rebuilt`).
    pub builds: BTreeMap<String, BTreeSet<String>>,
}

/// What a library said of itself.
#[derive(Clone, Debug, Serialize)]
pub struct Library {
    /// Index of the variant.
    pub variant: usize,
    /// Where.
    #[serde(flatten)]
    pub place: RunPlace,
    /// Name and version.
    pub library: String,
    /// Threads, hosts, placement, and what else it told.
    pub more: serde_json::Map<String, Value>,
}

/// A figure.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The benchmark.
    pub bench: String,
    /// Bytes.
    pub size: u64,
    /// Whether it has a size, be it 0.
    pub sized: bool,
    /// Where.
    #[serde(flatten)]
    pub place: RunPlace,
    /// Of the values.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    /// Which percentiles of single operations (`-z`) there are.
    pub percents: Vec<f64>,
    /// What each variant reached; `None` if it has no value.
    pub variants: Vec<Option<Reached>>,
    /// What was wrong with the data of each variant.
    pub wrong: Vec<Option<String>>,
}

/// What a variant reached.
#[derive(Clone, Debug, Serialize)]
pub struct Reached {
    /// Median of the launches' medians.
    pub median: f64,
    /// Where the true median is.
    pub interval: Option<Interval>,
    /// The medians, in order of time.
    pub medians: Vec<f64>,
    /// Of all repetitions, each of which is a batch of operations: the 1, 25, 50, 75 and 99 %
    /// quantiles.
    pub quantiles: [f64; 5],
    /// Percentiles of single operations, in the order of [`Measured::percents`]; `None` if this
    /// variant tells none.
    pub tails: Vec<Option<f64>>,
}

impl Results {
    /// Of a run, with what was found in it, and with notes and troubles.
    pub fn of(
        run: &Run,
        all: &Figures,
        found: &[Comparison],
        guidelines: Vec<Checked>,
        (notes, troubles): (Vec<String>, Vec<String>),
    ) -> Results {
        Results {
            sessions: run.sessions.iter().map(session).collect(),
            variants: variants(run),
            libraries: libraries(run),
            figures: measured(&run.plan, all),
            comparisons: found.to_vec(),
            guidelines,
            notes,
            troubles,
        }
    }

    /// As JSON; numbers to five digits.
    ///
    /// # Errors
    /// In words, if a value is no number.
    pub fn json(&self) -> Result<String, String> {
        let mut data =
            serde_json::to_value(self).map_err(|e| format!("results are no JSON: {e}"))?;
        shorten(&mut data);
        Ok(data.to_string())
    }

    /// As a table, a line for each figure and variant.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "benchmark,size,ranks,label,variant,unit,better,median,low,high,launches,\
             batch_q01,batch_q25,batch_q50,batch_q75,batch_q99,",
        );
        let mut percents: Vec<f64> = self
            .figures
            .iter()
            .flat_map(|f| &f.percents)
            .copied()
            .collect();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        for percent in &percents {
            let _ = write!(text, "operation_p{percent},");
        }
        text += "ratio,ratio_low,ratio_high,p,delta,verdict\n";
        for (index, figure) in self.figures.iter().enumerate() {
            let better = match figure.better {
                Better::Less => "less",
                Better::More => "more",
            };
            let (bench, label) = (quoted(&figure.bench), quoted(&figure.place.label));
            for (number, reached) in figure.variants.iter().enumerate() {
                let variant = quoted(&self.variants[number].name);
                let (size, ranks, unit) = (figure.size, figure.place.ranks, &figure.unit);
                let begin = format!("{bench},{size},{ranks},{label},{variant},{unit},{better}");
                if figure.wrong[number].is_some() {
                    let _ = writeln!(text, "{begin}{}wrong data", ",".repeat(15 + percents.len()));
                    continue;
                }
                let mut judged = self.comparisons.iter();
                let judged = judged.find(|c| (c.figure, c.other) == (index, number));
                if let Some(r) = reached {
                    let (low, high) = ends(r.interval);
                    let launches = r.medians.len();
                    let _ = write!(text, "{begin},{},{low},{high},{launches}", digits(r.median));
                    for q in r.quantiles {
                        let _ = write!(text, ",{}", digits(q));
                    }
                    for percent in &percents {
                        let at = figure.percents.iter().position(|p| p == percent);
                        let tail = at.and_then(|at| r.tails[at]);
                        let tail = tail.map_or_else(String::new, |tail| digits(tail).to_string());
                        let _ = write!(text, ",{tail}");
                    }
                } else if judged.is_some() {
                    // It was compared in the other state of the machine only.
                    let _ = write!(text, "{begin}{}", ",".repeat(9 + percents.len()));
                } else {
                    continue;
                }
                match judged {
                    Some(c) => {
                        let (low, high) = ends(c.interval);
                        let _ = write!(
                            text,
                            ",{},{low},{high},{},{},{}",
                            digits(c.ratio),
                            digits(c.p),
                            digits(c.delta),
                            c.verdict.words()
                        );
                    }
                    None => text += ",,,,,,",
                }
                text += "\n";
            }
        }
        text
    }

    /// The hosts, and what was measured side by side there.
    pub fn title(&self) -> String {
        let hosts = self.sessions.iter().map(|s| s.machine.host.as_str());
        let hosts: BTreeSet<&str> = hosts.collect();
        let hosts: Vec<&str> = hosts.into_iter().collect();
        format!("{}: {}", hosts.join(", "), self.names().join(", "))
    }

    /// Names of the variants.
    pub fn names(&self) -> Vec<&str> {
        self.variants.iter().map(|v| v.name.as_str()).collect()
    }
}

fn ends(interval: Option<Interval>) -> (String, String) {
    interval.map_or_else(Default::default, |i| {
        (digits(i.low).to_string(), digits(i.high).to_string())
    })
}

/// The nearest number of five digits.
fn digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

fn shorten(data: &mut Value) {
    match data {
        Value::Array(all) => all.iter_mut().for_each(shorten),
        Value::Object(all) => all.values_mut().for_each(shorten),
        Value::Number(n) if n.is_f64() => {
            *data = n.as_f64().map(digits).into();
        }
        _ => {}
    }
}

fn session(header: &Header) -> Session {
    Session {
        label: header.plan.label.clone(),
        time: header.time.clone(),
        catena: header.catena.clone(),
        command: header.command.clone(),
        machine: header.machine.clone(),
        launches: header.plan.launches,
        precision: header.plan.precision,
        confidence: header.plan.confidence,
        seed: header.plan.seed,
    }
}

fn variants(run: &Run) -> Vec<Started> {
    let mut variants: Vec<Started> = run.plan.variants.iter().map(started).collect();
    for ((label, name), digests) in builds::of(run) {
        for variant in variants.iter_mut().filter(|v| v.name == name) {
            variant.builds.insert(label.clone(), digests.clone());
        }
    }
    variants
}

fn started(variant: &Variant) -> Started {
    let mut words = variant.launcher.iter().map(String::as_str);
    let first = words.next().map_or("", |word| {
        let name = Path::new(word).file_name();
        name.and_then(|name| name.to_str()).unwrap_or(word)
    });
    Started {
        name: variant.name.clone(),
        launcher: [first]
            .into_iter()
            .chain(words)
            .collect::<Vec<_>>()
            .join(" "),
        env: variant.env.clone(),
        builds: BTreeMap::new(),
    }
}

/// A field of a table with commas.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

fn libraries(run: &Run) -> Vec<Library> {
    let mut told = BTreeMap::new();
    for launch in &run.launches {
        for record in &launch.records {
            if let Record::Env(env) = record {
                let key = (launch.begin.variant, launch.begin.place.clone());
                told.entry(key.clone()).or_insert_with(|| Library {
                    variant: key.0,
                    place: key.1,
                    library: env.library.clone(),
                    more: env.more.clone(),
                });
            }
        }
    }
    told.into_values().collect()
}

fn measured(plan: &Plan, all: &Figures) -> Vec<Measured> {
    let reached = |figure: &Figure, variant: usize| {
        let summary = figure.summary(variant, plan.confidence)?;
        let repetitions = figure.points[variant]
            .iter()
            .flat_map(|p| &p.samples.values);
        let repetitions = sorted(&repetitions.copied().collect::<Vec<_>>());
        Some(Reached {
            median: summary.median,
            interval: summary.interval,
            medians: figure.main(variant),
            quantiles: [0.01, 0.25, 0.5, 0.75, 0.99].map(|p| quantile(&repetitions, p)),
            tails: figure
                .tails()
                .into_iter()
                .map(|percent| figure.tail(variant, percent))
                .collect(),
        })
    };
    let measured = all.figures.iter().map(|figure| Measured {
        bench: figure.key.title(),
        size: figure.key.size,
        sized: figure.sized,
        place: figure.key.place.clone(),
        unit: figure.unit.to_string(),
        better: figure.better,
        percents: figure.tails(),
        variants: (0..plan.variants.len())
            .map(|v| reached(figure, v))
            .collect(),
        wrong: figure.wrong.iter().map(|w| w.map(String::from)).collect(),
    });
    measured.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::figures::tests::{launch, sample};
    use crate::raw::tests::header;

    /// Two variants, of which the second takes twice as long.
    pub(crate) fn results() -> Results {
        let mut header = header(&["a", "b, slow"]);
        header.plan.names.push("barrier".into());
        let launches = (0..16).map(|i| {
            let variant = i as usize % 2;
            let value = (1.0 + variant as f64) * (1.0 + f64::from(i) / 1000.0);
            let sizes = [8, 64, 512, 65536].map(|s| sample("latency", s, &[value * s as f64], 0.0));
            let mut records = sizes.to_vec();
            if let Record::Samples(s) = &mut records[2] {
                let tails = serde_json::json!({ "50": value, "99.9": 9.0 * value });
                s.more.insert("tail_us".into(), tails);
            }
            records.push(sample("barrier", 0, &[value, value, 3.0 * value], 0.0));
            launch(i, variant, records)
        });
        let run = Run::of(header, launches.collect());
        let plan = &run.plan;
        let all = Figures::of(plan, &run.launches);
        let found = compare(plan, &all);
        Results::of(
            &run,
            &all,
            &found,
            Vec::new(),
            (vec!["a note".into()], vec!["</script>".into()]),
        )
    }

    #[test]
    fn tables_and_data_have_all_values() {
        let mut results = results();
        results.figures[1].wrong[1] = Some("element 3".into());
        results.figures[1].variants[1] = None;
        let csv = results.csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 5);
        let columns = lines[0].split(',').count();
        assert_eq!(columns, 24);
        let names: Vec<&str> = lines[0].split(',').skip(11).take(7).collect();
        assert_eq!(
            names,
            [
                "batch_q01",
                "batch_q25",
                "batch_q50",
                "batch_q75",
                "batch_q99",
                "operation_p50",
                "operation_p99.9"
            ]
        );
        let tails = |line: usize| lines[line].split(',').skip(16).take(2).collect::<Vec<_>>();
        assert_eq!(tails(5), ["1.007", "9.063"]);
        assert_eq!(tails(1), ["", ""]);
        assert_eq!(lines[1].split(',').count(), columns, "{}", lines[1]);
        assert_eq!(lines[4].split(',').count(), columns + 1, "{}", lines[4]);
        assert!(
            lines[4].starts_with("latency,64,2,,\"b, slow\"") && lines[4].ends_with(",wrong data"),
            "{}",
            lines[4]
        );
        assert!(
            lines[2].contains("\"b, slow\"") && lines[2].ends_with(",better"),
            "{}",
            lines[2]
        );
        let data: Value = serde_json::from_str(&results.json().unwrap()).unwrap();
        assert_eq!(data["figures"][4]["bench"], "barrier");
        assert_eq!(
            data["figures"][0]["variants"][1]["medians"]
                .as_array()
                .unwrap()
                .len(),
            8
        );
        assert_eq!(data["figures"][1]["wrong"][1], "element 3");
        assert_eq!(data["comparisons"][0]["verdict"], "better");
    }
}
