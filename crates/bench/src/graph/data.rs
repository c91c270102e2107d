//! Results as data.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use crate::compare::Comparison;
use crate::figures::Figures;
use crate::guidelines::Checked;
use crate::machine::Machine;
use crate::raw::{Plan, Run, Variant};
use crate::record::{Better, Record};
use crate::stats::{Interval, quantile, sorted};

/// All results of a run, without the repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// When it began, UTC.
    pub time: String,
    /// Version of this command.
    pub catena: String,
    /// The command line.
    pub command: Vec<String>,
    /// Where it was started.
    pub machine: Machine,
    /// What was asked for.
    pub plan: Plan,
    /// What each variant said of itself with each number of ranks: library, hosts, placement.
    pub libraries: Vec<Library>,
    /// What was measured.
    pub figures: Vec<Measured>,
    /// The first variant next to the others.
    pub comparisons: Vec<Judged>,
    /// Collectives next to their mock-ups.
    pub guidelines: Vec<Checked>,
    /// What must be known to read the results.
    pub notes: Vec<String>,
    /// What failed or was left out.
    pub troubles: Vec<String>,
}

/// What a library said of itself.
#[derive(Clone, Debug, Serialize)]
pub struct Library {
    /// Index of the variant.
    pub variant: usize,
    /// Number of ranks.
    pub ranks: u32,
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
    /// Number of ranks.
    pub ranks: u32,
    /// Of the values.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    /// What each variant reached; `None` if it has no value.
    pub variants: Vec<Option<Reached>>,
}

/// What a variant reached.
#[derive(Clone, Debug, Serialize)]
pub struct Reached {
    /// Mean of the launches' medians.
    pub mean: f64,
    /// Where the true mean is.
    pub interval: Option<Interval>,
    /// The medians, in order of time.
    pub medians: Vec<f64>,
    /// Of all repetitions: the 1, 25, 50, 75 and 99 % quantiles.
    pub quantiles: [f64; 5],
}

/// A comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// Index of the figure.
    pub figure: usize,
    /// Index of the other variant.
    pub other: usize,
    /// See [`Comparison`].
    pub ratio: f64,
    /// Likewise.
    pub interval: Option<Interval>,
    /// Likewise.
    pub p: f64,
    /// Likewise.
    pub delta: f64,
    /// In words.
    pub verdict: &'static str,
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
        let header = &run.header;
        Results {
            time: header.time.clone(),
            catena: header.catena.clone(),
            command: header.command.clone(),
            machine: header.machine.clone(),
            plan: header.plan.clone(),
            libraries: libraries(run),
            figures: measured(&header.plan, all),
            comparisons: found.iter().map(judged).collect(),
            guidelines,
            notes,
            troubles,
        }
    }

    /// As JSON.
    ///
    /// # Errors
    /// In words, if a value is no number.
    pub fn json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| format!("results are no JSON: {e}"))
    }

    /// As a table, a line for each figure and variant.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "benchmark,size,ranks,variant,unit,better,mean,low,high,launches,\
             q01,q25,median,q75,q99,ratio,ratio_low,ratio_high,p,delta,verdict\n",
        );
        for (index, figure) in self.figures.iter().enumerate() {
            for (number, reached) in figure.variants.iter().enumerate() {
                let Some(r) = reached else { continue };
                let better = match figure.better {
                    Better::Less => "less",
                    Better::More => "more",
                };
                let variant = quoted(&self.plan.variants[number].name);
                let bench = quoted(&figure.bench);
                let (low, high) = ends(r.interval);
                let _ = write!(
                    text,
                    "{bench},{},{},{variant},{},{better},{},{low},{high},{}",
                    figure.size,
                    figure.ranks,
                    figure.unit,
                    r.mean,
                    r.medians.len()
                );
                for q in r.quantiles {
                    let _ = write!(text, ",{q}");
                }
                let mut judged = self.comparisons.iter();
                match judged.find(|c| (c.figure, c.other) == (index, number)) {
                    Some(c) => {
                        let (low, high) = ends(c.interval);
                        let _ = write!(
                            text,
                            ",{},{low},{high},{},{},{}",
                            c.ratio, c.p, c.delta, c.verdict
                        );
                    }
                    None => text += ",,,,,,",
                }
                text += "\n";
            }
        }
        text
    }

    /// Names of the variants.
    pub fn names(&self) -> Vec<&str> {
        let variants: &[Variant] = &self.plan.variants;
        variants.iter().map(|v| v.name.as_str()).collect()
    }
}

fn ends(interval: Option<Interval>) -> (String, String) {
    interval.map_or_else(Default::default, |i| {
        (i.low.to_string(), i.high.to_string())
    })
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
                let key = (launch.begin.variant, launch.begin.ranks);
                told.entry(key).or_insert_with(|| Library {
                    variant: key.0,
                    ranks: key.1,
                    library: env.library.clone(),
                    more: env.more.clone(),
                });
            }
        }
    }
    told.into_values().collect()
}

fn measured(plan: &Plan, all: &Figures) -> Vec<Measured> {
    let reached = |figure: &crate::figures::Figure, variant: usize| {
        let summary = figure.summary(variant, plan.confidence, plan.seed)?;
        let repetitions = figure.points[variant]
            .iter()
            .flat_map(|p| &p.samples.values);
        let repetitions = sorted(&repetitions.copied().collect::<Vec<_>>());
        Some(Reached {
            mean: summary.mean,
            interval: summary.interval,
            medians: figure.main(variant),
            quantiles: [0.01, 0.25, 0.5, 0.75, 0.99].map(|p| quantile(&repetitions, p)),
        })
    };
    let measured = all.figures.iter().map(|figure| Measured {
        bench: figure.key.title(),
        size: figure.key.size,
        ranks: figure.key.ranks,
        unit: figure.unit.to_string(),
        better: figure.better,
        variants: (0..plan.variants.len())
            .map(|v| reached(figure, v))
            .collect(),
    });
    measured.collect()
}

fn judged(c: &Comparison) -> Judged {
    Judged {
        figure: c.figure,
        other: c.other,
        ratio: c.ratio,
        interval: c.interval,
        p: c.p,
        delta: c.delta,
        verdict: c.verdict.words(),
    }
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
            records.push(sample("barrier", 0, &[value, value, 3.0 * value], 0.0));
            launch(i, variant, records)
        });
        let run = Run {
            header,
            launches: launches.collect(),
        };
        let plan = &run.header.plan;
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
        let results = results();
        let csv = results.csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 5);
        let columns = lines[0].split(',').count();
        assert_eq!(columns, 21);
        assert_eq!(lines[1].split(',').count(), columns, "{}", lines[1]);
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
        assert_eq!(data["comparisons"][0]["verdict"], "better");
    }
}
