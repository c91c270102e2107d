/*
 * Finds memory that is given back while a request uses it: `mpirun --check`.
 *
 * This library comes before all others, so its MPI_* are those that programs and libmpifort_abi call, and its
 * `free`, `realloc` and `munmap` are everybody's. The functions of MPI are looked up when they are first called,
 * as an interpreter may load the library itself later.
 *
 * A block is reported only if it holds all of a buffer, from its first to its last byte: where a type
 * leads from one block of memory to another, what lies between them belongs to others.
 */

#include "check.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most callers that are shown. */
enum { CALLERS = 16 };

struct span {
    uintptr_t first, end;
};

struct use {
    struct use *next;
    MPI_Request request;
    uint64_t number; /* in the order of their calls */
    const char *call;
    int persistent, active;
    void *caller;
    int count, room;
    struct span *spans;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct use *all;
static uint64_t calls;
/* Where memory in use may be; what lies outside is let through without the lock. */
static atomic_uintptr_t lowest = UINTPTR_MAX, highest;
static int rank = -1;
/* Whether the library has another interface than the standard one: then nothing is looked at. */
static int is_foreign;
/* Whether this thread is in here: what it allocates and frees is its own. Compilers take it that the C library's
 * functions do not call back, which those that free do, and would leave the change out if it were not volatile. */
static _Thread_local volatile int inside __attribute__((tls_model("initial-exec")));

/* The function of the library behind; NULL if it has none. */
static void *function(const char *name)
{
    static atomic_int known;
    inside++;
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        void *library = dlopen("libmpi_abi.so.1", RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
    }
    Dl_info info;
    if (!known && found && dladdr(found, &info)) {
        is_foreign = !strstr(info.dli_fname, "mpi_abi");
        known = 1;
    }
    inside--;
    return found;
}

#define BEHIND(name) const __typeof__(&MPI_##name) name = function("PMPI_" #name);
#define CODE_OF(name, arguments) \
    BEHIND(name) \
    const int code = name ? name arguments : MPI_ERR_UNSUPPORTED_OPERATION;

/* Uses. */

static struct use *made(const char *call, void *caller, MPI_Request request)
{
    inside++;
    struct use *use = calloc(1, sizeof *use);
    if (use) {
        use->request = request;
        use->call = call;
        use->persistent = strstr(call, "_init") != NULL;
        use->active = !use->persistent;
        use->caller = caller;
    }
    inside--;
    return use;
}

static void add(struct use *use, uintptr_t first, uintptr_t end)
{
    if (use->count == use->room) {
        int room = use->room ? 2 * use->room : 2;
        inside++;
        struct span *spans = realloc(use->spans, (size_t)room * sizeof *spans);
        inside--;
        if (!spans)
            return;
        use->spans = spans;
        use->room = room;
    }
    use->spans[use->count++] = (struct span){first, end};
}

/* Memory from the first to the last byte of `count` elements at `offset` bytes from the buffer. Nothing is noted of
 * MPI_BOTTOM, from which absolute addresses lead anywhere. */
static void add_elements(struct use *use, const void *buffer, MPI_Aint offset, MPI_Count count, MPI_Datatype type)
{
    BEHIND(Type_get_true_extent_c)
    BEHIND(Type_get_extent_c)
    MPI_Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    if (buffer == MPI_BOTTOM || buffer == MPI_IN_PLACE || count <= 0 || type == MPI_DATATYPE_NULL)
        return;
    if (Type_get_extent_c(type, &lb, &extent)
        || Type_get_true_extent_c(type, &true_lb, &true_extent) || true_extent <= 0)
        return;
    MPI_Count last = (count - 1) * extent;
    uintptr_t at = (uintptr_t)buffer + (uintptr_t)(offset + true_lb);
    add(use, at + (uintptr_t)(last < 0 ? last : 0), at + (uintptr_t)((last < 0 ? 0 : last) + true_extent));
}

/* With the lock held. */
static void widen(const struct span *span)
{
    if (span->first < lowest)
        lowest = span->first;
    if (span->end > highest)
        highest = span->end;
}

static void keep(struct use *use)
{
    pthread_mutex_lock(&lock);
    use->number = ++calls;
    use->next = all;
    all = use;
    for (int i = 0; i < use->count; i++)
        widen(&use->spans[i]);
    pthread_mutex_unlock(&lock);
}

/* libmpifort_abi has given its newest request a copy of a section: the section is in use instead of the copy. */
void catena_check_section(MPI_Request request, const void *copy, size_t size, const void *section, size_t length)
{
    const uintptr_t first = (uintptr_t)copy;
    pthread_mutex_lock(&lock);
    struct use *use = all;
    while (use && use->request != request)
        use = use->next;
    for (int i = 0; use && i < use->count; i++) {
        struct span *span = &use->spans[i];
        if (span->first < first || span->end > first + size)
            continue;
        *span = (struct span){(uintptr_t)section, (uintptr_t)section + length};
        widen(span);
    }
    pthread_mutex_unlock(&lock);
}

/* The request is complete, or given up: of what was there when the call began. */
static void end(MPI_Request request, uint64_t before, int is_gone)
{
    if (request == MPI_REQUEST_NULL)
        return;
    inside++;
    pthread_mutex_lock(&lock);
    for (struct use **at = &all; *at;) {
        struct use *use = *at;
        if (use->request != request || use->number > before) {
            at = &use->next;
        } else if (use->persistent && !is_gone) {
            use->active = 0;
            at = &use->next;
        } else {
            *at = use->next;
            free(use->spans);
            free(use);
        }
    }
    if (!all) {
        lowest = UINTPTR_MAX;
        highest = 0;
    }
    pthread_mutex_unlock(&lock);
    inside--;
}

static uint64_t now(void)
{
    pthread_mutex_lock(&lock);
    uint64_t number = calls;
    pthread_mutex_unlock(&lock);
    return number;
}

static void begin(MPI_Request request)
{
    pthread_mutex_lock(&lock);
    for (struct use *use = all; use; use = use->next)
        if (use->request == request)
            use->active = 1;
    pthread_mutex_unlock(&lock);
}

/* Calls, by their plans. */

enum { AT_ROOT = 1, AT_OTHERS = 2 };

static int ranks(MPI_Comm comm)
{
    BEHIND(Comm_test_inter)
    BEHIND(Comm_remote_size)
    BEHIND(Comm_size)
    int inter = 0, size = 0;
    Comm_test_inter(comm, &inter);
    if (inter)
        Comm_remote_size(comm, &size);
    else
        Comm_size(comm, &size);
    return size;
}

static int rank_in(MPI_Comm comm)
{
    BEHIND(Comm_rank)
    int own = 0;
    Comm_rank(comm, &own);
    return own;
}

/* Neighbours that send to this rank, or those that it sends to. */
static int neighbors(MPI_Comm comm, int sources)
{
    BEHIND(Topo_test)
    BEHIND(Dist_graph_neighbors_count)
    BEHIND(Graph_neighbors_count)
    BEHIND(Cartdim_get)
    int kind = MPI_UNDEFINED, in = 0, out = 0, weighted = 0;
    Topo_test(comm, &kind);
    if (kind == MPI_DIST_GRAPH) {
        Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    } else if (kind == MPI_GRAPH) {
        Graph_neighbors_count(comm, rank_in(comm), &in);
        out = in;
    } else if (kind == MPI_CART) {
        Cartdim_get(comm, &in);
        out = in *= 2;
    }
    return sources ? in : out;
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    BEHIND(Type_get_extent_c)
    MPI_Count lb = 0, extent = 0;
    if (type != MPI_DATATYPE_NULL)
        Type_get_extent_c(type, &lb, &extent);
    return extent;
}

/* Which buffers mean something at this rank. */
static int meaning(MPI_Comm comm, int root)
{
    BEHIND(Comm_test_inter)
    int inter = 0;
    Comm_test_inter(comm, &inter);
    if (!inter)
        return root == rank_in(comm) ? AT_ROOT | AT_OTHERS : AT_OTHERS;
    return root == MPI_ROOT ? AT_ROOT : root == MPI_PROC_NULL ? 0 : AT_OTHERS;
}

/* The arguments of a call, of which the counts of one that ends with _c have 64 bits. */
struct call {
    const intptr_t *argument;
    int is_large;
    MPI_Comm comm;
};

static intptr_t at(const struct call *call, char letter)
{
    return call->argument[letter - 'a'];
}

static MPI_Count entry(const struct call *call, char letter, int i)
{
    const void *entries = (const void *)at(call, letter);
    return call->is_large ? ((const MPI_Count *)entries)[i] : ((const int *)entries)[i];
}

static int blocks(const struct call *call, char kind)
{
    switch (kind) {
    case 'r':
        return ranks(call->comm);
    case 's':
    case 'd':
        return neighbors(call->comm, kind == 's');
    default:
        return 1;
    }
}

/* Notes one buffer, of which the signs of the plan say where it is. */
static void add_buffer(struct use *use, const struct call *call, const char *plan)
{
    enum { BUFFER, RANKS, STYLE, BLOCKS, COUNT, SECOND, TYPE };
    const void *buffer = (const void *)at(call, plan[BUFFER]);
    if (buffer == MPI_IN_PLACE || buffer == MPI_BOTTOM)
        return;
    const int n = blocks(call, plan[BLOCKS]);
    if (plan[STYLE] == 'w') {
        const MPI_Datatype *types = (const MPI_Datatype *)at(call, plan[TYPE]);
        for (int i = 0; i < n; i++)
            add_elements(use, buffer, entry(call, plan[SECOND], i), entry(call, plan[COUNT], i), types[i]);
        return;
    }
    const MPI_Datatype type = (MPI_Datatype)at(call, plan[TYPE]);
    MPI_Count count = 0;
    switch (plan[STYLE]) {
    case 'v':
        for (int i = 0; i < n; i++)
            add_elements(use, buffer, entry(call, plan[SECOND], i) * extent_of(type), entry(call, plan[COUNT], i),
                type);
        return;
    case 's':
        if (plan[BLOCKS] == 'o')
            count = entry(call, plan[COUNT], rank_in(call->comm));
        else
            for (int i = 0; i < n; i++)
                count += entry(call, plan[COUNT], i);
        break;
    default:
        count = n * at(call, plan[COUNT]);
        if (plan[SECOND] != '.')
            count *= at(call, plan[SECOND]);
    }
    add_elements(use, buffer, 0, count, type);
}

int check_call(const char *name, const char *plan, void *caller, int arguments, const intptr_t argument[])
{
    intptr_t a[13] = {0};
    memcpy(a, argument, (size_t)arguments * sizeof *a);
    /* All arguments are integers and pointers, each of which the C ABIs of 64-bit Linux put in a register or
     * a slot of its own, where those that a function does not have do no harm. */
    int (*behind)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
        intptr_t, intptr_t, intptr_t, intptr_t) = function(name);
    if (!behind)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    const int code = behind(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]);
    const MPI_Request *request = (const MPI_Request *)a[arguments - 1];
    if (code || is_foreign || *request == MPI_REQUEST_NULL)
        return code;
    struct use *use = made(name + 1, caller, *request);
    if (!use)
        return code;
    struct call call = {a, !strcmp(name + strlen(name) - 2, "_c"), MPI_COMM_NULL};
    if (plan[0] != '.')
        call.comm = (MPI_Comm)at(&call, plan[0]);
    const int means = plan[1] == '.' ? AT_ROOT | AT_OTHERS : meaning(call.comm, (int)at(&call, plan[1]));
    for (const char *next = plan + 2; *next; next += 8) {
        const char ranks = next[2];
        if (ranks == 'r' ? means & AT_ROOT : ranks == 'o' ? means & AT_OTHERS : means)
            add_buffer(use, &call, next + 1);
    }
    keep(use);
    return code;
}

