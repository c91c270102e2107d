//! What a setting can hold: how each type is read, shown and kept in one word.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A type that a setting can have.
pub trait Value: Copy + PartialOrd + Send + Sync + 'static {
    /// Name of the type, for lists of settings.
    const KIND: &'static str;

    /// The words it can take, if it is a choice; else none.
    fn choices() -> &'static [&'static str] {
        &[]
    }

    /// Reads it from text without surrounding blanks.
    ///
    /// # Errors
    /// What is expected, as a sentence without the full stop ("it must be …").
    fn parse(text: &str) -> Result<Self, String>;

    /// Writes it so that [`Value::parse`] reads it back.
    fn show(self) -> String;

    /// Packs it into a word.
    fn to_bits(self) -> u64;

    /// Unpacks what [`Value::to_bits`] packed.
    fn from_bits(bits: u64) -> Self;

    /// The value as interfaces to other languages know it.
    fn to_plain(self) -> Plain<'static> {
        Plain::Choice(self.to_bits() as u32)
    }

    /// The value of that type and content; `None` if this is not one.
    fn from_plain(plain: Plain<'_>) -> Option<Self> {
        match plain {
            Plain::Choice(at) if (at as usize) < Self::choices().len() => {
                Some(Self::from_bits(at.into()))
            }
            _ => None,
        }
    }
}

/// A value of one of few types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plain<'a> {
    /// One of [`Value::choices`], from 0.
    Choice(u32),
    /// A number.
    Number(u32),
    /// A larger number, bytes, or nanoseconds.
    Long(u64),
    /// A finite number.
    Real(f64),
    /// A text.
    Text(&'a str),
}

/// Implements both directions for values that are not choices.
macro_rules! plain {
    ($kind:ident, $to:expr, $from:expr) => {
        fn to_plain(self) -> Plain<'static> {
            Plain::$kind($to(self))
        }

        fn from_plain(plain: Plain<'_>) -> Option<Self> {
            match plain {
                Plain::$kind(value) => $from(value),
                _ => None,
            }
        }
    };
}

impl Value for bool {
    const KIND: &'static str = "bool";

    fn choices() -> &'static [&'static str] {
        &["false", "true"]
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "1" | "y" | "yes" | "on" | "true" => Ok(true),
            "0" | "n" | "no" | "off" | "false" => Ok(false),
            _ => Err("it must be true or false (also: yes/no, on/off, 1/0)".to_string()),
        }
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
}

impl Value for u32 {
    const KIND: &'static str = "number";

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("it must be a whole number from 0 to {}", u32::MAX))
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    fn from_bits(bits: u64) -> Self {
        bits as u32
    }

    plain!(Number, |n| n, Some);
}

impl Value for u64 {
    const KIND: &'static str = "number";

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("it must be a whole number from 0 to {}", u64::MAX))
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn to_bits(self) -> u64 {
        self
    }

    fn from_bits(bits: u64) -> Self {
        bits
    }

    plain!(Long, |n| n, Some);
}

impl Value for f64 {
    const KIND: &'static str = "real";

    fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err("it must be a finite number such as 0.5 or 2e3".to_string()),
        }
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }

    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }

    plain!(Real, |x| x, |x: f64| x.is_finite().then_some(x));
}

/// A number of bytes, read as `4096`, `64k`, `64K`, `1MiB`, `2g`; the suffixes
/// are powers of 1024, with or without `iB` or `B`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any memory has.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// `n` KiB.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// `n` MiB.
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// `n` GiB.
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }

    /// As a plain number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            u64::MAX => f.write_str("unlimited"),
            n if n.is_multiple_of(1 << 30) => write!(f, "{}GiB", n >> 30),
            n if n.is_multiple_of(1 << 20) => write!(f, "{}MiB", n >> 20),
            n if n.is_multiple_of(1 << 10) => write!(f, "{}KiB", n >> 10),
            n => write!(f, "{n}"),
        }
    }
}

impl Value for Bytes {
    const KIND: &'static str = "bytes";

    fn parse(text: &str) -> Result<Self, String> {
        const WANT: &str = "it must be a size such as 4096, 64k, 1MiB or 2g";
        if text.eq_ignore_ascii_case("unlimited") {
            return Ok(Bytes::MAX);
        }
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let shift = match suffix.trim_start().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err(WANT.to_string()),
        };
        let number: u64 = digits.parse().map_err(|_| WANT.to_string())?;
        let bytes = number.checked_mul(1 << shift).ok_or("it exceeds 64 bits")?;
        Ok(Bytes(bytes))
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn to_bits(self) -> u64 {
        self.0
    }

    fn from_bits(bits: u64) -> Self {
        Bytes(bits)
    }

    plain!(Long, Value::to_bits, |n| Some(Bytes(n)));
}

/// Read as `500ms`, `2s`, `50us`, `100ns`, `1min` or `1h`; a number other than 0 needs a unit, as
/// settings are as short as nanoseconds and as long as hours. Kept in nanoseconds, so at most 584
/// years.
impl Value for Duration {
    const KIND: &'static str = "duration";

