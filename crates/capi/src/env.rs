//! Start, end and environment (MPI-5, chapters 9 and 11.2 to 11.6), error
//! classes and codes (9.4, 9.5).

use std::ffi::{c_char, c_int, c_void};

use catena_abi::{Aint, Comm, Info, consts};
use catena_core::comm::resources;
use catena_core::{any_time, enter, init, life};
use catena_io::unseen;
use catena_objects::info::Info as Pairs;
use catena_objects::{Error, fail};
use catena_rma::heap;

use crate::args::{self, put, put_string};
use crate::checked;
use crate::entry::mpi_fn;
use crate::errors::{self, On};
use crate::export::export;
use crate::info;
use crate::interpreter;

/// What `MPI_Get_library_version` says.
const LIBRARY: &str = concat!(
    "Catena ",
    env!("CARGO_PKG_VERSION"),
    ", an MPI 5.0 library with the standard ABI 1.0"
);

/// Alignment of memory from `MPI_Alloc_mem`, if it fills no page: a cache line.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// The name of the host.
fn host() -> String {
    let mut name = [0u8; consts::MAX_PROCESSOR_NAME as usize];
    // SAFETY: the last byte stays zero.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } != 0;
    let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    if failed || end == 0 {
        return "localhost".to_owned();
    }
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// The alignment that the program asks for (MPI-5, 9.2), or ours.
fn alignment(size: usize, hints: Option<&Pairs>) -> usize {
    let asked = hints
        .and_then(|i| i.hint("mpi_minimum_memory_alignment"))
        .and_then(|v| v.parse::<usize>().ok())
        .and_then(usize::checked_next_power_of_two)
        .unwrap_or(1);
    asked.max(if size >= PAGE { PAGE } else { LINE })
}

/// Memory that neighbours can map, if it gets into a window; `None` if there are none, as far as
/// that is known, or no such memory.
fn shared_memory(size: usize, alignment: usize) -> Option<*mut u8> {
    let process = enter().ok()?;
    process.link(|link| link.net().shm().map(|_| ()))?;
    heap::keep(&process);
    heap::take(size, alignment).ok()
}

export! {
    /// In a copy of the process that `fork` has made nothing is left to do.
    fn MPI_Finalize() -> c_int {
        crate::traced::traced!(MPI_Finalize);
        if life::is_copy() {
            return consts::SUCCESS;
        }
        if interpreter::has_ended() {
            // First of all; the rest of it may come later.
            if let Err(error) = init::delete_attributes() {
                return raise(&error);
            }
            if interpreter::puts_off(finalize) {
                return consts::SUCCESS;
            }
        }
        finalize()
    }
}

/// `MPI_Finalize`, now.
fn finalize() -> c_int {
    if let Ok(process) = enter() {
        unseen::tell_all(&process);
    }
    checked::with_unmatched(|unmatched| init::finalize(raise, unmatched))
}

fn raise(error: &Error) -> c_int {
    errors::raise("MPI_Finalize", On::Nothing, error.clone())
}

mpi_fn! {
    /// The arguments of the program stay as they are: nothing in them is ours.
    fn MPI_Init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) {
        catena_library::assemble();
        interpreter::begin();
        init::init(consts::THREAD_SINGLE).map(drop)
    }

    fn MPI_Init_thread(_argc: *mut c_int, _argv: *mut *mut *mut c_char, required: c_int,
        provided: *mut c_int)
    {
        catena_library::assemble();
        interpreter::begin();
        put(provided, init::init(required)?, "provided")
    }

    fn MPI_Initialized(flag: *mut c_int) {
        put(flag, init::is_initialized().into(), "flag")
    }

    fn MPI_Finalized(flag: *mut c_int) {
        let is_finalized = init::is_finalized() || interpreter::has_put_off();
        put(flag, is_finalized.into(), "flag")
    }

    fn MPI_Query_thread(provided: *mut c_int) {
        put(provided, init::world_model()?.level, "provided")
    }

    fn MPI_Is_thread_main(flag: *mut c_int) {
        let main = init::world_model()?.main_thread;
        put(flag, (main == std::thread::current().id()).into(), "flag")
    }

    fn MPI_Abort(comm: Comm, errorcode: c_int) on comm {
        let who = match enter() {
            Ok(process) => format!("rank {}", process.me.0),
            Err(_) => "a process".to_owned(),
        };
        init::abort(errorcode, &format!("{who} called MPI_Abort with error code {errorcode}"))
    }

    fn MPI_Get_processor_name(name: *mut c_char, resultlen: *mut c_int) {
        put_string(name, consts::MAX_PROCESSOR_NAME as usize, resultlen, host())
    }

    fn MPI_Get_version(version: *mut c_int, subversion: *mut c_int) {
        put(version, consts::VERSION, "version")?;
        put(subversion, consts::SUBVERSION, "subversion")
    }

    fn MPI_Get_library_version(version: *mut c_char, resultlen: *mut c_int) {
        put_string(version, consts::MAX_LIBRARY_VERSION_STRING as usize, resultlen, LIBRARY)
    }

    /// The node is the one resource that is known to hold the whole process.
    fn MPI_Get_hw_resource_info(hw_info: *mut Info) {
        put(hw_info, info::add(any_time(), resources()), "hw_info")
    }

    fn MPI_Alloc_mem(size: Aint, hints: Info, baseptr: *mut c_void) {
        let hints = any_time().infos.find(hints)?;
        let Ok(size) = usize::try_from(size) else {
            fail!(Arg, "the size is {size}: it must not be negative");
        };
        if baseptr.is_null() {
            return Err(args::null_argument("baseptr"));
        }
        let mut at: *mut c_void = std::ptr::null_mut();
        let alignment = alignment(size, hints.as_deref());
        if let Some(at) = shared_memory(size, alignment) {
            return put(baseptr.cast::<*mut u8>(), at, "baseptr");
        }
        // SAFETY: stores an address in `at`, or fails.
        if unsafe { libc::posix_memalign(&raw mut at, alignment, size.max(1)) } != 0 {
            fail!(NoMem, "no memory for {size} bytes");
        }
        put(baseptr.cast::<*mut c_void>(), at, "baseptr")
    }

    fn MPI_Free_mem(base: *mut c_void) {
        if heap::give(base.cast()) {
            return Ok(());
        }
        // SAFETY: the program passes what `MPI_Alloc_mem` gave, or null.
        unsafe { libc::free(base) };
        Ok(())
    }

    fn MPI_Error_class(errorcode: c_int, errorclass: *mut c_int) {
        errors::looked_at(errorcode);
        match errors::class_of(errorcode) {
            Some(class) => put(errorclass, class, "errorclass"),
            None => fail!(Arg, "{errorcode} is not an error code"),
        }
    }

    fn MPI_Error_string(errorcode: c_int, string: *mut c_char, resultlen: *mut c_int) {
        errors::looked_at(errorcode);
        match errors::text_of(errorcode) {
            Some(text) => put_string(string, consts::MAX_ERROR_STRING as usize, resultlen, text),
            None => fail!(Arg, "{errorcode} is not an error code"),
        }
    }
}
