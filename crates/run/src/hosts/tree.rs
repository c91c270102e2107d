//! The part of the job below one process of the launcher: its own node, if it
//! has one, and the daemons that it has started, each with others below it.
//! News of all of them comes together here, and orders are spread.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catena_boot::server::Event;
use catena_boot::wire::{MAX_BODY, Malformed};
use catena_boot::{Interest, Poller};

use super::agent::Agent;
use super::call::{self, Calls};
use super::link::{End, Link};
use super::list::alike;
use super::{Means, brief};
use crate::base::Base;
use crate::message::{Kind, News, Order};
use crate::node::{self, Node};
use crate::plan::Plan;

/// Tokens of the poller: for each daemon its two of the link, and its agent's
/// stderr.
const DAEMONS: u64 = 2 << 32;
const TOKENS: u64 = 4;
const STDERR: u64 = 2;

/// What a resource manager says, and from the next one on daemons that call.
const MANAGER: u64 = 3 << 32;

/// How long after the end of a stream the agent's end and words are awaited.
const WORDS: Duration = Duration::from_secs(1);

/// How long agents may take to end when everything is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// How far it is with a daemon.
#[derive(Debug, PartialEq)]
enum State {
    /// It has not answered yet.
    Starting,
    /// It works.
    Up,
    /// Nothing will be heard of it any more; the reason is told at this time,
    /// or when its agent has ended. Before, it had answered or not.
    Ending(End, Instant, bool),
    /// It is no longer there.
    Gone,
}

/// A daemon, and the part of the tree below it.
struct Daemon {
    /// Its node, then those below.
    nodes: Vec<u32>,
    link: Option<Link>,
    /// Unless a resource manager has started it.
    agent: Option<Agent>,
    state: State,
    since: Instant,
    /// Frames for a daemon that has not called yet.
    waiting: Vec<Vec<u8>>,
}

/// A resource manager, which starts all daemons with one command.
struct Manager {
    command: Vec<OsString>,
    agent: Agent,
    calls: Calls,
    brief: Arc<[u8]>,
}

/// A part of the job.
pub struct Tree {
    pub node: Option<Node>,
    daemons: Vec<Daemon>,
    manager: Option<Manager>,
    means: Means,
    hosts: Vec<String>,
    node_of: Vec<u32>,
    /// The daemon that leads to each node.
    way: Vec<Option<usize>>,
    /// Nodes of which all is known.
    over: Vec<bool>,
    /// Whether somebody waits in a fence, how many parts of the tree wait as a
    /// whole, and what they have brought.
    fencing: bool,
    waiting: usize,
    parts: Vec<u8>,
    /// What has happened and was not taken yet.
    news: Vec<News>,
}