/* Memory. */

static _Noreturn void report(const char *what, uintptr_t block, size_t length, const struct use *use,
    const struct span *span)
{
    void *callers[CALLERS];
    int depth = backtrace(callers, CALLERS);
    char whose[32] = "";
    if (rank >= 0)
        snprintf(whose, sizeof whose, ", rank %d", rank);
    dprintf(STDERR_FILENO,
        "catena: check%s: %s gives %zu bytes at %#zx back, in which a buffer of a pending %s lies (%zu bytes at "
        "%#zx): complete the request first, as by MPI_Wait; until then its buffer must stay\n"
        "catena: check%s: given back by:\n",
        whose, what, length, (size_t)block, use->call, (size_t)(span->end - span->first), (size_t)span->first,
        whose);
    backtrace_symbols_fd(callers + 2, depth - 2, STDERR_FILENO);
    dprintf(STDERR_FILENO, "catena: check%s: the request was made by:\n", whose);
    backtrace_symbols_fd(&use->caller, 1, STDERR_FILENO);
    abort();
}

/* Ends the process if a pending request uses the block. */
static __attribute__((noinline)) void look(const char *what, uintptr_t block, size_t length)
{
    if (inside || block >= highest || block + length <= lowest)
        return;
    inside++;
    pthread_mutex_lock(&lock);
    for (struct use *use = all; use; use = use->next) {
        for (int i = 0; use->active && i < use->count; i++) {
            const struct span *span = &use->spans[i];
            if (span->first >= block && span->end <= block + length && span->first < span->end)
                report(what, block, length, use, span);
        }
    }
    pthread_mutex_unlock(&lock);
    inside--;
}

