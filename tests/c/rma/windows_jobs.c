// Windows over jobs that come and go: the processes of a later job get the numbers of those of an earlier one that has
// ended, and nothing of what that one has sent or was sent counts for them.
//
//   spawn   children are spawned, one group after the other
//   serve   jobs of other launchers, or processes that nobody has started, connect to a port, one after the other
//
// Each of them makes windows with those that it meets, works on them in all ways, and ends. Windows of the first job alone
// are used all the time.
//
// only: catena
// time: 60
// run: -n 2 -- spawn 5 2
// run: -n 1 -- spawn 6 1
// run: -n 1 -- serve 4 mpirun -n 1
// run: -n 2 -- serve 4 mpirun -n 2
// run: -n 2 -- serve 4 env CATENA_SINGLETON=1
// run: -n 2 --set LINK=tcp -- serve 4 mpirun -n 2 --set LINK=tcp
//
// variant: windows_jobs_hosts
// Those that come and go run on two hosts, over each network.
// only: catena
// hosts: 2
// time: 120
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts -- spawn 5 2
// run: -n 2 --host h0:1,h1:2 --launcher-agent scripts/hosts --set LINK=shm+ofi:tcp -- spawn 4 1
// run: -n 2 --host h0:1,h1:2 --launcher-agent scripts/hosts --set LINK=shm+ucx:tcp -- spawn 4 1
// run: -n 1 -- serve 4 scripts/hosts h1 mpirun -n 2
#include "../check.h"

enum { LEN = 5000 };

/* Works on a window over some processes: puts, gets, accumulates, locks and fences. */
static void work(MPI_Comm comm, int turn)
{
    int me, n, sum = 0;
    MPI_Win win;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    long *memory = calloc((long)LEN * n + 1, sizeof *memory), *mine = malloc(LEN * sizeof *mine);
    long *back = calloc(LEN, sizeof *back), one = 1, before;
    for (int i = 0; i < LEN; i++)
        mine[i] = turn * 1000000L + me * 10000L + i;
    MPI_Win_create(memory, ((long)LEN * n + 1) * sizeof(long), sizeof(long), MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    for (int to = 0; to < n; to++)
        MPI_Put(mine, LEN, MPI_LONG, to, 1 + (long)me * LEN, LEN, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int of = 0; of < n; of++)
        EQUAL(memory[1 + (long)of * LEN + LEN - 1], turn * 1000000L + of * 10000L + LEN - 1);
    for (int to = 0; to < n; to++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, to, 0, MPI_SUM, win);
        MPI_Get(back, LEN, MPI_LONG, to, 1 + (long)me * LEN, LEN, MPI_LONG, win);
        MPI_Win_unlock(to, win);
        CHECK(before >= 0 && before < n);
        EQUAL(memcmp(back, mine, LEN * sizeof *back), 0);
    }
    MPI_Barrier(comm);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    EQUAL(memory[0], n);
    MPI_Win_unlock(me, win);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(sum, n * (n - 1) / 2);
    MPI_Win_free(&win);
    free(memory);
    free(mine);
    free(back);
}

/* With the other group, as one; then the two part. */
static void work_and_part(MPI_Comm *inter, int high, int turn)
{
    MPI_Comm all;
    MPI_Intercomm_merge(*inter, high, &all);
    work(all, turn);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(inter);
}

/* Waits until a process has ended, whose child it is not. */
static void await_end(int pid)
{
    int flag;
    while (!has_ended(pid))
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void child(MPI_Comm parent, int turn)
{
    int pid = getpid();
    MPI_Gather(&pid, 1, MPI_INT, NULL, 0, MPI_INT, 0, parent);
    work_and_part(&parent, 1, turn);
}

/* A job that connects to a port. */
static void client(const char *port, int turn)
{
    MPI_Comm inter;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    work_and_part(&inter, 1, turn);
}

static void spawn(char *program, int turn, int children)
{
    char number[12], *args[] = {"child", number, NULL};
    int *pids = calloc(children, sizeof *pids);
    MPI_Comm inter;
    snprintf(number, sizeof number, "%d", turn);
    MPI_Comm_spawn(program, args, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Gather(NULL, 0, MPI_INT, pids, 1, MPI_INT, rank ? MPI_PROC_NULL : MPI_ROOT, inter);
    work_and_part(&inter, 0, turn);
    for (int i = 0; i < children && rank == 0; i++)
        await_end(pids[i]);
    free(pids);
}

/* Starts a command that connects to a port, and waits for its end. */
static void serve(char *program, int turn, int argc, char **argv)
{
    static char port[MPI_MAX_PORT_NAME];
    char command[2000] = "";
    FILE *job = NULL;
    MPI_Comm inter;
    if (rank == 0) {
        if (turn == 1)
            MPI_Open_port(MPI_INFO_NULL, port);
        int at = 0;
        for (int i = 0; i < argc; i++)
            at += snprintf(command + at, sizeof command - at, "%s ", argv[i]);
        snprintf(command + at, sizeof command - at, "%s client %d '%s'", program, turn, port);
        fflush(stdout);
        CHECK(job = popen(command, "r"));
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    work_and_part(&inter, 0, turn);
    if (rank == 0) {
        for (int c; (c = fgetc(job)) != EOF;)
            putchar(c);
        EQUAL(pclose(job), 0);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    start(&argc, &argv);
    int turns = atoi(argv[2]);
    if (!strcmp(argv[1], "child")) {
        MPI_Comm_get_parent(&parent);
        child(parent, turns);
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(argv[1], "client")) {
        client(argv[3], turns);
        MPI_Finalize();
        return 0;
    }
    for (int turn = 1; turn <= turns; turn++) {
        if (!strcmp(argv[1], "spawn"))
            spawn(argv[0], turn, atoi(argv[3]));
        else
            serve(argv[0], turn, argc - 3, argv + 3);
        MPI_Barrier(MPI_COMM_WORLD);
        work(MPI_COMM_WORLD, turn);
    }
    return finish();
}
