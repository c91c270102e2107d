//! The files of this process by their handles, and what `MPI_FILE_NULL` has.

use std::cell::{OnceCell, RefCell};
use std::sync::{Arc, LazyLock};

use catena_abi::{self as abi, consts};
use catena_objects::errhandler::{ErrhandlerRef, Errhandlers, HasErrhandler};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::error_place::Target;
use catena_objects::table::{ObjectKind, Table};

use crate::file::File;

/// `MPI_FILE_NULL`: errors of no file belong to it, and new files get its error handler.
#[derive(Debug)]
struct NoFile(RefCell<ErrhandlerRef>);

impl HasErrhandler for NoFile {
    fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
        &self.0
    }

    fn called(&self) -> String {
        "MPI_FILE_NULL".to_owned()
    }
}

struct Registry {
    files: Table<Arc<File>>,
    none: OnceCell<Arc<NoFile>>,
}

// SAFETY: whoever comes here holds the library's lock, or is the one thread that calls MPI.
unsafe impl Sync for Registry {}
// SAFETY: as above.
unsafe impl Send for Registry {}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry {
    files: Table::new(ObjectKind::File),
    none: OnceCell::new(),
});

/// Has errors that belong to files find them; those of handles that are no files go to
/// `MPI_FILE_NULL` (MPI-5, chapter 14.7). Called under the library's lock, before anything is
/// found.
pub fn register(errhandlers: &Errhandlers) {
    REGISTRY.none.get_or_init(|| {
        errhandlers.register(Target::File, |handle| {
            Ok(match find(abi::File(handle)) {
                Ok(file) => file,
                Err(error) => REGISTRY.none.get().ok_or(error)?.clone(),
            })
        });
        let handler = errhandlers
            .find(consts::ERRORS_RETURN)
            .expect("it is predefined");
        Arc::new(NoFile(RefCell::new(handler)))
    });
}

/// The error handler that a new file gets.
pub(crate) fn initial(errhandlers: &Errhandlers) -> ErrhandlerRef {
    register(errhandlers);
    let none = REGISTRY.none.get().expect("it has just been made");
    none.0.borrow().clone()
}

/// Makes a file known.
pub(crate) fn insert(file: &Arc<File>) -> abi::File {
    let handle = abi::File(REGISTRY.files.insert(file.clone()));
    file.handle.set(handle);
    handle
}

/// Forgets a file.
pub(crate) fn remove(file: &File) {
    REGISTRY.files.remove(file.handle.get().0);
}

/// The file behind a handle.
///
/// # Errors
/// `File` for `MPI_FILE_NULL`, closed and made-up handles.
pub fn find(file: abi::File) -> Result<Arc<File>> {
    REGISTRY.files.get(file.0).ok_or_else(|| bad_file(file))
}

/// The file behind a handle, which stays where it is.
///
/// # Safety
/// No file is opened or closed, and no callback of the program is called, while the borrow lives.
#[inline]
pub(crate) unsafe fn borrow(file: abi::File) -> Option<&'static File> {
    // SAFETY: the caller's promise.
    unsafe { REGISTRY.files.borrow(file.0) }.map(|file| &**file)
}

/// Files that the program has open.
pub fn open_files() -> Vec<Arc<File>> {
    REGISTRY
        .files
        .all()
        .into_iter()
        .map(|(_, file)| file)
        .collect()
}

/// The full handle for the low 31 bits that `MPI_File_toint` gave.
pub fn widen(low: i32) -> Option<usize> {
    REGISTRY.files.widen(low)
}

#[cold]
fn bad_file(file: abi::File) -> Error {
    let text = match file {
        consts::FILE_NULL => "the file is MPI_FILE_NULL".to_owned(),
        _ => format!("{:#x} is not a file, or was closed", file.0),
    };
    Error::new(Kind::File, text)
}
