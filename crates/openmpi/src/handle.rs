//! Handles: the address of an object, or a number of Catena.
//!
//! Catena's handle has bit 31 clear. A foreign one has the halves of it exchanged and bit 63 set,
//! which no address of a program has; that is two instructions either way, without a constant on
//! the way back.

use catena_abi as abi;
use catena_layer::core;
use catena_layer::handle::{FIRST_DYNAMIC, Handle, Native};
use catena_layer::rarely;

use crate::integer;
use crate::object::{self, Entry, address_of, handle_at, usual_handle_at};

/// Set in foreign handles that are no addresses.
const NUMBER: usize = 1 << 63;

/// The handle of Catena for one that is an object, as a rule.
#[inline(always)]
fn object(foreign: usize) -> usize {
    match usual_handle_at(foreign) {
        Some(handle) => handle,
        None if foreign & NUMBER != 0 => of_number(foreign),
        None => {
            rarely();
            handle_at(foreign)
        }
    }
}

/// The handle of Catena for one that is a number, as a rule.
#[inline(always)]
fn number(foreign: usize) -> usize {
    if foreign & NUMBER != 0 {
        return of_number(foreign);
    }
    rarely();
    usual_handle_at(foreign).unwrap_or_else(|| handle_at(foreign))
}

#[inline(always)]
fn of_number(foreign: usize) -> usize {
    // The shift drops the bit that was set, in whose place a zero was; the rotation is shorter by
    // one.
    (foreign << 1).rotate_left(31)
}

#[inline]
fn foreign(native: usize, table: &[Entry]) -> usize {
    if native >= FIRST_DYNAMIC {
        return native.rotate_left(32) | NUMBER;
    }
    address_of(table, native)
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident $usual:ident $table:ident $by_integer:ident $toint:ident $fromint:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(usize);

        impl Handle for $name {
            type Native = abi::$name;

            #[inline]
            fn native(self) -> abi::$name {
                abi::$name($usual(self.0))
            }

            #[inline]
            fn foreign(native: abi::$name) -> Self {
                $name(foreign(native.0, &object::$table))
            }

            #[inline]
            fn null() -> Self {
                // The table begins with it.
                let null = &object::$table[0];
                debug_assert_eq!(abi::$name(null.handle), <abi::$name as Native>::NULL);
                $name(null.address())
            }

            fn to_fortran(self) -> i32 {
                let native = self.native();
                match integer::of_predefined(&object::$table, native.0) {
                    Some(integer) => integer,
                    // SAFETY: a number; the library does not follow it.
                    None => unsafe { core::$toint(native) },
                }
            }

            fn from_fortran(integer: i32) -> Self {
                match integer::predefined(&object::$by_integer, &object::$table, integer) {
                    Some(native) => Self::foreign(abi::$name(native)),
                    // SAFETY: a number; the library looks whether there is such an object.
                    None => Self::foreign(unsafe { core::$fromint(integer) }),
                }
            }
        }
    )*};
}

handles! {
    /// `MPI_Comm`
    Comm object COMM COMM_BY_INTEGER MPI_Comm_toint MPI_Comm_fromint;
    /// `MPI_Datatype`
    Datatype object DATATYPE DATATYPE_BY_INTEGER MPI_Type_toint MPI_Type_fromint;
    /// `MPI_Op`
    Op object OP OP_BY_INTEGER MPI_Op_toint MPI_Op_fromint;
    /// `MPI_Group`
    Group number GROUP GROUP_BY_INTEGER MPI_Group_toint MPI_Group_fromint;
    /// `MPI_Win`
    Win number WIN WIN_BY_INTEGER MPI_Win_toint MPI_Win_fromint;
    /// `MPI_File`
    File number FILE FILE_BY_INTEGER MPI_File_toint MPI_File_fromint;
    /// `MPI_Session`
    Session number SESSION SESSION_BY_INTEGER MPI_Session_toint MPI_Session_fromint;
    /// `MPI_Message`
    Message number MESSAGE MESSAGE_BY_INTEGER MPI_Message_toint MPI_Message_fromint;
    /// `MPI_Info`
    Info object INFO INFO_BY_INTEGER MPI_Info_toint MPI_Info_fromint;
    /// `MPI_Errhandler`
    Errhandler object ERRHANDLER ERRHANDLER_BY_INTEGER MPI_Errhandler_toint MPI_Errhandler_fromint;
    /// `MPI_Request`
    Request number REQUEST REQUEST_BY_INTEGER MPI_Request_toint MPI_Request_fromint;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::MEANINGLESS;
    use catena_abi::consts;

    #[test]
    fn numbers_come_back_whole() {
        for it in [
            1 << 27 | 1,
            7 << 27 | (0xffff_ffff << 32),
            8 << 27 | 0x7ff_ffff | 1 << 63,
        ] {
            let there = Request::foreign(abi::Request(it));
            assert!(there.0 & NUMBER != 0);
            assert_eq!(there.native(), abi::Request(it));
        }
    }

    #[test]
    fn null_handles_are_first_in_their_tables() {
        assert_eq!(Comm::null().native(), consts::COMM_NULL);
        assert_eq!(Datatype::null().native(), consts::DATATYPE_NULL);
        assert_eq!(Op::null().native(), consts::OP_NULL);
        assert_eq!(Group::null().native(), consts::GROUP_NULL);
        assert_eq!(Win::null().native(), consts::WIN_NULL);
        assert_eq!(File::null().native(), consts::FILE_NULL);
        assert_eq!(Session::null().native(), consts::SESSION_NULL);
        assert_eq!(Message::null().native(), consts::MESSAGE_NULL);
        assert_eq!(Info::null().native(), consts::INFO_NULL);
        assert_eq!(Errhandler::null().native(), consts::ERRHANDLER_NULL);
        assert_eq!(Request::null().native(), consts::REQUEST_NULL);
    }

    #[test]
    fn integers_of_predefined_handles_come_back() {
        for (it, name) in abi::Datatype::PREDEFINED {
            let there = Datatype::foreign(*it);
            if there.0 != it.0 | MEANINGLESS {
                let back = Datatype::from_fortran(there.to_fortran());
                assert_eq!(back.native(), *it, "{name}");
            }
        }
        assert_eq!(Datatype::from_fortran(7).native(), consts::INTEGER);
        assert_eq!(Comm::from_fortran(0).native(), consts::COMM_WORLD);
    }

    #[test]
    fn objects_come_back_and_other_addresses_mean_nothing() {
        for (it, name) in abi::Datatype::PREDEFINED {
            let there = Datatype::foreign(*it);
            // Some have no name in Open MPI.
            if there.0 != it.0 | MEANINGLESS {
                assert_eq!(there.native(), *it, "{name}");
            }
        }
        assert_eq!(
            Comm::foreign(consts::COMM_WORLD).native(),
            consts::COMM_WORLD
        );
        let inside = Comm(Comm::foreign(consts::COMM_WORLD).0 + 8);
        for it in [Comm(0), Comm(0x101), inside, Comm(0x7fff_dead_beef)] {
            assert_eq!(it.native().0 & MEANINGLESS, MEANINGLESS);
        }
    }
}
