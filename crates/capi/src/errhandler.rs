//! Error handlers (MPI-5, chapter 9.3). `MPI_FILE_NULL` has one, too: that of new files, and of
//! errors that belong to no file.

use std::ffi::c_int;

use catena_abi::{
    Comm, CommErrhandlerFunction, Errhandler, ErrhandlerFunction, File, FileErrhandlerFunction,
    Session, SessionErrhandlerFunction, Win, WinErrhandlerFunction, consts,
};
use catena_core::{AnyTime, any_time};
use catena_io::registry;
use catena_objects::callback::{Foreign, HandlerFn};
use catena_objects::errhandler::{Errhandler as Handler, ErrhandlerRef};
use catena_objects::error_place::{ErrorPlace, Target};
use catena_objects::{Result, fail};

use crate::args::{self, put};
use crate::entry::mpi_fn;
use crate::errors::{self, On};

/// Makes the handler that calls `function`.
fn create<T>(on: Target, function: ErrhandlerFunction<T>, to: *mut Errhandler) -> Result<()> {
    let Some(function) = function else {
        fail!(Arg, "the error handler function is a null pointer");
    };
    let handler = Handler::User {
        on,
        // SAFETY: a handle is a `usize` in C's eyes, and what the function may take beyond the two
        // arguments is never passed.
        function: Foreign::new(unsafe {
            std::mem::transmute::<usize, HandlerFn>(function as usize)
        }),
    };
    put(to, any_time().errhandlers.add(handler.into()), "errhandler")
}

/// The handler behind a handle, if objects of this kind can have it.
pub(crate) fn fitting(
    objects: &AnyTime,
    handle: Errhandler,
    target: Target,
) -> Result<ErrhandlerRef> {
    let handler = objects.errhandlers.find(handle)?;
    if !handler.fits(target) {
        fail!(
            Errhandler,
            "the error handler was not made for {target:?} objects"
        );
    }
    Ok(handler)
}

fn set(object: impl Into<ErrorPlace>, handle: Errhandler) -> Result<()> {
    let place = object.into();
    let objects = errors::enter_for(place);
    let handler = fitting(&objects, handle, place.target)?;
    objects
        .errhandlers
        .holder(place)?
        .errhandler()
        .replace(handler);
    Ok(())
}

fn get(object: impl Into<ErrorPlace>, to: *mut Errhandler) -> Result<()> {
    let place = object.into();
    let objects = errors::enter_for(place);
    let object = objects.errhandlers.holder(place)?;
    let handler = object.errhandler().borrow().clone();
    put(to, objects.errhandlers.handle(&handler), "errhandler")
}

fn call(object: impl Into<ErrorPlace>, errorcode: c_int) -> Result<()> {
    let place = object.into();
    errors::enter_for(place).errhandlers.holder(place)?;
    let text = errors::shown(errorcode);
    errors::call_handler(On::Object(place), errorcode, text);
    Ok(())
}

/// Whether a handle is that of a file, or `MPI_FILE_NULL`.
fn check_file(file: File) -> Result<()> {
    registry::register(&any_time().errhandlers);
    match file {
        consts::FILE_NULL => Ok(()),
        _ => registry::find(file).map(drop),
    }
}

mpi_fn! {
    fn MPI_Comm_create_errhandler(function: CommErrhandlerFunction, errhandler: *mut Errhandler) {
        create(Target::Comm, function, errhandler)
    }

    fn MPI_Comm_set_errhandler(comm: Comm, errhandler: Errhandler) on comm {
        set(comm, errhandler)
    }

    fn MPI_Comm_get_errhandler(comm: Comm, errhandler: *mut Errhandler) on comm {
        get(comm, errhandler)
    }

    fn MPI_Comm_call_errhandler(comm: Comm, errorcode: c_int) on comm {
        call(comm, errorcode)
    }

    fn MPI_Errhandler_create(function: CommErrhandlerFunction, errhandler: *mut Errhandler) {
        create(Target::Comm, function, errhandler)
    }

    fn MPI_Errhandler_set(comm: Comm, errhandler: Errhandler) on comm {
        set(comm, errhandler)
    }

    fn MPI_Errhandler_get(comm: Comm, errhandler: *mut Errhandler) on comm {
        get(comm, errhandler)
    }

    fn MPI_Errhandler_free(errhandler: *mut Errhandler) {
        let old = args::get(errhandler, "errhandler")?;
        any_time().errhandlers.free(old)?;
        put(errhandler, consts::ERRHANDLER_NULL, "errhandler")
    }

    fn MPI_Win_create_errhandler(function: WinErrhandlerFunction, errhandler: *mut Errhandler) {
        create(Target::Win, function, errhandler)
    }

    fn MPI_Win_set_errhandler(win: Win, errhandler: Errhandler) on win {
        set(win, errhandler)
    }

    fn MPI_Win_get_errhandler(win: Win, errhandler: *mut Errhandler) on win {
        get(win, errhandler)
    }

    fn MPI_Win_call_errhandler(win: Win, errorcode: c_int) on win {
        call(win, errorcode)
    }

    fn MPI_Session_create_errhandler(function: SessionErrhandlerFunction,
        errhandler: *mut Errhandler)
    {
        create(Target::Session, function, errhandler)
    }

    fn MPI_Session_set_errhandler(session: Session, errhandler: Errhandler) on session {
        set(session, errhandler)
    }

    fn MPI_Session_get_errhandler(session: Session, errhandler: *mut Errhandler) on session {
        get(session, errhandler)
    }

    fn MPI_Session_call_errhandler(session: Session, errorcode: c_int) on session {
        call(session, errorcode)
    }

    fn MPI_File_create_errhandler(function: FileErrhandlerFunction, errhandler: *mut Errhandler) {
        create(Target::File, function, errhandler)
    }

    fn MPI_File_set_errhandler(file: File, errhandler: Errhandler) on file {
        check_file(file)?;
        set(file, errhandler)
    }

    fn MPI_File_get_errhandler(file: File, errhandler: *mut Errhandler) on file {
        check_file(file)?;
        get(file, errhandler)
    }

    fn MPI_File_call_errhandler(fh: File, errorcode: c_int) on fh {
        check_file(fh)?;
        call(fh, errorcode)
    }
}
