//! How a job has gone, for programs that read it.

use catena_trace::quoted;

use crate::explain::{Explanation, Moment};
use crate::json::{all, object};
use crate::plan::Plan;

impl Explanation {
    /// As an object of JSON, in one line. `messages` and `collectives`, which the calls of the
    /// program tell, are `null` if these are not counted; `silent` are the ranks that are not in
    /// `counters`; `settings` are those that would change most.
    pub fn json(&self, plan: &dyn Plan, moment: Moment) -> String {
        let is_counted = !matches!(moment, Moment::Now { is_counted: false });
        let numbers = |ranks: &[u32]| all(ranks, u32::to_string);
        let hosts: Vec<_> = self.hosts.iter().collect();
        let passed = |(messages, bytes): (u64, u64)| {
            object(&[
                ("messages", messages.to_string()),
                ("bytes", bytes.to_string()),
            ])
        };
        let messages = || {
            object(&[
                ("of_one_host", passed(self.within)),
                ("of_two_hosts", passed(self.between)),
                ("elsewhere", self.elsewhere.to_string()),
            ])
        };
        let collectives: Vec<_> = self.collectives.iter().collect();
        let collectives = || {
            all(&collectives, |(asked, calls)| {
                let planned = plan.algorithm(asked);
                let planned = planned.as_deref();
                let planned = planned.map(|it| it.strip_prefix("planned ").unwrap_or(it));
                object(&[
                    ("function", quoted(asked.function.trim_end_matches("_c"))),
                    ("ranks", asked.ranks.to_string()),
                    (
                        "hosts",
                        or_null((asked.hosts > 0).then(|| asked.hosts.to_string())),
                    ),
                    ("bytes_from", asked.bytes.to_string()),
                    ("calls", asked.calls(**calls).to_string()),
                    ("planned", or_null(planned.map(quoted))),
                ])
            })
        };
        let counters = self.counters.iter();
        let counters = counters.map(|(name, value)| format!("{}:{value}", quoted(name)));
        let counters = counters.collect::<Vec<_>>().join(",");
        let silent: Vec<u32> = [&self.silent[..], &self.finalized].concat();
        object(&[
            (
                "hosts",
                all(&hosts, |(host, ranks)| {
                    object(&[("host", quoted(host)), ("ranks", numbers(ranks))])
                }),
            ),
            ("silent", numbers(&silent)),
            ("messages", or_null(is_counted.then(messages))),
            ("collectives", or_null(is_counted.then(collectives))),
            ("counters", format!("{{{counters}}}")),
            (
                "settings",
                all(&self.candidates(plan), |it| {
                    let given = it.given.as_ref().map(|given| {
                        object(&[
                            ("value", quoted(&given.value)),
                            ("origin", quoted(&given.origin)),
                        ])
                    });
                    object(&[
                        ("setting", quoted(&it.setting)),
                        ("why", quoted(&it.why)),
                        ("bytes", it.bytes.to_string()),
                        ("given", or_null(given)),
                        ("expected", or_null(it.expected.as_deref().map(quoted))),
                    ])
                }),
            ),
            ("profile", or_null(plan.profile().as_deref().map(quoted))),
            ("program", or_null(plan.program().as_deref().map(quoted))),
        ])
    }
}

fn or_null(value: Option<String>) -> String {
    value.unwrap_or_else(|| "null".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Sheet;
    use crate::sheet::tests::sheet;

    #[test]
    fn all_parts_are_there() {
        let sheets: Vec<u8> = (0..2)
            .flat_map(|rank| {
                let told = Sheet::of_library("h0", rank, false, Some("shm_messages 3\n"));
                [sheet(rank, 2).encode(), told.encode()].concat()
            })
            .collect();
        let it = Explanation::read(&sheets);
        let json = it.json(&(), Moment::Now { is_counted: true });
        assert_eq!(
            json,
            "{\"hosts\":[{\"host\":\"h0\",\"ranks\":[0,1]}],\"silent\":[],\
             \"messages\":{\"of_one_host\":{\"messages\":20,\"bytes\":160},\
             \"of_two_hosts\":{\"messages\":0,\"bytes\":0},\"elsewhere\":0},\
             \"collectives\":[{\"function\":\"MPI_Barrier\",\"ranks\":2,\"hosts\":1,\"bytes_from\":8,\
             \"calls\":2,\"planned\":null}],\"counters\":{\"shm_messages\":6},\
             \"settings\":[],\"profile\":null,\"program\":null}"
        );
        let json = it.json(&(), Moment::Now { is_counted: false });
        assert!(
            json.contains("\"messages\":null,\"collectives\":null,"),
            "{json}"
        );
    }
}
