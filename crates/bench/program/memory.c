/* Where the buffers of messages lie (-d): on the host, or on a device of CUDA or ROCm, whose
 * library is opened when it is asked for.
 *
 * Nobody but MPI and that library touches memory of a device. What the program writes there, or
 * looks at, is a copy on the host, its **view**: `memory_store` brings all views to the device,
 * `memory_load` fetches them. Memory of the host is its own view.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PAGE = 4096, MOST_PIECES = 8 };

static const struct runtime {
    const char *kind;         /* as the info key says it */
    const char *libraries[5]; /* the first that is there */
    const char *query;        /* what libraries have besides the info key; 1: yes */
} runtimes[] = {
    [CUDA] = {"cuda", {"libcuda.so.1"}, "MPIX_Query_cuda_support"},
    [ROCM] = {"rocm", {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                       "libamdhip64.so.5"}, "MPIX_Query_rocm_support"},
};

/* What is called, and its names in both libraries; addresses on a device are 64 bits wide. */
#define CALLS(X)                                                                                   \
    X(error_name, (int code, const char **name), "cuGetErrorName", "hipDrvGetErrorName")           \
    X(init, (unsigned flags), "cuInit", "hipInit")                                                 \
    X(count, (int *devices), "cuDeviceGetCount", "hipGetDeviceCount")                              \
    X(device, (int *device, int number), "cuDeviceGet", "hipDeviceGet")                            \
    X(device_name, (char *name, int room, int device), "cuDeviceGetName", "hipDeviceGetName")      \
    X(context, (void **context, int device), "cuDevicePrimaryCtxRetain", NULL)                     \
    X(use_context, (void *context), "cuCtxSetCurrent", NULL)                                       \
    X(use_device, (int device), NULL, "hipSetDevice")                                              \
    X(take, (void **at, size_t bytes), "cuMemAlloc_v2", "hipMalloc")                               \
    X(give_back, (void *at), "cuMemFree_v2", "hipFree")                                            \
    X(put, (void *to, const void *from, size_t bytes), "cuMemcpyHtoD_v2", "hipMemcpyHtoD")         \
    X(get, (void *to, const void *from, size_t bytes), "cuMemcpyDtoH_v2", "hipMemcpyDtoH")         \
    X(set, (void *at, unsigned char value, size_t bytes), "cuMemsetD8_v2", "hipMemsetD8")          \
    X(wait, (void), "cuCtxSynchronize", "hipDeviceSynchronize")

#define MEMBER(name, arguments, ...) int(*name) arguments;
static struct {
    CALLS(MEMBER)
} call;

#define SYMBOL(name, arguments, cuda, rocm) {{[CUDA] = cuda, [ROCM] = rocm}, (void **)&call.name},
static const struct symbol {
    const char *names[ROCM + 1];
    void **to;
} symbols[] = {CALLS(SYMBOL)};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };

static int device;
static void *context;
static char device_name[128], lack[2 * MPI_MAX_ERROR_STRING]; /* `lack`: why there is none */

const char *memory_kind(void)
{
    return runtimes[opt.device].kind;
}

const char *memory_device(void)
{
    return device_name;
}

/* Whether a call went well; else its failure is heard. */
static bool good(int code, const char *what)
{
    const char *name = "an unknown error";
    if (!code)
        return true;
    call.error_name(code, &name);
    errors_note("%s: %s (%d)", what, name, code);
    return false;
}

/* Loads what is called. */
static bool open_library(const struct runtime *r)
{
    void *library = NULL;
    for (int k = 0; r->libraries[k] && !library; k++)
        library = dlopen(r->libraries[k], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        errors_note("there is no %s, which comes with the device's driver: -d host",
                    r->libraries[0]);
        return false;
    }
    for (int k = 0; k < SYMBOLS; k++) {
        const char *name = symbols[k].names[opt.device];
        if (name && !(*symbols[k].to = dlsym(library, name))) {
            errors_note("%s has no %s: it is too old", r->libraries[0], name);
            return false;
        }
    }
    return true;
}

/* Rank r of a host takes the r-th device, and the first one after the last. */
static void open_device(MPI_Comm node)
{
    int mine, devices = 0;
    MPI_Comm_rank(node, &mine);
    if (!open_library(&runtimes[opt.device]) ||
        !good(call.init(0), "the device's driver does not start") ||
        !good(call.count(&devices), "devices cannot be counted"))
        return;
    if (!devices) {
        errors_note("the driver finds no device: is one visible here (CUDA_VISIBLE_DEVICES)?");
        return;
    }
    if (good(call.device(&device, mine % devices), "no device can be taken") &&
        good(call.device_name(device_name, sizeof device_name, device), "a device has no name") &&
        (!call.context || good(call.context(&context, device), "a device cannot be used")))
        memory_of_thread();
}

/* A device is a thread's own choice. */
void memory_of_thread(void)
{
    if (opt.device)
        good(call.use_device ? call.use_device(device) : call.use_context(context),
             "a thread cannot use the device");
}

