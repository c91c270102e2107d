//! The process that goes on as a rank: see `heirs`.

use std::process;

use catena_job::Exit;

use crate::foreign;
use crate::sys::Other;

/// Most processes between the first one of a rank and that which uses MPI that are looked at.
const DEEP: usize = 16;

/// The process that has called MPI_Init, if it is not the first one of its rank.
#[derive(Debug)]
pub(super) struct Heir {
    process: Other,
    /// Those that it was started by, up to the first one of the rank, which is none of them.
    above: Vec<Other>,
}

impl Heir {
    /// The process with this number, of the rank whose first process is `first`.
    pub(super) fn new(pid: i32, first: i32) -> Heir {
        let own = process::id();
        let parent = |pid: &u32| foreign::parent(*pid).filter(|&it| it > 1 && it != own);
        let above = std::iter::successors(parent(&(pid as u32)), parent);
        let above = above.take_while(|&it| it != first as u32).take(DEEP);
        Heir {
            process: Other::open(pid),
            above: above.map(|pid| Other::open(pid as i32)).collect(),
        }
    }

    /// Its number.
    pub(super) fn pid(&self) -> i32 {
        self.process.pid()
    }

    pub(super) fn is_alive(&self) -> bool {
        self.process.is_alive()
    }

    /// Whether a process is it, or one that it was started by.
    pub(super) fn is(&self, pid: i32) -> bool {
        self.pid() == pid || self.above.iter().any(|it| it.pid() == pid)
    }

    /// How it has ended, once those that it was started by have ended, too; `Some(None)` if nobody
    /// can say. Who of them has asked for its status tells it by its own.
    pub(super) fn exit(&self) -> Option<Option<Exit>> {
        let mut all = std::iter::once(&self.process).chain(&self.above);
        if all.clone().any(Other::is_alive) {
            return None;
        }
        Some(all.find_map(Other::peek_exit))
    }
}
