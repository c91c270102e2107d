//! Partitioned point to point (MPI-5, chapter 4).
//!
//! The two ends of a partitioned message are paired in the order in which they were made, for each
//! communicator, peer and tag (`pairing`); so both sides count, and none has to be asked. When it
//! is first started the sender tells what it has, and the receiver answers how that comes to it
//! (`words`): an end that is never started leaves nothing behind.
//!
//! Between processes of one node they share a `channel` from there on: `MPI_Pready` copies what it
//! completes, and says so in it (`outgoing`); `MPI_Parrived` and the completion look there
//! (`incoming`). Neither takes the library's lock.
//!
//! | message                                          | goes                                              |
//! |--------------------------------------------------|---------------------------------------------------|
//! | up to 4 KiB; up to 4 MiB into memory that only the receiver maps | into the channel, and out of it |
//! | longer, and the receiver's buffer is of `MPI_Alloc_mem` | straight there                             |
//! | longer                                           | straight there, by the kernel                     |
//! | to another host; or the kernel refuses           | as messages                                       |
//!
//! Otherwise each partition that is ready is a message with a tag of its own, which
//! the receiver has room for from its start on: in the program's buffer, where a part begins and
//! ends with its elements, else in memory of its own, out of which it is unpacked when all has
//! come.
//!
//! Nobody who does not use partitions pays for them.

mod channel;
mod directory;
mod end;
mod incoming;
mod outgoing;
mod pairing;
mod recv;
mod send;
mod tags;
mod threads;
mod words;

use catena_abi as abi;
use catena_core::Process;
use catena_core::request;
use catena_objects::error::Result;

use threads::{RECEIVES, SENDS, callers};

pub use end::{End, partitions};
pub use recv::PartRecv;
pub use send::PartSend;

/// `MPI_Pready` without the library's lock, if that is not needed; it is for every error, which
/// [`ready`] tells.
#[inline]
pub fn ready_at_once(request: abi::Request, partition: i32) -> bool {
    let done = SENDS
        .find(request)
        .and_then(|send| send.ready(partition, callers()));
    matches!(done, Some(Ok(())))
}

/// `MPI_Pready` of every partition from one to another.
///
/// # Errors
/// `Request` if it is no partitioned send or is not active, `Arg` for a number that it has not or
/// that is ready: then none of them becomes ready, but for those in front of one that stands there
/// twice.
pub fn ready(
    process: &Process,
    request: abi::Request,
    partitions: impl IntoIterator<Item = i32, IntoIter: Clone>,
) -> Result<()> {
    request::with(process, request, "partitioned send", |send: &PartSend| {
        let mut all = partitions.into_iter();
        let checked = all.clone().try_for_each(|it| send.check(it));
        let done = checked.and_then(|()| all.try_for_each(|it| send.ready(process, it)));
        done.map_err(|error| send.placed(error))
    })?
}

/// `MPI_Parrived` without the library's lock, if the partition has arrived through shared memory.
#[inline]
pub fn arrived_at_once(request: abi::Request, partition: i32) -> bool {
    RECEIVES
        .find(request)
        .is_some_and(|it| it.arrived(partition, callers()) == Some(true))
}

/// `MPI_Parrived`.
///
/// # Errors
/// `Request` if it is no partitioned receive, `Arg` for a number that it has not; why the round,
/// with this partition, will never be complete.
pub fn arrived(process: &Process, request: abi::Request, partition: i32) -> Result<bool> {
    let ask = || {
        request::with(
            process,
            request,
            "partitioned receive",
            |recv: &PartRecv| {
                let arrived = recv.arrived(process, partition);
                arrived.map_err(|error| recv.placed(error))
            },
        )?
    };
    if ask()? {
        return Ok(true);
    }
    process.progress();
    if ask()? {
        return Ok(true);
    }
    let failure = request::with(
        process,
        request,
        "partitioned receive",
        |recv: &PartRecv| recv.failure(process),
    )?;
    failure.map_or(Ok(false), Err)
}
