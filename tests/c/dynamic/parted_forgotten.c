// A failure touches those that are connected to the job that has failed, and nobody else, whatever the launcher has forgotten of
// that job by then.
//
// A job that its parent has parted from spawns another one, which is killed: its spawner, which ignores that it is asked to
// end, is killed as well, although nothing is left of the job that has failed. And a job that has parted fails while
// hosts are asked what was said there.
//
// only: catena
// waits: for the grace after SIGTERM
// time: 40
// run: -n 1 -- deaf; fails; says 'rank 0 of spawned job 2.*killed by signal 9'; says 'the parent goes on'
// run: -n 2 --host localhost:1,other:1 --launcher-agent tests/c/here.sh -- killed; fails; says 'rank 0 of spawned job 1.*killed by signal 9'; says 'the parent goes on'
// run: -n 2 --host localhost:1,other:1 --launcher-agent tests/c/here.sh -- abort; fails; says 'rank 0 of spawned job 1.*code 7'; says 'the parent goes on'
#include "../check.h"
#include <sched.h>
#include <signal.h>

/* The number of the process of a job that this one, or its parent, has spawned. */
static int pid_of_child(MPI_Comm inter, int is_child)
{
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, is_child ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    return pid;
}

static void spawn(char **argv, const char *who, MPI_Comm *inter)
{
    char *more[] = {argv[1], (char *)who, NULL};
    MPI_Comm_spawn(argv[0], more, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE);
}

static void child(char **argv, MPI_Comm parent)
{
    /* The grandchild ends while its spawner is connected to it. */
    if (!strcmp(argv[2], "last"))
        raise(SIGKILL);
    pid_of_child(parent, 1);
    if (!strcmp(argv[2], "again")) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return;
    }
    MPI_Comm_disconnect(&parent);
    if (!strcmp(argv[1], "deaf")) {
        MPI_Comm inter;
        signal(SIGTERM, SIG_IGN);
        spawn(argv, "last", &inter);
        for (;;)
            pause();
    }
    if (!strcmp(argv[1], "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    start(&argc, &argv);
    MPI_Comm_get_parent(&inter);
    CHECK(argc > (inter == MPI_COMM_NULL ? 1 : 2));
    if (inter != MPI_COMM_NULL) {
        child(argv, inter);
        return 0;
    }
    spawn(argv, "first", &inter);
    int pid = pid_of_child(inter, 0);
    MPI_Comm_disconnect(&inter);
    while (!has_ended(pid))
        sched_yield();
    /* Nothing more can be spawned in a job that is about to end. */
    spawn(argv, "again", &inter);
    pid_of_child(inter, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("the parent goes on\n");
    return finish();
}
