//! An operation on a board from its first look that found nothing to its end, well or not.
//!
//! A member that has no memory for it goes on [without data](WithoutData), and so do those that
//! need what it has. Their calls fail, and the board can be used by the next one.
//!
//! Who waits looks around now and then: perhaps a member called something else, or gave up. An
//! operation that can never be complete ends when nobody uses the program's buffers any more.

use crate::needs;
use catena_hang::{WaitsFor, What};
use std::sync::Arc;

use catena_board::{Member, Op, Trouble, View, WithoutData};
use catena_coll::Args;

use super::backoff::Backoff;
use super::canvass::Canvass;
use super::control::Waiting;
use super::mismatch::{explain, is_of_this_call, signature};
use super::report::Heard;
use super::signature::CallSignature;
use crate::comm::Comm;
use crate::process::Process;
use catena_objects::error::{Error, Kind, Result};

/// An operation that was not complete at once.
#[derive(Debug)]
pub struct PendingOperation {
    op: Op,
    /// Among all calls on the communicator; see `control`.
    place: u32,
    signature: CallSignature,
    backoff: Backoff,
    stage: Stage,
    /// What went wrong at the first look.
    met: Option<Trouble>,
    /// Why this member has no data for it, if it has none.
    without: Option<Error>,
    /// Whom it looked for at the last poll, once it has for some time.
    awaited: Option<u32>,
}

/// How an operation has ended.
#[derive(Debug)]
pub enum Ended {
    Well,
    /// This member had no data for it, for this reason, and goes on with the others.
    WithoutData(Error),
    /// The board is of no more use.
    Failed(Error),
}

impl Ended {
    /// What the call comes to.
    pub fn result(self) -> Result<()> {
        match self {
            Ended::Well => Ok(()),
            Ended::WithoutData(error) | Ended::Failed(error) => Err(error),
        }
    }
}

#[derive(Debug)]
enum Stage {
    Open,
    /// Members have called different things, and all are asked what.
    Asking(Box<Canvass>),
    /// A member gave up. It says why, or another one does.
    Untold,
    /// Given up: others may still use this process's buffers.
    Left(Error),
}

impl PendingOperation {
    /// Goes on with an operation, the call at `place`.
    pub fn new(op: Op, place: u32, signature: CallSignature) -> Self {
        PendingOperation {
            op,
            place,
            signature,
            backoff: Backoff::default(),
            stage: Stage::Open,
            met: None,
            without: None,
            awaited: None,
        }
    }

    /// What went wrong at the first look, if anything has.
    pub fn met(mut self, trouble: Option<Trouble>) -> Self {
        self.met = trouble;
        self
    }

    /// It has no data for this reason, if there is one, and was not polled yet.
    pub fn without(mut self, reason: Option<Error>) -> Self {
        self.without = reason;
        self
    }

    fn poll(
        &mut self,
        member: &mut Member,
        args: &Args<'_>,
        board: &mut View<'_>,
    ) -> std::result::Result<bool, Trouble> {
        match (self.met.take(), &self.without) {
            (Some(trouble), _) => Err(trouble),
            (None, None) => self.op.poll(member, args, board),
            (None, Some(_)) => self.op.poll(member, args, &mut WithoutData(board)),
        }
    }

    /// Whether others may wait until it is advanced again.
    pub fn is_needed(&self) -> bool {
        self.op.is_needed()
    }

    /// Does what can be done now; says how it ended once it has. `member`, `args` and `board` are
    /// those of the operation.
    pub fn advance(
        &mut self,
        process: &Process,
        comm: &Arc<Comm>,
        member: &mut Member,
        args: &Args<'_>,
        board: &mut View<'_>,
    ) -> Option<Ended> {
        let error = match &self.stage {
            Stage::Open => match self.poll(member, args, board) {
                Ok(true) => {
                    let without = self.without.take();
                    return Some(without.map_or(Ended::Well, |error| {
                        Ended::WithoutData(error.on(comm.handle.get()))
                    }));
                }
                Ok(false) => {
                    // Not before the first poll, with which it begins.
                    self.op.suspect();
                    // Also if nothing else is looked at: what is told of this wait has to be true
                    // of this poll.
                    self.awaited = board.awaits;
                    if !self.backoff.polled(false) {
                        return None;
                    }
                    match self.look(process, comm, board.awaits)? {
                        Heard::ProgressTarget(error) => error,
                        Heard::Differs(error) => {
                            return self.differ((process, comm), error, (member, args, board));
                        }
                    }
                }
                Err(trouble @ (Trouble::NoMemory(_) | Trouble::WithoutData(_))) => {
                    self.op.withdraw(member, board);
                    self.without = Some(explain(comm, &trouble));
                    return self.advance(process, comm, member, args, board);
                }
                Err(Trouble::Failed(_)) => {
                    (self.stage, self.backoff) = (Stage::Untold, Backoff::default());
                    return self.advance(process, comm, member, args, board);
                }
                Err(trouble) => {
                    let error = explain(comm, &trouble);
                    if error.kind() == Kind::ProcAborted {
                        // The job ends; that process would never say that it is done.
                        return Some(Ended::Failed(error.on(comm.handle.get())));
                    }
                    if is_of_this_call(comm, &trouble) {
                        return self.differ((process, comm), error, (member, args, board));
                    }
                    comm.report(process, self.place, &error);
                    error
                }
            },
            Stage::Asking(_) => {
                let error = self.go_on_asking((process, comm), (member, args, board))?;
                comm.report(process, self.place, &error);
                error
            }
            Stage::Untold => match comm.trouble(process) {
                Some(error) => error,
                None => self.hear_why(process, comm)?,
            },
            Stage::Left(error) => {
                if process.is_troubled() {
                    // They use nothing any more.
                    comm.failed_ranks(process)
                        .iter()
                        .for_each(|&rank| board.lose(rank));
                }
                let unused = matches!(self.op.poll(member, args, board), Ok(true));
                return unused.then(|| Ended::Failed(error.clone()));
            }
        };
        self.leave((process, comm), error, (member, args, board))
    }

