//! Each node tells its leader, the leaders tell each other, then their nodes.

use catena_schedule::{Builder, StepId};

use super::dissemination;
use super::token::{TOKEN, after};
use crate::levels::{Levels, among_leaders, in_node};
use crate::tree::Tree;
use crate::{Args, Terms};

const RADIX: u32 = 4;

pub(super) fn cost(t: &Terms) -> f64 {
    let node = in_node(0, t).up::<RADIX>(|_| 0.0, 0.0);
    2.0 * node + dissemination::cost::<RADIX>(&among_leaders(0, t))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let levels = Levels::new(a);
    let (me, tree) = (
        levels.node.me,
        Tree::<RADIX> {
            size: levels.node.size,
        },
    );
    let mut heard: Vec<StepId> = Vec::new();
    levels.node.among(b, |b| {
        heard.extend(tree.children(me).map(|child| b.recv(child, TOKEN)));
        if me > 0 {
            let tell = b.send(tree.parent(me), TOKEN);
            after(tell, &heard, b);
            heard = vec![b.recv(tree.parent(me), TOKEN)];
        }
    });
    if me == 0 {
        let leaders = levels.leaders();
        leaders.among(b, |b| {
            let inside = std::mem::take(&mut heard);
            heard = dissemination::spread::<RADIX>(leaders.size, leaders.me, inside, b);
        });
    }
    levels.node.among(b, |b| {
        for child in tree.children(me).rev() {
            let tell = b.send(child, TOKEN);
            after(tell, &heard, b);
        }
    });
}
