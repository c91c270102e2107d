//! Communicators, windows and files, and which ranks of the world are in them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use catena_abi::{Comm, Datatype, Group, Win, consts};
use catena_profile::layout::{self, kind};
use catena_tool::mpi;

use crate::phase;

/// How often handles were given back, in any thread: what was known of them is looked up again.
static GIVEN_BACK: AtomicU32 = AtomicU32::new(0);
/// How often datatypes were.
static TYPES_GIVEN_BACK: AtomicU32 = AtomicU32::new(0);

/// Handles of objects of the library begin here.
const OBJECTS: usize = 0x1000;

/// What a thread knows of handles: the last ones of those that share a place.
pub struct Groups {
    known: [(usize, u32); 16],
    types: [(usize, u64); 64],
    given_back: u32,
    types_given_back: u32,
    all: Vec<Members>,
}

impl Default for Groups {
    fn default() -> Groups {
        Groups {
            known: [(0, 0); 16],
            types: [(0, 0); 64],
            given_back: 0,
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
    /// How many neighbours send to this rank, and are sent to.
    pub neighbors: (usize, usize),
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
    /// The number that a handle has, if it was asked for of late.
    #[inline]
    pub fn known(&mut self, handle: usize) -> Option<u32> {
        let now = GIVEN_BACK.load(Relaxed);
        if now != self.given_back {
            self.given_back = now;
            for known in self.known.iter_mut().filter(|it| it.0 >= OBJECTS) {
                *known = (0, 0);
            }
        }
        let known = self.known[place(handle)];
        (known.0 == handle && handle != 0).then_some(known.1)
    }

    /// Notes the number of a handle.
    pub fn note(&mut self, handle: usize, number: u32) {
        self.known[place(handle)] = (handle, number);
    }

    /// What is known of a communicator, window or file.
    #[inline]
    pub fn members(&self, number: u32) -> Option<&Members> {
        self.all.get(number as usize)
    }

    /// The number of what needs not be asked for again: what is always there, and files, whose
    /// names are known from their opening.
    pub fn lasting(&self, kind: u32, handle: usize) -> Option<u32> {
        let is_it = |it: &Members| it.handle == handle && it.kind == kind;
        let found = self.all.iter().position(is_it)?;
        (kind == kind::FILE || handle < OBJECTS).then_some(found as u32)
    }

    /// Notes that an object was given back.
    pub fn give_back(&mut self, kind: u32, handle: usize) {
        let mut all = self.all.iter_mut();
        if let Some(gone) = all.find(|it| it.handle == handle && it.kind == kind) {
            gone.handle = 0;
        }
        GIVEN_BACK.fetch_add(1, Relaxed);
    }

    /// Adds a communicator, window or file: its number, and which one it is with these members if
    /// it is new. One of the same members that was given back is used again: a rank does so in the
    /// same order as others. `None` if there is no room.
    pub fn add(&mut self, members: Members) -> Option<(u32, Option<u32>)> {
        let all = &mut self.all;
        let is_like = |it: &Members| it.kind == members.kind && it.hash == members.hash;
        let again = all
            .iter()
            .position(|it| is_like(it) && (it.handle == members.handle || it.handle == 0));
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
fn is_predefined(handle: usize) -> bool {
    [consts::COMM_WORLD.0, consts::COMM_SELF.0].contains(&handle)
}

/// Where a handle is noted.
#[inline]
fn place(handle: usize) -> usize {
    (handle >> 4 ^ handle >> 10 ^ handle) % 16
}

/// Asks the library which ranks are in a communicator or window, and its name.
pub fn ask(kind: u32, handle: usize) -> Option<(Members, String)> {
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
    let mut hash = sum(own.iter().copied());
    let mut ranks = own;
    if let Some(other) = other {
        ranks = in_world(other);
        // Both sides tell the same.
        hash = hash.wrapping_add(sum(ranks.iter().copied()));
    }
    let members = Members {
        handle,
        kind,
        hash,
        ranks,
        me,
        neighbors,
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
    if let Some(world) = world() {
        mpi::Group_translate_ranks(group, size, ranks.as_ptr(), world, found.as_mut_ptr());
    }
    mpi::Group_free(&mut group);
    found.iter_mut().for_each(|rank| *rank = (*rank).max(-1));
    found.into()
}

/// The group of the world, if there is one.
fn world() -> Option<Group> {
    static WORLD: OnceLock<Group> = OnceLock::new();
    if !phase::has_world() {
        return None;
    }
    let world = WORLD.get_or_init(|| {
        let mut world = consts::GROUP_NULL;
        mpi::Comm_group(consts::COMM_WORLD, &mut world);
        world
    });
    Some(*world)
}

fn sum(numbers: impl Iterator<Item = i32>) -> u64 {
    let add = |sum: u64, number: i32| (sum ^ number as u64).wrapping_mul(0x0000_0100_0000_01b3);
    numbers.fold(0xcbf2_9ce4_8422_2325, add)
}
