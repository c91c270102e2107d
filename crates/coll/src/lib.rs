//! Row 3: collective algorithms, each written once as a schedule.
//!
//! One folder per collective, one file per algorithm, one row per algorithm in
//! the folder's table: what it requires, what it costs, how it is built. To
//! choose one, see [`select`]; the tests run every row for 1 to 33 ranks.
//!
//! Two promises hold for every algorithm. Operands of a reduction are combined
//! in the order of ranks unless [`Args::commutative`] allows otherwise (MPI 5.0,
//! section 6.9). And what several ranks receive as the same value was combined
//! once, or everywhere in the same order, so that it is the same to the bit.
//!
//! Read `args` first, what an algorithm is told, then an algorithm, `bcast/knomial.rs` say, then
//! `registry`, which chooses: it goes by `terms`, the cost of an algorithm's parts on a
//! [`Model`] of the machine.
//!
//! [`inter`] holds the algorithms between two groups; they are made of these.
//! [`neighbor`] holds exchanges along the edges of a graph.
//! What needs no schedule, as ranks share memory, is in the crate `board`.

#![forbid(unsafe_code)]

mod acc;
mod algorithm;
mod allgather;
mod allreduce;
mod alltoall;
mod args;
mod barrier;
mod bcast;
mod circulant;
mod edges;
mod exscan;
mod fold;
mod gather;
pub mod inter;
mod levels;
mod model;
mod need;
pub mod neighbor;
mod nodes;
mod part;
mod pipe;
mod reduce;
mod reduce_scatter;
mod registry;
mod rooted;
mod scan;
mod scatter;
pub mod simulate;
mod terms;
mod tree;

pub use algorithm::{Algorithm, Choose, Collective};
pub use args::{Args, Layout, Site, cut};
pub use model::{Model, Shape, TYPICAL};
pub use need::Need;
pub use nodes::{Nodes, Placement};
pub use registry::{Candidate, Selection, Why, algorithms, explain, select};
pub use terms::Terms;
