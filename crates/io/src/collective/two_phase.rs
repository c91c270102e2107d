//! Collective buffering: members exchange bytes in memory, and *aggregators* go to the file with
//! long runs.
//!
//! The file is taken in rounds. In each, every aggregator has a window on it, one behind the other,
//! so each reads or writes blocks in turn (MPI-5, chapter 14.2.8: `cb_block_size`). A round begins
//! where the first byte is that some member has not moved yet: long gaps cost nothing.
//!
//! | what is written ([`write`](super::write))      | what is read ([`read`](super::read))            |
//! |-----------------------------------------|------------------------------------------------|
//! | members copy into the windows           | aggregators read their windows                 |
//! | *all meet*                              | *all meet*                                     |
//! | between nodes: one member of each sends what its node has put into the window of an aggregator elsewhere | likewise it is sent what its node wants from there |
//! | aggregators write what was put there, while members go on with the other set | members take out what is theirs, while aggregators read the next windows |
//!
//! Members meet once in a round, as the two sets of windows are used in turn. On a node bytes go
//! from the member's memory to the window, and nowhere else. What lies between the bytes of the
//! members is not written.

use std::io;
use std::sync::atomic::Ordering::Relaxed;

use catena_base::clock;
use catena_core::request::Done;
use catena_objects::error::{Error, Kind, Result};

use crate::agree;
use crate::call::CollectiveCall;
use crate::collective::buffers::{Buffers, Shape};
use crate::collective::choice::Plan;
use crate::collective::rounds::{Rounds, Seat};
use crate::driver::Direction;
use crate::file::File;
use crate::transfer::Transfer;

/// What members exchange bytes by.
pub(crate) struct Exchange {
    seat: Seat,
    buffers: Buffers,
    plan: Plan,
}

/// Moves the bytes of all members; how it went for this one. Collective.
pub(crate) async fn run(
    crew: &CollectiveCall,
    file: &File,
    mut transfer: Transfer,
    exchange: Exchange,
) -> Done {
    match moved(crew, file, &mut transfer, exchange).await {
        Ok((done, code)) => {
            transfer.done = done;
            let failed = code != 0 && done != transfer.len();
            transfer.failure = failed.then(|| io::Error::from_raw_os_error(code as i32));
            transfer.finish(crew.process())
        }
        Err(error) => {
            let status = transfer.finish(crew.process()).status;
            Done {
                status,
                error: Some(error),
            }
        }
    }
}

/// How many of this member's bytes were moved, and the code of what stopped them or 0.
async fn moved(
    crew: &CollectiveCall,
    file: &File,
    transfer: &mut Transfer,
    exchange: Exchange,
) -> Result<(u64, u64)> {
    let Exchange {
        seat,
        buffers,
        plan,
    } = exchange;
    let mut rounds = Rounds::new(crew.clone(), file, transfer, seat, buffers, plan);
    let begin = clock::ticks();
    file.counters
        .aggregators
        .store(plan.aggregators as u64, Relaxed);
    let moved = match transfer.memory.direction() {
        Direction::Write => rounds.write(transfer).await,
        Direction::Read => rounds.read(transfer).await,
    };
    // No thread uses the windows any more.
    rounds.settle().await;
    let exchange = clock::ticks().wrapping_sub(begin);
    let exchange = exchange.saturating_sub(rounds.waited);
    file.counters.add(|it| &it.exchange, exchange);
    rounds.fault().map_or(moved, Err)
}

/// What members exchange bytes by: buffers that the lowest member of each node takes from the
/// node's memory, where there are none that fit. `None` at all members where a node has no room for
/// more: many files may be open at once.
///
/// # Errors
/// `ProcAborted` if a member is gone.
pub(crate) async fn prepare(
    crew: &CollectiveCall,
    file: &File,
    plan: Plan,
) -> Result<Option<Exchange>> {
    let seat = Seat::new(file, plan);
    let shape = Shape {
        members: seat.neighbours().len(),
        aggregators: plan.aggregators,
        window: plan.window,
    };
    let old = file.buffers.get();
    if let Some(buffers) = old.filter(|it| it.shape == shape) {
        return Ok(Some(Exchange {
            seat,
            buffers,
            plan,
        }));
    }
    let process = crew.process();
    // All members have agreed on the plan, so none uses them any more.
    file.buffers.set(None);
    if let Some(old) = old {
        old.close(process);
    }
    let (is_alone, is_lowest) = (shape.members == 1, seat.place == 0);
    let alone = is_alone.then(|| Buffers::alone(shape)).flatten();
    let taken = (is_lowest && !is_alone).then(|| Buffers::take(process, shape));
    let taken = taken.flatten();
    let has_room = !is_lowest || alone.is_some() || taken.is_some();
    let words = [u64::from(has_room), taken.unwrap_or(0)];
    let ((), rows) = agree::agree_in(crew, Ok(()), words).await?;
    let own = |offset| Buffers::at(process, shape, offset, true);
    if rows.iter().any(|row| row[0] == 0) {
        let unused = alone.or_else(|| taken.and_then(own));
        unused
            .into_iter()
            .for_each(|buffers| buffers.close(process));
        return Ok(None);
    }
    let buffers = alone.or_else(|| {
        let offset = rows[seat.neighbours()[0] as usize][1];
        Buffers::at(process, shape, offset, is_lowest)
    });
    let buffers = agree::all_well_in(crew, buffers.ok_or_else(unmapped)).await?;
    file.buffers.set(Some(buffers));
    Ok(Some(Exchange {
        seat,
        buffers,
        plan,
    }))
}

#[cold]
fn unmapped() -> Error {
    let text = "the shared memory of this node is not what another member says: that is a fault of \
                the library";
    Error::new(Kind::Intern, text)
}
