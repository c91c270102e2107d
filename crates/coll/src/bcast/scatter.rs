//! The message is scattered in p pieces and gathered again everywhere (van de
//! Geijn; Thakur, Rabenseifner, Gropp, 2005): about 2n bytes through each
//! rank, whatever p is.

use catena_schedule::{Builder, Region};

use crate::Args;
use crate::Terms;
use crate::args::cut;
use crate::tree::Tree;

fn scatter_cost(t: &Terms) -> f64 {
    t.down::<2>(|ranks| t.n * ranks / t.p)
}

pub(super) fn doubling_cost(t: &Terms) -> f64 {
    let piece = t.n / t.p;
    scatter_cost(t) + t.exchanges(0.0, t.distances().map(|d| (d, f64::from(d) * piece, 0.0)))
}

pub(super) fn ring_cost(t: &Terms) -> f64 {
    t.handing_out(|ranks| t.n * ranks / t.p) + t.late_ring(t.p - 1.0, t.n / t.p)
}

/// Pieces `[first, first + number)` of the message; piece i belongs to the
/// i-th rank from the root.
fn pieces(a: &Args, first: u32, number: u32) -> Region {
    let message = a.recv_block(0);
    let at = |i| {
        if i == a.size {
            message.len
        } else {
            cut(message.len, 1, a.size, i).0
        }
    };
    message.part(at(first), at(first + number) - at(first))
}

fn tree(a: &Args) -> Tree<2> {
    Tree { size: a.size }
}

fn scatter(a: &Args, b: &mut Builder) {
    let me = a.place();
    if me > 0 {
        let mine = pieces(a, me, tree(a).subtree(me));
        transfer(mine, |r| b.recv(a.nth_from_root(tree(a).parent(me)), r));
    }
    for child in tree(a).children(me).rev() {
        let part = pieces(a, child, tree(a).subtree(child));
        transfer(part, |r| b.send(a.nth_from_root(child), r));
    }
}

/// Nothing is sent for an empty piece.
fn transfer<T>(r: Region, f: impl FnOnce(Region) -> T) {
    if !r.is_empty() {
        f(r);
    }
}

pub(super) fn doubling(a: &Args, b: &mut Builder) {
    scatter(a, b);
    let me = a.place();
    let mut have = 1;
    while have < a.size {
        let other = me ^ have;
        let (ours, theirs) = (me & !(have - 1), other & !(have - 1));
        // Who already has the other's pieces from the scatter is not sent them.
        if tree(a).subtree(me) <= have {
            transfer(pieces(a, theirs, have), |r| {
                b.recv(a.nth_from_root(other), r)
            });
        }
        if tree(a).subtree(other) <= have {
            transfer(pieces(a, ours, have), |r| b.send(a.nth_from_root(other), r));
        }
        have *= 2;
    }
}

pub(super) fn ring(a: &Args, b: &mut Builder) {
    scatter(a, b);
    let (p, me) = (a.size, a.place());
    let (left, right) = ((me + p - 1) % p, (me + 1) % p);
    let has = |who: u32, piece: u32| (who..who + tree(a).subtree(who)).contains(&piece);
    for k in 0..p - 1 {
        let (out, arriving) = ((me + p - k) % p, (left + p - k) % p);
        if !has(me, arriving) {
            transfer(pieces(a, arriving, 1), |r| b.recv(a.nth_from_root(left), r));
        }
        if !has(right, out) {
            transfer(pieces(a, out, 1), |r| b.send(a.nth_from_root(right), r));
        }
    }
}
