//! Threads that call collectives on the same communicator at the same time: then it is open which
//! call of one rank meets which one of another.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::call::Args;
use crate::site::Site;
use crate::tell::{Finding, Kind};

/// The calls on a communicator that are under way, with a number of each.
type Calls = Vec<(u64, Site)>;

/// By communicator, the calls that are under way.
static UNDER_WAY: Mutex<Option<HashMap<usize, Calls>>> = Mutex::new(None);

/// A call that is under way; it is over when this is dropped.
#[derive(Debug)]
pub struct Collective {
    comm: usize,
    number: u64,
}

impl Collective {
    /// Notes a call, if it is a collective one; what is wrong with that.
    pub fn enter(args: &Args, site: impl Fn() -> Site) -> Option<(Collective, Option<Finding>)> {
        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
        static LAST: AtomicU64 = AtomicU64::new(0);
        let comm = args.comm().filter(|_| args.call.is_collective)?.0;
        let number = LAST.fetch_add(1, Relaxed);
        let mut all = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = all.get_or_insert_default().entry(comm).or_default();
        let finding = calls.first().map(|(_, other)| {
            let text = format!(
                "another thread is in {} on the same communicator: the ranks may take the calls in \
                 different orders",
                other.call
            );
            let finding = Finding::error(Kind::Thread, site(), text);
            let finding = finding.besides("the other thread is in", other);
            finding.remedy(
                "let one thread after the other call collectives on a communicator, or give each \
                 its own by MPI_Comm_dup",
            )
        });
        calls.push((number, site()));
        Some((Collective { comm, number }, finding))
    }
}

impl Drop for Collective {
    fn drop(&mut self) {
        let mut all = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = all.as_mut()
            && let Some(calls) = all.get_mut(&self.comm)
        {
            calls.retain(|(number, _)| *number != self.number);
            if calls.is_empty() {
                all.remove(&self.comm);
            }
        }
    }
}
