//! Making communicators out of others (MPI-5, chapter 7.4.2).

use std::collections::BTreeMap;
use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;

use super::agreement::{Across, Agreement, Bridge, Circle, Contributions, NONE};
use super::control::{AgreementScope, Key};
use super::{Comm, Half, Inherited, Numbers, take_cid};
use crate::compress::Wishes;
use crate::process::Process;
use crate::trouble::is_of_death;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;
use catena_objects::info::Info;

/// An argument and this process's numbers, or why it cannot take part.
pub(super) type Ready<T> = Result<(T, Numbers)>;

/// The row that a member tells: what the call needs, and its numbers.
pub(super) fn row<const N: usize, T>(words: [u32; N], ready: &Ready<T>) -> Vec<u32> {
    let mut row = words.to_vec();
    row.extend(match ready {
        Ok((_, it)) => it.words(),
        Err(_) => [NONE; 2],
    });
    row
}

impl Comm {
    /// A number for the next agreement of all members.
    fn next_agreement(&self) -> u32 {
        let number = self.agreements.get();
        self.agreements.set(number.wrapping_add(1));
        number
    }

    /// All members, for the next agreement in which all take part.
    pub(super) fn circle(&self) -> Circle {
        self.circle_of(self.next_agreement())
    }

    /// All members, for the agreement of that number.
    fn circle_of(&self, number: u32) -> Circle {
        Circle {
            cid: self.cid,
            size: self.size(),
            me: self.rank,
            ranks: Box::default(),
            key: Key::members(number),
        }
    }

    /// All members, for the first agreement in which this one takes no part.
    pub(super) fn circle_without_me(&self) -> Circle {
        let absent_from = self.failed.absent_from.get();
        self.circle_of(absent_from.unwrap_or(self.agreements.get()))
    }

    /// Whether this member takes part, or has taken part, in the agreement of all members that has
    /// this number.
    pub fn takes_part(&self, number: u32) -> bool {
        let comes_before = |end: u32| end.wrapping_sub(number) as i32 > 0;
        let absent_from = self.failed.absent_from.get();
        comes_before(self.agreements.get()) && absent_from.is_none_or(comes_before)
    }
}

/// Takes numbers for a new communicator, if the argument is good.
pub(super) fn ready<T>(process: &Process, argument: Result<T>, inter: bool) -> Ready<T> {
    let argument = argument?;
    let numbers = Numbers {
        own: take_cid(process)?,
        local: if inter {
            Some(take_cid(process)?)
        } else {
            None
        },
    };
    Ok((argument, numbers))
}

impl Comm {
    /// Begins an agreement of all its members, of both groups. Where none can be complete any more,
    /// as a member has died or all was revoked, it has failed at once, and so do all later ones. A
    /// collective that has failed for another reason, as for want of memory at a member, leaves
    /// agreements alone, which all members number alike: so another communicator can be made.
    pub(super) fn begin_accord(&self, process: &Process, row: &[u32]) -> Agreement {
        let number = self.next_agreement();
        if let Some(error) = self.trouble(process).filter(is_of_death) {
            let absent_from = &self.failed.absent_from;
            absent_from.set(absent_from.get().or(Some(number)));
            return Agreement::failed_at_once(self.circle_of(number), row.len(), error);
        }
        let Some(remote) = &self.remote else {
            return Agreement::begin_of_all(process, self.circle_of(number), number, row);
        };
        // Every member counts, though only leaders write.
        let key = Key::members(number);
        let bridge = Bridge::Context {
            cid: self.cid,
            to: 0,
            key,
        };
        let across = Across {
            size: Some(remote.group.size()),
            far: Some(self.cid),
            leader: 0,
            bridge: (self.rank == 0).then_some(bridge),
        };
        Agreement::begin(process, remote.local.circle(), Some(across), row)
    }

