//! Neighbourhood collectives (MPI-5, chapter 8.6): every rank exchanges blocks
//! with its neighbours in a graph.
//!
//! A plan has nothing to choose: a rank knows only its own edges, so every block
//! is a message of its own, and all are posted at once. On a board (see
//! [`crate::node`]) a rank must know besides where its blocks are in the rows of
//! its sources: [`Near`].

use catena_plan::{Builder, Plan, Region};

use crate::Layout;

/// A message from or to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The neighbour.
    pub peer: u32,
    /// The block that comes from there, or goes there.
    pub block: u32,
}

/// An edge from a neighbour, on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The neighbour.
    pub peer: u32,
    /// The block that comes from there.
    pub block: u32,
    /// Which of the [`Near::blocks`] of the neighbour that is.
    pub entry: u32,
    /// How many it has.
    pub entries: u32,
}

/// The edges of one rank, on a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Near<'a> {
    /// Blocks of the send buffer that go to neighbours: one for each edge, or the
    /// one that goes to all. At most [`MOST`].
    pub blocks: &'a [u32],
    /// Where they go.
    pub destinations: &'a [Edge],
    /// What comes.
    pub sources: &'a [Source],
    /// The only other rank among the destinations, if there is one.
    pub reader: Option<u32>,
}

/// Most blocks of a rank on a board.
pub const MOST: usize = 128;

/// The plan of one rank: it sends the blocks of `destinations` and receives
/// those of `sources`. Several messages between the same two ranks meet in the
/// order in which these have them; a rank may be its own neighbour, and one
/// block may go to many.
///
/// # Panics
/// If a table in `send` or `recv` has fewer entries than there are blocks.
pub fn plan(destinations: &[Edge], send: &Layout<'_>, sources: &[Edge], recv: &Layout<'_>) -> Plan {
    let mut builder = Builder::new();
    for &Edge { peer, block } in sources {
        if recv.len(block) != 0 {
            builder.recv(peer, Region::output(recv.offset(block), recv.len(block)));
        }
    }
    for &Edge { peer, block } in destinations {
        if send.len(block) != 0 {
            builder.send(peer, Region::input(send.offset(block), send.len(block)));
        }
    }
    builder.finish()
}
