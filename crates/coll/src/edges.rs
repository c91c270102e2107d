//! The edges of a graph that a rank of a neighbourhood collective knows.

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
    /// Which of the [`Edges::blocks`] of the neighbour that is.
    pub entry: u32,
    /// How many it has.
    pub entries: u32,
}

/// The edges of one rank, on a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges<'a> {
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
