//! Prepares neighbourhood collectives (MPI-5, chapter 8.6).
//!
//! They have as many blocks as the rank has neighbours in the topology of the
//! communicator; those of neighbours that are not there, beyond the edge of a
//! grid, are left alone. Neighbours and schedules are kept with the communicator. Schedules of
//! ranks that share memory run on boards; `edges` are what that takes.

use std::sync::Arc;

use catena_coll::inter::Root;
use catena_coll::neighbor::{self, Edge, Edges};
use catena_coll::{Args, Collective, Layout};
use catena_datatype::Kinds;
use catena_schedule::Schedule;

use super::arguments::blocks;
use super::count::BOARD;
use super::force::COLL_NODE;
use super::ranges::Ranges;
use super::schedules::Key;
use super::side::{Loaded, Side, load};
use super::signature::CallSignature;
use super::tag::Label;
use super::{Caller, Data, Prepared, VData, WData};
use crate::comm::Comm;
use crate::process::Process;
use crate::topology::Neighborhood;
use catena_objects::error::Result;

type CommRef = Arc<Comm>;

/// All that members must call alike.
const NEAR: Label = Label {
    what: None,
    detail: 0,
    kinds: Kinds::ANY,
};

/// The two buffers of a call.
struct Ends {
    input: Side,
    output: Side,
    /// Kinds of the elements that this member gives, and of those that it wants.
    given: Kinds,
    wanted: Kinds,
}

impl Ends {
    const NONE: Ends = Ends {
        input: Side::NONE,
        output: Side::NONE,
        given: Kinds::ANY,
        wanted: Kinds::ANY,
    };

    /// The send side: that many blocks, whose length is returned, in bytes.
    fn give(&mut self, process: &Process, data: &Data, n: u32) -> Result<usize> {
        let (block, kinds) = blocks(process, data, n, "send", &mut self.input)?;
        self.given = kinds;
        Ok(block)
    }

    /// The receive side, likewise.
    fn want(&mut self, process: &Process, data: &Data, n: u32) -> Result<usize> {
        let (block, kinds) = blocks(process, data, n, "receive", &mut self.output)?;
        self.wanted = kinds;
        Ok(block)
    }

    fn label(&self) -> Label {
        let kinds = self.given;
        Label { kinds, ..NEAR }
    }

    /// See [`Args::turned`].
    fn turned(&self) -> u32 {
        self.given.bits() ^ self.wanted.bits()
    }

    /// An allgather, in which one block goes to all, or an alltoall of blocks
    /// that lie so in them: runs it if it can be done at once, else prepares it.
    fn go(
        mut self,
        caller: &Caller<'_>,
        comm: &CommRef,
        what: Collective,
        send: Layout<'_>,
        recv: Layout<'_>,
    ) -> Result<Option<Prepared>> {
        let process = caller.process;
        self.leave_out(what, comm.neighborhood()?);
        if caller.now
            && COLL_NODE.get()
            && let Some(edges) = comm.edges(process)?
        {
            let sides = load(&self.input, &self.output);
            if self.run_on_board(process, comm, edges.near(what), (send, recv), sides)? {
                return Ok(None);
            }
        }
        self.prepared(comm, what, send, recv).map(Some)
    }

    /// The blocks of neighbours that are not there are left alone.
    fn leave_out(&mut self, what: Collective, of: &Neighborhood) {
        let only = |side: &mut Side, degree: usize, edges: &[Edge]| {
            if edges.len() < degree {
                side.leave_out(degree, |i| edges.iter().any(|e| e.block as usize == i));
            }
        };
        only(&mut self.output, of.indegree, &of.sources);
        if what != Collective::Allgather {
            only(&mut self.input, of.outdegree, &of.destinations);
        }
    }

    fn run_on_board(
        &self,
        process: &Process,
        comm: &CommRef,
        near: Edges<'_>,
        (send, recv): (Layout<'_>, Layout<'_>),
        mut sides: Result<(Loaded, Loaded)>,
    ) -> Result<bool> {
        let args = Args {
            send,
            recv,
            near: Some(&near),
            turned: self.turned(),
            ..Args::new(comm.size(), comm.rank)
        };
        let label = self.label();
        let say = || CallSignature {
            label,
            bytes: 0,
            on_board: true,
            is_persistent: false,
            is_idle: false,
            function: 0,
        };
        let ends = sides.as_mut().map(|(from, to)| (from.base(), to.base()));
        let ends = ends.map_err(|error| &*error);
        let done = comm.run_on_board(process, label, &args, ends, None, &say)?;
        if let (true, Ok((_, to))) = (done, &sides) {
            self.output.store(to);
        }
        if done {
            comm.ran(process, NEAR.what, BOARD);
        }
        Ok(done)
    }

