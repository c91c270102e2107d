//! Whether the job hangs, where Catena's launcher is not there to look.
//!
//! Under the launcher of another library, or none, the ranks look themselves: on each node the
//! first of those that have waited long, and one to which another node tells of its ranks. It sees
//! the ranks of its node, that of the first of such nodes also those of which others have told it
//! ([`abroad`]), and those of jobs that its own waits for; others may be able to do anything.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use catena_base::clock;
use catena_boot::{HANG_AFTER, Job, ON_HANG, OnHang};
use catena_hang::{Finding, Names, Rank, Sent, State, Watch, jobs, look, state_of};
use catena_trace::View;

use crate::abroad;

/// How long from one look to the next.
const EVERY: Duration = Duration::from_millis(500);

/// How much later a look may be, where what a rank has just sent is about to arrive. Ranks of
/// several nodes ask each other who has a lock, and tell each other of their waits. One that has
/// answered comes to look right then, so without this each look might find that answer under way,
/// and nothing would ever be certain.
const ARRIVES_SOON: Duration = Duration::from_millis(500);

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

/// A message of [`abroad`] has come from a rank of this job. What makes no sense is dropped. Unless
/// ranks may call those of whom they have not heard, as `are_there` says, this one has to look at
/// its node itself, beside the one that does, which the sender may be unable to reach.
pub fn deliver_abroad(from: u32, what: abroad::What, bytes: &[u8], are_there: bool) {
    let Some(node) = NODE.get() else {
        return;
    };
    let waits = || node.view(node.me).is_some_and(|it| it.has_notices());
    let looks = match !are_there && waits() {
        true => Some((node.job.rank, true)),
        false => looks(node),
    };
    let message = (from, what, bytes);
    abroad::with(|it| it.deliver(&node.job, message, looks, Instant::now()));
}

/// Which rank of this node looks, and whether it is this one; `None` if nobody has waited long.
fn looks(node: &Node) -> Option<(u32, bool)> {
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
    let (now, last) = (clock::monotonic_ns(), LAST.load(Relaxed));
    let age = Duration::from_nanos(now.saturating_sub(last));
    if age < EVERY {
        return;
    }
    LAST.store(now, Relaxed);
    let is_another = node.looks().is_some_and(|place| place < node.me);
    if is_another && abroad::with(|it| it.has_reports()) != Some(true) {
        return;
    }
    let Ok(mut seen) = SEEN.try_lock() else {
        return;
    };
    // This process cannot see processes of another namespace, so they may do anything.
    let own = catena_trace::space_of(None);
    let is_seen = |it: &View<'_>| it.who().space == own;
    let host = node.job.host();
    let mut ranks: Vec<Rank> = (0..node.ranks)
        .filter_map(|place| node.view(place))
        .filter(is_seen)
        .filter_map(|it| look(&it, host, is_there(&it).then(|| it.who().pid)).ok())
        .collect();
    if is_put_off(age, &ranks) {
        LAST.store(last, Relaxed);
        return;
    }
    let are_several = match abroad::with(|it| it.look(&node.job, &ranks, Instant::now())) {
        // Somebody else judges, or this one not that often.
        Some(None) => return,
        Some(Some(reports)) => {
            ranks.extend(reports);
            true
        }
        None => false,
    };
    let own = node.job.job_id;
    let others = of_other_jobs(&ranks, own, host);
    if !others.is_empty() {
        // That takes a while: it is not done that often.
        LAST.store(now + OTHER_JOBS.as_nanos() as u64, Relaxed);
        ranks.extend(others);
    }
    let names = Names::of_job(own);
    let seen = seen.get_or_insert_with(|| match are_several {
        true => Watch::new(HANG_AFTER.get()).of_several_hosts(),
        false => Watch::new(HANG_AFTER.get()),
    });
    let found = seen.judge(&names, &ranks);
    let oldest = found.as_ref().and_then(|it| oldest(&ranks, it, host));
    seen.see(ranks);
    // What cannot be told now is found again.
    if let Some(found) = found
        && oldest == Some(own)
        && tell(&found)
    {
        seen.tell(&found);
    }
}

/// Whether a look is to be repeated soon, and that much after the last one does not count: what
/// these ranks have sent may have arrived by then.
fn is_put_off(age: Duration, ranks: &[Rank]) -> bool {
    let mut waits = ranks.iter().flat_map(Rank::waits);
    age < EVERY + ARRIVES_SOON && waits.any(|(_, it)| it.sent == Sent::UnderWay)
}

