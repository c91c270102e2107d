//! Communicators, windows and files, and which ranks of the world are in them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use catena_abi::{Comm, Datatype, Group, Session, Win, consts};
use catena_profile::layout::{self, kind};
use catena_profile::record::mixed;
use catena_tool::mpi;

use crate::{comms, phase};

/// How often datatypes were given back, in any thread: what was known of them is asked for again.
static TYPES_GIVEN_BACK: AtomicU32 = AtomicU32::new(0);

/// Handles of objects of the library begin here.
const OBJECTS: usize = 0x1000;

/// Most handles whose numbers are kept: those that another thread gives back stay.
const KEPT: usize = 16 * layout::GROUPS;

/// Most files that have a line of their own.
const FILES: usize = layout::GROUPS / 2;

/// What a thread knows of handles. No handle comes twice, so what is known of one stays true.
pub struct Groups {
    /// Those that were asked for last, of those that share a place.
    known: [(usize, u32); 64],
    numbers: HashMap<usize, u32>,
    types: [(usize, u64); 64],
    types_given_back: u32,
    all: Vec<Members>,
}

impl Default for Groups {
    fn default() -> Groups {
        Groups {
            known: [(0, 0); 64],
            numbers: HashMap::new(),
            types: [(0, 0); 64],
            types_given_back: 0,
            all: Vec::new(),
        }
    }
}

/// A communicator, window or file.
#[derive(Default)]
pub struct Members {
    /// Its handle; 0 once it was given back.
    handle: usize,
    pub kind: u32,
    pub hash: u64,
    /// The ranks of the world that a call on it reaches, -1 for those of other jobs.
    pub ranks: Box<[i32]>,
    /// This rank there.
    pub me: i32,
    /// How many ranks the group of this one has.
    pub own: usize,
    /// Whether a call on it reaches another group.
    pub is_inter: bool,
    /// How many neighbours send to this rank, and are sent to.
    pub neighbors: (usize, usize),
    /// What the whole process knows of it.
    pub comm: Arc<comms::Comm>,
}

impl Members {
    /// The rank of the world that a rank of it is.
    #[inline]
    pub fn world(&self, rank: i64) -> Option<u32> {
        let rank = self.ranks.get(usize::try_from(rank).ok()?)?;
        u32::try_from(*rank).ok()
    }

    /// A file that was opened.
    pub fn of_file(handle: usize, name: &str) -> Members {
        Members {
            handle,
            kind: kind::FILE,
            hash: sum(name.bytes().map(i32::from)),
            ..Members::default()
        }
    }

    /// How many ranks a call on it reaches.
    pub fn len(&self) -> usize {
        self.ranks.len()
    }
}

/// Notes that a datatype was given back.
pub fn type_given_back() {
    TYPES_GIVEN_BACK.fetch_add(1, Relaxed);
}

impl Groups {
    /// The number that a handle has, if that is known.
    #[inline]
    pub fn known(&mut self, handle: usize) -> Option<u32> {
        let known = self.known[place(handle)];
        match known.0 == handle && handle != 0 {
            true => Some(known.1),
            false => self.known_of_old(handle),
        }
    }

    fn known_of_old(&mut self, handle: usize) -> Option<u32> {
        let number = *self.numbers.get(&handle)?;
        self.known[place(handle)] = (handle, number);
        Some(number)
    }

    /// Notes the number of a handle.
    pub fn note(&mut self, handle: usize, number: u32) {
        if self.numbers.len() >= KEPT {
            self.numbers.clear();
        }
        self.numbers.insert(handle, number);
        self.known[place(handle)] = (handle, number);
    }

    /// What is known of a communicator, window or file.
    #[inline]
    pub fn members(&self, number: u32) -> Option<&Members> {
        self.all.get(number as usize)
    }

    /// Notes that an object was given back.
    pub fn give_back(&mut self, handle: usize) {
        comms::forget(handle);
        self.known[place(handle)] = (0, 0);
        let number = self.numbers.remove(&handle);
        let of = number.and_then(|it| self.all.get_mut(it as usize));
        if let Some(gone) = of.filter(|it| it.handle == handle) {
            gone.handle = 0;
        }
    }

    /// Whether files that have no line yet have one together.
    pub fn is_full_of_files(&self) -> bool {
        let is_file = |it: &&Members| it.kind == kind::FILE;
        self.all.iter().filter(is_file).count() >= FILES
    }

    /// Whether a file of that name has a line.
    pub fn has_file(&self, name: &str) -> bool {
        let file = Members::of_file(0, name);
        let is_it = |it: &Members| it.kind == kind::FILE && it.hash == file.hash;
        self.all.iter().any(is_it)
    }

