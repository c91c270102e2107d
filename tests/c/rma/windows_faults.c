// A rank that dies in an epoch of a window: whoever waits for it gets an error, and a lock that it held is not given on, as
// what it guards may be half an update, where the job is to go on; else the job ends with its name.
// only: catena
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- get; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- request; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- start; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- wait; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp --set FAULT_TOLERANCE=true -- origin; exit 137; says 'survivor done'
// run: -n 2 --set LINK=tcp -- accumulate; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=tcp -- flush; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=tcp -- fence; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=tcp -- lock; exit 137; says 'rank 1 .*killed by signal 9'
//
// variant: windows_faults_hosts -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts
// The rank that dies is on another host.
// only: catena
// hosts: 2
// time: 60
// run: --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- get; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- request; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- start; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- wait; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- origin; exit 137; says 'survivor done'
// run: -- flush; exit 137; says 'rank 1 .*killed by signal 9'
// run: -- lock; exit 137; says 'rank 1 .*killed by signal 9'
// run: -- fence; exit 137; says 'rank 1 .*killed by signal 9'
// run: -- accumulate; exit 137; says 'rank 1 .*killed by signal 9'
//
// variant: windows_faults_hosts_ofi -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp --set FAULT_TOLERANCE=true
// The other host is reached by libfabric.
// only: catena
// hosts: 2
// time: 60
// needs: libfabric.so.1
// run: -- lock; exit 137; says 'survivor done'
// run: -- held; exit 137; says 'survivor done'
// run: -- fence; exit 137; says 'survivor done'
// run: -- amid; exit 137; says 'survivor done'
// run: -- accumulate; exit 137; says 'survivor done'
//
// variant: windows_faults_hosts_ucx -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set FAULT_TOLERANCE=true
// The other host is reached by UCX.
// only: catena
// hosts: 2
// time: 60
// needs: libucp.so.0
// run: -- lock; exit 137; says 'survivor done'
// run: -- held; exit 137; says 'survivor done'
// run: -- fence; exit 137; says 'survivor done'
// run: -- amid; exit 137; says 'survivor done'
// run: -- accumulate; exit 137; says 'survivor done'
//
// variant: windows_faults_remote -n 2
// A network's remote access carries puts and gets: what is under way to a rank that dies ends, whether the network
// notices the death or the launcher tells of it.
// only: catena
// waits: for the grace of what survives
// needs: libfabric.so.1
// run: --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- get; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- request; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- start; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- wait; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- origin; exit 137; says 'survivor done'
// run: --set "LINK=ofi:tcp;ofi_rxm" --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 -- flush; exit 137; says 'rank 1 .*killed by signal 9'
// run: --set LINK=ofi:tcp -- fence; exit 137; says 'rank 1 .*killed by signal 9'
// run: --set LINK=ofi:tcp -- lock; exit 137; says 'rank 1 .*killed by signal 9'
// run: --set LINK=ofi:tcp -- accumulate; exit 137; says 'rank 1 .*killed by signal 9'
//
// variant: windows_faults_ucx -n 2 --set LINK=ucx:tcp
// only: catena
// needs: libucp.so.0
// run: --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- get; exit 137; says 'survivor done'
// run: --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- request; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- start; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- wait; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
// run: --set FAULT_TOLERANCE=true -- origin; exit 137; says 'survivor done'
// run: --set RMA_REMOTE_MIN=0 -- flush; exit 137; says 'rank 1 .*killed by signal 9'
// run: -- fence; exit 137; says 'rank 1 .*killed by signal 9'
// run: -- lock; exit 137; says 'rank 1 .*killed by signal 9'
// run: -- accumulate; exit 137; says 'rank 1 .*killed by signal 9'
#include "../check.h"
#include <signal.h>
#include <unistd.h>

#define N 200000

static MPI_Win win;
static long *memory;
static const char *how;

static int is(const char *what)
{
    return strcmp(how, what) == 0;
}

