// Duplicates on their way: many at once, among other collectives, on several communicators and
// intercommunicators; attributes are copied when the call is made.
// run: -n 1
// run: -n 2
// run: -n 4
// run: -n 5
// time: 20
#include "../check.h"

static int copies, fail_copy;

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void) comm, (void) key, (void) extra;
    copies++;
    if (fail_copy)
        return MPI_ERR_TOPOLOGY;
    *(int **) out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void works(MPI_Comm comm)
{
    int me, inter, sum, n;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &me);
    if (inter) {
        MPI_Comm_remote_size(comm, &n);
        MPI_Request q[64];
        for (int i = 0; i < n; i++)
            MPI_Isend(&me, 1, MPI_INT, i, 0, comm, &q[i]);
        for (int i = 0; i < n; i++) {
            MPI_Recv(&sum, 1, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE);
            EQUAL(sum, i);
        }
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    } else {
        MPI_Comm_size(comm, &n);
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(sum, n * (n - 1) / 2);
    }
}

/* Sources of many kinds, their duplicates and other collectives all under way; completed backwards. */
static void many(void)
{
    enum { N = 40 };
    MPI_Comm half, inter, from[4], made[N];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    from[0] = MPI_COMM_WORLD, from[1] = half, from[2] = MPI_COMM_SELF;
    int kinds = 3;
    if (size > 1) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
        from[kinds++] = inter;
    }
    MPI_Request q[N], other[N];
    int one = 1, sums[N];
    for (int i = 0; i < N; i++) {
        MPI_Comm_idup(from[i % kinds], &made[i], &q[i]);
        MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, i % 2 ? half : MPI_COMM_WORLD, &other[i]);
    }
    /* Blocking calls pass by those under way. */
    MPI_Comm now;
    MPI_Comm_dup(half, &now);
    works(now);
    MPI_Comm_free(&now);
    for (int i = N; i--;) {
        if (i % 3)
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        else
            for (int done = 0; !done;)
                MPI_Test(&q[i], &done, MPI_STATUS_IGNORE);
        CHECK(q[i] == MPI_REQUEST_NULL && made[i] != MPI_COMM_NULL);
    }
    MPI_Waitall(N, other, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        int result;
        MPI_Comm_compare(made[i], from[i % kinds], &result);
        EQUAL(result, MPI_CONGRUENT);
        works(made[i]);
        MPI_Comm_free(&made[i]);
    }
    /* The original may go before its duplicate has come. */
    MPI_Comm_idup(half, &now, &q[0]);
    MPI_Comm_free(&half);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    works(now);
    MPI_Comm_free(&now);
    if (size > 1)
        MPI_Comm_free(&inter);
}

/* A rank that is late holds nobody back in other calls. */
static void late(void)
{
    MPI_Comm made;
    MPI_Request q;
    int flag = 0, word = rank;
    if (rank == 0) {
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &q);
        MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag || size == 1);
        for (int r = 1; r < size; r++)
            MPI_Send(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &q);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    works(made);
    MPI_Comm_free(&made);
}

static void attributes(void)
{
    MPI_Comm from, made;
    MPI_Request q;
    MPI_Info info;
    int key, a = 1, b = 2, *value, flag;
    MPI_Comm_dup(MPI_COMM_WORLD, &from);
    MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(from, key, &a);
    MPI_Info_create(&info);
    MPI_Info_set(info, "color", "red");
    MPI_Comm_idup_with_info(from, info, &made, &q);
    EQUAL(copies, 1);
    MPI_Comm_set_attr(from, key, &b);
    MPI_Info_free(&info);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    EQUAL(copies, 1);
    MPI_Comm_get_attr(made, key, &value, &flag);
    CHECK(flag && value == &a);
    MPI_Comm_free(&made);

    /* It fails where the callback fails, at once; elsewhere when it is complete. */
    MPI_Comm_set_errhandler(from, MPI_ERRORS_RETURN);
    fail_copy = rank == 0;
    int rc = MPI_Comm_idup(from, &made, &q);
    if (rank == 0) {
        EQUAL(class_of(rc), MPI_ERR_TOPOLOGY);
        CHECK(q == MPI_REQUEST_NULL);
    } else {
        EQUAL(rc, MPI_SUCCESS);
        EQUAL(class_of(MPI_Wait(&q, MPI_STATUS_IGNORE)), MPI_ERR_OTHER);
    }
    CHECK(made == MPI_COMM_NULL);
    rc = MPI_Comm_dup(from, &made);
    EQUAL(class_of(rc), rank == 0 ? MPI_ERR_TOPOLOGY : MPI_ERR_OTHER);
    CHECK(made == MPI_COMM_NULL);
    fail_copy = 0;
    MPI_Comm_idup(from, &made, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    works(made);
    MPI_Comm_free(&made), MPI_Comm_free(&from);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    many();
    late();
    attributes();
    return finish();
}
