// A group with processes of two mpiruns cannot connect with a third: whoever comes to the port is told so in words, at
// all members, by an error of class MPI_ERR_PORT, and who waits there waits on. The third connects with one of the two.
//
// only: catena
// waits: for who comes to the port
// time: 60
// run: -n 2; says 'more than two mpiruns'; says 'all of them are done'
#include "../check.h"

static FILE *launch(const char *self, const char *how, const char *port)
{
    char command[2000];
    snprintf(command, sizeof command, "mpirun -n 2 %s %s '%s'", self, how, port);
    fflush(stdout);
    FILE *job = popen(command, "r");
    CHECK(job);
    return job;
}

static void end(FILE *job)
{
    for (int c; (c = fgetc(job)) != EOF;)
        putchar(c);
    EQUAL(pclose(job), 0);
}

/* What rank 0 of the group is told; all of it have the class. */
static void refused(int code, MPI_Comm comm, const MPI_Comm *made)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, me;
    CHECK(*made == MPI_COMM_NULL);
    EQUAL(class_of(code), MPI_ERR_PORT);
    MPI_Error_string(code, text, &len);
    MPI_Comm_rank(comm, &me);
    CHECK(me || strstr(text, "more than two mpiruns"));
    printf("%s\n", text);
}

/* All of both, which go on. */
static MPI_Comm both(MPI_Comm inter, int high)
{
    MPI_Comm all;
    int n, sum, one = 1;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_size(all, &n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EQUAL(sum, 4);
    EQUAL(n, 4);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    return all;
}

/* Processes of both go to a port that another one of the second has opened. */
static void back(MPI_Comm all)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int me, one = 1, sum;
    MPI_Comm part, inter;
    MPI_Comm_rank(all, &me);
    MPI_Comm_split(all, me == 3, me, &part);
    if (me == 3)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 3, all);
    if (me == 3)
        EQUAL(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter)), MPI_SUCCESS);
    else
        EQUAL(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter)), MPI_SUCCESS);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    EQUAL(sum, me == 3 ? 3 : 1);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_disconnect(&part);
}

/* Waits `seconds` at a port where only those come that this group cannot meet. */
static void in_vain(const char *port, const char *seconds, MPI_Comm comm)
{
    MPI_Comm no = MPI_COMM_WORLD;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", seconds);
    EQUAL(class_of(MPI_Comm_accept(port, info, 0, comm, &no)), MPI_ERR_PORT);
    CHECK(no == MPI_COMM_NULL);
    MPI_Info_free(&info);
}

/* What all of the first two do; `inter` leads from the first to the third. */
static void mixed(MPI_Comm all, const char *port, MPI_Comm inter)
{
    char third[MPI_MAX_PORT_NAME] = "";
    MPI_Comm no = MPI_COMM_WORLD;
    back(all);
    in_vain(port, "1", all);
    if (inter != MPI_COMM_NULL)
        MPI_Bcast(third, sizeof third, MPI_CHAR, 0, inter);
    refused(MPI_Comm_connect(third, MPI_INFO_NULL, 0, all, &no), all, &no);
    MPI_Comm_disconnect(&all);
}

static void third(const char *port)
{
    char own[MPI_MAX_PORT_NAME] = "";
    MPI_Comm no = MPI_COMM_WORLD, inter;
    EQUAL(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)), MPI_SUCCESS);
    refused(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &no), MPI_COMM_WORLD, &no);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, own);
    MPI_Bcast(own, sizeof own, MPI_CHAR, rank ? MPI_PROC_NULL : MPI_ROOT, inter);
    /* The others come when they have waited their second. */
    in_vain(own, "4", MPI_COMM_WORLD);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc == 1) {
        FILE *jobs[2] = {NULL, NULL};
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            jobs[0] = launch(argv[0], "second", port);
        }
        EQUAL(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)), MPI_SUCCESS);
        all = both(inter, 0);
        if (rank == 0)
            jobs[1] = launch(argv[0], "third", port);
        EQUAL(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)), MPI_SUCCESS);
        mixed(all, port, inter);
        MPI_Comm_disconnect(&inter);
        for (int i = 0; rank == 0 && i < 2; i++)
            end(jobs[i]);
        if (rank == 0)
            printf("all of them are done\n");
    } else if (!strcmp(argv[1], "second")) {
        EQUAL(class_of(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)), MPI_SUCCESS);
        mixed(both(inter, 1), "", MPI_COMM_NULL);
    } else {
        third(argv[2]);
    }
    MPI_Finalize();
    return 0;
}
