//! Random types against the naive model.

mod common;

use std::collections::HashSet;

use catena_datatype::{Basic, Combiner, Darray, Datatype, Scalar, TypeRef};
use common::{Memory, Recipe, recipes};
use proptest::prelude::*;

/// Cuts `[0, len)` at the given places.
fn cuts(len: usize, at: &[usize]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = at.iter().map(|x| x % (len + 1)).collect();
    ends.extend([0, len]);
    ends.sort_unstable();
    ends.windows(2).map(|w| (w[0], w[1] - w[0])).collect()
}

/// A recipe whose type map is short enough to be spelt out.
fn small() -> impl Strategy<Value = Recipe> {
    recipes().prop_filter("too many entries", |r| entries(r) <= 3000)
}

/// At most as many entries has the type map.
fn entries(r: &Recipe) -> i64 {
    let sum = |b: &[(i64, i64)]| b.iter().map(|x| x.0).sum::<i64>();
    match r {
        Recipe::Leaf(_) => 1,
        Recipe::Dup(t) | Recipe::Resized(_, _, t) => entries(t),
        Recipe::Contiguous(n, t) => n * entries(t),
        Recipe::Vector(n, b, _, t) | Recipe::Hvector(n, b, _, t) => n * b * entries(t),
        Recipe::Indexed(b, t) | Recipe::Hindexed(b, t) => sum(b) * entries(t),
        Recipe::IndexedBlock(n, p, t) | Recipe::HindexedBlock(n, p, t) => {
            n * p.len() as i64 * entries(t)
        }
        Recipe::Struct(parts) => parts.iter().map(|(n, _, t)| n * entries(t)).sum(),
        Recipe::Subarray(d, _, t) => d.iter().map(|x| x.0).product::<i64>() * entries(t),
        Recipe::Darray(d, t) => d.gsizes.iter().product::<i64>() * entries(t),
    }
}

