// A message longer than its receive is an error of the receiver, with the buffer's end untouched.
// run: -n 2
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    static const int sizes[] = {1, 8, 64, 1000, 8192, 100000, 1 << 20};
    unsigned char *buf = malloc(2 << 20);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int early = 0; early < 2; early++) {
            int n = sizes[i];
            if (rank == 0) {
                fill(buf, n, i);
                if (early)
                    MPI_Barrier(MPI_COMM_WORLD); /* the receive is posted first */
                EQUAL(MPI_Send(buf, n, MPI_BYTE, 1, 5, MPI_COMM_WORLD), MPI_SUCCESS);
                if (!early)
                    MPI_Barrier(MPI_COMM_WORLD);
                EQUAL(MPI_Send(buf, n, MPI_BYTE, 1, 6, MPI_COMM_WORLD), MPI_SUCCESS);
            } else if (rank == 1) {
                MPI_Request r;
                MPI_Status s;
                int rc, room = n / 2;
                memset(buf, 0xdd, n + 64);
                if (!early) {
                    /* A large unexpected send may wait for this receive, so no barrier first. */
                    rc = MPI_Recv(buf, room, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &s);
                    MPI_Barrier(MPI_COMM_WORLD);
                } else {
                    MPI_Irecv(buf, room, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &r);
                    MPI_Barrier(MPI_COMM_WORLD);
                    rc = MPI_Wait(&r, &s);
                }
                EQUAL(class_of(rc), MPI_ERR_TRUNCATE);
                EQUAL(buf[room], 0xdd);
                EQUAL(buf[n], 0xdd);
                /* The connection still works. */
                EQUAL(MPI_Recv(buf, n, MPI_BYTE, 0, 6, MPI_COMM_WORLD, &s), MPI_SUCCESS);
                EQUAL(wrong_at(buf, n, i), n);
            }
        }
    if (rank < 2) {
        /* In a Waitall the error is found in its own status. */
        MPI_Request r[2];
        MPI_Status s[2];
        int data[4] = {1, 2, 3, 4};
        if (rank == 0) {
            MPI_Send(data, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Send(data, 4, MPI_INT, 1, 2, MPI_COMM_WORLD);
        } else {
            int a[4], b[4];
            MPI_Irecv(a, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[0]);
            MPI_Irecv(b, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &r[1]);
            EQUAL(class_of(MPI_Waitall(2, r, s)), MPI_ERR_IN_STATUS);
            EQUAL(s[0].MPI_ERROR, MPI_SUCCESS);
            EQUAL(class_of(s[1].MPI_ERROR), MPI_ERR_TRUNCATE);
        }
    }
    free(buf);
    return finish();
}
