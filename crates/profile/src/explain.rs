//! How the messages and collectives of a job went, for `mpirun --explain`: what ranks have asked
//! for, beside what the library has counted itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::sheet::{self, Sheet};
use crate::words::{bytes, number, ranks, size_class};

/// Collectives of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// As in `MPI_Allreduce`.
    pub function: String,
    /// How many ranks the communicator has.
    pub ranks: u32,
    /// On how many hosts, as far as its first ranks tell.
    pub hosts: u32,
    /// The least size that the class of sizes counts, bytes.
    pub bytes: u64,
}

/// What settings and the model of the library say.
pub trait Plan {
    /// The value of a setting and where that comes from, as in `64KiB (default)`.
    fn setting(&self, name: &str) -> Option<String>;

    /// Which algorithm a collective takes, and why; `None` if it is none that has several.
    fn algorithm(&self, asked: &Asked) -> Option<String>;
}

/// How a job has gone.
#[derive(Debug, Default)]
pub struct Explanation {
    hosts: BTreeMap<String, Vec<u32>>,
    /// What the library has counted: sums of all ranks.
    counters: BTreeMap<String, u64>,
    /// Ranks whose library has told that.
    told: u32,
    collectives: BTreeMap<Asked, u64>,
    /// Messages of the program between ranks of a host, and between hosts: how many, and bytes.
    within: (u64, u64),
    between: (u64, u64),
}

impl Explanation {
    /// That of what all nodes have answered, as for a [`Profile`](crate::Profile).
    pub fn read(answers: &[u8]) -> Explanation {
        Explanation::new(&sheet::read_all(answers))
    }

    fn new(sheets: &[Sheet]) -> Explanation {
        let mut it = Explanation::default();
        let host_of: BTreeMap<u32, &str> = sheets.iter().map(|it| (it.rank, &*it.host)).collect();
        for (rank, host) in &host_of {
            it.hosts.entry(host.to_string()).or_default().push(*rank);
        }
        for sheet in sheets {
            it.told += u32::from(!sheet.counters.is_empty());
            for (name, value) in &sheet.counters {
                add(it.counters.entry(name.clone()).or_default(), *value);
            }
            for peer in &sheet.peers {
                let is_here = host_of.get(&peer.rank) == Some(&&*sheet.host);
                let sum = match is_here {
                    true => &mut it.within,
                    false => &mut it.between,
                };
                add(&mut sum.0, peer.messages);
                add(&mut sum.1, peer.bytes);
            }
            for count in sheet.counts.iter().filter(|it| it.is_collective) {
                let group = count.group.and_then(|at| sheet.groups.get(at as usize));
                let Some(group) = group else {
                    continue;
                };
                let mut hosts: Vec<_> = group.members.iter().map(|it| host_of.get(it)).collect();
                hosts.sort_unstable();
                hosts.dedup();
                let asked = |bytes| Asked {
                    function: count.function.clone(),
                    ranks: group.size,
                    hosts: hosts.len() as u32,
                    bytes,
                };
                // Of collectives with a root, others give nothing.
                if count.sizes.is_empty() {
                    let key = asked(0);
                    if ["MPI_Barrier", "MPI_Ibarrier"].contains(&&*key.function) {
                        add(it.collectives.entry(key).or_default(), count.calls);
                    }
                }
                for (class, calls) in &count.sizes {
                    let least = match class {
                        0 => 0,
                        class => 1 << (class - 1).min(62),
                    };
                    let calls = u64::from(*calls);
                    add(it.collectives.entry(asked(least)).or_default(), calls);
                }
            }
        }
        it
    }

    /// As lines.
    pub fn text(&self, plan: &dyn Plan) -> String {
        if self.hosts.is_empty() {
            return "no rank has called MPI_Init of Catena, so there is nothing to explain\n"
                .into();
        }
        let all: usize = self.hosts.values().map(Vec::len).sum();
        let mut text = format!(
            "{} on {}\n",
            few(all, "rank"),
            few(self.hosts.len(), "host")
        );
        for (host, of) in &self.hosts {
            let word = if of.len() == 1 { "rank" } else { "ranks" };
            _ = writeln!(text, "  {host}: {word} {}", ranks(of));
        }
        if (self.told as usize) < all {
            _ = writeln!(
                text,
                "without MPI_Finalize, so their library has told nothing: {}",
                few(all - self.told as usize, "rank")
            );
        }
        self.write_messages(&mut text, plan);
        self.write_collectives(&mut text, plan);
        text
    }

