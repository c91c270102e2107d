// Ten thousand sessions, one after the other and at once, leave nothing behind: no memory, no
// descriptor, no thread.
// run: -n 1
// run: -n 3
// alone: 
// time: 60
// only: catena
#include "../check.h"
#include <dirent.h>

enum { ROUNDS = 10000, AT_ONCE = 200 };

static int entries(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    CHECK(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    fclose(file);
    CHECK(kib > 0);
    return kib;
}

static void once(int i)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, i % 2 ? "mpi://SELF" : "mpi://WORLD", &group);
    /* Every hundredth has a communicator of all, which half of them leave to the session. */
    if (i % 100 == 0) {
        int one = 1, sum;
        MPI_Comm_create_from_group(group, "many", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Group_size(group, &size);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(sum, size);
        if (i % 200 == 0)
            MPI_Comm_free(&comm);
    }
    if (i % 3)
        MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

static void many_at_once(void)
{
    static MPI_Session sessions[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sessions[i]);
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Session_finalize(&sessions[i]);
}

int main(void)
{
    /* As many as are counted below: a network fills each of its receive buffers once in so much
       traffic, and memory that is used for the first time then is no leak. */
    for (int i = 0; i < ROUNDS; i++)
        once(i);
    many_at_once();
    long memory = resident_kib();
    int files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    for (int i = 0; i < ROUNDS; i++)
        once(i);
    many_at_once();
    CHECK(entries("/proc/self/fd") <= files); /* A peer that is through may have hung up. */
    EQUAL(entries("/proc/self/task"), threads);
    long grown = resident_kib() - memory;
    if (grown > 1024)
        fprintf(stderr, "rank grew by %ld KiB\n", grown);
    CHECK(grown <= 1024);
    return 0;
}
