// Many communicators at once, each with a board of its own while there is room: pairs that begin to talk later still find
// theirs, long blocks pass on all of them, and the memory goes back.
// run: -n 8
// run: -n 2
// run: --set LINK=tcp -n 3
// only: catena
#include "../check.h"

enum { COMMS = 2000, LONG = 50000, MEDIUM = 2000 };

/* What this process has of the memory that it shares, kB. */
static long shared(void)
{
    char line[200];
    long kb = -1;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status);
    while (fgets(line, sizeof line, status) && sscanf(line, "RssShmem: %ld", &kb) != 1)
        ;
    fclose(status);
    return kb;
}

int main(int argc, char **argv)
{
    static MPI_Comm comm[COMMS];
    static char sent[LONG], got[LONG];
    start(&argc, &argv);
    for (int i = 0; i < COMMS; i++) {
        int sum = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comm[i]);
        EQUAL(sum, size);
    }
    /* A board of the full size for each would be 9 GB. */
    CHECK(shared() < 100000);
    for (int i = 0; i < COMMS; i += 199) {
        memset(sent, rank == i % size ? 'a' + i % 23 : 0, LONG);
        MPI_Bcast(sent, LONG, MPI_CHAR, i % size, comm[i]);
        EQUAL(sent[0], 'a' + i % 23);
        EQUAL(sent[LONG - 1], 'a' + i % 23);
    }
    /* Each with each, most of them for the first time. */
    for (int by = 1; by < size; by++) {
        int to = (rank + by) % size, from = (rank + size - by) % size;
        memset(sent, 'A' + rank, MEDIUM);
        MPI_Sendrecv(sent, MEDIUM, MPI_CHAR, to, 0, got, MEDIUM, MPI_CHAR, from, 0, comm[COMMS - 1],
                     MPI_STATUS_IGNORE);
        EQUAL(got[0], 'A' + from);
        EQUAL(got[MEDIUM - 1], 'A' + from);
    }
    long with = shared();
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comm[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    /* What was given back may be kept up to a limit. */
    for (int i = 0; i < 40; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Barrier(comm[i]);
        MPI_Comm_free(&comm[i]);
    }
    CHECK(shared() < 50000 && shared() <= with);
    MPI_Finalize();
    return 0;
}
