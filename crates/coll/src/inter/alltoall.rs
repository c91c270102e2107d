//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw`: a block to each process of
//! the remote group, and one from each.

use std::collections::VecDeque;

use catena_schedule::{Builder, StepId};

use super::call::{Algorithm, Args};
use crate::Model;
use crate::Terms;

pub(super) const ALGORITHMS: &[Algorithm] = &[Algorithm {
    name: "pairwise",
    cost,
    build,
}];

/// Messages under way at once, in either direction.
const WINDOW: usize = 16;

fn cost(t: &Terms) -> f64 {
    let (n, p) = (t.shape.bytes as f64, f64::from(t.shape.size));
    (p / WINDOW as f64).ceil() * t.latency() + t.stream(p, n) + p * t.overhead()
}

/// Every process starts with another peer, and with a few at once.
fn build(a: &Args, _: &Model, b: &mut Builder) {
    let mut sends = Window::default();
    let mut receives = Window::default();
    for peer in a.far_ranks() {
        if !a.recv_block(peer).is_empty() {
            let step = b.recv(a.far(peer), a.recv_block(peer));
            receives.push(step, b);
        }
        if !a.send_block(peer).is_empty() {
            let step = b.send(a.far(peer), a.send_block(peer));
            sends.push(step, b);
        }
    }
}

/// The last steps of one kind; each new one waits for the oldest.
#[derive(Default)]
struct Window(VecDeque<StepId>);

impl Window {
    fn push(&mut self, step: StepId, b: &mut Builder) {
        if self.0.len() == WINDOW {
            b.depend(step, self.0.pop_front().expect("full"));
        }
        self.0.push_back(step);
    }
}
