// More of what programs do wrong, which checked mode finds.
// cc: -g -O0
// run: -n 3 --check -- behind ; says error \[bounds\]: rank \d: MPI_Scatterv \(checked_more.c:\d+\): its buffer sendbuf is in the variable two, but a block of 1 elements of MPI_INT lies behind that
// run: -n 3 --check -- behind_heap ; says error \[bounds\]: rank 0: MPI_Scatterv \(checked_more.c:\d+\): its buffer sendbuf is in the \d+ bytes that malloc has given, but a block of 1 elements of MPI_INT lies behind that
// run: -n 2 --check -- shifted ; says end ; never says catena: check
// run: -n 2 --check -- gone ; says error \[memory\]: rank \d: MPI_Bcast \(checked_more.c:\d+\): its buffer buffer at 0x\w+ is memory that was given back before
// run: -n 2 --check -- small ; says error \[type\]: rank \d: MPI_Bcast \(checked_more.c:\d+\): its buffer buffer is what numbers points to, which has an integer of 8 bytes where MPI_INT has
// run: -n 2 --check -- member ; says error \[type\]: rank \d: MPI_Bcast \(checked_more.c:\d+\): its buffer buffer is in the variable pair, which has a floating-point number of 8 bytes where MPI_INT has
// run: -n 2 --check -- small_members ; says end ; never says catena: check
// run: -n 2 --check -- left_out ; says end ; never says catena: check
// run: -n 2 --check -- doubled ; says error \[written\]: rank \d: MPI_Wait \(checked_more.c:\d+\): the buffer buf of MPI_Isend was changed
// run: -n 2 --check -- ready ; says error \[written\]: rank \d: MPI_Waitall \(checked_more.c:\d+\): the partition 0 of MPI_Psend_init was changed after it was said to be ready ; says made by: MPI_Psend_init
// run: -n 2 --check -- parts ; says end ; never says catena: check
// run: -n 2 --check -- twice ; fails ; says error \[handle\]: rank \d: MPI_Comm_free \(checked_more.c:\d+\): the argument comm is the handle of a communicator that is gone ; says MPI_ERR_COMM: MPI_Comm_free: 0x\w+ is not a communicator, or was freed ; never says another MPI library
// run: -n 2 -- twice ; fails ; says MPI_ERR_COMM: MPI_Comm_free: 0x\w+ is not a communicator, or was freed ; never says another MPI library
// run: -n 2 --check -- active ; says error \[request\]: rank \d: MPI_Start \(checked_more.c:\d+\): the request is active ; never says \[(argument|overlap)\]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD
static int rank, size, next, last;

