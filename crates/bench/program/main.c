/* Walks through the tables: every benchmark that is asked for, every size, every type. */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct bench *const families[] = {startup, point_to_point, crowds, threaded,
                                             collectives, neighbors, one_sided, notices,
                                             contention, partitioned, sockets, packing, patterns,
                                             beside, dynamic, storage};
enum { USUAL_MOST = 1 << 20, USUAL_MOST_OF_PAIRS = 1 << 22, FAMILIES = sizeof families / sizeof *families };

/* Whether NAME or FAMILY, with sizes behind a colon or without, means this benchmark. */
static bool means(const char *name, const struct bench *b)
{
    size_t n = strcspn(name, ":");
    return (strlen(b->name) == n && !strncmp(name, b->name, n)) ||
           (strlen(b->family) == n && !strncmp(name, b->family, n));
}

/* Calls `visit` for all that `name` means, or for all there are; false: there is none. */
static bool each_of(const char *name, void (*visit)(const struct bench *b, const char *name))
{
    bool any = false;
    for (int f = 0; f < FAMILIES; f++)
        for (const struct bench *b = families[f]; b->name; b++)
            if (!name || means(name, b)) {
                visit(b, name ? name : b->name);
                any = true;
            }
    return any;
}

/* For all that are named, in that order; for all if none is. */
static void each_wanted(void (*visit)(const struct bench *b, const char *name))
{
    if (!*opt.names)
        each_of(NULL, visit);
    for (char **name = opt.names; *name; name++)
        each_of(*name, visit);
}

static bool threads_wanted, something_to_measure;

static bool wants_threads(const struct bench *b)
{
    return b->needs && !strcmp(b->needs, "threads");
}

static void look(const struct bench *b, const char *name)
{
    (void)name;
    threads_wanted |= wants_threads(b);
    something_to_measure |= b->run != NULL;
}

/* Looks at all that are named; false: there is one that nobody knows. */
static bool names_known(void)
{
    if (!*opt.names)
        return each_of(NULL, look);
    for (char **name = opt.names; *name; name++)
        if (!each_of(*name, look)) {
            fprintf(stderr, "bench: no benchmark '%s'; bench --list names them\n", *name);
            return false;
        } else if (!options_sizes_of(*name)) {
            fprintf(stderr, "bench: not understood: '%s'; sizes are such as 8,64K,1M\n", *name);
            return false;
        }
    return true;
}

static double began;
static bool any_wrong; /* whether some data were wrong, on any rank */
static bool over; /* the time of --within: nothing more is begun */

/* Whether there is time for something more, as rank 0 sees it; for the first thing there is. */
static bool time_left(void)
{
    static bool begun;
    if (!opt.within || !begun)
        return begun = true;
    int left = now() - began < opt.within;
    calm_bcast(&left, 1, MPI_INT, 0, world);
    return left;
}

static bool takes(const struct bench *b, char letter)
{
    return strchr(b->options, letter);
}

/* Measures what is prepared, and then checks it, so that what is timed is the same with -c and without. */
static void perform(struct task *t)
{
    struct samples s = {0};
    const char *why;
    if (!takes(t->bench, 'F'))
        t->bench->run(t, 1);
    if (!(why = errors_heard())) {
        measure(t, &s);
        why = errors_heard();
    }
    if (!why && takes(t->bench, 'c') && opt.validate) {
        check(t, &s);
        why = errors_heard();
        any_wrong |= *s.wrong != 0;
    }
    if (!why && s.count == 0)
        why = s.late == s.starts ? "every start was late: are there more ranks than cores?"
                                 : "too short for the clock: -i makes values longer";
    if (why)
        report_skipped(t->bench, t, why);
    else
        report_samples(t, &s);
    free(s.values);
    free(s.means);
    free(s.overlaps);
}

static void one(const struct bench *b, size_t bytes, const struct element *element)
{
    if (over || (over = !time_left()))
        return;
    struct task t = {.bench = b, .comm = world, .rank = rank, .size = size, .bytes = bytes,
                     .asked = bytes, .element = element, .op = MPI_SUM, .peer = -1, .timers = size, .parts = 1,
                     .request = MPI_REQUEST_NULL};
    t.in_place = opt.in_place && takes(b, 'l');
    if (takes(b, 'k')) {
        t.root = opt.root;
        t.step = opt.rotate;
    }
    if (b->prepare)
        b->prepare(&t);
    data_open(&t);
    if (b->open && !t.skip)
        b->open(&t);
    const char *why = errors_heard();
    if (t.skip || why)
        report_skipped(b, &t, t.skip ? t.skip : why);
    else
        perform(&t);
    if (b->close && !t.skip && !why)
        b->close(&t);
    data_close(&t);
    if (b->finish)
        b->finish(&t);
    errors_heard(); /* what it takes to tidy up is not measured */
}

/* With each window of -V. */
static void windows(const struct bench *b, size_t bytes, const struct element *element)
{
    enum { WIDEST = 128 };
    int said = opt.window;
    if (!opt.vary_window || !takes(b, 'V')) {
        one(b, bytes, element);
        return;
    }
    for (opt.window = 1; opt.window <= WIDEST; opt.window *= 2)
        one(b, bytes, element);
    opt.window = said;
}

static void named_size(const struct bench *b, size_t bytes, const struct element *element)
{
    struct task t = {.bench = b, .bytes = bytes, .asked = bytes, .payload = bytes, .element = element};
    if (bytes % element->size)
        report_skipped(b, &t, "the size is no multiple of the type's");
    else if (!bytes && b->unit == MB_S)
        report_skipped(b, &t, "no bytes have no bandwidth");
    else
        windows(b, bytes, element);
}

