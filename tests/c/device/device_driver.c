// The driver of devices, for machines without one: what benchmarks and Catena call of CUDA's (libcuda.so.1), and what
// benchmarks call of ROCm's (libamdhip64.so).
//
// An address on a device cannot be read or written; its bytes are SPAN further on. Each device has its part of the
// addresses, and its context. What is freed is no memory any more, and what is allocated next has its addresses, but
// another number. Copies on a stream are made when somebody waits for it or asks a second time whether an event has come,
// and only in the context of the memory. Other processes open an allocation by its handle.
// DEVICE_FAULT names what fails, or is otherwise: with `pool` memory belongs to no context, with `ipc` it has no handles,
// with `open` they cannot be opened, with `id` it has no number, with `slow` an event comes when it has been asked for
// often. With the name of a function of the driver that fails each time, with `NAME:3` from the third time on.
// build: shared
// cc: -pthread -Wl,-soname,libcuda.so.1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    WORKS = 0,
    INVALID = 1,
    FULL = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    WRONG_CONTEXT = 201,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    UNSUPPORTED = 801,
    DEVICES = 2,
    ALIGNMENT = 4096,
    DEPTH = 4,
    COPIES = 64,
    MOST = 1 << 18
};
static const size_t SPAN = 1UL << 36;

static char *device, *next[DEVICES];
static int pieces, contexts[DEVICES], memory, opened, closed, asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Allocations, also those of other processes that are open here, with number 0 if they are free. A handle names the
// process that made one. `owner` tells whose each page is, counted from 1.
static struct allocation {
    char *at;
    size_t size;
    unsigned long long id;
} made[MOST];
static unsigned slots, freed[MOST], free_slots, *owner;
struct handle {
    int pid, file;
    size_t from, size;
    char rest[40];
};
// The contexts that were current before, and the one that is (-1: none), of each thread.
static _Thread_local int before[DEPTH], depth, chosen = -1;

static const char *fault(void)
{
    static const char *fault;
    if (!fault)
        fault = getenv("DEVICE_FAULT") ? getenv("DEVICE_FAULT") : "";
    return fault;
}

static int fails(const char *how)
{
    return !strcmp(fault(), how);
}

// Whether a function fails this time.
static int refuses(const char *call)
{
    static int calls;
    const size_t n = strlen(call);
    if (strncmp(fault(), call, n) || (fault()[n] && fault()[n] != ':'))
        return 0;
    return !fault()[n] || __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) >= atoi(fault() + n + 1);
}

#define MAY_FAIL                                                                                   \
    if (refuses(__func__))                                                                         \
        return INVALID;

static const struct allocation *allocation_of(const void *at)
{
    const size_t place = (size_t)((uintptr_t)at - (uintptr_t)device);
    const unsigned slot = device && place < SPAN ? __atomic_load_n(&owner[place / ALIGNMENT], __ATOMIC_ACQUIRE) : 0;
    return slot ? &made[slot - 1] : NULL;
}

static int on_device(const void *at)
{
    return allocation_of(at) != NULL;
}

static int device_of(const void *at)
{
    return (int)(((uintptr_t)at - (uintptr_t)device) / (SPAN / DEVICES));
}

// One function by the names that CUDA and ROCm have for it.
#define BOTH(cuda, rocm, arguments, ...)                                                           \
    int cuda arguments { MAY_FAIL __VA_ARGS__ }                                                    \
    int rocm arguments { MAY_FAIL __VA_ARGS__ }

BOTH(cuInit, hipInit, (unsigned flags),
     if (fails("init"))
         return NO_DEVICE;
     const int flag = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
     if (!device) {
         device = mmap(NULL, 2 * SPAN, PROT_NONE, flag, -1, 0);
         memory = memfd_create("device", MFD_CLOEXEC);
         owner = mmap(NULL, SPAN / ALIGNMENT * sizeof *owner, PROT_READ | PROT_WRITE, flag, -1, 0);
         if (device == MAP_FAILED || memory < 0 || owner == MAP_FAILED || ftruncate(memory, SPAN) ||
             mmap(device + SPAN, SPAN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memory, 0) ==
                 MAP_FAILED)
             abort();
         for (int d = 0; d < DEVICES; d++)
             next[d] = device + d * (SPAN / DEVICES);
     }
     return flags ? INVALID : WORKS;)

