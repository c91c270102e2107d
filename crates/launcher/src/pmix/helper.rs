//! The helper: the PMIx server of a node, in a process of its own, which talks to
//! the launcher over its stdin.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use catena_boot::server::Event;
use catena_boot::wire::{Inbox, Malformed, Reader, Writer};
use catena_job::{MessageKind, NodeCommand, NodeEvent, write_strings};
use catena_pmix_sys::{GroupReply, Job, Library, Reply, Server, Upcall};

use super::meet::{Act, Find, Meetings};
use super::{Brief, hear_in, invalid};
use crate::output::{tell, tell_at_once};
use crate::sys;

/// How long libpmix may take to end. It may wait for clients that have hung.
const FAREWELL: Duration = Duration::from_secs(2);

/// A call that waits for others.
enum Waiter {
    Fence(Reply),
    Group(GroupReply),
}

/// What the library's thread and the one that hears the launcher share.
struct HelperState {
    out: UnixStream,
    meetings: Meetings<Waiter>,
    /// The call that waits in the fence of the whole job.
    fencing: Option<Reply>,
    /// How many groups were made.
    groups: u32,
    node: u32,
}

/// Serves the launcher; gives the exit status.
pub fn run() -> i32 {
    match serve() {
        Ok(()) => 0,
        Err(error) => {
            tell!("catena: the PMIx server fails: {error}");
            1
        }
    }
}

fn serve() -> io::Result<()> {
    let quick = std::env::var_os(NO_MUNGE.0).is_none() && UnixStream::connect(MUNGE).is_err();
    if quick {
        sys::set_variable(NO_MUNGE.0, NO_MUNGE.1);
    }
    let [input, _] = sys::take_streams()?;
    let mut stream = UnixStream::from(input);
    let mut inbox = Inbox::default();
    let (_, body) = hear_in(&mut stream, &mut inbox)?;
    let brief = Brief::read(&body).map_err(invalid)?;
    let (ranks, nodes) = (
        brief.plan.node_of.len() as u32,
        brief.plan.hosts.len() as u32,
    );
    let directory = super::directory(brief.plan.job_id, std::process::id());
    DirBuilder::new().mode(0o700).create(&directory)?;
    let state = Arc::new(Mutex::new(HelperState {
        out: stream.try_clone()?,
        meetings: Meetings::new(brief.node, brief.plan.node_of.clone()),
        fencing: None,
        groups: 0,
        node: brief.node,
    }));
    let server = match open(&brief, quick, &directory, &state) {
        Ok(server) => server,
        Err(text) => return stream.write_all(&NodeEvent::Failed { status: 1, text }.encode()),
    };
    // Its end is that of this process.
    while let Ok((kind, body)) = hear_in(&mut stream, &mut inbox) {
        let command = NodeCommand::decode(kind, &body, ranks, nodes).map_err(invalid)?;
        let finds = lock(&state).obey(&command);
        finds.into_iter().for_each(|find| find.of(&server, &state));
    }
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        server.close();
        let _ = done.send(());
    });
    let _ = ended.recv_timeout(FAREWELL);
    let _ = std::fs::remove_dir_all(directory);
    // Without what libpmix does when a process exits.
    sys::exit_now(0)
}

/// What libpmix and those of the ranks are told besides: a security module that
/// waits seconds for a daemon that does not run is left out.
const NO_MUNGE: (&str, &str) = ("PMIX_MCA_psec", "^munge");

/// Where that daemon would be found.
const MUNGE: &str = "/run/munge/munge.socket.2";

/// Opens the server, and tells the launcher what the ranks shall find in their
/// environment.
fn open(
    brief: &Brief,
    quick: bool,
    directory: &Path,
    state: &Arc<Mutex<HelperState>>,
) -> Result<Server, String> {
    let text = |name: &OsString| name.to_string_lossy().into_owned();
    let names: Vec<String> = brief.libraries.iter().map(text).collect();
    let library = Library::open(names.iter().map(String::as_str));
    let library = library.map_err(|error| error.to_string())?;
    let name = library.name().to_string();
    let failed = |error| format!("{name}: {error}");
    let on = Arc::clone(state);
    let server = Server::open(library, &job(brief), directory, move |upcall| {
        lock(&on).hear(upcall);
    });
    let server = server.map_err(failed)?;
    let mut w = Writer::new(MessageKind::Hello);
    w.u32(brief.cpus.len() as u32);
    for rank in brief.plan.ranks_on(brief.node) {
        let vars = server.environment(rank).map_err(failed)?;
        let vars = vars
            .into_iter()
            .map(|var| OsString::from_vec(var.into_bytes()));
        let (name, value) = NO_MUNGE;
        let more = quick.then(|| format!("{name}={value}").into());
        write_strings(&mut w, &vars.chain(more).collect::<Vec<_>>());
    }
    lock(state).write(&w.finish());
    Ok(server)
}

