//! The settings by which most bytes of a job would go otherwise, and what is to be expected of
//! them.

use std::fmt::Write;

use crate::explain::Explanation;
use crate::plan::{Given, Plan, Way};
use crate::words::{bytes, number, time};

/// The most that are told and tried.
const MOST: usize = 3;

/// What an eager threshold is tried with, larger and smaller than the default.
const LARGER: &str = "1MiB";
const SMALLER: &str = "4KiB";

/// A setting, and why it may matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// `NAME=VALUE`.
    pub setting: String,
    /// What goes otherwise by it, in words that begin with `as`.
    pub why: String,
    /// How many bytes that are.
    pub bytes: u64,
    /// The value that it has now, if that is not its default.
    pub given: Option<Given>,
    /// What is to be expected, and who says so.
    pub expected: Option<String>,
}

impl Explanation {
    /// The settings that would change most, those first that somebody has given.
    pub fn candidates(&self, plan: &dyn Plan) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = plan
            .given()
            .into_iter()
            .filter_map(|given| self.without(given, plan))
            .collect();
        let names: Vec<String> = all.iter().map(|it| name_of(&it.setting).into()).collect();
        let mut others = self.others(plan);
        others.retain(|it| names.iter().all(|name| name_of(&it.setting) != name));
        all.extend(others);
        all.extend(self.measured(plan));
        all.retain(|it| it.bytes > 0);
        for it in &mut all {
            let measured = plan.measured(&it.setting);
            it.expected = measured.or(it.expected.take());
        }
        all.sort_by_key(|it| (it.given.is_none(), std::cmp::Reverse(it.bytes)));
        all.truncate(MOST);
        all
    }

    /// The default of a setting that has another value.
    fn without(&self, given: Given, plan: &dyn Plan) -> Option<Candidate> {
        let (shared, network) = (self.way("shm"), self.way("network"));
        let (counted, what, expected) = match &*given.name {
            "LINK" => (
                network,
                "pass over a network",
                self.nearer(plan).filter(|_| shared.0 == 0),
            ),
            name if name.ends_with("EAGER_MAX") => {
                let is_shared = name.starts_with("SHM");
                let way = if is_shared { shared } else { network };
                let (value, default) = given.lengths?;
                match (way.0, value < default) {
                    (0, _) => return None,
                    (_, true) => (
                        self.way("sent_rendezvous"),
                        "are announced first",
                        self.unannounced(plan, is_shared),
                    ),
                    (_, false) => (
                        self.way("sent_eager"),
                        "are sent without asking the receiver",
                        None,
                    ),
                }
            }
            "SHM_SINGLE_COPY" => (shared, "pass through shared memory", None),
            name => {
                let of = name.strip_prefix("COLL_")?;
                let (calls, sum, gain) = self.calls_of(of, plan);
                let expected = gain.filter(|gain| *gain > 0).map(|gain| {
                    format!(
                        "{} less in all calls together, by the model of collectives",
                        time(gain)
                    )
                });
                let why = format!("as {} of collectives take it", calls_in_words(calls));
                return Some(Candidate {
                    setting: format!("{name}={}", given.default),
                    why,
                    bytes: sum,
                    given: Some(given),
                    expected,
                });
            }
        };
        Some(Candidate {
            setting: format!("{}={}", given.name, given.default),
            why: why(counted, what),
            bytes: counted.1,
            given: Some(given),
            expected,
        })
    }

    /// Settings that nobody has given.
    fn others(&self, plan: &dyn Plan) -> Vec<Candidate> {
        let is_shared = self.way("shm").1 > self.way("network").1;
        let link = plan.setting("LINK").unwrap_or_default();
        let eager = match is_shared {
            true => "SHM_EAGER_MAX",
            false if link.contains("ofi") => "OFI_EAGER_MAX",
            false if link.contains("ucx") => "UCX_EAGER_MAX",
            false => "TCP_EAGER_MAX",
        };
        let mut all = Vec::new();
        let mut add = |setting: String, what: &str, name: &str, expected: Option<String>| {
            let counted = self.way(name);
            all.push(Candidate {
                setting,
                why: why(counted, what),
                bytes: counted.1,
                given: None,
                expected,
            });
        };
        add(
            format!("{eager}={LARGER}"),
            "are announced first",
            "sent_rendezvous",
            self.unannounced(plan, is_shared),
        );
        add(
            format!("{eager}={SMALLER}"),
            "are sent without asking the receiver",
            "sent_eager",
            None,
        );
        add(
            "SHM_SINGLE_COPY=never".into(),
            "are copied by the receiver out of the sender's memory",
            "sent_fetched",
            None,
        );
        let boards = self.counters.iter();
        let boards =
            boards.filter(|(name, _)| name.starts_with("coll_") && name.ends_with("_board"));
        let calls = boards.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        if calls > 0 {
            all.push(Candidate {
                setting: "COLL_NODE=false".into(),
                why: format!(
                    "as {} of collectives are in shared memory",
                    calls_in_words(calls)
                ),
                bytes: self.calls_of("NODE", plan).1,
                given: None,
                expected: None,
            });
        }
        all
    }

    /// What was measured here but is not used, as somebody says otherwise.
    fn measured(&self, plan: &dyn Plan) -> Vec<Candidate> {
        let measured = plan.given().into_iter().filter_map(|given| {
            let setting = plan.measured_value(&given.name)?;
            let candidate = self.without(given.clone(), plan)?;
            let is_other = setting != candidate.setting
                && setting != format!("{}={}", given.name, given.value);
            is_other.then_some(Candidate {
                setting,
                ..candidate
            })
        });
        measured.collect()
    }

    /// Messages and bytes that the library has counted.
    fn way(&self, name: &str) -> (u64, u64) {
        let of = |what: &str| self.counter(&format!("{name}_{what}"));
        (of("messages"), of("bytes"))
    }

    /// What is saved if no message is announced: its announcement and the answer.
    fn unannounced(&self, plan: &dyn Plan, is_shared: bool) -> Option<String> {
        let (within, between) = plan.ways()?;
        let (way, name) = match is_shared {
            true => (within, "MODEL_NODE_LATENCY"),
            false => (between, "MODEL_NETWORK_LATENCY"),
        };
        let messages = self.way("sent_rendezvous").0;
        let saved = 2.0 * way.latency.as_nanos() as f64 * messages as f64;
        (messages > 0).then(|| {
            format!(
                "at most {} less in all ranks together, by the model: {} times to the receiver and \
                 back, with {name} of {}",
                time(saved as u64),
                number(messages),
                time(way.latency.as_nanos() as u64)
            )
        })
    }

    /// What is saved if messages between ranks of one host are in shared memory.
    fn nearer(&self, plan: &dyn Plan) -> Option<String> {
        let (within, between) = plan.ways()?;
        let (messages, sum) = self.within;
        let one =
            |way: Way| way.latency.as_nanos() as f64 * messages as f64 + sum as f64 / way.bandwidth;
        let saved = one(between) - one(within);
        (messages > 0 && saved > 0.0).then(|| {
            format!(
                "{} less in all ranks together, by the model: {} and {} with MODEL_NODE_LATENCY and \
                 MODEL_NODE_BANDWIDTH in the place of those of the network",
                time(saved as u64),
                match messages {
                    1 => "1 message".to_string(),
                    messages => format!("{} messages", number(messages)),
                },
                bytes(sum)
            )
        })
    }

    /// Calls and bytes of a collective, as its setting calls it, or of all; and by how many
    /// nanoseconds the model has them take less with the algorithm that it would choose.
    fn calls_of(&self, of: &str, plan: &dyn Plan) -> (u64, u64, Option<u64>) {
        let (mut calls, mut sum, mut gain) = (0u64, 0u64, None);
        for (asked, of_ranks) in &self.collectives {
            let name = asked.function.trim_start_matches("MPI_").to_uppercase();
            let name = name.trim_end_matches("_C").trim_end_matches("_BLOCK");
            if of != "NODE" && name != of && name.strip_prefix('I') != Some(of) {
                continue;
            }
            let count = asked.calls(*of_ranks);
            calls = calls.saturating_add(count);
            sum = sum.saturating_add(asked.bytes.max(1).saturating_mul(count));
            if let Some((planned, least)) = plan.costs(asked).filter(|_| of != "NODE") {
                let less = (planned - least).max(0.0) * 1e9 * count as f64;
                gain = Some(gain.unwrap_or(0u64).saturating_add(less as u64));
            }
        }
        (calls, sum, gain)
    }

    /// Adds lines of them.
    pub(crate) fn write_candidates(&self, text: &mut String, plan: &dyn Plan) {
        let all = self.candidates(plan);
        if let Some(profile) = plan.profile() {
            _ = writeln!(text, "profile {profile}");
        }
        if all.is_empty() {
            return;
        }
        text.push_str("settings that would change most; `catena explain --try` measures them\n");
        for it in all {
            let now = it.given.as_ref().map_or(String::new(), Given::words);
            _ = writeln!(text, "  {}{now}, {}", it.setting, it.why);
            _ = match it.expected {
                Some(expected) => writeln!(text, "    expected: {expected}"),
                None => writeln!(
                    text,
                    "    nothing is expected: neither the model nor a profile says what it does"
                ),
            };
        }
    }
}

