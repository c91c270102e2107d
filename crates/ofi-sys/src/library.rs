//! Finding and opening libfabric.

use std::ffi::{c_char, c_int, c_void};

use catena_loader::{NotFound, Opened, Scope, first, text};

use crate::consts::{self, TYPE_PROTOCOL, version_parts};
use crate::handlers::SavedHandlers;
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

impl Library {
    /// Opens the first of `names` that is a libfabric of version 1.17 or newer.
    /// A name with a slash is a path, any other is looked for as the dynamic
    /// loader does.
    ///
    /// # Errors
    /// [`NotFound`] with the cause for each name.
    pub fn open<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Library, NotFound> {
        first(names, Library::open_one)
    }

    fn open_one(name: &str) -> Result<Library, String> {
        let _kept = SavedHandlers::now();
        let opened = Opened::open(name, "libfabric", Scope::Local)?;
        // SAFETY: the types above are those of the manual pages.
        let library = unsafe {
            Library {
                version: opened.versioned(c"fi_version", c"FABRIC_1.0")?,
                getinfo: opened.versioned(c"fi_getinfo", c"FABRIC_1.3")?,
                dupinfo: opened.versioned(c"fi_dupinfo", c"FABRIC_1.3")?,
                freeinfo: opened.versioned(c"fi_freeinfo", c"FABRIC_1.3")?,
                fabric: opened.versioned(c"fi_fabric", c"FABRIC_1.1")?,
                strerror: opened.versioned(c"fi_strerror", c"FABRIC_1.0")?,
                tostr: opened.versioned(c"fi_tostr", c"FABRIC_1.0")?,
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
        // The first call initialises all providers.
        let _kept = SavedHandlers::now();
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
    }
}
