//! A file that says for each rank where it runs, as Open MPI knows it:
//!
//! ```text
//! rank 0=n0 slot=0-1      # cores 0 and 1 of node n0
//! rank 1=n0 slot=1:2      # core 2 of its package 1
//! rank 2=+n1 slot=0:0;1:0 # of the second node, a core of two packages
//! rank 3=n1               # anywhere on node n1
//! ```
//!
//! Cores and packages are counted from 0 in the machine's order. There must be
//! a line for every rank.

use catena_job::MAX_RANKS;
use catena_topo::{Cpus, Node, Resource};

/// Where a rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankLocation {
    /// Index of its node.
    pub node: u32,
    /// What [`cores`] reads; empty if anywhere.
    pub slot: String,
}

/// The names of nodes that a file has, as far as it can be read.
pub fn names(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.split('#').next().unwrap_or_default();
        let (_, rest) = line.split_once('=')?;
        let name = rest.split_whitespace().next()?;
        (!name.starts_with("+n")).then(|| name.to_string())
    };
    let mut names: Vec<String> = text.lines().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Where the ranks run on the nodes of these names, by rank: so many, or as
/// many as `text` has. `find` tells which of the nodes a name is of.
///
/// # Errors
/// What is wrong, and in which line.
pub fn read(
    text: &str,
    nodes: &[&str],
    find: &mut dyn FnMut(&str) -> Option<usize>,
    ranks: Option<u32>,
) -> Result<Vec<RankLocation>, String> {
    let mut places: Vec<Option<RankLocation>> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |why| format!("line {number}: {why}");
        let (rank, place) = read_line(line, nodes, find).map_err(wrong)?;
        if rank >= MAX_RANKS as usize {
            let most = MAX_RANKS;
            return Err(wrong(format!("there can be at most {most} ranks")));
        }
        places.resize(places.len().max(rank + 1), None);
        if places[rank].replace(place).is_some() {
            return Err(wrong(format!("rank {rank} has a line already")));
        }
    }
    let count = ranks.map_or(places.len(), |ranks| ranks as usize);
    places.resize(count, None);
    if places.is_empty() {
        return Err("it names no rank".to_string());
    }
    let missing = |rank| format!("there is no line for rank {rank}");
    let places = places.into_iter().enumerate();
    places
        .map(|(rank, place)| place.ok_or_else(|| missing(rank)))
        .collect()
}

/// The rank that a line is about, and where it runs.
fn read_line(
    line: &str,
    nodes: &[&str],
    find: &mut dyn FnMut(&str) -> Option<usize>,
) -> Result<(usize, RankLocation), String> {
    let shape = || "write: rank NUMBER=NODE slot=CORES".to_string();
    let rest = line.strip_prefix("rank").ok_or_else(shape)?;
    let (rank, rest) = rest.split_once('=').ok_or_else(shape)?;
    let rank = rank.trim().parse().map_err(|_| shape())?;
    let rest = rest.trim();
    let (name, slot) = match rest.split_once(char::is_whitespace) {
        None => (rest, ""),
        Some((name, slot)) => {
            let slot = slot.trim().strip_prefix("slot").ok_or_else(shape)?;
            let slot = slot.trim_start().strip_prefix('=').ok_or_else(shape)?;
            (name, slot.trim())
        }
    };
    let relative = name.strip_prefix("+n").and_then(|n| n.parse().ok());
    let node = match relative {
        Some(index) => Some(index).filter(|&index| index < nodes.len()),
        None => find(name),
    };
    let node = node.ok_or_else(|| {
        let names = nodes.join(", ");
        format!("there is no node {name}; the nodes are {names}")
    })?;
    let (node, slot) = (node as u32, slot.to_string());
    Ok((rank, RankLocation { node, slot }))
}

