// What programs do wrong with MPI is told under `mpirun --check`, with its line and what to do, and only once; what is right is not.
// cc: -g -O0 -pthread
// run: -n 2 --check -- right ; says all is well ; never says catena: check
// run: -n 3 --check -- right ; says all is well ; never says catena: check
// run: -n 2 --check --set LINK=tcp -- right ; says all is well ; never says catena: check
// run: -n 2 -- written ; says end ; never says check
// run: -n 2 --check -- written ; says error \[written\]: rank 0: MPI_Wait \(checked.c:\d+\): the buffer buf of MPI_Isend was changed ; says began in: MPI_Isend \(checked.c
// run: -n 2 --check -- many ; says error \[written\]: rank 0: MPI_Wait ; never says (?s)\[written\].*\[written\]
// run: -n 2 --check -- overlap ; says error \[overlap\]: rank 1: MPI_Irecv \(checked.c:\d+\): its buffer buf writes 200 bytes .* of a pending MPI_Irecv ; says began in: MPI_Irecv
// run: -n 2 --check -- over_send ; says error \[overlap\]: rank 0: MPI_Recv \S+ its buffer buf writes 4 bytes .* of a pending MPI_Isend
// run: -n 2 --check -- blocks ; says error \[overlap\]: rank \d: MPI_Alltoallv \S+ two blocks of its buffer recvbuf have 4 bytes in common
// run: -n 2 --check -- started ; says error \[overlap\]: rank \d: MPI_Start \S+ its buffer buf writes 4 bytes .* of a pending MPI_Recv_init
// run: -n 2 --check -- doubled ; says error \[type\]: rank 1: MPI_Recv \S+ elements of the datatype of its buffer buf lie upon each other
// run: -n 2 --check -- local ; says error \[bounds\]: rank 0: MPI_Send \(checked.c:\d+\): its buffer buf is in the variable few of 40 bytes, but 11 elements of MPI_INT take 44 bytes
// run: -n 2 --check -- outer ; says error \[bounds\]: rank 0: MPI_Send \S+ its buffer buf is in the variable outside of 80 bytes, but 11 elements of MPI_DOUBLE take 88 bytes
// run: -n 2 --check -- heap ; says error \[bounds\]: rank 0: MPI_Send \S+ its buffer buf ends \d+ bytes behind the \d+ bytes that malloc has given
// run: -n 2 --check -- unsigned ; says warning \[type\]: rank 0: MPI_Send \S+ its buffer buf is in the variable few, which has an integer of 4 bytes where MPI_UNSIGNED has
// run: -n 2 --check -- struct ; says error \[type\]: rank 0: MPI_Send \S+ its buffer buf is in the variable pair, which has a gap where a derived type has a floating-point
// run: -n 2 --check -- pointer ; says error \[type\]: rank 0: MPI_Send \S+ its buffer buf is what numbers points to, which has a floating-point number of 8 bytes where MPI_LONG
// run: -n 2 --check -- types ; says error \[type\]: rank 1: MPI_Wait \(checked.c:\d+\): the message of 8 bytes from rank 0 has Int32, but its receive has Float64 ; says receive began in: MPI_Irecv
// run: -n 2 --check --set LINK=tcp -- types ; says error \[type\]: rank 1: MPI_Wait \S+ the message of 8 bytes from rank 0 has Int32, but its receive has Float64
// run: -n 2 --check -- constant ; fails ; says error \[memory\]: rank 1: MPI_Recv \S+ its buffer buf is to be written, but the memory at \S+ may only be read
// run: -n 2 --check -- returned ; says error \[memory\]: rank 1: MPI_Send \S+ the buffer buf of a pending MPI_Irecv lies in the stack of a function that has returned
// run: -n 2 --check -- unmatched ; says error \[unmatched\]: rank 1: MPI_Finalize \S+ a message of 4 bytes from rank 0 with tag 5 on MPI_COMM_WORLD was never received
// run: -n 2 --check -- lost ; says error \[leak\]: rank \d: MPI_Irecv \(checked.c:\d+\): its request is never completed ; says overwritten by: MPI_Irecv \(checked.c
// run: -n 2 --check -- given_up ; says warning \[request\]: rank \d: MPI_Request_free \S+ the request is active
// run: -n 2 --check -- leaks ; says \[leak\]: rank \d: MPI_Comm_dup \S+ a communicator ; says MPI_Type_vector \S+ a datatype ; says MPI_Op_create \S+ an operation ; says MPI_Comm_group \S+ a group ; says MPI_Info_create \S+ 3 info objects ; says MPI_Win_create \S+ a window ; says MPI_Send_init \S+ its request is never given back
// run: -n 2 --check -- gone ; fails ; says error \[handle\]: rank \d: MPI_Barrier \S+ the argument comm is the handle of a communicator that is gone ; says given back by: MPI_Comm_free \(checked.c
// run: -n 2 --check -- refused ; says end ; says warning \[argument\]: rank \d: MPI_Send \S+ the call was refused: MPI_ERR_RANK
// run: -n 2 --check -- fatal ; fails ; says MPI_ERR_RANK: MPI_Send: the destination is rank 7.* called from checked.c:\d+
// run: -n 2 --check -- thread ; says error \[thread\]: rank \d: MPI_Comm_rank \S+ another thread calls .* MPI_THREAD_FUNNELED
// run: -n 2 --check -- single ; says warning \[thread\]: rank \d: MPI_Comm_rank \S+ the program has other threads, but the thread level is MPI_THREAD_SINGLE
// run: -n 3 --check -- conflict ; says error \[conflict\]: rank 2: MPI_Win_fence \S+ MPI_Put \(checked.c:\d+\) of rank 0 and MPI_Put \(checked.c:\d+\) of rank 1 access the same 4 bytes
// run: -n 2 --check -- conflict_here ; says error \[conflict\]: rank 0: MPI_Get \S+ it accesses memory of rank 1 that MPI_Put of this rank accesses in the same epoch
// run: -n 2 --check -- got ; says error \[written\]: rank 0: MPI_Win_fence \S+ the buffer origin_addr of MPI_Get was changed
// run: -n 2 --check -- shown ; says error \[freed\]: rank \d: free \S+ \d+ bytes at .* that a window shows
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static double outside[10];
static const int fixed[4] = {1, 2, 3, 4};

