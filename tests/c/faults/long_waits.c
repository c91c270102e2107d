// Ranks that wait long for one that goes on are not said to hang: one that polls, or computes, beside twenty strangers that are busy, or in a job
// that is stopped for a while. LONG_WAITS is for how many seconds they do, for a longer look (60).
// only: catena
// waits: for seconds, as it is about that
// time: 30
// run: -n 2 --on-hang end -- polls; never says the job hangs|no progress; says done
// run: -n 3 --on-hang end -- computes; never says the job hangs; says done
// run: -n 3 --on-hang end -- answers; never says the job hangs; says done
// run: -n 2 --on-hang end --set HANG_AFTER=8s -- stopped; never says the job hangs|no progress; says done
#include "../check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGERS = 20 };
static pid_t strangers[STRANGERS];

static void begin_strangers(void)
{
    for (int i = 0; i < STRANGERS; i++) {
        strangers[i] = fork();
        if (strangers[i] == 0) {
            alarm(120);
            setpriority(PRIO_PROCESS, 0, 19);
            for (;;)
                ;
        }
    }
}

static void end_strangers(void)
{
    for (int i = 0; i < STRANGERS; i++) {
        kill(strangers[i], SIGKILL);
        waitpid(strangers[i], NULL, 0);
    }
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

int main(int argc, char **argv)
{
    const char *mode = argv[1], *longer = getenv("LONG_WAITS");
    double seconds = longer ? atof(longer) : 3;
    int x = 0, flag = 0, pids[8], own = getpid();
    start(&argc, &argv);
    MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    int is_stopped = !strcmp(mode, "stopped");
    if (rank == 0 && is_stopped)
        stop_for_seconds(pids, getppid());
    if (rank == 0 && !is_stopped)
        begin_strangers();
    double end = MPI_Wtime() + (is_stopped ? 9.5 : seconds);
    if (!strcmp(mode, "polls")) {
        MPI_Request request;
        MPI_Irecv(&x, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, &request);
        while (MPI_Wtime() < end)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "computes") || is_stopped) {
        if (rank == 0)
            while (MPI_Wtime() < end)
                usleep(is_stopped ? 10000 : 0);
        MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (!strcmp(mode, "answers")) {
        /* Rank 0 looks for what others ask, and they wait for its answer. */
        if (rank == 0) {
            while (MPI_Wtime() < end)
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            for (int i = 1; i < size; i++)
                MPI_Send(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0 && !is_stopped)
        end_strangers();
    if (rank == 0)
        puts("done");
    return finish();
}
