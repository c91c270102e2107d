//! What a datatype was made from (MPI-5, chapter 5.1.13).

use catena_abi::Aint;

use super::*;
use crate::number::foreign_darg;

/// Where named constants stand among the integers of a datatype's contents.
///
/// # Safety
/// `integers` has the integers of a type of this combiner.
unsafe fn translate<A: Abi>(combiner: c_int, large: bool, integers: *mut c_int) {
    // SAFETY: the caller's promise.
    let at = |i: usize| unsafe { &mut *integers.add(i) };
    let families = A::FAMILIES;
    match combiner {
        consts::COMBINER_SUBARRAY => {
            let ndims = entries(*at(0));
            // With large counts the sizes are not among the integers.
            let order = at(if large { 1 } else { 3 * ndims + 1 });
            *order = foreign_named(families.order, *order);
        }
        consts::COMBINER_DARRAY => {
            let ndims = entries(*at(2));
            let first = if large { 3 } else { 3 + ndims };
            for i in first..first + ndims {
                *at(i) = foreign_named(families.distribution, *at(i));
            }
            for i in first + ndims..first + 2 * ndims {
                *at(i) = foreign_darg::<A>(*at(i));
            }
            let order = at(first + 3 * ndims);
            *order = foreign_named(families.order, *order);
        }
        _ => {}
    }
}

pub unsafe fn Type_get_contents<A: Abi>(
    ty: A::Datatype,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    integers: *mut c_int,
    addresses: *mut Aint,
    datatypes: *mut A::Datatype,
) -> c_int {
    let mut room = HandleArray::new();
    let types = room.blank(datatypes, entries(max_datatypes));
    let ty = ty.native();
    let (mut n, mut combiner) = ([0; 3], 0);
    let [a, b, c] = &mut n;
    // SAFETY: the program's arguments; the library fails if an array is too short.
    unsafe {
        let rc = core::MPI_Type_get_contents(
            ty,
            max_integers,
            max_addresses,
            max_datatypes,
            integers,
            addresses,
            types.place(),
        );
        types.finish();
        if rc == consts::SUCCESS
            && core::MPI_Type_get_envelope(ty, a, b, c, &raw mut combiner) == consts::SUCCESS
        {
            translate::<A>(combiner, false, integers);
        }
        code::<A>(rc)
    }
}

#[allow(clippy::too_many_arguments, reason = "those of the standard")]
pub unsafe fn Type_get_contents_c<A: Abi>(
    ty: A::Datatype,
    max_integers: Count,
    max_addresses: Count,
    max_large_counts: Count,
    max_datatypes: Count,
    integers: *mut c_int,
    addresses: *mut Aint,
    large_counts: *mut Count,
    datatypes: *mut A::Datatype,
) -> c_int {
    let mut room = HandleArray::new();
    let types = room.blank(datatypes, entries(max_datatypes));
    let ty = ty.native();
    let (mut n, mut combiner) = ([0; 4], 0);
    let [a, b, large, d] = &mut n;
    // SAFETY: the program's arguments; the library fails if an array is too short.
    unsafe {
        let rc = core::MPI_Type_get_contents_c(
            ty,
            max_integers,
            max_addresses,
            max_large_counts,
            max_datatypes,
            integers,
            addresses,
            large_counts,
            types.place(),
        );
        types.finish();
        let mut envelope = |combiner| core::MPI_Type_get_envelope_c(ty, a, b, large, d, combiner);
        if rc == consts::SUCCESS && envelope(&raw mut combiner) == consts::SUCCESS {
            translate::<A>(combiner, n[2] > 0, integers);
        }
        code::<A>(rc)
    }
}
