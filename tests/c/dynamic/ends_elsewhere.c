// A process is killed, aborts, or ends without MPI_Finalize, in a job that has spawned another one or in that one. It
// ends both while they are connected, and its own job alone once they have disconnected. `scripts/clients/ends` runs
// this under the launchers of others, too, where the two jobs have nothing in common but a launcher of Catena's.
//
// only: catena
// waits: for the grace of processes that end without MPI_Finalize
// time: 40
// run: -n 2 -- child killed connected; fails; says 'rank 1 of spawned job 1.*killed by signal 9'; never says 'goes on'; ends 10
// run: -n 2 -- child abort connected; exit 7; says 'rank 1 of spawned job 1.*code 7'; never says 'goes on'; ends 10
// run: -n 2 -- child silent connected; exit 1; says 'rank 1 of spawned job 1.*without MPI_Finalize'; never says 'goes on'; ends 15
// run: -n 2 -- parent killed connected; fails; says 'rank 1 on.*killed by signal 9'; never says 'goes on'; ends 10
// run: -n 2 -- parent abort connected; exit 7; says 'rank 1 on.*code 7'; never says 'goes on'; ends 10
// run: -n 2 -- parent silent connected; exit 1; says 'rank 1 on.*without MPI_Finalize'; never says 'goes on'; ends 15
// run: -n 2 -- launcher killed connected; fails; signal KILL; never says 'goes on'; ends 5
// run: -n 2 -- child abort parted; fails; says 'rank 1 of spawned job 1.*code 7'; says 'the parent goes on'; ends 10
// run: -n 2 -- child silent parted; fails; says 'rank 1 of spawned job 1.*without MPI_Finalize'; says 'the parent goes on'; ends 15
// run: -n 2 -- parent abort parted; fails; says 'rank 1 on.*code 7'; says 'the child goes on'; ends 10
// run: -n 2 -- parent silent parted; fails; says 'rank 1 on.*without MPI_Finalize'; says 'the child goes on'; ends 15
#include "../check.h"
#include <sched.h>
#include <signal.h>

static const char *victim, *how, *when;

/* Waits for a message that never comes. */
static void wait_for_ever(int from, MPI_Comm comm)
{
    MPI_Recv(NULL, 0, MPI_INT, from, 9, comm, MPI_STATUS_IGNORE);
    CHECK(!"a message that nobody has sent");
}

/* The job whose last rank ends, for which all others of it wait. */
static void falls(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        if (!strcmp(how, "killed"))
            raise(SIGKILL);
        if (!strcmp(how, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        exit(0);
    }
    wait_for_ever(size - 1, MPI_COMM_WORLD);
}

/* The other one: it ends with the first, or goes on once that has ended. `file` is made then, where nobody may read
   what is said. */
static void survives(const char *me, MPI_Comm inter, const int *pids, int n, const char *file)
{
    if (inter != MPI_COMM_NULL)
        wait_for_ever(n - 1, inter);
    for (int i = 0; rank == 0 && i < n; i++)
        while (!has_ended(pids[i]))
            sched_yield();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("the %s goes on\n", me);
        fflush(stdout);
        FILE *made = file ? fopen(file, "w") : NULL;
        CHECK(!file || (made && !fclose(made)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    int pid = getpid(), n, pids[8];
    CHECK(argc > 3);
    victim = argv[1], how = argv[2], when = argv[3];
    start(&argc, &argv);
    MPI_Comm_get_parent(&inter);
    const char *me = inter == MPI_COMM_NULL ? "parent" : "child";
    if (inter == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_remote_size(inter, &n);
    CHECK(n <= 8);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, inter);
    MPI_Barrier(inter);
    if (!strcmp(when, "parted"))
        MPI_Comm_disconnect(&inter);
    if (!strcmp(victim, "launcher") && !strcmp(me, "parent")) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            printf("ready\n");
            fflush(stdout);
        }
        wait_for_ever(1 - rank, MPI_COMM_WORLD);
    }
    if (!strcmp(me, victim))
        falls();
    else
        survives(me, inter, pids, n, argc > 4 ? argv[4] : NULL);
    return 0;
}
