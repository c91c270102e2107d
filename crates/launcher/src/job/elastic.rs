//! Elastic jobs: they grow by jobs of the same program, and shrink, as a user says
//! (`catena grow` and `catena shrink`).
//!
//! The launcher keeps the process set, whose versions it tells the processes. It starts those that
//! come; those that are no member any more end by themselves.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use catena_boot::{ELASTIC_SET, ElasticSet, Interest, SpawnAnswer, SpawnProgram, SpawnRequest};

use super::spawn::{Caller, Spawning};
use super::{Job, token};
use crate::elastic::{self, Change, LONGEST};
use crate::sys;

/// How a job grows and shrinks.
pub(super) struct Elastic {
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

impl Job {
    /// Lets the user have the job grow and shrink. Where that cannot be, it says why.
    pub fn make_elastic(&mut self) {
        match self.listen() {
            Ok(elastic) => self.elastic = Some(elastic),
            Err(error) => self.sinks.tell(format_args!(
                "{}: the job cannot grow or shrink, as catena grow could not reach it: {error}",
                self.command
            )),
        }
    }

    fn listen(&self) -> io::Result<Elastic> {
        let listener =
            UnixListener::bind_addr(&elastic::address(sys::user(), std::process::id())?)?;
        listener.set_nonblocking(true)?;
        self.base
            .poller
            .add(&listener, token::CONTROL, Interest::Read)?;
        let job = self.plan.job_id;
        let ranks = 0..self.plan.node_of.len() as u32;
        Ok(Elastic {
            listener,
            caller: None,
            said: Vec::new(),
            is_growing: false,
            version: 1,
            members: ranks
                .map(|rank| Member {
                    job,
                    rank,
                    number: rank,
                })
                .collect(),
        })
    }

