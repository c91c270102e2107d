//! The processes of all jobs of this launcher, and how far each of them is.
//!
//! Who may change what: the supervisor's events change all fields; `abandoned` is also set by those
//! who end processes (the spawner, failures of jobs, hosts that are given up).

use std::ops::{Index, IndexMut, Range};
use std::rc::Rc;
use std::time::Instant;

use catena_job::{App, Exit};

/// One process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its job: 0 for the first one, else the number of the spawned job, from 1 on.
    pub job: u32,
    /// Its rank in that job.
    pub rank: u32,
    /// Once it was started.
    pub pid: u32,
    /// Its node.
    pub node: u32,
    /// The name of that node.
    pub host: Rc<str>,
    /// What it runs.
    pub app: Rc<App>,
    /// Whether it is about to start or runs.
    pub running: bool,
    /// How it has ended.
    pub exit: Option<Exit>,
    /// The process that has called MPI_Init: this one or a child of it.
    pub joined: Option<u32>,
    /// Whether it has called MPI_Finalize.
    pub finalized: bool,
    /// Since when it is between MPI_Init and MPI_Finalize, if it is.
    pub in_mpi: Option<Instant>,
    /// Whether it wanted the end, and so has told more than its status does.
    pub aborted: bool,
    /// Whether it could not execute its program, which was told.
    pub unstarted: bool,
    /// Whether it is to end, as its job was to be spawned and came to nothing, or a process
    /// that it is connected to has failed: how it ends says nothing.
    pub abandoned: bool,
}

impl Process {
    /// One that is to be started.
    pub fn new(app: Rc<App>, node: u32, host: Rc<str>, job: u32, rank: u32) -> Process {
        Process {
            job,
            rank,
            pid: 0,
            node,
            host,
            app,
            running: true,
            exit: None,
            joined: None,
            finalized: false,
            in_mpi: None,
            aborted: false,
            unstarted: false,
            abandoned: false,
        }
    }

    /// Names it for the user.
    pub fn who(&self) -> String {
        // The process that speaks MPI is the one that the user knows.
        let pid = self.joined.unwrap_or(self.pid);
        let program = self.app.program.display();
        let (rank, host) = (self.rank, &self.host);
        match self.job {
            0 => format!("rank {rank} on host {host} (pid {pid}, {program})"),
            job => {
                format!("rank {rank} of spawned job {job} on host {host} (pid {pid}, {program})")
            }
        }
    }

    /// Whether others may need it to finish: it uses MPI, and is not to end.
    pub fn is_needed(&self) -> bool {
        self.running && self.joined.is_some() && !self.finalized && !self.abandoned
    }

    /// Whether nothing is left to be said about it.
    pub fn is_settled(&self) -> bool {
        // One that left without MPI_Finalize is judged after a while.
        let well = self.finalized || self.joined.is_none() || self.exit != Some(Exit::Code(0));
        self.exit.is_some() && (self.abandoned || well)
    }
}

/// All processes, by their numbers in the launcher.
#[derive(Debug, Default)]
pub struct Processes {
    all: Vec<Process>,
}

impl Index<u32> for Processes {
    type Output = Process;

    fn index(&self, number: u32) -> &Process {
        &self.all[number as usize]
    }
}

impl IndexMut<u32> for Processes {
    fn index_mut(&mut self, number: u32) -> &mut Process {
        &mut self.all[number as usize]
    }
}

impl Processes {
    /// The process with that number, if there is one.
    pub fn get(&self, number: u32) -> Option<&Process> {
        self.all.get(number as usize)
    }
}

impl FromIterator<Process> for Processes {
    fn from_iter<T: IntoIterator<Item = Process>>(all: T) -> Processes {
        Processes {
            all: all.into_iter().collect(),
        }
    }
}

impl Processes {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Each of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Process> {
        self.all.iter()
    }

    /// Each of them with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &Process)> {
        (0..).zip(&self.all)
    }

    /// How many run or are about to start.
    pub fn running(&self) -> u32 {
        self.all.iter().filter(|it| it.running).count() as u32
    }

    /// Whether one runs or is about to start.
    pub fn any_running(&self) -> bool {
        self.all.iter().any(|it| it.running)
    }

    /// Whether ranks of the first job have run on a node.
    pub fn had_ranks_on(&self, node: u32) -> bool {
        self.all.iter().any(|it| it.job == 0 && it.node == node)
    }

    /// Those with these numbers.
    pub fn of(&self, numbers: &Range<u32>) -> &[Process] {
        &self.all[numbers.start as usize..numbers.end as usize]
    }

    /// The numbers of the spawned jobs' processes, job by job.
    pub fn spawned_jobs(&self) -> Vec<Range<u32>> {
        let mut start = 0;
        let mut jobs = Vec::new();
        for of in self.all.chunk_by(|a, b| a.job == b.job) {
            let numbers = start..start + of.len() as u32;
            start = numbers.end;
            if of[0].job > 0 {
                jobs.push(numbers);
            }
        }
        jobs
    }

    /// Gives a number to a process: one that nobody has any more, or the next one.
    pub fn put(&mut self, number: u32, process: Process) {
        match self.all.get_mut(number as usize) {
            Some(vacant) => *vacant = process,
            None => self.all.push(process),
        }
    }

    /// These end, and how they do says nothing.
    pub fn abandon(&mut self, numbers: Range<u32>) {
        numbers.for_each(|number| self[number].abandoned = true);
    }

    /// Nobody has these numbers any more.
    pub fn vacate(&mut self, numbers: Range<u32>) {
        for number in numbers {
            let vacant = Process::new(Rc::default(), 0, Rc::default(), 0, number);
            self[number] = Process {
                running: false,
                ..vacant
            };
        }
    }

    /// Those on a node that run, and from now on do not, as nothing is known of that node any more.
    pub fn lose(&mut self, node: u32) -> Vec<u32> {
        let mut lost = Vec::new();
        for (number, process) in (0..).zip(&mut self.all) {
            if process.node == node && std::mem::replace(&mut process.running, false) {
                lost.push(number);
            }
        }
        lost
    }
}
