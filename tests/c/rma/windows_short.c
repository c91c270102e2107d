// Short operations on memory that is the program's own, which targets that wait in MPI carry out: from all ranks to all
// at the same time, and to a target that computes meanwhile.
//
// run: -n 2
// run: -n 4
// run: -n 3 --set SHM_SINGLE_COPY=never
// run: -n 3 --set LINK=tcp
#include "../check.h"

#define ROUNDS 500

/* What everybody has: a counter, a word that is swapped, and a word for each rank. */
static long words[2 + 64];

static MPI_Aint at(const MPI_Aint *bases, int target, int word)
{
    return bases ? bases[target] + word * (MPI_Aint)sizeof(long) : word;
}

/* `bases`: the addresses of all members' words, for a dynamic window. */
static void use(MPI_Win win, const MPI_Aint *bases)
{
    long one = 1, old, got, last[64];
    memset(words, 0, sizeof words);
    memset(last, 0, sizeof last);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 1; i <= ROUNDS; i++)
        for (int t = 0; t < size; t++) {
            long mine = 1000L * i + rank, next;
            MPI_Fetch_and_op(&one, &old, MPI_LONG, t, at(bases, t, 0), MPI_SUM, win);
            MPI_Accumulate(&one, 1, MPI_LONG, t, at(bases, t, 0), 1, MPI_LONG, MPI_SUM, win);
            MPI_Put(&mine, 1, MPI_LONG, t, at(bases, t, 2 + rank), 1, MPI_LONG, win);
            MPI_Win_flush(t, win);
            MPI_Get(&got, 1, MPI_LONG, t, at(bases, t, 2 + rank), 1, MPI_LONG, win);
            MPI_Win_flush(t, win);
            EQUAL(got, mine);
            CHECK(old >= last[t] && old < 2L * ROUNDS * size);
            last[t] = old;
            /* One more, by whoever comes first. */
            do {
                MPI_Fetch_and_op(NULL, &old, MPI_LONG, t, at(bases, t, 1), MPI_NO_OP, win);
                MPI_Win_flush(t, win);
                next = old + 1;
                MPI_Compare_and_swap(&next, &old, &got, MPI_LONG, t, at(bases, t, 1), win);
                MPI_Win_flush(t, win);
            } while (got != old);
        }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(words[0], 2L * ROUNDS * size);
    EQUAL(words[1], (long)ROUNDS * size);
    for (int r = 0; r < size; r++)
        EQUAL(words[2 + r], 1000L * ROUNDS + r);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 computes until the others have written what it looks for, without any call of MPI. */
static void use_computing(MPI_Win win)
{
    volatile long *seen = words;
    words[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (*seen == 0)
            ;
        EQUAL(*seen, 77);
    } else if (rank == 1) {
        long value = 77;
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint mine, bases[64];
    start(&argc, &argv);
    MPI_Win_create(words, sizeof words, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use(win, NULL);
    use_computing(win);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, words, sizeof words);
    MPI_Get_address(words, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    use(win, bases);
    MPI_Win_detach(win, words);
    MPI_Win_free(&win);
    finish();
    return 0;
}