    /// What all its members, of both groups, tell each other.
    pub(crate) fn agree(&self, process: &Process, row: &[u32]) -> Result<Contributions> {
        let told = self.begin_accord(process, row).conclude(process);
        told.inspect_err(|error| self.note_no_agreement(process, error))
    }

    /// Makes the duplicate that all agreed on.
    pub(super) fn duplicate(
        &self,
        process: &Process,
        numbers: Numbers,
        told: &Contributions,
        inherited: Inherited,
    ) -> abi::Comm {
        let ours = Half::new(self.group.clone(), told.rows(&told.ours));
        let theirs = self
            .remote
            .as_ref()
            .map(|r| Half::new(r.group.clone(), told.rows(&told.theirs)));
        let mut new = numbers.establish(process, ours, theirs, inherited);
        if let Some(new) = Arc::get_mut(&mut new) {
            new.topology.clone_from(&self.topology);
        }
        new.publish(process)
    }

    /// `MPI_Comm_dup` and its relatives: collective over this communicator. Here and below
    /// an argument that is an error makes the call fail everywhere, so that
    /// nobody waits for this process.
    ///
    /// # Errors
    /// What an attribute's copy callback returns; `Other` if the call failed at
    /// another member.
    pub fn dup(
        self: &Arc<Self>,
        process: &Process,
        hints: Result<Option<Wishes>>,
    ) -> Result<abi::Comm> {
        let ready = ready(
            process,
            Inherited::of_duplicate(self, hints),
            self.is_inter(),
        );
        let told = self.agree(process, &row([], &ready));
        let (inherited, numbers) = ready?;
        Ok(self.duplicate(process, numbers, &told?, inherited))
    }

    /// `MPI_Comm_split`: collective over this communicator. `None` for a negative color
    /// (`MPI_UNDEFINED`), and where one group of an intercommunicator would be
    /// empty.
    ///
    /// # Errors
    /// `Arg` for a negative color other than `MPI_UNDEFINED`.
    pub fn split(
        self: &Arc<Self>,
        process: &Process,
        color: i32,
        key: i32,
    ) -> Result<Option<abi::Comm>> {
        let ready = ready(process, check_color(color), self.is_inter());
        let mine = ready.as_ref().map_or(abi::consts::UNDEFINED, |it| it.0);
        let told = self.agree(process, &row([mine as u32, key as u32], &ready));
        let ((color, numbers), told) = (ready?, told?);
        if color < 0 {
            return Ok(None);
        }
        let half = |parent: &Arc<Group>, words| {
            let rows = told.rows(words).enumerate();
            Half::by_key(
                process,
                parent,
                rows.filter(|(_, row)| row[0] as i32 == color),
            )
        };
        Ok(self.join_halves(process, numbers, &told, Arc::default(), half))
    }
}

impl Half {
    /// The members of `parent` with these ranks, who told these rows.
    pub(super) fn of<'a>(
        process: &Process,
        parent: &Arc<Group>,
        chosen: impl Iterator<Item = (usize, &'a [u32])>,
    ) -> Half {
        let (ranks, rows): (Vec<usize>, Vec<&[u32]>) = chosen.unzip();
        let all = parent.size() as usize;
        let group = if ranks.len() == all && ranks.is_sorted() {
            parent.clone()
        } else {
            let peers: Vec<Peer> = ranks.iter().map(|&r| parent.member(r)).collect();
            parent.sibling(peers, process.me)
        };
        Half::new(group, rows)
    }

    /// The members of `parent` with these ranks, who told these rows, in the order of the keys,
    /// which stand second there.
    pub(super) fn by_key<'a>(
        process: &Process,
        parent: &Arc<Group>,
        chosen: impl Iterator<Item = (usize, &'a [u32])>,
    ) -> Half {
        let mut chosen: Vec<_> = chosen.collect();
        chosen.sort_by_key(|(_, row)| row[1] as i32);
        Half::of(process, parent, chosen.into_iter())
    }
}

