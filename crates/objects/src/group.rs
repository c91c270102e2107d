//! Groups (MPI-5, chapter 7.3): ordered sets of processes.

use std::collections::HashMap;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_fabric::Peer;

use crate::error::Result;
use crate::fail;
use crate::table::{ObjectKind, Table};

/// How two groups or communicators compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The same object, or the same members in the same order.
    Ident,
    /// Communicators that differ in their context only.
    Congruent,
    /// The same members in another order.
    Similar,
    /// Anything else.
    Unequal,
}

/// An ordered set of processes.
///
/// # Examples
/// ```
/// use catena_fabric::Peer;
/// use catena_objects::group::Group;
///
/// let me = Peer(5);
/// let all = Group::new([Peer(3), Peer(5), Peer(7)], me);
/// let some = all.include(&[2, 1])?;
/// assert_eq!((some.size(), some.rank()), (2, Some(1)));
/// assert_eq!(some.translate(&[0], &all)?, [Some(2)]);
/// # Ok::<(), catena_objects::Error>(())
/// ```
#[derive(Debug)]
pub struct Group {
    members: Box<[Peer]>,
    me: Option<u32>,
    /// The handle of the session that it was derived from; none in the world model.
    session: Option<abi::Session>,
}

impl Group {
    /// The group of `members` in this order; `me` is this process.
    pub fn new(members: impl Into<Box<[Peer]>>, me: Peer) -> Arc<Self> {
        Group::derived(None, members, me)
    }

    /// The group of `members` in this order, derived from a session, if from one;
    /// `me` is this process.
    pub fn derived(
        session: Option<abi::Session>,
        members: impl Into<Box<[Peer]>>,
        me: Peer,
    ) -> Arc<Self> {
        let members = members.into();
        let me = members.iter().position(|&p| p == me).map(|r| r as u32);
        Arc::new(Group {
            members,
            me,
            session,
        })
    }

    /// The group of `members`, derived from what this one is.
    pub fn sibling(&self, members: impl Into<Box<[Peer]>>, me: Peer) -> Arc<Self> {
        Group::derived(self.session, members, me)
    }

    /// The handle of the session that it was derived from; none in the world model.
    pub fn session(&self) -> Option<abi::Session> {
        self.session
    }

    /// Checks that both may be arguments of one call: that they are derived
    /// from one session, or none; or one of them is empty.
    ///
    /// # Errors
    /// `Session` if not.
    pub fn check_related(&self, other: &Group) -> Result<()> {
        if self.size() > 0 && other.size() > 0 && self.session != other.session {
            fail!(
                Session,
                "the groups are of different sessions, or one is of no session, and cannot be \
                used together"
            );
        }
        Ok(())
    }

    /// Number of members.
    #[inline]
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// This process's rank, if it is a member.
    #[inline]
    pub fn rank(&self) -> Option<u32> {
        self.me
    }

    /// Members by rank.
    #[inline]
    pub fn members(&self) -> &[Peer] {
        &self.members
    }

    fn ranks(&self) -> HashMap<Peer, u32> {
        self.members.iter().zip(0..).map(|(&p, r)| (p, r)).collect()
    }

    fn derive(&self, other: Option<&Group>, members: Vec<Peer>) -> Arc<Group> {
        let mine = |g: &Group| g.me.map(|r| g.members[r as usize]);
        let me = mine(self).or_else(|| other.and_then(mine));
        let rank = me
            .and_then(|me| members.iter().position(|&p| p == me))
            .map(|r| r as u32);
        let session = self.session.or(other.and_then(Group::session));
        Arc::new(Group {
            members: members.into(),
            me: rank,
            session,
        })
    }

    /// All members of `self`, then those of `other` that are not in `self`.
    pub fn union(&self, other: &Group) -> Arc<Group> {
        let have = self.ranks();
        let mut members = self.members.to_vec();
        members.extend(other.members.iter().filter(|p| !have.contains_key(p)));
        self.derive(Some(other), members)
    }

    /// Members of `self` that are in `other` too.
    pub fn intersection(&self, other: &Group) -> Arc<Group> {
        let have = other.ranks();
        let members = self
            .members
            .iter()
            .filter(|p| have.contains_key(p))
            .copied()
            .collect();
        self.derive(None, members)
    }

    /// Members of `self` that are not in `other`.
    pub fn difference(&self, other: &Group) -> Arc<Group> {
        let have = other.ranks();
        let members = self
            .members
            .iter()
            .filter(|p| !have.contains_key(p))
            .copied()
            .collect();
        self.derive(None, members)
    }

