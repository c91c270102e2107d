//! The functions of the C library by which memory comes and goes.
//!
//! A block that is given back is reported only if it holds all of a buffer in use, from its first
//! to its last byte: where a type leads from one block of memory to another, what lies between them
//! belongs to others.
//!
//! Each function calls the next one of its name. While that is looked up, the loader may allocate
//! and free itself: then a small piece of memory serves, which nobody gives back.

use std::ffi::{c_int, c_void};

use crate::behind::next;
use crate::guard::{Inside, is_inside};
use crate::requests::{self, Met};
use crate::tell::{Finding, Kind};
use crate::{heap, maps, site::Site, windows};

/// Memory for the loader while it looks for `malloc`.
mod first {
    use std::cell::UnsafeCell;
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    const SIZE: usize = 16 << 10;

    #[repr(align(16))]
    struct Memory(UnsafeCell<[u8; SIZE]>);

    // SAFETY: each part is given out once.
    unsafe impl Sync for Memory {}

    static MEMORY: Memory = Memory(UnsafeCell::new([0; SIZE]));
    static USED: AtomicUsize = AtomicUsize::new(0);

    /// A new part, all zeros; null if there is no more.
    pub fn new(len: usize) -> *mut c_void {
        let len = len.next_multiple_of(16);
        let at = USED.fetch_add(len, Relaxed);
        if at + len > SIZE {
            return std::ptr::null_mut();
        }
        // SAFETY: it lies in the memory.
        unsafe { MEMORY.0.get().cast::<u8>().add(at).cast() }
    }

    /// Bytes from a part's first one to the end of the memory.
    pub fn rest(block: *mut c_void) -> usize {
        MEMORY.0.get().addr() + SIZE - block.addr()
    }

    pub fn has(block: *mut c_void) -> bool {
        let first = MEMORY.0.get().addr();
        (first..first + SIZE).contains(&block.addr())
    }
}

fn noted(block: *mut c_void) -> *mut c_void {
    if !block.is_null() && !is_inside() {
        // SAFETY: a block that the C library has just given.
        heap::add(block.addr(), unsafe { libc::malloc_usable_size(block) });
    }
    block
}

/// What is wrong with giving a block back. It is looked for as long as the block is the program's:
/// once the C library has it, another thread may have the memory, and use it rightly.
struct Wrong {
    what: &'static str,
    block: usize,
    len: usize,
    /// A pending operation that uses it.
    met: Option<Met>,
    /// A window that shows it.
    window: Option<Finding>,
}

impl Wrong {
    /// Looks at a block that may be about to be given back.
    fn of(what: &'static str, block: usize, len: usize) -> Option<Wrong> {
        let is_idle = is_inside() || (requests::is_idle() && windows::is_idle());
        match is_idle {
            true => None,
            false => Wrong::look(what, block, len),
        }
    }

    #[cold]
    #[inline(never)]
    fn look(what: &'static str, block: usize, len: usize) -> Option<Wrong> {
        let _inside = Inside::enter();
        let met = requests::within(block, len);
        let window = match met {
            Some(_) => None,
            None => windows::given_back(what, block, len),
        };
        let is_wrong = met.is_some() || window.is_some();
        is_wrong.then_some(Wrong {
            what,
            block,
            len,
            met,
            window,
        })
    }

    /// The block is given back: tells it, and ends the process where others would use the memory.
    #[cold]
    #[inline(never)]
    fn tell(self) {
        let _inside = Inside::enter();
        if let Some(finding) = self.window {
            finding.tell();
        }
        let Some(met) = self.met else {
            return;
        };
        let text = format!(
            "{} bytes at {:#x} are given back, in which the buffer {} of a pending {} lies ({} \
             bytes at {:#x})",
            self.len,
            self.block,
            met.arg,
            met.site.call,
            met.piece.len(),
            met.piece.first,
        );
        let finding = Finding::error(Kind::Freed, Site::in_full(self.what), text);
        let finding = finding.besides("the request was made by", &met.site);
        finding
            .remedy("complete the request first, as by MPI_Wait; until then its buffer must stay")
            .tell();
        // What comes next would go to memory of somebody else, or come from there.
        std::process::abort();
    }
}

