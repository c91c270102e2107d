//! Values of any bytes as texts of a limited length.
//!
//! A value under `key` becomes hexadecimal text in parts `key-0`, `key-1`, …;
//! the first one begins with the number of all: `3:00ff…`.

use crate::BootError;

/// Room for the number of parts.
const HEAD: usize = 9;

/// Most bytes of a value: more parts than this are nonsense.
const MAX_PARTS: usize = 1 << 20;

/// The parts of `value`, each with its key, none longer than `limit`.
pub(super) fn split(key: &str, value: &[u8], limit: usize) -> Vec<(String, String)> {
    let room = (limit.saturating_sub(HEAD) / 2).max(1);
    let mut texts: Vec<String> = value.chunks(room).map(hex).collect();
    if texts.is_empty() {
        texts.push(String::new());
    }
    texts[0] = format!("{:x}:{}", texts.len(), texts[0]);
    let parts = texts.into_iter().enumerate();
    parts
        .map(|(at, text)| (format!("{key}-{at:x}"), text))
        .collect()
}

/// The value of which `get` finds the parts; `None` if there is none.
pub(super) fn join(
    key: &str,
    mut get: impl FnMut(&str) -> Result<Option<String>, BootError>,
) -> Result<Option<Vec<u8>>, BootError> {
    let Some(first) = get(&format!("{key}-0"))? else {
        return Ok(None);
    };
    let damaged = || BootError::Manager(format!("the value of {key} is damaged"));
    let (count, text) = first.split_once(':').ok_or_else(damaged)?;
    let count = usize::from_str_radix(count, 16).ok();
    let count = count.filter(|n| (1..=MAX_PARTS).contains(n));
    let mut value = unhex(text).ok_or_else(damaged)?;
    for at in 1..count.ok_or_else(damaged)? {
        let text = get(&format!("{key}-{at:x}"))?.ok_or_else(damaged)?;
        value.extend(unhex(&text).ok_or_else(damaged)?);
    }
    Ok(Some(value))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from(b"0123456789abcdef"[usize::from(n & 15)]);
    let pairs = bytes.iter().flat_map(|b| [digit(b >> 4), digit(*b)]);
    pairs.collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match *pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_survive_whatever_the_limit(
            value in proptest::collection::vec(any::<u8>(), 0..400), limit in 1usize..300,
        ) {
            let parts = split("k", &value, limit);
            prop_assert!(parts.iter().all(|(_, text)| text.len() <= limit.max(HEAD + 2)));
            let kept: HashMap<_, _> = parts.into_iter().collect();
            let back = join("k", |key| Ok(kept.get(key).cloned())).unwrap();
            prop_assert_eq!(back, Some(value));
        }

        #[test]
        fn damage_is_an_error(first in ".{0,12}", second in ".{0,12}") {
            let got = join("k", |key| Ok(match key {
                "k-0" => Some(first.clone()),
                "k-1" => Some(second.clone()),
                _ => None,
            }));
            if let Ok(Some(value)) = got {
                prop_assert!(value.len() <= first.len() + second.len());
            }
        }
    }

    #[test]
    fn what_nobody_put_is_not_there() {
        assert!(matches!(join("k", |_| Ok(None)), Ok(None)));
        for bad in ["", "1", "0:", "g:00", "1:0", "2:00"] {
            let get = |key: &str| Ok((key == "k-0").then(|| bad.to_string()));
            assert!(join("k", get).is_err(), "{bad}");
        }
    }
}
