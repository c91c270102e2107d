//! The objects whose addresses are the predefined handles.
//!
//! A program that is not position-independent has copies of them in its own memory, and the
//! loader makes all libraries use these; so an object begins with the handle of Catena that it
//! stands for, which is copied with it, and has the size that Open MPI's public header gives it.
//! Whether an address is that of an object is seen before it is followed: it must lie between the
//! first and the last object of the program or of this library, and have a mark behind it. That of
//! an object of the program, or of this library if the program has none, takes two comparisons.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Any handle with this bit means nothing to Catena.
pub(crate) const MEANINGLESS: usize = 1 << 31;

/// What stands behind the handle of an object, in 32 bits, which an instruction compares by itself.
const MARK: u32 = 0x6174_63c7;

/// An object of `SIZE` words.
#[repr(C, align(64))]
pub(crate) struct Object<const SIZE: usize> {
    head: Head,
    rest: [usize; SIZE],
}

/// What an object begins with.
#[repr(C)]
struct Head {
    handle: u32,
    mark: u32,
}

impl<const SIZE: usize> Object<SIZE> {
    const fn new(handle: usize) -> Self {
        assert!(handle <= u32::MAX as usize);
        let handle = handle as u32;
        let head = Head { handle, mark: MARK };
        Object {
            head,
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

/// Addresses from the first object of a file to the last. [`start`] stores them before anything
/// else runs here, so they are no atomics, which the compiler would load one by one.
struct Range {
    first: Cell<usize>,
    /// Bytes to the last; an object is there only if the first is not the last address of all.
    to_last: Cell<usize>,
}

// SAFETY: nothing is stored in it after the loader has called `start`, which it does once, before
// other code.
unsafe impl Sync for Range {}

impl Range {
    const fn new() -> Self {
        Range {
            first: Cell::new(usize::MAX),
            to_last: Cell::new(0),
        }
    }

    /// The handle of Catena that an object of this file at that address stands for.
    #[inline(always)]
    fn handle_at(&self, address: usize) -> Option<usize> {
        if address.wrapping_sub(self.first.get()) > self.to_last.get() {
            return None;
        }
        let head = address as *const Head;
        // SAFETY: it lies between the beginnings of two objects of one file, all of whose memory
        // can be read, and each is longer than what is read.
        let Head { handle, mark } = unsafe { head.read_unaligned() };
        (mark == MARK).then_some(handle as usize)
    }

    fn include(&self, address: usize) {
        let (first, to_last) = (self.first.get(), self.to_last.get());
        let (low, high) = match first {
            usize::MAX => (address, address),
            _ => (first.min(address), (first + to_last).max(address)),
        };
        self.first.set(low);
        self.to_last.set(high - low);
    }
}

/// Those that the program has copies of, or ours if it has none.
static USUAL: Range = Range::new();
/// Those of this library.
static OURS: Range = Range::new();

/// The handle of Catena that the object at an address stands for, if it is one that the program
/// has.
#[inline(always)]
pub(crate) fn usual_handle_at(address: usize) -> Option<usize> {
    USUAL.handle_at(address)
}

/// The handle of Catena that any object at an address stands for. An address that is no object's
/// becomes a handle that means nothing.
#[inline(always)]
pub(crate) fn handle_at(address: usize) -> usize {
    OURS.handle_at(address).unwrap_or(address | MEANINGLESS)
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
        let range = if ours { &OURS } else { &USUAL };
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
    if USUAL.first.get() == usize::MAX {
        USUAL.first.set(OURS.first.get());
        USUAL.to_last.set(OURS.to_last.get());
    }
}

// SAFETY: the loader calls what is listed there once, before other code of the library.
#[unsafe(link_section = ".init_array")]
#[used]
static START: extern "C" fn() = start;
