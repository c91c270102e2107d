// Many allocations are sent and freed, and others come and go meanwhile: neither side keeps anything of those that are
// gone, neither what is open, nor addresses of the device, nor memory of the process.
// only: catena
// preload: device_driver
// time: 60
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -- 3000
// run: -n 2 -x CATENA_DEVICE_MEMORY=cuda -x DEVICE_FAULT=open -- 1000
#include "device.h"

enum { LONG = 20000, MOST = 20, TAG = 3, OPEN = 18 };

/* KiB of memory that this process has. */
static long resident(void)
{
    long all, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &all, &pages) == 2);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    const int times = argc > 1 ? atoi(argv[1]) : 100;
    int *kept[MOST] = {NULL}, counts[2] = {0, 0};
    long before = 0;
    start(&argc, &argv);
    open_device();
    void (*opened)(int *) = dlsym(RTLD_DEFAULT, "device_opened");
    CHECK(opened);
    int *in = ints(LONG, -1);
    for (int k = 0; k < times; k++) {
        /* Each is freed when as many as MOST at most were sent after it, most of them at once. */
        const int place = k % 7 ? 0 : (k / 7) % MOST, count = LONG - k % 5;
        if (kept[place])
            CHECK(!give(kept[place]));
        int *out = kept[place] = ints(count, k);
        if (rank == 0)
            MPI_Send(out, count, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        else {
            MPI_Recv(in, LONG, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(at(in, 0), k);
            EQUAL(at(in, count - 1), k + count - 1);
        }
        opened(counts);
        CHECK(counts[0] - counts[1] <= OPEN);
        if (k == times / 4)
            before = resident();
    }
    const long after = resident();
    CHECK(after - before < 4096);
    for (int k = 0; k < MOST; k++)
        if (kept[k])
            give(kept[k]);
    MPI_Finalize();
    opened(counts);
    EQUAL(counts[0], counts[1]);
    return 0;
}
