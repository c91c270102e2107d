//! Which hosts there are, and how many ranks each has room for.

use std::path::Path;

use crate::args::UsageError;

/// Most characters of a list of hosts that are shown.
const LONG: usize = 200;

/// A host and its slots: how many ranks it has room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name or address, as the agent takes it.
    pub name: String,
    /// At least 1.
    pub slots: u32,
}

/// Hosts in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    list: Vec<Host>,
    /// Whether a host was named with its number of slots, so that it cannot be
    /// named again.
    counted: Vec<bool>,
}

/// A list as messages show it: of a long one the beginning, as they name the word that is wrong anyway.
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

    /// Reads `a:2,b:4`; a host without a number has as many slots as it is
    /// named times. `option` is where that was given.
    ///
    /// # Errors
    /// If it is not of that form.
    pub fn add_list(&mut self, option: &str, text: &str) -> Result<(), UsageError> {
        for word in text.split(',') {
            let wrong = |cause: String| UsageError(format!("{option} {}: {cause}", shown(text)));
            let (name, slots) = name_and_slots(word.trim()).map_err(wrong)?;
            self.add(name, slots).map_err(wrong)?;
        }
        Ok(())
    }

    /// Reads a file of lines `a`, `a:2` or `a slots=2`; `#` begins a comment.
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
            let mut words = line
                .split_once('#')
                .map_or(line, |(before, _)| before)
                .split_whitespace();
            let Some(host) = words.next() else { continue };
            let (name, mut slots) = name_and_slots(host).map_err(wrong)?;
            for word in words {
                slots = match (word.split_once('='), slots) {
                    (Some(("slots", n)), None) => Some(count(n).map_err(wrong)?),
                    (Some(("slots", _)), Some(_)) => {
                        return Err(wrong("the number of slots is given twice".to_string()));
                    }
                    _ => {
                        return Err(wrong(format!(
                            "'{word}' is not understood; write HOST, HOST:N or HOST slots=N"
                        )));
                    }
                };
            }
            self.add(name, slots).map_err(wrong)?;
        }
        match self.list.len() > before {
            true => Ok(()),
            false => Err(UsageError(format!("{file} names no hosts"))),
        }
    }

    /// Adds one; `slots` as in [`Hosts::add_list`].
    ///
    /// # Errors
    /// If it was named before.
    pub(super) fn add(&mut self, name: &str, slots: Option<u32>) -> Result<(), String> {
        match self.list.iter().position(|host| host.name == name) {
            None => {
                self.list.push(Host {
                    name: name.to_string(),
                    slots: slots.unwrap_or(1),
                });
                self.counted.push(slots.is_some());
                Ok(())
            }
            Some(at) if slots.is_none() && !self.counted[at] => {
                self.list[at].slots += 1;
                Ok(())
            }
            Some(_) => Err(format!(
                "the host {name} is named twice; name it once, with all its slots"
            )),
        }
    }

    /// Every host has so many slots.
    pub fn set_slots(&mut self, slots: u32) {
        self.list.iter_mut().for_each(|host| host.slots = slots);
    }
}

/// Whether a host is the one that this process runs on, as far as its name
/// tells.
pub fn is_here(host: &str) -> bool {
    ["localhost", "127.0.0.1", "::1"].contains(&host) || alike(host, &catena_boot::host_name())
}

/// Whether two names are of one host: equal, but for the domain. Addresses have
/// none.
pub fn alike(one: &str, other: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_string();
    let name = one.parse::<std::net::IpAddr>().is_err();
    one == other || (name && short(one) == short(other))
}

/// Splits `a:2`; an address of IPv6 is in brackets.
fn name_and_slots(word: &str) -> Result<(&str, Option<u32>), String> {
    let (name, slots) = match word.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, "")) => (name, None),
        Some((name, rest)) => match rest.strip_prefix(':') {
            Some(slots) => (name, Some(slots)),
            None => return Err(format!("'{word}' is not understood; write [ADDRESS]:SLOTS")),
        },
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
        Ok(n @ 1..=crate::MAX_RANKS) => Ok(n),
        _ => Err(format!(
            "'{text}' is not a number of slots from 1 to {}",
            crate::MAX_RANKS
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<(String, u32)>, String> {
        let mut hosts = Hosts::default();
        let read = hosts.add_list("--host", text);
        read.map_err(|e| e.0)
            .map(|()| hosts.list.into_iter().map(|h| (h.name, h.slots)).collect())
    }

    fn file(text: &str) -> Result<Vec<(String, u32)>, String> {
        let mut hosts = Hosts::default();
        let read = hosts.add_lines("hosts", text);
        read.map_err(|e| e.0)
            .map(|()| hosts.list.into_iter().map(|h| (h.name, h.slots)).collect())
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
        assert_eq!(list("a, b,a").unwrap(), pairs(&[("a", 2), ("b", 1)]));
        assert_eq!(list("10.0.0.1:3").unwrap(), pairs(&[("10.0.0.1", 3)]));
        assert_eq!(
            list("[fe80::1%e0]:3,[::2]").unwrap(),
            pairs(&[("fe80::1%e0", 3), ("::2", 1)])
        );
        for (text, words) in [
            ("", "'' is not the name of a host"),
            ("a,,b", "'' is not the name of a host"),
            ("-oProxyCommand=x", "is not the name of a host"),
            ("a b", "is not the name of a host"),
            ("a:0", "'0' is not a number of slots"),
            ("a:x", "'x' is not a number of slots"),
            ("a:2,a:2", "named twice"),
            ("a,a:2", "named twice"),
            ("a:2,a", "named twice"),
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
        let text = "# nodes\n a slots=2 # big\n\nb:3\nc\nc\r\n";
        assert_eq!(file(text).unwrap(), pairs(&[("a", 2), ("b", 3), ("c", 2)]));
        for (text, words) in [
            ("# none\n", "hosts names no hosts"),
            ("a\nb slot=2", "hosts, line 2: 'slot=2' is not understood"),
            (
                "a:2 slots=2",
                "hosts, line 1: the number of slots is given twice",
            ),
            ("a slots=many", "'many' is not a number"),
            (
                "a slots=1\na slots=1",
                "hosts, line 2: the host a is named twice",
            ),
        ] {
            let error = file(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        let error = Hosts::default().add_file("--hostfile", Path::new("/no/such"));
        assert!(error.unwrap_err().0.contains("/no/such cannot be read"));
    }

    #[test]
    fn this_host_is_known_by_its_names() {
        assert!(is_here("localhost") && is_here(&catena_boot::host_name()));
        assert!(!is_here("no-such-host") && !is_here("10.1.2.3"));
    }
}
