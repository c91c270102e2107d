// Kinds of memory that the program was started to ask for, and which of them there are.
// run: -n 2 -memory-alloc-kinds cuda,mpi:alloc_mem -- cuda,mpi:alloc_mem mpi,system,mpi:alloc_mem
// run: -n 1 -- "" mpi,system
// run: -n 1 --set MEMORY_ALLOC_KINDS=system -- system mpi,system
// only: catena
#include "../check.h"

/* The kinds that `info` tells of, or "". */
static const char *kinds(MPI_Info info)
{
    static char text[MPI_MAX_INFO_VAL];
    int room = sizeof text, flag;
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, text, &flag);
    return flag ? text : "";
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Comm copy;
    start(&argc, &argv);
    EQUAL(argc, 3);
    CHECK(!strcmp(kinds(MPI_INFO_ENV), argv[1]));
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm of[] = {MPI_COMM_WORLD, MPI_COMM_SELF, copy};
    for (int i = 0; i < 3; i++) {
        MPI_Comm_get_info(of[i], &info);
        CHECK(!strcmp(kinds(info), argv[2]));
        MPI_Info_free(&info);
    }
    MPI_Comm_free(&copy);
    return finish();
}
