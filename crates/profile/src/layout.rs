//! Where things lie in the memory in which a thread's calls are counted. All of it is zero at
//! first.
//!
//! The memory of a node has a head and tables, [`TABLE`] bytes each, from [`PROFILES_AT`] on. A
//! table belongs to one thread, which alone writes it; others read it by system calls. It stays
//! when its process ends, in whichever way.
//!
//! | from    | bytes   | what                                                         |
//! |---------|---------|--------------------------------------------------------------|
//! | 0       | 4 KiB   | whose table it is, and the times, [`Front`]                  |
//! | 4 KiB   | 60 KiB  | what the library has counted, a text of lines                |
//! | 64 KiB  | 128 KiB | [`PLACES`] places of the program                             |
//! | 192 KiB | 64 KiB  | [`GROUPS`] communicators, windows and files                  |
//! | 256 KiB | 256 KiB | [`ENTRIES`] sums of calls, found by a hash of what they are  |
//! | 512 KiB | 128 KiB | [`PEERS`] sums of what passed between this rank and another  |
//! | 640 KiB | 128 KiB | the times of the first [`LOG`] collectives                   |
//! | 768 KiB | 256 KiB | the map of the process's code, as the kernel writes it       |

use catena_trace::{PROFILES_AT, PROFILES_END};

/// Bytes of a table.
pub const TABLE: usize = 1 << 20;
/// Bytes of its head.
pub const FRONT: usize = 4 << 10;
/// Bytes at its beginning that are written; behind them is the map.
pub const WRITTEN: usize = MAPS_AT;

/// What a table begins with once it is in use: a mark, and the version of all that is here.
pub const MARK: u64 = 0x4341_5445_5052_0002;

/// Where it stands what the library has counted.
pub const COUNTERS_AT: usize = FRONT;
/// Most bytes of that.
pub const COUNTERS: usize = PLACES_AT - COUNTERS_AT;
/// Where places begin.
pub const PLACES_AT: usize = 64 << 10;
/// Most places.
pub const PLACES: usize = 512;
/// Where communicators, windows and files begin.
pub const GROUPS_AT: usize = 192 << 10;
/// Most of these. What has no room belongs to none.
pub const GROUPS: usize = 256;
/// Where sums of calls begin.
pub const ENTRIES_AT: usize = 256 << 10;
/// Most of them.
pub const ENTRIES: usize = 1024;
/// Where sums of other ranks begin.
pub const PEERS_AT: usize = 512 << 10;
/// Ranks that have sums of their own; those above have one together.
pub const PEERS: usize = 4096;
/// Where the times of collectives begin.
pub const LOG_AT: usize = 640 << 10;
/// How many are kept, of a small job.
pub const LOG: usize = 16 << 10;
/// Where the map of the code begins.
pub const MAPS_AT: usize = 768 << 10;
/// Most bytes of it.
pub const MAPS: usize = TABLE - MAPS_AT;

/// How many tables a node has. Each has a ring of the same number.
pub const TABLES: u64 = 4000;

/// Where the table of that number begins in the file of a node. Before the first one lies a number:
/// how many are taken.
pub const fn at(number: u64) -> u64 {
    PROFILES_AT + (number + 1) * TABLE as u64
}

/// How many times of collectives a rank keeps in a job of so many: all of them travel to the
/// launcher when the job is over.
pub fn log_of(ranks: u32) -> usize {
    ((4 << 20) / ranks.max(1) as usize).clamp(256, LOG)
}

/// The state of a table.
pub mod state {
    /// MPI is used.
    pub const RUNNING: u32 = 1;
    /// MPI_Finalize was called.
    pub const FINALIZED: u32 = 2;
}

/// Whose table it is, and the times. Times are ticks of `catena_base::clock`.
#[derive(Debug)]
#[repr(C)]
pub struct Front {
    /// [`MARK`].
    pub mark: u64,
    /// The rank in the `MPI_COMM_WORLD` of its job.
    pub rank: u32,
    /// How many ranks that has.
    pub ranks: u32,
    /// The process, as it is counted in its namespace of processes.
    pub pid: u32,
    /// Which of its threads that have called MPI, from 0 on.
    pub thread: u32,
    /// See [`state`].
    pub state: u32,
    /// How many places there are.
    pub places: u32,
    /// How many communicators, windows and files.
    pub groups: u32,
    /// How many times of collectives.
    pub logged: u32,
    /// Bytes of the map.
    pub maps: u32,
    /// One more than the number of the entry of a call that is under way; 0 outside of MPI.
    pub open: u32,
    /// Whether the number of this rank in the world is known.
    pub has_rank: u32,
    /// Communicators and windows that had no room.
    pub no_room: u32,
    /// When the time began that is measured: when MPI_Init returned, or a thread's first call
    /// began.
    pub begin: u64,
    /// When it ended, by MPI_Finalize; 0 before.
    pub end: u64,
    /// When the last call returned.
    pub last: u64,
    /// When the call began that is under way.
    pub since: u64,
    /// How long MPI_Init took.
    pub init: u64,
    /// How long MPI_Finalize took.
    pub finalize: u64,
    /// Calls that had no room for an entry of their own.
    pub lost_calls: u64,
    /// The time that they took.
    pub lost: u64,
    /// One more than the rank that the call waits for which is under way; 0 if it is none, or there
    /// are several.
    pub awaits: u32,
    /// Whether the thread writes its calls to the ring of that number, one by one.
    pub is_streamed: u32,
    /// Bytes of what the library has counted.
    pub counters: u32,
}

