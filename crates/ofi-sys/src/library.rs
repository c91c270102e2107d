//! Finding and opening libfabric.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;

use crate::consts::{self, TYPE_PROTOCOL, version_parts};
use crate::types::{Fabric, FabricAttr, Info};

type Version = unsafe extern "C" fn() -> u32;
type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const Info,
    *mut *mut Info,
) -> c_int;
type DupInfo = unsafe extern "C" fn(*const Info) -> *mut Info;
type FreeInfo = unsafe extern "C" fn(*mut Info);
type OpenFabric = unsafe extern "C" fn(*mut FabricAttr, *mut *mut Fabric, *mut c_void) -> c_int;
type StrError = unsafe extern "C" fn(c_int) -> *const c_char;
type ToStr = unsafe extern "C" fn(*const c_void, c_int) -> *const c_char;

/// libfabric, opened. It stays in the process for good, as its own threads and
/// exit handlers expect.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    version: Version,
    getinfo: GetInfo,
    dupinfo: DupInfo,
    freeinfo: FreeInfo,
    fabric: OpenFabric,
    strerror: StrError,
    tostr: ToStr,
}

/// Why libfabric was not opened: every name that was tried, and what the
/// dynamic loader, or Catena, said to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// Name or path, and cause.
    pub tried: Vec<(String, String)>,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tried.is_empty() {
            return f.write_str("no name to look for was given");
        }
        for (at, (name, cause)) in self.tried.iter().enumerate() {
            let comma = if at == 0 { "" } else { "; " };
            write!(f, "{comma}{name}: {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NotFound {}

/// What the dynamic loader said last.
fn loader_error() -> String {
    // SAFETY: no arguments; the text lives until this thread's next call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic loader gives no reason".to_string();
    }
    // SAFETY: a text that ends in 0.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// A function as that version of the binary interface has it.
///
/// # Safety
/// `F` is the type of a pointer to that function.
unsafe fn function<F: Copy>(handle: *mut c_void, name: &CStr, since: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: an open library, and texts that end in 0.
    let found = unsafe { libc::dlvsym(handle, name.as_ptr(), since.as_ptr()) };
    if found.is_null() {
        return Err(format!("it is no usable libfabric: {}", loader_error()));
    }
    // SAFETY: the same size, and the type that the caller vouches for.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

impl Library {
    /// Opens the first of `names` that is a libfabric of version 1.17 or newer.
    /// A name with a slash is a path, any other is looked for as the dynamic
    /// loader does.
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
        // SAFETY: initialisers of libfabric run; they may run in any process.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(loader_error());
        }
        // SAFETY: the types above are those of the manual pages.
        let library = unsafe {
            Library {
                version: function(handle, c"fi_version", c"FABRIC_1.0")?,
                getinfo: function(handle, c"fi_getinfo", c"FABRIC_1.3")?,
                dupinfo: function(handle, c"fi_dupinfo", c"FABRIC_1.3")?,
                freeinfo: function(handle, c"fi_freeinfo", c"FABRIC_1.3")?,
                fabric: function(handle, c"fi_fabric", c"FABRIC_1.1")?,
                strerror: function(handle, c"fi_strerror", c"FABRIC_1.0")?,
                tostr: function(handle, c"fi_tostr", c"FABRIC_1.0")?,
            }
        };
        if library.version() < consts::API {
            let (major, minor) = version_parts(library.version());
            return Err(format!(
                "its version is {major}.{minor}, older than 1.17, which Catena needs"
            ));
        }
        Ok(library)
    }

    /// Version of the library; see [`version_parts`].
    pub fn version(&self) -> u32 {
        // SAFETY: no arguments.
        unsafe { (self.version)() }
    }

    /// Empty hints, to be filled in; for [`Library::freeinfo`]. Null if there
    /// is no memory.
    pub fn allocinfo(&self) -> *mut Info {
        // SAFETY: null asks for an empty one.
        unsafe { (self.dupinfo)(std::ptr::null()) }
    }

    /// A copy of one offer, for [`Library::freeinfo`]. Null if there is no
    /// memory.
    ///
    /// # Safety
    /// `info` comes from this library and is not freed.
    pub unsafe fn dupinfo(&self, info: *const Info) -> *mut Info {
        // SAFETY: as promised.
        unsafe { (self.dupinfo)(info) }
    }

    /// Frees an offer and those that follow it.
    ///
    /// # Safety
    /// `info` comes from this library and is used no more.
    pub unsafe fn freeinfo(&self, info: *mut Info) {
        // SAFETY: as promised.
        unsafe { (self.freeinfo)(info) }
    }

    /// Offers that match `hints`, for [`Library::freeinfo`].
    ///
    /// # Errors
    /// The error number, positive.
    ///
    /// # Safety
    /// `hints` comes from [`Library::allocinfo`].
    pub unsafe fn getinfo(&self, hints: *const Info) -> Result<*mut Info, c_int> {
        let mut info = std::ptr::null_mut();
        // SAFETY: as promised; no node and no service.
        let status = unsafe {
            (self.getinfo)(
                consts::API,
                std::ptr::null(),
                std::ptr::null(),
                0,
                hints,
                &mut info,
            )
        };
        if status == 0 { Ok(info) } else { Err(-status) }
    }

    /// Opens a fabric.
    ///
    /// # Errors
    /// The error number, positive.
    ///
    /// # Safety
    /// `attr` belongs to an offer of this library.
    pub unsafe fn fabric(&self, attr: *mut FabricAttr) -> Result<*mut Fabric, c_int> {
        let mut fabric = std::ptr::null_mut();
        // SAFETY: as promised.
        let status = unsafe { (self.fabric)(attr, &mut fabric, std::ptr::null_mut()) };
        if status == 0 {
            Ok(fabric)
        } else {
            Err(-status)
        }
    }

    /// Words for an error number, positive.
    pub fn strerror(&self, error: c_int) -> String {
        // SAFETY: any number has a text, which ends in 0.
        unsafe { text((self.strerror)(error)) }
    }

    /// Name of a protocol.
    pub fn protocol(&self, protocol: u32) -> String {
        let at: *const u32 = &protocol;
        // SAFETY: that kind of text is about a 32-bit number.
        unsafe { text((self.tostr)(at.cast(), TYPE_PROTOCOL)) }
    }
}

/// A copy of a text of libfabric's; empty for null.
///
/// # Safety
/// `at` is null or points to a text that ends in 0.
pub(crate) unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_was_tried_is_told() {
        let error = Library::open(["/no/such/libfabric.so", "libc.so.6"]).unwrap_err();
        let names: Vec<&str> = error.tried.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["/no/such/libfabric.so", "libc.so.6"]);
        let text = error.to_string();
        assert!(
            text.contains("cannot open shared object file")
                && text.contains("libc.so.6: it is no usable libfabric"),
            "{text}"
        );
        assert!(
            Library::open([])
                .unwrap_err()
                .to_string()
                .contains("no name")
        );
    }
}
