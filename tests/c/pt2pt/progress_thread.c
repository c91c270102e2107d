// The thread that carries messages on while the program computes: it runs where its rank is bound, takes no signal of
// the program's but those of faults, of which the program's handler is called in it, and ends with the program. Where
// the system has no thread left, everything waits for the program's calls.
// only: catena
// cc: -rdynamic -pthread
// run: -n 2 --set PROGRESS=thread
// run: -n 2 --set PROGRESS=thread --bind-to core --oversubscribe
// run: -n 2 --set PROGRESS=thread --set LINK=tcp
// run: -n 2 --set PROGRESS=thread -- fault
// run: -n 2 --set PROGRESS=thread -- freed
// run: -n 2 --set PROGRESS=thread --set LINK=tcp -- freed
// run: -n 2 --set PROGRESS=thread -- abort; exit 7
// run: -n 2 --set PROGRESS=thread --set LINK=tcp -- abort; exit 7
// run: -n 2 --set PROGRESS=thread -- refused
// run: -n 2 --set PROGRESS=thread --set LINK=tcp -- refused
#define _GNU_SOURCE
#include "../check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define LENGTH (1 << 22)

static int refuses, has_refused;

/* The library's, too: the program comes first. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    if (refuses) {
        has_refused = 1;
        return EAGAIN;
    }
    return next(thread, attr, start, arg);
}

/* The first line of a file of /proc that begins with `key`, behind that. */
static void line(const char *path, const char *key, char *to, size_t room)
{
    char text[256];
    FILE *file = fopen(path, "r");
    *to = 0;
    while (file && fgets(text, sizeof text, file))
        if (!strncmp(text, key, strlen(key))) {
            snprintf(to, room, "%s", text + strlen(key));
            break;
        }
    if (file)
        fclose(file);
}

/* The number of the thread; 0 if there is none. */
static int beside(void)
{
    DIR *all = opendir("/proc/self/task");
    struct dirent *one;
    int found = 0;
    while ((one = readdir(all))) {
        char path[300], name[64];
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", one->d_name);
        line(path, "catena-beside", name, sizeof name);
        if (*name)
            found = atoi(one->d_name);
    }
    closedir(all);
    return found;
}

static void exchange(char *out, char *in, MPI_Request both[2])
{
    MPI_Irecv(in, LENGTH, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, LENGTH, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &both[1]);
}

static long page;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    mprotect((void *)((size_t)info->si_addr & -page), page, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *what = argc > 1 ? argv[1] : "";
    page = sysconf(_SC_PAGESIZE);
    refuses = !strcmp(what, "refused");
    char *out = malloc(LENGTH);
    volatile char *in = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(out, 5, LENGTH);
    MPI_Request both[2];

    if (!strcmp(what, "fault")) {
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
        sigaction(SIGSEGV, &action, NULL);
        mprotect((char *)in, LENGTH, PROT_READ);
        exchange(out, (char *)in, both);
        while (in[0] != 5 || in[LENGTH - 1] != 5)
            sched_yield();
    } else {
        exchange(out, (char *)in, both);
    }

    if (!strcmp(what, "abort")) {
        /* One rank waits, and the thread of the other may be at work. */
        if (rank == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        for (;;)
            sched_yield();
    }
    if (!strcmp(what, "freed")) {
        MPI_Request_free(&both[1]);
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        MPI_Finalize();
        for (int i = 0; i < LENGTH; i++)
            CHECK(in[i] == 5);
        return 0;
    }
    if (refuses) {
        CHECK(has_refused && !beside());
    } else {
        int thread;
        while (!(thread = beside()))
            sched_yield(); /* it names itself */
        cpu_set_t mine, its;
        CHECK(!sched_getaffinity(getpid(), sizeof mine, &mine) && !sched_getaffinity(thread, sizeof its, &its));
        CHECK(CPU_EQUAL(&mine, &its));
        char path[64], blocked[64];
        snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
        line(path, "SigBlk:", blocked, sizeof blocked);
        unsigned long long mask = strtoull(blocked, NULL, 16);
        int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
        int programs[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGPIPE, SIGPROF};
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            CHECK(!(mask >> (faults[i] - 1) & 1));
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            CHECK(mask >> (programs[i] - 1) & 1);
    }
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LENGTH; i++)
        CHECK(in[i] == 5);
    free(out);
    return finish();
}
