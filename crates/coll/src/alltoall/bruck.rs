//! Bruck's algorithm: ⌈log₂ p⌉ hops of half of all blocks, which are forwarded on
//! their way. For short blocks of one length and many ranks.

use catena_schedule::Builder;

use crate::Args;
use crate::Terms;
use crate::args::wrap;
use crate::terms::powers;

pub(super) fn cost(t: &Terms) -> f64 {
    let rounds = powers(t.shape.size).map(|d| {
        let blocks = f64::from(moving(t.shape.size, d));
        (d, 1.0, blocks * t.n, t.copies(2.0 * blocks, t.n))
    });
    t.shifts(rounds) + t.copies(2.0 * t.p, t.n)
}

/// Number of slots below `size` that move in the round of `bit`.
fn moving(size: u32, bit: u32) -> u32 {
    size / (2 * bit) * bit + (size % (2 * bit)).saturating_sub(bit)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (n, p) = (a.recv.len(0), a.size);
    if n == 0 {
        return;
    }
    let all = b.scratch(p as usize * n);
    let slot = |i: u32| all.part(i as usize * n, n);
    // Slot i holds the block that still has to go i ranks up.
    for i in 0..p {
        let to = a.up(i);
        b.copy(
            if a.in_place {
                a.recv_block(to)
            } else {
                a.send_block(to)
            },
            slot(i),
        );
    }
    let mut bit = 1;
    while bit < p {
        let moving: Vec<u32> = (0..p).filter(|i| i & bit != 0).collect();
        let (out, got) = (b.scratch(moving.len() * n), b.scratch(moving.len() * n));
        b.recv(a.down(bit), got);
        for (at, &i) in moving.iter().enumerate() {
            b.copy(slot(i), out.part(at * n, n));
        }
        b.send(a.up(bit), out);
        for (at, &i) in moving.iter().enumerate() {
            b.copy(got.part(at * n, n), slot(i));
        }
        bit *= 2;
    }
    for i in 0..p {
        b.copy(slot(i), a.recv_block(wrap(a.rank, p - i, p)));
    }
}
