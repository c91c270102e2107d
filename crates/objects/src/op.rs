//! Reduction operations (MPI-5, chapter 6.9) applied to packed elements.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_datatype::{
    Basic, OpKind, Reduce, Reduce3, TypeRef, reduce3, reducer, reducer_in_memory,
};

use crate::callback::{Foreign, LayerFn, OpCountFn, OpFn};
use crate::datatype::{Datatypes, Hold};
use crate::error::{Error, Kind, Result};
use crate::fail;
use crate::room::{AllocResult, LaidOut, Scratch};
use crate::state::State;
use crate::table::{ObjectKind, Table};

/// An operation.
///
/// # Examples
/// ```
/// use catena_abi::consts;
/// use catena_datatype::{Datatype, OpKind};
/// use catena_objects::op::Op;
///
/// let int = Datatype::predefined(consts::INT.0 as u16).unwrap();
/// let sum = Op::Builtin(OpKind::Sum).bind(consts::INT, int)?;
/// let (a, mut b) = ([1_i32, 2], [10_i32, 20]);
/// // SAFETY: both are two elements long.
/// unsafe { sum.apply(a.as_ptr().cast(), b.as_mut_ptr().cast(), 8) }?;
/// assert_eq!(b, [11, 22]);
/// # Ok::<(), catena_objects::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Op {
    /// One of the predefined.
    Builtin(OpKind),
    /// A function of the program.
    User {
        /// What it is.
        function: UserFn,
        /// Whether operands may change places.
        commutative: bool,
    },
}

/// `void f(void *in, void *inout, count *len, MPI_Datatype *type)`
#[derive(Clone, Debug)]
pub enum UserFn {
    /// With an `int` count.
    Int(Foreign<OpFn>),
    /// With an `MPI_Count` count.
    Count(Foreign<OpCountFn>),
    /// A function of a layer above the C interface.
    Layer {
        /// What it is.
        function: Foreign<LayerFn>,
        /// The most elements that it takes at once, at least 1.
        longest: abi::Count,
        /// What it is given besides.
        state: Arc<State>,
    },
}

/// A predefined operation on basic elements of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Computes `inout[i] = in[i] op inout[i]`.
    pub run: Reduce,
    /// Computes `out[i] = a[i] op b[i]`.
    pub join: Reduce3,
    /// Bytes per element.
    pub size: usize,
}

/// An operation bound to the type that it is applied to.
#[derive(Clone, Debug)]
pub enum Reducer {
    /// A predefined one.
    Kernel(Kernel),
    /// A function of the program.
    User {
        /// The function.
        function: UserFn,
        /// Passed to it.
        handle: abi::Datatype,
        /// Layout that it expects.
        ty: TypeRef,
        /// What keeps the handle alive until the last call.
        hold: Option<Hold>,
    },
}

impl Op {
    /// Whether operands may change places.
    pub fn commutative(&self) -> bool {
        match self {
            Op::Builtin(_) => true,
            Op::User { commutative, .. } => *commutative,
        }
    }

    /// Binds the operation to a type.
    ///
    /// # Errors
    /// `Op` if it is not defined on that type.
    pub fn bind(&self, handle: abi::Datatype, ty: &TypeRef) -> Result<Reducer> {
        match self {
            Op::User { function, .. } => Ok(Reducer::User {
                function: function.clone(),
                handle,
                ty: ty.clone(),
                hold: None,
            }),
            Op::Builtin(kind) if is_one_sided(*kind) => Err(one_sided(*kind)),
            Op::Builtin(kind) => Ok(Reducer::Kernel(kernel(*kind, handle, ty)?)),
        }
    }

