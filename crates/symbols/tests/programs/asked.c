/* Does one of several things, and says before which thread does it. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

unsigned catena_listen(void);

volatile double sum;

__attribute__((noinline)) static void compute(void)
{
    for (;;)
        sum = sum * 0.5 + 1; /* line 19 */
}

static void handler(int signal)
{
    compute(); /* line 24 */
    (void)signal;
}

static int by_size(const void *a, const void *b)
{
    compute(); /* line 30 */
    return a < b;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct timespec long_time = {1000, 0};
    struct timeval now;
    unsigned thread = catena_listen();
    sigset_t all;
    sigfillset(&all);
    if (!strcmp(what, "blocked"))
        pthread_sigmask(SIG_BLOCK, &all, 0);
    if (!strcmp(what, "default"))
        /* as if the handler had never been */
        signal(SIGURG, SIG_DFL);
    printf("%u\n", thread);
    fflush(stdout);
    if (!strcmp(what, "sleep"))
        return nanosleep(&long_time, 0) ? 7 : 0; /* line 50 */
    if (!strcmp(what, "poll"))
        return poll(0, 0, -1) < 0 ? 7 : 0; /* line 52 */
    if (!strcmp(what, "read"))
        return read(0, &all, 1) < 0 ? 7 : 0; /* line 54 */
    if (!strcmp(what, "exec"))
        execlp("sleep", "sleep", "1000", (char *)0);
    if (!strcmp(what, "clock"))
        for (;;)
            gettimeofday(&now, 0); /* line 59 */
    if (!strcmp(what, "handler")) {
        signal(SIGUSR1, handler);
        raise(SIGUSR1); /* line 62 */
    }
    if (!strcmp(what, "library"))
        qsort(&long_time, 2, 4, by_size); /* line 65 */
    if (!strcmp(what, "stack")) {
        char *large = __builtin_alloca(argc * 100000);
        memset(large, argc, argc * 100000);
        compute(); /* line 69 */
        return large[argc];
    }
    compute(); /* line 72 */
    return argc;
}
