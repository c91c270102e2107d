//! Generalized requests (MPI-5, chapter 13.2).

use std::cell::Cell;
use std::ffi::c_void;

use catena_abi::{GrequestCancelFunction, GrequestFreeFunction, GrequestQueryFunction, Request};
use catena_core::enter;
use catena_core::request::Generalized;

use crate::args::put;
use crate::entry::mpi_fn;

mpi_fn! {
    fn MPI_Grequest_start(query_fn: GrequestQueryFunction, free_fn: GrequestFreeFunction,
        cancel_fn: GrequestCancelFunction, extra_state: *mut c_void, request: *mut Request)
    {
        let process = enter()?;
        let new = Generalized {
            query: query_fn.into(),
            free: free_fn.into(),
            cancel: cancel_fn.into(),
            extra_state,
            done: Cell::new(false),
            freed: Cell::new(false),
        };
        put(request, new.begin(&process), "request")
    }

    fn MPI_Grequest_complete(request: Request) {
        Generalized::finish(&*enter()?, request)
    }
}
