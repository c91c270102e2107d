// Partitioned point to point: unequal numbers of partitions, layouts, order of readiness, many pairs,
// long partitions, wrong use.
// run: -n 2
// run: -n 4
#include "../check.h"

static int wrong;

#define RAISES(call, class)                                                     \
    do {                                                                        \
        int rc_ = (call);                                                       \
        if (class_of(rc_) != (class)) {                                         \
            fprintf(stderr, "%s:%d: %s: class %d, not %s\n", __FILE__, __LINE__, #call, class_of(rc_), #class); \
            wrong++;                                                            \
        }                                                                       \
    } while (0)

/* All ranks send to the right, `s` partitions against `r`, `n` numbers in all. */
static void ring(int s, int r, int n, int rounds)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = malloc((n + 1) * sizeof *out), *in = malloc((n + 1) * sizeof *in);
    MPI_Request request[2];
    MPI_Psend_init(out, s, n / s, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(in, r, n / r, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    int flag;
    MPI_Parrived(request[1], 0, &flag);
    CHECK(flag);
    for (int round = 0; round < rounds; round++) {
        memset(in, 0xff, n * sizeof *in);
        MPI_Startall(2, request);
        for (int i = 0; i < s; i++) {
            int p = round % 3 ? s - 1 - i : i;
            for (int j = 0; j < n / s; j++)
                out[p * (n / s) + j] = 1000000 * rank + 1000 * round + p * (n / s) + j;
            if (round % 2)
                MPI_Pready(p, request[0]);
            else if (i == s - 1)
                MPI_Pready_range(0, s - 1, request[0]);
        }
        /* Partitions can be used as they arrive. */
        for (int p = 0; p < r; p++) {
            flag = 0;
            while (!flag)
                MPI_Parrived(request[1], p, &flag);
            for (int j = p * (n / r); j < (p + 1) * (n / r); j++)
                EQUAL(in[j], 1000000 * left + 1000 * round + j);
        }
        MPI_Status status[2];
        MPI_Waitall(2, request, status);
        int count;
        MPI_Get_count(&status[1], MPI_INT, &count);
        EQUAL(count, n);
        EQUAL(status[1].MPI_SOURCE, left);
        EQUAL(status[1].MPI_TAG, 7);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    free(out);
    free(in);
}

/* Elements with gaps at both ends, of other sizes. */
static void layouts(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out[120], in[120];
    MPI_Datatype two, three;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_vector(3, 1, 2, MPI_INT, &three);
    MPI_Type_commit(&two);
    MPI_Type_commit(&three);
    for (int other = 0; other < 2; other++) {
        MPI_Request request[2];
        /* Six partitions of two numbers; two of six, or four of one element of three. */
        MPI_Psend_init(out, 6, 1, two, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
        MPI_Precv_init(in, other ? 4 : 2, other ? 1 : 3, other ? three : two, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request[1]);
        MPI_Type_free(&two);
        MPI_Type_vector(2, 1, 2, MPI_INT, &two);
        MPI_Type_commit(&two);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 120; i++)
                out[i] = 1000 * rank + 100 * round + i, in[i] = -1;
            MPI_Startall(2, request);
            int list[6] = {4, 2, 0, 5, 3, 1};
            MPI_Pready_list(6, list, request[0]);
            /* Whoever only asks sees it arrive, too. */
            for (int p = 0, flag = 0; p < 2; p += flag)
                MPI_Parrived(request[1], p, &flag);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
            int k = 0, each = other ? 3 : 2, extent = 2 * each - 1;
            for (int e = 0; e < 12 / each; e++)
                for (int i = 0; i < each; i++, k++) {
                    int from = k / 2 * 3 + k % 2 * 2;
                    EQUAL(in[e * extent + 2 * i], 1000 * left + 100 * round + from);
                }
            EQUAL(in[1], -1);
        }
        MPI_Request_free(&request[0]);
        MPI_Request_free(&request[1]);
    }
    MPI_Type_free(&two);
    MPI_Type_free(&three);
}

/* Pairs with one tag meet in the order in which they were made, not started. */
static void order(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out[3], in[3];
    MPI_Request send[3], recv[3];
    for (int i = 0; i < 3; i++) {
        MPI_Psend_init(out + i, 1, 1, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send[i]);
        MPI_Precv_init(in + i, 1, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &recv[i]);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 2; i >= 0; i--) {
            out[i] = 10 * round + i;
            MPI_Start(&send[i]);
            MPI_Pready(0, send[i]);
        }
        MPI_Startall(3, recv);
        MPI_Waitall(3, send, MPI_STATUSES_IGNORE);
        MPI_Waitall(3, recv, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 3; i++)
            EQUAL(in[i], 10 * round + i);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&send[i]), MPI_Request_free(&recv[i]);
}

static void errors(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int x[4], flag;
    MPI_Request r, s;
    MPI_Comm w = MPI_COMM_WORLD;
    RAISES(MPI_Psend_init(x, 0, 1, MPI_INT, 0, 0, w, MPI_INFO_NULL, &r), MPI_ERR_ARG);
    RAISES(MPI_Psend_init(x, 1, -1, MPI_INT, 0, 0, w, MPI_INFO_NULL, &r), MPI_ERR_COUNT);
    RAISES(MPI_Psend_init(x, 1, 1, MPI_INT, size, 0, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);
    RAISES(MPI_Psend_init(x, 1, 1, MPI_INT, 0, -1, w, MPI_INFO_NULL, &r), MPI_ERR_TAG);
    RAISES(MPI_Precv_init(x, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);
    RAISES(MPI_Precv_init(x, 1, 1, MPI_INT, 0, MPI_ANY_TAG, w, MPI_INFO_NULL, &r), MPI_ERR_TAG);
    RAISES(MPI_Precv_init(x, 1, 1, MPI_DATATYPE_NULL, 0, 0, w, MPI_INFO_NULL, &r), MPI_ERR_TYPE);
    MPI_Psend_init(x, 4, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(x, 2, 2, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    RAISES(MPI_Pready(0, s), MPI_ERR_REQUEST);
    MPI_Start(&s);
    MPI_Start(&r);
    RAISES(MPI_Start(&s), MPI_ERR_REQUEST);
    RAISES(MPI_Pready(4, s), MPI_ERR_ARG);
    RAISES(MPI_Pready(-1, s), MPI_ERR_ARG);
    RAISES(MPI_Pready(0, r), MPI_ERR_REQUEST);
    RAISES(MPI_Pready_range(2, 1, s), MPI_ERR_ARG);
    EQUAL(MPI_Pready(1, s), MPI_SUCCESS);
    RAISES(MPI_Pready(1, s), MPI_ERR_ARG);
    RAISES(MPI_Parrived(r, 2, &flag), MPI_ERR_ARG);
    RAISES(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST);
    MPI_Parrived(r, 0, &flag);
    CHECK(!flag);
    MPI_Pready(0, s);
    MPI_Pready_range(2, 3, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    /* More than the receiver has room for. */
    int y[2];
    MPI_Psend_init(x, 4, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(y, 2, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&s);
    MPI_Start(&r);
    MPI_Pready_range(0, 3, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    RAISES(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    /* Nobody. */
    MPI_Psend_init(x, 4, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(x, 4, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&s);
    MPI_Start(&r);
    MPI_Pready_range(0, 3, s);
    MPI_Status status;
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, &status);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    EQUAL(wrong, 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    ring(1, 1, 1, 10);
    ring(8, 8, 64, 20);
    ring(8, 2, 64, 10);
    ring(2, 8, 64, 10);
    ring(7, 5, 70, 10);
    ring(4, 4, 0, 3);
    ring(4, 16, 1 << 20, 3);
    layouts();
    order();
    errors();
    finish();
    return 0;
}
