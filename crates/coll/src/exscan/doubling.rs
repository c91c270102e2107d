//! Every vector moves one rank up; what follows is an inclusive scan of ranks 1
//! to p − 1.

use catena_schedule::Builder;

use crate::Args;
use crate::Terms;
use crate::acc::Acc;
use crate::scan::doubling::rounds;

pub(super) fn cost(t: &Terms) -> f64 {
    t.shifted_prefix(t.n, t.combine(t.n))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (input, output) = (a.vector_in(), a.vector_out());
    if input.is_empty() {
        return;
    }
    if a.rank + 1 < a.size {
        // In place, the send would hold up the receive, and with it the ranks
        // below one after the other.
        let away = if a.in_place && a.rank > 0 {
            b.scratch(input.len)
        } else {
            input
        };
        b.copy(input, away);
        b.send(a.rank + 1, away);
    }
    if a.rank > 0 {
        b.recv(a.rank - 1, output);
        rounds(&mut Acc::new(output, output), a, 1, b);
    }
}
