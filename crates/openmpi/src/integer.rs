//! Handles as integers, as Fortran has them: of predefined handles small numbers that Open MPI's
//! Fortran headers name, of others those of the standard's interface, which are larger.

use catena_layer::handle::FIRST_DYNAMIC;

use crate::object::Entry;

/// The integer of a predefined handle.
pub(crate) fn of_predefined(table: &[Entry], handle: usize) -> Option<i32> {
    if handle >= FIRST_DYNAMIC {
        return None;
    }
    table
        .iter()
        .find(|entry| entry.handle == handle)
        .map(|entry| entry.integer)
}

/// The predefined handle of an integer: by the small ones that Open MPI's headers name, or by one
/// of the standard's.
#[inline]
pub(crate) fn predefined(named: &[usize], table: &[Entry], integer: i32) -> Option<usize> {
    match named.get(integer as usize) {
        Some(0) | None if integer >= FIRST_DYNAMIC as i32 => None,
        Some(0) | None => unnamed(table, integer),
        Some(&native) => Some(native),
    }
}

#[cold]
fn unnamed(table: &[Entry], integer: i32) -> Option<usize> {
    table
        .iter()
        .find(|entry| entry.integer == integer)
        .map(|entry| entry.handle)
}
