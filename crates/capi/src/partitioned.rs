//! Partitioned point to point (MPI-5, chapter 4).

use std::ffi::{c_int, c_void};

use catena_abi::{Comm, Count, Datatype, Info, Request, consts};
use catena_core::{Process, enter, p2p};
use catena_objects::{Result, fail};
use catena_rma::partitioned::{
    End, PartRecv, PartSend, arrived, arrived_at_once, partitions, ready, ready_at_once,
};

use crate::args::{self, put};
use crate::entry::mpi_fn;
use crate::info;

/// The checked arguments of either end, but for the peer.
fn end(
    process: &Process,
    buf: *mut c_void,
    number: c_int,
    (count, ty): (Count, Datatype),
    (comm, tag): (Comm, c_int),
    hints: Info,
) -> Result<End> {
    let comm = process.comm(comm)?;
    let number = partitions(number)?;
    let count = args::count(count)?;
    let ty = process.objects.types.committed(ty)?;
    args::buffer(buf, count.saturating_mul(number.into()), ty)?;
    info::check(process.objects, hints)?;
    Ok(End {
        comm,
        peer: None,
        tag: p2p::send_tag(tag)?,
        buf: buf.cast(),
        partitions: number,
        count,
        ty: ty.clone(),
    })
}

/// The sender of a receive: one rank.
fn source(end: &End, source: c_int) -> Result<Option<u32>> {
    if source == consts::ANY_SOURCE {
        fail!(
            Rank,
            "the source is MPI_ANY_SOURCE: a partitioned receive is from one rank"
        );
    }
    Ok(p2p::source(&end.comm, source)?.map(|rank| rank as u32))
}

mpi_fn! {
    fn MPI_Psend_init | MPI_Psend_init_c(buf: *const c_void, partitions: c_int, count: Num,
        datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, hints: Info,
        request: *mut Request) on comm
    {
        let process = enter()?;
        let of = (count.into(), datatype);
        let mut end = end(&process, buf.cast_mut(), partitions, of, (comm, tag), hints)?;
        end.peer = p2p::destination(&end.comm, dest)?;
        put(request, PartSend::init(&process, end), "request")
    }

    fn MPI_Precv_init | MPI_Precv_init_c(buf: *mut c_void, partitions: c_int, count: Num,
        datatype: Datatype, source: c_int, tag: c_int, comm: Comm, hints: Info,
        request: *mut Request) on comm
    {
        let process = enter()?;
        let of = (count.into(), datatype);
        let mut end = end(&process, buf, partitions, of, (comm, tag), hints)?;
        end.peer = self::source(&end, source)?;
        put(request, PartRecv::init(&process, end), "request")
    }

    fn MPI_Pready(partition: c_int, request: Request) {
        match ready_at_once(request, partition) {
            true => Ok(()),
            false => ready(&*enter()?, request, [partition]),
        }
    }

    fn MPI_Pready_range(partition_low: c_int, partition_high: c_int, request: Request) {
        if partition_low > partition_high {
            fail!(
                Arg,
                "the lowest partition is {partition_low}, and the highest {partition_high}"
            );
        }
        ready(&*enter()?, request, partition_low..=partition_high)
    }

    fn MPI_Pready_list(length: c_int, array_of_partitions: *const c_int, request: Request) {
        let length = args::count(length.into())? as usize;
        let all = args::array(array_of_partitions, length, "array_of_partitions")?;
        ready(&*enter()?, request, all.iter().copied())
    }

    fn MPI_Parrived(request: Request, partition: c_int, flag: *mut c_int) {
        // Of nothing everything has arrived (MPI-5, 4.2.3).
        if request == consts::REQUEST_NULL || arrived_at_once(request, partition) {
            return put(flag, 1, "flag");
        }
        put(flag, arrived(&*enter()?, request, partition)?.into(), "flag")
    }
}
