// Ports and services of another user are none of this one's: what is published is not found, a port is an error of class
// MPI_ERR_PORT that tells whose it is, also one whose name was changed, and the other user's job learns nothing of it.
// For root, who alone can be two users.
//
// only: catena
// time: 60
// run: -n 1 --set NAMES=user; says 'all done|one user only'
#define _GNU_SOURCE
#include "../check.h"
#include <grp.h>
#include <sys/wait.h>

enum { STRANGER = 65534 };

static const char service[] = "connect_stranger";

/* A job of its own, of another user, that opens a port, publishes it, and accepts until it is told to end. */
static int stranger(int told, int asked)
{
    char port[MPI_MAX_PORT_NAME] = "", word, *names[] = {"CATENA_BOOT", "HOME", "XDG_RUNTIME_DIR", "TMPDIR"};
    for (int i = 0; i < 4; i++)
        unsetenv(names[i]);
    setenv("CATENA_SINGLETON", "1", 1);
    if (setgroups(0, NULL) || setgid(STRANGER) || setuid(STRANGER) || chdir("/"))
        return 1;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Open_port(MPI_INFO_NULL, port)), MPI_SUCCESS);
    EQUAL(class_of(MPI_Publish_name(service, MPI_INFO_NULL, port)), MPI_SUCCESS);
    CHECK(write(told, port, sizeof port) == sizeof port);
    MPI_Info info;
    MPI_Comm nobody = MPI_COMM_WORLD;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "1");
    EQUAL(class_of(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &nobody)), MPI_ERR_PORT);
    CHECK(nobody == MPI_COMM_NULL);
    MPI_Info_free(&info);
    CHECK(read(asked, &word, 1) == 0);
    MPI_Unpublish_name(service, MPI_INFO_NULL, port);
    MPI_Close_port(port);
    MPI_Finalize();
    return 0;
}

static void refused(const char *port, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, code;
    MPI_Comm no = MPI_COMM_WORLD;
    double begin = MPI_Wtime();
    code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &no);
    MPI_Error_string(code, text, &length);
    printf("%s\n", text);
    EQUAL(class_of(code), MPI_ERR_PORT);
    CHECK(strstr(text, words));
    CHECK(no == MPI_COMM_NULL && MPI_Wtime() - begin < 10);
}

int main(int argc, char **argv)
{
    int told[2], asked[2], status = 0;
    char port[MPI_MAX_PORT_NAME] = "";
    CHECK(!pipe(told) && !pipe(asked));
    pid_t other = 0;
    if (geteuid() == 0) {
        other = fork();
        CHECK(other >= 0);
        if (other == 0) {
            close(told[0]);
            close(asked[1]);
            _exit(stranger(told[1], asked[0]));
        }
    }
    close(told[1]);
    close(asked[0]);
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (other) {
        CHECK(read(told[0], port, sizeof port) == sizeof port);
        refused(port, "is one of user 65534");
        /* As if it were this user's. */
        char changed[2 * MPI_MAX_PORT_NAME], *at = strstr(port, ".65534.");
        CHECK(at);
        snprintf(changed, sizeof changed, "%.*s.0.%s", (int)(at - port), port, at + 7);
        refused(changed, "there is no port");
        EQUAL(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)), MPI_ERR_NAME);
        close(asked[1]);
        CHECK(waitpid(other, &status, 0) == other);
        EQUAL(status, 0);
    }
    printf(other ? "all done\n" : "one user only\n");
    MPI_Finalize();
    return 0;
}
