//! Recursive halving: partners at distance p/2, p/4, … exchange the half of the
//! vector that the other is responsible for. log₂ p hops; needs operands that
//! may be exchanged, as distant ranks are combined first.

use catena_plan::{Builder, Order, Region};

use super::{block_in, result};
use crate::Args;
use crate::Terms;
use crate::acc::Acc;
use crate::fold::{Fold, Role};

pub(super) fn cost(t: &Terms) -> f64 {
    let ranks = f64::from(t.folded());
    let part = |d: u32| t.n * f64::from(d) / ranks;
    let rounds = t
        .distances()
        .rev()
        .map(|d| (d, part(d), t.combine(part(d))));
    let folding = [t.folding(t.n, t.combine(t.n)), t.folding(t.n / t.p, 0.0)];
    t.folded_exchanges(folding, rounds) + t.copies(1.0, t.n / t.p)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (first, last) = (block_in(a, 0), block_in(a, a.size - 1));
    let input = Region::new(first.buf, first.offset, last.end() - first.offset);
    if input.is_empty() {
        return;
    }
    let fold = Fold::new(a.size, 0);
    let role = fold.role(a.rank);
    let (new, other) = match role {
        Role::Aside { keeper } => {
            b.send(keeper, input);
            if !result(a).is_empty() {
                b.recv(keeper, result(a));
            }
            return;
        }
        Role::Keeper { new, other } => (new, Some(other)),
        Role::Alone(new) => (new, None),
    };
    let home = b.scratch(input.len);
    let mut acc = Acc::new(input, home);
    if let Some(other) = other {
        acc.combine(b, other, Order::FromRight);
    }
    // First byte of the blocks that a new rank stands for.
    let start = |new: u32| {
        if new == fold.ranks {
            input.len
        } else {
            a.send.offset(fold.covers(new).0)
        }
    };
    let (mut low, mut high) = (0, fold.ranks);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let distance = middle - low;
        let partner = fold.old(new ^ distance);
        let ((keep_low, keep_high), (give_low, give_high)) = if new < middle {
            ((low, middle), (middle, high))
        } else {
            ((middle, high), (low, middle))
        };
        let base = start(low);
        let give = acc
            .now()
            .part(start(give_low) - base, start(give_high) - start(give_low));
        if !give.is_empty() {
            b.send(partner, give);
        }
        acc.keep(start(keep_low) - base, start(keep_high) - start(keep_low));
        if !acc.now().is_empty() {
            acc.combine(b, partner, Order::FromRight);
        }
        (low, high) = (keep_low, keep_high);
    }
    let base = start(new);
    let block = |i: u32| acc.now().part(a.send.offset(i) - base, a.send.len(i));
    if let Some(other) = other
        && !block(other).is_empty()
    {
        b.send(other, block(other));
    }
    b.copy(block(a.rank), result(a));
}
