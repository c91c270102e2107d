// Buffered sends: attach and detach, a full buffer is an error, detach waits for delivery.
// run: -n 2
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* attaching names no communicator */
    enum { N = 10000 };
    static int out[N], in[N];
    int packed;
    MPI_Pack_size(N, MPI_INT, MPI_COMM_WORLD, &packed);
    int room = 3 * (packed + MPI_BSEND_OVERHEAD);
    char *buffer = malloc(room);
    EQUAL(MPI_Buffer_attach(buffer, room), MPI_SUCCESS);
    CHECK(MPI_Buffer_attach(buffer, room) != MPI_SUCCESS); /* one at a time */

    int peer = 1 - rank;
    if (rank < 2) {
        /* Both send before either receives: only a buffer makes that safe for sure. */
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < N; i++)
                out[i] = rank * 100000 + k * 20000 + i;
            EQUAL(MPI_Bsend(out, N, MPI_INT, peer, k, MPI_COMM_WORLD), MPI_SUCCESS);
            memset(out, 0, sizeof out); /* the send buffer is ours again at once */
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < 3; k++) {
            MPI_Recv(in, N, MPI_INT, peer, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                EQUAL(in[i], peer * 100000 + k * 20000 + i);
        }
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    void *back;
    int back_room;
    MPI_Buffer_detach(&back, &back_room);
    CHECK(back == buffer);
    EQUAL(back_room, room);

    /* More than fits: MPI_ERR_BUFFER, and nothing is sent. */
    EQUAL(MPI_Buffer_attach(buffer, 64 + MPI_BSEND_OVERHEAD), MPI_SUCCESS);
    if (rank == 0)
        EQUAL(class_of(MPI_Bsend(out, N, MPI_INT, 1, 50, MPI_COMM_WORLD)), MPI_ERR_BUFFER);
    MPI_Buffer_detach(&back, &back_room);
    MPI_Barrier(MPI_COMM_WORLD);

    /* The detaching side waits until its messages have left, with nobody receiving early. */
    MPI_Buffer_attach(buffer, room);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = i;
        MPI_Bsend(out, N, MPI_INT, 1, 60, MPI_COMM_WORLD);
        MPI_Buffer_detach(&back, &back_room);
        memset(buffer, 0xff, room);
    } else {
        if (rank == 1) {
            MPI_Recv(in, N, MPI_INT, 0, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                EQUAL(in[i], i);
        }
        MPI_Buffer_detach(&back, &back_room);
    }
    free(buffer);
    return finish();
}