/* The function of the C library; while it is looked up nothing is freed. The loader frees the words of the last thing that
   it has not found, by the very function that is looked up; the compiler believes that dlsym calls nothing here, so what says that
   it is being called is volatile. */
static void *behind(void **known, const char *name)
{
    static _Thread_local volatile int looking __attribute__((tls_model("initial-exec")));
    if (!*known && !looking) {
        looking = 1;
        *known = dlsym(RTLD_NEXT, name);
        looking = 0;
    }
    return *known;
}

void free(void *block)
{
    static void *known;
    void (*next)(void *) = (void (*)(void *))behind(&known, "free");
    if (block && all && !inside)
        look("free", (uintptr_t)block, malloc_usable_size(block));
    if (next)
        next(block);
}

void *realloc(void *block, size_t size)
{
    static void *known;
    void *(*next)(void *, size_t) = (void *(*)(void *, size_t))behind(&known, "realloc");
    const uintptr_t was = (uintptr_t)block;
    const size_t length = block && all && !inside ? malloc_usable_size(block) : 0;
    void *moved = next ? next(block, size) : NULL;
    if (length && moved && (uintptr_t)moved != was)
        look("realloc", was, length);
    return moved;
}

int munmap(void *block, size_t length)
{
    static void *known;
    int (*next)(void *, size_t) = (int (*)(void *, size_t))behind(&known, "munmap");
    if (all && !inside)
        look("munmap", (uintptr_t)block, length);
    return next ? next(block, length) : -1;
}

