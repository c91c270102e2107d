//! Which hosts there are, and how many ranks each has room for.

use std::path::Path;

use catena_job::{MAX_RANKS, UsageError};

/// Most characters of a list of hosts that are shown.
const LONG: usize = 200;

/// A host as it was named once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name or address, as the agent takes it.
    pub name: String,
    /// How many ranks it has room for, if that was said: at least 1.
    pub slots: Option<u32>,
    /// How many it can have at most, if that was said.
    pub most: Option<u32>,
}

/// Hosts in the order in which they were named. One may be named several times, also by different
/// names: see [`Pool`](super::pool::Pool).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    list: Vec<Host>,
}

/// A list as messages show it: of a long one the beginning, as they name the word that is wrong
/// anyway.
fn shown(list: &str) -> String {
    match list.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}... ({} hosts)", &list[..end], list.split(',').count()),
        None => list.to_string(),
    }
}

impl Hosts {
    /// The hosts.
    pub fn as_slice(&self) -> &[Host] {
        &self.list
    }

    /// Reads `a:2,b:4`. `option` is where that was given.
    ///
    /// # Errors
    /// If it is not of that form.
    pub fn add_list(&mut self, option: &str, text: &str) -> Result<(), UsageError> {
        for word in text.split(',') {
            let wrong = |cause: String| UsageError(format!("{option} {}: {cause}", shown(text)));
            let (name, slots) = name_and_slots(word.trim()).map_err(wrong)?;
            self.add(name, slots);
        }
        Ok(())
    }

    /// Reads a file of lines `a`, `a:2` or `a slots=2 max_slots=4`; `#` begins a comment.
    ///
    /// # Errors
    /// If it cannot be read, has other lines, or no hosts.
    pub fn add_file(&mut self, option: &str, path: &Path) -> Result<(), UsageError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            UsageError(format!(
                "{option}: {} cannot be read: {error}",
                path.display()
            ))
        })?;
        self.add_lines(&path.display().to_string(), &text)
    }

    pub(super) fn add_lines(&mut self, file: &str, text: &str) -> Result<(), UsageError> {
        let before = self.list.len();
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |cause: String| UsageError(format!("{file}, line {number}: {cause}"));
            let line = line
                .split_once('#')
                .map_or(line, |(before, _)| before)
                .replace('=', " = ");
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some((host, words)) = words.split_first() else {
                continue;
            };
            let (name, slots) = name_and_slots(host).map_err(wrong)?;
            let host = Host {
                name: name.to_string(),
                slots,
                most: None,
            };
            self.list.push(with_words(host, words).map_err(wrong)?);
        }
        match self.list.len() > before {
            true => Ok(()),
            false => Err(UsageError(format!("{file} names no hosts"))),
        }
    }

    /// Adds one.
    pub(super) fn add(&mut self, name: &str, slots: Option<u32>) {
        self.list.push(Host {
            name: name.to_string(),
            slots,
            most: None,
        });
    }
}

/// Takes in what stands behind the name of a host: `slots = 2`, `max_slots = 4`.
fn with_words(mut host: Host, words: &[&str]) -> Result<Host, String> {
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let (equals, value) = (words.next(), words.next());
        let field = match word {
            "slots" | "cpu" | "cpus" | "count" => &mut host.slots,
            "max_slots" | "max-slots" => &mut host.most,
            _ => {
                let given = [equals, value].into_iter().flatten().copied();
                let given: String = [word].into_iter().chain(given).collect();
                return Err(format!(
                    "'{given}' is not understood; write HOST, HOST:N or HOST slots=N max_slots=M"
                ));
            }
        };
        let (Some(&"="), Some(value)) = (equals, value) else {
            return Err(format!("behind '{word}' there must be = and a number"));
        };
        let what = match word.starts_with("max") {
            true => "the greatest number of slots",
            false => "the number of slots",
        };
        if field.replace(count(value)?).is_some() {
            return Err(format!("{what} is given twice"));
        }
    }
    match (host.slots, host.most) {
        (Some(slots), Some(most)) if slots > most => Err(format!(
            "host {} has {slots} slots, but {most} at most",
            host.name
        )),
        _ => Ok(host),
    }
}

