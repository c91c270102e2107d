//! One-sided operations (MPI-5, chapter 12.3) on a target to which an epoch is open. All of them are
//! complete when they return, at both ends, but for those that the target carries out: see `message`.

use catena_base::{PeerBytes, Room};
use catena_core::Process;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_datatype::{Basic, Datatype, OpKind, Scalar, TypeRef};
use catena_fabric::Payload;
use catena_link::{Sink, Source};
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::op::Kernel;

use crate::accumulate::{self, Combine};
use crate::mailbox::MOST;
use crate::message::codes::{BYTE, codes};
use crate::message::record::What;
use crate::place::Place;
use crate::transfer::{self, Elements, unequal};
use crate::window::{Reach, Window};

/// Elements of a target, as the program names them.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The target.
    pub rank: u32,
    /// In units of its displacement.
    pub disp: i64,
    /// How many.
    pub count: u64,
    /// Of which type.
    pub ty: &'a TypeRef,
}

impl At<'_> {
    /// Packed bytes.
    pub(crate) fn len(&self) -> u64 {
        self.count.saturating_mul(self.ty.size())
    }
}

impl Window {
    /// The elements, if there are some bytes.
    #[inline]
    fn elements<'a>(&self, process: &Process, at: At<'a>) -> Result<Option<Elements<'a>>> {
        self.check_open(process, at.rank)?;
        if at.len() == 0 {
            return Ok(None);
        }
        Ok(Some(Elements {
            rank: at.rank,
            place: self.locate(at.rank, at.disp, at.count, at.ty)?,
            count: at.count,
            ty: at.ty,
        }))
    }

    /// Where `len` bytes lie at a displacement of a target that is open and mapped here; `None` leaves
    /// it to the careful way, errors as well.
    #[inline(always)]
    pub fn run_at(&self, rank: i32, disp: i64, len: u64) -> Option<*mut u8> {
        let target = self.targets.get(rank as u32 as usize)?;
        let from = disp.checked_mul(target.unit)?;
        let end = u64::try_from(from).ok()?.checked_add(len)?;
        let Reach::Mapped { base, .. } = &target.reach else {
            return None;
        };
        if end > target.size || !(self.epochs.all_open.get() | target.open.get()) {
            return None;
        }
        self.epochs.used.set(true);
        Some(base.wrapping_offset(from as isize))
    }

    /// Combines `len` bytes at `from` with those at `at`, where [`Window::run_at`] has found them.
    ///
    /// # Safety
    /// The program lends `len` bytes at `from`, whole elements of the kernel.
    ///
    /// # Errors
    /// `ProcAborted` if a member has died in the middle of an accumulate to that target.
    #[inline(always)]
    pub unsafe fn combine_run(
        &self,
        process: &Process,
        kernel: Kernel,
        from: *const u8,
        (rank, at): (i32, *mut u8),
        len: usize,
    ) -> Result<()> {
        let _held = self.hold_elements(process, rank as u32)?;
        // SAFETY: the place was checked, the rest is the caller's promise.
        unsafe {
            if len == kernel.size {
                // A division takes as long as all the rest.
                (kernel.run)(from, at, 1);
            } else {
                (kernel.run)(from, at, len / kernel.size);
            }
        }
        Ok(())
    }

    /// As [`Window::combine_run`]; the former elements go to `result`. None are changed without a kernel.
    ///
    /// # Safety
    /// As [`Window::combine_run`], and room for as many elements at `result`.
    ///
    /// # Errors
    /// As [`Window::combine_run`].
    #[inline(always)]
    pub unsafe fn fetch_run(
        &self,
        process: &Process,
        kernel: Option<Kernel>,
        (from, result): (*const u8, *mut u8),
        (rank, at): (i32, *mut u8),
        len: usize,
    ) -> Result<()> {
        let _held = self.hold_elements(process, rank as u32)?;
        // SAFETY: the place was checked, the rest is the caller's promise.
        unsafe {
            match kernel {
                None => transfer::copy_bytes(result, at, len),
                Some(kernel) => accumulate::fetch_and_combine(kernel, from, result, at, len),
            }
        }
        Ok(())
    }

    /// `MPI_Compare_and_swap` of one element of 1, 2, 4 or 8 bytes at `at`, where [`Window::run_at`] has
    /// found it. See [`Window::compare_and_swap`] for the buffers.
    ///
    /// # Safety
    /// The program lends an element in each buffer.
    ///
    /// # Errors
    /// As [`Window::combine_run`].
    #[inline(always)]
    pub unsafe fn swap_run(
        &self,
        process: &Process,
        (new, compare, result): (*const u8, *const u8, *mut u8),
        (rank, at): (i32, *mut u8),
        len: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe fn swap<T: Copy + PartialEq>(buffers: (*const u8, *const u8, *mut u8), at: *mut u8) {
            let (new, compare, result) = buffers;
            // SAFETY: the caller's promise.
            unsafe {
                let (new, compare) = (new.cast::<T>().read_unaligned(), compare.cast::<T>());
                let (compare, at) = (compare.read_unaligned(), at.cast::<T>());
                let old = at.read_unaligned();
                if old == compare {
                    at.write_unaligned(new);
                }
                result.cast::<T>().write_unaligned(old);
            }
        }
        let _held = self.hold_elements(process, rank as u32)?;
        // SAFETY: the place was checked, the rest is the caller's promise.
        unsafe {
            match len {
                8 => swap::<u64>((new, compare, result), at),
                4 => swap::<u32>((new, compare, result), at),
                2 => swap::<u16>((new, compare, result), at),
                _ => swap::<u8>((new, compare, result), at),
            }
        }
        Ok(())
    }

    /// `MPI_Put`.
    ///
    /// # Errors
    /// `RmaSync` without an epoch, `RmaRange` outside of the window, `Type` if the two sides differ in
    /// length, `RmaShared` if the target's memory is not reached.
    pub fn put(&self, process: &Process, origin: &SendBuf, at: At<'_>) -> Result<()> {
        match self.elements(process, at)? {
            Some(Elements {
                place: Place::Message { at: addr },
                ..
            }) => match self.put_remotely(process, origin, at, addr)? {
                true => Ok(()),
                false => self.put_by_message(process, origin, at, addr),
            },
            Some(elements) if self.put_by_letter(process, origin, &elements) => Ok(()),
            // SAFETY: the program lends both until the epoch ends.
            Some(elements) => unsafe { transfer::put(origin, &elements) },
            None => nothing(origin.len()),
        }
    }

    /// `MPI_Get`.
    ///
    /// # Errors
    /// As [`Window::put`].
    pub fn get(&self, process: &Process, origin: &mut RecvBuf, at: At<'_>) -> Result<()> {
        match self.elements(process, at)? {
            Some(Elements {
                place: Place::Message { at: addr },
                ..
            }) => match self.get_remotely(process, origin, at, addr)? {
                true => Ok(()),
                false => self.get_by_message(process, origin, at, addr),
            },
            Some(elements) if self.get_by_letter(process, origin, &elements) => Ok(()),
            // SAFETY: the program lends both until the epoch ends.
            Some(elements) => unsafe { transfer::get(origin, &elements) },
            None => nothing(origin.capacity()),
        }
    }

    /// `MPI_Accumulate`.
    ///
    /// # Errors
    /// As [`Window::put`], and `Op` if the operation is not for such elements.
    pub fn accumulate(
        &self,
        process: &Process,
        kind: OpKind,
        origin: &SendBuf,
        at: At<'_>,
    ) -> Result<()> {
        match self.elements(process, at)? {
            Some(Elements {
                place: Place::Message { at: addr },
                ..
            }) => self.accumulate_by_message(process, kind, origin, (at, addr)),
            Some(elements) if self.combine_by_letter(process, kind, (origin, None), &elements) => {
                Ok(())
            }
            // SAFETY: the program lends both until the epoch ends.
            Some(elements) => unsafe {
                let combine = Combine::new(kind, at.ty)?;
                let hold = || self.hold_elements(process, at.rank);
                accumulate::accumulate(hold, combine, origin, &elements)
            },
            None => nothing(origin.len()),
        }
    }

    /// `MPI_Get_accumulate` and `MPI_Fetch_and_op`.
    ///
    /// # Errors
    /// As [`Window::accumulate`].
    pub fn get_accumulate(
        &self,
        process: &Process,
        kind: OpKind,
        origin: &SendBuf,
        result: &mut RecvBuf,
        at: At<'_>,
    ) -> Result<()> {
        match self.elements(process, at)? {
            Some(Elements {
                place: Place::Message { at: addr },
                ..
            }) => {
                let buffers = (origin, result);
                self.get_accumulate_by_message(process, kind, buffers, (at, addr))
            }
            Some(elements)
                if self.combine_by_letter(process, kind, (origin, Some(result)), &elements) =>
            {
                Ok(())
            }
            // SAFETY: the program lends them until the epoch ends.
            Some(elements) => unsafe {
                let combine = Combine::new(kind, at.ty)?;
                let hold = || self.hold_elements(process, at.rank);
                accumulate::get_accumulate(hold, combine, origin, result, &elements)
            },
            None => nothing(result.capacity()),
        }
    }

    /// `MPI_Compare_and_swap` of one element: `new` replaces it if it is the one of `compare`; the
    /// former one goes to `result`.
    ///
    /// # Errors
    /// As [`Window::put`], and `Type` for a type that is not compared.
    pub fn compare_and_swap(
        &self,
        process: &Process,
        (new, compare): (&SendBuf, &SendBuf),
        result: &mut RecvBuf,
        at: At<'_>,
    ) -> Result<()> {
        if !is_compared(at.ty) {
            fail!(
                Type,
                "only integers, truth values and bytes can be compared and swapped"
            );
        }
        let (new, compare) = (&packed(new)[..], &packed(compare)[..]);
        match self.elements(process, at)? {
            Some(Elements {
                place: Place::Message { at: addr },
                ..
            }) => self.compare_and_swap_by_message(process, (new, compare), result, (at, addr)),
            Some(elements) if self.swap_by_letter(process, (new, compare), result, &elements) => {
                Ok(())
            }
            Some(elements) => {
                let hold = || self.hold_elements(process, at.rank);
                accumulate::compare_and_swap(hold, (new, compare), result, &elements)
            }
            None => Ok(()),
        }
    }
}

