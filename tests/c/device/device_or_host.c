// Which memory is whose, beside a device: the host's on stacks, in heaps, in data and in mappings; the device's; what the
// one has given up and the other one has now. Of memory that is surely the host's the driver is not asked. It may be loaded
// late, and only then is anything a device's.
// only: catena
// preload: device_driver
// cc: -pthread
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -- late
// run: -n 2 --check -x CATENA_DEVICE_MEMORY=cuda -- checked; never says check:.*is no memory
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x CATENA_DEVICE_IPC=no
#define _GNU_SOURCE
#include "device.h"

#include <pthread.h>
#include <sys/mman.h>

enum { N = 64, LONG = 40000, TAG = 3, DEEP = 200, BIG = 1 << 20 };

static int data[N], zeros[LONG];
static int (*asked)(void);
/* A dynamic window that was made before there was a driver, which has no memory of devices. */
static MPI_Win early = MPI_WIN_NULL;

static void fill_ints(int *at, int count, int first)
{
    for (int i = 0; i < count; i++)
        at[i] = first + i;
}

/* Sends to the other rank what lies at `out`, and receives as much there: both of the host. */
static void swap(int *at, int count)
{
    fill_ints(at, count, 1000 * rank);
    MPI_Sendrecv_replace(at, count, MPI_INT, 1 - rank, TAG, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        EQUAL(at[i], 1000 * (1 - rank) + i);
    MPI_Request request;
    int *in = at + count / 2, half = count / 2;
    fill_ints(at, count, 1000 * rank);
    MPI_Irecv(in, half, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, &request);
    MPI_Send(at, half, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(in[half - 1], 1000 * (1 - rank) + half - 1);
}

/* The same on the device. */
static void swap_on_device(int *at, int count)
{
    put(at, count, 1000 * rank);
    MPI_Sendrecv_replace(at, count, MPI_INT, 1 - rank, TAG, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(at, count, 1000 * (1 - rank), 1);
}

/* Frames below those that were seen before. */
static int deeper(int levels)
{
    volatile int pad[2000];
    int here[N];
    pad[levels] = levels;
    if (levels % 50 == 0)
        swap(here, N);
    return levels ? deeper(levels - 1) + (int)pad[levels] : 0;
}

static void *of_thread(void *number)
{
    int here[N], *heap = malloc(sizeof(int) * N);
    /* One after the other: MPI is used by one thread at a time. */
    swap(here, N);
    swap(heap, N);
    free(heap);
    return number;
}

/* All the memory of the host that a program has. */
static void hosts(void)
{
    int here[N], *heap = malloc(sizeof(int) * N), *big = malloc(sizeof(int) * BIG);
    int *mapped = mmap(NULL, sizeof(int) * LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *of_mpi;
    pthread_t thread;
    CHECK(mapped != MAP_FAILED);
    MPI_Alloc_mem(sizeof(int) * LONG, MPI_INFO_NULL, &of_mpi);
    int *all[] = {here, heap, data, big, mapped, of_mpi, zeros};
    const int counts[] = {N, N, N, LONG, LONG, LONG, LONG};
    for (int k = 0; k < 7; k++)
        swap(all[k], counts[k]);
    deeper(DEEP);
    pthread_create(&thread, NULL, of_thread, NULL);
    pthread_join(thread, NULL);
    MPI_Free_mem(of_mpi);
    munmap(mapped, sizeof(int) * LONG);
    free(heap);
    free(big);
}

/* What is surely the host's costs no question, but for what checked mode asks. */
static void unasked(int is_checked)
{
    int here[N], *heap = malloc(sizeof(int) * N), *memory;
    MPI_Win win;
    MPI_Win_allocate(sizeof(int) * N, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    swap(here, N);
    const int before = asked ? asked() : 0;
    for (int k = 0; k < 100; k++) {
        swap(here, N);
        swap(heap, N);
        swap(data, N);
        MPI_Put(heap, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
        MPI_Get(here, 1, MPI_INT, 1 - rank, 1, 1, MPI_INT, win);
        MPI_Accumulate(here, 1, MPI_INT, 1 - rank, 2, 1, MPI_INT, MPI_SUM, win);
        MPI_Fetch_and_op(here, heap, MPI_INT, 1 - rank, 3, MPI_SUM, win);
        MPI_Compare_and_swap(here, heap, data, MPI_INT, 1 - rank, 4, win);
        MPI_Allreduce(here, heap, N / 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(data, N, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (asked && !is_checked)
        EQUAL(asked() - before, 0);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(heap);
}

/* Addresses that were the device's are the host's, and the other way round. Only the stand-in leaves the choice of
   addresses to a test. */
static void others(void)
{
    if (!asked)
        return;
    const size_t size = sizeof(int) * LONG;
    for (int round = 0; round < 3; round++) {
        int *at = ints(LONG, 0);
        swap_on_device(at, LONG);
        CHECK(!give(at));
        void *host = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        CHECK(host == at);
        if (early != MPI_WIN_NULL) {
            MPI_Win_attach(early, host, size);
            MPI_Win_detach(early, host);
        }
        swap(host, LONG);
        swap(host, N);
        /* The driver reserves its addresses again. */
        CHECK(mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == at);
        int *again = ints(LONG, 0);
        CHECK(again == at);
        swap_on_device(again, LONG);
        swap_on_device(again, N);
        CHECK(!give(again));
    }
}

int main(int argc, char **argv)
{
    const int is_late = argc > 1 && !strcmp(argv[1], "late");
    char *driver = getenv("LD_PRELOAD");
    if (is_late && driver && *driver) {
        /* Once more without it; it is loaded later. */
        setenv("LATE_DRIVER", driver, 1);
        unsetenv("LD_PRELOAD");
        execv("/proc/self/exe", argv);
        return 1;
    }
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int is_checked = argc > 1 && !strcmp(argv[1], "checked");
    if (is_late) {
        CHECK(!dlsym(RTLD_DEFAULT, "cuInit"));
        hosts();
        unasked(0);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &early);
        CHECK(dlopen(getenv("LATE_DRIVER"), RTLD_NOW | RTLD_GLOBAL));
    }
    open_device();
    asked = dlsym(RTLD_DEFAULT, "device_asked");
    hosts();
    swap_on_device(ints(LONG, 0), LONG);
    unasked(is_checked);
    others();
    if (early != MPI_WIN_NULL)
        MPI_Win_free(&early);
    hosts();
    return finish();
}