/* Rank 1 is killed while much is under way to it and from it. */
static int kill_amid(long pid)
{
    static long out[N], in[N];
    int rc = MPI_SUCCESS;
    for (int i = 0; i < 8 && rc == MPI_SUCCESS; i++) {
        if (is("accumulate")) {
            rc = MPI_Accumulate(out, N, MPI_LONG, 1, 0, N, MPI_LONG, MPI_SUM, win);
            if (rc == MPI_SUCCESS)
                rc = MPI_Get_accumulate(out, N, MPI_LONG, in, N, MPI_LONG, 1, 0, N, MPI_LONG, MPI_SUM, win);
            if (i == 2)
                kill(pid, SIGKILL);
            continue;
        }
        rc = MPI_Put(out, N, MPI_LONG, 1, 0, N, MPI_LONG, win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Get(in, N, MPI_LONG, 1, 0, N, MPI_LONG, win);
        if (i == 2)
            kill(pid, SIGKILL);
    }
    return rc == MPI_SUCCESS ? MPI_Win_flush(1, win) : rc;
}

/* Rank 1 is killed while it accumulates to rank 0, whose elements stay its own. */
static void kill_origin(long pid)
{
    long one = 1, got;
    int flag;
    while (!*(volatile long *) memory)
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    kill(pid, SIGKILL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Recv(NULL, 0, MPI_LONG, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)), MPIX_ERR_PROC_FAILED);
    EQUAL(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, win), MPI_SUCCESS);
    CHECK(got > 0);
    EQUAL(memory[0], got + 1);
}

/* What rank 1 does until it is killed. */
static void accumulate_on(void)
{
    static long ones[N];
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    for (;;) {
        MPI_Accumulate(ones, N, MPI_LONG, 0, 0, N, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
}

/* What rank 0 calls until it fails. */
static int call(MPI_Group other)
{
    static long value[2000];
    MPI_Request request;
    int rc;
    if (is("flush") || is("get")) {
        if (is("flush"))
            rc = MPI_Put(value, 2000, MPI_LONG, 1, 0, 2000, MPI_LONG, win);
        else
            rc = MPI_Get(value, 2000, MPI_LONG, 1, 0, 2000, MPI_LONG, win);
        return rc == MPI_SUCCESS ? MPI_Win_flush(1, win) : rc;
    }
    if (is("request")) {
        rc = MPI_Rget(value, 2000, MPI_LONG, 1, 0, 2000, MPI_LONG, win, &request);
        if (rc == MPI_SUCCESS)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        return rc == MPI_SUCCESS ? MPI_Win_flush_local(1, win) : rc;
    }
    if (is("lock")) {
        rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        return rc == MPI_SUCCESS ? MPI_Win_unlock(1, win) : rc;
    }
    if (is("fence"))
        return MPI_Win_fence(0, win);
    if (is("start")) {
        MPI_Win_start(other, 0, win);
        rc = MPI_Put(value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        int completed = MPI_Win_complete(win);
        return rc == MPI_SUCCESS ? completed : rc;
    }
    MPI_Win_post(other, 0, win);
    return MPI_Win_wait(win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    how = argv[1];
    MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    int passive = is("flush") || is("get") || is("request") || is("amid") || is("accumulate") ||
        is("origin");
    if (passive)
        MPI_Win_lock_all(0, win);
    long one = 1, pid = getpid();
    if (rank == 1) {
        if (is("held")) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
            MPI_Win_flush(0, win);
        }
        /* Rank 0 has the window, too. */
        MPI_Recv(NULL, 0, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&pid, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
        if (is("origin"))
            accumulate_on();
        if (is("amid") || is("accumulate"))
            MPI_Recv(&one, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    MPI_Send(NULL, 0, MPI_LONG, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&pid, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("held")) {
        EQUAL(class_of(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)), MPIX_ERR_PROC_FAILED);
        EQUAL(class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)), MPIX_ERR_PROC_FAILED);
        EQUAL(memory[0], 1);
    } else if (is("origin")) {
        kill_origin(pid);
        MPI_Win_unlock_all(win);
        EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
    } else {
        MPI_Group world, other;
        int of = 1, rc;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &of, &other);
        rc = is("amid") || is("accumulate") ? kill_amid(pid) : MPI_SUCCESS;
        if (is("amid") || is("accumulate"))
            how = "flush";
        while (rc == MPI_SUCCESS)
            rc = call(other);
        /* Where the job ends with the dead, this may be seen just before. */
        EQUAL(class_of(rc), getenv("CATENA_FAULT_TOLERANCE") ? MPIX_ERR_PROC_FAILED : MPI_ERR_PROC_ABORTED);
        MPI_Group_free(&world);
        MPI_Group_free(&other);
        if (passive)
            MPI_Win_unlock_all(win);
        /* There is nobody to agree with. */
        if (!is("fence") && !is("start") && !is("wait"))
            EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
    }
    printf("survivor done\n");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
