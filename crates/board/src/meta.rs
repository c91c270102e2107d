//! The word of a record that tells what its owner called.

use std::fmt;

use catena_coll::Collective;

use crate::kind::OpKind;
use crate::payload::PayloadPlace;

/// What a member says about its call, so that calls that do not fit are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Number of the [`OpKind`].
    pub kind: u8,
    /// What else must be alike, as [`Member::start`](crate::Member::start) was told; its lowest 22
    /// bits.
    pub detail: u32,
    /// Bytes, modulo 2³¹.
    pub bytes: u32,
}

impl Meta {
    /// The bits for what is called and its detail.
    pub(crate) const CALL: u64 = 0x3E3F_FFFF << 32;
    /// The bits for the number of bytes.
    pub(crate) const BYTES: u64 = 0x7FFF_FFFF;
    /// The bit that says that the member prefers the ring for long payloads.
    pub(crate) const RING: u64 = 1 << 31;

    /// The bits for the place of the payload. Both are set by a member without data, whose payload
    /// has the place that it would have with data.
    pub(crate) const PLACE: u64 = 3 << 62;

    /// Whether the member that says this has no data.
    #[inline]
    pub(crate) fn is_without_data(word: u64) -> bool {
        word & Self::PLACE == Self::PLACE
    }

    /// The bit [`Meta::RING`], set if the ring is `preferred`.
    #[inline(always)]
    pub(crate) fn ring(preferred: bool) -> u64 {
        u64::from(preferred) << 31
    }

    /// As a word; `detail` is that of an [`Op`](crate::Op), with its [`Past`].
    pub(crate) fn pack(kind: OpKind, place: PayloadPlace, detail: u32, bytes: usize) -> u64 {
        let first = kind as u64 | (place as u64) << 5;
        first << 57 | u64::from(detail & Past::DETAIL) << 32 | (bytes as u64 & Self::BYTES)
    }

    /// What a member says of an operation of that kind with that detail.
    pub(crate) fn new(kind: OpKind, detail: u32, bytes: u64) -> Self {
        Meta::unpack(Meta::pack(kind, PayloadPlace::Line, detail, bytes as usize))
    }

    pub(crate) fn unpack(word: u64) -> Self {
        Meta {
            kind: (word >> 57) as u8 & 0x1F,
            detail: (word >> 32) as u32 & Past::BELOW,
            bytes: (word & Self::BYTES) as u32,
        }
    }

    /// What is called; one of its forms.
    pub fn what(&self) -> Option<Collective> {
        OpKind::collective_of(self.kind)
    }

    pub(crate) fn place(word: u64) -> PayloadPlace {
        match word >> 62 {
            0 => PayloadPlace::Line,
            1 => PayloadPlace::Ring,
            _ => PayloadPlace::Direct,
        }
    }
}

/// A sum over the calls that a member began, by which others notice that it has called something
/// else, though nobody read it: two roots, say, each for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Past(u32);

impl Past {
    /// Its place in the detail of an operation.
    const SHIFT: u32 = 22;
    const BELOW: u32 = (1 << Past::SHIFT) - 1;
    /// The detail of an operation, with three bits of it.
    const DETAIL: u32 = (1 << (Past::SHIFT + 3)) - 1;

    /// The detail of a call that begins, with what was before; from now on that is one of it.
    #[inline(always)]
    pub fn detail(&mut self, kind: OpKind, detail: u32) -> u32 {
        let before = self.0 << Past::SHIFT;
        // Details that differ by less than eight, or in their upper bits alone, make a difference,
        // and 3 is a unit modulo 8: it stays.
        let what = [detail, detail >> 3, detail >> 16, kind as u32];
        self.0 = what
            .into_iter()
            .fold(self.0.wrapping_mul(3), u32::wrapping_add);
        before | detail & Past::BELOW
    }
}

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.what().map_or("something unknown", Collective::name);
        write!(f, "{name} ({}) with {} bytes", self.detail, self.bytes)
    }
}
