//! The profile as a text.

use std::fmt::Write;

use crate::layout::Class;
use crate::sums::{Call, OnGroup, Profile};
use crate::words::{bytes, number, percent, size_class, time};

/// Per mille of the run time below which a call is not told by itself.
pub(crate) const CUT: u64 = 10;

/// Most lines of a part.
const LINES: usize = 10;

impl Profile {
    /// In one sentence: how much of the run time is MPI, and which call takes most of it.
    pub fn sentence(&self) -> String {
        if self.ranks.is_empty() {
            return "no rank has called MPI_Init of Catena with the tool of this option loaded \
                    (LD_PRELOAD), so no calls were counted"
                .into();
        }
        let ranks = match self.ranks.len() {
            1 => "1 rank".to_string(),
            ranks => format!("{} ranks", number(ranks as u64)),
        };
        let of = format!("{ranks} ({})", time(self.longest_run()));
        let share = percent(self.mpi, self.run);
        match self.calls.first().filter(|_| self.mpi > 0) {
            None => format!(
                "in the run time of {of} no calls of MPI were seen; those by names of PMPI_, as \
                 wrappers in the program make them, are not"
            ),
            Some(call) => format!(
                "{share} % of the run time of {of} is spent in MPI, most of it in {}: {} %",
                call.name(),
                percent(call.time, self.run)
            ),
        }
    }

    /// In one sentence: the rank that others wait for most; `None` if nobody waits for 1 % of the
    /// run time.
    pub fn waited_for(&self) -> Option<String> {
        let rank = self.ranks.iter().max_by_key(|it| it.waited_for)?;
        let share = rank.waited_for.saturating_mul(1000) / self.run.max(1);
        (share >= CUT && self.ranks.len() > 1).then(|| {
            format!(
                "rank {} is waited for most: others wait {} % of the run time for it, {} in all",
                rank.rank,
                percent(rank.waited_for, self.run),
                time(rank.waited_for)
            )
        })
    }

    /// The calls that have taken 1 % of the run time or more, and the others.
    pub(crate) fn cut(&self) -> (&[Call], &[Call]) {
        let least = self.run / (1000 / CUT);
        let is_below = |it: &Call| it.time < least || it.time == 0;
        let at = self
            .calls
            .iter()
            .position(is_below)
            .unwrap_or(self.calls.len());
        self.calls.split_at(at)
    }

    /// All of it, for a terminal: lines.
    pub fn text(&self) -> String {
        let mut text = self.sentence() + "\n";
        if let Some(sentence) = self.waited_for() {
            text += &format!("{sentence}\n");
        }
        if self.ranks.is_empty() {
            return text;
        }
        self.add_calls(&mut text);
        self.add_ranks(&mut text);
        self.add_waits(&mut text);
        self.add_sizes(&mut text);
        self.add_pairs(&mut text);
        self.add_groups(&mut text, "collectives by communicator", &self.collectives);
        self.add_groups(&mut text, "files", &self.files);
        self.add_remarks(&mut text);
        text
    }

    fn add_calls(&self, text: &mut String) {
        let (shown, others) = self.cut();
        let mut part = Table::new(&[
            "run time",
            "of MPI",
            "calls",
            "a call",
            "longest",
            "a rank: least",
            "most",
            "bytes",
            "",
        ]);
        let of_rank = |(rank, spent): (u32, u64)| format!("{} ({rank})", time(spent));
        for call in shown {
            part.row(&[
                format!("{} %", percent(call.time, self.run)),
                format!("{} %", percent(call.time, self.mpi)),
                number(call.calls),
                time(call.time / call.calls.max(1)),
                time(call.longest),
                of_rank(call.least),
                of_rank(call.most),
                bytes(call.bytes),
                call.name(),
            ]);
        }
        *text += &part.under("calls that take 1 % of the run time or more");
        let rest = others
            .iter()
            .fold(0, |sum: u64, it| sum.saturating_add(it.time));
        if !others.is_empty() {
            let places = match others.len() {
                1 => "1 other place".to_string(),
                places => format!("{} other places", number(places as u64)),
            };
            let _ = writeln!(text, "  {} %  {places}", percent(rest, self.run));
        }
    }

