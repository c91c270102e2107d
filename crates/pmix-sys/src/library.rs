//! Finding and opening libpmix.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;

use catena_loader::{NotFound, Opened, Scope, first, text};

use crate::types::{Info, OpCallback, Proc, RawStatus, RawValue};

type GetVersion = unsafe extern "C" fn() -> *const c_char;
type ErrorString = unsafe extern "C" fn(RawStatus) -> *const c_char;
type Init = unsafe extern "C" fn(*mut Proc, *const Info, usize) -> RawStatus;
type Finalize = unsafe extern "C" fn(*const Info, usize) -> RawStatus;
type Abort = unsafe extern "C" fn(c_int, *const c_char, *const Proc, usize) -> RawStatus;
type Put = unsafe extern "C" fn(u8, *const c_char, *const RawValue) -> RawStatus;
type Commit = unsafe extern "C" fn() -> RawStatus;
type FenceNb = unsafe extern "C" fn(
    *const Proc,
    usize,
    *const Info,
    usize,
    OpCallback,
    *mut c_void,
) -> RawStatus;
type Get = unsafe extern "C" fn(
    *const Proc,
    *const c_char,
    *const Info,
    usize,
    *mut *mut RawValue,
) -> RawStatus;

/// What is called of an event: it says that it has done what it can by the second last argument.
pub(crate) type Notified = unsafe extern "C" fn(
    usize,
    RawStatus,
    *const Proc,
    *mut Info,
    usize,
    *mut Info,
    usize,
    Option<NotifiedDone>,
    *mut c_void,
);
pub(crate) type NotifiedDone =
    unsafe extern "C" fn(RawStatus, *mut Info, usize, Option<OpCallback>, *mut c_void, *mut c_void);
type RegisterEvents = unsafe extern "C" fn(
    *const RawStatus,
    usize,
    *const Info,
    usize,
    Notified,
    unsafe extern "C" fn(RawStatus, usize, *mut c_void),
    *mut c_void,
) -> RawStatus;

/// libpmix, opened. It stays in the process for good, as its threads expect.
#[derive(Clone, Debug)]
pub struct Library {
    name: String,
    opened: Opened,
    get_version: GetVersion,
    error_string: ErrorString,
    pub(crate) init: Init,
    pub(crate) finalize: Finalize,
    pub(crate) abort: Abort,
    pub(crate) put: Put,
    pub(crate) commit: Commit,
    pub(crate) fence_nb: FenceNb,
    pub(crate) get: Get,
    pub(crate) register_events: RegisterEvents,
}

/// Why a function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The function.
    pub of: &'static str,
    /// Its words, and the number.
    pub cause: String,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.of, self.cause)
    }
}

impl std::error::Error for Status {}

impl Library {
    /// Opens the first of `names` that is a libpmix. A name with a slash is a
    /// path, any other is looked for as the dynamic loader does.
    ///
    /// # Errors
    /// [`NotFound`] with the cause for each name.
    pub fn open<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Library, NotFound> {
        first(names, Library::open_one)
    }

    fn open_one(name: &str) -> Result<Library, String> {
        // Its plug-ins look for its symbols among the global ones.
        let opened = Opened::open(name, "libpmix", Scope::Global)?;
        // SAFETY: the types above are those of the PMIx standard.
        unsafe {
            Ok(Library {
                name: name.to_string(),
                opened,
                get_version: opened.function(c"PMIx_Get_version")?,
                error_string: opened.function(c"PMIx_Error_string")?,
                init: opened.function(c"PMIx_Init")?,
                finalize: opened.function(c"PMIx_Finalize")?,
                abort: opened.function(c"PMIx_Abort")?,
                put: opened.function(c"PMIx_Put")?,
                commit: opened.function(c"PMIx_Commit")?,
                fence_nb: opened.function(c"PMIx_Fence_nb")?,
                get: opened.function(c"PMIx_Get")?,
                register_events: opened.function(c"PMIx_Register_event_handler")?,
            })
        }
    }

    /// The name under which it was found.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it says about itself.
    pub fn version(&self) -> String {
        // SAFETY: no arguments; the text is a constant.
        unsafe { text((self.get_version)()) }
    }

    /// Another function of it.
    ///
    /// # Safety
    /// `F` is the type of a pointer to that function.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        // SAFETY: as promised.
        unsafe { self.opened.function(name) }
    }

    /// What `status`, returned by `of`, means.
    pub(crate) fn status(&self, of: &'static str, status: RawStatus) -> Status {
        // SAFETY: any number has a text, which is a constant.
        let words = unsafe { text((self.error_string)(status)) };
        let cause = format!("{words} ({status})");
        Status { of, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_was_tried_is_told() {
        let error = Library::open(["/no/such/libpmix.so.2", "libc.so.6"]).unwrap_err();
        let names: Vec<&str> = error.tried.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["/no/such/libpmix.so.2", "libc.so.6"]);
        let text = error.to_string();
        assert!(
            text.contains("cannot open shared object file")
                && text.contains("libc.so.6: it is no usable libpmix"),
            "{text}"
        );
    }
}
