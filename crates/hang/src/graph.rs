//! Who can be released, and who cannot.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::rank::{Rank, State};
use crate::waits_for::{Member, Need, WaitsFor, What};

/// The ranks of some jobs, and which of them can go on.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub ranks: BTreeMap<Member, &'a Rank>,
    /// Those that run, or that others can release.
    free: BTreeSet<Member>,
    /// The processes that are still to do what many ranks need alike.
    many: RefCell<HashMap<Alike<'a>, Many>>,
    /// Whether some and whether all of them are free, by their numbers, as of the last sweep.
    known: RefCell<HashMap<usize, (bool, bool)>>,
}

/// What many ranks need alike, whether together, and of whom.
type Alike<'a> = (bool, What, (&'a str, u64), &'a [(Member, u32)]);

/// Its number among all, and the processes that are still to do it.
type Many = (usize, Rc<[Member]>);

/// Most processes of a need that are looked at one by one.
const FEW: u32 = 8;

/// Whether a need is of some processes only.
fn is_of_few(need: &Need) -> bool {
    let count = |sum: u32, &(_, count): &(Member, u32)| sum.saturating_add(count);
    !need.together && need.of.iter().fold(0, count) <= FEW
}

/// Whether two ranks wait for the same, that all do together.
fn are_one(one: &Need, other: &Need) -> bool {
    one.together && (one.what, one.which, &one.about) == (other.what, other.which, &other.about)
}

