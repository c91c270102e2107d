//! What both ends of a partitioned message have.

use std::sync::Arc;

use catena_core::Process;
use catena_core::comm::Comm;
use catena_datatype::TypeRef;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

/// The checked arguments of either end.
#[derive(Debug)]
pub struct End {
    /// The communicator.
    pub comm: Arc<Comm>,
    /// The other end; `None` for `MPI_PROC_NULL`.
    pub peer: Option<u32>,
    /// Its tag.
    pub tag: i32,
    /// Where the first partition begins.
    pub buf: *mut u8,
    /// How many there are.
    pub partitions: u32,
    /// Elements of each.
    pub count: u64,
    /// Their type.
    pub ty: TypeRef,
}

impl End {
    /// Packed bytes of a partition.
    pub(super) fn bytes(&self) -> u64 {
        self.count * self.ty.size()
    }

    /// Packed bytes of all.
    pub(super) fn total(&self) -> u64 {
        self.bytes().saturating_mul(self.partitions.into())
    }

    /// The error of an other end that has died, where the job goes on without it.
    pub(super) fn death(&self, process: &Process) -> Option<Error> {
        if !process.knows_deaths() {
            return None;
        }
        let group = self
            .comm
            .remote
            .as_ref()
            .map_or(&self.comm.group, |it| &it.group);
        let error = process.death(group.member(self.peer? as usize))?;
        // The class of all point-to-point communication.
        Some(error.reworded(Kind::ProcFailed, error.text().to_owned()))
    }

    /// Checks the number of a partition.
    pub(super) fn check(&self, partition: i32) -> Result<usize> {
        if (partition as u32) < self.partitions {
            return Ok(partition as usize);
        }
        fail!(
            Arg,
            "the partition is {partition}, but the request has partitions 0 to {}",
            self.partitions - 1
        )
    }
}

/// Checks a number of partitions.
///
/// # Errors
/// `Arg` if there are none.
pub fn partitions(number: i32) -> Result<u32> {
    match u32::try_from(number) {
        Ok(number @ 1..) => Ok(number),
        _ => fail!(
            Arg,
            "the number of partitions is {number}: it must be positive"
        ),
    }
}
