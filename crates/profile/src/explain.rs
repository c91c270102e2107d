//! How the messages and collectives of a job went, for `mpirun --explain`, or have gone so far, for
//! `catena explain`: what ranks have asked for, beside what the library has counted itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::layout::Class;
use crate::plan::{Asked, Plan};
use crate::sheet::{self, Sheet};
use crate::words::{bytes, number, ranks, size_class};

impl Asked {
    /// How many calls of the communicator these calls of its ranks are. Where the root alone gives,
    /// it alone counts.
    pub(crate) fn calls(&self, of_ranks: u64) -> u64 {
        let counting = match is_of_root(self.function.trim_end_matches("_c")) {
            true => 1,
            false => self.ranks.max(1),
        };
        of_ranks.div_ceil(counting.into())
    }
}

/// When a job is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// At its end.
    End,
    /// While it runs.
    Now {
        /// Whether its calls are counted.
        is_counted: bool,
    },
}

/// How a job has gone.
#[derive(Debug, Default)]
pub struct Explanation {
    pub(crate) hosts: BTreeMap<String, Vec<u32>>,
    /// What the library has counted: sums of all ranks.
    pub(crate) counters: BTreeMap<String, u64>,
    /// Ranks whose library has not told that, before MPI_Finalize and after it.
    pub(crate) silent: Vec<u32>,
    pub(crate) finalized: Vec<u32>,
    pub(crate) collectives: BTreeMap<Asked, u64>,
    /// Messages of the program between ranks of a host, and between hosts: how many, and bytes.
    pub(crate) within: (u64, u64),
    pub(crate) between: (u64, u64),
    /// Messages to ranks whose host is not known.
    pub(crate) elsewhere: u64,
    /// Whether anything was put into windows, which counts as messages.
    pub(crate) has_puts: bool,
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
        it.add_counters(sheets);
        for sheet in sheets {
            for peer in &sheet.peers {
                let Some(there) = host_of.get(&peer.rank) else {
                    add(&mut it.elsewhere, peer.messages);
                    continue;
                };
                let is_here = **there == *sheet.host;
                let sum = match is_here {
                    true => &mut it.within,
                    false => &mut it.between,
                };
                add(&mut sum.0, peer.messages);
                add(&mut sum.1, peer.bytes);
            }
            let puts = |it: &sheet::Count| it.class == Class::OneSided && it.bytes > 0;
            it.has_puts |= sheet.counts.iter().any(puts);
            for count in sheet.counts.iter().filter(|it| it.is_collective) {
                let group = count.group.and_then(|at| sheet.groups.get(at as usize));
                let Some(group) = group else {
                    continue;
                };
                let (hosts, is_even) = hosts_of(group, &host_of);
                let asked = |bytes| Asked {
                    function: count.function.clone(),
                    ranks: group.size,
                    hosts,
                    is_even,
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

    /// Adds what the library of each rank has counted, which a rank may have told twice.
    fn add_counters(&mut self, sheets: &[Sheet]) {
        let mut of_rank: BTreeMap<u32, BTreeMap<&str, u64>> = BTreeMap::new();
        let mut left = BTreeSet::new();
        for sheet in sheets {
            if sheet.has_finalized {
                left.insert(sheet.rank);
            }
            if sheet.has_told {
                let known = of_rank.entry(sheet.rank).or_default();
                for (name, value) in &sheet.counters {
                    let known = known.entry(name).or_default();
                    *known = (*known).max(*value);
                }
            }
        }
        for (name, value) in of_rank.values().flatten() {
            add(self.counters.entry(name.to_string()).or_default(), *value);
        }
        let all = self.hosts.values().flatten();
        let silent = all.filter(|rank| !of_rank.contains_key(*rank)).copied();
        (self.finalized, self.silent) = silent.partition(|rank| left.contains(rank));
        self.finalized.sort_unstable();
        self.silent.sort_unstable();
    }

    /// As lines.
    pub fn text(&self, plan: &dyn Plan, moment: Moment) -> String {
        if self.hosts.is_empty() {
            return "no rank has called MPI_Init of Catena, so there is nothing to explain\n"
                .into();
        }
        let all: usize = self.hosts.values().map(Vec::len).sum();
        let so_far = match moment {
            Moment::End => "",
            Moment::Now { .. } => ", so far",
        };
        let mut text = format!(
            "{} on {}{so_far}\n",
            few(all, "rank"),
            few(self.hosts.len(), "host")
        );
        for (host, of) in &self.hosts {
            let word = if of.len() == 1 { "rank" } else { "ranks" };
            _ = writeln!(text, "  {host}: {word} {}", ranks(of));
        }
        self.write_silent(&mut text, moment);
        let is_counted = !matches!(moment, Moment::Now { is_counted: false });
        self.write_messages(&mut text, plan, is_counted);
        self.write_collectives(&mut text, plan);
        self.write_candidates(&mut text, plan);
        if !is_counted {
            text.push_str(NOT_COUNTED);
        }
        text
    }

    /// Whose library has told nothing, and why.
    fn write_silent(&self, text: &mut String, moment: Moment) {
        let silent = self.silent.len() + self.finalized.len();
        if silent == 0 {
            return;
        }
        if moment == Moment::End {
            let silent = few(silent, "rank");
            _ = writeln!(
                text,
                "without MPI_Finalize, so their library has told nothing: {silent}"
            );
            return;
        }
        let of = |these: &[u32]| {
            let word = if these.len() == 1 { "rank" } else { "ranks" };
            format!("{word} {}", ranks(these))
        };
        if !self.silent.is_empty() {
            _ = writeln!(
                text,
                "not counted here: what the library of {} has done; it tells that where a call of MPI \
                 waits or makes progress, and there was none since it was asked a second ago",
                of(&self.silent)
            );
        }
        if !self.finalized.is_empty() {
            _ = writeln!(
                text,
                "not counted here: what the library of {} has done, as MPI_Finalize was called there",
                of(&self.finalized)
            );
        }
    }

    fn write_messages(&self, text: &mut String, plan: &dyn Plan, is_counted: bool) {
        let of_program = self.within.0.max(self.between.0).max(self.elsewhere);
        if is_counted {
            text.push_str(match of_program {
                0 => "messages of the program: none\n",
                _ => "messages of the program\n",
            });
        }
        let pairs = [("of one host", self.within), ("of two hosts", self.between)];
        for (between, (messages, sum)) in pairs {
            if messages > 0 {
                let (messages, sum) = (number(messages), bytes(sum));
                let with = match self.has_puts {
                    true => ", with what was put into windows",
                    false => "",
                };
                _ = writeln!(text, "  between ranks {between}{with}: {messages}, {sum}");
            }
        }
        if self.elsewhere > 0 {
            let messages = number(self.elsewhere);
            _ = writeln!(text, "  to ranks that have told nothing: {messages}");
        }
        let ways_at = text.len();
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
                "sent_fetched_messages",
                "copied by the receiver out of the sender's memory",
            ),
            (
                "sent_streamed_messages",
                "announced, and then sent in pieces",
            ),
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
        let head = match (text.len() > ways_at, self.counters.is_empty()) {
            (true, _) => "ways of messages, with those of collectives and of the library itself\n",
            // Nobody has told.
            (false, true) => "",
            (false, false) => "ways of messages: none were sent\n",
        };
        text.insert_str(ways_at, head);
    }

    fn write_collectives(&self, text: &mut String, plan: &dyn Plan) {
        if !self.collectives.is_empty() {
            text.push_str("collectives of the program, and what is planned for them\n");
        }
        for (asked, calls) in &self.collectives {
            let of = size_of(asked.bytes);
            let name = asked.function.trim_end_matches("_c");
            let mut on = few(asked.ranks as usize, "rank");
            if asked.hosts > 0 {
                _ = write!(on, " on {}", few(asked.hosts as usize, "host"));
            }
            let calls = few_number(asked.calls(*calls), "call");
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

    pub(crate) fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}

/// What is missing where calls are not counted.
const NOT_COUNTED: &str = "\
not known, as the job was started without --explain: how many messages of the program, and of how many bytes, pass
between ranks of one host and of two; its collectives by size and communicator, and what is planned for each
  what to do: start it by `mpirun --explain`, and ask again at any time
";

/// On how many hosts a group is, and whether each of them has as many of its ranks; 0 if its
/// members are not all known.
fn hosts_of(group: &sheet::Group, host_of: &BTreeMap<u32, &str>) -> (u32, bool) {
    let size = group.size as usize;
    let all: Vec<Option<&&str>> = match group.members.len() >= size {
        true => group
            .members
            .iter()
            .take(size)
            .map(|it| host_of.get(it))
            .collect(),
        // All ranks of the job.
        false if host_of.len() == size => host_of.values().map(Some).collect(),
        false => return (0, false),
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for host in all {
        let Some(host) = host else {
            return (0, false);
        };
        *counts.entry(host).or_default() += 1;
    }
    let mut of_each = counts.values();
    let first = of_each.next();
    (counts.len() as u32, of_each.all(|it| Some(it) == first))
}

/// Whether the root of a collective alone gives anything to it.
fn is_of_root(function: &str) -> bool {
    const THESE: [&str; 3] = ["Bcast", "Scatter", "Scatterv"];
    let bare = function.strip_prefix("MPI_").unwrap_or(function);
    let blocking = bare.strip_prefix('I').map(|it| {
        let mut first = it.chars();
        let upper = first.next().map(|it| it.to_ascii_uppercase());
        upper.into_iter().chain(first).collect::<String>()
    });
    THESE.contains(&bare) || blocking.is_some_and(|it| THESE.contains(&&*it))
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
    fn calls_are_counted_where_they_are_known() {
        assert!(
            ["MPI_Bcast", "MPI_Ibcast", "MPI_Scatterv", "MPI_Iscatter"].map(is_of_root)
                == [true; 4]
        );
        assert!(["MPI_Gather", "MPI_Ireduce", "MPI_Allreduce"].map(is_of_root) == [false; 3]);
        let host_of: BTreeMap<u32, &str> = (0..34)
            .map(|rank| (rank, if rank < 17 { "a" } else { "b" }))
            .collect();
        let group = |size, members: std::ops::Range<u32>| sheet::Group {
            size,
            members: members.collect(),
            ..sheet::Group::default()
        };
        assert_eq!(
            hosts_of(&group(34, 0..16), &host_of),
            (2, true),
            "all ranks of the job"
        );
        assert_eq!(
            hosts_of(&group(20, 0..16), &host_of),
            (0, false),
            "not all are known"
        );
        assert_eq!(hosts_of(&group(3, 16..19), &host_of), (2, false));
        assert_eq!(
            hosts_of(&group(2, 33..35), &host_of),
            (0, false),
            "one has told nothing"
        );
    }

    #[test]
    fn what_was_asked_for_stands_beside_what_ran() {
        let sheet = |rank| {
            let mut sheet = sheet(rank, 4);
            sheet.host = format!("h{}", rank / 2);
            sheet.has_told = true;
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
        let text = Explanation::new(&sheets).text(&Known, Moment::End);
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
        sheets[3].has_told = false;
        let text = Explanation::new(&sheets).text(&Known, Moment::End);
        assert!(
            text.contains("without MPI_Finalize, so their library has told nothing: 1 rank"),
            "{text}"
        );
        assert!(
            Explanation::read(&[1])
                .text(&Known, Moment::End)
                .contains("nothing to explain")
        );
    }

    #[test]
    fn what_is_not_known_of_a_job_that_runs_is_said() {
        let told = |rank, told| Sheet::of_library("h", rank, false, told);
        let sheets = [
            told(
                0,
                Some("shm_messages 3\nshm_bytes 24\ncoll_bcast_board 1\n"),
            ),
            told(1, None),
            told(2, Some("shm_messages 1\n")),
            Sheet::of_library("h", 3, true, None),
        ];
        let explanation = Explanation::new(&sheets);
        let text = explanation.text(&Known, Moment::Now { is_counted: false });
        for part in [
            "4 ranks on 1 host, so far\n  h: ranks 0-3\n",
            "what the library of rank 1 has done; it tells",
            "what the library of rank 3 has done, as MPI_Finalize",
            "  through shared memory: 4, 24 B\n",
            "  bcast: board 1\n",
            "as the job was started without --explain",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains("messages of the program: "), "{text}");
        let counted = explanation.text(&Known, Moment::Now { is_counted: true });
        assert!(
            counted.contains("messages of the program: none\n"),
            "{counted}"
        );
        assert!(!counted.contains("--explain"), "{counted}");
    }

    #[test]
    fn nothing_is_under_a_head_of_which_nothing_is_known() {
        let of = |told| {
            let sheets = [Sheet::of_library("h", 0, false, told)];
            Explanation::new(&sheets).text(&(), Moment::Now { is_counted: false })
        };
        assert!(!of(None).contains("ways of messages"), "{}", of(None));
        let text = of(Some("wait_looks 3\n"));
        assert!(
            text.contains("ways of messages: none were sent\n"),
            "{text}"
        );
        let text = of(Some("self_messages 3\nself_bytes 9\n"));
        let ways = "ways of messages, with those of collectives and of the library itself\n  of a \
                    rank to itself: 3, 9 B\n";
        assert!(text.contains(ways), "{text}");
    }

    #[test]
    fn what_a_rank_has_told_twice_counts_once() {
        let mut table = sheet(0, 1);
        table.has_told = true;
        table.counters = vec![("shm_messages".into(), 5)];
        let library = Sheet::of_library("h0", 0, false, Some("shm_messages 7\nself_messages 1\n"));
        let it = Explanation::new(&[table, library]);
        assert_eq!(it.counters["shm_messages"], 7);
        assert_eq!(it.counters["self_messages"], 1);
        assert!(it.silent.is_empty() && it.finalized.is_empty());
    }
}
