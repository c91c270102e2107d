//! Huge, deep, empty and wrong types, and the predefined ones.

use std::sync::Arc;

use catena_datatype::{
    Basic, Combiner, DISTRIBUTE_BLOCK, DISTRIBUTE_NONE, Darray, Datatype, ORDER_C, OpKind, Scalar,
    TypeError, TypeRef, reducer,
};

fn named(code: u16) -> &'static TypeRef {
    Datatype::predefined(code).unwrap()
}

const INT: u16 = 0x209;
const LONG: u16 = 0x20a;
const DOUBLE: u16 = 0x214;
const BYTE: u16 = 0x247;
const TERA: i64 = 1 << 40;

#[test]
fn predefined_types_have_their_sizes_and_extents() {
    let expected: &[(u16, u64, i64)] = &[
        (0x201, 8, 8),   // AINT
        (0x207, 1, 1),   // PACKED
        (0x208, 2, 2),   // SHORT
        (INT, 4, 4),     // INT
        (LONG, 8, 8),    // LONG
        (0x213, 8, 8),   // CXX_FLOAT_COMPLEX
        (0x218, 4, 4),   // LOGICAL
        (0x220, 16, 16), // LONG_DOUBLE
        (0x224, 32, 32), // C_LONG_DOUBLE_COMPLEX
        (0x228, 8, 8),   // FLOAT_INT
        (0x229, 12, 16), // DOUBLE_INT
        (0x22a, 12, 16), // LONG_INT
        (0x22b, 8, 8),   // 2INT
        (0x22c, 6, 8),   // SHORT_INT
        (0x22d, 20, 32), // LONG_DOUBLE_INT
        (0x231, 16, 16), // 2DOUBLE_PRECISION
        (0x238, 1, 1),   // C_BOOL
        (0x23c, 4, 4),   // WCHAR
        (0x2ca, 2, 2),   // REAL2
        (0x2e1, 16, 16), // INTEGER16
        (0x2eb, 32, 32), // COMPLEX32
    ];
    for &(code, size, extent) in expected {
        let ty = named(code);
        assert_eq!((ty.size(), ty.extent()), (size, extent), "{code:#x}");
        assert_eq!((ty.lb(), ty.true_lb()), (0, 0), "{code:#x}");
        assert_eq!(ty.is_contiguous(), size as i64 == extent, "{code:#x}");
        assert_eq!(ty.code(), Some(code));
        assert!(ty.is_committed() && ty.is_predefined());
    }
    assert_eq!(Datatype::predefined_codes().count(), 70);
    for code in [0, 0x200, 0x1ff, 0x204, 0x23d, 0x2ec, 0x300, u16::MAX] {
        assert!(Datatype::predefined(code).is_none(), "{code:#x}");
    }
}

#[test]
fn a_type_of_tera_elements_costs_nothing() {
    let double = named(DOUBLE);
    let row = Datatype::contiguous(TERA, double).unwrap();
    assert_eq!((row.size(), row.extent()), (8 << 40, 8 << 40));
    assert!(row.is_contiguous());
    assert!(row.is_large());
    let sparse = Datatype::vector(TERA, 2, 3, double).unwrap();
    assert_eq!(sparse.size(), 16 << 40);
    assert_eq!(sparse.extent(), (24 << 40) - 8);
    assert_eq!(sparse.elements(), 2 << 40);
    assert_eq!(sparse.elements_in(5 << 40), Some(5 << 37));
    let nested = Datatype::vector(1 << 10, 1, 2, &sparse).unwrap();
    assert_eq!(nested.elements(), 2 << 50);
    let cube = Datatype::subarray(&[TERA, 8], &[TERA, 4], &[0, 2], ORDER_C, named(BYTE)).unwrap();
    assert_eq!((cube.size(), cube.extent()), (4 << 40, 8 << 40));
}

