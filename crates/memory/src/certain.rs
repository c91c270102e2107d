//! Host memory that is known as such without asking a device's driver.
//!
//! A driver gives its memory addresses that nothing else of the process has. So an address is the
//! host's as long as something else is surely there, and these are there for good or can be looked
//! at:
//!
//! * what the program's file has as its data, which stays mapped,
//! * its heap between the first break and the present one, which the C library keeps in a variable,
//! * the stack of the main thread as far as it was seen to reach: it grows, and does not shrink,
//! * the stack of the thread that asks.
//!
//! Nothing is said of other memory, such as what is mapped for a long array: it may be unmapped
//! and become a device's without anybody's notice. Its device is asked, each time.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fs;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// Where it is. All are plain loads for [`has`], and 0 as long as nothing is known.
#[repr(align(64))]
struct Places {
    /// The heap begins here, and the word behind the pointer says where it ends.
    heap: AtomicUsize,
    heap_end: AtomicPtr<AtomicUsize>,
    /// The stack of the main thread, as far as it was found.
    stack: AtomicUsize,
    stack_end: AtomicUsize,
    /// The data of the program's file: begin and length.
    data: AtomicUsize,
    data_len: AtomicUsize,
}

/// Of a heap that is not known.
static NO_END: AtomicUsize = AtomicUsize::new(0);

static PLACES: Places = Places {
    heap: AtomicUsize::new(0),
    heap_end: AtomicPtr::new(ptr::from_ref(&NO_END).cast_mut()),
    stack: AtomicUsize::new(0),
    stack_end: AtomicUsize::new(0),
    data: AtomicUsize::new(0),
    data_len: AtomicUsize::new(0),
};

/// How often the stack of the main thread was looked for where it is not. After as many as
/// [`PATIENCE`] nobody looks again: the main thread uses stacks of its own.
static MISSES: AtomicUsize = AtomicUsize::new(0);
const PATIENCE: usize = 16;

/// [`STACK`] of the main thread.
const MAIN: (usize, usize) = (1, 1);
/// [`STACK`] of a thread whose stack is not known.
const UNKNOWN: (usize, usize) = (2, 2);

thread_local! {
    /// Begin and end of the stack with which this thread was started; both are 0 before it was
    /// looked at.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Whether the address is surely in host memory, by what takes a few instructions. No says nothing.
#[inline(always)]
pub(crate) fn has(at: *const u8) -> bool {
    let (at, places) = (at.addr(), &PLACES);
    // SAFETY: a static variable, of this crate or of the C library.
    let heap_end = unsafe { &*places.heap_end.load(Relaxed) }.load(Relaxed);
    let in_heap = (at >= places.heap.load(Relaxed)) & (at < heap_end);
    let in_stack = (at >= places.stack.load(Relaxed)) & (at < places.stack_end.load(Relaxed));
    let in_data = at.wrapping_sub(places.data.load(Relaxed)) < places.data_len.load(Relaxed);
    in_heap | in_stack | in_data
}

/// What [`has`] does not find: whether the address is on the stack of this thread. What of the main
/// thread's stack is found here `has` finds from then on.
#[cold]
pub(crate) fn has_closely(at: *const u8) -> bool {
    let own = match STACK.try_with(Cell::get).unwrap_or(UNKNOWN) {
        (0, 0) => {
            let own = own_stack();
            _ = STACK.try_with(|it| it.set(own));
            own
        }
        known => known,
    };
    if own != MAIN {
        return (own.0..own.1).contains(&at.addr());
    }
    let here = 0u8;
    let known = PLACES.stack.load(Relaxed);
    let is_below = ((&raw const here).addr()..known).contains(&at.addr());
    if !is_below || MISSES.load(Relaxed) >= PATIENCE {
        return false;
    }
    // The stack has grown, unless this is another one.
    if let Some(stack) = stack_of(&fs::read_to_string("/proc/self/maps").unwrap_or_default())
        && stack.contains(&known)
    {
        PLACES.stack.store(stack.start, Relaxed);
    }
    let is_found = has(at);
    if !is_found {
        MISSES.fetch_add(1, Relaxed);
    }
    is_found
}

/// The mapping of the main thread's stack, of `/proc/self/maps`.
fn stack_of(maps: &str) -> Option<Range<usize>> {
    let line = maps.lines().find(|line| line.ends_with(" [stack]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some(number(start)?..number(end)?)
}

/// See [`STACK`].
#[cold]
fn own_stack() -> (usize, usize) {
    // SAFETY: no arguments.
    if unsafe { libc::gettid() == libc::getpid() } {
        return MAIN;
    }
    started_with().map_or(UNKNOWN, |stack| (stack.start, stack.end))
}

/// The stack with which this thread was started.
fn started_with() -> Option<Range<usize>> {
    let mut about = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut begin, mut len) = (ptr::null_mut::<c_void>(), 0);
    // SAFETY: room for what is asked for, which is given back.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), about.as_mut_ptr()) != 0 {
            return None;
        }
        let code = libc::pthread_attr_getstack(about.as_ptr(), &mut begin, &mut len);
        libc::pthread_attr_destroy(about.as_mut_ptr());
        (code == 0).then_some(begin.addr()..begin.addr() + len)
    }
}

