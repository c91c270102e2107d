//! What the measuring program says: protocol 2, a line per record, on the output of rank 0.
//!
//! Each line is [`MARK`] and one JSON object. Records may gain fields, which are kept as they are,
//! and there may be new kinds, which are passed over; other output between the lines does no harm.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What each record begins with.
pub const MARK: &str = "@catena-bench ";

/// The version of the records that is understood here.
pub const PROTOCOL: u32 = 2;

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// Where the program runs; the first.
    Env(Env),
    /// The repetitions of one size.
    Samples(Samples),
    /// Something was not measured.
    Skipped(Skipped),
    /// There was no time for it, or for all of its sizes (`--within`).
    Unreached(Unreached),
    /// The last.
    End,
    /// Of a later version.
    #[serde(other)]
    Other,
}

/// The library and the places of the ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Env {
    /// See [`PROTOCOL`].
    pub protocol: u32,
    /// The library's name and version, as it says them.
    pub library: String,
    /// Number of ranks.
    pub ranks: u32,
    /// What else is told: the standard's version, threads, hosts, placement.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Repetitions of one benchmark with one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The benchmark.
    pub bench: String,
    /// Bytes of a message or block; 0 where there are none.
    #[serde(default)]
    pub size: u64,
    /// The MPI datatype, where it was chosen.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub datatype: Option<String>,
    /// Number of ranks.
    pub ranks: u32,
    /// Of the values: us, MB/s, 1/s or %.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    /// The repetitions in order.
    pub values: Vec<f64>,
    /// Nanoseconds that a cache line took between ranks 0 and 1, before and after; `None` if they
    /// share no host.
    #[serde(default)]
    pub line_ns: Option<[f64; 2]>,
    /// Repetitions that began late and are not among the values.
    #[serde(default)]
    pub late: u64,
    /// What is wrong with the data that arrived (`-c`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// What else is told.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Which of two values is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// The smaller, of times.
    Less,
    /// The greater, of rates.
    More,
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// The benchmark.
    pub bench: String,
    /// Bytes; `None` if it concerns all sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Why.
    pub why: String,
}

/// A benchmark that was not, or not wholly, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unreached {
    /// The benchmark.
    pub bench: String,
}

impl Record {
    /// The benchmark that it is about.
    pub fn bench(&self) -> Option<&str> {
        match self {
            Record::Samples(samples) => Some(&samples.bench),
            Record::Skipped(skipped) => Some(&skipped.bench),
            Record::Unreached(unreached) => Some(&unreached.bench),
            Record::Env(_) | Record::End | Record::Other => None,
        }
    }
}

/// Understands a line of the program; `None` if it is no record.
///
/// # Errors
/// What is wrong with a record, in words.
pub fn read(line: &str) -> Option<Result<Record, String>> {
    let json = &line[line.find(MARK)? + MARK.len()..];
    Some(understand(json).map_err(|why| format!("{why}: {}", shorten(json))))
}

fn understand(json: &str) -> Result<Record, String> {
    let record = serde_json::from_str(json).map_err(|e| format!("a record is broken ({e})"))?;
    match &record {
        Record::Env(env) if env.protocol != PROTOCOL => Err(format!(
            "the measuring program speaks protocol {}, not {PROTOCOL}; install both of one version",
            env.protocol
        )),
        Record::Samples(s) => s.judge().map(|()| record),
        _ => Ok(record),
    }
}

impl Samples {
    /// Whether it is of messages or blocks of this size, be it 0, which a record says where it is.
    pub fn is_sized(&self) -> bool {
        self.size > 0 || self.more.get("sized") == Some(&Value::Bool(true))
    }

