// MPI_Intercomm_create of a group with a dead member, whose other group shares no communicator with that one: it fails at all, and
// nothing of it is left that a later call between the same leaders could take for its own.
//
// only: catena
// time: 15
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- late
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- again
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp -- again
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- again 1 1
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- again 3 1
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- again 1 0
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp -- again 3 2
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- absent
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- freed
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp -- freed
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>

/* Ranks 0 and 1, and ranks 2 and 3, whose leaders 0 and 2 a communicator joins. */
static MPI_Comm pair, leaders;
static int peer;

static void make_pairs(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(leaders, MPI_ERRORS_RETURN);
    peer = rank / 2 == 0 ? 1 : 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many calls in a row, before one of which a member dies that leads nobody. Nobody waits between them: a group may be many calls
   behind the other, and the leaders go on once they have failed in all of them. */
static void again(int victim, int when, int tags)
{
    MPI_Comm inter, left;
    int one = 1, sum = 0, size = 0;
    make_pairs();
    for (int call = 0; call < 6; call++) {
        if (rank == victim && call == when)
            raise(SIGKILL);
        int code = MPI_Intercomm_create(pair, 0, leaders, peer, 7 + call % tags, &inter);
        EQUAL(class_of(code), call < when ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED);
        if (code == MPI_SUCCESS)
            MPI_Comm_free(&inter);
    }
    if (leaders != MPI_COMM_NULL)
        EQUAL(MPI_Barrier(leaders), MPI_SUCCESS);
    /* Nothing is left of them that these would take. */
    EQUAL(MPIX_Comm_shrink(pair, &left), MPI_SUCCESS);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    for (int call = 0; call < 3; call++) {
        EQUAL(MPI_Intercomm_create(left, 0, leaders, peer, 7 + call % tags, &inter), MPI_SUCCESS);
        MPI_Comm_remote_size(inter, &size);
        EQUAL(size, rank / 2 == victim / 2 ? 2 : 1);
        EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
        EQUAL(sum, size);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&left);
}

/* One group fails in the first call, and makes no other: its leader ends, or frees the communicator of the leaders, while the other
   group makes three. */
static void leave(int frees)
{
    MPI_Comm inter;
    int word = 0;
    make_pairs();
    if (rank == 1)
        raise(SIGKILL);
    for (int call = 0; call < (rank == 0 ? 1 : 3); call++)
        EQUAL(class_of(MPI_Intercomm_create(pair, 0, leaders, peer, 7, &inter)), MPIX_ERR_PROC_FAILED);
    if (frees && leaders != MPI_COMM_NULL)
        MPI_Comm_free(&leaders);
    if (frees && rank == 0)
        EQUAL(MPI_Recv(&word, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (frees && rank == 2)
        EQUAL(MPI_Send(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD), MPI_SUCCESS);
}

static void run_pairs(int argc, char **argv)
{
    if (strcmp(argv[1], "again") == 0 && argc > 3)
        again(atoi(argv[2]), atoi(argv[3]), 2);
    else if (strcmp(argv[1], "again") == 0)
        again(1, 1, 1);
    else
        leave(strcmp(argv[1], "freed") == 0);
    /* Whoever is absent keeps it: its end alone has to tell the others. */
    if (strcmp(argv[1], "absent") != 0 && leaders != MPI_COMM_NULL)
        MPI_Comm_free(&leaders);
    MPI_Comm_free(&pair);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    MPI_Comm half, leaders, inter, left;
    int one = 1, sum = 0, code;
    start(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "late") != 0) {
        run_pairs(argc, argv);
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* Ranks 0, 1 and 2, and rank 3; 0 and 3 lead. */
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(leaders, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        raise(SIGKILL);
    int other = rank == 3 ? 0 : 1;
    for (int round = 0; round < 3; round++) {
        if (argc > 1 && rank == 3) {
            /* The others have failed before. */
            int word;
            EQUAL(MPI_Recv(&word, 1, MPI_INT, 0, 5, leaders, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        code = MPI_Intercomm_create(half, 0, leaders, other, 7, &inter);
        EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
        if (argc > 1 && rank == 0)
            MPI_Send(&round, 1, MPI_INT, 1, 5, leaders);
        /* Whether to try again. */
        int flag = 1;
        if (leaders != MPI_COMM_NULL)
            EQUAL(MPIX_Comm_agree(leaders, &flag), MPI_SUCCESS);
    }
    EQUAL(MPIX_Comm_shrink(half, &left), MPI_SUCCESS);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    for (int round = 0; round < 3; round++) {
        int others = 0;
        EQUAL(MPI_Intercomm_create(left, 0, leaders, other, 7, &inter), MPI_SUCCESS);
        MPI_Comm_remote_size(inter, &others);
        EQUAL(others, rank == 3 ? 2 : 1);
        EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
        EQUAL(sum, others);
        MPI_Comm_free(&inter);
    }
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_free(&leaders);
    MPI_Comm_free(&half);
    MPI_Comm_free(&left);
    MPI_Finalize();
    return 0;
}
