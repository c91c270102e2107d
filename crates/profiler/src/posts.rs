//! What calls may send and receive, before that is known.

use std::sync::Arc;

use catena_profile::layout::Class;

use crate::comms::{self, Comm};
use crate::requests::requests;
use crate::shape::{Act, Shape};
use crate::words::Words;

/// Most requests of a call that are looked at.
pub const LOOKED_AT: usize = 1 << 20;

/// What a call may send and receive: the communicator, and the places in the order of such calls, 0
/// for none.
#[derive(Default)]
pub struct Posts {
    pub comm: Option<Arc<Comm>>,
    pub send: u64,
    pub receive: u64,
}

/// A call within another one, as of a function that MPI calls, or of a thread that has no room, is
/// not written: what it may send or receive has no numbers any more.
///
/// # Safety
/// The arguments are as the standard wants them.
pub unsafe fn unseen(shape: &Shape, words: &Words) {
    let group = shape.group.filter(|_| !shape.is_pointer);
    let moves = shape.class == Class::Message && (shape.request.is_some() || !shape.is_quick);
    if (moves || shape.is_logged)
        && let Some((at, _)) = group
        && let Some(comm) = comms::get(words.word(at))
    {
        comm.give_up();
    }
    let at = match (shape.act, &shape.ends) {
        (_, Some(ends)) => ends.requests,
        (Act::Start, _) => 0,
        (Act::StartAll, _) => 1,
        _ => return,
    };
    let is_many = shape.act == Act::StartAll || shape.ends.is_some_and(|it| it.count.is_some());
    let count = if is_many { words.int(0) } else { 1 };
    let all = words.word(at) as *const usize;
    if all.is_null() {
        return;
    }
    for i in 0..usize::try_from(count).unwrap_or(0).min(LOOKED_AT) {
        // SAFETY: the caller's promise.
        let handle = unsafe { *all.add(i) };
        let request = requests(|it| it.get(handle));
        if let Some(comm) = request.and_then(|it| it.comm) {
            comm.give_up();
        }
    }
}