    fn write_messages(&self, text: &mut String, plan: &dyn Plan) {
        text.push_str("messages of the program\n");
        let pairs = [("of one host", self.within), ("of two hosts", self.between)];
        for (between, (messages, sum)) in pairs {
            if messages > 0 {
                let (messages, sum) = (number(messages), bytes(sum));
                _ = writeln!(text, "  between ranks {between}: {messages}, {sum}");
            }
        }
        text.push_str("ways of messages, with those of collectives and of the library itself\n");
        let ways = [
            ("shm", "through shared memory", ""),
            ("network", "over a network", "LINK"),
            ("self", "of a rank to itself", ""),
        ];
        let kinds = [
            ("sent_inline", "within their envelopes", ""),
            ("sent_eager", "without asking the receiver", "SHM_EAGER_MAX"),
            ("sent_rendezvous", "announced first", ""),
        ];
        for (name, what, setting) in ways.into_iter().chain(kinds) {
            let messages = self.counter(&format!("{name}_messages"));
            if messages == 0 {
                continue;
            }
            let sum = bytes(self.counter(&format!("{name}_bytes")));
            _ = write!(text, "  {what}: {}, {sum}", number(messages));
            let value = Some(setting).filter(|it| !it.is_empty());
            if let Some(value) = value.and_then(|name| plan.setting(name)) {
                _ = write!(text, "; CATENA_{setting} = {value}");
            }
            text.push('\n');
        }
        for (name, what) in [
            (
                "sent_fetched",
                "copied by the receiver out of the sender's memory",
            ),
            ("sent_streamed", "announced, and then sent in pieces"),
            (
                "read_fallbacks",
                "sent in pieces, as memory could not be read",
            ),
            (
                "sends_queued",
                "kept back, as the way to the receiver was full",
            ),
            ("unexpected_messages", "there before their receive"),
        ] {
            let count = self.counter(name);
            if count > 0 {
                _ = writeln!(text, "  {what}: {}", number(count));
            }
        }
    }

    fn write_collectives(&self, text: &mut String, plan: &dyn Plan) {
        if !self.collectives.is_empty() {
            text.push_str("collectives of the program, and what is planned for them\n");
        }
        for (asked, calls) in &self.collectives {
            let of = size_of(asked.bytes);
            let name = asked.function.trim_end_matches("_c");
            let on = format!(
                "{} on {}",
                few(asked.ranks as usize, "rank"),
                few(asked.hosts as usize, "host")
            );
            let calls = few_number(calls.div_ceil(asked.ranks.max(1).into()), "call");
            _ = write!(text, "  {name} of {of}, {on}: {calls}");
            if let Some(planned) = plan.algorithm(asked) {
                _ = write!(text, "; {planned}");
            }
            text.push('\n');
        }
        let mut ran: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, count) in &self.counters {
            let way = name.strip_prefix("coll_").and_then(|it| split(it));
            if let Some((what, way)) = way.filter(|_| *count > 0) {
                let ways = ran.entry(what).or_default();
                ways.push(format!("{way} {}", number(*count)));
            }
        }
        if !ran.is_empty() {
            text.push_str(
                "collectives as they ran, a call of each rank counts; board: in shared memory\n",
            );
        }
        for (what, ways) in ran {
            _ = writeln!(text, "  {what}: {}", ways.join(", "));
        }
    }

    fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}

/// A collective and its algorithm. Names of collectives have underscores, too.
fn split(name: &str) -> Option<(&str, &str)> {
    const WITH: [&str; 2] = ["reduce_scatter_block", "reduce_scatter"];
    let long = WITH.iter().find(|it| {
        let rest = name.strip_prefix(**it);
        rest.is_some_and(|rest| rest.starts_with('_'))
    });
    match long {
        Some(long) => Some((long, &name[long.len() + 1..])),
        None => name.split_once('_'),
    }
}

fn size_of(least: u64) -> String {
    match least {
        0 => "nothing".into(),
        least => format!("{} or more", size_class(64 - least.leading_zeros())),
    }
}

fn few(count: usize, what: &str) -> String {
    few_number(count as u64, what)
}

fn few_number(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{} {what}s", number(count)),
    }
}

/// Numbers come from other hosts, which may tell anything.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::tests::sheet;

    struct Known;

    impl Plan for Known {
        fn setting(&self, name: &str) -> Option<String> {
            (name == "SHM_EAGER_MAX").then(|| "64KiB (default)".into())
        }

        fn algorithm(&self, asked: &Asked) -> Option<String> {
            Some(format!("planned {}", asked.bytes))
        }
    }

    #[test]
    fn what_was_asked_for_stands_beside_what_ran() {
        let sheet = |rank| {
            let mut sheet = sheet(rank, 4);
            sheet.host = format!("h{}", rank / 2);
            sheet.counters = vec![
                ("coll_barrier_board".into(), 2),
                ("coll_reduce_scatter_ring".into(), 3),
                ("coll_bcast_linear".into(), 0),
                ("shm_messages".into(), 10),
                ("shm_bytes".into(), 80),
                ("sent_eager_messages".into(), 10),
            ];
            sheet
        };
        let mut sheets: Vec<_> = (0..4).map(sheet).collect();
        let text = Explanation::new(&sheets).text(&Known);
        for part in [
            "4 ranks on 2 hosts\n  h0: ranks 0-1\n  h1: ranks 2-3\n",
            "between ranks of one host: 20, 160 B\n  between ranks of two hosts: 20, 160 B\n",
            "through shared memory: 40, 320 B\n",
            "without asking the receiver: 40, 0 B; CATENA_SHM_EAGER_MAX = 64KiB (default)\n",
            "  MPI_Barrier of 8 B or more, 4 ranks on 2 hosts: 2 calls; planned 8\n",
            "  barrier: board 8\n  reduce_scatter: ring 12\n",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(
            !text.contains("bcast") && !text.contains("MPI_Finalize"),
            "{text}"
        );
        sheets[3].counters.clear();
        let text = Explanation::new(&sheets).text(&Known);
        assert!(
            text.contains("without MPI_Finalize, so their library has told nothing: 1 rank"),
            "{text}"
        );
        assert!(
            Explanation::read(&[1])
                .text(&Known)
                .contains("nothing to explain")
        );
    }
}
