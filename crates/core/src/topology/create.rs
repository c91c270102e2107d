//! Making communicators with a topology. An argument that is an error makes the
//! call fail at every member, as with other new communicators.

use std::sync::Arc;

use catena_abi::{self as abi, Datatype, consts};
use catena_topo::reorder::{Path, Pattern};

use super::reorder::Seats;
use super::{Adjacent, Graph, Grid, Spread, Topology};
use crate::coll::{Caller, Data, Numbers, Prepared, VData};
use crate::comm::Comm;
use crate::process::Process;
use catena_objects::error::Result;
use catena_objects::fail;

/// How edges travel.
const WORD: Datatype = consts::INT32_T;

impl Comm {
    /// `MPI_Cart_create`: collective over this communicator. `None` at processes that are
    /// not in the grid.
    ///
    /// # Errors
    /// That of `grid`.
    pub fn cart_create(
        self: &Arc<Self>,
        process: &Process,
        grid: Result<Grid>,
        reorder: bool,
    ) -> Result<Option<abi::Comm>> {
        intra(self)?;
        let places = self.tell_places(process, reorder)?;
        let cart = grid.map(|grid| {
            let seats = seats(grid.size(), places.as_deref(), || grid.pattern());
            (seats, Topology::Cart(grid))
        });
        self.create_with(process, cart)
    }

    /// `MPI_Cart_sub`: collective over this communicator, whose grid falls into parts.
    ///
    /// # Errors
    /// `Topology` if it has no grid.
    pub fn cart_sub(self: &Arc<Self>, process: &Process, remain: &[bool]) -> Result<abi::Comm> {
        let grid = self.grid()?;
        let (part, within) = grid.part(self.rank, remain);
        let new = self.split(process, part, within)?;
        let new = new.expect("every process is in a part");
        attach(process, new, Topology::Cart(grid.sub(remain)))?;
        Ok(new)
    }

    /// `MPI_Graph_create`: collective over this communicator. `None` at processes that are
    /// not in the graph.
    ///
    /// # Errors
    /// That of `graph`.
    pub fn graph_create(
        self: &Arc<Self>,
        process: &Process,
        graph: Result<Graph>,
        reorder: bool,
    ) -> Result<Option<abi::Comm>> {
        intra(self)?;
        let places = self.tell_places(process, reorder)?;
        let graph = graph.map(|graph| {
            let n = graph.index.len() as u32;
            let seats = seats(n, places.as_deref(), || graph.pattern());
            (seats, Topology::Graph(graph))
        });
        self.create_with(process, graph)
    }

    /// `MPI_Dist_graph_create_adjacent`: collective over this communicator.
    ///
    /// # Errors
    /// See [`Adjacent::check`].
    pub fn dist_graph_adjacent(
        self: &Arc<Self>,
        process: &Process,
        own: Result<Adjacent>,
        reorder: bool,
    ) -> Result<Option<abi::Comm>> {
        intra(self)?;
        let places = self.tell_places(process, reorder)?;
        let mut own = own.and_then(|own| own.check(self.size()));
        let edges = own
            .iter()
            .flat_map(|own| own.edges(self.rank))
            .collect::<Vec<_>>();
        let seats = self.seats_by_edges(process, places.as_deref(), &edges)?;
        if let Seats::Moved(seats) = &seats {
            // What this process was given belongs to whoever gets its rank.
            let mut letters = vec![Vec::new(); self.size() as usize];
            if let Ok(own) = &own {
                letters[seats[self.rank as usize] as usize] = own.to_words();
            }
            let got = self.trade(process, &letters)?;
            // Nothing came from a process whose arguments are bad: then the call fails at all.
            own = own.map(|_| Adjacent::from_words(&got).unwrap_or_default());
        }
        self.create_with(process, own.map(|own| (seats, Topology::DistGraph(own))))
    }

    /// `MPI_Dist_graph_create`: collective over this communicator, whose members tell each
    /// other the edges they were given. Several edges between the same two
    /// processes stand in the order of the ranks that gave them.
    ///
    /// # Errors
    /// See [`Spread::check`].
    pub fn dist_graph(
        self: &Arc<Self>,
        process: &Process,
        given: Result<Spread<'_>>,
        reorder: bool,
    ) -> Result<Option<abi::Comm>> {
        intra(self)?;
        let places = self.tell_places(process, reorder)?;
        let given = given.and_then(|given| given.check(self.size()));
        let edges: Vec<[i32; 3]> = given.iter().flat_map(Spread::edges).collect();
        let seats = self.seats_by_edges(process, places.as_deref(), &edges)?;
        let holder = |rank: i32| match &seats {
            Seats::First(_) => rank as usize,
            Seats::Moved(seats) => seats[rank as usize] as usize,
        };
        let mut letters = vec![Vec::new(); self.size() as usize];
        for &[from, to, weight] in &edges {
            letters[holder(from)].extend([0, to, weight]);
            letters[holder(to)].extend([1, from, weight]);
        }
        let weighted = given.as_ref().is_ok_and(|given| given.weights.is_some());
        let mut own = Adjacent::default();
        let (mut ins, mut outs) = (Vec::new(), Vec::new());
        for &[inward, other, weight] in self.trade(process, &letters)?.as_chunks().0 {
            let (ranks, weights) = if inward == 1 {
                (&mut own.sources, &mut ins)
            } else {
                (&mut own.destinations, &mut outs)
            };
            ranks.push(other);
            weights.push(weight);
        }
        own.weights = weighted.then_some((ins, outs));
        self.create_with(process, given.map(|_| (seats, Topology::DistGraph(own))))
    }

