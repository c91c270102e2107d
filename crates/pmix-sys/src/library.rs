//! Finding and opening libpmix.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;

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

/// libpmix, opened. It stays in the process for good, as its threads expect.
#[derive(Clone, Debug)]
pub struct Library {
    name: String,
    handle: Handle,
    get_version: GetVersion,
    error_string: ErrorString,
    pub(crate) init: Init,
    pub(crate) finalize: Finalize,
    pub(crate) abort: Abort,
    pub(crate) put: Put,
    pub(crate) commit: Commit,
    pub(crate) fence_nb: FenceNb,
    pub(crate) get: Get,
}

/// What the dynamic loader knows the library by.
#[derive(Clone, Copy, Debug)]
struct Handle(*mut c_void);

// SAFETY: the loader's functions may be called from any thread, and the library
// is never closed.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// Why libpmix was not opened: every name that was tried, and what the dynamic
/// loader said to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// Name or path, and cause.
    pub tried: Vec<(String, String)>,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, cause)) in self.tried.iter().enumerate() {
            let comma = if at == 0 { "" } else { "; " };
            write!(f, "{comma}{name}: {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NotFound {}

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

/// What the dynamic loader said last.
fn loader_error() -> String {
    // SAFETY: no arguments; the text lives until this thread's next call.
    unsafe { text(libc::dlerror()) }
}

/// A function of the library.
///
/// # Safety
/// `F` is the type of a pointer to that function.
unsafe fn function<F: Copy>(handle: *mut c_void, name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: an open library, and a text that ends in 0.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if found.is_null() {
        return Err(format!("it is no usable libpmix: {}", loader_error()));
    }
    // SAFETY: the same size, and the type that the caller vouches for.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

impl Library {
    /// Opens the first of `names` that is a libpmix. A name with a slash is a
    /// path, any other is looked for as the dynamic loader does.
    ///
    /// # Errors
    /// [`NotFound`] with the cause for each name.
    pub fn open<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Library, NotFound> {
        let mut tried = Vec::new();
        for name in names {
            match Library::open_one(name) {
                Ok(library) => return Ok(library),
                Err(cause) => tried.push((name.to_string(), cause)),
            }
        }
        Err(NotFound { tried })
    }

    fn open_one(name: &str) -> Result<Library, String> {
        let path = CString::new(name).map_err(|_| "a name cannot contain a zero".to_string())?;
        // Its plug-ins look for the library's symbols among the global ones.
        let flags = libc::RTLD_LAZY | libc::RTLD_GLOBAL;
        // SAFETY: libpmix has initialisers that may run in any process.
        let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
        if handle.is_null() {
            return Err(loader_error());
        }
        // SAFETY: the types above are those of the PMIx standard.
        unsafe {
            Ok(Library {
                name: name.to_string(),
                handle: Handle(handle),
                get_version: function(handle, c"PMIx_Get_version")?,
                error_string: function(handle, c"PMIx_Error_string")?,
                init: function(handle, c"PMIx_Init")?,
                finalize: function(handle, c"PMIx_Finalize")?,
                abort: function(handle, c"PMIx_Abort")?,
                put: function(handle, c"PMIx_Put")?,
                commit: function(handle, c"PMIx_Commit")?,
                fence_nb: function(handle, c"PMIx_Fence_nb")?,
                get: function(handle, c"PMIx_Get")?,
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
        unsafe { function(self.handle.0, name) }
    }

    /// What `status`, returned by `of`, means.
    pub(crate) fn status(&self, of: &'static str, status: RawStatus) -> Status {
        // SAFETY: any number has a text, which is a constant.
        let words = unsafe { text((self.error_string)(status)) };
        let cause = format!("{words} ({status})");
        Status { of, cause }
    }
}

/// A copy of a text; empty for null.
///
/// # Safety
/// `at` is null or points to a text that ends in 0.
unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    let text = unsafe { CStr::from_ptr(at) };
    text.to_string_lossy().into_owned()
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
