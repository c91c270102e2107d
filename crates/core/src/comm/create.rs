//! Making communicators out of others (MPI-5, chapter 7.4.2).

use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;

use super::agreement::{Across, Agreement, Bridge, Circle, NONE, Told};
use super::control::{Key, Meeting};
use super::{Comm, Half, Heritage, Numbers};
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

    /// Whether this member takes part, or has taken part, in the agreement of all members that has this number.
    pub fn takes_part(&self, number: u32) -> bool {
        let comes_before = |end: u32| end.wrapping_sub(number) as i32 > 0;
        let absent_from = self.failed.absent_from.get();
        comes_before(self.agreements.get()) && absent_from.is_none_or(comes_before)
    }
}

impl Process {
    /// Takes numbers for a new communicator, if the argument is good.
    pub(super) fn ready<T>(&self, argument: Result<T>, inter: bool) -> Ready<T> {
        let argument = argument?;
        let numbers = Numbers {
            own: self.take_cid()?,
            local: if inter { Some(self.take_cid()?) } else { None },
        };
        Ok((argument, numbers))
    }

    /// Begins an agreement of all members of `comm`, of both groups. Where none can be complete any more, as a member has died or
    /// all was revoked, it has failed at once, and so do all later ones. A collective that has failed for another reason, as for
    /// want of memory at a member, leaves agreements alone, which all members number alike: so another communicator can be made.
    pub(super) fn begin_accord(&self, comm: &Comm, row: &[u32]) -> Agreement {
        let number = comm.next_agreement();
        if let Some(error) = comm.trouble(self).filter(is_of_death) {
            let absent_from = &comm.failed.absent_from;
            absent_from.set(absent_from.get().or(Some(number)));
            return Agreement::failed_at_once(comm.circle_of(number), row.len(), error);
        }
        let Some(remote) = &comm.remote else {
            return Agreement::begin_of_all(self, comm.circle_of(number), number, row);
        };
        // Every member counts, though only leaders write.
        let key = Key::members(number);
        let bridge = Bridge::Context {
            cid: comm.cid,
            to: 0,
            key,
        };
        let across = Across {
            size: Some(remote.group.size()),
            far: Some(comm.cid),
            leader: 0,
            bridge: (comm.rank == 0).then_some(bridge),
        };
        Agreement::begin(self, remote.local.circle(), Some(across), row)
    }

    /// What all members of `comm`, of both groups, tell each other.
    pub(crate) fn members_agree(&self, comm: &Comm, row: &[u32]) -> Result<Told> {
        let told = self.conclude(self.begin_accord(comm, row));
        told.inspect_err(|error| comm.note_no_agreement(self, error))
    }

    /// Makes the duplicate that all agreed on.
    pub(super) fn duplicate(
        &self,
        comm: &Comm,
        numbers: Numbers,
        told: &Told,
        heritage: Heritage,
    ) -> abi::Comm {
        let ours = Half::new(comm.group.clone(), told.rows(&told.ours));
        let theirs = comm
            .remote
            .as_ref()
            .map(|r| Half::new(r.group.clone(), told.rows(&told.theirs)));
        let mut new = self.establish(numbers, ours, theirs, heritage);
        if let Some(new) = Arc::get_mut(&mut new) {
            new.topology.clone_from(&comm.topology);
        }
        self.publish(new)
    }

    /// `MPI_Comm_dup` and its relatives: collective over `comm`. Here and below
    /// an argument that is an error makes the call fail everywhere, so that
    /// nobody waits for this process.
    ///
    /// # Errors
    /// What an attribute's copy callback returns; `Other` if the call failed at
    /// another member.
    pub fn comm_dup(&self, comm: &Arc<Comm>, arguments: Result<()>) -> Result<abi::Comm> {
        let ready = self.ready(Heritage::of_duplicate(comm, arguments), comm.is_inter());
        let told = self.members_agree(comm, &row([], &ready));
        let (heritage, numbers) = ready?;
        Ok(self.duplicate(comm, numbers, &told?, heritage))
    }

