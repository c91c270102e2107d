//! Numbers as people read them.

use std::fmt::Display;
use std::io::Write;

/// Prints it. That nobody reads it any more (`| head`) is no failure: what else is to do is done.
pub fn say(text: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// Tells the user on stderr; what cannot be told is left out, where [`eprintln!`] would end the
/// command.
pub fn tell(text: impl Display) {
    let _ = std::io::stderr().write_fmt(format_args!("{text}"));
}

/// A size in bytes: 8 B, 64 KiB.
pub fn size(bytes: u64) -> String {
    match bytes {
        0 => "0 B".to_string(),
        n if n % (1 << 30) == 0 => format!("{} GiB", n >> 30),
        n if n % (1 << 20) == 0 => format!("{} MiB", n >> 20),
        n if n % (1 << 10) == 0 => format!("{} KiB", n >> 10),
        n => format!("{n} B"),
    }
}

/// A value with its unit; times and rates in a unit that suits them.
pub fn value(value: f64, unit: &str) -> String {
    let scales: &[(f64, &str)] = match unit {
        "us" => &[(1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns")],
        "MB/s" => &[(1e3, "GB/s"), (1.0, "MB/s")],
        "1/s" => &[(1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
        "%" => return format!("{value:.1} %"),
        _ => return format!("{} {unit}", digits(value)),
    };
    let fits = scales.iter().find(|(scale, _)| value.abs() >= *scale);
    let last = scales.last().expect("no list is empty");
    let (scale, name) = fits.unwrap_or(last);
    format!("{} {name}", digits(value / scale))
}

/// Three digits that count, or two, and no more than four behind the point.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.0995 || v == 0.0 => format!("{value:.2}"),
        v if v >= 0.00995 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// A p-value.
pub fn chance(p: f64) -> String {
    match p {
        p if p < 0.001 => "<.001".to_string(),
        p if p > 0.995 => "1".to_string(),
        p => format!("{p:.3}").trim_start_matches('0').to_string(),
    }
}

/// UTC, from seconds since 1970: 2026-11-22T05:00:00Z.
pub fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that the leap day is their last.
    let day = days + 719_468;
    let era = day / 146_097;
    let of_era = day % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year_of_era + era * 400 + next;
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{h:02}:{m:02}:{s:02}Z")
}

/// Columns under a head, wide enough for what is in them; the first and the last to the left.
pub fn columns(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |i: usize| {
        let cells = rows
            .iter()
            .filter_map(|r| r.get(i))
            .map(|c| c.chars().count());
        cells
            .chain([head[i].chars().count()])
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let last = cells.len().saturating_sub(1);
        let cells = cells.iter().zip(&widths).enumerate();
        let cells = cells.map(|(i, (cell, &width))| match i {
            0 => format!("{cell:width$}"),
            i if i == last => cell.clone(),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let head: Vec<String> = head.iter().map(|h| h.to_string()).collect();
    rows.iter().fold(line(&head), |text, row| text + &line(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_that_suit_them() {
        let sizes = [0, 8, 1000, 65536, 1 << 20, 3 << 30].map(size);
        assert_eq!(sizes, ["0 B", "8 B", "1000 B", "64 KiB", "1 MiB", "3 GiB"]);
        for (given, unit, shown) in [
            (0.1253, "us", "125 ns"),
            (0.0004, "us", "0.40 ns"),
            (12.34, "us", "12.3 us"),
            (1.0, "us", "1.00 us"),
            (99.96, "us", "100 us"),
            (16_000.0, "us", "16.0 ms"),
            (13_120.0, "MB/s", "13.1 GB/s"),
            (8.0e6, "1/s", "8.00 M/s"),
            (-3.25, "%", "-3.2 %"),
            (2.0, "lines", "2.00 lines"),
        ] {
            assert_eq!(value(given, unit), shown);
        }
        assert_eq!([0.00001, 0.0123, 1.0].map(chance), ["<.001", ".012", "1"]);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        // date -u -d @N
        for (seconds, shown) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_795_323_661, "2026-11-22T05:01:01Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), shown);
        }
    }

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [
            vec!["a".into(), "10".into(), "x".into()],
            vec!["long".into(), "9".into()],
        ];
        let expected = "name   n  end\na     10  x\nlong  9\n";
        assert_eq!(columns(&["name", "n", "end"], &rows), expected);
    }
}
