/* What the files of the benchmark share. */
#ifndef BENCH_H
#define BENCH_H

/* A figure: `rounds` times something that all ranks take part in. */
typedef void run_fn(int n, int rounds);

/* Place of this process, and its buffers. */
extern int rank, size;
extern char *out, *in;

/* Collectives: `n` bytes in each block, or in each vector. */
run_fn barrier, bcast, reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan;
run_fn gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv;

/* How far apart the cores of ranks 0 and 1 are just now: see line.c. */
void line_open(const char *path);
double line_now(void);

#endif
