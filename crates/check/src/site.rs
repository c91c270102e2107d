//! Where in the program a call stands.
//!
//! Most calls come straight from the program: then the address that the call returns to is all that
//! is kept of them. Others come through a library: that of Fortran, one with another MPI's ABI, or
//! what connects Python to MPI. There the addresses above are kept as well, and the line of Python.

use std::ffi::{CStr, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::call::Call;

/// Most addresses that are kept of a call through a library.
const KEPT: usize = 8;

/// Most addresses of the call that something is told of.
const TOLD: usize = 32;

/// A call that something may be told of later.
#[derive(Clone, Debug)]
pub struct Site {
    pub call: &'static str,
    frames: Frames,
}

#[derive(Clone, Debug)]
enum Frames {
    One(u64),
    Many(Box<(Vec<u64>, String)>),
}

impl Site {
    /// That of a call which is under way, and returns to `caller`. Cost: some nanoseconds, or some
    /// microseconds if it comes through a library.
    pub fn new(call: &'static Call, caller: usize) -> Site {
        let frames = match is_direct(caller) {
            true => Frames::One(caller as u64),
            false => Frames::many(KEPT),
        };
        Site {
            call: name(call, caller),
            frames,
        }
    }

    /// That of a call which is under way, with all that is above it.
    pub fn in_full(call: &'static str) -> Site {
        Site {
            call,
            frames: Frames::many(TOLD),
        }
    }

    /// That of a call of which nothing is told.
    pub fn unknown(call: &'static str) -> Site {
        Site {
            call,
            frames: Frames::One(0),
        }
    }

    /// The addresses that its calls return to, the innermost first.
    pub fn frames(&self) -> &[u64] {
        match &self.frames {
            Frames::One(caller) => std::slice::from_ref(caller),
            Frames::Many(many) => &many.0,
        }
    }

    /// The line of Python, in words, or nothing.
    pub fn python(&self) -> &str {
        match &self.frames {
            Frames::One(_) => "",
            Frames::Many(many) => &many.1,
        }
    }

    /// What tells it apart from others: the function and the nearest addresses.
    pub fn key(&self) -> (&'static str, u64, u64) {
        let sum = |frames: &[u64]| {
            let add = |sum: u64, &at: &u64| sum.rotate_left(7).wrapping_add(at);
            frames.iter().take(KEPT).fold(0, add)
        };
        let python = self.python().bytes().fold(0, |sum: u64, byte| {
            sum.rotate_left(5).wrapping_add(byte.into())
        });
        (self.call, sum(self.frames()), python)
    }
}

impl Frames {
    fn many(most: usize) -> Frames {
        // An interpreter is there before it calls MPI.
        static LOOK: Once = Once::new();
        LOOK.call_once(catena_trace::find_python);
        let own = own();
        let mut frames = catena_trace::frames(most + 8);
        frames.retain(|&at| !own.contains(&(at as usize)));
        frames.truncate(most);
        Frames::Many(Box::new((frames, catena_trace::python())))
    }
}

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

/// What the program calls a function that returns to `caller`: a library for another language has
/// one name for the function with counts of any size.
pub fn name(call: &'static Call, caller: usize) -> &'static str {
    let short = call.name.strip_suffix("_c");
    match short.filter(|_| !is_direct(caller)) {
        Some(short) => short,
        None => call.name,
    }
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
