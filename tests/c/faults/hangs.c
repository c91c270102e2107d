// A job in which some ranks wait for ever is told so within three seconds, and the first rank that is named is the one whose doing it is.
// only: catena
// waits: for the report, some two seconds
// time: 20
// run: -n 2 --on-hang end -- receives; exit 123; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from rank 1 with tag 7; ends 4
// run: -n 2 --on-hang end -- session; exit 123; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from rank 1 with tag 7
// run: -n 2 --on-hang end -- sends; exit 123; says job hangs: rank 0 waits in MPI_Send \S+ until rank 1 receives; says MPI_Sendrecv does both
// run: -n 4 --on-hang end -- ring; exit 123; says job hangs: rank 0 waits in MPI_Ssend \S+ until rank 1 receives
// run: -n 3 --on-hang end -- unsent; exit 16; says MPI_Recv: rank 2 has called MPI_Finalize
// run: -n 3 --on-hang end -- unreceived; exit 16; says MPI_Ssend: rank 2 has not received the message
// run: -n 2 --on-hang end -- tag; exit 123; says job hangs: rank 0 waits in MPI_Recv .*with tag 5 .*what has come from there is one of 4 bytes with tag 6; says the last calls of rank 0: .*, MPI_Recv\(source=1, tag=5, comm=MPI_COMM_WORLD\); never says the last calls of rank 1
// run: -n 3 --on-hang end -- wild; exit 123; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from any of ranks 1 and 2 with tag 5 .*what has come from there is one of 4 bytes with tag 6
// run: -n 5 --on-hang end -- later; exit 123; says job hangs: rank 2 waits in MPI_Recv .*with tag 5 .*what has come from there is one of 4 bytes with tag 6
// run: -n 3 --on-hang end -- source; exit 123; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from rank 1
// run: -n 2 --on-hang end -- comm; exit 123; says job hangs: rank 0 waits in MPI_Recv .* on MPI_COMM_WORLD
// run: -n 4 --on-hang end -- barrier; exit 123; says job hangs: rank 1 waits in MPI_Recv .*, and ranks 0, 2 and 3 wait in MPI_Barrier \S+ for rank 1
// run: -n 4 --on-hang end --set COLL_NODE=0 -- barrier; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 4 --on-hang end --set LINK=tcp -- barrier; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 3 --on-hang end -- allreduce; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 3 --set HANG_AFTER=2s --timeout 5 -- started; exit 124; says no progress: rank (0 has waited for . s: it waits in MPI_Wait|1 has waited for . s: it waits in MPI_Recv)
// run: -n 3 --on-hang end -- split; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 4 --on-hang end -- column; exit 16; says rank 1 called MPI_Finalize, and rank 0 called MPI_Allreduce.* which has ranks 1 and 3 of the job
// run: -n 3 --on-hang end -- duplicate; exit 123; says job hangs: rank 1 waits in MPI_Recv .*, and ranks 0 and 2 wait in MPI_Comm_dup
// run: -n 3 --on-hang end -- neighbors; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 3 --on-hang end -- fence; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 3 --on-hang end --set LINK=tcp -- fence; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 2 --on-hang end --set LINK=tcp -- exposed; exit 123; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from rank 1 with tag 7
// run: -n 2 --on-hang end -- post; exit 123; says job hangs: rank 1 waits in MPI_Barrier .*, and rank 0 waits for it: rank 0 waits in MPI_Win_(start|complete) \S+ for rank 1
// run: -n 3 --on-hang end -- freed; exit 123; says job hangs: rank 2 waits in MPI_Win_free .*, and rank 0 waits for it: rank 0 waits in MPI_Win_(start|complete)
// run: -n 2 --on-hang end -- complete; exit 123; says job hangs: rank 0 waits in MPI_Barrier .*, and rank 1 waits for it: rank 1 waits in MPI_Win_wait \S+ for rank 0
// run: -n 3 --on-hang end -- lock; exit 123; says job hangs: rank 1 waits in MPI_Recv .*for a lock that rank 1 holds
// run: -n 2 --on-hang end -- locks; exit 123; says job hangs: rank [01] waits in MPI_Win_lock \S+ for a lock that rank [01] holds
// run: -n 2 --on-hang end --set LINK=tcp -- locks; exit 123; says job hangs: rank [01] waits in MPI_Win_lock \S+ for a lock that rank [01] holds
// run: -n 3 --on-hang end --set LINK=tcp -- lock; exit 123; says job hangs: rank 1 waits in MPI_Recv .*for a lock that rank 1 holds
// run: -n 3 --on-hang end -- lockall; exit 123; says job hangs: rank 1 waits in MPI_Recv .*, and rank 0 waits for it: rank 0 waits in MPI_Win_lock \S+ for a lock that rank 1 holds
// run: -n 3 --on-hang end -- lockone; exit 123; says job hangs: rank 1 waits in MPI_Recv .*, and rank 0 waits for it: rank 0 waits in MPI_Win_lock_all \S+ for a lock that rank 1 holds
// run: -n 3 --on-hang end --set LINK=tcp -- lockall; exit 123; says job hangs: rank 1 waits in MPI_Recv .*for a lock that rank 1 holds
// run: -n 3 --on-hang end --set LINK=tcp -- lockone; exit 123; says job hangs: rank 1 waits in MPI_Recv .*for a lock that rank 1 holds
// run: -n 3 --on-hang end -- waitall; exit 123; says job hangs: rank 0 waits in MPI_Waitall
// run: -n 3 --on-hang end -- waitany; exit 123; says job hangs: rank 0 waits in MPI_Waitany \S+ for a message from rank 1.* or a message from rank 2|job hangs: rank 0 waits in MPI_Waitany
// run: -n 3 --on-hang end -- any; exit 123; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from any of ranks 1 and 2
// run: -n 2 --on-hang end -- probe; exit 16; says MPI_Probe: rank 1 has called MPI_Finalize
// run: -n 2 --on-hang end -- mprobe; exit 16; says MPI_Mprobe: rank 1 has called MPI_Finalize
// run: -n 2 --on-hang end -- persistent; exit 123; says job hangs: rank 0 waits in MPI_Wait \S+ for a message from rank 1 with tag 4
// run: -n 3 --on-hang end -- shift; exit 123; says job hangs: rank 0 waits in MPI_Sendrecv
// run: -n 2 --on-hang end -- parts; exit 123; says job hangs: rank 0 waits in MPI_Barrier .*, and rank 1 waits for it: .* for parts of a message from rank 0
// run: -n 2 --on-hang end --set LINK=tcp -- parts; exit 123; says job hangs: rank 0 waits in MPI_Barrier .*, and rank 1 waits for it: .* for parts of a message from rank 0
// run: -n 2 --on-hang end -- unready; exit 123; says job hangs: rank 0 waits in MPI_Wait \S+ until MPI_Pready is called for 1 more parts of its message; says MPI_Pready must be called
// run: -n 4 --on-hang end -- strings; exit 123; says job hangs: rank 1 waits in MPI_Comm_create_from_group .* on a communicator of 4 ranks with the tag "other"
// run: -n 2 --on-hang end -- self; exit 123; says job hangs: rank 0 waits in MPI_Recv \S+ for a message from rank 0; says waits for itself
// run: -n 2 --on-hang end -- threads; exit 123; says job hangs: rank 1 waits in MPI_Finalize \S+ for rank 0 on MPI_COMM_WORLD, and rank 0 waits for it: rank 0 waits in MPI_Recv; says rank 1 must send that message before it finalizes
// run: -n 2 --on-hang end -- joined; exit 123; says job hangs: rank [01] waits in MPI_Recv
// run: -n 2 --on-hang end -- crowd; exit 123; says job hangs: rank [01] waits in MPI_Recv
// run: -n 3 --on-hang end -- many; exit 123; says job hangs: rank 0 waits in MPI_Waitany \S+ for a message from any of ranks 1 and 2
// run: -n 2 --on-hang end -- fiber; says done; never says job hangs
// run: -n 2 --on-hang end -- serialized; exit 123; says job hangs: rank 1 waits in MPI_Recv \S+ for a message from rank 1
// run: -n 2 --on-hang end -- beside; exit 123; says job hangs: rank [01] waits in MPI_Recv \S+ for a message from rank [01] with tag 7 .*, and rank [01] waits in MPI_Recv
// run: -n 2 --set HANG_AFTER=2s --timeout 6 -- idle; exit 124; says no progress: rank [01] has waited for 2 s: it waits in MPI_Recv; never says job hangs
// run: -n 1 --on-hang end -- spawn; exit 123; says job hangs: rank 0( of spawned job 1)? waits in MPI_Recv
// run: -n 2 --on-hang end --set FAULT_TOLERANCE=1 -- receives; exit 123; says job hangs: rank 0 waits in MPI_Recv
// run: -n 3 --set HANG_AFTER=2s -- computes; says no progress: rank 1 does not wait in MPI: its last call was MPI_Comm_rank; says done
// run: -n 2 --on-hang end -- held; says done; never says the job hangs
// run: -n 2 --on-hang end --set LINK=tcp -- held; says done; never says the job hangs
// run: -n 2 --on-hang end -- fresh; says done; never says the job hangs
// run: -n 2 --on-hang end -- handled; says done; never says the job hangs
// run: -n 2 --on-hang end -- alarm; says done; never says the job hangs
// run: -n 3 --on-hang end --with-ft ulfm -- revoked; says done; never says the job hangs
// run: -n 3 --on-hang end -- behind; says done; never says the job hangs
// run: -n 2 --on-hang end -- again; says done; never says the job hangs
// run: -n 3 --on-hang end --set LINK=tcp --set COLL_NODE=0 -- allreduce; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 2 --on-hang nothing -- waits; never says the job hangs; says done
// run: -n 2 --set HANG_AFTER=2s -- tests; never says the job hangs|no progress; says done
// run: -n 2 -- chain; never says the job hangs; says done
//
// variant: hangs_apart
// only: catena
// waits: for the report, some six seconds between hosts
// hosts: 2
// time: 30
// run: -n 4 --on-hang end --host h0:2,h1:2 --launcher-agent scripts/hosts -- barrier; exit 123; says job hangs: rank 1 waits in MPI_Recv
// run: -n 2 --on-hang end --host h0:1,h1:1 --launcher-agent scripts/hosts -- tag; exit 123; says job hangs: rank 0 waits in MPI_Recv .*what has come from there is one of 4 bytes with tag 6
// run: -n 4 --on-hang end --host h0:2,h1:2 --launcher-agent scripts/hosts -- ring; exit 123; says job hangs: rank 0 waits in MPI_Ssend
// run: -n 2 --on-hang end --host h0:1,h1:1 --launcher-agent scripts/hosts -- locks; exit 123; says job hangs: rank [01] waits in MPI_Win_lock \S+ for a lock that rank [01] holds
// run: -n 3 --on-hang end --host h0:1,h1:2 --launcher-agent scripts/hosts -- lock; exit 123; says job hangs: rank 1 waits in MPI_Recv .*for a lock that rank 1 holds
// run: -n 3 --on-hang end --host h0:1,h1:2 --launcher-agent scripts/hosts -- lockone; exit 123; says job hangs: rank 1 waits in MPI_Recv .*for a lock that rank 1 holds
// run: -n 3 --on-hang end --host h0:2,h1:1 --launcher-agent scripts/hosts -- lockall; exit 123; says job hangs: rank 1 waits in MPI_Recv .*for a lock that rank 1 holds
#include "../check.h"
#include <mpi-ext.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static MPI_Comm world;
static int rank, size, one = 1, other;
static char out[1 << 22], in[1 << 22];

