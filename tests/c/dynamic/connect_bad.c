// Names of ports that are none, and of those that are there no more: each is an error of class MPI_ERR_PORT at all
// members, at once, and the job goes on.
//
// only: catena
// time: 40
// run: -n 2; says 'is one of user'; says 'cannot be reached'; says 'there is no port'; says 'is not the name'; says 'all done'; ends 20
// alone: CATENA_SINGLETON=1; says 'all done'
#include "../check.h"

static void refused(const char *port)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, code;
    MPI_Comm no = MPI_COMM_WORLD;
    double begin = MPI_Wtime();
    code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &no);
    CHECK(MPI_Wtime() - begin < 10);
    CHECK(no == MPI_COMM_NULL);
    EQUAL(class_of(code), MPI_ERR_PORT);
    MPI_Error_string(code, text, &len);
    if (rank == 0)
        printf("%s\n", text);
}

/* That port of a launcher whose key has another word at that place. */
static const char *changed(const char *port, int place, const char *word)
{
    static char name[2 * MPI_MAX_PORT_NAME];
    const char *at = strchr(port, '@'), *end;
    for (int i = 0; at && i < place; i++)
        at = strchr(at + 1, '.');
    CHECK(at);
    end = at + 1 + strcspn(at + 1, "./");
    snprintf(name, sizeof name, "%.*s%s%s", (int)(at + 1 - port), port, word, end);
    return name;
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", longest[MPI_MAX_PORT_NAME], again[2 * MPI_MAX_PORT_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0)
        EQUAL(class_of(MPI_Open_port(MPI_INFO_NULL, port)), MPI_SUCCESS);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    EQUAL(class_of(MPI_Close_port("garbage")), MPI_ERR_PORT);
    const char *garbage[] = {"", "garbage", "@", "a@b", "a@1.2.3/zz/", "catena:0:0:0:0", "group:x", "spawn:0", longest,
                             "catena:0000000000000001:0:0:00@1.0.00000000/00/1.2.3.4:5"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
        refused(garbage[i]);
    /* A user that nobody is; a process that is no mpirun, on this machine, of which no address is told. */
    refused(changed(port, 1, "4294967294"));
    strcpy(again, changed(port, 0, "4194303"));
    char *last = strrchr(again, '/');
    CHECK(last);
    last[1] = 0;
    refused(again);
    if (rank == 0) {
        EQUAL(class_of(MPI_Close_port(port)), MPI_SUCCESS);
        EQUAL(class_of(MPI_Close_port(port)), MPI_ERR_PORT);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    refused(port);
    if (rank == 0) {
        EQUAL(class_of(MPI_Close_port(longest)), MPI_ERR_PORT);
        EQUAL(class_of(MPI_Publish_name("bad", MPI_INFO_NULL, longest)), MPI_ERR_PORT);
        EQUAL(class_of(MPI_Lookup_name("bad", MPI_INFO_NULL, port)), MPI_ERR_NAME);
        printf("all done\n");
    }
    MPI_Finalize();
    return 0;
}
