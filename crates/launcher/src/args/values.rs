//! The values of options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use super::{UsageError, usage};

/// What is before and after the first `at`, if there is one.
pub fn split_once(text: &OsStr, at: u8) -> Option<(OsString, OsString)> {
    let bytes = text.as_bytes();
    let index = bytes.iter().position(|&b| b == at)?;
    let part = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    Some((part(&bytes[..index]), part(&bytes[index + 1..])))
}

/// A number of ranks.
pub fn count(option: &str, text: &OsStr) -> Result<u32, UsageError> {
    let text = text.to_string_lossy();
    match text.parse::<u32>() {
        Ok(0) => usage(format!("{option} 0: there must be at least one rank")),
        Ok(n) if n <= crate::MAX_RANKS => Ok(n),
        Ok(_) => usage(format!(
            "{option} {text}: there can be at most {} ranks",
            crate::MAX_RANKS
        )),
        Err(_) => usage(format!(
            "{option} {text}: the number of ranks must be a whole number, 1 or more"
        )),
    }
}

/// A time limit; `option` is where it was given.
pub fn seconds(option: &str, text: &OsStr) -> Result<Duration, UsageError> {
    let text = text.to_string_lossy();
    let seconds = text
        .parse::<f64>()
        .ok()
        .and_then(|s| Duration::try_from_secs_f64(s).ok());
    match seconds {
        Some(limit) if !limit.is_zero() => Ok(limit),
        _ => usage(format!(
            "{option} {text}: it must be a number of seconds above 0"
        )),
    }
}

/// A variable that is given with its value, or by name only; then it is taken
/// from the launcher's own environment, where all variables come from anyway.
pub fn variable(option: &str, given: OsString) -> Result<Option<(OsString, OsString)>, UsageError> {
    match split_once(&given, b'=') {
        Some(pair) => checked(option, pair).map(Some),
        None if std::env::var_os(&given).is_some() => Ok(None),
        None => {
            let name = given.to_string_lossy();
            usage(format!(
                "{option} {name}: there is no variable of this name; write {name}=VALUE"
            ))
        }
    }
}

/// A variable that has a name.
pub fn checked(
    option: &str,
    pair: (OsString, OsString),
) -> Result<(OsString, OsString), UsageError> {
    if pair.0.is_empty() {
        return usage(format!("{option}: the name of the variable is empty"));
    }
    Ok(pair)
}
