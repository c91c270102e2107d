// A process that calls MPI_Init after another one of its job has died knows of it: it waits for nobody
// who is dead. Rank 0 comes once rank 2, which was there, knows of the death.
//
// only: catena
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- recv; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- any; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- barrier; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first --set COLL_NODE=false -- barrier; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- agree; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- sent; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
#include "../check.h"
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The name, without a file, at which rank 0 waits for rank 2. */
static socklen_t place(struct sockaddr_un *at)
{
    memset(at, 0, sizeof *at);
    at->sun_family = AF_UNIX;
    int n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "catena-ft-late-%d", (int)getppid());
    return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}

/* Before MPI_Init: returns once rank 2 knows of the death. */
static void wait_for_the_news(void)
{
    struct sockaddr_un at;
    socklen_t length = place(&at);
    int door = socket(AF_UNIX, SOCK_STREAM, 0), news;
    CHECK(bind(door, (struct sockaddr *)&at, length) == 0 && listen(door, 1) == 0);
    CHECK((news = accept(door, NULL, NULL)) >= 0);
    close(news);
    close(door);
}

static void tell_the_news(void)
{
    struct sockaddr_un at;
    socklen_t length = place(&at);
    int news = socket(AF_UNIX, SOCK_STREAM, 0);
    // Rank 0 may not be there yet.
    while (connect(news, (struct sockaddr *)&at, length) != 0)
        sched_yield();
    close(news);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int word = 7, got = 0, n;
    MPI_Comm left;
    if (!strcmp(getenv("CATENA_RANK"), "0"))
        wait_for_the_news();
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        if (!strcmp(how, "sent"))
            MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    if (rank == 2) {
        CHECK(MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED);
        tell_the_news();
    }
    if (!strcmp(how, "recv") && rank == 0)
        CHECK(MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED);
    if (!strcmp(how, "any") && rank == 0)
        CHECK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            == MPIX_ERR_PROC_FAILED);
    if (!strcmp(how, "barrier"))
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPIX_ERR_PROC_FAILED);
    if (!strcmp(how, "agree")) {
        got = rank + 4;
        CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &got) == MPIX_ERR_PROC_FAILED);
        CHECK(got == (4 & 6));
    }
    if (!strcmp(how, "sent") && rank == 0) {
        // What the dead has sent arrives, also after the news.
        CHECK(MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(got == 7);
        CHECK(MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED);
    }
    CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left) == MPI_SUCCESS);
    MPI_Comm_size(left, &n);
    CHECK(n == 2);
    CHECK(MPI_Barrier(left) == MPI_SUCCESS);
    MPI_Comm_free(&left);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
