//! Neighbourhood collectives (MPI-5, chapters 8.6 and 8.7).

use std::ffi::c_void;

use catena_abi::{Aint, Comm, Datatype, Info, Request};

use crate::coll::{collectives, data, vdata, wdata};
use crate::entry::mpi_fn;

collectives! {
    Neighbor_allgather | Neighbor_allgather_c, Ineighbor_allgather | Ineighbor_allgather_c,
    Neighbor_allgather_init | Neighbor_allgather_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.neighbor_allgather(c, s, r)
    }

    Neighbor_allgatherv | Neighbor_allgatherv_c, Ineighbor_allgatherv | Ineighbor_allgatherv_c,
    Neighbor_allgatherv_init | Neighbor_allgatherv_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcounts: *const Num, displs: *const Disp, recvtype: Datatype) |caller, c|
    {
        let (from, _) = c.degrees()?;
        let r = vdata(from, recvbuf, recvcounts, displs, recvtype)?;
        caller.neighbor_allgatherv(c, data(sendbuf, sendcount, sendtype), r)
    }

    Neighbor_alltoall | Neighbor_alltoall_c, Ineighbor_alltoall | Ineighbor_alltoall_c,
    Neighbor_alltoall_init | Neighbor_alltoall_init_c
    (sendbuf: *const c_void, sendcount: Num, sendtype: Datatype, recvbuf: *mut c_void,
        recvcount: Num, recvtype: Datatype) |caller, c|
    {
        let (s, r) = (data(sendbuf, sendcount, sendtype), data(recvbuf, recvcount, recvtype));
        caller.neighbor_alltoall(c, s, r)
    }

    Neighbor_alltoallv | Neighbor_alltoallv_c, Ineighbor_alltoallv | Ineighbor_alltoallv_c,
    Neighbor_alltoallv_init | Neighbor_alltoallv_init_c
    (sendbuf: *const c_void, sendcounts: *const Num, sdispls: *const Disp, sendtype: Datatype,
        recvbuf: *mut c_void, recvcounts: *const Num, rdispls: *const Disp,
        recvtype: Datatype) |caller, c|
    {
        let (from, to) = c.degrees()?;
        let s = vdata(to, sendbuf, sendcounts, sdispls, sendtype)?;
        caller.neighbor_alltoallv(c, s, vdata(from, recvbuf, recvcounts, rdispls, recvtype)?)
    }

    Neighbor_alltoallw | Neighbor_alltoallw_c, Ineighbor_alltoallw | Ineighbor_alltoallw_c,
    Neighbor_alltoallw_init | Neighbor_alltoallw_init_c
    (sendbuf: *const c_void, sendcounts: *const Num, sdispls: *const Aint,
        sendtypes: *const Datatype, recvbuf: *mut c_void, recvcounts: *const Num,
        rdispls: *const Aint, recvtypes: *const Datatype) |caller, c|
    {
        let (from, to) = c.degrees()?;
        let s = wdata(to, sendbuf, sendcounts, sdispls, sendtypes)?;
        caller.neighbor_alltoallw(c, s, wdata(from, recvbuf, recvcounts, rdispls, recvtypes)?)
    }
}
