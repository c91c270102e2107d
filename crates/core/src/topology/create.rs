//! Making communicators with a topology. An argument that is an error makes the
//! call fail at every member, as with other new communicators.

use std::sync::Arc;

use catena_abi::{self as abi, Datatype, consts};

use super::{Adjacent, Graph, Grid, Spread, Topology};
use crate::coll::{Caller, Data, Numbers, Prepared, VData};
use crate::comm::Comm;
use crate::error::Result;
use crate::fail;
use crate::world::World;

/// How edges travel.
const WORD: Datatype = consts::INT32_T;

impl World {
    /// `MPI_Cart_create`: collective over `comm`. `None` at processes that are
    /// not in the grid.
    ///
    /// # Errors
    /// That of `grid`.
    pub fn cart_create(&self, comm: &Arc<Comm>, grid: Result<Grid>) -> Result<Option<abi::Comm>> {
        let cart = grid.map(|grid| (grid.size(), Topology::Cart(grid)));
        self.create_with(comm, cart)
    }

    /// `MPI_Cart_sub`: collective over `comm`, whose grid falls into parts.
    ///
    /// # Errors
    /// `Topology` if `comm` has no grid.
    pub fn cart_sub(&self, comm: &Arc<Comm>, remain: &[bool]) -> Result<abi::Comm> {
        let grid = comm.grid()?;
        let (part, within) = grid.part(comm.rank, remain);
        let new = self.comm_split(comm, part, within)?;
        let new = new.expect("every process is in a part");
        self.attach(new, Topology::Cart(grid.sub(remain)))?;
        Ok(new)
    }

    /// `MPI_Graph_create`: collective over `comm`. `None` at processes that are
    /// not in the graph.
    ///
    /// # Errors
    /// That of `graph`.
    pub fn graph_create(
        &self,
        comm: &Arc<Comm>,
        graph: Result<Graph>,
    ) -> Result<Option<abi::Comm>> {
        let graph = graph.map(|graph| (graph.index.len() as u32, Topology::Graph(graph)));
        self.create_with(comm, graph)
    }

    /// `MPI_Dist_graph_create_adjacent`: collective over `comm`.
    ///
    /// # Errors
    /// See [`Adjacent::check`].
    pub fn dist_graph_adjacent(
        &self,
        comm: &Arc<Comm>,
        own: Result<Adjacent>,
    ) -> Result<Option<abi::Comm>> {
        let own = own.and_then(|own| own.check(comm.size()));
        let graph = own.map(|own| (comm.size(), Topology::DistGraph(own)));
        self.create_with(comm, graph)
    }

    /// `MPI_Dist_graph_create`: collective over `comm`, whose members tell each
    /// other the edges they were given. Several edges between the same two
    /// processes stand in the order of the ranks that gave them.
    ///
    /// # Errors
    /// See [`Spread::check`].
    pub fn dist_graph(
        &self,
        comm: &Arc<Comm>,
        given: Result<Spread<'_>>,
    ) -> Result<Option<abi::Comm>> {
        intra(comm)?;
        let given = given.and_then(|given| given.check(comm.size()));
        let mut letters = vec![Vec::new(); comm.size() as usize];
        let mut weighted = false;
        if let Ok(given) = &given {
            weighted = given.weights.is_some();
            for [from, to, weight] in given.edges() {
                letters[from as usize].extend([0, to, weight]);
                letters[to as usize].extend([1, from, weight]);
            }
        }
        let mut own = Adjacent::default();
        let (mut ins, mut outs) = (Vec::new(), Vec::new());
        for &[inward, other, weight] in self.trade(comm, &letters)?.as_chunks().0 {
            let (ranks, weights) = if inward == 1 {
                (&mut own.sources, &mut ins)
            } else {
                (&mut own.destinations, &mut outs)
            };
            ranks.push(other);
            weights.push(weight);
        }
        own.weights = weighted.then_some((ins, outs));
        self.create_with(comm, given.map(|_| (comm.size(), Topology::DistGraph(own))))
    }

    /// The communicator of the first members of `comm`, as many as given.
    fn create_with(
        &self,
        comm: &Arc<Comm>,
        topology: Result<(u32, Topology)>,
    ) -> Result<Option<abi::Comm>> {
        intra(comm)?;
        let (group, topology) = match topology {
            Ok((n, topology)) if n == comm.size() => (Ok(comm.group.clone()), Some(topology)),
            Ok((n, topology)) => {
                let ranks: Vec<i32> = (0..n as i32).collect();
                (comm.group.include(&ranks), Some(topology))
            }
            Err(error) => (Err(error), None),
        };
        let new = self.comm_create(comm, group)?;
        if let Some((new, topology)) = new.zip(topology) {
            self.attach(new, topology)?;
        }
        Ok(new)
    }

    fn attach(&self, comm: abi::Comm, topology: Topology) -> Result<()> {
        let set = self.comm_ref(comm)?.topology.set(Arc::new(topology));
        set.expect("a new communicator has no topology");
        Ok(())
    }

    /// Sends each member its words; returns those for this one, in the order of
    /// ranks.
    fn trade(&self, comm: &Arc<Comm>, letters: &[Vec<i32>]) -> Result<Vec<i32>> {
        let caller = Caller {
            world: self,
            now: true,
        };
        let lens: Vec<i32> = letters.iter().map(|l| l.len() as i32).collect();
        let expect = vec![0; lens.len()];
        let call = caller.alltoall(comm, one_each(&lens), one_each(&expect));
        let expect = self.deliver(call, lens.clone(), expect)?;

        let out = letters.concat();
        let got = vec![0; expect.iter().sum::<i32>() as usize];
        let (from, to) = (starts(&lens), starts(&expect));
        let (sends, receives) = (blocks(&out, &lens, &from), blocks(&got, &expect, &to));
        let call = caller.alltoallv(comm, sends, receives);
        self.deliver(call, out, got)
    }

    /// Runs a collective, and returns what it received.
    fn deliver(
        &self,
        call: Result<Option<Prepared>>,
        sent: Vec<i32>,
        received: Vec<i32>,
    ) -> Result<Vec<i32>> {
        let done = call.and_then(|call| self.run_rest(call));
        if done.is_err() {
            // What a failed operation left behind may still use them.
            std::mem::forget((sent, received));
            return done.map(|()| Vec::new());
        }
        Ok(received)
    }
}

/// One word for each member.
fn one_each(words: &[i32]) -> Data {
    Data {
        buf: words.as_ptr().cast_mut().cast(),
        count: 1,
        ty: WORD,
    }
}

/// Blocks of these lengths, one behind the other.
fn blocks<'a>(words: &[i32], lens: &'a [i32], starts: &'a [i32]) -> VData<'a> {
    VData {
        buf: words.as_ptr().cast_mut().cast(),
        counts: Numbers::Int(lens),
        displs: Numbers::Int(starts),
        ty: WORD,
    }
}

/// Where blocks of these lengths start, one behind the other.
fn starts(lens: &[i32]) -> Vec<i32> {
    let starts = lens.iter().scan(0, |end, &len| {
        *end += len;
        Some(*end - len)
    });
    starts.collect()
}

fn intra(comm: &Comm) -> Result<()> {
    if comm.is_inter() {
        fail!(Comm, "an intercommunicator cannot have a topology");
    }
    Ok(())
}
