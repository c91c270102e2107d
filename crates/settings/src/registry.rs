//! All settings together: listing them, and finding names that are none.

use std::fmt;

use crate::file::CONF;
use crate::profile::{PROFILE, TUNED, Tuned};
use crate::source::{COMMAND_LINE, FILE, PREFIX, Sources};
use crate::var::Setting;
use crate::warning::Warning;

/// Names that only the launcher and its ranks use between them.
const INTERNAL: &[&str] = &[
    CONF,
    COMMAND_LINE,
    FILE,
    PROFILE,
    TUNED,
    "CATENA_BOOT",
    "CATENA_RANK",
    "CATENA_SIZE",
    "CATENA_LOCAL_RANK",
    "CATENA_LOCAL_SIZE",
    "CATENA_WITHIN",
    "CATENA_STREAMED",
    "CATENA_EXPLAINED",
];

/// Whether a variable of the environment is Catena's own, but no setting.
pub fn reserved(name: &str) -> bool {
    INTERNAL.contains(&name) || name.starts_with("CATENA_BOOT_")
}

/// The settings of several crates, in the order in which they were added.
#[derive(Clone, Default)]
pub struct Registry {
    settings: Vec<&'static dyn Setting>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|s| s.name()))
            .finish()
    }
}

impl Registry {
    /// One that holds `settings`.
    pub fn new(settings: impl IntoIterator<Item = &'static dyn Setting>) -> Registry {
        Registry {
            settings: settings.into_iter().collect(),
        }
    }

    /// Adds the list of a crate.
    #[must_use]
    pub fn with(mut self, list: &[&'static dyn Setting]) -> Registry {
        self.settings.extend_from_slice(list);
        self
    }

    /// All settings.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Setting> + '_ {
        self.settings.iter().copied()
    }

    /// The setting called `name`, with or without `CATENA_`, in any case.
    pub fn find(&self, name: &str) -> Option<&'static dyn Setting> {
        let name = without_prefix(name);
        self.iter().find(|s| s.name().eq_ignore_ascii_case(name))
    }

    /// A name of a setting that `name` may be a misspelling of.
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        nearest(without_prefix(name), self.iter().map(|s| s.name()))
    }

    /// Everything that is wrong with what this process was given: bad values,
    /// unknown names, unreadable lines. In a job, one rank should say it.
    pub fn check(&self) -> Vec<Warning> {
        self.check_in(Sources::of_process())
    }

    /// As [`Registry::check`], for any sources.
    pub fn check_in(&self, sources: &Sources) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = self.iter().filter_map(|s| s.problem(sources)).collect();
        warnings.extend(unknown(self, sources.environment_names()));
        for name in sources
            .file_names()
            .filter(|name| self.find(name).is_none())
        {
            let place = sources.place(name, crate::Origin::File);
            warnings.push(self.unknown_name(name, place, ""));
        }
        warnings.extend_from_slice(sources.malformed());
        warnings.extend(sources.profile().problem());
        let path = sources.profile().path.display();
        for it in &sources.profile().values {
            let found = self.find(&it.name);
            if found.is_none_or(|it| it.tuned() == Tuned::Never) {
                warnings.push(Warning {
                    subject: format!("{} in {path}", it.name),
                    cause: match found {
                        Some(_) => "a profile cannot give this setting a value".to_string(),
                        None => "no setting has this name".to_string(),
                    },
                    remedy: "it has no effect; take it out of the profile".into(),
                });
            }
        }
        warnings
    }

    fn unknown_name(&self, name: &str, subject: String, prefix: &str) -> Warning {
        let remedy = match self.nearest(name) {
            Some(near) => format!("did you mean {prefix}{near}? (`catena info --all` lists all)"),
            None => "it has no effect (`catena info --all` lists the settings)".to_string(),
        };
        Warning {
            subject,
            cause: "no setting has this name".to_string(),
            remedy,
        }
    }
}

/// Warns of every `CATENA_*` among `names` that is neither a setting nor used
/// between the launcher and its ranks.
pub fn unknown<S: AsRef<str>>(
    registry: &Registry,
    names: impl IntoIterator<Item = S>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for name in names {
        let name = name.as_ref();
        let Some(bare) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let known = registry.iter().any(|s| s.name() == bare);
        if !known && !reserved(name) {
            warnings.push(registry.unknown_name(bare, name.to_string(), PREFIX));
        }
    }
    warnings
}

/// The candidate that `word` is most likely a misspelling of, if any is near:
/// up to one edit per three letters, or the beginning of it, ignoring case,
/// `-` against `_`, and dashes before it.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| -> Vec<char> {
        let name = s.trim_start_matches('-').to_ascii_lowercase();
        name.replace('-', "_").chars().collect()
    };
    let word = plain(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let letters = plain(candidate);
            let edits = distance(&word, &letters);
            let near = edits <= word.len().max(letters.len()).div_ceil(3);
            let begins = word.len() >= 3 && letters.starts_with(&word);
            (near || begins).then_some((edits, candidate))
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Edit distance with transpositions of neighbours (Damerau 1964, restricted).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j - 1] + swap).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

fn without_prefix(name: &str) -> &str {
    match name.get(..PREFIX.len()) {
        Some(head) if head.eq_ignore_ascii_case(PREFIX) => &name[PREFIX.len()..],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(a: &str, b: &str) -> usize {
        distance(
            &a.chars().collect::<Vec<_>>(),
            &b.chars().collect::<Vec<_>>(),
        )
    }

    #[test]
    fn distances_count_edits_and_swaps() {
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
        assert_eq!(edits("abc", "abc"), 0);
        assert_eq!(edits("abc", "acb"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn nearest_finds_misspellings_but_not_strangers() {
        let names = ["SHM_EAGER_MAX", "SPIN", "LINK"];
        assert_eq!(nearest("shm_eagre_max", names), Some("SHM_EAGER_MAX"));
        assert_eq!(nearest("SHM-EAGER-MAX", names), Some("SHM_EAGER_MAX"));
        assert_eq!(nearest("LNIK", names), Some("LINK"));
        assert_eq!(nearest("shm", names), Some("SHM_EAGER_MAX"));
        assert_eq!(nearest("COMPLETELY_ELSE", names), None);
        assert_eq!(nearest("--windw", ["--link"]), None);
        assert_eq!(nearest("-lnk", ["--link"]), Some("--link"));
    }
}