    /// Computes `inout = in op inout` of elements where the program has them, as
    /// `MPI_Reduce_local`.
    ///
    /// # Errors
    /// As [`Op::bind`].
    ///
    /// # Safety
    /// Both hold `count` elements of `ty`.
    pub unsafe fn apply_in_memory(
        &self,
        input: *const u8,
        inout: *mut u8,
        count: u64,
        handle: abi::Datatype,
        ty: &TypeRef,
    ) -> Result<()> {
        let count = count as usize;
        match self {
            Op::Builtin(kind) if is_one_sided(*kind) => return Err(one_sided(*kind)),
            Op::Builtin(kind) => {
                let basic = single(*kind, ty)?;
                let run = reducer_in_memory(*kind, basic)
                    .ok_or_else(|| undefined(*kind, handle, basic))?;
                let (at, extent) = (ty.true_lb() as isize, ty.extent() as isize);
                let (input, inout) = (input.wrapping_offset(at), inout.wrapping_offset(at));
                if extent == basic.extent() as isize {
                    // SAFETY: the caller's promise.
                    unsafe { run(input, inout, count) };
                } else {
                    for at in (0..count as isize).map(|i| i * extent) {
                        // SAFETY: the caller's promise.
                        unsafe { run(input.offset(at), inout.offset(at), 1) };
                    }
                }
            }
            Op::User { function, .. } => {
                let extent = ty.extent() as isize;
                call(function, input.cast_mut(), inout, count, extent, handle);
            }
        }
        Ok(())
    }
}

/// The kernel of a predefined operation for the type of that handle.
///
/// # Errors
/// As [`Op::bind`].
pub fn kernel(kind: OpKind, handle: abi::Datatype, ty: &TypeRef) -> Result<Kernel> {
    let basic = single(kind, ty)?;
    let (run, join) = reducer(kind, basic)
        .zip(reduce3(kind, basic))
        .ok_or_else(|| undefined(kind, handle, basic))?;
    let size = basic.size() as usize;
    Ok(Kernel { run, join, size })
}

/// The one basic element that a type is made of.
fn single(kind: OpKind, ty: &TypeRef) -> Result<Basic> {
    // None, or more than one, though all of a kind.
    let basic = ty.basic().filter(|b| ty.size() == u64::from(b.size()));
    basic.ok_or_else(|| derived(kind))
}

#[cold]
fn undefined(kind: OpKind, handle: abi::Datatype, basic: Basic) -> Error {
    let kind = kind.name();
    let text = match abi::datatype_name(handle) {
        Some(name) => format!("{kind} is not defined on {name}"),
        None => format!("{kind} is not defined on {basic:?}"),
    };
    Error::new(Kind::Op, text)
}

/// Whether an operation is for one-sided calls only: its result is that of one operand, and which
/// of them comes last no reduction says.
fn is_one_sided(kind: OpKind) -> bool {
    matches!(kind, OpKind::Replace | OpKind::NoOp)
}

#[cold]
fn one_sided(kind: OpKind) -> Error {
    let text = format!(
        "{} is for one-sided calls: it cannot combine the operands of a reduction",
        kind.name()
    );
    Error::new(Kind::Op, text)
}

#[cold]
fn derived(kind: OpKind) -> Error {
    let text = format!(
        "{} is predefined, but the datatype is not: only a function of the \
        program (MPI_Op_create) can combine derived types",
        kind.name()
    );
    Error::new(Kind::Op, text)
}

/// Bytes of elements that are laid out for a function of the program at a time.
const LAID_OUT: usize = 64 << 10;

impl Reducer {
    /// This reducer, which keeps the handle alive that a function of the program is given: the
    /// program may have freed its own before the last call.
    pub fn holding(mut self, types: &Datatypes) -> Self {
        if let Reducer::User { handle, hold, .. } = &mut self {
            *hold = types.hold(*handle);
        }
        self
    }