BOTH(cuGetErrorName, hipDrvGetErrorName, (int code, const char **name),
     *name = code == NO_DEVICE         ? "ERROR_NO_DEVICE"
             : code == FULL            ? "ERROR_OUT_OF_MEMORY"
             : code == ILLEGAL_ADDRESS ? "ERROR_ILLEGAL_ADDRESS"
                                       : "ERROR_INVALID_VALUE";
     return WORKS;)

BOTH(cuDeviceGetCount, hipGetDeviceCount, (int *n), *n = fails("none") ? 0 : DEVICES;
     return device ? WORKS : INVALID;)

BOTH(cuDeviceGet, hipDeviceGet, (int *d, int k), *d = k; return k < DEVICES ? WORKS : INVALID;)

BOTH(cuDeviceGetName, hipDeviceGetName, (char *name, int room, int d),
     snprintf(name, room, "stand-in %d", d); return WORKS;)

int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return WORKS;
}

int cuDevicePrimaryCtxRetain(void **context, int d)
{
    MAY_FAIL
    *context = &contexts[d];
    return WORKS;
}

int cuCtxSetCurrent(void *context)
{
    chosen = context ? (int)((int *)context - contexts) : -1;
    return WORKS;
}

int hipSetDevice(int d)
{
    chosen = d;
    return WORKS;
}

// Says whose pages are.
static void own(const struct allocation *a, unsigned slot)
{
    const size_t first = (size_t)(a->at - device) / ALIGNMENT;
    for (size_t page = first; page < first + a->size / ALIGNMENT; page++)
        __atomic_store_n(&owner[page], slot, __ATOMIC_RELEASE);
}

// Those addresses of the thread's device that were freed last, if they are as many, or new ones; NULL if there is no room.
static char *allocate(size_t n)
{
    static unsigned long long ids;
    n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    pthread_mutex_lock(&lock);
    unsigned slot = MOST;
    for (unsigned i = free_slots; i-- > 0 && free_slots - i < 100;)
        if (made[freed[i]].size == n && device_of(made[freed[i]].at) == chosen) {
            slot = freed[i];
            freed[i] = freed[--free_slots];
            break;
        }
    if (slot == MOST && slots < MOST && next[chosen] + n < device + (chosen + 1) * (SPAN / DEVICES)) {
        slot = slots++;
        made[slot] = (struct allocation){next[chosen], n, 0};
        next[chosen] += n + ALIGNMENT;
    }
    if (slot != MOST) {
        made[slot].id = ++ids;
        own(&made[slot], slot + 1);
    }
    pthread_mutex_unlock(&lock);
    return slot == MOST ? NULL : made[slot].at;
}

// Whether it was an allocation, which is free now.
static int release(const void *at)
{
    pthread_mutex_lock(&lock);
    const struct allocation *found = allocation_of(at);
    const int is = found && found->at == at;
    if (is) {
        own(found, 0);
        freed[free_slots++] = (unsigned)(found - made);
    }
    pthread_mutex_unlock(&lock);
    return is;
}

BOTH(cuMemAlloc_v2, hipMalloc, (void **at, size_t n),
     if (fails("full") || chosen < 0)
         return FULL;
     *at = allocate(n);
     pieces++;
     return n && *at ? WORKS : INVALID;)

BOTH(cuMemFree_v2, hipFree, (void *at), pieces--; return release(at) ? WORKS : INVALID;)

BOTH(cuMemcpyHtoD_v2, hipMemcpyHtoD, (void *to, const void *from, size_t n),
     if (!on_device(to))
         return INVALID;
     memcpy((char *)to + SPAN, from, n);
     return WORKS;)

BOTH(cuMemcpyDtoH_v2, hipMemcpyDtoH, (void *to, const void *from, size_t n),
     if (!on_device(from))
         return INVALID;
     memcpy(to, (char *)from + SPAN, n);
     for (size_t k = 0; k < n && fails("wrong"); k += ALIGNMENT)
         ((char *)to)[k] ^= 1;
     return WORKS;)

BOTH(cuMemsetD8_v2, hipMemsetD8, (void *at, unsigned char value, size_t n),
     if (!on_device(at))
         return INVALID;
     memset((char *)at + SPAN, value, n);
     return WORKS;)

int cuMemAllocHost_v2(void **at, size_t n)
{
    *at = malloc(n);
    return *at ? WORKS : FULL;
}

