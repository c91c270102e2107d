//! Rabenseifner's algorithm: reduce-scatter by halving the vector while the
//! distance doubles, then allgather the other way round. 2 log₂ p hops and
//! about 2n bytes. As the distance starts at 1, operands stay in the order of
//! ranks, so it serves every operation.

use catena_schedule::{Builder, Order, Region};

use crate::Args;
use crate::Terms;
use crate::acc::Acc;
use crate::fold::{Fold, Role};

pub(super) fn cost(t: &Terms) -> f64 {
    let part = |d: u32| t.n / 2.0 / f64::from(d);
    let combine = t.distances().map(|d| (d, part(d), t.combine(part(d))));
    let collect = t.distances().map(|d| (d, part(d), 0.0));
    t.exchanges(t.folding(t.n, t.combine(t.n)), combine.chain(collect)) + t.folding(t.n, 0.0)
}

/// One halving: what was held before it, and the two parts.
pub(crate) struct Halving {
    pub(crate) partner: u32,
    pub(crate) before: Region,
    pub(crate) given: Region,
}

/// Reduce-scatter among the ranks of a fold: leaves a part of the result in
/// `acc` and returns how the vector was halved, first halving first.
pub(crate) fn reduce_scatter(
    acc: &mut Acc,
    home: Region,
    fold: &Fold,
    new: u32,
    elem: usize,
    b: &mut Builder,
) -> Vec<Halving> {
    let mut halvings = Vec::new();
    let mut held = home;
    let mut distance = 1;
    while distance < fold.ranks {
        let partner = new ^ distance;
        let low = held.len / elem / 2 * elem;
        let high = held.len - low;
        let (keep, give) = if partner > new {
            ((0, low), (low, high))
        } else {
            ((low, high), (0, low))
        };
        let halving = Halving {
            partner: fold.old(partner),
            before: held,
            given: held.part(give.0, give.1),
        };
        if give.1 > 0 {
            b.send(halving.partner, acc.now().part(give.0, give.1));
        }
        acc.keep(keep.0, keep.1);
        held = held.part(keep.0, keep.1);
        if keep.1 > 0 {
            let side = if partner < new {
                Order::FromLeft
            } else {
                Order::FromRight
            };
            acc.combine(b, halving.partner, side);
        }
        halvings.push(halving);
        distance *= 2;
    }
    acc.settle(b);
    halvings
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let output = a.vector_out();
    if output.is_empty() {
        return;
    }
    let fold = Fold::new(a.size, 0);
    let mut acc = Acc::new(a.vector_in(), output);
    let (new, other) = match fold.role(a.rank) {
        Role::Aside { keeper } => {
            b.send(keeper, acc.now());
            b.recv(keeper, output);
            return;
        }
        Role::Keeper { new, other } => {
            acc.combine(b, other, Order::FromRight);
            (new, Some(other))
        }
        Role::Alone(new) => (new, None),
    };
    for halving in reduce_scatter(&mut acc, output, &fold, new, a.elem, b)
        .iter()
        .rev()
    {
        if !acc.now().is_empty() {
            b.send(halving.partner, acc.now());
        }
        if !halving.given.is_empty() {
            b.recv(halving.partner, halving.given);
        }
        acc.widen(halving.before);
    }
    if let Some(other) = other {
        b.send(other, output);
    }
}
