//! Elastic jobs: they grow by jobs of the same program, and shrink, as a user says
//! (`catena grow` and `catena shrink`).
//!
//! This part keeps the process set, whose versions it tells the processes. The spawner starts the
//! processes that come; those that are no member any more end by themselves.

use std::ops::Range;

use catena_boot::{ELASTIC_SET, ElasticSet, SpawnProgram, SpawnRequest};
use catena_job::Plan;

use super::nodes::Nodes;
use super::process::Processes;

/// How a job grows and shrinks.
pub struct Elastic {
    /// Whether a job is being started for somebody.
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
    /// The first version of the set: all ranks.
    pub fn new(plan: &Plan) -> Elastic {
        let member = |rank| Member {
            job: plan.job_id,
            rank,
            number: rank,
        };
        Elastic {
            is_growing: false,
            version: 1,
            members: (0..plan.node_of.len() as u32).map(member).collect(),
        }
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
                "{} has called MPI_Init, whose MPI_COMM_WORLD never changes: only programs that \
                 use MPI sessions alone can grow and shrink (catena help elastic)",
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

    /// A job is being started for somebody.
    pub fn begin_to_grow(&mut self) {
        self.is_growing = true;
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

    /// The job that was started for somebody has come, and its processes with these numbers are
    /// members; or it has come to nothing. In words.
    ///
    /// # Errors
    /// Why it has come to nothing.
    pub fn take_growth(
        &mut self,
        outcome: Result<(u64, Range<u32>), String>,
        nodes: &mut Nodes,
    ) -> Result<String, String> {
        self.is_growing = false;
        let (job, numbers) = outcome?;
        let ranks = (0..).zip(numbers);
        self.members
            .extend(ranks.map(|(rank, number)| Member { job, rank, number }));
        let first = self.members[0].number;
        let told: Vec<u32> = self.members.iter().map(|it| it.number).collect();
        // From now on the end of one touches the others.
        nodes.server(|node| node.tie(first, job));
        Ok(self.tell_version(&told, nodes))
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
}
