//! What each process of one group has, to everyone of the other: to one of
//! them first, then round their ring, so that nothing crosses twice.

use catena_schedule::{Builder, Region};

use super::call::Args;
use crate::Terms;
use crate::args::wrap;

/// Estimated time of [`spread`] for blocks of `block` bytes.
pub(super) fn cost(block: f64, t: &Terms) -> f64 {
    t.hop(block) + ring_cost(block, t)
}

/// Estimated time of [`ring`].
pub(super) fn ring_cost(block: f64, t: &Terms) -> f64 {
    f64::from(t.shape.size - 1) * t.hop(block)
}

/// `mine` goes to the remote group, whose rank `i` sends us `theirs(i)`.
pub(super) fn spread(a: &Args, mine: Region, theirs: impl Fn(u32) -> Region, b: &mut Builder) {
    if !mine.is_empty() {
        b.send(a.far(a.rank % a.remote), mine);
    }
    // What rank `who` of this group hears from the other.
    let heard = |who: u32| (who..a.remote).step_by(a.local as usize);
    for from in heard(a.rank) {
        if !theirs(from).is_empty() {
            b.recv(a.far(from), theirs(from));
        }
    }
    ring(a, |who, pass| heard(who).for_each(|i| pass(theirs(i))), b);
}

/// Round the ring of this group: `parts(who, pass)` passes each part that rank
/// `who` has at the beginning.
pub(super) fn ring(a: &Args, parts: impl Fn(u32, &mut dyn FnMut(Region)), b: &mut Builder) {
    let p = a.local;
    let (left, right) = (wrap(a.rank, p - 1, p), wrap(a.rank, 1, p));
    for k in 0..p - 1 {
        let (out, got) = (wrap(a.rank, p - k, p), wrap(left, p - k, p));
        parts(got, &mut |r| {
            if !r.is_empty() {
                b.recv(left, r);
            }
        });
        parts(out, &mut |r| {
            if !r.is_empty() {
                b.send(right, r);
            }
        });
    }
}
