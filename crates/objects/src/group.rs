//! Groups (MPI-5, chapter 7.3): ordered sets of processes.
//!
//! The group of a job, every range of it with a stride, and every range of such
//! a range is a *row*: it takes no memory for its members, and the rank of a
//! process in it is computed. Whatever list a group is made of, it is a row if
//! the list is one.

use std::collections::HashMap;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_fabric::Peer;

use crate::error::Result;
use crate::fail;
use crate::members::{Members, Range, Row};
use crate::table::{ObjectKind, Table};

/// How two groups or communicators compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Two names of one object, or the same members in the same order.
    Ident,
    /// Communicators that differ in their context only.
    Congruent,
    /// Two orders of the same members.
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
    members: Members,
    size: u32,
    me: Option<u32>,
    /// The handle of the session that it was derived from; none in the world model.
    session: Option<abi::Session>,
}

impl Group {
    /// The group of `members` in this order; `me` is this process.
    pub fn new(members: impl AsRef<[Peer]> + Into<Box<[Peer]>>, me: Peer) -> Arc<Self> {
        Group::derived(None, members, me)
    }

    /// The group of `members` in this order, derived from a session, if from one;
    /// `me` is this process.
    pub fn derived(
        session: Option<abi::Session>,
        members: impl AsRef<[Peer]> + Into<Box<[Peer]>>,
        me: Peer,
    ) -> Arc<Self> {
        Group::make(session, Members::of(members), Some(me))
    }

    fn make(session: Option<abi::Session>, members: Members, me: Option<Peer>) -> Arc<Self> {
        Arc::new(Group {
            size: members.len(),
            me: me.and_then(|me| members.rank_of(me)),
            members,
            session,
        })
    }

    /// The group of `members`, derived from what this one is.
    pub fn sibling(&self, members: impl AsRef<[Peer]> + Into<Box<[Peer]>>, me: Peer) -> Arc<Self> {
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
        self.size
    }

    /// This process's rank, if it is a member.
    #[inline]
    pub fn rank(&self) -> Option<u32> {
        self.me
    }