/// A place of the program that calls MPI.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Place {
    /// How many addresses there are.
    pub frames: u32,
    /// Bytes of the line.
    pub python_len: u32,
    /// The addresses that the call returns to, the innermost first.
    pub addresses: [u64; 10],
    /// The line of Python, in words.
    pub python: [u8; 160],
}

/// What a group belongs to.
pub mod kind {
    /// A communicator.
    pub const COMM: u32 = 1;
    /// A window.
    pub const WIN: u32 = 2;
    /// A file.
    pub const FILE: u32 = 3;
}

/// Ranks of a group that are kept, the first ones.
pub const MEMBERS: usize = 16;

/// A communicator, window or file.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Group {
    /// A sum of its members, or of the name of a file.
    pub hash: u64,
    /// See [`kind`].
    pub kind: u32,
    /// Which one with these members, from 0 on.
    pub nth: u32,
    /// How many members it has.
    pub size: u32,
    /// Bytes of its name.
    pub name_len: u32,
    /// The first members, as ranks of the world.
    pub members: [u32; MEMBERS],
    /// Its name, the end of it.
    pub name: [u8; 168],
}

/// Kinds of calls, for the parts of a report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
pub enum Class {
    /// Messages from one rank to another, and waiting for them.
    Message = 0,
    /// Collectives.
    Collective = 1,
    /// Windows.
    OneSided = 2,
    /// Files.
    File = 3,
    /// All others.
    Other = 4,
}

impl Class {
    /// The one of that number.
    pub fn of(number: u32) -> Class {
        match number & (COLLECTIVE - 1) {
            0 => Class::Message,
            1 => Class::Collective,
            2 => Class::OneSided,
            3 => Class::File,
            _ => Class::Other,
        }
    }
}

/// Numbers of [`Entry::sizes`]: messages of no byte, of 1, of 2 to 3, of 4 to 7, and so on.
pub const SIZES: usize = 44;

/// Which of [`Entry::sizes`] counts a message of so many bytes.
#[inline]
pub fn size_class(bytes: u64) -> usize {
    ((64 - bytes.leading_zeros()) as usize).min(SIZES - 1)
}

/// The sums of calls of one function from one place on one communicator, window or file.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Entry {
    /// What tells the place apart.
    pub site: u64,
    /// The function, one more than its place among `catena_abi::table::names`, and above 16 bits
    /// the number of the group, or [`NO_GROUP`]. 0: the entry is free.
    pub what: u32,
    /// The number of the place.
    pub place: u32,
    /// How many calls.
    pub calls: u64,
    /// The time in them.
    pub ticks: u64,
    /// That of the longest one.
    pub longest: u64,
    /// Bytes that this rank has given to them, or moved by them.
    pub bytes: u64,
    /// See [`Class`], with [`COLLECTIVE`] if all ranks of the group take part.
    pub class: u32,
    /// How many messages of which size.
    pub sizes: [u32; SIZES],
}

/// In [`Entry::class`]: all ranks of the group take part, and the times of the first calls are
/// kept.
pub const COLLECTIVE: u32 = 1 << 8;

/// In [`Entry::what`]: no communicator, window or file.
pub const NO_GROUP: u32 = 0xffff;

/// What passed between this rank and another one.
#[derive(Debug)]
#[repr(C)]
pub struct Peer {
    /// Bytes of messages to it, and that were put there.
    pub bytes: u64,
    /// How many messages these were.
    pub messages: u64,
    /// Bytes that were got from it.
    pub got: u64,
    /// The time in calls that waited for it.
    pub waits: u64,
}

/// In an item of the log, bits of the time below the number of the group.
pub const LOG_TIME: u32 = 48;

const _: () = assert!(TABLES <= catena_trace::STREAMS && at(TABLES) <= PROFILES_END);
const _: () = assert!(size_of::<Front>() <= FRONT);
const _: () = assert!(size_of::<Place>() <= 256 && PLACES_AT + PLACES * 256 <= GROUPS_AT);
const _: () = assert!(size_of::<Group>() <= 272);
const _: () = assert!(size_of::<Entry>() == 256 && ENTRIES_AT + ENTRIES * 256 <= PEERS_AT);
const _: () = assert!(size_of::<Peer>() == 32 && PEERS_AT + PEERS * 32 <= LOG_AT);
const _: () = assert!(LOG_AT + LOG * 8 <= MAPS_AT);
const _: () = assert!(GROUPS_AT + GROUPS * size_of::<Group>() <= ENTRIES_AT);
