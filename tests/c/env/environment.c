// Versions, names, time, attributes of the world, init and finalize as told.
// run: -n 2
#include "../check.h"

int main(int argc, char **argv)
{
    int flag, version, sub, length, provided;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    /* These are allowed before MPI_Init. */
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Finalized(&flag);
    CHECK(!flag);
    MPI_Get_version(&version, &sub);
    CHECK(version >= 4);
    MPI_Get_library_version(text, &length);
    EQUAL(length, strlen(text));
    CHECK(length > 0);
    start(&argc, &argv);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Query_thread(&provided);
    CHECK(provided >= MPI_THREAD_SINGLE);

    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_processor_name(host, &length);
    EQUAL(length, strlen(host));

    int *value;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    int biggest = *value;
    MPI_Sendrecv(NULL, 0, MPI_INT, rank, biggest, NULL, 0, MPI_INT, rank, biggest, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    CHECK(!flag || *value >= size);

    double t = MPI_Wtime(), tick = MPI_Wtick(), wall = now();
    CHECK(tick > 0 && tick < 1e-3);
    while (now() - wall < 0.02)
        ;
    double dt = MPI_Wtime() - t;
    CHECK(dt > 0.015 && dt < 5);

    char error[MPI_MAX_ERROR_STRING];
    MPI_Error_string(MPI_ERR_RANK, error, &length);
    CHECK(length > 0 && length == (int)strlen(error));
    void *memory;
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
    memset(memory, 1, 1000);
    MPI_Free_mem(memory);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    return 0;
}
