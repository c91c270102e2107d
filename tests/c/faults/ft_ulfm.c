// What goes on after ranks have died (ULFM): agreement, revocation, communicators of survivors,
// and collectives that end with an error or well at each member.
//
// only: catena
// run: -n 4 --set FAULT_TOLERANCE=true -- alive; says 'survivor 3 done'
// run: -n 4 -- alive; says 'survivor 3 done'
// run: -n 4 -- revoked; says 'survivor 3 done'
// run: -n 1 -- alive; says 'survivor 0 done'
// run: -n 5 --with-ft ulfm --set FAULT_STATUS=first -- barrier; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- allreduce; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- long; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- bcast; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- ibarrier; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true --set COLL_NODE=false -- allreduce; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true --set COLL_NODE=false -- long; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- dup; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- neighbor; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 4 --set FAULT_TOLERANCE=true -- root; exit 137; says 'survivor 1 done'; says 'survivor 3 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- revoker; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- revoke; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 5 --set FAULT_TOLERANCE=true -- any; exit 137; says 'survivor 0 done'; says 'survivor 4 done'
// run: -n 6 --set FAULT_TOLERANCE=true -- apart; exit 137; says 'survivor 0 done'; says 'survivor 5 done'
// run: -n 6 --set FAULT_TOLERANCE=true -- inter; exit 137; says 'survivor 0 done'; says 'survivor 5 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- acked; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>

#define LONG (1 << 18)

static MPI_Comm world;
static int victim = 2;

static void die(void)
{
    if (rank == victim)
        raise(SIGKILL);
}


/* All survivors make a communicator, which works. */
static void survive(MPI_Comm comm, int dead)
{
    MPI_Comm left;
    int n, me, all, sum = 0, flag = 7, of;
    MPI_Comm_size(comm, &of);
    CHECK(MPIX_Comm_shrink(comm, &left) == MPI_SUCCESS);
    MPI_Comm_size(left, &n);
    MPI_Comm_rank(left, &me);
    CHECK(n == of - dead);
    all = n * (n - 1) / 2;
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    CHECK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, left) == MPI_SUCCESS);
    CHECK(sum == all);
    flag = me == 0 ? 5 : 7;
    CHECK(MPIX_Comm_agree(left, &flag) == MPI_SUCCESS);
    CHECK(flag == (n > 0 ? 5 : 7));
    CHECK(MPI_Barrier(left) == MPI_SUCCESS);
    MPI_Comm_free(&left);
}