impl Tree {
    /// One without nodes.
    pub fn new(means: Means, plan: &Plan) -> Tree {
        let hosts = &plan.hosts;
        Tree {
            node: None,
            daemons: Vec::new(),
            manager: None,
            means,
            hosts: hosts.clone(),
            node_of: plan.node_of.clone(),
            way: vec![None; hosts.len()],
            over: vec![false; hosts.len()],
            fencing: false,
            waiting: 0,
            parts: Vec::new(),
            news: Vec::new(),
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
                    link.push(brief::frame(nodes, brief));
                    self.await_daemon(nodes, Some(link), Some(agent));
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
        let calls = Calls::open(MANAGER + 1, &base.poller)?;
        let place = calls.place(self.means.start)?;
        let all = [&command[..], &self.means.daemon[..]].concat();
        match Agent::start_all(&all, (call::VAR, &place), MANAGER, base) {
            Ok(agent) => {
                nodes
                    .iter()
                    .for_each(|&node| self.await_daemon(&[node], None, None));
                self.manager = Some(Manager {
                    command,
                    agent,
                    calls,
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

    /// A daemon is about to come up.
    fn await_daemon(&mut self, nodes: &[u32], link: Option<Link>, agent: Option<Agent>) {
        for &node in nodes {
            self.way[node as usize] = Some(self.daemons.len());
        }
        self.daemons.push(Daemon {
            nodes: nodes.to_vec(),
            link,
            agent,
            state: State::Starting,
            since: Instant::now(),
            waiting: Vec::new(),
        });
    }

    /// A daemon calls, whose node has these names.
    fn called(&mut self, from: OwnedFd, names: &[String], poller: &Poller) {
        let hosts = &self.hosts;
        let awaited = |daemon: &Daemon| {
            let host = &hosts[daemon.nodes[0] as usize];
            let waiting = daemon.state == State::Starting && daemon.link.is_none();
            waiting && names.iter().any(|name| alike(name, host))
        };
        let index = self.daemons.iter().position(awaited);
        let (Some(index), Some(manager)) = (index, &self.manager) else {
            return;
        };
        let token = DAEMONS + index as u64 * TOKENS;
        if let Ok(mut link) = Link::new(from, None, [token; 2], poller) {
            let daemon = &mut self.daemons[index];
            link.push(brief::frame(&daemon.nodes, &manager.brief));
            daemon.waiting.drain(..).for_each(|frame| link.push(frame));
            daemon.link = Some(link);
        }
    }

    /// How many ranks and nodes the job has.
    pub fn size(&self) -> (u32, u32) {
        (self.node_of.len() as u32, self.hosts.len() as u32)
    }

    /// What has happened since the last call.
    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
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
            self.at_node(|node, news| node.handle(token, &base.poller, news));
        } else if token >= MANAGER {
            let Some(manager) = &mut self.manager else {
                return;
            };
            if token == MANAGER {
                manager.agent.listen();
            } else if let Some((from, names)) = manager.calls.handle(token, &base.poller) {
                self.called(from, &names, &base.poller);
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
        let ended = self.manager.as_ref().is_some_and(|m| !m.agent.is_running());
        for index in 0..self.daemons.len() {
            let daemon = &self.daemons[index];
            if ended && daemon.agent.is_none() && daemon.state == State::Starting {
                self.closed(index, End::Closed);
            }
        }
    }

    fn agents(&mut self) -> impl Iterator<Item = &mut Agent> {
        let own = self.daemons.iter_mut().filter_map(|d| d.agent.as_mut());
        own.chain(self.manager.iter_mut().map(|m| &mut m.agent))
    }

    /// Has an order done.
    pub fn order(&mut self, order: &Order, poller: &Poller) {
        match order {
            Order::Pass(news) => self.pass(news.clone()),
            Order::Taken { node, .. } => match self.way.get(*node as usize) {
                Some(Some(daemon)) => self.daemons[*daemon].push(order.encode()),
                _ => self.at_node(|node, news| node.obey(order, poller, news)),
            },
            _ => {
                let signal = match order {
                    Order::Signal { signal, .. } => *signal,
                    _ => 0,
                };
                let starting = self.daemons.iter().any(|d| d.state == State::Starting);
                if let (Some(manager), libc::SIGKILL, true) = (&self.manager, signal, starting) {
                    manager.agent.kill();
                }
                for daemon in &mut self.daemons {
                    match (&daemon.state, signal) {
                        (State::Starting, libc::SIGKILL) => {
                            daemon.agent.iter().for_each(Agent::kill);
                        }
                        (_, libc::SIGCONT) => daemon.link.iter_mut().for_each(Link::wake),
                        _ => {}
                    }
                    daemon.push(order.encode());
                }
                self.at_node(|node, news| node.obey(order, poller, news));
            }
        }
        if let Order::EndFence(_) = order {
            (self.fencing, self.waiting) = (false, 0);
        }
    }

    /// Sends what one node has for another on its way.
    fn pass(&mut self, news: News) {
        let target = match news {
            News::Said(Event::Ask { rank, .. }) => self.node_of[rank as usize],
            News::Said(Event::Answer { node, .. }) | News::Parcel { node, .. } => node,
            _ => return,
        };
        match (self.way[target as usize], &self.node) {
            (Some(daemon), _) => self.daemons[daemon].push(news.encode()),
            (None, Some(node)) if node.number() == target => {
                self.at_node(|node, more| node.exchange(&news, more));
            }
            _ => self.news.push(news),
        }
    }

    /// Does something with the own node, and takes in what happened there.
    fn at_node(&mut self, action: impl FnOnce(&mut Node, &mut Vec<News>)) {
        let mut news = Vec::new();
        if let Some(node) = &mut self.node {
            action(node, &mut news);
        }
        self.add(news);
    }

    /// Takes in what has happened at the own node.
    pub fn add(&mut self, news: Vec<News>) {
        for news in news {
            self.take_in(news);
        }
    }

    /// Takes in what a daemon says.
    fn hear(&mut self, index: usize) {
        let daemon = &mut self.daemons[index];
        let Some(link) = &mut daemon.link else { return };
        let received = link.receive();
        let chatter = link.take_chatter();
        daemon
            .agent
            .iter_mut()
            .for_each(|agent| agent.hear(&chatter));
        loop {
            let Some(link) = &mut self.daemons[index].link else {
                return;
            };
            let taken = match link.next() {
                Ok(None) => break,
                Ok(Some((Kind::Hello, _))) => {
                    self.daemons[index].state = State::Up;
                    Ok(())
                }
                Ok(Some((kind, body))) => {
                    let (ranks, nodes) = self.size();
                    News::decode(kind, &body, ranks, nodes)
                        .map_err(End::Malformed)
                        .map(|news| self.take_in(news))
                }
                Err(end) => Err(end),
            };
            if let Err(end) = taken {
                return self.closed(index, end);
            }
        }
        if let Err(end) = received {
            self.closed(index, end);
        }
    }

    /// Nothing more will be heard of a daemon.
    fn closed(&mut self, index: usize, end: End) {
        let now = Instant::now();
        let daemon = &mut self.daemons[index];
        daemon.link = None;
        let answered = match daemon.state {
            State::Starting => false,
            State::Up => true,
            _ => return,
        };
        let patience = match end {
            End::Closed => WORDS,
            _ => Duration::ZERO,
        };
        daemon.state = State::Ending(end, now + patience, answered);
    }

    fn take_in(&mut self, news: News) {
        match &news {
            News::Said(Event::Fencing) if std::mem::replace(&mut self.fencing, true) => {}
            News::Said(Event::Fenced { parts }) => {
                self.parts.extend_from_slice(parts);
                self.waiting += 1;
                let all = usize::from(self.node.is_some()) + self.daemons.len();
                if self.parts.len() > MAX_BODY {
                    let text = "the ranks exchange more than 256 MiB in one fence".to_string();
                    self.news.push(News::Failed { status: 1, text });
                } else if self.waiting == all {
                    let parts = std::mem::take(&mut self.parts);
                    self.news.push(News::Said(Event::Fenced { parts }));
                }
            }
            News::Said(Event::Ask { .. } | Event::Answer { .. }) | News::Parcel { .. } => {
                self.pass(news);
            }
            News::Done { node } | News::Lost { node, .. } => {
                self.over[*node as usize] = true;
                self.news.push(news);
            }
            _ => self.news.push(news),
        }
    }

    /// Nothing is known of these nodes any more.
    fn lose(&mut self, nodes: &[u32], text: Option<String>) {
        let mut text = text;
        for &node in nodes {
            if !self.over[node as usize] {
                let text = text.take();
                self.take_in(News::Lost { node, text });
            }
        }
    }

    /// When to call [`Tree::tick`].
    pub fn next_time(&self) -> Option<Instant> {
        let of = |d: &Daemon| match (&d.state, &d.link) {
            (State::Starting, _) => Some(d.since + self.means.start),
            (State::Up, Some(link)) if !self.means.silence.is_zero() => {
                Some(link.next_time(self.means.silence))
            }
            (State::Ending(_, at, _), _) => Some(*at),
            _ => None,
        };
        self.daemons.iter().filter_map(of).min()
    }

    /// Sees who is late, and gives signs of life.
    pub fn tick(&mut self) {
        let now = Instant::now();
        for index in 0..self.daemons.len() {
            let daemon = &mut self.daemons[index];
            let (start, silence) = (self.means.start, self.means.silence);
            match (&daemon.state, &mut daemon.link) {
                (State::Starting, _) if now >= daemon.since + start => {
                    self.closed(index, End::Silent(start));
                }
                (State::Up, Some(link)) if !silence.is_zero() => {
                    if let Err(end) = link.tick(silence, now) {
                        self.closed(index, end);
                    }
                }
                _ => {}
            }
            let daemon = &mut self.daemons[index];
            if let State::Ending(_, at, _) = daemon.state
                && (at <= now || daemon.agent.as_ref().is_some_and(Agent::is_over))
            {
                self.bury(index);
            }
        }
    }

    /// Tells why a daemon is lost, if it is.
    fn bury(&mut self, index: usize) {
        let daemon = &mut self.daemons[index];
        daemon.agent.iter_mut().for_each(Agent::listen);
        let State::Ending(end, _, answered) = std::mem::replace(&mut daemon.state, State::Gone)
        else {
            return;
        };
        let nodes = daemon.nodes.clone();
        let host = &self.hosts[nodes[0] as usize];
        let text = match (end, answered) {
            (_, false) => {
                let (agent, command) = (&self.means.agent, &self.means.daemon);
                match (&daemon.agent, &mut self.manager) {
                    (Some(own), _) => own.explain(host, agent, command),
                    (None, Some(manager)) => {
                        manager.agent.listen();
                        let agent = &manager.agent;
                        let text = agent.explain_all(host, &manager.command, self.means.start);
                        agent.kill();
                        text
                    }
                    (None, None) => format!("host {host} is lost"),
                }
            }
            (End::Closed, true) => format!(
                "host {host} is lost: the connection to Catena's daemon there was closed; the host \
                 may be down, or the daemon was killed{}",
                daemon.agent.as_ref().map(Agent::quote).unwrap_or_default()
            ),
            (End::Silent(limit), true) => format!(
                "host {host} is lost: nothing was heard of it for {} s; it may be down, or the \
                 network (--set HOST_TIMEOUT=... changes the limit)",
                limit.as_secs_f64()
            ),
            (End::Malformed(Malformed(cause)), true) => format!(
                "host {host} is lost: its daemon sent what mpirun cannot read ({cause}); install \
                 the same version of Catena on all hosts"
            ),
        };
        daemon.agent.iter().for_each(Agent::kill);
        self.lose(&nodes, Some(text));
    }

    /// Gives up all that has not ended.
    pub fn abandon(&mut self) {
        for index in 0..self.daemons.len() {
            let daemon = &mut self.daemons[index];
            daemon.link = None;
            daemon.agent.iter().for_each(Agent::kill);
            daemon.state = State::Gone;
            let nodes = daemon.nodes.clone();
            self.lose(&nodes, None);
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

    /// Ends what is left: the ranks here, and the agents, which may take a
    /// moment.
    pub fn close(mut self, base: &Base) {
        if let Some(node) = &mut self.node {
            node.destroy();
        }
        let until = Instant::now() + FAREWELL;
        let poller = Poller::new();
        let poller = poller.and_then(|p| p.add(&base.signals, 0, Interest::Read).map(|()| p));
        for daemon in &mut self.daemons {
            // Which ends the daemon, if it has not ended.
            daemon.link = None;
        }
        if let Ok(mut poller) = poller {
            loop {
                while base.signals.next().is_some() {}
                self.agents().for_each(Agent::look);
                let left = until.saturating_duration_since(Instant::now());
                let running = self.agents().any(|agent| agent.is_running());
                if !running || left.is_zero() {
                    break;
                }
                let _ = poller.wait(Some(left));
            }
        }
        let own = self.daemons.into_iter().filter_map(|d| d.agent);
        own.chain(self.manager.map(|m| m.agent))
            .for_each(Agent::end);
    }
}

impl Daemon {
    fn push(&mut self, frame: Vec<u8>) {
        match &mut self.link {
            Some(link) => link.push(frame),
            None if self.state == State::Starting => self.waiting.push(frame),
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
