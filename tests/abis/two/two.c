/* Half of two interfaces in one process: loads a library of the other. Both see one MPI. See host.c. */
#include "../../c/check.h"
#include <dlfcn.h>

int two(int argc, char **argv)
{
    start(&argc, &argv);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    int (*other)(int, int) = (int (*)(int, int))dlsym(library, "other_sum");
    int (*send)(int, int) = (int (*)(int, int))dlsym(library, "other_send");
    int (*as_integer)(void) = (int (*)(void))dlsym(library, "other_communicator");
    int (*replace)(int, int *) = (int (*)(int, int *))dlsym(library, "other_replace"), as_number = 0;
    CHECK(other && send && as_integer && replace);
    /* A collective that each rank calls through another interface. */
    int sum = rank % 2 ? other(rank, 5) : 0, mine[2] = { rank, 5 }, all[2];
    if (rank % 2 == 0) {
        MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum = all[0] * 1000 + all[1];
    }
    EQUAL(sum, size * (size - 1) / 2 * 1000 + 5 * size);
    /* Messages from one to the other. */
    MPI_Request request;
    MPI_Status status;
    int got = -1;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    EQUAL(send((rank + 1) % size, 100 + rank), 0);
    MPI_Wait(&request, &status);
    EQUAL(got, 100 + status.MPI_SOURCE);
    EQUAL(status.MPI_TAG, 9);
    /* A communicator of the other, handed over as an integer. */
    MPI_Comm comm = MPI_Comm_f2c(as_integer());
    int n = 0;
    EQUAL(MPI_Comm_size(comm, &n), MPI_SUCCESS);
    EQUAL(n, size);
    MPI_Comm_free(&comm);
    /* One after the other in the same place: the other frees this one's, and makes its own there. */
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        EQUAL(MPI_Comm_size(comm, &n), MPI_SUCCESS);
        EQUAL(replace(MPI_Comm_c2f(comm), &as_number), 0);
        comm = MPI_Comm_f2c(as_number);
        n = 0;
        EQUAL(MPI_Comm_size(comm, &n), MPI_SUCCESS);
        EQUAL(n, size);
        MPI_Comm_free(&comm);
    }
    /* Requests in the same place: of this one's messages that have ended, and one of the other's, which is under way. */
    int (*receive)(int *) = (int (*)(int *))dlsym(library, "other_receive");
    CHECK(receive);
    for (int i = 0; i < 3; i++) {
        int none, flag = 0;
        for (int k = 0; k < 8; k++) {
            MPI_Irecv(&none, 1, MPI_INT, 0, 20, MPI_COMM_SELF, &request);
            EQUAL(MPI_Send(&k, 1, MPI_INT, 0, 20, MPI_COMM_SELF), MPI_SUCCESS);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        got = -1;
        request = MPI_Request_f2c(receive(&got));
        EQUAL(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(!flag);
        EQUAL(MPI_Send(&i, 1, MPI_INT, 0, 21, MPI_COMM_SELF), MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(got, i);
    }
    return finish();
}
