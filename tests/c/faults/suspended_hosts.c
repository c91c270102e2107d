// A whole job of two hosts that is stopped and goes on, for longer than a host may be silent: that silence was its own. The
// job is stopped for a time by the clock, as that is what it is about.
// only: catena
// hosts: 2
// time: 60
// run: -n 4 --host h0:2,h1:2 --launcher-agent scripts/hosts --set HOST_TIMEOUT=1s --set TCP_TIMEOUT=1s --set LINK=tcp
#include "../check.h"
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 256 };

/* Adds the descendants of a process but one, which stays, to `found`. */
static int descendants(pid_t of, pid_t but, pid_t *found, int n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)of);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char children[512];
        snprintf(children, sizeof children, "%s/%s/children", path, task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(children, "r");
        for (int child; file && fscanf(file, "%d", &child) == 1;) {
            if (child == but || n == MOST)
                continue;
            found[n++] = child;
            n = descendants(child, but, found, n);
        }
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return n;
}

/* Stops everything below a launcher, and the launcher, for longer than the limit. */
static void suspend(pid_t launcher)
{
    pid_t all[MOST + 1];
    int n = descendants(launcher, getpid(), all, 0);
    all[n++] = launcher;
    /* mpirun, its watchdog, the agent, the daemon and its own, and the ranks. */
    CHECK(n >= 8);
    for (int i = n - 1; i >= 0; i--)
        kill(all[i], SIGSTOP);
    for (double begin = MPI_Wtime(); MPI_Wtime() - begin < 2;)
        usleep(10000);
    for (int i = 0; i < n; i++)
        kill(all[i], SIGCONT);
}

static void exchange(int rounds)
{
    static char out[100000], in[100000];
    for (int i = 0; i < rounds; i++) {
        long one = 1, sum;
        MPI_Sendrecv(out, i % 2 ? 8 : sizeof out, MPI_CHAR, (rank + 1) % size, 0, in, sizeof in, MPI_CHAR,
            (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        EQUAL(sum, size);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    exchange(10);
    pid_t launcher = getppid(), child = 0;
    if (rank == 0 && !(child = fork())) {
        suspend(launcher);
        _exit(0);
    }
    /* The others exchange until it is over, wherever they are stopped. */
    for (int go = 1; go;) {
        exchange(5);
        if (rank == 0)
            go = waitpid(child, NULL, WNOHANG) == 0;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    /* Whoever has lost somebody meanwhile says so soon. */
    for (double begin = MPI_Wtime(), now = begin; now - begin < 1.5;) {
        exchange(5);
        now = MPI_Wtime();
        MPI_Bcast(&now, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    return finish();
}
