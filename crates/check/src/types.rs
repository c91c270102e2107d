//! What is known of datatypes: their extents, and which bytes their elements take.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use catena_abi::{Datatype, consts};
use catena_symbols::ScalarKind;

use crate::{contents, mpi};

/// Handles of predefined types lie below.
const TYPES: usize = 0x400;

/// Most memory that is used to find out which bytes elements take.
const LONGEST: i64 = 256 << 20;

/// Bytes of the longest element that is looked at for numbers that lie upon each other: that is
/// done for each new type.
const LONGEST_DOUBLED: i64 = 1 << 20;

/// Most runs of a layout.
const RUNS: usize = 1 << 16;

/// Most layouts that are kept.
const LAYOUTS: usize = 256;

/// Where the elements of a type lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Bytes of data.
    pub size: i64,
    pub extent: i64,
    pub true_lb: i64,
    pub true_extent: i64,
    /// Whether numbers lie upon each other, so that bytes are left out, however many the numbers
    /// take together.
    pub is_doubled: bool,
}

impl Shape {
    /// Whether elements behind each other leave no byte out.
    pub fn is_solid(&self) -> bool {
        self.is_dense() && !self.is_doubled
    }

    /// Whether the numbers take as many bytes as there are.
    fn is_dense(&self) -> bool {
        self.size == self.true_extent && self.size == self.extent
    }

    /// The first byte of `count` elements, and that behind the last one, from the buffer's address.
    pub fn hull(&self, count: i64) -> (i64, i64) {
        let last = (count - 1).saturating_mul(self.extent);
        let (low, high) = (last.min(0), last.max(0));
        let begin = self.true_lb.saturating_add(low);
        (
            begin,
            begin
                .saturating_add(high - low)
                .saturating_add(self.true_extent),
        )
    }
}

/// Bytes from the buffer's address on: the first, and that behind the last one.
pub type Run = (i64, i64);

static DERIVED: Mutex<Option<HashMap<usize, Shape>>> = Mutex::new(None);

type Layouts = HashMap<(usize, i64), Arc<[Run]>>;
static LAID_OUT: Mutex<Option<Layouts>> = Mutex::new(None);

/// The numbers of a type of Fortran, whose size the program may choose
/// (`MPI_Abi_set_fortran_info`): their kind, and how many there are.
pub fn of_fortran(ty: Datatype) -> Option<(ScalarKind, usize)> {
    match ty {
        consts::INTEGER => Some((ScalarKind::Signed, 1)),
        consts::LOGICAL => Some((ScalarKind::Logical, 1)),
        consts::REAL | consts::DOUBLE_PRECISION => Some((ScalarKind::Float, 1)),
        consts::COMPLEX | consts::DOUBLE_COMPLEX => Some((ScalarKind::Float, 2)),
        _ => None,
    }
}

/// The shape of a type whose handle is good; `None` if the library does not tell.
pub fn shape(ty: Datatype) -> Option<Shape> {
    // The program may choose their sizes.
    if of_fortran(ty).is_some() {
        return ask(ty);
    }
    static BASIC: [OnceLock<Option<Shape>>; TYPES] = [const { OnceLock::new() }; TYPES];
    if let Some(basic) = BASIC.get(ty.0) {
        return *basic.get_or_init(|| ask(ty));
    }
    let mut derived = DERIVED.lock().unwrap_or_else(PoisonError::into_inner);
    let derived = derived.get_or_insert_default();
    if let Some(&shape) = derived.get(&ty.0) {
        return Some(shape);
    }
    let shape = ask(ty)?;
    derived.insert(ty.0, shape);
    Some(shape)
}

fn ask(ty: Datatype) -> Option<Shape> {
    let mut shape = Shape::default();
    let mut lb = 0;
    let is_known = mpi::Type_size_c(ty, &mut shape.size) == 0
        && mpi::Type_get_extent_c(ty, &mut lb, &mut shape.extent) == 0
        && mpi::Type_get_true_extent_c(ty, &mut shape.true_lb, &mut shape.true_extent) == 0;
    if !is_known {
        return None;
    }
    let may_be_doubled =
        shape.is_dense() && shape.size <= LONGEST_DOUBLED && contents::may_be_doubled(ty);
    if may_be_doubled && let Some(runs) = mark(ty, 1, shape) {
        let taken: i64 = runs.iter().map(|(begin, end)| end - begin).sum();
        shape.is_doubled = taken < shape.size;
    }
    Some(shape)
}

