// With --deterministic reductions give the same bits wherever the ranks are, and whichever form a
// call has: the sum of all bits is that of the first line in all others.
// only: catena
// run: -n 6 --deterministic; lines 1 bits a4908e6c02d7cbc2
// run: -n 6 --deterministic --set LINK=tcp; lines 1 bits a4908e6c02d7cbc2
// run: -n 6 --deterministic --bind-to none --set SHM_EAGER_MAX=0 --set COLL_NODE=0; lines 1 bits a4908e6c02d7cbc2
// run: -n 6 --deterministic --set MODEL_NODE_LATENCY=10us --set MODEL_NETWORK_LATENCY=1ns; lines 1 bits a4908e6c02d7cbc2
// variant: collectives_deterministic_hosts --launcher-agent scripts/hosts
// hosts: 2
// run: --host h0:3,h1:3 -n 6 --deterministic; lines 1 bits a4908e6c02d7cbc2
// run: --host h0:5,h1:1 -n 6 --deterministic; lines 1 bits a4908e6c02d7cbc2
// run: --host h0:3,h1:3 --map-by node -n 6 --deterministic; lines 1 bits a4908e6c02d7cbc2
#include "../check.h"

#include <stdint.h>

#define MOST 40000
#define BYTES(n) ((n) * sizeof(double))

static double *in, *out, *other;
static uint64_t bits = 14695981039346656037u;

static void add(const double *values, int n)
{
    const unsigned char *bytes = (const unsigned char *)values;
    for (size_t i = 0; i < BYTES((size_t)n); i++)
        bits = (bits ^ bytes[i]) * 1099511628211u;
}

/* Magnitudes are so far apart that each order and each grouping rounds otherwise. */
static double operand(int r, int i)
{
    static const double magnitude[] = {1, 1e16, -1e16, 3, -1e8, 1e8, 7e-9};
    return magnitude[(r * 3 + i) % 7] * (1 + (i * 31 + r * 17) % 101 / 97.0);
}

enum { REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN, KINDS };

/* The call of that kind with `n` elements: the form that blocks, that is started, or that is kept. */
static void call(int kind, int form, int n, MPI_Comm comm)
{
    int me, members;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    int root = members - 1, block = n / members;
    MPI_Request request = MPI_REQUEST_NULL;
    memset(out, 0, BYTES(MOST));
    switch (kind) {
    case REDUCE:
        form == 0   ? MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, root, comm)
        : form == 1 ? MPI_Ireduce(in, out, n, MPI_DOUBLE, MPI_SUM, root, comm, &request)
                    : MPI_Reduce_init(in, out, n, MPI_DOUBLE, MPI_SUM, root, comm, MPI_INFO_NULL, &request);
        break;
    case ALLREDUCE:
        form == 0   ? MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm)
        : form == 1 ? MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm, &request)
                    : MPI_Allreduce_init(in, out, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
        break;
    case REDUCE_SCATTER:
        form == 0   ? MPI_Reduce_scatter_block(in, out, block, MPI_DOUBLE, MPI_SUM, comm)
        : form == 1 ? MPI_Ireduce_scatter_block(in, out, block, MPI_DOUBLE, MPI_SUM, comm, &request)
                    : MPI_Reduce_scatter_block_init(in, out, block, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
        break;
    case SCAN:
        form == 0   ? MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, comm)
        : form == 1 ? MPI_Iscan(in, out, n, MPI_DOUBLE, MPI_SUM, comm, &request)
                    : MPI_Scan_init(in, out, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
        break;
    case EXSCAN:
        form == 0   ? MPI_Exscan(in, out, n, MPI_DOUBLE, MPI_SUM, comm)
        : form == 1 ? MPI_Iexscan(in, out, n, MPI_DOUBLE, MPI_SUM, comm, &request)
                    : MPI_Exscan_init(in, out, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
        break;
    }
    if (form == 2)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == 2)
        MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {6, 42, 1002, 6000, MOST};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = malloc(BYTES(MOST));
    out = malloc(BYTES(MOST));
    other = malloc(BYTES(MOST));
    for (int i = 0; i < MOST; i++)
        in[i] = operand(rank, i);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            call(kind, 0, lengths[l], MPI_COMM_WORLD);
            memcpy(other, out, BYTES(MOST));
            add(out, lengths[l]);
            for (int form = 1; form < 3; form++) {
                call(kind, form, lengths[l], MPI_COMM_WORLD);
                EQUAL(memcmp(out, other, BYTES(MOST)), 0);
            }
        }
    /* Between the even and the odd ranks, each group gets what the other one has. */
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
    MPI_Allreduce(in, out, MOST, MPI_DOUBLE, MPI_SUM, between);
    add(out, MOST);
    MPI_Reduce_scatter_block(in, out, MOST / size, MPI_DOUBLE, MPI_SUM, between);
    add(out, MOST / size);
    uint64_t all[64];
    CHECK(size <= 64);
    MPI_Gather(&bits, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        uint64_t sum = 0;
        for (int r = 0; r < size; r++)
            sum = sum * 31 + all[r];
        printf("bits %016llx\n", (unsigned long long)sum);
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
