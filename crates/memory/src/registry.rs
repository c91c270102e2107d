//! The devices that are known, and whose memory an address is.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use catena_loader::Watch;

use crate::certain;
use crate::device::Device;
use crate::kinds::{Kind, Kinds, Unsupported};
use crate::ranges::Ranges;

/// All devices, one of each kind at most, of which none is ever taken away again.
static DEVICES: RwLock<Vec<&'static dyn Device>> = RwLock::new(Vec::new());

/// Memory of devices that was asked for.
pub(crate) static RANGES: Ranges = Ranges::new();

/// Whether [`DEVICES`] is empty.
static HOST_ONLY: AtomicBool = AtomicBool::new(true);

/// Words for [`QUIET`]: that of a process without devices, and that of one where a device may have
/// memory.
static NOTHING: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static SOMETHING: AtomicPtr<c_void> = AtomicPtr::new(ptr::dangling_mut());

/// A word that is null as long as no device has any memory: a device without a driver has none, and
/// the dynamic loader's word says whether one may have been loaded since.
static QUIET: AtomicPtr<AtomicPtr<c_void>> = AtomicPtr::new(ptr::from_ref(&NOTHING).cast_mut());

/// Makes the memory of a device known, for the rest of the process.
///
/// The library looks at [`is_host_only`] when it comes up, so devices are registered
/// before that.
pub fn register(device: &'static dyn Device) {
    certain::start();
    let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
    devices.push(device);
    QUIET.store(ptr::from_ref(&SOMETHING).cast_mut(), Ordering::Release);
    HOST_ONLY.store(false, Ordering::Release);
}

/// Buffers are looked at closely from now on, also where there is no memory but the host's:
/// [`is_host_only`] says no. To be called before the library comes up.
pub fn look_closely() {
    HOST_ONLY.store(false, Ordering::Release);
}

/// Whether there is no memory but the host's, which takes a load to tell.
#[inline(always)]
pub fn is_host_only() -> bool {
    HOST_ONLY.load(Ordering::Relaxed)
}

/// Whether the address surely lies in host memory, which takes a nanosecond to tell. No says
/// nothing: see [`kind`].
///
/// It does as long as the program has loaded no driver of a device; and then of the heap, of the
/// program's data and of the main thread's stack.
#[inline(always)]
pub fn is_surely_host(at: *const u8) -> bool {
    // SAFETY: a static variable, or a word of the dynamic loader that stays.
    let something = unsafe { &*QUIET.load(Ordering::Relaxed) };
    something.load(Ordering::Acquire).is_null() || certain::has(at)
}

/// The kind of memory that the address lies in.
///
/// What was found to be a device's is kept as a range, so the device is asked once for each
/// allocation. One that has ended since may still be told: what copies there
/// [finds that out](Copies::begin). What was found to be the host's is not kept: it may become a
/// device's without anybody's notice.
///
/// # Examples
/// A caller that tests something anyway tests [`is_host_only`] with it, and asks for
/// the kind out of line:
/// ```
/// use catena_memory as memory;
///
/// fn may_be_read(at: *const u8, is_one_run: bool) -> bool {
///     // `&` joins both into one condition.
///     (is_one_run & memory::is_host_only()) || (is_one_run && memory::kind(at).is_host())
/// }
/// assert!(may_be_read([1u8, 2].as_ptr(), true));
/// ```
#[inline]
pub fn kind(at: *const u8) -> Kind {
    match is_surely_host(at) {
        true => Kind::Host,
        false => ask(at),
    }
}

/// As [`kind`], but the devices are asked anew: for what is kept for longer than until a copy finds
/// out that memory of a device is the host's since.
pub fn kind_now(at: *const u8) -> Kind {
    RANGES.forget(at);
    kind(at)
}

/// What [`kind`] says of what is not surely the host's.
#[cold]
fn ask(at: *const u8) -> Kind {
    if certain::has_closely(at) {
        return Kind::Host;
    }
    if let Some(kind) = RANGES.find(at) {
        return kind;
    }
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    if !devices.iter().any(|device| device.may_have_memory()) {
        wait_for_drivers(&devices);
        return Kind::Host;
    }
    let found = devices
        .iter()
        .find_map(|device| Some((device.range(at)?, device.kind())));
    match found {
        Some((range, kind)) => {
            RANGES.add(range, kind);
            kind
        }
        None => Kind::Host,
    }
}

/// Whether a device may have memory: the program has loaded a driver. If it has not,
/// [`is_surely_host`] says so of all memory from then on, until it may have loaded one.
pub fn may_have_devices() -> bool {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let some = devices.iter().any(|device| device.may_have_memory());
    if !some && !devices.is_empty() {
        wait_for_drivers(&devices);
    }
    some
}

/// Has [`is_surely_host`] say so until something is loaded.
#[cold]
fn wait_for_drivers(devices: &[&'static dyn Device]) {
    /// How often anything had been loaded when it was tried last.
    static TRIED: AtomicU64 = AtomicU64::new(0);
    let loads = catena_loader::loads();
    if TRIED.swap(loads, Ordering::Relaxed) == loads {
        return;
    }
    let Some(watch) = Watch::start() else {
        return;
    };
    // Once more: it may have been loaded just before.
    if !devices.iter().any(|device| device.may_have_memory()) && watch.is_last() {
        QUIET.store(ptr::from_ref(watch.word()).cast_mut(), Ordering::Release);
    }
}

/// All kinds of memory that there are here, the host's among them.
pub fn kinds() -> Kinds {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let all = devices.iter().map(|device| device.kind());
    all.fold(Kinds::HOST, Kinds::with)
}

/// The device of a kind.
///
/// # Errors
/// [`Unsupported`] for the host's, and if no device of that kind is registered.
pub fn device(kind: Kind) -> Result<&'static dyn Device, Unsupported> {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let found = devices.iter().find(|device| device.kind() == kind);
    found.copied().ok_or(Unsupported(kind))
}

/// Whether a device of that kind is registered.
pub fn has(kind: Kind) -> bool {
    device(kind).is_ok()
}