static void partitions(int is_changed)
{
    int sent[8] = {0}, got[8];
    MPI_Request both[2];
    MPI_Psend_init(sent, 4, 2, MPI_INT, next, 0, WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(got, 4, 2, MPI_INT, last, 0, WORLD, MPI_INFO_NULL, &both[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, both);
        for (int i = 0; i < 8; i++)
            sent[i] = round;
        MPI_Pready(0, both[0]);
        sent[2] = sent[5] = 7;
        MPI_Pready_range(1, 2, both[0]);
        sent[7] = 8;
        MPI_Pready_list(1, (int[]){3}, both[0]);
        if (is_changed)
            sent[1] = 9;
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        sent[0] = 4;
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* Members of one byte are sent as the integers that they are. */
static void small_members(void)
{
    enum __attribute__((packed)) kind { ONE, OTHER };
    struct { int number; enum kind kind; _Bool flag; unsigned char truth; double weight; } cells[2];
    MPI_Datatype cell, types[5] = {MPI_INT, MPI_UINT8_T, MPI_UINT8_T, MPI_C_BOOL, MPI_DOUBLE};
    memset(cells, 0, sizeof cells);
    MPI_Type_create_struct(5, (int[]){1, 1, 1, 1, 1}, (MPI_Aint[]){0, 4, 5, 6, 8}, types, &cell);
    MPI_Type_commit(&cell);
    MPI_Bcast(cells, 2, cell, 0, WORLD);
    MPI_Type_free(&cell);
}

/* The first two numbers lie upon each other, so the bytes 4 and 5 are left out: they, or others, are written meanwhile. */
static void upon_each_other(int at)
{
    union { char bytes[8]; int numbers[2]; } sent = {{0}};
    char got[8];
    MPI_Datatype doubled, apart, types[3] = {MPI_INT, MPI_SHORT, MPI_SHORT};
    MPI_Request request;
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 0, 6}, types, &doubled);
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 4, 6}, types, &apart);
    MPI_Type_commit(&doubled);
    MPI_Type_commit(&apart);
    MPI_Isend(sent.bytes, 1, doubled, next, 0, WORLD, &request);
    sent.bytes[at] = 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(got, 1, apart, last, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&doubled);
    MPI_Type_free(&apart);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int counts[8], places[8], sent[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    if (!strcmp(what, "behind") || !strcmp(what, "behind_heap")) {
        /* What lies behind is read alone, and may be. */
        static int two[2], more[8];
        int *few = calloc(2, sizeof *few), *others = calloc(1000, sizeof *others), got;
        for (int i = 0; i < size; i++)
            counts[i] = 1, places[i] = i == 2 ? 4 + 6 * !more[0] : i;
        MPI_Scatterv(strcmp(what, "behind") ? few : two, counts, places, MPI_INT, &got, 1, MPI_INT, 0, WORLD);
        free(few);
        free(others);
    } else if (!strcmp(what, "shifted")) {
        /* Displacements count from a place before the buffer. */
        int *before = calloc(100, sizeof *before), *all = calloc(200, sizeof *all);
        int base[4], shifted[100];
        for (int i = 0; i < size; i++)
            counts[i] = 100, places[i] = 100 * i + (int)(all - before - 10);
        MPI_Allgatherv(sent, 100, MPI_INT, before + 10, counts, places, MPI_INT, WORLD);
        for (int i = 0; i < size; i++)
            counts[i] = 1, places[i] = i + (int)(shifted - base);
        MPI_Allgatherv(sent, 1, MPI_INT, base, counts, places, MPI_INT, WORLD);
        free(before);
        free(all);
    } else if (!strcmp(what, "gone")) {
        int *gone = malloc(400);
        free(gone);
        MPI_Bcast(gone, 100, MPI_INT, 0, WORLD);
    } else if (!strcmp(what, "small")) {
        /* MPI and the tool have used blocks like this one. */
        long *numbers = calloc(2, sizeof *numbers);
        MPI_Bcast(numbers, 4, MPI_INT, 0, WORLD);
        free(numbers);
    } else if (!strcmp(what, "member")) {
        struct { int numbers[4]; double behind; } pair;
        memset(&pair, 0, sizeof pair);
        MPI_Bcast(pair.numbers, 4, MPI_INT, 0, WORLD);
        MPI_Bcast(pair.numbers, 6, MPI_INT, 0, WORLD);
    } else if (!strcmp(what, "small_members")) {
        small_members();
    } else if (!strcmp(what, "left_out") || !strcmp(what, "doubled")) {
        upon_each_other(!strcmp(what, "left_out") ? 5 : 1);
    } else if (!strcmp(what, "ready") || !strcmp(what, "parts")) {
        partitions(!strcmp(what, "ready"));
    } else if (!strcmp(what, "twice")) {
        /* The third one in its place. */
        MPI_Comm made, copy;
        for (int i = 0; i < 3; i++) {
            MPI_Comm_dup(WORLD, &made);
            copy = made;
            MPI_Comm_free(&made);
        }
        MPI_Comm_free(&copy);
    } else {
        int got;
        MPI_Request request;
        MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
        MPI_Recv_init(&got, 1, MPI_INT, last, 3, WORLD, &request);
        MPI_Start(&request);
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    MPI_Barrier(WORLD);
    if (rank == 0)
        puts("end");
    MPI_Finalize();
    return 0;
}
