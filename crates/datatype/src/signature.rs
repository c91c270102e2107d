//! What the packed bytes of a type mean: its basic elements in order.
//!
//! Displacements play no part here, so a type of one kind of element has a
//! signature of one entry, however it is laid out.

use std::sync::Arc;

use crate::basic::Basic;
use crate::error::{Result, TypeError};
use crate::kinds::Elements;

/// Sequences up to this length become part of the one they are put into.
const INLINE: usize = 16;

/// Height at which sequences are laid out flat.
const MAX_DEPTH: u32 = 128;

/// Entries that a flat signature may have.
const MAX_FLAT: u64 = 1 << 22;

/// Basic elements in packing order.
#[derive(Clone, Debug)]
pub(crate) enum Signature {
    Empty,
    /// So many of one kind.
    Same(Basic, u64),
    /// A sequence, repeated.
    Repeat(u64, Arc<Seq>),
}

/// Different elements one after the other.
#[derive(Debug)]
pub(crate) struct Seq {
    parts: Box<[Signature]>,
    /// Where each part starts in packed data, and the end.
    starts: Box<[u64]>,
    /// Elements before each part, and all.
    elements: Box<[u64]>,
    /// All parts as rows of elements.
    kinds: Elements,
    /// Bytes of all parts in `external32`.
    external: u64,
    /// Entries of all parts when laid out flat, or the most that fit.
    entries: u64,
    depth: u32,
}

impl Signature {
    /// Bytes in packed data.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Signature::Empty => 0,
            Signature::Same(basic, n) => n * u64::from(basic.size()),
            Signature::Repeat(n, seq) => n * seq.size(),
        }
    }

    /// Elements as `MPI_Get_elements` counts them.
    pub(crate) fn elements(&self) -> u64 {
        match self {
            Signature::Empty => 0,
            Signature::Same(basic, n) => n * basic.elements(),
            Signature::Repeat(n, seq) => n * seq.elements[seq.parts.len()],
        }
    }

    /// Bytes in `external32`; no more than in packed data.
    pub(crate) fn external_size(&self) -> u64 {
        match self {
            Signature::Empty => 0,
            Signature::Same(basic, n) => n * u64::from(basic.external_size()),
            Signature::Repeat(n, seq) => n * seq.external,
        }
    }

    /// What the elements are.
    pub(crate) fn kinds(&self) -> Elements {
        match self {
            Signature::Empty => Elements::EMPTY,
            Signature::Same(basic, n) => Elements::basic(*basic).repeat(*n),
            Signature::Repeat(n, seq) => seq.kinds.repeat(*n),
        }
    }

    /// What those are within the first `bytes` packed bytes; none if that ends inside an element.
    /// Cost: the parts.
    pub(crate) fn kinds_in(&self, bytes: u64) -> Option<Elements> {
        match self {
            Signature::Empty => (bytes == 0).then_some(Elements::EMPTY),
            Signature::Same(basic, _) => {
                let size = u64::from(basic.size());
                let whole = Elements::basic(*basic).repeat(bytes / size);
                match (basic, bytes % size) {
                    (_, 0) => Some(whole),
                    (Basic::Pair(value, _), rest) if rest == u64::from(value.size()) => {
                        Some(whole.then(Elements::basic((*value).into())))
                    }
                    _ => None,
                }
            }
            Signature::Repeat(_, seq) => {
                let (mut all, mut rest) =
                    (seq.kinds.repeat(bytes / seq.size()), bytes % seq.size());
                for part in &seq.parts {
                    if rest < part.size() {
                        return Some(all.then(part.kinds_in(rest)?));
                    }
                    (all, rest) = (all.then(part.kinds()), rest - part.size());
                }
                Some(all)
            }
        }
    }

    /// The only kind of element.
    pub(crate) fn basic(&self) -> Option<Basic> {
        match self {
            Signature::Same(basic, _) => Some(*basic),
            _ => None,
        }
    }

    /// These elements `count` times. The product must not overflow.
    pub(crate) fn repeat(&self, count: u64) -> Signature {
        match self {
            _ if count == 0 => Signature::Empty,
            Signature::Empty => Signature::Empty,
            Signature::Same(basic, n) => Signature::Same(*basic, n * count),
            Signature::Repeat(n, seq) => Signature::Repeat(n * count, seq.clone()),
        }
    }

    /// Elements within the first `bytes` packed bytes; none if that ends
    /// inside an element.
    pub(crate) fn elements_in(&self, bytes: u64) -> Option<u64> {
        match self {
            Signature::Empty => (bytes == 0).then_some(0),
            Signature::Same(basic, _) => {
                let size = u64::from(basic.size());
                let whole = bytes / size * basic.elements();
                match (basic, bytes % size) {
                    (_, 0) => Some(whole),
                    (Basic::Pair(value, _), rest) if rest == u64::from(value.size()) => {
                        Some(whole + 1)
                    }
                    _ => None,
                }
            }
            Signature::Repeat(_, seq) => {
                let whole = bytes / seq.size() * seq.elements[seq.parts.len()];
                let rest = bytes % seq.size();
                let i = seq.starts.partition_point(|start| *start <= rest) - 1;
                let part = &seq.parts[i];
                Some(whole + seq.elements[i] + part.elements_in(rest - seq.starts[i])?)
            }
        }
    }

    /// Packed bytes of the first `elements` elements.
    pub(crate) fn bytes_of(&self, elements: u64) -> u64 {
        match self {
            Signature::Empty => 0,
            Signature::Same(Basic::Scalar(s), _) => elements * u64::from(s.size()),
            Signature::Same(basic @ Basic::Pair(value, _), _) => {
                let half = elements % 2 * u64::from(value.size());
                elements / 2 * u64::from(basic.size()) + half
            }
            Signature::Repeat(_, seq) => {
                let all = seq.elements[seq.parts.len()];
                let rest = elements % all;
                let i = seq.elements.partition_point(|before| *before <= rest) - 1;
                let part = seq.parts[i].bytes_of(rest - seq.elements[i]);
                elements / all * seq.size() + seq.starts[i] + part
            }
        }
    }

    /// Calls `f` with kind and number of all elements in order.
    ///
    /// # Errors
    /// The first error of `f`.
    pub(crate) fn each<E>(
        &self,
        f: &mut impl FnMut(Basic, u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            Signature::Empty => Ok(()),
            Signature::Same(basic, n) => f(*basic, *n),
            Signature::Repeat(n, seq) => {
                (0..*n).try_for_each(|_| seq.parts.iter().try_for_each(|part| part.each(f)))
            }
        }
    }

    /// Height of the tree.
    fn depth(&self) -> u32 {
        match self {
            Signature::Repeat(_, seq) => seq.depth,
            _ => 0,
        }
    }

    /// Number of entries when laid out flat, or the most that fit. Parts may
    /// occur in many places, so they are not counted anew.
    fn entries(&self) -> u64 {
        match self {
            Signature::Empty => 0,
            Signature::Same(..) => 1,
            Signature::Repeat(n, seq) => seq.entries.saturating_mul(*n),
        }
    }
}

