/* What the processor and the kernel count (-P), by perf_event_open(2).
 *
 * After the values of a size are taken, the same number of operations is done once more, counted,
 * so that counting disturbs no value. A count is that of all ranks and their threads together, for
 * one operation or message. An event that some rank cannot count is told with the reason.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HARDWARE(name, config) {name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config}
#define SOFTWARE(name, config) {name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config}

static const struct event {
    const char *name; /* as perf(1) calls it */
    unsigned type, config;
} events[COUNTERS] = {
    HARDWARE("cycles", CPU_CYCLES),
    HARDWARE("instructions", INSTRUCTIONS),
    HARDWARE("cache-references", CACHE_REFERENCES),
    HARDWARE("cache-misses", CACHE_MISSES),
    HARDWARE("branches", BRANCH_INSTRUCTIONS),
    HARDWARE("branch-misses", BRANCH_MISSES),
    SOFTWARE("context-switches", CONTEXT_SWITCHES),
    SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
    SOFTWARE("page-faults", PAGE_FAULTS),
    SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
};

static int files[COUNTERS], why[COUNTERS]; /* `why`: the greatest errno of a rank, 0 if it counts */

const char *counters_name(int event)
{
    return events[event].name;
}

/* Adds an event, or `hardware`, `software`, `all`. */
bool counters_choose(const char *word)
{
    unsigned before = opt.counters;
    for (int e = 0; e < COUNTERS; e++)
        if (!strcmp(word, events[e].name) || !strcmp(word, "all") ||
            !strcmp(word, events[e].type == PERF_TYPE_HARDWARE ? "hardware" : "software"))
            opt.counters |= 1u << e;
    return opt.counters != before;
}

static int open_event(const struct event *e, bool kernel)
{
    struct perf_event_attr a = {
        .type = e->type, .size = sizeof a, .config = e->config, .disabled = 1, .inherit = 1,
        .exclude_kernel = !kernel, .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Events happen in the kernel, too, unless this user may not see them there. */
void counters_open(void)
{
    for (int e = 0; e < COUNTERS; e++) {
        if (!(opt.counters >> e & 1))
            continue;
        files[e] = open_event(&events[e], true);
        if (files[e] < 0 && (errno == EACCES || errno == EPERM))
            files[e] = open_event(&events[e], false);
        why[e] = files[e] < 0 ? errno : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, why, COUNTERS, MPI_INT, MPI_MAX, world);
}

bool counters_has(int event)
{
    return (opt.counters >> event & 1) && !why[event];
}

/* Why it cannot be counted; NULL: it can, or nobody asked. */
const char *counters_lack(int event)
{
    if (!why[event])
        return NULL;
    if (why[event] == ENOENT || why[event] == ENODEV || why[event] == EOPNOTSUPP)
        return "this machine has no such counter";
    if (why[event] == EACCES || why[event] == EPERM)
        return "not allowed: /proc/sys/kernel/perf_event_paranoid, or the container";
    return strerror(why[event]);
}

static void tell(unsigned long request)
{
    for (int e = 0; e < COUNTERS; e++)
        if (counters_has(e))
            ioctl(files[e], request, 0);
}

/* What has been counted; more than was seen, if events took turns. */
static double count_of(int event)
{
    struct {
        unsigned long long count, enabled, running;
    } r = {0};
    if (read(files[event], &r, sizeof r) != sizeof r || !r.running)
        return 0;
    return (double)r.count * ((double)r.enabled / (double)r.running);
}

/* Operations of a round, or messages where they stream. */
static double operations(const struct task *t)
{
    return t->bench->unit == MB_S && t->payload ? t->parts / t->payload : t->bench->unit == PERCENT ? 1 : t->parts;
}

/* Does it `rounds` times; `counts` of all ranks, for each operation. */
void counters_count(struct task *t, int rounds, double counts[COUNTERS])
{
    meet_for(t);
    tell(PERF_EVENT_IOC_RESET);
    tell(PERF_EVENT_IOC_ENABLE);
    t->bench->run(t, rounds);
    tell(PERF_EVENT_IOC_DISABLE);
    for (int e = 0; e < COUNTERS; e++)
        counts[e] = counters_has(e) ? count_of(e) / rounds / operations(t) : 0;
    MPI_Allreduce(MPI_IN_PLACE, counts, COUNTERS, MPI_DOUBLE, MPI_SUM, t->comm);
}
