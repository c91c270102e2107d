// Whatever the members of a group do together when one of them is killed, at a moment that the seed says: each call
// ends, well or with MPIX_ERR_PROC_FAILED. Windows, files, neighbourhoods, partitioned messages, communicators in the
// making, messages. Each group of four does another thing, the first one that of the number, and has the seed after
// it.
//
// only: catena
// time: 90
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first -- 0 1; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first -- 4 5; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first -- 8 9; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first -- 12 13; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first -- 16 17; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first -- 20 21; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- 4 100; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- 16 200; exit 137; says 'is over'
// run: -n 16 --with-ft ulfm --set FAULT_STATUS=first --set COLL_NODE=false -- 14 300; exit 137; says 'is over'
//
// variant: ft_calls_hosts -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first
// The members of each group are on two hosts.
// only: catena
// hosts: 2
// time: 90
// run: -- 0 1; exit 137; says 'is over'
// run: -- 4 2; exit 137; says 'is over'
// run: -- 8 3; exit 137; says 'is over'
// run: -- 12 4; exit 137; says 'is over'
// run: -- 16 5; exit 137; says 'is over'
// run: -- 20 6; exit 137; says 'is over'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>

enum { MEMBERS = 4, STEPS = 60, LONG = 1 << 15, PARTS = 4 };

static unsigned seed;
static int me, partner, step;
static MPI_Comm comm, ring, halves;
static MPI_Win win;
static MPI_File file;
static MPI_Request to, from;
static MPI_Group next, before, pair;
static int out[LONG * MEMBERS], in[LONG * MEMBERS], *memory;
static char path[256];
static int one_host;

static unsigned below(unsigned n, unsigned what)
{
    uint64_t z = ((uint64_t)seed << 32) + what + 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % n;
}

/* Tells the error if that is another one than a death's. */
static int class_told(int code, int expected)
{
    int class = class_of(code), length;
    char text[MPI_MAX_ERROR_STRING];
    if (class != MPI_SUCCESS && class != expected) {
        MPI_Error_string(code, text, &length);
        fprintf(stderr, "rank %d, step %d: class %d: %s\n", rank, step, class, text);
    }
    return class;
}

/* What has failed has failed for a death. */
static int well(int code)
{
    int class = class_told(code, MPIX_ERR_PROC_FAILED);
    CHECK(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED);
    return class == MPI_SUCCESS;
}

/* What comes before any death does not fail. */
#define GOOD(call) CHECK(class_told(call, MPI_SUCCESS) == MPI_SUCCESS)

/* Requests that have failed may say so in their statuses. */
static void finish_all(int n, MPI_Request *requests)
{
    MPI_Status statuses[8];
    int code = MPI_Waitall(n, requests, statuses);
    if (code == MPI_SUCCESS)
        return;
    CHECK(class_of(code) == MPI_ERR_IN_STATUS);
    for (int i = 0; i < n; i++)
        well(statuses[i].MPI_ERROR);
}

/* Windows. */

