// Each function of the driver fails, at once or later. What opens a sender's memory is done without: messages go through
// memory of the host. Where no copy can be made the job ends, and says which call has failed. Nothing hangs, no data are
// wrong, and memory of the host is sent as ever.
// only: catena
// preload: device_driver
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuIpcGetMemHandle
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuIpcGetMemHandle:3
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuMemGetAddressRange_v2
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuMemGetAddressRange_v2:6
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=id
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuIpcOpenMemHandle_v2
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuIpcOpenMemHandle_v2:2
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuIpcCloseMemHandle
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuMemcpyAsync
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuMemcpyAsync:4
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuEventCreate
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuEventCreate:5
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuEventRecord
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuEventQuery
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuEventQuery:9
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuEventDestroy_v2
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuPointerGetAttributes:60; exit 134; says cannot be copied: cuPointerGetAttributes: ERROR_ILLEGAL_ADDRESS \(700\)
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuCtxGetCurrent:20; exit 134; says cannot be copied: cuCtxGetCurrent: ERROR_INVALID_VALUE \(1\)
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuStreamCreate; exit 134; says cannot be copied: cuStreamCreate: ERROR_INVALID_VALUE \(1\)
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuStreamSynchronize:8; exit 134; says cannot be copied: cuStreamSynchronize: ERROR_INVALID_VALUE \(1\)
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuMemcpyDtoHAsync_v2; exit 134; says cannot be copied: cuMemcpyDtoHAsync: ERROR_INVALID_VALUE \(1\)
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuMemcpyHtoDAsync_v2:3; exit 134; says cannot be copied: cuMemcpyHtoDAsync: ERROR_INVALID_VALUE \(1\)
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=cuMemcpy2DAsync_v2; exit 134; says cannot be copied: cuMemcpy2DAsync: ERROR_INVALID_VALUE \(1\)
#include "device.h"

enum { LONG = 60000, FEW = 10, TAG = 3, ROUNDS = 12 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    open_device();
    const int other = 1 - rank;
    MPI_Datatype column;
    MPI_Type_vector(LONG / 2, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    int *in = ints(LONG, -1), *gaps = ints(LONG, -1), *host = calloc(LONG, sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        int *out = ints(LONG, 1000 * rank + round);
        MPI_Sendrecv(out, FEW, MPI_INT, other, TAG, in, FEW, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(in, FEW, 1000 * other + round, 1);
        MPI_Sendrecv(out, LONG, MPI_INT, other, TAG, in, LONG, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(in, LONG, 1000 * other + round, 1);
        MPI_Sendrecv(out, LONG, MPI_INT, other, TAG, host, LONG, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < LONG; i++)
            EQUAL(host[i], 1000 * other + round + i);
        /* It is the program's now: nothing writes to it any more, also when the device is used next. */
        memset(host, 0xff, LONG * sizeof(int));
        MPI_Sendrecv(out, FEW, MPI_INT, other, TAG, in, FEW, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < LONG; i++)
            EQUAL(host[i], -1);
        for (int i = 0; i < LONG; i++)
            host[i] = 1000 * other + round + i;
        MPI_Sendrecv(out, LONG / 2, MPI_INT, other, TAG, gaps, 1, column, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(at(gaps, LONG - 2), 1000 * other + round + LONG / 2 - 1);
        MPI_Sendrecv_replace(host, LONG, MPI_INT, other, TAG, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(host[FEW], 1000 * rank + round + FEW);
        if (round % 3)
            give(out);
    }
    MPI_Type_free(&column);
    return finish();
}
