//! Numbers for contexts (local CIDs).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use catena_link::Cid;

use catena_objects::error::Result;
use catena_objects::fail;

/// The context of the job: every process has it from the start, with a way to
/// each process, whose number is the process's own. `MPI_COMM_WORLD` is its
/// communicator.
pub(crate) const JOB: Cid = Cid(0);

/// Numbers in use before the cursor may turn round.
const ROUND: u32 = 1 << 10;
/// Most communicators of a process: what a handle can name.
const LIMIT: usize = 1 << 27;

/// The numbers of a process. A freed one rests until the cursor comes round, so
/// that a message nobody received is not taken for one of a newer
/// communicator.
#[derive(Debug, Default)]
pub struct Cids {
    taken: BTreeSet<u32>,
    cursor: u32,
    /// Numbers whose last user is gone, to be closed.
    unused: Rc<RefCell<Vec<Cid>>>,
}

/// A number as long as somebody uses it: a communicator lives on for what was
/// started on it (MPI-5, 7.4.3).
#[derive(Debug)]
pub struct Lease {
    cid: Cid,
    unused: Rc<RefCell<Vec<Cid>>>,
}

impl Lease {
    /// The number.
    #[inline]
    pub fn cid(&self) -> Cid {
        self.cid
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.unused.borrow_mut().push(self.cid);
    }
}

impl Cids {
    /// Numbers from 0 on.
    pub fn new() -> Self {
        Cids::default()
    }

    /// Takes a number that is vacant in `link` as well.
    ///
    /// # Errors
    /// `Other` if there is none left.
    pub fn take(&mut self, vacant: impl Fn(Cid) -> bool) -> Result<Lease> {
        if self.taken.len() >= LIMIT {
            fail!(
                Other,
                "this process has {LIMIT} communicators, and cannot name more: free some"
            );
        }
        let mut round = ROUND.max(2 * self.taken.len() as u32);
        let mut tries = 0;
        loop {
            let cid = self.cursor;
            self.cursor = if cid + 1 >= round { 0 } else { cid + 1 };
            if vacant(Cid(cid)) && self.taken.insert(cid) {
                return Ok(Lease {
                    cid: Cid(cid),
                    unused: self.unused.clone(),
                });
            }
            // Contexts that are closed but not at rest hold numbers, too.
            tries += 1;
            if tries == round {
                (self.cursor, round) = (round, 2 * round);
            }
        }
    }

    /// Takes back the numbers that nobody uses any more.
    pub fn reclaim(&mut self) -> Vec<Cid> {
        let unused = std::mem::take(&mut *self.unused.borrow_mut());
        for cid in &unused {
            self.taken.remove(&cid.0);
        }
        unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_numbers_rest_before_they_return() {
        let mut cids = Cids::new();
        let first = cids.take(|_| true).unwrap().cid();
        assert_eq!(cids.reclaim(), [first]);
        assert_ne!(cids.take(|_| true).unwrap().cid(), first);
        for _ in 0..2 * ROUND {
            let lease = cids.take(|cid| cid.0 != 7).unwrap();
            assert_ne!(lease.cid().0, 7);
            drop(lease);
            cids.reclaim();
        }
        assert!(cids.taken.is_empty());
        let far = cids.take(|cid| cid.0 > 5 * ROUND).unwrap();
        assert_eq!(far.cid().0, 5 * ROUND + 1);
    }
}
