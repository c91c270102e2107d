// Windows of one size, one after the other: they have the memory of the one before, which neighbours
// see as the new window's, spawned ones too; when MPI has ended nothing of it is left.
//
// only: catena
// memory: 5 GiB
// time: 60
// run: -n 1
// run: -n 3
// run: -n 2 -- spawn
#include "../check.h"

enum { LONG = 9 << 20 };

/* Fills this rank's part, and checks that of the next rank by a load and by a get. */
static void use(MPI_Win win, unsigned char *own, size_t n, unsigned seed)
{
    int me, all;
    MPI_Group group;
    MPI_Win_get_group(win, &group);
    MPI_Group_rank(group, &me);
    MPI_Group_size(group, &all);
    MPI_Group_free(&group);
    unsigned char *got = malloc(n);
    fill(own, n, seed + me);
    MPI_Win_fence(0, win);
    MPI_Get(got, n, MPI_BYTE, (me + 1) % all, 0, n, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    EQUAL(wrong_at(got, n, seed + (me + 1) % all), n);
    fill(got, n, seed + me + 100);
    MPI_Put(got, n, MPI_BYTE, (me + 1) % all, 0, n, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    EQUAL(wrong_at(own, n, seed + (me + all - 1) % all + 100), n);
    free(got);
}

static void windows(MPI_Comm comm)
{
    unsigned char *own, *first = NULL;
    int again = 0, shares = one_node();
    MPI_Win win;
    for (unsigned i = 0; i < 4; i++) {
        size_t n = LONG - 4096 * i;
        MPI_Win_allocate(n, 1, MPI_INFO_NULL, comm, &own, &win);
        use(win, own, n, i);
        MPI_Win_free(&win);
        /* Or very near: those before it in the memory of a node may be shorter. */
        again += first && llabs(own - first) <= 4096 * 8;
        first = own;
        if (!shares)
            continue;
        MPI_Win_allocate_shared(n, 1, MPI_INFO_NULL, comm, &own, &win);
        use(win, own, n, i + 50);
        MPI_Win_free(&win);
    }
    EQUAL(again, 3);
}

/* Memory that is attached, freed, and given out again. */
static void attached(void)
{
    MPI_Win win;
    MPI_Aint *at = malloc(size * sizeof *at);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (unsigned i = 0; i < 4; i++) {
        unsigned char *own, *got = malloc(LONG);
        MPI_Aint place;
        MPI_Alloc_mem(LONG, MPI_INFO_NULL, &own);
        fill(own, LONG, i * 10 + rank);
        MPI_Win_attach(win, own, LONG);
        MPI_Get_address(own, &place);
        MPI_Allgather(&place, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
        MPI_Win_fence(0, win);
        int next = (rank + 1) % size;
        MPI_Get(got, LONG, MPI_BYTE, next, at[next], LONG, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        EQUAL(wrong_at(got, LONG, i * 10 + next), LONG);
        MPI_Win_detach(win, own);
        MPI_Free_mem(own);
        free(got);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    free(at);
}

/* Mappings of memory for windows, but for what short pieces share. */
static int long_ones(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f)) {
        unsigned long from, to;
        if (strstr(line, "catena-window") && sscanf(line, "%lx-%lx", &from, &to) == 2)
            n += to - from > LONG / 2 && to - from != 64 << 20;
    }
    fclose(f);
    return n;
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    windows(MPI_COMM_WORLD);
    if (argc > 1 || parent != MPI_COMM_NULL) {
        MPI_Comm both, all;
        if (parent != MPI_COMM_NULL)
            both = parent;
        else
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both,
                           MPI_ERRCODES_IGNORE);
        MPI_Intercomm_merge(both, parent != MPI_COMM_NULL, &all);
        windows(all);
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&both);
    }
    attached();
    MPI_Finalize();
    CHECK(long_ones() == 0);
    return 0;
}