static void receive(int source, int tag)
{
    MPI_Recv(&other, 1, MPI_INT, source, tag, world, MPI_STATUS_IGNORE);
}

static void *receive_in_thread(void *tag)
{
    int got;
    MPI_Recv(&got, 1, MPI_INT, 1, *(int *)tag, world, MPI_STATUS_IGNORE);
    return NULL;
}

static void *receive_from_other(void *tag)
{
    int got;
    MPI_Recv(&got, 1, MPI_INT, !rank, *(int *)tag, world, MPI_STATUS_IGNORE);
    return NULL;
}

/* One rank receives what nobody sends, while the others make a collective call. */
static int stays_away(void)
{
    if (rank == 1)
        receive(0, 3);
    return rank == 1;
}

static void in_windows(const char *mode)
{
    MPI_Win win;
    void *base;
    MPI_Group all, peer;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, world, &base, &win);
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, (int[]){!rank}, &peer);
    if (!strcmp(mode, "exposed"))
        receive(!rank, 7);
    if (!strcmp(mode, "fence") && !stays_away())
        MPI_Win_fence(0, win);
    if (!strcmp(mode, "post") && rank == 0) {
        MPI_Win_start(peer, 0, win);
        MPI_Win_complete(win);
    }
    if (!strcmp(mode, "complete") && rank == 1) {
        MPI_Win_post(peer, 0, win);
        MPI_Win_wait(win);
    }
    if (!strcmp(mode, "lock")) {
        if (rank == 1)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Barrier(world);
        if (rank == 0)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        stays_away();
    }
    if (!strcmp(mode, "locks")) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        MPI_Barrier(world);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, !rank, 0, win);
    }
    /* A lock of one and the lock of all keep each other out, whichever comes first. */
    if (!strcmp(mode, "lockall") || !strcmp(mode, "lockone")) {
        int is_one = !strcmp(mode, "lockone");
        if (rank == 1 && is_one)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        if (rank == 1 && !is_one)
            MPI_Win_lock_all(0, win);
        MPI_Barrier(world);
        if (rank == 0 && is_one)
            MPI_Win_lock_all(0, win);
        if (rank == 0 && !is_one)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        stays_away();
    }
    /* One does not post, and frees the window. */
    if (!strcmp(mode, "freed") && rank == 0) {
        MPI_Group others;
        MPI_Group_incl(all, 2, (int[]){1, 2}, &others);
        MPI_Win_start(others, 0, win);
        MPI_Win_complete(win);
    }
    if (!strcmp(mode, "freed") && rank == 1) {
        MPI_Group_incl(all, 1, (int[]){0}, &peer);
        MPI_Win_post(peer, 0, win);
        MPI_Win_wait(win);
    }
    if (!strcmp(mode, "freed"))
        MPI_Win_free(&win);
    MPI_Barrier(world);
}