    /// The members of these ranks, in this order.
    ///
    /// # Errors
    /// `Rank` if one is out of range or comes twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Arc<Group>> {
        let mut seen = vec![false; self.members.len()];
        let mut members = Vec::with_capacity(ranks.len());
        for &rank in ranks {
            let at = self.check_rank(rank)?;
            if std::mem::replace(&mut seen[at], true) {
                fail!(Rank, "rank {rank} is given twice");
            }
            members.push(self.members[at]);
        }
        Ok(self.derive(None, members))
    }

    /// All members but those of these ranks.
    ///
    /// # Errors
    /// `Rank` if one is out of range or comes twice.
    pub fn exclude(&self, ranks: &[i32]) -> Result<Arc<Group>> {
        let mut out = vec![false; self.members.len()];
        for &rank in ranks {
            let at = self.check_rank(rank)?;
            if std::mem::replace(&mut out[at], true) {
                fail!(Rank, "rank {rank} is given twice");
            }
        }
        let members = self
            .members
            .iter()
            .zip(out)
            .filter(|(_, out)| !out)
            .map(|(&p, _)| p);
        Ok(self.derive(None, members.collect()))
    }

    /// A rank as a place in [`Group::members`].
    ///
    /// # Errors
    /// `Rank` if the group has no such rank.
    pub fn check_rank(&self, rank: i32) -> Result<usize> {
        match usize::try_from(rank) {
            Ok(at) if at < self.members.len() => Ok(at),
            _ => fail!(
                Rank,
                "rank {rank} is not in a group of {}",
                self.members.len()
            ),
        }
    }

    /// The ranks that (first, last, stride) triples stand for.
    ///
    /// # Errors
    /// `Arg` for a stride of 0, `Rank` for ranks out of range.
    pub fn expand_ranges(&self, ranges: &[[i32; 3]]) -> Result<Vec<i32>> {
        let mut ranks = Vec::new();
        for &[first, last, stride] in ranges {
            if stride == 0 {
                fail!(Arg, "the stride of the range {first}..{last} is 0");
            }
            if (stride > 0 && first > last) || (stride < 0 && first < last) {
                fail!(
                    Arg,
                    "the range {first}..{last} with stride {stride} is empty"
                );
            }
            self.check_rank(first)?;
            let steps = (i64::from(last) - i64::from(first)) / i64::from(stride);
            let end = i64::from(first) + steps * i64::from(stride);
            self.check_rank(i32::try_from(end).unwrap_or(-1))?;
            ranks.extend((0..=steps).map(|k| (i64::from(first) + k * i64::from(stride)) as i32));
        }
        Ok(ranks)
    }

    /// The ranks in `to` of the members with these ranks; `None` where a
    /// member is not in `to`.
    ///
    /// # Errors
    /// `Rank` if a rank is out of range.
    pub fn translate(&self, ranks: &[i32], to: &Group) -> Result<Vec<Option<u32>>> {
        let there = to.ranks();
        ranks
            .iter()
            .map(|&r| Ok(there.get(&self.members[self.check_rank(r)?]).copied()))
            .collect()
    }

    /// `Ident`, `Similar` or `Unequal`.
    pub fn compare(&self, other: &Group) -> Likeness {
        if self.members == other.members {
            return Likeness::Ident;
        }
        if self.members.len() != other.members.len() {
            return Likeness::Unequal;
        }
        let there = other.ranks();
        if self.members.iter().all(|p| there.contains_key(p)) {
            Likeness::Similar
        } else {
            Likeness::Unequal
        }
    }
}

/// The groups of a process.
#[derive(Debug)]
pub struct Groups {
    /// All but the empty one.
    pub table: Table<Arc<Group>>,
    empty: Arc<Group>,
}

impl Default for Groups {
    fn default() -> Self {
        Groups {
            table: Table::new(ObjectKind::Group),
            empty: Group::new([], Peer(u32::MAX)),
        }
    }
}

impl Groups {
    /// The group behind a handle.
    ///
    /// # Errors
    /// `Group` for `MPI_GROUP_NULL`, freed and made-up handles.
    pub fn find(&self, h: abi::Group) -> Result<Arc<Group>> {
        match h {
            consts::GROUP_EMPTY => Ok(self.empty.clone()),
            consts::GROUP_NULL => fail!(Group, "the group is MPI_GROUP_NULL"),
            _ => match self.table.get(h.0) {
                Some(group) => Ok(group),
                None => fail!(Group, "{:#x} is not a group, or was freed", h.0),
            },
        }
    }

    /// Stores a group; the empty one has a handle already.
    pub fn add(&self, group: Arc<Group>) -> abi::Group {
        if group.size() == 0 {
            consts::GROUP_EMPTY
        } else {
            abi::Group(self.table.insert(group))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[u32]) -> Arc<Group> {
        Group::new(
            members.iter().map(|&m| Peer(m)).collect::<Vec<_>>(),
            Peer(1),
        )
    }

    #[test]
    fn set_operations_keep_the_order_of_the_standard() {
        let (a, b) = (group(&[3, 1, 2]), group(&[2, 4, 3]));
        let is = |got: Arc<Group>, members: &[u32], rank| {
            assert_eq!(got.members(), group(members).members());
            assert_eq!(got.rank(), rank);
        };
        is(a.union(&b), &[3, 1, 2, 4], Some(1));
        is(a.intersection(&b), &[3, 2], None);
        is(b.intersection(&a), &[2, 3], None);
        is(a.difference(&b), &[1], Some(0));
        assert_eq!(b.union(&a).rank(), Some(3));
    }

    #[test]
    fn ranges_expand_and_are_checked() {
        let g = group(&[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            g.expand_ranges(&[[0, 6, 4], [5, 1, -2]]).unwrap(),
            [0, 4, 5, 3, 1]
        );
        assert!(g.expand_ranges(&[[0, 3, 0]]).is_err());
        assert!(g.expand_ranges(&[[0, 7, 1]]).is_err());
        assert_eq!(g.expand_ranges(&[[0, 7, 4]]).unwrap(), [0, 4]);
        assert!(g.include(&[1, 1]).is_err());
        assert!(g.exclude(&[7]).is_err());
    }

    #[test]
    fn translate_and_compare() {
        let (a, b) = (group(&[3, 1, 2]), group(&[1, 2, 3]));
        assert_eq!(a.translate(&[0, 1], &b).unwrap(), [Some(2), Some(0)]);
        assert_eq!(a.translate(&[0], &group(&[1])).unwrap(), [None]);
        assert_eq!(a.compare(&b), Likeness::Similar);
        assert_eq!(a.compare(&group(&[3, 1, 2])), Likeness::Ident);
        assert_eq!(a.compare(&group(&[3, 1])), Likeness::Unequal);
    }
}