/// Splits `a:2`; an address of IPv6 is in brackets.
fn name_and_slots(word: &str) -> Result<(&str, Option<u32>), String> {
    let (name, slots) = match word.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, "")) => (name, None),
        Some((name, rest)) => match rest.strip_prefix(':') {
            Some(slots) => (name, Some(slots)),
            None => return Err(format!("'{word}' is not understood; write [ADDRESS]:SLOTS")),
        },
        // An address of IPv6 has colons of its own.
        None if word.parse::<std::net::Ipv6Addr>().is_ok() => (word, None),
        None => match word.split_once(':') {
            Some((name, slots)) => (name, Some(slots)),
            None => (word, None),
        },
    };
    let sound = |c: char| c.is_ascii_alphanumeric() || "._-@:%".contains(c);
    match name.is_empty() || name.starts_with('-') || !name.chars().all(sound) {
        true => Err(format!("'{name}' is not the name of a host")),
        false => Ok((name, slots.map(count).transpose()?)),
    }
}

fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n @ 1..=MAX_RANKS) => Ok(n),
        _ => Err(format!(
            "'{text}' is not a number of slots from 1 to {}",
            MAX_RANKS
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<(String, u32)>, String> {
        let mut hosts = Hosts::default();
        let read = hosts.add_list("--host", text);
        read.map_err(|e| e.0).map(|()| named(hosts))
    }

    fn named(hosts: Hosts) -> Vec<(String, u32)> {
        let slots = |host: Host| (host.name, host.slots.unwrap_or(0));
        hosts.list.into_iter().map(slots).collect()
    }

    fn file(text: &str) -> Result<Vec<(String, u32)>, String> {
        let mut hosts = Hosts::default();
        let read = hosts.add_lines("hosts", text);
        read.map_err(|e| e.0).map(|()| named(hosts))
    }

    fn pairs(pairs: &[(&str, u32)]) -> Vec<(String, u32)> {
        pairs.iter().map(|&(n, s)| (n.to_string(), s)).collect()
    }

    #[test]
    fn a_long_list_is_not_shown_whole() {
        let names: Vec<String> = (0..3000).map(|n| format!("node{n}")).collect();
        let error = list(&(names.join(",") + ",bad:x")).unwrap_err();
        assert!(error.len() < 400 && error.contains("3001 hosts"), "{error}");
        assert!(list("bad:x").unwrap_err().contains("bad:x"));
    }

    #[test]
    fn lists_name_hosts_and_slots() {
        assert_eq!(list("a:2,b:4").unwrap(), pairs(&[("a", 2), ("b", 4)]));
        assert_eq!(
            list("a, b,a").unwrap(),
            pairs(&[("a", 0), ("b", 0), ("a", 0)])
        );
        assert_eq!(list("10.0.0.1:3").unwrap(), pairs(&[("10.0.0.1", 3)]));
        assert_eq!(
            list("[fe80::1%e0]:3,[::2]").unwrap(),
            pairs(&[("fe80::1%e0", 3), ("::2", 0)])
        );
        assert_eq!(list("::1,a:2").unwrap(), pairs(&[("::1", 0), ("a", 2)]));
        for (text, words) in [
            ("", "'' is not the name of a host"),
            ("a,,b", "'' is not the name of a host"),
            ("-oProxyCommand=x", "is not the name of a host"),
            ("a b", "is not the name of a host"),
            ("a:0", "'0' is not a number of slots"),
            ("a:x", "'x' is not a number of slots"),
            ("[::1]2", "[ADDRESS]:SLOTS"),
        ] {
            let error = list(text).unwrap_err();
            assert!(
                error.starts_with("--host") && error.contains(words),
                "{error}"
            );
        }
    }

    #[test]
    fn files_have_a_host_on_each_line() {
        let text = "# nodes\n a slots=2 # big\n\nb:3\nc\nd slots = 4 max_slots= 5\r\n";
        let expected = [("a", 2), ("b", 3), ("c", 0), ("d", 4)];
        assert_eq!(file(text).unwrap(), pairs(&expected));
        let mut hosts = Hosts::default();
        hosts.add_lines("hosts", text).unwrap();
        assert_eq!(hosts.as_slice()[3].most, Some(5));
        for (text, words) in [
            ("# none\n", "hosts names no hosts"),
            ("a\nb slot=2", "hosts, line 2: 'slot=2' is not understood"),
            (
                "a:2 slots=2",
                "hosts, line 1: the number of slots is given twice",
            ),
            ("a slots=many", "'many' is not a number"),
            ("a slots", "there must be = and a number"),
            ("a slots=3 max_slots=2", "3 slots, but 2 at most"),
        ] {
            let error = file(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        let error = Hosts::default().add_file("--hostfile", Path::new("/no/such"));
        assert!(error.unwrap_err().0.contains("/no/such cannot be read"));
    }
}
