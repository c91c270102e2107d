//! The profile for programs that read it.

use catena_trace::quoted;

use crate::layout::Class;
use crate::sums::{OnGroup, Profile};

impl Profile {
    /// As an object of JSON, in one line. Times are seconds.
    pub fn json(&self) -> String {
        let fields = [
            ("run", seconds(self.run)),
            ("mpi", seconds(self.mpi)),
            (
                "ranks",
                all(&self.ranks, |it| {
                    object(&[
                        ("rank", it.rank.to_string()),
                        ("host", quoted(&it.host)),
                        ("threads", it.threads.to_string()),
                        ("finalized", it.has_finalized.to_string()),
                        ("run", seconds(it.run)),
                        ("mpi", seconds(it.mpi)),
                        ("files", seconds(it.io)),
                        ("init", seconds(it.init)),
                        ("finalize", seconds(it.finalize)),
                        ("waits", seconds(it.waits)),
                        ("waited_for", seconds(it.waited_for)),
                    ])
                }),
            ),
            (
                "calls",
                all(&self.calls, |it| {
                    object(&[
                        ("function", quoted(&it.function)),
                        ("place", quoted(&it.place)),
                        ("calls", it.calls.to_string()),
                        ("time", seconds(it.time)),
                        ("longest", seconds(it.longest)),
                        ("bytes", it.bytes.to_string()),
                        ("least_rank", it.least.0.to_string()),
                        ("least", seconds(it.least.1)),
                        ("most_rank", it.most.0.to_string()),
                        ("most", seconds(it.most.1)),
                    ])
                }),
            ),
            (
                "functions",
                all(&self.functions, |(name, on)| {
                    on_group(&[("function", quoted(name))], on)
                }),
            ),
            (
                "waits",
                all(&self.longest_waits(), |((who, whom), waited)| {
                    object(&[
                        ("rank", who.to_string()),
                        ("for", whom.to_string()),
                        ("messages", seconds(waited.message)),
                        ("collectives", seconds(waited.collective)),
                    ])
                }),
            ),
            (
                "pairs",
                all(&self.largest_pairs(), |((from, to), passed)| {
                    object(&[
                        ("from", from.to_string()),
                        ("to", to.to_string()),
                        ("bytes", passed.bytes.to_string()),
                        ("messages", passed.messages.to_string()),
                    ])
                }),
            ),
            ("sizes", self.sizes_in_json()),
            (
                "collectives",
                all(&self.collectives, |((name, function), on)| {
                    on_group(
                        &[
                            ("communicator", quoted(name)),
                            ("function", quoted(function)),
                        ],
                        on,
                    )
                }),
            ),
            (
                "files",
                all(&self.files, |((name, function), on)| {
                    on_group(
                        &[("file", quoted(name)), ("function", quoted(function))],
                        on,
                    )
                }),
            ),
            ("lost_calls", self.lost_calls.to_string()),
            ("no_room", self.no_room.to_string()),
        ];
        object(&fields) + "\n"
    }

    /// How many messages there are from each size on, up to the double.
    fn sizes_in_json(&self) -> String {
        let of = self.sizes.iter().flat_map(|(class, sizes)| {
            let kind = match class {
                Class::Message => "messages",
                Class::Collective => "collectives",
                Class::OneSided => "one-sided",
                Class::File => "files",
                Class::Other => "others",
            };
            sizes.iter().map(move |(&size, &count)| {
                let from = match size {
                    0 => 0,
                    size => 1_u64 << (size - 1).min(62),
                };
                (kind, from, count)
            })
        });
        all(&of.collect::<Vec<_>>(), |(kind, from, count)| {
            object(&[
                ("kind", quoted(kind)),
                ("from", from.to_string()),
                ("count", count.to_string()),
            ])
        })
    }
}

fn on_group(names: &[(&str, String)], on: &OnGroup) -> String {
    let numbers = [
        ("calls", on.calls.to_string()),
        ("time", seconds(on.time)),
        ("bytes", on.bytes.to_string()),
    ];
    object(&[names, &numbers].concat())
}

pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let fields = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

pub(crate) fn all<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    let items: Vec<_> = items.iter().map(write).collect();
    format!("[{}]", items.join(","))
}

fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use crate::sheet::tests::sheet;
    use crate::sums::Profile;

    #[test]
    fn all_parts_are_there() {
        let json = Profile::new((0..2).map(|rank| sheet(rank, 2)).collect()).json();
        for part in [
            "{\"run\":2.000000000,\"mpi\":0.302000000,\"ranks\":[{\"rank\":0,\"host\":\"h0\",",
            "\"calls\":[{\"function\":\"MPI_Barrier\",\"place\":\"ring.c:7\",\"calls\":4,",
            "\"waits\":[{\"rank\":1,\"for\":0,\"messages\":0.001000000,\"collectives\":0.100000000}",
            "{\"from\":0,\"to\":1,\"bytes\":80,\"messages\":10}",
            "{\"kind\":\"messages\",\"from\":8,\"count\":20}",
            "\"collectives\":[{\"communicator\":\"MPI_COMM_WORLD\",\"function\":\"MPI_Barrier\",",
            "\"files\":[],\"lost_calls\":0,\"no_room\":0}\n",
        ] {
            assert!(json.contains(part), "{part} is not in {json}");
        }
    }
}
