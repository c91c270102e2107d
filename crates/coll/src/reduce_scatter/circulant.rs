//! Every rank has a partial result of the blocks from its own upwards, and hands
//! those that are far to ranks that are nearer to them, until only its own is left.
//! ⌈log p⌉ hops and n(p − 1)/p bytes for any number of ranks; for operands that may
//! be exchanged.

use catena_schedule::{Builder, Order, Region};

use crate::Args;
use crate::Terms;
use crate::circulant::{self, rounds, runs};

pub(crate) fn cost<const RADIX: u32>(t: &Terms) -> f64 {
    // In the first round blocks round the end come apart, if there are some.
    let first = rounds::<RADIX>(t.shape.size).next();
    let apart = match first {
        Some(round) if !t.is_sparse() => round.messages().filter(|m| m.1 > 1).count(),
        _ => 0,
    };
    circulant::cost::<RADIX>(t, t.n / t.p, |bytes| t.combine(bytes))
        + apart as f64 * (t.overhead() + t.combine(0.0))
}

pub(super) fn build<const RADIX: u32>(a: &Args, b: &mut Builder) {
    let end = a.send.end(a.size);
    let start = |i| if i == a.size { end } else { a.send.offset(i) };
    let vector = Region {
        len: end,
        ..a.vector_block(0)
    };
    scatter::<RADIX>(a, vector, start, a.result_block(), b);
}

/// Leaves in `result` this rank's block of the combined vectors, in which block i
/// starts at `start(i)`, or ends there for i − 1.
pub(crate) fn scatter<const RADIX: u32>(
    a: &Args,
    vector: Region,
    start: impl Fn(u32) -> usize,
    result: Region,
    b: &mut Builder,
) {
    let own = |first, number| runs(vector, &start, [a.up(first), number, a.size]);
    let bytes = |number| own(0, number).iter().map(|run| run.len).sum::<usize>();
    // Where the blocks that are left are, one behind the other, after the first round.
    let mut held: Option<Region> = None;
    for round in rounds::<RADIX>(a.size) {
        let value = |first, number| match held {
            None => own(first, number),
            Some(held) => {
                let (at, end) = (bytes(first), bytes(first + number));
                [held.part(at, end - at), held.part(end, 0)]
            }
        };
        let value = |first, number| value(first, number).into_iter().filter(|r| !r.is_empty());
        for (distance, number) in round.messages() {
            for run in value(distance, number) {
                b.send(a.up(distance), run);
            }
        }
        let home = match held {
            _ if round.keep == 1 && !result.overlaps(&vector) => result,
            Some(held) => held.part(0, bytes(round.keep)),
            None => b.scratch(bytes(round.keep)),
        };
        for (distance, number) in round.messages() {
            let (from, first) = (a.down(distance), distance == round.keep);
            let mut at = 0;
            for run in value(0, number) {
                let place = home.part(at, run.len);
                at += run.len;
                if first && run != place {
                    b.recv(from, place);
                    b.reduce(run, place, Order::FromRight);
                } else {
                    let arrival = b.scratch(run.len);
                    b.recv(from, arrival);
                    b.reduce(arrival, place, Order::FromRight);
                }
            }
            for run in value(number, round.keep - number).filter(|_| first) {
                b.copy(run, home.part(at, run.len));
                at += run.len;
            }
        }
        held = Some(home);
    }
    b.copy(held.unwrap_or(vector), result);
}
