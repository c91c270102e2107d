//! One-sided communication (MPI-5, chapter 12): operations. Windows and their synchronization are in
//! `window`.

use std::ffi::{c_int, c_void};

use catena_abi::{Aint, Count, Datatype, Op, Request, Win, consts};
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::{Process, enter, request};
use catena_datatype::{OpKind, TypeRef};
use catena_objects::op::Ops;
use catena_objects::{Result, fail};
use catena_rma::{At, Window, registry};

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
struct Target {
    rank: c_int,
    disp: Aint,
    count: Count,
    ty: Datatype,
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
struct Origin {
    buf: *mut c_void,
    count: Count,
    ty: Datatype,
}

impl Origin {
    fn new(buf: *const c_void, count: Count, ty: Datatype) -> Self {
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

fn put_data(win: Win, origin: Origin, target: Target) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(&process, rank)?;
            window.put(&process, &origin.to_send(&process)?, at)
        }
    }
}

fn get_data(win: Win, origin: Origin, target: Target) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(&process, rank)?;
            window.get(&process, &mut origin.to_recv(&process)?, at)
        }
    }
}

fn accumulate(win: Win, op: Op, origin: Origin, target: Target) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    let kind = operation(&process, op, false)?;
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(&process, rank)?;
            window.accumulate(&process, kind, &origin.to_send(&process)?, at)
        }
    }
}

fn get_accumulate(win: Win, op: Op, origin: Origin, result: Origin, target: Target) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    let kind = operation(&process, op, true)?;
    match window.target_rank(target.rank)? {
        None => Ok(()),
        Some(rank) => {
            let at = target.at(&process, rank)?;
            // Whatever it is, nothing of it counts.
            let from = match kind {
                OpKind::NoOp => SendBuf::EMPTY,
                _ => origin.to_send(&process)?,
            };
            let mut into = result.to_recv(&process)?;
            window.get_accumulate(&process, kind, &from, &mut into, at)
        }
    }
}

/// The request of an operation that is complete; only passive epochs allow one.
fn requested(
    win: Win,
    request: *mut Request,
    operation: impl FnOnce() -> Result<()>,
) -> Result<()> {
    window(&*enter()?, win)?;
    operation()?;
    put(request, request::SENT, "request")
}

/// One element of a predefined type at a target.
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
            let buffers = (origin.cast(), compare.cast(), result.cast());
            window.compare_and_swap(&process, buffers, at)
        }
    }
}

mpi_fn! {
    fn Put | Put_c(origin_addr: *const c_void, origin_count: Num, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        put_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        })
    }

    fn Get | Get_c(origin_addr: *mut c_void, origin_count: Num, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        get_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        })
    }

    fn Accumulate | Accumulate_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        accumulate(win, op, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        })
    }

    fn Get_accumulate | Get_accumulate_c(origin_addr: *const c_void, origin_count: Num,
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

    fn Rput | Rput_c(origin_addr: *const c_void, origin_count: Num, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        requested(win, request, || put_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn Rget | Rget_c(origin_addr: *mut c_void, origin_count: Num, origin_datatype: Datatype,
        target_rank: c_int, target_disp: Aint, target_count: Num, target_datatype: Datatype,
        win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        requested(win, request, || get_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn Raccumulate | Raccumulate_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        requested(win, request, || accumulate(win, op, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn Rget_accumulate | Rget_accumulate_c(origin_addr: *const c_void, origin_count: Num,
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

    fn Fetch_and_op(origin_addr: *const c_void, result_addr: *mut c_void, datatype: Datatype,
        target_rank: c_int, target_disp: Aint, op: Op, win: Win) on win
    {
        let target = element(&*enter()?, datatype, target_rank, target_disp)?;
        let origin = Origin::new(origin_addr, 1, datatype);
        let result = Origin::new(result_addr, 1, datatype);
        get_accumulate(win, op, origin, result, target)
    }

    fn Compare_and_swap(origin_addr: *const c_void, compare_addr: *const c_void,
        result_addr: *mut c_void, datatype: Datatype, target_rank: c_int, target_disp: Aint,
        win: Win) on win
    {
        let buffers = (origin_addr, compare_addr, result_addr);
        compare_and_swap(win, buffers, datatype, (target_rank, target_disp))
    }
}
