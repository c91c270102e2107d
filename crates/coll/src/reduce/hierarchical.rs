//! Within each node to its leader, then among the leaders to the root, which is
//! one of them.

use catena_schedule::Builder;

use crate::levels::Levels;
use crate::rooted::rooted_cost;
use crate::{Args, Collective, Terms};

pub(super) fn cost(t: &Terms) -> f64 {
    rooted_cost(Collective::Reduce, t.combine(t.n), |n| t.combine(n), t)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (mine, levels) = (a.vector_in(), Levels::rooted(a));
    let result = if a.rank == a.root {
        a.vector_out()
    } else if levels.leads() && levels.node.size > 1 {
        b.scratch(mine.len)
    } else {
        mine // passed on as it is
    };
    levels.node.reduce(levels.leader, mine, result, b);
    if levels.leads() {
        levels.leaders().reduce(levels.top, result, result, b);
    }
}
