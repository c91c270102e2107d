//! Calls by messages that go on without data.
//!
//! A member that has no memory for a call takes all its steps all the same: it receives each
//! message into nothing, and sends an empty one in place of each that it owes. So no member waits
//! in vain, and the calls keep their numbers at all of them. Before each empty message goes a
//! control message, a *lack*, which says why. Whoever receives that has no data from there on
//! either, and goes on in the same way: what follows from data that are missing never looks like a
//! result. All others have theirs. Messages without bytes are sent as ever, since nothing follows
//! from them.
//!
//! On a board see [`WithoutData`](catena_board::WithoutData).

use catena_link::Cid;
use catena_objects::error::Error;

use super::control::{CallControl, Kind, who};
use super::report::{self, to_bytes};
use crate::comm::Comm;
use crate::process::Process;

impl CallControl {
    /// Tells a rank of a context that the next message of the call at `place` has no data.
    #[cold]
    pub(super) fn tell_lack(process: &Process, whom: (Cid, u32), place: u32, error: &Error) {
        let aside = CallControl {
            kind: Kind::Lack,
            place,
        };
        aside.send(process, whom, &to_bytes(error));
    }
}

impl Comm {
    /// Why a message of the call at `place` has no data, if its sender has said so. Each lack is
    /// read once.
    #[cold]
    pub(super) fn hear_lack(
        &self,
        process: &Process,
        (cid, rank): (Cid, u32),
        place: u32,
    ) -> Option<Error> {
        let envelope = CallControl::first_from(process, (cid, rank), Kind::Lack, place)?;
        let bytes = CallControl::receive(process, cid, envelope);
        Some(report::read_lack(&who(self, cid, rank), &bytes))
    }
}
