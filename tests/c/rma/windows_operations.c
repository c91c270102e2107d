// One-sided operations on windows of every flavour: all predefined operations, layouts on both sides,
// requests, to oneself and to MPI_PROC_NULL, with zero counts, and large counts.
// run: -n 1
// run: -n 3
// run: -n 2 -x CATENA_SHM_SINGLE_COPY=always
// run: -n 3 --set SHM_SINGLE_COPY=never
// run: -n 3 --set LINK=tcp
//
// variant: windows_operations_hosts --host h0:2,h1:1 --launcher-agent scripts/hosts
// hosts: 2
// time: 60
// run:
// run: --set SHM_SINGLE_COPY=never
//
// variant: windows_operations_remote
// needs: libfabric.so.1
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0
// run: -n 3 --set "LINK=ofi:tcp;ofi_rxm" --set RMA_REMOTE_MIN=0
//
// variant: windows_operations_ucx
// needs: libucp.so.0
// run: -n 3 --set LINK=ucx:tcp --set RMA_REMOTE_MIN=0
// run: -n 3 --set LINK=ucx:tcp --set RMA_REMOTE=false
#include "../check.h"

#define N 1000

static long *memory;
static MPI_Aint bases[16];

enum { CREATE, FOREIGN, ALLOCATE, SHARED, DYNAMIC, DYNAMIC_FOREIGN, FLAVORS };

