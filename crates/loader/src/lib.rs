//! Row 0: shared libraries that are found and opened at run time.
//!
//! Nothing that is opened here is closed again: libraries of networks and process
//! managers have threads and exit handlers that expect to find their code.

mod tool;
mod watch;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;

pub use tool::tell_tool;
pub use watch::Watch;

/// Who finds the symbols of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only the caller, by the handle. What the library itself needs is looked for at once.
    Local,
    /// What is loaded later, too, such as its plug-ins.
    Global,
}

/// A shared library, opened.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    handle: *mut c_void,
    title: &'static str,
}

// SAFETY: the loader's functions may be called from any thread, and the library
// is never closed.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

/// Why a library was not opened: every name that was tried, and what the dynamic
/// loader, or Catena, said to it.
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

/// What `open` makes of the first of `names` that it takes.
///
/// # Errors
/// [`NotFound`] with the cause for each name.
pub fn first<'a, L>(
    names: impl IntoIterator<Item = &'a str>,
    open: impl Fn(&str) -> Result<L, String>,
) -> Result<L, NotFound> {
    let mut tried = Vec::new();
    for name in names {
        match open(name) {
            Ok(library) => return Ok(library),
            Err(cause) => tried.push((name.to_string(), cause)),
        }
    }
    Err(NotFound { tried })
}

impl Opened {
    /// Opens `name`, which is to be a library that people call `title`. A name with
    /// a slash is a path, any other is looked for as the dynamic loader does.
    ///
    /// # Errors
    /// What the dynamic loader says.
    pub fn open(name: &str, title: &'static str, scope: Scope) -> Result<Opened, String> {
        let path = CString::new(name).map_err(|_| "a name cannot contain a zero".to_string())?;
        let flags = match scope {
            Scope::Local => libc::RTLD_NOW | libc::RTLD_LOCAL,
            Scope::Global => libc::RTLD_LAZY | libc::RTLD_GLOBAL,
        };
        // SAFETY: its initialisers run; they may run in any process.
        let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
        match handle.is_null() {
            true => Err(error()),
            false => Ok(Opened { handle, title }),
        }
    }

    /// A library that this process has loaded already, by the name that it has for the dynamic
    /// loader.
    pub fn loaded(name: &CStr, title: &'static str) -> Option<Opened> {
        let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD;
        // SAFETY: nothing is loaded.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
        (!handle.is_null()).then_some(Opened { handle, title })
    }

    /// A function of it.
    ///
    /// # Errors
    /// If there is none: then it is not what it should be.
    ///
    /// # Safety
    /// `F` is the type of a pointer to that function.
    pub unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        // SAFETY: an open library, and a text that ends in 0.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        // SAFETY: as promised.
        unsafe { self.found(found) }
    }

    /// A function as the version `since` of the binary interface has it.
    ///
    /// # Errors
    /// As [`Opened::function`].
    ///
    /// # Safety
    /// As [`Opened::function`].
    pub unsafe fn versioned<F: Copy>(&self, name: &CStr, since: &CStr) -> Result<F, String> {
        // SAFETY: an open library, and texts that end in 0.
        let found = unsafe { libc::dlvsym(self.handle, name.as_ptr(), since.as_ptr()) };
        // SAFETY: as promised.
        unsafe { self.found(found) }
    }

    /// # Safety
    /// `found` is null or a function, to which `F` is a pointer.
    unsafe fn found<F: Copy>(&self, found: *mut c_void) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        if found.is_null() {
            return Err(format!("it is no usable {}: {}", self.title, error()));
        }
        // SAFETY: the same size, and the type that the caller vouches for.
        Ok(unsafe { std::mem::transmute_copy(&found) })
    }
}

/// How many libraries this process has loaded so far: as long as the number is the same, nothing
/// new is there.
pub fn loads() -> u64 {
    unsafe extern "C" fn first(
        about: *mut libc::dl_phdr_info,
        _size: usize,
        loads: *mut c_void,
    ) -> c_int {
        // SAFETY: both are what the loader and the caller below pass. What each object tells is the
        // same.
        unsafe { *loads.cast::<u64>() = (*about).dlpi_adds };
        1
    }
    let mut loads = 0;
    // SAFETY: `first` takes the number that is passed.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loads).cast()) };
    loads
}

/// What the dynamic loader said last.
fn error() -> String {
    // SAFETY: no arguments; the text lives until this thread's next call.
    let text = unsafe { text(libc::dlerror()) };
    match text.as_str() {
        "" => "the dynamic loader gives no reason".to_string(),
        _ => text,
    }
}

/// A copy of a text; empty for null.
///
/// # Safety
/// `at` is null or points to a text that ends in 0.
pub unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Abs = unsafe extern "C" fn(c_int) -> c_int;

    fn open(name: &str) -> Result<Abs, String> {
        let library = Opened::open(name, "libabs", Scope::Local)?;
        // SAFETY: the type is that of the C library.
        unsafe { library.function(c"abs") }
    }

    #[test]
    fn the_first_that_serves_is_taken() {
        let abs = first(["/no/such/lib.so", "libc.so.6", "never"], open).unwrap();
        // SAFETY: a function of the C library.
        assert_eq!(unsafe { abs(-7) }, 7);
    }

    #[test]
    fn what_is_loaded_is_found_without_loading_anything() {
        let before = loads();
        assert!(before > 0);
        let here = Opened::loaded(c"libc.so.6", "libabs").unwrap();
        // SAFETY: the type is that of the C library.
        let abs = unsafe { here.function::<Abs>(c"abs") }.unwrap();
        // SAFETY: a function of the C library.
        assert_eq!(unsafe { abs(-7) }, 7);
        assert!(Opened::loaded(c"libutil.so.0", "nothing").is_none());
        assert_eq!(loads(), before);
    }

    #[test]
    fn every_name_that_was_tried_is_told() {
        let dl = |name: &str| {
            let library = Opened::open(name, "libabs", Scope::Global)?;
            // SAFETY: there is no such version, so it is never called.
            unsafe { library.versioned::<Abs>(c"abs", c"NONE_1.0") }
        };
        let error = first(["/no/such/lib.so", "a\0b", "libc.so.6"], dl).unwrap_err();
        let names: Vec<&str> = error.tried.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["/no/such/lib.so", "a\0b", "libc.so.6"]);
        let text = error.to_string();
        assert!(
            text.contains("cannot open shared object file")
                && text.contains("cannot contain a zero")
                && text.contains("libc.so.6: it is no usable libabs"),
            "{text}"
        );
        let none = first([], open).unwrap_err().to_string();
        assert!(none.contains("no name"));
    }
}