/// The job as libpmix wants it: without nodes that have no ranks.
fn job(brief: &Brief) -> Job {
    let plan = &brief.plan;
    let nodes = 0..plan.hosts.len() as u32;
    let used: Vec<u32> = nodes.filter(|node| plan.node_of.contains(node)).collect();
    let index = |node: u32| used.binary_search(&node).unwrap_or_default() as u32;
    let text = |cpus: &OsString| cpus.to_string_lossy().into_owned();
    let size = plan.node_of.len() as u32;
    Job {
        name: format!("catena-{:016x}", plan.job_id),
        universe_size: size.max(plan.slots.unwrap_or(catena_boot::available_cpus())),
        hosts: used
            .iter()
            .map(|&node| plan.hosts[node as usize].clone())
            .collect(),
        node_of: plan.node_of.iter().map(|&node| index(node)).collect(),
        app_of: plan.appnums(),
        psets: plan.psets.clone(),
        node: index(brief.node),
        oversubscribed: brief.cpus.len() > catena_boot::available_cpus() as usize,
        cpus: brief.cpus.iter().map(text).collect(),
    }
}

fn lock(state: &Mutex<HelperState>) -> MutexGuard<'_, HelperState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HelperState {
    /// Tells the launcher, which always listens.
    fn write(&mut self, frame: &[u8]) {
        // If it has ended, that is seen where it is heard.
        let _ = self.out.write_all(frame);
    }

    fn tell(&mut self, event: Event) {
        self.write(&NodeEvent::Said(event).encode());
    }

    /// Does what the library's thread says that a process wants. What is told
    /// here reaches the launcher before the process goes on.
    fn hear(&mut self, upcall: Upcall) {
        match upcall {
            Upcall::Joined { rank } => self.tell(Event::Joined { rank, pid: 0 }),
            Upcall::Finalized { rank } => self.tell(Event::Finalized { rank }),
            Upcall::Abort {
                rank,
                code,
                message,
            } => self.tell(Event::Abort {
                rank,
                code,
                message,
            }),
            Upcall::Fence { ranks, data, reply } => match ranks {
                Some(ranks) if ranks.len() < self.meetings.size() => {
                    let name = format!("fence {ranks:?}").into_bytes();
                    let acts = self.meetings.join(name, &ranks, data, Waiter::Fence(reply));
                    self.act(acts);
                }
                _ => {
                    self.fencing = Some(reply);
                    self.tell(Event::Fencing);
                    self.tell(Event::Fenced { parts: data });
                }
            },
            Upcall::Group {
                name,
                made,
                ranks,
                data,
                reply,
            } => {
                self.groups += 1;
                let mut part = Writer::new(0);
                part.u64(u64::from(self.node + 1) << 32 | u64::from(self.groups));
                part.bytes(&data);
                let name = format!("group {made} {name}").into_bytes();
                let who = Waiter::Group(reply);
                let acts = self.meetings.join(name, &ranks, part.into_body(), who);
                self.act(acts);
            }
            Upcall::Spawn { rank } => tell_at_once(&format!(
                "mpirun: rank {rank} wants to start processes (MPI_Comm_spawn), which mpirun \
                 refuses while a job runs; start all of them at once: mpirun -n 2 program : -n 4 \
                 other"
            )),
            Upcall::Fetch { rank, reply } => {
                let act = self.meetings.ask(rank, Waiter::Fence(reply));
                self.act(vec![act]);
            }
        }
    }

    /// Does what is to be done, and gives what the server is asked for.
    fn act(&mut self, acts: Vec<Act<Waiter>>) -> Vec<Find> {
        let mut finds = Vec::new();
        for act in acts {
            match act {
                Act::Tell(event) => self.write(&event.encode()),
                Act::Answer(Waiter::Fence(reply), answer) => reply.give(answer),
                Act::Answer(Waiter::Group(reply), answer) => {
                    let (number, data) = group(&answer.unwrap_or_default()).unwrap_or_default();
                    reply.give(number, &data);
                }
                Act::Find(find) => finds.push(find),
            }
        }
        finds
    }

    /// Does what the launcher wants, and gives what the server is asked for.
    fn obey(&mut self, command: &NodeCommand) -> Vec<Find> {
        match command {
            NodeCommand::EndFence(parts) => {
                if let Some(reply) = self.fencing.take() {
                    reply.give(Some(parts.to_vec()));
                }
                Vec::new()
            }
            NodeCommand::Pass(NodeEvent::ServerMessage { bytes, .. }) => {
                let acts = self.meetings.take(bytes).unwrap_or_default();
                self.act(acts)
            }
            _ => Vec::new(),
        }
    }
}

impl Find {
    /// Asks the server, which may answer before this returns.
    fn of(self, server: &Server, state: &Arc<Mutex<HelperState>>) {
        let state = Arc::clone(state);
        server.fetch(self.rank, move |found| {
            let mut state = lock(&state);
            let event = state.meetings.found(&self, found.as_deref());
            state.write(&event.encode());
        });
    }
}

/// The number of a group, that of its first node, and what all nodes bring.
fn group(parts: &[u8]) -> Result<(u64, Vec<u8>), Malformed> {
    let r = &mut Reader::new(parts);
    let (number, mut all) = (r.u64()?, r.bytes()?.to_vec());
    while !r.is_empty() {
        r.u64()?;
        all.extend_from_slice(r.bytes()?);
    }
    Ok((number, all))
}
