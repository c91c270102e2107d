// Persistent collectives that members start in different orders, with others in between.
// run: -n 2
// run: -n 5
#include "../check.h"

enum { ROUNDS = 50, N = 3 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int value[N], sum[N], mine[N];
    MPI_Request all[2 * N + 1];
    for (int i = 0; i < N; i++) {
        MPI_Bcast_init(&value[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, MPI_INFO_NULL, &all[2 * i]);
        MPI_Allreduce_init(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &all[2 * i + 1]);
    }
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &all[2 * N]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            value[i] = rank == i % size ? 100 * round + i : -1;
            mine[i] = rank + round * i;
            sum[i] = -1;
        }
        MPI_Request other;
        int one = 1, ones = 0;
        for (int i = 0; i < 2 * N + 1; i++) {
            if (i == N)
                MPI_Iallreduce(&one, &ones, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &other);
            MPI_Start(&all[(i * (rank % 2 ? 2 * N : 1) + rank + round) % (2 * N + 1)]);
        }
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        EQUAL(ones, size);
        MPI_Waitall(2 * N + 1, all, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) {
            EQUAL(value[i], 100 * round + i);
            EQUAL(sum[i], size * (size - 1) / 2 + size * round * i);
        }
    }
    for (int i = 0; i < 2 * N + 1; i++)
        MPI_Request_free(&all[i]);
    return finish();
}
