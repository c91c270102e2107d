// Jobs that are connected end together; after MPI_Comm_disconnect nobody's end touches the other.
// The launcher tells of the failure either way.
//
// only: catena
// run: -n 2 -- child; fails; says 'spawned job 1 .*killed by signal 9'; says 'the parent went on'
// run: -n 2 -- parent; fails; says 'rank 1 on host .*killed by signal 9'; says 'the child went on'; never says 'the parent went on'
// run: -n 2 -- abort; exit 5; says 'the parent went on'
// run: -n 1 -- silent; says 'spawned job 1 .*ended without MPI_Finalize'; says 'the parent went on'
// run: -n 2 -- child connected; fails; says 'spawned job 1 .*killed by signal 9'; never says 'went on'; ends 5
// run: -n 2 -- parent connected; fails; says 'killed by signal 9'; never says 'went on'; ends 5
// run: -n 2 -- grandchild; fails; says 'spawned job 2 .*killed by signal 9.*; the other 3 ranks were ended'; never says 'went on'; ends 5
#include "../check.h"
#include <sched.h>
#include <signal.h>

/* Waits until a process has ended, whether or not the launcher has taken that in. */
static void until_ended(int pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    for (;;) {
        FILE *stat = fopen(path, "r");
        if (!stat)
            return;
        char *read = fgets(line, sizeof line, stat), *after = read ? strrchr(line, ')') : NULL;
        fclose(stat);
        if (!after || after[2] == 'Z')
            return;
        sched_yield();
    }
}

static int is_there(int argc, char **argv, const char *word)
{
    for (int k = 1; k < argc; k++)
        if (!strcmp(argv[k], word))
            return 1;
    return 0;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

/* Tells the other side this process's number, and hears that of its rank `of`. */
static int other_pid(MPI_Comm inter, int of)
{
    int mine = getpid(), remote;
    MPI_Comm_remote_size(inter, &remote);
    int all[16];
    CHECK(remote <= 16);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, inter);
    return all[of];
}

/* Tells everybody that this process has parted. */
static void announce(const char *who)
{
    char service[64];
    snprintf(service, sizeof service, "%s %d", who, rank);
    CHECK(MPI_Publish_name(service, MPI_INFO_NULL, "none") == MPI_SUCCESS);
}

/* Waits until rank `of` of the other side has parted. */
static void await(const char *who, int of)
{
    char service[64], port[MPI_MAX_PORT_NAME];
    snprintf(service, sizeof service, "%s %d", who, of);
    while (MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS)
        sched_yield();
}

static void wait_for_ever(MPI_Comm comm)
{
    MPI_Recv(NULL, 0, MPI_INT, 0, 99, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int connected = is_there(argc, argv, "connected");
    const char *how = argv[1];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm parent, inter;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        int is_last = argc > 2 && !strcmp(argv[2], "last");
        int pid = other_pid(parent, is_last ? 0 : !strcmp(how, "parent") ? 1 : 0);
        if (!strcmp(how, "grandchild") && !is_last) {
            char *more[] = {argv[1], "last", NULL};
            MPI_Comm_spawn(argv[0], more, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                           MPI_ERRCODES_IGNORE);
            other_pid(inter, 0);
            /* Over this one the first job is connected to the last. */
            wait_for_ever(inter);
        }
        if (is_last)
            die();
        if (connected && !strcmp(how, "child"))
            die();
        if (connected)
            wait_for_ever(parent);
        int parents;
        MPI_Comm_remote_size(parent, &parents);
        MPI_Comm_disconnect(&parent);
        if (!strcmp(how, "again")) {
            MPI_Finalize();
            return 0;
        }
        announce("child");
        for (int k = 0; k < parents; k++)
            await("parent", k);
        /* What a process has published goes with it. */
        announce("informed child");
        if (!strcmp(how, "child"))
            die();
        if (!strcmp(how, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 5);
        if (!strcmp(how, "silent"))
            _exit(0);
        until_ended(pid);
        printf("the child went on\n");
        MPI_Finalize();
        return 0;
    }
    char *more[] = {argv[1], connected ? "connected" : NULL, NULL};
    MPI_Comm_spawn(argv[0], more, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    int pid = other_pid(inter, 0);
    if (!strcmp(how, "grandchild"))
        wait_for_ever(inter);
    if (connected && !strcmp(how, "parent") && rank == 1)
        die();
    if (connected)
        wait_for_ever(inter);
    MPI_Comm_disconnect(&inter);
    announce("parent");
    if (!strcmp(how, "parent")) {
        await("informed child", 0);
        /* Rank 0 has parted, too. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            die();
        wait_for_ever(MPI_COMM_WORLD);
    }
    until_ended(pid);
    /* What is left is as it was, and can spawn. */
    MPI_Barrier(MPI_COMM_WORLD);
    char *again[] = {"again", NULL};
    int codes = -1;
    MPI_Comm_spawn(argv[0], again, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, &codes);
    CHECK(codes == MPI_SUCCESS);
    int own = other_pid(inter, 0);
    CHECK(own != getpid());
    MPI_Comm_disconnect(&inter);
    if (rank == 0)
        printf("the parent went on\n");
    MPI_Finalize();
    return 0;
}
