// Atomic mode of members that see each other's processes nowhere, as in a container for each of them: nobody takes one that is
// alive for dead and its bytes for free.
// run: -n 4 unshare --user --map-root-user --pid --fork --kill-child --mount-proc sh -c 'i=0; while [ $i -le $CATENA_RANK ]; do (:); i=$((i+1)); done; "$0"; exit $?' @
// run: -n 4
// only: catena
// needs: user namespaces
// time: 60
#include "../check.h"

enum { LEN = 200000, ROUNDS = 2 };

int main(int argc, char **argv)
{
    char path[] = "/tmp/catena-apart-XXXXXX";
    char *bytes = malloc(LEN), *read = malloc(LEN);
    start(&argc, &argv);
    if (rank == 0)
        close(mkstemp(path));
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File fh;
    /* Each byte by a call of the system: that takes longer than somebody who waits sleeps, before it looks whether the others are
       there. */
    MPI_Info info;
    MPI_Datatype second;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", "disable");
    MPI_Info_set(info, "romio_ds_read", "disable");
    MPI_Type_create_resized(MPI_CHAR, 0, 2, &second);
    MPI_Type_commit(&second);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &fh);
    MPI_File_set_view(fh, 0, MPI_CHAR, second, "native", info);
    EQUAL(MPI_File_set_atomicity(fh, 1), MPI_SUCCESS);
    memset(bytes, 'a' + rank, LEN);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        EQUAL(MPI_File_write_at(fh, 0, bytes, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EQUAL(MPI_File_read_at(fh, 0, read, LEN, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
        for (int i = 1; i < LEN; i++)
            EQUAL(read[i], read[0]);
    }
    MPI_File_close(&fh);
    MPI_Info_free(&info);
    MPI_Type_free(&second);
    free(bytes);
    free(read);
    MPI_Finalize();
    return 0;
}
