// Ten thousand windows at a time, and many more one after the other: neither memory, nor mappings, nor
// descriptors grow, and every one of them works.
//
// WINDOWS_TURNS says how many come and go; scripts/qualify has 100,000 of them do so.
//
// only: catena
// time: 180
// run: -n 2 -- 10000 4000
// run: -n 8 -- peers 500; says '[0-9]+ bytes for each (node )?peer and window'
// run: -n 4 -- 1000 2000
#include "../check.h"
#include <dirent.h>

static long pages(void)
{
    long all, resident;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &all, &resident) == 2);
    fclose(f);
    return resident;
}

static int lines_of(const char *path)
{
    int n = 0, c;
    FILE *f = fopen(path, "r");
    CHECK(f);
    while ((c = fgetc(f)) != EOF)
        n += c == '\n';
    fclose(f);
    return n;
}

static int entries_of(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Whether all ranks share memory: where they only have a network they do not. */
static int shares;

static int can_share(void)
{
    MPI_Win win;
    long *memory;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (rc == MPI_SUCCESS)
        MPI_Win_free(&win);
    else
        EQUAL(class_of(rc), MPI_ERR_RMA_SHARED);
    return rc == MPI_SUCCESS;
}

static void exchange(int times, int bytes)
{
    static char out[8192], in[8192];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(out, bytes, MPI_BYTE, right, 0, in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A network has large buffers that messages fill in turn, and libfabric a queue of 2^17 completions and more: all their
 * pages are used before those of windows are counted. */
static void use_buffers(void)
{
    exchange(4096, 8192);
    exchange(1 << 18, 1);
}

static void make(int i, MPI_Win *win, long **memory)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    static long own[8];
    switch (i % 3 == 1 && !shares ? 0 : i % 3) {
        case 0:
            MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, comm, memory, win);
            break;
        case 1:
            MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, comm, memory, win);
            break;
        default:
            *memory = own + i / 3 % 8;
            MPI_Win_create(*memory, sizeof(long), sizeof(long), MPI_INFO_NULL, comm, win);
    }
}

static void use(int i, MPI_Win win, long *memory)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long value = 1000L * i + rank;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EQUAL(*memory, 1000L * i + left);
}

/* Bytes of memory of all ranks together; what they share counts once. Pages of files are left out: a page of the library
 * counts the less, the more processes of other jobs use it at the time. */
static long bytes_of_all(void)
{
    long kib = 0, part, all;
    int parts = 0;
    char line[200];
    /* What a rank still touches for the others is not counted half. */
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "Pss_Anon: %ld kB", &part) == 1 || sscanf(line, "Pss_Shmem: %ld kB", &part) == 1) {
            kib += part;
            parts++;
        }
    fclose(f);
    EQUAL(parts, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&kib, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all << 10;
}

/* How much windows over `comm` take for each of their members. They stay: what is given back to an allocator would be
 * counted for nothing the next time. */
static double bytes_of_member(MPI_Comm comm, MPI_Win *wins, int count)
{
    long *memory;
    for (int i = 0; i < count; i++)
        wins[i] = MPI_WIN_NULL;
    long before = bytes_of_all();
    for (int i = 0; i < count; i++) {
        MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, comm, &memory, wins + i);
        MPI_Win_fence(0, wins[i]);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, wins[i]);
    }
    return (double)(bytes_of_all() - before) / size / count;
}

/* What a member more costs each of the others: windows of all next to windows of pairs. */
static void peers(int count)
{
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Win *wins = malloc(3 * count * sizeof *wins);
    bytes_of_member(MPI_COMM_WORLD, wins, count);
    double of_pairs = bytes_of_member(pair, wins + count, count);
    double of_all = bytes_of_member(MPI_COMM_WORLD, wins + 2 * count, count);
    double each = (of_all - of_pairs) / (size - 2);
    if (rank == 0)
        printf("%.0f bytes for each %speer and window, %.0f for a window of two\n", each, shares ? "node " : "",
            of_pairs);
    /* Of whoever is reached by a network a member keeps the state of its operations besides, and the network its keys. */
    CHECK(!shares || each <= 64);
    for (int i = 0; i < 3 * count; i++)
        MPI_Win_free(wins + i);
    free(wins);
    MPI_Comm_free(&pair);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    shares = can_share();
    if (!shares)
        use_buffers();
    if (argc > 1 && !strcmp(argv[1], "peers")) {
        peers(atoi(argv[2]));
        finish();
        return 0;
    }
    const char *wanted = getenv("WINDOWS_TURNS");
    int alive = argc > 1 ? atoi(argv[1]) : 10000;
    int turns = wanted ? atoi(wanted) : argc > 2 ? atoi(argv[2]) : 20000;
    MPI_Win *wins = malloc(alive * sizeof *wins), win;
    long **memory = malloc(alive * sizeof *memory), *own;
    long before = 0, begin = pages();
    for (int i = 0; i < alive; i++)
        make(i, wins + i, memory + i);
    /* Control blocks are 128 + 2 * 128 + 2 * 64 bytes with two members, in the memory of one of them. */
    long each = (pages() - begin) * sysconf(_SC_PAGESIZE) / alive;
    if (rank == 0)
        printf("%ld bytes for each of %d windows\n", each, alive);
    CHECK(each < 8192);
    for (int i = 0; i < alive; i += 7)
        use(i, wins[i], memory[i]);
    for (int i = 0; i < alive; i++)
        MPI_Win_free(wins + i);
    int maps = 0, files = 0;
    for (int i = 0; i < turns; i++) {
        make(i, &win, &own);
        if (i % 50 == 0)
            use(i, win, own);
        MPI_Win_free(&win);
        if (i == turns / 4) {
            before = pages();
            maps = lines_of("/proc/self/maps");
            files = entries_of("/proc/self/fd");
        }
    }
    long grown = (pages() - before) * sysconf(_SC_PAGESIZE);
    if (rank == 0)
        printf("%ld bytes more after %d windows\n", grown, turns - turns / 4);
    CHECK(grown < 1 << 20);
    CHECK(lines_of("/proc/self/maps") <= maps + 4);
    /* A network may connect two ranks late, if they have not talked before. */
    CHECK(entries_of("/proc/self/fd") <= files + (shares ? 0 : size));
    free(wins);
    free(memory);
    finish();
    return 0;
}