/* A window with N longs at each member; how to name the first of another's. */
static MPI_Win make(int flavor)
{
    MPI_Win win;
    MPI_Aint bytes = N * sizeof(long), address = 0;
    switch (flavor) {
        case CREATE:
            MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
            MPI_Win_create(memory, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
            break;
        case FOREIGN:
            memory = malloc(bytes);
            MPI_Win_create(memory, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
            break;
        case ALLOCATE:
            MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
            break;
        case SHARED:
            MPI_Win_allocate_shared(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
            break;
        default:
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
            if (flavor == DYNAMIC)
                MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
            else
                memory = malloc(bytes);
            MPI_Win_attach(win, memory, bytes);
            MPI_Get_address(memory, &address);
    }
    MPI_Allgather(&address, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    return win;
}

static void unmake(int flavor, MPI_Win win)
{
    if (flavor >= DYNAMIC) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(win, memory);
    }
    MPI_Win_free(&win);
    if (flavor == CREATE || flavor == DYNAMIC)
        MPI_Free_mem(memory);
    if (flavor == FOREIGN || flavor == DYNAMIC_FOREIGN)
        free(memory);
}

static int unit_of(int flavor)
{
    return flavor >= DYNAMIC ? 1 : sizeof(long);
}

static MPI_Aint at(int flavor, int target, MPI_Aint index)
{
    return bases[target] + index * (MPI_Aint) (sizeof(long) / unit_of(flavor));
}

static void renew(MPI_Win win, long base)
{
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++)
        memory[i] = base + i;
    MPI_Win_fence(0, win);
}

static void moves(int flavor, MPI_Win win)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    long out[N], in[N];

    renew(win, 1000 * rank);
    for (int i = 0; i < 10; i++)
        out[i] = 7000 * rank + i;
    MPI_Put(out, 10, MPI_LONG, to, at(flavor, to, 5), 10, MPI_LONG, win);
    MPI_Get(in, 20, MPI_LONG, to, at(flavor, to, 500), 20, MPI_LONG, win);
    MPI_Put(out, 0, MPI_LONG, to, at(flavor, to, 0), 0, MPI_LONG, win);
    MPI_Put(out, 3, MPI_LONG, MPI_PROC_NULL, 0, 3, MPI_LONG, win);
    MPI_Get(out, 3, MPI_LONG, MPI_PROC_NULL, 0, 3, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 20; i++)
        EQUAL(in[i], 1000 * to + 500 + i);
    for (int i = 0; i < 20; i++)
        EQUAL(memory[i], i >= 5 && i < 15 ? 7000 * from + i - 5 : 1000 * rank + i);

    /* Layouts on both sides, the same elements. */
    MPI_Datatype every, pairs;
    MPI_Type_vector(6, 1, 3, MPI_LONG, &every);
    MPI_Type_vector(3, 2, 4, MPI_LONG, &pairs);
    MPI_Type_commit(&every);
    MPI_Type_commit(&pairs);
    for (int how = 0; how < 4; how++) {
        renew(win, 1000 * rank);
        for (int i = 0; i < N; i++)
            out[i] = 5000 * rank + i, in[i] = -1;
        MPI_Datatype ours = how & 1 ? every : MPI_LONG, theirs = how & 2 ? pairs : MPI_LONG;
        int n = how & 1 ? 1 : 6, m = how & 2 ? 1 : 6;
        MPI_Put(out, n, ours, to, at(flavor, to, 100), m, theirs, win);
        MPI_Get(in, n, ours, to, at(flavor, to, 300), m, theirs, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < 6; i++) {
            int here = how & 1 ? 3 * i : i, there = how & 2 ? i / 2 * 4 + i % 2 : i;
            EQUAL(memory[100 + there], 5000 * from + here);
            EQUAL(in[here], 1000 * to + 300 + there);
        }
        EQUAL(memory[how & 2 ? 102 : 106], 1000 * rank + (how & 2 ? 102 : 106));
        EQUAL(in[how & 1 ? 1 : 6], -1);
    }

    /* Accumulates with layouts. */
    for (int how = 0; how < 4; how++) {
        renew(win, 1000 * rank);
        for (int i = 0; i < N; i++)
            out[i] = i + 1, in[i] = -1;
        MPI_Datatype ours = how & 1 ? every : MPI_LONG, theirs = how & 2 ? pairs : MPI_LONG;
        int n = how & 1 ? 1 : 6, m = how & 2 ? 1 : 6;
        MPI_Accumulate(out, n, ours, to, at(flavor, to, 100), m, theirs, MPI_SUM, win);
        MPI_Get_accumulate(out, n, ours, in, n, ours, to, at(flavor, to, 200), m, theirs, MPI_SUM, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < 6; i++) {
            int here = how & 1 ? 3 * i : i, there = how & 2 ? i / 2 * 4 + i % 2 : i;
            EQUAL(memory[100 + there], 1000 * rank + 100 + there + here + 1);
            EQUAL(memory[200 + there], 1000 * rank + 200 + there + here + 1);
            EQUAL(in[here], 1000 * to + 200 + there);
        }
    }
    MPI_Type_free(&every);
    MPI_Type_free(&pairs);
}

static void accumulates(int flavor, MPI_Win win)
{
    /* Everybody works on everybody, one element each, and a vector. */
    static const struct { MPI_Op op; long first, step, expected2, expected3; } of[] = {
        {MPI_SUM, 10, 1, 13, 16}, {MPI_PROD, 2, 1, 4, 12}, {MPI_MAX, 1, 1, 2, 3}, {MPI_MIN, 2, 1, 1, 1},
        {MPI_BOR, 8, 1, 11, 11}, {MPI_BXOR, 8, 1, 11, 8}, {MPI_BAND, 7, 1, 0, 0},
        {MPI_LAND, 1, 1, 1, 1}, {MPI_LOR, 0, 1, 1, 1}, {MPI_LXOR, 1, 1, 1, 0},
    };
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
        if (size == 1)
            break;
        MPI_Win_fence(0, win);
        for (int j = 0; j < N; j++)
            memory[j] = of[i].first;
        MPI_Win_fence(0, win);
        long mine[N];
        for (int j = 0; j < N; j++)
            mine[j] = 1 + rank;
        for (int t = 0; t < size; t++)
            MPI_Accumulate(mine, N, MPI_LONG, t, at(flavor, t, 0), N, MPI_LONG, of[i].op, win);
        MPI_Win_fence(0, win);
        for (int j = 0; j < N; j++)
            EQUAL(memory[j], size == 2 ? of[i].expected2 : of[i].expected3);
    }

    /* Every kind of number, also pairs with gaps. */
    MPI_Win_fence(0, win);
    memset(memory, 0, N * sizeof *memory);
    MPI_Win_fence(0, win);
    double d = 0.5;
    float f = 0.25;
    short s = 1;
    unsigned char c = 1;
    MPI_Accumulate(&d, 1, MPI_DOUBLE, 0, at(flavor, 0, 0), 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Accumulate(&f, 1, MPI_FLOAT, 0, at(flavor, 0, 1), 1, MPI_FLOAT, MPI_SUM, win);
    MPI_Accumulate(&s, 1, MPI_SHORT, 0, at(flavor, 0, 2), 1, MPI_SHORT, MPI_SUM, win);
    MPI_Accumulate(&c, 1, MPI_UNSIGNED_CHAR, 0, at(flavor, 0, 3), 1, MPI_UNSIGNED_CHAR, MPI_SUM, win);
    struct { double value; int index; } pair = {rank + 1.5, rank};
    MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, at(flavor, 0, 4), 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    struct { short value; int index; } little = {rank + 1, rank}, was = {9, 9};
    MPI_Get_accumulate(&little, 1, MPI_SHORT_INT, &was, 1, MPI_SHORT_INT, 0, at(flavor, 0, 8), 1,
                       MPI_SHORT_INT, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    CHECK(was.value >= 0 && was.value <= size);
    if (rank == 0) {
        CHECK(*(double *) (memory + 0) == 0.5 * size);
        CHECK(*(float *) (memory + 1) == 0.25 * size);
        EQUAL(*(short *) (memory + 2), size);
        EQUAL(*(unsigned char *) (memory + 3), size);
        memcpy(&pair, memory + 4, sizeof pair);
        CHECK(pair.value == size + 0.5 && pair.index == size - 1);
        memcpy(&little, memory + 8, sizeof little);
        CHECK(little.value == size && little.index == size - 1);
    }

    /* A type of several kinds can be replaced and read. */
    MPI_Datatype mixed;
    int lengths[2] = {1, 1};
    MPI_Aint displs[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_LONG, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, displs, types, &mixed);
    MPI_Type_commit(&mixed);
    struct { long a; double b; } here = {rank, 0.5}, there = {-1, -1};
    MPI_Win_fence(0, win);
    MPI_Accumulate(&here, 1, mixed, rank, at(flavor, rank, 20), 1, mixed, MPI_REPLACE, win);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &there, 1, mixed, rank, at(flavor, rank, 20), 1, mixed,
                       MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    CHECK(there.a == rank && there.b == 0.5);
    MPI_Type_free(&mixed);
}

/* All count on rank 0; each number is seen once. */
static void counters(int flavor, MPI_Win win)
{
    enum { TURNS = 200 };
    static char seen[16 * TURNS];
    memset(seen, 0, sizeof seen);
    renew(win, 0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rank == 0)
        memory[0] = memory[1] = memory[2] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    long one = 1, was, sum = 0;
    for (int i = 0; i < TURNS; i++) {
        MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, at(flavor, 0, 0), MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(was >= 0 && was < size * TURNS && !seen[was]);
        seen[was] = 1;
        /* A counter by compare and swap. */
        long new, old;
        MPI_Fetch_and_op(NULL, &old, MPI_LONG, 0, at(flavor, 0, 1), MPI_NO_OP, win);
        MPI_Win_flush_local(0, win);
        do {
            was = old;
            new = was + 1;
            MPI_Compare_and_swap(&new, &was, &old, MPI_LONG, 0, at(flavor, 0, 1), win);
            MPI_Win_flush_all(win);
        } while (old != was);
        /* Vector and element at the same place: one rule for both. */
        long vector[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        MPI_Accumulate(vector, i % 2 ? 8 : 1, MPI_LONG, 0, at(flavor, 0, 2), i % 2 ? 8 : 1, MPI_LONG, MPI_SUM,
                       win);
        sum++;
    }
    MPI_Request request[4];
    long in[2];
    MPI_Rput(&one, 1, MPI_LONG, rank, at(flavor, rank, 50), 1, MPI_LONG, win, &request[0]);
    MPI_Raccumulate(&one, 1, MPI_LONG, rank, at(flavor, rank, 51), 1, MPI_LONG, MPI_REPLACE, win, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Win_flush_local_all(win);
    MPI_Rget(in, 1, MPI_LONG, rank, at(flavor, rank, 50), 1, MPI_LONG, win, &request[2]);
    MPI_Rget_accumulate(&one, 1, MPI_LONG, in + 1, 1, MPI_LONG, rank, at(flavor, rank, 51), 1, MPI_LONG, MPI_SUM,
                        win, &request[3]);
    MPI_Waitall(2, request + 2, MPI_STATUSES_IGNORE);
    EQUAL(in[0], 1);
    EQUAL(in[1], 1);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        EQUAL(memory[0], size * TURNS);
        EQUAL(memory[1], size * TURNS);
        EQUAL(memory[2], size * sum);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void large_counts(int flavor, MPI_Win win)
{
    long out[4] = {1, 2, 3, 4}, in[4];
    renew(win, 0);
    MPI_Put_c(out, 4, MPI_LONG, rank, at(flavor, rank, 0), 4, MPI_LONG, win);
    MPI_Accumulate_c(out, 4, MPI_LONG, rank, at(flavor, rank, 0), 4, MPI_LONG, MPI_SUM, win);
    MPI_Get_accumulate_c(out, 4, MPI_LONG, in, 4, MPI_LONG, rank, at(flavor, rank, 0), 4, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++)
        EQUAL(in[i], 2 * out[i]);
    MPI_Get_c(in, 4, MPI_LONG, rank, at(flavor, rank, 0), 4, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++)
        EQUAL(in[i], 3 * out[i]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int shares = one_node();
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (flavor == SHARED && !shares)
            continue;
        MPI_Win win = make(flavor);
        moves(flavor, win);
        accumulates(flavor, win);
        counters(flavor, win);
        large_counts(flavor, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        unmake(flavor, win);
    }
    finish();
    return 0;
}
