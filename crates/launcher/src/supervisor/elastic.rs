//! Elastic jobs: they grow by jobs of the same program, and shrink, as a user says
//! (`catena grow` and `catena shrink`).
//!
//! This part keeps the process set, whose versions it tells the processes, and talks with those who want a change. The
//! spawner starts the processes that come; those that are no member any more end by themselves.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::net::{UnixListener, UnixStream};

use catena_boot::{ELASTIC_SET, ElasticSet, Interest, Poller, SpawnProgram, SpawnRequest};
use catena_job::Plan;

use super::nodes::Nodes;
use super::process::Processes;
use super::token;
use crate::elastic::{self, Change, LONGEST};
use crate::sys;

/// How a job grows and shrinks.
pub struct Elastic {
    listener: UnixListener,
    /// Who wants something: one is served at a time.
    caller: Option<UnixStream>,
    /// What it has said.
    said: Vec<u8>,
    /// Whether a job is being started for it.
    is_growing: bool,
    /// The last version of the process set.
    version: u32,
    members: Vec<Member>,
}

/// A member of the process set.
#[derive(Clone, Copy, Debug)]
struct Member {
    job: u64,
    rank: u32,
    /// Its number in the launcher.
    number: u32,
}

fn named(version: u32, members: &[Member]) -> ElasticSet {
    ElasticSet {
        version,
        members: members.iter().map(|it| (it.job, it.rank)).collect(),
    }
}

/// Processes that run the job's first program, as those do that do already.
pub fn more(plan: &Plan, count: u32) -> SpawnRequest {
    let app = plan.apps[0].clone();
    let program = SpawnProgram {
        program: app.program,
        args: app.args,
        env: app.env,
        wdir: app.wdir.map(Into::into),
        count,
        ..SpawnProgram::default()
    };
    SpawnRequest {
        programs: vec![program],
        ..SpawnRequest::default()
    }
}

impl Elastic {
    /// Lets the user have the job grow and shrink.
    ///
    /// # Errors
    /// Where nobody could reach it.
    pub fn new(plan: &Plan, poller: &Poller) -> io::Result<Elastic> {
        let listener =
            UnixListener::bind_addr(&elastic::address(sys::user(), std::process::id())?)?;
        listener.set_nonblocking(true)?;
        poller.add(&listener, token::CONTROL, Interest::Read)?;
        let member = |rank| Member {
            job: plan.job_id,
            rank,
            number: rank,
        };
        Ok(Elastic {
            listener,
            caller: None,
            said: Vec::new(),
            is_growing: false,
            version: 1,
            members: (0..plan.node_of.len() as u32).map(member).collect(),
        })
    }

