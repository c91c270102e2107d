//! The launcher on another host: what its parent in the tree started there. It
//! talks to its parent over its stdin and stdout, which the agent connects; or
//! calls mpirun, if a resource manager has started it.
//!
//! If the parent is lost, so is the job: everything here and below ends.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catena_boot::Interest;
use catena_boot::wire::{Malformed, Writer};
use catena_job::{
    Brief, MessageKind, NOT_FOUND, NodeCommand, NodeEvent, ProgramError, Vars, brief,
};
use catena_proof::Secret;
use catena_topo::Machine;

use super::call;
use super::link::{End, GREETING, Link};
use super::tree::Tree;
use crate::base::Base;
use crate::node::{Input, Node};
use crate::output::tell;
use crate::report::signal_name;
use crate::sys;

/// Variables that tell of a host, a login or a part of an allocation, and so
/// keep the value that the daemon has.
const OF_THE_HOST: [&str; 12] = [
    "HOST",
    "HOSTNAME",
    "SSH_",
    "XDG_",
    "TMPDIR",
    "DISPLAY",
    "SLURM_",
    "PALS_",
    "PMI_",
    "PMIX_",
    "SLINGSHOT_",
    "DBUS_",
];

/// Tokens of the poller.
mod token {
    pub const UP: u64 = u64::MAX - 3;
    pub const UP_OUT: u64 = UP + 1;
    pub const SIGNALS: u64 = UP + 2;
}

/// A daemon at work.
struct Daemon {
    base: Base,
    up: Link,
    tree: Tree,
    host: String,
    /// What the environment of ranks here begins with.
    env: Vars,
    secret: Option<Secret>,
    silence: Duration,
    /// Whether mpirun is stopped, and so may be silent.
    stopped: bool,
}

/// Serves the parent; gives the exit status.
pub fn run() -> i32 {
    match start() {
        Ok(Some(daemon)) => daemon.work(),
        Ok(None) => 1,
        Err(error) => {
            tell!("catena: the daemon cannot be set up: {error}");
            1
        }
    }
}

/// Greets, learns what is to do, and begins with it. Nothing if the parent has
/// gone or makes no sense.
fn start() -> io::Result<Option<Daemon>> {
    let mut base = Base::new(Machine::here())?;
    let tokens = [token::UP, token::UP_OUT];
    let (mut up, known) = match std::env::var(call::VAR) {
        Ok(place) => match call::call(&place) {
            Ok((stream, secret)) => {
                let up = Link::new(stream.into(), None, tokens, &base.poller)?;
                (up, Some(secret))
            }
            Err(text) => {
                tell!("catena: host {}: {text}", catena_boot::host_name());
                return Ok(None);
            }
        },
        Err(_) => {
            let [input, output] = sys::take_streams()?;
            let mut up = Link::new(input, Some(output), tokens, &base.poller)?;
            up.push(GREETING.to_vec());
            (up, None)
        }
    };
    let told = hear(&mut up, &mut base)?;
    let told = told.and_then(|body| {
        let told = brief::open(&body).map_err(End::Malformed)?;
        let (nodes, rest) = (told.nodes, told.brief);
        let mut brief = Brief::decode(&rest).map_err(End::Malformed)?;
        brief.plan.secret = known.or(told.secret);
        match nodes.iter().all(|&n| (n as usize) < brief.plan.hosts.len()) {
            true => Ok((nodes, rest, brief)),
            false => Err(End::Malformed(Malformed(
                "it names a node that there is not",
            ))),
        }
    });
    let (nodes, rest, brief) = match told {
        Ok(told) => told,
        Err(End::Malformed(Malformed(cause))) => {
            let host = catena_boot::host_name();
            let text = format!("host {host}: {cause}; install the same version on all hosts");
            tell!("catena: {text}");
            return Ok(None);
        }
        Err(_) => return Ok(None),
    };
    up.push(Writer::new(MessageKind::Hello).finish());
    // mpirun may have been long in coming so far.
    up.wake();
    base.poller
        .add(&base.signals, token::SIGNALS, Interest::Read)?;
    let mut daemon = Daemon {
        host: brief.plan.hosts[nodes[0] as usize].clone(),
        silence: brief.means.silence,
        tree: Tree::new(brief.means.clone(), &brief.plan),
        env: environment(&brief.env),
        secret: brief.plan.secret.clone(),
        base,
        up,
        stopped: false,
    };
    daemon.begin(&nodes, &rest, &brief);
    Ok(Some(daemon))
}

/// Waits for the first frame.
fn hear(up: &mut Link, base: &mut Base) -> io::Result<Result<Vec<u8>, End>> {
    loop {
        if up.flush(&base.poller).is_err() {
            return Ok(Err(End::Closed));
        }
        base.poller.wait(None)?;
        let received = up.receive();
        match up.next() {
            Ok(Some((MessageKind::Launch, body))) => return Ok(Ok(body)),
            Ok(Some(_)) => return Ok(Err(End::Malformed(Malformed("not a beginning")))),
            Ok(None) => {}
            Err(end) => return Ok(Err(end)),
        }
        if let Err(end) = received {
            return Ok(Err(end));
        }
    }
}

