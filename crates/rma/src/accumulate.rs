//! Accumulates (MPI-5, chapters 12.3.3 and 12.3.4). All of them are carried out by the origin,
//! under the lock of the target's elements: see `docs/decisions`, where the rule of atomicity
//! stands.

use catena_base::PeerBytes;
use catena_base::element_lock::Held;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_datatype::{Basic, Datatype, OpKind, Reduce, reducer};
use catena_link::{Sink, Source};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::op::Kernel;

use crate::place::TargetAddress;
use crate::transfer::{Elements, copy_bytes, load, room, store, unequal};

/// Bytes that are fetched and combined at a time: they stay in the nearest cache.
const STEP: usize = 16 << 10;

/// How elements are combined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combine {
    /// What is done.
    pub kind: OpKind,
    /// `None` where nothing is.
    run: Option<Reduce>,
    /// Packed bytes of an element.
    unit: usize,
}

impl Combine {
    /// A predefined operation on elements of one predefined type.
    ///
    /// # Errors
    /// `Type` for a type of several kinds of elements, `Op` if the operation is not for this kind.
    pub fn new(kind: OpKind, ty: &Datatype) -> Result<Combine> {
        if kind == OpKind::NoOp {
            return Ok(Combine {
                kind,
                run: None,
                unit: 1,
            });
        }
        let Some(basic) = ty.basic() else {
            if kind == OpKind::Replace {
                // Any element may be replaced, byte by byte.
                let byte = Basic::Scalar(catena_datatype::Scalar::Byte);
                return Ok(Combine {
                    kind,
                    run: reducer(kind, byte),
                    unit: 1,
                });
            }
            fail!(
                Type,
                "the target's type has elements of several kinds: an accumulate needs one \
                 predefined type"
            );
        };
        match reducer(kind, basic) {
            Some(run) => Ok(Combine {
                kind,
                run: Some(run),
                unit: basic.size() as usize,
            }),
            None => Err(undefined(kind, basic)),
        }
    }

    /// Whether as many packed bytes are whole elements.
    pub fn check(&self, len: usize) -> Option<()> {
        len.is_multiple_of(self.unit).then_some(())
    }

    /// Combines `len` packed bytes at `from` with those at `inout`.
    ///
    /// # Safety
    /// Both are valid for `len` bytes, and do not overlap.
    #[inline]
    pub unsafe fn apply(&self, from: *const u8, inout: *mut u8, len: usize) {
        if let Some(run) = self.run {
            // SAFETY: the caller's promise.
            unsafe { run(from, inout, len / self.unit) }
        }
    }
}

/// Copies `len` bytes at `at` to `result`, and combines those at `from` with them: part by part, so
/// that each is combined while it is in the nearest cache.
///
/// # Safety
/// All are valid for `len` bytes, whole elements of the kernel.
#[inline(always)]
pub(crate) unsafe fn fetch_and_combine(
    kernel: Kernel,
    from: *const u8,
    result: *mut u8,
    at: *mut u8,
    len: usize,
) {
    if len == kernel.size {
        // A division takes as long as all the rest.
        // SAFETY: one element.
        unsafe {
            copy_bytes(result, at, len);
            (kernel.run)(from, at, 1);
        }
        return;
    }
    let step = STEP / kernel.size * kernel.size;
    let mut done = 0;
    while done < len {
        let now = step.min(len - done);
        // SAFETY: within the bytes.
        unsafe {
            copy_bytes(result.add(done), at.add(done), now);
            (kernel.run)(from.add(done), at.add(done), now / kernel.size);
        }
        done += now;
    }
}

#[cold]
fn undefined(kind: OpKind, basic: Basic) -> Error {
    let text = format!("{} is not defined on {basic:?}", kind.name());
    Error::new(Kind::Op, text)
}

