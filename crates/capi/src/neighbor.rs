//! Neighbourhood collectives (MPI-5, chapters 8.6 and 8.7).

use std::ffi::c_void;

use catena_abi::{Aint, Comm, Datatype, Info, Request};

use crate::coll::{collectives, data, vdata, wdata};
use crate::entry::mpi_fn;

collectives! {
    MPI_Neighbor_allgather | MPI_Neighbor_allgather_c,
        MPI_Ineighbor_allgather | MPI_Ineighbor_allgather_c,
    MPI_Neighbor_allgather_init | MPI_Neighbor_allgather_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.neighbor_allgather(c, s, r)
    }

    MPI_Neighbor_allgatherv | MPI_Neighbor_allgatherv_c,
        MPI_Ineighbor_allgatherv | MPI_Ineighbor_allgatherv_c,
    MPI_Neighbor_allgatherv_init | MPI_Neighbor_allgatherv_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcounts: *const Num, displs: *const Disp, recvtype: Datatype) |caller, c|
    {
        let (from, _) = c.degrees()?;
        let r = vdata(from, recvbuf, recvcounts, displs, recvtype)?;
        caller.neighbor_allgatherv(c, data(sendbuf, sendcount, sendtype), r)
    }

    MPI_Neighbor_alltoall | MPI_Neighbor_alltoall_c,
        MPI_Ineighbor_alltoall | MPI_Ineighbor_alltoall_c,
    MPI_Neighbor_alltoall_init | MPI_Neighbor_alltoall_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.neighbor_alltoall(c, s, r)
    }

    MPI_Neighbor_alltoallv | MPI_Neighbor_alltoallv_c,
        MPI_Ineighbor_alltoallv | MPI_Ineighbor_alltoallv_c,
    MPI_Neighbor_alltoallv_init | MPI_Neighbor_alltoallv_init_c
    (sendbuf: *const c_void, sendcounts: *const Num, sdispls: *const Disp, sendtype: Datatype,
        recvbuf: *mut c_void, recvcounts: *const Num, rdispls: *const Disp,
        recvtype: Datatype) |caller, c|
    {
        let (from, to) = c.degrees()?;
        let s = vdata(to, sendbuf, sendcounts, sdispls, sendtype)?;
        caller.neighbor_alltoallv(c, s, vdata(from, recvbuf, recvcounts, rdispls, recvtype)?)
    }

    MPI_Neighbor_alltoallw | MPI_Neighbor_alltoallw_c,
        MPI_Ineighbor_alltoallw | MPI_Ineighbor_alltoallw_c,
    MPI_Neighbor_alltoallw_init | MPI_Neighbor_alltoallw_init_c
    (sendbuf: *const c_void, sendcounts: *const Num, sdispls: *const Aint,
        sendtypes: *const Datatype, recvbuf: *mut c_void, recvcounts: *const Num,
        rdispls: *const Aint, recvtypes: *const Datatype) |caller, c|
    {
        let (from, to) = c.degrees()?;
        let s = wdata(to, sendbuf, sendcounts, sdispls, sendtypes)?;
        caller.neighbor_alltoallw(c, s, wdata(from, recvbuf, recvcounts, rdispls, recvtypes)?)
    }
}
