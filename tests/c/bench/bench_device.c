// A device (device_driver.c), and what makes any MPI library take its memory. For scripts/testing/test-bench, which adds for
// each function with buffers one that asks `within_mpi`.
//
// DEVICE_KINDS is added to the kinds of memory that the library says it takes.
// build: shared
// cc: -pthread
#include "../device/device_driver.c"

#include <mpi.h>

static int of_device;

// Where MPI finds what it is given.
void *within_mpi(const void *at)
{
    of_device |= on_device(at);
    return (char *)at + (on_device(at) ? SPAN : 0);
}

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    int result = PMPI_Comm_get_info(comm, info);
    const char *kinds = getenv("DEVICE_KINDS");
    char all[256];
    snprintf(all, sizeof all, "mpi,system,%s", kinds ? kinds : "");
    if (kinds)
        PMPI_Info_set(*info, "mpi_memory_alloc_kinds", all);
    return result;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d, device %d: %s\n", rank, chosen,
            of_device ? "MPI was given its memory" : "unused");
    return PMPI_Finalize();
}
