/* What the files of the measuring program share.
 *
 *   mpirun -n 2 bench [NAME...] [options]
 *
 * A **benchmark** is a function that does something so many times, and a line in the table of its
 * family. For every size it becomes a **task**: buffers, a type, a root, neighbours. main.c walks
 * through the tables, measure.c takes the samples, data.c knows what has to arrive. Written
 * against the standard alone, for any library: with its ABI the library is chosen when the
 * program starts; Open MPI compiles it with its own header.
 *
 * Files call each other one way: main.c all others, families what they measure with, all of them
 * basics.c.
 */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* A value of US is the time of an operation; of MB_S (10^6 bytes) and PER_S, what moved meanwhile,
 * all ranks together. */
enum unit { US, MB_S, PER_S, PERCENT };

/* What a collective moves. Blocks are numbered by rank, or by neighbour; PART and EQUAL_PART are a
 * rank's part of a vector, the latter without what cannot be dealt out evenly. */
enum who { NOBODY, ROOT, EVERYBODY };
enum blocks { SINGLE, EACH, PART, EQUAL_PART };
enum source { OF_ROOT, OF_BLOCK, OF_ALL, OF_LOWER, OF_UP_TO_ME, OF_PEER,
              OF_PEER_AND_ME, OF_NOBODY };

/* A block that arrives is the sum of what `from` sent; how many there are, and where. */
struct shape {
    enum who sender;
    enum blocks sends;
    enum who receiver;
    enum blocks receives;
    enum source from;
};

struct task;
typedef void run_fn(struct task *t, int rounds);
typedef void step_fn(struct task *t);
typedef double sample_fn(struct task *t, int rounds);
typedef bool check_fn(struct task *t, char *error, size_t room); /* `error`: what is wrong */

struct bench {
    const char *name, *family;
    const char *options; /* letters that mean something here; `m`: it has sizes; no `i`: it
                            happens once; `1`: each value is one operation; `F`: each is the first */
    enum unit unit;
    int ranks;         /* so many are needed */
    struct shape shape;
    run_fn *run;       /* does it `rounds` times */
    step_fn *prepare;  /* pairs or neighbours, before there are buffers; NULL: nothing to do */
    step_fn *open;     /* before the first time, collective */
    step_fn *close;    /* after the last */
    step_fn *finish;   /* undoes `prepare` */
    step_fn *start;    /* begins one `request`, where that is what it is about */
    step_fn *load;     /* before a round whose data are checked, where filling buffers is not all */
    step_fn *spread;   /* gives the messages of a window their places, from `base` on those with a block each */
    check_fn *check;   /* whether data are right, if the shape does not say it */
    sample_fn *sample; /* seconds of `rounds`, if that is not the time of `run` */
    const char *needs; /* of the library */
};

/* An MPI datatype of -T: how its elements are written and compared. */
struct element {
    const char *name;
    MPI_Datatype type, sums; /* `sums`: of the same size, if it is not for arithmetic itself */
    size_t size;
    void (*put)(void *at, size_t i, int value);
    bool (*is)(const void *at, size_t i, int value);
};

/* Seconds behind what a computation hides of a collective: see overlap.c. */
struct overlap {
    double pure, whole, computed, wanted;
};

struct task {
    const struct bench *bench;
    MPI_Comm comm;
    int rank, size;
    size_t bytes;      /* of a block, of a message; */
    size_t asked;      /* as asked for, where that cannot be */
    size_t payload;    /* so many of them travel: fewer with gaps (-D) */
    const struct element *element;
    MPI_Datatype type; /* a block is `count` of it, without a gap between blocks */
    int count;
    MPI_Op op;
    int root, step;    /* `step`: how far the root moves on each time */
    bool in_place;
    char *out, *in;    /* `outs` and `ins` blocks; */
    void *send, *recv; /* the arguments: these or MPI_IN_PLACE */
    int outs, ins, *to, *from; /* whom block k is for, and of whom it is */
    int *counts, *displs, *offsets; /* `displs` in types, `offsets` in bytes */
    MPI_Datatype *types;
    MPI_Aint *places;  /* `offsets` again */
    int pairs, peer;   /* rank r < pairs sends to r + pairs; -1: has no part */
    bool first;
    bool first_done;   /* whether its first operation is over */
    int window;        /* messages in flight; each `gap` bytes behind the one before */
    size_t gap, *spots; /* `spots`: where the k-th of a window lies in a buffer */
    int lanes;         /* messages of a window that have a block each while they are checked; 0: it is about none. Where they
                          are fewer than the window, all others share one more block, */
    int base;          /* and message `base` has the first one */
    size_t guarded;    /* bytes of `in` that something may be written to */
    int stamp;         /* of the data: another one in each operation that is checked */
    bool inspect;      /* whether what an operation makes is looked at */
    double late;       /* of the last sample: how late some start of it was, in seconds */
    MPI_Request request, *requests;
    int timers;        /* ranks below keep time */
    double parts;      /* operations, bytes or messages in a round */
    struct overlap overlap; /* of the last sample, */
    long pieces, units;     /* of the computation: see there */
    const char *skip;  /* why it cannot be measured */
    void *own;         /* of the benchmark */
};

