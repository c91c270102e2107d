//! `MPI_Barrier`: nobody leaves before all of the remote group have entered.

use catena_schedule::{Builder, Region, StepId};

use super::call::{Algorithm, Args};
use crate::Model;
use crate::Terms;
use crate::model::{depth, log2_ceil};
use crate::tree::Tree;

const TOKEN: Region = Region::output(0, 0);

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
];

fn leader_cost(t: &Terms) -> f64 {
    (2.0 * depth(t.shape.size) + 1.0) * t.hop(0.0)
        + f64::from(log2_ceil(t.shape.size)) * t.overhead()
}

/// Each group tells its leader, the leaders tell each other, then their groups.
fn leader(a: &Args, _: &Model, b: &mut Builder) {
    let after = |b: &mut Builder, step: StepId, earlier: &[StepId]| {
        earlier.iter().for_each(|&e| b.depend(step, e));
    };
    let tree = Tree::<2> { size: a.local };
    let mut entered = Vec::new();
    for child in tree.children(a.rank) {
        entered.push(b.recv(child, TOKEN));
    }
    let (up, down) = if a.rank == 0 {
        (b.send(a.far(0), TOKEN), b.recv(a.far(0), TOKEN))
    } else {
        (
            b.send(tree.parent(a.rank), TOKEN),
            b.recv(tree.parent(a.rank), TOKEN),
        )
    };
    after(b, up, &entered);
    for child in tree.children(a.rank).rev() {
        let release = b.send(child, TOKEN);
        after(b, release, &[down]);
    }
}

fn linear_cost(t: &Terms) -> f64 {
    let posting = f64::from(t.shape.size) * t.overhead();
    posting.max(t.latency()) + posting + t.overhead()
}

/// Everyone tells everyone.
fn linear(a: &Args, _: &Model, b: &mut Builder) {
    for peer in a.far_ranks() {
        b.send(a.far(peer), TOKEN);
    }
    for peer in a.far_ranks() {
        b.recv(a.far(peer), TOKEN);
    }
}
