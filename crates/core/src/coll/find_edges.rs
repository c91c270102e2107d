//! How the members of a board come to know the edges between them. On a grid each sees its
//! neighbours' edges. Otherwise, before the first blocking or persistent collective among
//! neighbours, all ask each other whether anybody has too many, and those with an edge between them
//! tell where on the board its blocks are.

use std::mem;
use std::sync::Arc;

use catena_abi::consts;
use catena_coll::neighbor::{self, Edge};
use catena_objects::error::Result;

use super::arguments::Data;
use super::edges::Edges;
use super::prepared::{Caller, Prepared};
use super::tag::Label;
use crate::comm::Comm;
use crate::process::Process;
use crate::topology::{Neighborhood, Topology};

impl Comm {
    /// The edges of this process, if a board can be used for them. Collective,
    /// the first time.
    ///
    /// # Errors
    /// `Topology` if the communicator has none, and if members called different
    /// things.
    #[inline]
    pub(super) fn edges<'c>(self: &'c Arc<Self>, process: &Process) -> Result<Option<&'c Edges>> {
        match self.coll.edges.get() {
            Some(known) => Ok(known.as_ref()),
            None => self.find_edges(process),
        }
    }

    /// The edges of this process, if a board can be used for them, as far as they are known without
    /// the others. All members know theirs at the same calls.
    ///
    /// # Errors
    /// `Topology` if the communicator has none.
    pub(super) fn edges_at_once(self: &Arc<Self>) -> Result<Option<&Edges>> {
        match self.coll.edges.get() {
            Some(known) => Ok(known.as_ref()),
            None => see_edges(self),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_edges<'c>(self: &'c Arc<Self>, process: &Process) -> Result<Option<&'c Edges>> {
        if let Some(seen) = see_edges(self)? {
            return Ok(Some(seen));
        }
        let neighborhood = self.neighborhood()?;
        let fits = neighborhood.destinations.len() <= neighbor::MOST;
        let found = match self.size() > 1 && self.all_say(process, fits)? {
            true => Some(Edges::new(
                neighborhood,
                self.rank,
                &self.tell_neighbors(process, neighborhood)?,
            )),
            false => None,
        };
        Ok(self.coll.edges.get_or_init(|| found).as_ref())
    }

    /// Whether all members say yes.
    fn all_say(self: &Arc<Self>, process: &Process, yes: bool) -> Result<bool> {
        let mut all = vec![0; self.size() as usize];
        all[self.rank as usize] = u64::from(yes);
        let caller = Caller { process, now: true };
        let call = caller.tell_all(self, &mut all, Label::EDGES);
        let all = Prepared::finished(process, call, all)?;
        Ok(all.iter().all(|&yes| yes == 1))
    }

    /// Tells each destination which of the edges is its own, of how many; returns
    /// what the sources tell, by block.
    fn tell_neighbors(
        self: &Arc<Self>,
        process: &Process,
        neighborhood: &Neighborhood,
    ) -> Result<Vec<[u32; 2]>> {
        let mut tell = vec![[0; 2]; neighborhood.outdegree];
        for (edge, i) in neighborhood.destinations.iter().zip(0..) {
            tell[edge.block as usize] = [i, neighborhood.destinations.len() as u32];
        }
        let told = vec![[0; 2]; neighborhood.indegree];
        let caller = Caller {
            process,
            now: false,
        };
        let pair = |pairs: &[[u32; 2]]| Data {
            buf: pairs.as_ptr().cast_mut().cast(),
            count: 2,
            ty: consts::UINT32_T,
        };
        let call = caller.neighbor_alltoall(self, pair(&tell), pair(&told));
        let (_, told) = Prepared::finished(process, call, (tell, told))?;
        Ok(told)
    }
}

impl Prepared {
    /// Runs a call to its end, and gives back the `memory` that it uses.
    pub(super) fn finished<T>(
        process: &Process,
        call: Result<Option<Prepared>>,
        memory: T,
    ) -> Result<T> {
        match call.and_then(|call| Prepared::run_rest(process, call)) {
            Ok(()) => Ok(memory),
            Err(error) => {
                // What a failed operation left behind may still use it.
                mem::forget(memory);
                Err(error)
            }
        }
    }
}

/// The edges of this process on a grid, of which everybody knows the edges of all.
#[cold]
#[inline(never)]
fn see_edges(comm: &Comm) -> Result<Option<&Edges>> {
    let (topology, own) = (comm.topology()?, comm.neighborhood()?);
    let fits = own.indegree <= neighbor::MOST && comm.size() > 1;
    if !fits || !matches!(**topology, Topology::Cart(_)) {
        return Ok(None);
    }
    let mut told = vec![[0; 2]; own.indegree];
    for (i, source) in own.sources.iter().enumerate() {
        // The messages between two ranks meet in the order in which these have them.
        let to_me = |peer: u32| move |edge: &&Edge| edge.peer == peer;
        let before = own.sources[..i].iter().filter(to_me(source.peer)).count();
        let theirs = topology.neighborhood(source.peer).destinations;
        let mut entries = (0..)
            .zip(&theirs)
            .filter(|(_, edge)| edge.peer == comm.rank);
        if let Some((entry, _)) = entries.nth(before) {
            told[source.block as usize] = [entry, theirs.len() as u32];
        }
    }
    let found = Edges::new(own, comm.rank, &told);
    Ok(comm.coll.edges.get_or_init(|| Some(found)).as_ref())
}
