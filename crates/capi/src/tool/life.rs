//! Beginning and end of the tool interface.

use std::ffi::c_int;

use catena_abi::consts;
use catena_mpit as tool;

use super::{event, give, tool_fn};
use crate::export::export;

export! {
    fn MPI_T_init_thread(required: c_int, provided: *mut c_int) -> c_int {
        if provided.is_null() {
            return consts::T_ERR_INVALID;
        }
        catena_library::list();
        event::prepare();
        give(provided, tool::init(required));
        consts::SUCCESS
    }
}

tool_fn! {
    fn MPI_T_finalize() {
        tool::finalize()
    }
}
