//! `MPI_Gather`, `MPI_Gatherv`: from all of the remote group to the root.

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

fn linear_cost(t: &Terms) -> f64 {
    t.latency() + t.overhead() + t.stream(f64::from(t.shape.size), t.shape.bytes as f64)
}

/// Everyone to the root.
fn linear(a: &Args, _: &Model, b: &mut Builder) {
    match a.root {
        Root::Here => {
            for from in (0..a.remote).filter(|&i| !a.recv_block(i).is_empty()) {
                b.recv(a.far(from), a.recv_block(from));
            }
        }
        Root::There(root) if !a.mine().is_empty() => _ = b.send(a.far(root), a.mine()),
        Root::Near | Root::There(_) => {}
    }
}

fn leader_cost(t: &Terms) -> f64 {
    cost(Collective::Gather, t) + t.hop(f64::from(t.shape.size) * t.shape.bytes as f64)
}

/// Everyone to the leader, who sends all blocks in one message.
fn leader(a: &Args, m: &Model, b: &mut Builder) {
    match a.root {
        Root::Here => {
            let all = Region::output(0, a.remote as usize * a.recv.len(0));
            if !all.is_empty() {
                b.recv(a.far(0), all);
            }
        }
        Root::There(root) if !a.mine().is_empty() => {
            let near = LocalGroup { a, m };
            let all = near.gather(a.mine(), b);
            if near.leads() {
                b.send(a.far(root), all);
            }
        }
        Root::Near | Root::There(_) => {}
    }
}