    /// Adds a communicator, window or file: its number, and which one it is with these members if
    /// it is new. One of the same members that was given back is used again: a rank does so in the
    /// same order as others. `None` if there is no room.
    pub fn add(&mut self, members: Members) -> Option<(u32, Option<u32>)> {
        let all = &mut self.all;
        let is_like = |it: &Members| it.kind == members.kind && it.hash == members.hash;
        let again = all.iter().position(|it| {
            // Another thread may have given it back.
            let is_free = || {
                it.handle == members.handle
                    || it.handle == 0
                    || comms::get(it.handle).is_none_or(|comm| !Arc::ptr_eq(&comm, &it.comm))
            };
            is_like(it) && (it.kind == kind::FILE || is_free())
        });
        if let Some(number) = again {
            all[number] = members;
            return Some((number as u32, None));
        }
        if all.len() >= layout::GROUPS {
            return None;
        }
        let nth = all.iter().filter(|it| is_like(it)).count() as u32;
        all.push(members);
        Some((all.len() as u32 - 1, Some(nth)))
    }

    /// The bytes of an element of a datatype.
    #[inline]
    pub fn type_size(&mut self, ty: Datatype) -> u64 {
        let now = TYPES_GIVEN_BACK.load(Relaxed);
        if now != self.types_given_back {
            self.types_given_back = now;
            self.types = [(0, 0); 64];
        }
        if ty == consts::DATATYPE_NULL {
            return 0;
        }
        let at = (ty.0 >> 4 ^ ty.0) % 64;
        let known = self.types[at];
        if known.0 == ty.0 {
            return known.1;
        }
        let mut size = 0;
        let size = match mpi::Type_size_c(ty, &mut size) {
            0 => u64::try_from(size).unwrap_or(0),
            _ => 0,
        };
        self.types[at] = (ty.0, size);
        size
    }
}

/// Whether it is a communicator that is always there.
pub fn is_predefined(handle: usize) -> bool {
    [consts::COMM_WORLD.0, consts::COMM_SELF.0].contains(&handle) && phase::has_world()
}

/// Whether a handle may be that of an object that was made.
pub fn is_object(handle: usize) -> bool {
    handle >= OBJECTS
}

/// Where a handle is noted.
#[inline]
fn place(handle: usize) -> usize {
    (handle >> 24 ^ handle) % 64
}

/// Asks the library which ranks are in a communicator or window, and its name. `made_by` tells the
/// calls apart that have just made it.
pub fn ask(kind: u32, handle: usize, made_by: Option<u64>) -> Option<(Members, String)> {
    let mut group = consts::GROUP_NULL;
    let mut other = None;
    let mut name = String::new();
    let mut neighbors = (0, 0);
    let me;
    match kind {
        kind::COMM if handle >= OBJECTS || is_predefined(handle) => {
            let comm = Comm(handle);
            me = mpi::rank(comm);
            if me < 0 || mpi::Comm_group(comm, &mut group) != 0 {
                return None;
            }
            if mpi::is_inter(comm) {
                let mut remote = consts::GROUP_NULL;
                mpi::Comm_remote_group(comm, &mut remote);
                other = Some(remote);
            }
            name = comm_name(comm);
            neighbors = match mpi::is_grid(comm) {
                true => {
                    let mut dims = 0;
                    mpi::Cartdim_get(comm, &mut dims);
                    let count = 2 * usize::try_from(dims).unwrap_or(0);
                    (count, count)
                }
                false => mpi::neighbors(comm),
            };
        }
        kind::WIN if handle >= OBJECTS => {
            me = -1;
            if mpi::Win_get_group(Win(handle), &mut group) != 0 {
                return None;
            }
        }
        _ => return None,
    }
    let own = in_world(group);
    let (len, is_inter) = (own.len(), other.is_some());
    let mut hash = sum(own.iter().copied());
    let mut ranks = own;
    if let Some(other) = other {
        ranks = in_world(other);
        // Both sides tell the same.
        hash = hash.wrapping_add(sum(ranks.iter().copied()));
    }
    if let Some(by) = made_by {
        let by = match by {
            0 => 0,
            by => mixed(&[by, kind.into(), hash]).max(1),
        };
        comms::made(handle, || comms::next_identity(by), &ranks);
    }
    let comm = comms::get_or_note(handle, &ranks, is_predefined(handle) && kind == kind::COMM);
    let members = Members {
        handle,
        kind,
        hash,
        ranks,
        me,
        own: len,
        is_inter,
        neighbors,
        comm,
    };
    Some((members, name))
}

