//! Shared file pointers (MPI-5, chapter 14.4.4), and the bytes that a member keeps to itself in
//! atomic mode.

use std::ffi::c_int;

use catena_core::Process;
use catena_objects::error::Result;

use crate::agree;
use crate::call::CollectiveCall;
use crate::driver::Direction;
use crate::file::File;
use crate::lock::RangeLock;
use crate::place::Placed;
use crate::transfer::Transfer;

impl File {
    /// Moves the shared pointer behind an access; where it was.
    pub(crate) fn take_shared(&self, process: &Process, bytes: u64) -> Result<u64> {
        self.shared.take(process, bytes)
    }

    /// A call has failed that moved the shared pointer up to `end`: it goes back, unless somebody
    /// has moved it meanwhile. That the member is gone that keeps it the next call tells.
    pub(crate) fn put_back_shared(&self, process: &Process, end: u64, bytes: u64) {
        let _ = self.shared.put_back(process, end, bytes);
    }

    /// The shared pointer goes to the beginning. All members have arrived, and all call it.
    pub(crate) fn reset_shared(&self, process: &Process) -> Result<()> {
        self.shared.reset(process, self.comm.rank == 0)
    }

    /// `MPI_File_seek_shared`: collective.
    ///
    /// # Errors
    /// `Arg` for an unknown `whence` and places before the beginning; `NotSame`; at all members
    /// alike.
    pub fn seek_shared(&self, process: &Process, offset: i64, whence: c_int) -> Result<()> {
        let own = self.check_no_split().map(|()| offset as u64);
        self.operations.settle(process);
        agree::same(process, &self.comm, own, "the offset")?;
        agree::same(process, &self.comm, Ok(whence as u64), "whence")?;
        let now = self.shared.place(process);
        let target = now.and_then(|now| self.target(offset, whence, now));
        // Nobody moves it before all have seen where it is.
        let target = agree::all_well(process, &self.comm, target)?;
        let set = match self.comm.rank {
            0 => self.shared.set(process, target),
            _ => Ok(()),
        };
        agree::all_well(process, &self.comm, set)
    }

    /// `MPI_File_get_position_shared`: in etypes.
    ///
    /// # Errors
    /// `ProcAborted` if the member that keeps it on another host is gone.
    pub fn position_shared(&self, process: &Process) -> Result<i64> {
        let at = self.shared.place(process)?;
        Ok((at / self.view().unit()) as i64)
    }

    /// Where in the file the shared pointer is.
    ///
    /// # Errors
    /// As [`File::position_shared`].
    pub fn shared_offset(&self, process: &Process) -> Result<i64> {
        let view = self.view();
        let at = self.position_shared(process)? as u64 * view.unit();
        Ok(view.offset(at) as i64)
    }

    /// Where each member works in an ordered call: behind those of lower rank. Collective.
    ///
    /// # Errors
    /// That of a member's arguments, at all members alike.
    pub(crate) fn in_order(
        &self,
        process: &Process,
        own: Result<Transfer>,
    ) -> Result<(Transfer, u64)> {
        let len = own.as_ref().map_or(0, Transfer::len);
        self.operations.settle(process);
        // It only grows, and nobody who has come moves it before all have: who comes last sees
        // where it is. After they have met it is too late to look, as others may be gone and move
        // it.
        let seen = self.shared.place(process);
        let (own, seen) = match seen {
            Ok(seen) => (own, seen),
            Err(error) => (own.and(Err(error)), 0),
        };
        let (transfer, rows) = agree::agree(process, &self.comm, own, [len, seen])?;
        let at = rows.iter().map(|row| row[1]).max().unwrap_or(0);
        let lens = rows.iter().map(|row| row[0]);
        let before: u64 = lens.clone().take(self.comm.rank as usize).sum();
        let from = at + before;
        self.shared.move_together(lens.sum());
        Ok((transfer, from))
    }

    /// In atomic mode, has an independent transfer have its bytes to itself.
    ///
    /// # Errors
    /// `ProcAborted` if the member that keeps who has which bytes is gone.
    pub(crate) fn lock_alone(&self, process: &Process, transfer: &mut Transfer) -> Result<()> {
        transfer.lock = self.lock_of(process, transfer.placed(), transfer.memory.direction())?;
        Ok(())
    }

    /// What keeps others away from the bytes of an access, in atomic mode.
    ///
    /// # Errors
    /// As [`File::lock_alone`].
    pub(crate) fn lock_of(
        &self,
        process: &Process,
        placed: Placed,
        direction: Direction,
    ) -> Result<Option<RangeLock>> {
        if !self.atomic.get() || placed.len == 0 {
            return Ok(None);
        }
        let span = placed.span(&self.view(), direction);
        Ok(Some(match self.shared.claim_kept(process, span)? {
            Some(claimed) => RangeLock::Kept(claimed),
            None => RangeLock::Mapped(self.shared.clone(), span),
        }))
    }

    /// Keeps others away from the bytes of a collective access in atomic mode, once it is its turn:
    /// what is started later must not have bytes that it waits for.
    ///
    /// # Errors
    /// As [`File::lock_alone`].
    pub(crate) async fn lock_in_turn(
        &self,
        crew: &CollectiveCall,
        transfer: &mut Transfer,
    ) -> Result<()> {
        if self.atomic.get() && !transfer.is_empty() {
            let span = transfer.span();
            transfer.lock = Some(match self.shared.claim_in(crew, span).await? {
                Some(claimed) => RangeLock::Kept(claimed),
                None => RangeLock::Mapped(self.shared.clone(), span),
            });
        }
        Ok(())
    }
}
