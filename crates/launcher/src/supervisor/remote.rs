//! Other launchers, with whose jobs processes of this one connect: they are reached when a process
//! goes to a port of theirs, or come when one of theirs goes to a port here.

use std::mem;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catena_boot::server::far::{Heard, RemoteConnect};
use catena_boot::wire::{Reader, Writer};
use catena_boot::{CONNECT_TIMEOUT, HOST_TIMEOUT, Word};
use catena_job::{MessageKind, Plan, setting};
use catena_proof::Secret;

use super::nodes::Nodes;
use super::pending_verdicts::Verdict;
use crate::hosts::link::{End, Link};
use crate::node::Node;
use crate::remote::{self, Listeners, PortAddress, Search, Token};
use crate::sys;

/// How often another launcher is called that hangs up before it has said who it is.
const TRIES: usize = 16;

/// Launchers that this one talks to, and how it is found.
pub struct RemoteLaunchers {
    /// How long a launcher is sought.
    patience: Duration,
    /// How long one may be silent; zero: for ever.
    silence: Duration,
    listeners: Option<Listeners>,
    search: Option<Search>,
    /// By number.
    launchers: Vec<Launcher>,
    /// The one whose words are being taken in, and how its stream has ended, if it has.
    speaking: Option<(usize, Result<(), End>)>,
}

/// Another launcher, or one that is sought.
struct Launcher {
    /// Its process and its machine; empty as long as it has not said so.
    key: String,
    /// What both know.
    secret: Secret,
    state: State,
    /// Those who want to go to its ports, as long as it is sought.
    waiting: Vec<RemoteConnect>,
}

/// How far it is with a launcher.
enum State {
    /// Its way is being followed.
    Sought,
    /// It was reached, or has come, and has not said who it is.
    Greeting(Link),
    Up(Link),
    Gone,
}

impl Launcher {
    fn link(&mut self) -> Option<&mut Link> {
        match &mut self.state {
            State::Greeting(link) | State::Up(link) => Some(link),
            State::Sought | State::Gone => None,
        }
    }

    fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    fn push(&mut self, word: &Word) {
        if let State::Up(link) = &mut self.state {
            let mut frame = Writer::new(MessageKind::Abroad);
            word.write(&mut frame);
            link.push(frame.finish());
        }
    }
}

/// The frame with which each says who it is.
fn hello() -> Vec<u8> {
    let mut frame = Writer::new(MessageKind::Hello);
    frame.raw(remote::own_key().as_bytes());
    frame.finish()
}

impl RemoteLaunchers {
    /// One that knows no other launcher yet.
    pub fn new(plan: &Plan) -> RemoteLaunchers {
        RemoteLaunchers {
            patience: setting(&CONNECT_TIMEOUT, &plan.env),
            silence: setting(&HOST_TIMEOUT, &plan.env),
            listeners: None,
            search: None,
            launchers: Vec::new(),
            speaking: None,
        }
    }

    /// Does what processes want of other launchers, and tells these what there is to tell. What is
    /// to be judged: who was lost.
    pub fn serve(&mut self, nodes: &mut Nodes) -> Vec<Verdict> {
        for opening in nodes.server(Node::take_openings) {
            if self.listeners.is_none() {
                // Without a door the port is one for the jobs of this launcher.
                self.listeners = Listeners::open(&nodes.base.poller).ok();
            }
            let way = self.listeners.as_ref().map(Listeners::text);
            nodes.server(|node| node.port_opened(opening, way.as_deref()));
        }
        for visit in nodes.server(Node::take_visits) {
            self.go(visit, nodes);
        }
        self.send(nodes)
    }

    /// Sends what the server has for other launchers.
    fn send(&mut self, nodes: &mut Nodes) -> Vec<Verdict> {
        for (launcher, word) in nodes.server(Node::take_words) {
            if let Some(launcher) = self.launchers.get_mut(launcher as usize) {
                launcher.push(&word);
            }
        }
        let mut lost = Vec::new();
        for number in 0..self.launchers.len() {
            let link = self.launchers[number].link();
            if let Some(Err(end)) = link.map(|link| link.flush(&nodes.base.poller)) {
                lost.extend(self.lose(number, &end, nodes));
            }
        }
        lost
    }

    fn refuse(visit: &RemoteConnect, why: String, nodes: &mut Nodes) {
        nodes.server(|node| node.refuse_visit(visit, why));
    }

