//! What members of a board know of the edges between them. A rank knows its own neighbours
//! only; `find_edges` has them tell each other the rest.

use catena_coll::Collective;
use catena_coll::neighbor::{Edge, Edges as BoardEdges, Source};

use crate::topology::Neighborhood;

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
    pub(super) fn new(neighborhood: &Neighborhood, me: u32, told: &[[u32; 2]]) -> Self {
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

    /// The edges of a neighbourhood collective, as a board needs them.
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
