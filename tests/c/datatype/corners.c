// Corners of the standard: absolute addresses, empty blocks, operations of the program on types
// with gaps, errors that belong to a request's communicator, callbacks that call MPI.
// run: -n 2
// run: -n 3
// run: -n 4
#include "../check.h"
#include <limits.h>
#include <stdint.h>

static MPI_Comm quiet; /* returns errors; MPI_COMM_WORLD and MPI_COMM_SELF do not */

static void addresses(void)
{
    int a = -1, b[3] = {-1, -1, -1}, lens[2] = {1, 3};
    if (rank == size - 1)
        a = 4, b[0] = 5, b[1] = 6, b[2] = 7;
    MPI_Aint at[2];
    MPI_Datatype kinds[2] = {MPI_INT, MPI_INT}, both;
    MPI_Get_address(&a, &at[0]);
    MPI_Get_address(b, &at[1]);
    MPI_Type_create_struct(2, lens, at, kinds, &both);
    MPI_Type_commit(&both);
    MPI_Bcast(MPI_BOTTOM, 1, both, size - 1, MPI_COMM_WORLD);
    CHECK(a == 4 && b[0] == 5 && b[1] == 6 && b[2] == 7);
    int other[4] = {0};
    a = 10 * rank;
    MPI_Sendrecv(MPI_BOTTOM, 1, both, (rank + 1) % size, 1, other, 4, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(other[0], 10 * ((rank + size - 1) % size));
    EQUAL(other[3], 7);
    MPI_Type_free(&both);
    EQUAL(class_of(MPI_Send(NULL, 1, MPI_INT, 0, 0, quiet)), MPI_ERR_BUFFER);
    EQUAL(class_of(MPI_Send_c(&a, INT64_MAX, MPI_INT, 0, 0, quiet)), MPI_ERR_COUNT);
    EQUAL(class_of(MPI_Bcast_c(&a, INT64_MAX, MPI_INT, 0, quiet)), MPI_ERR_COUNT);
}

/* 2x2 matrices, which do not commute, with a gap behind each. */
struct matrix { long m[4], gap; };

static void multiply(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    EQUAL(extent, sizeof(struct matrix));
    for (int i = 0; i < *n; i++) {
        struct matrix *a = (struct matrix *)in + i, *b = (struct matrix *)inout + i, c = *b;
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 2; k++)
                c.m[2 * r + k] = (a->m[2 * r] * b->m[k] + a->m[2 * r + 1] * b->m[2 + k]) % 1009;
        *b = c;
    }
}

static struct matrix of(int r, int i)
{
    return (struct matrix){{r + 1, i + 2, 3, r * r + i}, -7};
}

static struct matrix product(int from, int to, int i)
{
    struct matrix p = of(to - 1, i);
    MPI_Datatype type;
    MPI_Type_contiguous(sizeof p, MPI_BYTE, &type);
    for (int r = to - 2, one = 1; r >= from; r--) {
        struct matrix left = of(r, i);
        multiply(&left, &p, &one, &type);
    }
    MPI_Type_free(&type);
    return p;
}

static void same(const struct matrix *a, struct matrix b)
{
    for (int k = 0; k < 4; k++)
        EQUAL(a->m[k], b.m[k]);
    EQUAL(a->gap, -7);
}

