//! Numbers for contexts (local CIDs).

use std::cell::RefCell;
use std::rc::Rc;

use catena_abi::{Comm, consts};
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
    /// A bit for each number, in words of 64.
    taken: Vec<u64>,
    /// How many bits are set.
    count: usize,
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
        if self.count >= LIMIT {
            fail!(
                Other,
                "this process has {LIMIT} communicators, and cannot name more: free some"
            );
        }
        let mut round = ROUND.max(2 * self.count as u32);
        let mut tries = 0;
        loop {
            let cid = self.cursor;
            self.cursor = if cid + 1 >= round { 0 } else { cid + 1 };
            if vacant(Cid(cid)) && self.mark(cid) {
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

    /// Marks a number as taken, unless it is.
    fn mark(&mut self, cid: u32) -> bool {
        let (at, bit) = place(cid);
        if at >= self.taken.len() {
            self.taken.resize(at + 1, 0);
        }
        let is_free = self.taken[at] & bit == 0;
        self.taken[at] |= bit;
        self.count += usize::from(is_free);
        is_free
    }

    /// Takes back the numbers that nobody uses any more.
    pub fn reclaim(&mut self) -> Vec<Cid> {
        let unused = std::mem::take(&mut *self.unused.borrow_mut());
        for cid in &unused {
            let (at, bit) = place(cid.0);
            self.taken[at] &= !bit;
        }
        self.count -= unused.len();
        unused
    }
}

/// The handles of communicators, by their numbers.
#[derive(Debug, Default)]
pub struct HandlesByCid(Vec<Comm>);

impl HandlesByCid {
    /// The handle of the communicator with that number.
    pub fn get(&self, cid: Cid) -> Option<Comm> {
        let handle = self.0.get(cid.0 as usize).copied();
        handle.filter(|&handle| handle != consts::COMM_NULL)
    }

    /// The communicator with that number has that handle from now on.
    pub fn insert(&mut self, cid: Cid, handle: Comm) {
        let at = cid.0 as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, consts::COMM_NULL);
        }
        self.0[at] = handle;
    }

    /// Nobody has that number any more.
    pub fn remove(&mut self, cid: Cid) {
        if let Some(handle) = self.0.get_mut(cid.0 as usize) {
            *handle = consts::COMM_NULL;
        }
    }
}

impl<const N: usize> From<[(Cid, Comm); N]> for HandlesByCid {
    fn from(pairs: [(Cid, Comm); N]) -> Self {
        let mut handles = HandlesByCid::default();
        for (cid, handle) in pairs {
            handles.insert(cid, handle);
        }
        handles
    }
}

/// The word of a number's bit, and the bit in it.
fn place(cid: u32) -> (usize, u64) {
    (cid as usize / 64, 1 << (cid % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_found_by_numbers() {
        let mut handles = HandlesByCid::from([(Cid(1), consts::COMM_SELF)]);
        handles.insert(Cid(70), consts::COMM_WORLD);
        assert_eq!(handles.get(Cid(70)), Some(consts::COMM_WORLD));
        assert_eq!(handles.get(Cid(1)), Some(consts::COMM_SELF));
        handles.remove(Cid(70));
        handles.remove(Cid(71));
        for none in [0, 69, 70, 71] {
            assert_eq!(handles.get(Cid(none)), None, "{none}");
        }
    }

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
        assert_eq!(cids.count, 0);
        assert!(cids.taken.iter().all(|word| *word == 0));
        let far = cids.take(|cid| cid.0 > 5 * ROUND).unwrap();
        assert_eq!(far.cid().0, 5 * ROUND + 1);
    }
}