/* Start and completion. */

static void learn_rank(int code)
{
    BEHIND(Comm_rank)
    if (!code && !is_foreign)
        Comm_rank(MPI_COMM_WORLD, &rank);
}

int MPI_Init(int *argc, char ***argv)
{
    CODE_OF(Init, (argc, argv))
    learn_rank(code);
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    CODE_OF(Init_thread, (argc, argv, required, provided))
    learn_rank(code);
    return code;
}

int MPI_Start(MPI_Request *request)
{
    CODE_OF(Start, (request))
    if (!code && !is_foreign)
        begin(*request);
    return code;
}

int MPI_Startall(int count, MPI_Request requests[])
{
    CODE_OF(Startall, (count, requests))
    for (int i = 0; !code && !is_foreign && i < count; i++)
        begin(requests[i]);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const MPI_Request was = is_foreign ? MPI_REQUEST_NULL : *request;
    const uint64_t before = now();
    CODE_OF(Wait, (request, status))
    end(was, before, 0);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    const MPI_Request was = is_foreign ? MPI_REQUEST_NULL : *request;
    const uint64_t before = now();
    CODE_OF(Test, (request, flag, status))
    if (code || *flag)
        end(was, before, 0);
    return code;
}

int MPI_Request_free(MPI_Request *request)
{
    const MPI_Request was = is_foreign ? MPI_REQUEST_NULL : *request;
    const uint64_t before = now();
    CODE_OF(Request_free, (request))
    end(was, before, 1);
    return code;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    const uint64_t before = now();
    CODE_OF(Request_get_status, (request, flag, status))
    if (!code && *flag && !is_foreign)
        end(request, before, 0);
    return code;
}

