//! Inquiries: a member that has waited long in a collective tells one that it waits for which
//! call it is in. If that one waits in the same call, it compares. So members with different
//! roots, operations or counts, of whom nobody sends, are told instead of waiting for ever.
//!
//! Of members that wait for each other without end, some form a circle, and somewhere in it two
//! neighbours have called different things: else the circle were in the algorithm. A member asks
//! one after the other of those that it waits for.
//!
//! Nobody is asked again who has not answered: whoever is only late keeps one inquiry of each
//! member, however often they wait. The context of the job is the only one that outlives all
//! calls, so only members of `MPI_COMM_WORLD` ask: elsewhere an inquiry might come to a
//! communicator that is freed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use catena_base::clock;
use catena_link::Cid;

use super::aside::{Aside, Kind, Waiting};
use super::patience::LONG;
use super::tag::{Label, Number, function};
use crate::comm::{Comm, JOB};
use crate::error::{self, Error};
use crate::world::World;

/// What a member says of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    pub label: Label,
    /// As in [`catena_coll::Shape`], so alike for all; 0 where they need not be.
    pub bytes: u64,
    /// It is a blocking one that takes place on the board.
    pub on_board: bool,
}

/// The inquiries of this process.
#[derive(Debug, Default)]
pub struct Asked {
    /// Who was asked last, and at which tick.
    last: Cell<(u32, u64)>,
    /// Who has not answered yet.
    unanswered: RefCell<BTreeSet<u32>>,
}

impl Said {
    const LEN: usize = 17;

    fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.label.number().to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.label.detail.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.bytes.to_ne_bytes());
        bytes[16] = self.on_board.into();
        bytes
    }

    /// What an inquiry says; `None` if it is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LEN] = bytes.try_into().ok()?;
        let word = |at: usize| bytes[at..at + 4].try_into().map(u32::from_ne_bytes).ok();
        Some(Said {
            label: Label::of(word(0)?, word(4)?),
            bytes: bytes[8..16].try_into().map(u64::from_ne_bytes).ok()?,
            on_board: bytes[16] != 0,
        })
    }

    /// What is wrong if another member says that of the same call.
    pub fn differs(&self, comm: &Comm, who: &str, theirs: Said) -> Option<Error> {
        let (me, what) = (comm.rank, function(self.label.what));
        let rooted = self
            .label
            .what
            .is_some_and(catena_coll::Collective::is_rooted);
        // Between two groups those beside the root do not know it.
        let detail = !(comm.is_inter() && rooted);
        if self.label.what != theirs.label.what
            || detail && self.label.detail != theirs.label.detail
        {
            return Some(different(&format!(
                "{who} called {}, and rank {me} called {}",
                theirs.label, self.label
            )));
        }
        if self.bytes != theirs.bytes {
            let text = format!(
                "the arguments of {what} differ: {who} passed {} bytes, and rank {me} {}. \
                 Counts and types must agree on all ranks",
                theirs.bytes, self.bytes
            );
            return Some(Error::new(error::Kind::Truncate, text));
        }
        let form = |on_board| match on_board {
            true => "the blocking form",
            false => "another form, or one for other types,",
        };
        (self.on_board != theirs.on_board).then(|| {
            different(&format!(
                "{who} called {} of {what}, and rank {me} {}",
                form(theirs.on_board),
                form(self.on_board)
            ))
        })
    }
}

/// Members called different things.
pub fn different(what: &str) -> Error {
    let text = format!("the members of the communicator called different collectives: {what}");
    Error::new(error::Kind::Other, text)
}

impl World {
    /// Tells the next of those ranks for whom a call waits which call that is.
    #[cold]
    pub(super) fn inquire(&self, call: &Waiting, awaited: impl Iterator<Item = u32>) {
        let (now, (last, at)) = (clock::ticks(), self.asked.last.get());
        let early = at != 0 && now.wrapping_sub(at) < clock::ticks_in(LONG);
        let Some(said) = call.said.filter(|_| call.comm.cid == JOB && !early) else {
            return;
        };
        let mut unanswered = self.asked.unanswered.borrow_mut();
        let free = awaited.filter(|rank| !unanswered.contains(rank));
        // Around the circle of all.
        if let Some(to) = free.min_by_key(|&rank| (rank <= last, rank)) {
            let aside = Aside {
                kind: Kind::Inquiry,
                place: call.place,
            };
            self.tell_aside((JOB, to), aside, &said.to_bytes());
            unanswered.insert(to);
            self.asked.last.set((to, now));
        }
    }

    /// Tells who has asked that it may do so again.
    pub(super) fn answer(&self, to: (Cid, u32), place: Number) {
        let kind = Kind::Answer;
        self.tell_aside(to, Aside { kind, place }, &[]);
    }

    /// That rank has answered.
    pub(super) fn answered(&self, rank: u32) {
        self.asked.unanswered.borrow_mut().remove(&rank);
    }
}

#[cfg(test)]
mod tests {
    use catena_coll::Collective;

    use super::*;

    #[test]
    fn what_is_said_arrives() {
        for what in Collective::ALL.map(Some).into_iter().chain([None]) {
            let label = Label {
                what,
                detail: 70_000,
            };
            let said = Said {
                label,
                bytes: 1 << 40,
                on_board: what == Some(Collective::Scan),
            };
            assert_eq!(Said::read(&said.to_bytes()), Some(said));
        }
        assert_eq!(Said::read(b"no inquiry"), None);
    }
}
