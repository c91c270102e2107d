// Accesses of several ranks to the same memory of a window that nothing orders are told in checked mode, for each kind of epoch; those that
// a lock, a message or an accumulation orders are not.
// cc: -g -O0
// only: catena
// run: -n 3 --check -- shared ; says error \[conflict\]: rank 2: MPI_Win_free \(check_windows.c:\d+\): MPI_Put \(check_windows.c:\d+\) of rank 0 and MPI_Put \(check_windows.c:\d+\) of rank 1 access the same 4 bytes of this rank's window at the same time, with shared locks ; says MPI_LOCK_EXCLUSIVE ; says done
// run: -n 3 --check -- lock_all ; says error \[conflict\]: rank 2: MPI_Win_free \S+ MPI_(Get|Put) \(check_windows.c:\d+\) of rank 0 and MPI_(Get|Put) .*of rank 1 access the same 4 bytes ; says done
// run: -n 3 --check --set LINK=tcp -- shared ; says error \[conflict\]: rank 2: MPI_Win_free ; says done
// run: -n 3 --check -- started ; says error \[conflict\]: rank 2: MPI_Win_wait \(check_windows.c:\d+\): MPI_Put \(check_windows.c:\d+\) of rank 0 and MPI_Put \(check_windows.c:\d+\) of rank 1 access the same 4 bytes of this rank's window in one epoch ; says done
// run: -n 3 --check -- tested ; says error \[conflict\]: rank 2: MPI_Win_test ; says done
// run: -n 3 --check --set LINK=tcp -- started ; says error \[conflict\]: rank 2: MPI_Win_wait ; says done
// run: -n 3 --check -- late ; says done ; never says check
// run: -n 3 --check --set LINK=tcp -- late ; says done ; never says check
// run: -n 3 --check -- long ; says error \[conflict\]: rank 2: MPI_Win_wait \(check_windows.c:\d+\): MPI_Put \S+ of rank 0 and MPI_Put \S+ of rank 1 access ; says done
// run: -n 3 --check --set LINK=tcp -- long_far ; says error \[conflict\]: rank 2: MPI_Win_wait ; says done
// run: -n 3 --check -- left ; says done ; says \[leak\]: rank \d: MPI_Win_allocate ; never says \[(unmatched|conflict)\]
// run: -n 3 --check -- right ; says done ; never says check
// run: -n 3 --check --set LINK=tcp -- right ; says done ; never says check
// run: -n 4 --check -- right ; says done ; never says check
//
// variant: check_windows_apart
// only: catena
// hosts: 2
// run: -n 3 --check --host h0:2,h1:1 --launcher-agent scripts/hosts -- shared ; says error \[conflict\]: rank 2: MPI_Win_free ; says done
// run: -n 3 --check --host h0:2,h1:1 --launcher-agent scripts/hosts -- right ; says done ; never says check
#include "../check.h"
#include <sched.h>

static MPI_Win win;
static int *base, one = 1, other, more[3];

