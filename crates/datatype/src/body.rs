//! A type without its history: what repeats, moves and joins compute.
//!
//! Bounds follow MPI-5, chapter 5.1.7: markers that a resized type, a subarray
//! or a distributed array set decide where there are any; else the bounds are
//! those around the parts, and the extent is rounded up to the alignment. Parts
//! count with their own bounds, padding and all, as in MPICH and Open MPI.

use std::sync::Arc;

use crate::basic::Basic;
use crate::error::{Result, TypeError, fit};
use crate::layout::{self, Inner, Layout, Node};
use crate::signature::{self, Signature};

/// From a lower bound to an upper one.
pub(crate) type Bounds = (i64, i64);

/// What a type describes.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Packed bytes.
    pub(crate) size: u64,
    /// First byte and end of the bytes, if there are any.
    pub(crate) bytes: Option<Bounds>,
    /// Around the bounds of the parts, if there are bytes.
    parts: Option<Bounds>,
    /// Markers, if any were set.
    marks: Option<Bounds>,
    /// Of the strictest element.
    pub(crate) align: u32,
    pub(crate) layout: Layout,
    pub(crate) signature: Signature,
}

/// The smallest bounds around both.
fn around(a: Option<Bounds>, b: Option<Bounds>) -> Option<Bounds> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

/// Bounds of something at `bounds`, again at `last`, and between.
fn spread(bounds: Option<Bounds>, last: i128, what: &'static str) -> Result<Option<Bounds>> {
    let Some((low, high)) = bounds else {
        return Ok(None);
    };
    let low = fit(i128::from(low) + last.min(0), what)?;
    let high = fit(i128::from(high) + last.max(0), what)?;
    Ok(Some((low, high)))
}

impl Body {
    /// Nothing.
    pub(crate) const fn empty() -> Self {
        Body {
            size: 0,
            bytes: None,
            parts: None,
            marks: None,
            align: 1,
            layout: Layout::EMPTY,
            signature: Signature::Empty,
        }
    }

    /// One basic element.
    pub(crate) fn basic(basic: Basic) -> Self {
        let size = u64::from(basic.size());
        let mut layout = Layout::run(size);
        let mut end = size as i64;
        if let Basic::Pair(value, index) = basic {
            let at = i64::from(basic.index_at());
            let mut parts = layout::Builder::default();
            parts.push(0, Node::Run(u64::from(value.size())));
            parts.push(at, Node::Run(u64::from(index.size())));
            if let Ok(both) = parts.finish() {
                layout = both;
            }
            end = at + i64::from(index.size());
        }
        Body {
            size,
            bytes: Some((0, end)),
            parts: Some((0, end)),
            marks: None,
            align: basic.align(),
            layout,
            signature: Signature::Same(basic, 1),
        }
    }

    /// Lower and upper bound.
    ///
    /// # Errors
    /// `Overflow` of the extent.
    pub(crate) fn bounds(&self) -> Result<Bounds> {
        const WHAT: &str = "extent";
        if let Some((lb, ub)) = self.marks {
            fit(i128::from(ub) - i128::from(lb), WHAT)?;
            return Ok((lb, ub));
        }
        let Some((low, high)) = self.parts else {
            return Ok((0, 0));
        };
        let extent = i128::from(high) - i128::from(low);
        let align = i128::from(self.align);
        let extent = (extent + align - 1) / align * align;
        fit(extent, WHAT)?;
        Ok((low, fit(i128::from(low) + extent, WHAT)?))
    }

    /// This body as a part of others: its bounds are final.
    pub(crate) fn close(mut self, bounds: Bounds) -> Self {
        self.parts = self.parts.map(|_| bounds);
        self
    }

    /// The markers, if any were set.
    pub(crate) fn marks(&self) -> Option<Bounds> {
        self.marks
    }

    /// This body with markers at these bounds.
    pub(crate) fn mark(mut self, lb: i64, ub: i64) -> Self {
        self.marks = Some((lb, ub));
        self
    }

