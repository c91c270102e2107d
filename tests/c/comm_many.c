// Ten thousand communicators and a million requests alive at once: all work, and the memory comes
// back. Communicators are freed while a million operations on others are pending.
// run: -n 2
// run: -n 4 -- few
// memory: 3 GiB
// time: 60
#include "check.h"

enum { COMMS = 10000 };
static MPI_Comm comm[COMMS];

static long memory_kib(void)
{
    long all, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (fscanf(f, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Made in turns of three kinds; a message on each of them keeps to it. */
static void make(int n)
{
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++)
        if (i % 3 == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        else if (i % 3 == 1)
            MPI_Comm_split(comm[i - 1], 0, rank, &comm[i]);
        else
            MPI_Comm_create_group(comm[i - 2], world, i, &comm[i]);
    MPI_Group_free(&world);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, word;
    for (int i = 0; i < n; i++)
        MPI_Send(&i, 1, MPI_INT, right, 0, comm[i]);
    for (int i = n; i--;) {
        MPI_Recv(&word, 1, MPI_INT, left, MPI_ANY_TAG, comm[i], MPI_STATUS_IGNORE);
        EQUAL(word, i);
    }
}

static void many_communicators(void)
{
    long before = 0;
    for (int round = 0; round < 3; round++) {
        make(COMMS);
        for (int i = 0; i < COMMS; i++)
            MPI_Comm_free(&comm[i]);
        if (round == 0)
            before = memory_kib();
    }
    long more = memory_kib() - before;
    if (more > 4 << 10) {
        fprintf(stderr, "%ld KiB are lost in 20000 communicators\n", more);
        CHECK(0);
    }
}

/* Many freed with operations pending on each. */
static void many_pending(void)
{
    MPI_Request q[2 * COMMS / 10];
    int in[COMMS / 10], out[COMMS / 10], right = (rank + 1) % size, left = (rank + size - 1) % size;
    make(COMMS / 10);
    for (int i = 0; i < COMMS / 10; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, left, 1, comm[i], &q[2 * i]);
        MPI_Ibarrier(comm[i], &q[2 * i + 1]);
    }
    MPI_Comm keep;
    MPI_Comm_dup(MPI_COMM_WORLD, &keep);
    MPI_Request late[COMMS / 10];
    for (int i = 0; i < COMMS / 10; i++) {
        out[i] = i;
        MPI_Issend(&out[i], 1, MPI_INT, right, 1, comm[i], &late[i]);
        MPI_Comm_free(&comm[i]);
    }
    MPI_Waitall(2 * COMMS / 10, q, MPI_STATUSES_IGNORE);
    MPI_Waitall(COMMS / 10, late, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COMMS / 10; i++)
        EQUAL(in[i], i);
    MPI_Comm_free(&keep);
}

static void many_requests(int n)
{
    MPI_Request *q = malloc(n * sizeof *q);
    int *in = malloc(n * sizeof *in), other = rank ^ 1;
    MPI_Comm side;
    MPI_Comm_dup(MPI_COMM_WORLD, &side);
    for (int i = 0; i < n; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, other, i, side, &q[i]);
    make(COMMS);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comm[i]);
    MPI_Comm again = side;
    MPI_Comm_free(&again);
    make(3);
    for (int i = COMMS; i--;) {
        int word = i ^ rank;
        MPI_Send(&word, 1, MPI_INT, other, i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < COMMS; i++) {
        int word;
        MPI_Recv(&word, 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(word, i ^ other);
    }
    for (int i = 0; i < n; i++)
        MPI_Cancel(&q[i]);
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&comm[i]);
    free(q), free(in);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    many_communicators();
    many_pending();
    many_requests(argc > 1 ? 10000 : 1000000);
    return finish();
}
