//! Which file an address of code lies in, and whether that is the program's own.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Files that stand between a program and MPI.
const BETWEEN: [&str; 6] = ["libmpi", "libcatena", "MPI.", "libffi", "_cffi", "_ctypes"];

/// Addresses of which it is known whether they are the program's own: the lowest bit says that they
/// are not. The last of those that share a place counts.
static KNOWN: [AtomicUsize; 1024] = [const { AtomicUsize::new(0) }; 1024];

/// Whether code at an address is the program's own, as far as the file's name tells. Cost: a
/// nanosecond for an address that was asked for of late.
pub fn is_direct(caller: usize) -> bool {
    // Addresses with and without the lowest bit are told apart by the next one.
    let key = caller << 1;
    let known = &KNOWN[(caller ^ caller >> 10) % KNOWN.len()];
    let found = known.load(Relaxed);
    if found & !1 == key {
        return found & 1 == 0;
    }
    let name = object(caller);
    let file = name.rsplit('/').next().unwrap_or_default();
    let is_between = BETWEEN.iter().any(|it| file.starts_with(it));
    known.store(key | usize::from(is_between), Relaxed);
    !is_between
}

/// The name of the file that an address of code lies in; empty if there is none.
pub fn object(at: usize) -> String {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address, and a place for what is told, which is a text that ends.
    unsafe {
        if libc::dladdr(at as *const c_void, info.as_mut_ptr()) == 0 {
            return String::new();
        }
        let name = info.assume_init().dli_fname;
        match name.is_null() {
            true => String::new(),
            false => CStr::from_ptr(name).to_string_lossy().into_owned(),
        }
    }
}

/// The addresses of this library.
pub fn own() -> std::ops::Range<usize> {
    use std::sync::OnceLock;
    static OWN: OnceLock<std::ops::Range<usize>> = OnceLock::new();
    OWN.get_or_init(|| {
        let here = own as fn() -> std::ops::Range<usize> as usize;
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let part = |line: &str| {
            let (begin, rest) = line.split_once('-')?;
            let (end, _) = rest.split_once(' ')?;
            let number = |it| usize::from_str_radix(it, 16).ok();
            Some(number(begin)?..number(end)?)
        };
        let mut parts = text.lines().filter_map(part);
        parts.find(|it| it.contains(&here)).unwrap_or(0..0)
    })
    .clone()
}
