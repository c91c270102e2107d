// Sessions begin and end in a spawned job while its messages are under way, moved by the thread beside the program.
//
// only: catena
// run: -n 1 --set PROGRESS=thread
// run: -n 1 --set PROGRESS=thread --set LINK=tcp
// run: -n 1 --set LINK=tcp
#include "../check.h"

enum { BYTES = 1 << 20, MESSAGES = 8, ROUNDS = 30, SESSIONS = 10 };

static char out[MESSAGES][BYTES], in[MESSAGES][BYTES];

static void exchange(int round)
{
    MPI_Request requests[2 * MESSAGES + 1];
    int one = 1, sum = 0, other = 1 - rank;
    for (int k = 0; k < MESSAGES; k++) {
        memset(out[k], round + k, BYTES);
        memset(in[k], ~(round + k), BYTES);
        MPI_Irecv(in[k], BYTES, MPI_BYTE, other, k, MPI_COMM_WORLD, &requests[k]);
    }
    for (int k = 0; k < MESSAGES; k++)
        MPI_Isend(out[k], BYTES, MPI_BYTE, other, k, MPI_COMM_WORLD, &requests[MESSAGES + k]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2 * MESSAGES]);
    for (int k = 0; k < SESSIONS; k++) {
        MPI_Session session;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Session_finalize(&session);
    }
    MPI_Waitall(2 * MESSAGES + 1, requests, MPI_STATUSES_IGNORE);
    EQUAL(sum, size);
    for (int k = 0; k < MESSAGES; k++)
        CHECK(memcmp(in[k], out[k], BYTES) == 0);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&inter);
    } else {
        for (int round = 0; round < ROUNDS; round++)
            exchange(round);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
