// MPI_Request_get_status_any, _some, _all (MPI 4.1): they look and free nothing.
// run: -n 2
#include "../check.h"

enum { N = 6 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int data[N], flag, index, count, list[N];
    MPI_Request r[N];
    MPI_Status s[N];
    for (int i = 0; i < N; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &r[i]);
    MPI_Request_get_status_all(N, r, &flag, s);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(&rank, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
    do
        MPI_Request_get_status_any(N, r, &index, &flag, s);
    while (!flag);
    EQUAL(index, 3);
    EQUAL(s->MPI_TAG, 3);
    do
        MPI_Request_get_status_some(N, r, &count, list, s);
    while (count == 0);
    EQUAL(count, 1);
    EQUAL(list[0], 3);
    MPI_Request_get_status_all(N, r, &flag, s);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        if (i != 3)
            MPI_Send(&rank, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
    do
        MPI_Request_get_status_all(N, r, &flag, s);
    while (!flag);
    for (int i = 0; i < N; i++) {
        CHECK(r[i] != MPI_REQUEST_NULL);
        EQUAL(s[i].MPI_TAG, i);
    }
    MPI_Waitall(N, r, s);
    for (int i = 0; i < N; i++)
        EQUAL(data[i], 1 - rank);
    return finish();
}
