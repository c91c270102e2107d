// The jobs of two mpiruns of one user connect at a port, whose name one publishes and the other looks up; so do
// processes that nobody has started, with such a job and with each other. Without CATENA_NAMES only jobs of one mpirun
// find a name.
//
// only: catena
// time: 60
// run: -n 2 --set NAMES=user -- mpirun -n 2; says 'host is done'
// run: -n 1 --set NAMES=user -- mpirun -n 3; says 'host is done'
// run: -n 3 --set NAMES=user --set LINK=tcp -- mpirun -n 1 --set LINK=tcp; says 'host is done'
// run: -n 2 --set NAMES=user; says 'host is done'
// run: -n 2 --set NAMES=user --set LINK=shm+tcp -- mpirun -n 2 --set LINK=tcp; says 'host is done'
// run: -n 3 --set NAMES=user --set LINK=tcp -- mpirun -n 2 --set LINK=shm+tcp; says 'host is done'
// run: -n 1 --set NAMES=user; says 'host is done'
// alone: CATENA_NAMES=user CATENA_SINGLETON=1 'GUEST=mpirun -n 2'; says 'host is done'
// alone: CATENA_NAMES=user CATENA_SINGLETON=1; says 'host is done'
//
// variant: connect_jobs_hosts -n 2 --set NAMES=/tmp/catena-test-names
// The two mpiruns are on two hosts, or both use two.
// only: catena
// hosts: 2
// time: 120
// run: -- scripts/hosts h1 mpirun -n 2; says 'host is done'
// run: -- unshare --pid --fork --mount-proc mpirun -n 2; says 'host is done'
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts -- mpirun -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts; says 'host is done'
// run: --host h1:2 --launcher-agent scripts/hosts -- mpirun -n 1; says 'host is done'
#include "../check.h"
#include <unistd.h>

enum { ROUNDS = 3, LONG = 300000 };

/* All of one job talk to all of the other: short messages, and long ones. */
static void talk(MPI_Comm inter, int mark, int other)
{
    static int out[LONG], in[16][LONG];
    int remote;
    MPI_Request requests[32];
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote <= 16);
    for (int n = 1; n <= LONG; n += LONG - 1) {
        for (int i = 0; i < n; i++)
            out[i] = mark + i;
        for (int r = 0; r < remote; r++) {
            MPI_Irecv(in[r], n, MPI_INT, r, 3, inter, &requests[2 * r]);
            MPI_Isend(out, n, MPI_INT, r, 3, inter, &requests[2 * r + 1]);
        }
        MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE);
        for (int r = 0; r < remote; r++)
            EQUAL(in[r][n - 1], other + n - 1);
    }
    /* As one communicator. */
    MPI_Comm all;
    int n, sum, one = 1;
    MPI_Intercomm_merge(inter, mark > other, &all);
    MPI_Comm_size(all, &n);
    EQUAL(n, size + remote);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EQUAL(sum, n);
    MPI_Comm_disconnect(&all);
}

static void guest(const char *service)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank == 0)
        EQUAL(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)), MPI_SUCCESS);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        talk(inter, 200 + round, 100 + round);
        MPI_Comm_disconnect(&inter);
    }
    /* A port of the other job's that was closed, and one that has another secret. */
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    char closed[MPI_MAX_PORT_NAME] = "";
    MPI_Bcast(closed, sizeof closed, MPI_CHAR, 0, inter);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm no;
    EQUAL(class_of(MPI_Comm_connect(closed, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &no)), MPI_ERR_PORT);
    if (rank == 0) {
        char *digit = strchr(port, '@') - 1;
        *digit = *digit == '0' ? '1' : '0';
    }
    EQUAL(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &no)), MPI_ERR_PORT);
    MPI_Comm_disconnect(&inter);
    printf("guest %d is done\n", rank);
}

static void host(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", closed[MPI_MAX_PORT_NAME] = "", service[64], command[2000] = "";
    MPI_Comm inter;
    FILE *job = NULL;
    snprintf(service, sizeof service, "connect_jobs_%d", (int)getpid());
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        CHECK(strlen(port) <= 200);
        MPI_Open_port(MPI_INFO_NULL, closed);
        MPI_Close_port(closed);
        EQUAL(class_of(MPI_Publish_name(service, MPI_INFO_NULL, port)), MPI_SUCCESS);
        for (int i = 1; i < argc; i++)
            strcat(strcat(command, argv[i]), " ");
        if (getenv("GUEST"))
            strcat(strcat(command, "env -u CATENA_SINGLETON "), getenv("GUEST"));
        else if (argc == 1)
            strcat(command, "env CATENA_SINGLETON=1");
        strcat(command, " ");
        strcat(strcat(strcat(strcat(command, argv[0]), " guest '"), service), "'");
        fflush(stdout);
        CHECK(job = popen(command, "r"));
    }
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        talk(inter, 100 + round, 200 + round);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    MPI_Bcast(closed, sizeof closed, MPI_CHAR, rank ? MPI_PROC_NULL : MPI_ROOT, inter);
    MPI_Comm_disconnect(&inter);
    if (rank == 0) {
        for (int c; (c = fgetc(job)) != EOF;)
            putchar(c);
        EQUAL(pclose(job), 0);
        EQUAL(class_of(MPI_Unpublish_name(service, MPI_INFO_NULL, port)), MPI_SUCCESS);
        EQUAL(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)), MPI_ERR_NAME);
        MPI_Close_port(port);
        printf("host is done\n");
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc > 2 && !strcmp(argv[1], "guest"))
        guest(argv[2]);
    else
        host(argc, argv);
    MPI_Finalize();
    return 0;
}
