// A rank dies while it holds a lock of a window, waits for one, is in the middle of an accumulate, or others wait
// for it in a fence or an epoch: the job ends with its name; where it is to go on, the others get an error.
//
// only: catena
// run: -n 3 -- exclusive; exit 137; never says 'survivor'; says 'rank 1 .*killed by signal 9'
// run: -n 3 -- accumulate; exit 139; never says 'survivor'; says 'rank 1 .*killed by signal 11'
// run: -n 3 -- fence; exit 137; never says 'survivor'; says 'rank 1 .*killed by signal 9'
// run: -n 3 --set FAULT_TOLERANCE=true -- exclusive; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- shared; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- queue; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- all; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- accumulate; exit 139; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- inside_fence; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- post; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- complete; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- free; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
#include "../check.h"
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static MPI_Win win;

/* The call fails as rank 1 has died. */
#define LOST(call) EQUAL(class_of(call), MPIX_ERR_PROC_FAILED)

static void die(void)
{
    raise(SIGKILL);
}

/* Rank 1 says that it has come so far, and goes on. */
static void far(void)
{
    MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_INT, 2, 1, MPI_COMM_WORLD);
}

static void await_far(void)
{
    MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Of the memory of rank 0, as this process has it, all but the first page can only be read: that ends its writer in
   the middle. */
static long half_writable(void)
{
    long page = sysconf(_SC_PAGESIZE);
    MPI_Aint bytes;
    int unit;
    char *at;
    MPI_Win_shared_query(win, 0, &bytes, &unit, &at);
    CHECK(bytes == 1 << 16);
    char *next = at + page - (size_t) at % page;
    EQUAL(mprotect(next, at + bytes - next - (size_t) (at + bytes) % page, PROT_READ), 0);
    return bytes / sizeof(long);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argc > 1 ? argv[1] : "";
    long *memory, one = 1, got;
    MPI_Win_allocate(1 << 16, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Group world, to_1, others;
    int lost = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &lost, &to_1);
    MPI_Group_excl(world, 1, &lost, &others);
    /* Whom rank 0 is to kill in the middle of a call. */
    int pids[3], pid = getpid();
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);

    if (!strcmp(how, "exclusive")) {
        if (rank == 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            far();
            die();
        }
        await_far();
        LOST(MPI_Win_lock(rank ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
        LOST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        /* Other targets can be locked. */
        EQUAL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win), MPI_SUCCESS);
        EQUAL(MPI_Fetch_and_op(&one, &got, MPI_LONG, 2, 0, MPI_SUM, win), MPI_SUCCESS);
        EQUAL(MPI_Win_unlock(2, win), MPI_SUCCESS);
        MPI_Sendrecv(NULL, 0, MPI_INT, 2 - rank, 4, NULL, 0, MPI_INT, 2 - rank, 4, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE);
        LOST(MPI_Win_lock_all(0, win));
    } else if (!strcmp(how, "shared")) {
        if (rank == 1) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            far();
            die();
        }
        await_far();
        LOST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    } else if (!strcmp(how, "queue")) {
        /* It dies in the queue of a lock that rank 0 holds; rank 2 comes behind it. */
        if (rank == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
            await_far();
            MPI_Send(NULL, 0, MPI_INT, 2, 2, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            kill(pids[1], SIGKILL);
            /* Known when a message of its cannot come any more. */
            EQUAL(class_of(MPI_Recv(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
                MPIX_ERR_PROC_FAILED);
            MPI_Win_unlock(0, win);
        } else if (rank == 1) {
            MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            far();
            /* If rank 0 is quicker to kill, it held nothing. */
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        } else {
            await_far();
            MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD);
            /* Behind the dead one, or before it: then it gets the lock. */
            int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            if (rc == MPI_SUCCESS)
                MPI_Win_unlock(0, win);
            else
                LOST(rc);
        }
    } else if (!strcmp(how, "all")) {
        if (rank == 1) {
            MPI_Win_lock_all(0, win);
            far();
            die();
        }
        await_far();
        LOST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win));
        EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win), MPI_SUCCESS);
        EQUAL(MPI_Win_unlock(2, win), MPI_SUCCESS);
    } else if (!strcmp(how, "accumulate")) {
        MPI_Win_lock_all(0, win);
        if (rank == 1) {
            long count = half_writable(), *from = calloc(count, sizeof *from);
            far();
            MPI_Accumulate(from, count, MPI_LONG, 0, 0, count, MPI_LONG, MPI_SUM, win);
            die();
        }
        await_far();
        /* Until it has died it may not have begun. */
        int rc;
        do
            rc = MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
        while (rc == MPI_SUCCESS);
        LOST(rc);
        LOST(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, win));
        LOST(MPI_Compare_and_swap(&one, &one, &got, MPI_LONG, 0, 0, win));
        LOST(MPI_Get_accumulate(&one, 1, MPI_LONG, &got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_MAX, win));
        EQUAL(MPI_Fetch_and_op(&one, &got, MPI_LONG, 2, 0, MPI_SUM, win), MPI_SUCCESS);
        EQUAL(MPI_Get(&got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_SUCCESS);
        EQUAL(MPI_Win_unlock_all(win), MPI_SUCCESS);
    } else if (!strcmp(how, "fence")) {
        MPI_Win_fence(0, win);
        if (rank == 1)
            die();
        MPI_Put(&one, 1, MPI_LONG, 2 - rank, 0, 1, MPI_LONG, win);
        LOST(MPI_Win_fence(0, win));
        LOST(MPI_Win_fence(0, win));
        EQUAL(class_of(MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win)), MPI_ERR_RMA_SYNC);
    } else if (!strcmp(how, "inside_fence")) {
        if (rank == 1) {
            far();
            MPI_Win_fence(0, win);
            die();
        }
        await_far();
        if (rank == 0) {
            kill(pids[1], SIGKILL);
            EQUAL(class_of(MPI_Recv(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
                MPIX_ERR_PROC_FAILED);
        }
        LOST(MPI_Win_fence(0, win));
    } else if (!strcmp(how, "post")) {
        /* It dies before it posts. */
        if (rank == 1)
            die();
        MPI_Win_start(to_1, 0, win);
        LOST(MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win));
        LOST(MPI_Win_complete(win));
        EQUAL(class_of(MPI_Win_complete(win)), MPI_ERR_RMA_SYNC);
    } else if (!strcmp(how, "complete")) {
        /* It dies before it completes. */
        if (rank == 1) {
            MPI_Win_start(others, 0, win);
            die();
        }
        MPI_Win_post(to_1, 0, win);
        if (rank == 0) {
            LOST(MPI_Win_wait(win));
        } else {
            int flag = 0, rc;
            do
                rc = MPI_Win_test(win, &flag);
            while (rc == MPI_SUCCESS && !flag);
            LOST(rc);
        }
        EQUAL(class_of(MPI_Win_wait(win)), MPI_ERR_RMA_SYNC);
    } else if (!strcmp(how, "free")) {
        if (rank == 1)
            die();
    } else {
        fprintf(stderr, "how is rank 1 to die?\n");
        return 1;
    }
    /* There is nobody to agree with, so it is gone at once. */
    EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
    CHECK(win == MPI_WIN_NULL);
    MPI_Group_free(&world);
    MPI_Group_free(&to_1);
    MPI_Group_free(&others);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
