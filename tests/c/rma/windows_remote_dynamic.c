// Memory attached to a dynamic window, which long puts and gets reach by a network's remote access once the target has
// told where it is. What is detached and attached again elsewhere, or in another length, is never taken for what was.
// only: catena
// needs: libfabric.so.1
// run: -n 3 --set LINK=ofi:tcp -- remote
// run: -n 3 --set "LINK=ofi:tcp;ofi_rxm" -- remote
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 -- remote
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE=false -- messages
#include "../check.h"

#define N 20000
#define ROUNDS 8

static MPI_Win win;
static long out[N], in[N];

/* Remote reads of this process so far. */
static unsigned long long reads(void)
{
    static MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    static MPI_T_pvar_handle handle;
    unsigned long long n;
    if (session == MPI_T_PVAR_SESSION_NULL) {
        int at, count;
        MPI_T_pvar_session_create(&session);
        EQUAL(MPI_T_pvar_get_index("network_reads", MPI_T_PVAR_CLASS_COUNTER, &at), MPI_SUCCESS);
        EQUAL(MPI_T_pvar_handle_alloc(session, at, NULL, &handle, &count), MPI_SUCCESS);
        MPI_T_pvar_start(session, handle);
    }
    EQUAL(MPI_T_pvar_read(session, handle, &n), MPI_SUCCESS);
    return n;
}

/* Where the memory of all members is. */
static void tell(void *mine, MPI_Aint *at)
{
    MPI_Aint own;
    MPI_Get_address(mine, &own);
    MPI_Allgather(&own, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
}

/* Each writes to its right neighbour, and reads that back; the neighbour finds it. */
static void exchange(const MPI_Aint *at, const long *memory, long n, long round)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int turn = 0; turn < 3; turn++) {
        for (long i = 0; i < n; i++)
            out[i] = 1000 * round + 100 * turn + rank + i, in[i] = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        MPI_Put(out, n, MPI_LONG, to, at[to], n, MPI_LONG, win);
        MPI_Win_flush(to, win);
        MPI_Get(in, n, MPI_LONG, to, at[to], n, MPI_LONG, win);
        MPI_Win_unlock(to, win);
        for (long i = 0; i < n; i++)
            EQUAL(in[i], out[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (long i = 0; i < n; i++)
            EQUAL(memory[i], 1000 * round + 100 * turn + from + i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    start(&argc, &argv);
    MPI_Aint *at = malloc(size * sizeof *at);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    unsigned long long before = reads();
    long *room = malloc(2 * N * sizeof(long));
    for (int round = 0; round < ROUNDS; round++) {
        /* Each time it begins elsewhere, in the same memory, and another length is attached. */
        long *memory = room + 100 * round;
        long n = N - 500 * round;
        EQUAL(MPI_Win_attach(win, memory, n * sizeof(long)), MPI_SUCCESS);
        tell(memory, at);
        exchange(at, memory, n, round);
        /* What reaches beyond it is refused by the target, or known to reach beyond it. */
        int to = (rank + 1) % size;
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
        int rc = MPI_Get(in, N, MPI_LONG, to, at[to] + 8, N, MPI_LONG, win);
        int flushed = MPI_Win_flush(to, win);
        EQUAL(class_of(rc == MPI_SUCCESS ? flushed : rc), MPI_ERR_RMA_RANGE);
        MPI_Win_unlock(to, win);
        MPI_Barrier(MPI_COMM_WORLD);
        EQUAL(MPI_Win_detach(win, memory), MPI_SUCCESS);
        if (round % 2) {
            /* What was known is not used for what is not attached any more. */
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
            rc = MPI_Put(out, n, MPI_LONG, to, at[to], n, MPI_LONG, win);
            flushed = MPI_Win_flush(to, win);
            EQUAL(class_of(rc == MPI_SUCCESS ? flushed : rc), MPI_ERR_RMA_RANGE);
            MPI_Win_unlock(to, win);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    EQUAL(reads() > before, strcmp(argv[1], "remote") == 0);

    /* Two regions that touch: an operation over both of them is the target's. */
    EQUAL(MPI_Win_attach(win, room, N / 2 * sizeof(long)), MPI_SUCCESS);
    EQUAL(MPI_Win_attach(win, room + N / 2, N / 2 * sizeof(long)), MPI_SUCCESS);
    tell(room, at);
    exchange(at, room, N, 9);
    exchange(at, room, N / 2, 10);
    /* It goes with what is attached. */
    MPI_Win_free(&win);
    free(room);
    free(at);
    MPI_T_finalize();
    finish();
    return 0;
}