static void in_requests(const char *mode)
{
    MPI_Request request[2];
    int index, next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (!strcmp(mode, "waitall")) {
        MPI_Irecv(in, 1, MPI_INT, next, 1, world, request);
        MPI_Irecv(in + 8, 1, MPI_INT, before, 2, world, request + 1);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    if (!strcmp(mode, "waitany") && rank == 0) {
        MPI_Irecv(in, 1, MPI_INT, 1, 1, world, request);
        MPI_Irecv(in + 8, 1, MPI_INT, 2, 1, world, request + 1);
        MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "persistent") && rank == 0) {
        MPI_Recv_init(in, 1, MPI_INT, 1, 4, world, request);
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "parts") || !strcmp(mode, "unready")) {
        if (rank == 0) {
            MPI_Psend_init(out, 2, 1, MPI_INT, 1, 0, world, MPI_INFO_NULL, request);
            MPI_Start(request);
            MPI_Pready(0, request[0]);
            if (!strcmp(mode, "unready"))
                MPI_Wait(request, MPI_STATUS_IGNORE);
        } else {
            MPI_Precv_init(in, 2, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, request);
            MPI_Start(request);
            MPI_Wait(request, MPI_STATUS_IGNORE);
        }
    }
    if (!strcmp(mode, "started") && !stays_away()) {
        MPI_Iallreduce(&one, &other, 1, MPI_INT, MPI_SUM, world, request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "shift"))
        MPI_Sendrecv(&one, 1, MPI_INT, next, 0, &other, 1, MPI_INT, next, 0, world, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}

