//! Agreement of members that share a board, as long as nobody knows of a failure among them.
//!
//! Each brings its flags to a round, in memory that all see, and takes the bitwise and of what all
//! have brought. That may reach some members, and others not, as one dies meanwhile. So each asks
//! the [verdicts](catena_base::verdict) of the board what it comes to: the one of them that is
//! first decides whether the result holds, for all, or whether all go the other way, along the tree
//! of `ft`. The result holds only if all have brought their flags; so who knows of a failure
//! beforehand just brings nothing. All others come to know of it.
//!
//! No collective of the board is used, so calls that block and calls that do not may meet in one
//! agreement.
//!
//! Once all have gone the other way they always do.

use crate::needs;
use catena_hang::{WaitsFor, What};
use std::hint::spin_loop;
use std::sync::Arc;

use catena_base::verdict::Outcome;
use catena_coll::{Args, Collective, Layout};

use super::force::allows_board;
use super::membership::Membership;
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::{Comm, NONE};
use crate::process::Process;

/// Looks for the others' flags before anything else is done, with a core of one's own.
const LOOKS: u32 = 2000;

/// What became of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// It is not yet known whether there is a board.
    Later,
    /// It was brought to this round.
    Cast(u32),
    /// The members agree in another way, which holds for all of them alike.
    Elsewhere,
}

impl Comm {
    /// The bitwise and of the flags of all members, if nobody has died; `None` if they agree in
    /// another way, which holds for all of them alike. Collective.
    #[inline]
    pub fn agree_on_board(self: &Arc<Self>, process: &Process, flags: u32) -> Option<u32> {
        let describe = |process: &Process, waits: &mut WaitsFor| {
            waits
                .needs
                .push(needs::of_all(process, What::Agreement, self));
        };
        let mut vote = self.vote_on_board(process, flags);
        if vote == Vote::Later {
            process.block(describe, |process| {
                vote = self.vote_on_board(process, flags);
                vote != Vote::Later
            });
        }
        let Vote::Cast(round) = vote else {
            return None;
        };
        let looks = if process.engine.oversubscribed {
            1
        } else {
            LOOKS
        };
        let look = || {
            spin_loop();
            self.count_votes(process, round)
        };
        let mut outcome = (0..looks).find_map(|_| look());
        if outcome.is_none() {
            process.block(describe, |process| {
                outcome = self.count_votes(process, round);
                outcome.is_some()
            });
        }
        match outcome? {
            Outcome::Agreed(all) => Some(all),
            Outcome::Abandoned => None,
        }
    }

    /// Takes part in the next agreement on the board of a communicator, after the outcome of the
    /// one before.
    #[inline]
    pub fn vote_on_board(self: &Arc<Self>, process: &Process, flags: u32) -> Vote {
        if !self.may_agree_on_board(process, Collective::Allreduce) {
            return Vote::Elsewhere;
        }
        let Ok(mut membership) = self.coll.node.try_borrow_mut() else {
            return Vote::Later;
        };
        if !membership.is_settled() && matches!(membership.join(process, self), Ok(false)) {
            return Vote::Later;
        }
        let is_good = matches!(*membership, Membership::Member(_));
        // Who came to no place has brought nothing.
        let Some(place) = membership.place_mut() else {
            return Vote::Elsewhere;
        };
        let Some(round) = place.agreements.map(|it| it + 1) else {
            return Vote::Elsewhere;
        };
        if !is_good {
            place.seat.decide(round, Outcome::Abandoned);
            place.agreements = None;
            return Vote::Elsewhere;
        }
        place.seat.vote(round, flags);
        Vote::Cast(round)
    }

    /// What has become of a round of agreement, if that is known.
    #[inline]
    pub fn count_votes(&self, process: &Process, round: u32) -> Option<Outcome> {
        let is_hopeless = self.trouble(process).is_some();
        let mut membership = self.coll.node.try_borrow_mut().ok()?;
        let Some(place) = membership.place_mut() else {
            return Some(Outcome::Abandoned);
        };
        let found = place.seat.outcome(round);
        let found = found.or(is_hopeless.then_some(Outcome::Abandoned))?;
        let outcome = place.seat.decide(round, found);
        place.agreements = match outcome {
            Outcome::Agreed(_) => Some(round),
            Outcome::Abandoned => None,
        };
        Some(outcome)
    }

    /// The board of a communicator is kept, also if that is freed, until this is taken back.
    pub fn keep_board(&self) {
        self.coll.counting.set(self.coll.counting.get() + 1);
    }

    /// Takes [`Comm::keep_board`] back.
    pub fn release_board(&self, process: &Process) {
        self.coll.counting.set(self.coll.counting.get() - 1);
        self.leave_freed(process);
    }

    #[inline]
    fn may_agree_on_board(&self, process: &Process, what: Collective) -> bool {
        let is_abandoned = || {
            let membership = self.coll.node.try_borrow();
            membership.is_ok_and(|it| it.place().is_some_and(|it| it.agreements.is_none()))
        };
        let may = self.size() > 1 && !self.is_inter() && allows_board(what);
        may && self.trouble(process).is_none() && !is_abandoned()
    }

    /// What each member tells all others, by rank, if nobody has died and all can take part; `None`
    /// if they have to do it in another way, which holds for all of them alike. Collective.
    pub fn share_on_board(
        self: &Arc<Self>,
        process: &Process,
        own: [u32; 2],
    ) -> Option<Vec<[u32; 2]>> {
        if !self.may_agree_on_board(process, Collective::Allgather) {
            return None;
        }
        let args = Args {
            send: Layout::Even(size_of_val(&own)),
            recv: Layout::Even(size_of_val(&own)),
            ..Args::new(self.size(), self.rank)
        };
        let (mut row, mut rows) = (own, vec![[NONE; 2]; self.size() as usize]);
        let ends = (row.as_mut_ptr().cast(), rows.as_mut_ptr().cast());
        let label = Label::SHRINK;
        let say = || CallSignature {
            label,
            bytes: size_of_val(&own) as u64,
            on_board: true,
            is_persistent: false,
            is_idle: false,
            function: 0,
        };
        let told = self.run_on_board(process, label, &args, Ok(ends), None, &say);
        let is_well = match told {
            Ok(true) => own[0] != NONE,
            // There is no board, for nobody.
            Ok(false) => return None,
            Err(_) => false,
        };
        (self.agree_on_board(process, is_well.into())? == 1).then_some(rows)
    }
}
