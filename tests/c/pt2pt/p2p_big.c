// Large messages, both ways at once, between all pairs.
// run: -n 2
// run: -n 4
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    size_t n = (24u << 20) / (unsigned)size + 3;
    unsigned char *out = malloc(n * size), *in = malloc(n * size);
    MPI_Request *r = malloc(2 * size * sizeof *r);
    for (int i = 0; i < size; i++)
        fill(out + i * n, n, rank * 64u + i);
    memset(in, 0, n * size);
    for (int i = 0; i < size; i++)
        MPI_Irecv(in + i * n, (int)n, MPI_BYTE, i, 3, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < size; i++)
        MPI_Isend(out + i * n, (int)n, MPI_BYTE, i, 3, MPI_COMM_WORLD, &r[size + i]);
    MPI_Waitall(2 * size, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++)
        EQUAL(wrong_at(in + i * n, n, i * 64u + rank), n);
    free(r);
    free(in);
    free(out);
    return finish();
}
