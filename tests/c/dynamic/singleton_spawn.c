// A process that nobody has started spawns, accepts and publishes: it starts a launcher of its
// own, which ends with it and all that it has spawned.
//
// only: catena
// alone: HOW=plain; says 'child 1 of 2'; says 'all done'
// alone: HOW=session; says 'all done'
// alone: HOW=parted; says 'catena: .*spawned job 1 .*killed by signal 9'; says 'all done'
// alone: HOW=connected; fails; says 'spawned job 1 .*killed by signal 9'; never says 'all done'; ends 10
// alone: HOW=gone; fails; ends 10
// alone: HOW=abort; exit 7; says 'MPI_Abort with error code 7'; ends 10
// alone: HOW=none PATH=/nowhere; says 'MPI_ERR_SPAWN'; says 'all done'
#include "../check.h"
#include <sched.h>
#include <signal.h>

static void talk(MPI_Comm inter)
{
    static char out[300000], in[300000];
    int remote;
    MPI_Comm_remote_size(inter, &remote);
    for (int r = 0; r < remote; r++) {
        MPI_Sendrecv(out, 4, MPI_CHAR, r, 1, in, 4, MPI_CHAR, r, 1, inter, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, sizeof out, MPI_CHAR, r, 2, in, sizeof in, MPI_CHAR, r, 2, inter,
                     MPI_STATUS_IGNORE);
    }
    MPI_Comm all;
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Intercomm_merge(inter, inter == parent, &all);
    int n, sum, one = 1;
    MPI_Comm_size(all, &n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EQUAL(sum, n);
    MPI_Comm_free(&all);
}

static void child(MPI_Comm parent, const char *how)
{
    char port[MPI_MAX_PORT_NAME];
    talk(parent);
    if (!strcmp(how, "connected") && rank == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "plain") && strcmp(how, "session") && strcmp(how, "parted"))
        MPI_Recv(NULL, 0, MPI_INT, 0, 99, parent, MPI_STATUS_IGNORE);
    printf("child %d of %d\n", rank, size);
    fflush(stdout);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* The parent publishes once it has parted, too. */
    while (MPI_Lookup_name("parent", MPI_INFO_NULL, port) != MPI_SUCCESS)
        sched_yield();
    if (!strcmp(how, "parted")) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            kill(getpid(), SIGKILL);
        MPI_Recv(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm inter;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    char *how = argc > 1 ? argv[1] : getenv("HOW");
    if (!how)
        how = "plain";
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Comm own, parent, inter;
    if (argc == 1 && !strcmp(how, "session"))
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own = MPI_COMM_WORLD;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, how);
        MPI_Finalize();
        return 0;
    }
    CHECK(size == 1);
    char *more[] = {how, NULL};
    int codes[2] = {-1, -1};
    if (!strcmp(how, "none")) {
        MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        int code = MPI_Comm_spawn("no-such-program", more, 2, MPI_INFO_NULL, 0, own, &inter, codes);
        EQUAL(class_of(code), MPI_ERR_SPAWN);
        printf("MPI_ERR_SPAWN\nall done\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_spawn(argv[0], more, 2, MPI_INFO_NULL, 0, own, &inter, codes);
    EQUAL(codes[0], MPI_SUCCESS);
    EQUAL(codes[1], MPI_SUCCESS);
    talk(inter);
    if (!strcmp(how, "gone"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "abort"))
        MPI_Abort(own, 7);
    if (!strcmp(how, "connected"))
        MPI_Recv(NULL, 0, MPI_INT, 0, 99, inter, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&inter);
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("parent", MPI_INFO_NULL, port);
    if (!strcmp(how, "parted")) {
        /* The end of the others is not felt here: what is published stays. */
        char *again[] = {"plain", NULL};
        MPI_Comm_spawn(argv[0], again, 1, MPI_INFO_NULL, 0, own, &inter, codes);
        talk(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, own, &inter);
    talk(inter);
    MPI_Comm_disconnect(&inter);
    MPI_Unpublish_name("parent", MPI_INFO_NULL, port);
    MPI_Close_port(port);
    printf("all done\n");
    MPI_Finalize();
    if (session != MPI_SESSION_NULL)
        MPI_Session_finalize(&session);
    return 0;
}
