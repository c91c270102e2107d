//! The part of the job below one process of the launcher: its own node, if it
//! has one, and the daemons that it has started, each with others below it.
//! The events of all of them come together here, and commands are spread.

mod ends;
mod events;
mod jobs;
#[cfg(test)]
pub mod played;
mod surveys;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use catena_boot::Poller;
use catena_job::{Means, NodeCommand, NodeEvent, Plan, brief};
use catena_proof::Secret;

use super::agent::Agent;
use super::call::{self, Calls};
use super::link::{End, Link};
use super::names::alike;
use crate::base::Base;
use crate::node::{self, Node};
use surveys::Surveys;

/// Tokens of the poller: for each daemon its two of the link, and its agent's
/// stderr.
const DAEMONS: u64 = 2 << 32;
const TOKENS: u64 = 4;
const STDERR: u64 = 2;

/// What a resource manager says, and from the next one on daemons that call; then the same of the
/// next one.
const MANAGER: u64 = 3 << 32;
const CALLS: u64 = 1 << 20;

/// How far it is with a daemon.
#[derive(Debug, PartialEq)]
enum DaemonState {
    /// The daemon has not answered yet.
    Starting,
    /// The daemon works.
    Up,
    /// Nothing will be heard of it any more; the reason is told at this time,
    /// or when its agent has ended. Before, it had answered or not.
    Ending(End, Instant, bool),
    /// The daemon is no longer there.
    Gone,
}

/// A daemon, and the part of the tree below it.
struct Daemon {
    /// Its node, then those below.
    nodes: Vec<u32>,
    link: Option<Link>,
    /// Unless a resource manager has started it, by its command with that number.
    agent: Option<Agent>,
    manager: Option<usize>,
    state: DaemonState,
    since: Instant,
    /// Frames for a daemon that has not called yet.
    waiting: Vec<Vec<u8>>,
}

/// A command of a resource manager, which starts several daemons.
struct Manager {
    command: Vec<OsString>,
    agent: Agent,
    /// While daemons are awaited.
    calls: Option<Calls>,
    brief: Arc<[u8]>,
}

/// A part of the job.
pub struct Tree {
    pub node: Option<Node>,
    daemons: Vec<Daemon>,
    managers: Vec<Manager>,
    means: Means,
    secret: Option<Secret>,
    hosts: Vec<String>,
    node_of: Vec<u32>,
    /// The daemon that leads to each node.
    way: Vec<Option<usize>>,
    /// Nodes of which all is known.
    over: Vec<bool>,
    /// How many ranks of the first job are alive on each node.
    alive: Vec<u32>,
    /// What daemons were told of deaths, for those that come later: the numbers of processes, and
    /// the frames.
    deaths: Vec<(u32, Vec<u8>)>,
    /// Whether somebody waits in a fence of the first job, which parts of the tree wait as a whole,
    /// by their first node, and what they have brought.
    fencing: bool,
    waiting: BTreeSet<u32>,
    parts: Vec<u8>,
    /// Whether the end of that fence was told.
    is_told: bool,
    /// How many ranks the first job has.
    first_ranks: u32,
    /// What all below were asked, as long as not all have answered.
    surveys: Surveys,
    /// What has happened and was not taken yet.
    events: Vec<NodeEvent>,
}