    /// Who gets which rank of a graph of which each member gives some edges: begin, end and weight.
    /// Collective if the members' places are given, which differ or are the same for all.
    fn seats_by_edges(
        self: &Arc<Self>,
        process: &Process,
        places: Option<&[Path]>,
        edges: &[[i32; 3]],
    ) -> Result<Seats> {
        let n = self.size();
        let apart = places.filter(|places| places.iter().any(|place| *place != places[0]));
        let Some(places) = apart else {
            return Ok(Seats::First(n));
        };
        let words = self.gather_all(process, edges.as_flattened().to_vec())?;
        let edges = words.as_chunks().0.iter();
        let edges = edges.map(|&[from, to, weight]| (from as u32, to as u32, weight as u64));
        let inside = edges.filter(|(from, to, _)| *from < n && *to < n);
        let pattern = || Pattern::graph(n as usize, inside);
        Ok(Seats::new(n, places, pattern))
    }

    /// The communicator of those of its members that have a seat.
    fn create_with(
        self: &Arc<Self>,
        process: &Process,
        topology: Result<(Seats, Topology)>,
    ) -> Result<Option<abi::Comm>> {
        let (group, topology) = match topology {
            Ok((Seats::First(n), topology)) if n == self.size() => {
                (Ok(self.group.clone()), Some(topology))
            }
            Ok((seats, topology)) => {
                let ranks: Vec<i32> = match seats {
                    Seats::First(n) => (0..n as i32).collect(),
                    Seats::Moved(seats) => seats.iter().map(|&seat| seat as i32).collect(),
                };
                (self.group.include(&ranks), Some(topology))
            }
            Err(error) => (Err(error), None),
        };
        let new = self.create(process, group)?;
        if let Some((new, topology)) = new.zip(topology) {
            attach(process, new, topology)?;
        }
        Ok(new)
    }
}

fn attach(process: &Process, comm: abi::Comm, topology: Topology) -> Result<()> {
    let set = process.comm_ref(comm)?.topology.set(Arc::new(topology));
    set.expect("a new communicator has no topology");
    Ok(())
}

impl Comm {
    /// Sends each member its words; returns those for this one, in the order of
    /// ranks.
    fn trade(self: &Arc<Self>, process: &Process, letters: &[Vec<i32>]) -> Result<Vec<i32>> {
        let caller = Caller { process, now: true };
        let lens: Vec<i32> = letters.iter().map(|l| l.len() as i32).collect();
        let expect = vec![0; lens.len()];
        let call = caller.alltoall(self, one_each(&lens), one_each(&expect));
        let expect = deliver(process, call, lens.clone(), expect)?;

        let out = letters.concat();
        let got = vec![0; total(&expect)];
        let (from, to) = (starts(&lens), starts(&expect));
        let (sends, receives) = (blocks(&out, &lens, &from), blocks(&got, &expect, &to));
        let call = caller.alltoallv(self, sends, receives);
        deliver(process, call, out, got)
    }

    /// The words of all members, in the order of ranks.
    fn gather_all(self: &Arc<Self>, process: &Process, words: Vec<i32>) -> Result<Vec<i32>> {
        let caller = Caller { process, now: true };
        let len = vec![words.len() as i32];
        let lens = vec![0; self.size() as usize];
        let call = caller.allgather(self, one_each(&len), one_each(&lens));
        let lens = deliver(process, call, len, lens)?;

        let got = vec![0; total(&lens)];
        let to = starts(&lens);
        let send = Data {
            buf: words.as_ptr().cast_mut().cast(),
            count: words.len() as abi::Count,
            ty: WORD,
        };
        let call = caller.allgatherv(self, send, blocks(&got, &lens, &to));
        deliver(process, call, words, got)
    }
}

/// Runs a collective, and returns what it received.
fn deliver(
    process: &Process,
    call: Result<Option<Prepared>>,
    sent: Vec<i32>,
    received: Vec<i32>,
) -> Result<Vec<i32>> {
    let done = call.and_then(|call| Prepared::run_rest(process, call));
    if done.is_err() {
        // What a failed operation left behind may still use them.
        std::mem::forget((sent, received));
        return done.map(|()| Vec::new());
    }
    Ok(received)
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
fn blocks<'a>(words: &[i32], lens: &'a [i32], starts: &'a [i64]) -> VData<'a> {
    VData {
        buf: words.as_ptr().cast_mut().cast(),
        counts: Numbers::Int(lens),
        displs: Numbers::Count(starts),
        ty: WORD,
    }
}

/// Words of blocks of these lengths together, which may be more than an `int` can say.
fn total(lens: &[i32]) -> usize {
    lens.iter().map(|&len| len as usize).sum()
}

/// Where blocks of these lengths start, one behind the other.
fn starts(lens: &[i32]) -> Vec<i64> {
    let starts = lens.iter().scan(0, |end, &len| {
        *end += i64::from(len);
        Some(*end - i64::from(len))
    });
    starts.collect()
}

/// Who gets which of `n` ranks; the members' places are known if they may be reordered.
fn seats(n: u32, places: Option<&[Path]>, pattern: impl FnOnce() -> Pattern) -> Seats {
    places.map_or(Seats::First(n), |places| Seats::new(n, places, pattern))
}

fn intra(comm: &Comm) -> Result<()> {
    if comm.is_inter() {
        fail!(Comm, "an intercommunicator cannot have a topology");
    }
    Ok(())
}
