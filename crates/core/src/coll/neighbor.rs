//! Prepares neighbourhood collectives (MPI-5, chapter 8.6).
//!
//! They have as many blocks as the rank has neighbours in the topology of the
//! communicator; those of neighbours that are not there, beyond the edge of a
//! grid, are left alone. Neighbours and plans are kept with the communicator.

use std::sync::Arc;

use catena_coll::inter::Root;
use catena_coll::{Collective, Layout, neighbor};

use super::plans::Key;
use super::prepare::blocks;
use super::side::{Ranges, Side};
use super::tag::Label;
use super::{Caller, Data, Prepared, VData, WData};
use crate::comm::Comm;
use crate::error::Result;
use crate::topology::Hood;

type CommRef = Arc<Comm>;

/// The two buffers of a call and where their blocks lie.
struct Ends<'a> {
    input: Side,
    send: Layout<'a>,
    output: Side,
    recv: Layout<'a>,
}

/// Of an allgather, in which one block goes to all, or an alltoall.
fn prepared(comm: &CommRef, what: Collective, ends: Ends<'_>) -> Result<Option<Prepared>> {
    let hood = hood(comm)?;
    let key = Key {
        what,
        neighbors: true,
        root: Root::Near,
        in_place: false,
        elem: 1,
        commutative: true,
        send: ends.send,
        recv: ends.recv,
    };
    let make = || {
        let hood = match what {
            Collective::Allgather => &hood.clone().gathering(),
            _ => hood,
        };
        neighbor::plan(&hood.destinations, &ends.send, &hood.sources, &ends.recv)
    };
    let plan = comm.coll.plans.borrow_mut().get(&key, make);
    Ok(Some(Prepared {
        comm: comm.clone(),
        label: Label {
            what: None,
            detail: 0,
        },
        plan,
        input: ends.input,
        output: ends.output,
        reducer: None,
        turn: None,
    }))
}

impl Caller<'_> {
    /// `MPI_Neighbor_allgather`.
    ///
    /// # Errors
    /// `Topology` if the communicator has none, and as the arguments deserve; so
    /// with all functions here.
    pub fn neighbor_allgather(
        &self,
        comm: &CommRef,
        send: Data,
        recv: Data,
    ) -> Result<Option<Prepared>> {
        let hood = hood(comm)?;
        let s = blocks(self.world, &send, 1, "send")?;
        let r = blocks(self.world, &recv, hood.indegree as u32, "receive")?;
        let ends = Ends {
            input: s.side,
            send: Layout::Even(s.block),
            output: r.side,
            recv: Layout::Even(r.block),
        };
        prepared(comm, Collective::Allgather, ends)
    }

    /// `MPI_Neighbor_allgatherv`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_allgatherv(
        &self,
        comm: &CommRef,
        send: Data,
        recv: VData,
    ) -> Result<Option<Prepared>> {
        hood(comm)?;
        let s = blocks(self.world, &send, 1, "send")?;
        let (output, ranges) = recv.side(self.world, "receive")?;
        let ends = Ends {
            input: s.side,
            send: Layout::Even(s.block),
            output,
            recv: ranges.layout(),
        };
        prepared(comm, Collective::Allgather, ends)
    }

    /// `MPI_Neighbor_alltoall`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_alltoall(
        &self,
        comm: &CommRef,
        send: Data,
        recv: Data,
    ) -> Result<Option<Prepared>> {
        let hood = hood(comm)?;
        let s = blocks(self.world, &send, hood.outdegree as u32, "send")?;
        let r = blocks(self.world, &recv, hood.indegree as u32, "receive")?;
        let ends = Ends {
            input: s.side,
            send: Layout::Even(s.block),
            output: r.side,
            recv: Layout::Even(r.block),
        };
        prepared(comm, Collective::Alltoall, ends)
    }

    /// `MPI_Neighbor_alltoallv`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_alltoallv(
        &self,
        comm: &CommRef,
        send: VData,
        recv: VData,
    ) -> Result<Option<Prepared>> {
        let sides = (
            send.side(self.world, "send")?,
            recv.side(self.world, "receive")?,
        );
        exchange(comm, sides.0, sides.1)
    }

    /// `MPI_Neighbor_alltoallw`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_alltoallw(
        &self,
        comm: &CommRef,
        send: WData,
        recv: WData,
    ) -> Result<Option<Prepared>> {
        let sides = (
            send.side(self.world, "send")?,
            recv.side(self.world, "receive")?,
        );
        exchange(comm, sides.0, sides.1)
    }
}

/// The neighbours, found once.
fn hood(comm: &Comm) -> Result<&Hood> {
    let topology = comm.topology()?;
    Ok(comm.coll.hood.get_or_init(|| topology.hood(comm.rank)))
}

fn exchange(
    comm: &CommRef,
    (input, sent): (Side, Ranges),
    (output, received): (Side, Ranges),
) -> Result<Option<Prepared>> {
    let ends = Ends {
        input,
        send: sent.layout(),
        output,
        recv: received.layout(),
    };
    prepared(comm, Collective::Alltoall, ends)
}
