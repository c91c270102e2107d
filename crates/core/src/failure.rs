//! What went wrong with a transfer, as an error of MPI.

use catena_fabric::PeerLost;
use catena_link::Failure;
use catena_objects::error::{Error, Kind};

use crate::loss::{died, kind_of_death, revoked};

/// The error that a lost peer is reported with.
#[cold]
pub(crate) fn lost(lost: &PeerLost) -> Error {
    let text = format!(
        "process {} is gone, or cannot be reached: {}",
        lost.peer.0, lost.cause
    );
    Error::new(kind_of_death(), text)
}

/// The error that a failed transfer is reported with.
#[cold]
pub(crate) fn failure(f: &Failure) -> Error {
    match f {
        Failure::Truncated {
            source,
            tag,
            sent,
            capacity,
        } => Error::new(
            Kind::Truncate,
            format!(
                "the message from rank {source} with tag {tag} has {sent} bytes, but the \
                receive has room for {capacity}"
            ),
        ),
        Failure::Damaged(error) => Error::new(
            match error {
                catena_link::Damage::Memory => Kind::NoMem,
                _ => Kind::Other,
            },
            error.to_string(),
        ),
        Failure::Lost(peer) => lost(peer),
        Failure::Interrupted => died("a rank that might have sent"),
        Failure::Revoked => revoked(),
        Failure::Finalized { rank, other } => {
            let who = match rank {
                Some(rank) => &*format!("rank {rank} has"),
                None => "all others have",
            };
            let text = format!("{who} called MPI_Finalize: no message comes from there any more");
            let but = other.map_or(String::new(), |it| {
                format!(
                    ", and one of {} bytes with tag {} has come from rank {} that this call does \
                     not match",
                    it.len, it.tag, it.source
                )
            });
            Error::new(Kind::Other, text + &but)
        }
        Failure::Unreceived { rank } => Error::new(
            Kind::Other,
            format!(
                "rank {rank} has not received the message, and has freed the communicator or \
                 called MPI_Finalize"
            ),
        ),
    }
}
