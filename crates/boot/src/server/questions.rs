//! The exchange on demand: what ranks have published, and who has asked for what
//! is not known yet.
//!
//! A value stays with the server of the node whose rank has published it. A
//! server asks that one on behalf of its ranks, once, and keeps the answer.

use std::sync::Arc;

use super::Server;
use super::connection::Client;
use super::served::{Event, NOBODY, answer};
use super::tables::Asker;
use crate::wire::Malformed;

impl Server {
    /// Another node asks. What there is to answer is given; later it is an
    /// event.
    pub fn ask(&mut self, node: u32, rank: u32, key: &str) -> Option<Event> {
        let known = self.questions.ask(Asker::Node(node), rank, key).ok()?;
        Some(answer_to(node, rank, key, &known))
    }

    /// Another node answers. Gives answers to yet others that had asked here. What nobody asks any
    /// more is dropped.
    pub fn answer(&mut self, rank: u32, key: &str, value: &[u8]) -> Vec<Event> {
        if !self.questions.is_awaited(rank, key) {
            return Vec::new();
        }
        let value: Arc<[u8]> = value.into();
        let mut events = Vec::new();
        for asker in self.questions.learn(rank, key, &value) {
            match asker {
                Asker::Rank(me) => self.reply(me, rank, key, &value),
                Asker::Node(node) => events.push(answer_to(node, rank, key, &value)),
                Asker::RemoteJobs(launcher) => self.answer_abroad(launcher, rank, key, &value),
            }
        }
        events
    }

    /// A rank, whose connection is `client`, has published something.
    pub(super) fn tell(
        &mut self,
        client: &mut Client,
        rank: u32,
        key: String,
        value: Arc<[u8]>,
        events: &mut Vec<Event>,
    ) {
        for asker in self.questions.learn(rank, &key, &value) {
            match asker {
                Asker::Rank(me) if me == rank => client.push(self.frame(rank, &key, &value), None),
                Asker::Rank(me) => self.reply(me, rank, &key, &value),
                Asker::Node(node) => events.push(answer_to(node, rank, &key, &value)),
                Asker::RemoteJobs(launcher) => self.answer_abroad(launcher, rank, &key, &value),
            }
        }
    }

    /// Rank `me`, whose connection is `client`, asks.
    pub(super) fn question(
        &mut self,
        client: &mut Client,
        me: u32,
        rank: u32,
        key: String,
        events: &mut Vec<Event>,
    ) -> Result<(), Malformed> {
        let job = self.job_of(rank).ok_or(NOBODY)?;
        let of = job.job.node_of[(rank - job.first) as usize];
        let node = self.node;
        match self.questions.ask(Asker::Rank(me), rank, &key) {
            Ok(value) => client.push(self.frame(rank, &key, &value), None),
            Err(true) if of != node => events.push(Event::Ask { node, rank, key }),
            Err(_) => {}
        }
        Ok(())
    }

    /// Sends an answer to a rank, unless it has left.
    fn reply(&mut self, me: u32, rank: u32, key: &str, value: &[u8]) {
        let frame = self.frame(rank, key, value);
        self.send_to(me, frame);
    }

    /// An answer: the value that the process with that number has published.
    fn frame(&self, number: u32, key: &str, value: &[u8]) -> Arc<[u8]> {
        answer(self.name_of(number).unwrap_or_default(), key, value)
    }

    /// Sends a frame to the process with that number, unless it has left.
    pub(super) fn send_to(&mut self, number: u32, frame: Arc<[u8]>) {
        if !self.is_here(number) {
            self.outward.push((number, frame));
            return;
        }
        let (frame, segment) = self.with_segment(number, frame);
        let mut segment = segment;
        for (index, client) in (0..).zip(&mut self.clients) {
            if let Some(client) = client.as_mut().filter(|it| it.rank == Some(number)) {
                client.push(Arc::clone(&frame), segment.take());
                // One that cannot be written to will be reported as closed.
                client.flush(&self.poller, index);
            }
        }
    }
}

fn answer_to(node: u32, rank: u32, key: &str, value: &[u8]) -> Event {
    Event::Answer {
        node,
        rank,
        key: key.to_string(),
        value: value.to_vec(),
    }
}
