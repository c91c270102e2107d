//! The hints of the file that the environment variable `ROMIO_HINTS` names, for all files that a
//! program opens.
//!
//! ROMIO's users know it: programs that set no hints get them so. Each line is `key value`; `#`
//! begins a comment, and of a key that stands twice the first line counts. Hints that the program
//! gives itself come before these. Each process reads the file, when it opens a file of its own.

use std::sync::Arc;

use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::info::Info;

/// What names the file.
const VARIABLE: &str = "ROMIO_HINTS";
/// Bytes that a file of hints may have.
const MOST: u64 = 64 << 10;

/// The hints of the environment; none without the variable.
///
/// # Errors
/// `InfoValue` for a file that cannot be read, is longer than 64 KiB, or has a line without a
/// value.
pub(crate) fn hints() -> Result<Option<Arc<Info>>> {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let name = path.to_string_lossy().into_owned();
    let wrong = |what: String| {
        let text = format!("{VARIABLE} names '{name}', which has hints for files: {what}");
        Error::new(Kind::InfoValue, text)
    };
    match std::fs::metadata(&path) {
        Ok(data) if !data.is_file() => return Err(wrong("it is no file".to_owned())),
        Ok(data) if data.len() > MOST => {
            return Err(wrong(format!("it has more than {MOST} bytes")));
        }
        _ => {}
    }
    let text = std::fs::read_to_string(&path).map_err(|error| {
        wrong(format!(
            "it cannot be read ({error}); unset {VARIABLE}, or give a file"
        ))
    })?;
    match parse(&text) {
        Ok(pairs) => Ok(Some(Info::from_pairs(pairs))),
        Err(error) => Err(wrong(error.text().to_owned())),
    }
}

/// The hints of a text, each key once.
fn parse(text: &str) -> Result<Vec<(&str, &str)>> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let Some((key, value)) = line.split_once(char::is_whitespace) else {
            fail!(
                InfoValue,
                "line {} is '{line}': it must be a key and a value",
                number + 1
            );
        };
        if !pairs.iter().any(|(old, _)| *old == key) {
            pairs.push((key, value.trim()));
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_hints_and_the_first_counts() {
        let text = "# all\n cb_nodes 4\n\nromio_cb_write\tenable # always\ncb_nodes 8\n";
        let pairs = parse(text).unwrap();
        assert_eq!(pairs, [("cb_nodes", "4"), ("romio_cb_write", "enable")]);
        let error = parse("cb_nodes 1\nalone\n").unwrap_err();
        assert!(error.text().contains("line 2"), "{}", error.text());
    }
}
