//! Other launchers, with whose jobs processes of this one connect: they are reached when a process
//! goes to a port of theirs, or come when one of theirs goes to a port here.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catena_boot::server::far::{FarVisit, Heard};
use catena_boot::wire::{Reader, Writer};
use catena_boot::{CONNECT_TIMEOUT, HOST_TIMEOUT, Word};
use catena_job::{MessageKind, setting};
use catena_proof::Secret;

use super::Job;
use super::hearing::Verdict;
use crate::abroad::{self, Doors, Search, Token, Way};
use crate::hosts::link::{End, Link};
use crate::report::Failure;
use crate::sys;

/// How often another launcher is called that hangs up before it has said who it is.
const TRIES: usize = 16;

/// Launchers that this one talks to, and how it is found.
#[derive(Default)]
pub(super) struct Abroad {
    doors: Option<Doors>,
    search: Option<Search>,
    /// By number.
    launchers: Vec<Launcher>,
}

/// Another launcher, or one that is sought.
struct Launcher {
    /// Its process and its machine; empty as long as it has not said so.
    key: String,
    /// What both know.
    secret: Secret,
    state: State,
    /// Those who want to go to its ports, as long as it is sought.
    waiting: Vec<FarVisit>,
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
    frame.raw(abroad::own_key().as_bytes());
    frame.finish()
}

impl Job {
    /// Does what processes want of other launchers, and tells these what there is to tell.
    pub(super) fn serve_abroad(&mut self) {
        let openings = self.tree.with_node(|node| node.take_openings());
        for opening in openings.unwrap_or_default() {
            if self.abroad.doors.is_none() {
                // Without a door the port is one for the jobs of this launcher.
                self.abroad.doors = Doors::open(&self.base.poller).ok();
            }
            let way = self.abroad.doors.as_ref().map(Doors::text);
            self.tree
                .with_node(|node| node.port_opened(opening, way.as_deref()));
        }
        let visits = self.tree.with_node(|node| node.take_visits());
        for visit in visits.unwrap_or_default() {
            self.go_abroad(visit);
        }
        self.say_abroad();
    }

    /// Sends what the server has for other launchers.
    fn say_abroad(&mut self) {
        let words = self.tree.with_node(|node| node.take_words());
        for (launcher, word) in words.unwrap_or_default() {
            if let Some(launcher) = self.abroad.launchers.get_mut(launcher as usize) {
                launcher.push(&word);
            }
        }
        for number in 0..self.abroad.launchers.len() {
            let link = self.abroad.launchers[number].link();
            if let Some(Err(end)) = link.map(|link| link.flush(&self.base.poller)) {
                self.lose_launcher(number, &end);
            }
        }
    }

    fn refuse_visit(&mut self, visit: &FarVisit, why: String) {
        self.tree.with_node(|node| node.refuse_visit(visit, why));
    }

    /// Somebody wants to go to a port of another launcher.
    fn go_abroad(&mut self, visit: FarVisit) {
        let way = Way::of(&visit.port).and_then(|way| Some((way.secret()?, way)));
        let Some((secret, way)) = way else {
            let why = format!(
                "'{}' is not the name of a port: it was cut off or changed",
                visit.port
            );
            return self.refuse_visit(&visit, why);
        };
        if way.user() != Some(sys::user()) {
            let why = format!(
                "the port '{}' is one of user {}: only jobs of one user connect",
                visit.port,
                way.user().unwrap_or_default()
            );
            return self.refuse_visit(&visit, why);
        }
        if way.key == abroad::own_key() {
            let why = format!(
                "there is no port '{}': it was closed, or the process that had opened it has ended",
                visit.port
            );
            return self.refuse_visit(&visit, why);
        }
        let is_it = |it: &&mut Launcher| it.key == way.key && !matches!(it.state, State::Gone);
        let mut launchers = self.abroad.launchers.iter_mut();
        if let Some(known) = launchers.find(is_it) {
            known.waiting.push(visit);
            return self.send_visits();
        }
        let limit = setting(&CONNECT_TIMEOUT, &self.plan.env);
        let left = visit
            .patience
            .map(|(_, until)| until.saturating_duration_since(Instant::now()));
        let limit = limit.min(left.unwrap_or(limit));
        let number = self.new_launcher(way.key.clone(), secret, State::Sought);
        self.abroad.launchers[number].waiting.push(visit);
        if limit.is_zero() {
            return self.give_up(number, "it does not answer");
        }
        if self.abroad.search.is_none() {
            self.abroad.search = Search::new(&self.base.poller).ok();
        }
        let search = self.abroad.search.as_ref();
        let begun = search.map(|search| search.begin(&way, number, limit));
        if !matches!(begun, Some(Ok(()))) {
            self.give_up(number, "mpirun is short of descriptors or threads");
        }
    }

