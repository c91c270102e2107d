//! Which names and addresses are of one host.
//!
//! A host may be named as `n1`, `n1.cluster.example`, by an alias of `/etc/hosts`, by an address,
//! and this one as `localhost`. Names that cannot be told apart by themselves are looked up, all at
//! once and no longer than [`LIMIT`]; what is not known by then, or only to ssh, is a host of its
//! own.

use std::collections::HashMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::sys;

/// How long the addresses of names may take to be found, all together.
const LIMIT: Duration = Duration::from_millis(500);

/// How much longer [`NOBODY`] may take than all others.
const SOON: Duration = Duration::from_millis(50);

/// A name that nobody has. Where it has addresses all the same, as the domain answers for any name,
/// these tell nothing.
const NOBODY: &str = "catena-no-such-host";

/// Most names that are looked up at once.
const AT_ONCE: usize = 16;

/// What a host is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Mark {
    /// It is this one.
    Here,
    Name(String),
    /// The first part of the name of a host that was given with its domain.
    Short(String),
    Address(IpAddr),
}

/// Hosts that were named, and what they are known by.
#[derive(Debug, Default)]
pub struct Names {
    /// This host's names and addresses.
    own: Own,
    /// Addresses of names that were looked up.
    addresses: HashMap<String, Vec<IpAddr>>,
    marks: HashMap<Mark, u32>,
    next: u32,
}

/// What this host is known by.
#[derive(Clone, Debug, Default)]
struct Own {
    name: String,
    addresses: Vec<IpAddr>,
}

impl Own {
    fn find() -> Own {
        Own {
            name: catena_boot::host_name(),
            addresses: sys::own_addresses(),
        }
    }

    fn has(&self, address: &IpAddr) -> bool {
        address.to_canonical().is_loopback() || self.addresses.contains(&address.to_canonical())
    }
}

/// An address that a host is called by; IPv6 addresses of a link may have a zone behind them.
fn address(name: &str) -> Option<IpAddr> {
    let name = name.split_once('%').map_or(name, |(address, _)| address);
    name.parse()
        .ok()
        .map(|address: IpAddr| address.to_canonical())
}

fn short(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Whether two names are equal, but for the domain. Addresses have
/// none. For hosts that were asked for: of two in different domains both may answer.
pub fn alike(one: &str, other: &str) -> bool {
    one == other || (address(one).is_none() && short(one) == short(other))
}

/// Whether one of two names is the other without its domain, or both are equal.
fn is_short_of(one: &str, other: &str) -> bool {
    alike(one, other) && (one == other || one == short(one) || other == short(other))
}

impl Names {
    /// Finds out which of `names` are one host. Without `look_up` the network is not asked, as the
    /// names of a resource manager need no look there.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, look_up: bool) -> Names {
        let mut own = Own::find();
        let mut names: Vec<String> = names.into_iter().map(str::to_string).collect();
        names.sort_unstable();
        names.dedup();
        let is_plain = |name: &str| {
            name == "localhost" || name == own.name || name.contains('@') || address(name).is_some()
        };
        names.retain(|name| !is_plain(name));
        let addresses = match look_up && !names.is_empty() {
            true => {
                names.extend([NOBODY.to_string(), own.name.clone()]);
                told_apart(find_addresses(names, LIMIT))
            }
            false => HashMap::new(),
        };
        // Some may be of a router before it.
        own.addresses
            .extend(addresses.get(&own.name).into_iter().flatten());
        Names {
            own,
            addresses,
            ..Names::default()
        }
    }

    /// What a name is known by; the first are those that are looked for, all are remembered.
    fn marks(&self, name: &str) -> Vec<Mark> {
        let own = &self.own;
        if let Some(address) = address(name) {
            return match own.has(&address) {
                true => vec![Mark::Here],
                false => vec![Mark::Address(address), Mark::Name(name.to_string())],
            };
        }
        let found = self.addresses.get(name).map_or(&[][..], Vec::as_slice);
        // What is another one without its domain may be a host of another domain: where it has
        // addresses, they tell.
        let is_alike = || !name.contains('@') && is_short_of(name, &own.name);
        let is_own = name == "localhost" || name == own.name || found.is_empty() && is_alike();
        if is_own || found.iter().any(|address| own.has(address)) {
            return vec![Mark::Here];
        }
        let mut marks = vec![Mark::Name(name.to_string())];
        marks.extend(
            found
                .iter()
                .map(|address| Mark::Address(address.to_canonical())),
        );
        marks
    }

    /// The number of the host of that name, counted from 0 as they come; an equal one for the same
    /// host.
    pub fn number(&mut self, name: &str) -> u32 {
        let mut marks = self.marks(name);
        let known = |mark: &Mark| self.marks.get(mark).copied();
        let by_part = || {
            // A name without a domain is that of a host that was named with one, and the other way
            // round.
            let part = match name == short(name) {
                true => Mark::Short(name.to_string()),
                false => Mark::Name(short(name).to_string()),
            };
            address(name).is_none().then(|| known(&part)).flatten()
        };
        let number = marks.iter().find_map(known).or_else(by_part);
        let number = number.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        if address(name).is_none() && name != short(name) {
            marks.push(Mark::Short(short(name).to_string()));
        }
        for mark in marks {
            self.marks.entry(mark).or_insert(number);
        }
        number
    }

    /// Whether a name is of this host.
    pub fn is_here(&self, name: &str) -> bool {
        self.marks(name) == [Mark::Here]
    }
}