    /// Somebody wants the job to grow or shrink, or says more about it: what is wanted, once all of it was said.
    pub fn hear(&mut self, ready: u64, poller: &Poller) -> Option<Result<Change, String>> {
        if ready == token::CONTROL {
            let (caller, _) = self.listener.accept().ok()?;
            let is_sound = elastic::is_trusted(&caller) && caller.set_nonblocking(true).is_ok();
            if is_sound && poller.add(&caller, token::CALLER, Interest::Read).is_ok() {
                // The others wait until this one is served.
                let _ = poller.remove(&self.listener);
                self.caller = Some(caller);
            }
            return None;
        }
        let caller = self.caller.as_mut()?;
        let mut bytes = [0; LONGEST];
        match caller.read(&mut bytes) {
            Ok(n) if n > 0 && self.said.len() + n <= LONGEST => {
                self.said.extend_from_slice(&bytes[..n]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            // It is gone, or talks nonsense. A job that is being started for it comes all the same.
            _ => {
                self.dismiss(poller);
                return None;
            }
        }
        let end = self.said.iter().position(|&byte| byte == b'\n')?;
        // It says no more.
        let _ = poller.remove(&*caller);
        let line = String::from_utf8_lossy(&self.said[..end]);
        let change = Change::read(&line);
        Some(change.ok_or_else(|| "write grow N or shrink N".to_string()))
    }

    /// Whether the set can change now.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self, processes: &Processes, nodes: &Nodes) -> Result<(), String> {
        if self.is_growing {
            return Err("the job is growing already: ask again once it has grown".to_string());
        }
        if let Some(why) = self.has_left(processes, nodes) {
            return Err(why);
        }
        if !self.members.iter().all(|it| nodes.is_ready(it.number)) {
            return Err(
                "the job is starting: ask again once it has called MPI_Session_init".to_string(),
            );
        }
        let node = nodes.tree.node.as_ref();
        let has_world = |it: &&Member| node.is_some_and(|node| node.has_world(it.number));
        match self.members.iter().find(has_world) {
            None => Ok(()),
            Some(member) => Err(format!(
                "{} has called MPI_Init, whose MPI_COMM_WORLD never changes: only programs that use MPI sessions \
                 alone can grow and shrink (catena help elastic)",
                processes[member.number].who()
            )),
        }
    }

    /// Why the set cannot change, if one of its members is not there any more.
    pub fn has_left(&self, processes: &Processes, nodes: &Nodes) -> Option<String> {
        let node = nodes.tree.node.as_ref();
        let is_there = |member: &Member| {
            let name = node.and_then(|node| node.name_of(member.number));
            let process = &processes[member.number];
            name == Some((member.job, member.rank)) && process.running && !process.finalized
        };
        let left = self.members.iter().find(|it| !is_there(it))?;
        Some(format!(
            "{} of the last set has ended, so the job is about to end",
            processes[left.number].who()
        ))
    }

    /// A job is being started for the caller, unless it was answered already, as that has come to nothing.
    pub fn begin_to_grow(&mut self) {
        self.is_growing |= self.caller.is_some();
    }

    /// This many members leave the set; in words.
    ///
    /// # Errors
    /// If none would be left.
    pub fn shrink(&mut self, count: u32, nodes: &mut Nodes) -> Result<String, String> {
        let size = self.members.len() as u32;
        if count >= size {
            return Err(format!(
                "the job has {size} processes, and one must be left: {} can leave at most",
                size - 1
            ));
        }
        let stay = (size - count) as usize;
        let told: Vec<u32> = self.members.iter().map(|it| it.number).collect();
        self.members.truncate(stay);
        Ok(self.tell_version(&told, nodes))
    }

    /// The job that was started for the caller has come, and its processes with these numbers are members; or it has come to
    /// nothing.
    pub fn take_growth(&mut self, outcome: Result<(u64, Range<u32>), String>, nodes: &mut Nodes) {
        self.is_growing = false;
        let answer = outcome.map(|(job, numbers)| {
            let ranks = (0..).zip(numbers);
            self.members
                .extend(ranks.map(|(rank, number)| Member { job, rank, number }));
            let first = self.members[0].number;
            let told: Vec<u32> = self.members.iter().map(|it| it.number).collect();
            // From now on the end of one touches the others.
            nodes.server(|node| node.tie(first, job));
            self.tell_version(&told, nodes)
        });
        self.answer(answer, &nodes.base.poller);
    }

    /// There is one more version of the set; in words.
    fn tell_version(&mut self, told: &[u32], nodes: &mut Nodes) -> String {
        self.version += 1;
        let set = named(self.version, &self.members);
        nodes.server(|node| node.tell_set(told, &set));
        format!(
            "{ELASTIC_SET}{} has {} processes",
            set.version,
            set.members.len()
        )
    }

    /// Answers the caller: what was done, or why nothing was. The next one may come.
    pub fn answer(&mut self, answer: Result<String, String>, poller: &Poller) {
        let line = match answer {
            Ok(text) => format!("+{text}\n"),
            Err(text) => format!("-{text}\n"),
        };
        if let Some(caller) = &mut self.caller {
            // One that is gone does not hear it.
            let _ = caller.write_all(line.as_bytes());
        }
        self.dismiss(poller);
    }

    /// The caller is served: the next one may come.
    fn dismiss(&mut self, poller: &Poller) {
        if let Some(caller) = self.caller.take() {
            let _ = poller.remove(&caller);
            let _ = poller.add(&self.listener, token::CONTROL, Interest::Read);
        }
        self.said.clear();
    }
}
