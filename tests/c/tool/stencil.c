// A stencil: each rank gives its neighbours an edge, works, and only then asks for theirs. How fast that is depends on the
// way of messages and on whether they leave before they are asked for; scripts/testing/test-tune has `catena explain --try`
// find that out. The sums of `sums` are the same bits whatever a profile says.
// only: catena
// run: -n 2 -- 50 8192 ; says done
// run: -n 4 -- sums ; says allreduce
// run: -n 2 --set PROFILE=none -- 50 8192 ; exit 2 ; says there is no such setting
#include "../check.h"

/* The bits of values, in one number. */
static uint64_t bits(const double *values, int n)
{
    uint64_t sum = 0, one;
    for (int i = 0; i < n; i++) {
        memcpy(&one, &values[i], sizeof one);
        sum = sum * 31 + one;
    }
    return sum;
}

/* Sums whose last bits depend on the order in which they are made. */
static void sums(void)
{
    static double mine[8192], all[8192 * 64];
    for (int n = 1; n <= 8192; n *= 8) {
        for (int i = 0; i < n; i++) mine[i] = 1.0 / (3 + rank * 7 + i * 13);
        MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) printf("allreduce %d %016llx\n", n, (unsigned long long)bits(all, n));
        MPI_Reduce(mine, all, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("reduce %d %016llx\n", n, (unsigned long long)bits(all, n));
        MPI_Scan(mine, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(all, n, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
        if (rank == 0) printf("scan %d %016llx\n", n, (unsigned long long)bits(all, n));
        MPI_Exscan(mine, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(all, n, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
        if (rank == 0) printf("exscan %d %016llx\n", n, (unsigned long long)bits(all, n));
        if (n >= size) {
            MPI_Reduce_scatter_block(mine, all, n / size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            double first = all[0];
            MPI_Allgather(&first, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
            if (rank == 0) printf("reduce_scatter %d %016llx\n", n, (unsigned long long)bits(all, size));
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "sums")) {
        sums();
        MPI_Finalize();
        return 0;
    }
    int steps = argc > 1 ? atoi(argv[1]) : 1000, length = argc > 2 ? atoi(argv[2]) : 8192;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    char *edges = calloc(4, length);
    double work = 1;
    for (int step = 0; step < steps; step++) {
        MPI_Request sends[2];
        edges[0] = edges[length] = (char)(step + rank);
        MPI_Isend(edges, length, MPI_CHAR, left, 0, MPI_COMM_WORLD, &sends[0]);
        MPI_Isend(edges + length, length, MPI_CHAR, right, 1, MPI_COMM_WORLD, &sends[1]);
        for (int i = 0; i < 2000; i++) work = work * 0.999 + i;
        MPI_Recv(edges + 2 * length, length, MPI_CHAR, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(edges + 3 * length, length, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        if (right != MPI_PROC_NULL) EQUAL(edges[2 * length], (char)(step + rank + 1));
        if (left != MPI_PROC_NULL) EQUAL(edges[3 * length], (char)(step + rank - 1));
    }
    CHECK(work > 0);
    free(edges);
    MPI_Finalize();
    if (rank == 0) printf("done\n");
    return 0;
}
