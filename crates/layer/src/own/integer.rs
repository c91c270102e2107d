//! Handles as integers (MPI-5, chapter 20.3). The integers of an interface are its own.

use super::*;

macro_rules! integers {
    ($($toint:ident $fromint:ident $handle:ident;)*) => {$(
        pub unsafe fn $toint<A: Abi>(handle: A::$handle) -> c_int {
            handle.to_fortran()
        }

        pub unsafe fn $fromint<A: Abi>(integer: c_int) -> A::$handle {
            A::$handle::from_fortran(integer)
        }
    )*};
}

integers! {
    Comm_toint Comm_fromint Comm;
    Errhandler_toint Errhandler_fromint Errhandler;
    File_toint File_fromint File;
    Group_toint Group_fromint Group;
    Info_toint Info_fromint Info;
    Message_toint Message_fromint Message;
    Op_toint Op_fromint Op;
    Request_toint Request_fromint Request;
    Session_toint Session_fromint Session;
    Type_toint Type_fromint Datatype;
    Win_toint Win_fromint Win;
}
