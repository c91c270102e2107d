//! One-sided communication (MPI-5, chapter 12): operations. Windows and their synchronization are
//! in `window`.

use std::ffi::{c_int, c_void};

use catena_abi::{Aint, Count, Datatype, Op, Request, Win, consts};
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::{Process, enter};
use catena_datatype::{OpKind, TypeRef};
use catena_objects::op::{Kernel, Ops};
use catena_objects::{Result, fail};
use catena_rma::{At, Window, copy_bytes, is_compared, registry};

use crate::args::{self, put};
use crate::entry::mpi_fn;

/// The window of an operation.
#[inline]
pub(crate) fn window(_process: &Process, win: Win) -> Result<&Window> {
    // SAFETY: the process is entered, and an operation calls no callback of the program.
    unsafe { registry::borrow(win) }
}

/// Elements of the target as the program passes them.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub rank: c_int,
    pub disp: Aint,
    pub count: Count,
    pub ty: Datatype,
}

impl Target {
    fn at<'a>(&self, process: &'a Process, rank: u32) -> Result<At<'a>> {
        Ok(At {
            rank,
            disp: self.disp as i64,
            count: args::count(self.count)?,
            ty: process.objects.types.committed(self.ty)?,
        })
    }
}

/// A buffer of the origin as the program passes it.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    buf: *mut c_void,
    count: Count,
    ty: Datatype,
}

impl Origin {
    pub fn new(buf: *const c_void, count: Count, ty: Datatype) -> Self {
        Origin {
            buf: buf.cast_mut(),
            count,
            ty,
        }
    }

    fn check<'a>(&self, process: &'a Process) -> Result<(u64, &'a TypeRef)> {
        let count = args::count(self.count)?;
        let ty = process.objects.types.committed(self.ty)?;
        args::buffer(self.buf, count, ty)?;
        Ok((count, ty))
    }

    fn to_send(self, process: &Process) -> Result<SendBuf> {
        let (count, ty) = self.check(process)?;
        Ok(SendBuf::new(self.buf.cast(), count, ty))
    }

    fn to_recv(self, process: &Process) -> Result<RecvBuf> {
        let (count, ty) = self.check(process)?;
        Ok(RecvBuf::new(self.buf.cast(), count, ty))
    }
}

/// The operation of an accumulate; `no_op` if it may be `MPI_NO_OP`.
fn operation(process: &Process, op: Op, no_op: bool) -> Result<OpKind> {
    let Some(kind) = Ops::predefined(op) else {
        process.objects.ops.find(op)?;
        fail!(
            Op,
            "only predefined operations can be carried out at a target, not a function of the \
            program"
        );
    };
    if kind == OpKind::NoOp && !no_op {
        fail!(
            Op,
            "MPI_NO_OP changes nothing: only calls that fetch take it"
        );
    }
    Ok(kind)
}

/// Refuses an accumulate of elements of one predefined type onto those of another one (MPI-5,
/// 12.3.4): what they would become is not defined. Types of several predefined ones, which only
/// `MPI_REPLACE` and `MPI_NO_OP` take, are left to those. No elements fit any.
fn same_elements(process: &Process, origin: &Origin, target: &Target) -> Result<()> {
    if origin.count == 0 || target.count == 0 || origin.ty == target.ty {
        return Ok(());
    }
    let types = &process.objects.types;
    let basics = (
        types.layout(origin.ty)?.basic(),
        types.layout(target.ty)?.basic(),
    );
    if let (Some(ours), Some(theirs)) = basics
        && ours != theirs
    {
        fail!(
            Type,
            "an accumulate combines elements of one predefined type: those of the origin are \
             {ours:?}, those of the target {theirs:?}"
        );
    }
    Ok(())
}

/// The two sides of the usual operation, and its bytes: runs of elements of predefined types, to a
/// target that is open and mapped here. `None` leaves it to the careful way, errors as well.
#[inline(always)]
fn usual(
    process: &Process,
    window: &Window,
    origin: &Origin,
    target: &Target,
) -> Option<(*mut u8, *mut u8, usize)> {
    let from = origin.buf.cast_const().cast();
    let ours = process.unit_at(origin.ty, from);
    let theirs = match target.ty == origin.ty {
        true => ours,
        false => process.unit_at(target.ty, from),
    };
    // No overflow: a unit has at most 32 bytes.
    let small = (origin.count as u64 | target.count as u64) < 1 << 48;
    let len = ours * origin.count as u64;
    if len == 0 || !small || len != theirs * target.count as u64 {
        return None;
    }
    let has_buffer = origin.buf.addr() > consts::IN_PLACE;
    let at = window.run_at(target.rank, target.disp as i64, len)?;
    has_buffer.then(|| (origin.buf.cast(), at, len as usize))
}

