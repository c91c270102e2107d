//! The words in which values are told; those that describe variables stand in `core`.

use catena_objects::table::ObjectKind;

/// What a variable is bound to: the kind of an object, and its handle.
pub type Bound = (ObjectKind, usize);

/// A value of a performance variable or an element of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of [`Type::Int`](crate::Type::Int).
    Int(i32),
    /// Of [`Type::Long`](crate::Type::Long).
    Long(u64),
    /// Of [`Type::Double`](crate::Type::Double).
    Real(f64),
}
