//! Row 1: the kinds of memory that a program's buffer may lie in.
//!
//! An address alone does not say whether a processor may read it: libraries of
//! accelerators hand out addresses of device memory, too. [`kind`] tells where an
//! address lies, and [`read`] and [`write`] copy between such memory and the host's.
//! Anything else, shared memory and reduction kernels among it, works on host
//! memory alone and must be given a copy of what lies elsewhere.
//!
//! A kind other than [`Kind::Host`] needs a [`Device`], which is registered once and
//! from then on knows its addresses. Catena registers none, so all memory is the
//! host's. A program without devices pays one load of [`is_host_only`], which
//! callers join to a condition that they test anyway; see [`kind`] for an example.

use std::error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// The kind of memory that an address lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Memory that the processor reads and writes.
    Host,
    /// Memory of a device that CUDA drives.
    Cuda,
    /// Memory of a device that ROCm drives.
    Rocm,
    /// Memory of a device that Level Zero drives.
    LevelZero,
}

impl Kind {
    /// Whether the processor may read and write there.
    #[inline]
    pub fn is_host(self) -> bool {
        self == Kind::Host
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Host => "host",
            Kind::Cuda => "CUDA",
            Kind::Rocm => "ROCm",
            Kind::LevelZero => "Level Zero",
        })
    }
}

/// No device of this kind is registered, so nothing can be copied there or from
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported(
    /// The kind of memory.
    pub Kind,
);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} memory is not supported", self.0)
    }
}

impl error::Error for Unsupported {}

/// What drives one kind of memory.
///
/// # Safety
/// [`Device::owns`] is true only for addresses of memory that [`Device::read`] and
/// [`Device::write`] can copy.
pub unsafe trait Device: Sync {
    /// The kind of its memory, which is not [`Kind::Host`].
    fn kind(&self) -> Kind;

    /// Whether the address lies in its memory.
    fn owns(&self, at: *const u8) -> bool;

    /// Copies `len` bytes of its memory to host memory; they are there when it
    /// returns. A copy that the device fails to make ends the process, as an
    /// address that is not mapped does in host memory.
    ///
    /// # Safety
    /// `from` is valid for `len` bytes of its memory and `to` for as many of the
    /// host's.
    unsafe fn read(&self, to: *mut u8, from: *const u8, len: usize);

    /// Copies `len` bytes of host memory to its memory, as [`Device::read`] does the
    /// other way.
    ///
    /// # Safety
    /// `to` is valid for `len` bytes of its memory and `from` for as many of the
    /// host's.
    unsafe fn write(&self, to: *mut u8, from: *const u8, len: usize);
}

/// All devices, of which none is ever taken away again.
static DEVICES: RwLock<Vec<&'static dyn Device>> = RwLock::new(Vec::new());

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

/// Whether there is no memory but the host's, which takes a load to tell.
#[inline(always)]
pub fn is_host_only() -> bool {
    HOST_ONLY.load(Ordering::Relaxed)
}

/// The kind of memory that the address lies in.
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
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let owner = devices.iter().find(|device| device.owns(at));
    owner.map_or(Kind::Host, |device| device.kind())
}

/// Copies `len` bytes at `from`, which are memory of that kind, to host memory.
///
/// # Errors
/// [`Unsupported`] if no device of that kind is registered.
///
/// # Safety
/// Both are valid for `len` bytes of their memory, and do not overlap.
pub unsafe fn read(
    to: *mut u8,
    (kind, from): (Kind, *const u8),
    len: usize,
) -> Result<(), Unsupported> {
    match device(kind, from)? {
        // SAFETY: the caller's promise.
        None => unsafe { to.copy_from_nonoverlapping(from, len) },
        // SAFETY: as above.
        Some(device) => unsafe { device.read(to, from, len) },
    }
    Ok(())
}

/// Copies `len` bytes of host memory to `to`, which is memory of that kind.
///
/// # Errors
/// [`Unsupported`] if no device of that kind is registered.
///
/// # Safety
/// Both are valid for `len` bytes of their memory, and do not overlap.
pub unsafe fn write(
    (kind, to): (Kind, *mut u8),
    from: *const u8,
    len: usize,
) -> Result<(), Unsupported> {
    match device(kind, to)? {
        // SAFETY: the caller's promise.
        None => unsafe { to.copy_from_nonoverlapping(from, len) },
        // SAFETY: as above.
        Some(device) => unsafe { device.write(to, from, len) },
    }
    Ok(())
}

/// The device that has the address; none in host memory.
fn device(kind: Kind, at: *const u8) -> Result<Option<&'static dyn Device>, Unsupported> {
    if kind.is_host() {
        return Ok(None);
    }
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let mut of_kind = devices.iter().filter(|device| device.kind() == kind);
    let owner = of_kind.find(|device| device.owns(at));
    owner.map(|device| Some(*device)).ok_or(Unsupported(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose addresses are those of host memory with one more bit, with which
    /// no processor can read there.
    struct Far;

    /// The bit.
    const BIT: usize = 1 << 62;

    /// The address with the bit inverted.
    fn real<T>(at: *const T) -> *const T {
        at.map_addr(|at| at ^ BIT)
    }

    // SAFETY: it owns the addresses with that bit, and its copies take it away.
    unsafe impl Device for Far {
        fn kind(&self) -> Kind {
            Kind::Rocm
        }

        fn owns(&self, at: *const u8) -> bool {
            at.addr() & BIT != 0
        }

        unsafe fn read(&self, to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: the caller's promise.
            unsafe { to.copy_from_nonoverlapping(real(from), len) }
        }

        unsafe fn write(&self, to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: as above.
            unsafe { real(to).cast_mut().copy_from_nonoverlapping(from, len) }
        }
    }

    #[test]
    fn without_a_device_all_memory_is_the_hosts() {
        let bytes = [1u8, 2, 3];
        let mut copy = [0u8; 3];
        assert_eq!(kind(bytes.as_ptr()), Kind::Host);
        // SAFETY: both have three bytes.
        let done = unsafe { read(copy.as_mut_ptr(), (Kind::Host, bytes.as_ptr()), 3) };
        assert_eq!((done, copy), (Ok(()), bytes));
    }

    #[test]
    fn a_copy_of_a_kind_without_a_device_names_it() {
        let mut bytes = [0u8; 4];
        // SAFETY: four bytes each, which are not touched.
        let refused = unsafe { write((Kind::Cuda, bytes.as_mut_ptr()), [1u8; 4].as_ptr(), 4) };
        assert_eq!(refused, Err(Unsupported(Kind::Cuda)));
        assert_eq!(
            Unsupported(Kind::LevelZero).to_string(),
            "Level Zero memory is not supported"
        );
        assert_eq!(bytes, [0; 4]);
    }

    #[test]
    fn a_device_knows_its_addresses_and_copies_them() {
        register(&Far);
        assert!(!is_host_only());
        let mut bytes = [5u8, 6, 7];
        let far = real(bytes.as_mut_ptr()).cast_mut();
        assert_eq!(kind(far), Kind::Rocm);
        assert_eq!(kind(bytes.as_ptr()), Kind::Host);
        let mut copy = [0u8; 3];
        // SAFETY: both have three bytes.
        unsafe {
            assert_eq!(write((Kind::Rocm, far), [8u8, 9].as_ptr(), 2), Ok(()));
            assert_eq!(read(copy.as_mut_ptr(), (Kind::Rocm, far), 3), Ok(()));
        }
        assert_eq!(copy, [8, 9, 7]);
    }
}