#[test]
fn the_far_end_of_a_huge_type_is_reached_at_once() {
    // All copies lie on each other, so that a small buffer holds them.
    let pair = Datatype::hvector(2, 1, 16, named(DOUBLE)).unwrap();
    let huge = Datatype::hvector(TERA, 1, 0, &pair).unwrap();
    let memory = [1.5f64, 2.5, 3.5];
    let mut out = [0f64; 3];
    let from = huge.size() - 24;
    // SAFETY: every copy lies within `memory`.
    unsafe { huge.pack(memory.as_ptr().cast(), 1, from, out.as_mut_ptr().cast(), 24) };
    assert_eq!(out, [3.5, 1.5, 3.5]);
    let mut back = [0f64; 3];
    // SAFETY: as above.
    unsafe { huge.unpack(back.as_mut_ptr().cast(), 1, from, out.as_ptr().cast(), 24) };
    assert_eq!(back, [1.5, 0.0, 3.5]);
}

#[test]
fn what_does_not_fit_into_63_bits_is_an_error() {
    let double = named(DOUBLE);
    let overflow = |made: Result<TypeRef, TypeError>| {
        assert!(matches!(made, Err(TypeError::Overflow { .. })), "{made:?}");
    };
    overflow(Datatype::contiguous(i64::MAX, double));
    overflow(Datatype::vector(TERA, 1, TERA, double));
    overflow(Datatype::vector(2, 1, i64::MAX, double));
    overflow(Datatype::hvector(3, 1, i64::MIN, double));
    overflow(Datatype::indexed(&[1, 1], &[0, i64::MAX / 4], double));
    overflow(Datatype::hindexed(
        &[1, 1],
        &[i64::MIN, i64::MAX - 8],
        double,
    ));
    overflow(Datatype::hindexed(&[1], &[i64::MAX - 3], double));
    overflow(Datatype::resized(i64::MAX, 1, double));
    let row = Datatype::contiguous(TERA, double).unwrap();
    overflow(Datatype::structure(
        &[TERA, TERA],
        &[0, 0],
        &[row.clone(), row.clone()],
    ));
    overflow(Datatype::subarray(
        &[TERA, TERA],
        &[1, 1],
        &[0, 0],
        ORDER_C,
        double,
    ));
    let twice = Datatype::hvector(1 << 19, 1, 0, &row).unwrap();
    assert_eq!(twice.size(), 1 << 62);
    overflow(Datatype::hvector(2, 1, 0, &twice));
}

#[test]
fn nesting_forty_deep_stays_cheap() {
    let mut ty = named(INT).clone();
    let mut expected = 4u64;
    for level in 0..40 {
        let wide = Datatype::resized(0, ty.extent() + 4, &ty).unwrap();
        ty = Datatype::hvector(2, 1, wide.extent(), &wide).unwrap();
        expected *= 2;
        assert_eq!(ty.size(), expected, "level {level}");
    }
    assert_eq!(ty.elements(), 1 << 40);
    let flat = (0..40).fold(named(INT).clone(), |ty, _| {
        Datatype::contiguous(2, &ty).unwrap()
    });
    assert!(flat.is_contiguous());
}

#[test]
fn using_each_level_twice_does_not_double_the_work() {
    let byte = named(BYTE);
    let pair = |ty: &TypeRef| {
        let at = [0, ty.ub() + 1];
        Datatype::structure(&[1, 1], &at, &[ty.clone(), ty.clone()]).unwrap()
    };
    let twice = (0..40).fold(byte.clone(), |ty, _| pair(&ty));
    assert_eq!((twice.size(), twice.elements()), (1 << 40, 1 << 40));
    assert_eq!(twice.external_size(1), Ok(1 << 40));
    // Nothing in these is even, neither places nor elements.
    let uneven = |ty: &TypeRef| {
        let at = [0, ty.ub(), ty.ub() + 9];
        let types = [ty.clone(), named(LONG).clone(), ty.clone()];
        Datatype::structure(&[1, 1, 1], &at, &types)
    };
    let deep = (0..40).fold(named(0x208).clone(), |ty, _| uneven(&ty).unwrap());
    let longs = (1 << 40) - 1;
    assert_eq!(deep.size(), (2 << 40) + 8 * longs);
    assert_eq!(deep.elements(), (1 << 40) + longs);
    assert_eq!(deep.external_size(1), Ok((2 << 40) + 4 * longs));
    assert_eq!(deep.elements_in(deep.size() - 2), Some(deep.elements() - 1));
    assert_eq!(deep.bytes_of(deep.elements() - 1), Some(deep.size() - 2));
    // Too deep for a tree and too long for a list: said at once.
    let many = Datatype::vector(1 << 23, 1, 2, byte).unwrap();
    let chain = (0..2020).fold(many, |ty, _| {
        Datatype::structure(&[1, 1], &[0, 2], &[byte.clone(), ty]).unwrap()
    });
    let error = (0..36).try_fold(chain, |ty, _| uneven(&ty)).unwrap_err();
    assert_eq!(error, TypeError::TooDeep);
}

