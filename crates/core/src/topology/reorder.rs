//! The argument `reorder`: what the members of a communicator know of each other's places, and who
//! gets which rank by it.
//!
//! Which node each process is on everybody knows. Where within its node a process runs only that
//! process knows, so the members tell each other when they make a communicator that may be
//! reordered. `MPI_Cart_map` and `MPI_Graph_map` are local: they go by what was told last, or by
//! nodes alone.

use std::sync::Arc;

use catena_topo::reorder::{DEPTH, Path, Pattern, reorder};
use catena_topo::{ProcessPlace, Resource, Within};

use crate::comm::{Comm, NONE};
use crate::process::Process;
use catena_objects::error::Result;

/// What follows the node in a path.
const WITHIN_NODE: [Resource; DEPTH - 1] =
    [Resource::Package, Resource::NumaNode, Resource::L3Cache];

/// Which members get a rank, and which one.
#[derive(Clone, Debug)]
pub(super) enum Seats {
    /// The first members up to that number, each the rank that it has.
    First(u32),
    /// The members that are listed, in the order of their new ranks.
    Moved(Box<[u32]>),
}

impl Seats {
    /// For the first `n` members, at `places`, of whom `pattern` tells who talks to whom.
    pub(super) fn new(n: u32, places: &[Path], pattern: impl FnOnce() -> Pattern) -> Seats {
        let places = &places[..n as usize];
        let together = places.iter().all(|place| *place == places[0]);
        let moved = (!together).then(|| reorder(&pattern(), places)).flatten();
        moved.map_or(Seats::First(n), Seats::Moved)
    }

    /// The new rank of a member.
    fn rank_of(&self, member: u32) -> Option<u32> {
        match self {
            Seats::First(n) => (member < *n).then_some(member),
            Seats::Moved(seats) => {
                let rank = seats.iter().position(|&seat| seat == member);
                rank.map(|rank| rank as u32)
            }
        }
    }
}

impl Comm {
    /// The members tell each other whether they may be reordered, and where they are. `None` unless
    /// all may. Collective over this communicator, which is an intracommunicator.
    ///
    /// # Errors
    /// If members make other calls.
    pub(super) fn tell_places(
        self: &Arc<Self>,
        process: &Process,
        may_reorder: bool,
    ) -> Result<Option<Box<[Path]>>> {
        let within = may_reorder.then(ProcessPlace::here);
        let part = |resource| match within.as_ref().map(|place| place.within(resource)) {
            Some(Within::One(instance)) => instance,
            _ => NONE,
        };
        let mut row = vec![u32::from(may_reorder)];
        row.extend(WITHIN_NODE.map(part));
        // An agreement ends with two numbers, which are not needed here.
        row.extend([0; 2]);
        let told = self.agree(process, &row)?;
        let rows = told.rows(&told.ours);
        if rows.clone().any(|row| row[0] == 0) {
            return Ok(None);
        }
        let nodes = self.paths(process).into_iter();
        let paths = nodes.zip(rows).map(|(mut path, row)| {
            path[1..].copy_from_slice(&row[1..DEPTH]);
            path
        });
        let paths: Box<[Path]> = paths.collect();
        *self.places.borrow_mut() = Some(paths.clone());
        Ok(Some(paths))
    }

    /// Where the members are as far as the nodes go.
    fn paths(&self, process: &Process) -> Vec<Path> {
        let nodes: Vec<u32> = process.nodes_of(self.group.members());
        let path = |node| {
            let mut path = [NONE; DEPTH];
            path[0] = node;
            path
        };
        nodes.into_iter().map(path).collect()
    }

    /// `MPI_Cart_map` and `MPI_Graph_map`: the rank of this process if the first `n` of its members
    /// were reordered; `None` if it would have none. Local.
    pub fn mapped_rank(
        &self,
        process: &Process,
        n: u32,
        pattern: impl FnOnce() -> Pattern,
    ) -> Option<u32> {
        let told = self.places.borrow();
        let seats = match &*told {
            Some(places) => Seats::new(n, places, pattern),
            None => Seats::new(n, &self.paths(process), pattern),
        };
        seats.rank_of(self.rank)
    }
}
