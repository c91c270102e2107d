//! Rabenseifner's algorithm: reduce-scatter by halving, then the pieces are
//! gathered at the root along the same halvings.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;
use crate::acc::Acc;
use crate::allreduce::halving::reduce_scatter;
use crate::fold::{Fold, Role};

pub(super) fn cost(t: &Terms) -> f64 {
    let part = |d: u32| t.n / 2.0 / f64::from(d);
    let back = t.distances().map(|d| t.message(t.level(d), part(d)));
    let rounds = t.distances().map(|d| (d, part(d), t.combine(part(d))));
    t.exchanges(t.folding(t.n, t.combine(t.n)), rounds) + back.sum::<f64>()
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let input = a.vector_in();
    if input.is_empty() {
        return;
    }
    let fold = Fold::new(a.size, a.root);
    let new = match fold.role(a.rank) {
        Role::Aside { keeper } => {
            b.send(keeper, input);
            return;
        }
        Role::Keeper { new, .. } | Role::Alone(new) => new,
    };
    let home = if a.rank == a.root {
        a.vector_out()
    } else {
        b.scratch(input.len)
    };
    let mut acc = Acc::new(input, home);
    if let Role::Keeper { other, .. } = fold.role(a.rank) {
        let side = if other < a.rank {
            Order::FromLeft
        } else {
            Order::FromRight
        };
        acc.combine(b, other, side);
    }
    let (Role::Keeper { new: root, .. } | Role::Alone(root)) = fold.role(a.root) else {
        unreachable!("the root takes part");
    };
    let halvings = reduce_scatter(&mut acc, home, &fold, new, a.elem, b);
    for (round, halving) in halvings.iter().enumerate().rev() {
        if (new ^ root) >> round & 1 == 1 {
            if !acc.now().is_empty() {
                b.send(halving.partner, acc.now());
            }
            return;
        }
        if !halving.given.is_empty() {
            b.recv(halving.partner, halving.given);
        }
        acc.widen(halving.before);
    }
}
