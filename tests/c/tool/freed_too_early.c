// Memory that is freed while a request uses it, found by `mpirun --check`, by each kind of call and of memory.
// run: -n 2 --check -- malloc ; fails ; says rank 1: free .* a pending MPI_Irecv lies \(400 bytes ; says freed_too_early.c:\d+|rank 1: free \(main ; never says not found
// run: -n 2 --check -- gaps ; fails ; says rank 1: free .* a pending MPI_Irecv lies \(396 bytes ; never says not found
// run: -n 2 --check -- map ; fails ; says rank 1: munmap .* 4096 bytes .* a pending MPI_Irecv lies ; never says not found
// run: -n 2 --check -- vector ; fails ; says rank 1: free .* a pending MPI_Ialltoallv lies \(20 bytes ; never says not found
// run: -n 2 --check -- window ; fails ; says rank 1: free .* a pending MPI_Rget lies ; never says not found
// run: -n 2 --check -- root ; fails ; says rank 1: free .* a pending MPI_Igather lies \(8 bytes ; never says not found
// run: -n 2 --check -- moved ; fails ; says rank 1: realloc .* a pending MPI_Irecv lies \(400 bytes ; never says not found
// run: -n 2 --check -- nothing ; fails ; says rank 1: realloc .* a pending MPI_Irecv lies \(400 bytes ; never says not found
// run: -n 2 --check -- shortened ; says ok ; never says catena: check
// run: -n 2 --check -- two ; says ok
// run: -n 2 --check -- given_up ; says ok
// run: -n 2 --check -- symbol ; fails ; says rank 1: free .* a pending MPI_Irecv lies \(400 bytes ; never says not found
// cc: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    // The text of this error is freed in the next search for a name, which may be the one for `free` itself.
    if (!strcmp(argv[1], "symbol") && dlsym(RTLD_DEFAULT, "no function has this name"))
        return 3;
    MPI_Init(&argc, &argv);
    int rank, one = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request request = MPI_REQUEST_NULL;
    const char *what = argv[1];
    int is_kept = !strcmp(what, "two") || !strcmp(what, "given_up") || !strcmp(what, "shortened");
    MPI_Win window = MPI_WIN_NULL;
    int shown[4] = {0};
    if (!strcmp(what, "window")) {
        MPI_Win_create(shown, sizeof shown, sizeof *shown, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_lock_all(0, window);
    }
    // The other rank waits until this one has ended, or has sent what it waits for.
    if (rank == 0 && !is_kept)
        MPI_Recv(&one, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int *a = malloc(100 * sizeof *a), *b = calloc(100, sizeof *b);
    if (!strcmp(what, "malloc") || !strcmp(what, "symbol")) {
        MPI_Irecv(a, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        free(b);
        free(a);
    } else if (!strcmp(what, "moved") || !strcmp(what, "nothing")) {
        // What is behind it is in use, so the block has to move; a length of zero gives it back.
        MPI_Irecv(a, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        volatile size_t new_length = strcmp(what, "moved") ? 0 : 1 << 20;
        a = realloc(a, new_length);
    } else if (!strcmp(what, "shortened")) {
        // The block stays where it is.
        MPI_Irecv(a, 50, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
        a = realloc(a, 50 * sizeof *a);
        MPI_Send(b, 50, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(a);
        free(b);
    } else if (!strcmp(what, "gaps")) {
        MPI_Datatype every_second;
        MPI_Type_vector(50, 1, 2, MPI_INT, &every_second);
        MPI_Type_commit(&every_second);
        MPI_Irecv(a, 1, every_second, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Type_free(&every_second);
        free(a);
    } else if (!strcmp(what, "map")) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MPI_Irecv(page + 8, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        munmap(page, 4096);
    } else if (!strcmp(what, "vector")) {
        int counts[2] = {0, 5}, places[2] = {0, 50};
        MPI_Ialltoallv(b, (int[2]){0, 0}, places, MPI_INT, a, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
        free(a);
    } else if (!strcmp(what, "window")) {
        MPI_Rget(a, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request);
        free(a);
    } else if (!strcmp(what, "root")) {
        // At the root it is the memory for all; what stands at others for it means nothing.
        MPI_Igather(&rank, 1, MPI_INT, a, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
        free(a);
    } else if (!strcmp(what, "two")) {
        // A type that leads from one block to another: what lies between them is nobody's business, and after
        // the end of the request nothing is.
        int *between = malloc(400), *third = malloc(400);
        MPI_Aint to_third = (char *)third - (char *)a;
        MPI_Datatype both;
        MPI_Type_create_hindexed(2, (int[2]){100, 100}, (MPI_Aint[2]){0, to_third}, MPI_INT, &both);
        MPI_Type_commit(&both);
        MPI_Irecv(a, 1, both, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Request other;
        MPI_Irecv(a, 1, both, 1 - rank, 0, MPI_COMM_WORLD, &other);
        free(between);
        memset(b, 0, 400);
        MPI_Send(b, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        MPI_Waitall(2, (MPI_Request[2]){request, other}, MPI_STATUSES_IGNORE);
        free(third);
        free(a);
        free(b);
    } else if (!strcmp(what, "given_up")) {
        // Of these MPI says nothing more to the program.
        MPI_Isend(b, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(a, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(a, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        free(a);
        free(b);
    }
    if (!is_kept)
        printf("not found\n");
    else if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
}
