//! The word of a record that tells what its owner called.

use std::fmt;

use catena_coll::Collective;
use catena_datatype::Kinds;

use crate::kind::OpKind;
use crate::payload::PayloadPlace;

/// What all members must call alike.
///
/// # Examples
/// ```
/// use catena_board::Called;
/// use catena_datatype::Kinds;
///
/// let barrier = Called::from(0);
/// assert_eq!((barrier.detail, barrier.kinds), (0, Kinds::ANY));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// The root, say, or what combines; its lowest 22 bits.
    pub detail: u32,
    /// What kinds of elements this member gives, or wants where it gives none. Where others may
    /// give other kinds, [`Args::turned`](catena_coll::Args::turned) tells those.
    pub kinds: Kinds,
}

/// Elements of any kind.
impl From<u32> for Called {
    #[inline(always)]
    fn from(detail: u32) -> Self {
        let kinds = Kinds::ANY;
        Called { detail, kinds }
    }
}

/// What a member says about its call, so that calls that do not fit are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Number of the [`OpKind`].
    pub kind: u8,
    /// See [`Called`].
    pub detail: u32,
    /// See [`Called`].
    pub kinds: Kinds,
    /// Bytes, modulo 2³¹.
    pub bytes: u32,
}

/// What is expected of another member where kinds and lengths count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub kinds: Kinds,
    pub bytes: usize,
    /// Nothing comes from there, or goes there, so the kinds mean nothing.
    pub is_nothing: bool,
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

    /// As a word; `call` is that of an [`Op`](crate::Op). The kinds are laid over the bytes: they
    /// take no room, and words differ if either does.
    pub(crate) fn pack(kind: OpKind, place: PayloadPlace, call: u64, bytes: usize) -> u64 {
        let first = kind as u64 | (place as u64) << 5;
        (first << 57 | call) ^ (bytes as u64 & Self::BYTES)
    }

    /// What a member says of an operation of that kind.
    pub(crate) fn new(kind: OpKind, call: u64, bytes: u64) -> Self {
        let kinds = Kinds::from_bits((call & Self::BYTES) as u32).unwrap_or_default();
        Meta {
            kinds,
            bytes: (bytes & Self::BYTES) as u32,
            ..Meta::unpack(Meta::pack(kind, PayloadPlace::Line, call, 0))
        }
    }

    /// What a word says, if it is of a short payload, and of elements of one class.
    pub(crate) fn unpack(word: u64) -> Self {
        let both = (word & Self::BYTES) as u32;
        Meta {
            kind: (word >> 57) as u8 & 0x1F,
            detail: (word >> 32) as u32 & Past::BELOW,
            kinds: Kinds::of_class(both >> Kinds::CLASS),
            bytes: both & ((1 << Kinds::CLASS) - 1),
        }
    }

    /// What a word says to a member that expects something else. What lies under the kinds of a
    /// payload of 128 MiB or more cannot be seen, so the least difference that explains the word is
    /// taken.
    pub(crate) fn unpack_unlike(word: u64, expected: Expected) -> Self {
        let both = (word & Self::BYTES) as u32;
        let mine = (expected.bytes as u64 & Self::BYTES) as u32;
        let as_many = Kinds::from_bits(both ^ mine);
        let seen = Meta::unpack(word);
        let (kinds, bytes) = match as_many {
            Some(kinds) => (kinds, mine),
            None if (1..Kinds::MIXED).contains(&seen.kinds.class())
                && seen.kinds.class() != expected.kinds.class() =>
            {
                (seen.kinds, seen.bytes)
            }
            None => (expected.kinds, both ^ expected.kinds.bits()),
        };
        Meta {
            kinds,
            bytes,
            ..seen
        }
    }

    /// Whether what another member says differs from what this one expects in kinds alone, and not
    /// in a way that matters: there are no elements, or data are only moved, and to or from bytes.
    pub(crate) fn may_differ(theirs: u64, mine: u64, expected: Expected) -> bool {
        if (theirs ^ mine) & !(Self::RING | Self::PLACE | Self::BYTES) != 0 {
            return false;
        }
        let bytes = expected.bytes as u64 & Self::BYTES;
        let Some(kinds) = Kinds::from_bits(((theirs & Self::BYTES) ^ bytes) as u32) else {
            return false;
        };
        let moves = || {
            let what = Meta::unpack(mine).what();
            !what.is_some_and(Collective::reduces)
        };
        expected.is_nothing || moves() && (kinds.take_all() || expected.kinds.take_all())
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
    /// Bits of it that are told.
    const BITS: u32 = 3;

    /// The bits of a record's word that tell what was called, with what was before; from now on
    /// that is one of it.
    #[inline(always)]
    pub fn call(&mut self, kind: OpKind, Called { detail, kinds }: Called) -> u64 {
        let before = (self.0 & ((1 << Past::BITS) - 1)) << Past::SHIFT;
        // Details that differ by less than eight, or in their upper bits alone, make a difference,
        // and 3 is a unit modulo 8: it stays.
        let what = [detail, detail >> 3, detail >> 16, kind as u32];
        self.0 = what
            .into_iter()
            .fold(self.0.wrapping_mul(3), u32::wrapping_add);
        u64::from(before | detail & Past::BELOW) << 32 | u64::from(kinds.bits())
    }
}

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.what().map_or("something unknown", Collective::name);
        let Meta {
            detail,
            bytes,
            kinds,
            ..
        } = self;
        write!(f, "{name} ({detail}) with {bytes} bytes: {kinds}")
    }
}
