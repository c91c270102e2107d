//! Whether the job hangs, where Catena's launcher is not there to look.
//!
//! Under the launcher of another library, or none, the ranks look themselves: on each node the
//! first of those that have waited long. It sees the ranks of its node, and that of the first node
//! also those of which other nodes have told it ([`abroad`]), and those of jobs that its own waits
//! for; others may be able to do anything.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use catena_base::clock;
use catena_boot::{HANG_AFTER, Job, ON_HANG, OnHang};
use catena_hang::{Finding, Names, Rank, State, Watch, jobs, look, state_of};
use catena_trace::View;

use crate::abroad;

/// How long from one look to the next.
const EVERY: Duration = Duration::from_millis(500);

/// How much longer, where ranks of other jobs are looked at.
const OTHER_JOBS: Duration = Duration::from_millis(1500);

/// The processes of this node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where they tell what they do.
    pub file: File,
    /// How many there are, and the number of this one among them.
    pub ranks: u32,
    pub me: u32,
    /// Their job.
    pub job: Job,
}

impl Node {
    /// What a process of it tells.
    fn view(&self, place: u32) -> Option<View<'_>> {
        View::open(&self.file, place).ok().flatten()
    }

    /// The place of the first one that has waited long.
    fn looks(&self) -> Option<u32> {
        let waits = |place: &u32| {
            let view = self.view(*place);
            view.is_some_and(|it| it.has_notices() && is_there(&it))
        };
        (0..self.ranks).find(waits)
    }
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
    abroad::begin(&node.job);
    // There is one node.
    _ = NODE.set(node);
}

/// A message of [`abroad`] has come from a rank of this job. What makes no sense is dropped.
pub fn deliver_abroad(from: u32, what: abroad::What, bytes: &[u8]) {
    let looks = looks();
    abroad::with(|it| it.deliver(from, what, bytes, looks, Instant::now()));
}

/// Which rank of this node looks, and whether it is this one; `None` if nobody has waited long.
fn looks() -> Option<(u32, bool)> {
    let node = NODE.get()?;
    let place = node.looks()?;
    let &rank = node.job.local.get(place as usize)?;
    Some((rank, rank == node.job.rank))
}

/// Looks, if it is time to, and this process is the one to do it: it has waited long.
#[cold]
pub(crate) fn watch() {
    let Some(node) = NODE.get() else {
        return;
    };
    let now = clock::monotonic_ns();
    let judges = abroad::with(|it| it.judges().then(|| it.looks_every()));
    let every = judges.flatten().unwrap_or(EVERY);
    if now.saturating_sub(LAST.load(Relaxed)) < every.as_nanos() as u64 {
        return;
    }
    LAST.store(now, Relaxed);
    if node.looks().is_some_and(|place| place < node.me) {
        return;
    }
    let Ok(mut seen) = SEEN.try_lock() else {
        return;
    };
    // This process cannot see processes of another namespace, so they may do anything.
    let own = catena_trace::space_of(None);
    let is_seen = |it: &View<'_>| it.who().space == own;
    let host = if judges.is_some() {
        node.job.host()
    } else {
        ""
    };
    let mut ranks: Vec<Rank> = (0..node.ranks)
        .filter_map(|place| node.view(place))
        .filter(is_seen)
        .filter_map(|it| look(&it, host, is_there(&it).then(|| it.who().pid)).ok())
        .collect();
    let is_told_here = abroad::with(|it| match it.judges() {
        true => {
            ranks.extend(it.take_reports());
            true
        }
        false => it.report(&ranks, Instant::now()),
    });
    let own = node.job.job_id;
    let others = of_other_jobs(&ranks, own, host);
    if !others.is_empty() {
        // That takes a while: it is not done that often.
        LAST.store(now + OTHER_JOBS.as_nanos() as u64, Relaxed);
        ranks.extend(others);
    }
    // Of several jobs that wait for each other one tells: the oldest, as launchers do not always
    // pass on what spawned processes say.
    let waiting = ranks.iter().filter(|it| it.waits().next().is_some());
    let is_first = waiting.min_by_key(|it| it.pid).map(|it| it.member.job) == Some(own);
    let names = Names::of_job(own);
    let seen = seen.get_or_insert_with(|| match judges {
        Some(_) => Watch::new(HANG_AFTER.get()).of_several_hosts(),
        None => Watch::new(HANG_AFTER.get()),
    });
    let found = seen.judge(&names, &ranks);
    seen.see(ranks);
    // What cannot be told now is found again.
    if let Some(found) = found
        && is_told_here.unwrap_or(true)
        && is_first
        && tell(&found)
    {
        seen.tell(&found);
    }
}

/// The ranks on this host of other jobs that these wait for: of spawned ones, say. Cost: the open
/// files of the user's processes are looked through, if there are any.
fn of_other_jobs(ranks: &[Rank], own: u64, host: &str) -> Vec<Rank> {
    let named = ranks.iter().flat_map(Rank::needs).flat_map(|it| &it.of);
    let named = named.map(|(first, _)| first.job).filter(|&job| job != own);
    let named: BTreeSet<u64> = named.collect();
    if named.is_empty() {
        return Vec::new();
    }
    let all = jobs().unwrap_or_default().into_iter();
    let all = all.filter(|it| named.contains(&it.job));
    all.flat_map(|it| it.look(host)).collect()
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
