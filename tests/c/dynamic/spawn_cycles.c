// Jobs that are spawned, talk and part leave nothing behind, neither in those who have spawned
// them nor in the launcher: no memory, no descriptors, no mappings, no processes. The variable
// CYCLES is their number, for a longer look.
// Rings keep to the memory that they begin with: those of jobs that meet again take more once long packets were many.
//
// only: catena
// time: 120
// run: -n 1 --set SHM_DATA=256K -- cycles
// run: -n 2 --set SHM_DATA=256K -- cycles
// run: -n 2 --set SHM_DATA=256K -- connect
//
// variant: spawn_cycles_hosts
// Those that come and go run on two hosts, and so do those that have spawned them.
// only: catena
// hosts: 2
// time: 240
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts --set SHM_DATA=256K -- cycles
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts --set SHM_DATA=256K -- cycles
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts --set SHM_DATA=256K -- connect
#include "../check.h"
#include <dirent.h>
#include <sched.h>

enum { CYCLES = 200, WARM = 40, FEW = 8 };

/* What a process holds. */
struct holding {
    long descriptors, mappings, kib, children;
};

static long entries(const char *path)
{
    DIR *folder = opendir(path);
    CHECK(folder);
    long count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static long lines(const char *path)
{
    FILE *file = fopen(path, "r");
    CHECK(file);
    long count = 0;
    for (int c; (c = fgetc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

static struct holding look(int pid)
{
    struct holding it = {0};
    char path[64], word[64];
    long number;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    it.descriptors = entries(path);
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    it.mappings = lines(path);
    /* Of shared memory, what others have given back is still resident here. */
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *status = fopen(path, "r");
    CHECK(status);
    char line[256];
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "Rss%63[AnonShmem]: %ld kB", word, &number) == 2)
            it.kib += number;
    fclose(status);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *children = fopen(path, "r");
    if (children) {
        while (fscanf(children, "%ld", &number) == 1)
            it.children++;
        fclose(children);
    }
    return it;
}

static void show(const char *whose, struct holding it)
{
    printf("%s: %ld descriptors, %ld mappings, %ld KiB, %ld children\n", whose, it.descriptors,
           it.mappings, it.kib, it.children);
}

static int holds_more(struct holding now, struct holding once, long few)
{
    return now.descriptors > once.descriptors + few || now.children > once.children + few;
}

/* That a process has ended is taken in later, where processors are busy much later: waits until no more is held than
   once. A few more may be held for good, as once was a moment at which something was being exchanged. */
static struct holding settled(int pid, struct holding once)
{
    struct holding now;
    double start = MPI_Wtime();
    do {
        int flag;
        MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        sched_yield();
        now = look(pid);
    } while (holds_more(now, once, MPI_Wtime() < start + 1 ? 0 : FEW) && MPI_Wtime() < start + 20);
    return now;
}

static void talk(MPI_Comm inter)
{
    static char out[100000], in[100000];
    int remote;
    MPI_Comm_remote_size(inter, &remote);
    for (int r = 0; r < remote; r++) {
        MPI_Sendrecv(out, 4, MPI_CHAR, r, 1, in, 4, MPI_CHAR, r, 1, inter, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, sizeof out, MPI_CHAR, r, 2, in, sizeof in, MPI_CHAR, r, 2, inter,
                     MPI_STATUS_IGNORE);
    }
}

static void same(const char *whose, struct holding was, struct holding between, struct holding is)
{
    show(whose, was);
    show(whose, between);
    show(whose, is);
    fflush(stdout);
    /* A few that end just now are still held, and not one for each of the cycles. */
    CHECK(is.descriptors <= was.descriptors + FEW);
    CHECK(is.mappings <= was.mappings + FEW);
    CHECK(is.children <= was.children + FEW);
    /* What malloc keeps for itself comes in a step; what each cycle leaves grows in both halves. */
    CHECK(between.kib <= was.kib + 512 || is.kib <= between.kib + 512);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm parent, inter;
    MPI_Comm_get_parent(&parent);
    int cycles = getenv("CYCLES") ? atoi(getenv("CYCLES")) : CYCLES, connects = !strcmp(argv[1], "connect");
    /* In a long run tables are full size only when the numbers of communicators come again. */
    int warm = cycles > 1000 ? cycles / 2 : WARM;
    char port[MPI_MAX_PORT_NAME] = "";
    if (parent != MPI_COMM_NULL && !connects) {
        talk(parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    char *more[] = {argv[1], NULL};
    if (connects) {
        /* Two jobs that live part and meet again. */
        inter = parent;
        if (parent == MPI_COMM_NULL) {
            MPI_Comm_spawn(argv[0], more, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                           MPI_ERRCODES_IGNORE);
            if (rank == 0)
                MPI_Open_port(MPI_INFO_NULL, port);
        }
        int root = parent != MPI_COMM_NULL ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        MPI_Bcast(port, sizeof port, MPI_CHAR, root, inter);
        MPI_Comm_disconnect(&inter);
    }
    struct holding own[2] = {{0}}, launchers[2] = {{0}};
    int launcher = getppid();
    for (int k = 0; k <= cycles; k++) {
        /* What jobs left that have ended is let go of at the next parting. */
        if (k == cycles && rank == 0 && parent == MPI_COMM_NULL)
            settled(launcher, launchers[0]);
        if (connects && parent == MPI_COMM_NULL)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        else if (connects)
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        else
            MPI_Comm_spawn(argv[0], more, 1 + k % 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                           MPI_ERRCODES_IGNORE);
        talk(inter);
        MPI_Comm_disconnect(&inter);
        if (k == warm || k == (warm + cycles) / 2) {
            /* Those that end just now are one or two. */
            own[k != warm] = look(getpid());
            launchers[k != warm] = look(launcher);
        }
    }
    if (rank == 0 && parent == MPI_COMM_NULL) {
        same("rank 0", own[0], own[1], settled(getpid(), own[0]));
        same("launcher", launchers[0], launchers[1], settled(launcher, launchers[0]));
    }
    MPI_Finalize();
    return 0;
}
