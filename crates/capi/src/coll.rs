//! Collective communication (MPI-5, chapter 6).
//!
//! The blocking, non-blocking and persistent form of an operation prepare the
//! same thing and differ only in what they do with it.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use catena_abi::{Aint, Comm, Count, Datatype, Info, Op, Request};
use catena_core::coll::{Caller, Data, Numbers, OwnBlock, Prepared, VData, WData, is_in_place};
use catena_core::comm::Comm as CommObj;
use catena_core::{Process, enter};
use catena_objects::Result;

use crate::args::{self, put};
use crate::entry::mpi_fn;

/// Defines the forms of each operation; the body prepares it for a [`Caller`]
/// and a communicator.
macro_rules! collectives {
    ($(
        $now:ident $(| $now_c:ident)?, $start:ident $(| $start_c:ident)?,
        $init:ident $(| $init_c:ident)?
        ($($arg:ident: $ty:ty),* $(,)?) |$caller:ident, $c:ident| $body:block
    )*) => {
        mpi_fn! {$(
            fn $now $(| $now_c)? ($($arg: $ty,)* comm: Comm) on comm {
                $crate::coll::run(comm, |$caller, $c| $body)
            }

            fn $start $(| $start_c)? ($($arg: $ty,)* comm: Comm, request: *mut Request) on comm {
                $crate::coll::start(comm, request, |$caller, $c| $body)
            }

            fn $init $(| $init_c)? ($($arg: $ty,)* comm: Comm, info: Info, request: *mut Request)
                on comm
            {
                $crate::coll::init(comm, info, request, |$caller, $c| $body)
            }
        )*}
    };
}

pub(crate) use collectives;

/// The blocking form; nothing is left to do if the operation ran at once.
#[inline]
pub(crate) fn run<F>(comm: Comm, prepare: F) -> Result<()>
where
    F: FnOnce(&Caller<'_>, &Arc<CommObj>) -> Result<Option<Prepared>>,
{
    let process = enter()?;
    let caller = Caller {
        process: &process,
        now: true,
    };
    match prepare(&caller, process.comms.find(comm)?) {
        Ok(None) => Ok(()),
        Ok(Some(left)) => left.run(&process),
        Err(error) => Err(error),
    }
}

/// Prepares a form that does not block.
fn later<F>(process: &Process, comm: Comm, prepare: F) -> Result<Prepared>
where
    F: FnOnce(&Caller<'_>, &Arc<CommObj>) -> Result<Option<Prepared>>,
{
    let caller = Caller {
        process,
        now: false,
    };
    let prepared = prepare(&caller, process.comms.find(comm)?)?;
    Ok(prepared.expect("only blocking calls run at once"))
}

/// The non-blocking form.
pub(crate) fn start<F>(comm: Comm, request: *mut Request, prepare: F) -> Result<()>
where
    F: FnOnce(&Caller<'_>, &Arc<CommObj>) -> Result<Option<Prepared>>,
{
    let process = enter()?;
    let prepared = later(&process, comm, prepare)?;
    put(request, prepared.start(&process)?, "request")
}

/// The persistent form.
pub(crate) fn init<F>(comm: Comm, info: Info, request: *mut Request, prepare: F) -> Result<()>
where
    F: FnOnce(&Caller<'_>, &Arc<CommObj>) -> Result<Option<Prepared>>,
{
    let process = enter()?;
    process.objects.infos.find(info)?;
    let prepared = later(&process, comm, prepare)?;
    put(request, prepared.persist(&process)?, "request")
}

pub(crate) fn data(buf: *const c_void, count: impl Into<Count>, ty: Datatype) -> Data {
    Data {
        buf: buf.cast_mut().cast(),
        count: count.into(),
        ty,
    }
}

/// What arrays of counts and displacements consist of.
pub(crate) trait Number: Copy {
    fn all(of: &[Self]) -> Numbers<'_>;

    /// The number.
    fn value(self) -> Count;
}

impl Number for c_int {
    fn all(of: &[Self]) -> Numbers<'_> {
        Numbers::Int(of)
    }

    #[inline(always)]
    fn value(self) -> Count {
        self.into()
    }
}

impl Number for Count {
    fn all(of: &[Self]) -> Numbers<'_> {
        Numbers::Count(of)
    }

    #[inline(always)]
    fn value(self) -> Count {
        self
    }
}

impl Number for Aint {
    fn all(of: &[Self]) -> Numbers<'_> {
        Numbers::Aint(of)
    }

    #[inline(always)]
    fn value(self) -> Count {
        self as Count
    }
}

#[inline]
fn numbers<'a, N: Number + 'a>(at: *const N, n: usize, name: &str) -> Result<Numbers<'a>> {
    Ok(N::all(args::array(at, n, name)?))
}