static void operations(int n)
{
    MPI_Datatype four, type;
    MPI_Op op;
    MPI_Type_contiguous(4, MPI_LONG, &four);
    MPI_Type_create_resized(four, 0, sizeof(struct matrix), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    struct matrix *in = malloc(n * size * sizeof *in), *out = malloc(n * size * sizeof *out);
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < n * size; i++)
            in[i] = of(rank, i), out[i].gap = -7;
        MPI_Reduce(in, out, n, type, op, root, MPI_COMM_WORLD);
        for (int i = 0; i < n && rank == root; i++)
            same(&out[i], product(0, size, i));
    }
    MPI_Scan(in, out, n, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        same(&out[i], product(0, rank + 1, i));
    MPI_Exscan(in, out, n, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < n && rank; i++)
        same(&out[i], product(0, rank, i));
    MPI_Reduce_scatter_block(in, out, n, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        same(&out[i], product(0, size, rank * n + i));
    MPI_Allreduce(MPI_IN_PLACE, in, n, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        same(&in[i], product(0, size, i));
    /* Only the last rank gets anything. */
    int counts[16] = {0};
    counts[size - 1] = n;
    for (int i = 0; i < n; i++)
        in[i] = of(rank, i);
    MPI_Reduce_scatter(in, rank == size - 1 ? out : NULL, counts, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < n && rank == size - 1; i++)
        same(&out[i], product(0, size, i));
    MPI_Op_free(&op);
    MPI_Type_free(&four);
    MPI_Type_free(&type);
    free(in);
    free(out);
}

/* Row r of the sender becomes column r of the receiver; nothing goes to oneself. */
static void blocks(void)
{
    int *from = malloc(size * size * sizeof(int)), *to = malloc(size * size * sizeof(int));
    int sn[16], rn[16], sd[16], rd[16];
    MPI_Datatype st[16], rt[16], column;
    MPI_Type_vector(size, 1, size, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int r = 0; r < size; r++) {
        sn[r] = r == rank ? 0 : size;
        rn[r] = r == rank ? 0 : 1;
        sd[r] = r == rank ? INT_MIN : (int)(r * size * sizeof(int));
        rd[r] = r == rank ? INT_MAX : (int)(r * sizeof(int));
        st[r] = MPI_INT;
        rt[r] = column;
        for (int i = 0; i < size; i++)
            from[r * size + i] = 100 * rank + 10 * r + i, to[r * size + i] = -1;
    }
    MPI_Alltoallw(from, sn, sd, st, to, rn, rd, rt, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < size; i++)
            EQUAL(to[i * size + r], r == rank ? -1 : 100 * r + 10 * rank + i);
    MPI_Type_free(&column);
    free(from);
    free(to);
}

static void matched(void)
{
    int data[4] = {1, 2, 3, 4}, got[4];
    MPI_Request r[4];
    MPI_Status s[4];
    MPI_Message m;
    MPI_Comm self;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    MPI_Send(data, 4, MPI_INT, 0, 1, self);
    MPI_Mprobe(0, 1, self, &m, &s[0]);
    EQUAL(class_of(MPI_Mrecv(got, 2, MPI_INT, &m, &s[0])), MPI_ERR_TRUNCATE);
    CHECK(m == MPI_MESSAGE_NULL);

    /* One good, one too long, one null, one that stays pending. */
    MPI_Irecv(got, 4, MPI_INT, 0, 1, self, &r[0]);
    MPI_Irecv(got, 1, MPI_INT, 0, 2, self, &r[1]);
    r[2] = MPI_REQUEST_NULL;
    MPI_Irecv(got, 1, MPI_INT, 0, 3, self, &r[3]);
    MPI_Send(data, 4, MPI_INT, 0, 1, self);
    MPI_Send(data, 4, MPI_INT, 0, 2, self);
    EQUAL(MPI_Waitall(4, r, s), MPI_ERR_IN_STATUS);
    EQUAL(s[0].MPI_ERROR, MPI_SUCCESS);
    EQUAL(class_of(s[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    EQUAL(s[2].MPI_ERROR, MPI_SUCCESS);
    EQUAL(s[3].MPI_ERROR, MPI_ERR_PENDING);
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL && r[3] != MPI_REQUEST_NULL);
    MPI_Send(data, 1, MPI_INT, 0, 3, self);
    MPI_Wait(&r[3], MPI_STATUS_IGNORE);

    /* A persistent request survives an error, and its errors go to its communicator. */
    MPI_Recv_init(got, 1, MPI_INT, 0, 5, self, &r[0]);
    MPI_Start(&r[0]);
    EQUAL(class_of(MPI_Start(&r[0])), MPI_ERR_REQUEST);
    MPI_Send(data, 2, MPI_INT, 0, 5, self);
    EQUAL(class_of(MPI_Wait(&r[0], &s[0])), MPI_ERR_TRUNCATE);
    CHECK(r[0] != MPI_REQUEST_NULL);
    MPI_Start(&r[0]);
    MPI_Send(data, 1, MPI_INT, 0, 5, self);
    MPI_Wait(&r[0], &s[0]);
    EQUAL(got[0], 1);
    MPI_Request_free(&r[0]);
    MPI_Comm_free(&self);
}

static int called;

static void handler(MPI_Comm *comm, int *code, ...)
{
    called++;
    EQUAL(class_of(*code), MPI_ERR_RANK);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_free(&copy);
    MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
}

static int refuse(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int *found, flag;
    MPI_Comm_get_attr(comm, key, &found, &flag);
    CHECK(flag && found == value);
    MPI_Comm_set_attr(comm, *(int *)extra, NULL);
    called++;
    return MPI_SUCCESS;
}

static void callbacks(void)
{
    MPI_Comm comm, none = MPI_COMM_NULL;
    MPI_Errhandler eh;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(handler, &eh);
    MPI_Comm_set_errhandler(comm, eh);
    MPI_Errhandler_free(&eh);
    EQUAL(class_of(MPI_Send(NULL, 0, MPI_INT, 9, 0, comm)), MPI_ERR_RANK);
    EQUAL(class_of(MPI_Send(NULL, 0, MPI_INT, 9, 0, comm)), MPI_ERR_RANK);
    EQUAL(called, 1);

    int key, plain, value = 1;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    MPI_Comm_create_keyval(refuse, on_delete, &key, &plain);
    MPI_Comm_set_attr(comm, key, &value);
    EQUAL(class_of(MPI_Comm_dup(comm, &none)), MPI_ERR_OTHER);
    MPI_Comm_free(&comm);
    EQUAL(called, 2);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&plain);
}

static void splits(void)
{
    MPI_Comm comm;
    int r, n;
    MPI_Comm_split(MPI_COMM_WORLD, INT_MAX, rank == size - 1 ? INT_MIN : 0, &comm);
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &n);
    EQUAL(n, size);
    EQUAL(r, (rank + 1) % size);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, -rank,
                        MPI_INFO_NULL, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank == 0));
    if (rank) {
        int ranks[16];
        MPI_Comm_rank(comm, &r);
        MPI_Comm_size(comm, &n);
        MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, comm);
        EQUAL(ranks[r], rank);
        for (int i = 1; i < n; i++) CHECK(ranks[i - 1] > ranks[i]);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN);
    addresses();
    operations(1);
    operations(700);
    blocks();
    matched();
    callbacks();
    splits();
    MPI_Comm_free(&quiet);
    return finish();
}