static void collective(const char *how)
{
    static int from[LONG], to[LONG];
    int code = MPI_SUCCESS, n;
    die();
    for (n = 0; n < 50 && code == MPI_SUCCESS; n++) {
        if (!strcmp(how, "barrier"))
            code = MPI_Barrier(world);
        else if (!strcmp(how, "allreduce"))
            code = MPI_Allreduce(&rank, &to[0], 1, MPI_INT, MPI_SUM, world);
        else if (!strcmp(how, "long"))
            code = MPI_Allreduce(from, to, LONG, MPI_INT, MPI_SUM, world);
        else if (!strcmp(how, "bcast"))
            code = MPI_Bcast(from, LONG, MPI_INT, n % size, world);
        else if (!strcmp(how, "ibarrier")) {
            MPI_Request request;
            code = MPI_Ibarrier(world, &request);
            if (code == MPI_SUCCESS)
                code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (!strcmp(how, "dup")) {
            MPI_Comm copy = MPI_COMM_NULL;
            code = MPI_Comm_dup(world, &copy);
            if (code == MPI_SUCCESS)
                MPI_Comm_free(&copy);
        } else if (!strcmp(how, "neighbor")) {
            static MPI_Comm ring = MPI_COMM_NULL;
            int one = 1;
            if (ring == MPI_COMM_NULL)
                code = MPI_Cart_create(world, 1, &size, &one, 0, &ring);
            if (code == MPI_SUCCESS)
                code = MPI_Neighbor_allgather(&rank, 1, MPI_INT, to, 1, MPI_INT, ring);
        }
    }
    CHECK(code == MPIX_ERR_PROC_FAILED);
    survive(world, 1);
}

static void alive(void)
{
    MPI_Group failed;
    MPI_Comm copy;
    MPI_Request request;
    int flag = ~(1 << rank), is = 5, n, *ft;
    CHECK(MPI_Comm_get_attr(world, MPIX_FT, &ft, &is) == MPI_SUCCESS && is);
    CHECK(MPIX_Comm_is_revoked(world, &is) == MPI_SUCCESS && !is);
    CHECK(MPIX_Comm_get_failed(world, &failed) == MPI_SUCCESS);
    MPI_Group_size(failed, &n);
    CHECK(n == 0);
    CHECK(MPIX_Comm_ack_failed(world, size, &n) == MPI_SUCCESS && n == 0);
    CHECK(MPIX_Comm_failure_ack(world) == MPI_SUCCESS);
    CHECK(MPIX_Comm_failure_get_acked(world, &failed) == MPI_SUCCESS);
    CHECK(MPIX_Comm_agree(world, &flag) == MPI_SUCCESS);
    CHECK(flag == ~((1 << size) - 1));
    for (n = 0; n < 200; n++) {
        flag = rank == n % size ? n : -1;
        CHECK(MPI_Comm_agree(world, &flag) == MPI_SUCCESS && flag == n);
    }
    flag = rank == 0 ? 4 : 6;
    CHECK(MPIX_Comm_iagree(world, &flag, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == (4 & (size > 1 ? 6 : 4)));
    CHECK(MPIX_Comm_ishrink(world, &copy, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Comm_size(copy, &n);
    CHECK(n == size);
    survive(copy, 0);
    // Arguments.
    CHECK(class_of(MPIX_Comm_agree(world, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPIX_Comm_ack_failed(world, -1, &n)) == MPI_ERR_ARG);
    // Revoked everywhere, and others are not.
    CHECK(MPIX_Comm_revoke(copy) == MPI_SUCCESS);
    CHECK(MPIX_Comm_is_revoked(copy, &is) == MPI_SUCCESS && is);
    CHECK(MPI_Barrier(copy) == MPIX_ERR_REVOKED);
    CHECK(MPI_Send(&n, 1, MPI_INT, MPI_PROC_NULL, 0, copy) == MPIX_ERR_REVOKED);
    CHECK(MPI_Recv(&n, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE) == MPIX_ERR_REVOKED);
    CHECK(MPI_Send(&n, 1, MPI_INT, 0, 0, copy) == MPIX_ERR_REVOKED);
    survive(copy, 0);
    CHECK(MPI_Comm_free(&copy) == MPI_SUCCESS);
    CHECK(MPI_Barrier(world) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "alive";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Barrier(world);
    int n, got, word = 3, flag;
    MPI_Group failed;
    if (!strcmp(how, "alive"))
        alive();
    else if (!strcmp(how, "revoked")) {
        // The world is of no more use, and MPI_Finalize is well all the same; not all know of it before.
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
        if (rank == 1)
            MPIX_Comm_revoke(MPI_COMM_WORLD);
    } else if (!strcmp(how, "root")) {
        // The root of the tree dies: the next one decides.
        victim = 0;
        die();
        flag = rank;
        CHECK(MPIX_Comm_agree(world, &flag) == MPIX_ERR_PROC_FAILED);
        CHECK(flag == (1 & 2 & 3));
        survive(world, 1);
    } else if (!strcmp(how, "revoker")) {
        // Who revokes dies: all come to know.
        if (rank == victim) {
            MPIX_Comm_revoke(world);
            die();
        }
        CHECK(MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size == victim ? rank : (rank + 1) % size, 9,
            world, MPI_STATUS_IGNORE) == MPIX_ERR_REVOKED);
        survive(world, 1);
    } else if (!strcmp(how, "revoke")) {
        // All kinds of waiting end.
        static int many[LONG];
        int code;
        if (rank == 0)
            MPIX_Comm_revoke(world);
        else if (rank == 1)
            CHECK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 9, world, MPI_STATUS_IGNORE)
                == MPIX_ERR_REVOKED);
        else if (rank == 2)
            CHECK(MPI_Ssend(many, LONG, MPI_INT, 3, 8, world) == MPIX_ERR_REVOKED);
        else if (rank == 3) {
            while ((code = MPI_Barrier(world)) == MPI_SUCCESS)
                ;
            CHECK(code == MPIX_ERR_REVOKED);
        } else {
            MPI_Request request;
            MPI_Irecv(&got, 1, MPI_INT, 0, 5, world, &request);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPIX_ERR_REVOKED);
        }
        survive(world, 0);
    } else if (!strcmp(how, "any")) {
        // A rank that waits for any source gets the error until it has acknowledged the failure.
        MPI_Request request;
        die();
        if (rank == 0) {
            CHECK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 6, world, MPI_STATUS_IGNORE)
                == MPIX_ERR_PROC_FAILED);
            MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, &request);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED_PENDING);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED_PENDING);
            CHECK(MPIX_Comm_ack_failed(world, size, &n) == MPI_SUCCESS && n == 1);
            MPI_Send(&word, 1, MPI_INT, 1, 4, world);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && got == 3);
            CHECK(request == MPI_REQUEST_NULL);
        } else if (rank == 1) {
            CHECK(MPI_Recv(&got, 1, MPI_INT, 0, 4, world, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(MPI_Send(&word, 1, MPI_INT, 0, 5, world) == MPI_SUCCESS);
        }
        survive(world, 1);
    } else if (!strcmp(how, "apart")) {
        // A failure disturbs nobody outside of its communicators.
        MPI_Comm part;
        MPI_Comm_split(world, rank % 2, rank, &part);
        MPI_Barrier(world);
        die();
        if (rank % 2 == 1)
            for (n = 0; n < 2000; n++)
                CHECK(MPI_Barrier(part) == MPI_SUCCESS);
        else {
            while ((n = MPI_Barrier(part)) == MPI_SUCCESS)
                ;
            CHECK(n == MPIX_ERR_PROC_FAILED);
        }
        survive(part, rank % 2 == 0);
        survive(world, 1);
    } else if (!strcmp(how, "inter")) {
        MPI_Comm part, inter, left;
        int local, remote;
        MPI_Comm_split(world, rank % 2, rank, &part);
        MPI_Intercomm_create(part, 0, world, 1 - rank % 2, 3, &inter);
        flag = ~(1 << rank);
        CHECK(MPIX_Comm_agree(inter, &flag) == MPI_SUCCESS && flag == ~63);
        MPI_Barrier(world);
        die();
        CHECK(MPIX_Comm_agree(inter, &flag) == MPIX_ERR_PROC_FAILED);
        CHECK(MPIX_Comm_get_failed(inter, &failed) == MPI_SUCCESS);
        CHECK(MPIX_Comm_revoke(inter) == MPI_SUCCESS);
        CHECK(MPIX_Comm_shrink(inter, &left) == MPI_SUCCESS);
        MPI_Comm_size(left, &local);
        MPI_Comm_remote_size(left, &remote);
        CHECK(local + remote == 5 && local == (rank % 2 ? 3 : 2));
        CHECK(MPI_Barrier(left) == MPI_SUCCESS);
    } else if (!strcmp(how, "acked")) {
        victim = 1;
        die();
        flag = -1;
        CHECK(MPIX_Comm_agree(world, &flag) == MPIX_ERR_PROC_FAILED && flag == -1);
        // Not before all have acknowledged it.
        do
            MPIX_Comm_ack_failed(world, rank == 0 ? 3 : 0, &n);
        while (rank == 0 && n == 0);
        CHECK(MPIX_Comm_agree(world, &flag) == MPIX_ERR_PROC_FAILED);
        do
            MPIX_Comm_ack_failed(world, 3, &n);
        while (n == 0);
        CHECK(MPIX_Comm_agree(world, &flag) == MPI_SUCCESS);
        int ranks[1] = {0}, there[1];
        MPI_Group all;
        MPIX_Comm_failure_get_acked(world, &failed);
        MPI_Comm_group(world, &all);
        MPI_Group_translate_ranks(failed, 1, ranks, all, there);
        CHECK(there[0] == 1);
        survive(world, 1);
    } else
        collective(how);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
