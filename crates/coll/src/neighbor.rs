//! Neighbourhood collectives (MPI-5, chapter 8.6): every rank exchanges blocks
//! with its neighbours in a graph.
//!
//! A schedule has nothing to choose: a rank knows only its own edges, so every block
//! is a message of its own, and all are posted at once. On a board (the crate
//! `board`) a rank must know besides where its blocks are in the rows of
//! its sources: [`Edges`].

use catena_schedule::{Builder, Region, Schedule};

use crate::Layout;
pub use crate::edges::{Edge, Edges, MOST, Source};

/// The schedule of one rank: it sends the blocks of `destinations` and receives
/// those of `sources`. Several messages between the same two ranks meet in the
/// order in which these have them; a rank may be its own neighbour, and one
/// block may go to many.
///
/// # Panics
/// If a table in `send` or `recv` has fewer entries than there are blocks.
pub fn schedule(
    destinations: &[Edge],
    send: &Layout<'_>,
    sources: &[Edge],
    recv: &Layout<'_>,
) -> Schedule {
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
