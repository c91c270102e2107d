//! A member's place at a board: its memory, its doorbells, and the processes of the others.

use std::alloc::{Layout, handle_alloc_error};
use std::mem;
use std::sync::Arc;

use catena_base::tell::no_memory;
use catena_base::verdict::Outcome;
use catena_objects::room::Scratch;
use catena_shm::{Arena, Bell, Mapped, Neighbour};

use crate::area::Area;
use crate::choices::Choices;
use crate::lines::Lines;
use crate::payload::{Payload, PayloadPlace};
use crate::pool::BoardMemory;
use crate::rounds::Rounds;

/// Bytes of a ring that are mapped at a time, when the first of them are used.
const MAPPED: usize = 64 << 10;

/// Memory of a member's own, kept from operation to operation.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// The scratch buffer.
    pub(crate) scratch: Scratch,
    /// What was read from a peer, until it is combined.
    pub(crate) bite: Scratch,
}

/// A member's place at a board.
#[derive(Debug)]
pub struct Seat {
    /// The board.
    pub(crate) area: Area,
    /// What provides and maps its memory.
    arena: Arc<Arena>,
    /// This member.
    pub(crate) rank: u32,
    /// Its memory besides its buffers.
    pub(crate) store: Store,
    /// The doorbells of the other members.
    bells: Box<[Bell]>,
    /// The others, as far as this one reaches their memory.
    pub(crate) neighbours: Box<[Option<Neighbour>]>,
    /// How many bytes of each member's ring are mapped in this process.
    mapped: Box<[usize]>,
    /// Which way long payloads had better go.
    pub(crate) choices: Choices,
    /// How their lines had better be read.
    pub(crate) lines: Lines,
}

impl Seat {
    /// The place of member `rank` at a board. `bells` are those of the others, in the order of
    /// their ranks; `neighbours` are the processes of all members, as far as this one reaches their
    /// memory.
    pub fn new(
        memory: &BoardMemory,
        rank: u32,
        bells: Box<[Bell]>,
        neighbours: Box<[Option<Neighbour>]>,
    ) -> Self {
        let area = memory.area();
        Seat {
            area,
            arena: memory.arena().clone(),
            rank,
            store: Store::default(),
            bells,
            neighbours,
            mapped: vec![0; area.shape.size].into(),
            choices: Choices::default(),
            lines: Lines::new(area.shape.long),
        }
    }

    /// Wakes members that sleep: one, or all.
    #[inline(always)]
    pub(crate) fn wake(&self, whom: Option<u32>) {
        match whom {
            Some(rank) => self.bells[(rank - u32::from(rank > self.rank)) as usize].ring(),
            None => self.bells.iter().for_each(Bell::ring),
        }
    }

    /// The place of the same member, among the same ones, at another board.
    pub fn at(&self, memory: &BoardMemory) -> Self {
        Seat::new(
            memory,
            self.rank,
            self.bells.clone(),
            self.neighbours.clone(),
        )
    }

    /// The rounds of an operation at a place of its own, below [`ROUNDS`](crate::ROUNDS).
    pub fn rounds(&self, place: usize) -> Rounds {
        Rounds::new(self.area, self.rank, place, self.bells.clone())
    }

    /// Gives up: this member uses nobody's memory any more, and the others are told.
    pub fn fail(&self) {
        self.area.fail(self.rank);
        self.wake(None);
    }

    /// Member `rank` has died: what it had to do nobody does.
    #[cold]
    pub fn lose(&self, rank: u32) {
        self.area.fail(rank);
        self.area.leave(rank);
    }

    /// Brings a value to a round of agreement, after the outcome of the one before.
    pub fn vote(&self, round: u32, value: u32) {
        self.area.votes(self.rank).cast(round, value);
        self.wake(None);
    }

    /// How a round of agreement ends, as far as that can be seen: the bitwise and of what all
    /// members have brought, or what was decided.
    #[inline]
    pub fn outcome(&self, round: u32) -> Option<Outcome> {
        let brought = |rank: usize| self.area.votes(rank as u32).of(round);
        let all =
            (0..self.area.shape.size).try_fold(u32::MAX, |all, rank| Some(all & brought(rank)?));
        all.map(Outcome::Agreed)
            .or_else(|| self.area.verdicts().of(round))
    }

    /// What all members come to in a round of agreement, of which this one would say that it is
    /// `own`; also after it has given up. See [`Verdicts`](catena_base::verdict::Verdicts).
    pub fn decide(&self, round: u32, own: Outcome) -> Outcome {
        let outcome = self.area.verdicts().decide(round, own);
        if outcome == Outcome::Abandoned {
            self.wake(None);
        }
        outcome
    }

    /// This member will never look at the board again.
    pub fn leave(&self) {
        self.area.leave(self.rank);
    }

    /// As [`Area::clip`], for a payload that is touched now.
    #[inline(always)]
    pub(crate) fn clip(&mut self, p: &Payload, at: usize, len: usize) -> (*mut u8, usize) {
        let (base, len) = self.area.clip(p, at, len);
        if p.place == PayloadPlace::Ring {
            let owner = self.area.ring_of(p);
            let end = base.addr() + len - self.area.ring(owner).addr();
            if end > self.mapped[owner as usize] {
                self.map(owner, end);
            }
        }
        (base, len)
    }

    /// Provides and maps a ring up to `end` and a bit more, since payloads follow each other.
    #[cold]
    #[inline(never)]
    fn map(&mut self, rank: u32, end: usize) {
        let mapped = &mut self.mapped[rank as usize];
        let end = end.next_multiple_of(MAPPED).min(self.area.shape.rings());
        let from = self.area.ring(rank).wrapping_add(*mapped);
        let bytes = end - mem::replace(mapped, end);
        if self.arena.map(from, bytes) == Mapped::NoMemory {
            // An operation that is under way needs it, as any other memory that a process asks for
            // in vain.
            no_memory(bytes);
            handle_alloc_error(Layout::array::<u8>(bytes).unwrap_or(Layout::new::<u8>()));
        }
    }
}
