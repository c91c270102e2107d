// What was told of communicators that a process has freed, or has not made yet, costs it nothing.
//
// Rank 1 frees a thousand communicators, and then rank 0 revokes them: what it tells rank 1 of that is for nobody. Some
// later communicator is revoked before rank 1 has made it, and rank 1 hears of that nevertheless.
//
// only: catena
// time: 60
// run: -n 2 --with-ft ulfm
// run: -n 2 --with-ft ulfm --set LINK=tcp
#include "../check.h"
#include <mpi-ext.h>

enum { MANY = 1000, BATCHES = 20, CALLS = 200 };

/* The least time of a call that looks. */
static double look(void)
{
    double least = 1e9;
    int flag;
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < CALLS; i++)
            MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        double time = (MPI_Wtime() - begin) / CALLS;
        least = time < least ? time : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    static MPI_Comm comms[MANY];
    start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    double before = look();
    for (int i = 0; i < MANY; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    if (rank == 1)
        for (int i = 0; i < MANY; i++)
            MPI_Comm_free(&comms[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < MANY; i++)
            MPIX_Comm_revoke(comms[i]);
        for (int i = 0; i < MANY; i++)
            MPI_Comm_free(&comms[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double after = look();
    printf("rank %d: %.3f us before, %.3f us after\n", rank, before * 1e6, after * 1e6);
    CHECK(after < 4 * before + 1e-6);
    /* Numbers come again: what is told of the old ones is not taken for the new ones. */
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Barrier(comms[i]);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Barrier(comms[i]);
        MPI_Comm_free(&comms[i]);
    }
    /* Rank 0 has made it, and says so at once. */
    MPI_Comm late;
    MPI_Request request;
    int revoked = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_idup(MPI_COMM_WORLD, &late, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPIX_Comm_revoke(late);
    while (!revoked) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPIX_Comm_is_revoked(late, &revoked);
    }
    EQUAL(class_of(MPI_Barrier(late)), MPIX_ERR_REVOKED);
    MPI_Comm_free(&late);
    return finish();
}