#[test]
fn a_part_in_the_middle_of_a_deep_type_is_found_at_once() {
    // The same bytes over and over, so that a small buffer holds them.
    let mut ty = Datatype::hvector(3, 1, 2, named(BYTE)).unwrap();
    for _ in 0..40 {
        let level = Datatype::structure(&[1, 1], &[0, 1], &[ty.clone(), ty.clone()]).unwrap();
        ty = Datatype::resized(0, 1, &level).unwrap();
    }
    let memory: Vec<u8> = (0..64).collect();
    let mut whole = vec![0; 3 << 12];
    let from = ty.size() / 3 + 5;
    // SAFETY: the type reaches over 45 bytes.
    unsafe { ty.pack(memory.as_ptr(), 1, from, whole.as_mut_ptr(), whole.len()) };
    for (at, len) in [(0, 7), (1, 1), (100, 4096), (5000, 77)] {
        let mut part = vec![0; len];
        // SAFETY: as above.
        unsafe { ty.pack(memory.as_ptr(), 1, from + at as u64, part.as_mut_ptr(), len) };
        assert_eq!(part, whole[at..at + len]);
    }
}

#[test]
fn long_chains_of_structures_are_laid_out_flat() {
    // Every level adds a byte in front, with a gap behind it.
    let byte = named(BYTE);
    let mut ty = byte.clone();
    for _ in 0..5000 {
        ty = Datatype::structure(&[1, 1], &[0, 2], &[byte.clone(), ty]).unwrap();
    }
    assert_eq!((ty.size(), ty.extent()), (5001, 10_001));
    let memory: Vec<u8> = (0..10_001u32).map(|i| (i / 2) as u8).collect();
    let mut out = vec![0u8; 5001];
    // SAFETY: the type reaches over all of `memory`, and packs to 5001 bytes.
    unsafe { ty.pack(memory.as_ptr(), 1, 0, out.as_mut_ptr(), out.len()) };
    assert!(out.iter().enumerate().all(|(i, x)| *x == i as u8));
    let mixed = (0..5000).fold(named(INT).clone(), |ty, _| {
        Datatype::structure(&[1, 1], &[0, 4], &[named(0x208).clone(), ty]).unwrap()
    });
    assert_eq!(mixed.elements(), 5001);
    assert_eq!(mixed.elements_in(9_999), None);
    assert_eq!(mixed.elements_in(10_004), Some(5001));
}

#[test]
fn what_is_too_deep_to_be_laid_out_flat_is_an_error() {
    let byte = named(BYTE);
    let mut ty = Datatype::vector(1 << 30, 1, 2, byte).unwrap();
    let error = loop {
        match Datatype::structure(&[1, 1], &[0, 2], &[byte.clone(), ty]) {
            Ok(deeper) => ty = deeper,
            Err(error) => break error,
        }
    };
    assert_eq!(error, TypeError::TooDeep);
}

#[test]
fn a_long_chain_of_copies_is_freed_without_recursion() {
    let mut ty = Datatype::vector(2, 1, 2, named(INT)).unwrap();
    let first = Arc::downgrade(&ty);
    for _ in 0..300_000 {
        ty = Datatype::dup(&ty);
    }
    drop(ty);
    assert!(first.upgrade().is_none());
}

#[test]
fn empty_types_have_no_extent() {
    let int = named(INT);
    let empty = [
        Datatype::contiguous(0, int),
        Datatype::vector(0, 3, 5, int),
        Datatype::vector(3, 0, 5, int),
        Datatype::indexed(&[], &[], int),
        Datatype::indexed(&[0, 0], &[4, 9], int),
        Datatype::structure(&[0], &[8], std::slice::from_ref(int)),
    ];
    for ty in empty {
        let ty = ty.unwrap();
        assert_eq!(
            (ty.size(), ty.lb(), ty.extent(), ty.true_extent()),
            (0, 0, 0, 0)
        );
        assert!(ty.is_contiguous());
        assert_eq!(
            (ty.basic(), ty.elements_in(0), ty.elements_in(4)),
            (None, Some(0), None)
        );
    }
    let marked = Datatype::resized(-8, 24, &Datatype::contiguous(0, int).unwrap()).unwrap();
    assert_eq!(
        (marked.lb(), marked.extent(), marked.true_lb()),
        (-8, 24, 0)
    );
}

