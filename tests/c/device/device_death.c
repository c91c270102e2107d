// A sender dies, sooner or later, while the receiver has its memory read by the device: the message is there, or the
// receive fails; and once it has ended nothing writes to its buffer any more.
// only: catena
// preload: device_driver
// run: -n 2 --with-ft ulfm --set FAULT_STATUS=first -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=slow -- 0; exit 137; says over
// run: -n 2 --with-ft ulfm --set FAULT_STATUS=first -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=slow -- 20; exit 137; says over
// run: -n 2 --with-ft ulfm --set FAULT_STATUS=first -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=slow -- 2000; exit 137; says over
// run: -n 2 --with-ft ulfm --set FAULT_STATUS=first -x CATENA_DEVICE_MEMORY=cuda -- 5; exit 137; says over
#define _GNU_SOURCE
#include "device.h"

#include <mpi-ext.h>
#include <signal.h>

enum { LONG = 500000, TAG = 3 };

int main(int argc, char **argv)
{
    const int polls = argc > 1 ? atoi(argv[1]) : 0;
    int flag = 0, code = MPI_SUCCESS;
    MPI_Request request;
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    open_device();
    int *memory = ints(LONG, rank ? 10 : -1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Isend(memory, LONG, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
        for (int k = 0; k < polls; k++)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    MPI_Irecv(memory, LONG, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    while (!flag && code == MPI_SUCCESS)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED);
    if (code == MPI_SUCCESS)
        expect(memory, LONG, 10, 1);
    put(memory, LONG, 77);
    for (int k = 0; k < 10000; k++)
        MPI_Iprobe(0, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    expect(memory, LONG, 77, 1);
    puts("over");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
