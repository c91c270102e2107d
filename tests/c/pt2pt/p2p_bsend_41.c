// Buffers of MPI 4.1: one per communicator, and the automatic one.
// run: -n 2
#include "../check.h"

enum { N = 5000 };

static void exchange(MPI_Comm comm)
{
    static int out[N], in[N];
    int peer = 1 - rank;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < N; i++)
            out[i] = rank * 100000 + k * 10000 + i;
        EQUAL(MPI_Bsend(out, N, MPI_INT, peer, k, comm), MPI_SUCCESS);
    }
    for (int k = 0; k < 4; k++) {
        MPI_Recv(in, N, MPI_INT, peer, k, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            EQUAL(in[i], peer * 100000 + k * 10000 + i);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm comm;
    void *back;
    int back_room, room = 4 * (N * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    char *buffer = malloc(room);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);

    EQUAL(MPI_Comm_attach_buffer(comm, buffer, room), MPI_SUCCESS);
    exchange(comm);
    EQUAL(MPI_Comm_flush_buffer(comm), MPI_SUCCESS);
    EQUAL(MPI_Comm_detach_buffer(comm, &back, &back_room), MPI_SUCCESS);
    CHECK(back == buffer);
    EQUAL(back_room, room);

    EQUAL(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
    exchange(comm);
    EQUAL(MPI_Comm_detach_buffer(comm, &back, &back_room), MPI_SUCCESS);
    CHECK(back == MPI_BUFFER_AUTOMATIC);

    EQUAL(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
    exchange(MPI_COMM_WORLD);
    EQUAL(MPI_Buffer_flush(), MPI_SUCCESS);
    EQUAL(MPI_Buffer_detach(&back, &back_room), MPI_SUCCESS);
    CHECK(back == MPI_BUFFER_AUTOMATIC);

    MPI_Comm_free(&comm);
    free(buffer);
    return finish();
}
