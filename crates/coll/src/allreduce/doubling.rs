//! Recursive doubling: partners at distance 1, 2, 4, … exchange what they
//! have. ⌈log₂ p⌉ hops of the whole vector; two more if p is not a power of
//! two. Both partners combine the same operands in the same order.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;
use crate::acc::Acc;
use crate::fold::{Fold, Role};

pub(super) fn cost(t: &Terms) -> f64 {
    let work = t.combine(t.n);
    let folding = [t.folding(t.n, work), t.folding(t.n, 0.0)];
    t.folded_exchanges(folding, t.distances().map(|d| (d, t.n, work)))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    if a.vector_in().is_empty() {
        return;
    }
    let fold = Fold::new(a.size, 0);
    let mut acc = Acc::new(a.vector_in(), a.vector_out());
    let (new, other) = match fold.role(a.rank) {
        Role::Aside { keeper } => {
            b.send(keeper, acc.now());
            b.recv(keeper, a.vector_out());
            return;
        }
        Role::Keeper { new, other } => {
            acc.combine(b, other, Order::FromRight);
            (new, Some(other))
        }
        Role::Alone(new) => (new, None),
    };
    let mut distance = 1;
    while distance < fold.ranks {
        let partner = new ^ distance;
        b.send(fold.old(partner), acc.now());
        let side = if partner < new {
            Order::FromLeft
        } else {
            Order::FromRight
        };
        acc.combine(b, fold.old(partner), side);
        distance *= 2;
    }
    acc.settle(b);
    if let Some(other) = other {
        b.send(other, acc.now());
    }
}