    /// A place for a launcher: one that another had, or a new one.
    fn new_launcher(&mut self, key: String, secret: Secret, state: State) -> usize {
        let launchers = &mut self.abroad.launchers;
        let new = Launcher {
            key,
            secret,
            state,
            waiting: Vec::new(),
        };
        // A number is not used again: what is under way calls launchers by it.
        launchers.push(new);
        launchers.len() - 1
    }

    /// Those who wait for a launcher that is up go there.
    fn send_visits(&mut self) {
        for number in 0..self.abroad.launchers.len() {
            let launcher = &mut self.abroad.launchers[number];
            if launcher.is_up() {
                for visit in std::mem::take(&mut launcher.waiting) {
                    self.tree.with_node(|node| node.visit(visit, number as u32));
                }
            }
        }
    }

    /// A launcher cannot be reached.
    fn give_up(&mut self, number: usize, why: &str) {
        let launcher = &mut self.abroad.launchers[number];
        launcher.state = State::Gone;
        for visit in std::mem::take(&mut launcher.waiting) {
            let why = format!(
                "the mpirun that has opened the port '{}' cannot be reached: {why}",
                visit.port
            );
            self.refuse_visit(&visit, why);
        }
    }

    /// Handles a token of other launchers.
    pub(super) fn handle_abroad(&mut self, token: u64) {
        match abroad::about(token) {
            Token::Door => {
                let doors = self.abroad.doors.as_mut();
                let come =
                    doors.map(|doors| (doors.handle(token, &self.base.poller), doors.secret()));
                let (come, secret) = come.unzip();
                for one in come.unwrap_or_default() {
                    let secret = secret.clone().expect("there is a door");
                    let number = self.new_launcher(String::new(), secret, State::Gone);
                    self.greet(number, one);
                }
            }
            Token::Found => {
                let search = self.abroad.search.as_ref();
                for (number, found) in search.map(Search::take).unwrap_or_default() {
                    match found {
                        Ok(to) => self.greet(number, to),
                        Err(why) => self.give_up(number, &why),
                    }
                }
            }
            Token::Link(number) => self.hear_launcher(number),
        }
    }

    /// There is a connection to a launcher: both say who they are.
    fn greet(&mut self, number: usize, to: OwnedFd) {
        match abroad::link(to, number, &self.base.poller) {
            Ok(mut link) => {
                link.push(hello());
                self.abroad.launchers[number].state = State::Greeting(link);
            }
            Err(error) => self.give_up(number, &error.to_string()),
        }
    }

    /// A launcher says something.
    fn hear_launcher(&mut self, number: usize) {
        let Some(link) = self
            .abroad
            .launchers
            .get_mut(number)
            .and_then(Launcher::link)
        else {
            return;
        };
        let received = link.receive();
        loop {
            let Some(link) = self.abroad.launchers[number].link() else {
                return;
            };
            let taken = match link.next() {
                Ok(None) => break,
                Ok(Some((MessageKind::Hello, body))) => self.take_hello(number, &body),
                Ok(Some((MessageKind::Abroad, body))) => {
                    let word = Word::read(&mut Reader::new(&body));
                    word.map_err(End::Malformed)
                        .map(|word| self.take_word(number, word))
                }
                Ok(Some(_)) => Err(End::Closed),
                Err(end) => Err(end),
            };
            if let Err(end) = taken {
                return self.lose_launcher(number, &end);
            }
        }
        if let Err(end) = received {
            self.lose_launcher(number, &end);
        }
    }

    /// A launcher says who it is. Where two call each other at once, the call of the one whose name
    /// comes first counts.
    fn take_hello(&mut self, number: usize, body: &[u8]) -> Result<(), End> {
        let key = String::from_utf8_lossy(body).into_owned();
        let calls_too = |(at, it): (usize, &Launcher)| {
            at != number && it.key == key && !matches!(it.state, State::Gone | State::Up(_))
        };
        let mut launchers = self.abroad.launchers.iter().enumerate();
        let is_called = self.abroad.launchers[number].key.is_empty();
        if is_called && launchers.any(calls_too) && abroad::own_key() < key {
            return Err(End::Closed);
        }
        let launcher = &mut self.abroad.launchers[number];
        launcher.key = key;
        launcher.state = match std::mem::replace(&mut launcher.state, State::Gone) {
            State::Greeting(link) => State::Up(link),
            other => other,
        };
        let secret = launcher.secret.clone();
        self.tree
            .with_node(|node| node.greet(number as u32, secret));
        self.send_visits();
        Ok(())
    }

