//! The culprit, and the cause in one sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::graph::Graph;
use crate::rank::{Rank, State};
use crate::waits_for::{Member, Need, Sent, What};
use crate::words::{self, Names, list, span};

/// Ranks that do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Which ones, in ascending order.
    pub ranks: Vec<Member>,
    /// Who they are, in words: `ranks 0 to 3`.
    pub who: String,
    /// What they do, behind that: `waits in MPI_Recv (a.c:12) for a message from rank 1`.
    pub does: String,
    /// How long the one that has waited the longest has; zero if none waits.
    pub waited: Duration,
}

/// What is wrong with jobs in which nothing moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether some wait for ever; else they may only have waited long.
    pub definite: bool,
    /// How long at least those have waited to whom all waiting leads.
    pub waited: Duration,
    /// The waits that it is about, one at least: whose, and since when by the monotonic clock of
    /// its host, nanoseconds.
    pub waits: Vec<(Member, u64)>,
    /// Whose doing it is, as far as can be seen.
    pub culprits: Vec<Member>,
    /// The cause, in one sentence that begins with a culprit.
    pub cause: String,
    /// What to do, in one sentence.
    pub remedy: String,
    /// What all ranks do, the culprits first, then the fewest.
    pub groups: Vec<Group>,
    /// What the first culprits have called last, as far as that was noted: who, and the calls, the
    /// oldest first.
    pub calls: Vec<(String, Vec<String>)>,
}

/// Most culprits whose last calls are told.
const CALLERS: usize = 3;

impl Finding {
    /// This deadlock as a likely one, because something may still be under way. It takes the place
    /// of `slow`, and has waited as long.
    pub(crate) fn instead_of(self, slow: Finding) -> Finding {
        Finding {
            definite: false,
            waited: slow.waited,
            waits: slow.waits,
            ..self
        }
    }
}

/// What is wrong, if anything is: of processes as they were at two moments, the second one `now` by
/// the monotonic clock, nanoseconds. A rank that has waited for less than `patience` is
/// not said to wait long.
///
/// # Examples
/// Two ranks that wait for a message from each other:
/// ```
/// use catena_hang::{Member, Names, Need, Rank, State, Thread, WaitsFor, What, find};
/// use std::time::Duration;
///
/// let rank = |rank: u32, other: u32| {
///     let mut need = Need::new(What::Message);
///     need.add(Member { job: 1, rank: other });
///     let waits = WaitsFor { needs: vec![need], ..WaitsFor::default() };
///     let call = "MPI_Recv".to_string();
///     let thread = Thread { call, waits: Some(waits), ..Thread::default() };
///     let (host, state, threads) = ("h".to_string(), State::Running, vec![thread]);
///     let (at, others) = (0, false);
///     Rank { member: Member { job: 1, rank }, host, pid: 0, state, at, others, threads }
/// };
/// let ranks = [rank(0, 1), rank(1, 0)];
/// let names = Names::of_job(1);
/// let finding = find(&names, &ranks, &ranks, Duration::MAX).expect("a deadlock");
/// assert!(finding.definite);
/// assert!(finding.cause.starts_with("rank 0 waits in MPI_Recv for a message from rank 1"));
/// ```
pub fn find(names: &Names, before: &[Rank], now: &[Rank], patience: Duration) -> Option<Finding> {
    let mut ranks = lasting(before, now);
    // A rank that has just ended may have sent something before.
    let ended = before.iter().filter(|rank| rank.state == State::Ended);
    let ended: BTreeSet<_> = ended.map(|rank| rank.member).collect();
    let enough = enough(&ranks, false);
    let deadlock = |ranks: &[Rank], is_to_be_certain: bool| {
        let graph = Graph::new(ranks);
        let held = graph.held();
        let case = Case {
            graph: &graph,
            names,
        };
        let is_certain = |root: &BTreeSet<Member>| {
            let of_root = root.iter().filter_map(|it| graph.ranks.get(it));
            let mut gone = of_root.filter(|it| it.state == State::Ended);
            let has_waited = enough.is_some_and(|enough| case.waited_by(root, &held) >= enough);
            has_waited && gone.all(|it| ended.contains(&it.member))
        };
        let roots = graph.roots(&held);
        let mut roots = roots.iter();
        let root = roots.find(|root| !is_to_be_certain || is_certain(root));
        root.map(|root| case.deadlock(root, &held))
    };
    if let Some(found) = deadlock(&ranks, true) {
        return Some(found);
    }
    let slow = {
        let graph = Graph::new(&ranks);
        let case = Case {
            graph: &graph,
            names,
        };
        case.slow(patience, |_, _| false)?
    };
    // Something may be under way, and on a busy host some may not have had a turn since. If their
    // waits last, they are for ever.
    let threads = ranks.iter_mut().flat_map(|it| &mut it.threads);
    threads.for_each(|it| it.may_be_over = false);
    Some(match deadlock(&ranks, false) {
        Some(likely) => likely.instead_of(slow),
        None => slow,
    })
}

