//! Settings that must be equal, as processes tell each other of them where they meet.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::Tuned;
use crate::registry::Registry;
use crate::source::{Origin, PREFIX, Sources};
use crate::var::{Scope, Setting};

impl Registry {
    /// The settings that must be equal and have another value than their default: a line
    /// `NAME=value` each. Usually empty. What a profile says is none of them: processes of two jobs
    /// need not agree about it.
    pub fn equal(&self) -> String {
        self.lines(|_| false)
    }

    /// As [`Registry::equal`], and those that all processes of a job have of the profile that its
    /// launcher hands to them, unless somebody gives one of them another value, be it the default.
    pub fn equal_in_job(&self, sources: &Sources) -> String {
        self.lines(|setting| {
            setting.tuned() == Tuned::Together
                && sources.tuned(setting.name(), Tuned::Together).is_some()
        })
    }

    /// Lines of those that must be equal and have been given another value than their default, or
    /// that `always` names.
    fn lines(&self, always: impl Fn(&dyn Setting) -> bool) -> String {
        let all = self.iter().filter(|it| it.scope() == Scope::AllEqual);
        let lines = all.filter_map(|setting| {
            let value = setting.value_text();
            let is_given = setting.origin() != Origin::Tuned && value != setting.default_text();
            let line = format!("{}={}\n", setting.name(), value.replace('\n', " "));
            (is_given || always(setting)).then_some(line)
        });
        lines.collect()
    }
}

/// What differs between what two processes say by [`Registry::equal`], in words; each comes with
/// its name.
pub fn difference(one: (&str, &str), other: (&str, &str)) -> Option<String> {
    if one.1 == other.1 {
        return None;
    }
    let read = |text| -> BTreeMap<_, _> {
        str::lines(text)
            .filter_map(|it| it.split_once('='))
            .collect()
    };
    let values = [read(one.1), read(other.1)];
    let names: BTreeSet<_> = values.iter().flat_map(BTreeMap::keys).copied().collect();
    let shown = |of: &BTreeMap<&str, &str>, name: &str| match of.get(name) {
        Some(value) => format!("'{value}'"),
        None => "its default".to_string(),
    };
    let parts = names
        .into_iter()
        .filter(|name| values[0].get(name) != values[1].get(name));
    let parts = parts.map(|name| {
        let [mine, theirs] = values.each_ref().map(|of| shown(of, name));
        format!(
            "{PREFIX}{name} is {mine} at {} and {theirs} at {}",
            one.0, other.0
        )
    });
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| {
        format!(
            "{}; the value must be the same for all: give it to mpirun by --set, or to none",
            parts.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_setting_ranks_and_values() {
        let none = difference(("a", "X=1\n"), ("b", "X=1\n"));
        assert_eq!(none, None);
        let words = difference(("rank 0", "X=1\nY=2\n"), ("rank 3", "Y=4\n")).unwrap();
        assert!(
            words.contains("CATENA_X is '1' at rank 0 and its default at rank 3"),
            "{words}"
        );
        assert!(
            words.contains("CATENA_Y is '2' at rank 0 and '4' at rank 3"),
            "{words}"
        );
        assert!(
            difference(("a", ""), ("b", "Z=a=b\n"))
                .unwrap()
                .contains("'a=b'")
        );
    }
}