/// The jobs that these name as those that they wait for.
fn named(ranks: &[Rank]) -> BTreeSet<u64> {
    let named = ranks.iter().flat_map(Rank::needs).flat_map(|it| &it.of);
    named.map(|(first, _)| first.job).collect()
}

/// The ranks on this host of other jobs that these wait for, of spawned ones, say, and of those
/// that they wait for in turn. Cost: the open files of the user's processes are looked through, if
/// there are any.
fn of_other_jobs(ranks: &[Rank], own: u64, host: &str) -> Vec<Rank> {
    let mut wanted = named(ranks);
    if wanted.iter().all(|&job| job == own) {
        return Vec::new();
    }
    let mut all = jobs().unwrap_or_default();
    all.retain(|it| it.job != own);
    let mut found = Vec::new();
    loop {
        let next = all.extract_if(.., |it| wanted.contains(&it.job));
        let next: Vec<Rank> = next.flat_map(|it| it.look(host)).collect();
        if next.is_empty() {
            return found;
        }
        wanted = named(&next);
        found.extend(next);
    }
}

/// The job that is to tell that: the oldest of those that see it, as they wait for the culprits, or
/// are theirs. Launchers do not always pass on what spawned processes say.
fn oldest(ranks: &[Rank], found: &Finding, host: &str) -> Option<u64> {
    let mut see: BTreeSet<u64> = found.culprits.iter().take(1).map(|it| it.job).collect();
    loop {
        let names = |it: &&Rank| !named(std::slice::from_ref(it)).is_disjoint(&see);
        let more = ranks.iter().filter(names).map(|it| it.member.job);
        let more: Vec<_> = more.filter(|it| !see.contains(it)).collect();
        if more.is_empty() {
            break;
        }
        see.extend(more);
    }
    let counts = |it: &&Rank| it.host == host && see.contains(&it.member.job);
    let waiting = ranks.iter().filter(|it| it.waits().next().is_some());
    let oldest = waiting.filter(counts).min_by_key(|it| it.pid);
    oldest.map(|it| it.member.job)
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

#[cfg(test)]
mod tests {
    use catena_hang::{Member, Need, Thread, WaitsFor, What, find};

    use super::*;

    fn waiting(job: u64, pid: u32, host: &str, other: u64) -> Rank {
        let mut need = Need::new(What::Message);
        need.add(Member {
            job: other,
            rank: 0,
        });
        let waits = WaitsFor {
            needs: vec![need],
            ..WaitsFor::default()
        };
        Rank {
            member: Member { job, rank: 0 },
            host: host.into(),
            pid,
            state: State::Running,
            at: 0,
            others: false,
            threads: vec![Thread {
                waits: Some(waits),
                ..Thread::default()
            }],
        }
    }

    #[test]
    fn a_look_is_put_off_while_something_arrives_but_not_for_long() {
        let mut rank = waiting(1, 100, "h", 2);
        let (soon, late) = (EVERY, EVERY + ARRIVES_SOON);
        assert!(!is_put_off(soon, std::slice::from_ref(&rank)));
        let waits = rank.threads[0].waits.as_mut().expect("it waits");
        waits.sent = Sent::UnderWay;
        assert!(is_put_off(soon, std::slice::from_ref(&rank)));
        assert!(!is_put_off(late, &[rank]));
    }

    #[test]
    fn the_oldest_job_tells_of_those_that_see_it() {
        let oldest = |ranks: &[Rank]| {
            let found = find(&Names::of_job(1), ranks, ranks, Duration::ZERO);
            let found = found.expect("they wait for ever");
            (found.culprits[0].job, oldest(ranks, &found, "h"))
        };
        let first = waiting(1, 100, "h", 2);
        let circle = [
            first.clone(),
            waiting(2, 200, "h", 3),
            waiting(3, 300, "h", 1),
        ];
        assert_eq!(oldest(&circle), (1, Some(1)));
        // The first one does not see for what the second one waits.
        let (busy, own) = (waiting(1, 100, "h", 9), waiting(2, 200, "h", 2));
        assert_eq!(oldest(&[busy, own]), (2, Some(2)));
        let both = [waiting(1, 100, "h", 1), waiting(2, 200, "h", 1)];
        assert_eq!(oldest(&both), (1, Some(1)));
        // Numbers of another host tell nothing of who is older.
        let mut far = waiting(2, 7, "other", 1);
        far.member.rank = 1;
        let apart = [first, waiting(2, 200, "h", 1), far];
        assert_eq!(oldest(&apart), (1, Some(1)));
    }
}
