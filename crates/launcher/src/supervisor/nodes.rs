//! The nodes of the launcher as its supervisor sees them: a tree of hosts, and the first server,
//! that of this process's node, which knows how processes are connected.

use std::ops::Range;

use catena_job::{NodeCommand, Question};

use crate::base::Base;
use crate::hosts::tree::Tree;
use crate::node::Node;

/// How processes are connected, as the first server knows it.
pub trait Ties {
    /// The numbers of the jobs that are connected to that of a process, its own among them; none if
    /// that is not known.
    fn connected_to(&mut self, number: u32) -> Vec<Range<u32>>;

    /// Whether a process is of those that have started this launcher, and no child of it.
    fn is_guest(&self, number: u32) -> bool;

    /// Whether there are such processes, connected or not.
    fn has_guests(&self) -> bool;
}

/// The nodes, and what this process stands on.
pub struct Nodes {
    /// The tree of hosts.
    pub tree: Tree,
    /// What this process has once.
    pub base: Base,
    /// How many questions were asked.
    asked: u32,
}

impl Nodes {
    /// The nodes of a tree.
    pub fn new(tree: Tree, base: Base) -> Nodes {
        Nodes {
            tree,
            base,
            asked: 0,
        }
    }

    /// Has all nodes do something.
    pub fn command(&mut self, command: &NodeCommand) {
        self.tree.command(command, &self.base.poller);
    }

    /// Asks all nodes a question. The answer of all comes as
    /// [`NodeEvent::Surveyed`](catena_job::NodeEvent::Surveyed) with this number; nodes whose
    /// daemons are not up yet have no part in it.
    pub fn ask(&mut self, question: Question) -> u32 {
        self.asked = self.asked.wrapping_add(1);
        let number = self.asked;
        self.command(&NodeCommand::Survey { number, question });
        number
    }

    /// Sends a signal to all ranks and their children.
    pub fn kill_all(&mut self, signal: i32) {
        let groups = true;
        self.command(&NodeCommand::Signal { signal, groups });
    }

    /// Sends a signal to these processes and their children.
    pub fn kill(&mut self, numbers: Range<u32>, signal: i32) {
        self.command(&NodeCommand::SignalJob { numbers, signal });
    }

    /// Sends what waits.
    pub fn flush(&mut self) {
        self.tree.flush(&self.base.poller);
    }

    /// Uses the first server, if there is one yet.
    pub fn server<T: Default>(&mut self, action: impl FnOnce(&mut Node) -> T) -> T {
        self.tree.with_node(action).unwrap_or_default()
    }

    /// Whether other jobs can meet a process.
    pub fn is_ready(&self, number: u32) -> bool {
        let node = self.tree.node.as_ref();
        node.is_some_and(|node| node.is_ready(number))
    }
}

impl Ties for Nodes {
    fn connected_to(&mut self, number: u32) -> Vec<Range<u32>> {
        self.server(|node| node.connected_to(number))
    }

    fn is_guest(&self, number: u32) -> bool {
        let node = self.tree.node.as_ref();
        node.is_some_and(|node| node.is_guest(number))
    }

    fn has_guests(&self) -> bool {
        self.tree.node.as_ref().is_some_and(Node::has_guests)
    }
}
