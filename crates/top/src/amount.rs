//! Numbers in few characters.

use std::time::Duration;

/// `17`, `1.2k`, `34k`, `5.6M`: a number of things.
pub fn count(number: f64) -> String {
    short(number, 1000.0, ["", "k", "M", "G", "T"])
}

/// `17`, `1.2K`, `34K`, `5.6M`: bytes, in powers of 1024.
pub fn bytes(number: f64) -> String {
    short(number, 1024.0, ["", "K", "M", "G", "T"])
}

fn short(number: f64, step: f64, units: [&str; 5]) -> String {
    let mut left = number.max(0.0);
    let mut unit = 0;
    // What would be shown as 1000 has a larger unit, too.
    while left >= 999.5 && unit + 1 < units.len() {
        left /= step;
        unit += 1;
    }
    match unit > 0 && left < 9.95 {
        true => format!("{left:.1}{}", units[unit]),
        false => format!("{left:.0}{}", units[unit]),
    }
}

/// `34%` of one.
pub fn share(part: f64) -> String {
    format!("{:.0}%", 100.0 * part.max(0.0))
}

/// `3 s`, `5 min`, `7 h`
pub fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=179 => format!("{seconds} s"),
        seconds @ 180..=10_799 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_few_characters() {
        let told = [0.0, 17.4, 999.4, 999.6, 1234.0, 12_345.0, 5.6e9, 1e18].map(count);
        let expected = ["0", "17", "999", "1.0k", "1.2k", "12k", "5.6G", "1000000T"];
        assert_eq!(told, expected);
        let told = [1023.0, 2048.0, 1e6, 12.0 * 1024.0 * 1024.0].map(bytes);
        assert_eq!(told, ["1.0K", "2.0K", "977K", "12M"]);
        assert_eq!(share(0.345), "34%");
        assert_eq!(span(Duration::from_secs(200)), "3 min");
    }
}
