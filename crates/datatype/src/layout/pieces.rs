//! Where any part of the packed bytes of a layout lies, run by run.

use super::{Layout, Node};

/// What is left of a part of the packed bytes, and what is told of each run.
struct Part<'f> {
    /// Packed bytes before it.
    skip: u64,
    /// Its own bytes.
    left: u64,
    /// Is called with the place of a run and its length.
    each: &'f mut dyn FnMut(i64, usize),
}

/// Calls `each` with place and length of every run that bytes `[from, from + len)`
/// of the packed form of `count` elements of `layout` come from, which lie `extent`
/// bytes apart. Places count from the origin of the first element.
pub(crate) fn pieces(
    layout: &Layout,
    (extent, count): (i64, u64),
    (from, len): (u64, usize),
    each: &mut dyn FnMut(i64, usize),
) {
    if len == 0 {
        return;
    }
    let mut part = Part {
        skip: from,
        left: len as u64,
        each,
    };
    let node = &layout.node;
    part.turns(node.size(), count, extent, layout.at, |part, at| {
        part.node(node, at);
    });
}

impl Part<'_> {
    /// Goes through `count` times the same, of which one has `size` bytes.
    fn turns(
        &mut self,
        size: u64,
        count: u64,
        stride: i64,
        at: i64,
        mut turn: impl FnMut(&mut Self, i64),
    ) {
        let first = self.skip.checked_div(size).unwrap_or(count).min(count);
        self.skip -= first * size;
        for i in first..count {
            if self.left == 0 {
                return;
            }
            turn(self, at.wrapping_add(stride.wrapping_mul(i as i64)));
        }
    }

    fn node(&mut self, node: &Node, at: i64) {
        match node {
            Node::Empty => {}
            Node::Run(len) => self.run(*len, at),
            Node::Strided { count, len, stride } => {
                self.turns(*len, *count, *stride, at, |part, at| part.run(*len, at));
            }
            Node::Loop {
                count,
                stride,
                inner,
            } => self.turns(inner.size, *count, *stride, at, |part, at| {
                part.node(&inner.node, at);
            }),
            Node::Even(e) => {
                self.turns(e.len, e.at.len() as u64, 1, 0, |part, i| {
                    part.run(e.len, at.wrapping_add(e.at[i as usize]));
                });
            }
            Node::Seq(s) => {
                let first = s.starts.partition_point(|start| *start <= self.skip) - 1;
                self.skip -= s.starts[first];
                for i in first..s.len() {
                    if self.left == 0 {
                        return;
                    }
                    self.node(&s.part(i), at.wrapping_add(s.at[i]));
                }
            }
        }
    }

    /// Tells of the part of a run.
    fn run(&mut self, len: u64, at: i64) {
        let now = (len - self.skip).min(self.left);
        (self.each)(at.wrapping_add(self.skip as i64), now as usize);
        (self.skip, self.left) = (0, self.left - now);
    }
}