#[inline]
pub(crate) fn put_data(win: Win, origin: Origin, target: Target) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    if let Some((from, to, len)) = usual(&process, window, &origin, &target) {
        // SAFETY: the program lends both sides until the epoch ends.
        unsafe { copy_bytes(to, from, len) };
        return Ok(());
    }
    put_slow(&process, window, origin, target)
}

#[inline(never)]
fn put_slow(process: &Process, window: &Window, origin: Origin, target: Target) -> Result<()> {
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(process, rank)?;
            window.put(process, &origin.to_send(process)?, at)
        }
    }
}

#[inline]
pub(crate) fn get_data(win: Win, origin: Origin, target: Target) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    if let Some((into, from, len)) = usual(&process, window, &origin, &target) {
        // SAFETY: the program lends both sides until the epoch ends.
        unsafe { copy_bytes(into, from, len) };
        return Ok(());
    }
    get_slow(&process, window, origin, target)
}

#[inline(never)]
fn get_slow(process: &Process, window: &Window, origin: Origin, target: Target) -> Result<()> {
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(process, rank)?;
            window.get(process, &mut origin.to_recv(process)?, at)
        }
    }
}

pub(crate) fn accumulate(win: Win, op: Op, origin: Origin, target: Target) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    if let Some((from, at, len)) = usual(&process, window, &origin, &target)
        && op != consts::NO_OP
        && origin.ty == target.ty
        && let Some(kernel) = usual_kernel(&process, op, target.ty)
    {
        // SAFETY: the program lends both sides until the epoch ends.
        return unsafe { window.combine_run(&process, kernel, from, (target.rank, at), len) };
    }
    let kind = operation(&process, op, false)?;
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            same_elements(&process, &origin, &target)?;
            let at = target.at(&process, rank)?;
            window.accumulate(&process, kind, &origin.to_send(&process)?, at)
        }
    }
}

pub(crate) fn get_accumulate(
    win: Win,
    op: Op,
    origin: Origin,
    result: Origin,
    target: Target,
) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    if let Some((into, at, len)) = usual(&process, window, &result, &target)
        && op != consts::NO_OP
        && origin.buf.addr() > consts::IN_PLACE
        && process.unit_at(origin.ty, origin.buf.cast_const().cast()) != 0
        && origin.count == target.count
        && origin.ty == target.ty
        && result.ty == target.ty
        && let Some(kernel) = usual_kernel(&process, op, target.ty)
    {
        let buffers = (origin.buf.cast_const().cast(), into);
        let to = (target.rank, at);
        // SAFETY: the program lends all of them until the epoch ends.
        return unsafe { window.fetch_run(&process, Some(kernel), buffers, to, len) };
    }
    let kind = operation(&process, op, true)?;
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(&process, rank)?;
            same_elements(&process, &result, &target)?;
            // Whatever it is, nothing of it counts.
            if kind != OpKind::NoOp {
                same_elements(&process, &origin, &target)?;
            }
            let from = match kind {
                OpKind::NoOp => SendBuf::EMPTY,
                _ => origin.to_send(&process)?,
            };
            let mut into = result.to_recv(&process)?;
            window.get_accumulate(&process, kind, &from, &mut into, at)
        }
    }
}

/// The kernel of a predefined operation and type; `None` leaves it to the careful way.
#[inline(always)]
fn usual_kernel(process: &Process, op: Op, ty: Datatype) -> Option<Kernel> {
    let layout = process.objects.types.layout(ty).ok()?;
    process
        .objects
        .ops
        .accumulate_kernel(op, ty, layout)
        .ok()
        .flatten()
}

fn fetch_and_op(
    win: Win,
    (origin, result): (*const c_void, *mut c_void),
    ty: Datatype,
    (rank, disp): (c_int, Aint),
    op: Op,
) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    let target = element(&process, ty, rank, disp)?;
    let into = Origin::new(result, 1, ty);
    let is_read = op == consts::NO_OP;
    if let Some((into, at, len)) = usual(&process, window, &into, &target)
        && (is_read || origin.addr() > consts::IN_PLACE && process.unit_at(ty, origin.cast()) != 0)
    {
        let kernel = if is_read {
            None
        } else {
            usual_kernel(&process, op, ty)
        };
        if is_read || kernel.is_some() {
            let buffers = (origin.cast(), into);
            // SAFETY: the program lends all of them until the epoch ends.
            return unsafe { window.fetch_run(&process, kernel, buffers, (rank, at), len) };
        }
    }
    drop(process);
    get_accumulate(win, op, Origin::new(origin, 1, ty), into, target)
}

