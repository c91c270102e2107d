//! Every rank tells every other. One hop: the fewest switches between
//! processes where ranks outnumber cores.

use catena_plan::{Builder, Region};

use crate::{Args, Model, Shape};

pub(super) fn cost(s: &Shape, m: &Model) -> f64 {
    let posting = f64::from(s.size - 1) * m.overhead;
    posting.max(m.latency) + posting + m.overhead
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let token = Region::output(0, 0);
    for k in 1..a.size {
        b.send(a.up(k), token);
    }
    for k in 1..a.size {
        b.recv(a.down(k), token);
    }
}
