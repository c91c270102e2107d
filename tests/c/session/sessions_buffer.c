// Buffers of sessions: the closest one counts, flushed when it is detached and when its session ends.
// run: -n 2
#include "../check.h"

static MPI_Session session;
static MPI_Comm comm;

static char place[3][4096];

/* Sends so many bytes to the other rank, and says whether there was room. */
static int fits(size_t bytes)
{
    char text[5000], got[5000];
    fill(text, bytes, rank);
    int rc = MPI_Bsend(text, bytes, MPI_BYTE, 1 - rank, 0, comm);
    if (rc != MPI_SUCCESS) {
        EQUAL(class_of(rc), MPI_ERR_BUFFER);
        return 0;
    }
    MPI_Recv(got, bytes, MPI_BYTE, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
    EQUAL(wrong_at(got, bytes, 1 - rank), bytes);
    return 1;
}

static void detached(int rc, void *addr, int size, int which, int expected)
{
    EQUAL(rc, MPI_SUCCESS);
    CHECK(addr == place[which]);
    EQUAL(size, expected + MPI_BSEND_OVERHEAD);
}

int main(void)
{
    MPI_Group group;
    void *addr;
    int n;
    MPI_Count large;
    MPI_Request request;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    CHECK(!fits(10));
    MPI_Buffer_attach(place[0], 1000 + MPI_BSEND_OVERHEAD);
    CHECK(fits(500) && !fits(1500));
    MPI_Session_attach_buffer(session, place[1], 2000 + MPI_BSEND_OVERHEAD);
    EQUAL(class_of(MPI_Session_attach_buffer(session, place[1], 2000)), MPI_ERR_BUFFER);
    CHECK(fits(1500) && !fits(2500));
    MPI_Comm_attach_buffer(comm, place[2], 3000 + MPI_BSEND_OVERHEAD);
    CHECK(fits(2500) && !fits(3500));
    int rc = MPI_Comm_detach_buffer(comm, &addr, &n);
    detached(rc, addr, n, 2, 3000);
    CHECK(fits(1500) && !fits(2500));
    MPI_Session_iflush_buffer(session, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Session_flush_buffer(session);
    EQUAL(MPI_Session_detach_buffer_c(session, &addr, &large), MPI_SUCCESS);
    CHECK(addr == place[1]);
    EQUAL(large, 2000 + MPI_BSEND_OVERHEAD);
    CHECK(fits(500) && !fits(1500));
    rc = MPI_Buffer_detach(&addr, &n);
    detached(rc, addr, n, 0, 1000);
    CHECK(!fits(10));

    /* What is in it when the session ends arrives. */
    MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0);
    char *big = malloc(1 << 20), *in = malloc(1 << 20);
    fill(big, 1 << 20, rank);
    MPI_Irecv(in, 1 << 20, MPI_BYTE, 1 - rank, 0, comm, &request);
    MPI_Bsend(big, 1 << 20, MPI_BYTE, 1 - rank, 0, comm);
    free(big);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(wrong_at(in, 1 << 20, 1 - rank), 1 << 20);
    free(in);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
}
