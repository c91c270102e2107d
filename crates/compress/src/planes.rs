//! A codec of data that is no field of numbers: all first bytes of its elements, all second ones
//! and so on, which LZ4 then shortens. Integers that are small, and tables that repeat, are so.

use crate::cursor::Writer;

/// Elements whose bytes are spread at once, so that what is written stays in the cache.
const RUN: usize = 64;

/// The bytes of elements of `size` bytes by their places; those behind the last element stay last.
pub(crate) fn spread(raw: &[u8], size: usize, planes: &mut [u8]) {
    let count = raw.len() / size;
    let (elements, tail) = raw.split_at(count * size);
    planes[count * size..].copy_from_slice(tail);
    for (run, elements) in elements.chunks(RUN * size).enumerate() {
        for place in 0..size {
            let plane = &mut planes[place * count + run * RUN..];
            for (byte, element) in plane.iter_mut().zip(elements.chunks_exact(size)) {
                *byte = element[place];
            }
        }
    }
}

/// Reverts [`spread`].
pub(crate) fn gather(planes: &[u8], size: usize, raw: &mut [u8]) {
    let count = raw.len() / size;
    let (elements, tail) = raw.split_at_mut(count * size);
    tail.copy_from_slice(&planes[count * size..]);
    for (run, elements) in elements.chunks_mut(RUN * size).enumerate() {
        for place in 0..size {
            let plane = &planes[place * count + run * RUN..];
            for (byte, element) in plane.iter().zip(elements.chunks_exact_mut(size)) {
                element[place] = *byte;
            }
        }
    }
}

/// Bytes that [`encode`] needs beside `len` bytes of elements of that size.
pub(crate) fn scratch(len: usize, size: usize) -> usize {
    let planes = if size == 1 { 0 } else { len };
    planes + lz4_flex::block::get_maximum_output_size(len)
}

/// `None` if `out` is too short.
pub(crate) fn encode(
    raw: &[u8],
    size: usize,
    scratch: &mut [u8],
    out: &mut Writer<'_>,
) -> Option<()> {
    let (planes, short) = scratch.split_at_mut(if size == 1 { 0 } else { raw.len() });
    let planes = if size == 1 {
        raw
    } else {
        spread(raw, size, planes);
        planes
    };
    let len = lz4_flex::block::compress_into(planes, short).ok()?;
    out.put(&short[..len])
}

/// Fills `raw`; `None` if the bytes are none that [`encode`] writes for as many. Needs as many
/// bytes beside unless `size` is 1.
pub(crate) fn decode(from: &[u8], size: usize, scratch: &mut [u8], raw: &mut [u8]) -> Option<()> {
    let planes = if size == 1 { &mut *raw } else { &mut *scratch };
    if lz4_flex::block::decompress_into(from, planes).ok()? != planes.len() {
        return None;
    }
    if size != 1 {
        gather(scratch, size, raw);
    }
    Some(())
}
