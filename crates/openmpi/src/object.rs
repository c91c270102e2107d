//! The objects whose addresses are the predefined handles.
//!
//! A program that is not position-independent has copies of them in its own memory, and the
//! loader makes all libraries use these; so an object begins with the handle of Catena that it
//! stands for, which is copied with it, and has the size that Open MPI's public header gives it.
//! Whether an address is that of an object is seen before it is followed: it must lie between the
//! first and the last object of this library or of the program, and have a mark behind it.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Any handle with this bit means nothing to Catena.
pub(crate) const MEANINGLESS: usize = 1 << 31;

/// What stands behind the handle of an object.
const MARK: usize = 0x0061_6e65_7461_63c7;

/// An object of `SIZE` words.
#[repr(C, align(64))]
pub(crate) struct Object<const SIZE: usize> {
    handle: usize,
    mark: usize,
    rest: [usize; SIZE],
}

impl<const SIZE: usize> Object<SIZE> {
    const fn new(handle: usize) -> Self {
        Object {
            handle,
            mark: MARK,
            rest: [0; SIZE],
        }
    }
}

/// An object in the table of its type.
pub(crate) struct Entry {
    /// The handle of Catena that it stands for.
    pub(crate) handle: usize,
    /// What it is in Fortran.
    pub(crate) integer: i32,
    place: *const usize,
}

// SAFETY: what it points to does not change.
unsafe impl Sync for Entry {}

impl Entry {
    const fn new(handle: usize, integer: i32, place: *const usize) -> Self {
        Entry {
            handle,
            integer,
            place,
        }
    }

    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.place.addr()
    }
}

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// Addresses from the first object of a file to the last.
struct Range {
    first: AtomicUsize,
    /// Bytes to the last; objects are there only if the first is not 0.
    to_last: AtomicUsize,
}

impl Range {
    const fn new() -> Self {
        Range {
            first: AtomicUsize::new(usize::MAX),
            to_last: AtomicUsize::new(0),
        }
    }

    #[inline]
    fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.first.load(Relaxed)) <= self.to_last.load(Relaxed)
    }

    fn include(&self, address: usize) {
        let (first, to_last) = (self.first.load(Relaxed), self.to_last.load(Relaxed));
        let (low, high) = match first {
            usize::MAX => (address, address),
            _ => (first.min(address), (first + to_last).max(address)),
        };
        self.first.store(low, Relaxed);
        self.to_last.store(high - low, Relaxed);
    }
}

/// Those of this library.
static OURS: Range = Range::new();
/// Those that the program has copies of.
static PROGRAMS: Range = Range::new();

/// The handle of Catena that the object at an address stands for. One that is no object's
/// becomes a handle that means nothing.
#[inline]
pub(crate) fn handle_at(address: usize) -> usize {
    if PROGRAMS.contains(address) || OURS.contains(address) {
        let object = address as *const usize;
        // SAFETY: it lies between the beginnings of two objects of one file, all of whose memory
        // can be read, and each is longer than what is read.
        unsafe {
            if object.add(1).read_unaligned() == MARK {
                return object.read_unaligned();
            }
        }
    }
    address | MEANINGLESS
}

/// The address of the object that stands for a predefined handle.
pub(crate) fn address_of(table: &[Entry], handle: usize) -> usize {
    match table.iter().find(|entry| entry.handle == handle) {
        Some(entry) => entry.address(),
        None => handle | MEANINGLESS,
    }
}

/// What the loader says of a file: a number that counts them, and what is looked for.
struct Search {
    files: usize,
}

/// Sorts the objects by the file that they lie in.
extern "C" fn look(info: *mut libc::dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader passes what it promises, and what `start` gave it.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    let is_program = search.files == 0;
    search.files += 1;
    let holds = |address: usize| {
        (0..info.dlpi_phnum as usize).any(|i| {
            // SAFETY: there are as many headers.
            let header = unsafe { &*info.dlpi_phdr.add(i) };
            let begin = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            header.p_type == libc::PT_LOAD && address.wrapping_sub(begin) < header.p_memsz as usize
        })
    };
    let ours = holds((&raw const OURS).addr());
    if is_program || ours {
        let range = if ours { &OURS } else { &PROGRAMS };
        for address in objects().filter(|&a| holds(a)) {
            range.include(address);
        }
    }
    0
}

/// Finds the objects before anything calls the library.
extern "C" fn start() {
    let mut search = Search { files: 0 };
    // SAFETY: `look` expects such a search, and lives as long as the call.
    unsafe { libc::dl_iterate_phdr(Some(look), ptr::from_mut(&mut search).cast()) };
}

// SAFETY: the loader calls what is listed there once, before other code of the library.
#[unsafe(link_section = ".init_array")]
#[used]
static START: extern "C" fn() = start;
