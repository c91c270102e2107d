//! What an algorithm between two groups is told about one call, and what it is.

use catena_schedule::{Builder, Region, Schedule};

use crate::{Layout, Model, Terms};

/// Where the root of a rooted operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// The root is this process (`MPI_ROOT`).
    Here,
    /// The root is another process of this group (`MPI_PROC_NULL`).
    Near,
    /// The root is this rank of the remote group.
    There(u32),
}

/// One call on one rank.
///
/// | collective | `send` | `recv` |
/// |---|---|---|
/// | barrier | – | – |
/// | bcast | – | `Even(n)`: the message, also at the root |
/// | gather(v) | `Even(n)`: this rank's block | blocks of the remote group (root) |
/// | scatter(v) | blocks of the remote group (root) | `Even(n)`: this rank's block |
/// | allgather(v) | `Even(n)`: this rank's block | blocks of the remote group |
/// | alltoall(v, w) | blocks to the remote group | blocks from the remote group |
/// | reduce, allreduce | `Even(n)`: the vector | `Even(n)` |
/// | reduce_scatter(_block) | blocks of the remote group's result that this group's ranks get, one behind the other | – |
///
/// The two vectors of reduce_scatter are equally long; where each group cuts
/// the result of the other is its own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Args<'a> {
    /// Ranks of this group.
    pub local: u32,
    /// This rank.
    pub rank: u32,
    /// Ranks of the remote group.
    pub remote: u32,
    /// The root; `Root::Near` where there is none.
    pub root: Root,
    /// See [`crate::Args::elem`].
    pub elem: usize,
    /// See [`crate::Args::commutative`].
    pub commutative: bool,
    /// The send buffer.
    pub send: Layout<'a>,
    /// The receive buffer.
    pub recv: Layout<'a>,
}

impl Args<'_> {
    /// The name of a rank of the remote group.
    pub(super) fn far(&self, rank: u32) -> u32 {
        self.local + rank
    }

    /// The ranks of the remote group, each process starting with another.
    pub(super) fn far_ranks(&self) -> impl Iterator<Item = u32> {
        let (first, number) = (self.rank % self.remote, self.remote);
        (0..number).map(move |k| (first + k) % number)
    }

    /// This rank's vector, or block.
    pub(super) fn mine(&self) -> Region {
        Region::input(0, self.send.len(0))
    }

    pub(super) fn recv_block(&self, i: u32) -> Region {
        Region::output(self.recv.offset(i), self.recv.len(i))
    }

    pub(super) fn send_block(&self, i: u32) -> Region {
        Region::input(self.send.offset(i), self.send.len(i))
    }
}

/// An algorithm.
#[derive(Debug)]
pub struct Algorithm {
    /// Name within the collective.
    pub name: &'static str,
    /// Estimated time of a call in seconds.
    pub cost: fn(&Terms) -> f64,
    /// Writes the steps of one rank.
    pub(super) build: fn(&Args, &Model, &mut Builder),
}

impl Algorithm {
    /// The schedule of one rank; `model` chooses what happens within a group.
    ///
    /// # Panics
    /// If a table in `args` has fewer entries than it has blocks.
    pub fn schedule(&self, args: &Args, model: &Model) -> Schedule {
        let mut builder = Builder::new();
        (self.build)(args, model, &mut builder);
        builder.finish()
    }
}