    /// Members have called different things: before it fails, all are asked what. What stands
    /// on the board of this call is known already.
    #[cold]
    fn differ(
        &mut self,
        (process, comm): (&Process, &Arc<Comm>),
        error: Error,
        (member, args, board): (&mut Member, &Args<'_>, &mut View<'_>),
    ) -> Option<Ended> {
        match Canvass::begin(comm, &error) {
            Some(canvass) => {
                self.stage = Stage::Asking(canvass);
                self.advance(process, comm, member, args, board)
            }
            None => {
                comm.report(process, self.place, &error);
                self.leave((process, comm), error, (member, args, board))
            }
        }
    }

    /// Goes on to ask; what is wrong, once that is known.
    #[cold]
    fn go_on_asking(
        &mut self,
        (process, comm): (&Process, &Arc<Comm>),
        (member, args, board): (&Member, &Args<'_>, &View<'_>),
    ) -> Option<Error> {
        let Stage::Asking(canvass) = &mut self.stage else {
            return None;
        };
        if let Some(error) = comm.trouble(process) {
            return Some(error);
        }
        // Some may say only now that they are ahead.
        let bytes = self.signature.bytes as usize;
        let records = self.op.called_by(member, args, board, bytes);
        let mine = records.iter().find(|(rank, _)| *rank == comm.rank);
        let whole = mine.is_none_or(|(_, meta)| meta.bytes as usize == bytes);
        for (rank, meta) in records {
            canvass.know(rank, signature(meta), whole);
        }
        let call = Waiting {
            comm,
            place: self.place,
            signature: Some(self.signature),
        };
        canvass.go_on(process, &call)
    }

    /// It fails: it ends once nobody uses the buffers of this process any more.
    #[cold]
    fn leave(
        &mut self,
        (process, comm): (&Process, &Arc<Comm>),
        error: Error,
        (member, args, board): (&mut Member, &Args<'_>, &mut View<'_>),
    ) -> Option<Ended> {
        self.op.give_up();
        board.fail();
        self.stage = Stage::Left(error.on(comm.handle.get()));
        // Nobody rings for what has come already.
        self.advance(process, comm, member, args, board)
    }

    /// What it waits for: the member that it looks for, as far as that is known. One that goes
    /// wrong may be told why by any.
    pub fn describe(&self, process: &Process, comm: &Comm, waits: &mut WaitsFor) {
        let awaited = self.awaited.filter(|_| matches!(self.stage, Stage::Open));
        let ranks = awaited.map(|rank| (comm.cid, rank));
        let mut need = needs::of(process, What::Collective, comm, ranks);
        need.open |= ranks.is_none();
        need.call = Some((self.signature.label.to_string(), self.place));
        waits.needs.push(need);
    }

    /// Why a member gave up, if somebody has said so.
    #[cold]
    fn hear_why(&mut self, process: &Process, comm: &Arc<Comm>) -> Option<Error> {
        if !self.backoff.look(comm.unexpected(process)) {
            return None;
        }
        let call = Waiting {
            comm,
            place: self.place,
            signature: None,
        };
        match call.heard(process, &mut self.backoff)? {
            Heard::ProgressTarget(error) | Heard::Differs(error) => Some(error),
        }
    }

    /// Nothing has come for a while: perhaps a member called something else, or gave up.
    #[cold]
    #[inline(never)]
    fn look(&mut self, process: &Process, comm: &Arc<Comm>, awaited: Option<u32>) -> Option<Heard> {
        let trouble = comm.trouble(process);
        if let Some(error) = trouble.or_else(|| comm.coll.lost.take()) {
            return Some(Heard::ProgressTarget(error));
        }
        let call = Waiting {
            comm,
            place: self.place,
            signature: Some(self.signature),
        };
        let backoff = &mut self.backoff;
        if backoff.look(comm.unexpected(process))
            && let Some(heard) = call.heard(process, backoff)
        {
            return Some(heard);
        }
        if backoff.is_long() {
            process.inquire(&call, awaited.map(|rank| (comm.cid, rank)).into_iter());
        }
        None
    }
}