    fn add_ranks(&self, text: &mut String) {
        let share = |at: usize| percent(self.ranks[at].mpi, self.ranks[at].run);
        let mut by_share: Vec<usize> = (0..self.ranks.len()).collect();
        by_share.sort_by(|&a, &b| {
            let of = |at: usize| crate::words::share(self.ranks[at].mpi, self.ranks[at].run);
            of(a).total_cmp(&of(b)).then(a.cmp(&b))
        });
        let (least, most) = (by_share[0], by_share[by_share.len() - 1]);
        if least != most {
            let _ = writeln!(
                text,
                "time in MPI of a rank: {} % (rank {}) to {} % (rank {}) of its run time",
                share(least),
                self.ranks[least].rank,
                share(most),
                self.ranks[most].rank
            );
        }
        let begins = self.ranks.iter().map(|it| it.init).max().unwrap_or(0);
        let ends = self.ranks.iter().map(|it| it.finalize).max().unwrap_or(0);
        let _ = writeln!(
            text,
            "besides, MPI_Init takes up to {}, and MPI_Finalize up to {}",
            time(begins),
            time(ends)
        );
    }

    fn add_waits(&self, text: &mut String) {
        let waits = self.longest_waits();
        let mut part = Table::new(&["run time", "time", "messages", "collectives", ""]);
        for ((who, whom), waited) in waits.iter().take(LINES) {
            part.row(&[
                format!("{} %", percent(waited.all(), self.run)),
                time(waited.all()),
                time(waited.message),
                time(waited.collective),
                format!("rank {who} waits for rank {whom}"),
            ]);
        }
        part.more(waits.len());
        *text += &part.under("who waits for whom");
    }

    fn add_sizes(&self, text: &mut String) {
        let classes = [
            (Class::Message, "messages"),
            (Class::Collective, "collectives"),
            (Class::OneSided, "one-sided"),
            (Class::File, "files"),
        ];
        let there: Vec<_> = classes
            .iter()
            .filter_map(|(class, name)| Some((self.sizes.get(class)?, *name)))
            .collect();
        let mut sizes: Vec<u32> = there.iter().flat_map(|it| it.0.keys().copied()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut head: Vec<&str> = there.iter().map(|it| it.1).collect();
        head.push("");
        let mut part = Table::new(&head);
        for size in sizes {
            let count = |of: &std::collections::BTreeMap<u32, u64>| {
                of.get(&size).map_or(String::new(), |&count| number(count))
            };
            let mut row: Vec<String> = there.iter().map(|it| count(it.0)).collect();
            row.push(match size {
                0 => "no byte".to_string(),
                size => format!("from {}", size_class(size)),
            });
            part.row(&row);
        }
        *text += &part.under("sizes, each up to the double");
    }

    fn add_pairs(&self, text: &mut String) {
        let pairs = self.largest_pairs();
        let mut part = Table::new(&["bytes", "messages", ""]);
        for ((from, to), passed) in pairs.iter().take(LINES) {
            part.row(&[
                bytes(passed.bytes),
                number(passed.messages),
                format!("rank {from} to rank {to}"),
            ]);
        }
        part.more(pairs.len());
        *text += &part.under("messages and one-sided operations from rank to rank");
    }

    fn add_groups(&self, text: &mut String, title: &str, all: &[((String, String), OnGroup)]) {
        let mut part = Table::new(&["run time", "calls", "a call", "bytes", ""]);
        for ((name, function), on) in all.iter().take(LINES) {
            part.row(&[
                format!("{} %", percent(on.time, self.run)),
                number(on.calls),
                time(on.time / on.calls.max(1)),
                bytes(on.bytes),
                format!("{name}: {function}"),
            ]);
        }
        part.more(all.len());
        *text += &part.under(title);
    }

    fn add_remarks(&self, text: &mut String) {
        let without = self.ranks.iter().filter(|it| !it.has_finalized);
        let without: Vec<u32> = without.map(|it| it.rank).collect();
        if !without.is_empty() {
            let _ = writeln!(
                text,
                "without MPI_Finalize, so counted up to the last call: {} {}",
                if without.len() == 1 { "rank" } else { "ranks" },
                crate::words::ranks(&without)
            );
        }
        if self.lost_calls > 0 {
            let _ = writeln!(
                text,
                "{} calls ({}) had no room for a line of their own",
                number(self.lost_calls),
                time(self.lost)
            );
        }
        if self.no_room > 0 {
            let _ = writeln!(
                text,
                "{} communicators and windows had no room: who waits for whom in their collectives, \
                 and what passes from rank to rank there, is not told",
                number(self.no_room)
            );
        }
    }
}

/// Lines of columns, the last of which is on the left.
struct Table {
    rows: Vec<Vec<String>>,
    more: usize,
}

impl Table {
    fn new(head: &[&str]) -> Table {
        Table {
            rows: vec![head.iter().map(|it| it.to_string()).collect()],
            more: 0,
        }
    }

