// Programs that ask once a millisecond get what another host sends after some calls, not after thousands: networks
// are polled at each, and connections made.
// hosts: 2
// time: 60
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=tcp
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
#include "../check.h"

/* It took thousands when networks were looked at in one of many polls alone. */
enum { MOST = 200 };

static void compute_for_a_millisecond(void)
{
    double end = MPI_Wtime() + 1e-3;
    while (MPI_Wtime() < end)
        ;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int other = rank == 0 ? size - 1 : 0, polls, flag;
    /* A rank beside the first one looks on. */
    for (int turn = 0; turn < 3 && (rank == 0 || rank == size - 1); turn++) {
        int sent = 10 * turn + rank, got = -1;
        MPI_Request requests[2];
        MPI_Irecv(&got, 1, MPI_INT, other, turn, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&sent, 1, MPI_INT, other, turn, MPI_COMM_WORLD, &requests[1]);
        for (polls = flag = 0; !flag; polls++) {
            compute_for_a_millisecond();
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
            CHECK(polls < MOST);
        }
        EQUAL(got, 10 * turn + other);
    }
    return finish();
}
