// A persistent collective is started again and again, with other data each time, and completed by
// either call. One that is active cannot be started or cancelled.
// run: -n 2
// run: -n 3
// run: -n 2 --set SHM_SINGLE_COPY=never
#include "../check.h"

enum { ROUNDS = 40, MOST = 40000 };

static long in[MOST], out[2 * MOST];

/* Completes it; twice is once too often, and does nothing. */
static void complete(MPI_Request *request, int round)
{
    MPI_Status status;
    int done = 0;
    if (round % 2) {
        MPI_Wait(request, &status);
    } else {
        while (!done)
            MPI_Test(request, &done, &status);
    }
    EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK(*request != MPI_REQUEST_NULL);
    MPI_Request_get_status(*request, &done, &status);
    CHECK(done);
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    CHECK(done);
}

static void sums(int n)
{
    MPI_Request request;
    MPI_Allreduce_init(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    EQUAL(class_of(MPI_Cancel(&request)), MPI_ERR_REQUEST);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++) {
            in[i] = rank + (long)i * round;
            out[i] = -1;
        }
        MPI_Start(&request);
        EQUAL(class_of(MPI_Start(&request)), MPI_ERR_REQUEST);
        EQUAL(class_of(MPI_Cancel(&request)), MPI_ERR_REQUEST);
        complete(&request, round);
        for (int i = 0; i < n; i++)
            EQUAL(out[i], (long)size * (size - 1) / 2 + (long)size * i * round);
    }
    MPI_Request_free(&request);
}

/* Elements with gaps are packed at each start, and unpacked at each end. */
static void gaps(int n)
{
    MPI_Datatype every_second;
    MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &every_second);
    MPI_Type_commit(&every_second);
    MPI_Request request;
    MPI_Bcast_init(out, n, every_second, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Type_free(&every_second);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2 * n; i++)
            out[i] = rank == size - 1 && i % 2 == 0 ? i + round : -rank;
        MPI_Start(&request);
        complete(&request, round);
        for (int i = 0; i < 2 * n; i++)
            EQUAL(out[i], i % 2 ? -rank : i + round);
    }
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int n = 1; n <= MOST; n *= 200) {
        sums(n);
        gaps(n);
    }
    return finish();
}
