// What any thread may call at any time (MPI-5, 11.4.1), beside a thread that has MPI to itself, and beside one of the
// library that carries its messages on.
// run: -n 2
// run: -n 2 --set LINK=tcp --set PROGRESS=thread
// run: -n 2 --set PROGRESS=thread
// cc: -pthread
// time: 40
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 20000, LONG = 1 << 16 };

static pthread_t first;
static MPI_Session session;

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
    MPI_Is_thread_main(&flag);
    EQUAL(flag, pthread_equal(pthread_self(), first));
    MPI_Query_thread(&flag);
    EQUAL(flag, MPI_THREAD_FUNNELED);
    CHECK(!MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
    if (i % 100 == 0) {
        MPI_Get_hw_resource_info(&info);
        MPI_Info_free(&info);
    }
}

/* Messages and a collective that the thread of the library has a part in. */
static void exchange(int *out, int *in, int round)
{
    MPI_Request all[3];
    int done = 0, one = 1, sum;
    for (int i = 0; i < LONG; i++)
        out[i] = round + i, in[i] = -1;
    MPI_Irecv(in, LONG, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &all[0]);
    MPI_Isend(out, LONG, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &all[1]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &all[2]);
    for (int i = 0; i < 20 && !done; i++)
        MPI_Testall(3, all, &done, MPI_STATUSES_IGNORE);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    EQUAL(sum, 2);
    for (int i = 0; i < LONG; i++)
        EQUAL(in[i], round + i);
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
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    first = pthread_self();
    int *out = malloc(LONG * sizeof *out), *in = malloc(LONG * sizeof *in);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *) (size_t) i);
    for (int i = 0; i < ROUNDS / 10; i++) {
        int mine = i, theirs;
        once(THREADS, i);
        MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 0, &theirs, 1, MPI_INT, 1 - rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(theirs, i);
        exchange(out, in, i);
        MPI_Comm dup;
        MPI_Info hints;
        MPI_Info_create(&hints);
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &dup);
        MPI_Comm_free(&dup), MPI_Info_free(&hints);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_Session_finalize(&session);
    free(out), free(in);
    return finish();
}
