//! What members of a board know of the edges between them.
//!
//! A rank knows its own neighbours only. Before the first blocking collective
//! among them all ask each other whether anybody has too many, and those with an
//! edge between them tell where on the board its blocks are.

use std::mem;
use std::sync::Arc;

use catena_abi::consts;
use catena_coll::Collective;
use catena_coll::neighbor::{self, Edge, Edges as BoardEdges, Source};

use super::tag::Label;
use super::{Caller, Data, Prepared};
use crate::comm::Comm;
use crate::process::Process;
use crate::topology::Neighborhood;
use catena_objects::error::Result;

/// The edges of one rank.
#[derive(Debug)]
pub struct Edges {
    /// The block of each edge that leaves.
    blocks: Box<[u32]>,
    destinations: Box<[Edge]>,
    sources: Box<[Source]>,
    /// Those of a collective in which one block goes to all.
    gathered: Box<[Source]>,
    reader: Option<u32>,
}

impl Edges {
    /// `told` by each source, by block: which of its edges that is, and how many
    /// it has.
    fn new(neighborhood: &Neighborhood, me: u32, told: &[[u32; 2]]) -> Self {
        let source = |edge: &Edge, [entry, entries]: [u32; 2]| Source {
            peer: edge.peer,
            block: edge.block,
            entry,
            entries,
        };
        let sources = || neighborhood.sources.iter();
        let others = || {
            neighborhood
                .destinations
                .iter()
                .map(|e| e.peer)
                .filter(|&p| p != me)
        };
        let first = others().next();
        Edges {
            blocks: neighborhood.destinations.iter().map(|e| e.block).collect(),
            destinations: neighborhood.destinations.clone().into(),
            sources: sources()
                .map(|e| source(e, told[e.block as usize]))
                .collect(),
            gathered: sources().map(|e| source(e, [0, 1])).collect(),
            reader: first.filter(|&first| others().all(|p| p == first)),
        }
    }

    /// The same for a collective.
    pub fn near(&self, what: Collective) -> BoardEdges<'_> {
        let gathers = what == Collective::Allgather;
        let blocks: &[u32] = match gathers {
            true if self.blocks.is_empty() => &[],
            true => &[0],
            false => &self.blocks,
        };
        BoardEdges {
            blocks,
            destinations: &self.destinations,
            sources: match gathers {
                true => &self.gathered,
                false => &self.sources,
            },
            reader: self.reader,
        }
    }
}

impl Process {
    /// The edges of this process, if a board can be used for them. Collective,
    /// the first time.
    ///
    /// # Errors
    /// `Topology` if the communicator has none, and if members called different
    /// things.
    #[inline]
    pub(super) fn edges<'c>(&self, comm: &'c Arc<Comm>) -> Result<Option<&'c Edges>> {
        match comm.coll.edges.get() {
            Some(known) => Ok(known.as_ref()),
            None => self.find_edges(comm),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_edges<'c>(&self, comm: &'c Arc<Comm>) -> Result<Option<&'c Edges>> {
        let neighborhood = comm.neighborhood()?;
        let fits = neighborhood.destinations.len() <= neighbor::MOST;
        let found = match comm.size() > 1 && self.all_say(comm, fits)? {
            true => Some(Edges::new(
                neighborhood,
                comm.rank,
                &self.tell_neighbors(comm, neighborhood)?,
            )),
            false => None,
        };
        Ok(comm.coll.edges.get_or_init(|| found).as_ref())
    }

    /// Whether all members say yes.
    fn all_say(&self, comm: &Arc<Comm>, yes: bool) -> Result<bool> {
        let mut all = vec![0; comm.size() as usize];
        all[comm.rank as usize] = u64::from(yes);
        let caller = Caller {
            process: self,
            now: true,
        };
        let call = caller.tell_all(comm, &mut all, Label::EDGES);
        let all = self.finished(call, all)?;
        Ok(all.iter().all(|&yes| yes == 1))
    }

    /// Tells each destination which of the edges is its own, of how many; returns
    /// what the sources tell, by block.
    fn tell_neighbors(
        &self,
        comm: &Arc<Comm>,
        neighborhood: &Neighborhood,
    ) -> Result<Vec<[u32; 2]>> {
        let mut tell = vec![[0; 2]; neighborhood.outdegree];
        for (edge, i) in neighborhood.destinations.iter().zip(0..) {
            tell[edge.block as usize] = [i, neighborhood.destinations.len() as u32];
        }
        let told = vec![[0; 2]; neighborhood.indegree];
        let caller = Caller {
            process: self,
            now: false,
        };
        let pair = |pairs: &[[u32; 2]]| Data {
            buf: pairs.as_ptr().cast_mut().cast(),
            count: 2,
            ty: consts::UINT32_T,
        };
        let call = caller.neighbor_alltoall(comm, pair(&tell), pair(&told));
        let (_, told) = self.finished(call, (tell, told))?;
        Ok(told)
    }

    /// Runs a call to its end, and gives back the `memory` that it uses.
    fn finished<T>(&self, call: Result<Option<Prepared>>, memory: T) -> Result<T> {
        match call.and_then(|call| self.run_rest(call)) {
            Ok(()) => Ok(memory),
            Err(error) => {
                // What a failed operation left behind may still use it.
                mem::forget(memory);
                Err(error)
            }
        }
    }
}
