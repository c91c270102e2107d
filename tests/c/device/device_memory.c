// Buffers in memory of a device (device_driver.c), which nobody can read or write but through its driver: messages of
// all modes and of types with gaps, collectives, packing, partitions, windows and origins of one-sided operations, files.
// only: catena
// preload: device_driver
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda
// run: -n 4 -x CATENA_DEVICE_MEMORY=cuda
// run: -n 2 --check -x CATENA_DEVICE_MEMORY=cuda; never says check:.*is no memory
// run: -n 3 -x CATENA_DEVICE_MEMORY=cuda -x CATENA_LINK=tcp
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=pool
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=ipc
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=open
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -- direct
// run: -n 3 -x CATENA_DEVICE_MEMORY=cuda -x CATENA_SHM_SINGLE_COPY=never -- direct
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=ipc -- staged
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=open -- staged
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x CATENA_DEVICE_IPC=no -- staged
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=copy -- copy; exit 134; says 4096 bytes of device memory at 0x\w+ cannot be copied: cuMemcpyDtoHAsync: ERROR_INVALID_VALUE \(1\)
// run: -n 2 -- none
// cc: -pthread
// run: -n 2 -x CATENA_DEVICE_MEMORY=gpu -- none; says CATENA_DEVICE_MEMORY=gpu: it must be one of: auto, cuda, none
#define _GNU_SOURCE
#include "device.h"

#include <mpi-ext.h>
#include <pthread.h>

enum { N = 1024, LONG = 300000, TAG = 3 };

