//! Which two ends belong together, and what they tell each other once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};

use catena_core::Process;
use catena_core::comm::{Comm, FREE_TAGS, Key};
use catena_objects::error::Result;
use catena_objects::fail;

use super::tags::Tags;

/// What is counted for a communicator.
#[derive(Debug)]
struct Counts {
    comm: Weak<Comm>,
    /// Ends made, by peer, tag, and whether it sends.
    made: HashMap<(u32, i32, bool), u64>,
    tags: Tags,
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
            tags: Tags::below(FREE_TAGS),
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
            *made += 1;
            number
        });
        let key = |from_sender: u8| {
            let words = [
                &tag.to_ne_bytes()[..],
                &number.to_ne_bytes(),
                &[from_sender],
            ];
            Key::other(&words.concat())
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
        process
            .comms
            .control
            .send(process, comm.cid, self.peer, key, words);
    }

    /// What the other end has told, if it has come.
    pub fn told(&self, process: &Process, comm: &Comm) -> Option<Vec<u32>> {
        let key = &self.key[usize::from(!self.sends)];
        process
            .comms
            .control
            .receive(process, comm.cid, self.peer, key)
    }
}

/// Tags of a communicator that nobody else in this process has, as long as this is there.
#[derive(Debug)]
pub struct TagRow {
    comm: Arc<Comm>,
    /// The first one.
    pub first: u32,
    many: u32,
}

impl TagRow {
    /// As many tags in a row.
    ///
    /// # Errors
    /// `NoMem` if the receivers of the communicator have too many of them.
    pub fn take(comm: &Arc<Comm>, many: u32) -> Result<TagRow> {
        match with(comm, |counts| counts.tags.reserve(many)) {
            Some(first) => Ok(TagRow {
                comm: comm.clone(),
                first,
                many,
            }),
            None => fail!(
                NoMem,
                "the partitioned receives of the communicator have {FREE_TAGS} partitions at most: \
                 free some, or use several communicators"
            ),
        }
    }
}

impl Drop for TagRow {
    fn drop(&mut self) {
        with(&self.comm, |counts| {
            counts.tags.release(self.first, self.many);
        });
    }
}
