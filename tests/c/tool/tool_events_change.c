// Events while it changes who is told of them: each is told to those who were there, or counted as dropped, and after a
// registration has ended nothing is.
// only: catena
// cc: -pthread
// run: -n 1 --set LINK=shm -- replaced
// run: -n 1 --set LINK=shm -- removed
// run: -n 1 --set LINK=shm -- comm
// run: -n 1 --set LINK=shm -- another
// run: -n 1 --set LINK=shm -- under-way
// run: -n 1 --set LINK=shm -- each-other
// run: -n 1 --set LINK=shm -- crowd
#include "../check.h"
#include <pthread.h>
#include <sched.h>

enum { EVENTS = 8, ROUNDS = 500, THREADS = 2 };

/* One registration, and what came of it. */
struct watched {
    MPI_T_event_registration handle;
    int told, others, ended;
    MPI_Count dropped;
};

static struct watched first, second;
static int step; /* how far the threads are */

static void reach(int value)
{
    __atomic_store_n(&step, value, __ATOMIC_SEQ_CST);
}

static void until(int value)
{
    while (__atomic_load_n(&step, __ATOMIC_SEQ_CST) < value)
        sched_yield();
}

static int get(int *from)
{
    return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

static void count(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    struct watched *w = user;
    (void)e, (void)r, (void)safety;
    CHECK(!get(&w->ended));
    __atomic_add_fetch(&w->told, 1, __ATOMIC_SEQ_CST);
}

static void dropped(MPI_Count n, MPI_T_event_registration r, int source, MPI_T_cb_safety safety, void *user)
{
    struct watched *w = user;
    (void)r, (void)source, (void)safety;
    CHECK(!get(&w->ended));
    __atomic_add_fetch(&w->dropped, n, __ATOMIC_SEQ_CST);
}

static void ended(MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    struct watched *w = user;
    (void)r, (void)safety;
    EQUAL(__atomic_add_fetch(&w->ended, 1, __ATOMIC_SEQ_CST), 1);
}

static void end(struct watched *w)
{
    EQUAL(MPI_T_event_handle_free(w->handle, w, ended), MPI_SUCCESS);
}

static void dropped_frees(MPI_Count n, MPI_T_event_registration r, int source, MPI_T_cb_safety safety, void *user)
{
    dropped(n, r, source, safety, user);
    end(&first);
}

static void set(struct watched *w, MPI_T_event_cb_function *f)
{
    EQUAL(MPI_T_event_register_callback(w->handle, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, w, f),
          MPI_SUCCESS);
}

static void watch(struct watched *w, MPI_Comm comm, MPI_T_event_cb_function *f)
{
    int at;
    EQUAL(MPI_T_event_get_index("coll_allreduce", &at), MPI_SUCCESS);
    EQUAL(MPI_T_event_handle_alloc(at, &comm, MPI_INFO_NULL, &w->handle), MPI_SUCCESS);
    EQUAL(MPI_T_event_set_dropped_handler(w->handle, dropped), MPI_SUCCESS);
    set(w, f);
}

static void happen(MPI_Comm comm)
{
    int one = 1, sum;
    for (int i = 0; i < EVENTS; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void poll(void)
{
    int flag;
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void successor(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    (void)e, (void)r, (void)safety;
    ((struct watched *)user)->others++;
}

static void replaces(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    count(e, r, safety, user);
    set(user, successor);
    EQUAL(first.dropped, EVENTS - 1);
}

static void removes(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    count(e, r, safety, user);
    set(user, NULL);
    EQUAL(first.dropped, EVENTS - 1);
}

/* A callback puts another one, or none, in its place: the rest was for it, and it is not called any more. */
static void changed_by_itself(int is_replaced)
{
    watch(&first, MPI_COMM_SELF, is_replaced ? replaces : removes);
    happen(MPI_COMM_SELF);
    poll();
    EQUAL(first.told, 1);
    EQUAL(first.others, 0);
    happen(MPI_COMM_SELF);
    end(&first);
    EQUAL(first.told, 1);
    EQUAL(first.others, is_replaced ? EVENTS : 0);
    EQUAL(first.dropped, EVENTS - 1);
    EQUAL(first.ended, 1);
}

static void on_a_communicator_that_goes(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    watch(&first, comm, count);
    happen(comm);
    MPI_Comm_free(&comm);
    end(&first);
    EQUAL(first.told, EVENTS);
    EQUAL(first.dropped, 0);
}

static void frees_second(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    count(e, r, safety, user);
    if (first.told == 1)
        end(&second);
}

static void freed_by_another(void)
{
    watch(&first, MPI_COMM_SELF, frees_second);
    watch(&second, MPI_COMM_SELF, count);
    happen(MPI_COMM_SELF);
    poll();
    EQUAL(first.told, EVENTS);
    EQUAL(second.told, 0);
    EQUAL(second.dropped, EVENTS);
    EQUAL(second.ended, 1);
    end(&first);
    EQUAL(first.ended, 1);
}

/* Does not return before the other thread has freed it. */
static void stays(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    count(e, r, safety, user);
    reach(1);
    until(2);
    EQUAL(first.ended, 0);
    EQUAL(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

static void *free_first(void *user)
{
    (void)user;
    until(1);
    end(&first);
    reach(2);
    return NULL;
}

/* It ends when the call that is under way in another thread is over. */
static void freed_while_under_way(void)
{
    pthread_t thread;
    watch(&first, MPI_COMM_SELF, stays);
    happen(MPI_COMM_SELF);
    pthread_create(&thread, NULL, free_first, NULL);
    poll();
    pthread_join(thread, NULL);
    EQUAL(first.told, 1);
    EQUAL(first.dropped, EVENTS - 1);
    EQUAL(first.ended, 1);
}

/* The second is freed by another thread, in whose handler for dropped events the first is, where this one is in a callback of the
   first, which frees the second, too. */
static void stays_and_frees(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    count(e, r, safety, user);
    reach(1);
    until(2);
    EQUAL(first.ended, 0);
    EQUAL(second.ended, 1);
    EQUAL(MPI_T_event_handle_free(second.handle, &second, ended), MPI_T_ERR_INVALID_HANDLE);
}

static void *free_second(void *user)
{
    (void)user;
    until(1);
    end(&second);
    reach(2);
    return NULL;
}

static void free_each_other(void)
{
    pthread_t thread;
    watch(&first, MPI_COMM_SELF, stays_and_frees);
    watch(&second, MPI_COMM_SELF, count);
    EQUAL(MPI_T_event_set_dropped_handler(second.handle, dropped_frees), MPI_SUCCESS);
    happen(MPI_COMM_SELF);
    pthread_create(&thread, NULL, free_second, NULL);
    poll();
    pthread_join(thread, NULL);
    EQUAL(first.told + first.dropped, EVENTS);
    EQUAL(second.told + second.dropped, EVENTS);
    EQUAL(first.ended, 1);
}

static struct watched crowd[THREADS][ROUNDS];

static void *come_and_go(void *user)
{
    struct watched *mine = user;
    for (int i = 0; i < ROUNDS; i++) {
        watch(&mine[i], MPI_COMM_SELF, count);
        sched_yield();
        end(&mine[i]);
    }
    __atomic_add_fetch(&step, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Registrations come and go in threads while another one makes events: `count` and `dropped` see whether they have ended. */
static void crowded(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, come_and_go, crowd[i]);
    while (get(&step) < THREADS) {
        happen(MPI_COMM_SELF);
        poll();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (int j = 0; j < ROUNDS; j++)
            EQUAL(crowd[i][j].ended, 1);
    }
}

int main(int argc, char **argv)
{
    int provided;
    const char *mode = argc > 1 ? argv[1] : "";
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    if (!strcmp(mode, "replaced") || !strcmp(mode, "removed"))
        changed_by_itself(!strcmp(mode, "replaced"));
    else if (!strcmp(mode, "comm"))
        on_a_communicator_that_goes();
    else if (!strcmp(mode, "another"))
        freed_by_another();
    else if (!strcmp(mode, "under-way"))
        freed_while_under_way();
    else if (!strcmp(mode, "each-other"))
        free_each_other();
    else if (!strcmp(mode, "crowd"))
        crowded();
    else
        CHECK(!"a mode");
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    return finish();
}
