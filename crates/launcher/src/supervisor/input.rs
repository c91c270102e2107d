//! The launcher's standard input, where it is passed on to ranks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use catena_boot::Poller;
use catena_job::{NodeCommand, Plan};

use super::token;
use crate::stdin::{Source, Taken};

/// How often to look whether the launcher is in the foreground again.
const FOREGROUND: Duration = Duration::from_millis(200);

/// Standard input, if it is passed on.
pub struct Input {
    source: Option<Source>,
    /// The names of the nodes whose ranks read it.
    hosts: BTreeMap<u32, String>,
}

impl Input {
    /// That of the ranks that read it by the plan, if it is passed on.
    pub fn new(plan: &Plan, is_passed: bool, poller: &Poller) -> Input {
        let nodes = plan.stdin.iter().map(|&rank| plan.node_of[rank as usize]);
        let host = |node| (node, plan.hosts[node as usize].clone());
        let hosts: BTreeMap<u32, String> = nodes.map(host).collect();
        let source = || Source::new(hosts.keys().copied(), token::STDIN, poller);
        Input {
            source: is_passed.then(source),
            hosts,
        }
    }

    /// There may be something to read: what to pass on.
    pub fn read(&mut self, poller: &Poller) -> Option<NodeCommand> {
        let bytes = self.source.as_mut()?.read(poller)?;
        Some(NodeCommand::Stdin(bytes))
    }

    /// Goes on if the launcher is in the foreground again: what to pass on.
    pub fn tick(&mut self, poller: &Poller) -> Option<NodeCommand> {
        let source = self.source.as_mut()?;
        source.resume(poller);
        source.is_ready().then(|| self.read(poller)).flatten()
    }

    /// When to call [`Input::tick`], at the latest.
    pub fn next_time(&self) -> Option<Instant> {
        let source = self.source.as_ref()?;
        match (source.is_ready(), source.is_suspended()) {
            (true, _) => Some(Instant::now()),
            (false, true) => Some(Instant::now() + FOREGROUND),
            (false, false) => None,
        }
    }

    /// The ranks of a node have taken some of it, and may want more or not. What the user is to
    /// know then: that others wait.
    pub fn taken(
        &mut self,
        node: u32,
        taken: Taken,
        more: bool,
        poller: &Poller,
    ) -> Option<String> {
        let held = self.source.as_mut()?.taken(node, taken, more, poller)?;
        let host = self.hosts.get(&held)?;
        Some(format!(
            "a rank on host {host} has not read 64 MiB of the standard input, and all others wait \
             for it now: --stdin RANKS says who reads it"
        ))
    }
}
