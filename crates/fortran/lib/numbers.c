/*
 * Numbers for handles, over a library whose own are of no use: what MPI_Comm_toint of Intel MPI
 * 2021.17 gives, its MPI_Comm_fromint does not take back. There a table has the handles that Fortran
 * knows. A number is free again when a call makes its handle a null handle.
 *
 * Everything is under one lock; other libraries never come here.
 */

#include "fortran.h"

#include <pthread.h>

int mpifort_own_numbers;

/* Numbers begin here: none of them is predefined. */
enum { FIRST = 0x1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t *handles;     /* by number; 0 where none is */
static size_t used, capacity;  /* of them */
static size_t *buckets;        /* number plus one by hash; open addressing */
static size_t mask;
static size_t *free_numbers, free_count;

static size_t bucket_of(uintptr_t handle)
{
    size_t at = (size_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (buckets[at] && handles[buckets[at] - 1] != handle)
        at = (at + 1) & mask;
    return at;
}

static int grow(void)
{
    size_t wanted = capacity ? 2 * capacity : 256;
    uintptr_t *more = realloc(handles, wanted * sizeof *more);
    if (more)
        handles = more;
    size_t *numbers = realloc(free_numbers, wanted * sizeof *numbers);
    if (numbers)
        free_numbers = numbers;
    size_t *hashed = calloc(4 * wanted, sizeof *hashed);
    if (!more || !numbers || !hashed) {
        free(hashed);
        return 0;
    }
    free(buckets);
    buckets = hashed;
    mask = 4 * wanted - 1;
    capacity = wanted;
    for (size_t i = 0; i < used; i++)
        if (handles[i])
            buckets[bucket_of(handles[i])] = i + 1;
    return 1;
}

int mpifort_number(uintptr_t handle)
{
    int number = 0;
    pthread_mutex_lock(&lock);
    if ((free_count || used < capacity || grow())) {
        size_t at = bucket_of(handle);
        if (!buckets[at]) {
            size_t index = free_count ? free_numbers[--free_count] : used++;
            handles[index] = handle;
            buckets[at] = index + 1;
        }
        number = (int)(buckets[at] - 1 + FIRST);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

uintptr_t mpifort_handle(int number)
{
    uintptr_t handle = 0;
    pthread_mutex_lock(&lock);
    size_t index = (size_t)number - FIRST;
    if (number >= FIRST && index < used)
        handle = handles[index];
    pthread_mutex_unlock(&lock);
    return handle;
}

/* Entries behind the one that goes may have passed it: they are put in again. */
static void forget(size_t at)
{
    buckets[at] = 0;
    for (at = (at + 1) & mask; buckets[at]; at = (at + 1) & mask) {
        size_t moved = buckets[at];
        buckets[at] = 0;
        buckets[bucket_of(handles[moved - 1])] = moved;
    }
}

void mpifort_forget(int number)
{
    pthread_mutex_lock(&lock);
    size_t index = (size_t)number - FIRST;
    if (number >= FIRST && index < used && handles[index]) {
        forget(bucket_of(handles[index]));
        handles[index] = 0;
        free_numbers[free_count++] = index;
    }
    pthread_mutex_unlock(&lock);
}
