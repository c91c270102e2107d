// What CATENA_LINK says is what happens: shared memory, a network, or what is wrong with it.
// only: catena
// needs: libfabric.so.1
// time: 60
// run: -n 2 --set LINK= -- shm
// run: -n 2 --set LINK=shm -- shm
// run: -n 2 --set LINK=shm+ofi:tcp -- shm
// run: -n 2 --set LINK=ofi:tcp -- network
// run: -n 5 --set LINK=tcp -- network
// run: -n 2 --set LINK=shm+tcp -- shm
// run: -n 3 --set LINK=tcp --set TCP_PACKET=100 -- network
// run: -n 4 --set LINK=ofi:tcp:lo -- network
// run: -n 3 --set "LINK=tcp;ofi_rxm" -- network
// run: -n 2 --set LINK=ofi -- network
// run: -n 3 --set LINK=ofi:shm -- killed ; exit 137
// run: -n 3 --set "LINK=tcp+udp;ofi_rxd" -- network
// run: -n 1 -x CATENA_LINK=tcp+udp;ofi_rxd @ -- network : -n 1 -x CATENA_LINK=udp;ofi_rxd+tcp @ -- network
// run: -n 1 -x CATENA_LINK=ofi:tcp+udp;ofi_rxd @ -- network : -n 1 -x CATENA_LINK=udp;ofi_rxd @ -- network
// run: -n 1 --set LINK=ofi:nonsense -- self
// run: -n 2 --set LINK=ofi:nonsense -- network; fails; says 'nothing for "ofi:nonsense" in CATENA_LINK; it has'
// run: -n 2 --set LINK=ofi:tcp --set OFI_LIBRARY=/no/such.so -- network; fails; says cannot be opened \(/no/such.so: .*CATENA_OFI_LIBRARY
// run: -n 1 -x CATENA_LINK=ofi:tcp @ -- network : -n 1 -x CATENA_LINK=udp;ofi_rxd @ -- network; fails; says no network joins the two: rank . has CATENA_LINK=(ofi:tcp|udp;ofi_rxd) \(FI_PROTO_\w+ 1\), rank . has
// run: -n 2 --set LINK=shm+ -- network; fails; says CATENA_LINK=shm\+: a name of a transport is missing
//
// variant: link_ucx
// only: catena
// needs: libucp.so.0
// time: 60
// run: -n 2 --set LINK=ucx -- network
// run: -n 5 --set LINK=ucx:tcp -- network
// run: -n 2 --set LINK=ucx:posix,cma -- network
// run: -n 3 --set LINK=ucx:tcp --set UCX_SLEEP=poll -- network
// run: -n 2 --set LINK=shm+ucx:tcp -- shm
// run: -n 1 -x CATENA_LINK=ucx:tcp @ -- network : -n 1 -x CATENA_LINK=ucx:tcp,self @ -- network
// run: -n 1 -x CATENA_LINK=ucx:tcp @ -- network : -n 1 -x CATENA_LINK=ucx:sysv @ -- network; fails; says UCX cannot connect to it: Destination is unreachable
// run: -n 2 --set LINK=ucx:nonsense -- network; fails; says nothing for "ucx:nonsense" in CATENA_LINK
// run: -n 2 --set LINK=ucx:tcp:eth77 -- network; fails; says nothing for "ucx:tcp:eth77" in CATENA_LINK
// run: -n 2 --set LINK=ucx --set UCX_LIBRARY=/no/such.so -- network; fails; says cannot be opened \(/no/such.so: .*CATENA_UCX_LIBRARY
// run: -n 2 --set LINK=ucx: -- network; fails; says CATENA_LINK=ucx:: the name of a transport is missing
#include <signal.h>

#include "../check.h"

typedef unsigned long long number;

static MPI_T_pvar_handle counter(MPI_T_pvar_session s, const char *name)
{
    int at, count;
    MPI_T_pvar_handle h;
    EQUAL(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &at), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_handle_alloc(s, at, NULL, &h, &count), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(s, h), MPI_SUCCESS);
    return h;
}

int main(int argc, char **argv)
{
    int level;
    MPI_T_pvar_session s;
    start(&argc, &argv);
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &level), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_session_create(&s), MPI_SUCCESS);
    const char *way = argv[argc - 1];
    /* It leaves nothing, which is seen from outside. */
    if (!strcmp(way, "killed") && rank == 1)
        raise(SIGKILL);
    static const char *const names[] = {"self_messages", "shm_messages", "network_messages"};
    MPI_T_pvar_handle ways[3];
    for (int i = 0; i < 3; i++)
        ways[i] = counter(s, names[i]);

    /* Sizes around every change of protocol, around the ring. */
    static unsigned char out[300000], in[300000];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int n = 1, k = 0; n < (int)sizeof out; n = n * 3 / 2 + 1, k++) {
        for (int i = 0; i < n; i++)
            out[i] = (unsigned char)(i * 7 + k + rank);
        MPI_Sendrecv(out, n, MPI_BYTE, next, k, in, n, MPI_BYTE, last, k, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            EQUAL(in[i], (unsigned char)(i * 7 + k + last));
    }
    /* Nobody says who sends, and columns of a matrix are no runs of bytes. */
    MPI_Datatype column;
    MPI_Type_vector(1000, 1, 50, MPI_INT, &column);
    MPI_Type_commit(&column);
    static int matrix[50000], sums[1000];
    for (int i = 0; i < 50000; i++)
        matrix[i] = rank + i;
    MPI_Request request;
    MPI_Isend(matrix + 3, 1, column, next, 99, MPI_COMM_WORLD, &request);
    MPI_Recv(sums, 1000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 1000; i++)
        EQUAL(sums[i], last + 3 + 50 * i);
    MPI_Allreduce(MPI_IN_PLACE, sums, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++)
        EQUAL(sums[i], size * (size - 1) / 2 + size * (3 + 50 * i));

    for (int i = 0; i < 3; i++) {
        number n = 0;
        EQUAL(MPI_T_pvar_read(s, ways[i], &n), MPI_SUCCESS);
        if (strncmp(names[i], way, strlen(way)) == 0)
            CHECK(n > 20);
        else
            EQUAL(n, 0);
    }
    MPI_Type_free(&column);
    MPI_T_pvar_session_free(&s);
    MPI_T_finalize();
    return finish();
}