impl Tree {
    /// One without nodes.
    pub fn new(means: Means, plan: &Plan) -> Tree {
        let hosts = &plan.hosts;
        let alive = |node| plan.ranks_on(node).count() as u32;
        Tree {
            alive: (0..hosts.len() as u32).map(alive).collect(),
            deaths: Vec::new(),
            node: None,
            daemons: Vec::new(),
            managers: Vec::new(),
            means,
            secret: plan.secret.clone(),
            hosts: hosts.clone(),
            node_of: plan.node_of.clone(),
            way: vec![None; hosts.len()],
            over: vec![false; hosts.len()],
            fencing: false,
            waiting: BTreeSet::new(),
            is_told: false,
            first_ranks: plan.node_of.len() as u32,
            surveys: Surveys::default(),
            parts: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Starts daemons for `nodes`.
    pub fn grow(&mut self, nodes: &[u32], brief: &Arc<[u8]>, base: &Base) {
        for nodes in split(nodes, self.means.fanout) {
            let host = &self.hosts[nodes[0] as usize];
            let token = DAEMONS + self.daemons.len() as u64 * TOKENS;
            let (agent, command) = (&self.means.agent, &self.means.daemon);
            let started = Agent::start(agent, host, command, token + STDERR, base);
            let started = started.and_then(|(agent, to, from)| {
                let tokens = [token, token + 1];
                let link = Link::new(from.into(), Some(to.into()), tokens, &base.poller)?;
                Ok((agent, link.greeted()))
            });
            match started {
                Ok((agent, mut link)) => {
                    link.push(brief::frame(nodes, self.secret.as_ref(), brief));
                    self.await_daemon(nodes, Some(link), Ok(agent));
                }
                Err(error) => {
                    let agent = agent[0].to_string_lossy();
                    let text = format!(
                        "host {host}: the agent {agent} cannot be started: {error}; install it, or \
                         name another with --launcher-agent"
                    );
                    self.lose(nodes, Some(text));
                }
            }
        }
    }

    /// Has a resource manager start the daemons for `nodes`: `command`, and what
    /// it is to start.
    pub fn hire(
        &mut self,
        nodes: &[u32],
        command: Vec<OsString>,
        brief: &Arc<[u8]>,
        base: &Base,
    ) -> io::Result<()> {
        let secret = self.secret.clone().map_or_else(Secret::random, Ok)?;
        let number = self.managers.len();
        let token = MANAGER + number as u64 * CALLS;
        let calls = Calls::open(token + 1, secret, &base.poller)?;
        let place = calls.place(self.means.start)?;
        let all = [&command[..], &self.means.daemon[..]].concat();
        match Agent::start_all(&all, (call::VAR, &place), token, base) {
            Ok(agent) => {
                nodes
                    .iter()
                    .for_each(|&node| self.await_daemon(&[node], None, Err(number)));
                self.managers.push(Manager {
                    command,
                    agent,
                    calls: Some(calls),
                    brief: Arc::clone(brief),
                });
            }
            Err(error) => {
                let name = command[0].to_string_lossy();
                let text = format!(
                    "{name} cannot be started: {error}; put it in PATH, or say where it is with \
                     --launcher-agent"
                );
                self.lose(nodes, Some(text));
            }
        }
        Ok(())
    }

    /// A daemon is about to come up, which an agent starts, or the resource manager's command with
    /// that number.
    fn await_daemon(&mut self, nodes: &[u32], link: Option<Link>, by: Result<Agent, usize>) {
        for &node in nodes {
            self.way[node as usize] = Some(self.daemons.len());
        }
        let (manager, agent) = (by.as_ref().err().copied(), by.ok());
        self.daemons.push(Daemon {
            nodes: nodes.to_vec(),
            link,
            agent,
            manager,
            state: DaemonState::Starting,
            since: Instant::now(),
            waiting: Vec::new(),
        });
    }

    /// A daemon calls that the command with that number has started, and whose node has these
    /// names.
    fn called(&mut self, number: usize, from: OwnedFd, names: &[String], poller: &Poller) {
        let hosts = &self.hosts;
        let awaited = |daemon: &Daemon| {
            let host = &hosts[daemon.nodes[0] as usize];
            daemon.is_awaited_by(number) && names.iter().any(|name| alike(name, host))
        };
        let Some(index) = self.daemons.iter().position(awaited) else {
            return;
        };
        let manager = &self.managers[number];
        let token = DAEMONS + index as u64 * TOKENS;
        if let Ok(mut link) = Link::new(from, None, [token; 2], poller) {
            let daemon = &mut self.daemons[index];
            // The daemon knows the secret, which others could read here.
            link.push(brief::frame(&daemon.nodes, None, &manager.brief));
            daemon.waiting.drain(..).for_each(|frame| link.push(frame));
            daemon.link = Some(link);
        }
        self.stop_listening();
    }

    /// Shuts the doors behind the last daemons that are awaited.
    fn stop_listening(&mut self) {
        for (number, manager) in self.managers.iter_mut().enumerate() {
            if !self.daemons.iter().any(|it| it.is_awaited_by(number)) {
                manager.calls = None;
            }
        }
    }

    /// How many ranks and nodes the job has.
    pub fn size(&self) -> (u32, u32) {
        (self.node_of.len() as u32, self.hosts.len() as u32)
    }

    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<NodeEvent> {
        std::mem::take(&mut self.events)
    }

    /// Whether all was told of all nodes.
    pub fn is_done(&self) -> bool {
        self.node.as_ref().is_none_or(Node::is_done)
            && self.daemons.iter().all(|d| self.is_over(&d.nodes))
    }

    fn is_over(&self, nodes: &[u32]) -> bool {
        nodes.iter().all(|&node| self.over[node as usize])
    }

    /// Handles a token that the poller gave.
    pub fn handle(&mut self, token: u64, base: &Base) {
        if token <= node::token::LAST {
            self.at_node(|node, events| node.handle(token, &base.poller, events));
        } else if token >= MANAGER {
            let number = ((token - MANAGER) / CALLS) as usize;
            let Some(manager) = self.managers.get_mut(number) else {
                return;
            };
            if (token - MANAGER).is_multiple_of(CALLS) {
                manager.agent.listen();
            } else if let Some((from, names)) = manager
                .calls
                .as_mut()
                .and_then(|calls| calls.handle(token, &base.poller))
            {
                self.called(number, from, &names, &base.poller);
            }
        } else if let Some(of) = token.checked_sub(DAEMONS) {
            let index = (of / TOKENS) as usize;
            let Some(daemon) = self.daemons.get_mut(index) else {
                return;
            };
            match of % TOKENS {
                STDERR => daemon.agent.iter_mut().for_each(Agent::listen),
                0 => self.hear(index),
                // Links are flushed after every turn.
                _ => {}
            }
        }
    }

    /// Some children may have ended.
    pub fn children(&mut self) {
        self.at_node(Node::children);
        for agent in self.agents() {
            agent.look();
        }
        for index in 0..self.daemons.len() {
            let daemon = &self.daemons[index];
            let manager = daemon.manager.map(|number| &self.managers[number]);
            let has_ended = manager.is_some_and(|it| !it.agent.is_running());
            if has_ended && daemon.state == DaemonState::Starting {
                self.closed(index, End::Closed);
            }
        }
    }

    fn agents(&mut self) -> impl Iterator<Item = &mut Agent> {
        let own = self.daemons.iter_mut().filter_map(|d| d.agent.as_mut());
        own.chain(self.managers.iter_mut().map(|m| &mut m.agent))
    }

    /// Has a command carried out.
    pub fn command(&mut self, command: &NodeCommand, poller: &Poller) {
        if let NodeCommand::Survey { number, question } = command {
            self.begin_survey(*number, *question);
        }
        match command {
            NodeCommand::Pass(event) => self.pass(event.clone()),
            NodeCommand::Taken { node, .. } => match self.way.get(*node as usize) {
                Some(Some(daemon)) => self.daemons[*daemon].push(command.encode()),
                _ => self.at_node(|node, events| node.obey(command, poller, events)),
            },
            _ => {
                let signal = match command {
                    NodeCommand::Signal { signal, .. } => *signal,
                    _ => 0,
                };
                for daemon in &mut self.daemons {
                    match (&daemon.state, signal) {
                        (DaemonState::Starting, libc::SIGKILL) => {
                            let manager = daemon.manager.map(|number| &self.managers[number].agent);
                            daemon.agent.iter().chain(manager).for_each(Agent::kill);
                        }
                        (_, libc::SIGCONT) => daemon.link.iter_mut().for_each(Link::wake),
                        _ => {}
                    }
                    daemon.push(command.encode());
                }
                self.at_node(|node, events| node.obey(command, poller, events));
            }
        }
        match command {
            NodeCommand::EndFence(_) => {
                (self.fencing, self.is_told) = (false, false);
                self.waiting.clear();
            }
            NodeCommand::Died { rank, .. } => {
                self.deaths.push((*rank, command.encode()));
                self.died(*rank);
            }
            // Nobody may be there to answer.
            NodeCommand::Survey { .. } => self.complete_surveys(),
            NodeCommand::ForgetJob { numbers } => {
                self.deaths.retain(|(dead, _)| !numbers.contains(dead));
            }
            _ => {}
        }
    }

    /// Sends what waits.
    pub fn flush(&mut self, poller: &Poller) {
        if let Some(node) = &mut self.node {
            node.flush(poller);
        }
        for daemon in &mut self.daemons {
            if let Some(link) = &mut daemon.link {
                // An end is noticed where it is read.
                let _ = link.flush(poller);
            }
        }
    }
}

impl Daemon {
    /// Whether it is to call, and the resource manager's command with that number has started it.
    fn is_awaited_by(&self, number: usize) -> bool {
        let is_silent = self.state == DaemonState::Starting && self.link.is_none();
        is_silent && self.manager == Some(number)
    }

    fn push(&mut self, frame: Vec<u8>) {
        match &mut self.link {
            Some(link) => link.push(frame),
            None if self.state == DaemonState::Starting => self.waiting.push(frame),
            None => {}
        }
    }
}

/// As many parts as may be, about equally long.
fn split(nodes: &[u32], parts: u32) -> Vec<&[u32]> {
    let parts = nodes.len().min(parts.max(1) as usize);
    (0..parts)
        .map(|i| &nodes[i * nodes.len() / parts..(i + 1) * nodes.len() / parts])
        .collect()
}