static void in_communicators(const char *mode)
{
    MPI_Comm made;
    if (!strcmp(mode, "split") && !stays_away())
        MPI_Comm_split(world, 0, 0, &made);
    if (!strcmp(mode, "duplicate") && !stays_away())
        MPI_Comm_dup(world, &made);
    if (!strcmp(mode, "comm")) {
        MPI_Comm_dup(world, &made);
        if (rank == 0)
            receive(1, 0);
        else
            MPI_Send(&one, 1, MPI_INT, 0, 0, made);
        MPI_Barrier(world);
    }
    /* Its rank 1 is another one of the job. */
    if (!strcmp(mode, "column")) {
        MPI_Comm_split(world, rank % 2, rank, &made);
        if (rank != 3)
            MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, made);
        return;
    }
    if (!strcmp(mode, "neighbors")) {
        int got[2];
        MPI_Cart_create(world, 1, &size, (int[]){1}, 0, &made);
        if (!stays_away())
            MPI_Neighbor_allgather(&one, 1, MPI_INT, got, 1, MPI_INT, made);
    }
}

/* A rank that waits for a child, which waits for it. */
static void with_a_child(char **argv)
{
    MPI_Comm parent, child;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], (char *[]){"spawn", NULL}, 1, MPI_INFO_NULL, 0, world, &child, MPI_ERRCODES_IGNORE);
    else
        child = parent;
    MPI_Recv(&other, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
}

