// `mpirun --trace` writes each call. What is in the file, scripts/testing/test-trace looks at.
// cc: -g -O1 -pthread
// only: catena
// run: -n 2 --trace /nowhere/to -- orders ; exit 2 ; says '--trace /nowhere/to: it cannot be written \(.*\); make the folder, or name another one, so nothing was started' ; never says rank
// run: -n 2 --trace /dev/full -- orders ; exit 2 ; says '--trace /dev/full: it cannot be written \(.*\), so nothing was started; name a file'
// run: -n 2 --trace /dev/null -- orders ; says mpirun: the trace is in /dev/null: \d+ calls
// run: -n 2 --trace /dev/null --check -- orders ; exit 2 ; says --trace and --check cannot be had at once
// run: -n 2 --trace /dev/null --profile -- orders ; says mpirun: profile: .* is spent in MPI ; says the trace is in /dev/null
// run: -trace -n 2 -- orders ; exit 2 ; says name the file for the trace
// run: -n 1 --trace /dev/null -- outruns ; says mpirun: \d+ calls are missing in it, as they came faster than they could be written
#include "../check.h"
#include <signal.h>

enum { MESSAGES = 60 };

/* Rank 0 sends messages of 1, 2, 3, ... bytes, which rank 1 receives in all ways: bytes tell which is which. */
static void orders(void)
{
    static char buffer[8 * MESSAGES];
    if (rank > 1)
        return;
    if (rank == 0) {
        for (int i = 0; i < MESSAGES; i++)
            if (i % 2)
                MPI_Send(buffer, i + 1, MPI_BYTE, 1, i % 3 ? 5 : 6, MPI_COMM_WORLD);
            else {
                MPI_Request request;
                MPI_Isend(buffer, i + 1, MPI_BYTE, 1, i % 3 ? 5 : 6, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
        return;
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request request = MPI_REQUEST_NULL, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Message message;
        int flag = 0, index, tag = i % 3 ? 5 : 6;
        char *to = buffer + i;
        switch (i % 10) {
        case 0:
            MPI_Recv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Recv(to, MESSAGES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case 2:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 3:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &two[1]);
            MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
            break;
        case 4:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
            while (!flag)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            break;
        case 5:
            MPI_Mprobe(0, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(to, MESSAGES, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            break;
        case 6:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &two[1]);
            MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
            CHECK(index == 1);
            break;
        case 7:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &two[1]);
            MPI_Waitsome(2, two, &flag, &index, MPI_STATUSES_IGNORE);
            CHECK(flag == 1 && index == 1);
            break;
        case 8:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &two[0]);
            while (!flag)
                MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
            break;
        default:
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
            MPI_Imrecv(to, MESSAGES, MPI_BYTE, &message, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

/* A ring of MPI_Sendrecv, and messages to this rank itself. */
static void ring(void)
{
    char out[64] = {0}, in[64];
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(out, rank + 1, MPI_BYTE, (rank + 1) % size, 3, in, 64, MPI_BYTE, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, 33, MPI_BYTE, rank, 4, in, 64, MPI_BYTE, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Calls while nobody takes what is written. */
static void outruns(void)
{
    kill(getppid(), SIGSTOP);
    for (int i = 0; i < 200000; i++)
        MPI_Barrier(MPI_COMM_SELF);
    kill(getppid(), SIGCONT);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A stencil over a strip of a grid, and the rows at its edges for the neighbours: time of a step, the mean and the median. */
static void halo(void)
{
    enum { WIDE = 1024, HIGH = 256, STEPS = 1000 };
    static double grid[2][HIGH + 2][WIDE], times[STEPS];
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double from = 0, last = 0;
    for (int i = 0; i < STEPS + 100; i++) {
        double(*now)[WIDE] = grid[i % 2], (*next)[WIDE] = grid[1 - i % 2];
        MPI_Request requests[4];
        if (i == 100) {
            MPI_Barrier(MPI_COMM_WORLD);
            from = last = MPI_Wtime();
        }
        MPI_Irecv(now[0], WIDE, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(now[HIGH + 1], WIDE, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(now[1], WIDE, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(now[HIGH], WIDE, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int y = 1; y <= HIGH; y++)
            for (int x = 1; x < WIDE - 1; x++)
                next[y][x] = 0.25 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
        if (i >= 100) {
            double end = MPI_Wtime();
            times[i - 100] = end - last;
            last = end;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    from = (last - from) / STEPS;
    qsort(times, STEPS, sizeof times[0], compare);
    if (rank == 0)
        printf("us a step %.3f median %.3f\n", from * 1e6, times[STEPS / 2] * 1e6);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "orders"))
        orders();
    else if (!strcmp(what, "ring"))
        ring();
    else if (!strcmp(what, "outruns"))
        outruns();
    else if (!strcmp(what, "halo"))
        halo();
    return MPI_Finalize();
}
