// The status of MPI_Isendrecv and its replace form is the receive's (MPICH 5.0.2: another tag).
// run: -n 2
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int peer = 1 - rank, out[3] = {rank, rank, rank}, in[5];
    MPI_Request r;
    MPI_Status s;
    int count;
    MPI_Isendrecv(out, 3, MPI_INT, peer, 40 + rank, in, 5, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  MPI_COMM_WORLD, &r);
    MPI_Wait(&r, &s);
    EQUAL(s.MPI_SOURCE, peer);
    EQUAL(s.MPI_TAG, 40 + peer);
    MPI_Get_count(&s, MPI_INT, &count);
    EQUAL(count, 3);
    EQUAL(in[2], peer);
    MPI_Isendrecv_replace(out, 3, MPI_INT, peer, 50 + rank, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, &s);
    EQUAL(s.MPI_SOURCE, peer);
    EQUAL(s.MPI_TAG, 50 + peer);
    EQUAL(out[2], peer);
    return finish();
}
