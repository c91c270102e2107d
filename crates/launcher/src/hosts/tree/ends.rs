//! Ends of the tree: daemons that are lost, and the end of all.

use std::mem;
use std::time::{Duration, Instant};

use catena_boot::wire::Malformed;
use catena_boot::{Interest, Poller};
use catena_job::NodeEvent;

use super::{Daemon, DaemonState, Tree};
use crate::base::Base;
use crate::hosts::agent::Agent;
use crate::hosts::link::End;
use crate::node::Node;

/// How long after the end of a stream the agent's end and words are awaited.
const WORDS: Duration = Duration::from_secs(1);

/// How long agents may take to end when everything is over.
const FAREWELL: Duration = Duration::from_secs(2);

impl Tree {
    /// Nothing more will be heard of a daemon.
    pub(super) fn closed(&mut self, index: usize, end: End) {
        let now = Instant::now();
        let daemon = &mut self.daemons[index];
        daemon.link = None;
        let answered = match daemon.state {
            DaemonState::Starting => false,
            DaemonState::Up => true,
            _ => return,
        };
        let patience = match end {
            End::Closed => WORDS,
            _ => Duration::ZERO,
        };
        daemon.state = DaemonState::Ending(end, now + patience, answered);
        self.complete_surveys();
    }

    /// Nothing is known of these nodes any more.
    pub(super) fn lose(&mut self, nodes: &[u32], text: Option<String>) {
        let mut text = text;
        for &node in nodes {
            if !self.over[node as usize] {
                let text = text.take();
                self.take_in(NodeEvent::Lost { node, text }, node);
            }
        }
    }

    /// When to call [`Tree::tick`].
    pub fn next_time(&self) -> Option<Instant> {
        let of = |d: &Daemon| match (&d.state, &d.link) {
            (DaemonState::Starting, _) => Some(d.since + self.means.start),
            (DaemonState::Up, Some(link)) if !self.means.silence.is_zero() => {
                Some(link.next_time(self.means.silence))
            }
            (DaemonState::Ending(_, at, _), _) => Some(*at),
            _ => None,
        };
        let node = self.node.as_ref().and_then(Node::next_time);
        let calls = self.managers.iter().filter_map(|it| it.calls.as_ref());
        let calls = calls.filter_map(|calls| calls.next_time(self.means.start));
        let daemons = self.daemons.iter().filter_map(of);
        daemons.chain(node).chain(calls).min()
    }

    /// Sees who is late, gives signs of life, and looks after the ranks here.
    pub fn tick(&mut self) {
        self.at_node(Node::tick);
        let now = Instant::now();
        let calls = self.managers.iter_mut().filter_map(|it| it.calls.as_mut());
        calls.for_each(|calls| calls.expire(now, self.means.start));
        for index in 0..self.daemons.len() {
            let daemon = &mut self.daemons[index];
            let (start, silence) = (self.means.start, self.means.silence);
            match (&daemon.state, &mut daemon.link) {
                (DaemonState::Starting, _) if now >= daemon.since + start => {
                    self.closed(index, End::Silent(start));
                }
                (DaemonState::Up, Some(link)) if !silence.is_zero() => {
                    if let Err(end) = link.tick(silence, now) {
                        self.closed(index, end);
                    }
                }
                _ => {}
            }
            let daemon = &mut self.daemons[index];
            if let DaemonState::Ending(_, at, _) = daemon.state
                && (at <= now || daemon.agent.as_ref().is_some_and(Agent::is_over))
            {
                self.bury(index);
            }
        }
        self.stop_listening();
    }

    /// Tells why a daemon is lost, if it is.
    pub(super) fn bury(&mut self, index: usize) {
        let daemon = &mut self.daemons[index];
        daemon.agent.iter_mut().for_each(Agent::listen);
        let DaemonState::Ending(end, _, answered) =
            std::mem::replace(&mut daemon.state, DaemonState::Gone)
        else {
            return;
        };
        let nodes = daemon.nodes.clone();
        let host = &self.hosts[nodes[0] as usize];
        let text = match (end, answered) {
            (_, false) => {
                let (agent, command) = (&self.means.agent, &self.means.daemon);
                match (&daemon.agent, daemon.manager) {
                    (Some(own), _) => own.explain(host, agent, command),
                    (None, Some(number)) => {
                        let manager = &mut self.managers[number];
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
            daemon.state = DaemonState::Gone;
            let nodes = daemon.nodes.clone();
            self.lose(&nodes, None);
        }
        self.complete_surveys();
    }

    /// Ends what is left: the ranks here, and the agents, which may take a
    /// moment.
    pub fn close(&mut self, base: &Base) {
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
        let own = mem::take(&mut self.daemons)
            .into_iter()
            .filter_map(|d| d.agent);
        own.chain(mem::take(&mut self.managers).into_iter().map(|m| m.agent))
            .for_each(Agent::end);
    }
}
