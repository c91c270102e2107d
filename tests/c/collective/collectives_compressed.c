// Collectives over a network whose messages may be compressed: every bit arrives, also of roots, of reductions, and of what
// other members pass on.
// only: catena
// cc: -lm
// run: --set LINK=tcp --set COMPRESS=auto -n 3
// run: --set LINK=tcp --set COMPRESS=lossless --set TCP_PACKET=4001 -n 4
// run: --set COMPRESS=lossless -n 3
#include "../check.h"
#include <math.h>

enum { N = 40000, MOST = 4 };

static double mine[MOST * N], all[MOST * N], sum[N];
static int whole[MOST * N], others[MOST * N];

static double number(int of, int round, int i)
{
    return i % 1000 == 7 ? (i % 2 ? NAN : -0.0) : 300 + of + 20 * sin((i + round) * 0.01);
}

static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void check_all(int round, int members)
{
    for (int k = 0; k < members; k++)
        for (int i = 0; i < N; i++)
            CHECK(same(all[k * N + i], number(k, round, i)));
    memset(all, 0xa5, sizeof all);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Comm comm;
    start(&argc, &argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "catena_compress", "auto");
    MPI_Info_set(info, "catena_compress_error_rel", "1e-3");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    for (int round = 0; round < 12; round++) {
        MPI_Request request;
        int root = round % size;
        for (int i = 0; i < N; i++)
            mine[i] = number(rank, round, i);
        MPI_Allgather(mine, N, MPI_DOUBLE, all, N, MPI_DOUBLE, comm);
        check_all(round, size);
        MPI_Iallgather(mine, N, MPI_DOUBLE, all, N, MPI_DOUBLE, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_all(round, size);
        MPI_Gather(mine, N, MPI_DOUBLE, all, N, MPI_DOUBLE, root, comm);
        if (rank == root)
            check_all(round, size);
        for (int i = 0; i < N; i++)
            all[i] = rank == root ? number(0, round, i) : 0;
        MPI_Bcast(all, N, MPI_DOUBLE, root, comm);
        check_all(round, 1);
        for (int k = 0; k < size; k++)
            for (int i = 0; i < N; i++) {
                mine[k * N + i] = number(rank, round + k, i);
                whole[k * N + i] = i / 3 + rank * k;
            }
        MPI_Alltoall(mine, N, MPI_DOUBLE, all, N, MPI_DOUBLE, comm);
        for (int k = 0; k < size; k++)
            for (int i = 0; i < N; i++)
                CHECK(same(all[k * N + i], number(k, round + rank, i)));
        MPI_Alltoall(whole, N, MPI_INT, others, N, MPI_INT, comm);
        for (int k = 0; k < size; k++)
            for (int i = 0; i < N; i++)
                EQUAL(others[k * N + i], i / 3 + rank * k);
        for (int i = 0; i < N; i++)
            mine[i] = rank + i % 100;
        MPI_Allreduce(mine, sum, N, MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < N; i++)
            CHECK(sum[i] == size * (size - 1) / 2 + size * (i % 100));
        MPI_Reduce_scatter_block(mine, sum, N / size, MPI_DOUBLE, MPI_MAX, comm);
        for (int i = 0; i < N / size; i++)
            CHECK(sum[i] == size - 1 + (rank * (N / size) + i) % 100);
    }
    MPI_Comm_free(&comm);
    return finish();
}
