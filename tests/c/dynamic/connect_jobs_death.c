// A job of another mpirun that dies ends those that are connected to it, and nobody else: once one of the two has
// disconnected they are not.
//
// only: catena
// time: 40
// run: -n 2 -- connected rank; fails; says 'a job of another mpirun has failed.*was killed by signal 9'
// run: -n 2 -- connected mpirun; fails; says 'a job of another mpirun has failed.*its mpirun was killed'
// run: -n 2 -- parted rank; says 'the host goes on'
// run: -n 2 -- parted mpirun; says 'the host goes on'
// run: -n 2 -- slower rank; says 'the host goes on'
// run: -n 2 -- unheard mpirun; says 'the host goes on'
#include "../check.h"
#include <sched.h>
#include <signal.h>
#include <unistd.h>

static MPI_Comm inter;

/* All of this job disconnect. */
static void part(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_disconnect(&inter);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void make(const char *file)
{
    CHECK(fclose(fopen(file, "w")) == 0);
}

static void guest(const char *how, int kills, const char *told)
{
    if (!strcmp(how, "parted") || !strcmp(how, "slower"))
        part();
    if (strcmp(how, "connected") && strcmp(how, "slower"))
        while (rank == 0 && access(told, F_OK))
            sched_yield();
    if (rank == 0)
        kill(kills, SIGKILL);
    MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void host(const char *how, FILE *job, const char *told)
{
    if (!strcmp(how, "connected"))
        MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "parted"))
        part();
    /* An mpirun that is stopped hears of the other's end first, and then that all here had disconnected. The other rank
       may not know the other job yet, of which it learns from its mpirun. */
    if (!strcmp(how, "unheard")) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            kill(getppid(), SIGSTOP);
    }
    if (rank == 0) {
        if (strcmp(how, "slower"))
            make(told);
        while (fgetc(job) != EOF)
            ;
        CHECK(pclose(job) != 0);
    }
    if (strcmp(how, "parted"))
        part();
    if (rank == 0 && !strcmp(how, "unheard"))
        kill(getppid(), SIGCONT);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("the host goes on\n");
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", command[2000], told[1000];
    int is_guest = argc > 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *job = NULL;
    if (is_guest) {
        MPI_Comm_connect(argv[3], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    } else {
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            snprintf(told, sizeof told, "%s-%d", argv[0], (int)getpid());
            snprintf(command, sizeof command, "mpirun -n 2 %s %s %s '%s' %s 2>&1", argv[0], argv[1], argv[2], port, told);
            CHECK(job = popen(command, "r"));
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    }
    /* All know all. */
    int one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    if (is_guest)
        guest(argv[1], strcmp(argv[2], "rank") ? getppid() : getpid(), argv[4]);
    else
        host(argv[1], job, told);
    MPI_Finalize();
    return 0;
}
