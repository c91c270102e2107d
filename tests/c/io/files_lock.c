// A call of the system that takes long, here to open a pipe that nobody writes to yet, keeps no other thread from MPI.
// cc: -pthread
// run: -n 2
// run: -n 2 --set LINK=tcp
// only: catena
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static char folder[] = "/tmp/catena-lock-XXXXXX", path[100];

static void *opener(void *unused)
{
    MPI_File fh;
    /* Whether a pipe is good for a file is another question. */
    if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh) == MPI_SUCCESS)
        MPI_File_close(&fh);
    return unused;
}

int main(int argc, char **argv)
{
    int level, sum;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    EQUAL(level, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(pthread_create(&thread, NULL, opener, NULL) == 0);
    for (int i = 0; i < 2000; i++) {
        sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EQUAL(sum, 1);
    }
    int end = open(path, O_WRONLY);
    CHECK(end >= 0);
    CHECK(pthread_join(thread, NULL) == 0);
    close(end);
    CHECK(remove(path) == 0 && rmdir(folder) == 0);
    MPI_Finalize();
    return 0;
}