    /// `MPI_Comm_split`: collective over `comm`. `None` for a negative color
    /// (`MPI_UNDEFINED`), and where one group of an intercommunicator would be
    /// empty.
    ///
    /// # Errors
    /// `Arg` for a negative color other than `MPI_UNDEFINED`.
    pub fn comm_split(&self, comm: &Arc<Comm>, color: i32, key: i32) -> Result<Option<abi::Comm>> {
        let ready = self.ready(check_color(color), comm.is_inter());
        let mine = ready.as_ref().map_or(abi::consts::UNDEFINED, |it| it.0);
        let told = self.members_agree(comm, &row([mine as u32, key as u32], &ready));
        let ((color, numbers), told) = (ready?, told?);
        if color < 0 {
            return Ok(None);
        }
        let half = |parent: &Arc<Group>, words| {
            let rows = told.rows(words).enumerate();
            self.half_by_key(parent, rows.filter(|(_, row)| row[0] as i32 == color))
        };
        Ok(self.join(comm, numbers, &told, Arc::default(), half))
    }

    /// The members of `parent` with these ranks, who told these rows.
    pub(super) fn half_of<'a>(
        &self,
        parent: &Arc<Group>,
        chosen: impl Iterator<Item = (usize, &'a [u32])>,
    ) -> Half {
        let (ranks, rows): (Vec<usize>, Vec<&[u32]>) = chosen.unzip();
        let all = parent.size() as usize;
        let group = if ranks.len() == all && ranks.is_sorted() {
            parent.clone()
        } else {
            let peers: Vec<Peer> = ranks.iter().map(|&r| parent.member(r)).collect();
            parent.sibling(peers, self.me)
        };
        Half::new(group, rows)
    }

    /// The same in the order of the keys, which stand second in the rows.
    pub(super) fn half_by_key<'a>(
        &self,
        parent: &Arc<Group>,
        chosen: impl Iterator<Item = (usize, &'a [u32])>,
    ) -> Half {
        let mut chosen: Vec<_> = chosen.collect();
        chosen.sort_by_key(|(_, row)| row[1] as i32);
        self.half_of(parent, chosen.into_iter())
    }

    /// Makes what part of each group becomes; nothing if that leaves a group of
    /// an intercommunicator empty.
    pub(super) fn join<'a>(
        &self,
        comm: &Comm,
        numbers: Numbers,
        told: &'a Told,
        info: Arc<Info>,
        half: impl Fn(&Arc<Group>, &'a [u32]) -> Half,
    ) -> Option<abi::Comm> {
        let ours = half(&comm.group, &told.ours);
        let theirs = comm.remote.as_ref().map(|r| half(&r.group, &told.theirs));
        if theirs.as_ref().is_some_and(|it| it.group.size() == 0) || ours.group.rank().is_none() {
            return None;
        }
        let heritage = Heritage {
            info,
            ..Heritage::plain(comm)
        };
        let new = self.establish(numbers, ours, theirs, heritage);
        Some(self.publish(new))
    }

    /// `MPI_Comm_create`: collective over `comm`; disjoint groups are allowed
    /// within an intracommunicator. `None` at processes that are in no group,
    /// and where one group of an intercommunicator would be empty.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not in `comm`.
    pub fn comm_create(
        &self,
        comm: &Arc<Comm>,
        group: Result<Arc<Group>>,
    ) -> Result<Option<abi::Comm>> {
        let subset = group.and_then(|group| Ok((ranks_in(comm, &group)?, group)));
        let ready = self.ready(subset, comm.is_inter());
        let place = match &ready {
            Ok(((_, group), _)) => group.rank().unwrap_or(NONE),
            Err(_) => NONE,
        };
        let told = self.members_agree(comm, &row([place], &ready));
        let (((ranks, group), numbers), told) = (ready?, told?);
        if !comm.is_inter() {
            if place == NONE {
                return Ok(None);
            }
            let row = |&r: &u32| told.rows(&told.ours).nth(r as usize).expect("a member");
            let ours = Half::new(group, ranks.iter().map(row));
            let new = self.establish(numbers, ours, None, Heritage::plain(comm));
            return Ok(Some(self.publish(new)));
        }
        // All members of a group give the same one, so places say it all.
        let half = |parent: &Arc<Group>, words| {
            let mut chosen: Vec<(usize, &[u32])> = told.rows(words).enumerate().collect();
            chosen.retain(|(_, row)| row[0] != NONE);
            chosen.sort_unstable_by_key(|(_, row)| row[0]);
            self.half_of(parent, chosen.into_iter())
        };
        Ok(self.join(comm, numbers, &told, Arc::default(), half))
    }

