// A function of the program waits for a lock of the program's that another thread holds while it is in MPI: the
// library holds no lock meanwhile. And the datatype that an operation is given lives, though the program has freed it.
// only: catena
// run: -n 1 -- local
// run: -n 1 -- generalized
// run: -n 1 -- file
// run: -n 2 -- blocking
// run: -n 3 -- blocking
// run: --set LINK=tcp -n 3 -- blocking
// run: -n 2 -- started
// run: --set LINK=tcp -n 3 -- started
// run: --set COLL_NODE_STARTED=0 -n 3 -- started
// run: -n 2 -- types
// run: --set LINK=tcp -n 3 -- types
// run: -n 2 --check -- types; never says check:.*is gone
// cc: -pthread
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t locked, called;
static MPI_Comm other; /* for the second thread */
static int waits, calls, receives;

/* The holder of the lock goes on when the first function is there. */
static void take_the_lock(void)
{
    if (!calls++)
        sem_post(&called);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    CHECK(*type == MPI_INT);
    if (waits)
        take_the_lock();
    for (int i = 0; i < *n; i++)
        b[i] += a[i];
}

static void *holds_the_lock(void *none)
{
    void *value;
    int flag;
    pthread_mutex_lock(&lock);
    sem_post(&locked);
    if (receives)
        MPI_Recv(NULL, 0, MPI_INT, rank, 0, other, MPI_STATUS_IGNORE);
    else
        sem_wait(&called); /* the other thread is in its function */
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag);
    pthread_mutex_unlock(&lock);
    return none;
}

static void *sends(void *none)
{
    sem_wait(&called);
    MPI_Send(NULL, 0, MPI_INT, rank, 0, other);
    return none;
}

static pthread_t thread, sender;

static void begin(void)
{
    calls = 0;
    pthread_create(&thread, NULL, holds_the_lock, NULL);
    if (receives)
        pthread_create(&sender, NULL, sends, NULL);
    sem_wait(&locked);
}

/* The function may not have been called here. */
static void end(void)
{
    if (!calls)
        sem_post(&called);
    pthread_join(thread, NULL);
    if (receives)
        pthread_join(sender, NULL);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    take_the_lock();
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 0;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    take_the_lock();
    return MPI_SUCCESS;
}

static void generalized(void)
{
    MPI_Request request;
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    begin();
    MPI_Cancel(&request);
    end();
    MPI_Grequest_complete(request);
    begin();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end();
}

static int convert(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *extra)
{
    int n;
    (void)extra;
    take_the_lock();
    MPI_Type_size(type, &n);
    EQUAL(n, sizeof(int));
    memcpy(file, (char *)user + at * n, (size_t)count * n);
    return MPI_SUCCESS;
}

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *extra)
{
    int n;
    (void)extra;
    MPI_Type_size(type, &n);
    *bytes = n;
    return MPI_SUCCESS;
}

