//! The profile as a page of HTML. It is complete in itself: pictures are SVG, and nothing is
//! loaded.

use std::fmt::Write;

use crate::sums::{OnGroup, Profile};
use crate::words::{bytes, number, percent, share, size_class, time};

const STYLE: &str = include_str!("page.css");

/// Most rows of a table.
const ROWS: usize = 100;

/// Most rows and columns of the picture of pairs: with more ranks, several share one.
const CELLS: usize = 128;

/// Most bars: of more ranks, those are shown that spend most time in MPI.
const BARS: usize = 64;

impl Profile {
    /// The page.
    pub fn page(&self) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>Profile of {} ranks</title>\n<style>\n{STYLE}</style></head><body>\n\
             <h1>Where the time goes</h1>\n<p class=\"lead\">{}.</p>\n",
            self.ranks.len(),
            escaped(&capital(&self.sentence()))
        );
        if let Some(sentence) = self.waited_for() {
            let _ = writeln!(
                page,
                "<p class=\"lead\">{}.</p>",
                escaped(&capital(&sentence))
            );
        }
        if !self.ranks.is_empty() {
            self.show_calls(&mut page);
            self.show_bars(&mut page);
            self.show_waits(&mut page);
            self.show_matrix(&mut page);
            self.show_sizes(&mut page);
            on_groups(
                &mut page,
                "Collectives by communicator",
                &self.collectives,
                self.run,
            );
            on_groups(&mut page, "Files", &self.files, self.run);
            self.show_remarks(&mut page);
        }
        page + "</body></html>\n"
    }

    fn show_calls(&self, page: &mut String) {
        let (shown, others) = self.cut();
        let rows = shown.iter().take(ROWS).map(|call| {
            vec![
                format!("{} %", percent(call.time, self.run)),
                format!("{} %", percent(call.time, self.mpi)),
                number(call.calls),
                time(call.time / call.calls.max(1)),
                time(call.longest),
                format!("{} ({})", time(call.least.1), call.least.0),
                format!("{} ({})", time(call.most.1), call.most.0),
                bytes(call.bytes),
                call.name(),
            ]
        });
        let head = [
            "of run time",
            "of MPI",
            "calls",
            "a call",
            "longest",
            "least (rank)",
            "most (rank)",
            "bytes",
            "call",
        ];
        table(
            page,
            "Calls that take 1 % of the run time or more",
            &head,
            rows.collect(),
        );
        let rest = others
            .iter()
            .fold(0, |sum: u64, it| sum.saturating_add(it.time));
        if !others.is_empty() {
            let _ = writeln!(
                page,
                "<p class=\"dim\">Other places: {}, together {} %.</p>",
                number(others.len() as u64),
                percent(rest, self.run)
            );
        }
    }

    /// What each rank does with its time.
    fn show_bars(&self, page: &mut String) {
        let mut shown: Vec<_> = self.ranks.iter().collect();
        if shown.len() > BARS {
            shown.sort_by(|a, b| share(b.mpi, b.run).total_cmp(&share(a.mpi, a.run)));
            shown.truncate(BARS);
            shown.sort_by_key(|it| it.rank);
        }
        let longest = self.longest_run().max(1) as f64;
        let (left, wide, line) = (60.0, 700.0, 18.0);
        let height = line * shown.len() as f64 + 4.0;
        let _ = write!(
            page,
            "<h2>Time of each rank</h2>\n<p class=\"key\">{}</p>\n\
             <svg viewBox=\"0 0 {} {height}\" width=\"{}\" role=\"img\" aria-label=\"Time of each rank\">\n",
            key(&[
                ("compute", "outside of MPI"),
                ("wait", "waiting for other ranks"),
                ("file", "files"),
                ("mpi", "the rest of MPI")
            ]),
            left + wide + 10.0,
            left + wide + 10.0,
        );
        for (at, rank) in (0_u32..).zip(shown) {
            let y = f64::from(at) * line + 2.0;
            let waits = rank.waits.min(rank.mpi.saturating_sub(rank.io));
            let parts = [
                ("compute", rank.run.saturating_sub(rank.mpi)),
                ("wait", waits),
                ("file", rank.io),
                (
                    "mpi",
                    rank.mpi.saturating_sub(rank.io).saturating_sub(waits),
                ),
            ];
            let _ = writeln!(
                page,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                y + 11.0,
                rank.rank
            );
            let mut x = left;
            for (class, ns) in parts.into_iter().filter(|part| part.1 > 0) {
                let width = (ns as f64 / longest * wide).min(left + wide - x).max(0.0);
                let _ = writeln!(
                    page,
                    "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"14\">\
                     <title>rank {} on {}: {} ({} %)</title></rect>",
                    rank.rank,
                    escaped(&rank.host),
                    time(ns),
                    percent(ns, rank.run)
                );
                x += width;
            }
        }
        *page += "</svg>\n";
        if self.ranks.len() > BARS {
            let _ = writeln!(
                page,
                "<p class=\"dim\">The {BARS} ranks that spend the largest part in MPI, of {}.</p>",
                self.ranks.len()
            );
        }
    }

    fn show_waits(&self, page: &mut String) {
        let waits = self.longest_waits();
        let rows = waits
            .iter()
            .take(ROWS.min(20))
            .map(|((who, whom), waited)| {
                vec![
                    format!("{} %", percent(waited.all(), self.run)),
                    time(waited.all()),
                    time(waited.message),
                    time(waited.collective),
                    format!("rank {who} for rank {whom}"),
                ]
            });
        let head = [
            "of run time",
            "time",
            "in messages",
            "in collectives",
            "who waits for whom",
        ];
        table(page, "Waiting", &head, rows.collect());
    }

    /// Bytes from each rank to each other one, as a picture.
    fn show_matrix(&self, page: &mut String) {
        let ranks = self.passed.keys().flat_map(|&(from, to)| [from, to]);
        let Some(most) = ranks.chain(self.ranks.iter().map(|it| it.rank)).max() else {
            return;
        };
        if self.passed.is_empty() {
            return;
        }
        let count = most as usize + 1;
        let block = count.div_ceil(CELLS);
        let cells = count.div_ceil(block);
        let mut sums = std::collections::BTreeMap::<(usize, usize), (u64, u64)>::new();
        for (&(from, to), passed) in &self.passed {
            let sum = sums
                .entry((from as usize / block, to as usize / block))
                .or_default();
            sum.0 = sum.0.saturating_add(passed.bytes);
            sum.1 = sum.1.saturating_add(passed.messages);
        }
        let largest = sums.values().map(|it| it.0).max().unwrap_or(0).max(1);
        let size = (560.0 / cells as f64).clamp(4.0, 36.0);
        let (left, top) = (56.0, 34.0);
        let side = size * cells as f64;
        let _ = write!(
            page,
            "<h2>Bytes from rank to rank</h2>\n<p class=\"dim\">Messages and one-sided operations: \
             from the rank of the row to that of the column. The darkest is {}, and shades are \
             logarithmic.</p>\n\
             <svg viewBox=\"0 0 {w:.0} {h:.0}\" width=\"{w:.0}\" role=\"img\" \
             aria-label=\"Bytes from rank to rank\">\n\
             <text x=\"{:.1}\" y=\"12\" text-anchor=\"middle\">to rank</text>\n\
             <text x=\"12\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 12 {:.1})\">from rank</text>\n",
            bytes(largest),
            left + side / 2.0,
            top + side / 2.0,
            top + side / 2.0,
            w = left + side + 8.0,
            h = top + side + 8.0,
        );
        let every = (26.0 / size).ceil().max(1.0) as usize;
        for cell in (0..cells).step_by(every) {
            let at = (cell as f64 + 0.5) * size;
            let _ = writeln!(
                page,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{rank}</text>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{rank}</text>",
                left + at,
                top - 6.0,
                left - 6.0,
                top + at + 4.0,
                rank = cell * block
            );
        }
        for (&(from, to), &(sum, messages)) in &sums {
            let dark = ((1 + sum) as f64).ln() / (1.0 + largest as f64).ln();
            let name = |cell: usize| match block {
                1 => format!("{cell}"),
                block => format!("{}-{}", cell * block, (cell * block + block).min(count) - 1),
            };
            let _ = writeln!(
                page,
                "<rect class=\"cell\" x=\"{:.2}\" y=\"{:.2}\" width=\"{size:.2}\" height=\"{size:.2}\" \
                 fill-opacity=\"{:.3}\"><title>{} to {}: {} in {} messages</title></rect>",
                left + to as f64 * size,
                top + from as f64 * size,
                dark.max(0.06),
                name(from),
                name(to),
                bytes(sum),
                number(messages)
            );
        }
        let _ = writeln!(
            page,
            "<rect class=\"frame\" x=\"{left}\" y=\"{top}\" width=\"{side:.1}\" height=\"{side:.1}\"/></svg>"
        );
    }

    fn show_sizes(&self, page: &mut String) {
        let mut rows = Vec::new();
        for (class, sizes) in &self.sizes {
            use crate::layout::Class;
            let kind = match class {
                Class::Message => "messages",
                Class::Collective => "collectives",
                Class::OneSided => "one-sided operations",
                Class::File => "files",
                Class::Other => continue,
            };
            let all: u64 = sizes
                .values()
                .fold(0, |sum, count| sum.saturating_add(*count));
            for (&size, &count) in sizes {
                let from = match size {
                    0 => "no byte".to_string(),
                    size => format!("from {}", size_class(size)),
                };
                rows.push(vec![
                    number(count),
                    format!("{} %", percent(count, all)),
                    format!("{kind} {from}"),
                ]);
            }
        }
        table(
            page,
            "Sizes, each up to the double",
            &["number", "of its kind", "what"],
            rows,
        );
    }

    fn show_remarks(&self, page: &mut String) {
        let without = self.ranks.iter().filter(|it| !it.has_finalized);
        let without: Vec<u32> = without.map(|it| it.rank).collect();
        if !without.is_empty() {
            let _ = writeln!(
                page,
                "<p class=\"dim\">Without MPI_Finalize, so counted up to the last call: ranks {}.</p>",
                crate::words::ranks(&without)
            );
        }
        if self.lost_calls > 0 {
            let _ = writeln!(
                page,
                "<p class=\"dim\">{} calls ({}) had no room for a line of their own.</p>",
                number(self.lost_calls),
                time(self.lost)
            );
        }
        if self.no_room > 0 {
            let _ = writeln!(
                page,
                "<p class=\"dim\">{} communicators and windows had no room: who waits for whom in \
                 their collectives, and what passes from rank to rank there, is not told.</p>",
                number(self.no_room)
            );
        }
    }
}

