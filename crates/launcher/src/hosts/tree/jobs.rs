//! Jobs that come and go while the tree works, hosts that come with them, and ranks of the first
//! job that die.

use std::ffi::OsString;
use std::sync::Arc;

use catena_boot::Word;
use catena_boot::server::Event;
use catena_boot::server::far::Heard;
use catena_job::{Brief, NewJob, NodeCommand, NodeEvent, Vars};

use super::{Daemon, DaemonState, Tree};
use crate::base::Base;
use crate::node::Node;

impl Tree {
    /// Learns of hosts that have come, and of a job whose processes have these numbers.
    pub fn learn(&mut self, new: &NewJob) {
        self.add_hosts(&new.plan.hosts);
        let numbers = new.numbers();
        if self.node_of.len() < numbers.end as usize {
            self.node_of.resize(numbers.end as usize, 0);
        }
        let places = numbers.start as usize..numbers.end as usize;
        self.node_of[places].copy_from_slice(&new.plan.node_of);
    }

    fn add_hosts(&mut self, hosts: &[String]) {
        let new = hosts.iter().skip(self.hosts.len()).cloned();
        let new: Vec<String> = new.collect();
        self.hosts.extend(new);
        self.way.resize(self.hosts.len(), None);
        self.over.resize(self.hosts.len(), false);
        self.alive.resize(self.hosts.len(), 0);
    }

    /// Whether something has happened that was not taken yet.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether there is a launcher's process for a node, or one on its way.
    pub fn reaches(&self, node: u32) -> bool {
        if self.node.as_ref().is_some_and(|own| own.number() == node) {
            return true;
        }
        let way = self.way.get(node as usize).copied().flatten();
        way.is_some_and(|index| {
            let state = &self.daemons[index].state;
            matches!(state, DaemonState::Starting | DaemonState::Up)
        })
    }

    /// The nodes for which there is a launcher's process, or one on its way, and of which not all
    /// is known.
    pub fn nodes_reached(&self) -> impl Iterator<Item = u32> + '_ {
        let nodes = (0..).zip(&self.over).filter(|(_, over)| !**over);
        let nodes = nodes.map(|(node, _)| node);
        nodes.filter(|&node| self.reaches(node))
    }

    /// The nodes whose daemons work.
    pub fn nodes_up(&self) -> impl Iterator<Item = u32> + '_ {
        let up = |daemon: &&Daemon| daemon.state == DaemonState::Up;
        let nodes = self.daemons.iter().filter(up);
        let nodes = nodes.flat_map(|daemon| daemon.nodes.iter().copied());
        nodes.filter(|&node| !self.over[node as usize])
    }

    /// Starts a daemon for a node that has none, with what is known of jobs and of the dead: by
    /// `command` of a resource manager, or by the agent.
    pub fn add_node(
        &mut self,
        node: u32,
        command: Option<Vec<OsString>>,
        brief: &Brief,
        jobs: &[Arc<NewJob>],
        base: &Base,
    ) {
        self.add_hosts(&brief.plan.hosts);
        self.over[node as usize] = false;
        let daemons = self.daemons.len();
        match command {
            None => self.grow(&[node], &brief.encode(), base),
            Some(command) => {
                if let Err(error) = self.hire(&[node], command, &brief.encode(), base) {
                    let host = &self.hosts[node as usize];
                    let text = format!("host {host}: its daemon cannot be awaited: {error}");
                    self.lose(&[node], Some(text));
                }
            }
        }
        for daemon in &mut self.daemons[daemons..] {
            for job in jobs {
                let known = NewJob {
                    runs: true,
                    ..NewJob::clone(job)
                };
                daemon.push(NodeCommand::StartJob(Arc::new(known)).encode());
            }
            for (_, death) in &self.deaths {
                daemon.push(death.clone());
            }
        }
    }

    /// Starts the processes of a new job that are to run on this process's own node.
    pub fn start_job(&mut self, new: &NewJob, inherited: &Vars, base: &Base) {
        self.at_node(|node, events| node.start_job(new, inherited, base, events));
    }

    /// Forgets jobs at this process's own node that it was told to forget.
    pub fn forget_jobs(&mut self, base: &Base) {
        self.at_node(|node, events| node.forget_all(base, events));
    }

    /// Uses this process's own node, if there is one.
    pub fn with_node<T>(&mut self, action: impl FnOnce(&mut Node) -> T) -> Option<T> {
        let mut result = None;
        self.at_node(|node, _| result = Some(action(node)));
        result
    }

    /// Takes in what the processes of this process's own node have said.
    pub fn serve(&mut self) {
        self.at_node(Node::serve);
    }

    /// Another launcher says something that concerns this process's own server.
    pub fn hear_abroad(&mut self, launcher: u32, word: Word) -> Heard {
        let mut heard = Heard::Done;
        self.at_node(|node, events| heard = node.hear_abroad(launcher, word, events));
        heard
    }

    /// A process has died: fences of the first job do not wait for it.
    pub(super) fn died(&mut self, number: u32) {
        let node = self.node_of.get(number as usize).copied();
        if number < self.first_ranks
            && let Some(alive) = node.and_then(|node| self.alive.get_mut(node as usize))
        {
            *alive = alive.saturating_sub(1);
            self.complete_fence();
        }
    }

    /// A fence of the first job in which all below wait that are alive goes on to those above.
    pub(super) fn complete_fence(&mut self) {
        let own = self.node.as_ref().map(Node::number);
        let lives = |nodes: &[u32]| {
            let alive = |node: &u32| self.alive.get(*node as usize).is_some_and(|it| *it > 0);
            nodes.iter().any(alive)
        };
        let daemons = self.daemons.iter().map(|daemon| &daemon.nodes[..]);
        let mut all = own.as_slice().chunks(1).chain(daemons);
        let waits = |nodes: &[u32]| self.waiting.contains(&nodes[0]) || !lives(nodes);
        if self.fencing && !self.waiting.is_empty() && all.all(waits) && !self.is_told {
            self.is_told = true;
            let parts = std::mem::take(&mut self.parts);
            self.events.push(NodeEvent::Said(Event::Fenced { parts }));
        }
    }
}
