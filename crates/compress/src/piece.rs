//! A piece of a message: a head of [`HEAD`] bytes, and what its codec makes of the rest.
//!
//! | bytes | what                                      |
//! |-------|-------------------------------------------|
//! | 1     | the codec                                 |
//! | 1     | the element                               |
//! | 4     | bytes of the piece before, little-endian  |

use crate::cursor::{Reader, Writer};
use crate::{Bound, Element, blocks, planes};

/// Bytes of a piece at most, before it is encoded.
pub const PIECE: usize = 1 << 20;
/// Bytes by which a piece that cannot be made shorter grows.
pub const HEAD: usize = 6;

/// What makes a piece shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Nothing: the bytes as they are.
    Stored,
    /// Differences of numbers, in few bits. Fast; the only one that uses a [`Bound`].
    Blocks,
    /// LZ4 over the bytes of equal places, which finds what repeats.
    Planes,
}

impl Codec {
    /// Its number on the wire.
    pub fn number(self) -> u8 {
        match self {
            Codec::Stored => 0,
            Codec::Blocks => 1,
            Codec::Planes => 2,
        }
    }

    /// The codec with that number.
    pub fn of(number: u8) -> Option<Codec> {
        CODECS.get(usize::from(number)).copied()
    }
}

/// What `encode` and `decode` refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// More than [`PIECE`] bytes.
    Long,
    /// The output has less room than the piece and its head.
    Room,
    /// The system has no memory left.
    Memory,
    /// The bytes are no piece of this length: they were damaged, or cut.
    Malformed,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Error::Long => "a piece of a compressed message is too long",
            Error::Room => "there is no room for a piece of a compressed message",
            Error::Memory => "there is no memory to compress a message, or to restore one",
            Error::Malformed => "a piece of a compressed message is damaged",
        })
    }
}

impl std::error::Error for Error {}

/// The memory that is needed beside a piece, of which none is taken before it is needed.
#[derive(Debug, Default)]
struct Scratch(Vec<u8>);

impl Scratch {
    fn of(&mut self, len: usize) -> Result<&mut [u8], Error> {
        if self.0.len() < len {
            let more = len - self.0.len();
            self.0.try_reserve_exact(more).map_err(|_| Error::Memory)?;
            self.0.resize(len, 0);
        }
        Ok(&mut self.0[..len])
    }
}

/// Makes pieces shorter.
#[derive(Debug, Default)]
pub struct Encoder {
    scratch: Scratch,
}

impl Encoder {
    /// An encoder, which has no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes `raw`, elements of one type, to the beginning of `out`, which has at least
    /// `raw.len() + HEAD` bytes; returns how many were written.
    ///
    /// A piece that `codec` cannot make shorter is [stored](Codec::Stored). Bytes behind the last
    /// whole element are sent as they are. A `bound` counts for floating-point elements with
    /// [`Codec::Blocks`] alone.
    ///
    /// # Errors
    /// [`Error::Long`], [`Error::Room`], [`Error::Memory`].
    pub fn encode(
        &mut self,
        codec: Codec,
        element: Element,
        bound: Bound,
        raw: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        if raw.len() > PIECE {
            return Err(Error::Long);
        }
        let out = out.get_mut(..raw.len() + HEAD).ok_or(Error::Room)?;
        let (head, body) = out.split_at_mut(HEAD);
        let mut codec = codec;
        let mut len = {
            let mut writer = Writer::new(body);
            let done = match (codec, element.size()) {
                (Codec::Stored, _) => None,
                (Codec::Blocks, 8) => blocks::encode::<u64>(element, bound, raw, &mut writer),
                (Codec::Blocks, _) => blocks::encode::<u32>(element, bound, raw, &mut writer),
                (Codec::Planes, size) => {
                    let scratch = self.scratch.of(planes::scratch(raw.len(), size))?;
                    planes::encode(raw, size, scratch, &mut writer)
                }
            };
            done.map_or(usize::MAX, |()| writer.len())
        };
        if len >= raw.len() {
            codec = Codec::Stored;
            len = raw.len();
            body.copy_from_slice(raw);
        }
        head[0] = codec.number();
        head[1] = number(element);
        head[2..].copy_from_slice(&(raw.len() as u32).to_le_bytes());
        Ok(HEAD + len)
    }
}

/// Restores pieces.
#[derive(Debug, Default)]
pub struct Decoder {
    scratch: Scratch,
}

impl Decoder {
    /// A decoder, which has no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills `raw` with the piece that `encoded` is, wholly.
    ///
    /// # Errors
    /// [`Error::Malformed`], with `raw` in any state, if `encoded` is no piece of as many bytes;
    /// [`Error::Memory`].
    pub fn decode(&mut self, encoded: &[u8], raw: &mut [u8]) -> Result<(), Error> {
        let mut from = Reader::new(encoded);
        let head = from.array::<HEAD>().ok_or(Error::Malformed)?;
        let [codec, element, ..] = head;
        let element = ELEMENTS.get(usize::from(element)).ok_or(Error::Malformed)?;
        if length(encoded) != Some(raw.len()) {
            return Err(Error::Malformed);
        }
        let codec = Codec::of(codec).ok_or(Error::Malformed)?;
        let done = match (codec, element.size()) {
            (Codec::Stored, _) => from.take(raw.len()).map(|it| raw.copy_from_slice(it)),
            (Codec::Blocks, 8) => blocks::decode::<u64>(&mut from, raw),
            (Codec::Blocks, _) => blocks::decode::<u32>(&mut from, raw),
            (Codec::Planes, 1) => planes::decode(from.rest(), 1, &mut [], raw),
            (Codec::Planes, size) => {
                planes::decode(from.rest(), size, self.scratch.of(raw.len())?, raw)
            }
        };
        done.filter(|()| from.is_empty()).ok_or(Error::Malformed)
    }
}

