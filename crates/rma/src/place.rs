//! How an operation gets to its target, and where in the target's memory it works, checked (MPI-5,
//! chapter 12.3).

use std::io;
use std::sync::Arc;

use catena_base::mailbox::Mailbox;
use catena_core::kind_of_death;
use catena_datatype::Datatype;
use catena_objects::error::{Error, Kind, Result};
use catena_shm::Neighbour;

use crate::heap::Mapping;
use crate::window::{Flavor, Reach, Target, Window};

/// An address of a target that this process reaches, for an operation that stays within what was
/// checked.
#[derive(Clone, Debug)]
pub(crate) enum TargetAddress {
    /// It is mapped here.
    Mapped {
        at: *mut u8,
        /// What keeps it so for the call, where the window does not.
        _keep: Option<Arc<Mapping>>,
    },
    /// It is this process's, on a device.
    Device { at: *mut u8 },
    /// The kernel copies to and from this address of the neighbour.
    Kernel { of: Neighbour, at: u64 },
}

/// The path of an operation to its target, and where on it the operation works. One is chosen for
/// each target when the window is made, and stays:
///
/// | path      | whose it is                                                   | chosen anew                             |
/// |-----------|---------------------------------------------------------------|-----------------------------------------|
/// | `Direct`  | memory that is mapped here, that the kernel copies, or one's own on a device | never                     |
/// | `Mailbox` | memory that the kernel copies, of a target with a mailbox       | never                                   |
/// | `Remote`  | memory of another host of which a network has the keys          | when the network refuses: then `Message` |
/// | `Message` | all other memory, also of this node: where the kernel lets nobody at it, and of devices | never           |
///
/// A dynamic window has several pieces of memory at each target, so the piece chooses, when an
/// operation on it begins. `Mailbox` and `Remote` are for some operations only; whatever they do
/// not take goes on `Direct` or as `Message`, respectively.
#[derive(Clone, Debug)]
pub(crate) enum Path {
    /// This process does it by itself.
    Direct(TargetAddress),
    /// The target does it, if it is short and the target waits in MPI.
    Mailbox(*const Mailbox, TargetAddress),
    /// A network does it at this address of the target, if it is a long put or get of one run of
    /// bytes.
    Remote { at: u64 },
    /// The target does it at this address of its own when it makes progress.
    Message { at: u64 },
}

/// The first byte and the end of `count` elements, relative to the first one's address. None if
/// there are no bytes, or they reach too far.
pub(crate) fn span(count: u64, ty: &Datatype) -> Option<(i64, i64)> {
    let (low, high) = (ty.true_lb(), ty.true_lb().checked_add(ty.true_extent())?);
    if count == 1 {
        return Some((low, high));
    }
    let last = i64::try_from(count.checked_sub(1)?).ok()?;
    let last = last.checked_mul(ty.extent())?;
    Some((
        low.checked_add(last.min(0))?,
        high.checked_add(last.max(0))?,
    ))
}

/// Those bytes of a target that an operation needs do not belong to its window.
#[cold]
pub(crate) fn out_of_range(text: String) -> Error {
    Error::new(Kind::RmaRange, text)
}

#[cold]
fn unreachable(rank: u32, cause: &str) -> Error {
    let text = format!(
        "the memory of rank {rank} is not reached, {cause}: let it make the window by \
        MPI_Win_allocate, or over memory of MPI_Alloc_mem"
    );
    Error::new(Kind::RmaShared, text)
}

impl Window {
    /// The path to `count` elements of `ty` at a displacement of a target. There are some bytes.
    ///
    /// # Errors
    /// `RmaRange` if not all of them are the window's.
    #[inline]
    pub(crate) fn locate(&self, rank: u32, disp: i64, count: u64, ty: &Datatype) -> Result<Path> {
        let target = &self.targets[rank as usize];
        if let Reach::Mapped { base, .. } = &target.reach
            && let Some((low, high)) = span(count, ty)
            && let Some(at) = disp.checked_mul(target.unit)
            && at.checked_add(low).is_some_and(|from| from >= 0)
            && at
                .checked_add(high)
                .is_some_and(|end| end as u64 <= target.size)
        {
            return Ok(Path::Direct(TargetAddress::Mapped {
                at: base.wrapping_offset(at as isize),
                _keep: None,
            }));
        }
        self.locate_slow(rank, disp, count, ty)
    }