fn comm_name(comm: Comm) -> String {
    let mut name = [0; consts::MAX_OBJECT_NAME as usize];
    let mut len = 0;
    match mpi::Comm_get_name(comm, name.as_mut_ptr(), &mut len) {
        0 => {
            let len = usize::try_from(len).unwrap_or(0).min(name.len());
            String::from_utf8_lossy(&name[..len]).into_owned()
        }
        _ => String::new(),
    }
}

/// The ranks of the world that the members of a group are, -1 for others. Gives the group back.
fn in_world(mut group: Group) -> Box<[i32]> {
    let mut size = 0;
    if mpi::Group_size(group, &mut size) != 0 {
        return Box::default();
    }
    let ranks: Vec<i32> = (0..size).collect();
    let mut found = vec![-1; ranks.len()];
    // Which session a group is of, nobody tells; only with that one's groups it is compared.
    let mut all = worlds().into_iter();
    let is_told = all.any(|world| {
        mpi::Group_translate_ranks(group, size, ranks.as_ptr(), world, found.as_mut_ptr()) == 0
    });
    if !is_told {
        found.fill(-1);
    }
    mpi::Group_free(&mut group);
    found.iter_mut().for_each(|rank| *rank = (*rank).max(-1));
    found.into()
}

/// The groups of all ranks of the job: that of the world model, and that of each session that is
/// open, the newest first.
fn worlds() -> Vec<Group> {
    static WORLD: OnceLock<Group> = OnceLock::new();
    let world = phase::has_world().then(|| {
        *WORLD.get_or_init(|| {
            let mut world = consts::GROUP_NULL;
            mpi::Comm_group(consts::COMM_WORLD, &mut world);
            world
        })
    });
    let of_sessions = sessions();
    let of_sessions = of_sessions.iter().rev().map(|it| it.1);
    world.into_iter().chain(of_sessions).collect()
}

/// The sessions that are open, and the group of the ranks of the job that each was asked for.
static SESSIONS: Mutex<Vec<(usize, Group)>> = Mutex::new(Vec::new());

fn sessions() -> MutexGuard<'static, Vec<(usize, Group)>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks a session that has begun for the ranks of the job: with the groups of other sessions, or of
/// the world model, those of its communicators cannot be compared.
pub fn ask_session(session: usize) {
    let mut world = consts::GROUP_NULL;
    let name = c"mpi://WORLD";
    if mpi::Group_from_session_pset(Session(session), name.as_ptr(), &mut world) == 0 {
        sessions().push((session, world));
    }
}

/// Gives back what a session was asked for, before it ends.
pub fn leave_session(session: usize) {
    let mut all = sessions();
    let at = all.iter().position(|it| it.0 == session);
    let left = at.map(|at| all.remove(at));
    drop(all);
    if let Some((_, mut world)) = left {
        mpi::Group_free(&mut world);
    }
}

fn sum(numbers: impl Iterator<Item = i32>) -> u64 {
    let add = |sum: u64, number: i32| (sum ^ number as u64).wrapping_mul(0x0000_0100_0000_01b3);
    numbers.fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_back_is_used_again_in_the_same_order() {
        let mut groups = Groups::default();
        let of = |handle, hash| Members {
            handle,
            kind: kind::COMM,
            hash,
            comm: comms::get_or_note(handle, &[], false),
            ..Members::default()
        };
        let add = |groups: &mut Groups, handle, hash| {
            let (number, nth) = groups.add(of(handle, hash)).unwrap();
            groups.note(handle, number);
            (number, nth)
        };
        // All of them share a place.
        let handles = [0x10040, 0x10080, 0x100c0];
        assert_eq!(add(&mut groups, handles[0], 7), (0, Some(0)));
        assert_eq!(add(&mut groups, handles[1], 7), (1, Some(1)));
        assert_eq!(add(&mut groups, handles[2], 8), (2, Some(0)));
        assert_eq!(
            handles.map(|it| groups.known(it)),
            [Some(0), Some(1), Some(2)]
        );
        groups.give_back(handles[0]);
        assert_eq!(groups.known(handles[0]), None);
        assert_eq!(add(&mut groups, 0x20000, 7), (0, None));
    }

    #[test]
    fn files_leave_room_for_communicators() {
        let mut groups = Groups::default();
        for i in 0..FILES {
            assert!(!groups.is_full_of_files());
            assert!(
                groups
                    .add(Members::of_file(OBJECTS + i, &i.to_string()))
                    .is_some()
            );
        }
        assert!(groups.is_full_of_files() && groups.has_file("3") && !groups.has_file("x"));
        let again = groups.add(Members::of_file(OBJECTS + FILES, "3"));
        assert_eq!(again, Some((3, None)), "opened twice");
    }
}