#[test]
fn structures_are_padded_to_their_alignment_unless_marked() {
    let (int, double, byte) = (named(INT), named(DOUBLE), named(BYTE));
    let padded = Datatype::structure(&[1, 1], &[0, 8], &[double.clone(), byte.clone()]).unwrap();
    assert_eq!(
        (padded.size(), padded.extent(), padded.true_extent()),
        (9, 16, 9)
    );
    assert_eq!(padded.align(), 8);
    let tight = Datatype::resized(0, 9, &padded).unwrap();
    let both = Datatype::structure(&[2, 1], &[0, 40], &[tight, int.clone()]).unwrap();
    assert_eq!((both.lb(), both.extent(), both.true_extent()), (0, 18, 44));
}

#[test]
fn wrong_arguments_are_named() {
    let int = named(INT);
    let negative = |what, value| TypeError::Negative { what, value };
    assert_eq!(
        Datatype::contiguous(-1, int).unwrap_err(),
        negative("count", -1)
    );
    assert_eq!(
        Datatype::vector(1, -2, 1, int).unwrap_err(),
        negative("block length", -2)
    );
    assert_eq!(
        Datatype::indexed(&[-3], &[0], int).unwrap_err(),
        negative("block length", -3)
    );
    assert_eq!(
        Datatype::indexed_block(-4, &[], int).unwrap_err(),
        negative("block length", -4)
    );
    let lengths = Datatype::hindexed(&[1], &[], int).unwrap_err();
    assert_eq!(
        lengths,
        TypeError::Lengths {
            what: "displacements",
            expected: 1,
            got: 0
        }
    );
    let beyond = Datatype::subarray(&[4], &[3], &[2], ORDER_C, int).unwrap_err();
    assert_eq!(
        beyond,
        TypeError::Subarray {
            dim: 0,
            start: 2,
            subsize: 3,
            size: 4
        }
    );
    assert_eq!(
        Datatype::subarray(&[4], &[4], &[0], 3, int).unwrap_err(),
        TypeError::Order(3)
    );
    let grid = Darray {
        size: 4,
        rank: 1,
        gsizes: vec![8, 8],
        distribs: vec![DISTRIBUTE_BLOCK, DISTRIBUTE_BLOCK],
        dargs: vec![2, 4],
        psizes: vec![2, 2],
        order: ORDER_C,
    };
    let with = |change: fn(&mut Darray)| {
        let mut grid = grid.clone();
        change(&mut grid);
        Datatype::darray(&grid, int).unwrap_err()
    };
    assert_eq!(
        with(|_| ()),
        TypeError::DistributionArgument { dim: 0, value: 2 }
    );
    assert_eq!(with(|g| g.rank = 4), TypeError::Rank { rank: 4, size: 4 });
    assert_eq!(with(|g| g.size = 5), TypeError::Grid { places: 4, size: 5 });
    assert_eq!(
        with(|g| g.distribs[0] = 7),
        TypeError::Distribution { dim: 0, value: 7 }
    );
    let undistributed = TypeError::Undistributed {
        dim: 0,
        processes: 2,
    };
    assert_eq!(with(|g| g.distribs[0] = DISTRIBUTE_NONE), undistributed);
    assert_eq!(
        with(|g| g.dargs = vec![4, 0]),
        TypeError::DistributionArgument { dim: 1, value: 0 }
    );
}

