// Who is done with a collective may talk to the others at once, whatever it sent and received.
// run: -n 2
// run: -n 3
#include "../check.h"

enum { LONG = 1 << 14, SHORT = 1, ROUNDS = 3 };

static int root;
static int counts[8], displs[8], ins[8];
static double *out, *in;

static void talk(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, mine = rank, got = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got == left);
}

/* Member r has blocks of `of(r)` for everybody. */
static void each(int (*of)(int r))
{
    for (int r = 0; r < size; r++) {
        counts[r] = of(rank);
        ins[r] = of(r);
        displs[r] = r * LONG;
    }
    MPI_Alltoallv(out, counts, displs, MPI_DOUBLE, in, ins, displs, MPI_DOUBLE, MPI_COMM_WORLD);
    talk();
    MPI_Gatherv(out, of(rank), MPI_DOUBLE, in, ins, displs, MPI_DOUBLE, root, MPI_COMM_WORLD);
    talk();
    MPI_Allgatherv(out, of(rank), MPI_DOUBLE, in, ins, displs, MPI_DOUBLE, MPI_COMM_WORLD);
    talk();
    MPI_Scatterv(out, ins, displs, MPI_DOUBLE, in, of(rank), MPI_DOUBLE, root, MPI_COMM_WORLD);
    talk();
}

static int all_long(int r) { return r >= 0 ? LONG : 0; }
static int root_long(int r) { return r == root ? LONG : SHORT; }
static int root_short(int r) { return r == root ? SHORT : LONG; }
static int root_empty(int r) { return r == root ? 0 : LONG; }

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = calloc(size * LONG, sizeof *out);
    in = calloc(size * LONG, sizeof *in);
    for (int round = 0; round < ROUNDS; round++)
        for (root = 0; root < size; root++) {
            each(all_long);
            each(root_long);
            each(root_short);
            each(root_empty);
        }
    MPI_Finalize();
    return 0;
}
