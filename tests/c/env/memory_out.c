// A process that may have no more memory says so, and what to do, before it ends.
// only: catena
// run: -n 2 -- requests ; fails ; says gets no more memory, [0-9]+ bytes were asked for: let it need less
// run: -n 1 -- communicators ; fails ; says gets no more memory, [0-9]+ bytes were asked for: let it need less
// run: -n 1 -- types ; fails ; says gets no more memory, [0-9]+ bytes were asked for: let it need less
// run: -n 2 -- messages ; fails ; says gets no more memory, [0-9]+ bytes were asked for: let it need less
#include "../check.h"
#include <sys/resource.h>

/* From now on the address space may grow by so many MiB. */
static void allow(long more)
{
    long pages;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    rlim_t bytes = pages * sysconf(_SC_PAGESIZE) + (more << 20);
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) == 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    int in, next = (rank + 1) % size;
    MPI_Request request;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "messages")) {
        /* The last rank gets what it does not receive. */
        if (rank == size - 1) {
            allow(32);
            MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (;;)
            MPI_Send(&next, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
    }
    allow(32);
    for (;;)
        if (!strcmp(what, "requests"))
            MPI_Irecv(&in, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &request);
        else if (!strcmp(what, "communicators"))
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
        else
            MPI_Type_contiguous(3, MPI_INT, &type);
}