/// Has the tool look at a block that is given back now.
fn given_back(what: &'static str, block: usize, len: usize) {
    if let Some(wrong) = Wrong::of(what, block, len) {
        wrong.tell();
    }
}

// SAFETY: the C library's functions, which programs may replace.
#[unsafe(no_mangle)]
extern "C" fn malloc(len: usize) -> *mut c_void {
    match next!(c"malloc", fn(usize) -> *mut c_void) {
        // SAFETY: as the program has called it.
        Some(next) => noted(unsafe { next(len) }),
        None => first::new(len),
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, len: usize) -> *mut c_void {
    match next!(c"calloc", fn(usize, usize) -> *mut c_void) {
        // SAFETY: as the program has called it.
        Some(next) => noted(unsafe { next(count, len) }),
        None => first::new(count.saturating_mul(len)),
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn realloc(block: *mut c_void, len: usize) -> *mut c_void {
    if first::has(block) {
        let new = malloc(len);
        if !new.is_null() {
            let len = len.min(first::rest(block));
            // SAFETY: what is read lies in the first memory.
            unsafe { std::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), len) };
        }
        return new;
    }
    let Some(next) = next!(c"realloc", fn(*mut c_void, usize) -> *mut c_void) else {
        return first::new(len);
    };
    let was = block.addr();
    let had = size_of_block(block);
    let mut wrong = None;
    if had > 0 && !is_inside() {
        wrong = Wrong::of("realloc", was, had);
        heap::remove(was, had);
    }
    // SAFETY: as the program has called it.
    let moved = unsafe { next(block, len) };
    if moved.is_null() && len > 0 {
        // The block is as it was.
        noted(block);
        return moved;
    }
    match wrong {
        Some(wrong) if moved.addr() != was => wrong.tell(),
        Some(wrong) => {
            let _inside = Inside::enter();
            drop(wrong);
        }
        None => {}
    }
    noted(moved)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn reallocarray(block: *mut c_void, count: usize, len: usize) -> *mut c_void {
    match count.checked_mul(len) {
        Some(len) => realloc(block, len),
        None => std::ptr::null_mut(),
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn free(block: *mut c_void) {
    if block.is_null() || first::has(block) {
        return;
    }
    if !is_inside() {
        let len = size_of_block(block);
        given_back("free", block.addr(), len);
        heap::remove(block.addr(), len);
    }
    if let Some(next) = next!(c"free", fn(*mut c_void) -> ()) {
        // SAFETY: as the program has called it.
        unsafe { next(block) };
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(align: usize, len: usize) -> *mut c_void {
    let next = next!(c"aligned_alloc", fn(usize, usize) -> *mut c_void);
    match next {
        // SAFETY: as the program has called it.
        Some(next) => noted(unsafe { next(align, len) }),
        None => std::ptr::null_mut(),
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn memalign(align: usize, len: usize) -> *mut c_void {
    let next = next!(c"memalign", fn(usize, usize) -> *mut c_void);
    match next {
        // SAFETY: as the program has called it.
        Some(next) => noted(unsafe { next(align, len) }),
        None => std::ptr::null_mut(),
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, len: usize) -> c_int {
    let next = next!(
        c"posix_memalign",
        fn(*mut *mut c_void, usize, usize) -> c_int
    );
    let Some(next) = next else {
        return libc::ENOMEM;
    };
    // SAFETY: as the program has called it; a place of an address, if it succeeds.
    unsafe {
        let code = next(to, align, len);
        if code == 0 {
            noted(*to);
        }
        code
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn munmap(block: *mut c_void, len: usize) -> c_int {
    given_back("munmap", block.addr(), len);
    maps::changed();
    match next!(c"munmap", fn(*mut c_void, usize) -> c_int) {
        // SAFETY: as the program has called it.
        Some(next) => unsafe { next(block, len) },
        None => -1,
    }
}

fn size_of_block(block: *mut c_void) -> usize {
    // SAFETY: a block of the C library, or null.
    unsafe { libc::malloc_usable_size(block) }
}

/// What libmpifort_abi tells of a section that it has copied.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_check_section(
    request: catena_abi::Request,
    copy: usize,
    size: usize,
    section: usize,
    len: usize,
) {
    let _inside = Inside::enter();
    requests::section(request, copy, size, section, len);
}
