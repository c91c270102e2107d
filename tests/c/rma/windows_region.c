// The members of a window on a node share one region, which each of them opens once, however many they are: sizes that differ, also
// none, and parts that are aligned as the program wants. Where a member's wish lets it have no part, all have memory of their own.
//
// only: catena
// run: -n 2
// run: -n 6
// run: -n 6 -- wide
// run: -n 6 --set LINK=shm -- again
//
// variant: windows_region_hosts
// Each host has a region that some members share.
// hosts: 2
// only: catena
// run: --host h0:4,h1:3 --launcher-agent scripts/hosts
// run: --host h0:4,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp
#include "../check.h"
#include <stdint.h>

/* How many pieces of memory of windows are mapped here. */
static int mapped(void)
{
    char line[512];
    int n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        n += strstr(line, "catena-window") != NULL;
    fclose(maps);
    return n;
}

/* A window of so many bytes at each rank, of which every byte is written by others, and read. */
static void window(MPI_Aint (*bytes)(int), int align, int most)
{
    unsigned char *base, *from, got;
    MPI_Win win;
    MPI_Info info;
    char words[32];
    MPI_Info_create(&info);
    snprintf(words, sizeof words, "%d", align);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", words);
    int before = mapped();
    MPI_Win_allocate(bytes(rank), 1, info, MPI_COMM_WORLD, &base, &win);
    CHECK(mapped() - before <= most);
    EQUAL((uintptr_t)base % align, 0);
    MPI_Aint n = bytes(rank);
    memset(base, 100 + rank, n);
    MPI_Win_fence(0, win);
    for (int to = 0; to < size; to++) {
        MPI_Aint there = bytes(to), part = there / size, at = part * rank;
        from = malloc(part + 1);
        memset(from, 10 * to + rank, part);
        MPI_Put(from, (int)part, MPI_BYTE, to, at, (int)part, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        free(from);
    }
    MPI_Win_fence(0, win);
    for (MPI_Aint i = 0; i < n; i++)
        EQUAL(base[i], i < n / size * size ? 10 * rank + i / (n / size) : 100 + rank);
    MPI_Win_fence(0, win);
    int next = (rank + 1) % size;
    if (bytes(next) > 0) {
        MPI_Get(&got, 1, MPI_BYTE, next, bytes(next) - 1, 1, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        EQUAL(got, bytes(next) % size ? 100 + next : 10 * next + size - 1);
    } else {
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
    CHECK(mapped() - before <= most);
    MPI_Info_free(&info);
}

static MPI_Aint few(int at)
{
    return 4096 * (at % 3) + 7 * at;
}

static MPI_Aint many(int at)
{
    return at == 1 ? 0 : (3 << 20) + 100 * at;
}

static MPI_Aint equal(int at)
{
    (void)at;
    return 1 << 16;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "again")) {
        for (int i = 0; i < 20; i++)
            window(equal, 64, 4);
    } else if (!strcmp(what, "wide")) {
        /* No part is aligned like that: memory of their own. */
        window(equal, rank == 3 ? 1 << 16 : 64, 2 * size);
    } else {
        /* Its own chunk, and the lowest member's: of short pieces, and of a long one. */
        window(few, 256, 2);
        window(many, 4096, 3);
    }
    return finish();
}
