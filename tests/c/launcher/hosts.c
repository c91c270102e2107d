// Ranks on several hosts, which are all this one: an agent that drops the name of the host.
// only: catena
// run: --launcher-agent timeout --host 100:2,101:2 --set LINK=shm+tcp -- 2 2
// run: --launcher-agent timeout --host 100:1,101:4 --set LINK=shm+tcp -- 1 4
// run: --launcher-agent timeout --host 100:4,101:1,102:2 --set LINK=tcp --set LAUNCH_FANOUT=1 -- 4 1 2
// run: --launcher-agent timeout --host localhost:2,100:3 --set LINK=shm+tcp -- 2 3

#include "../check.h"

int main(int argc, char **argv) {
    int first = 0, mine = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    // Each argument is the number of ranks of a host.
    for (int i = 1; i < argc; i++) {
        int slots = atoi(argv[i]);
        if (rank >= first && rank < first + slots) mine = slots;
        first += slots;
    }
    CHECK(first == size);
    MPI_Comm node;
    int near;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Machine");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &node);
    MPI_Info_free(&info);
    MPI_Comm_size(node, &near);
    /* Who shares no memory is on no machine together: see the setting LINK. */
    const char *link = getenv("CATENA_LINK");
    EQUAL(near, link && !strcmp(link, "tcp") ? 1 : mine);

    for (int round = 0; round < 20; round++) {
        int sum, all[64], back[64];
        int what = rank + round;
        MPI_Allreduce(&what, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2 + size * round);
        for (int i = 0; i < size; i++) all[i] = rank * size + i + round;
        MPI_Alltoall(all, 1, MPI_INT, back, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++) CHECK(back[i] == i * size + rank + round);
        MPI_Barrier(node);
    }
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
