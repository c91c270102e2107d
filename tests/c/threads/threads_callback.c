// A copy callback and a delete callback wait for a lock of the program's, whose holder calls MPI meanwhile: neither waits for ever.
//
// only: catena
// run: -n 1
// cc: -pthread
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t locked, called;
static int copied, deleted;

static void waits(int *counter)
{
    sem_post(&called);
    pthread_mutex_lock(&lock);
    ++*counter;
    pthread_mutex_unlock(&lock);
}

static int on_copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)state, (void)in, (void)out;
    waits(&copied);
    *flag = 0;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval, (void)value, (void)state;
    waits(&deleted);
    return MPI_SUCCESS;
}

static void *holds_the_lock(void *none)
{
    void *value;
    int flag;
    pthread_mutex_lock(&lock);
    sem_post(&locked);
    sem_wait(&called); /* the other thread is in its callback */
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag);
    pthread_mutex_unlock(&lock);
    return none;
}

int main(int argc, char **argv)
{
    int provided, keyval;
    MPI_Comm comm, copy;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    sem_init(&locked, 0, 0);
    sem_init(&called, 0, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(on_copy, on_delete, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &keyval);
    pthread_create(&thread, NULL, holds_the_lock, NULL);
    sem_wait(&locked);
    EQUAL(MPI_Comm_dup(comm, &copy), MPI_SUCCESS);
    EQUAL(copied, 1);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, holds_the_lock, NULL);
    sem_wait(&locked);
    EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
    EQUAL(deleted, 1);
    pthread_join(thread, NULL);
    MPI_Comm_free(&copy);
    MPI_Comm_free_keyval(&keyval);
    MPI_Finalize();
    return 0;
}
