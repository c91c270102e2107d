//! `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`: the combined vectors of
//! each group are cut up among the other. Nobody knows where the other group
//! cuts.

use catena_schedule::{Builder, Region};

use super::call::{Algorithm, Args};
use super::local_group::{LocalGroup, Pieces, cost};
use crate::Terms;
use crate::{Collective, Model};

pub(super) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "leader",
        cost: leader_cost,
        build: leader,
    },
    Algorithm {
        name: "pieces",
        cost: pieces_cost,
        build: pieces,
    },
];

fn vector(a: &Args) -> Region {
    Region::input(0, a.send.end(a.local))
}

/// The part of the result that this rank gets.
fn result(a: &Args) -> Region {
    Region::output(0, a.send.len(a.rank))
}

fn leader_cost(t: &Terms) -> f64 {
    let block = t.with_bytes(t.shape.bytes / t.shape.size as usize);
    cost(Collective::Reduce, t) + t.hop(t.shape.bytes as f64) + cost(Collective::Scatter, &block)
}

/// Combined at the leaders, who exchange the results and hand them out.
fn leader(a: &Args, m: &Model, b: &mut Builder) {
    let n = vector(a).len;
    if n == 0 {
        return;
    }
    let near = LocalGroup { a, m };
    let ours = near.reduce(vector(a), b);
    let theirs = near.leader_place(n, b);
    if near.leads() {
        b.send(a.far(0), ours);
        b.recv(a.far(0), theirs);
    }
    near.scatterv(theirs, a.send, result(a), b);
}

fn pieces_cost(t: &Terms) -> f64 {
    let piece = t.shape.bytes as f64 / f64::from(t.shape.size);
    cost(Collective::ReduceScatter, t) + 2.0 * t.hop(piece) + t.copies(1.0, piece)
}

/// Everyone combines a piece and sends it to one of the other group, who
/// passes it on to those in whose parts it lies.
fn pieces(a: &Args, m: &Model, b: &mut Builder) {
    let n = vector(a).len;
    let piece = LocalGroup { a, m }.reduce_scatter(vector(a), b);
    if !piece.is_empty() {
        b.send(a.far(a.rank % a.remote), piece);
    }
    let theirs = Pieces::new(n, a.elem, a.remote);
    for i in 0..a.remote {
        let (from, to) = theirs.range(i);
        let passes = i % a.local == a.rank;
        let got = if passes {
            b.scratch(to - from)
        } else {
            result(a).part(0, 0)
        };
        if passes && from < to {
            b.recv(a.far(i), got);
        }
        for (who, low, high) in cuts(a, from, to) {
            let part = |r: Region, start| r.part(low - start, high - low);
            let mine = |a: &Args| part(result(a), a.send.offset(a.rank));
            match (passes, who == a.rank) {
                (true, true) => b.copy(part(got, from), mine(a)),
                (true, false) => _ = b.send(who, part(got, from)),
                (false, true) => _ = b.recv(i % a.local, mine(a)),
                (false, false) => {}
            }
        }
    }
}

/// The ranks of this group that get something of bytes `[from, to)`, and what.
fn cuts<'a>(a: &'a Args, from: usize, to: usize) -> impl Iterator<Item = (u32, usize, usize)> + 'a {
    (0..a.local).filter_map(move |who| {
        let start = a.send.offset(who);
        let (low, high) = (start.max(from), (start + a.send.len(who)).min(to));
        (low < high).then_some((who, low, high))
    })
}
