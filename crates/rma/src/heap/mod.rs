//! Memory of this process that its neighbours can map: that of windows, and of `MPI_Alloc_mem`.
//!
//! It lies in **chunks**, anonymous files (memfd) that are mapped as a whole. Small pieces share a
//! chunk of `POOL` bytes, of which only what was ever in use has pages; a long piece has one of
//! its own. A neighbour opens a chunk under `/proc` by what a [`Card`] says, and keeps it mapped as
//! long as it uses it ([`Mapping`]). Each chunk begins with a stamp, which is compared with the
//! card: so a process id that means another process there is noticed.
//!
//! Where neighbours cannot open each other's descriptors, as in containers that are started per
//! rank, chunks lie in the segment of the job instead ([`share_segment`]), which has room for a GiB
//! and some MiB for each rank; they are shorter then.
//!
//! The chunks of long pieces that were given back last are kept with their pages, up to `SPARE`
//! bytes, until the library is left: programs make and free windows of one size again and again,
//! and to provide, clear and take back its pages takes the kernel longer than all else. What a
//! spare chunk holds is what the last piece left there. For the same reason pages of short pieces
//! go back once there are a few MiB of them (`SPARE`): those of all room that is free then, and
//! chunks of which nothing is in use go, but for one.
//!
//! Nothing here has a name that could be left behind. Pages are provided when a piece is taken, by
//! its owner, so a lack of memory is an error and no signal, and they lie near its processor.

mod chunk;
mod last_region;
mod mapping;
mod pieces;

pub use chunk::Card;
pub use last_region::map_region;
pub use mapping::{Mapping, Recent, map_peer, probe, reaches};
pub use pieces::{
    card, give, is_in_segment, keep, reserve, reserve_lines, share_segment, take, take_if_alone,
};
