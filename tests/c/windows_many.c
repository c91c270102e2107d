// Ten thousand windows at a time, and many more one after the other: neither memory, nor mappings, nor
// descriptors grow, and every one of them works.
//
// only: catena
// time: 180
// run: -n 2 -- 10000 4000
// run: -n 4 -- 1000 2000
#include "check.h"
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

static void make(int i, MPI_Win *win, long **memory)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    static long own[8];
    switch (i % 3) {
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

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int alive = argc > 1 ? atoi(argv[1]) : 10000, turns = argc > 2 ? atoi(argv[2]) : 20000;
    MPI_Win *wins = malloc(alive * sizeof *wins), win;
    long **memory = malloc(alive * sizeof *memory), *own;
    long before = 0, begin = pages();
    for (int i = 0; i < alive; i++)
        make(i, wins + i, memory + i);
    /* Control blocks are 128 + 2 * 128 + 4 * 64 bytes with two members, in the memory of one of them. */
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
    CHECK(entries_of("/proc/self/fd") <= files);
    free(wins);
    free(memory);
    finish();
    return 0;
}
