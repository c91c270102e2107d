// A process of a job that has disconnected dies, and the other job has not come to disconnect yet: it goes on, and
// does so later. Here the launcher has judged the end of the dead job before.
//
// only: catena
// time: 40
// run: -n 2 -- child 1; fails; says 'spawned job 1.*killed by signal 9'; says 'the parent goes on'
// run: -n 1 -- child 2; fails; says 'spawned job 1.*killed by signal 9'; says 'the parent goes on'
// run: -n 2 -- parent 1; fails; says 'rank 0 on.*killed by signal 9'; says 'the child goes on'
// run: -n 2 -- parent 2; fails; says 'rank 0 on.*killed by signal 9'; says 'the child goes on'
// alone: CATENA_SINGLETON=1; says 'spawned job 1.*killed by signal 9'; says 'the parent goes on'
#include "../check.h"
#include <sched.h>
#include <signal.h>
#include <unistd.h>

/* The job whose rank 0 dies, which all others of it wait for in vain. */
static void dies(MPI_Comm inter)
{
    MPI_Comm_disconnect(&inter);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        raise(SIGKILL);
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The other one. The launcher ends those that wait once it has judged, and forgets a job that was spawned. */
static void goes_on(MPI_Comm inter, const int *pids, int n, const char *who)
{
    int last = pids[n - 1];
    if (rank == 0 && !strcmp(who, "parent"))
        while (kill(pids[0], 0) == 0)
            sched_yield();
    else if (rank == 0)
        while (!has_ended(last))
            sched_yield();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_disconnect(&inter);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("the %s goes on\n", who);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    int pid = getpid(), n, pids[8];
    const char *victim = argc > 1 ? argv[1] : "child";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&inter);
    const char *me = inter == MPI_COMM_NULL ? "parent" : "child";
    if (inter == MPI_COMM_NULL) {
        char *more[] = {(char *)victim, NULL};
        MPI_Comm_spawn(argv[0], more, argc > 2 ? atoi(argv[2]) : 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_remote_size(inter, &n);
    CHECK(n <= 8);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, inter);
    if (!strcmp(me, victim))
        dies(inter);
    else
        goes_on(inter, pids, n, me);
    return 0;
}