    /// This process's numbers for a communicator that is to be made of those members of `comm`
    /// that are alive.
    ///
    /// # Errors
    /// `Other` if there are none left.
    pub fn numbers_for_survivors(&self, comm: &Comm) -> Result<Numbers> {
        Ok(self.ready(Ok(()), comm.is_inter())?.1)
    }

    /// Makes the communicator of the survivors, on which they have agreed otherwise: of each
    /// group the ranks and the numbers that they have told, in the order of their ranks. `None`
    /// if a group of an intercommunicator is all dead. No communication.
    pub fn comm_of_survivors(
        &self,
        comm: &Comm,
        numbers: Numbers,
        ours: &[(u32, [u32; 2])],
        theirs: &[(u32, [u32; 2])],
    ) -> Option<abi::Comm> {
        let half = |parent: &Arc<Group>, of: &[(u32, [u32; 2])]| {
            let rows = of.iter().map(|(rank, row)| (*rank as usize, &row[..]));
            self.half_of(parent, rows)
        };
        let remote = comm.remote.as_ref().map(|it| half(&it.group, theirs));
        if remote.as_ref().is_some_and(|it| it.group.size() == 0) {
            return None;
        }
        let heritage = Heritage::plain(comm);
        let new = self.establish(numbers, half(&comm.group, ours), remote, heritage);
        Some(self.publish(new))
    }

    /// Makes the communicator of all members of one without a remote group, of whom these are the numbers, by rank; it
    /// has the error handler of the old one, nothing else of it. No communication.
    pub fn comm_of_all(&self, comm: &Comm, numbers: Numbers, rows: &[[u32; 2]]) -> abi::Comm {
        let ours = Half::new(comm.group.clone(), rows.iter().map(|row| &row[..]));
        self.publish(self.establish(numbers, ours, None, Heritage::plain(comm)))
    }

    /// `MPI_Comm_create_group`: collective over the members of `group` only.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not in `comm`.
    pub fn comm_create_group(
        &self,
        comm: &Arc<Comm>,
        group: &Arc<Group>,
        tag: i32,
    ) -> Result<Option<abi::Comm>> {
        if comm.is_inter() {
            fail!(Comm, "MPI_Comm_create_group needs an intracommunicator");
        }
        let ranks = ranks_in(comm, group)?;
        let Some(me) = group.rank() else {
            return Ok(None);
        };
        let circle = Circle {
            cid: comm.cid,
            size: group.size(),
            me,
            ranks: ranks.into(),
            key: Key::new(Meeting::Group, &tag.to_ne_bytes()),
        };
        self.gather_group(circle, group, Heritage::plain(comm))
            .map(Some)
    }

    /// Makes the communicator of a group whose members are a circle.
    pub(super) fn gather_group(
        &self,
        circle: Circle,
        group: &Arc<Group>,
        heritage: Heritage,
    ) -> Result<abi::Comm> {
        let ready = self.ready(Ok(()), false);
        let told = self.conclude(Agreement::begin(self, circle, None, &row([], &ready)));
        let (((), numbers), told) = (ready?, told?);
        let ours = Half::new(group.clone(), told.rows(&told.ours));
        let new = self.establish(numbers, ours, None, heritage);
        Ok(self.publish(new))
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

/// The ranks in `comm` of the members of `group`.
fn ranks_in(comm: &Comm, group: &Group) -> Result<Vec<u32>> {
    let all: Vec<i32> = (0..group.size() as i32).collect();
    let ranks = group.translate(&all, &comm.group)?;
    match ranks.iter().position(Option::is_none) {
        None => Ok(ranks.into_iter().flatten().collect()),
        Some(r) => fail!(Group, "rank {r} of the group is not in the communicator"),
    }
}
