// Messages that are announced, and thousands that pass before they come: each has its own bytes.
// run: -n 2
// run: --set LINK=tcp -n 2
#include "../check.h"

enum { MEDIUM = 60000, LAPS = 6 };

static unsigned char byte_of(int message, int at)
{
    return (unsigned char)(message * 31 + at * 7 + at / 251);
}

/* Short messages that rank 1 has asked for, so that they pass. */
static void short_ones(int count)
{
    for (int i = 0; i < count; i++) {
        int n = i;
        if (rank == 0) {
            /* Slower than they are received: no call has to wait, so none looks for an answer. */
            for (volatile int k = 0; k < 400; k++)
                ;
            MPI_Send(&n, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(n, i);
        }
    }
}

static void check_message(const unsigned char *bytes, int message)
{
    int wrong = 0;
    for (int at = 0; at < MEDIUM; at++)
        wrong += bytes[at] != byte_of(message, at);
    EQUAL(wrong, 0);
}

/* `between` short ones after each of some medium ones, which are received last. */
static void pass(int messages, int between)
{
    static unsigned char bytes[8][MEDIUM];
    MPI_Request r[8];
    for (int m = 0; m < messages; m++) {
        if (rank == 0) {
            for (int at = 0; at < MEDIUM; at++)
                bytes[m][at] = byte_of(m, at);
            MPI_Isend(bytes[m], MEDIUM, MPI_BYTE, 1, 2 + m, MPI_COMM_WORLD, &r[m]);
        }
        short_ones(between);
    }
    if (rank == 0) {
        MPI_Waitall(messages, r, MPI_STATUSES_IGNORE);
        return;
    }
    for (int m = 0; m < messages; m++) {
        memset(bytes[m], 0, MEDIUM);
        MPI_Recv(bytes[m], MEDIUM, MPI_BYTE, 0, 2 + m, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_message(bytes[m], m);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int lap = 0; lap < LAPS; lap++) {
        pass(1, 40000);  /* half of all sequence numbers and more */
        pass(2, 65535);  /* the next has the number of the first */
        pass(3, 65536 / 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