impl Seq {
    fn size(&self) -> u64 {
        self.starts[self.parts.len()]
    }
}

/// Puts signatures one after the other.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    parts: Vec<Signature>,
}

impl Builder {
    /// Adds elements.
    pub(crate) fn push(&mut self, part: Signature) {
        match (self.parts.last_mut(), &part) {
            (_, Signature::Empty) => {}
            (Some(Signature::Same(last, n)), Signature::Same(basic, more)) if last == basic => {
                *n += more;
            }
            (Some(Signature::Repeat(n, last)), Signature::Repeat(more, seq))
                if Arc::ptr_eq(last, seq) =>
            {
                *n += more;
            }
            (_, Signature::Repeat(1, seq)) if seq.parts.len() <= INLINE => {
                seq.parts.iter().for_each(|part| self.push(part.clone()));
            }
            _ => self.parts.push(part),
        }
    }

    /// All elements as one signature.
    ///
    /// # Errors
    /// `TooDeep` for more sequences inside each other than can be flattened.
    pub(crate) fn finish(mut self) -> Result<Signature> {
        if self.parts.len() <= 1 {
            return Ok(self.parts.pop().unwrap_or(Signature::Empty));
        }
        let sum = |of: fn(&Signature) -> u64| {
            let mut sums = vec![0];
            sums.extend(self.parts.iter().scan(0, |sum, part| {
                *sum += of(part);
                Some(*sum)
            }));
            sums.into_boxed_slice()
        };
        let depth = self.parts.iter().map(Signature::depth).max().unwrap_or(0) + 1;
        let (starts, elements) = (sum(Signature::size), sum(Signature::elements));
        let parts = &self.parts;
        let external = parts.iter().map(Signature::external_size).sum();
        let entries = parts.iter().map(Signature::entries);
        let entries = entries.fold(0u64, |n, part| n.saturating_add(part));
        let kinds = parts.iter().map(Signature::kinds);
        let kinds = kinds.fold(Elements::EMPTY, Elements::then);
        let seq = Seq {
            parts: self.parts.into_boxed_slice(),
            starts,
            elements,
            kinds,
            external,
            entries,
            depth,
        };
        let all = Signature::Repeat(1, Arc::new(seq));
        if depth <= MAX_DEPTH {
            return Ok(all);
        }
        if all.entries() > MAX_FLAT {
            return Err(TypeError::TooDeep);
        }
        let mut flat = Builder::default();
        all.each(&mut |basic, n| {
            flat.push(Signature::Same(basic, n));
            Ok::<(), TypeError>(())
        })?;
        flat.finish()
    }
}
