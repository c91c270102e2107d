// `mpirun --trace` writes each call. What is in the file, scripts/testing/test-trace looks at.
// cc: -g -O1 -pthread
// only: catena
// run: -n 2 --trace /nowhere/to -- orders ; exit 2 ; says '--trace /nowhere/to: it cannot be written \(.*\); make the folder, or name another one, so nothing was started' ; never says rank
// run: -n 2 --trace /dev/full -- orders ; exit 2 ; says '--trace /dev/full: it cannot be written \(.*\), so nothing was started; name a file'
// run: -n 2 --trace /dev/null -- orders ; says mpirun: the trace is in /dev/null: \d+ calls
// run: -n 2 --trace /dev/null --check -- orders ; exit 2 ; says --trace and --check cannot be had at once
// run: -n 2 --trace /dev/null --profile -- orders ; says mpirun: profile: .* is spent in MPI ; says the trace is in /dev/null
// run: -trace -n 2 -- orders ; exit 2 ; says name the file for the trace
// run: -n 1 --trace /dev/null -- outruns ; says mpirun: \d+ calls are missing in it, as they came faster than they could be written
#include "../check.h"
#include <pthread.h>
#include <signal.h>

enum { MESSAGES = 60 };

/* Rank 0 sends messages of 1, 2, 3, ... bytes, which rank 1 receives in all ways: bytes tell which is which. */
static void orders(void)
{
    static char buffer[8 * MESSAGES];
    if (rank > 1)
        return;
    if (rank == 0) {
        for (int i = 0; i < MESSAGES; i++)
            if (i % 2)
                MPI_Send(buffer, i + 1, MPI_BYTE, 1, i % 3 ? 5 : 6, MPI_COMM_WORLD);
            else {
                MPI_Request request;
                MPI_Isend(buffer, i + 1, MPI_BYTE, 1, i % 3 ? 5 : 6, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
        return;
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request request = MPI_REQUEST_NULL, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Message message;
        int flag = 0, index, tag = i % 3 ? 5 : 6;
        char *to = buffer + i;
        switch (i % 10) {
        case 0:
            MPI_Recv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Recv(to, MESSAGES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case 2:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 3:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &two[1]);
            MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
            break;
        case 4:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
            while (!flag)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            break;
        case 5:
            MPI_Mprobe(0, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(to, MESSAGES, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            break;
        case 6:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &two[1]);
            MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
            CHECK(index == 1);
            break;
        case 7:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &two[1]);
            MPI_Waitsome(2, two, &flag, &index, MPI_STATUSES_IGNORE);
            CHECK(flag == 1 && index == 1);
            break;
        case 8:
            MPI_Irecv(to, MESSAGES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &two[0]);
            while (!flag)
                MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
            break;
        default:
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
            MPI_Imrecv(to, MESSAGES, MPI_BYTE, &message, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

/* A ring of MPI_Sendrecv, and messages to this rank itself. */
static void ring(int count)
{
    char out[64] = {0}, in[64];
    for (int i = 0; i < count; i++) {
        MPI_Sendrecv(out, rank + 1, MPI_BYTE, (rank + 1) % size, 3, in, 64, MPI_BYTE, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, 33, MPI_BYTE, rank, 4, in, 64, MPI_BYTE, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Calls while nobody takes what is written. */
static void outruns(void)
{
    kill(getppid(), SIGSTOP);
    for (int i = 0; i < 200000; i++)
        MPI_Barrier(MPI_COMM_SELF);
    kill(getppid(), SIGCONT);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A stencil over a strip of a grid, and the rows at its edges for the neighbours: time of a step, the mean and the median. */
static void halo(void)
{
    enum { WIDE = 1024, HIGH = 256, STEPS = 1000 };
    static double grid[2][HIGH + 2][WIDE], times[STEPS];
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double from = 0, last = 0;
    for (int i = 0; i < STEPS + 100; i++) {
        double(*now)[WIDE] = grid[i % 2], (*next)[WIDE] = grid[1 - i % 2];
        MPI_Request requests[4];
        if (i == 100) {
            MPI_Barrier(MPI_COMM_WORLD);
            from = last = MPI_Wtime();
        }
        MPI_Irecv(now[0], WIDE, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(now[HIGH + 1], WIDE, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(now[1], WIDE, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(now[HIGH], WIDE, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int y = 1; y <= HIGH; y++)
            for (int x = 1; x < WIDE - 1; x++)
                next[y][x] = 0.25 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
        if (i >= 100) {
            double end = MPI_Wtime();
            times[i - 100] = end - last;
            last = end;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    from = (last - from) / STEPS;
    qsort(times, STEPS, sizeof times[0], compare);
    if (rank == 0)
        printf("us a step %.3f median %.3f\n", from * 1e6, times[STEPS / 2] * 1e6);
}

/* Calls of MPI_Test that see nothing: time of one, the median of several rows. The other rank sleeps. */
static void polling(void)
{
    enum { ROWS = 200, CALLS = 5000 };
    static double times[ROWS];
    MPI_Request request;
    int flag, token = 0;
    if (rank > 1)
        return;
    if (rank == 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    for (int row = 0; row < ROWS; row++) {
        double from = MPI_Wtime();
        for (int i = 0; i < CALLS; i++)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        times[row] = (MPI_Wtime() - from) / CALLS;
    }
    MPI_Send(&token, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    qsort(times, ROWS, sizeof times[0], compare);
    printf("ns a poll %.1f\n", times[ROWS / 2] * 1e9);
}

static char bytes[9999];

static void send(int count, MPI_Comm comm)
{
    MPI_Send(bytes, count, MPI_BYTE, 1, 5, comm);
}

static void receive(int source, MPI_Comm comm)
{
    MPI_Recv(bytes, sizeof bytes, MPI_BYTE, source, 5, comm, MPI_STATUS_IGNORE);
}

/* Messages of 1 to 10 bytes. */
static void ten(void)
{
    for (int i = 1; i <= 10; i++)
        if (rank == 0)
            send(i, MPI_COMM_WORLD);
        else
            receive(0, MPI_COMM_WORLD);
}

static int removed(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    send(999, MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

static void *waits(void *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return NULL;
}

enum { OWN = 4 };
static MPI_Comm owns[OWN];
static int turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

/* A thread with a communicator of its own; on rank 1 they come in the other order. */
static void *on_own(void *number)
{
    int own = (int)(long)number, mine = rank == 0 ? own : OWN - 1 - own;
    pthread_mutex_lock(&mutex);
    while (turn != mine)
        pthread_cond_wait(&turned, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 1; i <= 10; i++)
        if (rank == 0)
            send(1000 * (own + 1) + i, owns[own]);
        else
            receive(0, owns[own]);
    pthread_mutex_lock(&mutex);
    turn++;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Messages whose numbers are hard to know: bytes tell which is which. */
static void counts(const char *what)
{
    MPI_Request requests[2];
    MPI_Comm comms[2];
    if (!strcmp(what, "fails")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (rank == 0)
            send(500, MPI_COMM_WORLD);
        else
            CHECK(MPI_Recv(bytes, 100, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        ten();
    } else if (!strcmp(what, "mixed")) {
        for (int i = 0; i < 10; i++)
            if (rank == 0) {
                send(2 * i + 1, MPI_COMM_WORLD);
                send(2 * i + 2, MPI_COMM_WORLD);
            } else {
                MPI_Irecv(bytes, 99, MPI_BYTE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
                MPI_Irecv(bytes + 99, 99, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[1]);
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
                MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            }
    } else if (!strcmp(what, "later")) {
        MPI_Comm_idup(MPI_COMM_WORLD, &comms[0], &requests[0]);
        MPI_Comm_idup(MPI_COMM_WORLD, &comms[1], &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2; i++)
            if (rank == 0)
                send(i + 1, comms[i]);
            else
                receive(0, comms[1 - i]);
        MPI_Comm_free(&comms[0]);
        MPI_Comm_free(&comms[1]);
    } else if (!strcmp(what, "parts")) {
        if (rank == 0) {
            MPI_Psend_init(bytes, 1, 11, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
            MPI_Start(&requests[0]);
            MPI_Pready(0, requests[0]);
            send(22, MPI_COMM_WORLD);
        } else {
            MPI_Precv_init(bytes, 1, 11, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
            receive(0, MPI_COMM_WORLD);
            MPI_Start(&requests[0]);
        }
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[0]);
    } else if (!strcmp(what, "handed")) {
        for (int i = 1; i <= 10; i++)
            if (rank == 0)
                send(i, MPI_COMM_WORLD);
            else {
                pthread_t thread;
                MPI_Irecv(bytes, 99, MPI_BYTE, i < 6 ? MPI_ANY_SOURCE : 0, 5, MPI_COMM_WORLD, &requests[0]);
                if (i == 3 || i == 8) {
                    pthread_create(&thread, NULL, waits, &requests[0]);
                    pthread_join(thread, NULL);
                } else
                    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            }
    } else if (!strcmp(what, "own")) {
        pthread_t threads[OWN];
        for (int i = 0; i < OWN; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &owns[i]);
        for (long i = 0; i < OWN; i++)
            pthread_create(&threads[i], NULL, on_own, (void *)i);
        for (int i = 0; i < OWN; i++)
            pthread_join(threads[i], NULL);
    } else if (!strcmp(what, "within")) {
        if (rank == 0) {
            int key;
            MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, removed, &key, NULL);
            MPI_Comm_set_attr(MPI_COMM_SELF, key, bytes);
            MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        } else
            receive(0, MPI_COMM_WORLD);
        ten();
    } else if (!strcmp(what, "polls")) {
        long polls = 0;
        int flag = 0;
        if (rank == 1) {
            MPI_Irecv(bytes, 10, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[0]);
            for (; !flag; polls++) {
                MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
                if (polls == 500000)
                    MPI_Send(bytes, 1, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
            }
            printf("polls %ld\n", polls - 1);
        } else {
            MPI_Recv(bytes, 1, MPI_BYTE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            send(10, MPI_COMM_WORLD);
        }
    } else if (!strcmp(what, "refused")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        CHECK(MPI_Waitall(2000000000, NULL, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "orders"))
        orders();
    else if (!strcmp(what, "polling"))
        polling();
    else if (!strcmp(what, "ring"))
        ring(argc > 2 ? atoi(argv[2]) : 20);
    else if (!strcmp(what, "outruns"))
        outruns();
    else if (!strcmp(what, "halo"))
        halo();
    else
        counts(what);
    return MPI_Finalize();
}