impl<'a> Graph<'a> {
    /// Computes who can be released. Cost: needs times sweeps; of chains of waits in the order of
    /// the ranks, up or down, one sweep releases all.
    pub fn new(ranks: &'a [Rank]) -> Graph<'a> {
        let ranks: BTreeMap<_, _> = ranks.iter().map(|it| (it.member, it)).collect();
        let runs = |rank: &&&Rank| {
            matches!(
                rank.state,
                State::Before | State::Running | State::Stopped | State::Left
            ) && !rank.is_stuck()
        };
        let free = ranks.values().filter(runs).map(|it| it.member).collect();
        let mut graph = Graph {
            ranks,
            free,
            many: RefCell::default(),
            known: RefCell::default(),
        };
        let mut is_up = true;
        while graph.sweep(is_up) {
            is_up = !is_up;
        }
        graph
    }

    /// Releases those who can be, one after the other; whether there were some.
    fn sweep(&mut self, is_up: bool) -> bool {
        self.known.borrow_mut().clear();
        let idle = self.idle();
        let mut held = self.held();
        if !is_up {
            held.reverse();
        }
        let mut some = false;
        for rank in held {
            let idle = idle.get(&rank.member.job).copied().unwrap_or(0);
            if rank.waits().any(|(_, waits)| self.may_end(waits, idle)) {
                self.free.insert(rank.member);
                some = true;
            }
        }
        some
    }

    /// How many processes of each job do nothing any more: they have left or ended, or cannot be
    /// released as far as is known.
    fn idle(&self) -> BTreeMap<u64, u32> {
        let mut idle = BTreeMap::new();
        for rank in self.ranks.values() {
            let is_over = matches!(rank.state, State::Left | State::Ended);
            if is_over || !self.free.contains(&rank.member) {
                *idle.entry(rank.member.job).or_insert(0) += 1;
            }
        }
        idle
    }

    /// Whether a process can do something: one that nobody has seen may.
    pub fn is_free(&self, member: Member) -> bool {
        self.free.contains(&member) || !self.ranks.contains_key(&member)
    }

    /// `idle` are the processes of its job that do nothing any more.
    fn may_end(&self, waits: &'a WaitsFor, idle: u32) -> bool {
        if waits.by_others > idle {
            return true;
        }
        match waits.any {
            true => waits.needs.iter().any(|need| self.may_come(need)),
            false => waits.needs.iter().all(|need| self.may_come(need)),
        }
    }

    /// Whether what is needed may come.
    pub fn may_come(&self, need: &'a Need) -> bool {
        if need.open {
            return true;
        }
        let (some, all) = match is_of_few(need) {
            true => (
                need.members().any(|it| self.is_free(it)),
                need.members().all(|it| self.is_free(it)),
            ),
            false => self.are_free(self.many(need)),
        };
        match need.together || !need.any {
            true => all,
            false => some,
        }
    }

    /// Whether some of many are free, and whether all are.
    fn are_free(&self, (number, members): Many) -> (bool, bool) {
        if let Some(&known) = self.known.borrow().get(&number) {
            return known;
        }
        let some = members.iter().any(|it| self.is_free(*it));
        let all = members.iter().all(|it| self.is_free(*it));
        self.known.borrow_mut().insert(number, (some, all));
        (some, all)
    }

    /// Those who are still to do what is needed: of what all do together, those who have not come.
    fn many(&self, need: &'a Need) -> Many {
        let about = (&*need.about, need.which);
        let key = (need.together, need.what, about, &*need.of);
        if let Some((number, known)) = self.many.borrow().get(&key) {
            return (*number, Rc::clone(known));
        }
        let is_to_come = |it: &Member| !need.together || !self.has_come(need, *it);
        let members: Rc<[Member]> = need.members().filter(is_to_come).collect();
        let mut many = self.many.borrow_mut();
        let number = many.len();
        many.insert(key, (number, Rc::clone(&members)));
        (number, members)
    }

    /// Whether a process has done its part of what all do together.
    fn has_come(&self, need: &Need, member: Member) -> bool {
        let Some(rank) = self.ranks.get(&member) else {
            return false;
        };
        let is_through = matches!(rank.state, State::Left | State::Ended);
        need.what == What::End && is_through || rank.lasting_needs().any(|it| are_one(it, need))
    }

    /// Those to name for what a rank needs: without itself, unless it is the only one, and without
    /// those who have done their part, or seem to.
    pub fn named(&self, need: &'a Need, by: Member) -> Vec<Member> {
        let mut all: Vec<_> = match is_of_few(need) {
            true => need.members().collect(),
            false => self.many(need).1.to_vec(),
        };
        let seems_to = |it: &Member| {
            let rank = self.ranks.get(it);
            rank.is_some_and(|it| it.needs().any(|it| are_one(it, need)))
        };
        if all.iter().any(|it| !seems_to(it)) {
            all.retain(|it| !seems_to(it));
        }
        let others: Vec<_> = all.iter().copied().filter(|&it| it != by).collect();
        match others.is_empty() {
            true => all,
            false => others,
        }
    }

    /// Those that nobody can release.
    pub fn held(&self) -> Vec<&'a Rank> {
        let stuck = self.ranks.values().filter(|it| it.is_stuck());
        stuck
            .filter(|it| !self.free.contains(&it.member))
            .copied()
            .collect()
    }

    /// Whether a rank waits for another one in vain.
    pub fn is_in_vain(&self, rank: &'a Rank, other: Member) -> bool {
        let mut hopeless = self.hopeless(rank);
        !self.is_free(other) && hopeless.any(|need| self.is_to_come(need, other))
    }