    #[cold]
    #[inline(never)]
    fn locate_slow(&self, rank: u32, disp: i64, count: u64, ty: &Datatype) -> Result<Path> {
        let target = &self.targets[rank as usize];
        let too_far = || out_of_range(format!("{count} elements reach beyond all memory"));
        let (low, high) = span(count, ty).ok_or_else(too_far)?;
        let at = disp.checked_mul(target.unit).ok_or_else(too_far)?;
        if self.flavor == Flavor::Dynamic {
            return self.locate_attached(rank, at, (low, high));
        }
        let from = at.checked_add(low).ok_or_else(too_far)?;
        let end = at.checked_add(high).ok_or_else(too_far)?;
        if from < 0 || end as u64 > target.size {
            return Err(out_of_range(format!(
                "the operation needs bytes {from} to {end} of rank {rank}, whose window has {} \
                bytes (displacement {disp}, {} bytes each)",
                target.size, target.unit
            )));
        }
        Ok(match &target.reach {
            Reach::Mapped { base, .. } => Path::Direct(TargetAddress::Mapped {
                at: base.wrapping_offset(at as isize),
                _keep: None,
            }),
            Reach::Device { base } => Path::Direct(TargetAddress::Device {
                at: base.wrapping_offset(at as isize),
            }),
            Reach::Kernel { of, addr, mailbox } => {
                path_by_kernel(*mailbox, *of, addr.wrapping_add(at as u64))
            }
            Reach::Message { addr } => target.path_elsewhere(addr.wrapping_add(at as u64)),
        })
    }

    /// The path to bytes of a dynamic window, whose displacements are addresses of the target.
    fn locate_attached(&self, rank: u32, at: i64, (low, high): (i64, i64)) -> Result<Path> {
        let addr = at as u64;
        let from = addr.wrapping_add_signed(low);
        let end = addr.wrapping_add_signed(high);
        let target = &self.targets[rank as usize];
        if self.is_far(rank) {
            // Only the target knows what is attached there.
            return Ok(target.path_elsewhere(addr));
        }
        let found = if rank == self.me {
            self.attached.borrow().find(from, end)
        } else {
            self.control
                .regions(target.local)
                .find(self.recent(rank), from, end)
        };
        let Some(region) = found else {
            return Err(out_of_range(format!(
                "the operation needs the bytes at {from:#x} to {end:#x} of rank {rank}, which are \
                not attached to the window there as a whole"
            )));
        };
        let is_host = region.card.kind().is_host();
        if rank == self.me && !is_host {
            let at = std::ptr::with_exposed_provenance_mut(addr as usize);
            return Ok(Path::Direct(TargetAddress::Device { at }));
        }
        if !is_host {
            return Ok(Path::Message { at: addr });
        }
        if rank == self.me {
            let at = std::ptr::with_exposed_provenance_mut(addr as usize);
            return Ok(Path::Direct(TargetAddress::Mapped { at, _keep: None }));
        }
        if region.card.pid != 0 {
            let map = || -> io::Result<TargetAddress> {
                let mapping = self.recent(rank).map(region.card)?;
                let base = mapping.at(region.card, region.len as usize)?;
                Ok(TargetAddress::Mapped {
                    at: base.wrapping_offset(addr.wrapping_sub(region.addr) as isize),
                    _keep: Some(mapping),
                })
            };
            if let Ok(place) = map() {
                return Ok(Path::Direct(place));
            }
        }
        Ok(match &target.reach {
            Reach::Kernel { of, mailbox, .. } => path_by_kernel(*mailbox, *of, addr),
            _ => Path::Message { at: addr },
        })
    }
}

/// The path to memory at an address of a neighbour that the kernel copies.
fn path_by_kernel(mailbox: *const Mailbox, of: Neighbour, at: u64) -> Path {
    let place = TargetAddress::Kernel { of, at };
    match mailbox.is_null() {
        true => Path::Direct(place),
        false => Path::Mailbox(mailbox, place),
    }
}

impl Target {
    /// The path to an address of a target that this process does not reach.
    fn path_elsewhere(&self, at: u64) -> Path {
        match self.by_network.get() {
            true => Path::Remote { at },
            false => Path::Message { at },
        }
    }
}

/// An error of the kernel's copy.
#[cold]
pub(crate) fn refused(rank: u32, error: &io::Error) -> Error {
    if error.raw_os_error() == Some(libc::ESRCH) {
        let text = format!("rank {rank} of the window has died: its memory is gone");
        return Error::new(kind_of_death(), text);
    }
    unreachable(rank, &format!("the kernel says: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_datatype::Datatype;

    #[test]
    fn spans_follow_bounds_and_extents() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        assert_eq!(span(1, int), Some((0, 4)));
        assert_eq!(span(5, int), Some((0, 20)));
        let column = Datatype::vector(3, 1, 4, int).unwrap();
        assert_eq!(span(1, &column), Some((0, 36)));
        assert_eq!(span(2, &column), Some((0, 72)));
        let back = Datatype::vector(3, 1, -4, int).unwrap();
        assert_eq!(span(1, &back), Some((-32, 4)));
        assert_eq!(span(u64::MAX, int), None);
    }
}