/// Short operations that a target in MPI carries out; false if it does not, or they are not such ones.
impl Window {
    fn put_by_letter(&self, process: &Process, origin: &SendBuf, elements: &Elements<'_>) -> bool {
        if !Window::fits_letter(elements, MOST) || origin.len() != elements.len() as u64 {
            return false;
        }
        let deed = (What::Put, 0, BYTE);
        self.by_letter(process, deed, elements, packed(origin))
            .is_some()
    }

    fn get_by_letter(
        &self,
        process: &Process,
        origin: &mut RecvBuf,
        elements: &Elements<'_>,
    ) -> bool {
        if !Window::fits_letter(elements, MOST) || origin.capacity() != elements.len() as u64 {
            return false;
        }
        let former = self.by_letter(process, (What::Get, 0, BYTE), elements, [0; MOST]);
        if let Some(bytes) = &former {
            origin.place(0, PeerBytes::from(&bytes[..elements.len()]));
        }
        former.is_some()
    }

    fn combine_by_letter(
        &self,
        process: &Process,
        kind: OpKind,
        (origin, result): (&SendBuf, Option<&mut RecvBuf>),
        elements: &Elements<'_>,
    ) -> bool {
        let len = elements.len() as u64;
        let changes = kind != OpKind::NoOp;
        let fits = Window::fits_letter(elements, MOST)
            && (!changes || origin.len() == len)
            && result.as_ref().map_or(changes, |it| it.capacity() == len);
        if !fits || Combine::new(kind, elements.ty).is_err() {
            return false;
        }
        let (operation, elements_kind) = codes(kind, elements.ty);
        let bytes = if changes { packed(origin) } else { [0; MOST] };
        let deed = (What::Fetch, operation, elements_kind);
        let former = self.by_letter(process, deed, elements, bytes);
        if let (Some(bytes), Some(result)) = (&former, result) {
            result.place(0, PeerBytes::from(&bytes[..elements.len()]));
        }
        former.is_some()
    }