static void make_window(void)
{
    GOOD(MPI_Win_allocate(4 * LONG, 4, MPI_INFO_NULL, comm, &memory, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void make_window_of_own(void)
{
    static int own[LONG];
    GOOD(MPI_Win_create(own, sizeof own, 4, MPI_INFO_NULL, comm, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void free_window(void)
{
    well(MPI_Win_free(&win));
}

static void fence(void)
{
    if (well(MPI_Win_fence(0, win)))
        well(MPI_Put(out, LONG, MPI_INT, (me + 1) % MEMBERS, 0, LONG, MPI_INT, win));
    well(MPI_Win_fence(0, win));
}

static void pscw(void)
{
    well(MPI_Win_post(before, 0, win));
    well(MPI_Win_start(next, 0, win));
    well(MPI_Put(out, 100, MPI_INT, (me + 1) % MEMBERS, 0, 100, MPI_INT, win));
    well(MPI_Win_complete(win));
    well(MPI_Win_wait(win));
}

static void lock(void)
{
    int target = step % 2 ? 0 : below(MEMBERS, step + 1);
    int kind = step % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    if (!well(MPI_Win_lock(kind, target, 0, win)))
        return;
    well(MPI_Put(out, step % 5 ? 10 : LONG, MPI_INT, target, 0, step % 5 ? 10 : LONG, MPI_INT, win));
    well(MPI_Win_flush(target, win));
    well(MPI_Get(in, 10, MPI_INT, target, 0, 10, MPI_INT, win));
    well(MPI_Win_unlock(target, win));
}

static void lock_all(void)
{
    int one = 1, got, target = step % MEMBERS;
    MPI_Request request = MPI_REQUEST_NULL;
    if (!well(MPI_Win_lock_all(0, win)))
        return;
    well(MPI_Accumulate(out, LONG, MPI_INT, 0, 0, LONG, MPI_INT, MPI_SUM, win));
    well(MPI_Fetch_and_op(&one, &got, MPI_INT, target, 0, MPI_SUM, win));
    well(MPI_Win_flush_local(target, win));
    well(MPI_Compare_and_swap(&one, &one, &got, MPI_INT, target, 0, win));
    well(MPI_Win_flush_all(win));
    well(MPI_Get_accumulate(out, 100, MPI_INT, in, 100, MPI_INT, target, 0, 100, MPI_INT, MPI_MAX, win));
    if (well(MPI_Rput(out, 10, MPI_INT, target, 0, 10, MPI_INT, win, &request)))
        well(MPI_Wait(&request, MPI_STATUS_IGNORE));
    well(MPI_Win_unlock_all(win));
}

static void lock_or_lock_all(void)
{
    step % 3 ? lock() : lock_all();
}

static void windows_come_and_go(void)
{
    int code, *base;
    MPI_Win it = MPI_WIN_NULL;
    switch (step % 4) {
    case 0:
        code = MPI_Win_allocate(4000, 4, MPI_INFO_NULL, comm, &base, &it);
        break;
    case 1:
        code = MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, comm, &it);
        break;
    case 2:
        code = MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &it);
        break;
    default:
        code = one_host ? MPI_Win_allocate_shared(4000, 4, MPI_INFO_NULL, comm, &base, &it)
                        : MPI_Win_allocate(0, 1, MPI_INFO_NULL, comm, &base, &it);
    }
    if (!well(code))
        return;
    MPI_Win_set_errhandler(it, MPI_ERRORS_RETURN);
    well(MPI_Win_fence(0, it));
    well(MPI_Win_free(&it));
}

/* Files. */

static void make_file(void)
{
    int id = getpid();
    GOOD(MPI_Bcast(&id, 1, MPI_INT, 0, comm));
    snprintf(path, sizeof path, "%s/catena-ft-calls-%d-%u", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id, seed);
    GOOD(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

static void make_atomic_file(void)
{
    make_file();
    GOOD(MPI_File_set_atomicity(file, 1));
}

/* The file itself goes once nobody opens it any more. */
static void close_file(void)
{
    if (file != MPI_FILE_NULL)
        well(MPI_File_close(&file));
}

/* Blocks of the members take turns, so that they are exchanged. */
static int set_view(void)
{
    MPI_Datatype block, filetype;
    MPI_Type_contiguous(25, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, MEMBERS * 100, &filetype);
    MPI_Type_commit(&filetype);
    int ok = well(MPI_File_set_view(file, me * 100, MPI_INT, filetype, "native", MPI_INFO_NULL));
    MPI_Type_free(&filetype);
    MPI_Type_free(&block);
    return ok;
}

static void file_views(void)
{
    set_view();
    well(MPI_File_write_at_all(file, 0, out, LONG, MPI_INT, MPI_STATUS_IGNORE));
    well(MPI_File_read_at_all(file, 0, in, LONG, MPI_INT, MPI_STATUS_IGNORE));
    well(MPI_File_set_size(file, step));
}

static void file_all(void)
{
    MPI_Request request;
    well(MPI_File_write_all(file, out, LONG, MPI_INT, MPI_STATUS_IGNORE));
    if (well(MPI_File_iwrite_all(file, out, LONG, MPI_INT, &request)))
        well(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (well(MPI_File_write_at_all_begin(file, me * LONG, out, LONG, MPI_INT)))
        well(MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE));
    well(MPI_File_sync(file));
    well(MPI_File_preallocate(file, 1000 * step));
}

static void file_shared(void)
{
    MPI_Request request;
    MPI_Offset at;
    well(MPI_File_write_shared(file, out, 10, MPI_INT, MPI_STATUS_IGNORE));
    well(MPI_File_write_ordered(file, out, 100, MPI_INT, MPI_STATUS_IGNORE));
    if (well(MPI_File_iwrite_shared(file, out, 10, MPI_INT, &request)))
        well(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (well(MPI_File_read_ordered_begin(file, in, 10, MPI_INT)))
        well(MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE));
    well(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    well(MPI_File_get_position_shared(file, &at));
}

static void file_atomic(void)
{
    well(MPI_File_write_at(file, 100 * me, out, LONG, MPI_INT, MPI_STATUS_IGNORE));
    well(MPI_File_read_at(file, 0, in, LONG, MPI_INT, MPI_STATUS_IGNORE));
    well(MPI_File_write_at_all(file, 100 * me, out, LONG, MPI_INT, MPI_STATUS_IGNORE));
}

static void files_come_and_go(void)
{
    close_file();
    if (!well(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)))
        file = MPI_FILE_NULL;
}

/* Neighbourhoods. */

static void make_ring(void)
{
    int dims[] = {MEMBERS}, wraps[] = {1};
    GOOD(MPI_Cart_create(comm, 1, dims, wraps, 0, &ring));
}

static void make_graph(void)
{
    int sources[] = {(me + MEMBERS - 1) % MEMBERS}, targets[] = {(me + 1) % MEMBERS};
    GOOD(MPI_Dist_graph_create_adjacent(comm, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, MPI_INFO_NULL,
              0, &ring));
}

static void free_ring(void)
{
    well(MPI_Comm_free(&ring));
}

static void neighbors(void)
{
    int n = step % 2 ? 10 : LONG;
    MPI_Request request;
    well(MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, ring));
    well(MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, ring));
    if (well(MPI_Ineighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, ring, &request)))
        well(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void neighbors_kept(void)
{
    MPI_Request request;
    if (!well(MPI_Neighbor_allgather_init(out, 10, MPI_INT, in, 10, MPI_INT, ring, MPI_INFO_NULL, &request)))
        return;
    for (int i = 0; i < 3; i++)
        if (well(MPI_Start(&request)))
            well(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
}

static void topologies_come_and_go(void)
{
    int dims[] = {2, 2}, wraps[] = {1, 1}, other = MEMBERS - 1 - me, one = 1;
    MPI_Comm it = MPI_COMM_NULL, sub;
    if (step % 2 == 0 && well(MPI_Cart_create(comm, 2, dims, wraps, 1, &it))
        && well(MPI_Cart_sub(it, (int[]){1, 0}, &sub)))
        MPI_Comm_free(&sub);
    if (step % 2)
        well(MPI_Dist_graph_create(comm, 1, &me, &one, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &it));
    if (it != MPI_COMM_NULL)
        MPI_Comm_free(&it);
}

/* Partitioned messages. */

static void make_parts(void)
{
    GOOD(MPI_Psend_init(out, PARTS, LONG / 4, MPI_INT, (me + 1) % MEMBERS, 1, comm, MPI_INFO_NULL, &to));
    GOOD(MPI_Precv_init(in, PARTS, LONG / 4, MPI_INT, (me + MEMBERS - 1) % MEMBERS, 1, comm, MPI_INFO_NULL, &from));
}

static void free_parts(void)
{
    well(MPI_Request_free(&to));
    well(MPI_Request_free(&from));
}

static void parts(void)
{
    int flag = 0, sends = well(MPI_Start(&to)), receives = well(MPI_Start(&from));
    for (int i = 0; sends && i < PARTS; i++)
        well(MPI_Pready(i, to));
    if (receives && step % 2)
        while (well(MPI_Parrived(from, step % PARTS, &flag)) && !flag)
            ;
    if (receives)
        well(MPI_Wait(&from, MPI_STATUS_IGNORE));
    if (sends)
        well(MPI_Wait(&to, MPI_STATUS_IGNORE));
}

/* Communicators. */

static void comms_come_and_go(void)
{
    MPI_Comm it = MPI_COMM_NULL, other;
    MPI_Request request;
    int code;
    switch (step % 5) {
    case 0:
        code = MPI_Comm_split(comm, me % 2, -me, &it);
        break;
    case 1:
        code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &it);
        break;
    case 2:
        code = MPI_Comm_idup(comm, &it, &request);
        if (well(code))
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (!well(code))
            it = MPI_COMM_NULL;
        break;
    case 3:
        code = MPI_Comm_create_group(comm, pair, 7, &it);
        break;
    default:
        code = MPI_Intercomm_create(halves, 0, comm, 1 - me % 2, 3, &other);
        if (well(code)) {
            MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
            if (well(MPI_Intercomm_merge(other, me % 2, &it)))
                MPI_Comm_free(&it);
            MPI_Comm_free(&other);
        }
        return;
    }
    if (well(code) && it != MPI_COMM_NULL)
        MPI_Comm_free(&it);
}

/* Messages. */

static char space[1 << 20];

static void make_space(void)
{
    MPI_Buffer_attach(space, sizeof space);
}

static void free_space(void)
{
    void *it;
    int bytes;
    well(MPI_Buffer_detach(&it, &bytes));
}

static void messages(void)
{
    int n = step % 2 ? LONG : 10, flag = 0, received;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;
    received = well(MPI_Irecv(in, n, MPI_INT, partner, 1, comm, requests));
    GOOD(MPI_Ssend_init(out, n, MPI_INT, partner, 1, comm, requests + 1));
    if (well(MPI_Start(requests + 1)))
        well(MPI_Wait(requests + 1, MPI_STATUS_IGNORE));
    if (received)
        well(MPI_Wait(requests, MPI_STATUS_IGNORE));
    MPI_Request_free(requests + 1);
    well(MPI_Bsend(out, 1000, MPI_INT, partner, 2, comm));
    if (well(MPI_Mprobe(partner, 2, comm, &message, &status)))
        well(MPI_Mrecv(in, 1000, MPI_INT, &message, &status));
    well(MPI_Sendrecv_replace(in, n, MPI_INT, partner, 3, partner, 3, comm, &status));
    well(MPI_Bsend(out, 1000, MPI_INT, partner, 4, comm));
    while (well(MPI_Iprobe(partner, 4, comm, &flag, &status)) && !flag)
        ;
    if (flag)
        well(MPI_Recv(in, 1000, MPI_INT, partner, 4, comm, &status));
    if (well(MPI_Isend(out, n, MPI_INT, partner, 5, comm, requests))) {
        GOOD(MPI_Irecv(in, n, MPI_INT, partner, 5, comm, requests + 1));
        finish_all(2, requests);
    }
    well(MPI_Buffer_flush());
}

/* Collectives that are begun, kept, or have many lengths. */

static void collectives(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int n = step % 2 ? LONG : 10, counts[] = {n, n, n, n}, displs[] = {0, n, 2 * n, 3 * n}, code;
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    int bytes[] = {0, 4 * n, 8 * n, 12 * n};
    switch (step % 11) {
    case 0:
        code = MPI_Igatherv(out, n, MPI_INT, in, counts, displs, MPI_INT, step % MEMBERS, comm, &request);
        break;
    case 1:
        code = MPI_Iscatterv(out, counts, displs, MPI_INT, in, n, MPI_INT, step % MEMBERS, comm, &request);
        break;
    case 2:
        code = MPI_Ialltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, &request);
        break;
    case 3:
        code = MPI_Iscan(out, in, n, MPI_INT, MPI_SUM, comm, &request);
        break;
    case 4:
        code = MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm, &request);
        break;
    case 5:
        code = MPI_Iallgatherv(out, n, MPI_INT, in, counts, displs, MPI_INT, comm, &request);
        break;
    case 6:
        code = MPI_Exscan(out, in, n, MPI_INT, MPI_SUM, comm);
        break;
    case 7:
        code = MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, step % MEMBERS, comm);
        break;
    case 8:
        code = MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm);
        break;
    case 9:
        code = MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, comm);
        break;
    default:
        code = MPI_Allreduce_init(out, in, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        if (well(code))
            code = MPI_Start(&request);
    }
    int begun = well(code) && request != MPI_REQUEST_NULL;
    if (begun)
        well(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

static void nothing(void)
{
}

static const struct {
    const char *name;
    void (*make)(void), (*act)(void), (*end)(void);
} all[] = {
    {"fence", make_window, fence, free_window},
    {"fence of own memory", make_window_of_own, fence, free_window},
    {"post and start", make_window, pscw, free_window},
    {"post and start of own memory", make_window_of_own, pscw, free_window},
    {"lock", make_window, lock, free_window},
    {"lock of own memory", make_window_of_own, lock, free_window},
    {"lock all", make_window, lock_all, free_window},
    {"lock all of own memory", make_window_of_own, lock_all, free_window},
    {"lock or lock all", make_window, lock_or_lock_all, free_window},
    {"windows", nothing, windows_come_and_go, nothing},
    {"views of a file", make_file, file_views, close_file},
    {"writes by all", make_file, file_all, close_file},
    {"shared pointer", make_file, file_shared, close_file},
    {"atomic mode", make_atomic_file, file_atomic, close_file},
    {"files", make_file, files_come_and_go, close_file},
    {"ring", make_ring, neighbors, free_ring},
    {"graph", make_graph, neighbors, free_ring},
    {"kept neighbours", make_ring, neighbors_kept, free_ring},
    {"topologies", nothing, topologies_come_and_go, nothing},
    {"partitions", make_parts, parts, free_parts},
    {"communicators", nothing, comms_come_and_go, nothing},
    {"messages", make_space, messages, free_space},
    {"collectives", nothing, collectives, nothing},
};

/* Dies a little later, wherever it is then. */
static void die(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec at = {.it_value = {0, 1 + (long)below(1000000, 3)}};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &at, NULL) == 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int number = atoi(argv[1]) + rank / MEMBERS, victim, left, right, n;
    MPI_Comm survivors;
    MPI_Group group;
    me = rank % MEMBERS;
    seed = strtoul(argv[2], NULL, 0) + rank / MEMBERS;
    number %= sizeof all / sizeof *all;
    one_host = one_node();
    GOOD(MPI_Comm_split(MPI_COMM_WORLD, rank / MEMBERS, rank, &comm));
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_group(comm, &group);
    left = (me + MEMBERS - 1) % MEMBERS, right = (me + 1) % MEMBERS, partner = me ^ 1;
    MPI_Group_incl(group, 1, &left, &before);
    MPI_Group_incl(group, 1, &right, &next);
    MPI_Group_incl(group, 2, (int[]){me & ~1, me | 1}, &pair);
    GOOD(MPI_Comm_split(comm, me % 2, me, &halves));
    all[number].make();
    MPI_Barrier(MPI_COMM_WORLD);
    victim = below(MEMBERS, 1);
    for (step = 0; step < STEPS; step++) {
        if (me == victim && step == (int)below(STEPS / 2, 2))
            die();
        all[number].act();
    }
    if (me == victim)
        for (;;)
            pause();
    all[number].end();
    GOOD(MPIX_Comm_shrink(comm, &survivors));
    MPI_Comm_size(survivors, &n);
    EQUAL(n, MEMBERS - 1);
    GOOD(MPI_Barrier(survivors));
    MPI_Comm_free(&survivors);
    if (*path)
        unlink(path);
    printf("%s is over\n", all[number].name);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
