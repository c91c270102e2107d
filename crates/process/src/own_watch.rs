//! Whether the job hangs, where Catena's launcher is not there to look.
//!
//! Under the launcher of another library, or none, the ranks look themselves: on each node the
//! first of those that have waited long. It sees the ranks of its node; others may be able to do
//! anything.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use catena_base::clock;
use catena_boot::{HANG_AFTER, ON_HANG, OnHang};
use catena_hang::{Finding, Names, Rank, State, Watch, look, state_of};
use catena_trace::View;

/// How long from one look to the next.
const EVERY: Duration = Duration::from_millis(500);

/// The processes of this node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where they tell what they do.
    pub file: File,
    /// How many there are, and the number of this one among them.
    pub ranks: u32,
    pub me: u32,
    /// The number of their job.
    pub job: u64,
}

static NODE: OnceLock<Node> = OnceLock::new();

/// When this process has looked last, nanoseconds of the monotonic clock.
static LAST: AtomicU64 = AtomicU64::new(0);

/// What was seen then.
static SEEN: Mutex<Option<Watch>> = Mutex::new(None);

/// This process looks for itself from now on, unless its launcher does, or the user wants nobody
/// to. The file stays open: others find it in this process.
pub(crate) fn begin(node: Node, is_watched: bool) {
    if is_watched || ON_HANG.get() == OnHang::Nothing {
        std::mem::forget(node.file);
        return;
    }
    // There is one node.
    _ = NODE.set(node);
}

/// Looks, if it is time to, and this process is the one to do it: it has waited long.
#[cold]
pub(crate) fn watch() {
    let Some(node) = NODE.get() else {
        return;
    };
    let now = clock::monotonic_ns();
    if now.saturating_sub(LAST.load(Relaxed)) < EVERY.as_nanos() as u64 {
        return;
    }
    LAST.store(now, Relaxed);
    let view = |place| View::open(&node.file, place).ok().flatten();
    let waits = |place| view(place).is_some_and(|it| it.has_notices() && is_there(&it));
    if (0..node.me).any(waits) {
        return;
    }
    let Ok(mut seen) = SEEN.try_lock() else {
        return;
    };
    // This process cannot see processes of another namespace, so they may do anything.
    let own = catena_trace::space_of(None);
    let is_seen = |it: &View<'_>| it.who().space == own;
    let ranks: Vec<Rank> = (0..node.ranks)
        .filter_map(view)
        .filter(is_seen)
        .filter_map(|it| look(&it, "", is_there(&it).then(|| it.who().pid)).ok())
        .collect();
    let names = Names::of_job(node.job);
    let seen = seen.get_or_insert_with(|| Watch::new(HANG_AFTER.get()));
    let found = seen.judge(&names, &ranks);
    seen.see(ranks);
    // What cannot be told now is found again.
    if let Some(found) = found
        && tell(&found)
    {
        seen.tell(&found);
    }
}

/// Whether the process of an area is still there.
fn is_there(view: &View<'_>) -> bool {
    state_of(view.who().pid) != State::Ended
}

/// Most bytes that are written: a pipe that can be written to at all takes a page.
const LONGEST: usize = 4000;

/// Tells the user, unless standard error takes nothing now: the library's lock is held, and nobody
/// is kept waiting by whoever reads there.
fn tell(found: &Finding) -> bool {
    let lines = found.lines();
    let Some((first, rest)) = lines.split_first() else {
        return true;
    };
    if !catena_base::tell::takes_output(2) {
        return false;
    }
    let pid = std::process::id();
    let mut text = format!("catena: {first}\n");
    for line in rest {
        text += line;
        text.push('\n');
    }
    while text.len() > LONGEST {
        let end = text[..text.len() - 1].rfind('\n').map_or(0, |at| at + 1);
        text.truncate(end);
    }
    // At once, or lines of several ranks would be mixed.
    catena_base::tell!(
        "{text}  `catena hang {pid}` on this host says more, with the lines of the program"
    );
    true
}