/// One block per peer, none where the arrays mean nothing and are not read.
fn peers(significant: bool, c: &CommObj) -> usize {
    if significant { c.peers as usize } else { 0 }
}

/// `n` blocks of one type.
#[inline]
pub(crate) fn vdata<'a, N: Number + 'a, D: Number + 'a>(
    n: usize,
    buf: *const c_void,
    at_counts: *const N,
    at_displs: *const D,
    ty: Datatype,
) -> Result<VData<'a>> {
    Ok(VData {
        buf: buf.cast_mut().cast(),
        counts: numbers(at_counts, n, "counts")?,
        displs: numbers(at_displs, n, "displs")?,
        ty,
    })
}

/// The block of this member, if it is within one group, and no other block has elements.
#[inline(always)]
fn own_block<N: Number, D: Number>(
    c: &CommObj,
    buf: *const c_void,
    at_counts: *const N,
    at_displs: *const D,
    ty: Datatype,
) -> Option<OwnBlock> {
    if at_counts.is_null() || at_displs.is_null() || c.is_inter() {
        return None;
    }
    let mine = c.rank as usize;
    // SAFETY: the program passes arrays with a number for each member, which it does not change
    // during the call.
    let (counts, displ) = unsafe {
        let counts = std::slice::from_raw_parts(at_counts, c.peers as usize);
        (counts, at_displs.add(mine).read())
    };
    let is_own = |(i, &n): (usize, &N)| i == mine || n.value() == 0;
    counts.iter().enumerate().all(is_own).then(|| OwnBlock {
        data: data(buf, counts[mine].value(), ty),
        displ: displ.value(),
    })
}

/// `n` blocks, each of its own type.
pub(crate) fn wdata<'a, N: Number + 'a, D: Number + 'a>(
    n: usize,
    buf: *const c_void,
    at_counts: *const N,
    at_displs: *const D,
    at_types: *const Datatype,
) -> Result<WData<'a>> {
    Ok(WData {
        buf: buf.cast_mut().cast(),
        counts: numbers(at_counts, n, "counts")?,
        displs: numbers(at_displs, n, "displs")?,
        types: args::array(at_types, n, "types")?,
    })
}