/* Ranks 0 and 1: all modes, short and long, to the device and to the host. */
static void messages(void)
{
    int (*const modes[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend};
    const int counts[] = {1, N, LONG};
    const int room_for_all = 2 * 3 * (LONG * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *room = malloc((size_t)room_for_all);
    MPI_Buffer_attach(room, room_for_all);
    for (int m = 0; m < 3; m++)
        for (int c = 0; c < 3; c++) {
            int *out = ints(counts[c], 7 * m), *in = ints(counts[c], -9), *host = calloc(LONG, sizeof(int));
            if (rank == 0) {
                modes[m](out, counts[c], MPI_INT, 1, TAG, MPI_COMM_WORLD);
                modes[m](out, counts[c], MPI_INT, 1, TAG, MPI_COMM_WORLD);
            } else if (rank == 1) {
                MPI_Recv(in, counts[c], MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                expect(in, counts[c], 7 * m, 1);
                MPI_Recv(host, counts[c], MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EQUAL(host[counts[c] - 1], 7 * m + counts[c] - 1);
            }
            free(host);
        }
    void *back;
    int bytes;
    MPI_Buffer_detach(&back, &bytes);
    free(room);
    int *mine = ints(N, rank), *its = ints(N, rank);
    MPI_Sendrecv_replace(mine, N, MPI_INT, (rank + 1) % size, TAG, (rank + size - 1) % size, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    expect(mine, N, (rank + size - 1) % size, 1);
    MPI_Request requests[2];
    MPI_Recv_init(its, N, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(mine, N, MPI_INT, (rank + 1) % size, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(its, N, (rank + 2 * size - 2) % size, 1);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* A matrix's column, and blocks that lie unevenly: gaps stay as they are. */
static void types(void)
{
    MPI_Datatype column, uneven;
    MPI_Type_vector(N, 1, 3, MPI_INT, &column);
    MPI_Type_indexed(3, (int[]){2, 1, 4}, (int[]){1, 7, 20}, MPI_INT, &uneven);
    MPI_Type_commit(&column);
    MPI_Type_commit(&uneven);
    int *out = ints(3 * N, 0), *in = ints(3 * N, 0), *few = ints(N, -5);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Sendrecv(out + 1, 1, column, to, TAG, in, 1, column, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3 * N; i += 100)
        EQUAL(at(in, i), i % 3 == 0 ? i + 1 : i);
    MPI_Sendrecv(out, 1, uneven, to, TAG, few, 7, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int expected[] = {1, 2, 7, 20, 21, 22, 23, 2};
    for (int i = 0; i < 8; i++)
        EQUAL(at(few, i), expected[i]);
    int position = 0, *packed = ints(N, 0);
    MPI_Pack(out, 1, uneven, packed, 4 * N, &position, MPI_COMM_WORLD);
    EQUAL(position, 7 * (int)sizeof(int));
    position = 0;
    MPI_Unpack(packed, 4 * N, &position, few + 100, 7, MPI_INT, MPI_COMM_WORLD);
    EQUAL(at(few, 106), 23);
    MPI_Aint offset = 4;
    int *host = calloc(2 * N, sizeof *host);
    MPI_Pack_external("external32", out, 1, uneven, packed, 4 * N, &offset);
    EQUAL(offset, 8 * (int)sizeof(int));
    offset = 4;
    MPI_Unpack_external("external32", packed, 4 * N, &offset, few + 200, 7, MPI_INT);
    EQUAL(at(few, 206), 23);
    offset = 4;
    MPI_Pack_external("external32", out, N, MPI_INT, host, 8 * N, &offset);
    offset = 8;
    MPI_Unpack_external("external32", host, 8 * N, &offset, few, 7, MPI_INT);
    expect(few, 7, 1, 1);
    free(host);
    MPI_Type_free(&column);
    MPI_Type_free(&uneven);
}

static void collectives(void)
{
    for (int count = 1; count <= LONG; count = count == 1 ? N : count == N ? LONG : LONG + 1) {
        int *mine = ints(count, rank), *all = ints(count * size, -1), *in = ints(count, -1);
        MPI_Allreduce(mine, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(in, count, size * (size - 1) / 2, size);
        MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++)
            expect(all + r * count, count, r, 1);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++)
            expect(all + r * count, count, rank, 1);
        MPI_Bcast(in, count, MPI_INT, size - 1, MPI_COMM_WORLD);
        MPI_Request request;
        MPI_Ireduce(rank ? mine : MPI_IN_PLACE, mine, count, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 0)
            expect(mine, count, size - 1, 1);
        /* One of the two in memory of the host. */
        int *host = calloc((size_t)count, sizeof *host);
        MPI_Allreduce(in, host, count, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        EQUAL(host[count - 1], size * (size - 1) / 2 + (count - 1) * size);
        MPI_Reduce_local(host, in, count, MPI_INT, MPI_SUM);
        expect(in, count, size * (size - 1), 2 * size);
        free(host);
    }
}

static void windows(void)
{
    int *memory, *out = ints(N, rank), *in = ints(N, -1);
    MPI_Win win;
    MPI_Win_allocate(sizeof(int) * 2 * N, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, sizeof(int) * 2 * N);
    const int to = (rank + 1) % size;
    MPI_Win_fence(0, win);
    MPI_Put(out, N, MPI_INT, to, 0, N, MPI_INT, win);
    MPI_Win_fence(0, win);
    EQUAL(memory[N - 1], (rank + size - 1) % size + N - 1);
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(in, N, MPI_INT, to, 0, N, MPI_INT, win);
    MPI_Win_fence(0, win);
    expect(in, N, 2 * rank, 2);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Fetch_and_op(out, in, MPI_INT, to, N, MPI_SUM, win);
    MPI_Win_flush(to, win);
    EQUAL(at(in, 0), 0);
    MPI_Compare_and_swap(in + 1, out, in, MPI_INT, to, N, win);
    MPI_Win_unlock(to, win);
    EQUAL(at(in, 0), rank);
    MPI_Win_fence(0, win);
    EQUAL(memory[N], 2 * ((rank + size - 1) % size) + 2);
    memory = calloc(N, sizeof(int));
    MPI_Win_free(&win);

    free(memory);
}

/* A window whose memory is on devices, but for that of rank 0 if `mixed`: of all calls, in all epochs, whichever way leads
   to the target, and to oneself. */
static void windows_on_devices(int mixed)
{
    const int to = (rank + 1) % size, from = (rank + size - 1) % size, is_host = mixed && rank == 0;
    int *host = calloc(8 * N, sizeof(int)), *memory = is_host ? calloc(8 * N, sizeof(int)) : ints(8 * N, 0);
    int *out = ints(8 * N, rank), *in = ints(8 * N, -1), *near = calloc(8 * N, sizeof(int));
    MPI_Aint size_there;
    void *base;
    int unit, flag;
    MPI_Win win;
    MPI_Win_create(memory, (MPI_Aint)sizeof(int) * 8 * N, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == memory);
    MPI_Win_shared_query(win, rank, &size_there, &unit, &base);
    EQUAL(size_there != 0, is_host);
#define READ(i) (is_host ? memory[i] : at(memory, i))
    /* From a device, from the host, and into types with gaps. */
    MPI_Datatype column, uneven;
    MPI_Type_vector(N, 1, 2, MPI_INT, &column);
    MPI_Type_indexed(3, (int[]){2, 1, 4}, (int[]){1, 7, 20}, MPI_INT, &uneven);
    MPI_Type_commit(&column);
    MPI_Type_commit(&uneven);
    MPI_Win_fence(0, win);
    MPI_Put(out, 8 * N, MPI_INT, to, 0, 8 * N, MPI_INT, win);
    MPI_Win_fence(0, win);
    EQUAL(READ(8 * N - 1), from + 8 * N - 1);
    for (int i = 0; i < 8 * N; i++)
        host[i] = 100000 * rank + i;
    MPI_Win_fence(0, win);
    MPI_Put(host, N, MPI_INT, to, 0, 1, column, win);
    MPI_Put(host, 1, uneven, rank, 4 * N, 1, uneven, win);
    MPI_Win_fence(0, win);
    EQUAL(READ(10), 100000 * from + 5);
    EQUAL(READ(11), from + 11);
    EQUAL(READ(4 * N + 22), 100000 * rank + 22);
    EQUAL(READ(4 * N + 6), from + 4 * N + 6);
    MPI_Win_fence(0, win);
    MPI_Get(in, 1, column, to, 0, N, MPI_INT, win);
    MPI_Get(near, N, MPI_INT, rank, 0, 1, column, win);
    MPI_Get(near + N, 7, MPI_INT, to, 4 * N, 1, uneven, win);
    MPI_Win_fence(0, win);
    EQUAL(at(in, 20), 100000 * rank + 5);
    EQUAL(at(in, 21), 20);
    EQUAL(near[5], 100000 * from + 5);
    EQUAL(near[N + 6], 100000 * to + 23);

    /* Accumulates of all members on the same elements of all. */
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        for (int r = 0; r < size; r++) {
            MPI_Accumulate(near, N, MPI_INT, r, 0, N, MPI_INT, MPI_REPLACE, win);
            MPI_Accumulate((int[]){0, 5}, 2, MPI_INT, r, N, 2, MPI_INT, MPI_REPLACE, win);
        }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 50; k++)
        for (int r = 0; r < size; r++) {
            int old = -1, one = 1, what = 5 + k % 2, other = 5 + (k + 1) % 2;
            MPI_Fetch_and_op(&one, &old, MPI_INT, r, N, MPI_SUM, win);
            MPI_Compare_and_swap(&other, &what, in + k, MPI_INT, r, N + 1, win);
            MPI_Win_flush(r, win);
            CHECK(old >= 0 && old < 50 * size);
            EQUAL(at(in, k) == 5 || at(in, k) == 6, 1);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    EQUAL(READ(N), 50 * size);
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) {
        MPI_Accumulate(out, N, MPI_INT, r, 2 * N, N, MPI_INT, MPI_REPLACE, win);
        MPI_Win_fence(0, win);
        MPI_Accumulate(out, N, MPI_INT, r, 2 * N, 1, column, MPI_SUM, win);
        MPI_Win_fence(0, win);
    }
    CHECK(READ(2 * N + 1) > 0);

    /* A neighbour's under an exclusive lock, by requests, and the former elements. */
    MPI_Request requests[2];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Rput(out, N, MPI_INT, to, 6 * N, N, MPI_INT, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(to, win);
    MPI_Rget_accumulate(out, N, MPI_INT, in, N, MPI_INT, to, 6 * N, N, MPI_INT, MPI_SUM, win, &requests[0]);
    MPI_Rget(near, 1, MPI_INT, to, 6 * N + 3, 1, MPI_INT, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(in, N, rank, 1);
    CHECK(near[0] == rank + 3 || near[0] == 2 * (rank + 3));
    MPI_Win_unlock(to, win);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(READ(6 * N + 9), 2 * (from + 9));

    /* Post, start, complete and wait. */
    MPI_Group all, group;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &from, &group);
    MPI_Win_post(group, 0, win);
    MPI_Group_free(&group);
    MPI_Group_incl(all, 1, &to, &group);
    MPI_Win_start(group, 0, win);
    MPI_Put(host, N, MPI_INT, to, 7 * N, N, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    EQUAL(READ(8 * N - 1), 100000 * from + N - 1);

    /* Beyond its end. */
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    EQUAL(class_of(MPI_Put(out, 2, MPI_INT, to, 8 * N - 1, 2, MPI_INT, win)), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(to, win);
    MPI_Win_free(&win);
    MPI_Type_free(&column);
    MPI_Type_free(&uneven);
    if (is_host)
        free(memory);
    else
        give(memory);
    give(out);
    give(in);
    free(near);
    free(host);
#undef READ
}

/* A dynamic window to which memory of the host and of a device is attached, and detached again. */
static void attached(void)
{
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int *host = calloc(N, sizeof(int)), *memory = ints(2 * N, 0), *out = ints(N, 50 * rank), near = -1, one = 1;
    MPI_Aint own[2], there[2];
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, host, sizeof(int) * N);
    MPI_Win_attach(win, memory, sizeof(int) * 2 * N);
    MPI_Get_address(host, &own[0]);
    MPI_Get_address(memory, &own[1]);
    MPI_Sendrecv(own, 2, MPI_AINT, from, TAG, there, 2, MPI_AINT, to, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, win);
    for (int k = 0; k < 2; k++) {
        MPI_Put(out, N, MPI_INT, to, there[k], N, MPI_INT, win);
        MPI_Win_flush(to, win);
        MPI_Accumulate(out, N, MPI_INT, to, there[k], N, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(to, win);
        MPI_Fetch_and_op(&one, &near, MPI_INT, to, there[k], MPI_SUM, win);
        MPI_Win_flush(to, win);
        EQUAL(near, 100 * rank);
        MPI_Get(out, N, MPI_INT, to, there[k], N, MPI_INT, win);
        MPI_Win_flush(to, win);
        EQUAL(at(out, 0), 100 * rank + 1);
        EQUAL(at(out, N - 1), 100 * rank + 2 * (N - 1));
        put(out, N, 50 * rank);
    }
    /* To oneself. */
    MPI_Put(out, 1, MPI_INT, rank, own[1] + (MPI_Aint)sizeof(int) * (2 * N - 1), 1, MPI_INT, win);
    MPI_Win_flush(rank, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(host[3], 100 * from + 6);
    EQUAL(at(memory, 3), 100 * from + 6);
    EQUAL(at(memory, 2 * N - 1), 50 * rank);
    MPI_Win_detach(win, memory);
    MPI_Win_detach(win, host);
    MPI_Win_free(&win);
    free(host);
    give(memory);
    give(out);
}

static void files(void)
{
    char name[64] = "";
    MPI_File file;
    int *out = ints(N, rank * N), *in = ints(N, -1);
    if (rank == 0) {
        strcpy(name, "/tmp/catena-device-XXXXXX");
        close(mkstemp(name));
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(!MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    MPI_File_write_at(file, (MPI_Offset)sizeof(int) * N * rank, out, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    const int next = (rank + 1) % size;
    MPI_File_read_at_all(file, (MPI_Offset)sizeof(int) * N * next, in, N, MPI_INT, MPI_STATUS_IGNORE);
    expect(in, N, next * N, 1);
    MPI_Datatype mine;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * size, &mine);
    MPI_Type_commit(&mine);
    for (int external = 0; external < 2; external++) {
        const char *form = external ? "external32" : "native";
        MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, mine, form, MPI_INFO_NULL);
        MPI_File_write_all(file, out, N, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_seek(file, 0, MPI_SEEK_SET);
        MPI_File_read_all(file, in, N, MPI_INT, MPI_STATUS_IGNORE);
        expect(in, N, rank * N, 1);
        in = ints(N, -1);
    }
    MPI_Type_free(&mine);
    MPI_File_close(&file);
}

static void partitions(void)
{
    enum { PARTS = 4 };
    int *out = ints(PARTS * N, 5), *in = ints(PARTS * N, -1);
    MPI_Request requests[2];
    MPI_Psend_init(out, PARTS, N, MPI_INT, (rank + 1) % size, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, PARTS, N, MPI_INT, (rank + size - 1) % size, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, requests);
        for (int p = PARTS - 1; p >= 0; p--)
            MPI_Pready(p, requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(in, PARTS * N, 5, 1);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* A thread without a context of its own, which gets none from MPI. */
static void *elsewhere(void *in)
{
    void *current = &context;
    int (*get)(void **) = symbol("cuCtxGetCurrent");
    MPI_Sendrecv_replace(in, N, MPI_INT, 0, TAG, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(!get(&current) && !current);
    return NULL;
}

static void kinds(int there)
{
    char told[256] = "";
    MPI_Info info;
    int room = sizeof told, has;
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, told, &has);
    MPI_Info_free(&info);
    CHECK(has && !strcmp(told, there ? "mpi,system,cuda" : "mpi,system"));
    EQUAL(MPIX_Query_cuda_support(), there);
}

/* Long messages from a device are read from there by whoever receives them, if the allocation can be opened: to its
   device, to memory of the host, to the middle of an allocation, into a type with gaps, of many allocations that come and
   go. */
static void direct(int is_direct)
{
    enum { MANY = 100, OPEN = 20 };
    int counts[2];
    /* What only the stand-in tells. */
    void (*opened)(int *) = dlsym(RTLD_DEFAULT, "device_opened");
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int *in = ints(2 * LONG, -1), *host = calloc(LONG, sizeof(int));
    for (int i = 0; i < MANY; i++) {
        int *out = ints(LONG, i);
        MPI_Request request;
        MPI_Isend(out + 10, LONG - 10, MPI_INT, to, TAG, MPI_COMM_WORLD, &request);
        if (i % 2)
            MPI_Recv(host, LONG, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Recv(in + 7, LONG, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i % 2)
            for (int k = 0; k < LONG - 10; k++)
                EQUAL(host[k], i + 10 + k);
        else
            expect(in + 7, LONG - 10, i + 10, 1);
        EQUAL(at(in, 6), 5);
        EQUAL(at(in, LONG - 3), LONG - 4);
        if (i < MANY / 2)
            give(out);
    }
    if (opened) {
        opened(counts);
        EQUAL(counts[0] > 0, is_direct);
        CHECK(counts[0] - counts[1] <= OPEN);
    }

    MPI_Datatype column;
    MPI_Type_vector(LONG / 2, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    int *out = ints(LONG, 5), *gaps = ints(LONG, 0);
    MPI_Sendrecv(out, LONG / 2, MPI_INT, to, TAG, gaps, 1, column, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(at(gaps, 100), 55);
    EQUAL(at(gaps, 101), 101);
    /* From the host to the device. */
    MPI_Sendrecv(host, LONG, MPI_INT, to, TAG, in, LONG, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(at(in, 77), host[77]);
    MPI_Type_free(&column);
    free(host);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    kinds(strcmp(what, "none") != 0);
    if (strcmp(what, "none") == 0)
        return finish();
    open_device();
    if (strcmp(what, "copy") == 0) {
        int *out = ints(N, 0);
        MPI_Sendrecv_replace(out, N, MPI_INT, 1 - rank, TAG, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return 1;
    }
    if (strcmp(what, "direct") == 0 || strcmp(what, "staged") == 0) {
        direct(what[0] == 'd');
        return finish();
    }
    messages();
    types();
    collectives();
    windows();
    windows_on_devices(0);
    windows_on_devices(1);
    attached();
    files();
    partitions();
    int *own = ints(N, 3);
    pthread_t thread;
    pthread_create(&thread, NULL, elsewhere, own);
    pthread_join(thread, NULL);
    expect(own, N, 3, 1);
    return finish();
}
