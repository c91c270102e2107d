//! The devices that are known, and whose memory an address is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::device::Device;
use crate::kinds::{Kind, Kinds, Unsupported};
use crate::ranges::Ranges;

/// All devices, one of each kind at most, of which none is ever taken away again.
static DEVICES: RwLock<Vec<&'static dyn Device>> = RwLock::new(Vec::new());

/// Memory of devices that was asked for.
pub(crate) static RANGES: Ranges = Ranges::new();

/// Whether [`DEVICES`] is empty.
static HOST_ONLY: AtomicBool = AtomicBool::new(true);

/// Makes the memory of a device known, for the rest of the process.
///
/// The library looks at [`is_host_only`] when it comes up, so devices are registered
/// before that.
pub fn register(device: &'static dyn Device) {
    let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
    devices.push(device);
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

/// The kind of memory that the address lies in.
///
/// What was found to be a device's is kept as a range, so the device is asked once for each
/// allocation. One that has ended since may still be told: what copies there
/// [finds that out](Copies::begin).
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
#[cold]
pub fn kind(at: *const u8) -> Kind {
    if let Some(kind) = RANGES.find(at) {
        return kind;
    }
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
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
