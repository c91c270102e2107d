// What the children of a process write that nobody has started is written when that process has ended: they write through its
// launcher. Where the process has closed its standard output, nothing of the library's gets that number, and what it
// prints goes nowhere.
//
// only: catena
// alone: HOW=plain; says 'all done'
// alone: HOW=closed; says 'all done'
#include "../check.h"
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#define CHILDREN 2
/* More than is written by the way. */
#define LINES 20000

static void child(MPI_Comm parent, const char *mark)
{
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    /* The parent has finalized, and is about to end. */
    while (access(mark, F_OK))
        sched_yield();
    for (int i = 0; i < LINES; i++)
        printf("child %d\n", i);
}

static void parent(char **argv)
{
    MPI_Comm inter;
    char *args[] = {argv[1], NULL};
    MPI_Comm_spawn(argv[0], args, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    printf("parent\n");
    fflush(stdout);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    close(open(argv[1], O_CREAT | O_WRONLY, 0600));
}

/* Runs itself, and looks at what there is at its end. */
static void outer(const char *self, int closed)
{
    char mark[200], out[220], command[1000], line[100];
    int lines = 0;
    snprintf(mark, sizeof mark, "/tmp/catena-output-%d", (int)getpid());
    snprintf(out, sizeof out, "%s.out", mark);
    snprintf(command, sizeof command, closed ? "'%s' %s 1>&- 2>%s" : "'%s' %s >%s 2>&1", self, mark, out);
    EQUAL(system(command), 0);
    FILE *file = fopen(out, "r");
    CHECK(file);
    while (fgets(line, sizeof line, file))
        lines++;
    fclose(file);
    unlink(out);
    unlink(mark);
    EQUAL(lines, closed ? 0 : 1 + CHILDREN * LINES);
    printf("all done\n");
}

int main(int argc, char **argv)
{
    const char *how = getenv("HOW");
    if (argc == 1) {
        outer(argv[0], how && !strcmp(how, "closed"));
        return 0;
    }
    MPI_Comm above;
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&above);
    if (above == MPI_COMM_NULL)
        parent(argv);
    else
        child(above, argv[1]);
    return 0;
}