#[test]
fn pairs_are_found_by_value_and_index() {
    let found = Datatype::value_index(named(0x210), named(INT)).unwrap();
    assert!(Arc::ptr_eq(&found, named(0x228)));
    let other = Datatype::value_index(named(0x20f), named(LONG)).unwrap();
    assert_eq!(
        other.basic(),
        Some(Basic::Pair(Scalar::UInt64, Scalar::Long))
    );
    assert_eq!(other.combiner(), Combiner::ValueIndex);
    assert_eq!(
        (other.size(), other.extent(), other.contents().types.len()),
        (16, 16, 2)
    );
    assert!(other.is_predefined() && other.is_committed());
    assert!(reducer(OpKind::MaxLoc, other.basic().unwrap()).is_some());
    assert!(Datatype::value_index(named(0x216), named(INT)).is_none());
    let derived = Datatype::contiguous(1, named(INT)).unwrap();
    assert!(Datatype::value_index(named(INT), &derived).is_none());
}

#[test]
fn fortran_kinds_are_the_smallest_that_suffice() {
    const ANY: i32 = -32766;
    let basic = |ty: Result<TypeRef, TypeError>| match ty.unwrap().basic() {
        Some(Basic::Scalar(s)) => s,
        other => panic!("{other:?}"),
    };
    assert_eq!(basic(Datatype::f90_real(6, 37)), Scalar::Float32);
    assert_eq!(basic(Datatype::f90_real(6, 38)), Scalar::Float64);
    assert_eq!(basic(Datatype::f90_real(15, ANY)), Scalar::Float64);
    assert_eq!(basic(Datatype::f90_real(16, ANY)), Scalar::LongDouble);
    assert_eq!(
        basic(Datatype::f90_complex(ANY, 307)),
        Scalar::ComplexFloat64
    );
    assert_eq!(basic(Datatype::f90_integer(9)), Scalar::Int32);
    assert_eq!(basic(Datatype::f90_integer(10)), Scalar::Int64);
    assert!(matches!(
        Datatype::f90_real(40, 1),
        Err(TypeError::Kind { .. })
    ));
    assert!(matches!(
        Datatype::f90_integer(39),
        Err(TypeError::Kind { .. })
    ));
    let real = Datatype::f90_real(15, 300).unwrap();
    assert_eq!(real.combiner(), Combiner::F90Real);
    assert_eq!(real.contents().integers, [15, 300]);
}

#[test]
fn external32_has_known_forms() {
    let pack = |ty: &TypeRef, data: &[u8], count| {
        let mut out = vec![0; ty.external_size(count).unwrap() as usize];
        // SAFETY: every caller passes `count` elements.
        let used = unsafe { ty.pack_external(data.as_ptr(), count, &mut out) };
        used.map(|_| out)
    };
    let ints = [1i32, -2].map(i32::to_ne_bytes).concat();
    assert_eq!(
        pack(named(INT), &ints, 2),
        Ok(vec![0, 0, 0, 1, 255, 255, 255, 254])
    );
    let doubles = 1.0f64.to_ne_bytes();
    assert_eq!(
        pack(named(DOUBLE), &doubles, 1),
        Ok(vec![0x3f, 0xf0, 0, 0, 0, 0, 0, 0])
    );
    let longs = [7i64, -1].map(i64::to_ne_bytes).concat();
    assert_eq!(
        pack(named(LONG), &longs, 2),
        Ok(vec![0, 0, 0, 7, 255, 255, 255, 255])
    );
    let long = [1i64, 1 << 31].map(i64::to_ne_bytes).concat();
    assert_eq!(
        pack(named(LONG), &long, 2),
        Err(TypeError::Conversion { element: 1 })
    );
    let wide = 0x20acu32.to_ne_bytes();
    assert_eq!(pack(named(0x23c), &wide, 1), Ok(vec![0x20, 0xac]));
    let complex = [1.0f32, -1.0].map(f32::to_ne_bytes).concat();
    assert_eq!(
        pack(named(0x212), &complex, 1),
        Ok(vec![0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0])
    );
    let mut out = [0u8; 7];
    // SAFETY: two elements are there.
    let short = unsafe { named(INT).pack_external(ints.as_ptr(), 2, &mut out) };
    assert_eq!(short, Err(TypeError::ShortBuffer { need: 8, have: 7 }));
    let mut back = [0i64; 2];
    let data = [0, 0, 0, 7, 255, 255, 255, 254];
    // SAFETY: there is room for two elements.
    let used = unsafe { named(LONG).unpack_external(back.as_mut_ptr().cast(), 2, &data) };
    assert_eq!((used, back), (Ok(8), [7, -2]));
}
