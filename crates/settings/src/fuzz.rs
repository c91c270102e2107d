//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::fmt::Debug;
use std::time::Duration;

use crate::{Bytes, Value};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("settings_value", value)];

/// The value of a setting, of any type: what is understood survives being
/// shown, and being kept.
pub fn value(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check::<bool>(&text);
    check::<u32>(&text);
    check::<u64>(&text);
    check::<f64>(&text);
    check::<Bytes>(&text);
    check::<Duration>(&text);
}

fn check<T: Value + Debug>(text: &str) {
    let Ok(value) = T::parse(text) else { return };
    assert_eq!(T::parse(&value.show()).as_ref(), Ok(&value), "{text:?}");
    assert_eq!(T::from_bits(value.to_bits()), value);
    assert_eq!(T::from_plain(value.to_plain()), Some(value));
}
