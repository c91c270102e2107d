// A library that delivers wrong data: SPOIL names the function, SPOIL_EVERY says in which of its calls (each), SPOIL_AT in
// which one of so many (the last), SPOIL_RANK on which rank (all), SPOIL_WHERE that it is not the data but what lies `before`
// or `behind` them. SPOIL_ZEROS ends the program with status 9 where 64 bytes and more are all zero. For scripts/testing/test-bench.
// build: shared
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int spoils(const char *function)
{
    static int calls, rank = -1;
    const char *named = getenv("SPOIL"), *every = getenv("SPOIL_EVERY"), *at = getenv("SPOIL_AT"), *only = getenv("SPOIL_RANK");
    if (!named || strcmp(named, function))
        return 0;
    if (rank < 0)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return (!every || ++calls % atoi(every) == (at ? atoi(at) : 0)) && (!only || rank == atoi(only));
}

static int bytes_of(int count, MPI_Datatype type)
{
    int size;
    MPI_Type_size(type, &size);
    return count * size;
}

// What is sent and received when it is timed has to be like the data of programs.
static void look_for_zeros(const char *at, int bytes)
{
    if (bytes >= 64 && getenv("SPOIL_ZEROS") && !*at && !memcmp(at, at + 1, (size_t)bytes - 1))
        _exit(9);
}

// Where to write to.
static char *spot(void *at, int bytes)
{
    const char *where = getenv("SPOIL_WHERE");
    return (char *)at + (!where ? bytes - 1 : strcmp(where, "before") ? bytes : -1);
}

static void spoil(const char *function, void *at, int count, MPI_Datatype type)
{
    int bytes = bytes_of(count, type);
    look_for_zeros(at, bytes);
    if (spoils(function) && bytes > 0)
        *spot(at, bytes) ^= 1;
}

// Something else to send; it stays until the program ends.
static const void *another(const char *function, const void *at, int count, MPI_Datatype type)
{
    int bytes = bytes_of(count, type);
    char *copy = malloc(bytes + 1);
    look_for_zeros(at, bytes);
    if (!spoils(function) || !copy || !bytes)
        return at;
    memcpy(copy, at, bytes);
    copy[0] ^= 1;
    return copy;
}

static int ranks_of(MPI_Comm comm)
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

// Nobody waits.
int MPI_Barrier(MPI_Comm comm)
{
    return spoils("Barrier") ? MPI_SUCCESS : PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Ibarrier(spoils("Ibarrier") ? MPI_COMM_SELF : comm, request);
}

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return PMPI_Barrier_init(spoils("Barrier_init") ? MPI_COMM_SELF : comm, info, request);
}

int MPI_Bcast(void *at, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int result = PMPI_Bcast(at, count, type, root, comm);
    if (type == MPI_CHAR && count == 64) // others are the program's own
        spoil("Bcast", at, count, type);
    return result;
}

int MPI_Send(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return PMPI_Send(count == 8 ? another("Send", at, count, type) : at, count, type, to, tag, comm);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int result = PMPI_Iprobe(from, tag, comm, flag, status);
    if (spoils("Iprobe"))
        *flag = 1;
    return result;
}

int MPI_Reduce_local(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op)
{
    int result = PMPI_Reduce_local(in, inout, count, type, op);
    spoil("Reduce_local", inout, count, type);
    return result;
}

int MPI_Ialltoall(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype into, MPI_Comm comm,
                  MPI_Request *request)
{
    return PMPI_Ialltoall(another("Ialltoall", out, n * ranks_of(comm), type), n, type, in, m, into, comm, request);
}

int MPI_Alltoall_init(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype into, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    return PMPI_Alltoall_init(another("Alltoall_init", out, n * ranks_of(comm), type), n, type, in, m, into, comm, info, request);
}

int MPI_Neighbor_alltoall(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype into, MPI_Comm comm)
{
    int result = PMPI_Neighbor_alltoall(out, n, type, in, m, into, comm);
    spoil("Neighbor_alltoall", in, m, into);
    return result;
}

int MPI_Ineighbor_allgather(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype into, MPI_Comm comm,
                            MPI_Request *request)
{
    return PMPI_Ineighbor_allgather(another("Ineighbor_allgather", out, n, type), n, type, in, m, into, comm, request);
}

