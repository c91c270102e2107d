// Two ranks talk, spawn a job of so many processes that packets to these are shorter, and talk among themselves as before, and with
// them.
//
// run: -n 2
#include "../check.h"

enum { SPAWNED = 33, MOST = 65536 };
static char out[MOST], in[MOST];

/* Each rank sends to the next one. */
static void around(MPI_Comm comm)
{
    static const int lens[] = {4096, 4097, 8192, 8193, 16384, 16385, MOST};
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (size_t l = 0; l < sizeof lens / sizeof *lens; l++) {
        int len = lens[l], from = (me + n - 1) % n;
        for (int i = 0; i < len; i++)
            out[i] = (char)(i * 7 + me);
        MPI_Sendrecv(out, len, MPI_BYTE, (me + 1) % n, 0, in, len, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < len; i++)
            CHECK(in[i] == (char)(i * 7 + from));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other, all;
    start(&argc, &argv);
    MPI_Comm_get_parent(&other);
    int spawned = other != MPI_COMM_NULL;
    if (!spawned) {
        around(MPI_COMM_WORLD);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, SPAWNED, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
        around(MPI_COMM_WORLD);
    }
    MPI_Intercomm_merge(other, spawned, &all);
    around(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    if (!spawned)
        around(MPI_COMM_WORLD);
    return finish();
}