/// The environment of the ranks here: that of mpirun, but for what tells of the
/// host.
fn environment(given: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let here = |name: &OsString| {
        let name = name.to_string_lossy();
        OF_THE_HOST.iter().any(|of| match of.ends_with('_') {
            true => name.starts_with(of),
            false => name == *of,
        })
    };
    let given: Vec<_> = given.iter().filter(|(name, _)| !here(name)).collect();
    std::env::vars_os()
        .filter(|(name, _)| name != call::VAR && !given.iter().any(|(other, _)| other == name))
        .chain(given.iter().map(|var| (*var).clone()))
        .collect()
}

impl Daemon {
    /// Starts the daemons below, then the ranks here.
    fn begin(&mut self, nodes: &[u32], rest: &Arc<[u8]>, brief: &Brief) {
        self.tree.grow(&nodes[1..], rest, &self.base);
        self.tree.flush(&self.base.poller);
        let directory = brief.directory.as_os_str();
        if let Err(error) = std::env::set_current_dir(directory) {
            let directory = directory.display();
            let text = format!("the working directory {directory} cannot be entered: {error}");
            return self.fail(nodes[0], brief, NOT_FOUND, &text);
        }
        let env = self.env.clone();
        let mut events = Vec::new();
        let (plan, number, base) = (&brief.plan, nodes[0], &self.base);
        let node = match brief.late {
            true => Node::without_ranks(plan, number, base).map_err(|error| ProgramError {
                status: 1,
                text: format!("the daemon cannot be set up: {error}"),
            }),
            false => Node::start(plan, number, env, Input::Passed, base, &mut events),
        };
        match node {
            Ok(mut node) => {
                node.set_branch();
                self.tree.node = Some(node);
            }
            Err(error) => self.fail(nodes[0], brief, error.status, &error.text),
        }
        self.tree.add(events);
    }

    /// The ranks here cannot be started.
    fn fail(&mut self, node: u32, brief: &Brief, status: i32, text: &str) {
        let text = format!("host {}: {text}", self.host);
        let mut events = vec![NodeEvent::Failed { status, text }];
        let ranks = brief.plan.ranks_on(node);
        events.extend(ranks.map(|rank| NodeEvent::Missing { rank }));
        events.push(NodeEvent::Done { node });
        self.tree.add(events);
    }

    /// Works until the job is over; gives the exit status.
    fn work(mut self) -> i32 {
        // Orders may have come together with the brief.
        let mut heard = self.obey();
        let status = loop {
            if heard.is_err() {
                break 1;
            }
            for event in self.tree.take_events() {
                self.up.push(event.encode());
            }
            self.tree.flush(&self.base.poller);
            if self.up.flush(&self.base.poller).is_err() {
                break 1;
            }
            if self.tree.is_done() && self.up.is_empty() {
                break 0;
            }
            heard = self.turn();
        };
        self.tree.close(&self.base);
        status
    }

    /// Waits for something to happen and handles it.
    fn turn(&mut self) -> Result<(), End> {
        let watching = !self.stopped && !self.silence.is_zero();
        let own = watching.then(|| self.up.next_time(self.silence));
        let next = own.into_iter().chain(self.tree.next_time()).min();
        let limit = next.map(|at| at.saturating_duration_since(Instant::now()));
        let ready = self.base.poller.wait(limit).unwrap_or_default();
        for token in ready {
            match token {
                token::UP => self.hear()?,
                token::UP_OUT => {}
                token::SIGNALS => {
                    while let Some(signal) = self.base.signals.next() {
                        self.signal(signal);
                    }
                }
                token => self.tree.handle(token, &self.base),
            }
        }
        self.tree.tick();
        self.tree.forget_jobs(&self.base);
        match watching {
            true => self.up.tick(self.silence, Instant::now()),
            false => Ok(()),
        }
    }

    /// Takes in what the parent says.
    fn hear(&mut self) -> Result<(), End> {
        let received = self.up.receive();
        self.obey()?;
        received
    }

    /// Does what has arrived.
    fn obey(&mut self) -> Result<(), End> {
        let (mut ranks, mut nodes) = self.tree.size();
        while let Some((kind, body)) = self.up.next()? {
            let mut command =
                NodeCommand::decode(kind, &body, ranks, nodes).map_err(End::Malformed)?;
            if let NodeCommand::StartJob(new) = &mut command {
                // Which does not travel.
                Arc::make_mut(new).plan.secret = self.secret.clone();
                self.tree.learn(new);
            }
            if let NodeCommand::Signal { signal, .. } = command {
                self.stopped = signal == libc::SIGSTOP;
                self.up.wake();
            }
            self.tree.command(&command, &self.base.poller);
            if let NodeCommand::StartJob(new) = &command {
                self.tree.start_job(new, &self.env, &self.base);
            }
            (ranks, nodes) = self.tree.size();
        }
        self.tree.forget_jobs(&self.base);
        Ok(())
    }

    fn signal(&mut self, signal: i32) {
        match signal {
            libc::SIGCHLD => self.tree.children(),
            libc::SIGINT | libc::SIGTERM | libc::SIGQUIT | libc::SIGHUP => {
                let text = format!(
                    "host {}: Catena's daemon was ended by signal {signal} ({})",
                    self.host,
                    signal_name(signal)
                );
                let status = 128 + signal;
                self.tree.add(vec![NodeEvent::Failed { status, text }]);
            }
            // mpirun passes the others on.
            _ => {}
        }
    }
}