/* Whether a list of kinds has this one, wholly or what of it is on the device (MPI-5, 11.4.3). */
static bool has_kind(char *list, const char *kind)
{
    char *rest, *within;
    for (char *word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        char *part = strtok_r(word, ":", &within);
        if (!part || strcasecmp(part, kind))
            continue;
        part = strtok_r(NULL, ":", &within);
        bool whole = !part;
        for (; part; part = strtok_r(NULL, ":", &within))
            whole |= !strcasecmp(part, "device");
        if (whole)
            return true;
    }
    return false;
}

/* Asks the library: the standard's way, and one that several libraries have besides. */
static void ask_library(const struct runtime *r)
{
    char kinds[256] = "", list[sizeof kinds];
    int room = sizeof kinds, told = 0;
    MPI_Info info = MPI_INFO_NULL;
    int (*query)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, r->query);
    MPI_Comm_get_info(world, &info);
    if (info != MPI_INFO_NULL) {
        MPI_Info_get_string(info, MEMORY_KINDS, &room, kinds, &told);
        MPI_Info_free(&info);
    }
    strcpy(list, kinds);
    if (has_kind(list, r->kind) || (query && query() == 1))
        return;
    errors_note("the library %s%s%s messages in memory of the kind %s: %s-d %s! takes it all the "
                "same", told ? "takes only '" : "does not say that it takes", told ? kinds : "",
                told ? "' (" MEMORY_KINDS "), no" : "", r->kind,
                opt.session ? "" : "-I asks for it by a session; ", r->kind);
}

/* Collective: a device for each rank, and a library that takes its memory. */
void memory_open(MPI_Comm node)
{
    const char *why;
    if (!opt.device)
        return;
    if (!opt.insist)
        ask_library(&runtimes[opt.device]);
    if (!(why = errors_heard())) {
        open_device(node);
        why = errors_heard();
    }
    snprintf(lack, sizeof lack, "%s", why ? why : "");
}

/* Why a benchmark cannot use the memory that is asked for; NULL: it can. */
const char *memory_lack(const struct bench *b)
{
    enum source from = b->shape.from;
    if (!opt.device)
        return NULL;
    if (!strchr(b->options, 'd'))
        return "is not for memory of devices";
    if (opt.sides && from != OF_PEER && from != OF_PEER_AND_ME)
        return "has no two sides, of which one could be on the host";
    return *lack ? lack : NULL;
}

/* Memory of devices, each piece with its view, and how much of it is in use: rooms stay when less is measured. */
static struct piece {
    char *at, *view;
    size_t bytes, used;
} pieces[MOST_PIECES];

/* The piece that has this address; an empty one for NULL. NULL: there is none. */
static struct piece *piece_of(const void *at)
{
    for (struct piece *p = pieces; p < pieces + MOST_PIECES && opt.device; p++)
        if (at ? (uintptr_t)at - (uintptr_t)p->at < p->bytes : !p->bytes)
            return p;
    return NULL;
}

bool memory_on_device(const struct task *t)
{
    return opt.device && (!opt.sides || opt.sides[!t->first] == 'D');
}

/* Whole pages; where a device has no more that is heard, and it is the host's. */
void *memory_take(size_t bytes, bool on_device)
{
    struct piece *p = on_device ? piece_of(NULL) : NULL;
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    void *view = must(aligned_alloc(PAGE, bytes ? bytes : PAGE)), *at;
    if (!p || !bytes || !good(call.take(&at, bytes), "the device has no memory for it"))
        return view;
    *p = (struct piece){at, view, bytes, bytes};
    return at;
}

void memory_give_back(void *at)
{
    struct piece *p = at ? piece_of(at) : NULL;
    if (!p) {
        free(at);
        return;
    }
    good(call.give_back(at), "the device does not take memory back");
    free(p->view);
    *p = (struct piece){0};
}

void *memory_view(const void *at)
{
    struct piece *p = at ? piece_of(at) : NULL;
    return p ? p->view + ((const char *)at - p->at) : (void *)at;
}

void memory_zero(void *at, size_t bytes)
{
    struct piece *p = at ? piece_of(at) : NULL;
    memset(memory_view(at), 0, bytes);
    if (!p)
        return;
    p->used = bytes;
    if (good(call.set(at, 0, bytes), "memory of the device cannot be set"))
        good(call.wait(), "the device failed");
}

void memory_store(void)
{
    for (struct piece *p = pieces; p < pieces + MOST_PIECES; p++)
        if (p->bytes && good(call.put(p->at, p->view, p->used), "no data get to the device"))
            good(call.wait(), "the device failed");
}

void memory_load(void)
{
    for (struct piece *p = pieces; p < pieces + MOST_PIECES; p++)
        if (p->bytes)
            good(call.get(p->view, p->at, p->used), "no data come from the device");
}