/// How many processes a rank may wait for besides those that are seen: it may be on a host whose
/// processes see their own host only.
const UNSEEN: u64 = 1 << 16;

/// Ranks of which it is known which waits have lasted from one look to the next.
///
/// What waits for each other at one moment waits for ever. That moment is the end of the first
/// look: a wait counts if it was seen there, and its thread has looked since whether it is over, or
/// what ends it may have come to a rank that had no turn. So it does not matter how long a look
/// takes.
pub(crate) fn lasting<'b>(before: &'b [Rank], now: &[Rank]) -> Vec<Rank> {
    let mut looked = BTreeMap::new();
    for rank in before {
        let end: &mut u64 = looked.entry(rank.host.as_str()).or_default();
        *end = rank.at.max(*end);
    }
    let waits = |rank: &'b Rank| {
        rank.waits().map(|(thread, waits)| {
            let whose = (rank.member, rank.pid, thread.thread);
            (whose, (waits, thread.calls))
        })
    };
    // A thread that was there may have done what another one waits for, and be over since.
    let others = before.iter().filter(|rank| rank.others);
    let others: BTreeSet<_> = others.map(|rank| (rank.member, rank.pid)).collect();
    // Who was stopped may not have had a turn since.
    let ran = before.iter().filter(|rank| rank.state != State::Stopped);
    let before: BTreeMap<_, _> = ran.flat_map(waits).collect();
    let mut now = now.to_vec();
    let most = now.len() as u64 + UNSEEN;
    for rank in &mut now {
        rank.doubt(most);
        rank.others |= others.contains(&(rank.member, rank.pid));
        let end = looked.get(rank.host.as_str()).copied().unwrap_or(u64::MAX);
        for thread in &mut rank.threads {
            let Some(waits) = &mut thread.waits else {
                continue;
            };
            let was = before.get(&(rank.member, rank.pid, thread.thread));
            let has_lasted = was.is_some_and(|&(was, calls)| {
                (was.since, calls) == (waits.since, thread.calls) && waits.told >= end
            });
            thread.may_be_over = !has_lasted;
            // What has arrived since may have come after the look at the one that it is for.
            waits.sent = was.map_or(waits.sent, |(was, _)| was.sent.max(waits.sent));
        }
    }
    now
}

/// Where nobody can say that all that was sent has arrived: so long ranks must have waited before
/// it is said that they do so for ever. Networks may pause for seconds.
const UNKNOWN: Duration = Duration::from_secs(20);

/// How long, where ranks are on several hosts and all that was sent has arrived.
const ARRIVED: Duration = Duration::from_secs(5);

/// How long ranks must have waited until it is to be believed that they do so for ever, as nothing
/// is under way any more that would change it; `None` if something is, as they say. They may be on
/// several hosts, of which not all have told anything.
pub(crate) fn enough(ranks: &[Rank], are_several: bool) -> Option<Duration> {
    let sent = || ranks.iter().flat_map(Rank::waits).map(|(_, it)| it.sent);
    if sent().any(|it| it == Sent::UnderWay) {
        return None;
    }
    let mut hosts = ranks.iter().map(|it| it.host.as_str());
    let first = hosts.next();
    Some(match hosts.all(|host| Some(host) == first) {
        _ if sent().any(|it| it == Sent::Unknown) => UNKNOWN,
        true if !are_several => Duration::ZERO,
        _ => ARRIVED,
    })
}

