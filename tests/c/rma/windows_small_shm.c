// Windows far longer than /dev/shm, which in a container has 64 MB: nothing of theirs lies there.
//
// only: catena
// hosts: 1
// memory: 1 GiB
// run: -n 2 --host h0:2 --launcher-agent scripts/hosts
#include "../check.h"
#include <sys/statvfs.h>

#define MIB (1 << 20)

/* Bytes of /dev/shm that are taken. */
static long long taken(void)
{
    struct statvfs found;
    EQUAL(statvfs("/dev/shm", &found), 0);
    EQUAL(found.f_blocks * found.f_frsize, 64 * MIB);
    return (long long)(found.f_blocks - found.f_bfree) * found.f_frsize;
}

/* Each puts all of a window of 200 MiB into its neighbour's, and gets it back. */
static void use(MPI_Win win, const char *memory, char *buffer, int len)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    memset(buffer, 'a' + rank, len);
    MPI_Win_fence(0, win);
    MPI_Put(buffer, len, MPI_CHAR, to, 0, len, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < len; i += 4096)
        EQUAL(memory[i], 'a' + from);
    memset(buffer, 0, len);
    MPI_Get(buffer, len, MPI_CHAR, to, 0, len, MPI_CHAR, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < len; i += 4096)
        EQUAL(buffer[i], 'a' + rank);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int len = 200 * MIB;
    char *memory, *buffer = malloc(len);
    MPI_Win win;
    long long before = taken();
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 0)
            MPI_Win_allocate(len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        else
            MPI_Win_allocate_shared(len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        use(win, memory, buffer, len);
        CHECK(taken() <= before + MIB);
        MPI_Win_free(&win);
    }
    free(buffer);
    finish();
    return 0;
}
