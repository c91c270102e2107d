//! Partitioned point to point (MPI-5, chapter 4).
//!
//! The two ends of a partitioned message are paired in the order in which they were made, for each
//! communicator, peer and tag ([`pairing`]); so both sides count, and none has to be asked. Once,
//! the sender tells its number of partitions and their length, and the receiver answers with a row
//! of tags of its own. From there on each partition that is ready is a message with its tag, which
//! the receiver has room for from its start on: in the program's buffer, where a part begins and
//! ends with its elements, else in memory of its own, out of which it is unpacked when all has come.
//!
//! Nobody who does not use partitions pays for them.

mod end;
mod pairing;
mod recv;
mod send;

use catena_abi as abi;
use catena_core::Process;
use catena_objects::error::Result;

pub use end::{End, partitions};
pub use recv::PartRecv;
pub use send::PartSend;

/// `MPI_Pready` of every partition from one to another.
///
/// # Errors
/// `Request` if it is no partitioned send or is not active, `Arg` for a number that it has not or
/// that is ready.
pub fn ready(
    process: &Process,
    request: abi::Request,
    partitions: impl IntoIterator<Item = i32>,
) -> Result<()> {
    process.with_request(request, "partitioned send", |send: &PartSend| {
        let mut all = partitions.into_iter();
        all.try_for_each(|partition| send.ready(process, partition))
    })?
}

/// `MPI_Parrived`.
///
/// # Errors
/// `Request` if it is no partitioned receive, `Arg` for a number that it has not.
pub fn arrived(process: &Process, request: abi::Request, partition: i32) -> Result<bool> {
    let ask = || {
        process.with_request(request, "partitioned receive", |recv: &PartRecv| {
            recv.arrived(process, partition)
        })?
    };
    if ask()? {
        return Ok(true);
    }
    process.progress();
    ask()
}
