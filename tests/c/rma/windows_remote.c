// Puts and gets that a network's remote access carries, next to short ones and accumulates, which messages
// carry. Whatever ends an epoch has both complete, at the origin and at the target.
// only: catena
// needs: libfabric.so.1
// run: -n 3 --set LINK=ofi:tcp -- remote
// run: -n 3 --set "LINK=ofi:tcp;ofi_rxm" -- remote
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 -- remote
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE=false -- messages
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=unlimited -- messages
//
// variant: windows_remote_hosts
// only: catena
// hosts: 2
// time: 60
// needs: libfabric.so.1
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp -- remote
#include "../check.h"

#define N 20000
#define ROUNDS 20

static long *memory, out[N], in[N];
static MPI_Win win;

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

/* Each adds 1 to all elements of rank 0, which it reads and writes as a whole. */
static void locks(void)
{
    for (int i = 0; i < N; i++)
        memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(in, N, MPI_LONG, 0, 0, N, MPI_LONG, win);
        MPI_Win_flush(0, win);
        for (int i = 0; i < N; i++)
            out[i] = in[i] + 1;
        MPI_Put(out, N, MPI_LONG, 0, 0, N, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(in, N, MPI_LONG, 0, 0, N, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    for (int i = 0; i < N; i++)
        EQUAL(in[i], size * ROUNDS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The target changes what was read as soon as the epoch is over, and finds what was put. */
static void epochs(int fences)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Group world, targets, origins;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &to, &targets);
    MPI_Group_incl(world, 1, &from, &origins);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            memory[i] = 100 * round + rank, out[i] = 100 * round + 50 + rank;
        if (fences) {
            MPI_Win_fence(0, win);
        } else {
            MPI_Win_post(origins, 0, win);
            MPI_Win_start(targets, 0, win);
        }
        MPI_Get(in, N / 2, MPI_LONG, to, 0, N / 2, MPI_LONG, win);
        MPI_Put(out, N / 2 - 1, MPI_LONG, to, N / 2, N / 2 - 1, MPI_LONG, win);
        MPI_Accumulate(out, 1, MPI_LONG, to, N - 1, 1, MPI_LONG, MPI_SUM, win);
        if (fences) {
            MPI_Win_fence(0, win);
        } else {
            MPI_Win_complete(win);
            MPI_Win_wait(win);
        }
        for (int i = 0; i < N / 2; i++)
            memory[i] = -1;
        for (int i = 0; i < N / 2; i++)
            EQUAL(in[i], 100 * round + to);
        for (int i = N / 2; i < N - 1; i++)
            EQUAL(memory[i], 100 * round + 50 + from);
        EQUAL(memory[N - 1], 200 * round + 50 + rank + from);
    }
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
    MPI_Group_free(&world);
}

/* Requests, with a target that computes, and many more than the network takes at once. */
static void requests(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request some[200];
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < N; i++)
        out[i] = 7 * i + rank;
    for (int i = 0; i < 100; i++)
        MPI_Rput(out + 100 * i, 100, MPI_LONG, to, 100 * i, 100, MPI_LONG, win, &some[i]);
    MPI_Rput(out + 10000, N - 10000, MPI_LONG, to, 10000, N - 10000, MPI_LONG, win, &some[100]);
    MPI_Waitall(101, some, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        out[i] = -1;
    MPI_Win_flush(to, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        EQUAL(memory[i], 7 * i + from);
    for (int i = 0; i < 100; i++)
        MPI_Rget(in + 100 * i, 100, MPI_LONG, to, 100 * i, 100, MPI_LONG, win, &some[i]);
    MPI_Rget(in + 10000, N - 10000, MPI_LONG, to, 10000, N - 10000, MPI_LONG, win, &some[100]);
    MPI_Waitall(101, some, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        EQUAL(in[i], 7 * i + rank);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    start(&argc, &argv);
    for (int created = 0; created < 2; created++) {
        long *own = created ? malloc(N * sizeof(long)) : NULL;
        if (created)
            MPI_Win_create(memory = own, N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        else
            MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        unsigned long long before = reads();
        locks();
        if (rank != 0)
            EQUAL(reads() > before, strcmp(argv[1], "remote") == 0);
        epochs(0);
        epochs(1);
        requests();
        MPI_Win_free(&win);
        free(own);
    }
    MPI_T_finalize();
    finish();
    return 0;
}
