// Every send mode, blocking and not, over the sizes where protocols change.
// run: -n 2
// run: -n 5
#include "../check.h"

static const size_t sizes[] = {0, 1, 7, 8, 48, 56, 63, 64, 65, 200, 1000, 4095, 4096, 8192, 8193,
                               16385, 65536, 65537, 262145, 1 << 20, (3 << 20) + 5};

static unsigned char *out, *in;

static void send(int mode, int n, int to, int tag)
{
    switch (mode) {
    case 0: MPI_Send(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    case 1: MPI_Ssend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    case 2: MPI_Rsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    case 3: MPI_Bsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    }
}

static MPI_Request isend(int mode, int n, int to, int tag)
{
    MPI_Request r = MPI_REQUEST_NULL;
    switch (mode) {
    case 0: MPI_Isend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r); break;
    case 1: MPI_Issend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r); break;
    case 2: MPI_Irsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r); break;
    case 3: MPI_Ibsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r); break;
    }
    return r;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    size_t most = sizes[sizeof sizes / sizeof *sizes - 1];
    out = malloc(most + 1);
    in = malloc(most + 1);
    int room = (int)(2 * most + 4 * MPI_BSEND_OVERHEAD);
    void *buffer = malloc(room), *old;
    int old_room;
    MPI_Buffer_attach(buffer, room);

    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int mode = 0; mode < 4; mode++)
            for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
                int n = (int)sizes[i], tag = (int)(i * 8 + mode * 2 + nonblocking), count;
                MPI_Request recv, sent;
                MPI_Status status;
                fill(out, n, rank + 17u * tag);
                memset(in, 0xee, n + 1);
                /* The receive is posted everywhere before anyone sends: ready mode needs it,
                   and a ring of synchronous sends would stop without it. */
                MPI_Irecv(in, n, MPI_BYTE, left, tag, MPI_COMM_WORLD, &recv);
                MPI_Barrier(MPI_COMM_WORLD);
                if (nonblocking) {
                    sent = isend(mode, n, right, tag);
                    MPI_Wait(&sent, MPI_STATUS_IGNORE);
                    CHECK(sent == MPI_REQUEST_NULL);
                } else {
                    send(mode, n, right, tag);
                }
                MPI_Wait(&recv, &status);
                EQUAL(status.MPI_SOURCE, left);
                EQUAL(status.MPI_TAG, tag);
                MPI_Get_count(&status, MPI_BYTE, &count);
                EQUAL(count, n);
                EQUAL(wrong_at(in, n, left + 17u * tag), n);
                EQUAL(in[n], 0xee);
            }
    MPI_Buffer_detach(&old, &old_room);
    CHECK(old == buffer);
    EQUAL(old_room, room);
    free(buffer);
    free(out);
    free(in);
    return finish();
}
