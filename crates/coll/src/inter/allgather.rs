//! `MPI_Allgather`, `MPI_Allgatherv`: all blocks of the remote group to everyone.

use catena_schedule::{Builder, Region};

use super::call::{Algorithm, Args};
use super::local_group::{LocalGroup, cost};
use super::spread::{self, spread};
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
    Algorithm {
        name: "ring",
        cost: ring_cost,
        build: ring,
    },
];

/// Nobody knows the lengths of both groups' blocks, so there is nothing by which
/// all could choose alike.
pub(super) const TABLE: &[Algorithm] = &[LINEAR];

fn linear_cost(t: &Terms) -> f64 {
    let p = f64::from(t.shape.size);
    t.latency() + t.stream(p, t.shape.bytes as f64) + p * t.overhead()
}

/// Everyone to everyone.
fn linear(a: &Args, _: &Model, b: &mut Builder) {
    for peer in a.far_ranks() {
        if !a.mine().is_empty() {
            b.send(a.far(peer), a.mine());
        }
        if !a.recv_block(peer).is_empty() {
            b.recv(a.far(peer), a.recv_block(peer));
        }
    }
}

fn leader_cost(t: &Terms) -> f64 {
    let all = t.shape.size as usize * t.shape.bytes;
    cost(Collective::Gather, t) + t.hop(all as f64) + cost(Collective::Bcast, &t.with_bytes(all))
}

/// Each group to its leader; the leaders exchange all blocks and broadcast them.
fn leader(a: &Args, m: &Model, b: &mut Builder) {
    let near = LocalGroup { a, m };
    let theirs = Region::output(0, a.remote as usize * a.recv.len(0));
    if !a.mine().is_empty() {
        let ours = near.gather(a.mine(), b);
        if near.leads() {
            b.send(a.far(0), ours);
        }
    }
    if !theirs.is_empty() {
        if near.leads() {
            b.recv(a.far(0), theirs);
        }
        near.bcast(theirs, b);
    }
}

fn ring_cost(t: &Terms) -> f64 {
    spread::cost(t.shape.bytes as f64, t)
}

/// Every block to one of the other group, and round its ring.
fn ring(a: &Args, _: &Model, b: &mut Builder) {
    spread(a, a.mine(), |i| a.recv_block(i), b);
}
