// MPI_THREAD_MULTIPLE: what one thread waits for may be another thread's doing, with no message
// from outside. Each thread is woken for its own, also one that sleeps in the library.
// run: -n 1
// run: -n 2
// cc: -pthread
// time: 60
#include "../check.h"
#include <pthread.h>

enum { THREADS = 6, ROUNDS = 50, SLEEPS = 10 };

static MPI_Comm self;
static pthread_barrier_t line;

static MPI_T_pvar_session session;

/* A counter of the library that counts from now on; null if there is none of that name. */
static MPI_T_pvar_handle count(const char *name)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int at, n;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &at) == MPI_SUCCESS) {
        MPI_T_pvar_handle_alloc(session, at, NULL, &handle, &n);
        MPI_T_pvar_start(session, handle);
    }
    return handle;
}

static unsigned long long value(MPI_T_pvar_handle counter)
{
    unsigned long long n = 0;
    MPI_T_pvar_read(session, counter, &n);
    return n;
}

/* Waits for its number of each round, in another way in each. */
static void *wait_for_number(void *arg)
{
    int me = (int)(long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        int in = -1, answer = i;
        MPI_Request request;
        MPI_Status status;
        pthread_barrier_wait(&line);
        switch ((i + me) % 4) {
        case 0:
            MPI_Recv(&in, 1, MPI_INT, 0, me, self, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Probe(0, me, self, &status);
            MPI_Recv(&in, 1, MPI_INT, 0, me, self, MPI_STATUS_IGNORE);
            break;
        case 2:
            MPI_Irecv(&in, 1, MPI_INT, 0, me, self, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Ssend(&answer, 1, MPI_INT, 0, THREADS + me, self);
            MPI_Recv(&in, 1, MPI_INT, 0, me, self, MPI_STATUS_IGNORE);
        }
        EQUAL(in, 1000 * me + i);
    }
    return arg;
}

/* Gives each its number, in turning order. */
static void give_numbers(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&line);
        for (int k = 0; k < THREADS; k++) {
            int to = (5 * k + i) % THREADS, out = 1000 * to + i, in = -1;
            if ((i + to) % 4 == 3) {
                MPI_Recv(&in, 1, MPI_INT, 0, THREADS + to, self, MPI_STATUS_IGNORE);
                EQUAL(in, i);
            }
            MPI_Send(&out, 1, MPI_INT, 0, to, self);
        }
    }
}

static void *wait_long(void *arg)
{
    for (int i = 0; i < SLEEPS; i++)
        MPI_Recv(NULL, 0, MPI_INT, 0, i, self, MPI_STATUS_IGNORE);
    return arg;
}

/* A thread that sleeps is woken by what another does, not by its alarm clock. */
static void wake(void)
{
    pthread_t sleeper;
    MPI_T_pvar_handle sleeps = count("wait_sleeps"), woken = count("wait_woken");
    int known = woken != MPI_T_PVAR_HANDLE_NULL;
    pthread_create(&sleeper, NULL, wait_long, NULL);
    for (int i = 0; i < SLEEPS; i++) {
        for (unsigned long long slept = known ? value(sleeps) : 0; known && value(sleeps) == slept;)
            ;
        for (double began = now(); now() < began + 2e-4;) /* it goes to sleep again */
            ;
        MPI_Send(NULL, 0, MPI_INT, 0, i, self);
    }
    pthread_join(sleeper, NULL);
    CHECK(!known || value(woken) > 0);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void *complete(void *arg)
{
    MPI_Request *requests = arg;
    for (int i = THREADS - 1; i >= 0; i--)
        MPI_Grequest_complete(requests[i]);
    return arg;
}

static void *wait_for_request(void *arg)
{
    MPI_Wait(arg, MPI_STATUS_IGNORE);
    return arg;
}

static void generalized(void)
{
    MPI_Request requests[THREADS], copies[THREADS];
    pthread_t t[THREADS], completer;
    for (int i = 0; i < THREADS; i++) {
        MPI_Grequest_start(query, nothing, cancel, NULL, &requests[i]);
        copies[i] = requests[i];
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, wait_for_request, &requests[i]);
    pthread_create(&completer, NULL, complete, copies);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    pthread_join(completer, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_T_pvar_session_create(&session);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    pthread_barrier_init(&line, NULL, THREADS + 1);
    pthread_t t[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, wait_for_number, (void *)i);
    give_numbers();
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    generalized();
    wake();
    MPI_Comm_free(&self);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return finish();
}