impl Comm {
    /// Makes what part of each group becomes; nothing if that leaves a group of
    /// an intercommunicator empty.
    pub(super) fn join_halves<'a>(
        &self,
        process: &Process,
        numbers: Numbers,
        told: &'a Contributions,
        info: Arc<Info>,
        half: impl Fn(&Arc<Group>, &'a [u32]) -> Half,
    ) -> Option<abi::Comm> {
        let ours = half(&self.group, &told.ours);
        let theirs = self.remote.as_ref().map(|r| half(&r.group, &told.theirs));
        if theirs.as_ref().is_some_and(|it| it.group.size() == 0) || ours.group.rank().is_none() {
            return None;
        }
        let inherited = Inherited {
            info,
            ..Inherited::plain(self)
        };
        let new = numbers.establish(process, ours, theirs, inherited);
        Some(new.publish(process))
    }

    /// `MPI_Comm_create`: collective over this communicator; disjoint groups are allowed
    /// within an intracommunicator. `None` at processes that are in no group,
    /// and where one group of an intercommunicator would be empty.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not in it; `NotSame` if a member of it passes another one.
    pub fn create(
        self: &Arc<Self>,
        process: &Process,
        group: Result<Arc<Group>>,
    ) -> Result<Option<abi::Comm>> {
        let subset = group.and_then(|group| Ok((ranks_in(self, &group)?, group)));
        let ready = ready(process, subset, self.is_inter());
        let place = match &ready {
            Ok(((_, group), _)) => group.rank().unwrap_or(NONE),
            Err(_) => NONE,
        };
        let sum = ready
            .as_ref()
            .map_or(0, |((ranks, _), _)| sum_of_ranks(ranks));
        let told = self.agree(process, &row([place, sum], &ready));
        let (((ranks, group), numbers), told) = (ready?, told?);
        if !self.is_inter() {
            if place == NONE {
                return Ok(None);
            }
            let row = |&r: &u32| told.rows(&told.ours).nth(r as usize).expect("a member");
            have_one_group(ranks.iter().map(|rank| (*rank, row(rank)[1])))?;
            let ours = Half::new(group, ranks.iter().map(row));
            let new = numbers.establish(process, ours, None, Inherited::plain(self));
            return Ok(Some(new.publish(process)));
        }
        // All members of a group give the same one, so places say it all.
        let half = |parent: &Arc<Group>, words| {
            let mut chosen: Vec<(usize, &[u32])> = told.rows(words).enumerate().collect();
            chosen.retain(|(_, row)| row[0] != NONE);
            chosen.sort_unstable_by_key(|(_, row)| row[0]);
            Half::of(process, parent, chosen.into_iter())
        };
        Ok(self.join_halves(process, numbers, &told, Arc::default(), half))
    }

    /// This process's numbers for a communicator that is to be made of some of its members, or of
    /// all, who agree on that otherwise.
    ///
    /// # Errors
    /// `Other` if there are none left.
    pub fn take_numbers(&self, process: &Process) -> Result<Numbers> {
        Ok(ready(process, Ok(()), self.is_inter())?.1)
    }

    /// Makes the communicator of some of its members, on which they have agreed otherwise: of each
    /// group the ranks and the numbers that they have told, in the order of their ranks. `None`
    /// if that leaves a group of an intercommunicator empty. No communication.
    pub fn of_some(
        &self,
        process: &Process,
        numbers: Numbers,
        ours: &[(u32, [u32; 2])],
        theirs: &[(u32, [u32; 2])],
    ) -> Option<abi::Comm> {
        let half = |parent: &Arc<Group>, of: &[(u32, [u32; 2])]| {
            let rows = of.iter().map(|(rank, row)| (*rank as usize, &row[..]));
            Half::of(process, parent, rows)
        };
        let remote = self.remote.as_ref().map(|it| half(&it.group, theirs));
        if remote.as_ref().is_some_and(|it| it.group.size() == 0) {
            return None;
        }
        let inherited = Inherited::plain(self);
        let new = numbers.establish(process, half(&self.group, ours), remote, inherited);
        Some(new.publish(process))
    }