/// `MPI_Accumulate`.
///
/// # Safety
/// The program lends the buffer and the elements.
///
/// # Errors
/// `Type` if the sides differ in length, `NoMem`, and what the kernel refuses.
pub(crate) unsafe fn accumulate<'a>(
    hold: impl FnOnce() -> Result<Held<'a>>,
    combine: Combine,
    origin: &SendBuf,
    elements: &Elements<'_>,
) -> Result<()> {
    let len = elements.len();
    if combine.kind == OpKind::NoOp {
        return Ok(());
    }
    if origin.len() != len as u64 {
        return Err(unequal(origin.len(), len as u64));
    }
    let packed;
    let from = match origin.contiguous() {
        Some(from) => from,
        None => {
            packed = origin.to_owned_bytes()?;
            packed.as_ptr()
        }
    };
    if let (TargetAddress::Mapped { at, .. }, true) = (&elements.place, elements.ty.is_contiguous())
    {
        let _held = hold()?;
        // SAFETY: the place was checked, the rest is the caller's promise.
        unsafe { combine.apply(from, *at, len) };
        return Ok(());
    }
    let mut old = room(len)?;
    let _held = hold()?;
    // SAFETY: as long as the elements.
    unsafe {
        load(elements, old.as_mut_ptr())?;
        combine.apply(from, old.as_mut_ptr(), len);
        store(elements, old.as_ptr())
    }
}

/// `MPI_Get_accumulate`: the former elements go to `result`.
///
/// # Safety
/// The program lends the buffers and the elements.
///
/// # Errors
/// As [`accumulate`].
pub(crate) unsafe fn get_accumulate<'a>(
    hold: impl FnOnce() -> Result<Held<'a>>,
    combine: Combine,
    origin: &SendBuf,
    result: &mut RecvBuf,
    elements: &Elements<'_>,
) -> Result<()> {
    let len = elements.len();
    if result.capacity() != len as u64 {
        return Err(unequal(result.capacity(), len as u64));
    }
    let changes = combine.kind != OpKind::NoOp;
    if changes && origin.len() != len as u64 {
        return Err(unequal(origin.len(), len as u64));
    }
    let packed;
    let from = match origin.contiguous() {
        _ if !changes => std::ptr::null(),
        Some(from) => from,
        None => {
            packed = origin.to_owned_bytes()?;
            packed.as_ptr()
        }
    };
    let place = match (&elements.place, elements.ty.is_contiguous()) {
        (TargetAddress::Mapped { at, .. }, true) => Some(*at),
        _ => None,
    };
    if let (Some(at), Some(into)) = (place, result.contiguous()) {
        let step = STEP / combine.unit * combine.unit;
        let _held = hold()?;
        for done in (0..len).step_by(step) {
            let now = step.min(len - done);
            // SAFETY: the place was checked, the rest is the caller's promise.
            unsafe {
                copy_bytes(into.add(done), at.add(done), now);
                combine.apply(from.wrapping_add(done), at.add(done), now);
            }
        }
        return Ok(());
    }
    let mut old = room(len)?;
    let mut new = if changes { room(len)? } else { Vec::new() };
    {
        let _held = hold()?;
        // SAFETY: as long as the elements.
        unsafe {
            load(elements, old.as_mut_ptr())?;
            if changes {
                new.copy_from_slice(&old);
                combine.apply(from, new.as_mut_ptr(), len);
                store(elements, new.as_ptr())?;
            }
        }
    }
    result.place(0, PeerBytes::from(&*old));
    Ok(())
}

/// `MPI_Compare_and_swap` of one element, with which `new` and `compare` begin; the former one goes
/// to `result`.
///
/// # Errors
/// What the kernel refuses.
pub(crate) fn compare_and_swap<'a>(
    hold: impl FnOnce() -> Result<Held<'a>>,
    (new, compare): (&[u8], &[u8]),
    result: &mut RecvBuf,
    elements: &Elements<'_>,
) -> Result<()> {
    let mut old = [0u8; 32];
    let old = &mut old[..elements.len()];
    {
        let _held = hold()?;
        // SAFETY: an element has at most 32 bytes, and the target lets its memory be used.
        unsafe {
            load(elements, old.as_mut_ptr())?;
            if *old == compare[..old.len()] {
                store(elements, new.as_ptr())?;
            }
        }
    }
    result.place(0, PeerBytes::from(&*old));
    Ok(())
}