/// Makes the type again from its contents.
fn rebuild(ty: &TypeRef) -> TypeRef {
    let (e, c) = (ty.envelope(), ty.contents());
    assert_eq!(
        (e.integers, e.addresses, e.counts, e.types),
        (
            c.integers.len(),
            c.addresses.len(),
            c.counts.len(),
            c.types.len()
        )
    );
    let types: Vec<TypeRef> = c.types.iter().map(rebuild).collect();
    let large = ty.is_large();
    let mut ints: Vec<i64> = c.integers.iter().map(|x| i64::from(*x)).collect();
    let mut bytes = c.addresses.clone();
    if large {
        // All but the array constructors have nothing but counts.
        assert!(c.addresses.is_empty());
        let n = match e.combiner {
            Combiner::Hvector | Combiner::HindexedBlock => 2,
            Combiner::Hindexed | Combiner::Struct => 1 + c.counts[0] as usize,
            Combiner::Resized => 0,
            _ => c.counts.len(),
        };
        ints.extend(&c.counts[..n]);
        bytes = c.counts[n..].to_vec();
    }
    let n = ints.first().copied().unwrap_or(0) as usize;
    let made = match e.combiner {
        Combiner::Named => return ty.clone(),
        Combiner::Dup => return Datatype::dup(&types[0]),
        Combiner::Contiguous => Datatype::contiguous(ints[0], &types[0]),
        Combiner::Vector => Datatype::vector(ints[0], ints[1], ints[2], &types[0]),
        Combiner::Hvector => Datatype::hvector(ints[0], ints[1], bytes[0], &types[0]),
        Combiner::Indexed => Datatype::indexed(&ints[1..=n], &ints[n + 1..], &types[0]),
        Combiner::Hindexed => Datatype::hindexed(&ints[1..], &bytes, &types[0]),
        Combiner::IndexedBlock => Datatype::indexed_block(ints[1], &ints[2..], &types[0]),
        Combiner::HindexedBlock => Datatype::hindexed_block(ints[1], &bytes, &types[0]),
        Combiner::Struct => Datatype::structure(&ints[1..], &bytes, &types),
        Combiner::Resized => Datatype::resized(bytes[0], bytes[1], &types[0]),
        Combiner::Subarray => {
            let (order, sizes) = match large {
                true => (c.integers[1], &c.counts[..]),
                false => (c.integers[3 * n + 1], &ints[1..=3 * n]),
            };
            let (a, b) = (&sizes[..n], &sizes[n..2 * n]);
            Datatype::subarray(a, b, &sizes[2 * n..], order, &types[0])
        }
        Combiner::Darray => {
            let n = c.integers[2] as usize;
            let (sizes, rest) = match large {
                true => (c.counts.clone(), &c.integers[3..]),
                false => (ints[3..3 + n].to_vec(), &c.integers[3 + n..]),
            };
            let of = Darray {
                size: c.integers[0],
                rank: c.integers[1],
                gsizes: sizes,
                distribs: rest[..n].to_vec(),
                dargs: rest[n..2 * n].to_vec(),
                psizes: rest[2 * n..3 * n].to_vec(),
                order: rest[3 * n],
            };
            Datatype::darray(&of, &types[0])
        }
        other => panic!("{other:?} was not asked for"),
    };
    let made = made.unwrap();
    if large { Datatype::large(made) } else { made }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None,
        ..Default::default() })]

    #[test]
    fn measures_follow_from_the_type_map(recipe in small()) {
        let (ty, model) = (recipe.make(), recipe.model());
        prop_assert_eq!(ty.size(), model.bytes().len() as u64);
        prop_assert_eq!((ty.lb(), ty.extent()), (model.lb(), model.extent()));
        prop_assert_eq!((ty.true_lb(), ty.true_extent()), model.true_bounds());
        let elements: u64 = model.map.iter().map(|(b, _)| b.elements()).sum();
        prop_assert_eq!(ty.elements(), elements);
        let first = model.map.first().map(|(b, _)| *b);
        let only = first.filter(|b| model.map.iter().all(|(other, _)| other == b));
        prop_assert_eq!(ty.basic(), only);
        let run: Vec<i64> = (0..3 * ty.size() as i64).collect();
        prop_assert_eq!(ty.is_contiguous(), model.bytes_of_count(3) == run);
    }

    #[test]
    fn the_runs_of_any_part_are_told(
        recipe in small(), count in 0u64..9, at in prop::collection::vec(any::<usize>(), 0..5),
    ) {
        let (ty, places) = (recipe.make(), recipe.model().bytes_of_count(count));
        for (from, len) in cuts(places.len(), &at) {
            let mut told = Vec::new();
            ty.each_run(count, from as u64, len, |at, len| {
                told.extend((0..len).map(|i| (at + i as isize) as i64));
            });
            prop_assert_eq!(&told, &places[from..from + len]);
        }
    }

    #[test]
    fn any_part_is_packed_and_unpacked(
        recipe in small(), count in 0u64..9, at in prop::collection::vec(any::<usize>(), 0..5),
    ) {
        let (ty, model) = (recipe.make(), recipe.model());
        let places = model.bytes_of_count(count);
        let mut memory = Memory::around(&places, 1);
        let packed: Vec<u8> = places.iter().map(|at| memory.get(*at)).collect();
        for (from, len) in cuts(packed.len(), &at) {
            let mut out = vec![0xaa; len + 2];
            // SAFETY: `memory` holds all places, `out` has `len` bytes.
            unsafe { ty.pack(memory.base(), count, from as u64, out.as_mut_ptr().add(1), len) };
            prop_assert_eq!(&out[1..=len], &packed[from..from + len]);
            prop_assert_eq!((out[0], out[len + 1]), (0xaa, 0xaa));
        }
        // A program must not receive twice into one place.
        let distinct: HashSet<i64> = places.iter().copied().collect();
        if distinct.len() < places.len() {
            return Ok(());
        }
        let mut naive = Memory::around(&places, 7);
        let mut memory = Memory::around(&places, 7);
        places.iter().zip(&packed).for_each(|(at, byte)| naive.set(*at, *byte));
        for (from, len) in cuts(packed.len(), &at) {
            let part = &packed[from..from + len];
            // SAFETY: `memory` holds all places, `part` has `len` bytes.
            unsafe { ty.unpack(memory.base(), count, from as u64, part.as_ptr(), len) };
        }
        prop_assert!(memory.bytes == naive.bytes);
    }

    #[test]
    fn elements_are_counted_in_any_number_of_bytes(recipe in small()) {
        let (ty, model) = (recipe.make(), recipe.model());
        let mut ends = vec![0];
        for (basic, _) in model.map.iter().chain(&model.map) {
            let end = ends[ends.len() - 1];
            if let Basic::Pair(value, _) = basic {
                ends.push(end + u64::from(value.size()));
            }
            ends.push(end + u64::from(basic.size()));
        }
        for bytes in 0..=2 * ty.size() {
            let found = ends.binary_search(&bytes).ok().map(|n| n as u64);
            prop_assert_eq!(ty.elements_in(bytes), found, "{} bytes", bytes);
        }
        for (n, end) in ends.iter().enumerate() {
            prop_assert_eq!(ty.bytes_of(n as u64), Some(*end), "{} elements", n);
        }
    }

    #[test]
    fn contents_make_the_same_type(recipe in small(), large in any::<bool>()) {
        let made = recipe.make();
        let ty = if large { Datatype::large(made) } else { made };
        let again = rebuild(&ty);
        prop_assert_eq!(again.envelope(), ty.envelope());
        prop_assert_eq!((again.size(), again.lb(), again.extent()), (ty.size(), ty.lb(),
            ty.extent()));
        let places = recipe.model().bytes();
        let mut memory = Memory::around(&places, 3);
        let packed: Vec<u8> = places.iter().map(|at| memory.get(*at)).collect();
        let mut out = vec![0; packed.len()];
        // SAFETY: `memory` holds all places, `out` all bytes.
        unsafe { again.pack(memory.base(), 1, 0, out.as_mut_ptr(), out.len()) };
        prop_assert_eq!(out, packed);
    }

    #[test]
    fn external32_is_big_endian_and_undone(recipe in small(), count in 0u64..3) {
        let (ty, model) = (recipe.make(), recipe.model());
        // An arbitrary pattern is not always a valid long double.
        let long_double = Basic::Scalar(Scalar::LongDouble);
        if model.map.iter().any(|(b, _)| *b == long_double) {
            return Ok(());
        }
        let places = model.bytes_of_count(count);
        let mut memory = Memory::around(&places, 5);
        let mut expected = Vec::new();
        let mut rest: Vec<u8> = places.iter().map(|at| memory.get(*at)).collect();
        for _ in 0..count {
            for scalar in model.map.iter().flat_map(|(b, _)| scalars(*b)) {
                let tail = rest.split_off(scalar.size() as usize);
                let part = scalar.real_part().unwrap_or(scalar).size() as usize;
                expected.extend(rest.chunks(part).flat_map(|x| x.iter().rev()));
                rest = tail;
            }
        }
        let mut out = vec![0u8; ty.external_size(count).unwrap() as usize];
        // SAFETY: `memory` holds all places.
        let used = unsafe { ty.pack_external(memory.base(), count, &mut out) };
        prop_assert_eq!(used, Ok(out.len() as u64));
        prop_assert!(out == expected);
        let distinct: HashSet<i64> = places.iter().copied().collect();
        if distinct.len() < places.len() {
            return Ok(());
        }
        let mut back = Memory::around(&places, 9);
        let mut naive = Memory::around(&places, 9);
        places.iter().for_each(|at| naive.set(*at, memory.get(*at)));
        // SAFETY: `back` holds all places.
        let used = unsafe { ty.unpack_external(back.base(), count, &out) };
        prop_assert_eq!(used, Ok(out.len() as u64));
        prop_assert!(back.bytes == naive.bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None,
        ..Default::default() })]

    /// Blocks in rows, or in columns: then those of a row lie in different lines, which the next
    /// rows share.
    #[test]
    fn grids_larger_than_a_cache_are_packed_and_unpacked(
        (rows, columns) in (1i64..20, 1i64..700), len in prop_oneof![Just(8), 1i64..150],
        gap in 0i64..300, turned in any::<bool>(),
        at in prop::collection::vec(any::<usize>(), 0..3),
    ) {
        let (step, row) = match turned {
            true => (rows * len + gap, len),
            false => (len + gap, columns * (len + gap) + gap),
        };
        let byte = Datatype::predefined(0x247).unwrap();
        let block = Datatype::contiguous(len, byte).unwrap();
        let line = Datatype::hvector(columns, 1, step, &block).unwrap();
        let ty = Datatype::resized(0, row, &line).unwrap();
        let places: Vec<i64> = (0..rows)
            .flat_map(|r| (0..columns).map(move |c| r * row + c * step))
            .flat_map(|at| at..at + len)
            .collect();
        let mut memory = Memory::around(&places, 1);
        let packed: Vec<u8> = places.iter().map(|at| memory.get(*at)).collect();
        let mut naive = Memory::around(&places, 7);
        places.iter().zip(&packed).for_each(|(at, byte)| naive.set(*at, *byte));
        let mut back = Memory::around(&places, 7);
        for (from, len) in cuts(packed.len(), &at) {
            let mut out = vec![0xaa; len + 2];
            let part = &packed[from..from + len];
            // SAFETY: both memories hold all places, `out` and `part` have `len` bytes.
            unsafe {
                ty.pack(memory.base(), rows as u64, from as u64, out.as_mut_ptr().add(1), len);
                ty.unpack(back.base(), rows as u64, from as u64, part.as_ptr(), len);
            }
            prop_assert!(out[1..=len] == *part);
            prop_assert_eq!((out[0], out[len + 1]), (0xaa, 0xaa));
        }
        prop_assert!(back.bytes == naive.bytes);
    }
}

/// The values of an entry.
fn scalars(basic: Basic) -> Vec<Scalar> {
    match basic {
        Basic::Scalar(s) => vec![s],
        Basic::Pair(value, index) => vec![value, index],
    }
}
