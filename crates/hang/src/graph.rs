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
    /// The processes that have not come yet to where all come together: many wait for the same
    /// ones.
    absent: RefCell<HashMap<Together<'a>, Rc<[Member]>>>,
}

/// What all come together for, and who they are.
type Together<'a> = (What, &'a str, &'a [(Member, u32)]);

impl<'a> Graph<'a> {
    /// Computes who can be released. Cost: needs times the length of the longest chain of waits.
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
            absent: RefCell::default(),
        };
        loop {
            let stuck = graph.ranks.values().filter(|it| it.is_stuck());
            let held = stuck.filter(|it| !graph.free.contains(&it.member));
            let idle = graph.idle();
            let released = |rank: &&&'a Rank| {
                let idle = idle.get(&rank.member.job).copied().unwrap_or(0);
                rank.waits().any(|(_, waits)| graph.may_end(waits, idle))
            };
            let released: Vec<_> = held.filter(released).map(|it| it.member).collect();
            if released.is_empty() {
                return graph;
            }
            graph.free.extend(released);
        }
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
        match (need.together, need.any) {
            (true, _) => self.missing(need).is_empty(),
            (false, true) => need.members().any(|it| self.is_free(it)),
            (false, false) => need.members().all(|it| self.is_free(it)),
        }
    }

    /// Those who are waited for in vain.
    fn missing(&self, need: &'a Need) -> Vec<Member> {
        let is_missing = |it: &Member| !self.is_free(*it);
        match need.together {
            true => self
                .absent(need)
                .iter()
                .copied()
                .filter(is_missing)
                .collect(),
            false => need.members().filter(is_missing).collect(),
        }
    }

    /// Those who have not come to where all come together.
    fn absent(&self, need: &'a Need) -> Rc<[Member]> {
        let key = (need.what, need.about.as_str(), need.of.as_slice());
        if let Some(known) = self.absent.borrow().get(&key) {
            return Rc::clone(known);
        }
        let absent = need.members().filter(|&it| !self.has_come(need, it));
        let absent: Rc<[Member]> = absent.collect();
        self.absent.borrow_mut().insert(key, Rc::clone(&absent));
        absent
    }

    /// Whether a process has done its part of what all do together.
    fn has_come(&self, need: &Need, member: Member) -> bool {
        let Some(rank) = self.ranks.get(&member) else {
            return false;
        };
        let is_same = |it: &Need| it.together && (it.what, &it.about) == (need.what, &need.about);
        let is_through = matches!(rank.state, State::Left | State::Ended);
        need.what == What::End && is_through || rank.needs().any(is_same)
    }

    /// Those to name for what a rank needs: without itself, unless it is the only one, and without
    /// those who have done their part.
    pub fn named(&self, need: &'a Need, by: Member) -> Vec<Member> {
        let all: Vec<_> = match need.together {
            true => self.absent(need).to_vec(),
            false => need.members().collect(),
        };
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

    /// Those for whom a rank waits in vain.
    pub fn in_vain(&self, rank: &'a Rank) -> BTreeSet<Member> {
        let hopeless = rank.needs().filter(|need| !self.may_come(need));
        hopeless.flat_map(|need| self.missing(need)).collect()
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

/// Strongly connected components (R. Tarjan, 1972), those of which none leads to another one.
#[derive(Debug)]
struct Tarjan<'g, 'a> {
    graph: &'g Graph<'a>,
    /// Each visited one: its number, and whether it is on the stack.
    seen: BTreeMap<Member, (usize, bool)>,
    stack: Vec<Member>,
    groups: Vec<BTreeSet<Member>>,
}

/// A visit that is under way.
#[derive(Debug)]
struct Visit {
    member: Member,
    next: Vec<Member>,
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
        }
    }

    fn visit(&mut self, member: Member) -> Visit {
        let number = self.seen.len();
        self.seen.insert(member, (number, true));
        self.stack.push(member);
        let rank = self.graph.ranks.get(&member);
        let next = rank
            .map(|rank| self.graph.in_vain(rank))
            .unwrap_or_default();
        Visit {
            member,
            next: next.into_iter().collect(),
            low: number,
            leads_out: false,
        }
    }

    fn groups(mut self, from: &[&'a Rank]) -> Vec<BTreeSet<Member>> {
        for rank in from {
            if !self.seen.contains_key(&rank.member) {
                self.walk(rank.member);
            }
        }
        self.groups
    }

    fn walk(&mut self, from: Member) {
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
            let (number, _) = self.seen[&done.member];
            let is_root = done.low == number;
            if is_root {
                let at = self.stack.iter().rposition(|&it| it == done.member);
                let group: BTreeSet<_> = self.stack.drain(at.unwrap_or(0)..).collect();
                for member in &group {
                    self.seen.entry(*member).and_modify(|it| it.1 = false);
                }
                if !done.leads_out {
                    self.groups.push(group);
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
