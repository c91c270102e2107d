// Hundreds of thousands of messages without receives, and receives without messages: each is found at once in
// any order, and the memory goes back.
// run: -n 2
// run: --set LINK=tcp -n 2
#include "../check.h"

enum { MANY = 200000, MORE = 1000000 };

static int got[MANY];
static MPI_Request requests[MORE];

/* Memory of this process, kB. */
static long resident(void)
{
    long all, here = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%ld %ld", &all, &here) == 2);
    fclose(statm);
    return here * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Rank 0 sends a message with each tag, up or down. */
static void send_all(int down)
{
    for (int i = 0; rank == 0 && i < MANY; i++) {
        int tag = down ? MANY - 1 - i : i;
        MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int x, flag;
    MPI_Status s;

    /* The newest first, from anybody. */
    send_all(0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = MANY - 1; rank == 1 && tag >= 0; tag--) {
        MPI_Iprobe(MPI_ANY_SOURCE, MANY + 1, MPI_COMM_WORLD, &flag, &s);
        CHECK(!flag);
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s);
        EQUAL(x, tag);
        EQUAL(s.MPI_SOURCE, 0);
    }

    /* Receives from anybody, the last of them first; one with any tag stands before them all, one behind. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[MANY]);
        for (int i = 0; i < MANY; i++)
            MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    send_all(1);
    if (rank == 0)
        MPI_Send(&(int){MANY - 1}, 1, MPI_INT, 1, MANY - 1, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Waitall(MANY + 1, requests, MPI_STATUSES_IGNORE);
        EQUAL(x, MANY - 1);
        for (int i = 0; i < MANY; i++)
            EQUAL(got[i], i);
    }

    /* A million of each. */
    MPI_Barrier(MPI_COMM_WORLD);
    long before = resident();
    for (int i = 0; rank == 0 && i < MORE; i++)
        MPI_Send(&i, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < MORE; i++) {
        MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(x, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < MORE; i++)
        MPI_Irecv(NULL, 0, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < MORE; i++)
        MPI_Send(NULL, 0, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Waitall(MORE, requests, MPI_STATUSES_IGNORE);
    CHECK(resident() < before + 64 * 1024);
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
