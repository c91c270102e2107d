//! The functions behind those of a tool.
//!
//! A program calls `MPI_Send` of the library that it was built for. A library with the ABI of MPICH
//! or Open MPI calls `catena_MPI_Send` of Catena's own, with arguments in the standard's ABI. The
//! tool stands before both, and looks at those calls alone whose arguments are the standard's. The
//! functions are looked up when they are first called: an interpreter may load the library itself
//! later.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

use crate::call::{Args, CALLS, MOST};

/// What a function behind is called with. All arguments are integers and addresses, each of which
/// the C ABIs of 64-bit Linux put in a register or a slot of its own, where those that a function
/// does not have do no harm.
type Function = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> c_int;

/// Which kind of caller an MPI call comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum From {
    /// A program, by `MPI_Send`.
    Program,
    /// A library with another ABI, by `catena_MPI_Send`.
    Layer,
    /// A program or a tool, by `PMPI_Send`.
    Profiled,
}

/// A function behind.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    address: usize,
    /// Whether it has the standard's ABI.
    pub is_standard: bool,
}

/// Marks a function of another ABI. Functions lie below it.
const FOREIGN: usize = 1 << 63;

/// By who has called and the function's number: its address, with [`FOREIGN`] if it has another
/// ABI.
static KNOWN: [[AtomicUsize; CALLS.len()]; 3] =
    [const { [const { AtomicUsize::new(0) }; CALLS.len()] }; 3];

impl Next {
    /// The function behind the one of that number; `None` if there is none. The first time it asks
    /// the loader, which may allocate.
    #[inline]
    pub fn of(number: u16, from: From) -> Option<Next> {
        let known = &KNOWN[from as usize][usize::from(number)];
        let found = match known.load(Relaxed) {
            0 => Next::look(number, from, known)?,
            found => found,
        };
        Some(Next {
            address: found & !FOREIGN,
            is_standard: found & FOREIGN == 0,
        })
    }

    #[cold]
    fn look(number: u16, from: From, known: &AtomicUsize) -> Option<usize> {
        let name = CALLS[usize::from(number)].name;
        let found = match from {
            From::Program => {
                // Another tool may stand between this one and the library.
                let address = find(name)?;
                match is_standard(find(&format!("P{name}"))?) {
                    true => address,
                    false => address | FOREIGN,
                }
            }
            From::Layer => find(&format!("catena_{name}"))?,
            From::Profiled => {
                let address = find(&format!("P{name}"))?;
                match is_standard(address) {
                    true => address,
                    false => address | FOREIGN,
                }
            }
        };
        known.store(found, Relaxed);
        Some(found)
    }

    /// Calls it with the arguments as they are.
    pub fn call(self, args: &Args) -> c_int {
        self.call_with(args.words())
    }

    /// Calls it with these words.
    pub fn call_with(self, w: &[usize; MOST]) -> c_int {
        // SAFETY: the function has the prototype of the table, and `w` what the caller has given.
        unsafe {
            let function = std::mem::transmute::<usize, Function>(self.address);
            function(
                w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
            )
        }
    }
}

/// A function whose arguments are all in registers, as far as they are in [`Few`].
type Short = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> c_int;

/// The first arguments of a call, which registers hold on all machines.
pub type Few = [usize; 6];

impl Next {
    /// Calls it with these words, for a function that has no more arguments.
    #[inline]
    pub fn call_few(self, w: &Few) -> c_int {
        // SAFETY: as in `call_with`; what a function does not have is not looked at.
        unsafe {
            let function = std::mem::transmute::<usize, Short>(self.address);
            function(w[0], w[1], w[2], w[3], w[4], w[5])
        }
    }
}

/// Libraries of MPI, those first that stand upon others.
const LIBRARIES: [&CStr; 3] = [c"libmpi.so.12", c"libmpi.so.40", c"libmpi_abi.so.1"];

/// The address of a function behind this library.
fn find(name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    // SAFETY: a name that ends.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !found.is_null() {
        return Some(found.addr());
    }
    // What an interpreter loads is not known to all.
    LIBRARIES.iter().find_map(|library| {
        // SAFETY: names that end; only what is loaded is opened.
        let found = unsafe {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() {
                return None;
            }
            libc::dlsym(library, name.as_ptr())
        };
        (!found.is_null()).then_some(found.addr())
    })
}

/// Whether a function is one of a library with the standard's ABI.
fn is_standard(address: usize) -> bool {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address, and a place for what is told.
    unsafe {
        if libc::dladdr(address as *const c_void, info.as_mut_ptr()) == 0 {
            return false;
        }
        let name = info.assume_init().dli_fname;
        !name.is_null()
            && CStr::from_ptr(name)
                .to_bytes()
                .windows(7)
                .any(|it| it == b"mpi_abi")
    }
}

/// Whether a function of the library is looked up under Catena's own name: 0 if that is not known.
static OWN: AtomicU8 = AtomicU8::new(0);

/// A function of the library with the standard's ABI, for the tool itself, and where it is kept
/// once it was found.
#[derive(Debug)]
pub struct Known {
    name: &'static str,
    address: AtomicUsize,
}

impl Known {
    /// That of this name, as in `Type_size`.
    pub const fn new(name: &'static str) -> Known {
        Known {
            name,
            address: AtomicUsize::new(0),
        }
    }

    /// Its address; `None` if the process has no such library.
    pub fn address(&self) -> Option<usize> {
        match self.address.load(Relaxed) {
            0 => self.look(),
            found => Some(found),
        }
    }

    #[cold]
    fn look(&self) -> Option<usize> {
        let own = || find(&format!("catena_MPI_{}", self.name));
        let other = || find(&format!("PMPI_{}", self.name)).filter(|&it| is_standard(it));
        let found = match OWN.load(Relaxed) {
            1 => own()?,
            _ => match own() {
                Some(found) => {
                    OWN.store(1, Relaxed);
                    found
                }
                None => other()?,
            },
        };
        self.address.store(found, Relaxed);
        Some(found)
    }
}
