//! Which two ends belong together, and what they tell each other once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};

use catena_core::Process;
use catena_core::comm::{Comm, Key, PARTITIONS};

/// What is counted for a communicator.
#[derive(Debug)]
struct Counts {
    comm: Weak<Comm>,
    /// Ends made, by peer, tag, and whether it sends.
    made: HashMap<(u32, i32, bool), u32>,
    /// Tags that were given out.
    tags: u32,
}

/// All communicators with partitioned messages. Under the library's lock.
struct Shared(RefCell<HashMap<usize, Counts>>);
// SAFETY: whoever comes here holds the library's lock, or is the one thread that calls MPI.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

static COUNTS: LazyLock<Shared> = LazyLock::new(|| Shared(RefCell::default()));

fn with<T>(comm: &Arc<Comm>, f: impl FnOnce(&mut Counts) -> T) -> T {
    let mut all = COUNTS.0.borrow_mut();
    let at = Arc::as_ptr(comm).addr();
    // An address comes again when its communicator is gone.
    if all.get(&at).is_none_or(|it| it.comm.strong_count() == 0) {
        all.retain(|_, it| it.comm.strong_count() != 0);
        let new = Counts {
            comm: Arc::downgrade(comm),
            made: HashMap::new(),
            tags: 0,
        };
        all.insert(at, new);
    }
    f(all.get_mut(&at).expect("it was just made"))
}

/// The pair that a new end is part of, as one of its ends knows it.
#[derive(Clone, Debug)]
pub struct Pair {
    peer: u32,
    key: [Key; 2],
    sends: bool,
}

impl Pair {
    /// The next one with this peer and tag.
    pub fn next(comm: &Arc<Comm>, peer: u32, tag: i32, sends: bool) -> Pair {
        let number = with(comm, |counts| {
            let made = counts.made.entry((peer, tag, sends)).or_default();
            let number = *made;
            *made = made.wrapping_add(1);
            number
        });
        let key = |from_sender: u8| {
            let words = [
                &tag.to_ne_bytes()[..],
                &number.to_ne_bytes(),
                &[from_sender],
            ];
            Key::partitioned(&words.concat())
        };
        Pair {
            peer,
            key: [key(0), key(1)],
            sends,
        }
    }

    /// Tells the other end some words.
    pub fn tell(&self, process: &Process, comm: &Comm, words: &[u32]) {
        let key = &self.key[usize::from(self.sends)];
        process.send_control(comm.cid, self.peer, key, words);
    }

    /// What the other end has told, if it has come.
    pub fn told(&self, process: &Process, comm: &Comm) -> Option<Vec<u32>> {
        let key = &self.key[usize::from(!self.sends)];
        process.receive_control(comm.cid, self.peer, key)
    }
}

/// A row of so many tags of a communicator, of which nobody else here has one; the first.
pub fn take_tags(comm: &Arc<Comm>, many: u32) -> u32 {
    with(comm, |counts| {
        let first = counts.tags;
        counts.tags = (first + many) % PARTITIONS;
        first
    })
}
