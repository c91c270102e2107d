//! Puts layouts one after the other.

use std::sync::Arc;

use super::{Even, Layout, Node, Seq};
use crate::error::{Result, TypeError};

/// Height at which sequences are laid out flat.
pub(super) const MAX_DEPTH: u32 = 128;

/// Runs that a flat layout may have.
const MAX_FLAT: u64 = 1 << 22;

/// Sequences up to this length become part of the one they are put into.
const INLINE: usize = 16;

/// Collects parts in packing order.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    at: Vec<i64>,
    lens: Vec<u64>,
    /// Empty as long as all parts are runs.
    nodes: Vec<Node>,
}

impl Builder {
    /// Adds a part; merges it into the last one where both are runs in a row.
    pub(crate) fn push(&mut self, at: i64, node: Node) {
        match &node {
            Node::Empty => return,
            Node::Run(len) if self.extends(at) => {
                self.grow(*len);
                return;
            }
            Node::Seq(s) if s.len() <= INLINE => {
                for i in 0..s.len() {
                    self.push(at.wrapping_add(s.at[i]), s.part(i));
                }
                return;
            }
            Node::Even(e) if e.at.len() <= INLINE => {
                for x in &e.at {
                    self.push(at.wrapping_add(*x), Node::Run(e.len));
                }
                return;
            }
            _ => {}
        }
        self.lens.push(node.size());
        self.at.push(at);
        if !self.nodes.is_empty() {
            self.nodes.push(node);
        } else if !matches!(node, Node::Run(_)) {
            let runs = &self.lens[..self.lens.len() - 1];
            self.nodes = runs.iter().map(|len| Node::Run(*len)).collect();
            self.nodes.push(node);
        }
    }

    /// Whether the last part is a run that ends at `at`.
    fn extends(&self, at: i64) -> bool {
        let (Some(last), Some(len)) = (self.at.last(), self.lens.last()) else {
            return false;
        };
        matches!(self.nodes.last(), None | Some(Node::Run(_)))
            && last.wrapping_add(*len as i64) == at
    }

    /// Makes the last run longer.
    fn grow(&mut self, by: u64) {
        if let Some(len) = self.lens.last_mut() {
            *len += by;
            if let Some(node) = self.nodes.last_mut() {
                *node = Node::Run(*len);
            }
        }
    }

    /// The distance between neighbours, if it is always the same.
    fn stride(&self) -> Option<i64> {
        let stride = self.at.get(1)?.wrapping_sub(self.at[0]);
        let even = |w: &[i64]| w[1].wrapping_sub(w[0]) == stride;
        self.at.windows(2).all(even).then_some(stride)
    }

    /// All parts as one layout.
    ///
    /// # Errors
    /// `TooDeep`: see [`Layout::flat`].
    pub(crate) fn finish(mut self) -> Result<Layout> {
        let count = self.at.len();
        if count == 0 {
            return Ok(Layout::EMPTY);
        }
        let at = self.at[0];
        if count == 1 {
            let run = Node::Run(self.lens[0]);
            let node = self.nodes.pop().unwrap_or(run);
            return Ok(Layout { at, node });
        }
        let len = self.lens[0];
        let equal = self.lens.iter().all(|x| *x == len);
        let alike = self.nodes.windows(2).all(|w| w[0].is_like(&w[1]));
        if equal
            && alike
            && let Some(stride) = self.stride()
        {
            let run = Node::Run(len);
            let node = self.nodes.pop().unwrap_or(run);
            return Ok(Layout { at, node }.repeat(count as u64, stride, &mut None));
        }
        self.at.iter_mut().for_each(|x| *x = x.wrapping_sub(at));
        let places = self.at.into_boxed_slice();
        if equal && self.nodes.is_empty() {
            let node = Node::Even(Arc::new(Even { len, at: places }));
            return Ok(Layout { at, node });
        }
        let depth = self.nodes.iter().map(Node::depth).max().unwrap_or(0) + 1;
        let runs = match self.nodes.is_empty() {
            true => count as u64,
            false => self
                .nodes
                .iter()
                .fold(0, |n, part| part.runs().saturating_add(n)),
        };
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        starts.extend(self.lens.iter().scan(0, |sum, len| {
            *sum += len;
            Some(*sum)
        }));
        let node = Node::Seq(Arc::new(Seq {
            at: places,
            starts: starts.into_boxed_slice(),
            nodes: self.nodes.into_boxed_slice(),
            runs,
            depth,
        }));
        Layout { at, node }.flat()
    }
}

impl Layout {
    /// This layout as a list of runs, if the tree is too high.
    ///
    /// # Errors
    /// `TooDeep` if that list would be too long.
    fn flat(self) -> Result<Self> {
        if self.node.depth() <= MAX_DEPTH {
            return Ok(self);
        }
        if self.node.runs() > MAX_FLAT {
            return Err(TypeError::TooDeep);
        }
        let mut runs = Builder::default();
        self.node
            .each_run(self.at, &mut |at, len| runs.push(at, Node::Run(len)));
        runs.finish()
    }
}
