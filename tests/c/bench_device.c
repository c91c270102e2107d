// The library of a device, for machines without one, and what makes an MPI library take its memory.
// For scripts/test-bench, which adds for each function with buffers one that asks `within_mpi`.
//
// An address on the device cannot be read or written; its bytes are SPAN further on. DEVICE_FAULT
// names what fails; DEVICE_KINDS is added to the kinds of memory that the library says it takes.
// build: shared
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORKS = 0, INVALID = 1, FULL = 2, NO_DEVICE = 100, DEVICES = 2, ALIGNMENT = 4096 };
static const size_t SPAN = 1UL << 36;

static char *device, *next;
static int pieces, chosen = -1, of_device, contexts[DEVICES];

static int fails(const char *how)
{
    const char *fault = getenv("DEVICE_FAULT");
    return fault && !strcmp(fault, how);
}

static int on_device(const void *at)
{
    return device && (uintptr_t)at - (uintptr_t)device < SPAN;
}

// Where MPI finds what it is given.
void *within_mpi(const void *at)
{
    of_device |= on_device(at);
    return (char *)at + (on_device(at) ? SPAN : 0);
}

// One function by the names that CUDA and ROCm have for it.
#define BOTH(cuda, rocm, arguments, ...)                                                           \
    int cuda arguments { __VA_ARGS__ }                                                             \
    int rocm arguments { __VA_ARGS__ }

BOTH(cuInit, hipInit, (unsigned flags),
     if (fails("init"))
         return NO_DEVICE;
     const int flag = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
     next = device = mmap(NULL, 2 * SPAN, PROT_NONE, flag, -1, 0);
     if (device == MAP_FAILED || mprotect(device + SPAN, SPAN, PROT_READ | PROT_WRITE))
         abort();
     return flags ? INVALID : WORKS;)

BOTH(cuGetErrorName, hipDrvGetErrorName, (int code, const char **name),
     *name = code == NO_DEVICE ? "ERROR_NO_DEVICE" : code == FULL ? "ERROR_OUT_OF_MEMORY"
                                                                  : "ERROR_INVALID_VALUE";
     return WORKS;)

BOTH(cuDeviceGetCount, hipGetDeviceCount, (int *n), *n = fails("none") ? 0 : DEVICES;
     return device ? WORKS : INVALID;)

BOTH(cuDeviceGet, hipDeviceGet, (int *d, int k), *d = k; return k < DEVICES ? WORKS : INVALID;)

BOTH(cuDeviceGetName, hipDeviceGetName, (char *name, int room, int d),
     snprintf(name, room, "stand-in %d", d); return WORKS;)

int cuDevicePrimaryCtxRetain(void **context, int d)
{
    *context = &contexts[d];
    return WORKS;
}

int cuCtxSetCurrent(void *context)
{
    chosen = (int)((int *)context - contexts);
    return WORKS;
}

int hipSetDevice(int d)
{
    chosen = d;
    return WORKS;
}

BOTH(cuMemAlloc_v2, hipMalloc, (void **at, size_t n),
     if (fails("full") || chosen < 0)
         return FULL;
     n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
     *at = next;
     next += n + ALIGNMENT;
     pieces++;
     return n ? WORKS : INVALID;)

BOTH(cuMemFree_v2, hipFree, (void *at), pieces--; return on_device(at) ? WORKS : INVALID;)

BOTH(cuMemcpyHtoD_v2, hipMemcpyHtoD, (void *to, const void *from, size_t n),
     if (!on_device(to))
         return INVALID;
     memcpy((char *)to + SPAN, from, n);
     return WORKS;)

BOTH(cuMemcpyDtoH_v2, hipMemcpyDtoH, (void *to, const void *from, size_t n),
     if (!on_device(from))
         return INVALID;
     memcpy(to, (char *)from + SPAN, n);
     if (fails("wrong"))
         *(char *)to ^= 1;
     return WORKS;)

BOTH(cuMemsetD8_v2, hipMemsetD8, (void *at, unsigned char value, size_t n),
     if (!on_device(at))
         return INVALID;
     memset((char *)at + SPAN, value, n);
     return WORKS;)

BOTH(cuCtxSynchronize, hipDeviceSynchronize, (void), return WORKS;)

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    int result = PMPI_Comm_get_info(comm, info);
    const char *kinds = getenv("DEVICE_KINDS");
    char all[256];
    snprintf(all, sizeof all, "mpi,system,%s", kinds ? kinds : "");
    if (kinds)
        PMPI_Info_set(*info, "mpi_memory_alloc_kinds", all);
    return result;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d, device %d: %s\n", rank, chosen,
            of_device ? "MPI was given its memory" : "unused");
    return PMPI_Finalize();
}
