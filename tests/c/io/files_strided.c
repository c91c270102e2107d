// Reads of longer runs with gaps between them, from files that end anywhere, to memory with and without gaps.
// run: -n 1
// run: -n 3 -x TEST_FAULTS=short=777,eintr
// run: -n 2 -x SIEVE=disable
// only: catena
#include "../check.h"
#include <stdlib.h>
#include <unistd.h>

enum { LENGTH = 300000, ROUNDS = 60 };

static unsigned long long state = 88172645463325252ull;

static int below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int) ((state >> 11) % (unsigned) n);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *folder = getenv("TMPDIR");
    char path[256];
    snprintf(path, sizeof path, "%s/catena-files-strided-%d", folder ? folder : "/tmp", (int) getpid());
    MPI_File fh;
    MPI_Info info;
    MPI_Status status;
    MPI_Info_create(&info);
    if (getenv("TEST_FAULTS"))
        MPI_Info_set(info, "catena_io_faults", getenv("TEST_FAULTS"));
    if (getenv("SIEVE"))
        MPI_Info_set(info, "romio_ds_read", getenv("SIEVE"));
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    EQUAL(MPI_File_open(MPI_COMM_SELF, path, mode, info, &fh), MPI_SUCCESS);
    unsigned char *file = malloc(LENGTH), *got = malloc(2 * LENGTH);
    for (int i = 0; i < LENGTH; i++)
        file[i] = byte_at(7, (size_t) i);
    for (int round = 0; round < ROUNDS; round++) {
        int run = 200 + below(3000), gap = 1 + below(round % 4 ? 2000 : 12000), disp = below(500), spread = below(2);
        int end = below(LENGTH - disp) + disp, count = LENGTH / (run + gap) + 1, tiles = below(count) + 1;
        EQUAL(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
        EQUAL(MPI_File_set_size(fh, 0), MPI_SUCCESS);
        EQUAL(MPI_File_write_at(fh, 0, file, end, MPI_BYTE, &status), MPI_SUCCESS);
        MPI_Datatype runs, view, pairs, memory;
        MPI_Type_contiguous(run, MPI_BYTE, &runs);
        MPI_Type_create_resized(runs, 0, run + gap, &view);
        MPI_Type_commit(&view);
        MPI_Type_create_resized(MPI_BYTE, 0, 1 + spread, &pairs);
        MPI_Type_contiguous(run, pairs, &memory);
        MPI_Type_commit(&memory);
        EQUAL(MPI_File_set_view(fh, disp, MPI_BYTE, view, "native", MPI_INFO_NULL), MPI_SUCCESS);
        memset(got, 0xee, 2 * LENGTH);
        if (tiles * run * (1 + spread) > 2 * LENGTH)
            tiles = 2 * LENGTH / (run * (1 + spread));
        int from = below(run), there = 0, told;
        EQUAL(MPI_File_read_at(fh, from, got, tiles, memory, &status), MPI_SUCCESS);
        for (int i = 0; i < tiles * run; i++) {
            int at = disp + (from + i) / run * (run + gap) + (from + i) % run;
            if (at >= end)
                break;
            there++;
            CHECK(got[i * (1 + spread)] == file[at]);
        }
        MPI_Get_elements(&status, MPI_BYTE, &told);
        EQUAL(told, there);
        for (int i = there; i < tiles * run; i++)
            CHECK(got[i * (1 + spread)] == 0xee);
        MPI_Type_free(&runs);
        MPI_Type_free(&view);
        MPI_Type_free(&pairs);
        MPI_Type_free(&memory);
    }
    EQUAL(MPI_File_close(&fh), MPI_SUCCESS);
    MPI_Info_free(&info);
    free(file);
    free(got);
    return finish();
}