impl Given {
    /// What the value is now, in brackets.
    fn words(&self) -> String {
        format!(" (now {}: {})", self.value, self.origin)
    }
}

fn name_of(setting: &str) -> &str {
    setting.split_once('=').map_or(setting, |(name, _)| name)
}

fn why((messages, sum): (u64, u64), what: &str) -> String {
    match messages {
        1 => format!(
            "as 1 message of {} {}",
            bytes(sum),
            what.replacen("are ", "is ", 1)
                .replacen("pass ", "passes ", 1)
        ),
        messages => format!(
            "as {} messages of {} in all {what}",
            number(messages),
            bytes(sum)
        ),
    }
}

fn calls_in_words(calls: u64) -> String {
    match calls {
        1 => "1 call".into(),
        calls => format!("{} calls", number(calls)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::Asked;

    /// What is known of a job, with a setting that is given and one that was measured.
    #[derive(Default)]
    struct Known {
        given: Vec<Given>,
        measured: Option<(&'static str, &'static str)>,
    }

    impl Plan for Known {
        fn setting(&self, _: &str) -> Option<String> {
            None
        }

        fn algorithm(&self, _: &Asked) -> Option<String> {
            None
        }

        fn given(&self) -> Vec<Given> {
            self.given.clone()
        }

        fn ways(&self) -> Option<(Way, Way)> {
            let way = |latency, bandwidth| Way {
                latency: Duration::from_nanos(latency),
                bandwidth,
            };
            Some((way(250, 10.0), way(1250, 5.0)))
        }

        fn costs(&self, _: &Asked) -> Option<(f64, f64)> {
            Some((5e-6, 2e-6))
        }

        fn measured(&self, setting: &str) -> Option<String> {
            let (value, gain) = self.measured?;
            (value == setting).then(|| gain.into())
        }

        fn measured_value(&self, name: &str) -> Option<String> {
            let (value, _) = self.measured?;
            (name_of(value) == name).then(|| value.into())
        }
    }

    fn given(name: &str, value: &str, default: &str, lengths: Option<(u64, u64)>) -> Given {
        Given {
            name: name.into(),
            value: value.into(),
            origin: "environment".into(),
            default: default.into(),
            lengths,
        }
    }

    fn job(counters: &[(&str, u64)]) -> Explanation {
        let counters = counters
            .iter()
            .map(|(name, count)| (name.to_string(), *count));
        Explanation {
            counters: counters.collect(),
            ..Explanation::default()
        }
    }

    fn settings(job: &Explanation, known: &Known) -> Vec<String> {
        let all = job.candidates(known).into_iter();
        all.map(|it| it.setting).collect()
    }

    #[test]
    fn those_come_first_by_which_most_bytes_go_otherwise() {
        let mut job = job(&[
            ("shm_bytes", 1000),
            ("sent_rendezvous_bytes", 900),
            ("sent_rendezvous_messages", 3),
            ("sent_eager_bytes", 100),
            ("sent_eager_messages", 7),
            ("sent_fetched_bytes", 50),
            ("sent_fetched_messages", 1),
            ("coll_bcast_board", 4),
        ]);
        let asked = Asked {
            function: "MPI_Bcast".into(),
            ranks: 2,
            hosts: 1,
            is_even: true,
            bytes: 8,
        };
        job.collectives.insert(asked, 40);
        let all = job.candidates(&Known::default());
        let those: Vec<_> = all.iter().map(|it| &*it.setting).collect();
        assert_eq!(
            those,
            [
                "SHM_EAGER_MAX=1MiB",
                "COLL_NODE=false",
                "SHM_EAGER_MAX=4KiB"
            ]
        );
        assert_eq!(
            all[0].why,
            "as 3 messages of 900 B in all are announced first"
        );
        let expected = all[0].expected.as_deref().unwrap();
        assert!(expected.starts_with("at most 1.50 us less"), "{expected}");
        assert!(all[1].expected.is_none());
        let mut text = String::new();
        job.write_candidates(&mut text, &Known::default());
        assert!(text.contains("    nothing is expected: neither"), "{text}");
        assert_eq!(
            settings(&Explanation::default(), &Known::default()),
            [""; 0]
        );
    }

    #[test]
    fn what_somebody_has_given_is_doubted_first() {
        let counters = job(&[
            ("network_messages", 10),
            ("network_bytes", 5000),
            ("sent_rendezvous_messages", 9),
            ("sent_rendezvous_bytes", 4000),
            ("sent_eager_messages", 1),
            ("sent_eager_bytes", 9000),
        ]);
        let eager = given("TCP_EAGER_MAX", "1KiB", "64KiB", Some((1 << 10, 64 << 10)));
        let mut known = Known {
            given: vec![eager],
            measured: None,
        };
        let all = counters.candidates(&known);
        assert_eq!(all[0].setting, "TCP_EAGER_MAX=64KiB");
        assert!(all[0].why.contains("are announced first"));
        // It is not about this way, so it is none.
        known.given[0].name = "SHM_EAGER_MAX".into();
        assert!(
            settings(&counters, &known)
                .iter()
                .all(|it| !it.starts_with("SHM"))
        );
        // Larger than the default.
        known.given[0] = given("TCP_EAGER_MAX", "1MiB", "64KiB", Some((1 << 20, 64 << 10)));
        let all = counters.candidates(&known);
        assert!(all[0].why.contains("without asking"), "{all:?}");
        // Another value was measured.
        known.measured = Some(("TCP_EAGER_MAX=16KiB", "0.8 of the time"));
        let all = counters.candidates(&known);
        let found = all.iter().find(|it| it.setting == "TCP_EAGER_MAX=16KiB");
        assert_eq!(found.unwrap().expected.as_deref(), Some("0.8 of the time"));
    }

    #[test]
    fn a_network_within_a_host_is_doubted() {
        let mut counters = job(&[("network_messages", 10), ("network_bytes", 10_000)]);
        counters.within = (10, 10_000);
        let known = Known {
            given: vec![given("LINK", "tcp", "", None)],
            measured: None,
        };
        let all = counters.candidates(&known);
        assert_eq!(all[0].setting, "LINK=");
        let expected = all[0].expected.as_deref().unwrap();
        // 10 times 1 us, and 10 kB at 5 GB/s and at 10.
        assert!(expected.starts_with("11.0 us less"), "{expected}");
    }

    #[test]
    fn a_forced_algorithm_is_told_with_what_the_model_says() {
        let mut counters = job(&[]);
        let asked = Asked {
            function: "MPI_Ibcast_c".into(),
            ranks: 4,
            hosts: 2,
            is_even: true,
            bytes: 8,
        };
        counters.collectives.insert(asked, 100);
        let known = Known {
            given: vec![given("COLL_BCAST", "linear", "auto", None)],
            measured: None,
        };
        let all = counters.candidates(&known);
        assert_eq!(all[0].setting, "COLL_BCAST=auto");
        assert!(
            all[0]
                .expected
                .as_deref()
                .unwrap()
                .starts_with("300 us less")
        );
    }
}