    /// Whether it is a function of the program.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        matches!(self, Reducer::User { .. })
    }

    /// Bytes that must stay together when a buffer is cut.
    pub fn unit(&self) -> usize {
        match self {
            Reducer::Kernel(kernel) => kernel.size,
            Reducer::User { ty, .. } => ty.size() as usize,
        }
    }

    /// About this many bytes, whole elements.
    pub fn piece(&self, bytes: usize) -> usize {
        let unit = self.unit().max(1);
        bytes.max(unit) / unit * unit
    }

    /// Computes `inout = in op inout` over `len` packed bytes.
    ///
    /// # Errors
    /// If a function of the program needs its elements laid out, and there is no
    /// memory for that.
    ///
    /// # Safety
    /// Both ranges are valid for `len` bytes, a multiple of [`Reducer::unit`],
    /// and do not overlap.
    pub unsafe fn apply(&self, input: *const u8, inout: *mut u8, len: usize) -> AllocResult<()> {
        match self {
            // SAFETY: the caller's promise.
            Reducer::Kernel(kernel) => unsafe { (kernel.run)(input, inout, len / kernel.size) },
            Reducer::User {
                function,
                handle,
                ty,
                ..
            } => {
                let unit = ty.size() as usize;
                if unit == 0 || len == 0 {
                    return Ok(());
                }
                let count = len / unit;
                if ty.is_contiguous() {
                    let extent = ty.extent() as isize;
                    call(function, input.cast_mut(), inout, count, extent, *handle);
                } else {
                    // SAFETY: the caller's promise.
                    unsafe { apply_laid_out(function, *handle, ty, input, inout, count)? }
                }
            }
        }
        Ok(())
    }

    /// Computes `inout = inout op in` over `len` packed bytes.
    ///
    /// # Errors
    /// As [`Reducer::apply`], and if there is no memory for a copy.
    ///
    /// # Safety
    /// As [`Reducer::apply`].
    pub unsafe fn apply_right(
        &self,
        input: *const u8,
        inout: *mut u8,
        len: usize,
    ) -> AllocResult<()> {
        if let Reducer::Kernel(_) = self {
            // Every predefined operation commutes, to the last bit of a NaN.
            // SAFETY: the caller's promise.
            return unsafe { self.apply(input, inout, len) };
        }
        let piece = self.piece(LAID_OUT).min(len);
        let mut right = Scratch::new(piece)?;
        for at in (0..len).step_by(piece.max(1)) {
            let now = piece.min(len - at);
            // SAFETY: the caller's promise; the copy of `input` takes the result,
            // which then replaces the left operand.
            unsafe {
                let inout = inout.add(at);
                ptr::copy_nonoverlapping(input.add(at), right.base(), now);
                self.apply(inout, right.base(), now)?;
                ptr::copy_nonoverlapping(right.base(), inout, now);
            }
        }
        Ok(())
    }
}

/// Calls the program's function on `count` elements that lie `extent` bytes
/// apart. One with an `int` count gets very long vectors in pieces.
fn call(
    function: &UserFn,
    input: *mut u8,
    inout: *mut u8,
    count: usize,
    extent: isize,
    mut ty: abi::Datatype,
) {
    match function {
        UserFn::Int(f) => in_pieces(count, c_int::MAX as usize, |from, n| {
            let shift = from as isize * extent;
            let mut len = n as c_int;
            let (a, b) = (input.wrapping_offset(shift), inout.wrapping_offset(shift));
            // SAFETY: the program registered it for such operands.
            f.call(|f| unsafe { f(a.cast(), b.cast(), &raw mut len, &raw mut ty) });
        }),
        UserFn::Layer {
            function,
            longest,
            state,
        } => in_pieces(count, *longest as usize, |from, n| {
            let shift = from as isize * extent;
            let (a, b) = (input.wrapping_offset(shift), inout.wrapping_offset(shift));
            function.call(|f| f(a.cast(), b.cast(), n as abi::Count, ty, state.value()));
        }),
        UserFn::Count(f) => {
            let mut n = count as abi::Count;
            // SAFETY: the program registered it for such operands.
            f.call(|f| unsafe { f(input.cast(), inout.cast(), &raw mut n, &raw mut ty) });
        }
    }
}

