//! A communicator's place on a board, and how far its member is.

use std::any::Any;
use std::fmt;
use std::mem;

use catena_board::{BoardMemory, Member, Op, Seat};
use catena_coll::Args;
use catena_objects::error::{Error, Kind, Result};

use super::tag::Label;

/// A communicator's place on a board.
#[derive(Debug, Default)]
pub enum Membership {
    /// No collective was called yet that seeks one.
    #[default]
    Unknown,
    /// It is being made.
    Joining(Box<dyn BoardSetup>),
    /// Members are on several nodes, or there was no memory for a board.
    None,
    /// The board and how far this member is.
    Member(Box<BoardMembership>),
    /// A member gave up, so the board is of no more use, if there is one; what went wrong.
    Failed(Option<Box<BoardMembership>>, Error),
}

/// A member's place on its board, and how far it is.
#[derive(Debug)]
pub struct BoardMembership {
    pub(super) member: Member,
    pub(super) seat: Seat,
    /// Operations that it has begun besides blocking calls.
    pub(super) beside: u32,
    /// The memory of the board, if this process has found it.
    pub(super) found: Option<BoardMemory>,
    /// Agreements that it has taken part in; none any more after one that was abandoned.
    pub(super) agreements: Option<u32>,
}

/// A board that is being made, as its communicator keeps it.
pub trait BoardSetup: Any + fmt::Debug {
    /// The memory of the board, if this process has found it.
    fn found(&self) -> Option<BoardMemory>;

    /// The place that it has come to, if it failed there.
    fn place(self: Box<Self>) -> Option<Box<BoardMembership>>;
}

/// What records say of a call that blocks nobody.
pub(super) const STARTED: u32 = 1 << 21;

impl Membership {
    /// What a call comes to that has no board.
    #[cold]
    pub(super) fn outside(&self) -> Result<bool> {
        match self {
            Membership::Failed(_, error) => {
                let text = format!(
                    "an earlier collective on the communicator failed ({error}): free it, and make \
                     another one"
                );
                let error = Error::new(error.kind(), text);
                Err(error)
            }
            _ => Ok(false),
        }
    }

    /// A member gave up: this one uses the board no more, and says so. Before there is one it
    /// will not help to make it, as it may have counted other calls than the others.
    #[cold]
    pub(super) fn fail(&mut self, error: &Error) {
        *self = match mem::take(self) {
            Membership::Unknown => Membership::Failed(None, error.clone()),
            Membership::Member(place) => {
                place.seat.fail();
                Membership::Failed(Some(place), error.clone())
            }
            // A revocation says more than the failures before it: nothing will succeed any more.
            Membership::Failed(place, _) if error.kind() == Kind::Revoked => {
                Membership::Failed(place, error.clone())
            }
            other => other,
        };
    }

    /// A member has died.
    pub(super) fn lose(&self, rank: u32) {
        if let Some(place) = self.place() {
            place.seat.lose(rank);
        }
    }

    /// Says on the board how far this member is: who waits there for it in vain sees it.
    #[cold]
    pub(super) fn tell(&mut self) {
        if let Membership::Member(place) = self {
            let BoardMembership { member, seat, .. } = &mut **place;
            member.tell(&mut seat.view());
        }
    }

    /// Whether there is a board, or cannot be one.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        !matches!(self, Membership::Unknown | Membership::Joining(_))
    }

    /// As [`Membership::place`].
    pub(super) fn place_mut(&mut self) -> Option<&mut BoardMembership> {
        match self {
            Membership::Member(place) => Some(place),
            Membership::Failed(place, _) => place.as_deref_mut(),
            Membership::Unknown | Membership::Joining(_) | Membership::None => None,
        }
    }

    /// The place on a board that can be used, or could.
    pub(super) fn place(&self) -> Option<&BoardMembership> {
        match self {
            Membership::Member(place) => Some(place),
            Membership::Failed(place, _) => place.as_deref(),
            Membership::Unknown | Membership::Joining(_) | Membership::None => None,
        }
    }

    /// The memory of the board, if this process has found it.
    pub(super) fn found(&self) -> Option<BoardMemory> {
        match self {
            Membership::Joining(joining) => joining.found(),
            _ => self.place()?.found.clone(),
        }
    }

    /// Blocking calls that the board has seen.
    pub(super) fn calls(&self) -> u32 {
        self.place().map_or(0, BoardMembership::calls)
    }
}

impl BoardMembership {
    /// The one of a member that has begun an operation: to meet there. `found` is the memory of the
    /// board if this process has found it.
    pub(super) fn new(member: Member, seat: Seat, found: Option<BoardMemory>) -> Self {
        let beside = 1;
        BoardMembership {
            member,
            seat,
            beside,
            found,
            agreements: Some(0),
        }
    }

    /// Blocking calls. All others have numbers of their own (`tag`).
    pub(super) fn calls(&self) -> u32 {
        (self.member.started() as u32).wrapping_sub(self.beside)
    }

    /// Begins an operation that blocks nobody, if it can run here. Without a collective it is one
    /// among neighbours.
    pub(super) fn start(&mut self, label: Label, args: &Args<'_>) -> Option<Op> {
        let kind = self.member.choose(label.what, args)?;
        self.beside = self.beside.wrapping_add(1);
        let mut called = label.called();
        called.detail |= STARTED;
        Some(self.member.start(kind, called))
    }
}
