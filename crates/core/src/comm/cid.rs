//! Numbers for contexts (local CIDs).
//!
//! A number is a slot of `link`'s table and a generation, which grows whenever the slot becomes
//! vacant: see [`Cid`]. Slots are taken in turn, so one rests before it is taken again, and a
//! number is only used again after [`ROUND`] · [`Cid::GENERATIONS`] communicators, a million.

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

/// Slots in use before the cursor may turn round.
const ROUND: u32 = 1 << 10;
/// Most communicators of a process.
const LIMIT: usize = Cid::SLOTS as usize / 2;

/// The numbers of a process.
#[derive(Debug, Default)]
pub struct Cids {
    /// A bit for each slot, in words of 64.
    taken: Vec<u64>,
    /// How often each slot became vacant.
    generations: Vec<u32>,
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
            let slot = self.cursor;
            self.cursor = if slot + 1 >= round { 0 } else { slot + 1 };
            let generation = self.generations.get(slot as usize).copied();
            let cid = Cid::new(slot, generation.unwrap_or(0));
            if vacant(cid) && self.mark(slot) {
                return Ok(Lease {
                    cid,
                    unused: self.unused.clone(),
                });
            }
            // Contexts that are closed but not at rest hold slots, too.
            tries += 1;
            if tries == round {
                if round >= Cid::SLOTS {
                    fail!(
                        Other,
                        "all communicators of this process are in use or have messages under way"
                    );
                }
                (self.cursor, round) = (round, (2 * round).min(Cid::SLOTS));
            }
        }
    }

    /// Marks a slot as taken, unless it is.
    fn mark(&mut self, slot: u32) -> bool {
        let (at, bit) = place(slot);
        if at >= self.taken.len() {
            self.taken.resize(at + 1, 0);
            self.generations.resize(64 * (at + 1), 0);
        }
        let is_free = self.taken[at] & bit == 0;
        self.taken[at] |= bit;
        self.count += usize::from(is_free);
        is_free
    }

    /// Whether somebody uses a number.
    pub fn is_in_use(&self, cid: Cid) -> bool {
        let (at, bit) = place(cid.slot());
        let is_taken = self.taken.get(at).is_some_and(|word| word & bit != 0);
        is_taken
            && Cid::new(cid.slot(), self.generations[cid.slot() as usize]) == cid
            && !self.unused.borrow().contains(&cid)
    }

    /// Takes back the numbers that nobody uses any more.
    pub fn reclaim(&mut self) -> Vec<Cid> {
        let unused = std::mem::take(&mut *self.unused.borrow_mut());
        for cid in &unused {
            let (at, bit) = place(cid.slot());
            self.taken[at] &= !bit;
            let generation = &mut self.generations[cid.slot() as usize];
            *generation = generation.wrapping_add(1);
        }
        self.count -= unused.len();
        unused
    }
}

/// The handles of communicators, by their numbers.
#[derive(Debug, Default)]
pub struct HandlesByCid(Vec<(Cid, Comm)>);

/// What a slot without a communicator has.
const VACANT: (Cid, Comm) = (Cid(u32::MAX), consts::COMM_NULL);

impl HandlesByCid {
    /// The handle of the communicator with that number.
    pub fn get(&self, cid: Cid) -> Option<Comm> {
        let entry = self.0.get(cid.slot() as usize);
        entry
            .filter(|(of, _)| *of == cid)
            .map(|(_, handle)| *handle)
    }

    /// The communicator with that number has that handle from now on.
    pub fn insert(&mut self, cid: Cid, handle: Comm) {
        let at = cid.slot() as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, VACANT);
        }
        self.0[at] = (cid, handle);
    }

    /// Nobody has that number any more.
    pub fn remove(&mut self, cid: Cid) {
        let entry = self.0.get_mut(cid.slot() as usize);
        if let Some(entry) = entry.filter(|(of, _)| *of == cid) {
            *entry = VACANT;
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

/// The word of a slot's bit, and the bit in it.
fn place(slot: u32) -> (usize, u64) {
    (slot as usize / 64, 1 << (slot % 64))
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
        let later = Cid::new(70, 1);
        assert_eq!(handles.get(later), None, "another one of the slot");
        handles.remove(later);
        assert_eq!(handles.get(Cid(70)), Some(consts::COMM_WORLD));
        handles.remove(Cid(70));
        handles.remove(Cid(71));
        for none in [0, 69, 70, 71] {
            assert_eq!(handles.get(Cid(none)), None, "{none}");
        }
    }

    #[test]
    fn a_number_is_in_use_until_its_lease_ends() {
        let mut cids = Cids::new();
        assert!(!cids.is_in_use(Cid(0)));
        let lease = cids.take(|_| true).unwrap();
        let cid = lease.cid();
        assert!(cids.is_in_use(cid) && !cids.is_in_use(Cid::new(cid.slot(), 1)));
        drop(lease);
        assert!(
            !cids.is_in_use(cid),
            "whoever is to close it may not have come"
        );
        cids.reclaim();
        assert!(!cids.is_in_use(cid) && !cids.is_in_use(Cid::new(cid.slot(), 1)));
    }

    #[test]
    fn freed_numbers_rest_before_they_return() {
        let mut cids = Cids::new();
        let first = cids.take(|_| true).unwrap().cid();
        assert_eq!(cids.reclaim(), [first]);
        assert_ne!(cids.take(|_| true).unwrap().cid(), first);
        let mut seen = std::collections::HashSet::from([first]);
        for _ in 0..5 * ROUND {
            let lease = cids.take(|cid| cid.slot() != 7).unwrap();
            assert_ne!(lease.cid().slot(), 7);
            assert!(lease.cid().slot() < ROUND);
            seen.insert(lease.cid());
            drop(lease);
            cids.reclaim();
        }
        assert!(
            seen.len() > 5 * ROUND as usize - 2,
            "each has a number of its own"
        );
        assert_eq!(cids.count, 0);
        assert!(cids.taken.iter().all(|word| *word == 0));
        let far = cids.take(|cid| cid.slot() > 5 * ROUND).unwrap();
        assert_eq!(far.cid(), Cid(5 * ROUND + 1));
        let none = cids.take(|_| false);
        assert!(none.is_err(), "messages are under way on all");
    }
}