/// The CPUs of a slot: `CORES` or `PACKAGE:CORES`, several of them joined by
/// `;`.
///
/// # Errors
/// What is wrong with it, or what the node has not.
pub fn cores(slot: &str, node: &Node) -> Result<Cpus, String> {
    let machine = &node.machine;
    let mut all = Cpus::default();
    for part in slot.split(';') {
        let list = |text: &str| {
            Cpus::parse(text)
                .filter(|list| !list.is_empty())
                .ok_or_else(|| format!("slot={slot}: {text:?} is no list such as 0-1,4"))
        };
        let (from, numbers) = match part.split_once(':') {
            None => (machine.of(Resource::Core).to_vec(), list(part)?),
            Some((packages, numbers)) => {
                let mut from = Vec::new();
                for package in list(packages)?.iter() {
                    let cpus = machine.of(Resource::Package).get(package as usize);
                    let cpus = cpus.ok_or_else(|| {
                        let count = machine.of(Resource::Package).len();
                        format!("slot={slot}: node {} has {count} packages", node.name)
                    })?;
                    from.extend(machine.cores_in(cpus).cloned());
                }
                (from, list(numbers)?)
            }
        };
        for number in numbers.iter() {
            let core = from.get(number as usize).ok_or_else(|| {
                let name = &node.name;
                let there = match from.len() {
                    0 => format!("node {name} has none"),
                    1 => format!("node {name} has core 0 only"),
                    count => format!("node {name} has cores 0 to {}", count - 1),
                };
                format!("slot={slot}: there is no core {number}: {there}")
            })?;
            all = all.union(core);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use catena_topo::Machine;

    use super::*;

    /// Two packages with two cores of two threads.
    fn node() -> Node {
        let machine = "Machine 0-7\nPackage 0-1,4-5;2-3,6-7\nCore 0,4;1,5;2,6;3,7\n\
            PU 0;4;1;5;2;6;3;7\n";
        Node {
            name: "n0".to_string(),
            machine: Machine::parse(machine).expect("a machine"),
            slots: 4,
        }
    }

    /// As [`super::read`], with names that are what they are called.
    fn read(text: &str, nodes: &[&str], ranks: Option<u32>) -> Result<Vec<RankLocation>, String> {
        let mut find = |name: &str| nodes.iter().position(|node| *node == name);
        super::read(text, nodes, &mut find, ranks)
    }

    #[test]
    fn names_are_found() {
        assert_eq!(
            names("rank 0=b slot=1 # x=y\nrank 1 = a\n\nrank 2=+n0\nrank 3=b\n"),
            ["a", "b"]
        );
    }

    #[test]
    fn ranks_are_where_the_file_says() {
        let text = "# comment\nrank 1=n0 slot=1:1\n rank 0 = n0 slot = 0-1\n\
            rank 2=+n1 slot=0:0;1:0 # both\nrank 3=n1\n";
        let places = read(text, &["n0", "n1"], Some(4)).expect("places");
        assert_eq!(read(text, &["n0", "n1"], None).as_ref(), Ok(&places));
        let places = places.iter().map(|p| (p.node, p.slot.as_str()));
        let places: Vec<_> = places.collect();
        assert_eq!(places, [(0, "0-1"), (0, "1:1"), (1, "0:0;1:0"), (1, "")]);
    }

    #[test]
    fn slots_are_cores() {
        let list = |slot| cores(slot, &node()).map(|cpus| cpus.to_string());
        assert_eq!(list("0-1").as_deref(), Ok("0-1,4-5"));
        assert_eq!(list("1:1").as_deref(), Ok("3,7"));
        assert_eq!(list("0:0;1:0").as_deref(), Ok("0,2,4,6"));
        for (slot, words) in [
            ("4", "no core 4: node n0 has cores 0 to 3"),
            ("2:0", "node n0 has 2 packages"),
            ("0:2", "no core 2: node n0 has cores 0 to 1"),
            ("", "is no list"),
        ] {
            let error = list(slot).expect_err(slot);
            assert!(error.contains(words), "{slot}: {error}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, ranks, words) in [
            ("", None, "names no rank"),
            ("rank 0=n0", Some(2), "no line for rank 1"),
            (
                "\nrank 0=n7",
                None,
                "line 2: there is no node n7; the nodes are n0, n1",
            ),
            ("rank 0=+n2", None, "no node +n2"),
            (
                "rank 0=n0\nrank 0=n1",
                None,
                "line 2: rank 0 has a line already",
            ),
            ("rank x=n0", None, "write: rank NUMBER=NODE"),
            ("slot 0", None, "write: rank NUMBER=NODE"),
            ("rank 0=n0 core=1", None, "write: rank NUMBER=NODE"),
            ("rank 999999999=n0", None, "at most"),
        ] {
            let error = read(text, &["n0", "n1"], ranks).expect_err(text);
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }
}