/// Its handle may be another type's from now on.
pub fn forget(ty: Datatype) {
    let mut derived = DERIVED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(derived) = derived.as_mut() {
        derived.remove(&ty.0);
    }
    let mut layouts = LAID_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(layouts) = layouts.as_mut() {
        layouts.retain(|&(known, _), _| known != ty.0);
    }
}

/// The bytes that `count` elements take of a type whose handle is good, in their order, without
/// gaps in between; `None` if that would take too much memory. Cost: the elements are unpacked
/// once, and their hull is read.
pub fn layout(ty: Datatype, count: i64) -> Option<Arc<[Run]>> {
    let shape = shape(ty)?;
    if shape.is_solid() {
        let (begin, end) = shape.hull(count);
        return Some(Arc::from([(begin, end)]));
    }
    let key = (ty.0, count);
    {
        let mut layouts = LAID_OUT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = layouts.get_or_insert_default().get(&key) {
            return Some(Arc::clone(known));
        }
    }
    let found: Arc<[Run]> = mark(ty, count, shape)?.into();
    let mut layouts = LAID_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    let layouts = layouts.get_or_insert_default();
    if layouts.len() >= LAYOUTS {
        layouts.clear();
    }
    layouts.insert(key, Arc::clone(&found));
    Some(found)
}

/// Has the library write marks where the elements are, and looks where they stand.
fn mark(ty: Datatype, count: i64, shape: Shape) -> Option<Vec<Run>> {
    let (begin, end) = shape.hull(count);
    let bytes = shape.size.checked_mul(count)?;
    if end - begin > LONGEST || bytes > LONGEST {
        return None;
    }
    let marks = vec![1_u8; usize::try_from(bytes).ok()?];
    let mut hull = vec![0_u8; usize::try_from(end - begin).ok()?];
    let mut position = 0;
    // The address at which the elements begin may lie outside of the memory of the marks.
    let base = hull.as_mut_ptr().addr().wrapping_sub(begin as usize) as *mut c_void;
    let from = marks.as_ptr().cast();
    let code = mpi::Unpack_c(
        from,
        bytes,
        &mut position,
        base,
        count,
        ty,
        consts::COMM_SELF,
    );
    let found = runs(&hull, begin);
    (code == 0 && found.len() <= RUNS).then_some(found)
}

/// Where marks stand.
fn runs(hull: &[u8], begin: i64) -> Vec<Run> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < hull.len() {
        let Some(first) = next(hull, at, false) else {
            break;
        };
        let end = next(hull, first, true).unwrap_or(hull.len());
        found.push((begin + first as i64, begin + end as i64));
        at = end;
    }
    found
}

/// The next byte from `at` on that is zero, or not.
fn next(hull: &[u8], at: usize, is_zero: bool) -> Option<usize> {
    // Eight bytes at once, as long as they are all alike.
    let alike = [u8::from(is_zero); 8];
    let mut from = at;
    while let Some(chunk) = hull.get(from..from + 8) {
        if chunk != alike {
            break;
        }
        from += 8;
    }
    let found = hull[from..].iter().position(|&it| (it == 0) == is_zero);
    found.map(|found| from + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_elements_reaches_from_the_first_to_the_last_byte() {
        let int = Shape {
            size: 4,
            extent: 4,
            true_lb: 0,
            true_extent: 4,
            is_doubled: false,
        };
        assert!(int.is_solid());
        assert_eq!(int.hull(3), (0, 12));
        let backwards = Shape {
            extent: -8,
            true_lb: 2,
            ..int
        };
        assert_eq!(backwards.hull(3), (-14, 6));
        let doubled = Shape {
            is_doubled: true,
            ..int
        };
        assert!(!doubled.is_solid());
    }

    #[test]
    fn marks_become_runs() {
        assert_eq!(runs(&[0, 1, 1, 0, 0, 1], -2), [(-1, 1), (3, 4)]);
        assert_eq!(runs(&[1], 0), [(0, 1)]);
        assert_eq!(runs(&[0, 0], 0), []);
    }
}
