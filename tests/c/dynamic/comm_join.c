// Two processes that share a socket join; what is no such socket, or no such process, is an error.
//
// run: -n 2
#include "../check.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A connection between ranks 0 and 1, by an address without a file. */
static int connection(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(sa_family_t);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    if (rank == 0) {
        /* The kernel chooses a name. */
        CHECK(!bind(fd, (struct sockaddr *)&address, len));
        CHECK(!listen(fd, 1));
        len = sizeof address;
        CHECK(!getsockname(fd, (struct sockaddr *)&address, &len));
        MPI_Send(&len, sizeof len, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&address, (int)len, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        int other = accept(fd, 0, 0);
        CHECK(other >= 0);
        close(fd);
        return other;
    }
    MPI_Recv(&len, sizeof len, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&address, (int)len, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(!connect(fd, (struct sockaddr *)&address, len));
    return fd;
}

static void talk(MPI_Comm inter)
{
    int is_inter, n, got = -1, mine = 10 + rank;
    MPI_Comm_test_inter(inter, &is_inter);
    CHECK(is_inter);
    MPI_Comm_size(inter, &n);
    EQUAL(n, 1);
    MPI_Comm_remote_size(inter, &n);
    EQUAL(n, 1);
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE);
    EQUAL(got, 11 - rank);
}

static void join(void)
{
    int fd = connection();
    /* Twice over one socket: a call leaves it as it found it. */
    for (int round = 0; round < 2; round++) {
        /* The one that comes late must still be served while the other waits in the call. */
        static char big[1 << 20];
        MPI_Comm inter;
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == 0)
            MPI_Isend(big, sizeof big, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
        else
            MPI_Recv(big, sizeof big, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_join(fd, &inter);
        talk(inter);
        MPI_Comm_disconnect(&inter);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    char byte = 'x';
    if (rank == 0) {
        CHECK(write(fd, &byte, 1) == 1);
    } else {
        CHECK(read(fd, &byte, 1) == 1);
        CHECK(byte == 'x');
    }
    close(fd);
}

static void errors(void)
{
    int ends[2];
    char noise[64] = "these are not the bytes of a process that joins";
    MPI_Comm inter;
    EQUAL(class_of(MPI_Comm_join(-1, &inter)), MPI_ERR_ARG);
    CHECK(inter == MPI_COMM_NULL);
    CHECK(!pipe(ends));
    EQUAL(class_of(MPI_Comm_join(ends[1], &inter)), MPI_ERR_ARG);
    close(ends[0]);
    close(ends[1]);
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    CHECK(write(ends[1], noise, sizeof noise) == sizeof noise);
    EQUAL(class_of(MPI_Comm_join(ends[0], &inter)), MPI_ERR_OTHER);
    close(ends[0]);
    close(ends[1]);
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    close(ends[1]);
    EQUAL(class_of(MPI_Comm_join(ends[0], &inter)), MPI_ERR_OTHER);
    close(ends[0]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    join();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    errors();
    MPI_Finalize();
    return 0;
}