    /// Members by rank.
    pub fn members(&self) -> impl ExactSizeIterator<Item = Peer> + Clone + '_ {
        (0..self.size as usize).map(|rank| self.member(rank))
    }

    /// The member of that rank. Cost: O(1).
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn member(&self, rank: usize) -> Peer {
        match &self.members {
            Members::Row(row) => {
                assert!(rank < row.count as usize, "no rank {rank} of {}", row.count);
                row.at(rank as u32)
            }
            Members::Listed(list) => list[rank],
        }
    }

    /// The rank of a process, if it is a member. Cost: O(1) for a row, else
    /// O(size).
    pub fn rank_of(&self, peer: Peer) -> Option<u32> {
        self.members.rank_of(peer)
    }

    /// Tells the ranks of many processes, each in O(1), after O(size) for a group
    /// that is not a row.
    fn ranks(&self) -> impl Fn(Peer) -> Option<u32> + '_ {
        let table: Option<HashMap<Peer, u32>> = match &self.members {
            Members::Row(_) => None,
            Members::Listed(list) => Some(list.iter().copied().zip(0..).collect()),
        };
        move |peer| match &table {
            Some(table) => table.get(&peer).copied(),
            None => self.rank_of(peer),
        }
    }

    fn derive(&self, other: Option<&Group>, members: Members) -> Arc<Group> {
        let mine = |g: &Group| g.me.map(|rank| g.member(rank as usize));
        let me = mine(self).or_else(|| other.and_then(mine));
        let session = self.session.or(other.and_then(Group::session));
        Group::make(session, members, me)
    }

    /// All members of `self`, then those of `other` that are not in `self`.
    pub fn union(&self, other: &Group) -> Arc<Group> {
        let have = self.ranks();
        let mut members: Vec<Peer> = self.members().collect();
        members.extend(other.members().filter(|&p| have(p).is_none()));
        self.derive(Some(other), Members::of(members))
    }

    /// Members of `self` that are in `other` too.
    pub fn intersection(&self, other: &Group) -> Arc<Group> {
        let have = other.ranks();
        let members: Vec<Peer> = self.members().filter(|&p| have(p).is_some()).collect();
        self.derive(None, Members::of(members))
    }

    /// Members of `self` that are not in `other`.
    pub fn difference(&self, other: &Group) -> Arc<Group> {
        let have = other.ranks();
        let members: Vec<Peer> = self.members().filter(|&p| have(p).is_none()).collect();
        self.derive(None, Members::of(members))
    }

    /// The members of these ranks, in this order.
    ///
    /// # Errors
    /// `Rank` if one is out of range or comes twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Arc<Group>> {
        let mut seen = vec![false; self.size as usize];
        let mut members = Vec::with_capacity(ranks.len());
        for &rank in ranks {
            let at = self.check_rank(rank)?;
            if std::mem::replace(&mut seen[at], true) {
                fail!(Rank, "rank {rank} is given twice");
            }
            members.push(self.member(at));
        }
        Ok(self.derive(None, Members::of(members)))
    }

    /// All members but those of these ranks.
    ///
    /// # Errors
    /// `Rank` if one is out of range or comes twice.
    pub fn exclude(&self, ranks: &[i32]) -> Result<Arc<Group>> {
        let mut out = vec![false; self.size as usize];
        for &rank in ranks {
            let at = self.check_rank(rank)?;
            if std::mem::replace(&mut out[at], true) {
                fail!(Rank, "rank {rank} is given twice");
            }
        }
        let members = self.members().zip(out).filter(|(_, out)| !out);
        let members: Vec<Peer> = members.map(|(p, _)| p).collect();
        Ok(self.derive(None, Members::of(members)))
    }

    /// The members of the ranks that (first, last, stride) triples stand for, in
    /// this order. Cost: O(1) for one triple and a row, else O(size).
    ///
    /// # Errors
    /// As [`Group::expand_ranges`]; `Rank` if a rank comes twice.
    pub fn include_ranges(&self, ranges: &[[i32; 3]]) -> Result<Arc<Group>> {
        match (ranges, &self.members) {
            (&[range], Members::Row(row)) => {
                let sub = row.sub(self.check_range(range)?);
                Ok(self.derive(None, Members::Row(sub)))
            }
            _ => self.include(&self.expand_ranges(ranges)?),
        }
    }

    /// A rank as an argument of [`Group::member`].
    ///
    /// # Errors
    /// `Rank` if the group has no such rank.
    pub fn check_rank(&self, rank: i32) -> Result<usize> {
        match usize::try_from(rank) {
            Ok(at) if at < self.size as usize => Ok(at),
            _ => fail!(Rank, "rank {rank} is not in a group of {}", self.size),
        }
    }

    /// The ranks that (first, last, stride) triples stand for.
    ///
    /// # Errors
    /// `Arg` for a stride of 0, `Rank` for ranks out of range.
    pub fn expand_ranges(&self, ranges: &[[i32; 3]]) -> Result<Vec<i32>> {
        let mut ranks = Vec::new();
        for &range in ranges {
            let Range {
                first,
                stride,
                count,
            } = self.check_range(range)?;
            let rank = |k| (i64::from(first) + i64::from(k) * i64::from(stride)) as i32;
            ranks.extend((0..count).map(rank));
        }
        Ok(ranks)
    }

    fn check_range(&self, [first, last, stride]: [i32; 3]) -> Result<Range> {
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
        Ok(Range {
            first: first as u32,
            stride,
            count: steps as u32 + 1,
        })
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
            .map(|&r| Ok(there(self.member(self.check_rank(r)?))))
            .collect()
    }

    /// `Ident`, `Similar` or `Unequal`.
    pub fn compare(&self, other: &Group) -> Comparison {
        if self.members == other.members {
            return Comparison::Ident;
        }
        if self.size != other.size {
            return Comparison::Unequal;
        }
        let there = other.ranks();
        if self.members().all(|p| there(p).is_some()) {
            Comparison::Similar
        } else {
            Comparison::Unequal
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
            empty: Group::make(None, Members::Row(Row::EMPTY), None),
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
    use proptest::prelude::*;

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
            assert!(got.members().eq(members.iter().map(|&m| Peer(m))));
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
        assert_eq!(a.compare(&b), Comparison::Similar);
        assert_eq!(a.compare(&group(&[3, 1, 2])), Comparison::Ident);
        assert_eq!(a.compare(&group(&[3, 1])), Comparison::Unequal);
    }

    fn row(first: u32, stride: i64, count: u32) -> Arc<Group> {
        let row = Row {
            first,
            stride,
            count,
        };
        Group::make(None, Members::Row(row), Some(Peer(first)))
    }

    #[test]
    fn ranges_of_a_row_cost_no_memory_whatever_their_size() {
        let all = row(0, 1, 1 << 31);
        let odd = all.include_ranges(&[[1, i32::MAX, 2]]).unwrap();
        assert_eq!((odd.size(), odd.rank()), (1 << 30, None));
        assert_eq!(odd.member(1 << 29), Peer((1 << 30) + 1));
        let back = odd.include_ranges(&[[(1 << 30) - 1, 0, -3]]).unwrap();
        assert_eq!(back.size(), (1 << 30) / 3 + 1);
        assert_eq!(back.member(1), Peer(i32::MAX as u32 - 6));
        assert_eq!(back.rank_of(Peer(i32::MAX as u32 - 6)), Some(1));
        assert_eq!(back.rank_of(Peer(i32::MAX as u32 - 5)), None);
        assert_eq!(back.translate(&[1], &all).unwrap(), [Some(0x7fff_fff9)]);
        assert_eq!(odd.compare(&back), Comparison::Unequal);
        assert_eq!(all.compare(&row(0, 1, 1 << 31)), Comparison::Ident);
    }

    #[test]
    fn lists_that_are_rows_are_kept_as_rows() {
        let is_row = |members: &[u32]| matches!(group(members).members, Members::Row(_));
        for list in [
            &[][..],
            &[7],
            &[7, 3],
            &[3, 7],
            &[0, 2, 4, 6],
            &[9, 6, 3, 0],
        ] {
            assert!(is_row(list), "{list:?}");
        }
        for list in [&[0, 1, 3][..], &[0, 2, 1], &[5, 4, 2]] {
            assert!(!is_row(list), "{list:?}");
        }
        let all = row(0, 1, 1 << 20);
        let halves = all.include_ranges(&[[0, 99, 1], [100, 999, 1]]).unwrap();
        assert!(matches!(
            halves.members,
            Members::Row(Row { count: 1000, .. })
        ));
    }

    /// What a list of members should answer.
    fn model_rank(list: &[u32], member: u32) -> Option<u32> {
        list.iter().position(|&m| m == member).map(|r| r as u32)
    }

    fn same(group: &Group, list: &[u32]) {
        assert_eq!(group.size() as usize, list.len());
        assert!(group.members().eq(list.iter().map(|&m| Peer(m))));
        assert_eq!(group.rank(), model_rank(list, 1));
        for member in 0..64 {
            assert_eq!(group.rank_of(Peer(member)), model_rank(list, member));
        }
        let again = self::group(list);
        assert_eq!(group.members, again.members, "one value for one list");
    }

    /// Rows and other lists of members below 60, without any twice.
    fn lists() -> impl Strategy<Value = Vec<u32>> {
        let row = (0..20_u32, 1..4_u32, 0..12_u32, any::<bool>());
        let row = row.prop_map(|(first, stride, count, back)| {
            let row = (0..count).map(|k| first + k * stride);
            if back {
                row.rev().collect()
            } else {
                row.collect()
            }
        });
        let any = proptest::sample::subsequence((0..60).collect::<Vec<u32>>(), 0..14);
        prop_oneof![row, any.prop_shuffle()]
    }

    proptest! {
        #[test]
        fn groups_do_what_lists_do(
            a in lists(),
            b in lists(),
            picks in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
            range in (any::<proptest::sample::Index>(), any::<proptest::sample::Index>(), 1..4_i32),
        ) {
            let (x, y) = (group(&a), group(&b));
            same(&x, &a);

            let of = |keep: &dyn Fn(&u32) -> bool, list: &[u32]| -> Vec<u32> {
                list.iter().copied().filter(keep).collect()
            };
            same(&x.intersection(&y), &of(&|m| b.contains(m), &a));
            same(&x.difference(&y), &of(&|m| !b.contains(m), &a));
            same(&x.union(&y), &[&a[..], &of(&|m| !a.contains(m), &b)].concat());

            let (mut sorted, mut other) = (a.clone(), b.clone());
            sorted.sort_unstable();
            other.sort_unstable();
            let like = match () {
                () if a == b => Comparison::Ident,
                () if sorted == other => Comparison::Similar,
                () => Comparison::Unequal,
            };
            assert_eq!(x.compare(&y), like);

            let all: Vec<i32> = (0..a.len() as i32).collect();
            let there: Vec<_> = a.iter().map(|&m| model_rank(&b, m)).collect();
            assert_eq!(x.translate(&all, &y).unwrap(), there);
            assert!(x.translate(&[a.len() as i32], &y).is_err());

            if !a.is_empty() {
                let mut ranks: Vec<usize> = picks.iter().map(|i| i.index(a.len())).collect();
                ranks.sort_unstable();
                ranks.dedup();
                let turn = picks.len() / 2 % ranks.len().max(1);
                ranks.rotate_left(turn);
                let numbers: Vec<i32> = ranks.iter().map(|&r| r as i32).collect();
                let picked: Vec<u32> = ranks.iter().map(|&r| a[r]).collect();
                same(&x.include(&numbers).unwrap(), &picked);
                same(&x.exclude(&numbers).unwrap(), &of(&|m| !picked.contains(m), &a));

                let (first, last) = (range.0.index(a.len()), range.1.index(a.len()));
                let stride = if first <= last { range.2 } else { -range.2 };
                let triple = [first as i32, last as i32, stride];
                let ranks = x.expand_ranges(&[triple]).unwrap();
                let picked: Vec<u32> = ranks.iter().map(|&r| a[r as usize]).collect();
                same(&x.include_ranges(&[triple]).unwrap(), &picked);
            }
        }
    }
}