    fn swap_by_letter(
        &self,
        process: &Process,
        (new, compare): (&[u8], &[u8]),
        result: &mut RecvBuf,
        elements: &Elements<'_>,
    ) -> bool {
        let len = elements.len();
        if !Window::fits_letter(elements, MOST / 2) {
            return false;
        }
        let mut both = [0; MOST];
        both[..len].copy_from_slice(&compare[..len]);
        both[MOST / 2..][..len].copy_from_slice(&new[..len]);
        let former = self.by_letter(process, (What::Swap, 0, BYTE), elements, both);
        if let Some(bytes) = &former {
            result.place(0, PeerBytes::from(&bytes[..len]));
        }
        former.is_some()
    }
}

/// The bytes of a short buffer.
fn packed(origin: &SendBuf) -> [u8; MOST] {
    let mut bytes = [0; MOST];
    let len = origin.len() as usize;
    // SAFETY: it is not longer.
    origin
        .part(0, len)
        .write(unsafe { Room::new(bytes[..len].as_mut_ptr(), len) });
    bytes
}

/// One side has no bytes: the other one must have none either.
fn nothing(len: u64) -> Result<()> {
    match len {
        0 => Ok(()),
        len => Err(unequal(len, 0)),
    }
}

/// Whether elements of the type can be compared and swapped: integers, truth values and bytes.
pub fn is_compared(ty: &Datatype) -> bool {
    use Scalar::*;
    let Some(Basic::Scalar(scalar)) = ty.basic() else {
        return false;
    };
    let is_number = matches!(
        scalar,
        Float16
            | Float32
            | Float64
            | LongDouble
            | Float128
            | ComplexFloat16
            | ComplexFloat32
            | ComplexFloat64
            | ComplexLongDouble
            | ComplexFloat128
    );
    ty.size() == u64::from(scalar.size()) && !is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_one_form_is_compared() {
        let ty = |handle| Datatype::predefined(handle).expect("predefined");
        assert!(is_compared(ty(0x209)), "MPI_INT");
        let two = Datatype::contiguous(2, ty(0x209)).unwrap();
        assert!(!is_compared(&two));
    }
}
