//! The libfabric that has loaded this provider.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use crate::sys::{Info, Provider};

type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const Info,
    *mut *mut Info,
) -> c_int;
type DupInfo = unsafe extern "C" fn(*const Info) -> *mut Info;
type FreeInfo = unsafe extern "C" fn(*mut Info);
type Log =
    unsafe extern "C" fn(*const Provider, c_int, c_int, *const c_char, c_int, *const c_char, ...);
type LogEnabled = unsafe extern "C" fn(*const Provider, c_int, c_int) -> c_int;
type StrError = unsafe extern "C" fn(c_int) -> *const c_char;

/// What is called of it.
struct Host {
    /// Where it lies.
    base: usize,
    version: u32,
    getinfo: GetInfo,
    dupinfo: DupInfo,
    freeinfo: FreeInfo,
    log: Log,
    log_enabled: LogEnabled,
    strerror: StrError,
}

static HOST: OnceLock<Host> = OnceLock::new();

/// The provider, for the log.
static PROVIDER: OnceLock<usize> = OnceLock::new();

/// The oldest version that is supported: 1.17.
const OLDEST: u32 = 1 << 16 | 17;

/// The lowest level of the log, that of warnings.
const WARN: c_int = 0;
/// That of what may be of interest.
const INFO: c_int = 2;
/// Subsystems of the log.
pub const CORE: c_int = 0;
pub const DOMAIN: c_int = 2;
pub const EP: c_int = 3;
pub const VECTOR: c_int = 5;

/// Finds the library that `caller` is in; its version, if that is supported and no other library
/// has the provider, whose structures may be other ones. Takes none of libfabric's locks.
pub fn find(caller: *const c_void) -> Option<u32> {
    let mut about = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the structure is ours.
    if unsafe { libc::dladdr(caller, about.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: filled in, or zeros, which it may be.
    let about = unsafe { about.assume_init() };
    let base = about.dli_fbase as usize;
    if let Some(host) = HOST.get() {
        return (host.base == base).then_some(host.version);
    }
    // SAFETY: the name is the loader's and ends in 0.
    let handle = unsafe {
        let name = about.dli_fname;
        let found = libc::dlopen(name, libc::RTLD_NOW | libc::RTLD_NOLOAD);
        // A program that libfabric is linked into.
        match found.is_null() {
            true => libc::dlopen(std::ptr::null(), libc::RTLD_NOW),
            false => found,
        }
    };
    let symbol = |name: &CStr| {
        // SAFETY: an open library, and a name that ends in 0.
        let at = unsafe { libc::dlsym(handle, name.as_ptr()) };
        (!at.is_null()).then_some(at)
    };
    // SAFETY: the functions have these types, as the public headers say.
    let host = unsafe {
        let version: unsafe extern "C" fn() -> u32 = std::mem::transmute(symbol(c"fi_version")?);
        Host {
            base,
            version: version(),
            getinfo: std::mem::transmute::<*mut c_void, GetInfo>(symbol(c"fi_getinfo")?),
            dupinfo: std::mem::transmute::<*mut c_void, DupInfo>(symbol(c"fi_dupinfo")?),
            freeinfo: std::mem::transmute::<*mut c_void, FreeInfo>(symbol(c"fi_freeinfo")?),
            log: std::mem::transmute::<*mut c_void, Log>(symbol(c"fi_log")?),
            log_enabled: std::mem::transmute::<*mut c_void, LogEnabled>(symbol(c"fi_log_enabled")?),
            strerror: std::mem::transmute::<*mut c_void, StrError>(symbol(c"fi_strerror")?),
        }
    };
    let version = host.version;
    if version < OLDEST {
        return None;
    }
    let _ = HOST.set(host);
    Some(version)
}

fn host() -> &'static Host {
    HOST.get().expect("the provider was loaded by it")
}

/// From now on the log says that this provider says it.
pub fn set_provider(provider: *const Provider) {
    let _ = PROVIDER.set(provider as usize);
}

/// An empty offer, whose structures are as long as this libfabric has them; null without memory.
pub fn allocinfo() -> *mut Info {
    // SAFETY: null asks for an empty one.
    unsafe { (host().dupinfo)(std::ptr::null()) }
}

/// What all providers offer to one who asks so; null if nobody offers anything.
///
/// # Safety
/// Hints of this libfabric's.
pub unsafe fn getinfo(hints: *const Info) -> *mut Info {
    let (no, mut offers) = (std::ptr::null(), null_mut());
    // SAFETY: as promised; without a node and a service.
    let status = unsafe { (host().getinfo)(OLDEST, no, no, 0, hints, &raw mut offers) };
    match status {
        0 => offers,
        _ => null_mut(),
    }
}

/// A copy of an offer; null without memory.
///
/// # Safety
/// It comes from this libfabric.
pub unsafe fn dupinfo(info: *const Info) -> *mut Info {
    // SAFETY: as promised.
    unsafe { (host().dupinfo)(info) }
}

/// Frees an offer, and those that follow it.
///
/// # Safety
/// It comes from this libfabric.
pub unsafe fn freeinfo(info: *mut Info) {
    // SAFETY: as promised.
    unsafe { (host().freeinfo)(info) }
}

/// Words for an error number, positive.
pub fn strerror(error: c_int) -> *const c_char {
    // SAFETY: any number has a text.
    unsafe { (host().strerror)(error) }
}

/// Tells of something that went wrong: its cause and what to do.
pub fn warn(subsystem: c_int, text: &str) {
    log(WARN, subsystem, text);
}

/// Tells of something that may go on in good order.
pub fn inform(subsystem: c_int, text: &str) {
    log(INFO, subsystem, text);
}

fn log(level: c_int, subsystem: c_int, text: &str) {
    let (host, provider) = (host(), PROVIDER.get().map_or(0, |at| *at));
    let provider = provider as *const Provider;
    let Ok(text) = CString::new(text) else {
        return;
    };
    // SAFETY: the provider is static, and the texts end in 0.
    unsafe {
        if (host.log_enabled)(provider, level, subsystem) != 0 {
            let (from, format) = (c"linkx".as_ptr(), c"%s\n".as_ptr());
            (host.log)(provider, level, subsystem, from, 0, format, text.as_ptr());
        }
    }
}

/// A copy of a text on C's heap, which libfabric frees.
pub fn strdup(text: &str) -> *mut c_char {
    match CString::new(text) {
        // SAFETY: it ends in 0.
        Ok(text) => unsafe { libc::strdup(text.as_ptr()) },
        Err(_) => null_mut(),
    }
}

/// A text of C's; empty if there is none.
///
/// # Safety
/// Null, or it ends in 0 and stays.
pub unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    let text = unsafe { CStr::from_ptr(at) };
    text.to_string_lossy().into_owned()
}
