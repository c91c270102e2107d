// A rank that is killed in the middle of writing: the others are told, nothing lies beside the file, and no lock is left, not
// of the file system and not in atomic mode. Where the job does not go on, it ends.
//
// only: catena
// time: 60
// run: -n 4 --set FAULT_TOLERANCE=true -- write; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --set FAULT_TOLERANCE=true -- atomic; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --set FAULT_TOLERANCE=true -x CATENA_LINK=tcp -- atomic; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 --set FAULT_TOLERANCE=true -- collective; exit 137; says 'survivor 0 done'; says 'survivor 2 done'; says 'survivor 3 done'
// run: -n 4 -- write; exit 137; never says 'survivor'; says 'rank 1 .*killed by signal 9'
#include "../check.h"
#include <mpi-ext.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

enum { LONG = 256 << 20, FEW = 1000 };

static char folder[200], path[256];

/* A child that kills this process as soon as the file has grown, which is in the middle of the call. */
static void killed_in_it(void)
{
    pid_t mine = getpid();
    if (fork() == 0) {
        struct stat it;
        while (stat(path, &it) || it.st_size <= 4 * FEW)
            if (getppid() != mine)
                _exit(0);
        kill(mine, SIGKILL);
        _exit(0);
    }
}

/* What there is in the folder besides the file, and whether somebody has locked the file. */
static void nothing_left(void)
{
    DIR *all = opendir(folder);
    CHECK(all != NULL);
    for (struct dirent *it; (it = readdir(all));)
        CHECK(it->d_name[0] == '.' || !strcmp(it->d_name, "file"));
    closedir(all);
    int fd = open(path, O_RDWR);
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    CHECK(fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0);
    EQUAL(lock.l_type, F_UNLCK);
    close(fd);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "write";
    MPI_File fh;
    MPI_Status status;
    unsigned char few[FEW];
    int id = getpid(), token = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(folder, sizeof folder, "%s/catena-files-killed-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id);
    snprintf(path, sizeof path, "%s/file", folder);
    if (rank == 0)
        CHECK(mkdir(folder, 0777) == 0 || errno == EEXIST);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &fh),
          MPI_SUCCESS);
    EQUAL(MPI_File_set_atomicity(fh, !strcmp(how, "atomic")), MPI_SUCCESS);
    fill(few, FEW, (unsigned) rank);
    EQUAL(MPI_File_write_at_all(fh, rank * FEW, few, FEW, MPI_BYTE, &status), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    int in_all = !strcmp(how, "collective");
    if (rank == 1) {
        unsigned char *data = malloc(LONG);
        CHECK(data != NULL);
        memset(data, 1, LONG);
        killed_in_it();
        if (in_all)
            MPI_File_write_at_all(fh, 4 * FEW, data, LONG, MPI_BYTE, &status);
        else
            MPI_File_write_at(fh, 4 * FEW, data, LONG, MPI_BYTE, &status);
        /* The call was quicker than the signal: it comes all the same. */
        pause();
    }
    int code;
    if (in_all) {
        code = MPI_File_write_at_all(fh, rank * FEW, few, FEW, MPI_BYTE, &status);
        CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED);
    }
    /* The others learn of it in what they do next with all, each time. */
    code = MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
    for (int times = 0; times < 2; times++) {
        code = MPI_File_write_at_all(fh, rank * FEW, few, FEW, MPI_BYTE, &status);
        EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
    }
    /* What each does by itself goes on, also with bytes that the dead had to itself. */
    EQUAL(MPI_File_write_at(fh, 4 * FEW + rank, few, 1, MPI_BYTE, &status), MPI_SUCCESS);
    unsigned char back[FEW];
    EQUAL(MPI_File_read_at(fh, rank * FEW, back, FEW, MPI_BYTE, &status), MPI_SUCCESS);
    CHECK(wrong_at(back, FEW, (unsigned) rank) == FEW);
    code = MPI_File_close(&fh);
    EQUAL(class_of(code), MPIX_ERR_PROC_FAILED);
    /* The survivors open and delete it. */
    MPI_Comm left;
    EQUAL(MPIX_Comm_shrink(MPI_COMM_WORLD, &left), MPI_SUCCESS);
    nothing_left();
    EQUAL(MPI_File_open(left, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &fh), MPI_SUCCESS);
    EQUAL(MPI_File_set_atomicity(fh, 1), MPI_SUCCESS);
    EQUAL(MPI_File_write_at_all(fh, 4 * FEW, few, FEW, MPI_BYTE, &status), MPI_SUCCESS);
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    if (rank == 0)
        EQUAL(rmdir(folder), 0);
    MPI_Comm_free(&left);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
