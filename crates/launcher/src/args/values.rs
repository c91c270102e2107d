//! The values of options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use catena_job::{Inherit, MAX_RANKS, UsageError};
use catena_settings::Value;

/// That the command line is wrong, as `text` says.
pub fn usage<T>(text: impl Into<String>) -> Result<T, UsageError> {
    Err(UsageError(text.into()))
}

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
        Ok(n) if n <= MAX_RANKS => Ok(n),
        Ok(_) => usage(format!(
            "{option} {text}: there can be at most {} ranks",
            MAX_RANKS
        )),
        Err(_) => usage(format!(
            "{option} {text}: the number of ranks must be a whole number, 1 or more"
        )),
    }
}

/// The name of a trace. Of other launchers, an option of that name takes no file.
pub fn trace_file(option: &str, text: &OsStr) -> Result<PathBuf, UsageError> {
    match text.is_empty() || text.as_bytes().starts_with(b"-") {
        true => usage(format!(
            "{option} {}: name the file for the trace, as in {option} out.pftrace",
            text.to_string_lossy()
        )),
        false => Ok(text.into()),
    }
}

/// A time limit; `option` is where it was given.
pub fn seconds(option: &str, text: &OsStr) -> Result<Duration, UsageError> {
    let text = text.to_string_lossy();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        // With a unit, as settings have it.
        Err(_) => Value::parse(&text).ok(),
    };
    match seconds {
        Some(limit) if !limit.is_zero() => Ok(limit),
        _ => usage(format!(
            "{option} {text}: it must be a number of seconds above 0, or a time such as 90s, 30min \
             or 1h"
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
                "{option} {name} is passed over: there is no variable of this name; write \
                 {name}=VALUE"
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

/// The ranks that read the launcher's standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Each of them all of it.
    All,
    /// These, ascending.
    Some(Vec<u32>),
}

impl Default for Readers {
    fn default() -> Readers {
        Readers::Some(vec![0])
    }
}

impl Readers {
    /// From `all`, `none` or a list such as `0,2-4`.
    pub fn parse(option: &str, text: &str) -> Result<Readers, UsageError> {
        match text {
            "all" => return Ok(Readers::All),
            "none" => return Ok(Readers::Some(Vec::new())),
            _ => {}
        }
        let wrong = || {
            UsageError(format!(
                "{option} {text}: it must be a rank or several (0,2-4), all or none"
            ))
        };
        let mut ranks = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
                return Err(wrong());
            };
            if last < first || last >= MAX_RANKS {
                return Err(wrong());
            }
            ranks.extend(first..=last);
        }
        ranks.sort_unstable();
        ranks.dedup();
        Ok(Readers::Some(ranks))
    }

    /// The ranks that this names, in a job of `size` ranks.
    ///
    /// # Errors
    /// The first rank that the job does not have.
    pub fn ranks(&self, size: u32) -> Result<Vec<u32>, u32> {
        match self {
            Readers::All => Ok((0..size).collect()),
            Readers::Some(ranks) => match ranks.iter().find(|&&rank| rank >= size && rank != 0) {
                Some(&rank) => Err(rank),
                None => Ok(ranks.clone()),
            },
        }
    }
}

/// Whether a word says no.
pub fn is_no(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    ["0", "n", "no", "f", "false", "off"].contains(&word.as_str())
}

/// Whether the value of an option that may do without one says no; `values` are those that its help
/// names.
pub fn says_no(shown: &str, text: &str, values: &str) -> Result<bool, UsageError> {
    let yes = ["", "1", "y", "yes", "t", "true", "on"];
    if !is_no(text) && !yes.contains(&text.to_ascii_lowercase().as_str()) {
        let values = values.replace('|', " or ");
        return usage(format!("{shown}={text}: it must be {values}"));
    }
    Ok(is_no(text))
}

/// What Hydra's `-launcher` takes beside the words that mean something here.
pub const OF_HYDRA: [&str; 12] = [
    "fork", "rsh", "ll", "manual", "persist", "pbs", "pbsdsh", "pdsh", "srun", "blaunch", "qrsh",
    "user",
];

/// The CPUs of `pe-list=0,2:ordered`, a mapping of Open MPI's.
pub fn listed_cpus(text: &str) -> Option<String> {
    let (first, _) = text.split_once(':').unwrap_or((text, ""));
    let (name, cpus) = first.split_once('=')?;
    (name.eq_ignore_ascii_case("pe-list") && !cpus.is_empty()).then(|| cpus.to_string())
}

/// Names with commas between them.
pub fn names(text: &str) -> Vec<OsString> {
    let names = text.split(',').filter(|name| !name.is_empty());
    names.map(OsString::from).collect()
}

/// What srun's `--export` says: which variables are inherited, and which are set.
pub fn export(
    option: &str,
    text: &str,
) -> Result<(Inherit, Vec<(OsString, OsString)>), UsageError> {
    let (mut all, mut inherited, mut set) = (false, Vec::new(), Vec::new());
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match (word, split_once(OsStr::new(word), b'=')) {
            ("ALL", _) => all = true,
            ("NONE" | "NIL", _) => {}
            (_, Some(pair)) => set.push(checked(option, pair)?),
            (name, None) => inherited.push(name.into()),
        }
    }
    let inherit = match all {
        true => Inherit::All,
        false => Inherit::Only(inherited),
    };
    Ok((inherit, set))
}

/// Numbers of ranks that MPI-5 writes as `2,5:8,10:20:2`: single ones, ranges, and ranges with a
/// step.
pub fn numbers(option: &str, text: &str) -> Result<Vec<u32>, UsageError> {
    let wrong = || {
        UsageError(format!(
            "{option} {text}: write numbers of ranks with commas between them: N, FIRST:LAST or \
             FIRST:LAST:STEP"
        ))
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let parts = part.split(':').map(|word| word.trim().parse::<u32>());
        let parts: Vec<u32> = parts.collect::<Result<_, _>>().map_err(|_| wrong())?;
        let (first, last, step) = match parts[..] {
            [n] => (n, n, 1),
            [first, last] => (first, last, 1),
            [first, last, step] => (first, last, step),
            _ => return Err(wrong()),
        };
        if step == 0 || last < first || last > MAX_RANKS {
            return Err(wrong());
        }
        all.extend((first..=last).step_by(step as usize));
    }
    match all.iter().all(|&n| n == 0) {
        true => Err(wrong()),
        false => Ok(all),
    }
}
