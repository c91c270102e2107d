// Ranks that wait long for one that goes on are not said to hang: one that polls, or computes, beside twenty strangers that are busy, or in a job
// that is stopped for a while; whatever they wait in. LONG_WAITS is for how many seconds they do, for a longer look (60).
// only: catena
// waits: for seconds, as it is about that
// time: 30
// run: -n 2 --on-hang end -- polls; never says the job hangs|no progress; says done
// run: -n 3 --on-hang end -- computes; never says the job hangs; says done
// run: -n 3 --on-hang end -- answers; never says the job hangs; says done
// run: -n 2 --on-hang end -- generalized; never says the job hangs; says done
// run: -n 3 --on-hang end -- lock; never says the job hangs; says done
// run: -n 3 --on-hang end --set LINK=tcp -- lock; never says the job hangs; says done
// run: -n 3 --on-hang end -- epoch; never says the job hangs; says done
// run: -n 3 --on-hang end -- fence; never says the job hangs; says done
// run: -n 3 --on-hang end -- started; never says the job hangs; says done
// run: -n 3 --on-hang end -- neighbors; never says the job hangs; says done
// run: -n 3 --on-hang end -- file; never says the job hangs; says done
// run: -n 2 --on-hang end -- parts; never says the job hangs; says done
// run: -n 3 --on-hang end -- chain; never says the job hangs; says done
// run: -n 3 --on-hang end -- thread; never says the job hangs; says done
// run: -n 1 --on-hang end -- spawned; never says the job hangs; says done
// run: -n 2 --on-hang end --set HANG_AFTER=8s -- stopped; never says the job hangs|no progress; says done
#include "../check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGERS = 20 };
static double end;
static int x;
static const char *program;
static pid_t strangers[STRANGERS];

static void begin_strangers(void)
{
    for (int i = 0; i < STRANGERS; i++) {
        strangers[i] = fork();
        if (strangers[i] == 0) {
            alarm(180);
            setpriority(PRIO_PROCESS, 0, 19);
            for (;;)
                ;
        }
    }
}

static void end_strangers(void)
{
    for (int i = 0; i < STRANGERS; i++)
        kill(strangers[i], SIGKILL);
    for (int i = 0; i < STRANGERS; i++)
        waitpid(strangers[i], NULL, 0);
}

/* Stops all processes of the job for longer than a rank is away that only has no turn. */
static void stop_for_seconds(const int *pids, int launcher)
{
    if (fork() != 0)
        return;
    sleep(2);
    kill(launcher, SIGSTOP);
    for (int i = 0; i < size; i++)
        kill(pids[i], SIGSTOP);
    sleep(6);
    kill(launcher, SIGCONT);
    for (int i = 0; i < size; i++)
        kill(pids[i], SIGCONT);
    _exit(0);
}

static void compute(void)
{
    while (MPI_Wtime() < end)
        ;
}

