// What is complete within microseconds does not wake the thread that carries messages on while the program computes,
// and beside a program that sleeps with a receive pending it sleeps, too.
// run: -n 2 --set PROGRESS=thread
// run: -n 2 --set PROGRESS=thread --set LINK=tcp
// only: catena
#include "../check.h"

#include <dirent.h>
#include <sched.h>

#define LENGTH (1 << 20)
#define ROUNDS 5000

/* The first line of a file of /proc that begins with `key`, behind that. */
static void line(const char *path, const char *key, char *to, size_t room)
{
    char text[256];
    FILE *file = fopen(path, "r");
    *to = 0;
    while (file && fgets(text, sizeof text, file))
        if (!strncmp(text, key, strlen(key))) {
            snprintf(to, room, "%s", text + strlen(key));
            break;
        }
    if (file)
        fclose(file);
}

/* The number of the thread; 0 if there is none. */
static int beside(void)
{
    DIR *all = opendir("/proc/self/task");
    struct dirent *one;
    int found = 0;
    while ((one = readdir(all))) {
        char path[300], name[64];
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", one->d_name);
        line(path, "catena-beside", name, sizeof name);
        if (*name)
            found = atoi(one->d_name);
    }
    closedir(all);
    return found;
}

static int thread;

/* How often it has gone to sleep. */
static long sleeps(void)
{
    char path[64], number[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    line(path, "voluntary_ctxt_switches:", number, sizeof number);
    CHECK(*number);
    return atol(number);
}

/* Its processor time in ms. */
static double spent(void)
{
    char path[64], number[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", thread);
    line(path, "", number, sizeof number);
    return atof(number) / 1e6;
}

static void rest(long ms)
{
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

static void reduce(void)
{
    long one = 1, sum = 0;
    MPI_Request started;
    MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &started);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
    EQUAL(sum, 2);
}

static void pass(void)
{
    long out = rank, in = -1;
    if (rank == 0)
        MPI_Send(&out, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_LONG, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(&out, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    EQUAL(in, 1 - rank);
}

/* Naps come with the time that passes, not with the calls: a series of eight takes some ms at least. */
static void is_left_alone(void (*operation)(void))
{
    long before = sleeps();
    double began = now();
    for (int i = 0; i < ROUNDS; i++)
        operation();
    double most = 50 + 4e3 * (now() - began);
    CHECK(sleeps() - before < most);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *out = calloc(LENGTH, 1), *in = calloc(LENGTH, 1);
    MPI_Request pending;
    memset(out, 5, LENGTH);
    MPI_Irecv(in, LENGTH, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &pending);
    while (!(thread = beside()))
        sched_yield(); /* it names itself */

    is_left_alone(reduce);
    is_left_alone(pass);

    MPI_Barrier(MPI_COMM_WORLD);
    rest(500);
    long before = sleeps();
    double took = spent();
    rest(1000);
    CHECK(sleeps() - before <= 2);
    CHECK(spent() - took <= 1);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Send(out, LENGTH, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    for (int i = 0; i < LENGTH; i++)
        CHECK(in[i] == 5);
    free(out);
    free(in);
    return finish();
}