    /// This body, `by` bytes further.
    ///
    /// # Errors
    /// `Overflow` of the bounds.
    pub(crate) fn shift(self, by: i64) -> Result<Self> {
        const WHAT: &str = "displacement";
        let moved = |bounds: Option<Bounds>| -> Result<Option<Bounds>> {
            let Some((low, high)) = bounds else {
                return Ok(None);
            };
            Ok(Some((
                fit(i128::from(low) + i128::from(by), WHAT)?,
                fit(i128::from(high) + i128::from(by), WHAT)?,
            )))
        };
        Ok(Body {
            bytes: moved(self.bytes)?,
            parts: moved(self.parts)?,
            marks: moved(self.marks)?,
            layout: self.layout.shift(by),
            ..self
        })
    }

    /// `count` times the same, `stride` bytes apart.
    ///
    /// # Errors
    /// `Overflow` of size or bounds.
    pub(crate) fn repeat(&self, count: u64, stride: i64) -> Result<Self> {
        self.repeat_shared(count, stride, &mut None)
    }

    /// As [`Body::repeat`]; `shared` keeps what calls have in common.
    fn repeat_shared(
        &self,
        count: u64,
        stride: i64,
        shared: &mut Option<Arc<Inner>>,
    ) -> Result<Self> {
        const SIZE: &str = "size";
        const WHAT: &str = "extent";
        if count == 0 {
            return Ok(Body::empty());
        }
        let last = i128::from(stride)
            .checked_mul(i128::from(count - 1))
            .ok_or(TypeError::Overflow { what: WHAT })?;
        let size = fit(i128::from(self.size) * i128::from(count), SIZE)? as u64;
        Ok(Body {
            size,
            bytes: spread(self.bytes, last, WHAT)?,
            parts: spread(self.parts, last, WHAT)?,
            marks: spread(self.marks, last, WHAT)?,
            align: self.align,
            layout: self.layout.repeat(count, stride, shared),
            signature: self.signature.repeat(count),
        })
    }
}

/// Puts blocks of types one after the other.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    size: u64,
    bytes: Option<Bounds>,
    parts: Option<Bounds>,
    marks: Option<Bounds>,
    align: u32,
    layout: layout::Builder,
    signature: signature::Builder,
}

/// A type that occurs in blocks, and what its blocks have in common.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    body: &'a Body,
    extent: i64,
    shared: Option<Arc<Inner>>,
}

impl<'a> Part<'a> {
    /// `extent` is the distance between elements of a block.
    pub(crate) fn new(body: &'a Body, extent: i64) -> Self {
        Part {
            body,
            extent,
            shared: None,
        }
    }
}

impl Joiner {
    /// Adds `len` elements at `at`.
    ///
    /// # Errors
    /// `Overflow` of size or bounds.
    pub(crate) fn push(&mut self, part: &mut Part<'_>, len: u64, at: i64) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        let block = part
            .body
            .repeat_shared(len, part.extent, &mut part.shared)?
            .shift(at)?;
        self.add(block)
    }

    /// Adds a block as it is.
    ///
    /// # Errors
    /// `Overflow` of the size.
    pub(crate) fn add(&mut self, block: Body) -> Result<()> {
        self.size = fit(i128::from(self.size) + i128::from(block.size), "size")? as u64;
        self.bytes = around(self.bytes, block.bytes);
        self.parts = around(self.parts, block.parts);
        self.marks = around(self.marks, block.marks);
        self.align = self.align.max(block.align);
        self.layout.push(block.layout.at, block.layout.node);
        self.signature.push(block.signature);
        Ok(())
    }

    /// All blocks as one.
    ///
    /// # Errors
    /// `Overflow` of the true extent, `TooDeep`.
    pub(crate) fn finish(self) -> Result<Body> {
        if let Some((low, high)) = self.bytes {
            fit(i128::from(high) - i128::from(low), "true extent")?;
        }
        Ok(Body {
            size: self.size,
            bytes: self.bytes,
            parts: self.parts,
            marks: self.marks,
            align: self.align.max(1),
            layout: self.layout.finish()?,
            signature: self.signature.finish()?,
        })
    }
}
