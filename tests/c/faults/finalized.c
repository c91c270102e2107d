// A process that waits for one that has called MPI_Finalize, and for nobody else, gets an error: it would wait for ever.
// only: catena
// waits: until a wait counts as long
// run: -n 3 -- unsent ; fails ; says MPI_ERR_OTHER: MPI_Recv: rank 2 has called MPI_Finalize: no message comes from there ; ends 2
// run: --set LINK=tcp -n 3 -- unsent ; fails ; says MPI_Recv: rank 2 has called MPI_Finalize: no message comes from there ; ends 2
// run: -n 3 -- unreceived ; fails ; says MPI_ERR_OTHER: MPI_Ssend: rank 2 has not received the message, and has freed ; ends 2
// run: --set LINK=tcp -n 3 -- unreceived ; fails ; says MPI_Ssend: rank 2 has not received the message, and has freed ; ends 2
// run: -n 2 -- long ; fails ; says MPI_Send: rank 1 has not received the message ; ends 2
// run: -n 2 -- tag ; fails ; says MPI_Recv: rank 1 has called MPI_Finalize: .*, and one of 4 bytes with tag 6 has come from rank 1 ; ends 2
// run: -n 3 -- any ; fails ; says MPI_Recv: all others have called MPI_Finalize ; ends 2
// run: -n 2 -- probe ; fails ; says MPI_Probe: rank 1 has called MPI_Finalize ; ends 2
// run: -n 3 -- waitall ; fails ; says MPI_Waitall: .*rank 2 has called MPI_Finalize ; ends 2
// run: -n 3 -- duplicate ; fails ; says rank 2 called MPI_Finalize, and ranks 0 and 1 called MPI_Barrier ; ends 3
// run: --set LINK=tcp -n 3 -- duplicate ; fails ; says rank 2 called MPI_Finalize, and ranks 0 and 1 called MPI_Barrier ; ends 3
// run: -n 2 -- returns ; says told
// run: --set LINK=tcp -n 2 -- returns ; says told
// run: -n 3 -- waitany ; says done
// run: -n 2 -- cancelled ; says done
// run: -n 2 -- slow ; says done
// run: --set LINK=tcp -n 2 -- slow ; says done
// run: -n 2 --on-hang end -- self ; exit 123 ; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from rank 0
#include "../check.h"
#include <unistd.h>

static char big[1 << 22];

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD, comm;
    MPI_Request r[2];
    MPI_Status status;
    int x = 1, index, flag;
    start(&argc, &argv);
    const char *mode = argv[1];
    if (!strcmp(mode, "unsent") && rank == 0)
        MPI_Recv(&x, 1, MPI_INT, 2, 0, world, MPI_STATUS_IGNORE);
    if (!strcmp(mode, "unreceived") && rank == 0)
        MPI_Ssend(&x, 1, MPI_INT, 2, 0, world);
    if (!strcmp(mode, "long") && rank == 0)
        MPI_Send(big, sizeof big, MPI_BYTE, 1, 0, world);
    if (!strcmp(mode, "tag"))
        rank ? MPI_Send(&x, 1, MPI_INT, 0, 6, world) : MPI_Recv(&x, 1, MPI_INT, 1, 5, world, &status);
    if (!strcmp(mode, "any") && rank == 0)
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    if (!strcmp(mode, "probe") && rank == 0)
        MPI_Probe(1, 3, world, &status);
    if (!strcmp(mode, "self") && rank == 0)
        MPI_Recv(&x, 1, MPI_INT, 0, 3, world, &status);
    if (!strcmp(mode, "waitall") && rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, world, r);
        MPI_Irecv(&flag, 1, MPI_INT, 2, 0, world, r + 1);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    if (!strcmp(mode, "waitall") && rank == 1)
        MPI_Send(&x, 1, MPI_INT, 0, 0, world);
    if (!strcmp(mode, "duplicate")) {
        MPI_Comm_dup(world, &comm);
        if (rank < 2)
            MPI_Barrier(comm);
    }
    if (!strcmp(mode, "returns") && rank == 0) {
        /* The error is the call's alone: the program comes to its end. */
        MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
        int code = MPI_Recv(&x, 1, MPI_INT, 1, 0, world, &status);
        EQUAL(class_of(code), MPI_ERR_OTHER);
        code = MPI_Ssend(&x, 1, MPI_INT, 1, 0, world);
        EQUAL(class_of(code), MPI_ERR_OTHER);
        puts("told");
    }
    if (!strcmp(mode, "waitany")) {
        /* One of two may still come: from a rank that sleeps. */
        if (rank == 0) {
            MPI_Irecv(&x, 1, MPI_INT, 1, 0, world, r);
            MPI_Irecv(&flag, 1, MPI_INT, 2, 0, world, r + 1);
            MPI_Waitany(2, r, &index, &status);
            EQUAL(index, 0);
            MPI_Cancel(r + 1);
            MPI_Wait(r + 1, &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK(flag);
            puts("done");
        } else if (rank == 1) {
            sleep(2);
            MPI_Send(&x, 1, MPI_INT, 0, 0, world);
        }
    }
    if (!strcmp(mode, "cancelled") && rank == 0) {
        /* What is not waited for can be cancelled as ever. */
        MPI_Issend(&x, 1, MPI_INT, 1, 0, world, r);
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, world, r + 1);
        sleep(2);
        MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
        CHECK(!flag);
        for (int i = 0; i < 2; i++) {
            MPI_Cancel(r + i);
            MPI_Wait(r + i, &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK(flag);
        }
        puts("done");
    }
    if (!strcmp(mode, "slow")) {
        /* A message that left long before its receiver looks. */
        if (rank == 1) {
            MPI_Isend(big, sizeof big, MPI_BYTE, 0, 1, world, r);
            MPI_Send(&x, 1, MPI_INT, 0, 2, world);
        } else {
            sleep(2);
            MPI_Recv(&x, 1, MPI_INT, 1, 2, world, &status);
            MPI_Recv(big, sizeof big, MPI_BYTE, 1, 1, world, &status);
            puts("done");
        }
    }
    /* Without a meeting before. */
    MPI_Finalize();
    return 0;
}
