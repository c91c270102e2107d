//! Functions of the C library that the tool stands before.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The next function of a name, once it was found.
pub struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

/// What stands for the address while it is looked up.
const LOOKING: usize = 1;

impl Next {
    pub const fn new(name: &'static CStr) -> Next {
        Next {
            name,
            address: AtomicUsize::new(0),
        }
    }

    /// Its address; `None` while the loader is looking for it.
    #[inline]
    pub fn get(&self) -> Option<usize> {
        match self.address.load(Relaxed) {
            0 => self.look(),
            LOOKING => None,
            found => Some(found),
        }
    }

    #[cold]
    fn look(&self) -> Option<usize> {
        self.address.store(LOOKING, Relaxed);
        // SAFETY: a name that ends.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) }.addr();
        self.address.store(found, Relaxed);
        (found != 0).then_some(found)
    }
}

/// The next function of the name, as a function with that type.
macro_rules! next {
    ($name:literal, fn($($arg:ty),*) -> $result:ty) => {{
        static NEXT: $crate::behind::Next = $crate::behind::Next::new($name);
        NEXT.get().map(|address| {
            // SAFETY: the function of the C library has this type.
            unsafe { std::mem::transmute::<usize,
                unsafe extern "C" fn($($arg),*) -> $result>(address) }
        })
    }};
}

pub(crate) use next;