enum start { BY_BARRIER, BY_WINDOW };
enum memory_of { USUAL, ALLOCATED, CREATED, DYNAMIC };
enum device { HOST, CUDA, ROCM };
enum away { BURNING, SLEEPING, ONE_SIDE };
enum sync { FLUSH, FLUSH_LOCAL, LOCK, LOCK_ALL, PSCW, FENCE };
enum layout { PLAIN, CONTIGUOUS, VECTOR, INDEXED };

/* The command line, which options.c reads. Zero where nothing was said. */
extern struct options {
    char **names;
    size_t sizes[64], least_size, most_size, memory; /* `most_size`: SIZE_MAX where nothing was said */
    int size_count, samples, rounds, window, pairs, root, stride, block;
    int warmup, checks;  /* `warmup`: negative where nothing was said */
    int ranks;           /* the number that came with --list; 0: none did */
    int tests, senders;  /* of -t; `tests`: negative where nothing was said, threads, too */
    int dimensions, radius, many_buffers;
    double percents[16];
    int percent_count;
    double seconds, least, within, warm, checking; /* seconds; `least` microseconds */
    double apart;        /* microseconds between the ranks of `_late` */
    enum start start;
    enum away away;              /* of overlap */
    enum layout layout;
    enum memory_of memory_of;
    enum sync sync;
    enum device device;          /* where buffers are; */
    const char *sides;           /* of two sides, `D` or `H` for each; NULL: of all */
    unsigned elements, counters; /* bits: indices into `elements`, events */
    int unchecked;               /* operations before each that is checked */
    const char *layout_file, *graph_file;
    bool list, records, validate, full, in_place, rotate, session, pin, help, vary_window, rates;
    bool insist; /* on device memory, whatever the library says */
} opt;

bool options_read(int argc, char **argv); /* false: said what is wrong */
bool options_size(const char *text, size_t *bytes); /* "64K" */
bool options_sizes_of(const char *name); /* whether the sizes behind a name can be read */
void options_help(void);

/* basics.c: what every file may use; it uses no other. `opt` is there, too. */
extern int rank, size; /* life.c sets them, */
extern MPI_Comm world; /* MPI_COMM_WORLD or that of a session; */
extern bool crowded;   /* main.c sets it: ranks outnumber cores somewhere */
void *must(void *memory); /* ends the program where there is none */
void pin_to(int nth);     /* of the cores that this process may run on */
double now(void);         /* seconds */
double clock_cost(void);
double percentile(double *values, int n, double percent); /* sorts them */

/* life.c */
void life_begin(int *argc, char ***argv, bool threads);
void life_end(void);
const char *life_threads(void);
bool life_has_threads(void);
double life_began(void); /* seconds that MPI_Init took */
MPI_Comm life_open_session(MPI_Session *made, bool threads);