    fn take_word(&mut self, number: usize, word: Word) {
        if !self.abroad.launchers[number].is_up() {
            return;
        }
        let heard = self.tree.hear_abroad(number as u32, word);
        match heard {
            Heard::Done => {}
            Heard::Bye => self.abroad.launchers[number].state = State::Gone,
            Heard::Failed(job, text) => {
                self.hear_first(Verdict::FailedAbroad(job, text));
            }
        }
    }

    /// A job of another launcher has failed.
    pub(super) fn failed_abroad(&mut self, job: u64, text: &str) {
        let tied = self.tree.with_node(|node| node.tied_to(job));
        self.fail_from_abroad(&tied.unwrap_or_default(), text);
    }

    /// Jobs to which these processes are connected have failed.
    fn fail_from_abroad(&mut self, tied: &[u32], text: &str) {
        let Some(&first) = tied.first() else { return };
        if self.tolerant || self.ending {
            return;
        }
        let text = format!(
            "a job of another mpirun has failed, to which {} is connected: {text}",
            self.who(first)
        );
        self.fail_now(Failure::new(1, text).of(first), Duration::ZERO);
    }

    /// Nothing more is heard of a launcher.
    fn lose_launcher(&mut self, number: usize, end: &End) {
        let launcher = &mut self.abroad.launchers[number];
        let was_up = launcher.is_up();
        let (key, waiting) = (launcher.key.clone(), std::mem::take(&mut launcher.waiting));
        launcher.state = State::Gone;
        let why = match end {
            End::Closed => "its mpirun was killed, or the network is in trouble".to_string(),
            End::Silent(limit) => format!(
                "nothing was heard of its mpirun for {} s",
                limit.as_secs_f64()
            ),
            End::Malformed(cause) => format!(
                "its mpirun sent what this one cannot read ({cause}); install the same version of Catena"
            ),
        };
        if was_up {
            self.hear_first(Verdict::LostLauncher(number as u32, why.clone()));
        }
        let tries = self.abroad.launchers.iter().filter(|it| it.key == key);
        let tries = tries.count();
        // It may have called at the same time, and go on with that call.
        let mut others = self.abroad.launchers.iter_mut();
        let other = others.find(|it| !it.key.is_empty() && it.key == key && it.is_up());
        match other {
            Some(other) => {
                other.waiting.extend(waiting);
                self.send_visits();
            }
            // It calls itself, and has not been heard yet.
            None if !was_up && *end == End::Closed && tries < TRIES => {
                waiting.into_iter().for_each(|visit| self.go_abroad(visit));
            }
            None => {
                self.abroad.launchers[number].waiting = waiting;
                self.give_up(number, &why);
            }
        }
    }

    /// A launcher that was up is there no more.
    pub(super) fn launcher_lost(&mut self, number: u32, why: &str) {
        let tied = self.tree.with_node(|node| node.lose_launcher(number, why));
        self.fail_from_abroad(&tied.unwrap_or_default(), why);
    }

    /// What is due with other launchers.
    pub(super) fn tick_abroad(&mut self) {
        if let Some(doors) = &mut self.abroad.doors {
            doors.tick();
        }
        if self.abroad.launchers.is_empty() {
            return;
        }
        let (silence, now) = (setting(&HOST_TIMEOUT, &self.plan.env), Instant::now());
        if silence.is_zero() {
            return;
        }
        for number in 0..self.abroad.launchers.len() {
            let link = self.abroad.launchers[number].link();
            if let Some(Err(end)) = link.map(|link| link.tick(silence, now)) {
                self.lose_launcher(number, &end);
            }
        }
    }

    /// When to call [`Job::tick_abroad`].
    pub(super) fn next_time_abroad(&self) -> Option<Instant> {
        let doors = self.abroad.doors.as_ref().and_then(Doors::next_time);
        if self.abroad.launchers.is_empty() {
            return doors;
        }
        let silence = setting(&HOST_TIMEOUT, &self.plan.env);
        let links = self.abroad.launchers.iter();
        let links = links.filter_map(|it| match &it.state {
            State::Greeting(link) | State::Up(link) if !silence.is_zero() => {
                Some(link.next_time(silence))
            }
            _ => None,
        });
        links.chain(doors).min()
    }

    /// The jobs of other launchers that are connected to that of a process are told that it has failed.
    pub(super) fn tell_failure(&mut self, number: u32, text: Option<&str>) {
        if self.abroad.launchers.is_empty() {
            return;
        }
        let text = text.unwrap_or("its mpirun has told why");
        self.tree.with_node(|node| node.tell_failure(number, text));
        self.say_abroad();
    }

    /// All jobs have ended: other launchers are told.
    pub(super) fn leave_abroad(&mut self) {
        for launcher in &mut self.abroad.launchers {
            launcher.push(&Word::Bye);
        }
        self.say_abroad();
    }
}
