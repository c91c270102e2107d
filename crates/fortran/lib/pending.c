/*
 * Copies of sections that non-blocking and persistent operations use, and communicators that are made later.
 *
 * Where no type describes a section (reductions take none, and counts and displacements per rank want
 * one distance between elements), the operation gets a copy without gaps. Those of its elements that the operation
 * has changed are written back when a procedure of Fortran finds the request complete: the others may be the
 * program's again, or belong to another operation. The copy is filled anew when a persistent one is
 * started. Each request is known by its number in Fortran. What belongs to requests that a call may complete is put aside
 * before it, as another thread may get their numbers before it returns. A request whose number comes again in spite of that
 * has been completed in C, where nobody wrote the copy back.
 *
 * A communicator that a request makes (MPI_Comm_idup) has its handle here until Fortran gets the number.
 */

#include "descriptor.h"

#include <pthread.h>
#include <stdio.h>

/* The most sections that one operation has. */
enum { SECTIONS = 2 };

struct copy {
    struct descriptor section;
    void *data;
    int writes;
};

struct pending {
    struct pending *next;
    Fint request;
    int persistent;
    int written; /* back, since the last start */
    MPI_Comm comm; /* that the request makes */
    void *to; /* where its number is to go, if anywhere, and the bytes there */
    size_t width;
    int count;
    struct copy copies[SECTIONS];
};

/* What is put aside: a pointer for each request, NULL for one with nothing left. */
struct held {
    ptrdiff_t n;
    struct pending *of[];
};

/* By the request's number. */
enum { CHAINS = 1024 };

_Atomic int mpifort_pending;
static struct pending *all[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *mpifort_later(struct pending **pending, const struct descriptor *d, int writes)
{
    if (!*pending && !(*pending = calloc(1, sizeof **pending)))
        return NULL;
    struct pending *p = *pending;
    void *data = p->count < SECTIONS ? mpifort_gather(d) : NULL;
    if (!data)
        return NULL;
    struct copy *copy = &p->copies[p->count++];
    /* A compiler's descriptor has no more dimensions than the array. */
    memcpy(&copy->section, d, offsetof(struct descriptor, dim) + (size_t)d->rank * sizeof *d->dim);
    copy->data = data;
    copy->writes = writes;
    return data;
}

MPI_Comm *mpifort_later_comm(struct pending **pending, void *to, size_t width)
{
    if (!*pending && !(*pending = calloc(1, sizeof **pending)))
        return NULL;
    (*pending)->to = to;
    (*pending)->width = width;
    (*pending)->comm = MPI_COMM_NULL;
    return &(*pending)->comm;
}

static void discard(struct pending *p)
{
    /* A request that was freed may still write there. */
    if (p->to && p->request && p->comm == MPI_COMM_NULL)
        return;
    for (int i = 0; i < p->count; i++)
        free(p->copies[i].data);
    free(p);
}

static void write_back(struct pending *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->copies[i].writes && !p->written)
            mpifort_scatter(&p->copies[i].section, p->copies[i].data);
    if (p->to && !p->written && p->comm != MPI_COMM_NULL) {
        if (p->width == sizeof(int64_t))
            *(int64_t *)p->to = Comm_int(p->comm);
        else
            *(Fint *)p->to = Comm_int(p->comm);
    }
    p->written = 1;
}

static int is_complete(MPI_Request request)
{
    int flag = 1;
    return request == MPI_REQUEST_NULL
        || (!PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) && flag);
}

static struct pending **chain_of(Fint request)
{
    return &all[(unsigned)request % CHAINS];
}

/* Where the pointer to the request's copies is; with the lock held. */
static struct pending **find(Fint request)
{
    struct pending **at = chain_of(request);
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    return at;
}

/* With the lock held. */
static void add(struct pending *p)
{
    struct pending **chain = chain_of(p->request);
    p->next = *chain;
    *chain = p;
    mpifort_pending++;
}

/* With the lock held. */
static struct pending *take_at(struct pending **at)
{
    struct pending *p = *at;
    if (p) {
        *at = p->next;
        mpifort_pending--;
    }
    return p;
}

/* What `mpirun --check` has programs load: crates/check. Instead of the copy, which is ours, the section has to
 * stay; nothing has to where its length is 0. */
extern void catena_check_section(MPI_Request request, const void *copy, size_t size, const void *section, size_t length)
    __attribute__((weak));

static void have_checked(const struct pending *p, MPI_Request request, int is_used)
{
    for (int i = 0; i < p->count; i++) {
        const struct descriptor *d = &p->copies[i].section;
        ptrdiff_t first = 0, end = (ptrdiff_t)d->elem_len;
        size_t size = d->elem_len;
        for (int k = 0; k < d->rank; k++) {
            ptrdiff_t span = (extent_of(d, k) - 1) * stride_of(d, k);
            *(span < 0 ? &first : &end) += span;
            size *= (size_t)extent_of(d, k);
        }
        catena_check_section(request, p->copies[i].data, size, (char *)d->base_addr + first,
            is_used ? (size_t)(end - first) : 0);
    }
}

void mpifort_keep(struct pending *p, int request, int persistent)
{
    MPI_Request handle = request ? Request_of(request) : MPI_REQUEST_NULL;
    int is_used = request && (persistent || !is_complete(handle));
    if (request && catena_check_section)
        have_checked(p, handle, is_used);
    if (!is_used) {
        if (request)
            write_back(p);
        discard(p);
        return;
    }
    p->request = request;
    p->persistent = persistent;
    p->written = persistent;
    pthread_mutex_lock(&lock);
    struct pending **stale = find(request);
    if (*stale)
        discard(take_at(stale));
    add(p);
    pthread_mutex_unlock(&lock);
}

/* Number `i` of those that have `width` bytes each. */
static Fint number_at(const void *numbers, size_t width, ptrdiff_t i)
{
    return width == sizeof(int64_t) ? (Fint)((const int64_t *)numbers)[i] : ((const Fint *)numbers)[i];
}

void mpifort_restart(const void *numbers, size_t width, ptrdiff_t n)
{
    pthread_mutex_lock(&lock);
    for (ptrdiff_t i = 0; i < n; i++) {
        struct pending *p = *find(number_at(numbers, width, i));
        for (int k = 0; p && k < p->count; k++)
            mpifort_refill(&p->copies[k].section, p->copies[k].data);
        if (p)
            p->written = 0;
    }
    pthread_mutex_unlock(&lock);
}

struct held *mpifort_hold(const void *numbers, size_t width, ptrdiff_t n)
{
    if (n <= 0)
        return NULL;
    struct held *held = malloc(sizeof *held + (size_t)n * sizeof *held->of);
    if (!held) {
        /* The program would not get what it receives. */
        fprintf(stderr, "catena: no memory to look for the sections of %td requests\n", n);
        abort();
    }
    int some = 0;
    held->n = n;
    pthread_mutex_lock(&lock);
    for (ptrdiff_t i = 0; i < n; i++) {
        held->of[i] = take_at(find(number_at(numbers, width, i)));
        some |= held->of[i] != NULL;
    }
    pthread_mutex_unlock(&lock);
    if (!some) {
        free(held);
        return NULL;
    }
    return held;
}

void mpifort_complete(struct held *held, const MPI_Request *now, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < held->n && i < n; i++) {
        struct pending *p = held->of[i];
        if (!p)
            continue;
        if (is_complete(now[i]))
            write_back(p);
        if (now[i] == MPI_REQUEST_NULL) {
            discard(p);
            continue;
        }
        pthread_mutex_lock(&lock);
        add(p);
        pthread_mutex_unlock(&lock);
    }
    free(held);
}
