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

/// The predefined handle of an integer.
pub(crate) fn predefined(table: &[Entry], integer: i32) -> Option<usize> {
    table
        .iter()
        .find(|entry| entry.integer == integer)
        .map(|entry| entry.handle)
}
