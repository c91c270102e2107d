//! Where a thread is: the addresses that its calls will return to.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

use crate::unwind::returns;

/// The addresses of the program's code that the calling thread is in, the innermost first, at most
/// that many. The frames of this library are not among them. None on a stack that is not the
/// thread's own, as fibers have: nobody knows how that ends, and the unwinder would follow what
/// stands there. Who looks from outside finds them ([`View::sample`](crate::View::sample)). Cost:
/// some ten microseconds, and of the first thread some hundred the first time.
pub fn frames(most: usize) -> Vec<u64> {
    if !is_on_own_stack() {
        return Vec::new();
    }
    let own = OWN.get();
    returns(most, |at| own.is_none_or(|own| !own.contains(&at)))
}

thread_local! {
    /// The stack of the thread, once it was asked for: of the first thread the C library reads that
    /// in the map of the process's memory, each time.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Whether the calling thread runs on the stack that it was given. Cost: some nanoseconds, but for
/// the first time, and on other stacks.
fn is_on_own_stack() -> bool {
    let here = 0_u8;
    let here = (&raw const here).addr();
    let (low, high) = STACK.try_with(Cell::get).unwrap_or_default();
    if (low..high).contains(&here) {
        return true;
    }
    let mut about = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: of this thread, and a place for what is told.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), about.as_mut_ptr()) } != 0 {
        return false;
    }
    let (mut low, mut len) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: they were filled, and are given back once.
    let told = unsafe {
        let told = libc::pthread_attr_getstack(about.as_ptr(), &raw mut low, &raw mut len);
        libc::pthread_attr_destroy(about.as_mut_ptr());
        told
    };
    let stack = (low.addr(), low.addr().saturating_add(len));
    if told != 0 || !(stack.0..stack.1).contains(&here) {
        return false;
    }
    _ = STACK.try_with(|it| it.set(stack));
    true
}

/// The addresses of this library, found when the process begins: to ask the loader later may have
/// to wait for a thread that loads something.
static OWN: OnceLock<Range<usize>> = OnceLock::new();

/// Finds out where this library lies.
pub(crate) fn begin() {
    OWN.get_or_init(own);
}

/// The addresses of the object that this code lies in.
fn own() -> std::ops::Range<usize> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let here = own as fn() -> std::ops::Range<usize> as *const c_void;
    // SAFETY: an address, and a place for what is told.
    if unsafe { libc::dladdr(here, info.as_mut_ptr()) } == 0 {
        return 0..0;
    }
    // SAFETY: it was filled.
    let base = unsafe { info.assume_init() }.dli_fbase as usize;
    // A program that contains the library has nothing else to tell.
    let mut all = Extent { base, end: base };
    // SAFETY: `object` and what it takes live as long as the call.
    unsafe { libc::dl_iterate_phdr(Some(object), (&raw mut all).cast()) };
    base..all.end
}

struct Extent {
    base: usize,
    end: usize,
}

unsafe extern "C" fn object(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: what `own` has given.
    let all = unsafe { &mut *data.cast::<Extent>() };
    // SAFETY: what the loader tells.
    let info = unsafe { &*info };
    // SAFETY: the headers of the object.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let loads = headers.iter().filter(|it| it.p_type == libc::PT_LOAD);
    let begins = loads
        .clone()
        .map(|it| info.dlpi_addr as usize + it.p_vaddr as usize)
        .min();
    if begins.is_none_or(|begins| begins / 4096 != all.base / 4096) {
        return 0;
    }
    let ends = loads.map(|it| (info.dlpi_addr + it.p_vaddr + it.p_memsz) as usize);
    all.end = ends.max().unwrap_or(all.base);
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_object_is_found_and_left_out() {
        begin();
        let own = own();
        let here = the_own_object_is_found_and_left_out as fn() as usize;
        assert!(own.contains(&here), "{own:x?} {here:x}");
        // All of a test is one object but for the C library that has begun it.
        assert!(frames(8).iter().all(|&at| !own.contains(&(at as usize))));
        assert!(!frames(8).is_empty());
        assert!(is_on_own_stack());
        let in_thread = std::thread::spawn(|| !frames(8).is_empty());
        assert!(in_thread.join().expect("it does not panic"));
    }
}