    /// The needs of a rank that nobody can fulfil.
    pub fn hopeless(&self, rank: &'a Rank) -> impl Iterator<Item = &'a Need> {
        rank.needs().filter(|need| !self.may_come(need))
    }

    /// Whether it is still that process's to do what is needed.
    fn is_to_come(&self, need: &'a Need, member: Member) -> bool {
        let is_of = |&(first, count): &(Member, u32)| {
            let at = member.rank.wrapping_sub(first.rank);
            first.job == member.job && first.rank <= member.rank && at < count
        };
        need.of.iter().any(is_of) && !(need.together && self.has_come(need, member))
    }

    /// The ranks to whom waiting leads in the end: a group of those that wait for each other, and
    /// for nobody outside of the group; or one that waits for nobody, as it has left. From `from`
    /// on; the smallest group.
    pub fn roots(&self, from: &[&'a Rank]) -> Vec<BTreeSet<Member>> {
        let mut groups = Tarjan::new(self).groups(from);
        groups.sort_by_key(|group| (group.len(), group.first().copied()));
        groups
    }
}

/// What one waits for: a process, or all those who are still to do what many need alike, by the
/// number of that. Each of many who wait for the same leads there by one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    One(Member),
    Many(usize),
}

/// Strongly connected components (R. Tarjan, 1972), those of which none leads to another one.
#[derive(Debug)]
struct Tarjan<'g, 'a> {
    graph: &'g Graph<'a>,
    /// Each visited one: its number, and whether it is on the stack.
    seen: BTreeMap<Place, (usize, bool)>,
    stack: Vec<Place>,
    groups: Vec<BTreeSet<Member>>,
    /// Those behind the places of many.
    many: BTreeMap<usize, Rc<[Member]>>,
}

/// A visit that is under way.
#[derive(Debug)]
struct Visit {
    place: Place,
    next: Vec<Place>,
    low: usize,
    /// Whether a way leads out of the group.
    leads_out: bool,
}

impl<'g, 'a> Tarjan<'g, 'a> {
    fn new(graph: &'g Graph<'a>) -> Self {
        Tarjan {
            graph,
            seen: BTreeMap::new(),
            stack: Vec::new(),
            groups: Vec::new(),
            many: BTreeMap::new(),
        }
    }

    fn visit(&mut self, place: Place) -> Visit {
        let number = self.seen.len();
        self.seen.insert(place, (number, true));
        self.stack.push(place);
        Visit {
            place,
            next: match place {
                Place::One(member) => self.behind_one(member),
                Place::Many(number) => self.in_vain(self.many[&number].iter().copied()),
            },
            low: number,
            leads_out: false,
        }
    }

    /// The places of those who cannot do anything.
    fn in_vain(&self, members: impl Iterator<Item = Member>) -> Vec<Place> {
        let held = members.filter(|it| !self.graph.is_free(*it));
        held.map(Place::One).collect()
    }

    fn behind_one(&mut self, member: Member) -> Vec<Place> {
        let graph = self.graph;
        let mut next = Vec::new();
        let ranks = graph.ranks.get(&member).into_iter();
        for need in ranks.flat_map(|rank| graph.hopeless(rank)) {
            if is_of_few(need) {
                next.extend(self.in_vain(need.members()));
            } else {
                let (number, members) = graph.many(need);
                self.many.insert(number, members);
                next.push(Place::Many(number));
            }
        }
        next
    }

    fn groups(mut self, from: &[&'a Rank]) -> Vec<BTreeSet<Member>> {
        for rank in from {
            let place = Place::One(rank.member);
            if !self.seen.contains_key(&place) {
                self.walk(place);
            }
        }
        self.groups
    }

    fn walk(&mut self, from: Place) {
        let mut way = vec![self.visit(from)];
        while let Some(here) = way.last_mut() {
            if let Some(next) = here.next.pop() {
                match self.seen.get(&next) {
                    Some(&(number, true)) => here.low = here.low.min(number),
                    Some(_) => here.leads_out = true,
                    None => {
                        let visit = self.visit(next);
                        way.push(visit);
                    }
                }
                continue;
            }
            let Some(done) = way.pop() else { return };
            let (number, _) = self.seen[&done.place];
            let is_root = done.low == number;
            if is_root {
                let at = self.stack.iter().rposition(|&it| it == done.place);
                let group: Vec<_> = self.stack.drain(at.unwrap_or(0)..).collect();
                for place in &group {
                    self.seen.entry(*place).and_modify(|it| it.1 = false);
                }
                if !done.leads_out {
                    let members = group.into_iter().filter_map(|it| match it {
                        Place::One(member) => Some(member),
                        Place::Many(_) => None,
                    });
                    self.groups.push(members.collect());
                }
            }
            if let Some(before) = way.last_mut() {
                match is_root {
                    true => before.leads_out = true,
                    false => {
                        before.low = before.low.min(done.low);
                        before.leads_out |= done.leads_out;
                    }
                }
            }
        }
    }
}
