// In an allocation of two nodes of Slurm with four tasks together: the processes of a job on the first node spawn on the
// other one, where no process of theirs runs, by the info key host, and as there are not enough slots on the first one.
//
// only: catena
// time: 60
// run: -n 1; says 'all done'
// run: -n 2; says 'all done'
#include "../c/check.h"

static void child(MPI_Comm parent)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int len;
    MPI_Get_processor_name(name, &len);
    MPI_Gather(name, sizeof name, MPI_CHAR, NULL, 0, MPI_CHAR, 0, parent);
    MPI_Comm_disconnect(&parent);
}

/* Returns on how many hosts besides `own` these children run. */
static int elsewhere(const char *self, int children, MPI_Info info, const char *own)
{
    char names[8][MPI_MAX_PROCESSOR_NAME];
    int others = 0;
    MPI_Comm inter;
    MPI_Comm_spawn(self, MPI_ARGV_NULL, children, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Gather(NULL, 0, MPI_CHAR, names, sizeof *names, MPI_CHAR, rank ? MPI_PROC_NULL : MPI_ROOT, inter);
    for (int i = 0; rank == 0 && i < children; i++)
        others += strcmp(names[i], own) != 0;
    MPI_Comm_disconnect(&inter);
    return others;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (parent != MPI_COMM_NULL) {
        child(parent);
        MPI_Finalize();
        return 0;
    }
    char own[MPI_MAX_PROCESSOR_NAME];
    int len;
    MPI_Get_processor_name(own, &len);
    const char *other = strcmp(own, "h0") ? "h0" : "h1";
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "host", other);
    for (int i = 0; i < 2; i++) {
        int there = elsewhere(argv[0], 1, info, own), some = elsewhere(argv[0], 4, MPI_INFO_NULL, own);
        if (rank == 0) {
            EQUAL(there, 1);
            CHECK(some > 0);
        }
    }
    /* A host that the allocation does not have. */
    MPI_Comm no;
    MPI_Info_set(info, "host", "elsewhere");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &no, MPI_ERRCODES_IGNORE)),
          MPI_ERR_SPAWN);
    MPI_Info_free(&info);
    if (rank == 0)
        printf("all done\n");
    MPI_Finalize();
    return 0;
}
