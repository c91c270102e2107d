/* What every test program shares: CHECK, and data that tells where it came from. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

/* Ends the whole job with the place and the condition that failed. */
#define CHECK(cond)                                                                  \
    do {                                                                             \
        if (!(cond)) {                                                               \
            fprintf(stderr, "%s:%d: rank %d: failed: %s\n", __FILE__, __LINE__, rank, #cond); \
            fflush(stderr);                                                          \
            MPI_Abort(MPI_COMM_WORLD, 1);                                            \
            _exit(1);                                                                \
        }                                                                            \
    } while (0)

/* Like CHECK(a == b), and shows both numbers. */
#define EQUAL(a, b)                                                                  \
    do {                                                                             \
        long long a_ = (long long)(a), b_ = (long long)(b);                          \
        if (a_ != b_) {                                                              \
            fprintf(stderr, "%s:%d: rank %d: %s is %lld, expected %s = %lld\n",      \
                    __FILE__, __LINE__, rank, #a, a_, #b, b_);                       \
            fflush(stderr);                                                          \
            MPI_Abort(MPI_COMM_WORLD, 1);                                            \
            _exit(1);                                                                \
        }                                                                            \
    } while (0)

/* The error class of a return code. */
static inline int class_of(int code)
{
    int c = -1;
    MPI_Error_class(code, &c);
    return c;
}

/* Whether a process has ended, be it that nobody has asked how. */
static inline int has_ended(int pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *stat = fopen(path, "r");
    if (!stat)
        return 1;
    if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(stat);
    return state == 'Z';
}

static inline void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int finish(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* Byte `i` of the message number `seed`: no two messages look alike. */
static inline unsigned char byte_at(unsigned seed, size_t i)
{
    return (unsigned char)(seed * 131u + i * 7u + (i >> 8) * 13u + (i >> 16) * 29u);
}

static inline void fill(void *buf, size_t n, unsigned seed)
{
    unsigned char *p = buf;
    for (size_t i = 0; i < n; i++)
        p[i] = byte_at(seed, i);
}

/* Index of the first wrong byte, or n if all are right. */
static inline size_t wrong_at(const void *buf, size_t n, unsigned seed)
{
    const unsigned char *p = buf;
    for (size_t i = 0; i < n; i++)
        if (p[i] != byte_at(seed, i))
            return i;
    return n;
}

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Whether all processes may share a window's memory. */
static inline int one_node(void)
{
    MPI_Comm all;
    MPI_Win win = MPI_WIN_NULL;
    int *memory;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    int shares = MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, all, &memory, &win) == MPI_SUCCESS;
    if (shares)
        MPI_Win_free(&win);
    MPI_Comm_free(&all);
    return shares;
}

#endif