static void polls(void)
{
    int flag;
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, &request);
    while (MPI_Wtime() < end)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void computes(void)
{
    if (rank == 0)
        compute();
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void stopped(void)
{
    if (rank == 0)
        while (MPI_Wtime() < end)
            usleep(10000);
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* Rank 0 looks for what others ask, and they wait for its answer. */
static void answers(void)
{
    int flag;
    if (rank == 0) {
        while (MPI_Wtime() < end)
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        for (int i = 1; i < size; i++)
            MPI_Send(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void *complete_later(void *request)
{
    compute();
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

/* A thread of rank 0 does what its request stands for, and the others wait for that rank. */
static void generalized(void)
{
    MPI_Request request, given;
    pthread_t thread;
    if (rank == 0) {
        MPI_Grequest_start(query, release, cancel, NULL, &request);
        given = request;
        pthread_create(&thread, NULL, complete_later, &given);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *send_later(void *unused)
{
    (void)unused;
    compute();
    for (int i = 0; i < size; i++)
        MPI_Send(&x, 1, MPI_INT, i, 5, MPI_COMM_WORLD);
    return NULL;
}

/* A thread of rank 0 computes what all wait for, that rank, too. */
static void thread(void)
{
    pthread_t sender;
    if (rank == 0)
        pthread_create(&sender, NULL, send_later, NULL);
    MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        pthread_join(sender, NULL);
}

static void lock(void)
{
    MPI_Win win;
    void *base;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    /* The others come when it has the lock. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        compute();
    else
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Win_unlock(1, win);
    MPI_Win_free(&win);
}

static void epoch(void)
{
    MPI_Win win;
    MPI_Group all, peers;
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (rank == 0) {
        MPI_Group_excl(all, 1, (int[]){0}, &peers);
        MPI_Win_start(peers, 0, win);
        compute();
        MPI_Win_complete(win);
    } else {
        MPI_Group_incl(all, 1, (int[]){0}, &peers);
        MPI_Win_post(peers, 0, win);
        MPI_Win_wait(win);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&peers);
    MPI_Group_free(&all);
}

static void fence(void)
{
    MPI_Win win;
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        compute();
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Rank 0 looks now and then for the barrier that it has entered at last. */
static void started(void)
{
    int flag = 0;
    MPI_Request request;
    if (rank == 0)
        compute();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank == 0)
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void neighbors(void)
{
    MPI_Comm ring;
    int got[2];
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
    if (rank == 0)
        compute();
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

static void file(void)
{
    char name[64] = "";
    MPI_File file;
    if (rank == 0)
        snprintf(name, sizeof name, "/tmp/catena-long-waits-%d", getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    if (rank == 0)
        compute();
    MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* The last part takes long. */
static void parts(void)
{
    MPI_Request request;
    int values[2] = {0};
    if (rank == 0)
        MPI_Psend_init(values, 2, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(values, 2, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 0) {
        MPI_Pready(0, request);
        compute();
        MPI_Pready(1, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* Each waits for the one before it, and the first one computes. */
static void chain(void)
{
    if (rank == 0)
        compute();
    else
        MPI_Recv(&x, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank + 1 < size)
        MPI_Ssend(&x, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

/* The one that is spawned computes, and the one that has spawned it waits for it. */
static void spawned(void)
{
    MPI_Comm parent, child;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        compute();
        MPI_Send(&x, 1, MPI_INT, 0, 0, parent);
        MPI_Comm_disconnect(&parent);
        return;
    }
    MPI_Comm_spawn(program, (char *[]){"spawned", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
    MPI_Recv(&x, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&child);
}

static const struct {
    const char *name;
    void (*wait)(void);
    /* Whether there are threads that call MPI. */
    int is_threaded;
} modes[] = {
    {"polls", polls, 0}, {"computes", computes, 0}, {"answers", answers, 0}, {"stopped", stopped, 0},
    {"generalized", generalized, 1}, {"thread", thread, 1}, {"lock", lock, 0}, {"epoch", epoch, 0}, {"fence", fence, 0},
    {"started", started, 0}, {"neighbors", neighbors, 0}, {"file", file, 0}, {"parts", parts, 0}, {"chain", chain, 0},
    {"spawned", spawned, 0},
};

int main(int argc, char **argv)
{
    const char *longer = getenv("LONG_WAITS");
    double seconds = longer ? atof(longer) : 3;
    int mode = 0, pids[8], own = getpid();
    while (strcmp(modes[mode].name, argv[1]))
        mode++;
    program = argv[0];
    int level;
    MPI_Init_thread(&argc, &argv, modes[mode].is_threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    int is_stopped = modes[mode].wait == stopped;
    if (rank == 0 && is_stopped)
        stop_for_seconds(pids, getppid());
    if (rank == 0 && !is_stopped)
        begin_strangers();
    end = MPI_Wtime() + (is_stopped ? 9.5 : seconds);
    modes[mode].wait();
    if (rank == 0 && !is_stopped)
        end_strangers();
    if (rank == 0)
        puts("done");
    return finish();
}
