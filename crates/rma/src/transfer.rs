//! Put and get (MPI-5, chapters 12.3.1 and 12.3.2): copies between a buffer of this process and the
//! memory of a target. They are complete when they return, at the target, too.

use std::io;
use std::ptr;

use catena_base::{PayloadRoom, PeerBytes, copy};
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_datatype::TypeRef;
use catena_fabric::Payload;
use catena_link::{Sink, Source};
use catena_objects::error::{Error, Kind, Result, no_memory};
use catena_shm::Run;

use crate::place::{TargetAddress, refused};

/// Elements of a target that this process reaches.
#[derive(Debug)]
pub(crate) struct Elements<'a> {
    pub rank: u32,
    pub place: TargetAddress,
    pub count: u64,
    pub ty: &'a TypeRef,
}

impl Elements<'_> {
    /// Packed bytes of all of them.
    pub fn len(&self) -> usize {
        (self.count * self.ty.size()) as usize
    }
}

/// The two sides of an operation are of different lengths.
#[cold]
pub(crate) fn unequal(origin: u64, target: u64) -> Error {
    let text = format!(
        "the origin has {origin} bytes and the target {target}: counts and types must describe the \
        same elements on both sides"
    );
    Error::new(Kind::Type, text)
}

/// Memory for `len` bytes.
pub(crate) fn room(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| no_memory(len))?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Copies bytes that may overlap only if both are the window's own.
///
/// # Safety
/// Both are valid for `len` bytes.
#[inline]
pub unsafe fn copy_bytes(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise; what overlaps goes the slower way.
    unsafe {
        if to.addr().abs_diff(from.addr()) < len {
            ptr::copy(from, to, len);
        } else if len <= 32 {
            copy::small(to, from, len);
        } else {
            copy::bulk(to, from, len);
        }
    }
}

/// Copies what is packed at `from` into the elements.
///
/// # Safety
/// `from` has as many bytes as the elements, and the program lets both be used.
pub(crate) unsafe fn store(elements: &Elements<'_>, from: *const u8) -> Result<()> {
    let (len, ty, count) = (elements.len(), elements.ty, elements.count);
    match &elements.place {
        TargetAddress::Mapped { at, .. } => {
            // SAFETY: the place was checked, the rest is the caller's promise.
            unsafe {
                match ty.is_contiguous() {
                    true => copy_bytes(*at, from, len),
                    false => ty.unpack(*at, count, 0, from, len),
                }
            }
            Ok(())
        }
        TargetAddress::Device { at } => {
            // SAFETY: the caller's promise.
            let packed = unsafe { PeerBytes::new(from, len) };
            RecvBuf::new(*at, count, ty).place(0, packed);
            Ok(())
        }
        TargetAddress::Kernel { of, at } => by_runs(elements, *at, |runs, done| {
            // SAFETY: within the packed bytes; the target lets its memory change.
            unsafe { of.write_runs(runs, from.add(done)) }
        }),
    }
}

/// Packs the elements to `into`.
///
/// # Safety
/// As [`store`], with room at `into`.
pub(crate) unsafe fn load(elements: &Elements<'_>, into: *mut u8) -> Result<()> {
    let (len, ty, count) = (elements.len(), elements.ty, elements.count);
    match &elements.place {
        TargetAddress::Mapped { at, .. } => {
            // SAFETY: the place was checked, the rest is the caller's promise.
            unsafe {
                match ty.is_contiguous() {
                    true => copy_bytes(into, *at, len),
                    false => ty.pack(*at, count, 0, into, len),
                }
            }
            Ok(())
        }
        TargetAddress::Device { at } => {
            // SAFETY: the caller's promise.
            let packed = unsafe { PayloadRoom::new(into, len) };
            SendBuf::new(*at, count, ty).part(0, len).write(packed);
            Ok(())
        }
        TargetAddress::Kernel { of, at } => by_runs(elements, *at, |runs, done| {
            // SAFETY: within the room.
            unsafe { of.read_runs(runs, into.add(done)) }
        }),
    }
}

