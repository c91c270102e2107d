//! Where the bytes of a type lie: a small tree of runs and loops.
//!
//! The tree describes the bytes in the order in which they are packed; what
//! they mean is in `signature`. It is normal by construction: neighbouring
//! runs are one run, loops over loops with one stride are one loop, and no
//! node is empty, so that its height does not grow with how a type was nested.
//! Every loop at least doubles the bytes, so only [`Node::Seq`] could make the
//! tree high; that is stopped at [`build::MAX_DEPTH`].
//!
//! Displacements wrap around like pointers do; whether they fit is checked
//! where the bounds of a type are computed.

mod block;
mod build;
mod direction;
mod grid;
mod kernel;
mod pieces;
mod runs;
mod transpose;
mod walk;

use std::sync::Arc;

pub(crate) use build::Builder;
pub(crate) use direction::{Pack, Unpack};
pub(crate) use pieces::pieces;
pub(crate) use walk::walk;

/// Bytes relative to the place of their first one.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// Nothing.
    Empty,
    /// So many bytes in a row.
    Run(u64),
    /// Runs of one length, equally far apart.
    Strided { count: u64, len: u64, stride: i64 },
    /// `count` times `inner`, which is no run.
    Loop {
        count: u64,
        stride: i64,
        inner: Arc<Inner>,
    },
    /// Runs of one length at places of their own.
    Even(Arc<Even>),
    /// Anything else.
    Seq(Arc<Seq>),
}

/// What a loop repeats.
#[derive(Debug)]
pub(crate) struct Inner {
    node: Node,
    size: u64,
    /// Number of runs, or the most that fit.
    runs: u64,
    depth: u32,
}

/// See [`Node::Even`].
#[derive(Debug)]
pub(crate) struct Even {
    len: u64,
    at: Box<[i64]>,
}

/// Parts one after the other.
#[derive(Debug)]
pub(crate) struct Seq {
    /// Where each part lies.
    at: Box<[i64]>,
    /// Where each part starts in packed data, and the end.
    starts: Box<[u64]>,
    /// What each part is; empty if all are runs.
    nodes: Box<[Node]>,
    /// Number of runs, or the most that fit.
    runs: u64,
    depth: u32,
}

/// A node and the place of its first byte.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) at: i64,
    pub(crate) node: Node,
}

impl Seq {
    /// Number of parts.
    fn len(&self) -> usize {
        self.at.len()
    }

    /// What part `i` is.
    fn part(&self, i: usize) -> Node {
        match self.nodes.get(i) {
            Some(node) => node.clone(),
            None => Node::Run(self.starts[i + 1] - self.starts[i]),
        }
    }
}

impl Node {
    /// Number of bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Node::Empty => 0,
            Node::Run(len) => *len,
            Node::Strided { count, len, .. } => count * len,
            Node::Loop { count, inner, .. } => count * inner.size,
            Node::Even(e) => e.len * e.at.len() as u64,
            Node::Seq(s) => s.starts[s.len()],
        }
    }

    /// Height of the tree.
    fn depth(&self) -> u32 {
        match self {
            Node::Empty | Node::Run(_) | Node::Strided { .. } | Node::Even(_) => 1,
            Node::Loop { inner, .. } => inner.depth + 1,
            Node::Seq(s) => s.depth,
        }
    }

    /// Number of runs, or the most that fit: parts may occur in many places,
    /// so it is not counted anew.
    fn runs(&self) -> u64 {
        match self {
            Node::Empty => 0,
            Node::Run(_) => 1,
            Node::Strided { count, .. } => *count,
            Node::Loop { count, inner, .. } => inner.runs.saturating_mul(*count),
            Node::Even(e) => e.at.len() as u64,
            Node::Seq(s) => s.runs,
        }
    }

    /// Whether both are laid out alike, as far as that is seen at once.
    fn is_like(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Run(a), Node::Run(b)) => a == b,
            (
                Node::Strided { count, len, stride },
                Node::Strided {
                    count: c,
                    len: l,
                    stride: s,
                },
            ) => (count, len, stride) == (c, l, s),
            (
                Node::Loop {
                    count,
                    stride,
                    inner,
                },
                Node::Loop {
                    count: c,
                    stride: s,
                    inner: i,
                },
            ) => (count, stride) == (c, s) && Arc::ptr_eq(inner, i),
            (Node::Even(a), Node::Even(b)) => Arc::ptr_eq(a, b),
            (Node::Seq(a), Node::Seq(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Calls `f` with place and length of every run.
    fn each_run(&self, at: i64, f: &mut impl FnMut(i64, u64)) {
        match self {
            Node::Empty => {}
            Node::Run(len) => f(at, *len),
            Node::Strided { count, len, stride } => {
                for i in 0..*count {
                    f(at.wrapping_add(stride.wrapping_mul(i as i64)), *len);
                }
            }
            Node::Loop {
                count,
                stride,
                inner,
            } => {
                for i in 0..*count {
                    let at = at.wrapping_add(stride.wrapping_mul(i as i64));
                    inner.node.each_run(at, f);
                }
            }
            Node::Even(e) => e.at.iter().for_each(|x| f(at.wrapping_add(*x), e.len)),
            Node::Seq(s) => {
                for (i, x) in s.at.iter().enumerate() {
                    s.part(i).each_run(at.wrapping_add(*x), f);
                }
            }
        }
    }
}

impl Layout {
    /// Nothing.
    pub(crate) const EMPTY: Layout = Layout {
        at: 0,
        node: Node::Empty,
    };

    /// One run at the origin.
    pub(crate) fn run(len: u64) -> Self {
        Layout {
            at: 0,
            node: if len == 0 {
                Node::Empty
            } else {
                Node::Run(len)
            },
        }
    }

    /// This layout `by` bytes further.
    pub(crate) fn shift(mut self, by: i64) -> Self {
        self.at = self.at.wrapping_add(by);
        self
    }

    /// This layout `count` times, `stride` bytes apart. `shared` keeps what
    /// calls for the same layout have in common.
    pub(crate) fn repeat(&self, count: u64, stride: i64, shared: &mut Option<Arc<Inner>>) -> Self {
        let node = match &self.node {
            _ if count == 0 => return Layout::EMPTY,
            Node::Empty => return Layout::EMPTY,
            node if count == 1 => node.clone(),
            Node::Run(len) if stride == *len as i64 => Node::Run(len * count),
            Node::Run(len) => Node::Strided {
                count,
                len: *len,
                stride,
            },
            Node::Strided {
                count: c,
                len,
                stride: s,
            } if stride == s.wrapping_mul(*c as i64) => Node::Strided {
                count: c * count,
                len: *len,
                stride: *s,
            },
            Node::Loop {
                count: c,
                stride: s,
                inner,
            } if stride == s.wrapping_mul(*c as i64) => Node::Loop {
                count: c * count,
                stride: *s,
                inner: inner.clone(),
            },
            node => {
                let inner = shared.get_or_insert_with(|| {
                    Arc::new(Inner {
                        node: node.clone(),
                        size: node.size(),
                        runs: node.runs(),
                        depth: node.depth(),
                    })
                });
                Node::Loop {
                    count,
                    stride,
                    inner: inner.clone(),
                }
            }
        };
        Layout { at: self.at, node }
    }
}