/// Since when a rank has waited, of its threads the one that has waited longest: nanoseconds of the
/// monotonic clock. Now if none waits.
pub(crate) fn since(rank: &Rank) -> u64 {
    let all = rank.waits().map(|(_, it)| it.since);
    all.min().unwrap_or(rank.at)
}

/// What distinguishes what ranks do.
type Activity = (String, Option<(String, u32)>, String);

pub(crate) struct Case<'c, 'a> {
    pub graph: &'c Graph<'a>,
    pub names: &'c Names,
}

impl<'a> Case<'_, 'a> {
    fn one(&self, member: Member) -> String {
        self.names.one(member)
    }

    fn does(&self, member: Member) -> String {
        match self.graph.ranks.get(&member) {
            Some(rank) => self.rank_does(rank),
            None => "is out of sight, as ranks on other hosts may be".to_string(),
        }
    }

    fn rank_does(&self, rank: &'a Rank) -> String {
        let named = |need: &'a Need| self.graph.named(need, rank.member);
        words::does(rank, &named, self.names)
    }

    /// The calls in which ranks wait of which some have no place: others do the same there, as far
    /// as can be seen.
    fn unplaced(&self) -> BTreeSet<&'a str> {
        let threads = self.graph.ranks.values().flat_map(|it| it.waits());
        let unplaced = threads.filter(|(thread, _)| thread.place.is_empty());
        unplaced.map(|(thread, _)| thread.call.as_str()).collect()
    }

    /// What a rank does, without those for whom it waits; without the place in such calls.
    fn activity(&self, rank: &Rank, unplaced: &BTreeSet<&str>) -> Activity {
        let waits = rank.waits().next();
        let need = waits.and_then(|(_, waits)| waits.needs.first());
        let call = waits.map_or(String::new(), |(thread, _)| {
            match unplaced.contains(thread.call.as_str()) {
                true => thread.call.clone(),
                false => words::call(thread),
            }
        });
        let collective = need.and_then(|it| it.call.clone());
        let about = need.map_or(String::new(), |it| it.about.clone());
        (call, collective, about)
    }

    pub fn waited(&self, rank: &Rank) -> Duration {
        Duration::from_nanos(rank.at.saturating_sub(since(rank)))
    }

    /// How long at least a rank that waits for nothing has made no call; zero if it waits, or if
    /// that is not known of any of its threads.
    fn quiet(&self, rank: &Rank) -> Duration {
        let last = rank.threads.iter().map(|it| it.quiet_since).max();
        let is_quiet = rank.state == State::Running && rank.waits().next().is_none();
        let since = last.flatten().filter(|_| is_quiet);
        since.map_or(Duration::ZERO, |since| {
            Duration::from_nanos(rank.at.saturating_sub(since))
        })
    }

    /// All ranks by what they do.
    fn groups(&self, culprits: &[Member]) -> Vec<Group> {
        let unplaced = self.unplaced();
        let mut by_activity: BTreeMap<(bool, State, Activity), Vec<&'a Rank>> = BTreeMap::new();
        for rank in self.graph.ranks.values() {
            let is_innocent = !culprits.contains(&rank.member);
            let activity = match rank.waits().next() {
                Some(_) => self.activity(rank, &unplaced),
                None => (self.rank_does(rank), None, String::new()),
            };
            by_activity
                .entry((is_innocent, rank.state, activity))
                .or_default()
                .push(rank);
        }
        let mut groups: Vec<_> = by_activity
            .into_iter()
            .map(|((is_innocent, ..), ranks)| {
                let members: Vec<_> = ranks.iter().map(|it| it.member).collect();
                let waited = ranks
                    .iter()
                    .map(|it| self.waited(it).max(self.quiet(it)))
                    .max();
                let group = Group {
                    who: self.names.all(members.iter().copied()),
                    ranks: members,
                    does: self.together(&ranks),
                    waited: waited.unwrap_or_default(),
                };
                (is_innocent, group)
            })
            .collect();
        groups.sort_by_key(|(is_innocent, group)| (*is_innocent, group.ranks.len()));
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// What the first of these have called last, in the thread that waits, or has called the most.
    fn last_calls(&self, culprits: &[Member]) -> Vec<(String, Vec<String>)> {
        let ranks = culprits.iter().filter_map(|it| self.graph.ranks.get(it));
        let calls = ranks.take(CALLERS).filter_map(|rank| {
            let waiting = rank.waits().next().map(|(thread, _)| thread);
            let thread = waiting.or_else(|| rank.threads.iter().max_by_key(|it| it.calls))?;
            Some((self.one(rank.member), thread.last.clone()))
        });
        calls.filter(|(_, calls)| !calls.is_empty()).collect()
    }

    /// What ranks do that do the same, behind their names.
    fn together(&self, ranks: &[&'a Rank]) -> String {
        let mut each = ranks.iter().map(|it| self.rank_does(it));
        let first = each.next().unwrap_or_default();
        if each.all(|it| it == first) {
            return first;
        }
        // They wait for different ones.
        let waits = ranks.iter().find_map(|it| it.waits().next());
        waits.map_or(first, |(thread, _)| {
            format!("waits in {}, each for others", words::call(thread))
        })
    }

    /// Some wait for ever: because of those in `root`, to whom all waiting leads.
    pub fn deadlock(&self, root: &BTreeSet<Member>, held: &[&'a Rank]) -> Finding {
        let first = *root.first().expect("a group has members");
        let waiter = self.waiter(first, held);
        let is_held = held.iter().any(|it| it.member == first);
        let (culprits, cause, remedy) = match (root.len(), is_held, waiter) {
            (1, false, Some(waiter)) => self.gone(first, waiter),
            (1, true, _) => self.alone(first),
            _ => self.circle(root, held),
        };
        Finding {
            definite: true,
            waited: self.waited_by(root, held),
            waits: held.iter().map(|it| (it.member, since(it))).collect(),
            groups: self.groups(&culprits),
            calls: self.last_calls(&culprits),
            culprits,
            cause,
            remedy,
        }
    }

    /// How long those have waited at least to whom all waiting leads.
    pub fn waited_by(&self, root: &BTreeSet<Member>, held: &[&'a Rank]) -> Duration {
        let waiting = self.waiting(root, held).into_iter();
        waiting.map(|it| self.waited(it)).min().unwrap_or_default()
    }

    /// Of those to whom all waiting leads the ones that wait; one that waits for it, where it is
    /// one that has left.
    pub fn waiting(&self, root: &BTreeSet<Member>, held: &[&'a Rank]) -> Vec<&'a Rank> {
        let of_root = root.iter().filter_map(|it| self.graph.ranks.get(it));
        let waiting: Vec<_> = of_root.filter(|it| it.is_stuck()).copied().collect();
        match (waiting.is_empty(), root.first()) {
            (true, Some(&gone)) => self.waiter(gone, held).into_iter().collect(),
            _ => waiting,
        }
    }

    /// Another one that waits for it in vain.
    fn waiter(&self, awaited: Member, held: &[&'a Rank]) -> Option<&'a Rank> {
        let mut others = held.iter().filter(|it| it.member != awaited);
        others
            .find(|it| self.graph.is_in_vain(it, awaited))
            .copied()
    }

    /// The need in which a rank waits in vain for another one.
    fn need_of(&self, rank: &'a Rank, other: Member) -> Option<&'a Need> {
        let mut hopeless = rank.needs().filter(|need| !self.graph.may_come(need));
        hopeless.find(|need| need.members().any(|it| it == other))
    }

    /// One has left MPI, for whom another one waits.
    fn gone(&self, gone: Member, waiter: &'a Rank) -> (Vec<Member>, String, String) {
        let (who, other) = (self.one(gone), self.one(waiter.member));
        let cause = format!(
            "{who} {}, and {other} waits for it: {other} {}",
            self.does(gone),
            self.rank_does(waiter)
        );
        let need = self.need_of(waiter, gone);
        let remedy = match need.map(|it| it.what) {
            Some(What::Message) => {
                format!(
                    "{who} must send that message before it finalizes, or {other} must not receive \
                     it"
                )
            }
            Some(What::Receive) => {
                format!(
                    "{who} must receive that message before it finalizes, or {other} must not send \
                     it"
                )
            }
            Some(What::Lock) => {
                format!("{who} must unlock the window before a call that waits for others")
            }
            Some(What::Epoch) => format!(
                "{who} must take part in that epoch (a post for each start, a complete for each \
                 wait) before a call that waits for others"
            ),
            Some(What::Part) => format!(
                "{who} must make all parts of that message ready (MPI_Pready) before a call that \
                 waits for others"
            ),
            Some(What::Collective | What::Agreement) => {
                format!("all members of the communicator must make that call: {who} has not")
            }
            _ => format!("{who} must do its part before it finalizes"),
        };
        (vec![gone], cause, remedy)
    }

    /// One waits for itself, or for nobody.
    fn alone(&self, member: Member) -> (Vec<Member>, String, String) {
        let who = self.one(member);
        let cause = format!("{who} {}, and nobody else can help it", self.does(member));
        let rank = self.graph.ranks.get(&member);
        let remedy = match rank
            .and_then(|it| self.need_of(it, member))
            .map(|it| it.what)
        {
            None | Some(What::Lock) => {
                "look at what it waits for: nobody that is left can do it".to_string()
            }
            Some(What::Part) => "MPI_Pready must be called for all parts of a message before the \
                                 wait for it, or by another thread"
                .to_string(),
            Some(_) => format!(
                "{who} waits for itself: MPI_Sendrecv, or MPI_Isend and MPI_Irecv before the wait, \
                 do both at once"
            ),
        };
        (vec![member], cause, remedy)
    }

    /// Some wait for each other.
    fn circle(&self, root: &BTreeSet<Member>, held: &[&'a Rank]) -> (Vec<Member>, String, String) {
        let ranks: Vec<&'a Rank> = root
            .iter()
            .filter_map(|it| self.graph.ranks.get(it).copied())
            .collect();
        // Of several that wait for messages, what has come may be for a later receive.
        let last = last_receiver(&ranks);
        if let Some((rank, text)) = last.and_then(|it| with_strange_message(&[it])) {
            let who = self.one(rank.member);
            let cause = format!("{who} {}, {text}", self.rank_does(rank));
            let remedy = "the source, the tag and the communicator of a receive must be those of \
                          the message"
                .to_string();
            return (vec![rank.member], cause, remedy);
        }
        let blocker = self
            .ends_early(&ranks)
            .or_else(|| self.holds_a_lock(&ranks))
            .or_else(|| self.owes(&ranks));
        if let Some((blocker, waiter)) = blocker {
            return self.gone(blocker, waiter);
        }
        // Those outside of the circle that do the same are told with them.
        let unplaced = self.unplaced();
        let activity = |it: &Rank| self.activity(it, &unplaced);
        let ours: BTreeSet<Activity> = ranks.iter().map(|it| activity(it)).collect();
        let mut by_activity: BTreeMap<Activity, Vec<&'a Rank>> = BTreeMap::new();
        // Of those that wait for messages from each other one after the other, the last one tells
        // most.
        let counts = |it: &Rank| last.is_none_or(|last| it.member == last.member || !receives(it));
        for rank in held.iter().filter(|it| counts(it)) {
            let activity = activity(rank);
            if ours.contains(&activity) {
                by_activity.entry(activity).or_default().push(rank);
            }
        }
        // Who does something else than most comes first, also those counted whose waits may be
        // over, as they had no turn. Of as many, who waits for a message: a collective call is made
        // by all.
        let mut all: BTreeMap<Activity, usize> = BTreeMap::new();
        for rank in self
            .graph
            .ranks
            .values()
            .filter(|it| it.is_waiting() && counts(it))
        {
            *all.entry(activity(rank)).or_default() += 1;
        }
        let count = |activity: &Activity| all.get(activity).copied().unwrap_or(0);
        let mut parts: Vec<_> = by_activity.into_iter().collect();
        parts.sort_by_key(|(activity, part)| {
            (count(activity), is_collective(part[0]), part[0].member)
        });
        let parts: Vec<_> = parts.into_iter().map(|(_, part)| part).collect();
        let culprits: Vec<_> = match parts.len() {
            1 => ranks.iter().map(|it| it.member).collect(),
            _ => parts[0].iter().map(|it| it.member).collect(),
        };
        let told = parts.iter().take(3).map(|part| {
            let whom = self.names.all(part.iter().map(|it| it.member));
            let does = match part.len() {
                1 => self.together(part),
                _ => self.together(part).replacen("waits", "wait", 1),
            };
            format!("{whom} {does}")
        });
        let told: Vec<_> = match parts.len() {
            // One after the other says more than all at once.
            1 => {
                let each = ranks.iter().take(3);
                each.map(|rank| format!("{} {}", self.one(rank.member), self.rank_does(rank)))
                    .collect()
            }
            _ => told.collect(),
        };
        let cause = told.join(", and ");
        (culprits, cause, self.remedy_of(&ranks))
    }

    /// One of them that is in `MPI_Finalize` already, and one that is not and waits for it.
    fn ends_early(&self, ranks: &[&'a Rank]) -> Option<(Member, &'a Rank)> {
        let ends = |rank: &Rank| rank.waits().all(|(thread, _)| thread.call == FINALIZE);
        let (ending, others): (Vec<&Rank>, Vec<_>) = ranks.iter().partition(|it| ends(it));
        others.into_iter().find_map(|waiter| {
            let mut ending = ending.iter().map(|it| it.member);
            let end = ending.find(|it| self.graph.is_in_vain(waiter, *it))?;
            Some((end, waiter))
        })
    }

    /// One that has gone to a call that all members of something make, and one of them that waits
    /// for its part of an epoch or of a message.
    fn owes(&self, ranks: &[&'a Rank]) -> Option<(Member, &'a Rank)> {
        ranks.iter().find_map(|waiter| {
            let is_owed = |need: &&Need| {
                need.what == What::Part || need.what == What::Epoch && !need.together && !need.any
            };
            let is_away = |it: &Member| {
                let rank = self.graph.ranks.get(it);
                rank.is_some_and(|it| it.is_stuck() && is_collective(it))
            };
            let mut owing = waiter.needs().filter(is_owed).flat_map(Need::members);
            owing.find(is_away).map(|it| (it, *waiter))
        })
    }

    /// One of them that has a lock, and one that waits for it.
    fn holds_a_lock(&self, ranks: &[&'a Rank]) -> Option<(Member, &'a Rank)> {
        ranks.iter().find_map(|waiter| {
            let mut locks = waiter.needs().filter(|need| need.what == What::Lock);
            let holders = self.graph.named(locks.next()?, waiter.member);
            let mut holders = holders.into_iter().filter(|it| *it != waiter.member);
            let is_held = |it: &Member| ranks.iter().any(|rank| rank.member == *it);
            holders.find(is_held).map(|it| (it, *waiter))
        })
    }

    fn remedy_of(&self, ranks: &[&Rank]) -> String {
        let needs = || ranks.iter().flat_map(|it| it.needs());
        let all = |what| needs().all(|need| need.what == what);
        let some = |what| needs().any(|need| need.what == what);
        if all(What::Receive) {
            "one side must receive first: MPI_Sendrecv does both at once, and so do MPI_Isend or \
             MPI_Irecv with a wait after both"
        } else if all(What::Message) {
            "one side must send first: look for a send that is missing, or goes to another rank, \
             tag or communicator"
        } else if some(What::Collective) || some(What::Agreement) {
            "all members of a communicator must make its collective calls in the same order, and \
             no call that waits for one of them in between"
        } else if some(What::Lock) {
            "locks must be taken in the same order by all, and given back before a call that waits \
             for others"
        } else if some(What::Epoch) {
            "all members of a window must make the same fences, and to each start belongs a post, \
             to each wait a complete, with no call in between that waits for one of them"
        } else {
            "look at what each of them waits for"
        }
        .to_string()
    }

    /// Nobody waits for ever as far as can be seen, but some have waited long.
    pub fn slow(
        &self,
        patience: Duration,
        is_known: impl Fn(Member, u64) -> bool,
    ) -> Option<Finding> {
        let stuck = || {
            self.graph
                .ranks
                .values()
                .filter(|it| it.waits().next().is_some())
        };
        // The first of those whose patience is over.
        let is_long = |it: &&&Rank| self.waited(it) >= patience;
        let waiter = stuck()
            .filter(is_long)
            .find(|it| !is_known(it.member, since(it)))?;
        let waited = self.waited(waiter);
        // Those that run, and to whom waiting leads; or, if there are none, whose waits may be
        // over.
        let mut seen = BTreeSet::new();
        let mut next = vec![waiter.member];
        let (mut running, mut doubtful) = (BTreeSet::new(), BTreeSet::new());
        // Many may wait for the same.
        let mut followed = BTreeSet::new();
        while let Some(member) = next.pop() {
            if !seen.insert(member) {
                continue;
            }
            match self.graph.ranks.get(&member) {
                Some(rank) if rank.is_waiting() => {
                    if !rank.is_stuck() {
                        doubtful.insert(member);
                    }
                    let needs = rank.needs().filter(|need| followed.insert(&need.of));
                    next.extend(needs.flat_map(Need::members));
                }
                _ => _ = running.insert(member),
            }
        }
        let is_doubtful = running.is_empty();
        if is_doubtful {
            running = doubtful;
        }
        running.remove(&waiter.member);
        let who = self.one(waiter.member);
        let does = self.rank_does(waiter);
        let long = span(waited);
        let culprits: Vec<_> = match running.is_empty() {
            true => vec![waiter.member],
            false => running.iter().copied().collect(),
        };
        let cause = match running.first() {
            None => format!("{who} has waited for {long}: it {does}"),
            Some(&first) => format!(
                "{} {}; for {long} {who} has waited: it {does}",
                self.names.all(running.iter().copied()),
                match running.len() {
                    1 => self.does(first),
                    _ if is_doubtful => "have begun to wait in MPI, too".to_string(),
                    _ => "do not wait in MPI".to_string(),
                },
            ),
        };
        let remedy = match running.is_empty() {
            true => "look at what it waits for: nothing that this program can see will end it"
                .to_string(),
            false => "if they compute, this is no fault: others are only faster".to_string(),
        };
        Some(Finding {
            definite: false,
            waited,
            waits: vec![(waiter.member, since(waiter))],
            groups: self.groups(&culprits),
            calls: self.last_calls(&culprits),
            culprits,
            cause,
            remedy,
        })
    }
}

/// Whether a rank waits for a message.
fn receives(rank: &Rank) -> bool {
    rank.needs().any(|need| need.what == What::Message)
}

/// The only one that waits for a message from ranks of which none waits for a message.
fn last_receiver<'a>(ranks: &[&'a Rank]) -> Option<&'a Rank> {
    let receiving = ranks.iter().copied().filter(|it| receives(it));
    let members: BTreeSet<Member> = receiving.clone().map(|it| it.member).collect();
    let is_last = |rank: &&Rank| {
        let mut needs = rank.needs().filter(|need| need.what == What::Message);
        // Anybody is also itself.
        needs.all(|need| {
            let mut others = need.members().filter(|it| !need.any || *it != rank.member);
            others.all(|it| !members.contains(&it))
        })
    };
    let mut last = receiving.filter(is_last);
    last.next().filter(|_| last.next().is_none())
}

/// One that waits for a message, where another one has come from the same sender that it does not
/// receive.
fn with_strange_message<'a>(ranks: &[&'a Rank]) -> Option<(&'a Rank, String)> {
    ranks.iter().find_map(|rank| {
        let mut needs = rank.needs().filter(|need| need.what == What::Message);
        let need = needs.find(|need| !need.unexpected.is_empty())?;
        let came = need
            .unexpected
            .iter()
            .map(|it| format!("one of {} bytes with tag {}", it.bytes, it.tag));
        let mut came: Vec<_> = came.collect();
        came.dedup();
        let text = format!("and what has come from there is {}", list(&came));
        Some((*rank, text))
    })
}

/// Whether a rank waits in a call that all members of something make.
fn is_collective(rank: &Rank) -> bool {
    rank.needs().any(|need| {
        need.call.is_some()
            || need.together
            || matches!(need.what, What::Collective | What::Agreement)
    })
}

/// The function in which all end.
const FINALIZE: &str = "MPI_Finalize";

#[cfg(test)]
mod tests;
