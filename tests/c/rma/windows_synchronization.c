// Fences, post-start-complete-wait, locks: who may be at a target when, and who waits for whom.
// run: -n 2
// run: -n 4
// run: -n 8
// run: -n 3 --set LINK=tcp
//
// variant: windows_synchronization_hosts
// A target that computes is reached, too.
// hosts: 2
// time: 60
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
//
// variant: windows_synchronization_remote
// needs: libfabric.so.1
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win win;
    long *memory, value;
    MPI_Win_allocate(16 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    /* A ring with every assertion that a fence knows. */
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int turn = 0; turn < 200; turn++) {
        value = 100 * turn + rank;
        MPI_Put(&value, 1, MPI_LONG, right, turn % 16, 1, MPI_LONG, win);
        MPI_Win_fence(turn % 2 ? MPI_MODE_NOPUT | MPI_MODE_NOSTORE : 0, win);
        EQUAL(memory[turn % 16], 100 * turn + left);
        MPI_Win_fence(0, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

    /* A ring of exposure epochs; start may come before post. */
    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    for (int turn = 0; turn < 200; turn++) {
        if (turn % 2) {
            MPI_Win_start(to, 0, win);
            MPI_Win_post(from, 0, win);
        } else {
            MPI_Win_post(from, MPI_MODE_NOSTORE, win);
            MPI_Win_start(to, 0, win);
        }
        value = 1000 * turn + rank;
        MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
        MPI_Win_complete(win);
        if (turn % 3) {
            MPI_Win_wait(win);
        } else {
            int flag = 0;
            while (!flag)
                MPI_Win_test(win, &flag);
        }
        EQUAL(memory[0], 1000 * turn + left);
    }
    /* All put to rank 0, which waits for all; and nobody to anybody. */
    MPI_Group zero, others;
    int none = 0;
    MPI_Group_incl(world, 1, &none, &zero);
    MPI_Group_excl(world, 1, &none, &others);
    for (int turn = 0; turn < 50; turn++) {
        if (rank == 0) {
            MPI_Win_post(others, 0, win);
            MPI_Win_wait(win);
            for (int r = 1; r < size; r++)
                EQUAL(memory[r], turn + r);
        } else {
            value = turn + rank;
            MPI_Win_start(zero, 0, win);
            MPI_Put(&value, 1, MPI_LONG, 0, rank, 1, MPI_LONG, win);
            MPI_Win_complete(win);
        }
        MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
        MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&zero);
    MPI_Group_free(&others);

    /* Whoever has the exclusive lock is alone: reads and writes are no atomics. */
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    enum { TURNS = 300 };
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        long now;
        MPI_Get(&now, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        now++;
        MPI_Put(&now, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Put(&now, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
        /* Readers see both or none. */
        long both[2];
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(both, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
        MPI_Win_flush(0, win);
        EQUAL(both[0], both[1]);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        EQUAL(memory[0], (long) size * TURNS);

    /* Several targets at once. */
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, size - 1, MPI_MODE_NOCHECK, win);
    MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock(0, win);
    MPI_Win_unlock(MPI_PROC_NULL, win);
    MPI_Win_unlock(size - 1, win);

    memory[4] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    /* Nested exclusive locks, in another order than that in which all are locked: nobody waits for ever. */
    int last = size - 1;
    for (int turn = 0; turn < 100; turn++) {
        if (rank == last) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win);
            MPI_Send(&turn, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            for (int target = last - 1; target >= 0; target--)
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            for (int target = 0; target < size; target++)
                MPI_Put(&turn, 1, MPI_INT, target, 4, 1, MPI_INT, win);
            for (int target = 0; target < size; target++)
                MPI_Win_unlock(target, win);
        } else {
            if (rank == 0)
                MPI_Recv(&turn, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_lock_all(0, win);
            int first, other;
            for (int target = 0; target < size; target++) {
                MPI_Get(&other, 1, MPI_INT, target, 4, 1, MPI_INT, win);
                MPI_Win_flush(target, win);
                if (target == 0)
                    first = other;
                EQUAL(first, other);
            }
            if (rank == 0)
                CHECK(first >= turn);
            MPI_Win_unlock_all(win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);

    /* A target that computes and calls nothing is reached. */
    volatile long *seen = memory + 3;
    *seen = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (*seen != size - 1)
            ;
    } else {
        long one = 1;
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
    finish();
    return 0;
}