/* calm.c: in place, and without haste. */
void calm_barrier(MPI_Comm comm);
void calm_allreduce(void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void calm_bcast(void *data, int n, MPI_Datatype type, int from, MPI_Comm comm);

/* errors.c: a library that refuses a call is heard, and the program goes on. */
void errors_listen(MPI_Comm comm);
void errors_listen_window(MPI_Win window);
void errors_listen_file(MPI_File file);
MPI_Errhandler errors_of_comm(void);
MPI_Errhandler errors_of_session(void);
void errors_note(const char *format, ...); /* as if a call had failed */
const char *errors_heard(void); /* since it was last asked; alike on all ranks; NULL: none */

/* memory.c */
#define MEMORY_KINDS "mpi_memory_alloc_kinds"
void memory_open(MPI_Comm node);
void memory_of_thread(void); /* before it hands buffers to MPI */
const char *memory_kind(void), *memory_device(void), *memory_lack(const struct bench *b);
bool memory_on_device(const struct task *t);
void *memory_take(size_t bytes, bool on_device);
void memory_give_back(void *at);
void *memory_view(const void *at); /* what the program may touch of it */
void memory_zero(void *at, size_t bytes); /* from the beginning of what was taken: so much is used from now on */
void memory_store(void); /* what is used of all views to the device; */
void memory_load(void);  /* from it */

/* data.c */
extern const struct element elements[];
extern const int element_count;
const struct element *data_usual(const struct bench *b);
int data_share(int total, int p, int r);
void data_open(struct task *t);
void data_close(struct task *t);
void data_aim(struct task *t, int root);
void data_fill(struct task *t);
check_fn data_right;
int data_value(const struct task *t, int s, int d, size_t i);
int data_lane(const struct task *t, int whom, int k);
void data_put(const struct task *t, void *at, int s, int d, size_t elements);
bool data_same(const struct task *t, const void *at, int s, int d, size_t elements, const char *what, char *error,
               size_t room);
bool data_equal(const struct task *t, const void *at, size_t i, int want, const char *what,
                char *error, size_t room);
/* Nobody writes to what lies before and behind a buffer. */
enum { GUARD = 64, GUARD_ROOM = 4096 };
void data_guard(char *at, size_t bytes);
bool data_guarded(const struct task *t, const char *at, size_t bytes, const char *what, char *error, size_t room);

/* window.c: messages of a window. `prepare` opens it, with `requests` for each, and the lanes that are checked, and
 * `close` closes it; `spread` of the row is window_spread or does it, too. */
int window_asked(void); /* -W */
void window_open(struct task *t, int window, int requests);
void window_lanes(struct task *t, int sides);
int window_blocks(const struct task *t);
step_fn window_spread, window_close;

/* counters.c: events of -P, a bit each in `opt.counters`. */
enum { COUNTERS = 10 };
bool counters_choose(const char *word);
void counters_open(void);
bool counters_has(int event);
const char *counters_name(int event), *counters_lack(int event);
void counters_count(struct task *t, int rounds, double counts[COUNTERS]);

/* meet.c: ranks begin together. */
void meet_open(MPI_Comm node);
void meet_close(void);
void meet_plan(bool by_time);     /* before some starts; whether all can be there in time */
double meet(double *late);        /* seconds; the time of the start */
double meet_for(struct task *t);  /* the same, and keeps `late` of the task */
bool meet_at_a_time(void);
int meet_nodes(void);
MPI_Comm meet_between(void);      /* one rank of each node, who know a common clock; NULL: I am none, or it is one */
void meet_mark(unsigned long number);
int meet_unmarked(unsigned long number);

/* What is known of the warm-up. */
enum steady { ASKED_FOR, STEADY, UNSTEADY };

/* measure.c: samples of one size. `values` holds the greatest over the ranks, `means` the mean. */
struct samples {
    int count, late, starts;
    int batch;  /* operations behind each value */
    int warmup; /* before the first */
    int checked; /* operations whose data were checked */
    enum steady steady;
    double took, skew; /* seconds: of a value, about; by which the last rank begins late, the median */
    double tails[16];  /* of single operations, as `opt.percents` asks, in us; */
    int tail_count;    /* operations that they are of; 0: none were taken */
    double *values, *means;
    struct overlap *overlaps; /* NULL where it is not about that */
    double counts[COUNTERS];
    double line[2];    /* see line.c; negative: unknown */
    char warning[200]; /* why the values are in doubt, and what to do */
    char wrong[128];   /* what is wrong with the data that arrive (-c) */
};

void measure(struct task *t, struct samples *s);

/* tails.c: percentiles of single operations (-z). */
void tails(struct task *t, struct samples *s);

/* check.c: whether what is measured delivers the right data (-c). */
void check(struct task *t, struct samples *s);

/* overlap.c */
sample_fn sample_overlap;
run_fn run_around;
bool overlaps(const struct bench *b);
void overlap_gather(struct task *t, struct samples *s);

/* clocks.c: the clock of the first of some ranks, as known here. */
void clocks_learn(MPI_Comm among);
void clocks_correct(MPI_Comm among);
double clocks_now(void);
double clocks_local(double at); /* now() at that time of it */

/* line.c: nanoseconds a cache line takes between ranks 0 and 1; negative if they share no node. */
void line_open(void);
double line_now(void);

/* report.c: rank 0 tells. */
void report_list_row(const struct bench *b);
void report_env(void);
void report_head(const struct bench *b);
void report_samples(const struct task *t, const struct samples *s);
void report_skipped(const struct bench *b, const struct task *t, const char *why);
void report_unreached(const struct bench *b);
void report_end(void);

/* point_to_point.c: makes so many pairs, or as many as there are. */
void pair_up(struct task *t, int pairs);

/* dynamic.c: does what its parents say, if this process was spawned by others; whether it was. */
bool dynamic_child(void);

/* The tables, each ended by a row without a name. */
extern const struct bench point_to_point[], collectives[], neighbors[], crowds[], startup[];
extern const struct bench threaded[], one_sided[], partitioned[], sockets[], packing[], patterns[];
extern const struct bench dynamic[], storage[], notices[], contention[], beside[];

#endif
