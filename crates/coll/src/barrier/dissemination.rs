//! In each round every rank tells those 1, 2, … radix − 1 times the distance
//! above it that it, and all it has heard of, have arrived; the distance grows
//! radix-fold (Hensgen, Finkel, Manber, 1988). ⌈log p⌉ rounds; a higher radix
//! has fewer rounds of more messages.

use catena_schedule::{Builder, StepId};

use super::token::{TOKEN, after};
use crate::args::wrap;
use crate::{Args, Terms};

/// Distance of each round, and its number of messages.
fn rounds<const RADIX: u32>(size: u32) -> impl Iterator<Item = (u32, u32)> {
    let next = |distance: &u32| distance.checked_mul(RADIX);
    std::iter::successors(Some(1), next)
        .take_while(move |&distance| distance < size)
        .map(move |distance| (distance, (RADIX - 1).min((size - 1) / distance)))
}

pub(super) fn cost<const RADIX: u32>(t: &Terms) -> f64 {
    let round = |(distance, number)| (distance, f64::from(number), 0.0, 0.0);
    t.shifts(rounds::<RADIX>(t.shape.size).map(round))
}

pub(super) fn build<const RADIX: u32>(a: &Args, b: &mut Builder) {
    spread::<RADIX>(a.size, a.rank, Vec::new(), b);
}

/// The rounds of rank `me` once the steps in `heard` are complete; gives those
/// after which all are known to have come so far.
pub(super) fn spread<const RADIX: u32>(
    size: u32,
    me: u32,
    mut heard: Vec<StepId>,
    b: &mut Builder,
) -> Vec<StepId> {
    for (distance, number) in rounds::<RADIX>(size) {
        let before = heard.len();
        for k in 1..=number {
            let tell = b.send(wrap(me, k * distance, size), TOKEN);
            after(tell, &heard[..before], b);
        }
        for k in 1..=number {
            heard.push(b.recv(wrap(me, size - k * distance, size), TOKEN));
        }
    }
    heard
}
