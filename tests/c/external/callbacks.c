// Functions of the program that call MPI: operations in every form of reduction, and callbacks of
// attributes when MPI ends, also one that fails.
// run: -n 1
// run: -n 2
// run: -n 4
// run: --set LINK=tcp -n 3
// run: -n 2 -- failing ; fails ; says MPI_Finalize: the delete callback of keyval [0-9]+ returned
#include "../check.h"

enum { MOST = 20000 };

static int calls;

/* Adds, and calls what it may: everything but on the communicator that it works for. */
static void busy(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int *a = in, *b = inout, one = 1, got = 0, sum = 0, flag, bytes;
    MPI_Request request;
    calls++;
    MPI_Type_size(*type, &bytes);
    EQUAL(bytes, sizeof(int));
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    EQUAL(sum, 1);
    MPI_Isend(&one, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(got, 1);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < *n; i++)
        b[i] += a[i];
}

static void sums(const int *out, int n)
{
    for (int i = 0; i < n; i++)
        EQUAL(out[i], size * (size - 1) / 2 + size * i);
}

static void operations(int commutes)
{
    static int in[MOST], out[MOST];
    MPI_Op op;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Op_create(busy, commutes, &op);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MOST; i++)
        in[i] = rank + i;
    for (int n = 1; n <= MOST; n *= 100) {
        MPI_Allreduce(in, out, n, MPI_INT, op, comm);
        sums(out, n);
        MPI_Iallreduce(in, out, n, MPI_INT, op, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sums(out, n);
        MPI_Reduce(in, out, n, MPI_INT, op, size - 1, comm);
        if (rank == size - 1)
            sums(out, n);
        MPI_Scan(in, out, n, MPI_INT, op, comm);
        if (rank == size - 1)
            sums(out, n);
        MPI_Reduce_scatter_block(in, out, n / size, MPI_INT, op, comm);
        memcpy(out, in, n * sizeof(int));
        int before = calls;
        MPI_Reduce_local(in, out, n, MPI_INT, op);
        EQUAL(calls, before + 1);
        EQUAL(out[n - 1], 2 * in[n - 1]);
    }
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
}

static int dropped;

/* Everything works until the last callback of MPI_COMM_SELF has returned (MPI-5, 11.2.4). */
static int last(MPI_Comm self, int key, void *value, void *extra)
{
    int one = 1, sum, over, from = -1;
    MPI_Comm comm;
    (void) key, (void) extra;
    EQUAL(*(int *) value, 2 - dropped);
    dropped++;
    CHECK(self == MPI_COMM_SELF);
    MPI_Finalized(&over);
    CHECK(!over);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(sum, size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size,
                 0, comm, MPI_STATUS_IGNORE);
    EQUAL(from, (rank + size - 1) % size);
    MPI_Comm_free(&comm);
    return MPI_SUCCESS;
}

static int failing(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value, (void) extra;
    return MPI_ERR_OTHER;
}

int main(int argc, char **argv)
{
    static int order[3] = {0, 1, 2};
    int key;
    start(&argc, &argv);
    if (argc > 1) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, failing, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        return finish();
    }
    operations(1);
    operations(0);
    /* The last that is set is the first to go. */
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &order[i]);
        MPI_Comm_free_keyval(&key);
    }
    int code = finish();
    EQUAL(dropped, 3);
    return code;
}
