//! What happens in the tree: it comes together here, and is passed on.

use catena_boot::server::Event;
use catena_boot::wire::MAX_BODY;
use catena_job::{MessageKind, NodeEvent, Question};

use super::{Daemon, DaemonState, Tree};
use crate::hosts::link::End;
use crate::node::Node;

impl Tree {
    /// Sends what one node has for another on its way.
    pub(super) fn pass(&mut self, event: NodeEvent) {
        let target = match event {
            NodeEvent::Said(Event::Ask { rank, .. } | Event::Tell { rank, .. }) => {
                self.node_of[rank as usize]
            }
            NodeEvent::Said(Event::Answer { node, .. }) | NodeEvent::ServerMessage { node, .. } => {
                node
            }
            _ => return,
        };
        // The node of mpirun may have no ranks, and no number among the hosts.
        let way = self.way.get(target as usize).copied().flatten();
        match (way, &self.node) {
            (Some(daemon), _) => self.daemons[daemon].push(event.encode()),
            (None, Some(node)) if node.number() == target => {
                self.at_node(|node, more| node.exchange(&event, more));
            }
            _ => self.events.push(event),
        }
    }

    /// Does something with this process's node, and takes in what happened there.
    pub(super) fn at_node(&mut self, action: impl FnOnce(&mut Node, &mut Vec<NodeEvent>)) {
        let mut events = Vec::new();
        if let Some(node) = &mut self.node {
            action(node, &mut events);
            events.extend(node.take_outward());
        }
        self.add(events);
    }

    /// Takes in what has happened at this process's node.
    pub fn add(&mut self, events: Vec<NodeEvent>) {
        let from = self.node.as_ref().map_or(u32::MAX, Node::number);
        for event in events {
            self.take_in(event, from);
        }
    }

    /// Takes in what a daemon says.
    pub(super) fn hear(&mut self, index: usize) {
        let daemon = &mut self.daemons[index];
        let from = daemon.nodes[0];
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
                Ok(Some((MessageKind::Hello, _))) => {
                    self.daemons[index].state = DaemonState::Up;
                    Ok(())
                }
                Ok(Some((kind, body))) => {
                    let (ranks, nodes) = self.size();
                    NodeEvent::decode(kind, &body, ranks, nodes)
                        .map_err(End::Malformed)
                        .map(|event| self.take_in(event, from))
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

    /// Takes in what has happened somewhere below: in the part of the tree with that first node.
    pub(super) fn take_in(&mut self, event: NodeEvent, from: u32) {
        match &event {
            NodeEvent::Said(Event::Fencing) if std::mem::replace(&mut self.fencing, true) => {}
            NodeEvent::Said(Event::Fenced { parts }) => {
                self.parts.extend_from_slice(parts);
                self.waiting.insert(from);
                if self.parts.len() > MAX_BODY {
                    let text = "the ranks exchange more than 256 MiB in one fence".to_string();
                    self.events.push(NodeEvent::Failed { status: 1, text });
                }
                self.complete_fence();
            }
            NodeEvent::Surveyed { number, answer } => {
                self.surveys.answer(*number, from, answer);
                self.complete_surveys();
            }
            NodeEvent::Said(Event::Tell { .. }) => self.pass(event),
            NodeEvent::Said(Event::Ask { .. } | Event::Answer { .. })
            | NodeEvent::ServerMessage { .. } => {
                self.pass(event);
            }
            NodeEvent::Done { node } | NodeEvent::Lost { node, .. } => {
                // The node of mpirun may have no ranks, and no number.
                if let Some(over) = self.over.get_mut(*node as usize) {
                    *over = true;
                }
                self.events.push(event);
                self.complete_surveys();
            }
            _ => self.events.push(event),
        }
    }

    /// This process's node, and all below that can answer, are about to be asked a question.
    pub(super) fn begin_survey(&mut self, number: u32, question: Question) {
        let own = self.node.as_ref().map(Node::number);
        let daemons = self.daemons.iter().filter(|it| self.can_answer(it));
        let parts = own.into_iter().chain(daemons.map(|it| it.nodes[0]));
        let parts = parts.collect();
        self.surveys.begin(number, question, parts);
    }

    fn can_answer(&self, daemon: &Daemon) -> bool {
        daemon.state == DaemonState::Up && !self.is_over(&daemon.nodes)
    }

    /// Passes the answers on to questions that wait for nobody any more.
    pub(super) fn complete_surveys(&mut self) {
        let mut surveys = std::mem::take(&mut self.surveys);
        let own = self.node.as_ref().filter(|node| !node.is_done());
        let own = own.map(Node::number);
        let is_there = |part| {
            let mut daemons = self.daemons.iter();
            let daemon = daemons.find(|it| it.nodes[0] == part && self.can_answer(it));
            own == Some(part) || daemon.is_some()
        };
        let next = || surveys.take_complete(is_there);
        let complete: Vec<_> = std::iter::from_fn(next).collect();
        self.surveys = surveys;
        let event = |(number, answer)| NodeEvent::Surveyed { number, answer };
        self.events.extend(complete.into_iter().map(event));
    }
}