    /// Makes the communicator of all members of one without a remote group, of whom these are the
    /// numbers, by rank; it has the error handler of the old one, nothing else of it. No
    /// communication.
    pub fn of_all(&self, process: &Process, numbers: Numbers, rows: &[[u32; 2]]) -> abi::Comm {
        let ours = Half::new(self.group.clone(), rows.iter().map(|row| &row[..]));
        numbers
            .establish(process, ours, None, Inherited::plain(self))
            .publish(process)
    }

    /// `MPI_Comm_create_group`: collective over the members of `group` only.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not in it.
    pub fn create_group(
        self: &Arc<Self>,
        process: &Process,
        group: &Arc<Group>,
        tag: i32,
    ) -> Result<Option<abi::Comm>> {
        if self.is_inter() {
            fail!(Comm, "MPI_Comm_create_group needs an intracommunicator");
        }
        let ranks = ranks_in(self, group)?;
        let Some(me) = group.rank() else {
            return Ok(None);
        };
        let circle = Circle {
            cid: self.cid,
            size: group.size(),
            me,
            ranks: ranks.into(),
            key: Key::new(AgreementScope::Group, &tag.to_ne_bytes()),
        };
        circle
            .gather_group(process, group, Inherited::plain(self))
            .map(Some)
    }
}

impl Circle {
    /// Makes the communicator of a group whose members are a circle.
    pub(super) fn gather_group(
        self,
        process: &Process,
        group: &Arc<Group>,
        inherited: Inherited,
    ) -> Result<abi::Comm> {
        let ready = ready(process, Ok(()), false);
        let told = Agreement::begin(process, self, None, &row([], &ready)).conclude(process);
        let (((), numbers), told) = (ready?, told?);
        let ours = Half::new(group.clone(), told.rows(&told.ours));
        let new = numbers.establish(process, ours, None, inherited);
        Ok(new.publish(process))
    }
}

fn check_color(color: i32) -> Result<i32> {
    if color < 0 && color != abi::consts::UNDEFINED {
        fail!(
            Arg,
            "the color is {color}: it must not be negative unless it is MPI_UNDEFINED"
        );
    }
    Ok(color)
}

/// A number by which members see whether they passed the same group.
fn sum_of_ranks(ranks: &[u32]) -> u32 {
    let mix = |sum: u32, rank: &u32| (sum ^ rank).wrapping_mul(0x0100_0193).rotate_left(5);
    ranks.iter().fold(ranks.len() as u32, mix)
}

/// Whether members of a group passed the same one, by their ranks and the numbers of what they
/// passed; those that differ from most are named.
fn have_one_group(members: impl Iterator<Item = (u32, u32)>) -> Result<()> {
    let members: Vec<(u32, u32)> = members.collect();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    members
        .iter()
        .for_each(|(_, sum)| *counts.entry(*sum).or_default() += 1);
    if counts.len() < 2 {
        return Ok(());
    }
    let most = counts.iter().max_by_key(|(_, count)| **count);
    let (most, count) = most.map_or((0, 0), |(sum, count)| (*sum, *count));
    let other = members.iter().find(|(_, sum)| *sum != most);
    fail!(
        NotSame,
        "rank {} of the communicator passed another group than {count} of the other members of \
         this one: all members of a group must pass it, with the same members in the same order",
        other.map_or(0, |(rank, _)| *rank)
    )
}

/// The ranks in `comm` of the members of `group`.
fn ranks_in(comm: &Comm, group: &Group) -> Result<Vec<u32>> {
    let all: Vec<i32> = (0..group.size() as i32).collect();
    let ranks = group.translate(&all, &comm.group)?;
    match ranks.iter().position(Option::is_none) {
        None => Ok(ranks.into_iter().flatten().collect()),
        Some(r) => fail!(Group, "rank {r} of the group is not in the communicator"),
    }
}
