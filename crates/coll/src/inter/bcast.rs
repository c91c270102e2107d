//! `MPI_Bcast`: from the root to all of the remote group. The message is in the
//! output, also at the root.

use catena_schedule::{Builder, Region};

use super::call::{Algorithm, Args, Root};
use super::local_group::{LocalGroup, Pieces, cost};
use super::spread::{ring, ring_cost};
use crate::Terms;
use crate::{Collective, Model};

pub(super) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "leader",
        cost: leader_cost,
        build: leader,
    },
    Algorithm {
        name: "linear",
        cost: linear_cost,
        build: linear,
    },
    Algorithm {
        name: "scatter_ring",
        cost: scatter_cost,
        build: scatter,
    },
];

fn message(a: &Args) -> Region {
    Region::output(0, a.recv.len(0))
}

fn leader_cost(t: &Terms) -> f64 {
    t.hop(t.shape.bytes as f64) + cost(Collective::Bcast, t)
}

/// To the leader, who broadcasts it.
fn leader(a: &Args, m: &Model, b: &mut Builder) {
    let (message, near) = (message(a), LocalGroup { a, m });
    match a.root {
        _ if message.is_empty() => {}
        Root::Here => _ = b.send(a.far(0), message),
        Root::Near => {}
        Root::There(root) => {
            if near.leads() {
                b.recv(a.far(root), message);
            }
            near.bcast(message, b);
        }
    }
}

fn linear_cost(t: &Terms) -> f64 {
    t.latency() + t.overhead() + t.stream(f64::from(t.shape.size), t.shape.bytes as f64)
}

/// To everyone.
fn linear(a: &Args, _: &Model, b: &mut Builder) {
    let message = message(a);
    match a.root {
        _ if message.is_empty() => {}
        Root::Here => (0..a.remote).for_each(|to| _ = b.send(a.far(to), message)),
        Root::Near => {}
        Root::There(root) => _ = b.recv(a.far(root), message),
    }
}

fn scatter_cost(t: &Terms) -> f64 {
    let piece = t.shape.bytes as f64 / f64::from(t.shape.size);
    t.latency() + t.stream(f64::from(t.shape.size), piece) + t.overhead() + ring_cost(piece, t)
}

/// To everyone a piece, which then goes round the ring.
fn scatter(a: &Args, _: &Model, b: &mut Builder) {
    let message = message(a);
    match a.root {
        Root::Here => {
            let pieces = Pieces::new(message.len, 1, a.remote);
            for to in 0..a.remote {
                let piece = pieces.of(message, to);
                if !piece.is_empty() {
                    b.send(a.far(to), piece);
                }
            }
        }
        Root::Near => {}
        Root::There(root) => {
            let pieces = Pieces::new(message.len, 1, a.local);
            let mine = pieces.of(message, a.rank);
            if !mine.is_empty() {
                b.recv(a.far(root), mine);
            }
            ring(a, |who, pass| pass(pieces.of(message, who)), b);
        }
    }
}
