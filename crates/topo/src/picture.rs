//! The ranks of a node, drawn in text.
//!
//! ```text
//! node n0: 4 ranks on 1 package, 2 NUMA nodes, 4 L3 caches, 8 cores, 16 hardware threads
//!   rank 0  [##|..][..|..]  CPUs 0-1,8-9
//! ```
//!
//! Where a machine has several network cards, those that are nearer to the rank than
//! others follow.
//!
//! A character is a core: `#` if the rank may use all of it, `+` if it may use
//! some of its hardware threads, `.` if none. Brackets are NUMA nodes, or
//! packages where there are none; a bar stands between L3 caches.

use std::fmt::Write;

use crate::{Cpus, Machine, Node, Resource};

/// Draws the ranks of a node and, if wanted, what each is bound to: a line for
/// the node, then one for each rank.
pub fn picture(node: &Node, ranks: &[(u32, Option<Cpus>)], bindings: bool) -> String {
    let widest = ranks.iter().map(|(rank, _)| rank.to_string().len()).max();
    let widest = widest.unwrap_or(0);
    let mut text = format!(
        "node {}: {} on {}\n",
        node.name,
        counted(ranks.len(), "rank"),
        parts(&node.machine)
    );
    for (rank, cpus) in ranks {
        let _ = write!(text, "  rank {rank:widest$}");
        let _ = match cpus {
            _ if !bindings => Ok(()),
            None => write!(text, "  not bound"),
            Some(cpus) => {
                let drawn = cores(&node.machine, cpus);
                let plural = if cpus.len() == 1 { "" } else { "s" };
                let near = node.machine.nearest(cpus);
                let all = near.len() == node.machine.nics().len();
                let near: Vec<_> = near.iter().map(|nic| nic.name.as_str()).collect();
                let near = match all {
                    true => String::new(),
                    false => format!("  near {}", near.join(",")),
                };
                write!(text, "  {drawn}  CPU{plural} {cpus}{near}")
            }
        };
        text.push('\n');
    }
    text
}

fn counted(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}

/// What a machine consists of.
fn parts(machine: &Machine) -> String {
    let words = [
        (Resource::Package, "package"),
        (Resource::NumaNode, "NUMA node"),
        (Resource::L3Cache, "L3 cache"),
        (Resource::Core, "core"),
        (Resource::Pu, "hardware thread"),
    ];
    let part = |(resource, word): (Resource, &str)| match machine.of(resource).len() {
        0 => None,
        count => Some(counted(count, word)),
    };
    words
        .into_iter()
        .filter_map(part)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The cores of a machine, and which of them are in `bound`.
fn cores(machine: &Machine, bound: &Cpus) -> String {
    let outer = match machine.of(Resource::NumaNode) {
        [] => machine.of(Resource::Package),
        nodes => nodes,
    };
    let home = |all: &[Cpus], core: &Cpus| all.iter().position(|cpus| core.is_subset(cpus));
    let mut text = String::new();
    let mut last = None;
    for core in machine.of(Resource::Core) {
        let place = (home(outer, core), home(machine.of(Resource::L3Cache), core));
        match last.replace(place) {
            None => text.push('['),
            Some(before) if before.0 != place.0 => text.push_str("]["),
            Some(before) if before.1 != place.1 => text.push('|'),
            Some(_) => {}
        }
        text.push(match core.intersection(bound).len() {
            0 => '.',
            all if all == core.len() => '#',
            _ => '+',
        });
    }
    text + "]"
}
