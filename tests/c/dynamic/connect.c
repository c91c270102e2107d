// Two jobs that one program has spawned connect at a port whose name they look up; and what is wrong
// with ports and names has the right class.
//
// run: -n 2
// run: -n 1
//
// variant: connect_hosts
// Between jobs on two hosts.
// hosts: 2
// time: 120
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts
#include "../check.h"

/* One side of a connection: all of the world talk to all of the other. */
static void meet(MPI_Comm inter, int mark, int other)
{
    int remote, is_inter, got[8];
    MPI_Comm_test_inter(inter, &is_inter);
    CHECK(is_inter);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Request requests[16];
    CHECK(remote <= 8);
    for (int r = 0; r < remote; r++) {
        MPI_Irecv(&got[r], 1, MPI_INT, r, 3, inter, &requests[2 * r]);
        MPI_Isend(&mark, 1, MPI_INT, r, 3, inter, &requests[2 * r + 1]);
    }
    MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE);
    for (int r = 0; r < remote; r++)
        EQUAL(got[r], other);
}

static void host(MPI_Comm parent)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        CHECK(strlen(port) <= 200);
        EQUAL(class_of(MPI_Publish_name("connect test", MPI_INFO_NULL, port)), MPI_SUCCESS);
        EQUAL(class_of(MPI_Publish_name("connect test", MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
    }
    MPI_Barrier(parent);
    for (int round = 0; round < 3; round++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        meet(inter, 100 + round, 200 + round);
        MPI_Comm_disconnect(&inter);
    }
    if (rank == 0) {
        EQUAL(class_of(MPI_Unpublish_name("connect test", MPI_INFO_NULL, "another")), MPI_ERR_SERVICE);
        EQUAL(class_of(MPI_Unpublish_name("connect test", MPI_INFO_NULL, port)), MPI_SUCCESS);
        MPI_Close_port(port);
    }
}

static void guest(MPI_Comm parent)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    MPI_Barrier(parent);
    if (rank == 0)
        EQUAL(class_of(MPI_Lookup_name("connect test", MPI_INFO_NULL, port)), MPI_SUCCESS);
    for (int round = 0; round < 3; round++) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        meet(inter, 200 + round, 100 + round);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Comm_connect("garbage", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)), MPI_ERR_PORT);
    if (rank == 0)
        EQUAL(class_of(MPI_Lookup_name("nobody's", MPI_INFO_NULL, port)), MPI_ERR_NAME);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm parent, jobs[2];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        (strcmp(argv[1], "host") ? guest : host)(parent);
        MPI_Comm_disconnect(&parent);
    } else {
        char *names[] = {"host", "guest"};
        for (int k = 0; k < 2; k++) {
            char *args[] = {names[k], NULL};
            MPI_Comm_spawn(argv[0], args, 2 - k, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &jobs[k], MPI_ERRCODES_IGNORE);
        }
        MPI_Barrier(jobs[0]);
        MPI_Barrier(jobs[1]);
        MPI_Comm_disconnect(&jobs[0]);
        MPI_Comm_disconnect(&jobs[1]);
    }
    MPI_Finalize();
    return 0;
}
