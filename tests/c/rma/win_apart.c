// Windows of processes that cannot open each other's descriptors, as in a container for each rank: here each has user
// names of its own, or a limit on the size of files.
// run: -n 3 -- apart
// run: -n 3 -- together
// run: -n 3 -- limited
// run: --set LINK=tcp -n 3 -- apart
// run: --set LINK=tcp -n 3 -- limited
// only: catena
// needs: user namespaces
#define _GNU_SOURCE
#include "../check.h"
#include <sched.h>
#include <sys/resource.h>

enum { INTS = 300000 };

/* Everybody has a word for each in memory of the next one, and one that all count up. */
static void use(MPI_Win win, int *mine, const char *what)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, value = 100 * rank + 7, old = -1, got = -1;
    for (int i = 0; i < INTS; i++)
        mine[i] = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, next, rank, 1, MPI_INT, win);
    MPI_Put(&value, 1, MPI_INT, next, INTS - 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    EQUAL(mine[before], 100 * before + 7);
    EQUAL(mine[INTS - 1], 100 * before + 7);
    for (int round = 0; round < 50; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&got, 1, MPI_INT, 0, size, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        got++;
        MPI_Put(&got, 1, MPI_INT, 0, size, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&(int){1}, &old, MPI_INT, 0, size + 1, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        CHECK(old >= 0 && old < 50 * size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        if (mine[size] != 50 * size || mine[size + 1] != 50 * size)
            fprintf(stderr, "%s: %d and %d\n", what, mine[size], mine[size + 1]);
        EQUAL(mine[size], 50 * size);
        EQUAL(mine[size + 1], 50 * size);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static int room[INTS];
    MPI_Win win;
    MPI_Comm node;
    MPI_Info info;
    int *at, bytes = INTS * sizeof(int), is_near;
    CHECK(argc == 2);
    if (!strcmp(argv[1], "apart"))
        CHECK(unshare(CLONE_NEWUSER) == 0);
    start(&argc, &argv);
    if (!strcmp(argv[1], "limited"))
        CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY}) == 0);
    /* Made before anybody knows. */
    int *early;
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &early);
    for (int round = 0; round < 3; round++) {
        MPI_Win_create(room, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        use(win, room, "create");
        MPI_Win_create(early, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        use(win, early, "create of MPI_Alloc_mem");
        MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win);
        use(win, at, "allocate");
    }
    MPI_Free_mem(early);
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &at);
    MPI_Win_create(at, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use(win, at, "create of MPI_Alloc_mem");
    MPI_Free_mem(at);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int me, members;
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &members);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    is_near = members == size;
    for (int kind = 0; kind < 3; kind++) {
        /* Nobody, everybody, and one member alone, whose wish is none of all. */
        int asks = kind == 1 || (kind == 2 && me == 0);
        MPI_Win_allocate_shared(bytes, sizeof(int), asks ? info : MPI_INFO_NULL, node, &at, &win);
        CHECK(at);
        for (int i = 0; i < INTS; i++)
            at[i] = 1000 * me + i;
        MPI_Win_fence(0, win);
        for (int of = 0; of < members; of++) {
            MPI_Aint len;
            int unit, *theirs;
            MPI_Win_shared_query(win, of, &len, &unit, &theirs);
            EQUAL(len, bytes);
            EQUAL(theirs[INTS - 1], 1000 * of + INTS - 1);
            if (kind != 1 && of > 0)
                CHECK(theirs - (of > me ? at : theirs) == (of > me ? (of - me) * INTS : 0));
        }
        MPI_Win_fence(0, win);
        if (is_near)
            use(win, at, "shared");
        else
            MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
