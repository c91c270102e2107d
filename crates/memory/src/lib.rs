//! Row 1: the kinds of memory that a program's buffer may lie in.
//!
//! An address alone does not say whether a processor may read it: libraries of
//! accelerators hand out addresses of device memory, too. [`kind`] tells where an
//! address lies, and [`read`] and [`write()`] copy between such memory and the host's.
//! Anything else, shared memory and reduction kernels among it, works on host
//! memory alone and must be given a copy of what lies elsewhere.
//!
//! A kind other than [`Kind::Host`] needs a [`Device`], which is registered once and
//! from then on knows its addresses. On a host without devices nobody registers one, and
//! a program pays one load of [`is_host_only`], which callers join to a condition that
//! they test anyway; see [`kind`] for an example.
//!
//! Other memory is staged: messages part by part, collectives before and after their schedule. So
//! shared memory, single copy and kernels meet host memory alone. Windows refuse it: neighbours map
//! their memory, and the kernel copies it.

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

/// A set of kinds of memory.
///
/// # Examples
/// ```
/// use catena_memory::{Kind, Kinds};
///
/// let both = Kinds::HOST.with(Kind::Cuda);
/// assert!(both.has(Kind::Host) && both.has(Kind::Cuda) && !both.has(Kind::Rocm));
/// assert_eq!(both.and(Kinds::HOST), Kinds::HOST);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// The host's memory alone.
    pub const HOST: Kinds = Kinds(1 << Kind::Host as u8);

    /// This set and one kind more.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind as u8)
    }

    /// Those that `other` has, too.
    #[must_use]
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// Whether the kind is among them.
    #[inline]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [Kind::Host, Kind::Cuda, Kind::Rocm, Kind::LevelZero];
        let there = all.into_iter().filter(|&kind| self.has(kind));
        f.debug_set().entries(there).finish()
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

/// Rows of bytes on a device, as far apart as each other. In host memory they lie one
/// after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Bytes of each.
    pub len: usize,
    /// How many there are.
    pub count: usize,
    /// Bytes from the start of one to that of the next, at least `len`.
    pub stride: usize,
}

impl Rows {
    /// The longest stride at which rows are joined. It is what devices take at least.
    const LONGEST: usize = 1 << 30;

    /// A run of bytes.
    pub fn one(len: usize) -> Rows {
        Rows {
            len,
            count: 1,
            stride: len,
        }
    }

    /// Bytes of all.
    pub fn bytes(self) -> usize {
        self.len * self.count
    }

    /// The length of all, if they are one run of bytes.
    pub fn one_run(self) -> Option<usize> {
        (self.count == 1 || self.stride == self.len).then(|| self.bytes())
    }

    /// Takes a run of `len` bytes in, if it is the next row; it begins `distance` bytes
    /// after the first one.
    pub fn join(&mut self, distance: isize, len: usize) -> bool {
        let Ok(distance) = usize::try_from(distance) else {
            return false;
        };
        let is_next = match self.count {
            1 => (len..=Rows::LONGEST).contains(&distance),
            _ => self.stride.checked_mul(self.count) == Some(distance),
        };
        let joins = is_next && len == self.len;
        if joins {
            if self.count == 1 {
                self.stride = distance;
            }
            self.count += 1;
        }
        joins
    }
}

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

    /// Copies rows of its memory, of which the first begins at `from`, to host memory;
    /// they are there when it returns. A copy that the device fails to make ends the
    /// process, as an address that is not mapped does in host memory.
    ///
    /// # Safety
    /// The rows are valid, and `to` is for as many bytes of the host's memory.
    unsafe fn read(&self, to: *mut u8, from: *const u8, rows: Rows);

    /// Copies host memory to rows of its memory, of which the first begins at `to`, as
    /// [`Device::read`] does the other way.
    ///
    /// # Safety
    /// The rows are valid, and `from` is for as many bytes of the host's memory.
    unsafe fn write(&self, to: *mut u8, from: *const u8, rows: Rows);
}

/// All devices, one of each kind at most, of which none is ever taken away again.
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