/// Calls `copy` with the runs of the elements, of which the first lies relative to `base`, as many
/// at a time as the kernel takes, and with how many packed bytes came before. Runs that follow each
/// other are one.
fn by_runs(
    elements: &Elements<'_>,
    base: u64,
    mut copy: impl FnMut(&[Run], usize) -> io::Result<()>,
) -> Result<()> {
    let len = elements.len();
    let mut done = Ok(());
    let mut runs: Vec<Run> = Vec::new();
    // Packed bytes before the runs, and with them.
    let (mut from, mut end) = (0, 0);
    if elements.ty.is_contiguous() {
        runs.push(Run { addr: base, len });
    } else {
        elements.ty.each_run(elements.count, 0, len, |at, len| {
            let addr = base.wrapping_add_signed(at as i64);
            let follows = |last: &Run| last.addr.wrapping_add(last.len as u64) == addr;
            if let Some(last) = runs.last_mut().filter(|last| follows(last)) {
                last.len += len;
            } else {
                if runs.len() == Run::MOST {
                    if done.is_ok() {
                        done = copy(&runs, from);
                    }
                    from = end;
                    runs.clear();
                }
                runs.push(Run { addr, len });
            }
            end += len;
        });
    }
    if done.is_ok() && len != 0 {
        done = copy(&runs, from);
    }
    done.map_err(|error| refused(elements.rank, &error))
}

/// `MPI_Put`.
///
/// # Safety
/// The program lends the buffer and the elements.
///
/// # Errors
/// `Type` if the sides differ in length, `NoMem`, and what the kernel refuses.
pub(crate) unsafe fn put(origin: &SendBuf, elements: &Elements<'_>) -> Result<()> {
    let len = elements.len();
    if origin.len() != len as u64 {
        return Err(unequal(origin.len(), len as u64));
    }
    if let Some(from) = origin.contiguous() {
        // SAFETY: the caller's promise.
        return unsafe { store(elements, from) };
    }
    if let (TargetAddress::Mapped { at, .. }, true) = (&elements.place, elements.ty.is_contiguous())
    {
        // SAFETY: the place was checked.
        origin
            .part(0, len)
            .write(unsafe { PayloadRoom::new(*at, len) });
        return Ok(());
    }
    let packed = origin.to_owned_bytes()?;
    // SAFETY: as long as the elements.
    unsafe { store(elements, packed.as_ptr()) }
}

/// `MPI_Get`.
///
/// # Safety
/// As [`put`].
///
/// # Errors
/// As [`put`].
pub(crate) unsafe fn get(origin: &mut RecvBuf, elements: &Elements<'_>) -> Result<()> {
    let len = elements.len();
    if origin.capacity() != len as u64 {
        return Err(unequal(origin.capacity(), len as u64));
    }
    if let Some(into) = origin.contiguous() {
        // SAFETY: the caller's promise.
        return unsafe { load(elements, into) };
    }
    if let (TargetAddress::Mapped { at, .. }, true) = (&elements.place, elements.ty.is_contiguous())
    {
        // SAFETY: the place was checked.
        origin.place(0, unsafe { PeerBytes::new(*at, len) });
        return Ok(());
    }
    let mut packed = room(len)?;
    // SAFETY: as long as the elements.
    unsafe { load(elements, packed.as_mut_ptr())? };
    origin.place(0, PeerBytes::from(&*packed));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_datatype::Datatype;

    #[test]
    fn runs_that_follow_each_other_are_one() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let pairs = Datatype::vector(3, 2, 4, int).unwrap();
        let close = Datatype::vector(3, 1, 1, int).unwrap();
        let runs = |count, ty: &TypeRef| {
            let place = TargetAddress::Mapped {
                at: std::ptr::null_mut(),
                _keep: None,
            };
            let elements = Elements {
                rank: 0,
                place,
                count,
                ty,
            };
            let mut seen = Vec::new();
            let note = |runs: &[Run], before| {
                let known: usize = seen.iter().map(|run: &Run| run.len).sum();
                assert_eq!(before, known);
                assert!(runs.len() <= Run::MOST);
                seen.extend_from_slice(runs);
                Ok(())
            };
            by_runs(&elements, 1000, note).unwrap();
            let seen = seen.iter().map(|run| (run.addr - 1000, run.len));
            seen.collect::<Vec<_>>()
        };
        assert_eq!(runs(100, int), [(0, 400)]);
        assert_eq!(runs(2, &close), [(0, 24)]);
        // The last pair of an element and the first of the next one touch.
        let expected = [(0, 8), (16, 8), (32, 16), (56, 8), (72, 8)];
        assert_eq!(runs(2, &pairs), expected);
        assert_eq!(runs(0, int), []);
        let sparse = Datatype::vector(5000, 1, 2, int).unwrap();
        let all = runs(1, &sparse);
        assert_eq!((all.len(), all[4999]), (5000, (8 * 4999, 4)));
    }
}
