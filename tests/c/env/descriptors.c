// Ranks raise their limit of descriptors. One that has none left waits with what needs one: nobody has died for that.
// only: catena
// time: 30
// run: -n 2 -- raised
// run: -n 3 --set LINK=tcp -- raised
// run: -n 3 --set LINK=tcp -- caller; says a connection waits.*ulimit -n
// run: -n 3 --set LINK=tcp -- called; says a connection waits.*ulimit -n
#include "../check.h"
#include <dirent.h>
#include <sys/resource.h>

/* The number after the highest descriptor. */
static int descriptors(void)
{
    int most = 0;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *one; (one = readdir(all));)
        most = atoi(one->d_name) > most ? atoi(one->d_name) : most;
    closedir(all);
    return most + 1;
}

/* Leaves this process without any, and gives those taken between; or gives all back. */
static void take_all(int take)
{
    static struct rlimit before;
    static int taken[4096], count;
    if (take) {
        getrlimit(RLIMIT_NOFILE, &before);
        struct rlimit few = {descriptors(), before.rlim_max};
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
        while (count < 4096 && (taken[count] = dup(0)) >= 0)
            count++;
    } else {
        while (count > 0)
            close(taken[--count]);
        CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    }
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    int out = 7, in = 0, flag = 0, raised = argc > 1 && !strcmp(argv[1], "raised");
    int lacks = argc > 1 && !strcmp(argv[1], "caller") ? 0 : 2;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 100;
    CHECK(limit.rlim_max > 200 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
    start(&argc, &argv);
    getrlimit(RLIMIT_NOFILE, &limit);
    CHECK(limit.rlim_cur == limit.rlim_max);
    if (raised)
        return finish();
    /* Ranks 0 and 2 do not meet before; rank 1 knows both. */
    MPI_Request request = MPI_REQUEST_NULL;
    for (int turn = 0; turn < 2; turn++) {
        if (rank != 1)
            MPI_Sendrecv(&out, 1, MPI_INT, 1, 0, &in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int other = 0; other < 3 && rank == 1; other += 2)
            MPI_Recv(&in, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int other = 0; other < 3 && rank == 1; other += 2)
            MPI_Send(&out, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
        if (turn == 0 && rank == lacks)
            take_all(1);
    }
    if (rank == 0)
        MPI_Isend(&out, 1, MPI_INT, 2, 9, MPI_COMM_WORLD, &request);
    if (rank == 2)
        MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
    double end = MPI_Wtime() + 1;
    while (rank != 1 && MPI_Wtime() < end) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(rank == 0 || !flag);
    }
    if (rank == lacks)
        take_all(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 2)
        EQUAL(in, 7);
    return finish();
}
