// What hints say of aggregators: who has the file open, how much memory a collective call takes, and what tools are told of it.
// run: -n 4
// run: -n 2
// only: catena
// time: 120
#include "../check.h"
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1 << 20, BUFFER = 1 << 20 };

static char path[256];

/* Whether this process has the file open. */
static int has_open(void)
{
    char link[300], target[300];
    int found = 0;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *it; (it = readdir(all)) != NULL;) {
        snprintf(link, sizeof link, "/proc/self/fd/%s", it->d_name);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n < 0 ? 0 : n] = 0;
        found |= strcmp(target, path) == 0;
    }
    closedir(all);
    return found;
}

/* Bytes of memory that this process has, its share of what several have; without what is of files, such as
   libraries: its share of those grows whenever another program ends. */
static long long memory(void)
{
    char line[256];
    long long kb, sum = 0;
    FILE *all = fopen("/proc/self/smaps_rollup", "r");
    while (all && fgets(line, sizeof line, all))
        if (sscanf(line, "Pss_Anon: %lld kB", &kb) == 1 || sscanf(line, "Pss_Shmem: %lld kB", &kb) == 1)
            sum += kb * 1024;
    if (all)
        fclose(all);
    return sum;
}

static MPI_File open_with(const char *key, const char *value, int mode)
{
    MPI_File fh;
    MPI_Info info;
    MPI_Datatype type;
    char text[32];
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%d", BUFFER);
    MPI_Info_set(info, "cb_buffer_size", text);
    MPI_Info_set(info, "cb_nodes", "1");
    /* Who goes there by itself writes piece by piece. */
    MPI_Info_set(info, "romio_ds_write", "disable");
    MPI_Info_set(info, key, value);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &fh), MPI_SUCCESS);
    MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint) sizeof(int), &type);
    MPI_Type_commit(&type);
    EQUAL(MPI_File_set_view(fh, rank * (MPI_Offset) sizeof(int), MPI_INT, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    return fh;
}

static unsigned long long of_file(MPI_T_pvar_session session, MPI_File fh, const char *name, int class)
{
    int at, count;
    unsigned long long value = 0;
    double time = 0;
    MPI_T_pvar_handle handle;
    EQUAL(MPI_T_pvar_get_index(name, class, &at), MPI_SUCCESS);
    int length = 0, detail = 0, verbosity, kind, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum items;
    EQUAL(MPI_T_pvar_get_info(at, NULL, &length, &verbosity, &kind, &type, &items, NULL, &detail, &bind, &readonly, &continuous,
                              &atomic), MPI_SUCCESS);
    EQUAL(bind, MPI_T_BIND_MPI_FILE);
    EQUAL(MPI_T_pvar_handle_alloc(session, at, &fh, &handle, &count), MPI_SUCCESS);
    if (!continuous)
        EQUAL(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
    int *x = calloc(1000, sizeof *x);
    MPI_Status status;
    EQUAL(MPI_File_write_at_all(fh, 0, x, 1000, MPI_INT, &status), MPI_SUCCESS);
    free(x);
    EQUAL(MPI_T_pvar_read(session, handle, type == MPI_DOUBLE ? (void *) &time : &value), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
    return type == MPI_DOUBLE ? time > 0 : value;
}

int main(int argc, char **argv)
{
    int level;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR");
    int id = getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/catena-files-aggregators-%d", folder ? folder : "/tmp", id);
    int *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++)
        x[i] = i * size + rank, y[i] = -1;

    /* Only the aggregator has the file open, until another one uses it. */
    MPI_Status status;
    MPI_File fh = open_with("romio_no_indep_rw", "true", MPI_MODE_CREATE | MPI_MODE_RDWR);
    EQUAL(MPI_File_write_all(fh, x, 1000, MPI_INT, &status), MPI_SUCCESS);
    EQUAL(MPI_File_read_at_all(fh, 0, y, 1000, MPI_INT, &status), MPI_SUCCESS);
    CHECK(memcmp(x, y, 1000 * sizeof *x) == 0);
    EQUAL(has_open(), rank == 0);
    EQUAL(MPI_File_read_at(fh, 0, y, 10, MPI_INT, &status), MPI_SUCCESS);
    CHECK(memcmp(x, y, 10 * sizeof *x) == 0);
    CHECK(has_open());
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    CHECK(!has_open());

    /* A collective call has what the hint allows, and each member what its cursor and a stage take. */
    fh = open_with("romio_cb_write", "enable", MPI_MODE_RDWR);
    EQUAL(MPI_File_write_at_all(fh, 0, x, 1, MPI_INT, &status), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    fh = open_with("romio_cb_write", "enable", MPI_MODE_RDWR);
    MPI_Barrier(MPI_COMM_WORLD);
    long long before = memory(), sums[2], sum;
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_write_at_all(fh, 0, x, N, MPI_INT, &status), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    sum = memory() - before;
    MPI_Allreduce(&sum, &sums[0], 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sums[0] <= BUFFER + size * (512LL << 10));
    if (rank == 0)
        printf("%lld bytes of memory, %d allowed\n", sums[0], BUFFER);

    /* Tools are told of each file for itself. */
    MPI_T_pvar_session session;
    EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_File other = open_with("romio_cb_write", "disable", MPI_MODE_RDWR);
    int is_first = rank == 0;
    EQUAL(of_file(session, fh, "file_written_bytes", MPI_T_PVAR_CLASS_AGGREGATE), is_first * size * 4000);
    EQUAL(of_file(session, other, "file_written_bytes", MPI_T_PVAR_CLASS_AGGREGATE), 4000);
    EQUAL(of_file(session, other, "file_calls", MPI_T_PVAR_CLASS_COUNTER), 1000);
    unsigned long long calls = of_file(session, fh, "file_calls", MPI_T_PVAR_CLASS_COUNTER);
    CHECK(is_first ? calls >= 1 && calls <= 10 : calls == 0);
    EQUAL(of_file(session, fh, "file_aggregators", MPI_T_PVAR_CLASS_LEVEL), 1);
    EQUAL(of_file(session, other, "file_aggregators", MPI_T_PVAR_CLASS_LEVEL), 0);
    EQUAL(of_file(session, fh, "file_time", MPI_T_PVAR_CLASS_TIMER), is_first);
    EQUAL(of_file(session, fh, "file_exchange_time", MPI_T_PVAR_CLASS_TIMER), 1);
    EQUAL(of_file(session, other, "file_exchange_time", MPI_T_PVAR_CLASS_TIMER), 0);
    EQUAL(of_file(session, fh, "file_sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE), 0);
    MPI_T_pvar_session_free(&session);
    EQUAL(MPI_File_close(&other), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    if (rank == 0)
        EQUAL(MPI_File_delete(path, MPI_INFO_NULL), MPI_SUCCESS);
    free(x);
    free(y);
    int end = finish();
    MPI_T_finalize();
    return end;
}