/* OMB's sizes: messages between pairs go up to 4 MiB, collectives to 1 MiB. */
static size_t usual_most(const struct bench *b)
{
    bool pair = !strcmp(b->family, "point-to-point") || !strcmp(b->family, "one-sided");
    return pair ? USUAL_MOST_OF_PAIRS : USUAL_MOST;
}

/* All sizes with one type: those behind the name, those of --sizes, or each twice the one before (-m), from the least on;
 * those that are less than an element are passed over, as OMB does. */
static void sizes(const struct bench *b, const char *name, const struct element *element)
{
    const char *list = strchr(name, ':');
    size_t most = opt.most_size == SIZE_MAX ? usual_most(b) : opt.most_size, bytes;
    if (!takes(b, 'm')) {
        one(b, 0, element);
    } else if (list) {
        while (list && options_size(list + 1, &bytes)) {
            named_size(b, bytes, element);
            list = strchr(list + 1, ',');
        }
    } else if (opt.size_count) {
        for (int i = 0; i < opt.size_count; i++)
            named_size(b, opt.sizes[i], element);
    } else {
        if (most < opt.least_size)
            most = opt.least_size;
        for (bytes = opt.least_size; bytes <= most; bytes = bytes ? 2 * bytes : 1)
            if (!bytes || bytes >= element->size)
                named_size(b, bytes, element);
    }
}

static void visit(const struct bench *b, const char *name)
{
    const char *lack = memory_lack(b);
    char why[64];
    if (!b->run)
        return; /* is timed from outside */
    if (size < b->ranks) {
        snprintf(why, sizeof why, "needs %d ranks", b->ranks);
        report_skipped(b, NULL, why);
        return;
    }
    if (wants_threads(b) && !life_has_threads()) {
        report_skipped(b, NULL, "needs MPI_THREAD_MULTIPLE, which the library does not give");
        return;
    }
    if (opt.layout != PLAIN && !takes(b, 'D')) {
        report_skipped(b, NULL, "derived types do not apply");
        return;
    }
    if (lack) {
        report_skipped(b, NULL, lack);
        return;
    }
    if (!over)
        report_head(b);
    if (!opt.elements || !takes(b, 'T'))
        sizes(b, name, data_usual(b));
    else
        for (int i = 0; i < element_count; i++)
            if (opt.elements >> i & 1)
                sizes(b, name, &elements[i]);
    if (over)
        report_unreached(b);
}

/* The ranks of this host: those that have its name. A library may not tell, where it is kept from sharing memory. */
static MPI_Comm node_of(void)
{
    enum { ROOM = 256 };
    char mine[ROOM] = "", *all = must(calloc(size, ROOM));
    int first = 0;
    MPI_Comm node;
    gethostname(mine, ROOM - 1);
    MPI_Allgather(mine, ROOM, MPI_CHAR, all, ROOM, MPI_CHAR, world);
    while (strcmp(all + (size_t)first * ROOM, mine))
        first++;
    free(all);
    MPI_Comm_split(world, first, rank, &node);
    return node;
}

/* Rank r of a host goes to the r-th core that it may run on, so that all libraries run on the
 * same places. */
static void pin(MPI_Comm node)
{
    int mine;
    MPI_Comm_rank(node, &mine);
    pin_to(mine);
}

/* Whether some host has more ranks than cores that they may run on. */
static bool are_crowded(MPI_Comm node)
{
    cpu_set_t cores;
    int ranks;
    MPI_Comm_size(node, &ranks);
    sched_getaffinity(0, sizeof cores, &cores);
    MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, node);
    int are = ranks > CPU_COUNT(&cores);
    MPI_Allreduce(MPI_IN_PLACE, &are, 1, MPI_INT, MPI_MAX, world);
    return are;
}

static void list(const struct bench *b, const char *name)
{
    (void)name;
    report_list_row(b);
}

static void measure_all(void)
{
    MPI_Comm node = node_of();
    if (opt.pin)
        pin(node);
    crowded = are_crowded(node);
    memory_open(node);
    meet_open(node);
    MPI_Comm_free(&node);
    line_open();
    if (opt.counters)
        counters_open();
    report_env();
    each_wanted(visit);
    report_end();
    meet_close();
}

/* What only the number of ranks shows to be wrong; alike on all of them. */
static bool fits(void)
{
    if (opt.root < size && opt.pairs <= (size > 1 ? size / 2 : 1))
        return true;
    if (rank == 0 && opt.root >= size)
        fprintf(stderr, "bench: not understood: 'fixed:%d'; there are %d ranks, counted from 0\n", opt.root, size);
    else if (rank == 0)
        fprintf(stderr, "bench: not understood: '%d' pairs (-p); there are %d ranks\n", opt.pairs, size);
    return false;
}

int main(int argc, char **argv)
{
    began = now();
    if (!options_read(argc, argv) || !names_known())
        return 2;
    if (opt.list && opt.ranks) {
        size = opt.ranks;
        if (!fits())
            return 2;
    }
    if (opt.help || opt.list) {
        opt.help ? options_help() : each_wanted(list);
        return 0;
    }
    life_begin(&argc, &argv, threads_wanted);
    bool spawned = !opt.session && dynamic_child(), fit = spawned || fits();
    if (something_to_measure && !spawned && fit)
        measure_all();
    life_end();
    return !fit ? 2 : any_wrong;
}
