// Operations that notify their target: what was put is there when the target has seen the counter, over every way
// on which operations go, with the processor, the kernel, messages and a network's remote access.
//
// only: catena
// run: -n 1
// run: -n 4
// run: -n 4 --set SHM_SINGLE_COPY=never
// run: -n 3 --set LINK=tcp
//
// variant: windows_notify_hosts --host h0:2,h1:1 --launcher-agent scripts/hosts
// only: catena
// hosts: 2
// time: 60
// run:
// run: --set LINK=ofi:tcp
//
// variant: windows_notify_remote
// A network's remote access moves long data.
// only: catena
// needs: libfabric.so.1
// run: -n 3 --set LINK=ofi:tcp
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0
#include "../check.h"
#include <mpi-ext.h>

#define N 20000
#define COUNTERS 5
#define ROUNDS 30

static MPI_Win win;
static long *memory, out[N], in[N];

static long long value_of(int index)
{
    MPI_Count value = -1;
    EQUAL(MPIX_Win_get_notify_value(win, index, &value), MPI_SUCCESS);
    return value;
}

/* A ring of puts of several lengths, each with its counter. Nothing but the counters tells of them, and what goes back. */
static void ring(int to, int from, MPI_Aint at)
{
    static const int lengths[] = {0, 1, 100, 4000, N};
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 5; k++) {
            int n = lengths[k];
            for (int i = 0; i < n; i++)
                out[i] = 1000 * round + 10 * k + rank + i;
            if (round % 2) {
                MPI_Request request;
                MPIX_Rput_notify(out, n, MPI_LONG, to, at, n, MPI_LONG, k, win, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else {
                EQUAL(MPIX_Put_notify(out, n, MPI_LONG, to, at, n, MPI_LONG, k, win), MPI_SUCCESS);
            }
            EQUAL(MPIX_Win_wait_notify(win, k, round + 1), MPI_SUCCESS);
            for (int i = 0; i < n; i++)
                EQUAL(memory[i], 1000 * round + 10 * k + from + i);
            EQUAL(value_of(k), round + 1);
            /* The neighbour may write again. */
            MPI_Win_flush_local(to, win);
            MPI_Sendrecv(NULL, 0, MPI_INT, from, 1, NULL, 0, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
}

/* All notify rank 0, by every operation; a flush has all counters count. */
static void many(MPI_Aint at)
{
    long one = 1, got = -1;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Aint second = at + (at > 2 * N ? (MPI_Aint) sizeof(long) : 1);
    for (int i = 0; i < 100; i++) {
        EQUAL(MPIX_Accumulate_notify(&one, 1, MPI_LONG, 0, at, 1, MPI_LONG, MPI_SUM, 0, win), MPI_SUCCESS);
        EQUAL(MPIX_Get_accumulate_notify(&one, 1, MPI_LONG, &got, 1, MPI_LONG, 0, second, 1, MPI_LONG,
                  MPI_SUM, 1, win), MPI_SUCCESS);
        EQUAL(MPIX_Get_notify(in, 1, MPI_LONG, 0, at, 1, MPI_LONG, 2, win), MPI_SUCCESS);
        EQUAL(MPIX_Rget_notify(in, 1, MPI_LONG, 0, at, 1, MPI_LONG, 3, win, &request), MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(MPIX_Put_notify_c(in, 0, MPI_LONG, 0, at, 0, MPI_LONG, 4, win), MPI_SUCCESS);
        EQUAL(MPIX_Put_notify(in, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, 77, win), MPI_SUCCESS);
    }
    EQUAL(MPI_Win_flush(0, win), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int flag = 0;
        for (int k = 0; k < COUNTERS; k++) {
            MPI_Count was = 0;
            EQUAL(value_of(k), 100 * size);
            EQUAL(MPIX_Win_test_notify(win, k, 100 * size, &flag), MPI_SUCCESS);
            CHECK(flag);
            EQUAL(MPIX_Win_test_notify(win, k, 100 * size + 1, &flag), MPI_SUCCESS);
            CHECK(!flag);
            EQUAL(MPIX_Win_reset_notify_value(win, k, &was), MPI_SUCCESS);
            EQUAL(was, 100 * size);
            EQUAL(value_of(k), 0);
        }
        EQUAL(memory[0], 100 * size);
        EQUAL(memory[1], 100 * size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What cannot be is refused, at once or at the next synchronization. */
static void wrong(MPI_Aint at)
{
    MPI_Count value;
    int last = size - 1, num = -1, rc, flag;
    EQUAL(class_of(MPIX_Put_notify(out, 1, MPI_LONG, last, at, 1, MPI_LONG, -1, win)), MPI_ERR_ARG);
    rc = MPIX_Put_notify(out, 1, MPI_LONG, last, at, 1, MPI_LONG, COUNTERS + last, win);
    int flushed = MPI_Win_flush(last, win);
    EQUAL(class_of(rc == MPI_SUCCESS ? flushed : rc), MPI_ERR_ARG);
    EQUAL(class_of(MPIX_Win_get_notify_value(win, COUNTERS + rank, &value)), MPI_ERR_ARG);
    EQUAL(class_of(MPIX_Win_get_notify_value(win, -1, &value)), MPI_ERR_ARG);
    EQUAL(class_of(MPIX_Win_wait_notify(win, COUNTERS + rank, 0)), MPI_ERR_ARG);
    EQUAL(class_of(MPIX_Win_test_notify(win, 0, -1, &flag)), MPI_ERR_ARG);
    EQUAL(class_of(MPIX_Put_notify(out, 1, MPI_LONG, size, at, 1, MPI_LONG, 0, win)), MPI_ERR_RANK);
    for (int i = 0; i < size; i++) {
        EQUAL(MPIX_Win_get_num_notify(win, i, &num), MPI_SUCCESS);
        EQUAL(num, COUNTERS + i);
    }
}

static void all_of_it(MPI_Aint at_right, MPI_Aint at_0, MPI_Aint at_last)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, num = -1;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    EQUAL(MPIX_Win_get_num_notify(win, to, &num), MPI_SUCCESS);
    EQUAL(num, 0);
    EQUAL(MPIX_Win_set_num_notify(win, MPI_INFO_NULL, 1), MPI_SUCCESS);
    /* More, as many as each wants, and all begin at 0 again. */
    EQUAL(MPIX_Win_set_num_notify(win, MPI_INFO_NULL, COUNTERS + rank), MPI_SUCCESS);
    /* One that cannot take part stops all, and nothing changes. */
    int rc = MPIX_Win_set_num_notify(win, MPI_INFO_NULL, rank ? 50 : 1);
    EQUAL(class_of(rc), rank ? MPI_ERR_OTHER : MPI_ERR_ARG);
    MPI_Win_lock_all(0, win);
    EQUAL(value_of(COUNTERS - 1), 0);
    ring(to, from, at_right);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < COUNTERS; k++) {
        MPI_Count was;
        EQUAL(MPIX_Win_reset_notify_value(win, k, &was), MPI_SUCCESS);
        EQUAL(was, ROUNDS);
    }
    many(at_0);
    wrong(at_last);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int to = (rank + 1) % size;
    MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    all_of_it(0, 0, 0);
    long *own = memory = malloc(N * sizeof(long));
    MPI_Win_create(own, N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all_of_it(0, 0, 0);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, own, N * sizeof(long));
    MPI_Aint mine, *all = malloc(size * sizeof *all);
    MPI_Get_address(own, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    all_of_it(all[to], all[0], all[size - 1]);
    free(own);
    free(all);
    finish();
    return 0;
}
