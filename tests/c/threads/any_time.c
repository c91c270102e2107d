// What any thread may call at any time (MPI-5, 11.4.1), beside a thread that has MPI to itself.
// run: -n 2
// cc: -pthread
// time: 20
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 20000 };

static void on_error(MPI_Session *session, int *code, ...)
{
    CHECK(!session && !code);
}

static void once(int me, int i)
{
    char key[32], text[32], got[32];
    int flag, keys, room = sizeof got;
    MPI_Info info, copy;
    MPI_Errhandler handler;
    snprintf(key, sizeof key, "key %d", me), snprintf(text, sizeof text, "%d of %d", i, me);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, text);
    MPI_Info_dup(info, &copy);
    MPI_Info_set(info, "other", "x");
    MPI_Info_get_string(copy, key, &room, got, &flag);
    CHECK(flag && !strcmp(got, text));
    MPI_Info_get_nkeys(copy, &keys);
    EQUAL(keys, 1);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    MPI_Info_free(&copy), MPI_Info_free(&info);
    MPI_Session_create_errhandler(on_error, &handler);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    MPI_Initialized(&flag);
    EQUAL(flag, 1);
}

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        once((int) (size_t) arg, i);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *) (size_t) i);
    for (int i = 0; i < ROUNDS / 10; i++) {
        int mine = i, theirs;
        once(THREADS, i);
        MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 0, &theirs, 1, MPI_INT, 1 - rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(theirs, i);
        MPI_Comm dup;
        MPI_Info hints;
        MPI_Info_create(&hints);
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &dup);
        MPI_Comm_free(&dup), MPI_Info_free(&hints);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return finish();
}