/* Sessions alone. */
static void in_a_session(const char *mode)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_rank(all, &rank);
    int is_other = !strcmp(mode, "strings") && rank == 1;
    MPI_Comm_create_from_group(all, is_other ? "other" : "hangs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
    receive(!rank, 7);
    MPI_Session_finalize(&session);
}

static void *send_late(void *unused)
{
    sleep(4);
    MPI_Send(&one, 1, MPI_INT, !rank, 0, world);
    return unused;
}

/* Waits for longer than waits are told, on a stack below which there is nothing. */
static void on_fiber(void)
{
    receive(1, 0);
    puts("done");
    MPI_Finalize();
    fflush(stdout);
    _exit(0);
}

static void start_fiber(void)
{
#if defined __x86_64__
    static char stack[1 << 20] __attribute__((aligned(64)));
    __asm__ volatile("mov %0, %%rsp\n\tpushq $0x12345\n\tjmp *%1"
                     : : "r"(stack + sizeof stack - 64), "r"((void *)on_fiber) : "memory");
#endif
    on_fiber();
}

static void in_threads(const char *mode)
{
    pthread_t thread[10];
    int tags[10], n = !strcmp(mode, "joined") ? 1 : 10;
    for (int i = 0; i < n; i++) {
        tags[i] = 40 + i;
        pthread_create(thread + i, NULL, receive_from_other, tags + i);
    }
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

/* Calls what any thread may call, beside the one that MPI belongs to. */
static void *call_beside(void *unused)
{
    for (;;) {
        MPI_Session session;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
        MPI_Info_free(&info);
    }
    return unused;
}

static void handle_for_seconds(int unused)
{
    (void)unused;
    sleep(5);
}

static sem_t permission;

static void permit(int unused)
{
    (void)unused;
    sem_post(&permission);
}

static void *send_when_permitted(void *unused)
{
    while (sem_wait(&permission) != 0) {
    }
    MPI_Send(&one, 1, MPI_INT, !rank, 0, world);
    return unused;
}

static void *stay_idle(void *unused)
{
    pause();
    return unused;
}

/* What is no hang, although some wait for seconds. */
static void goes_on(const char *mode)
{
    if (!strcmp(mode, "computes")) {
        if (rank == 1)
            sleep(4);
        MPI_Bcast(&one, 1, MPI_INT, 1, world);
    }
    if (!strcmp(mode, "waits")) {
        if (rank == 0)
            sleep(3);
        MPI_Barrier(world);
    }
    if (!strcmp(mode, "tests")) {
        /* Rank 0 polls, for longer than anybody is patient. */
        double end = MPI_Wtime() + 4;
        int flag;
        while (MPI_Wtime() < end)
            MPI_Iprobe(1, 0, world, &flag, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "chain")) {
        /* Each waits for the next one, and the last one computes. */
        if (rank == size - 1)
            sleep(3);
        else
            receive(rank + 1, 0);
        if (rank)
            MPI_Send(&one, 1, MPI_INT, rank - 1, 0, world);
    }
    if (!strcmp(mode, "held")) {
        /* The one that has the lock computes, and gives it back. */
        MPI_Win win;
        void *base;
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, world, &base, &win);
        if (rank == 0)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Barrier(world);
        if (rank == 0)
            sleep(4);
        else
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_unlock(1, win);
        MPI_Win_free(&win);
    }
    if (!strcmp(mode, "handled")) {
        /* What rank 1 waits for comes while it is in a handler of a signal. */
        if (rank == 0) {
            sleep(2);
            MPI_Send(&one, 1, MPI_INT, 1, 1, world);
            receive(1, 2);
        } else {
            signal(SIGALRM, handle_for_seconds);
            setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_sec = 1, .it_value.tv_usec = 500000}, NULL);
            receive(0, 1);
            MPI_Send(&one, 1, MPI_INT, 0, 2, world);
        }
    }
    if (!strcmp(mode, "fresh")) {
        /* A thread that has not called MPI yet will send what the main threads wait for. */
        pthread_t thread;
        pthread_create(&thread, NULL, send_late, NULL);
        receive(!rank, 0);
        pthread_join(thread, NULL);
    }
    if (!strcmp(mode, "alarm")) {
        /* A thread sleeps until a handler of a signal wakes it, and then sends what the main threads wait for. */
        pthread_t thread;
        sem_init(&permission, 0, 0);
        signal(SIGALRM, permit);
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_sec = 4}, NULL);
        pthread_create(&thread, NULL, send_when_permitted, NULL);
        receive(!rank, 0);
        pthread_join(thread, NULL);
    }
    if (!strcmp(mode, "revoked")) {
        /* Two ranks wait for each other, until the third one revokes their communicator. */
        MPI_Comm comm;
        MPI_Comm_dup(world, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (rank == 2)
            sleep(4), MPIX_Comm_revoke(comm);
        else
            EQUAL(class_of(MPI_Recv(&other, 1, MPI_INT, !rank, 0, comm, MPI_STATUS_IGNORE)), MPIX_ERR_REVOKED);
    }
    if (!strcmp(mode, "behind")) {
        /* All but the last one have an operation under way while they wait in other calls. */
        MPI_Request request;
        if (rank == size - 1)
            sleep(4);
        MPI_Iallreduce(&one, &other, 1, MPI_INT, MPI_SUM, world, &request);
        if (rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(world);
        if (rank)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "again")) {
        /* Rank 1 leaves MPI as far as can be seen, and comes back. */
        MPI_Session session;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Session_finalize(&session);
        if (rank == 1)
            sleep(4);
    }
    MPI_Barrier(world);
    if (rank == 0)
        puts("done");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "receives";
    const char *threaded[] = {"threads", "fresh", "alarm", "idle", "joined", "crowd"};
    int level = !strcmp(mode, "serialized") ? MPI_THREAD_SERIALIZED : !strcmp(mode, "beside") ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
    for (unsigned i = 0; i < sizeof threaded / sizeof *threaded; i++)
        if (!strcmp(mode, threaded[i]))
            level = MPI_THREAD_MULTIPLE;
    if (!strcmp(mode, "session") || !strcmp(mode, "strings")) {
        in_a_session(mode);
        return 0;
    }
    MPI_Init_thread(&argc, &argv, level, &level);
    world = MPI_COMM_WORLD;
    MPI_Comm_size(world, &size);
    MPI_Comm_rank(world, &rank);

    if (!strcmp(mode, "receives"))
        receive(!rank, 7);
    if (!strcmp(mode, "beside")) {
        pthread_t thread;
        pthread_create(&thread, NULL, call_beside, NULL);
        receive(!rank, 7);
    }
    if (!strcmp(mode, "joined") || !strcmp(mode, "crowd"))
        in_threads(mode);
    if (!strcmp(mode, "fiber")) {
        if (rank == 0)
            start_fiber();
        sleep(3);
        MPI_Send(&one, 1, MPI_INT, 0, 0, world);
    }
    if (!strcmp(mode, "many")) {
        MPI_Request request[9];
        int index;
        for (int i = 0; i < 9; i++)
            MPI_Irecv(in + 8 * i, 1, MPI_INT, 1 + i % 2, i, world, request + i);
        if (rank == 0)
            MPI_Waitany(9, request, &index, MPI_STATUS_IGNORE);
        MPI_Barrier(world);
    }
    if (!strcmp(mode, "sends")) {
        MPI_Send(out, sizeof out, MPI_BYTE, !rank, 1, world);
        MPI_Recv(in, sizeof in, MPI_BYTE, !rank, 1, world, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "ring")) {
        MPI_Ssend(&one, 1, MPI_INT, (rank + 1) % size, 0, world);
        receive((rank + size - 1) % size, 0);
    }
    if (!strcmp(mode, "unsent") && rank == 0)
        receive(2, 0);
    if (!strcmp(mode, "unreceived") && rank == 0)
        MPI_Ssend(&one, 1, MPI_INT, 2, 0, world);
    if (!strcmp(mode, "tag")) {
        if (rank == 0)
            receive(1, 5);
        else
            MPI_Send(&one, 1, MPI_INT, 0, 6, world);
        MPI_Barrier(world);
    }
    if (!strcmp(mode, "later")) {
        if (rank < 2)
            receive(rank + 1, 0);
        if (rank == 2)
            receive(3, 5);
        if (rank == 3)
            MPI_Send(&one, 1, MPI_INT, 2, 6, world);
        MPI_Barrier(world);
    }
    if (!strcmp(mode, "wild")) {
        if (rank == 0)
            receive(MPI_ANY_SOURCE, 5);
        else
            MPI_Send(&one, 1, MPI_INT, 0, 6, world);
        MPI_Barrier(world);
    }
    if (!strcmp(mode, "source")) {
        if (rank == 0)
            receive(1, 0);
        if (rank == 2)
            MPI_Send(&one, 1, MPI_INT, 0, 0, world);
        MPI_Barrier(world);
    }
    if (!strcmp(mode, "barrier") && !stays_away())
        MPI_Barrier(world);
    if (!strcmp(mode, "allreduce") && !stays_away())
        MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, world);
    if (!strcmp(mode, "any"))
        receive(MPI_ANY_SOURCE, 0);
    if (!strcmp(mode, "probe") && rank == 0)
        MPI_Probe(1, 0, world, MPI_STATUS_IGNORE);
    if (!strcmp(mode, "mprobe") && rank == 0) {
        MPI_Message message;
        MPI_Mprobe(1, 0, world, &message, MPI_STATUS_IGNORE);
    }
    if (!strcmp(mode, "self") && rank == 0)
        receive(0, 0);
    if (!strcmp(mode, "threads") && rank == 0) {
        pthread_t thread;
        int tags[] = {1, 2};
        pthread_create(&thread, NULL, receive_in_thread, tags);
        receive_in_thread(tags + 1);
    }
    if (!strcmp(mode, "serialized")) {
        /* The one thread that is in MPI at a time is not the one that has initialized it. */
        pthread_t thread;
        int tag = 1;
        pthread_create(&thread, NULL, receive_in_thread, &tag);
        pthread_join(thread, NULL);
    }
    if (!strcmp(mode, "idle")) {
        /* The other thread might call MPI. */
        pthread_t thread;
        pthread_create(&thread, NULL, stay_idle, NULL);
        receive(!rank, 0);
    }
    if (!strcmp(mode, "exposed") || !strcmp(mode, "fence") || !strcmp(mode, "post") || !strcmp(mode, "complete") || !strcmp(mode, "freed")
        || !strncmp(mode, "lock", 4))
        in_windows(mode);
    if (!strncmp(mode, "wait", 4) && strcmp(mode, "waits") || !strcmp(mode, "persistent") || !strcmp(mode, "parts")
        || !strcmp(mode, "unready") || !strcmp(mode, "started") || !strcmp(mode, "shift"))
        in_requests(mode);
    if (!strcmp(mode, "split") || !strcmp(mode, "duplicate") || !strcmp(mode, "comm") || !strcmp(mode, "neighbors")
        || !strcmp(mode, "column"))
        in_communicators(mode);
    if (!strcmp(mode, "spawn"))
        with_a_child(argv);
    const char *fine[] = {"computes", "waits", "tests", "chain", "held", "fresh", "behind", "again", "handled", "alarm", "revoked"};
    for (unsigned i = 0; i < sizeof fine / sizeof *fine; i++)
        if (!strcmp(mode, fine[i]))
            goes_on(mode);
    MPI_Finalize();
    return 0;
}
