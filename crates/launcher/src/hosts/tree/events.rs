//! What happens in the tree: it comes together here, and is passed on.

use catena_boot::server::Event;
use catena_boot::wire::MAX_BODY;
use catena_job::{MessageKind, NodeEvent};

use super::{DaemonState, Tree};
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
            }
            _ => self.events.push(event),
        }
    }
}