collectives! {
    MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init() |caller, c| {
        caller.barrier(c)
    }

    MPI_Bcast | MPI_Bcast_c, MPI_Ibcast | MPI_Ibcast_c, MPI_Bcast_init | MPI_Bcast_init_c
    (buffer: *mut c_void, count: Num, datatype: Datatype, root: c_int) |caller, c| {
        caller.bcast(c, data(buffer, count, datatype), root)
    }

    MPI_Gather | MPI_Gather_c, MPI_Igather | MPI_Igather_c, MPI_Gather_init | MPI_Gather_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype, root: c_int) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.gather(c, s, r, root)
    }

    MPI_Gatherv | MPI_Gatherv_c, MPI_Igatherv | MPI_Igatherv_c,
        MPI_Gatherv_init | MPI_Gatherv_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcounts: *const Num, displs: *const Disp, recvtype: Datatype, root: c_int) |caller, c|
    {
        let r = vdata(peers(c.is_root(root), c), recvbuf, recvcounts, displs, recvtype)?;
        caller.gatherv(c, data(sendbuf, sendcount, sendtype), r, root)
    }

    MPI_Scatter | MPI_Scatter_c, MPI_Iscatter | MPI_Iscatter_c,
        MPI_Scatter_init | MPI_Scatter_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype, root: c_int) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.scatter(c, s, r, root)
    }

    MPI_Scatterv | MPI_Scatterv_c, MPI_Iscatterv | MPI_Iscatterv_c,
        MPI_Scatterv_init | MPI_Scatterv_init_c
    (sendbuf: *const c_void, sendcounts: *const Num, displs: *const Disp, sendtype: Datatype,
        recvbuf: *mut c_void, recvcount: Num, recvtype: Datatype, root: c_int) |caller, c|
    {
        let s = vdata(peers(c.is_root(root), c), sendbuf, sendcounts, displs, sendtype)?;
        caller.scatterv(c, s, data(recvbuf, recvcount, recvtype), root)
    }

    MPI_Allgather | MPI_Allgather_c, MPI_Iallgather | MPI_Iallgather_c,
        MPI_Allgather_init | MPI_Allgather_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.allgather(c, s, r)
    }

    MPI_Allgatherv | MPI_Allgatherv_c, MPI_Iallgatherv | MPI_Iallgatherv_c,
        MPI_Allgatherv_init | MPI_Allgatherv_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcounts: *const Num, displs: *const Disp, recvtype: Datatype) |caller, c|
    {
        let r = vdata(c.peers as usize, recvbuf, recvcounts, displs, recvtype)?;
        caller.allgatherv(c, data(sendbuf, sendcount, sendtype), r)
    }

    MPI_Alltoall | MPI_Alltoall_c, MPI_Ialltoall | MPI_Ialltoall_c,
        MPI_Alltoall_init | MPI_Alltoall_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.alltoall(c, s, r)
    }

    MPI_Alltoallv | MPI_Alltoallv_c, MPI_Ialltoallv | MPI_Ialltoallv_c,
        MPI_Alltoallv_init | MPI_Alltoallv_init_c
    (sendbuf: *const c_void, sendcounts: *const Num, sdispls: *const Disp, sendtype: Datatype,
        recvbuf: *mut c_void, recvcounts: *const Num, rdispls: *const Disp,
        recvtype: Datatype) |caller, c|
    {
        let there = !is_in_place(sendbuf.cast());
        if there
            && let Some(from) = own_block(c, sendbuf, sendcounts, sdispls, sendtype)
            && let Some(to) = own_block(c, recvbuf, recvcounts, rdispls, recvtype)
            && caller.keep_own(c, &from, &to)?
        {
            return Ok(None);
        }
        let s = vdata(peers(there, c), sendbuf, sendcounts, sdispls, sendtype)?;
        let r = vdata(c.peers as usize, recvbuf, recvcounts, rdispls, recvtype)?;
        caller.alltoallv(c, s, r)
    }

    MPI_Alltoallw | MPI_Alltoallw_c, MPI_Ialltoallw | MPI_Ialltoallw_c,
        MPI_Alltoallw_init | MPI_Alltoallw_init_c
    (sendbuf: *const c_void, sendcounts: *const Num, sdispls: *const Disp,
        sendtypes: *const Datatype, recvbuf: *mut c_void, recvcounts: *const Num,
        rdispls: *const Disp, recvtypes: *const Datatype) |caller, c|
    {
        let s = if !is_in_place(sendbuf.cast()) {
            wdata(c.peers as usize, sendbuf, sendcounts, sdispls, sendtypes)?
        } else {
            WData::in_place()
        };
        caller.alltoallw(c, s, wdata(c.peers as usize, recvbuf, recvcounts, rdispls, recvtypes)?)
    }

    MPI_Reduce | MPI_Reduce_c, MPI_Ireduce | MPI_Ireduce_c, MPI_Reduce_init | MPI_Reduce_init_c
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: Num, datatype: Datatype, op: Op,
        root: c_int) |caller, c|
    {
        caller.reduce(c, sendbuf.cast(), data(recvbuf, count, datatype), op, root)
    }

    MPI_Allreduce | MPI_Allreduce_c, MPI_Iallreduce | MPI_Iallreduce_c,
        MPI_Allreduce_init | MPI_Allreduce_init_c
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: Num, datatype: Datatype, op: Op)
        |caller, c| {
        caller.allreduce(c, sendbuf.cast(), data(recvbuf, count, datatype), op)
    }

    MPI_Reduce_scatter | MPI_Reduce_scatter_c, MPI_Ireduce_scatter | MPI_Ireduce_scatter_c,
    MPI_Reduce_scatter_init | MPI_Reduce_scatter_init_c
    (sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const Num, datatype: Datatype,
        op: Op) |caller, c|
    {
        let n = numbers(recvcounts, c.size() as usize, "recvcounts")?;
        caller.reduce_scatter(c, sendbuf.cast(), recvbuf.cast(), n, datatype, op)
    }

    MPI_Reduce_scatter_block | MPI_Reduce_scatter_block_c,
    MPI_Ireduce_scatter_block | MPI_Ireduce_scatter_block_c,
    MPI_Reduce_scatter_block_init | MPI_Reduce_scatter_block_init_c
    (sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: Num, datatype: Datatype,
        op: Op) |caller, c|
    {
        let n = Numbers::Same(recvcount.into(), c.size() as usize);
        caller.reduce_scatter(c, sendbuf.cast(), recvbuf.cast(), n, datatype, op)
    }

    MPI_Scan | MPI_Scan_c, MPI_Iscan | MPI_Iscan_c, MPI_Scan_init | MPI_Scan_init_c
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: Num, datatype: Datatype, op: Op)
        |caller, c| {
        caller.scan(c, sendbuf.cast(), data(recvbuf, count, datatype), op)
    }

    MPI_Exscan | MPI_Exscan_c, MPI_Iexscan | MPI_Iexscan_c, MPI_Exscan_init | MPI_Exscan_init_c
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: Num, datatype: Datatype, op: Op)
        |caller, c| {
        caller.exscan(c, sendbuf.cast(), data(recvbuf, count, datatype), op)
    }
}