int MPI_Neighbor_allgather_init(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype into,
                                MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return PMPI_Neighbor_allgather_init(another("Neighbor_allgather_init", out, n, type), n, type, in, m, into, comm, info,
                                        request);
}

int MPI_Psend_init(const void *at, int parts, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
    return PMPI_Psend_init(another("Psend_init", at, parts * n, type), parts, n, type, to, tag, comm, info, request);
}

// Each rank alone.
int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *made)
{
    MPI_Group alone = group;
    char name[MPI_MAX_STRINGTAG_LEN] = "";
    int me, result;
    if (!spoils("Comm_create_from_group"))
        return PMPI_Comm_create_from_group(group, tag, info, handler, made);
    PMPI_Group_rank(group, &me);
    PMPI_Group_incl(group, 1, &me, &alone);
    name[0] = (char)('a' + me);
    result = PMPI_Comm_create_from_group(alone, name, info, handler, made);
    PMPI_Group_free(&alone);
    return result;
}

// What comes over a socket of the program's own, which are messages of 64 bytes.
ssize_t recv(int file, void *at, size_t bytes, int how)
{
    static ssize_t (*real)(int, void *, size_t, int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "recv");
    ssize_t n = real(file, at, bytes, how);
    const char *named = getenv("SPOIL");
    if (n == 64 && how == MSG_DONTWAIT && named && !strcmp(named, "recv"))
        *(char *)at ^= 1;
    return n;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    return PMPI_Comm_dup(spoils("Comm_dup") ? MPI_COMM_SELF : comm, made);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *made)
{
    return PMPI_Comm_split(comm, colour >= 0 && spoils("Comm_split") ? 0 : colour, key, made);
}

int MPI_Comm_spawn(const char *command, char *words[], int most, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *made, int codes[])
{
    return PMPI_Comm_spawn(command, words, spoils("Comm_spawn") ? most - 1 : most, info, root, comm, made, codes);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    return PMPI_File_open(comm, spoils("File_open") ? "/dev/null" : name, mode, info, file);
}

int MPI_Recv(void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    int result = PMPI_Recv(at, count, type, from, tag, comm, status);
    spoil("Recv", at, count, type);
    return result;
}

int MPI_Pack(const void *in, int n, MPI_Datatype type, void *out, int room, int *at, MPI_Comm comm)
{
    int result = PMPI_Pack(in, n, type, out, room, at, comm);
    if (spoils("Pack"))
        ((char *)out)[*at - 1] ^= 1;
    return result;
}

int MPI_Unpack(const void *in, int bytes, int *at, void *out, int n, MPI_Datatype type,
               MPI_Comm comm)
{
    int result = PMPI_Unpack(in, bytes, at, out, n, type, comm);
    if (spoils("Unpack"))
        *(char *)out ^= 1;
    return result;
}

int MPI_Isend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return PMPI_Isend(another("Isend", at, count, type), count, type, to, tag, comm, request);
}

