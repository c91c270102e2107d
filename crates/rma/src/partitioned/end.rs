//! What both ends of a partitioned message have.

use std::sync::Arc;

use catena_core::Process;
use catena_core::comm::Comm;
use catena_core::needs;
use catena_datatype::TypeRef;
use catena_fabric::Peer;
use catena_hang::{Need, WaitsFor, What};
use catena_link::Awaited;
use catena_net::Route;
use catena_objects::error::{Error, Result};
use catena_objects::fail;
use catena_shm::Bell;

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

    /// The process of the other end.
    pub(super) fn process(&self) -> Option<Peer> {
        let remote = self.comm.remote.as_ref();
        let group = remote.map_or(&self.comm.group, |it| &it.group);
        Some(group.member(self.peer? as usize))
    }

    /// The doorbells of the other end and of this process, if the two share memory.
    pub(super) fn bells(&self, process: &Process) -> Option<(Bell, Bell)> {
        let peer = self.process()?;
        process.link(|link| {
            let net = link.net();
            if net.route(peer) != Route::Shm {
                return None;
            }
            let shm = net.shm()?;
            // SAFETY: the transport lives as long as the process.
            Some(unsafe { (shm.bell(peer), shm.own_bell()) })
        })
    }

    /// Adds the other end to those that are awaited.
    pub(super) fn awaits(&self, awaited: &mut Awaited) {
        awaited.named.extend(self.process());
    }

    /// Says in words what the request waits for: `of` has to do this with that number of `bytes`,
    /// or of parts.
    pub(super) fn describe(
        &self,
        process: &Process,
        waits: &mut WaitsFor,
        (what, of, bytes): (What, Option<Peer>, u64),
    ) {
        let mut need = Need::new(what);
        need.about = self.comm.told_name();
        need.tag = Some(self.tag);
        need.bytes = bytes;
        needs::add(process, &mut need, of);
        waits.needs.push(need);
    }

    /// Why the other end will tell nothing any more, if that is so: it has died, where the job goes
    /// on without it, or the communicator was revoked.
    pub(super) fn trouble(&self, process: &Process) -> Option<Error> {
        if let Err(revoked) = self.comm.check_not_revoked() {
            return Some(revoked);
        }
        if !process.knows_deaths() {
            return None;
        }
        process.death(self.process()?)
    }

    /// An error of the request: it belongs to the communicator (MPI-5, chapter 9.3).
    #[cold]
    pub(super) fn placed(&self, error: Error) -> Error {
        error.on(self.comm.handle.get())
    }

    /// Checks that the request may be freed: erroneous while it is active (MPI-5, chapter 4.2).
    pub(super) fn check_free(&self, is_active: bool) -> Result<()> {
        if is_active {
            fail!(
                Request,
                "the partitioned request is active: complete it before it is freed"
            );
        }
        Ok(())
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
