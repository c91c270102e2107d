//! A job that processes have spawned, as the launcher's processes tell each other of it.

use std::ffi::OsString;
use std::ops::Range;

use catena_boot::wire::{Malformed, Reader, Writer};

use crate::MAX_RANKS;
use crate::plan::Plan;
use crate::strings::{read_strings, write_strings};

/// All that a node must know of a job that was spawned: every node of the launcher knows it, and
/// those start it that it has ranks on.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// The number of its rank 0 in the launcher.
    pub first: u32,
    /// Whether it runs already: the node is told of it alone, and has none of its living processes.
    pub runs: bool,
    /// What its processes find as `MPI_UNIVERSE_SIZE`.
    pub universe: u32,
    /// The port at which those who have spawned it wait.
    pub port: String,
    /// Where the program of each app is looked for, if not in `PATH`.
    pub paths: Vec<Option<OsString>>,
    /// What the processes of each app find as `MPI_APPNUM`, if not its number.
    pub appnums: Vec<Option<u32>>,
    /// What runs where, by the numbers that nodes have in the launcher.
    pub plan: Plan,
}

impl NewJob {
    /// The numbers of its processes.
    pub fn numbers(&self) -> Range<u32> {
        self.first..self.first + self.plan.node_of.len() as u32
    }

    /// As [`NewJob::read`] reads it, which has no secret then.
    pub fn write(&self, w: &mut Writer) {
        w.u32(self.first);
        w.u32(self.runs.into());
        w.u32(self.universe);
        w.bytes(self.port.as_bytes());
        w.u32(self.paths.len() as u32);
        for path in &self.paths {
            write_strings(w, path.as_slice());
        }
        for appnum in &self.appnums {
            w.u32s(appnum.as_slice());
        }
        self.plan.write(w);
    }

    /// Reads what [`NewJob::write`] wrote.
    ///
    /// # Errors
    /// If it is something else, or contradicts itself.
    pub fn read(r: &mut Reader<'_>) -> Result<NewJob, Malformed> {
        let (first, runs) = (r.u32()?, r.u32()? != 0);
        let (universe, port) = (r.u32()?, r.text()?);
        let apps = r.count(8)?;
        let paths = (0..apps).map(|_| Ok(read_strings(r)?.pop()));
        let paths = paths.collect::<Result<_, Malformed>>()?;
        let appnums = (0..apps).map(|_| Ok(r.u32s()?.pop()));
        let new = NewJob {
            first,
            runs,
            universe,
            port,
            paths,
            appnums: appnums.collect::<Result<_, Malformed>>()?,
            plan: Plan::read(r)?,
        };
        let size = new.plan.node_of.len() as u64;
        match new.plan.apps.len() == apps && u64::from(first) + size <= 2 * u64::from(MAX_RANKS) {
            true => Ok(new),
            false => Err(Malformed("a new job contradicts itself")),
        }
    }
}