/// Copies rows that begin at `from`, which are memory of that kind, to host memory.
///
/// # Errors
/// [`Unsupported`] for the host's, and if no device of that kind is registered.
///
/// # Safety
/// The rows are valid in their memory, as are as many bytes at `to`; they do not overlap.
pub unsafe fn read(
    to: *mut u8,
    (kind, from): (Kind, *const u8),
    rows: Rows,
) -> Result<(), Unsupported> {
    // SAFETY: the caller's promise.
    device(kind).map(|device| unsafe { device.read(to, from, rows) })
}

/// Copies host memory to rows that begin at `to`, which are memory of that kind.
///
/// # Errors
/// As [`read`].
///
/// # Safety
/// The rows are valid in their memory, as are as many bytes at `from`; they do not overlap.
pub unsafe fn write(
    (kind, to): (Kind, *mut u8),
    from: *const u8,
    rows: Rows,
) -> Result<(), Unsupported> {
    // SAFETY: the caller's promise.
    device(kind).map(|device| unsafe { device.write(to, from, rows) })
}

/// The device of a kind.
fn device(kind: Kind) -> Result<&'static dyn Device, Unsupported> {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let found = devices.iter().find(|device| device.kind() == kind);
    found.copied().ok_or(Unsupported(kind))
}

/// Whether a device of that kind is registered.
pub fn has(kind: Kind) -> bool {
    device(kind).is_ok()
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

        unsafe fn read(&self, to: *mut u8, from: *const u8, rows: Rows) {
            for row in 0..rows.count {
                let from = real(from.wrapping_add(row * rows.stride));
                // SAFETY: the caller's promise.
                unsafe {
                    to.add(row * rows.len)
                        .copy_from_nonoverlapping(from, rows.len)
                }
            }
        }

        unsafe fn write(&self, to: *mut u8, from: *const u8, rows: Rows) {
            for row in 0..rows.count {
                let to = real(to.wrapping_add(row * rows.stride)).cast_mut();
                // SAFETY: as above.
                unsafe { to.copy_from_nonoverlapping(from.add(row * rows.len), rows.len) }
            }
        }
    }

    #[test]
    fn rows_are_joined_as_far_as_they_lie_alike() {
        let joined = |runs: &[(isize, usize)]| {
            let mut rows = Rows::one(4);
            let joins: Vec<bool> = runs.iter().map(|&(at, len)| rows.join(at, len)).collect();
            (rows, joins)
        };
        let rows = |count, stride| Rows {
            len: 4,
            count,
            stride,
        };
        assert_eq!(joined(&[(8, 4), (16, 4)]), (rows(3, 8), vec![true; 2]));
        assert_eq!(joined(&[(4, 4), (8, 4)]).0.one_run(), Some(12));
        // Another distance, another length, one that comes before, one that overlaps, one too far
        // away.
        assert_eq!(
            joined(&[(8, 4), (17, 4), (16, 3)]),
            (rows(2, 8), vec![true, false, false])
        );
        let apart = [(-8, 4), (3, 4), (Rows::LONGEST as isize + 1, 4)];
        assert_eq!(joined(&apart), (Rows::one(4), vec![false; 3]));
        assert_eq!((rows(3, 8).one_run(), rows(3, 8).bytes()), (None, 12));
    }

    #[test]
    fn without_a_device_all_memory_is_the_hosts() {
        assert_eq!(kind([1u8].as_ptr()), Kind::Host);
        assert!(!has(Kind::Cuda));
    }

    #[test]
    fn a_copy_of_a_kind_without_a_device_names_it() {
        let mut bytes = [0u8; 4];
        // SAFETY: four bytes each, which are not touched.
        let refused = unsafe {
            write(
                (Kind::Cuda, bytes.as_mut_ptr()),
                [1u8; 4].as_ptr(),
                Rows::one(4),
            )
        };
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
        let ends = Rows {
            len: 1,
            count: 2,
            stride: 2,
        };
        // SAFETY: both have three bytes.
        unsafe {
            assert_eq!(write((Kind::Rocm, far), [8u8, 9].as_ptr(), ends), Ok(()));
            assert_eq!(
                read(copy.as_mut_ptr(), (Kind::Rocm, far), Rows::one(3)),
                Ok(())
            );
        }
        assert_eq!(copy, [8, 6, 9]);
    }
}
