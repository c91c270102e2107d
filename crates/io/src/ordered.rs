//! Ordered access (MPI-5, chapter 14.4.4): as if the members called one after the other, by rank.

use catena_core::Process;
use catena_objects::error::Result;

use crate::access::Buffer;
use crate::driver::Direction;
use crate::file::File;
use crate::place::{FilePosition, Placed};
use crate::transfer::Transfer;

impl File {
    /// The transfer of an ordered call. Collective.
    ///
    /// # Errors
    /// That of a member's arguments, at all members alike.
    pub fn prepare_ordered(
        &self,
        process: &Process,
        direction: Direction,
        buffer: Result<Buffer<'_>>,
    ) -> Result<Transfer> {
        let own = buffer.and_then(|buffer| {
            self.check_no_split()?;
            let access = self.check(direction, buffer)?;
            self.transfer(process, &access)
        });
        let (mut transfer, from) = self.in_order(process, own)?;
        transfer.put_at(Placed {
            place: FilePosition::Ordered,
            from,
            ..transfer.placed()
        });
        Ok(transfer)
    }
}
