//! In round k every rank tells the one 2ᵏ above it that it, and all it has
//! heard of, have arrived (Hensgen, Finkel, Manber, 1988). ⌈log₂ p⌉ rounds.

use catena_plan::{Builder, Region};

use crate::Args;
use crate::model::Terms;
use crate::model::log2_ceil;

pub(super) fn cost(t: &Terms) -> f64 {
    f64::from(log2_ceil(t.shape.size)) * t.hop(0.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let token = Region::output(0, 0);
    let mut heard = Vec::new();
    let mut distance = 1;
    while distance < a.size {
        let to = b.send(a.up(distance), token);
        let from = b.recv(a.down(distance), token);
        for &earlier in &heard {
            b.depend(to, earlier);
        }
        heard.push(from);
        distance *= 2;
    }
}