    /// Somebody wants to go to a port of another launcher.
    fn go(&mut self, visit: RemoteConnect, nodes: &mut Nodes) {
        let way = PortAddress::of(&visit.port).and_then(|way| Some((way.secret()?, way)));
        let Some((secret, way)) = way else {
            let why = format!(
                "'{}' is not the name of a port: it was cut off or changed",
                visit.port
            );
            return RemoteLaunchers::refuse(&visit, why, nodes);
        };
        if way.user() != Some(sys::user()) {
            let why = format!(
                "the port '{}' is one of user {}: only jobs of one user connect",
                visit.port,
                way.user().unwrap_or_default()
            );
            return RemoteLaunchers::refuse(&visit, why, nodes);
        }
        if way.key == remote::own_key() {
            let why = format!(
                "there is no port '{}': it was closed, or the process that had opened it has ended",
                visit.port
            );
            return RemoteLaunchers::refuse(&visit, why, nodes);
        }
        let is_it = |it: &&mut Launcher| it.key == way.key && !matches!(it.state, State::Gone);
        if let Some(known) = self.launchers.iter_mut().find(is_it) {
            known.waiting.push(visit);
            return self.send_visits(nodes);
        }
        let left = visit
            .patience
            .map(|(_, until)| until.saturating_duration_since(Instant::now()));
        let limit = self.patience.min(left.unwrap_or(self.patience));
        let number = self.add(way.key.clone(), secret, State::Sought);
        self.launchers[number].waiting.push(visit);
        if limit.is_zero() {
            return self.give_up(number, "it does not answer", nodes);
        }
        if self.search.is_none() {
            self.search = Search::new(&nodes.base.poller).ok();
        }
        let search = self.search.as_ref();
        let begun = search.map(|search| search.begin(&way, number, limit));
        if !matches!(begun, Some(Ok(()))) {
            self.give_up(number, "mpirun is short of descriptors or threads", nodes);
        }
    }

    /// A launcher comes, and has this number. It is not used again: what is under way calls
    /// launchers by it.
    fn add(&mut self, key: String, secret: Secret, state: State) -> usize {
        self.launchers.push(Launcher {
            key,
            secret,
            state,
            waiting: Vec::new(),
        });
        self.launchers.len() - 1
    }

    /// Those who wait for a launcher that is up go there.
    fn send_visits(&mut self, nodes: &mut Nodes) {
        for (number, launcher) in (0..).zip(&mut self.launchers) {
            if launcher.is_up() {
                for visit in mem::take(&mut launcher.waiting) {
                    nodes.server(|node| node.visit(visit, number));
                }
            }
        }
    }

    /// A launcher cannot be reached.
    fn give_up(&mut self, number: usize, why: &str, nodes: &mut Nodes) {
        let launcher = &mut self.launchers[number];
        launcher.state = State::Gone;
        for visit in mem::take(&mut launcher.waiting) {
            let why = format!(
                "the mpirun that has opened the port '{}' cannot be reached: {why}",
                visit.port
            );
            RemoteLaunchers::refuse(&visit, why, nodes);
        }
    }

    /// Handles a token of other launchers. [`RemoteLaunchers::next`] is to be called then, until it
    /// gives nothing.
    pub fn handle(&mut self, token: u64, nodes: &mut Nodes) {
        match remote::about(token) {
            Token::Door => {
                let listeners = self.listeners.as_mut();
                let come = listeners.map(|listeners| {
                    (
                        listeners.handle(token, &nodes.base.poller),
                        listeners.secret(),
                    )
                });
                let (come, secret) = come.unzip();
                for one in come.unwrap_or_default() {
                    let secret = secret.clone().expect("there is a door");
                    let number = self.add(String::new(), secret, State::Gone);
                    self.greet(number, one, nodes);
                }
            }
            Token::Found => {
                let search = self.search.as_ref();
                for (number, found) in search.map(Search::take).unwrap_or_default() {
                    match found {
                        Ok(to) => self.greet(number, to, nodes),
                        Err(why) => self.give_up(number, &why, nodes),
                    }
                }
            }
            Token::Link(number) => {
                let launcher = self.launchers.get_mut(number);
                if let Some(link) = launcher.and_then(Launcher::link) {
                    self.speaking = Some((number, link.receive()));
                }
            }
        }
    }

    /// There is a connection to a launcher: both say who they are.
    fn greet(&mut self, number: usize, to: OwnedFd, nodes: &mut Nodes) {
        match remote::link(to, number, &nodes.base.poller) {
            Ok(mut link) => {
                link.push(hello());
                self.launchers[number].state = State::Greeting(link);
            }
            Err(error) => self.give_up(number, &error.to_string(), nodes),
        }
    }

    /// What a launcher has said that is to be judged before more of it is taken in.
    pub fn next(&mut self, nodes: &mut Nodes) -> Option<Verdict> {
        let (number, received) = self.speaking.take()?;
        let end = loop {
            let link = self.launchers[number].link()?;
            match link.next() {
                Ok(None) => break received.err()?,
                Ok(Some((MessageKind::Hello, body))) => {
                    if let Err(end) = self.take_hello(number, &body, nodes) {
                        break end;
                    }
                }
                Ok(Some((MessageKind::Abroad, body))) => {
                    match Word::read(&mut Reader::new(&body)) {
                        Err(cause) => break End::Malformed(cause),
                        Ok(word) => {
                            if let Some(verdict) = self.take_word(number, word, nodes) {
                                self.speaking = Some((number, received));
                                return Some(verdict);
                            }
                        }
                    }
                }
                Ok(Some(_)) => break End::Closed,
                Err(end) => break end,
            }
        };
        self.lose(number, &end, nodes)
    }