BOTH(cuCtxSynchronize, hipDeviceSynchronize, (void), return WORKS;)

// Where memory lies: of each address that is on no device nothing is told.
int cuPointerGetAttributes(unsigned count, const unsigned *which, void **to, unsigned long long at)
{
    enum { CONTEXT = 1, MEMORY_TYPE = 2, BUFFER_ID = 7, IS_MANAGED = 8, ORDINAL = 9, IS_DEVICE = 2 };
    const void *address = (const void *)(uintptr_t)at;
    const int known = on_device(address), d = known ? device_of(address) : 0;
    if (refuses(__func__))
        return ILLEGAL_ADDRESS;
    if (!device)
        return NOT_INITIALIZED;
    __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < count; i++)
        switch (which[i]) {
        case CONTEXT:
            *(void **)to[i] = known && !fails("pool") ? &contexts[d] : NULL;
            break;
        case MEMORY_TYPE:
            *(unsigned *)to[i] = known ? IS_DEVICE : 0;
            break;
        case BUFFER_ID:
            if (fails("id"))
                return INVALID;
            *(unsigned long long *)to[i] = known && allocation_of(address) ? allocation_of(address)->id : 0;
            break;
        case IS_MANAGED:
            *(unsigned *)to[i] = 0;
            break;
        case ORDINAL:
            *(int *)to[i] = known ? d : -2;
            break;
        default:
            return INVALID;
        }
    return WORKS;
}

int cuCtxGetCurrent(void **context)
{
    MAY_FAIL
    *context = chosen < 0 ? NULL : &contexts[chosen];
    return WORKS;
}

int cuCtxPushCurrent_v2(void *context)
{
    MAY_FAIL
    if (depth == DEPTH)
        return INVALID;
    before[depth++] = chosen;
    return cuCtxSetCurrent(context);
}

int cuCtxPopCurrent_v2(void **context)
{
    MAY_FAIL
    cuCtxGetCurrent(context);
    if (!depth)
        return WRONG_CONTEXT;
    chosen = before[--depth];
    return WORKS;
}

// Copies of rows that wait to be made.
struct copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
};
struct stream {
    int context, copies;
    struct copy copy[COPIES];
};

int cuStreamCreate(struct stream **stream, unsigned flags)
{
    MAY_FAIL
    enum { AFTER_DEFAULT = 0 };
    if (chosen < 0 || flags != AFTER_DEFAULT)
        return INVALID;
    *stream = calloc(1, sizeof **stream);
    (*stream)->context = chosen;
    return WORKS;
}

static void make(struct stream *stream)
{
    for (int i = 0; i < stream->copies; i++) {
        const struct copy *c = &stream->copy[i];
        for (size_t row = 0; row < c->height; row++)
            memcpy(c->to + row * c->to_pitch, c->from + row * c->from_pitch, c->width);
    }
    stream->copies = 0;
}

static int later(struct stream *stream, const void *on, struct copy copy)
{
    if (!on_device(on))
        return INVALID;
    if (chosen != device_of(on) || stream->context != chosen)
        return WRONG_CONTEXT;
    if (fails("copy"))
        return INVALID;
    pthread_mutex_lock(&lock);
    /* A driver waits for room. */
    if (stream->copies == COPIES)
        make(stream);
    stream->copy[stream->copies++] = copy;
    pthread_mutex_unlock(&lock);
    return WORKS;
}

int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n, struct stream *stream)
{
    MAY_FAIL
    return later(stream, to, (struct copy){(char *)to + SPAN, from, n, n, n, 1});
}

int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t n, struct stream *stream)
{
    MAY_FAIL
    return later(stream, from, (struct copy){to, (const char *)from + SPAN, n, n, n, 1});
}

// CUDA_MEMCPY2D of cuda.h: sides of rows, on the host (1) or on a device (2).
struct side {
    size_t x, y;
    int type;
    char *host;
    char *device;
    void *array;
    size_t pitch;
};
struct rows {
    struct side from, to;
    size_t width, height;
};

