//! Types as they lie in a file whose representation gives values other sizes (MPI-5, chapter
//! 14.5.1).
//!
//! A type is made again by its own constructors from runs of bytes: displacements that count
//! elements follow their new extents, those in bytes stay as the program gave them.

use std::collections::HashMap;
use std::sync::Arc;

use catena_abi::consts;
use catena_datatype::{Combiner, Contents, Darray, Datatype, TypeError, TypeRef};
use catena_objects::error::{Error, Kind, Result};

/// A type that is made again once those that it was made of have been.
struct Open {
    ty: TypeRef,
    contents: Contents,
    /// How many of those have been.
    done: usize,
}

impl Open {
    fn new(ty: &TypeRef) -> Self {
        Open {
            ty: ty.clone(),
            contents: ty.contents(),
            done: 0,
        }
    }
}

/// A type whose predefined parts take the bytes that `leaf` says. Types may be made of others to
/// any depth, so there is no recursion, and each is made once, however often it is used.
///
/// # Errors
/// `Type` for a type that would be too long; those of `leaf`.
pub(super) fn scaled(ty: &TypeRef, leaf: &dyn Fn(&TypeRef) -> Result<u64>) -> Result<TypeRef> {
    // By address: `ty` keeps all that it was made of.
    let mut made: HashMap<*const Datatype, TypeRef> = HashMap::new();
    let mut open = vec![Open::new(ty)];
    while let Some(top) = open.last_mut() {
        if !top.ty.is_predefined()
            && let Some(next) = top.contents.types.get(top.done)
        {
            let next = next.clone();
            top.done += 1;
            if !made.contains_key(&Arc::as_ptr(&next)) {
                open.push(Open::new(&next));
            }
            continue;
        }
        let Open { ty, contents, .. } = open.pop().expect("it is the last");
        let new = match ty.is_predefined() {
            true => bytes(leaf(&ty)?)?,
            false => {
                let parts = contents
                    .types
                    .iter()
                    .map(|it| made[&Arc::as_ptr(it)].clone());
                let parts: Vec<TypeRef> = parts.collect();
                rebuilt(&ty, &contents, &parts).map_err(|error| wrong(&error))?
            }
        };
        made.insert(Arc::as_ptr(&ty), new);
    }
    Ok(made[&Arc::as_ptr(ty)].clone())
}

fn bytes(n: u64) -> Result<TypeRef> {
    let byte = Datatype::predefined(consts::BYTE.0 as u16).expect("MPI_BYTE");
    Datatype::contiguous(n as i64, byte).map_err(|error| wrong(&error))
}

#[cold]
pub(super) fn wrong(error: &TypeError) -> Error {
    Error::new(
        Kind::Type,
        format!("the type cannot be laid out in the file: {error}"),
    )
}

/// What the constructor of `ty` makes of other types.
fn rebuilt(
    ty: &TypeRef,
    contents: &Contents,
    types: &[TypeRef],
) -> catena_datatype::Result<TypeRef> {
    // Large types have all their numbers as counts.
    let numbers: Vec<i64> = contents
        .integers
        .iter()
        .map(|&n| n.into())
        .chain(contents.addresses.iter().copied())
        .chain(contents.counts.iter().copied())
        .collect();
    let count = numbers.first().map_or(0, |&n| n as usize);
    let (n, first) = (&numbers[..], &types.first());
    let part = |i: usize| n[1 + i * count..1 + (i + 1) * count].to_vec();
    let Some(one) = *first else {
        // An empty struct.
        return Datatype::structure(&[], &[], &[]);
    };
    match ty.combiner() {
        Combiner::Contiguous => Datatype::contiguous(n[0], one),
        Combiner::Vector => Datatype::vector(n[0], n[1], n[2], one),
        Combiner::Hvector => Datatype::hvector(n[0], n[1], n[2], one),
        Combiner::Indexed => Datatype::indexed(&part(0), &part(1), one),
        Combiner::Hindexed => Datatype::hindexed(&part(0), &part(1), one),
        Combiner::IndexedBlock => Datatype::indexed_block(n[1], &n[2..], one),
        Combiner::HindexedBlock => Datatype::hindexed_block(n[1], &n[2..], one),
        Combiner::Struct => Datatype::structure(&part(0), &part(1), types),
        Combiner::Resized => Datatype::resized(n[0], n[1], one),
        Combiner::Subarray => subarray(contents, one),
        Combiner::Darray => Datatype::darray(&grid(contents), one),
        _ => Ok(one.clone()),
    }
}