    /// A launcher says who it is. Where two call each other at once, the call of the one whose name
    /// comes first counts.
    fn take_hello(&mut self, number: usize, body: &[u8], nodes: &mut Nodes) -> Result<(), End> {
        let key = String::from_utf8_lossy(body).into_owned();
        let calls_too = |(at, it): (usize, &Launcher)| {
            at != number && it.key == key && !matches!(it.state, State::Gone | State::Up(_))
        };
        let mut launchers = self.launchers.iter().enumerate();
        let is_called = self.launchers[number].key.is_empty();
        if is_called && launchers.any(calls_too) && remote::own_key() < key {
            return Err(End::Closed);
        }
        let launcher = &mut self.launchers[number];
        launcher.key = key;
        launcher.state = match mem::replace(&mut launcher.state, State::Gone) {
            State::Greeting(link) => State::Up(link),
            other => other,
        };
        let secret = launcher.secret.clone();
        nodes.server(|node| node.greet(number as u32, secret));
        self.send_visits(nodes);
        Ok(())
    }

    fn take_word(&mut self, number: usize, word: Word, nodes: &mut Nodes) -> Option<Verdict> {
        if !self.launchers[number].is_up() {
            return None;
        }
        match nodes.tree.hear_abroad(number as u32, word) {
            Heard::Done => None,
            Heard::Bye => {
                self.launchers[number].state = State::Gone;
                None
            }
            Heard::Failed(job, text) => Some(Verdict::FailedAbroad(job, text)),
        }
    }

    /// Nothing more is heard of a launcher. What is to be judged: its loss, if it had said who it
    /// is.
    fn lose(&mut self, number: usize, end: &End, nodes: &mut Nodes) -> Option<Verdict> {
        let launcher = &mut self.launchers[number];
        let was_up = launcher.is_up();
        let (key, waiting) = (launcher.key.clone(), mem::take(&mut launcher.waiting));
        launcher.state = State::Gone;
        let why = match end {
            End::Closed => "its mpirun was killed, or the network is in trouble".to_string(),
            End::Silent(limit) => format!(
                "nothing was heard of its mpirun for {} s",
                limit.as_secs_f64()
            ),
            End::Malformed(cause) => format!(
                "its mpirun sent what this one cannot read ({cause}); install the same version of \
                 Catena"
            ),
        };
        let tries = self.launchers.iter().filter(|it| it.key == key).count();
        // It may have called at the same time, and go on with that call.
        let mut others = self.launchers.iter_mut();
        let other = others.find(|it| !it.key.is_empty() && it.key == key && it.is_up());
        match other {
            Some(other) => {
                other.waiting.extend(waiting);
                self.send_visits(nodes);
            }
            // It calls itself, and has not been heard yet.
            None if !was_up && *end == End::Closed && tries < TRIES => {
                waiting.into_iter().for_each(|visit| self.go(visit, nodes));
            }
            None => {
                self.launchers[number].waiting = waiting;
                self.give_up(number, &why, nodes);
            }
        }
        was_up.then_some(Verdict::LostLauncher(number as u32, why))
    }

    /// What is due with other launchers. What is to be judged: who was lost.
    pub fn tick(&mut self, nodes: &mut Nodes) -> Vec<Verdict> {
        if let Some(listeners) = &mut self.listeners {
            listeners.tick();
        }
        let (silence, now) = (self.silence, Instant::now());
        let mut lost = Vec::new();
        if silence.is_zero() {
            return lost;
        }
        for number in 0..self.launchers.len() {
            let link = self.launchers[number].link();
            if let Some(Err(end)) = link.map(|link| link.tick(silence, now)) {
                lost.extend(self.lose(number, &end, nodes));
            }
        }
        lost
    }

    /// When to call [`RemoteLaunchers::tick`].
    pub fn next_time(&self) -> Option<Instant> {
        let links = self.launchers.iter().filter_map(|it| match &it.state {
            State::Greeting(link) | State::Up(link) if !self.silence.is_zero() => {
                Some(link.next_time(self.silence))
            }
            _ => None,
        });
        let listeners = self.listeners.as_ref().and_then(Listeners::next_time);
        links.chain(listeners).min()
    }

    /// The jobs of other launchers that are connected to that of a process are told that it has
    /// failed. What is to be judged: who was lost.
    pub fn tell_failure(
        &mut self,
        number: u32,
        text: Option<&str>,
        nodes: &mut Nodes,
    ) -> Vec<Verdict> {
        if self.launchers.is_empty() {
            return Vec::new();
        }
        let text = text.unwrap_or("its mpirun has told why");
        nodes.server(|node| node.tell_failure(number, text));
        self.send(nodes)
    }

    /// All jobs have ended: other launchers are told. What is to be judged: who was lost.
    pub fn leave(&mut self, nodes: &mut Nodes) -> Vec<Verdict> {
        for launcher in &mut self.launchers {
            launcher.push(&Word::Bye);
        }
        self.send(nodes)
    }
}