fn on_groups(page: &mut String, title: &str, all: &[((String, String), OnGroup)], run: u64) {
    let rows = all.iter().take(ROWS).map(|((name, function), on)| {
        vec![
            format!("{} %", percent(on.time, run)),
            number(on.calls),
            time(on.time / on.calls.max(1)),
            bytes(on.bytes),
            format!("{name}: {function}"),
        ]
    });
    table(
        page,
        title,
        &["of run time", "calls", "a call", "bytes", "where"],
        rows.collect(),
    );
}

/// Adds a table under a title, unless it would be empty.
fn table(page: &mut String, title: &str, head: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(page, "<h2>{title}</h2>\n<div class=\"wide\"><table>\n<tr>");
    head.iter()
        .for_each(|cell| *page += &format!("<th>{cell}</th>"));
    *page += "</tr>\n";
    for row in rows {
        let cells = row.iter().map(|cell| format!("<td>{}</td>", escaped(cell)));
        let _ = writeln!(page, "<tr>{}</tr>", cells.collect::<String>());
    }
    *page += "</table></div>\n";
}

fn key(parts: &[(&str, &str)]) -> String {
    let part = |(class, text): &(&str, &str)| {
        format!("<span><i style=\"background: var(--{class})\"></i>{text}</span>")
    };
    parts.iter().map(part).collect()
}

/// A sentence with a large letter at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A text as HTML has it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::tests::sheet;

    #[test]
    fn a_page_is_complete_in_itself() {
        let mut sheets: Vec<_> = (0..3).map(|rank| sheet(rank, 3)).collect();
        sheets[0].counts[1].place = "<b>&.c:1".into();
        let page = Profile::new(sheets).page();
        assert!(!page.contains("http"), "{page}");
        assert!(
            page.contains("&lt;b&gt;&amp;.c:1") && !page.contains("<b>"),
            "{page}"
        );
        assert_eq!(page.matches("<rect class=\"cell\"").count(), 3);
        assert!(
            page.contains("<title>2 to 0: 80 B in 10 messages</title>"),
            "{page}"
        );
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    }

    #[test]
    fn of_many_ranks_several_share_a_cell() {
        let page = Profile::new((0..300).map(|rank| sheet(rank, 300)).collect()).page();
        assert!(page.contains("<title>0-2 to 0-2: "), "{}", &page[..2000]);
        assert!(page.contains("297-299 to 0-2: 80 B"));
        assert!(page.contains("of 300.</p>"));
    }
}
