//! The message travels along the ranks in segments, so that all links are
//! busy at once.

use catena_plan::Builder;

use crate::Args;
use crate::model::Terms;

/// Bytes of a segment: long enough to hide the cost of a message, short
/// enough to stay in the cache from one hop to the next.
const SEGMENT: usize = 32 << 10;

pub(super) fn cost(t: &Terms) -> f64 {
    let segments = t.shape.bytes.div_ceil(SEGMENT) as f64;
    let hop = t.hop(t.shape.bytes.min(SEGMENT) as f64);
    let each = 2.0 * t.overhead() + t.shape.bytes.min(SEGMENT) as f64 * t.per_byte();
    f64::from(t.shape.size - 1) * hop + (segments - 1.0).max(0.0) * each
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let message = a.recv_block(0);
    let me = a.place();
    for from in (0..message.len).step_by(SEGMENT) {
        let segment = message.part(from, SEGMENT.min(message.len - from));
        if me > 0 {
            b.recv(a.nth_from_root(me - 1), segment);
        }
        if me + 1 < a.size {
            b.send(a.nth_from_root(me + 1), segment);
        }
    }
}
