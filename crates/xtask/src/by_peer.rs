//! What is kept by peer is forgotten with the peer: the numbers of a job that has ended are given
//! to others.
//!
//! In crates that know peers of several jobs, a file that keeps a table by peer, or a list of
//! peers, has a `fn forget` of a range of peers that clears it, which `Handler::forget` of `link`
//! or `Hook::forget` of `process` calls; or it stands below with the reason why it needs none.
//! Networks need none: each job has its own, which go with it.

use crate::sources::Crate;

/// Crates whose peers are of several jobs.
const CRATES: &[&str] = &[
    "core", "dynamic", "ft", "io", "link", "mpit", "process", "rma",
];

/// What collects peers.
const TABLES: &[&str] = &["Map<", "Set<", "Vec<", "VecDeque<"];

/// Files that need no `forget` of their own, and why.
const WITHOUT: &[(&str, &str)] = &[
    (
        "core/src/coll/ends.rs",
        "only peers of the process's own job, which stays, ask and are asked",
    ),
    (
        "core/src/coll/inquiry.rs",
        "only peers of the process's own job, which stays, are asked",
    ),
    (
        "link/src/engine/mod.rs",
        "`forget_peers` of lifetime.rs clears them",
    ),
    (
        "link/src/send_queue.rs",
        "`forget_peers` of engine/lifetime.rs clears the queues",
    ),
    (
        "link/src/types.rs",
        "whom a process waits for is asked for anew each time",
    ),
    (
        "rma/src/exposed.rs",
        "it belongs to a window, which keeps its members known",
    ),
];

/// Whether a line declares a field that is a table by peer or a list of peers.
fn keeps_peers(line: &str) -> bool {
    let line = line.trim();
    let is_field = line.ends_with(',') && line.contains(": ") && !line.starts_with("//");
    let starts = |table: &&str| {
        let mut parts = line.match_indices(*table);
        parts.any(|(at, _)| {
            let inside = line[at + table.len()..].trim_start_matches('(');
            let rest = inside.strip_prefix("Peer");
            rest.is_some_and(|rest| rest.starts_with([',', '>', ')']))
        })
    };
    is_field && TABLES.iter().any(starts)
}

/// What is against the rule in a crate.
pub fn check(krate: &Crate) -> Vec<String> {
    let mut problems = Vec::new();
    if !CRATES.contains(&krate.name.as_str()) {
        return problems;
    }
    for (path, text) in &krate.sources {
        let shown = format!("{}/{}", krate.name, path.display());
        let (text, _) = text.split_once("#[cfg(test)]\nmod ").unwrap_or((text, ""));
        let is_code = path.starts_with("src") && !path.ends_with("fuzz.rs");
        let keeps = is_code && text.lines().any(keeps_peers);
        let forgets = text.contains("fn forget") && text.contains("peers: &Range<u32>");
        let is_excused = WITHOUT.iter().any(|(file, _)| *file == shown);
        match (keeps, forgets, is_excused) {
            (true, false, false) => problems.push(format!(
                "crates/{shown}: keeps something by peer, and has no `fn forget` that clears it \
                 when the peer's number is given to another process: see xtask's by_peer.rs"
            )),
            (false, _, true) | (_, true, true) => problems.push(format!(
                "by_peer.rs of xtask excuses {shown}, which needs no excuse"
            )),
            _ => {}
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn problems(name: &str, path: &str, text: &str) -> usize {
        let sources = vec![(PathBuf::from(path), text.to_owned())];
        let krate = Crate {
            name: name.to_owned(),
            manifest: String::new(),
            sources,
        };
        check(&krate).len()
    }

    #[test]
    fn what_is_kept_by_peer_is_forgotten() {
        for field in [
            "    lanes: HashMap<Peer, Lane>,",
            "    pub theirs: BTreeMap<(Peer, u64), Right>,",
            "    gone: Vec<Peer>,",
            "    outbox: RefCell<VecDeque<(Peer, Header)>>,",
            "    told: HashSet<Peer>,",
        ] {
            assert_eq!(problems("rma", "src/a.rs", field), 1, "{field}");
            assert_eq!(problems("tcp", "src/a.rs", field), 0, "{field}");
            assert_eq!(problems("rma", "tests/a.rs", field), 0, "{field}");
            let both = format!("{field}\n    fn forget(&mut self, peers: &Range<u32>) {{");
            assert_eq!(problems("rma", "src/a.rs", &both), 0, "{field}");
        }
        for other in [
            "    // lanes: HashMap<Peer, Lane>,",
            "    losses: Vec<PeerLost>,",
            "    let all: Vec<Peer> = group.members().collect();",
            "    kept: HashMap<u32, Peer>,",
        ] {
            assert_eq!(problems("rma", "src/a.rs", other), 0, "{other}");
        }
    }

    #[test]
    fn excuses_are_needed() {
        assert_eq!(problems("link", "src/types.rs", "nothing"), 1);
        let field = "    pub named: BTreeSet<Peer>,";
        assert_eq!(problems("link", "src/types.rs", field), 0);
    }
}