/* The handles before a call of several requests. NULL if nothing is to be noted. */
static MPI_Request *copy_of(int count, const MPI_Request requests[])
{
    if (is_foreign || count <= 0)
        return NULL;
    inside++;
    MPI_Request *copy = malloc((size_t)count * sizeof *copy);
    inside--;
    if (copy)
        memcpy(copy, requests, (size_t)count * sizeof *copy);
    return copy;
}

static void discard(MPI_Request *copy)
{
    inside++;
    free(copy);
    inside--;
}

/* Calls of several requests: what completes all of them, one, or some. A failed one may have completed any. */
#define SEVERAL(name, count, parameters, arguments, are_complete, first, last) \
    int MPI_##name parameters \
    { \
        const uint64_t before = now(); \
        MPI_Request *was = copy_of(count, array_of_requests); \
        CODE_OF(name, arguments) \
        if (was && code) \
            for (int i = 0; i < count; i++) \
                end(was[i], before, 0); \
        else if (was && (are_complete)) \
            for (int i = first; i < last; i++) \
                end(was[AT(i)], before, 0); \
        discard(was); \
        return code; \
    }
#define AT(i) i
SEVERAL(Waitall, count, (int count, MPI_Request array_of_requests[], MPI_Status statuses[]),
    (count, array_of_requests, statuses), 1, 0, count)
SEVERAL(Testall, count, (int count, MPI_Request array_of_requests[], int *flag, MPI_Status statuses[]),
    (count, array_of_requests, flag, statuses), *flag, 0, count)
SEVERAL(Request_get_status_all, count,
    (int count, const MPI_Request array_of_requests[], int *flag, MPI_Status statuses[]),
    (count, array_of_requests, flag, statuses), *flag, 0, count)
SEVERAL(Waitany, count, (int count, MPI_Request array_of_requests[], int *index, MPI_Status *status),
    (count, array_of_requests, index, status), *index != MPI_UNDEFINED, *index, *index + 1)
SEVERAL(Testany, count, (int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status),
    (count, array_of_requests, index, flag, status), *flag && *index != MPI_UNDEFINED, *index, *index + 1)
SEVERAL(Request_get_status_any, count,
    (int count, const MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status),
    (count, array_of_requests, index, flag, status), *flag && *index != MPI_UNDEFINED, *index, *index + 1)
#undef AT
#define AT(i) indices[i]
SEVERAL(Waitsome, incount,
    (int incount, MPI_Request array_of_requests[], int *outcount, int indices[], MPI_Status statuses[]),
    (incount, array_of_requests, outcount, indices, statuses), *outcount != MPI_UNDEFINED, 0, *outcount)
SEVERAL(Testsome, incount,
    (int incount, MPI_Request array_of_requests[], int *outcount, int indices[], MPI_Status statuses[]),
    (incount, array_of_requests, outcount, indices, statuses), *outcount != MPI_UNDEFINED, 0, *outcount)
SEVERAL(Request_get_status_some, incount,
    (int incount, const MPI_Request array_of_requests[], int *outcount, int indices[], MPI_Status statuses[]),
    (incount, array_of_requests, outcount, indices, statuses), *outcount != MPI_UNDEFINED, 0, *outcount)