    /// Somebody wants the job to grow or shrink.
    pub(super) fn hear_caller(&mut self, ready: u64) {
        let Some(elastic) = &mut self.elastic else {
            return;
        };
        let poller = &self.base.poller;
        if ready == token::CONTROL {
            let Ok((caller, _)) = elastic.listener.accept() else {
                return;
            };
            let is_sound = elastic::is_trusted(&caller) && caller.set_nonblocking(true).is_ok();
            if is_sound && poller.add(&caller, token::CALLER, Interest::Read).is_ok() {
                // The others wait until this one is served.
                let _ = poller.remove(&elastic.listener);
                elastic.caller = Some(caller);
            }
            return;
        }
        let Some(caller) = &mut elastic.caller else {
            return;
        };
        let mut bytes = [0; LONGEST];
        match caller.read(&mut bytes) {
            Ok(n) if n > 0 && elastic.said.len() + n <= LONGEST => {
                elastic.said.extend_from_slice(&bytes[..n]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            // It is gone, or talks nonsense. A job that is being started for it comes all the same.
            _ => return self.dismiss(),
        }
        let Some(end) = elastic.said.iter().position(|&byte| byte == b'\n') else {
            return;
        };
        // It says no more.
        let _ = poller.remove(&*caller);
        let line = String::from_utf8_lossy(&elastic.said[..end]).into_owned();
        match self.change(&line) {
            Ok(None) => {}
            Ok(Some(text)) => self.reply('+', &text),
            Err(text) => self.reply('-', &text),
        }
    }

    /// Does what a caller wants; what to answer, if that is known already.
    fn change(&mut self, line: &str) -> Result<Option<String>, String> {
        let change = Change::read(line).ok_or("write grow N or shrink N")?;
        let elastic = self.elastic.as_ref().expect("a caller of it");
        if elastic.is_growing {
            return Err("the job is growing already: ask again once it has grown".to_string());
        }
        let left = elastic.members.iter().find(|it| !self.is_there(it));
        if let Some(left) = left {
            return Err(self.has_left(left));
        }
        if !elastic.members.iter().all(|it| self.is_ready(it.number)) {
            return Err(
                "the job is starting: ask again once it has called MPI_Session_init".to_string(),
            );
        }
        let node = self.tree.node.as_ref();
        let has_world = |it: &&Member| node.is_some_and(|node| node.has_world(it.number));
        if let Some(member) = elastic.members.iter().find(has_world) {
            return Err(format!(
                "{} has called MPI_Init, whose MPI_COMM_WORLD never changes: only programs that use MPI sessions \
                 alone can grow and shrink (catena help elastic)",
                self.who(member.number)
            ));
        }
        match change {
            Change::Grow(count) => {
                self.spawn(&self.more(count), Caller::User)?;
                // It may have come to nothing already, and was answered then.
                if let Some(elastic) = self.elastic.as_mut().filter(|it| it.caller.is_some()) {
                    elastic.is_growing = true;
                }
                Ok(None)
            }
            Change::Shrink(count) => self.shrink(count).map(Some),
        }
    }

    /// Why a job does not grow or shrink whose set has that member, which is not there any more.
    fn has_left(&self, member: &Member) -> String {
        format!(
            "{} of the last set has ended, so the job is about to end",
            self.who(member.number)
        )
    }

    fn is_there(&self, member: &Member) -> bool {
        let node = self.tree.node.as_ref();
        let name = node.and_then(|node| node.name_of(member.number));
        let process = &self.processes[member.number as usize];
        name == Some((member.job, member.rank)) && process.running && !process.finalized
    }

    /// Processes that run the job's first program, as those do that do already.
    fn more(&self, count: u32) -> SpawnRequest {
        let app = self.plan.apps[0].clone();
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

    fn shrink(&mut self, count: u32) -> Result<String, String> {
        let elastic = self.elastic.as_mut().expect("a caller of it");
        let size = elastic.members.len() as u32;
        if count >= size {
            return Err(format!(
                "the job has {size} processes, and one must be left: {} can leave at most",
                size - 1
            ));
        }
        let stay = (size - count) as usize;
        let told: Vec<u32> = elastic.members.iter().map(|it| it.number).collect();
        elastic.members.truncate(stay);
        Ok(self.tell_version(&told))
    }

    /// Whether other jobs can meet the process with that number.
    pub(super) fn is_ready(&self, number: u32) -> bool {
        let node = self.tree.node.as_ref();
        node.is_some_and(|node| node.is_ready(number))
    }

    /// The processes of a job that was started so that this one grows may be ready by now.
    pub(super) fn check_growth(&mut self) {
        if let Some(first) = self.spawning.iter().find_map(Spawning::growth) {
            self.spawn_joined(first);
        }
    }

    /// What has become of a job that was started so that this one grows.
    pub(super) fn take_growth(&mut self) {
        let Some(outcome) = self.grown.take() else {
            return;
        };
        let Some(elastic) = &self.elastic else {
            return;
        };
        // The job may have come to its end while the others were starting, which nobody would meet then.
        let left = elastic.members.iter().find(|it| !self.is_there(it));
        let left = left.map(|it| self.has_left(it));
        let outcome = outcome.and_then(|answer| match left {
            Some(why) => {
                self.give_up_growth(answer.job, &why);
                Err(why)
            }
            None => Ok(answer),
        });
        let Some(elastic) = &mut self.elastic else {
            return;
        };
        elastic.is_growing = false;
        match outcome {
            Ok(SpawnAnswer { job, .. }) => {
                let come = self.living.iter().find(|it| it.job() == job);
                let numbers = come.map(|it| it.numbers()).unwrap_or_default();
                let ranks = (0..).zip(numbers);
                elastic
                    .members
                    .extend(ranks.map(|(rank, number)| Member { job, rank, number }));
                let first = elastic.members[0].number;
                let told: Vec<u32> = elastic.members.iter().map(|it| it.number).collect();
                // From now on the end of one touches the others.
                self.tree.with_node(|node| node.tie(first, job));
                let text = self.tell_version(&told);
                self.reply('+', &text);
            }
            Err(text) => self.reply('-', &text),
        }
    }

    /// There is one more version of the set; in words.
    fn tell_version(&mut self, told: &[u32]) -> String {
        let elastic = self.elastic.as_mut().expect("a caller of it");
        elastic.version += 1;
        let set = named(elastic.version, &elastic.members);
        self.tree.with_node(|node| node.tell_set(told, &set));
        format!(
            "{ELASTIC_SET}{} has {} processes",
            set.version,
            set.members.len()
        )
    }

    fn reply(&mut self, sign: char, text: &str) {
        if let Some(caller) = self.elastic.as_mut().and_then(|it| it.caller.as_mut()) {
            // One that is gone does not hear it.
            let _ = caller.write_all(format!("{sign}{text}\n").as_bytes());
        }
        self.dismiss();
    }

    /// The caller is served: the next one may come.
    fn dismiss(&mut self) {
        let Some(elastic) = &mut self.elastic else {
            return;
        };
        let poller = &self.base.poller;
        if let Some(caller) = elastic.caller.take() {
            let _ = poller.remove(&caller);
            let _ = poller.add(&elastic.listener, token::CONTROL, Interest::Read);
        }
        elastic.said.clear();
    }
}