    /// Whether these can be values of something that was measured.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn judge(&self) -> Result<(), String> {
        // What a computation hides or leaves may be all, nothing, or less.
        let of_overlap = self.unit == "%" || self.more.contains_key("pure_us");
        match &self.values[..] {
            [] => Err("a record has no values".into()),
            values if self.unit != "%" && values.iter().any(|v| *v < 0.0) => {
                Err("a record has a value below 0".into())
            }
            values if !of_overlap && values.iter().all(|v| *v == 0.0) => {
                Err("a record has no value but 0".into())
            }
            _ => Ok(()),
        }
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// The benchmark that a word of the command line names: what is before the sizes in
/// `latency:8,64K`.
pub fn bench_of(word: &str) -> &str {
    word.split(':').next().unwrap_or(word)
}

/// One row of the program's table, as `--list` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name.
    pub name: String,
    /// The family it belongs to.
    pub family: String,
    /// Of its values.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    /// Whether it is measured for several sizes.
    pub sized: bool,
    /// Fewest ranks.
    pub min_ranks: u32,
    /// What it needs beside ranks.
    #[serde(default)]
    pub needs: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_among_other_lines() {
        let line = r#"@catena-bench {"kind":"samples","bench":"latency","size":8,"ranks":2,"unit":"us","better":"less","batch":1000,"values":[0.125,0.25],"line_ns":[40.5,41],"late":0,"new":[1]}"#;
        let Some(Ok(Record::Samples(samples))) = read(line) else {
            panic!("{:?}", read(line));
        };
        assert_eq!((samples.bench.as_str(), samples.size), ("latency", 8));
        assert_eq!(samples.values, [0.125, 0.25]);
        assert_eq!(samples.line_ns, Some([40.5, 41.0]));
        assert_eq!(samples.more["batch"], 1000);
        let of = |more: &str| {
            let line = format!(
                r#"{MARK}{{"kind":"samples","bench":"b","size":0,{more}"ranks":2,"unit":"us","better":"less","values":[1]}}"#
            );
            matches!(read(&line), Some(Ok(Record::Samples(s))) if s.is_sized())
        };
        assert!(samples.is_sized() && of("\"sized\":true,") && !of(""));
        assert_eq!(samples.more["new"], Value::from(vec![1]));
        assert_eq!(read("[rank 0] hello"), None);
        let behind = r#"<0>: @catena-bench {"kind":"end"}"#;
        assert_eq!(read(behind), Some(Ok(Record::End)));
        let later = r#"@catena-bench {"kind":"weather","sun":true}"#;
        assert_eq!(read(later), Some(Ok(Record::Other)));
        let far = r#"@catena-bench {"kind":"samples","bench":"barrier","ranks":2,"unit":"us","better":"less","values":[1],"line_ns":null}"#;
        assert!(matches!(read(far), Some(Ok(Record::Samples(s))) if s.line_ns.is_none()));
    }

    #[test]
    fn nonsense_is_told_with_its_beginning() {
        for (json, why) in [
            ("{\"kind\":\"samples\"", "broken"),
            (
                "{\"kind\":\"samples\",\"bench\":\"latency\"}",
                "missing field",
            ),
            (
                r#"{"kind":"env","protocol":9,"library":"x","ranks":2}"#,
                "protocol 9",
            ),
            (
                r#"{"kind":"samples","bench":"b","ranks":2,"unit":"us","better":"less","values":[]}"#,
                "no values",
            ),
            (
                r#"{"kind":"samples","bench":"b","ranks":2,"unit":"us","better":"less","values":[-1]}"#,
                "below 0",
            ),
            (
                r#"{"kind":"samples","bench":"b","ranks":2,"unit":"us","better":"less","values":[0,0]}"#,
                "no value but 0",
            ),
        ] {
            let Some(Err(text)) = read(&format!("{MARK}{json}")) else {
                panic!("{json} was understood");
            };
            assert!(text.contains(why) && text.contains("kind"), "{text}");
        }
    }

    #[test]
    fn rows_of_the_table_are_understood() {
        let row = r#"{"name":"latency","family":"pt2pt","unit":"us","better":"less","sized":true,"min_ranks":2,"needs":[],"options":"mixW"}"#;
        let row: Row = serde_json::from_str(row).unwrap();
        assert_eq!(
            (row.name.as_str(), row.sized, row.min_ranks),
            ("latency", true, 2)
        );
    }
}