static void file(void)
{
    char path[] = "/tmp/callbacks_locks_XXXXXX";
    int fd = mkstemp(path), value = 7;
    MPI_File f;
    close(fd);
    MPI_Register_datarep("locked", MPI_CONVERSION_FN_NULL, convert, extent, NULL);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "locked", MPI_INFO_NULL);
    begin();
    MPI_File_write(f, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    end();
    begin();
    MPI_File_write_all(f, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    end();
    MPI_File_close(&f);
}

static void expect(const int *out, int n, int ranks)
{
    for (int i = 0; i < n; i++)
        EQUAL(out[i], ranks * (ranks - 1) / 2 + ranks * i);
}

enum { MOST = 50000 };

/* The second thread holds the lock while it waits for a message, which comes when the first one is in the function. */
static void blocking(MPI_Op op, MPI_Comm comm)
{
    static int in[MOST], out[MOST];
    receives = 1;
    for (int i = 0; i < MOST; i++)
        in[i] = rank + i;
    for (int n = 1; n <= MOST; n += MOST - 1) {
        begin();
        MPI_Allreduce(in, out, n, MPI_INT, op, comm);
        expect(out, n, size);
        end();
        begin();
        MPI_Scan(in, out, n, MPI_INT, op, comm);
        expect(out, n, rank + 1);
        end();
        begin();
        MPI_Reduce(in, out, n, MPI_INT, op, 0, comm);
        if (rank == 0)
            expect(out, n, size);
        end();
    }
}

static void started(MPI_Op op, MPI_Comm comm)
{
    static int in[MOST], out[MOST];
    MPI_Request requests[2];
    for (int i = 0; i < MOST; i++)
        in[i] = rank + i;
    for (int n = 1; n <= MOST; n += MOST - 1) {
        begin();
        MPI_Iallreduce(in, out, n, MPI_INT, op, comm, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        expect(out, n, size);
        end();
        MPI_Allreduce_init(in, out, n, MPI_INT, op, comm, MPI_INFO_NULL, &requests[0]);
        begin();
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        expect(out, n, size);
        end();
        MPI_Request_free(&requests[0]);
    }
}

static void local(MPI_Op op)
{
    int a = 3, b = 4;
    begin();
    MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
    EQUAL(b, 7);
    end();
}

enum { PAIR = 2, NAMED = 3 };
static int keyval;

/* Pairs with a gap: the type has a name, an attribute and contents, and its handle is that of the program. */
static MPI_Datatype expected;

static void pairs(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int *a = in, *b = inout, length, ints, addresses, types, combiner, flag, bytes;
    char name[MPI_MAX_OBJECT_NAME];
    void *value;
    MPI_Aint lb, extent;
    CHECK(*type == expected);
    MPI_Type_get_name(*type, name, &length);
    CHECK(!strcmp(name, "a pair"));
    MPI_Type_size(*type, &bytes);
    EQUAL(bytes, PAIR * sizeof(int));
    MPI_Type_get_extent(*type, &lb, &extent);
    EQUAL(extent, 3 * sizeof(int));
    MPI_Type_get_envelope(*type, &ints, &addresses, &types, &combiner);
    EQUAL(combiner, MPI_COMBINER_RESIZED);
    MPI_Type_get_attr(*type, keyval, &value, &flag);
    if (flag)
        CHECK(value == &keyval);
    EQUAL(MPI_Type_fromint(MPI_Type_toint(*type)), *type);
    calls++;
    for (int i = 0; i < *n; i++, a += 3, b += 3)
        b[0] += a[0], b[1] = a[1] > b[1] ? a[1] : b[1];
}

static MPI_Datatype pair(void)
{
    MPI_Datatype two, type;
    MPI_Type_contiguous(PAIR, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 3 * sizeof(int), &type);
    MPI_Type_free(&two);
    MPI_Type_commit(&type);
    MPI_Type_set_name(type, "a pair");
    MPI_Type_set_attr(type, keyval, &keyval);
    return expected = type;
}

static void types(MPI_Comm comm)
{
    static int in[3 * NAMED], out[3 * NAMED];
    MPI_Op op;
    MPI_Op_create(pairs, 1, &op);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
    for (int i = 0; i < NAMED; i++)
        in[3 * i] = rank + i, in[3 * i + 1] = rank;
    for (int form = 0; form < 4; form++) {
        MPI_Request request;
        MPI_Datatype type = pair(), more[8];
        calls = 0;
        memset(out, 0, sizeof out);
        if (form == 0)
            MPI_Iallreduce(in, out, NAMED, type, op, comm, &request);
        else if (form == 1)
            MPI_Iscan(in, out, NAMED, type, op, comm, &request);
        else if (form == 2)
            MPI_Allreduce_init(in, out, NAMED, type, op, comm, MPI_INFO_NULL, &request);
        else
            MPI_Ireduce_scatter(in, out, (int[]){ NAMED, 0, 0 }, type, op, comm, &request);
        MPI_Type_free(&type);
        CHECK(type == MPI_DATATYPE_NULL);
        for (int i = 0; i < 8; i++) /* none of them gets the handle */
            MPI_Type_contiguous(5 + i, MPI_CHAR, &more[i]);
        for (int times = 0; times < (form == 2 ? 3 : 1); times++) {
            if (form == 2)
                MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        int ranks = form == 1 ? rank + 1 : size;
        for (int i = 0; i < NAMED && (form < 3 || rank == 0); i++) {
            EQUAL(out[3 * i], ranks * (ranks - 1) / 2 + ranks * i);
            EQUAL(out[3 * i + 1], ranks - 1);
            EQUAL(out[3 * i + 2], 0);
        }
        if (form == 2)
            MPI_Request_free(&request);
        for (int i = 0; i < 8; i++)
            MPI_Type_free(&more[i]);
    }
    MPI_Op_free(&op);
    MPI_Type_free_keyval(&keyval);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sem_init(&locked, 0, 0);
    sem_init(&called, 0, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Op_create(sum, 1, &op);
    waits = strcmp(argv[1], "types") != 0;
    if (!strcmp(argv[1], "local"))
        local(op);
    else if (!strcmp(argv[1], "generalized"))
        generalized();
    else if (!strcmp(argv[1], "file"))
        file();
    else if (!strcmp(argv[1], "blocking"))
        blocking(op, comm);
    else if (!strcmp(argv[1], "started"))
        started(op, comm);
    else if (!strcmp(argv[1], "types"))
        types(comm);
    else
        CHECK(!"a mode");
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&other);
    return finish();
}
