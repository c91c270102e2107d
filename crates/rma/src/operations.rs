//! One-sided operations (MPI-5, chapter 12.3) on a target to which an epoch is open. Each of the
//! five goes on one of the four [paths](Path), which [`Window::locate`] has found; `carry_out` is
//! the only place that looks at it. What goes on `Direct` or by `Mailbox` is complete at both ends
//! when the call returns.

use catena_core::Process;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_datatype::{Basic, Datatype, OpKind, Scalar};
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::op::Kernel;

use crate::accumulate::{self, Combine};
use crate::letters::packed;
use crate::operation::{At, Operation};
use crate::place::Path;
use crate::transfer::{self, Elements};
use crate::window::{Reach, Window};

impl Window {
    /// Where `len` bytes lie at a displacement of a target that is open and mapped here; `None`
    /// leaves it to the careful way, errors as well.
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

    /// As [`Window::combine_run`]; the former elements go to `result`. None are changed without a
    /// kernel.
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

    /// `MPI_Compare_and_swap` of one element of 1, 2, 4 or 8 bytes at `at`, where
    /// [`Window::run_at`] has found it. See [`Window::compare_and_swap`] for the buffers.
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
    /// `RmaSync` without an epoch, `RmaRange` outside of the window, `Type` if the two sides differ
    /// in length, `RmaShared` if the target's memory is not reached.
    pub fn put(&self, process: &Process, origin: &SendBuf, at: At<'_>) -> Result<()> {
        self.carry_out(process, Operation::Put(origin), at)
    }

    /// `MPI_Get`.
    ///
    /// # Errors
    /// As [`Window::put`].
    pub fn get(&self, process: &Process, origin: &mut RecvBuf, at: At<'_>) -> Result<()> {
        self.carry_out(process, Operation::Get(origin), at)
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
        self.carry_out(process, Operation::Combine(kind, origin), at)
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
        self.carry_out(process, Operation::Fetch(kind, origin, result), at)
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
        let swap = Operation::Swap {
            new,
            compare,
            result,
        };
        self.carry_out(process, swap, at)
    }

    /// Carries an operation out on the [path](Path) to its target.
    #[inline(always)]
    fn carry_out(&self, process: &Process, mut operation: Operation<'_>, at: At<'_>) -> Result<()> {
        self.check_open(process, at.rank)?;
        if at.len() == 0 {
            return operation.on_nothing();
        }
        let elements = |place| Elements {
            rank: at.rank,
            place,
            count: at.count,
            ty: at.ty,
        };
        match self.locate(at.rank, at.disp, at.count, at.ty)? {
            Path::Direct(place) => self.directly(process, operation, &elements(place)),
            Path::Mailbox(mailbox, place) => {
                let elements = elements(place);
                match self.by_letter(process, mailbox, &mut operation, &elements) {
                    true => Ok(()),
                    false => self.directly(process, operation, &elements),
                }
            }
            Path::Remote { at: addr } => {
                match self.by_network(process, &mut operation, at, addr)? {
                    true => Ok(()),
                    false => self.by_message(process, operation, at, addr),
                }
            }
            Path::Message { at: addr } => self.by_message(process, operation, at, addr),
        }
    }

    /// Carries it out on elements that this process reaches. It is complete then, at both ends.
    #[inline(always)]
    fn directly(
        &self,
        process: &Process,
        operation: Operation<'_>,
        elements: &Elements<'_>,
    ) -> Result<()> {
        let hold = || self.hold_elements(process, elements.rank);
        // SAFETY: the program lends the buffers and the elements until the epoch ends.
        unsafe {
            match operation {
                Operation::Put(origin) => transfer::put(origin, elements),
                Operation::Get(into) => transfer::get(into, elements),
                Operation::Combine(kind, origin) => {
                    let combine = Combine::new(kind, elements.ty)?;
                    accumulate::accumulate(hold, combine, origin, elements)
                }
                Operation::Fetch(kind, origin, result) => {
                    let combine = Combine::new(kind, elements.ty)?;
                    accumulate::get_accumulate(hold, combine, origin, result, elements)
                }
                Operation::Swap {
                    new,
                    compare,
                    result,
                } => accumulate::compare_and_swap(hold, (new, compare), result, elements),
            }
        }
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