struct pair {
    int number;
    char letter;
    double fraction;
};

static MPI_Datatype vector(int count, int block, int stride)
{
    MPI_Datatype type;
    MPI_Type_vector(count, block, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Columns of one array, sent and received at once; requests in copies; persistent and partitioned requests; windows. */
static void right(void)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size, grid[10][10] = {{0}};
    MPI_Datatype column = vector(10, 1, 10);
    MPI_Request requests[4], one, copies[8];
    /* Behind a header there is something else. */
    struct header { int kind, length; } *header = malloc(sizeof *header + 10 * sizeof(double));
    MPI_Bcast(header + 1, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(header);
    MPI_Irecv(&grid[0][0], 1, column, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&grid[0][9], 1, column, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&grid[0][8], 1, column, next, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&grid[0][1], 1, column, last, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Type_free(&column);
    grid[0][5] = 1;
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 8; i++) {
        if (i % 2)
            MPI_Isend(&grid[1][i], 1, MPI_INT, next, i / 2, MPI_COMM_WORLD, &one);
        else
            MPI_Irecv(&grid[2][i], 1, MPI_INT, last, i / 2, MPI_COMM_WORLD, &one);
        copies[i] = one;
    }
    for (int left = 8, index; left > 0; left--)
        MPI_Waitany(8, copies, &index, MPI_STATUS_IGNORE);
    MPI_Send_init(grid[3], 4, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(grid[4], 4, MPI_INT, last, 3, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        grid[3][0] = i;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    int *memory, mine = rank, sum;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&mine, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Accumulate(&mine, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Get(&sum, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Iallreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, other, &one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    MPI_Bcast(outside, 10, MPI_DOUBLE, 0, other);
    char *bytes = malloc(sizeof(struct pair));
    MPI_Bcast(bytes, sizeof(struct pair), MPI_BYTE, 0, other);
    free(bytes);
    MPI_Comm_free(&other);
    if (rank == 0 && sum == 0 && memory)
        puts("all is well");
}

static void receive_here(MPI_Request *request)
{
    int local[64];
    MPI_Irecv(local, 64, MPI_INT, 0, 9, MPI_COMM_WORLD, request);
}

static void *ask(void *nothing)
{
    int here;
    MPI_Comm_rank(MPI_COMM_WORLD, &here);
    return nothing;
}

static void *wait_there(void *at)
{
    pthread_barrier_wait(at);
    return NULL;
}

static void add(void *in, void *to, int *len, MPI_Datatype *type)
{
    (void)in, (void)to, (void)len, (void)type;
}

static void leaks(void)
{
    MPI_Comm comm;
    MPI_Op op;
    MPI_Group group;
    MPI_Info info;
    MPI_Win window;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    vector(2, 1, 2);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    for (int i = 0; i < 3; i++)
        MPI_Info_create(&info);
    MPI_Win_create(outside, sizeof outside, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Send_init(&rank, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
}

static void windows(const char *what)
{
    MPI_Win window;
    int *memory = malloc(16), mine = rank, got = 0;
    memset(memory, 0, 16);
    MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (!strcmp(what, "conflict") && rank < 2)
        MPI_Put(&mine, 1, MPI_INT, 2, 1, 1, MPI_INT, window);
    if (!strcmp(what, "conflict_here") && rank == 0) {
        MPI_Put(&mine, 1, MPI_INT, 1, 1, 1, MPI_INT, window);
        MPI_Get(&got, 1, MPI_INT, 1, 1, 1, MPI_INT, window);
    }
    if (!strcmp(what, "got") && rank == 0) {
        MPI_Get(&got, 1, MPI_INT, 1, 1, 1, MPI_INT, window);
        got = 7;
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    if (!strcmp(what, "shown"))
        free(memory);
    MPI_Win_free(&window);
    if (strcmp(what, "shown"))
        free(memory);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided, few[10] = {0}, number = 0, other;
    MPI_Request request, second;
    MPI_Init_thread(&argc, &argv, strcmp(what, "single") ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = 1 - rank;
    if (!strcmp(what, "right")) {
        right();
    } else if (!strcmp(what, "written")) {
        if (rank == 0) {
            MPI_Isend(few, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
            few[3] = 1;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(few, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else if (!strcmp(what, "many")) {
        for (int i = 0; i < 20; i++) {
            if (rank == 0) {
                MPI_Isend(few, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
                few[3]++;
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(few, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
    } else if (!strcmp(what, "overlap")) {
        int numbers[100];
        if (rank == 1) {
            MPI_Irecv(numbers, 100, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
            MPI_Irecv(numbers + 50, 50, MPI_INT, 0, 2, MPI_COMM_WORLD, &second);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Wait(&second, MPI_STATUS_IGNORE);
        } else {
            memset(numbers, 0, sizeof numbers);
            MPI_Send(numbers, 100, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Send(numbers, 50, MPI_INT, 1, 2, MPI_COMM_WORLD);
        }
    } else if (!strcmp(what, "over_send")) {
        MPI_Isend(few, 10, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(rank ? (void *)outside : few + 9, rank ? 10 : 1, MPI_INT, other, rank ? 0 : 1, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(few, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(outside, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "blocks")) {
        int ones[2] = {1, 1}, places[2] = {0, 1}, same[2] = {0, rank};
        MPI_Alltoallv(few, ones, places, MPI_INT, few + 4, ones, same, MPI_INT, MPI_COMM_WORLD);
    } else if (!strcmp(what, "started")) {
        if (rank == 0) {
            MPI_Recv_init(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
            MPI_Recv_init(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &second);
            MPI_Start(&request);
            MPI_Start(&second);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Wait(&second, MPI_STATUS_IGNORE);
            MPI_Request_free(&request);
            MPI_Request_free(&second);
        } else {
            MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    } else if (!strcmp(what, "doubled")) {
        MPI_Datatype type = vector(2, 2, 1);
        if (rank == 0)
            MPI_Send(few, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(few, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    } else if (!strcmp(what, "local") || !strcmp(what, "outer") || !strcmp(what, "heap")) {
        double *there = malloc(12 * sizeof *there), *short_one = malloc(8 * sizeof *short_one);
        memset(short_one, 0, 8 * sizeof *short_one);
        MPI_Datatype type = strcmp(what, "local") ? MPI_DOUBLE : MPI_INT;
        void *from = !strcmp(what, "local") ? (void *)few : !strcmp(what, "outer") ? outside : short_one;
        if (rank == 0)
            MPI_Send(from, 11, type, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(there, 11, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(there);
        free(short_one);
    } else if (!strcmp(what, "unsigned")) {
        unsigned got[10];
        if (rank == 0)
            MPI_Send(few, 10, MPI_UNSIGNED, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(got, 10, MPI_UNSIGNED, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "struct")) {
        struct pair pair = {1, 'a', 2.0};
        char bytes[16];
        MPI_Datatype type, types[2] = {MPI_INT, MPI_DOUBLE};
        MPI_Type_create_struct(2, (int[2]){1, 1}, (MPI_Aint[2]){0, 5}, types, &type);
        MPI_Type_commit(&type);
        if (rank == 0)
            MPI_Send(&pair, 1, type, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(bytes, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    } else if (!strcmp(what, "pointer")) {
        double *numbers = calloc(4, sizeof *numbers);
        if (rank == 0)
            MPI_Send(numbers, 4, MPI_LONG, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(outside, 4, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) {
            long got[4];
            MPI_Recv(got, 4, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        free(numbers);
    } else if (!strcmp(what, "types")) {
        if (rank == 0) {
            MPI_Recv(few, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(few, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Irecv(outside, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
            MPI_Send(few, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    } else if (!strcmp(what, "constant")) {
        if (rank == 0)
            MPI_Send(few, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv((void *)fixed, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "returned")) {
        if (rank == 1) {
            receive_here(&request);
            MPI_Send(few, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(few, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else if (!strcmp(what, "unmatched")) {
        if (rank == 0)
            MPI_Send(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else if (!strcmp(what, "lost")) {
        MPI_Irecv(&number, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Irecv(few, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "given_up")) {
        MPI_Irecv(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Send(few, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "leaks")) {
        leaks();
    } else if (!strcmp(what, "gone")) {
        MPI_Comm comm, copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        copy = comm;
        MPI_Comm_free(&comm);
        MPI_Barrier(copy);
    } else if (!strcmp(what, "refused")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Send(&number, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "fatal")) {
        MPI_Send(&number, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, ask, NULL);
        pthread_join(thread, NULL);
    } else if (!strcmp(what, "single")) {
        pthread_t thread;
        pthread_barrier_t barrier;
        pthread_barrier_init(&barrier, NULL, 2);
        pthread_create(&thread, NULL, wait_there, &barrier);
        ask(NULL);
        pthread_barrier_wait(&barrier);
        pthread_join(thread, NULL);
    } else {
        windows(what);
    }
    MPI_Finalize();
    if (rank == 0)
        puts("end");
    return 0;
}