/// Bytes of the piece that these are the encoded bytes of, as its head says: nothing if that is no
/// head of a piece.
pub fn length(encoded: &[u8]) -> Option<usize> {
    let [_, _, len @ ..] = *encoded.first_chunk::<HEAD>()?;
    Some(u32::from_le_bytes(len) as usize).filter(|&len| len <= PIECE)
}

/// All codecs, by number; in this order they are tried.
pub(crate) const CODECS: [Codec; 3] = [Codec::Stored, Codec::Blocks, Codec::Planes];
const ELEMENTS: [Element; 5] = [
    Element::Bytes,
    Element::I32,
    Element::I64,
    Element::F32,
    Element::F64,
];

/// The place of an element in `ELEMENTS`.
fn number(element: Element) -> u8 {
    match element {
        Element::Bytes => 0,
        Element::I32 => 1,
        Element::I64 => 2,
        Element::F32 => 3,
        Element::F64 => 4,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    fn bound() -> impl Strategy<Value = Bound> {
        let amount = (-12..3_i32).prop_map(|it| f64::powi(10.0, it));
        prop_oneof![
            Just(Bound::Exact),
            amount.clone().prop_map(Bound::Absolute),
            amount.prop_map(Bound::Relative),
        ]
    }

    /// Fields with jumps and special values, and any bits.
    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let field = (any::<u16>(), 1..2000_usize, 1..300_usize).prop_map(|(phase, count, row)| {
            let at = |i: usize| f64::from(phase) + ((i % row) as f64 * 0.03).sin() * 1e3;
            (0..count).map(at).collect()
        });
        let any_bits = prop::collection::vec(any::<u64>().prop_map(f64::from_bits), 1..2000);
        let special = prop::collection::vec(
            prop_oneof![
                Just(0.0),
                Just(-0.0),
                Just(f64::NAN),
                Just(f64::INFINITY),
                Just(5e-324),
                Just(f64::MAX),
                -1.0..1.0
            ],
            1..600,
        );
        prop_oneof![field, any_bits, special]
    }

    fn comes_back(codec: Codec, element: Element, bound: Bound, raw: &[u8]) {
        let mut short = vec![0; raw.len() + HEAD];
        let len = Encoder::new()
            .encode(codec, element, bound, raw, &mut short)
            .expect("room");
        assert_eq!(length(&short[..len]), Some(raw.len()));
        let mut again = vec![0xa5; raw.len()];
        Decoder::new()
            .decode(&short[..len], &mut again)
            .expect("what was encoded");
        fuzz::assert_holds(element, bound, raw, &again);
    }

    proptest! {
        #[test]
        fn doubles_arrive_within_their_bound(numbers in numbers(), bound in bound()) {
            let raw: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
            comes_back(Codec::Blocks, Element::F64, bound, &raw);
            comes_back(Codec::Planes, Element::F64, Bound::Exact, &raw);
        }

        #[test]
        fn floats_arrive_within_their_bound(numbers in numbers(), bound in bound()) {
            let raw: Vec<u8> = numbers.iter().flat_map(|&it| (it as f32).to_le_bytes()).collect();
            comes_back(Codec::Blocks, Element::F32, bound, &raw);
        }

        #[test]
        fn bytes_arrive(raw in prop::collection::vec(any::<u8>(), 0..5000)) {
            for codec in CODECS {
                for element in ELEMENTS {
                    comes_back(codec, element, Bound::Exact, &raw);
                }
            }
        }

        #[test]
        fn what_is_no_piece_is_told(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            fuzz::decode(&bytes);
        }
    }

    #[test]
    fn a_smooth_field_becomes_short() {
        let field = (0..4096).flat_map(|i| (f64::from(i) * 1e-3).sin().to_le_bytes());
        let field: Vec<u8> = field.collect();
        let mut short = vec![0; field.len() + HEAD];
        let mut len = |bound| {
            let encoded =
                Encoder::new().encode(Codec::Blocks, Element::F64, bound, &field, &mut short);
            encoded.expect("room")
        };
        assert!(len(Bound::Exact) < field.len() / 3);
        assert!(len(Bound::Relative(1e-4)) < field.len() / 12);
        assert!(len(Bound::Absolute(1e-4)) < field.len() / 12);
    }

    #[test]
    fn a_piece_that_is_cut_or_longer_is_none() {
        let raw = [7; 1000];
        let mut short = [0; 1000 + HEAD];
        for codec in CODECS {
            let len = Encoder::new()
                .encode(codec, Element::I64, Bound::Exact, &raw, &mut short)
                .expect("room");
            for wrong in [0, 1, HEAD, len - 1] {
                let mut again = [0; 1000];
                let decoded = Decoder::new().decode(&short[..wrong], &mut again);
                assert_eq!(decoded, Err(Error::Malformed), "{codec:?}, {wrong} bytes");
            }
            let decoded = Decoder::new().decode(&short[..len], &mut [0; 999]);
            assert_eq!(decoded, Err(Error::Malformed));
        }
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let mut encoder = Encoder::new();
        let long = vec![0; PIECE + 1];
        let mut out = vec![0; PIECE + 1 + HEAD];
        let encoded = encoder.encode(Codec::Blocks, Element::F64, Bound::Exact, &long, &mut out);
        assert_eq!(encoded, Err(Error::Long));
        let encoded = encoder.encode(
            Codec::Blocks,
            Element::F64,
            Bound::Exact,
            &[0; 80],
            &mut out[..80],
        );
        assert_eq!(encoded, Err(Error::Room));
    }
}