/// Addresses of names, without those that a name has that nobody has.
fn told_apart(mut found: HashMap<String, Vec<IpAddr>>) -> HashMap<String, Vec<IpAddr>> {
    let nobodys = found.remove(NOBODY).unwrap_or_default();
    for addresses in found.values_mut() {
        addresses.retain(|address| !nobodys.contains(address));
    }
    found
}

/// The addresses of names, as far as they are found in time.
fn find_addresses(names: Vec<String>, limit: Duration) -> HashMap<String, Vec<IpAddr>> {
    let mut found = HashMap::new();
    let (count, until) = (names.len(), Instant::now() + limit);
    let has_nobody = names.iter().any(|name| name == NOBODY);
    let (names, next) = (Arc::new(names), Arc::new(AtomicUsize::new(0)));
    let (tell, told) = mpsc::channel();
    for _ in 0..count.min(AT_ONCE) {
        let (names, next, tell) = (names.clone(), next.clone(), tell.clone());
        let work = move || {
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                let all = (name.as_str(), 0).to_socket_addrs();
                let all = all.map(|all| all.map(|address| address.ip()).collect());
                if tell.send((name.clone(), all.unwrap_or_default())).is_err() {
                    return;
                }
            }
        };
        // Without threads names are what they are called. One that waits for an answer ends with
        // this process.
        let _ = sys::spawn_deaf("names", work);
    }
    drop(tell);
    while found.len() < count {
        let left = until.saturating_duration_since(Instant::now());
        // Where there is no DNS, only this one may be left to wait for.
        let is_last = has_nobody && found.len() + 1 == count && !found.contains_key(NOBODY);
        let left = if is_last { left.min(SOON) } else { left };
        match told.recv_timeout(left) {
            Ok((name, addresses)) => drop(found.insert(name, addresses)),
            Err(_) => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(addresses: &[(&str, &str)]) -> Names {
        let of = |(name, address): &(&str, &str)| {
            (name.to_string(), vec![address.parse().expect("an address")])
        };
        Names {
            own: Own {
                name: "h0".to_string(),
                addresses: vec!["10.77.0.1".parse().expect("an address")],
            },
            addresses: addresses.iter().map(of).collect(),
            ..Names::default()
        }
    }

    #[test]
    fn a_host_is_itself_by_every_name() {
        let known = [
            ("b1", "10.77.0.2"),
            ("b1-ib", "10.78.0.2"),
            ("alias", "10.77.0.2"),
            ("me", "10.77.0.1"),
        ];
        let mut of = names(&known);
        let numbers: Vec<u32> = [
            "b1",
            "h0",
            "10.77.0.2",
            "alias",
            "localhost",
            "127.0.0.2",
            "::1",
            "10.77.0.1",
            "h0.example",
            "me",
            "::ffff:10.77.0.1",
            "b1.example",
            "b1-ib",
            "10.77.0.3",
            "u@h0",
        ]
        .iter()
        .map(|name| of.number(name))
        .collect();
        assert_eq!(numbers, [0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 2, 3, 4]);
        assert!(of.is_here("me") && of.is_here("127.0.1.1") && !of.is_here("b1"));
    }

    #[test]
    fn a_host_of_the_same_name_in_another_domain_is_another_one() {
        let known = [("h0.west", "10.99.0.1"), ("h0.east", "10.77.0.1")];
        let mut of = names(&known);
        let names = ["h0", "h0.west", "h0.east", "h0.north"];
        assert_eq!(
            names.map(|name| of.is_here(name)),
            [true, false, true, true]
        );
        assert_ne!(of.number("h0"), of.number("h0.west"));
        of.own.name = "h0.south".to_string();
        assert_eq!(
            names.map(|name| of.is_here(name)),
            [true, false, true, false]
        );
    }

    #[test]
    fn names_with_different_domains_are_different_hosts() {
        let mut of = names(&[]);
        let numbers =
            ["n.east", "n.west", "n", "n.east", "m.east", "m"].map(|name| of.number(name));
        assert_eq!(numbers, [0, 1, 0, 0, 2, 2]);
    }

    #[test]
    fn a_domain_that_answers_for_any_name_tells_nothing() {
        let [one, any] =
            ["10.0.0.1", "10.0.0.9"].map(|it| it.parse::<IpAddr>().expect("an address"));
        let found = [("a", vec![one, any]), ("b", vec![any]), (NOBODY, vec![any])];
        let found = found.map(|(name, addresses)| (name.to_string(), addresses));
        let found = told_apart(found.into_iter().collect());
        assert_eq!(found.len(), 2);
        assert_eq!((&found["a"][..], &found["b"][..]), (&[one][..], &[][..]));
    }

    #[test]
    fn names_are_looked_up_in_time() {
        let found = find_addresses(
            vec!["localhost".to_string(), "127.0.0.1".to_string()],
            Duration::from_secs(10),
        );
        assert!(found["localhost"].iter().all(IpAddr::is_loopback));
        let late = vec!["no-such-host.invalid".to_string(); 40];
        let start = Instant::now();
        find_addresses(late, Duration::ZERO);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
