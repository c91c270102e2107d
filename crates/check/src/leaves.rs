//! What the elements of datatypes are made of: numbers at distances.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use catena_abi::{Datatype, consts};
use catena_symbols::{Scalar, ScalarKind};

use crate::contents::{Contents, DEEPEST, PREDEFINED};
use crate::types;

/// Most numbers of an element.
const MOST: usize = 1024;

/// A number in an element, and its distance in bytes from the beginning.
pub type Leaf = (i64, Scalar);

type Known = HashMap<usize, Option<Arc<[Leaf]>>>;

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// The numbers of an element of a type whose handle is good; `None` if they are bytes, or too many,
/// or not known.
pub fn of(ty: Datatype) -> Option<Arc<[Leaf]>> {
    if types::of_fortran(ty).is_some() {
        return predefined(ty).map(Arc::from);
    }
    {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leaves) = known.get_or_insert_default().get(&ty.0) {
            return leaves.clone();
        }
    }
    let mut all = Vec::new();
    let leaves = add(&mut all, 0, ty, DEEPEST).map(|()| Arc::from(all));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().insert(ty.0, leaves.clone());
    leaves
}

/// Its handle may be another type's from now on.
pub fn forget(ty: Datatype) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.as_mut() {
        known.remove(&ty.0);
    }
}

fn add(all: &mut Vec<Leaf>, at: i64, ty: Datatype, deepest: u32) -> Option<()> {
    let deepest = deepest.checked_sub(1)?;
    if ty.0 < PREDEFINED {
        for (from, scalar) in predefined(ty)? {
            if all.len() >= MOST {
                return None;
            }
            all.push((at + from, scalar));
        }
        return Some(());
    }
    derived(all, at, ty, deepest)
}

fn derived(all: &mut Vec<Leaf>, at: i64, ty: Datatype, deepest: u32) -> Option<()> {
    let contents = Contents::of(ty)?;
    let &old = contents.types.first()?;
    let extent = extent(old)?;
    let n = contents.numbers();
    let number = |i: usize| n.get(i).copied();
    let mut blocks = Blocks {
        all,
        deepest,
        old,
        extent,
    };
    match contents.combiner {
        consts::COMBINER_DUP | consts::COMBINER_RESIZED => blocks.add(at, 1),
        consts::COMBINER_CONTIGUOUS => blocks.add(at, number(0)?),
        consts::COMBINER_VECTOR => {
            let (count, len, stride) = (number(0)?, number(1)?, number(2)?);
            (0..count).try_for_each(|i| blocks.add(at + i * stride * extent, len))
        }
        consts::COMBINER_HVECTOR => {
            let (count, len) = (number(0)?, number(1)?);
            let stride = *contents.distances(&n, 2).first()?;
            (0..count).try_for_each(|i| blocks.add(at + i * stride, len))
        }
        consts::COMBINER_INDEXED => {
            let count = usize::try_from(number(0)?).ok()?;
            (0..count)
                .try_for_each(|i| blocks.add(at + number(1 + count + i)? * extent, number(1 + i)?))
        }
        consts::COMBINER_HINDEXED => {
            let count = usize::try_from(number(0)?).ok()?;
            let distances = contents.distances(&n, 1 + count);
            (0..count).try_for_each(|i| blocks.add(at + distances.get(i)?, number(1 + i)?))
        }
        consts::COMBINER_INDEXED_BLOCK => {
            let (count, len) = (usize::try_from(number(0)?).ok()?, number(1)?);
            (0..count).try_for_each(|i| blocks.add(at + number(2 + i)? * extent, len))
        }
        consts::COMBINER_HINDEXED_BLOCK => {
            let (count, len) = (usize::try_from(number(0)?).ok()?, number(1)?);
            let distances = contents.distances(&n, 2);
            (0..count).try_for_each(|i| blocks.add(at + distances.get(i)?, len))
        }
        consts::COMBINER_STRUCT => {
            let count = usize::try_from(number(0)?).ok()?;
            let distances = contents.distances(&n, 1 + count);
            (0..count).try_for_each(|i| {
                let &old = contents.types.get(i)?;
                let mut block = Blocks {
                    all: &mut *blocks.all,
                    deepest,
                    old,
                    extent: self::extent(old)?,
                };
                block.add(at + distances.get(i)?, number(1 + i)?)
            })
        }
        // Of arrays in several dimensions the elements are all alike: their kind is told by the
        // first, and where they lie by the layout.
        _ => None,
    }
}