    fn row(&mut self, row: &[String]) {
        self.rows.push(row.to_vec());
    }

    /// There would be that many rows.
    fn more(&mut self, all: usize) {
        self.more = all.saturating_sub(self.rows.len() - 1);
    }

    /// The lines under a title; nothing if there are no rows.
    fn under(&self, title: &str) -> String {
        if self.rows.len() == 1 {
            return String::new();
        }
        let mut text = format!("{title}:\n");
        let width = |column: usize| self.rows.iter().map(|row| row[column].len()).max();
        let columns = self.rows[0].len();
        let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                match at + 1 == columns {
                    true => line += &format!("  {cell}"),
                    false => line += &format!("  {cell:>0$}", widths[at]),
                }
            }
            text += &format!("{}\n", line.trim_end());
        }
        if self.more > 0 {
            text += &format!("  and {} more\n", number(self.more as u64));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::tests::sheet;

    #[test]
    fn the_first_line_says_the_most_important() {
        let profile = Profile::new((0..2).map(|rank| sheet(rank, 2)).collect());
        let text = profile.text();
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some(
                "15.1 % of the run time of 2 ranks (1.00 s) is spent in MPI, most of it in \
                 MPI_Barrier (ring.c:7): 15.0 %"
            )
        );
        assert_eq!(
            lines.next(),
            Some(
                "rank 0 is waited for most: others wait 5.0 % of the run time for it, 101 ms in all"
            )
        );
        assert!(text.contains("\n  0.1 %  1 other place\n"), "{text}");
        assert!(!text.contains("MPI_Send (ring.c:7)"), "{text}");
        assert!(text.contains("rank 1 waits for rank 0"), "{text}");
        assert!(text.contains("MPI_COMM_WORLD: MPI_Barrier"), "{text}");
        assert!(!text.contains("files:"), "{text}");
    }

    #[test]
    fn jobs_without_mpi_have_a_profile_too() {
        let text = Profile::new(Vec::new()).text();
        assert_eq!(
            text,
            "no rank has called MPI_Init of Catena with the tool of this option loaded \
             (LD_PRELOAD), so no calls were counted\n"
        );
    }

    #[test]
    fn ranks_that_were_killed_are_told() {
        let mut sheets = vec![sheet(0, 2), sheet(1, 2)];
        sheets[1].has_finalized = false;
        let text = Profile::new(sheets).text();
        assert!(
            text.ends_with("counted up to the last call: rank 1\n"),
            "{text}"
        );
    }

    #[test]
    fn what_was_not_seen_is_not_said_to_be_nothing() {
        let mut sheets = vec![sheet(0, 1)];
        sheets[0].counts.clear();
        sheets[0].no_room = 3;
        let text = Profile::new(sheets).text();
        assert!(text.contains("no calls of MPI were seen; those by names of PMPI_"));
        assert!(
            text.contains("3 communicators and windows had no room"),
            "{text}"
        );
    }
}
