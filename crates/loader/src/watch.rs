//! Whether anything was loaded since, told by one word of the dynamic loader.
//!
//! The loader keeps what is loaded as a list, at whose end it puts what comes, and of whose
//! elements `<link.h>` shows the link to the next one. As long as that of the last element is
//! null, nothing was loaded after it. The element has to stay for that, so it is the last one of
//! those with which this library was loaded: those with which a program starts stay anyway. What
//! the program opens later is its own to close, and is never kept.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The last element when this library was loaded.
static FIRST: AtomicPtr<LinkMap> = AtomicPtr::new(ptr::null_mut());

/// Finds it before anything of this library is called.
extern "C" fn note() {
    if let Some(last) = Last::find() {
        FIRST.store(last.at, Ordering::Release);
    }
}

// SAFETY: the loader calls what is listed there once, before other code of the library.
#[unsafe(link_section = ".init_array")]
#[used]
static START: extern "C" fn() = note;

/// The part of an element of the list that `<link.h>` shows.
#[repr(C)]
struct LinkMap {
    addr: usize,
    name: *const c_char,
    dynamic: *const c_void,
    next: AtomicPtr<LinkMap>,
    previous: *mut LinkMap,
}

/// The end of the list of what is loaded.
#[derive(Clone, Copy)]
pub struct Watch(&'static AtomicPtr<LinkMap>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Watch").field(&self.is_last()).finish()
    }
}

impl Watch {
    /// Watches for what is loaded from now on. `None` if the loader's list cannot be used so, or
    /// something that was loaded after this library is there.
    pub fn start() -> Option<Watch> {
        let last = Last::find()?;
        if last.at != FIRST.load(Ordering::Acquire) {
            return None;
        }
        // It stays anyway, unless this library came with a plug-in that goes without it.
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
        // SAFETY: nothing is loaded.
        let handle = unsafe { libc::dlopen(last.name.as_ptr(), flags) };
        // Another thread may have unloaded it meanwhile.
        let is_it = !handle.is_null() && map_of(handle) == Some(last.at);
        // SAFETY: an element of the list that stays there, as its library stays loaded.
        is_it.then(|| Watch(unsafe { &(*last.at).next }))
    }

    /// Whether nothing was loaded since.
    #[inline]
    pub fn is_last(self) -> bool {
        self.0.load(Ordering::Acquire).is_null()
    }

    /// The word that is null as long as nothing was loaded since.
    pub fn word(self) -> &'static AtomicPtr<c_void> {
        // SAFETY: both are atomic pointers; what this one points to is not looked at.
        unsafe { &*(&raw const *self.0).cast() }
    }
}

/// The last element of the list.
struct Last {
    at: *mut LinkMap,
    name: CString,
}

impl Last {
    fn find() -> Option<Last> {
        // SAFETY: the program itself is always there.
        let program = unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        let mut walk = Walk {
            at: (!program.is_null()).then(|| map_of(program)).flatten()?,
            name: None,
        };
        // SAFETY: `to_end` takes what is passed. While it is called, nobody changes the list.
        unsafe { libc::dl_iterate_phdr(Some(to_end), (&raw mut walk).cast()) };
        Some(Last {
            at: walk.at,
            name: walk.name?,
        })
    }
}

/// An element of the list, which becomes the last one, and that one's name.
struct Walk {
    at: *mut LinkMap,
    name: Option<CString>,
}

unsafe extern "C" fn to_end(_: *mut libc::dl_phdr_info, _: usize, walk: *mut c_void) -> c_int {
    // SAFETY: the caller passes a walk, whose element is the program's; the loader lets nobody
    // change the list meanwhile.
    unsafe {
        let walk = &mut *walk.cast::<Walk>();
        loop {
            let next = (*walk.at).next.load(Ordering::Acquire);
            if next.is_null() {
                break;
            }
            walk.at = next;
        }
        let name = (*walk.at).name;
        walk.name = (!name.is_null()).then(|| CStr::from_ptr(name).to_owned());
    }
    1
}

/// The element of the list behind a handle.
fn map_of(handle: *mut c_void) -> Option<*mut LinkMap> {
    let mut map: *mut LinkMap = ptr::null_mut();
    // SAFETY: a handle of the loader, and room for what it gives.
    let code = unsafe { libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) };
    (code == 0 && !map.is_null()).then_some(map)
}
