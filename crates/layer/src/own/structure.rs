//! Structures with the markers `MPI_LB` and `MPI_UB`, which MPI 3.0 has removed: programs that were
//! compiled before give them among the types of a structure.

use catena_abi::{Aint, Datatype};

use super::*;

/// What `MPI_LB` of an interface is among Catena's handles: no handle, so nothing but a structure
/// takes it.
pub const LB: usize = 0xcc00_0010;
/// As [`LB`].
pub const UB: usize = 0xcc00_0011;

/// The smallest or largest place of a marker, if there is any.
type Bound = Option<Aint>;

/// The places of both markers, and the entries without them: block lengths, displacements, types.
#[derive(Debug, PartialEq)]
struct Taken {
    lb: Bound,
    ub: Bound,
    lens: Vec<c_int>,
    displs: Vec<Aint>,
    types: Vec<Datatype>,
}

/// Takes the markers out of a structure.
fn take(lens: &[c_int], displs: &[Aint], types: &[Datatype]) -> Taken {
    let mut taken = Taken {
        lb: None,
        ub: None,
        lens: Vec::new(),
        displs: Vec::new(),
        types: Vec::new(),
    };
    for ((&len, &at), &ty) in lens.iter().zip(displs).zip(types) {
        match ty.0 {
            // One that occurs no time means nothing.
            LB | UB if len == 0 => {}
            LB => taken.lb = Some(taken.lb.map_or(at, |low| low.min(at))),
            UB => taken.ub = Some(taken.ub.map_or(at, |high| high.max(at))),
            _ => {
                taken.lens.push(len);
                taken.displs.push(at);
                taken.types.push(ty);
            }
        }
    }
    taken
}

/// The structure and its markers; an out parameter of the call.
#[cold]
unsafe fn marked(
    count: c_int,
    lens: *const c_int,
    displs: *const Aint,
    types: *const Datatype,
    new: *mut Datatype,
) -> c_int {
    let n = entries(count);
    // SAFETY: the program's arrays of that length, which are not null; the translated types are as
    // many.
    let taken = unsafe {
        take(
            std::slice::from_raw_parts(lens, n),
            std::slice::from_raw_parts(displs, n),
            std::slice::from_raw_parts(types, n),
        )
    };
    let at = |bound: &Bound| bound.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: arrays of this length; bounds that live as long as the call.
    unsafe {
        core::catena_type_struct(
            taken.types.len() as c_int,
            taken.lens.as_ptr(),
            taken.displs.as_ptr(),
            taken.types.as_ptr(),
            at(&taken.lb),
            at(&taken.ub),
            new,
        )
    }
}

pub unsafe fn Type_create_struct<A: Abi>(
    count: c_int,
    lens: *const c_int,
    displs: *const Aint,
    types: *const A::Datatype,
    newtype: *mut A::Datatype,
) -> c_int {
    let (mut room, n) = (HandleArray::new(), entries(count));
    // SAFETY: the program's arguments; of the translation `n` entries are there if it is not null.
    unsafe {
        let types = room.load(types.cast_mut(), n);
        let place = types.place();
        let has_marker = !place.is_null()
            && std::slice::from_raw_parts(place, n)
                .iter()
                .any(|ty| matches!(ty.0, LB | UB));
        let mut newtype = Out::new(newtype);
        let rc = if has_marker && !lens.is_null() && !displs.is_null() {
            marked(count, lens, displs, place, newtype.place())
        } else {
            core::MPI_Type_create_struct(count, lens, displs, place, newtype.place())
        };
        newtype.finish();
        code::<A>(rc)
    }
}

/// The older name of [`Type_create_struct`].
pub unsafe fn Type_struct<A: Abi>(
    count: c_int,
    lens: *const c_int,
    displs: *const Aint,
    types: *const A::Datatype,
    newtype: *mut A::Datatype,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe { Type_create_struct::<A>(count, lens, displs, types, newtype) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_taken_out() {
        let ty = |at| Datatype(at);
        let taken = take(
            &[1, 2, 1, 0, 1],
            &[-4, 0, 8, -9, 16],
            &[ty(LB), ty(7), ty(UB), ty(LB), ty(UB)],
        );
        assert_eq!((taken.lb, taken.ub), (Some(-4), Some(16)));
        assert_eq!(
            (taken.lens, taken.displs, taken.types),
            (vec![2], vec![0], vec![ty(7)])
        );
    }
}