/// Tells where each piece of at most `longest` elements begins, and how long it is.
fn in_pieces(count: usize, longest: usize, mut each: impl FnMut(usize, usize)) {
    for from in (0..count).step_by(longest) {
        each(from, longest.min(count - from));
    }
}

/// The program's function expects its own layout: lays both operands out,
/// calls it, and packs the result.
///
/// # Errors
/// If there is no memory for that.
///
/// # Safety
/// As [`Reducer::apply`].
unsafe fn apply_laid_out(
    function: &UserFn,
    handle: abi::Datatype,
    ty: &TypeRef,
    input: *const u8,
    inout: *mut u8,
    count: usize,
) -> AllocResult<()> {
    let extent = (ty.extent().unsigned_abs() as usize).max(1);
    let piece = (LAID_OUT / extent).clamp(1, count);
    let (mut a, mut b) = (LaidOut::new(ty, piece)?, LaidOut::new(ty, piece)?);
    for from in (0..count).step_by(piece) {
        let now = piece.min(count - from);
        let (at, len) = (from * ty.size() as usize, now * ty.size() as usize);
        // SAFETY: the caller's promise; both are as long as `piece` elements reach.
        unsafe {
            let (input, inout) = (input.add(at), inout.add(at));
            ty.unpack(a.base(), now as u64, 0, input, len);
            ty.unpack(b.base(), now as u64, 0, inout, len);
            let extent = ty.extent() as isize;
            call(function, a.base(), b.base(), now, extent, handle);
            ty.pack(b.base(), now as u64, 0, inout, len);
        }
    }
    Ok(())
}

/// How a predefined operation combines a predefined type.
#[derive(Clone, Copy, Debug)]
struct LastKernel {
    op: abi::Op,
    ty: abi::Datatype,
    /// See [`Ops::kernel`].
    found: Kernel,
}

/// The operations of a process.
#[derive(Debug)]
pub struct Ops {
    /// All but the predefined ones.
    pub table: Table<Arc<Op>>,
    /// The one that was looked up last, by a reduction and by an accumulate: most often the next is
    /// the same.
    last_kernel: Cell<Option<LastKernel>>,
    last_accumulate: Cell<Option<LastKernel>>,
}

/// The kernel of a predefined operation for the type of that handle, which `last` keeps.
#[inline(never)]
fn find(
    last: &Cell<Option<LastKernel>>,
    op: abi::Op,
    handle: abi::Datatype,
    ty: &TypeRef,
) -> Result<Option<Kernel>> {
    let Some(kind) = Ops::predefined(op) else {
        return Ok(None);
    };
    let found = kernel(kind, handle, ty)?;
    if handle.0 < 0x1000 {
        let ty = handle;
        last.set(Some(LastKernel { op, ty, found }));
    }
    Ok(Some(found))
}

impl Default for Ops {
    fn default() -> Self {
        Ops {
            table: Table::new(ObjectKind::Op),
            last_kernel: Cell::new(None),
            last_accumulate: Cell::new(None),
        }
    }
}

impl Ops {
    /// The predefined operation behind a handle, if it is of one.
    #[inline]
    pub fn predefined(h: abi::Op) -> Option<OpKind> {
        Some(match h {
            consts::SUM => OpKind::Sum,
            consts::MIN => OpKind::Min,
            consts::MAX => OpKind::Max,
            consts::PROD => OpKind::Prod,
            consts::BAND => OpKind::Band,
            consts::BOR => OpKind::Bor,
            consts::BXOR => OpKind::Bxor,
            consts::LAND => OpKind::Land,
            consts::LOR => OpKind::Lor,
            consts::LXOR => OpKind::Lxor,
            consts::MINLOC => OpKind::MinLoc,
            consts::MAXLOC => OpKind::MaxLoc,
            consts::REPLACE => OpKind::Replace,
            consts::NO_OP => OpKind::NoOp,
            _ => return None,
        })
    }

