// In checked mode the types of both ends of a message are compared, basic element by basic element.
// only: catena
// run: -n 2 --set CHECK=1 -- fits ; never says expects ; says done
// run: -n 2 --set CHECK=1 --set LINK=tcp -- fits ; never says expects ; says done
// run: -n 2 --set CHECK=1 --set SHM_EAGER_MAX=0 -- fits ; never says expects ; says done
// run: -n 2 --set CHECK=1 -- differs ; lines 7 (done|catena: a message of \d+ bytes from rank 0 has .*, and its receive expects .*)
// run: -n 2 --set CHECK=1 --set LINK=tcp -- differs ; says a message of 4 bytes from rank 0 has Float32, and its receive expects Int32 ; says of 16 bytes from rank 0 has Int32, and its receive expects elements of several kinds
// run: -n 2 --set CHECK=1 --set SHM_EAGER_MAX=0 -- differs ; says a message of 400000 bytes from rank 0 has Float32, and its receive expects Int32
// run: -n 2 --check -- differs ; says the message of 4 bytes from rank 0 has Float32, but its receive has Int32
// run: -n 2 -- differs ; never says expects ; says done
#include "../check.h"

enum { N = 100000 };
static int data[N], room[N];

static void pass(int n, MPI_Datatype sent, int m, MPI_Datatype got, int late, int sync)
{
    MPI_Request r;
    MPI_Status status;
    if (rank == 0) {
        if (late)
            MPI_Barrier(MPI_COMM_WORLD);
        sync ? MPI_Issend(data, n, sent, 1, 7, MPI_COMM_WORLD, &r) : MPI_Isend(data, n, sent, 1, 7, MPI_COMM_WORLD, &r);
        if (!late)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (late) {
        MPI_Irecv(room, m, got, 0, 7, MPI_COMM_WORLD, &r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&r, &status);
    } else if (!sync) {
        /* It is there before its receive, which a matched probe takes. */
        MPI_Message message;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(room, m, got, &message, &status);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(room, m, got, 0, 7, MPI_COMM_WORLD, &status);
    }
    if (rank) {
        int bytes, size;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        MPI_Type_size(sent, &size);
        EQUAL(bytes, n * size);
        CHECK(!memcmp(data, room, 4));
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype column, mixed;
    start(&argc, &argv);
    for (int i = 0; i < N; i++)
        data[i] = i + 1;
    MPI_Type_vector(2, 1, 1, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_FLOAT}, &mixed);
    MPI_Type_commit(&mixed);
    for (int late = 0; late < 2; late++) {
        if (!strcmp(argv[1], "fits")) {
            pass(4, MPI_INT, 2, column, late, 0);
            pass(1, MPI_INT, 3, mixed, late, 0);
            pass(3, mixed, 3, mixed, late, 1);
            pass(N, MPI_INT, N, MPI_INT, late, 0);
            pass(8, MPI_PACKED, 2, MPI_INT, late, 0);
            pass(2, MPI_INT, 8, MPI_PACKED, late, 1);
            pass(1, MPI_FLOAT_INT, 4, MPI_FLOAT_INT, late, 0);
        } else {
            pass(1, MPI_FLOAT, 1, MPI_INT, late, late);
            pass(4, MPI_INT, 2, mixed, late, 0);
            pass(N, MPI_FLOAT, N, MPI_INT, late, 0);
        }
    }
    if (rank == 0)
        puts("done");
    MPI_Type_free(&column);
    MPI_Type_free(&mixed);
    return finish();
}