fn subarray(contents: &Contents, one: &TypeRef) -> catena_datatype::Result<TypeRef> {
    let (ints, dims) = (&contents.integers, contents.integers[0] as usize);
    let all: Vec<i64> = match contents.counts.is_empty() {
        true => ints[1..=3 * dims].iter().map(|&n| n.into()).collect(),
        false => contents.counts.clone(),
    };
    let order = ints[ints.len() - 1];
    let (sizes, rest) = all.split_at(dims);
    let (subsizes, starts) = rest.split_at(dims);
    Datatype::subarray(sizes, subsizes, starts, order, one)
}

fn grid(contents: &Contents) -> Darray {
    let ints = &contents.integers;
    let dims = ints[2] as usize;
    let (gsizes, rest) = match contents.counts.is_empty() {
        true => (
            ints[3..3 + dims].iter().map(|&n| n.into()).collect(),
            &ints[3 + dims..],
        ),
        false => (contents.counts.clone(), &ints[3..]),
    };
    let list = |i: usize| rest[i * dims..(i + 1) * dims].to_vec();
    Darray {
        size: ints[0],
        rank: ints[1],
        gsizes,
        distribs: list(0),
        dargs: list(1),
        psizes: list(2),
        order: rest[3 * dims],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubled(ty: &TypeRef) -> TypeRef {
        scaled(ty, &|leaf| Ok(2 * leaf.size())).unwrap()
    }

    #[test]
    fn displacements_that_count_elements_follow_their_size() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let cases = [
            Datatype::contiguous(3, int).unwrap(),
            Datatype::vector(3, 2, 5, int).unwrap(),
            Datatype::indexed(&[1, 2], &[0, 4], int).unwrap(),
            Datatype::indexed_block(2, &[1, 7], int).unwrap(),
            Datatype::subarray(&[4, 6], &[2, 3], &[1, 2], consts::ORDER_C, int).unwrap(),
            Datatype::dup(int),
        ];
        for ty in cases {
            for ty in [ty.clone(), Datatype::vector(2, 1, 3, &ty).unwrap()] {
                let twice = doubled(&ty);
                assert_eq!(twice.size(), 2 * ty.size(), "{ty:?}");
                assert_eq!(twice.extent(), 2 * ty.extent(), "{ty:?}");
                assert_eq!(twice.true_lb(), 2 * ty.true_lb(), "{ty:?}");
            }
        }
    }

    #[test]
    fn deep_types_and_shared_ones_are_made_again() {
        let mut deep = Datatype::predefined(0x209).expect("MPI_INT").clone();
        for _ in 0..100_000 {
            deep = Datatype::contiguous(1, &deep).unwrap();
        }
        assert_eq!(doubled(&deep).size(), 8);
        // Made of two of the one before it, each time.
        let mut wide = Datatype::predefined(0x209).expect("MPI_INT").clone();
        for _ in 0..40 {
            let both = [wide.clone(), wide.clone()];
            wide = Datatype::structure(&[1, 0], &[0, 0], &both).unwrap();
        }
        assert_eq!(doubled(&wide).size(), 8);
    }

    #[test]
    fn displacements_in_bytes_stay() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let ty = Datatype::structure(&[1, 2], &[0, 40], &[int.clone(), int.clone()]).unwrap();
        let twice = doubled(&ty);
        assert_eq!((twice.size(), twice.ub()), (24, 56));
        let large = Datatype::large(Datatype::hindexed(&[1, 1], &[0, 100], int).unwrap());
        assert_eq!(doubled(&large).ub(), 108);
        assert_eq!(
            doubled(&Datatype::resized(0, 64, int).unwrap()).extent(),
            64
        );
    }
}
