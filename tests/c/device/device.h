/* Memory of a device, through its driver, whichever has been loaded. */
#ifndef DEVICE_H
#define DEVICE_H

#include "../check.h"

#include <dlfcn.h>

static int (*to_device)(void *, const void *, size_t), (*to_host)(void *, const void *, size_t);
static int (*take)(void **, size_t), (*give)(void *), (*set_context)(void *);
static void *context;

static inline void *symbol(const char *name)
{
    void *at = dlsym(RTLD_DEFAULT, name);
    CHECK(at);
    return at;
}

/* The device of this rank becomes the thread's, as a program has it after MPI_Init. */
static inline void open_device(void)
{
    int devices = 0, device, (*init)(unsigned) = symbol("cuInit"), (*count)(int *) = symbol("cuDeviceGetCount");
    int (*get)(int *, int) = symbol("cuDeviceGet"), (*retain)(void **, int) = symbol("cuDevicePrimaryCtxRetain");
    to_device = symbol("cuMemcpyHtoD_v2");
    to_host = symbol("cuMemcpyDtoH_v2");
    take = symbol("cuMemAlloc_v2");
    give = symbol("cuMemFree_v2");
    set_context = symbol("cuCtxSetCurrent");
    CHECK(!init(0) && !count(&devices) && devices);
    CHECK(!get(&device, rank % devices) && !retain(&context, device) && !set_context(context));
}

/* Writes ints to the device: `first`, `first + 1` and so on. */
static inline void put(int *device, int count, int first)
{
    int *host = malloc(sizeof(int) * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        host[i] = first + i;
    CHECK(!to_device(device, host, sizeof(int) * (size_t)count));
    free(host);
}

/* An allocation on the device that holds them. */
static inline int *ints(int count, int first)
{
    void *at;
    CHECK(!take(&at, sizeof(int) * (size_t)(count + 1)));
    put(at, count, first);
    return at;
}

static inline int at(const int *device, int i)
{
    int value;
    CHECK(!to_host(&value, device + i, sizeof value));
    return value;
}

static inline void expect(const int *device, int count, int first, int step)
{
    int *host = malloc(sizeof(int) * (size_t)(count + 1));
    CHECK(!to_host(host, device, sizeof(int) * (size_t)count));
    for (int i = 0; i < count; i++)
        EQUAL(host[i], first + i * step);
    free(host);
}

#endif
