//! Agreement of members that share a board, as long as nobody knows of a failure among them.
//!
//! They combine their flags as in an allreduce. Its result may reach some members, and others not, as one dies
//! meanwhile. So each asks the [verdicts](catena_base::verdict) of the board what it comes to: the one of them that is
//! first decides whether the result holds, for all, or whether all go the other way, along the tree of `ft`. The
//! result holds only if all have published their flags; so who knows of a failure beforehand just publishes nothing.
//! All others come to know of it, and give the board up.
//!
//! Once all have gone the other way they always do.

use std::sync::Arc;

use catena_abi::consts;
use catena_base::verdict::Outcome;
use catena_coll::{Args, Collective, Layout};
use catena_objects::op::Reducer;

use super::force::allows_board;
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::{Comm, NONE};
use crate::process::Process;

/// Bytes of the flags.
const BYTES: usize = size_of::<u32>();

impl Process {
    /// The bitwise and of the flags of all members, if nobody has died; `None` if they agree in another way,
    /// which holds for all of them alike. Collective.
    #[inline]
    pub fn agree_on_board(&self, comm: &Arc<Comm>, flags: u32) -> Option<u32> {
        if !self.may_agree_on_board(comm, Collective::Allreduce) {
            return None;
        }
        let ty = self.objects.types.committed(consts::UINT32_T).ok()?;
        let kernel = self.objects.ops.kernel(consts::BAND, consts::UINT32_T, ty);
        let reducer = Reducer::Kernel(kernel.ok()??);
        let args = Args {
            elem: BYTES,
            send: Layout::Even(BYTES),
            recv: Layout::Even(BYTES),
            ..Args::new(comm.size(), comm.rank)
        };
        let (mut own, mut all) = (flags, 0u32);
        let ends = ((&raw mut own).cast(), (&raw mut all).cast());
        let say = || CallSignature {
            label: Label::AGREE,
            bytes: BYTES as u64,
            on_board: true,
            is_persistent: false,
            is_idle: false,
        };
        let label = (Label::AGREE.what, Label::AGREE.detail);
        let found = match self.run_on_board(comm, label, &args, ends, Some(&reducer), &say) {
            Ok(true) => Outcome::Agreed(all),
            // There is none, for nobody.
            Ok(false) => return None,
            Err(_) => Outcome::Abandoned,
        };
        let mut membership = match comm.coll.node.try_borrow_mut() {
            Ok(membership) => membership,
            Err(_) => self.await_place(comm)?,
        };
        // Who came to no place has published nothing.
        let place = membership.place_mut()?;
        let round = place.agreements? + 1;
        match place.seat.decide(round, found) {
            Outcome::Agreed(all) => {
                place.agreements = Some(round);
                Some(all)
            }
            Outcome::Abandoned => {
                place.agreements = None;
                None
            }
        }
    }
    #[inline]
    fn may_agree_on_board(&self, comm: &Comm, what: Collective) -> bool {
        let is_abandoned = || {
            let membership = comm.coll.node.try_borrow();
            membership.is_ok_and(|it| it.place().is_some_and(|it| it.agreements.is_none()))
        };
        let may = comm.size() > 1 && !comm.is_inter() && allows_board(what);
        may && self.trouble(comm).is_none() && !is_abandoned()
    }

    /// What each member tells all others, by rank, if nobody has died and all can take part; `None` if they have to
    /// do it in another way, which holds for all of them alike. Collective.
    pub fn share_on_board(&self, comm: &Arc<Comm>, own: [u32; 2]) -> Option<Vec<[u32; 2]>> {
        if !self.may_agree_on_board(comm, Collective::Allgather) {
            return None;
        }
        let args = Args {
            send: Layout::Even(size_of_val(&own)),
            recv: Layout::Even(size_of_val(&own)),
            ..Args::new(comm.size(), comm.rank)
        };
        let (mut row, mut rows) = (own, vec![[NONE; 2]; comm.size() as usize]);
        let ends = (row.as_mut_ptr().cast(), rows.as_mut_ptr().cast());
        let label = Label::SHRINK;
        let say = || CallSignature {
            label,
            bytes: size_of_val(&own) as u64,
            on_board: true,
            is_persistent: false,
            is_idle: false,
        };
        let told = self.run_on_board(comm, (label.what, label.detail), &args, ends, None, &say);
        let is_well = match told {
            Ok(true) => own[0] != NONE,
            // There is no board, for nobody.
            Ok(false) => return None,
            Err(_) => false,
        };
        (self.agree_on_board(comm, is_well.into())? == 1).then_some(rows)
    }
}