int MPI_Send_init(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Send_init(another("Send_init", at, count, type), count, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int m,
                 MPI_Datatype into, int from, int with, MPI_Comm comm, MPI_Status *status)
{
    int result = PMPI_Sendrecv(out, n, type, to, tag, in, m, into, from, with, comm, status);
    spoil("Sendrecv", in, m, into);
    return result;
}

int MPI_Scatterv(const void *out, const int n[], const int at[], MPI_Datatype type, void *in,
                 int m, MPI_Datatype into, int root, MPI_Comm comm)
{
    int result = PMPI_Scatterv(out, n, at, type, in, m, into, root, comm);
    spoil("Scatterv", in, m, into);
    return result;
}

int MPI_Alltoall(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype into,
                 MPI_Comm comm)
{
    int result = PMPI_Alltoall(out, n, type, in, m, into, comm);
    if (type != MPI_INT) // others are the program's own
        spoil("Alltoall", in, m, into);
    return result;
}

int MPI_Alltoallv(const void *out, const int n[], const int at[], MPI_Datatype type, void *in,
                  const int m[], const int to[], MPI_Datatype into, MPI_Comm comm)
{
    int result = PMPI_Alltoallv(out, n, at, type, in, m, to, into, comm);
    spoil("Alltoallv", in, m[0], into);
    return result;
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    int result = PMPI_Allreduce(out, in, count, type, op, comm);
    if (type == MPI_DOUBLE && op == MPI_SUM) // others are the program's own
        spoil("Allreduce", in, count, type);
    return result;
}

int MPI_Reduce_scatter(const void *out, void *in, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
    int result = PMPI_Reduce_scatter(out, in, counts, type, op, comm);
    int rank;
    MPI_Comm_rank(comm, &rank);
    spoil("Reduce_scatter", in, counts[rank], type);
    return result;
}

int MPI_Scan(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int result = PMPI_Scan(out, in, count, type, op, comm);
    spoil("Scan", in, count, type);
    return result;
}

int MPI_File_write_at(MPI_File file, MPI_Offset to, const void *at, int count, MPI_Datatype type,
                      MPI_Status *status)
{
    return PMPI_File_write_at(file, to, another("File_write_at", at, count, type), count, type, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset to, const void *at, int count, MPI_Datatype type,
                          MPI_Status *status)
{
    return PMPI_File_write_at_all(file, to, another("File_write_at_all", at, count, type), count, type,
                                  status);
}

int MPI_File_write_shared(MPI_File file, const void *at, int count, MPI_Datatype type,
                          MPI_Status *status)
{
    return PMPI_File_write_shared(file, another("File_write_shared", at, count, type), count, type,
                                  status);
}

int MPI_File_write_ordered(MPI_File file, const void *at, int count, MPI_Datatype type,
                           MPI_Status *status)
{
    return PMPI_File_write_ordered(file, another("File_write_ordered", at, count, type), count, type,
                                   status);
}

int MPI_File_read_at(MPI_File file, MPI_Offset from, void *at, int count, MPI_Datatype type,
                     MPI_Status *status)
{
    int result = PMPI_File_read_at(file, from, at, count, type, status);
    spoil("File_read_at", at, count, type);
    return result;
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset from, void *at, int count, MPI_Datatype type,
                         MPI_Status *status)
{
    int result = PMPI_File_read_at_all(file, from, at, count, type, status);
    spoil("File_read_at_all", at, count, type);
    return result;
}

// What comes from a window is there when it is flushed.
static char *came;

int MPI_Win_flush(int rank, MPI_Win win)
{
    int result = PMPI_Win_flush(rank, win);
    if (came)
        *came ^= 1;
    came = NULL;
    return result;
}

int MPI_Put(const void *at, int n, MPI_Datatype type, int to, MPI_Aint there, int m,
            MPI_Datatype into, MPI_Win win)
{
    if (getenv("SPOIL_WHERE") && spoils("Put")) {
        static char from;
        MPI_Aint beside = spot(&from, bytes_of(m, into)) - &from;
        PMPI_Put(at, 1, MPI_CHAR, to, there + beside, 1, MPI_CHAR, win);
        return PMPI_Put(at, n, type, to, there, m, into, win);
    }
    return PMPI_Put(another("Put", at, n, type), n, type, to, there, m, into, win);
}

int MPI_Get(void *at, int n, MPI_Datatype type, int from, MPI_Aint there, int m, MPI_Datatype into,
            MPI_Win win)
{
    came = spoils("Get") ? at : NULL;
    return PMPI_Get(at, n, type, from, there, m, into, win);
}

int MPI_Accumulate(const void *at, int n, MPI_Datatype type, int to, MPI_Aint there, int m,
                   MPI_Datatype into, MPI_Op op, MPI_Win win)
{
    return PMPI_Accumulate(another("Accumulate", at, n, type), n, type, to, there, m, into, op,
                           win);
}

int MPI_Get_accumulate(const void *out, int n, MPI_Datatype type, void *in, int k,
                       MPI_Datatype result, int to, MPI_Aint there, int m, MPI_Datatype into,
                       MPI_Op op, MPI_Win win)
{
    return PMPI_Get_accumulate(another("Get_accumulate", out, n, type), n, type, in, k, result, to,
                               there, m, into, op, win);
}

int MPI_Fetch_and_op(const void *out, void *in, MPI_Datatype type, int to, MPI_Aint there,
                     MPI_Op op, MPI_Win win)
{
    came = spoils("Fetch_and_op") ? in : NULL;
    return PMPI_Fetch_and_op(out, in, type, to, there, op, win);
}

int MPI_Compare_and_swap(const void *out, const void *compared, void *in, MPI_Datatype type, int to,
                         MPI_Aint there, MPI_Win win)
{
    return PMPI_Compare_and_swap(another("Compare_and_swap", out, 1, type), compared, in, type, to,
                                 there, win);
}
