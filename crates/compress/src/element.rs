//! What a message consists of, and how exact it has to arrive.

/// The predefined type that all elements of a message have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// Bytes, or a mixture.
    Bytes,
    /// Integers of 4 bytes, with a sign or without.
    I32,
    /// Integers of 8 bytes, with a sign or without.
    I64,
    /// IEEE 754 numbers of 4 bytes (`MPI_FLOAT`).
    F32,
    /// IEEE 754 numbers of 8 bytes (`MPI_DOUBLE`).
    F64,
}

impl Element {
    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Element::Bytes => 1,
            Element::I32 | Element::F32 => 4,
            Element::I64 | Element::F64 => 8,
        }
    }

    /// Whether a [`Bound`] other than [`Bound::Exact`] means anything for it.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }
}

/// How far an element that arrives may lie from the one that was sent.
///
/// A bound holds for each element by itself, whatever the others are. The encoder checks each
/// element against it, as the decoder will restore it: those that would break it, among them NaN
/// and the infinities, are sent as they are. A zero that comes of a negative one may lose its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Each bit arrives.
    Exact,
    /// `|x' - x| <= bound`.
    Absolute(f64),
    /// `|x' - x| <= bound * |x|`.
    Relative(f64),
}
