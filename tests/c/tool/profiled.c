// `mpirun --profile` tells where the time goes. What it counts exactly, scripts/testing/test-profile looks at.
// cc: -g -pthread
// only: catena
// run: -n 2 --profile -- late ; says mpirun: profile: \d+\.\d % of the run time of 2 ranks \(.*\) is spent in MPI, most of it in MPI_Barrier \(profiled.c:\d+\): \d+\.\d % ; says rank 1 is waited for most ; says rank 0 waits for rank 1
// run: -n 1 --profile -- nothing ; says profile: \d+\.\d % of the run time of 1 rank
// run: -n 2 --profile -- killed ; fails ; says without MPI_Finalize, so counted up to the last call: ranks? (0-)?1
// run: -n 2 --profile -- aborted ; exit 7 ; says MPI_Recv \(profiled.c:\d+\)
// run: -n 2 --profile -- leaves ; says ended without MPI_Finalize ; says without MPI_Finalize, so counted up to the last call: ranks 0-1
// run: -n 1 --profile -- spawns ; says 3 ranks
// run: -n 3 --profile -- between
// run: -n 1 --profile -- errors
// run: -n 1 -- errors
// run: -n 2 --profile --check -- nothing ; exit 2 ; says --profile and --check cannot be had at once
// run: -n 2 --profile-report /nowhere/to -- nothing ; exit 2 ; says '--profile-report /nowhere/to.json: it cannot be written \(.*\); make the folder, or name another one, so nothing was started'
// run: -n 2 --profile=yes -- nothing ; exit 2 ; says takes no value
// run: -n 2 -- late ; never says profile
// run: -n 2 --explain -- messages ; says mpirun: explain: 2 ranks on 1 host ; says between ranks of one host: 125, ; says through shared memory: \d+, .* ; says 'without asking the receiver: .*; CATENA_SHM_EAGER_MAX = 64KiB \(default\)'
// run: -n 4 --explain -- collectives ; says 'MPI_Allreduce of 64 B or more, 4 ranks on 1 host: 50 calls; planned in shared memory' ; says   allreduce: board \d+
// run: -n 2 --explain -- killed ; fails ; says without MPI_Finalize, so their library has told nothing: 2 ranks
// run: -n 1 --explain -- true ; says explain: 1 rank on 1 host
// run: -n 2 --explain-report /dev/null -- messages ; says mpirun: explain: 2 ranks on 1 host ; says what is explained is in /dev/null
// run: -n 2 --explain-report /nowhere/to -- messages ; exit 2 ; says --explain-report /nowhere/to: it cannot be written
// run: -n 2 --profile -- sessions ; says rank 1 is waited for most ; says rank 0 waits for rank 1
// run: -n 2 --profile -- sessions_in_world ; says rank 1 is waited for most ; says rank 0 waits for rank 1
// run: -n 2 --trace /dev/null -- sessions ; says the trace is in /dev/null
// run: -n 2 --trace /dev/null -- sessions_in_world ; says the trace is in /dev/null
// run: -n 2 --explain -- sessions_in_world ; says explain: 2 ranks on 1 host
// run: -n 2 --explain --check -- nothing ; exit 2 ; says --explain and --check cannot be had at once
//
// variant: profiled_apart
// only: catena
// hosts: 2
// run: -n 2 --profile --host h0:1,h1:1 --launcher-agent scripts/hosts -- late ; says is spent in MPI, most of it in MPI_Barrier \(profiled.c:\d+\) ; says rank 0 waits for rank 1
// run: -n 4 --explain --host h0:2,h1:2 --launcher-agent scripts/hosts --set COLL_ALLREDUCE=linear -- collectives ; says h0: ranks 0-1 ; says 'over a network: \d+, .*; CATENA_LINK = '; says 'MPI_Allreduce of 64 B or more, 4 ranks on 2 hosts: 50 calls; planned as linear, as CATENA_COLL_ALLREDUCE says' ; says allreduce: .*linear 2
#include "../check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

