//! A Fortran compiler whose `.TRUE.` is -1. What it is holds for the whole process: hence a test
//! program of its own.

use catena_datatype::{Booleans, OpKind, Scalar, reducer, set_booleans};

#[test]
fn results_are_the_compilers_own_truth_values() {
    let said = set_booleans(Booleans {
        size: 4,
        truth: u128::from(u32::MAX),
        falsehood: 0,
    });
    assert!(said);
    for (op, a, b, expected) in [
        (OpKind::Lxor, 2, 4, 0),
        (OpKind::Lxor, -1, 0, -1),
        (OpKind::Land, 1, -1, -1),
        (OpKind::Land, 2, 0, 0),
        (OpKind::Lor, 0, 4, -1),
        (OpKind::Lor, 0, 0, 0),
    ] {
        for (a, b) in [(a, b), (b, a)] {
            let (a, mut b): (i32, i32) = (a, b);
            let run = reducer(op, Scalar::Logical32.into()).unwrap();
            // SAFETY: both have one element.
            unsafe { run((&raw const a).cast(), (&raw mut b).cast(), 1) };
            assert_eq!(b, expected, "{op:?}");
        }
    }
    // Of another size there are only those of C.
    let (a, mut b) = (2u8, 4u8);
    // SAFETY: both have one element.
    unsafe { reducer(OpKind::Land, Scalar::Logical8.into()).unwrap()(&raw const a, &raw mut b, 1) };
    assert_eq!(b, 1);
}
