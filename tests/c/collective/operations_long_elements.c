// A function of the program on elements of up to 256 KiB, which no segment may cut: every reduction, with
// one element and with several, and with an operation whose operands may not change places.
// run: -n 2
// run: -n 3
// run: -n 4
// run: --set COLL_DIRECT=unlimited -n 4
// run: --set LINK=tcp -n 3
#include "../check.h"

enum { MOST = 1 << 16, FEW = 3 };

static int ints;
static unsigned *in, *out, *all;

/* An element is pairs (m, c), each the map x -> m x + c; two are composed, the left one first. That is
   associative, but not commutative. */
static void join(void *a, void *b, int *n, MPI_Datatype *type)
{
    int bytes;
    unsigned *x = a, *y = b;
    MPI_Type_size(*type, &bytes);
    EQUAL(bytes, ints * 4);
    for (long i = 0; i < (long)*n * ints; i += 2) {
        y[i + 1] = y[i] * x[i + 1] + y[i + 1];
        y[i] = x[i] * y[i];
    }
}

static void operand(unsigned *to, int r, int count)
{
    for (long i = 0; i < (long)count * ints; i += 2) {
        to[i] = 2 * r + 3;
        to[i + 1] = i + 7 * r;
    }
}

/* What the ranks below `to` make together, of `count` elements from number `first` on. */
static void expect(const unsigned *got, int to, int first, int count)
{
    for (long i = 0; i < (long)count * ints; i += 2) {
        unsigned m = 1, c = 0;
        for (int r = 0; r < to; r++) {
            unsigned mr = 2 * r + 3, cr = i + (long)first * ints + 7 * r;
            c = mr * c + cr;
            m = m * mr;
        }
        EQUAL(got[i], m);
        EQUAL(got[i + 1], c);
    }
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 2, 4096, 4098, 5000, 20000, MOST };
    MPI_Op op;
    start(&argc, &argv);
    MPI_Op_create(join, 0, &op);
    size_t most = sizeof *in * MOST * FEW * size;
    in = malloc(most), out = malloc(most), all = malloc(most);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        MPI_Datatype type;
        ints = lengths[k];
        MPI_Type_contiguous(ints, MPI_UNSIGNED, &type);
        MPI_Type_commit(&type);
        for (int count = 1; count <= FEW; count += 2) {
            operand(in, rank, count);
            for (int root = 0; root < size; root += size - 1) {
                MPI_Reduce(in, out, count, type, op, root, MPI_COMM_WORLD);
                if (rank == root)
                    expect(out, size, 0, count);
            }
            MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD);
            expect(out, rank + 1, 0, count);
            MPI_Exscan(in, out, count, type, op, MPI_COMM_WORLD);
            if (rank)
                expect(out, rank, 0, count);
            MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
            expect(out, size, 0, count);
            operand(all, rank, count * size);
            MPI_Reduce_scatter_block(all, out, count, type, op, MPI_COMM_WORLD);
            expect(out, size, rank * count, count);
            MPI_Request request;
            MPI_Iscan(in, out, count, type, op, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect(out, rank + 1, 0, count);
        }
        MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
    return finish();
}
