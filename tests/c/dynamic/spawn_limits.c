// A process that has no descriptor or no address space left for another job's memory: MPI_Comm_spawn fails at all members of the
// group, and nobody waits or ends for it. Once there is some, it works again. So do MPI_Comm_connect and MPI_Comm_accept.
//
// Each mode goes through limits, from none at all up to one that is enough.
//
// only: catena
// time: 60
// run: -n 2 --set LINK=shm+tcp -- descriptors 0
// run: -n 2 --set LINK=shm+tcp -- descriptors 1
// run: -n 2 --set LINK=shm+tcp -- memory 0
// run: -n 2 --set LINK=shm+tcp -- memory 1
// run: -n 2 --set LINK=shm+tcp -- descriptors child
// run: -n 2 --set LINK=shm+tcp -- memory child
// run: -n 2 --set LINK=shm+tcp -- descriptors meet
// run: -n 2 --set LINK=shm+tcp -- memory meet
// run: -n 2 --set LINK=tcp -- descriptors 0
// run: -n 2 --set LINK=tcp -- descriptors 1
// run: -n 2 --set LINK=tcp -- descriptors meet
#include "../check.h"
#include <fcntl.h>
#include <sys/resource.h>

enum { MOST = 24 };

static const char *what;
static rlim_t usual;

static int is_memory(void)
{
    return !strcmp(what, "memory");
}

static struct rlimit get(void)
{
    struct rlimit limit;
    CHECK(getrlimit(is_memory() ? RLIMIT_AS : RLIMIT_NOFILE, &limit) == 0);
    return limit;
}

static void set(rlim_t soft)
{
    struct rlimit limit = get();
    limit.rlim_cur = soft;
    CHECK(setrlimit(is_memory() ? RLIMIT_AS : RLIMIT_NOFILE, &limit) == 0);
}

/* What the process has now, and `more`: descriptors, or sixteenths of 2 GiB. */
static rlim_t now_and(int more)
{
    if (!is_memory()) {
        int next = dup(0);
        CHECK(next >= 0 && close(next) == 0);
        return next + more;
    }
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return (rlim_t)pages * sysconf(_SC_PAGESIZE) + (16 << 20) + ((rlim_t)more << 27);
}

/* Both or none of this job have the intercommunicator, and it works. */
static int check(int code, MPI_Comm *inter)
{
    int good = code == MPI_SUCCESS, both[2];
    MPI_Allgather(&good, 1, MPI_INT, both, 1, MPI_INT, MPI_COMM_WORLD);
    EQUAL(both[0], both[1]);
    if (!good)
        return 0;
    int n = 0, one = 1;
    MPI_Allreduce(&one, &n, 1, MPI_INT, MPI_SUM, *inter);
    EQUAL(n, 2);
    MPI_Comm_disconnect(inter);
    return 1;
}

/* One of two jobs that meet until they can: rank 1 of the host has a limit. Their parent compares how it was. */
static int meet(MPI_Comm parent, int is_host)
{
    MPI_Comm inter;
    char port[MPI_MAX_PORT_NAME] = "";
    int good = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (is_host && rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 0, parent);
    } else if (rank == 0)
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, parent, MPI_STATUS_IGNORE);
    for (int limit = 0; !good; limit++) {
        if (is_host && rank == 1)
            set(now_and(limit));
        int code = is_host ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)
                           : MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        set(usual);
        good = check(code, &inter);
        MPI_Send(&good, 1, MPI_INT, 0, 0, parent);
    }
    MPI_Comm_disconnect(&parent);
    return finish();
}

static int parent_of_two(char **argv)
{
    char port[MPI_MAX_PORT_NAME], *host[] = {(char *)what, "host", "0", NULL}, *guest[] = {(char *)what, "guest", "0", NULL};
    MPI_Comm jobs[2];
    int good = 0, failed = 0;
    MPI_Comm_spawn(argv[0], host, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &jobs[0], MPI_ERRCODES_IGNORE);
    MPI_Comm_spawn(argv[0], guest, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &jobs[1], MPI_ERRCODES_IGNORE);
    if (rank == 0) {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, jobs[0], MPI_STATUS_IGNORE);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 0, jobs[1]);
        while (!good) {
            int had[4];
            for (int i = 0; i < 4; i++)
                MPI_Recv(&had[i], 1, MPI_INT, i % 2, 0, jobs[i / 2], MPI_STATUS_IGNORE);
            for (int i = 1; i < 4; i++)
                EQUAL(had[i], had[0]);
            good = had[0];
            failed += !good;
        }
        CHECK(failed > 0);
    }
    MPI_Comm_disconnect(&jobs[0]);
    MPI_Comm_disconnect(&jobs[1]);
    return finish();
}

/* A child has a limit from its start. */
static int child(char **argv)
{
    what = argv[1];
    usual = get().rlim_cur;
    int limited = atoi(argv[3]);
    if (!strcmp(argv[2], "all") && is_memory()) {
        set(now_and(limited));
    } else if (!strcmp(argv[2], "all")) {
        /* The library raises the other one. */
        struct rlimit both = {limited, limited};
        CHECK(setrlimit(RLIMIT_NOFILE, &both) == 0);
        usual = limited;
    }
    MPI_Comm inter;
    start(&(int){1}, &argv);
    MPI_Comm_get_parent(&inter);
    CHECK(inter != MPI_COMM_NULL);
    if (!strcmp(argv[2], "host") || !strcmp(argv[2], "guest"))
        return meet(inter, !strcmp(argv[2], "host"));
    check(MPI_SUCCESS, &inter);
    return finish();
}

static int spawn(char **argv, const char *limited, int limit)
{
    char number[16];
    snprintf(number, sizeof number, "%d", limit);
    char *more[] = {(char *)what, (char *)limited, number, NULL};
    MPI_Comm inter;
    int code = MPI_Comm_spawn(argv[0], more, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    set(usual);
    return check(code, &inter);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return child(argv);
    CHECK(argc == 3);
    start(&argc, &argv);
    what = argv[1];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    usual = get().rlim_cur;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[2], "meet"))
        return parent_of_two(argv);
    int good = 0, failed = 0;
    if (!strcmp(argv[2], "child")) {
        for (int limit = is_memory() ? 0 : 3; !good && limit < 2 * MOST; limit++) {
            good = spawn(argv, "all", limit);
            failed += !good;
        }
    } else {
        int limited = atoi(argv[2]);
        for (int limit = 0; !good && limit < MOST; limit++) {
            if (rank == limited)
                set(now_and(limit));
            good = spawn(argv, "none", 0);
            failed += !good;
            CHECK(good || spawn(argv, "none", 0));
        }
    }
    CHECK(good && failed > 0);
    return finish();
}