static void make(void)
{
    MPI_Win_allocate(16 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks 0 and 1 access the same element of rank 2 under locks that both have: neither is complete when the other one begins. */
static void at_the_same_time(int all, int reads)
{
    make();
    if (rank < 2) {
        all ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
        if (reads && rank == 0)
            MPI_Get(&other, 1, MPI_INT, 2, 3, 1, MPI_INT, win);
        else
            MPI_Put(&one, 1, MPI_INT, 2, 3, 1, MPI_INT, win);
        MPI_Sendrecv(&one, 0, MPI_INT, !rank, 0, NULL, 0, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        all ? MPI_Win_unlock_all(win) : MPI_Win_unlock(2, win);
    }
    MPI_Win_free(&win);
}

/* In the epoch that rank 2 posts, ranks 0 and 1 put to these elements; if `in_turn`, in two epochs. */
static void post(int first, int second, int in_turn, int tests)
{
    MPI_Group all, target, origins, single;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, (int[]){2}, &target);
    MPI_Group_incl(all, 2, (int[]){0, 1}, &origins);
    for (int turn = 0; turn < 1 + in_turn; turn++) {
        MPI_Group_incl(all, 1, (int[]){turn}, &single);
        if (rank == 2) {
            MPI_Win_post(in_turn ? single : origins, 0, win);
            int flag = 0;
            while (tests && !flag)
                MPI_Win_test(win, &flag);
            if (!tests)
                MPI_Win_wait(win);
        } else if (rank < 2 && (!in_turn || rank == turn)) {
            MPI_Win_start(target, 0, win);
            MPI_Put(&one, 1, MPI_INT, 2, rank ? second : first, 1, MPI_INT, win);
            MPI_Win_complete(win);
        }
        MPI_Group_free(&single);
    }
    MPI_Group_free(&all), MPI_Group_free(&target), MPI_Group_free(&origins);
}

/* The target that rank 0 names first goes on while rank 0 still waits for the other one to post, which it does only then. */
static void post_late(void)
{
    MPI_Group all, targets, origin;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, (int[]){1, 2}, &targets);
    MPI_Group_incl(all, 1, (int[]){0}, &origin);
    make();
    if (rank == 0) {
        MPI_Win_start(targets, 0, win);
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else {
        if (rank == 2)
            MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_post(origin, 0, win);
        MPI_Win_wait(win);
        if (rank == 1)
            MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Group_free(&all), MPI_Group_free(&targets), MPI_Group_free(&origin);
}

/* Ranks 0 and 1 do more in an epoch than a short message has room for. If they share memory, they wait outside of MPI for what rank 2 does after
   the epoch. */
static void much(int is_far)
{
    enum { PUTS = 3000 };
    MPI_Win shared;
    MPI_Aint length;
    MPI_Group all, target, origins;
    int unit, here = 0;
    volatile int *own = &here, *flag = &here;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, (int[]){2}, &target);
    MPI_Group_incl(all, 2, (int[]){0, 1}, &origins);
    if (!is_far) {
        MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &shared);
        MPI_Win_shared_query(shared, 2, &length, &unit, &flag);
        *own = 0;
    }
    MPI_Win_allocate(2 * PUTS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        MPI_Win_post(origins, 0, win);
        MPI_Win_wait(win);
        *own = 1;
    } else {
        MPI_Win_start(target, 0, win);
        for (int i = 0; i < PUTS; i++)
            MPI_Put(&one, 1, MPI_INT, 2, 2 * i, 1, MPI_INT, win);
        MPI_Win_complete(win);
        while (!is_far && !*flag)
            sched_yield();
    }
    if (!is_far)
        MPI_Win_free(&shared);
    MPI_Win_free(&win);
    MPI_Group_free(&all), MPI_Group_free(&target), MPI_Group_free(&origins);
}

static void right(void)
{
    make();
    /* An exclusive lock, accumulations, reads, and other elements. */
    if (rank < 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
        MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
        MPI_Win_unlock(2, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        MPI_Win_lock_all(0, win);
        MPI_Accumulate(&one, 1, MPI_INT, 2, 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Fetch_and_op(&one, more, MPI_INT, 2, 1, MPI_SUM, win);
        MPI_Get(more + 1, 1, MPI_INT, 2, 2, 1, MPI_INT, win);
        MPI_Put(&one, 1, MPI_INT, 2, 3 + rank, 1, MPI_INT, win);
        MPI_Sendrecv(&one, 0, MPI_INT, !rank, 0, NULL, 0, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_flush_all(win);
        /* One after the other, as a message says. */
        if (rank == 1)
            MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 100; i++) {
            MPI_Put(&one, 1, MPI_INT, 2, 6, 1, MPI_INT, win);
            MPI_Win_flush(2, win);
            MPI_Get(&other, 1, MPI_INT, 2, 6, 1, MPI_INT, win);
            MPI_Win_flush_local(2, win);
        }
        if (rank == 0)
            MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++) {
        post(7, 8, 0, i % 2);
        post(9, 9, 1, i % 2);
    }
    /* Reads of elements whose requests say that they are complete. */
    MPI_Win_lock_all(0, win);
    if (rank < 2) {
        MPI_Request request;
        if (rank == 1)
            MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rget(&other, 1, MPI_INT, 2, 10, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
        else
            MPI_Put(&one, 1, MPI_INT, 2, 10, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    /* One more handle of an error handler is given back by itself. */
    MPI_Errhandler found, again;
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void *)exit, &found);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, found);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &again);
    MPI_Errhandler_free(&again);
    MPI_Errhandler_free(&found);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &again);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&again);
    /* Between groups each rank gives as much as its own group gets. */
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 3, &inter);
    int *give = calloc(size, sizeof *give), *get = calloc(size, sizeof *get);
    MPI_Reduce_scatter_block(give, get, rank ? 1 : size - 1, MPI_INT, MPI_SUM, inter);
    free(give), free(get);
    MPI_Comm_free(&inter), MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    start(&argc, &argv);
    if (!strcmp(what, "shared"))
        at_the_same_time(0, 0);
    if (!strcmp(what, "lock_all"))
        at_the_same_time(1, 1);
    if (!strcmp(what, "started") || !strcmp(what, "tested")) {
        make();
        post(5, 5, 0, !strcmp(what, "tested"));
        MPI_Win_free(&win);
    }
    if (!strcmp(what, "late"))
        post_late();
    if (!strcmp(what, "long") || !strcmp(what, "long_far"))
        much(!strcmp(what, "long_far"));
    if (!strcmp(what, "left")) {
        make();
        for (int i = 0; i < 3; i++)
            post(7, 8, 0, 0);
    }
    if (!strcmp(what, "right"))
        right();
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