int cuMemcpy2DAsync_v2(const struct rows *rows, struct stream *stream)
{
    MAY_FAIL
    enum { HOST = 1, DEVICE = 2 };
    const struct side *from = &rows->from, *to = &rows->to;
    const struct copy copy = {to->type == DEVICE ? to->device + SPAN : to->host,
                              from->type == DEVICE ? from->device + SPAN : from->host,
                              to->pitch, from->pitch, rows->width, rows->height};
    if (from->type + to->type != HOST + DEVICE || from->pitch < rows->width || to->pitch < rows->width ||
        from->x || from->y || to->x || to->y)
        return INVALID;
    return later(stream, from->type == DEVICE ? from->device : to->device, copy);
}

int cuMemcpyAsync(void *to, const void *from, size_t n, struct stream *stream)
{
    MAY_FAIL
    if (!on_device(from))
        return INVALID;
    return later(stream, to, (struct copy){(char *)to + SPAN, (const char *)from + SPAN, n, n, n, 1});
}

int cuStreamSynchronize(struct stream *stream)
{
    MAY_FAIL
    if (!stream)
        return WORKS;
    pthread_mutex_lock(&lock);
    make(stream);
    pthread_mutex_unlock(&lock);
    return WORKS;
}

// An event of a stream, and how often it was asked for.
struct event {
    struct stream *stream;
    int asked;
};

int cuEventCreate(struct event **event, unsigned flags)
{
    MAY_FAIL
    enum { NO_TIMING = 2 };
    *event = calloc(1, sizeof **event);
    return flags == NO_TIMING && chosen >= 0 ? WORKS : INVALID;
}

int cuEventRecord(struct event *event, struct stream *stream)
{
    MAY_FAIL
    event->stream = stream;
    return stream && stream->context == chosen ? WORKS : WRONG_CONTEXT;
}

int cuEventQuery(struct event *event)
{
    MAY_FAIL
    return event->asked++ < (fails("slow") ? 3000 : 1) ? NOT_READY : cuStreamSynchronize(event->stream);
}

int cuEventDestroy_v2(struct event *event)
{
    MAY_FAIL
    free(event);
    return WORKS;
}

int cuMemGetAddressRange_v2(void **base, size_t *size, void *at)
{
    MAY_FAIL
    const struct allocation *found = allocation_of(at);
    if (!found)
        return INVALID;
    *base = found->at;
    *size = found->size;
    return WORKS;
}

int cuIpcGetMemHandle(struct handle *handle, void *at)
{
    MAY_FAIL
    const struct allocation *found = allocation_of(at);
    if (fails("ipc"))
        return UNSUPPORTED;
    if (!found)
        return INVALID;
    *handle = (struct handle){getpid(), memory, (size_t)(found->at - device), found->size, {0}};
    return WORKS;
}

int cuIpcOpenMemHandle_v2(void **at, struct handle handle, unsigned flags)
{
    MAY_FAIL
    enum { LAZY_PEER_ACCESS = 1 };
    char path[64];
    if (handle.pid == getpid() || flags != LAZY_PEER_ACCESS || chosen < 0 || fails("open"))
        return INVALID;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.file);
    const int file = open(path, O_RDWR | O_CLOEXEC), flag = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (file < 0)
        return INVALID;
    char *to = allocate(handle.size);
    if (!to)
        return FULL;
    *at = to;
    void *got = mmap(to + SPAN, handle.size, PROT_READ | PROT_WRITE, flag, file, (off_t)handle.from);
    close(file);
    __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
    return got == MAP_FAILED ? FULL : WORKS;
}

int cuIpcCloseMemHandle(void *at)
{
    MAY_FAIL
    if (chosen != device_of(at))
        return WRONG_CONTEXT;
    const struct allocation *found = allocation_of(at);
    if (!found)
        return INVALID;
    /* The device's own memory is there again. */
    char *there = found->at + SPAN;
    const int flag = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (mmap(there, found->size, PROT_READ | PROT_WRITE, flag, memory, there - SPAN - device) == MAP_FAILED || !release(at))
        return INVALID;
    __atomic_add_fetch(&closed, 1, __ATOMIC_RELAXED);
    return WORKS;
}

// For tests: how often anybody has asked where memory lies.
int device_asked(void)
{
    return __atomic_load_n(&asked, __ATOMIC_RELAXED);
}

// For tests: how often allocations of other processes were opened and closed.
void device_opened(int counts[2])
{
    counts[0] = __atomic_load_n(&opened, __ATOMIC_RELAXED);
    counts[1] = __atomic_load_n(&closed, __ATOMIC_RELAXED);
}
