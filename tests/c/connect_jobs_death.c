// A job of another mpirun that dies ends those that are connected to it, and nobody else.
//
// only: catena
// time: 40
// run: -n 2 -- connected rank; fails; says 'a job of another mpirun has failed.*was killed by signal 9'
// run: -n 2 -- connected mpirun; fails; says 'a job of another mpirun has failed.*its mpirun was killed'
// run: -n 2 -- parted rank; says 'the host goes on'
// run: -n 2 -- parted mpirun; says 'the host goes on'
#include "check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", command[2000], told[1000];
    int is_guest = argc > 3, parts = !strcmp(argv[1], "parted");
    MPI_Comm inter;
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
    if (parts) {
        MPI_Comm_disconnect(&inter);
        /* The host has disconnected once all its ranks have: then it makes a file. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (!is_guest && rank == 0)
            CHECK(fclose(fopen(told, "w")) == 0);
        while (is_guest && rank == 0 && access(argv[4], F_OK))
            ;
    }
    if (is_guest && rank == 0)
        kill(strcmp(argv[2], "rank") ? getppid() : getpid(), SIGKILL);
    if (is_guest || !parts) {
        MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        while (fgetc(job) != EOF)
            ;
        CHECK(pclose(job) != 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("the host goes on\n");
    MPI_Finalize();
    return 0;
}
