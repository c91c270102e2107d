//! Daemons that are played by threads of a test: they answer what all nodes are asked.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use catena_boot::Poller;
use catena_boot::wire::{Inbox, MAX_BODY};
use catena_job::{Means, MessageKind, NodeCommand, NodeEvent, Plan, Question};

use super::{DAEMONS, Daemon, DaemonState, TOKENS, Tree};
use crate::hosts::link::Link;

/// A tree with such daemons, one for each host, and no node of its own.
pub struct Played {
    tree: Tree,
    poller: Poller,
    asked: u32,
}

impl Played {
    /// A job of `hosts` hosts with `ranks` ranks each. `answer` says what the daemon of a host
    /// answers.
    pub fn new(hosts: u32, ranks: u32, answer: fn(u32, Question) -> Vec<u8>) -> Played {
        let plan = Plan {
            job_id: 1,
            hosts: (0..hosts).map(|host| format!("h{host}")).collect(),
            node_of: (0..hosts * ranks).map(|rank| rank / ranks).collect(),
            ..Plan::default()
        };
        let means = Means {
            agent: Vec::new(),
            daemon: Vec::new(),
            fanout: hosts,
            start: Duration::ZERO,
            silence: Duration::ZERO,
        };
        let poller = Poller::new().expect("a poller");
        let mut tree = Tree::new(means, &plan);
        for host in 0..hosts {
            let (here, there) = UnixStream::pair().expect("a pair of sockets");
            let token = DAEMONS + u64::from(host) * TOKENS;
            let link = Link::new(here.into(), None, [token; 2], &poller).expect("a link");
            let size = tree.size();
            thread::spawn(move || play(there, size, |question| answer(host, question)));
            tree.way[host as usize] = Some(host as usize);
            tree.daemons.push(Daemon {
                nodes: vec![host],
                link: Some(link),
                agent: None,
                manager: None,
                state: DaemonState::Up,
                since: Instant::now(),
                waiting: Vec::new(),
            });
        }
        Played {
            tree,
            poller,
            asked: 0,
        }
    }

    /// The answer of all to a question.
    pub fn ask(&mut self, question: Question) -> Vec<u8> {
        self.asked += 1;
        let number = self.asked;
        let survey = NodeCommand::Survey { number, question };
        self.tree.command(&survey, &self.poller);
        loop {
            self.tree.flush(&self.poller);
            for token in self.poller.wait(None).expect("tokens") {
                self.tree.hear(((token - DAEMONS) / TOKENS) as usize);
            }
            match self.tree.take_events().pop() {
                Some(NodeEvent::Surveyed { answer, .. }) => return answer,
                Some(other) => panic!("{other:?}"),
                None => {}
            }
        }
    }
}

/// Answers until nobody is there any more.
fn play(mut to: UnixStream, (ranks, nodes): (u32, u32), answer: impl Fn(Question) -> Vec<u8>) {
    let (mut inbox, mut buffer) = (Inbox::default(), [0; 4096]);
    while let Ok(len @ 1..) = to.read(&mut buffer) {
        inbox.push(&buffer[..len]);
        while let Some((kind, body)) = inbox.next(MAX_BODY).expect("frames") {
            let kind = MessageKind::from_byte(kind).expect("a kind");
            let command = NodeCommand::decode(kind, body, ranks, nodes).expect("a command");
            let NodeCommand::Survey { number, question } = command else {
                panic!("{command:?}");
            };
            let answer = answer(question);
            let frame = NodeEvent::Surveyed { number, answer }.encode();
            to.write_all(&frame).expect("somebody hears");
        }
    }
}
