//! What tools asked to be told of. It is noted where it happens, and told from
//! `progress`, when nothing of the library is in the middle of anything. Before that it is handed
//! over to the listener, which decides who is to be told: at the latest before anything changes
//! that this depends on.
//!
//! Nobody asks: every place costs a look at one word, and `progress` nothing.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use catena_base::clock;
use catena_coll::Collective;
use catena_link::Cid;

use crate::process::{Link, Process, enter, enter_any, life};
use catena_process::Hook;

/// Bit of [`want`]: the first collective; the others follow as in
/// [`Collective::ALL`].
pub const COLLECTIVES: u32 = 1;
/// Bit of [`want`]: messages that find no receive.
pub const UNEXPECTED: u32 = 1 << Collective::ALL.len();
/// Bit of [`want`]: sleeps of a waiting process.
pub const SLEEPS: u32 = UNEXPECTED << 1;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A collective went a way (see [`crate::coll::ways`]).
    Collective {
        /// Which.
        what: Collective,
        /// Number of the way.
        way: u16,
    },
    /// A message found no receive.
    Unexpected {
        /// Rank of the sender.
        source: u32,
        /// Tag.
        tag: i32,
        /// Length in bytes.
        len: u64,
    },
    /// The process slept for so many nanoseconds.
    Slept(u64),
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in [`clock::ticks`].
    pub at: u64,
    /// On which communicator.
    pub comm: Option<Cid>,
    /// What.
    pub what: What,
}

/// What tells the tools.
#[derive(Clone, Copy, Debug)]
pub struct Listener {
    /// Takes over events in the order in which they happened, and how many more there were that
    /// could not be kept, and decides who is to be told of them. It calls no function of the
    /// program.
    pub keep: fn(&Process, &[Event], u64),
    /// Tells all that was taken over and not told yet. No other thread is in it meanwhile.
    pub tell: fn(),
}

static WANTED: AtomicU32 = AtomicU32::new(0);
static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Most events that are kept until they are handed over.
const KEPT: usize = 1024;

/// Events that were not handed over yet.
#[derive(Debug, Default)]
pub struct Noted {
    events: RefCell<VecDeque<Event>>,
    lost: Cell<u64>,
    /// Whether some were handed over, and there was no telling since.
    is_telling_due: Cell<bool>,
}

/// Whether somebody wants one of these kinds.
#[inline]
pub(crate) fn wanted(kinds: u32) -> bool {
    WANTED.load(Relaxed) & kinds != 0
}

/// Whether somebody wants anything.
#[inline]
pub(crate) fn any() -> bool {
    WANTED.load(Relaxed) != 0
}

/// From now on `listener` is told of events of these kinds, bits as above. The
/// first listener stays.
pub fn want(kinds: u32, listener: Listener) {
    LISTENER.get_or_init(|| listener);
    let _entered = enter_any();
    WANTED.store(kinds, Relaxed);
    if let Some(process) = life().kept() {
        watch(process);
    }
}

/// Hands over what was noted so far, if a process runs: for those who change who is told of what.
pub fn hand_over() {
    if let Ok(process) = enter() {
        hand_over_of(&process);
    }
}

/// Tells now what was noted so far, if a process runs and no thread is doing that.
pub fn catch_up() {
    if let Ok(process) = enter() {
        tell(&process);
    }
}

/// Has the engine note what is wanted of it, and progress tell what was noted.
pub(crate) fn watch(process: &Process) {
    process.link(|link| link.watch(wanted(UNEXPECTED)));
    process.hook::<Noted>().set_work(usize::from(any()));
}

/// Notes what happened just now.
#[cold]
pub(crate) fn note(process: &Process, comm: Option<Cid>, what: What) {
    let at = clock::ticks();
    keep(process, Event { at, comm, what });
}

fn keep(process: &Process, event: Event) {
    let noted = process.hook::<Noted>();
    let mut events = noted.events.borrow_mut();
    if events.len() < KEPT {
        events.push_back(event);
    } else {
        noted.lost.set(noted.lost.get() + 1);
    }
}

/// Hands over what was noted.
#[cold]
pub(crate) fn hand_over_of(process: &Process) {
    process.hook::<Noted>().hand_over(process);
}

/// Tells what was noted.
#[cold]
pub(crate) fn tell(process: &Process) {
    hand_over_of(process);
    process.hook::<Noted>().alone(Noted::tell);
}

impl Hook<Process> for Noted {
    fn progress(&self, process: &Process) -> bool {
        self.hand_over(process);
        self.tell();
        false
    }
}

impl Noted {
    fn hand_over(&self, process: &Process) {
        let (arrivals, lost) = process.link(Link::take_arrivals);
        self.lost.set(self.lost.get() + lost);
        let mut events: Vec<Event> = self.events.take().into();
        events.extend(arrivals.into_iter().map(|a| Event {
            at: a.at,
            comm: Some(a.cid),
            what: What::Unexpected {
                source: a.envelope.source,
                tag: a.envelope.tag,
                len: a.envelope.len,
            },
        }));
        events.sort_by_key(|event| event.at);
        let lost = self.lost.take();
        if let Some(listener) = LISTENER.get()
            && (lost > 0 || !events.is_empty())
        {
            (listener.keep)(process, &events, lost);
            self.is_telling_due.set(true);
        }
    }

    /// Tells what was handed over; the callbacks may make MPI calls.
    fn tell(&self) {
        if let Some(listener) = LISTENER.get()
            && self.is_telling_due.replace(false)
        {
            (listener.tell)();
        }
    }
}
