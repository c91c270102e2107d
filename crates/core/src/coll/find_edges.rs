//! How the members of a board come to know the edges between them: before the first blocking
//! collective among neighbours all ask each other whether anybody has too many, and those with an
//! edge between them tell where on the board its blocks are.

use std::mem;
use std::sync::Arc;

use catena_abi::consts;
use catena_coll::neighbor;
use catena_objects::error::Result;

use super::arguments::Data;
use super::edges::Edges;
use super::prepared::{Caller, Prepared};
use super::tag::Label;
use crate::comm::Comm;
use crate::process::Process;
use crate::topology::Neighborhood;

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
