//! Numbers as users read them.

/// A time of so many nanoseconds, with three digits: `1.23 s`, `45.6 ms`, `789 us`.
pub fn time(ns: u64) -> String {
    let ns = ns as f64;
    let (number, unit) = match ns {
        _ if ns < 999.5 => (ns, "ns"),
        _ if ns < 999.5e3 => (ns / 1e3, "us"),
        _ if ns < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    match (unit, number) {
        ("ns", _) => format!("{number:.0} ns"),
        (_, number) if number < 9.995 => format!("{number:.2} {unit}"),
        (_, number) if number < 99.95 => format!("{number:.1} {unit}"),
        _ => format!("{number:.0} {unit}"),
    }
}

/// So many bytes: `12 B`, `3.4 KiB`.
pub fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut number = bytes as f64 / 1024.0;
    for unit in ["KiB", "MiB", "GiB", "TiB"] {
        if number < 1023.5 || unit == "TiB" {
            return match number < 9.95 {
                true => format!("{number:.1} {unit}"),
                false => format!("{number:.0} {unit}"),
            };
        }
        number /= 1024.0;
    }
    unreachable!("the last unit returns")
}

/// The least size of messages that a class of sizes counts: `0 B`, `4 B`, `64 KiB`.
pub fn size_class(class: u32) -> String {
    match class {
        0 => "0 B".into(),
        class => bytes(1 << (class - 1).min(62)).replace(".0 ", " "),
    }
}

/// A number with commas: `12,345`.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole in per cent: `12.3`.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}", share(part, whole))
}

/// A part of a whole in per cent; 0 of nothing.
pub fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => 100.0 * part as f64 / whole as f64,
    }
}

/// Ranks in a row: `0-3, 8`.
pub fn ranks(ranks: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
            _ => parts.push((rank, rank)),
        }
    }
    let part = |(first, last)| match first == last {
        true => format!("{first}"),
        false => format!("{first}-{last}"),
    };
    parts.into_iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let times = [
            0,
            999,
            1000,
            12_345,
            999_600,
            1_234_000_000,
            123_456_000_000,
        ];
        let words = [
            "0 ns", "999 ns", "1.00 us", "12.3 us", "1.00 ms", "1.23 s", "123 s",
        ];
        assert_eq!(times.map(time), words);
        assert_eq!(
            [0, 1023, 1024, 1 << 20, 12 << 30].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "1.0 MiB", "12 GiB"]
        );
        assert_eq!(
            [0, 1, 4, 11, 17].map(size_class),
            ["0 B", "1 B", "8 B", "1 KiB", "64 KiB"]
        );
        assert_eq!(
            [1, 999, 1000, 1_234_567].map(number),
            ["1", "999", "1,000", "1,234,567"]
        );
        assert_eq!(ranks(&[0, 1, 2, 4, 6, 7]), "0-2, 4, 6-7");
        assert_eq!(
            (percent(1, 8), percent(1, 0)),
            ("12.5".into(), "0.0".into())
        );
    }
}
