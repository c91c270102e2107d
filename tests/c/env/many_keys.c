// What is done with one key of an info object, or one attribute, costs about the same however many there are. So does what
// MPI_Waitsome looks at, as it completes many at once.
//
// only: catena
// run: -n 1 -- keys; says 'done'
// run: -n 2 -- requests; says 'done'
#include "../check.h"

#include <time.h>

#define FEW 2000
#define MANY (16 * FEW)

/* What the processor took: others may use it meanwhile. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static int gone(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    return MPI_SUCCESS;
}

static double keys(int n)
{
    char key[32], value[8];
    int flag, length;
    double begin = seconds();
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof key, "key%d", i);
        MPI_Info_set(info, key, "value");
    }
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof key, "key%d", i);
        length = sizeof value;
        MPI_Info_get_string(info, key, &length, value, &flag);
        CHECK(flag);
    }
    for (int i = 0; i < n; i++) {
        char nth[MPI_MAX_INFO_KEY];
        MPI_Info_get_nthkey(info, 0, nth);
        snprintf(key, sizeof key, "key%d", i);
        CHECK(!strcmp(nth, key));
        MPI_Info_delete(info, key);
    }
    MPI_Info_free(&info);
    return seconds() - begin;
}

static double attributes(int n)
{
    int *keyvals = malloc(n * sizeof *keyvals), flag;
    void *value;
    MPI_Comm copy;
    for (int i = 0; i < n; i++)
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, gone, &keyvals[i], NULL);
    double begin = seconds();
    for (int i = 0; i < n; i++)
        MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[i], &keyvals[i]);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    for (int i = 0; i < n; i++) {
        MPI_Comm_get_attr(copy, keyvals[i], &value, &flag);
        CHECK(flag && value == &keyvals[i]);
    }
    MPI_Comm_free(&copy);
    for (int i = 0; i < n; i++)
        MPI_Comm_delete_attr(MPI_COMM_SELF, keyvals[i]);
    double time = seconds() - begin;
    for (int i = 0; i < n; i++)
        MPI_Comm_free_keyval(&keyvals[i]);
    free(keyvals);
    return time;
}

/* How often MPI_Waitsome has to be called. */
static int calls(int n)
{
    MPI_Request *requests = malloc(n * sizeof *requests);
    int *indices = malloc(n * sizeof *indices), left = n, some, called = 0;
    char byte = 0;
    if (rank == 1)
        for (int i = n; i-- > 0;)
            MPI_Irecv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < n; i++)
            MPI_Isend(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[i]);
    for (; left > 0; left -= some, called++)
        MPI_Waitsome(n, requests, &some, indices, MPI_STATUSES_IGNORE);
    free(requests);
    free(indices);
    return called;
}

/* All of them take 16 times as long, or some times that, as they do not fit into the caches; if one cost more with their
   number it would be 256 times. */
static void grows_little(double few, double many)
{
    CHECK(many < 4 * MANY / FEW * (few > 0.002 ? few : 0.002));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (!strcmp(argv[1], "keys")) {
        grows_little(keys(FEW), keys(MANY));
        grows_little(attributes(FEW), attributes(MANY));
    } else
        CHECK(calls(MANY) < MANY / 100);
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
