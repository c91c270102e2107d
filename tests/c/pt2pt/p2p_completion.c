// Wait and Test, for one, any, some and all, and the calls that only look.
// run: -n 2
#include "../check.h"

enum { N = 16 };
static int data[N];
static MPI_Request r[N + 2];
static MPI_Status s[N + 2];

static void post(void)
{
    r[0] = r[N + 1] = MPI_REQUEST_NULL; /* null entries are skipped */
    for (int i = 0; i < N; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &r[i + 1]);
}

static void feed(void)
{
    /* Backwards, so that completion order and array order differ. */
    for (int i = N - 1; i >= 0; i--) {
        int v = 100 + i;
        MPI_Send(&v, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
    }
}

static void verify(void)
{
    for (int i = 0; i < N; i++) {
        EQUAL(data[i], 100 + i);
        data[i] = 0;
    }
    for (int i = 0; i < N + 2; i++)
        CHECK(r[i] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int flag, index, count, list[N + 2];

    post();
    MPI_Testall(N + 2, r, &flag, s);
    MPI_Barrier(MPI_COMM_WORLD);
    feed();
    for (int k = 0; k < N; k++) {
        MPI_Waitany(N + 2, r, &index, s);
        CHECK(index >= 1 && index <= N);
        EQUAL(s->MPI_TAG, index - 1);
    }
    MPI_Waitany(N + 2, r, &index, s);
    EQUAL(index, MPI_UNDEFINED);
    verify();

    MPI_Barrier(MPI_COMM_WORLD);
    post();
    feed();
    for (int done = 0; done < N; done += count) {
        MPI_Waitsome(N + 2, r, &count, list, s);
        CHECK(count > 0);
        for (int i = 0; i < count; i++)
            EQUAL(s[i].MPI_TAG, list[i] - 1);
    }
    MPI_Waitsome(N + 2, r, &count, list, s);
    EQUAL(count, MPI_UNDEFINED);
    verify();

    MPI_Barrier(MPI_COMM_WORLD);
    post();
    feed();
    for (int done = 0; done < N;) {
        MPI_Testsome(N + 2, r, &count, list, s);
        CHECK(count >= 0);
        done += count;
    }
    verify();

    MPI_Barrier(MPI_COMM_WORLD);
    post();
    feed();
    for (int done = 0; done < N;) {
        MPI_Testany(N + 2, r, &index, &flag, s);
        if (flag) {
            EQUAL(s->MPI_TAG, index - 1);
            done++;
        }
    }
    MPI_Testany(N + 2, r, &index, &flag, s);
    CHECK(flag && index == MPI_UNDEFINED);
    verify();

    MPI_Barrier(MPI_COMM_WORLD);
    post();
    feed();
    do
        MPI_Testall(N + 2, r, &flag, s);
    while (!flag);
    for (int i = 1; i <= N; i++)
        EQUAL(s[i].MPI_TAG, i - 1);
    EQUAL(s[0].MPI_SOURCE, MPI_ANY_SOURCE);
    verify();

    MPI_Barrier(MPI_COMM_WORLD);
    post();
    feed();
    do
        MPI_Request_get_status(r[N], &flag, s);
    while (!flag);
    EQUAL(s->MPI_TAG, N - 1);
    CHECK(r[N] != MPI_REQUEST_NULL); /* looking frees nothing */
    MPI_Waitall(N + 2, r, s);
    verify();
    return finish();
}