/// Looks at where this process has its memory, once.
pub(crate) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let read = |name: &str| fs::read_to_string(name).unwrap_or_default();
        if let Some(stack) = stack_of(&read("/proc/self/maps")) {
            PLACES.stack.store(stack.start, Relaxed);
            PLACES.stack_end.store(stack.end, Relaxed);
        }
        // SAFETY: a name that ends in 0.
        let end = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__curbrk".as_ptr()) };
        if let Some(begin) = first_break(&read("/proc/self/stat")).filter(|_| !end.is_null()) {
            PLACES.heap.store(begin, Relaxed);
            PLACES.heap_end.store(end.cast(), Relaxed);
        }
        let mut data = 0..0;
        // SAFETY: `data_of_program` takes what is passed.
        unsafe { libc::dl_iterate_phdr(Some(data_of_program), (&raw mut data).cast()) };
        PLACES.data.store(data.start, Relaxed);
        PLACES.data_len.store(data.len(), Relaxed);
    });
}

/// Where the heap begins, of `/proc/self/stat`.
fn first_break(stat: &str) -> Option<usize> {
    /// The number of the field, the first of which is 1.
    const FIELD: usize = 47;
    // The second field is the name of the program, which may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let at: usize = fields.nth(FIELD - 3)?.parse().ok()?;
    (at != 0).then_some(at)
}

/// The range of the last of the segments that can be written, in front of which linkers put what
/// only they write, of the first object, which is the program.
unsafe extern "C" fn data_of_program(
    about: *mut libc::dl_phdr_info,
    _: usize,
    to: *mut c_void,
) -> c_int {
    // SAFETY: what the loader passes, and the range of the caller.
    unsafe {
        let about = &*about;
        let segments = std::slice::from_raw_parts(about.dlpi_phdr, about.dlpi_phnum.into());
        let is_data =
            |it: &&libc::Elf64_Phdr| it.p_type == libc::PT_LOAD && it.p_flags & libc::PF_W != 0;
        if let Some(data) = segments.iter().rfind(is_data) {
            let start = (about.dlpi_addr + data.p_vaddr) as usize;
            *to.cast::<Range<usize>>() = start..start + data.p_memsz as usize;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    unsafe extern "C" {
        fn sbrk(more: isize) -> *mut c_void;
    }

    #[test]
    fn stacks_heap_and_data_are_known_and_mapped_memory_is_not() {
        static DATA: AtomicUsize = AtomicUsize::new(1);
        start();
        assert!(has((&raw const DATA).cast()), "data of the program");
        let local = black_box([7u8; 64]);
        assert!(has_closely(local.as_ptr()), "a stack of its own");
        // SAFETY: memory of this test, which it unmaps; and a look at the break.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let mapped = libc::mmap(ptr::null_mut(), 8192, access, flags, -1, 0);
            assert_ne!(mapped, libc::MAP_FAILED);
            assert!(!has(mapped.cast()) && !has_closely(mapped.cast()));
            libc::munmap(mapped, 8192);
            let at_break = sbrk(0).cast::<u8>();
            assert!(!has(at_break) && !has_closely(at_break));
            let longer = sbrk(4096);
            if longer.addr() != usize::MAX {
                assert!(has(longer.cast()), "the heap");
            }
        }
        assert!(!has(ptr::null()) && !has_closely(ptr::null()));
        assert!(!has(ptr::without_provenance(1 << 62)));
    }

    #[test]
    fn a_thread_knows_its_own_stack_alone() {
        start();
        let local = black_box([7u8; 64]);
        let at = local.as_ptr().addr();
        let other = std::thread::spawn(move || has_closely(ptr::without_provenance(at)));
        assert!(!other.join().expect("no panic"));
        assert!(has_closely(local.as_ptr()));
    }

    #[test]
    fn what_the_kernel_tells_is_read_or_not_at_all() {
        let fields: Vec<String> = (3..53).map(|field| (field * 10).to_string()).collect();
        let stat = format!("77 (a) 9 (b c)) {}\n", fields.join(" "));
        assert_eq!(first_break(&stat), Some(470));
        assert_eq!(first_break("77 (a) S 1 2"), None);
        assert_eq!(first_break(""), None);
        let maps =
            "10-20 rw-p 00000000 00:00 0    [heap]\nf0-1f0 rw-p 00000000 00:00 0   [stack]\n";
        assert_eq!(stack_of(maps), Some(0xf0..0x1f0));
        assert_eq!(stack_of("f0 rw-p 00000000 00:00 0   [stack]\n"), None);
        assert_eq!(stack_of(""), None);
    }

    /// The harness runs tests in threads, so this is told of addresses.
    #[test]
    fn the_stack_of_the_main_thread_is_what_the_kernel_says() {
        start();
        let stack = stack_of(&fs::read_to_string("/proc/self/maps").expect("there is /proc"));
        let stack = stack.expect("a stack");
        assert!(has(ptr::without_provenance(stack.end - 1)));
        assert!(!has(ptr::without_provenance(stack.end)));
        let lowest = PLACES.stack.load(Relaxed);
        assert!(stack.contains(&lowest) && !has(ptr::without_provenance(lowest - 1)));
    }
}
