// Sendrecv and its replace and non-blocking forms, messages to oneself, MPI_PROC_NULL.
// run: -n 1
// run: -n 2
// run: -n 5
#include "../check.h"

enum { N = 30000 };
static int out[N], in[N];

static void set(int *a, int n, int who)
{
    for (int i = 0; i < n; i++)
        a[i] = who * 1000 + i;
}

static void is(const int *a, int n, int who)
{
    for (int i = 0; i < n; i++)
        EQUAL(a[i], who * 1000 + i);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status s;
    MPI_Request r;
    for (int n = 0; n <= N; n = n * 5 + 1) {
        int count;
        set(out, n, rank);
        MPI_Sendrecv(out, n, MPI_INT, right, n, in, n, MPI_INT, left, n, MPI_COMM_WORLD, &s);
        EQUAL(s.MPI_SOURCE, left);
        is(in, n, left);

        MPI_Sendrecv_replace(out, n, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD, &s);
        is(out, n, left);

        set(out, n, rank + 50);
        MPI_Isendrecv(out, n, MPI_INT, right, 2, in, n, MPI_INT, left, 2, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, &s);
        EQUAL(s.MPI_SOURCE, left);
        MPI_Get_count(&s, MPI_INT, &count);
        EQUAL(count, n);
        is(in, n, left + 50);

        set(in, n, rank + 70);
        MPI_Isendrecv_replace(in, n, MPI_INT, right, 3, left, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, &s);
        is(in, n, left + 70);

        /* To oneself, receive first and send first. */
        set(out, n, 9);
        MPI_Irecv(in, n, MPI_INT, rank, 4, MPI_COMM_WORLD, &r);
        MPI_Send(out, n, MPI_INT, rank, 4, MPI_COMM_WORLD);
        MPI_Wait(&r, &s);
        is(in, n, 9);
        memset(in, 0, sizeof in);
        MPI_Isend(out, n, MPI_INT, 0, 5, MPI_COMM_SELF, &r);
        MPI_Recv(in, n, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_SELF, &s);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        EQUAL(s.MPI_SOURCE, 0);
        is(in, n, 9);
    }
    int untouched = 5, count = -1;
    MPI_Send(&untouched, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&untouched, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s);
    EQUAL(untouched, 5);
    EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(s.MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&s, MPI_INT, &count);
    EQUAL(count, 0);
    return finish();
}
