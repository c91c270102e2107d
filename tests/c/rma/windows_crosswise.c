// Every rank gets, at the same time, more from the others than may be under way at once. What a rank answers never
// waits behind what it asks for.
//
//   fence   between two fences, 8 MiB from each of the others
//   flush   locked, several gets and accumulates with a result in a row, beside puts and short operations behind them
//   wait    by requests, which are waited for in turn
//   short   one rank alone: more short gets than that behind a long one
//
// The memory may be that of the program (created).
//
// time: 60
// run: -n 2 -x CATENA_LINK=tcp -- fence
// run: -n 3 -x CATENA_LINK=tcp -- fence
// run: -n 2 -x CATENA_LINK=tcp -- flush
// run: -n 3 -x CATENA_LINK=tcp -- wait
// run: -n 2 -x CATENA_LINK=ofi:tcp -x CATENA_RMA_REMOTE=false -- flush
// run: -n 2 -x CATENA_LINK=ucx:tcp -x CATENA_RMA_REMOTE=false -- flush
// run: -n 2 -- flush
// run: -n 2 -x CATENA_LINK=tcp -- short
// run: -n 2 -x CATENA_SHM_SINGLE_COPY=never -- fence created
// run: -n 3 -x CATENA_SHM_SINGLE_COPY=never -- flush created
// run: -n 2 -x CATENA_SHM_SINGLE_COPY=never -- wait created
#include "../check.h"

enum { LEN = 1 << 20, PART = 3 << 18, SHORT = 16 };

static long *memory, *got;
static MPI_Win win;

static long word(int of, long at)
{
    return of * 7000003L + at;
}

static void check(int of)
{
    for (long i = 0; i < LEN; i++)
        EQUAL(got[(long)of * LEN + i], word(of, i));
}

static void fence(void)
{
    for (int turn = 0; turn < 2; turn++) {
        memset(got, 0, sizeof(long) * LEN * size);
        MPI_Win_fence(0, win);
        for (int i = 1; i < size; i++) {
            int of = (rank + i) % size;
            MPI_Get(got + (long)of * LEN, LEN, MPI_LONG, of, 0, LEN, MPI_LONG, win);
        }
        MPI_Win_fence(0, win);
        for (int i = 1; i < size; i++)
            check((rank + i) % size);
    }
}

/* The words behind LEN: a counter, which all add to, and a part for each rank, to which that one puts. */
static void flush(void)
{
    static long zeros[PART], ones[SHORT];
    long one = 1, before = -1;
    for (int i = 0; i < SHORT; i++)
        ones[i] = rank + 1;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < size; i++) {
        int of = (rank + i) % size;
        long *to = got + (long)of * LEN;
        MPI_Get(to, PART, MPI_LONG, of, 0, PART, MPI_LONG, win);
        MPI_Get_accumulate(zeros, PART, MPI_LONG, to, PART, MPI_LONG, of, 0, PART, MPI_LONG, MPI_SUM, win);
        MPI_Get(to + PART, LEN - PART, MPI_LONG, of, PART, LEN - PART, MPI_LONG, win);
        MPI_Put(ones, SHORT, MPI_LONG, of, LEN + 1 + rank * SHORT, SHORT, MPI_LONG, win);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, of, LEN, MPI_SUM, win);
        MPI_Win_flush(of, win);
        check(of);
        CHECK(before >= 0 && before < size);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    EQUAL(memory[LEN], size - 1);
    for (int of = 0; of < size; of++)
        for (int i = 0; i < SHORT; i++)
            EQUAL(memory[LEN + 1 + of * SHORT + i], of == rank ? 0 : of + 1);
    MPI_Win_unlock(rank, win);
}

static void wait(void)
{
    MPI_Request parts[2];
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < size; i++) {
        int of = (rank + i) % size;
        long *to = got + (long)of * LEN;
        MPI_Rget(to, PART, MPI_LONG, of, 0, PART, MPI_LONG, win, &parts[0]);
        MPI_Rget(to + PART, LEN - PART, MPI_LONG, of, PART, LEN - PART, MPI_LONG, win, &parts[1]);
        MPI_Wait(&parts[1], MPI_STATUS_IGNORE);
        MPI_Wait(&parts[0], MPI_STATUS_IGNORE);
        check(of);
    }
    MPI_Win_unlock_all(win);
}

static void many_short(void)
{
    enum { EACH = 60 };
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        long n = (LEN - PART) / EACH;
        MPI_Get(got + LEN, PART, MPI_LONG, 1, 0, PART, MPI_LONG, win);
        for (long i = 0; i < n; i++)
            MPI_Get(got + LEN + PART + i * EACH, EACH, MPI_LONG, 1, PART + i * EACH, EACH, MPI_LONG, win);
        MPI_Get(got + LEN + PART + n * EACH, LEN - PART - n * EACH, MPI_LONG, 1, PART + n * EACH,
                LEN - PART - n * EACH, MPI_LONG, win);
        MPI_Win_flush(1, win);
        check(1);
    }
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long words = LEN + 1 + SHORT * size;
    if (argc > 2) {
        memory = malloc(words * sizeof(long));
        MPI_Win_create(memory, words * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(words * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    }
    got = calloc((long)LEN * size, sizeof *got);
    memset(memory + LEN, 0, (words - LEN) * sizeof(long));
    for (long i = 0; i < LEN; i++)
        memory[i] = word(rank, i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "fence"))
        fence();
    else if (!strcmp(argv[1], "flush"))
        flush();
    else if (!strcmp(argv[1], "short"))
        many_short();
    else
        wait();
    MPI_Win_free(&win);
    if (argc > 2)
        free(memory);
    free(got);
    return finish();
}
