//! Calls that add error classes, codes and strings, and remove them (MPI-5, chapter 9.5).

use std::ffi::{c_char, c_int};

use catena_abi::consts;
use catena_objects::fail;

use crate::args::{self, put};
use crate::attr::refresh_last_used;
use crate::entry::mpi_fn;
use crate::{added, errors};

mpi_fn! {
    fn MPI_Add_error_class(errorclass: *mut c_int) {
        put(errorclass, consts::ERR_UNKNOWN, "errorclass")?;
        let new = added::add(None);
        refresh_last_used();
        put(errorclass, new, "errorclass")
    }

    fn MPI_Add_error_code(errorclass: c_int, errorcode: *mut c_int) {
        put(errorcode, consts::ERR_UNKNOWN, "errorcode")?;
        if errors::class_of(errorclass) != Some(errorclass) {
            fail!(Arg, "{errorclass} is not an error class");
        }
        let new = added::add(Some(errorclass));
        refresh_last_used();
        put(errorcode, new, "errorcode")
    }

    fn MPI_Add_error_string(errorcode: c_int, string: *const c_char) {
        let string = args::bytes(string, "string")?;
        if string.len() >= consts::MAX_ERROR_STRING as usize {
            fail!(Arg, "the string has {} bytes, at most {} are allowed", string.len(),
                consts::MAX_ERROR_STRING - 1);
        }
        added::change(errorcode, |it| it.text = string.to_vec())
    }

    fn MPI_Remove_error_class(errorclass: c_int) {
        added::remove(errorclass, true)?;
        refresh_last_used();
        Ok(())
    }

    fn MPI_Remove_error_code(errorcode: c_int) {
        added::remove(errorcode, false)?;
        refresh_last_used();
        Ok(())
    }

    fn MPI_Remove_error_string(errorcode: c_int) {
        added::change(errorcode, |it| it.text.clear())
    }
}