    fn prepared(
        self,
        comm: &CommRef,
        what: Collective,
        send: Layout<'_>,
        recv: Layout<'_>,
    ) -> Result<Prepared> {
        let key = Key {
            what,
            neighbors: true,
            root: Root::Near,
            in_place: false,
            elem: 1,
            commutative: true,
            bytes: 0,
            send,
            recv,
        };
        let recipe = comm.coll.schedules.borrow_mut().get(&key);
        Ok(Prepared {
            comm: comm.clone(),
            label: self.label(),
            turned: self.turned(),
            function: 0,
            recipe,
            input: self.input,
            output: self.output,
            reducer: None,
            is_persistent: false,
        })
    }
}

/// The schedule of a call.
///
/// # Panics
/// If the communicator has no topology.
pub(super) fn schedule(comm: &Comm, key: &Key<'_>) -> Schedule {
    let neighborhood = comm.neighborhood().expect("it was asked before");
    let neighborhood = match key.what {
        Collective::Allgather => &neighborhood.clone().gathering(),
        _ => neighborhood,
    };
    neighbor::schedule(
        &neighborhood.destinations,
        &key.send,
        &neighborhood.sources,
        &key.recv,
    )
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
        let neighborhood = comm.neighborhood()?;
        let sources = neighborhood.indegree as u32;
        let mut ends = Ends::NONE;
        let s = ends.give(self.process, &send, 1)?;
        let r = ends.want(self.process, &recv, sources)?;
        let (s, r) = (Layout::Even(s), Layout::Even(r));
        ends.go(self, comm, Collective::Allgather, s, r)
    }

    /// `MPI_Neighbor_allgatherv`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_allgatherv(
        &self,
        comm: &CommRef,
        send: Data,
        recv: VData<'_>,
    ) -> Result<Option<Prepared>> {
        comm.neighborhood()?;
        let mut ends = Ends::NONE;
        let s = ends.give(self.process, &send, 1)?;
        let mut r = Ranges::new();
        ends.wanted = recv.side(self.process, "receive", &mut r, &mut ends.output)?;
        ends.go(
            self,
            comm,
            Collective::Allgather,
            Layout::Even(s),
            r.layout(),
        )
    }

    /// `MPI_Neighbor_alltoall`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_alltoall(
        &self,
        comm: &CommRef,
        send: Data,
        recv: Data,
    ) -> Result<Option<Prepared>> {
        let neighborhood = comm.neighborhood()?;
        let (sources, destinations) = (neighborhood.indegree as u32, neighborhood.outdegree as u32);
        let mut ends = Ends::NONE;
        let s = ends.give(self.process, &send, destinations)?;
        let r = ends.want(self.process, &recv, sources)?;
        let (s, r) = (Layout::Even(s), Layout::Even(r));
        ends.go(self, comm, Collective::Alltoall, s, r)
    }

    /// `MPI_Neighbor_alltoallv`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_alltoallv(
        &self,
        comm: &CommRef,
        send: VData<'_>,
        recv: VData<'_>,
    ) -> Result<Option<Prepared>> {
        let mut ends = Ends::NONE;
        let (mut s, mut r) = (Ranges::new(), Ranges::new());
        ends.given = send.side(self.process, "send", &mut s, &mut ends.input)?;
        ends.wanted = recv.side(self.process, "receive", &mut r, &mut ends.output)?;
        ends.go(self, comm, Collective::Alltoall, s.layout(), r.layout())
    }

    /// `MPI_Neighbor_alltoallw`.
    #[allow(clippy::missing_errors_doc, reason = "see `neighbor_allgather`")]
    pub fn neighbor_alltoallw(
        &self,
        comm: &CommRef,
        send: WData<'_>,
        recv: WData<'_>,
    ) -> Result<Option<Prepared>> {
        let mut ends = Ends::NONE;
        let (mut s, mut r) = (Ranges::new(), Ranges::new());
        ends.given = send.side(self.process, "send", &mut s, &mut ends.input)?;
        ends.wanted = recv.side(self.process, "receive", &mut r, &mut ends.output)?;
        ends.go(self, comm, Collective::Alltoall, s.layout(), r.layout())
    }
}

impl Comm {
    /// The neighbours of this process, found once.
    pub(super) fn neighborhood(&self) -> Result<&Neighborhood> {
        let topology = self.topology()?;
        Ok(self
            .coll
            .neighborhood
            .get_or_init(|| topology.neighborhood(self.rank)))
    }

    /// How many neighbours send to this process, and to how many it sends.
    ///
    /// # Errors
    /// `Topology` if it has no topology.
    pub fn degrees(&self) -> Result<(usize, usize)> {
        let neighborhood = self.neighborhood()?;
        Ok((neighborhood.indegree, neighborhood.outdegree))
    }
}
