// One message of more than 2^31 bytes through the _c forms.
// run: -n 2
// memory: 5 GiB
// time: 120
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Count n = ((MPI_Count)1 << 31) + 12345;
    unsigned char *buf = malloc(n);
    CHECK(buf != NULL);
    if (rank == 0) {
        for (MPI_Count i = 0; i < n; i += 4096)
            buf[i] = byte_at(9, i);
        buf[n - 1] = 77;
        MPI_Send_c(buf, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Status status;
        MPI_Count count;
        int small;
        MPI_Recv_c(buf, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count_c(&status, MPI_BYTE, &count);
        EQUAL(count, n);
        MPI_Get_count(&status, MPI_BYTE, &small);
        EQUAL(small, MPI_UNDEFINED);
        for (MPI_Count i = 0; i < n - 1; i += 4096)
            EQUAL(buf[i], byte_at(9, i));
        EQUAL(buf[n - 1], 77);
    }
    free(buf);
    return finish();
}