    /// What a reduction applies, if the operation is predefined.
    ///
    /// # Errors
    /// `Op` if it is not defined on that type, or not for reductions: `MPI_REPLACE` and `MPI_NO_OP`
    /// are for one-sided calls (MPI-5, 6.9.2 and 12.3.4).
    #[inline]
    pub fn kernel(
        &self,
        op: abi::Op,
        handle: abi::Datatype,
        ty: &TypeRef,
    ) -> Result<Option<Kernel>> {
        match self.last_kernel.get() {
            Some(last) if (last.op, last.ty) == (op, handle) => Ok(Some(last.found)),
            _ => self.find_kernel(op, handle, ty),
        }
    }

    /// What an accumulate applies at its target, if the operation is predefined.
    ///
    /// # Errors
    /// `Op` if it is not defined on that type.
    #[inline]
    pub fn accumulate_kernel(
        &self,
        op: abi::Op,
        handle: abi::Datatype,
        ty: &TypeRef,
    ) -> Result<Option<Kernel>> {
        match self.last_accumulate.get() {
            Some(last) if (last.op, last.ty) == (op, handle) => Ok(Some(last.found)),
            _ => find(&self.last_accumulate, op, handle, ty),
        }
    }

    #[inline(never)]
    fn find_kernel(
        &self,
        op: abi::Op,
        handle: abi::Datatype,
        ty: &TypeRef,
    ) -> Result<Option<Kernel>> {
        match Ops::predefined(op) {
            Some(kind) if is_one_sided(kind) => Err(one_sided(kind)),
            _ => find(&self.last_kernel, op, handle, ty),
        }
    }

    /// The operation behind a handle.
    ///
    /// # Errors
    /// `Op` for `MPI_OP_NULL`, freed and made-up handles.
    pub fn find(&self, h: abi::Op) -> Result<Op> {
        if let Some(kind) = Ops::predefined(h) {
            return Ok(Op::Builtin(kind));
        }
        if h == consts::OP_NULL {
            fail!(Op, "the operation is MPI_OP_NULL");
        }
        match self.table.get(h.0) {
            Some(op) => Ok((*op).clone()),
            None => fail!(Op, "{:#x} is not an operation, or was freed", h.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_datatype::Datatype;
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    static ENDED: AtomicUsize = AtomicUsize::new(0);

    /// Adds, and notes in its state how many elements came at once.
    extern "C" fn add(
        a: *mut c_void,
        b: *mut c_void,
        n: abi::Count,
        ty: abi::Datatype,
        state: *mut c_void,
    ) {
        assert_eq!(ty, consts::INT);
        // SAFETY: the state is what the test gave; both hold `n` elements.
        unsafe {
            (*state.cast::<Vec<abi::Count>>()).push(n);
            for i in 0..n as usize {
                *b.cast::<i32>().add(i) += *a.cast::<i32>().add(i);
            }
        }
    }

    extern "C" fn end(_state: *mut c_void) {
        ENDED.fetch_add(1, Relaxed);
    }

    #[test]
    fn a_function_of_a_layer_gets_its_state_until_nobody_calls_it_any_more() {
        let mut pieces: Vec<abi::Count> = Vec::new();
        let state = State::new((&raw mut pieces).cast(), Some(end)).into();
        let function = UserFn::Layer {
            function: Foreign::new(add),
            longest: 2,
            state,
        };
        let op = Op::User {
            function,
            commutative: true,
        };
        let int = Datatype::predefined(consts::INT.0 as u16).unwrap();
        let bound = op.bind(consts::INT, int).unwrap();
        drop(op);
        let (a, mut b) = ([1_i32, 2, 3, 4, 5], [10_i32, 20, 30, 40, 50]);
        // SAFETY: both are five elements long.
        unsafe { bound.apply(a.as_ptr().cast(), b.as_mut_ptr().cast(), 20) }.unwrap();
        assert_eq!(ENDED.load(Relaxed), 0);
        drop(bound);
        assert_eq!(ENDED.load(Relaxed), 1);
        assert_eq!((b, pieces), ([11, 22, 33, 44, 55], vec![2, 2, 1]));
    }
}
