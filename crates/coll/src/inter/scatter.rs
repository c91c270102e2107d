//! `MPI_Scatter`, `MPI_Scatterv`: from the root to all of the remote group.

use catena_schedule::{Builder, Region};

use super::call::{Algorithm, Args, Root};
use super::local_group::{LocalGroup, cost};
use crate::Terms;
use crate::{Collective, Model};

const LINEAR: Algorithm = Algorithm {
    name: "linear",
    cost: linear_cost,
    build: linear,
};

pub(super) const EVEN: &[Algorithm] = &[
    LINEAR,
    Algorithm {
        name: "leader",
        cost: leader_cost,
        build: leader,
    },
];

pub(super) const TABLE: &[Algorithm] = &[LINEAR];

/// This rank's block.
fn mine(a: &Args) -> Region {
    Region::output(0, a.recv.len(0))
}

fn linear_cost(t: &Terms) -> f64 {
    t.latency() + t.overhead() + t.stream(f64::from(t.shape.size), t.shape.bytes as f64)
}

/// The root to everyone.
fn linear(a: &Args, _: &Model, b: &mut Builder) {
    match a.root {
        Root::Here => {
            for to in (0..a.remote).filter(|&i| !a.send_block(i).is_empty()) {
                b.send(a.far(to), a.send_block(to));
            }
        }
        Root::There(root) if !mine(a).is_empty() => _ = b.recv(a.far(root), mine(a)),
        Root::Near | Root::There(_) => {}
    }
}

fn leader_cost(t: &Terms) -> f64 {
    t.hop(f64::from(t.shape.size) * t.shape.bytes as f64) + cost(Collective::Scatter, t)
}

/// All blocks in one message to the leader, who hands them out.
fn leader(a: &Args, m: &Model, b: &mut Builder) {
    match a.root {
        Root::Here => {
            let all = Region::input(0, a.remote as usize * a.send.len(0));
            if !all.is_empty() {
                b.send(a.far(0), all);
            }
        }
        Root::There(root) if !mine(a).is_empty() => {
            let near = LocalGroup { a, m };
            let all = near.leader_place(a.local as usize * mine(a).len, b);
            if near.leads() {
                b.recv(a.far(root), all);
            }
            near.scatter(all, mine(a), b);
        }
        Root::Near | Root::There(_) => {}
    }
}