/// Makes an operation's request; only passive epochs allow one (MPI-5, 12.3.5).
pub(crate) fn requested(
    win: Win,
    request: *mut Request,
    operation: impl FnOnce() -> Result<()>,
) -> Result<()> {
    window(&*enter()?, win)?.check_passive(None)?;
    put(request, catena_rma::requested(enter, operation)?, "request")
}

/// One element of a predefined type at a target. Inline, as the processor cannot read at once what
/// was written in smaller pieces.
#[inline(always)]
fn element(process: &Process, ty: Datatype, rank: c_int, disp: Aint) -> Result<Target> {
    process.objects.types.layout(ty)?;
    if ty.0 >= 0x1000 {
        fail!(Type, "the datatype must be a predefined one");
    }
    Ok(Target {
        rank,
        disp,
        count: 1,
        ty,
    })
}

fn compare_and_swap(
    win: Win,
    (origin, compare, result): (*const c_void, *const c_void, *mut c_void),
    ty: Datatype,
    (rank, disp): (c_int, Aint),
) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    let target = element(&process, ty, rank, disp)?;
    let into = Origin::new(result, 1, ty);
    if let Some((into, at, len @ 1..=8)) = usual(&process, window, &into, &target)
        && origin.addr().min(compare.addr()) > consts::IN_PLACE
        && [origin, compare]
            .iter()
            .all(|it| process.unit_at(ty, it.cast()) != 0)
        && is_compared(process.objects.types.layout(ty)?)
    {
        let buffers = (origin.cast(), compare.cast(), into);
        // SAFETY: the program lends all of them until the epoch ends.
        return unsafe { window.swap_run(&process, buffers, (rank, at), len) };
    }
    match window.target_rank(rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(&process, rank)?;
            for (buffer, name) in [
                (origin, "origin_addr"),
                (compare, "compare_addr"),
                (result.cast_const(), "result_addr"),
            ] {
                if buffer.addr() <= consts::IN_PLACE {
                    return Err(args::null_argument(name));
                }
            }
            let [new, compare] = [origin, compare].map(|it| SendBuf::new(it.cast(), 1, at.ty));
            let mut result = RecvBuf::new(result.cast(), 1, at.ty);
            window.compare_and_swap(&process, (&new, &compare), &mut result, at)
        }
    }
}

mpi_fn! {
    fn MPI_Put | MPI_Put_c(origin_addr: *const c_void, origin_count: Num, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        put_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        })
    }

    fn MPI_Get | MPI_Get_c(origin_addr: *mut c_void, origin_count: Num, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        get_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        })
    }

    fn MPI_Accumulate | MPI_Accumulate_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        accumulate(win, op, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        })
    }

    fn MPI_Get_accumulate | MPI_Get_accumulate_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, result_addr: *mut c_void, result_count: Num,
        result_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        let result = Origin::new(result_addr, result_count.into(), result_datatype);
        get_accumulate(win, op, origin, result, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        })
    }

    fn MPI_Rput | MPI_Rput_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        requested(win, request, || put_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPI_Rget | MPI_Rget_c(origin_addr: *mut c_void, origin_count: Num, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        requested(win, request, || get_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPI_Raccumulate | MPI_Raccumulate_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        requested(win, request, || accumulate(win, op, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPI_Rget_accumulate | MPI_Rget_accumulate_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, result_addr: *mut c_void, result_count: Num,
        result_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        let result = Origin::new(result_addr, result_count.into(), result_datatype);
        requested(win, request, || get_accumulate(win, op, origin, result, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPI_Fetch_and_op(origin_addr: *const c_void, result_addr: *mut c_void, datatype: Datatype,
        target_rank: c_int, target_disp: Aint, op: Op, win: Win) on win
    {
        let buffers = (origin_addr, result_addr);
        fetch_and_op(win, buffers, datatype, (target_rank, target_disp), op)
    }

    fn MPI_Compare_and_swap(origin_addr: *const c_void, compare_addr: *const c_void,
        result_addr: *mut c_void, datatype: Datatype, target_rank: c_int, target_disp: Aint,
        win: Win) on win
    {
        let buffers = (origin_addr, compare_addr, result_addr);
        compare_and_swap(win, buffers, datatype, (target_rank, target_disp))
    }
}
