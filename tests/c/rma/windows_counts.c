// What windows cost does not depend on how many there are, or on how much is attached to one.
//
//   idle     thousands of windows that nobody uses cost other calls nothing, and one takes as long to make as the first
//   attach   attaching and detaching take as long with ten times as many regions, in whatever order, and others find all
//   pages    what short windows had of memory goes back when they are freed
//
// Times are the least of several batches, and the bounds are far from what is measured, and far from what a walk over all
// would take.
//
// only: catena
// time: 60
// run: -n 2 -x CATENA_LINK=tcp -- idle
// run: -n 2 -- idle
// run: -n 2 -- attach
// run: -n 2 -x CATENA_LINK=tcp -- attach
// run: -n 2 -- pages
#include "../check.h"
#include <dirent.h>
#include <sys/stat.h>

enum { MANY = 4000, BATCHES = 20, CALLS = 200 };

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* The times of a call that looks, and of a round trip. */
static void measure(double *look, double *trip)
{
    char byte = 0;
    int flag;
    *look = *trip = 1e9;
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < CALLS; i++)
            MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        *look = least(*look, (MPI_Wtime() - begin) / CALLS);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        for (int i = 0; i < CALLS; i++) {
            if (rank == 0)
                MPI_Send(&byte, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&byte, 1, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1)
                MPI_Send(&byte, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
        *trip = least(*trip, (MPI_Wtime() - begin) / CALLS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Makes windows; the least time that one of a hundred took, on the average. */
static double make(MPI_Win *wins, int n)
{
    double time = 1e9, begin = 0;
    void *memory;
    for (int i = 0; i < n; i++) {
        if (i % 100 == 0)
            begin = MPI_Wtime();
        MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[i]);
        if (i % 100 == 99)
            time = least(time, (MPI_Wtime() - begin) / 100);
    }
    return time;
}

static void idle(void)
{
    static MPI_Win wins[MANY];
    double look, trip, many_look, many_trip;
    double few = make(wins, 500);
    for (int i = 1; i < 500; i++)
        MPI_Win_free(&wins[i]);
    measure(&look, &trip);
    make(wins + 1, MANY - 501);
    double many = make(wins + MANY - 500, 500);
    measure(&many_look, &many_trip);
    if (rank == 0)
        printf("a window: look %.3f us, round trip %.3f us; made in %.1f us\n%d of them: %.3f, %.3f, %.1f\n", look * 1e6,
               trip * 1e6, few * 1e6, MANY, many_look * 1e6, many_trip * 1e6, many * 1e6);
    CHECK(many_look < 4 * look + 1e-6);
    CHECK(many_trip < 4 * trip + 1e-5);
    CHECK(many < 4 * few + 5e-5);
    for (int i = 0; i < MANY; i++)
        MPI_Win_free(&wins[i]);
}

enum { STEP = 2 };

/* Attaches n places in steps, and detaches them; the time for each. */
static double attach(MPI_Win win, long *memory, int n, int step)
{
    double begin = MPI_Wtime();
    for (long i = 0, at = 0; i < n; i++, at = (at + step) % n)
        EQUAL(MPI_Win_attach(win, memory + STEP * at, sizeof(long)), MPI_SUCCESS);
    for (long i = 0, at = 0; i < n; i++, at = (at + step) % n)
        EQUAL(MPI_Win_detach(win, memory + STEP * at), MPI_SUCCESS);
    return (MPI_Wtime() - begin) / n;
}

static void run_attach(void)
{
    enum { FEW = 2003, LOT = 20011 };
    /* Up, down, and to and fro: there is no common divisor. */
    const int steps[] = {1, -1, 1009};
    long *memory = calloc(STEP * LOT, sizeof *memory), *there;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int s = 0; s < 3; s++) {
        double few = 1e9, many = 1e9;
        for (int batch = 0; batch < 5; batch++) {
            few = least(few, attach(win, memory, FEW, (steps[s] + FEW) % FEW));
            many = least(many, attach(win, memory, LOT, (steps[s] + LOT) % LOT));
        }
        if (rank == 0)
            printf("%d regions %.3f us each, %d regions %.3f us\n", FEW, few * 1e6, LOT, many * 1e6);
        CHECK(many < 4 * few + 5e-6);
    }
    /* The other one finds what is attached, and no more. */
    for (long i = 0, at = 0; i < LOT; i++, at = (at + 1009) % LOT)
        MPI_Win_attach(win, memory + STEP * at, sizeof(long));
    for (long at = 0; at < LOT; at += 3)
        MPI_Win_detach(win, memory + STEP * at);
    MPI_Sendrecv(&memory, sizeof memory, MPI_BYTE, 1 - rank, 0, &there, sizeof there, MPI_BYTE, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
    for (long at = 1; at < LOT; at += 100) {
        long value = at * 3 + rank;
        MPI_Aint to;
        MPI_Get_address(there + STEP * at, &to);
        int rc = MPI_Put(&value, 1, MPI_LONG, 1 - rank, to, 1, MPI_LONG, win);
        int flushed = MPI_Win_flush(1 - rank, win);
        int failed = rc == MPI_SUCCESS ? flushed : rc;
        EQUAL(class_of(failed), at % 3 ? MPI_SUCCESS : MPI_ERR_RMA_RANGE);
    }
    MPI_Win_unlock(1 - rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (long at = 0; at < LOT; at++)
        EQUAL(memory[STEP * at], at % 100 == 1 && at % 3 ? at * 3 + 1 - rank : 0);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    free(memory);
}

/* Bytes that the library's files in memory have. */
static long bytes_of_files(void)
{
    long bytes = 0;
    DIR *all = opendir("/proc/self/fd");
    CHECK(all);
    for (struct dirent *it; (it = readdir(all));) {
        char path[300], target[300] = "";
        struct stat state;
        snprintf(path, sizeof path, "/proc/self/fd/%s", it->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "catena-window") && !stat(path, &state))
            bytes += state.st_blocks * 512L;
    }
    closedir(all);
    return bytes;
}

static void pages(void)
{
    enum { WINDOWS = 100, LEN = 900 * 1000, MOST = 40 << 20 };
    static MPI_Win wins[WINDOWS];
    static void *pieces[WINDOWS];
    char *memory;
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_allocate(LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[i]);
        memset(memory, i, LEN);
    }
    CHECK(bytes_of_files() > (long)WINDOWS * LEN);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&wins[i]);
    CHECK(bytes_of_files() < MOST);
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Alloc_mem(LEN, MPI_INFO_NULL, &pieces[i]);
        memset(pieces[i], i, LEN);
    }
    for (int i = 0; i < WINDOWS; i += 2)
        MPI_Free_mem(pieces[i]);
    CHECK(bytes_of_files() < MOST + WINDOWS / 2 * LEN);
    for (int i = 1; i < WINDOWS; i += 2) {
        for (long at = 0; at < LEN; at += 1000)
            EQUAL(((char *)pieces[i])[at], i);
        MPI_Free_mem(pieces[i]);
    }
    CHECK(bytes_of_files() < MOST);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (!strcmp(argv[1], "idle"))
        idle();
    else if (!strcmp(argv[1], "attach"))
        run_attach();
    else
        pages();
    return finish();
}
