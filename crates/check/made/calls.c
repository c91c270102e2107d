/* Functions that make requests of buffers.
 * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. */

#include "check.h"

int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Bsend_init, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Bsend_init_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ibsend, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ibsend_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    return CALL(Imrecv, ".. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)message, (intptr_t)request);
}

int MPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    return CALL(Imrecv_c, ".. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)message, (intptr_t)request);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Irecv, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)source, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Irecv_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)source, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Irsend, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Irsend_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Isend, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Isend_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Isendrecv, "k. a.11b.c f.11g.h", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)dest, (intptr_t)sendtag, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)source, (intptr_t)recvtag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Isendrecv_c, "k. a.11b.c f.11g.h", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)dest, (intptr_t)sendtag, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)source, (intptr_t)recvtag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Isendrecv_replace, "h. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)sendtag, (intptr_t)source, (intptr_t)recvtag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Isendrecv_replace_c, "h. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)sendtag, (intptr_t)source, (intptr_t)recvtag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Issend, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Issend_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Recv_init, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)source, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Recv_init_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)source, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Rsend_init, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Rsend_init_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Send_init, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Send_init_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ssend_init, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ssend_init_c, "f. a.11b.c", (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)request);
}

int MPI_Precv_init(void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Precv_init, "g. a.11cbd", (intptr_t)buf, (intptr_t)partitions, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Precv_init_c, "g. a.11cbd", (intptr_t)buf, (intptr_t)partitions, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Psend_init(const void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Psend_init, "g. a.11cbd", (intptr_t)buf, (intptr_t)partitions, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Psend_init_c, "g. a.11cbd", (intptr_t)buf, (intptr_t)partitions, (intptr_t)count, (intptr_t)datatype, (intptr_t)dest, (intptr_t)tag, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Allgather_init, "g. a.11b.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Allgather_init_c, "g. a.11b.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Allgatherv_init, "h. a.11b.c d.vrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Allgatherv_init_c, "h. a.11b.c d.vrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Allreduce_init, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Allreduce_init_c, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Alltoall_init, "g. a.1rb.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Alltoall_init_c, "g. a.1rb.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Alltoallv_init, "i. a.vrbcd e.vrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Alltoallv_init_c, "i. a.vrbcd e.vrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Alltoallw_init, "i. a.wrbcd e.wrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Alltoallw_init_c, "i. a.wrbcd e.wrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Bcast_init, "ed aa11b.c", (intptr_t)buffer, (intptr_t)count, (intptr_t)datatype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Bcast_init_c, "ed aa11b.c", (intptr_t)buffer, (intptr_t)count, (intptr_t)datatype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Exscan_init, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Exscan_init_c, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Gather_init, "hg ao11b.c dr1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Gather_init_c, "hg ao11b.c dr1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Gatherv_init, "ih ao11b.c drvrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Gatherv_init_c, "ih ao11b.c drvrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iallgather, "g. a.11b.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iallgather_c, "g. a.11b.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iallgatherv, "h. a.11b.c d.vrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iallgatherv_c, "h. a.11b.c d.vrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iallreduce, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iallreduce_c, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ialltoall, "g. a.1rb.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ialltoall_c, "g. a.1rb.c d.1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ialltoallv, "i. a.vrbcd e.vrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ialltoallv_c, "i. a.vrbcd e.vrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ialltoallw, "i. a.wrbcd e.wrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ialltoallw_c, "i. a.wrbcd e.wrfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ibcast, "ed aa11b.c", (intptr_t)buffer, (intptr_t)count, (intptr_t)datatype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ibcast_c, "ed aa11b.c", (intptr_t)buffer, (intptr_t)count, (intptr_t)datatype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iexscan, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iexscan_c, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Igather, "hg ao11b.c dr1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Igather_c, "hg ao11b.c dr1re.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Igatherv, "ih ao11b.c drvrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Igatherv_c, "ih ao11b.c drvrefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ireduce, "gf ao11c.d br11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ireduce_c, "gf ao11c.d br11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ireduce_scatter, "f. a.src.d b.soc.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ireduce_scatter_block, "f. a.1rc.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ireduce_scatter_block_c, "f. a.1rc.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ireduce_scatter_c, "f. a.src.d b.soc.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iscan, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iscan_c, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iscatter, "hg ar1rb.c do11e.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iscatter_c, "hg ar1rb.c do11e.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iscatterv, "ih arvrbcd eo11f.g", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)displs, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Iscatterv_c, "ih arvrbcd eo11f.g", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)displs, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)request);
}

int MPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Reduce_init, "gf ao11c.d br11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Reduce_init_c, "gf ao11c.d br11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Reduce_scatter_block_init, "f. a.1rc.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Reduce_scatter_block_init_c, "f. a.1rc.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Reduce_scatter_init, "f. a.src.d b.soc.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Reduce_scatter_init_c, "f. a.src.d b.soc.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Scan_init, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Scan_init_c, "f. a.11c.d b.11c.d", (intptr_t)sendbuf, (intptr_t)recvbuf, (intptr_t)count, (intptr_t)datatype, (intptr_t)op, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Scatter_init, "hg ar1rb.c do11e.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Scatter_init_c, "hg ar1rb.c do11e.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Scatterv_init, "ih arvrbcd eo11f.g", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)displs, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Scatterv_init_c, "ih arvrbcd eo11f.g", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)displs, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)root, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_allgather, "g. a.11b.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_allgather_c, "g. a.11b.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_allgatherv, "h. a.11b.c d.vsefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_allgatherv_c, "h. a.11b.c d.vsefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_alltoall, "g. a.1db.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_alltoall_c, "g. a.1db.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_alltoallv, "i. a.vdbcd e.vsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_alltoallv_c, "i. a.vdbcd e.vsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_alltoallw, "i. a.wdbcd e.wsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)request);
}

int MPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    return CALL(Ineighbor_alltoallw_c, "i. a.wdbcd e.wsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)request);
}

int MPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_allgather_init, "g. a.11b.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_allgather_init_c, "g. a.11b.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_allgatherv_init, "h. a.11b.c d.vsefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_allgatherv_init_c, "h. a.11b.c d.vsefg", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)displs, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_alltoall_init, "g. a.1db.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_alltoall_init_c, "g. a.1db.c d.1se.f", (intptr_t)sendbuf, (intptr_t)sendcount, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcount, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_alltoallv_init, "i. a.vdbcd e.vsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_alltoallv_init_c, "i. a.vdbcd e.vsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtype, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtype, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_alltoallw_init, "i. a.wdbcd e.wsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return CALL(Neighbor_alltoallw_init_c, "i. a.wdbcd e.wsfgh", (intptr_t)sendbuf, (intptr_t)sendcounts, (intptr_t)sdispls, (intptr_t)sendtypes, (intptr_t)recvbuf, (intptr_t)recvcounts, (intptr_t)rdispls, (intptr_t)recvtypes, (intptr_t)comm, (intptr_t)info, (intptr_t)request);
}

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return CALL(Raccumulate, ".. a.11b.c", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)op, (intptr_t)win, (intptr_t)request);
}

int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return CALL(Raccumulate_c, ".. a.11b.c", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)op, (intptr_t)win, (intptr_t)request);
}

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return CALL(Rget, ".. a.11b.c", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)win, (intptr_t)request);
}

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return CALL(Rget_accumulate, ".. a.11b.c d.11e.f", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)result_addr, (intptr_t)result_count, (intptr_t)result_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)op, (intptr_t)win, (intptr_t)request);
}

int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return CALL(Rget_accumulate_c, ".. a.11b.c d.11e.f", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)result_addr, (intptr_t)result_count, (intptr_t)result_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)op, (intptr_t)win, (intptr_t)request);
}

int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return CALL(Rget_c, ".. a.11b.c", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)win, (intptr_t)request);
}

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return CALL(Rput, ".. a.11b.c", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)win, (intptr_t)request);
}

int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return CALL(Rput_c, ".. a.11b.c", (intptr_t)origin_addr, (intptr_t)origin_count, (intptr_t)origin_datatype, (intptr_t)target_rank, (intptr_t)target_disp, (intptr_t)target_count, (intptr_t)target_datatype, (intptr_t)win, (intptr_t)request);
}

int MPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_all, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_all_c, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_at, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_at_all, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_at_all_c, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_at_c, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_c, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_shared, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iread_shared_c, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_all, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_all_c, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_at, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_at_all, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_at_all_c, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_at_c, ".. c.11d.e", (intptr_t)fh, (intptr_t)offset, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_c, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_shared, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}

int MPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return CALL(File_iwrite_shared_c, ".. b.11c.d", (intptr_t)fh, (intptr_t)buf, (intptr_t)count, (intptr_t)datatype, (intptr_t)request);
}