    fn parse(text: &str) -> Result<Self, String> {
        const WANT: &str = "it must be a time such as 2s, 500ms, 50us, 100ns, 1min or 1h";
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let scale = match suffix.trim_start().to_ascii_lowercase().as_str() {
            "ns" => 1e0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            "h" => 3600e9,
            "" => 0.0,
            _ => return Err(WANT.to_string()),
        };
        let number: f64 = digits.parse().map_err(|_| WANT.to_string())?;
        if scale == 0.0 && number != 0.0 {
            return Err(format!(
                "it lacks a unit: write {digits}s for seconds, {digits}ms for milliseconds"
            ));
        }
        let nanos = number * scale;
        if nanos >= u64::MAX as f64 {
            return Err("it exceeds 584 years".to_string());
        }
        Ok(Duration::from_nanos(nanos.round() as u64))
    }

    fn show(self) -> String {
        let nanos = self.to_bits();
        match nanos {
            0 => "0ms".to_string(),
            n if n.is_multiple_of(1_000_000_000) => format!("{}s", n / 1_000_000_000),
            n if n.is_multiple_of(1_000_000) => format!("{}ms", n / 1_000_000),
            n if n.is_multiple_of(1_000) => format!("{}us", n / 1_000),
            n => format!("{n}ns"),
        }
    }

    fn to_bits(self) -> u64 {
        u64::try_from(self.as_nanos()).unwrap_or(u64::MAX)
    }

    fn from_bits(bits: u64) -> Self {
        Duration::from_nanos(bits)
    }

    plain!(Long, Value::to_bits, |n| Some(Duration::from_nanos(n)));
}

/// Free text. Every distinct one that a setting ever had is kept for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(pub &'static str);

/// Texts that settings hold, so that each is one word: its index.
static TEXTS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Value for Text {
    const KIND: &'static str = "text";

    fn parse(text: &str) -> Result<Self, String> {
        let texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = texts.iter().find(|t| **t == text).copied();
        Ok(Text(known.unwrap_or_else(|| Box::leak(text.into()))))
    }

    fn show(self) -> String {
        self.0.to_string()
    }

    fn to_bits(self) -> u64 {
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let index = texts.iter().position(|t| *t == self.0).unwrap_or_else(|| {
            texts.push(self.0);
            texts.len() - 1
        });
        index as u64
    }

    fn from_bits(bits: u64) -> Self {
        let texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        Text(texts.get(bits as usize).copied().unwrap_or_default())
    }

    plain!(Text, |text: Text| text.0, |text| Text::parse(text).ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_binary_suffixes() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("64k", 65536),
            ("64K", 65536),
            ("1MiB", 1 << 20),
            ("3 mb", 3 << 20),
            ("2g", 2 << 30),
            ("unlimited", u64::MAX),
        ] {
            assert_eq!(Bytes::parse(text), Ok(Bytes(bytes)), "{text}");
        }
        for text in [
            "",
            "k",
            "-1",
            "1.5k",
            "64q",
            "99999999999999999999",
            "99999999999999t",
        ] {
            assert!(Bytes::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_with_units() {
        for (text, nanos) in [
            ("0", 0),
            ("500ms", 500_000_000),
            ("1.5s", 1_500_000_000),
            ("50us", 50_000),
            ("7ns", 7),
            ("2 min", 120_000_000_000),
            ("1h", 3_600_000_000_000),
        ] {
            assert_eq!(
                Duration::parse(text),
                Ok(Duration::from_nanos(nanos)),
                "{text}"
            );
        }
        for text in ["", "s", "1d", "-3", "1e3", "99999999999999999999s"] {
            assert!(Duration::parse(text).is_err(), "{text}");
        }
        // Seconds to one reader, milliseconds to another.
        for text in ["30", "0.3"] {
            let why = Duration::parse(text).unwrap_err();
            assert!(why.contains(&format!("write {text}s for seconds")), "{why}");
        }
    }

    /// Showing, reading and packing a value gives it back.
    fn round_trip<T: Value + std::fmt::Debug>(value: T) {
        assert_eq!(T::parse(&value.show()).as_ref(), Ok(&value));
        assert_eq!(T::from_plain(value.to_plain()), Some(value));
        assert!(T::from_bits(value.to_bits()) == value);
    }

    #[test]
    fn values_survive_show_parse_and_bits() {
        round_trip(true);
        round_trip(false);
        round_trip(0u32);
        round_trip(u64::MAX);
        round_trip(-0.25f64);
        for n in [0, 1, 1000, 1024, 3 << 20, 5 << 30, u64::MAX] {
            round_trip(Bytes(n));
        }
        for n in [0, 1, 1500, 2_000_000, 90_000_000_000] {
            round_trip(Duration::from_nanos(n));
        }
        round_trip(Text("shm,self"));
        round_trip(Text(""));
    }

    #[test]
    fn plain_values_of_other_types_are_refused() {
        assert_eq!(bool::from_plain(Plain::Choice(1)), Some(true));
        assert_eq!(bool::from_plain(Plain::Choice(2)), None);
        assert_eq!(bool::from_plain(Plain::Number(1)), None);
        assert_eq!(u32::from_plain(Plain::Long(1)), None);
        assert_eq!(f64::from_plain(Plain::Real(f64::NAN)), None);
    }

    #[test]
    fn bools_have_many_spellings() {
        for text in ["1", "yes", "ON", "True", "y"] {
            assert_eq!(bool::parse(text), Ok(true));
        }
        for text in ["0", "No", "off", "FALSE", "n"] {
            assert_eq!(bool::parse(text), Ok(false));
        }
        assert!(bool::parse("maybe").is_err());
        assert!(f64::parse("nan").is_err());
    }
}