fn extent(ty: Datatype) -> Option<i64> {
    types::shape(ty).map(|it| it.extent)
}

struct Blocks<'a> {
    all: &'a mut Vec<Leaf>,
    deepest: u32,
    old: Datatype,
    extent: i64,
}

impl Blocks<'_> {
    /// Adds elements of the old type.
    fn add(&mut self, at: i64, count: i64) -> Option<()> {
        (0..count).try_for_each(|i| add(self.all, at + i * self.extent, self.old, self.deepest))
    }
}

/// `count` numbers behind each other, which have that size together.
fn row(kind: ScalarKind, count: usize, size: i64) -> Option<Vec<Leaf>> {
    let size = usize::try_from(size).ok()? / count;
    let scalar = Scalar {
        kind,
        size: size.try_into().ok()?,
    };
    Some((0..count).map(|i| ((i * size) as i64, scalar)).collect())
}

/// The numbers of a predefined type; `None` if they are bytes, or not known.
fn predefined(ty: Datatype) -> Option<Vec<Leaf>> {
    use ScalarKind::{Character, Float, Logical, Signed, Unsigned};
    let one = |kind, size| Some(vec![(0, Scalar { kind, size })]);
    let two = |size| {
        let half = Scalar { kind: Float, size };
        Some(vec![(0, half), (size as i64, half)])
    };
    let pair = |kind, size, at| {
        let int = Scalar {
            kind: Signed,
            size: 4,
        };
        Some(vec![(0, Scalar { kind, size }), (at, int)])
    };
    if let Some((kind, count)) = types::of_fortran(ty) {
        return row(kind, count, types::shape(ty)?.size);
    }
    match ty {
        consts::INT | consts::INT32_T | consts::INTEGER4 => one(Signed, 4),
        consts::SHORT | consts::INT16_T | consts::INTEGER2 => one(Signed, 2),
        consts::LONG
        | consts::LONG_LONG
        | consts::INT64_T
        | consts::AINT
        | consts::COUNT
        | consts::OFFSET
        | consts::INTEGER8 => one(Signed, 8),
        consts::UNSIGNED | consts::UINT32_T => one(Unsigned, 4),
        consts::UNSIGNED_SHORT | consts::UINT16_T => one(Unsigned, 2),
        consts::UNSIGNED_LONG | consts::UNSIGNED_LONG_LONG | consts::UINT64_T => one(Unsigned, 8),
        consts::FLOAT | consts::REAL4 => one(Float, 4),
        consts::DOUBLE | consts::REAL8 => one(Float, 8),
        consts::LONG_DOUBLE => one(Float, 16),
        consts::C_COMPLEX | consts::CXX_FLOAT_COMPLEX | consts::COMPLEX8 => two(4),
        consts::C_DOUBLE_COMPLEX | consts::CXX_DOUBLE_COMPLEX | consts::COMPLEX16 => two(8),
        consts::CHAR
        | consts::SIGNED_CHAR
        | consts::UNSIGNED_CHAR
        | consts::CHARACTER
        | consts::INT8_T
        | consts::UINT8_T => one(Character, 1),
        consts::C_BOOL | consts::CXX_BOOL => one(Logical, 1),
        consts::FLOAT_INT => pair(Float, 4, 4),
        consts::DOUBLE_INT => pair(Float, 8, 8),
        consts::LONG_INT => pair(Signed, 8, 8),
        consts::TWO_INT => pair(Signed, 4, 4),
        consts::SHORT_INT => pair(Signed, 2, 4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_types_are_numbers() {
        let int = Scalar {
            kind: ScalarKind::Signed,
            size: 4,
        };
        assert_eq!(predefined(consts::INT), Some(vec![(0, int)]));
        assert_eq!(predefined(consts::DOUBLE_INT).unwrap()[1], (8, int));
        assert_eq!(predefined(consts::BYTE), None);
        assert_eq!(predefined(consts::C_DOUBLE_COMPLEX).unwrap().len(), 2);
        let halves = row(ScalarKind::Float, 2, 32).unwrap();
        assert_eq!((halves[1].0, halves[1].1.size), (16, 16));
    }
}
