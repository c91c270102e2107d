// Threads that each have sessions of their own, with communicators of all processes; a thread that
// cannot have one because another runs MPI alone.
// run: -n 1
// run: -n 3
// run: -n 1 -- alone
// cc: -pthread
// time: 30
// only: catena
#include "../check.h"
#include <pthread.h>

enum { THREADS = 5, ROUNDS = 20 };

static void *work(void *arg)
{
    int me = (int) (size_t) arg;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Info info;
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        char tag[32];
        snprintf(tag, sizeof tag, "thread %d", me);
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
        MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Info_free(&info);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        int word = 100 * me + round, high, n, r, next, last, got;
        MPI_Allreduce(&word, &high, 1, MPI_INT, MPI_MAX, comm);
        EQUAL(high, word);
        MPI_Comm_rank(comm, &r), MPI_Comm_size(comm, &n);
        next = (r + 1) % n, last = (r + n - 1) % n;
        MPI_Sendrecv(&word, 1, MPI_INT, next, me, &got, 1, MPI_INT, last, me, comm,
                     MPI_STATUS_IGNORE);
        EQUAL(got, word);
        MPI_Group_free(&group);
        /* Some leave the communicator to the session. */
        if (round % 2)
            MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    return NULL;
}

static void *refused(void *arg)
{
    MPI_Session session;
    int rc = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    EQUAL(class_of(rc), MPI_ERR_OTHER);
    MPI_Error_string(rc, text, &length);
    CHECK(strstr(text, "MPI_THREAD_MULTIPLE") && strstr(text, "thread_level"));
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    if (argc > 1) {
        int level;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
        pthread_create(&thread[0], NULL, refused, NULL);
        pthread_join(thread[0], NULL);
        /* The thread that it belongs to can change that. */
        MPI_Info info;
        MPI_Session session;
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
        MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Info_free(&info);
        pthread_create(&thread[0], NULL, work, NULL);
        pthread_join(thread[0], NULL);
        MPI_Session_finalize(&session);
        return finish();
    }
    /* The first of all comes while the others do. */
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, work, (void *) (size_t) i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
    }
    return 0;
}