/* Computes for so many milliseconds. */
static void compute(int ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

/* As sent by ranks that are even to their neighbours. */
static void messages(void)
{
    static char buffer[5000];
    int other = rank ^ 1;
    for (int i = 0; i < 100; i++)
        if (rank % 2 == 0)
            MPI_Send(buffer, 1000, MPI_BYTE, other, 0, MPI_COMM_WORLD); /* @send */
        else
            MPI_Recv(buffer, 1000, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
    for (int i = 0; i < 10; i++) {
        MPI_Request requests[2];
        MPI_Irecv(buffer, 500, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(buffer + 2000, 500, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[1]); /* @isend */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* @waitall */
    }
    MPI_Request again;
    if (rank % 2 == 0)
        MPI_Send_init(buffer, 64, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &again);
    else
        MPI_Recv_init(buffer, 64, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &again);
    for (int i = 0; i < 5; i++) {
        MPI_Start(&again); /* @start */
        MPI_Wait(&again, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&again);
}

static void collectives(void)
{
    double in[8] = {0}, out[8];
    int *counts = malloc(size * sizeof *counts), *places = malloc(size * sizeof *places);
    char *many = calloc(size, 40), *got = calloc(size, 40);
    for (int i = 0; i < size; i++) {
        counts[i] = 4 * (i % 8 + 1);
        places[i] = 40 * i;
    }
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < 50; i++)
        MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* @allreduce */
    MPI_Allreduce(MPI_IN_PLACE, out, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* @in_place */
    for (int i = 0; i < 20; i++)
        MPI_Barrier(half);
    MPI_Alltoall(many, 3, MPI_INT, got, 3, MPI_INT, MPI_COMM_WORLD); /* @alltoall */
    MPI_Allgatherv(many, counts[rank], MPI_BYTE, got, counts, places, MPI_BYTE, MPI_COMM_WORLD); /* @allgatherv */
    MPI_Gather(many, 2, MPI_INT, got, 2, MPI_INT, 0, MPI_COMM_WORLD); /* @gather */
    MPI_Scatter(many, 2, MPI_INT, got, 2, MPI_INT, 0, MPI_COMM_WORLD); /* @scatter */
    MPI_Comm_free(&half);
    free(counts);
    free(places);
    free(many);
    free(got);
}

static void windows(void)
{
    int *memory, number = rank;
    MPI_Win win;
    MPI_Win_allocate(4 * size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&number, 1, MPI_INT, (rank + 1) % size, rank, 1, MPI_INT, win); /* @put */
    MPI_Win_fence(0, win);
    MPI_Get(&number, 1, MPI_INT, (rank + 1) % size, rank, 1, MPI_INT, win); /* @get */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void files(const char *name)
{
    char bytes[4096] = {0};
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 4096 * rank, bytes, 4096, MPI_BYTE, MPI_STATUS_IGNORE); /* @write */
    MPI_File_read_at(file, 4096 * rank, bytes, 1024, MPI_BYTE, MPI_STATUS_IGNORE); /* @read */
    MPI_File_close(&file);
}

/* Rank 1 is late to barriers, rank 0 to messages. */
static void late(void)
{
    for (int i = 0; i < 3; i++) {
        if (rank == 1)
            compute(100);
        MPI_Barrier(MPI_COMM_WORLD); /* @late */
    }
}

static void late_message(void)
{
    int number = 0;
    if (rank == 0) {
        compute(200);
        MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        compute(200);
        MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Request request;
        MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @waits */
        MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @waits_any */
    }
}

static void *in_thread(void *tag)
{
    int in = 0, out = 0, other = rank ^ 1, t = *(int *)tag;
    for (int i = 0; i < 25; i++)
        MPI_Sendrecv(&in, 1, MPI_INT, other, t, &out, 1, MPI_INT, other, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @thread */
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    int tags[4];
    for (int i = 0; i < 4; i++) {
        tags[i] = 10 + i;
        pthread_create(&all[i], NULL, in_thread, &tags[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
}

/* A function of a reduction that calls MPI: that is within the reduction. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void nested(void)
{
    int number = 1, sum;
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&number, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    EQUAL(sum, size);
}

/* Counts of a reduction in the smaller of two groups, right before memory that nobody may read. */
static void between(void)
{
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &inter);
    int own, in[64] = {0}, out[64], others = size - 1;
    MPI_Comm_size(half, &own);
    char *page = mmap(NULL, 2 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + (1 << 16), 1 << 16, PROT_NONE);
    int *counts = (int *)(page + (1 << 16)) - own;
    for (int i = 0; i < own; i++)
        counts[i] = others / own;
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, inter); /* @reduce_scatter */
    MPI_Reduce_scatter_block(in, out, others / own, MPI_INT, MPI_SUM, inter); /* @reduce_block */
    /* The root is rank 0 of the small group; counts mean nothing in the other one. */
    MPI_Scatterv(in, rank ? (int *)(page + (1 << 16)) : (int[64]){1, 1, 1}, (int[64]){0}, MPI_INT, out, 1, MPI_INT,
                 rank ? 0 : MPI_ROOT, inter); /* @scatterv */
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Rank 1 is late to the first of two messages. */
static void two_messages(void)
{
    int number = 0, got[2];
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(&got[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        if (rank == 1)
            compute(200);
        MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

static void many_starts(void)
{
    int numbers[8] = {0};
    MPI_Request requests[8];
    for (int i = 0; i < 8; i++)
        if (rank == 0)
            MPI_Send_init(&numbers[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Recv_init(&numbers[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 10; i++) {
        MPI_Startall(8, requests); /* @startall */
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 8; i++)
        MPI_Request_free(&requests[i]);
}

static int handled;
static jmp_buf back;

static void count_errors(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static void jump_back(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, 1);
}

/* Each error calls the handler once. */
static void errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm, freed;
    MPI_Datatype type, gone;
    int number = 0;
    MPI_Comm_create_errhandler(count_errors, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    freed = comm;
    MPI_Comm_free(&comm);
    MPI_Comm_size(freed, &number);
    EQUAL(handled, 1);
    MPI_Type_contiguous(3, MPI_INT, &type);
    gone = type;
    MPI_Type_free(&type);
    MPI_Send(&number, 1, gone, 0, 0, MPI_COMM_SELF);
    EQUAL(handled, 2);
    MPI_Errhandler_free(&handler);
}

static __attribute__((noinline)) void deeper(void)
{
    volatile char room[4096];
    room[0] = 1;
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD); /* @deeper */
    room[1] = room[0];
}

static void jumps(void)
{
    MPI_Errhandler handler;
    int number = 0;
    MPI_Comm_create_errhandler(jump_back, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (!setjmp(back))
        MPI_Send(&number, 1, MPI_INT, 99999, 0, MPI_COMM_WORLD);
    deeper();
    MPI_Errhandler_free(&handler);
}

static pthread_key_t key;

static void ends(void *value)
{
    int number;
    (void)value;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
}

static void *with_key(void *value)
{
    int number;
    pthread_setspecific(key, value);
    MPI_Comm_size(MPI_COMM_WORLD, &number); /* @with_key */
    return NULL;
}

/* Threads that call MPI when all else of them has ended. */
static void keys(void)
{
    pthread_t thread;
    pthread_key_create(&key, ends);
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, NULL, with_key, &key);
        pthread_join(thread, NULL);
    }
}

static void small_things(void)
{
    static char bytes[1024];
    MPI_Comm named;
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "solver");
    MPI_Barrier(named);
    MPI_Comm_free(&named);
    MPI_Send(bytes, 1024, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); /* @to_nobody */
    MPI_Bcast(bytes, 1024, MPI_BYTE, 0, MPI_COMM_WORLD); /* @bcast */
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_free(&info);
}

/* Rank 0 is late to the one communicator of a program with sessions. */
static void session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group own;
    MPI_Group_incl(group, 2, (int[]){rank / 2 * 2, rank / 2 * 2 + 1}, &own);
    MPI_Comm_create_from_group(own, "own", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Barrier(comm);
    if (rank == 0 || rank == 3)
        compute(200);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&own);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

/* Two sessions at once, or one beside the world model: their ranks are those of the job all the same. */
static void sessions(int in_world)
{
    MPI_Session both[2];
    MPI_Group group;
    MPI_Comm comms[2];
    MPI_Win win;
    char *base;
    int count = 2 - in_world;
    for (int i = 0; i < count; i++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &both[i]);
        MPI_Group_from_session_pset(both[i], "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, i ? "other" : "one", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[i]);
        MPI_Group_free(&group);
    }
    MPI_Comm_rank(comms[0], &rank);
    for (int i = 0; i < count; i++) {
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, comms[i], &base, &win);
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
        if (rank == 1)
            compute(100);
        MPI_Barrier(comms[i]); /* @sessions */
    }
    for (int i = 0; i < count; i++) {
        MPI_Comm_free(&comms[i]);
        MPI_Session_finalize(&both[i]);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided, number = 0;
    MPI_Comm parent;
    if (!strcmp(what, "session")) {
        session();
        return 0;
    }
    if (!strcmp(what, "sessions")) {
        sessions(0);
        return 0;
    }
    MPI_Init_thread(&argc, &argv, strcmp(what, "threads") && strcmp(what, "keys") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "messages"))
        messages();
    else if (!strcmp(what, "collectives"))
        collectives();
    else if (!strcmp(what, "windows"))
        windows();
    else if (!strcmp(what, "files"))
        files(argv[2]);
    else if (!strcmp(what, "late"))
        late();
    else if (!strcmp(what, "late_message"))
        late_message();
    else if (!strcmp(what, "threads"))
        threads();
    else if (!strcmp(what, "nested"))
        nested();
    else if (!strcmp(what, "keys"))
        keys();
    else if (!strcmp(what, "between"))
        between();
    else if (!strcmp(what, "two_messages"))
        two_messages();
    else if (!strcmp(what, "many_starts"))
        many_starts();
    else if (!strcmp(what, "errors"))
        errors();
    else if (!strcmp(what, "jumps"))
        jumps();
    else if (!strcmp(what, "small_things"))
        small_things();
    else if (!strcmp(what, "sessions_in_world"))
        sessions(1);
    else if (!strcmp(what, "all")) {
        for (int i = 0; i < 20; i++) {
            messages();
            collectives();
            windows();
            compute(5 * (1 + (rank + i) % 3));
        }
        files(argv[2]);
    } else if (!strcmp(what, "calls")) {
        double from = MPI_Wtime();
        for (int i = 0; i < 2000000; i++)
            MPI_Comm_rank(MPI_COMM_WORLD, &number);
        printf("ns a call %.2f\n", (MPI_Wtime() - from) / 2000000 * 1e9);
    } else if (!strcmp(what, "spawns")) {
        MPI_Comm_get_parent(&parent);
        if (parent == MPI_COMM_NULL)
            MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &parent, MPI_ERRCODES_IGNORE);
        MPI_Barrier(parent);
        MPI_Comm_disconnect(&parent);
    } else if (!strcmp(what, "killed") || !strcmp(what, "aborted") || !strcmp(what, "leaves")) {
        if (rank == 0)
            MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1 && !strcmp(what, "killed"))
            raise(SIGKILL);
        if (rank == 1 && !strcmp(what, "aborted"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(what, "leaves"))
            _exit(0);
        MPI_Recv(&number, 1, MPI_INT, rank ^ 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @forever */
    }
    return MPI_Finalize();
}
