// A connection breaks, and the program goes on: MPI_Finalize fails in every rank and ends all the
// same, and the launcher tells that the job has failed, and why.
// run: --set LINK=tcp -n 3 ; exit 1 ; says ^mpirun: rank \d on host .*: MPI_Finalize: (rank \d gave the call up: )?process \d is gone
// only: catena
#include "../check.h"
#include <netinet/in.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* One of two talks first, so that they have one connection. */
    for (int peer = 0; peer < size; peer++) {
        if (rank < peer)
            MPI_Send(NULL, 0, MPI_INT, peer, 0, MPI_COMM_WORLD);
        if (rank != peer)
            MPI_Recv(NULL, 0, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank > peer)
            MPI_Send(NULL, 0, MPI_INT, peer, 0, MPI_COMM_WORLD);
    }
    for (int fd = 3; fd < 256 && rank == 1; fd++) {
        struct sockaddr_storage to;
        socklen_t len = sizeof to;
        if (!getpeername(fd, (struct sockaddr *)&to, &len) && to.ss_family != AF_UNIX)
            CHECK(!shutdown(fd, SHUT_RDWR));
    }
    int class, done, code = MPI_Finalize();
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_PROC_ABORTED);
    MPI_Finalized(&done);
    CHECK(done);
    return 0;
}
