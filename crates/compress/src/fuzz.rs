//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use crate::{Bound, Codec, Decoder, Element, Encoder, HEAD};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("compress_decode", decode), ("compress_encode", encode)];

/// A piece of another process.
pub fn decode(data: &[u8]) {
    let Some(len) = crate::length(data) else {
        return;
    };
    let mut raw = vec![0; len];
    let _ = Decoder::new().decode(data, &mut raw);
    // A piece of another length is none.
    raw.push(0);
    assert!(Decoder::new().decode(data, &mut raw).is_err());
}

/// What an encoder writes of any bytes comes back, exactly or within the bound. The first two
/// bytes choose codec, element and bound.
pub fn encode(data: &[u8]) {
    let Some(([how, which], raw)) = data.split_first_chunk() else {
        return;
    };
    let codec = [Codec::Stored, Codec::Blocks, Codec::Planes][usize::from(how % 3)];
    let element = [
        Element::Bytes,
        Element::I32,
        Element::I64,
        Element::F32,
        Element::F64,
    ][usize::from(which % 5)];
    let amount = f64::powi(10.0, i32::from(how / 3 % 32) - 24);
    let bound = match how / 3 / 32 % 3 {
        0 => Bound::Exact,
        1 => Bound::Absolute(amount),
        _ => Bound::Relative(amount),
    };
    let mut short = vec![0; raw.len() + HEAD];
    let len = Encoder::new()
        .encode(codec, element, bound, raw, &mut short)
        .expect("room");
    let mut again = vec![0xa5; raw.len()];
    Decoder::new()
        .decode(&short[..len], &mut again)
        .expect("what was encoded");
    assert_holds(
        element,
        if codec == Codec::Blocks {
            bound
        } else {
            Bound::Exact
        },
        raw,
        &again,
    );
    if len > HEAD {
        assert!(
            Decoder::new()
                .decode(&short[..len - 1], &mut again)
                .is_err()
        );
    }
}

/// Each element of `again` is within `bound` of the one in `raw`, or the same.
pub fn assert_holds(element: Element, bound: Bound, raw: &[u8], again: &[u8]) {
    let size = element.size();
    for (at, (sent, restored)) in raw.chunks(size).zip(again.chunks(size)).enumerate() {
        if sent == restored {
            continue;
        }
        let (from, to) = match element {
            Element::F64 if sent.len() == 8 => (number(sent), number(restored)),
            Element::F32 if sent.len() == 4 => (single(sent), single(restored)),
            _ => panic!("byte {} differs", at * size),
        };
        let most = match bound {
            Bound::Exact => 0.0,
            Bound::Absolute(most) => most,
            Bound::Relative(part) => part * from.abs(),
        };
        assert!(
            bound != Bound::Exact && (to - from).abs() <= most,
            "{from} is {to}, and {bound:?}"
        );
    }
}

fn number(bytes: &[u8]) -> f64 {
    bytes.try_into().map_or(f64::NAN, f64::from_le_bytes)
}

fn single(bytes: &[u8]) -> f64 {
    bytes
        .try_into()
        .map_or(f64::NAN, |it| f32::from_le_bytes(it).into())
}
